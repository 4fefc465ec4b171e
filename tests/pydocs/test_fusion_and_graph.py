from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from evalake_runners.adapters.protocol import CorpusView, RawHit
from evalake_runners.adapters.pydocs_mcp import PydocsSystem
from evalake_warehouse.errors import SystemFailedError

from .conftest import FILES, Make, ask, make_system, write_corpus
from .word_vectors import use_word_vectors

QUERY = "the tax on a price that a customer has to buy"
NEEDS_GRAPH = pytest.mark.skipif(
    util.find_spec("networkx") is None, reason="centrality needs pydocs-mcp's graph extra"
)
# Vectors are stored in four bits a dimension, so their order is pydocs-mcp's to say; what is made
# of it is not, and is recomputed here from the two single branches.


@pytest.fixture(scope="module")
def dense_shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[CorpusView, Path]:
    folder = tmp_path_factory.mktemp("dense-shop")
    corpus = write_corpus(folder / "corpus", FILES)
    with pytest.MonkeyPatch.context() as patch:
        use_word_vectors(patch)
        system = make_system(folder, pipeline="pipelines/dense.yaml", embedding=_NAMED)
        system.index(corpus, folder / "index")
    return corpus, folder / "index"


_NAMED = {"provider": "openai", "model": "words", "dim": 384}  # replaced, and never reached


@pytest.fixture(autouse=True)
def _word_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    use_word_vectors(monkeypatch)


def hits_of(system: PydocsSystem, shop: tuple[CorpusView, Path], depth: int = 10) -> list[RawHit]:
    searcher = system.open(*shop)
    try:
        return list(searcher.search(ask(QUERY, depth)).hits)
    finally:
        searcher.close()


def names(hits: list[RawHit]) -> list[str | None]:
    return [hit.qualified_name for hit in hits]


def branches(make: Make, shop: tuple[CorpusView, Path]) -> tuple[list[RawHit], list[RawHit]]:
    lexical = hits_of(make(pipeline="pipelines/lexical.yaml", depth=100), shop, 100)
    dense = make(pipeline="pipelines/dense.yaml", embedding=_NAMED, depth=100)
    return lexical, hits_of(dense, shop, 100)


@pytest.mark.parametrize("k", [30, 60, 100])
def test_reciprocal_rank_fusion_is_the_order_of_summed_reciprocals(
    make: Make, dense_shop: tuple[CorpusView, Path], k: int
) -> None:
    fused = hits_of(make(pipeline=f"pipelines/rrf_k{k}.yaml", embedding=_NAMED), dense_shop)
    expected: dict[str | None, float] = {}
    for branch in branches(make, dense_shop):
        # pydocs-mcp counts ranks from 0, so its k is one more than in the paper's formula.
        for rank, hit in enumerate(branch):
            expected[hit.qualified_name] = expected.get(hit.qualified_name, 0) + 1 / (k + rank)
    order = sorted(expected, key=lambda name: -expected[name])
    scores = [expected[name] for name in names(fused)]
    assert scores == pytest.approx(sorted(expected.values(), reverse=True)[: len(fused)])
    assert names(fused)[0] == order[0]


def test_the_rescored_condition_is_in_dense_order_instead(
    make: Make, dense_shop: tuple[CorpusView, Path]
) -> None:
    rescored = hits_of(
        make(pipeline="pipelines/rrf_k60_rescored.yaml", embedding=_NAMED), dense_shop
    )
    plain = hits_of(make(pipeline="pipelines/rrf_k60.yaml", embedding=_NAMED), dense_shop)
    dense = {hit.qualified_name: hit.score or 0.0 for hit in branches(make, dense_shop)[1]}
    in_dense_order = [dense[name] for name in names(rescored) if name]
    assert in_dense_order == sorted(in_dense_order, reverse=True)
    assert names(rescored) != names(plain)


def test_a_fused_hit_names_every_branch_that_found_it(
    make: Make, dense_shop: tuple[CorpusView, Path]
) -> None:
    lexical, dense = (set(names(branch)) for branch in branches(make, dense_shop))
    for hit in hits_of(make(pipeline="pipelines/rrf_k60.yaml", embedding=_NAMED), dense_shop):
        found_by = [
            name
            for name, found in (("bm25", lexical), ("dense", dense))
            if hit.qualified_name in found
        ]
        assert hit.branch == "+".join(found_by)


@pytest.mark.parametrize("weights", [(0.7, 0.3), (0.5, 0.5), (0.3, 0.7)])
def test_weighted_fusion_adds_scores_scaled_to_the_unit_interval(
    make: Make, dense_shop: tuple[CorpusView, Path], weights: tuple[float, float]
) -> None:
    percent = [round(weight * 100) for weight in weights]
    pipeline = f"pipelines/weighted_lexical_{percent[0]}_dense_{percent[1]}.yaml"
    fused = hits_of(make(pipeline=pipeline, embedding=_NAMED), dense_shop)
    expected: dict[str | None, float] = {}
    for weight, branch in zip(weights, branches(make, dense_shop), strict=True):
        scores = [hit.score or 0.0 for hit in branch]
        low, span = min(scores), max(scores) - min(scores)
        for hit, score in zip(branch, scores, strict=True):
            scaled = weight * (score - low) / span
            expected[hit.qualified_name] = expected.get(hit.qualified_name, 0) + scaled
    assert [hit.score for hit in fused] == pytest.approx(
        sorted(expected.values(), reverse=True)[: len(fused)]
    )


NARROW = """name: narrow
steps:
  - {{name: fetch, type: dense_fetcher, params: {{limit: 1}}}}
  - {{name: seeds, type: top_k_filter, params: {{k: 200, publish_to: graph.seeds}}}}
  - {{name: graph, type: graph_expand, params: {{decay: {decay}}}}}
  - {{name: expanded, type: top_k_filter, params: {{k: 500, publish_to: graph.ranked}}}}
  - {{name: limit, type: limit, params: {{max_results: 100}}}}
"""


@pytest.mark.parametrize("decay", [0.5, 0.9])
def test_the_graph_adds_callers_and_callees_at_their_seeds_score_times_decay(
    make: Make, dense_shop: tuple[CorpusView, Path], tmp_path: Path, decay: float
) -> None:
    (tmp_path / "configs/narrow.yaml").write_text(NARROW.format(decay=decay))
    system = make(pipeline="narrow.yaml", embedding=_NAMED, depth=1)
    assert system.branches == ("dense", "graph")
    searcher = system.open(*dense_shop)
    seed, *rest = searcher.search(ask("the value of a tax on a price")).hits
    searcher.close()
    # One dense hit was fetched: the docstring with all three words. In FILES `invoice` calls
    # `add_tax`, which calls nothing.
    assert (seed.qualified_name, seed.branch) == ("shop.prices.add_tax", "dense")
    assert [(hit.qualified_name, hit.branch) for hit in rest] == [
        ("shop.checkout.invoice", "graph")
    ]
    assert seed.score is not None
    assert rest[0].score == pytest.approx(seed.score * decay)


@pytest.mark.parametrize(
    "name", ["dense", "rrf_k60", "rrf_k60_rescored", "weighted_lexical_50_dense_50"]
)
def test_every_branch_that_an_arm_declares_is_named_by_a_hit(
    make: Make, dense_shop: tuple[CorpusView, Path], name: str
) -> None:
    system = make(pipeline=f"pipelines/{name}.yaml", embedding=_NAMED)
    found = {part for hit in hits_of(system, dense_shop) for part in str(hit.branch).split("+")}
    assert found == set(system.branches)


@NEEDS_GRAPH
def test_centrality_lifts_what_is_called_more_often(
    make: Make, dense_shop: tuple[CorpusView, Path], tmp_path: Path
) -> None:
    system = make(pipeline="pipelines/dense_graph_centrality.yaml", embedding=_NAMED)
    report = system.index(dense_shop[0], tmp_path / "index")
    assert report.counts["node_scores"] > 0
    assert hits_of(system, (dense_shop[0], tmp_path / "index"))


def test_a_dense_arm_refuses_the_index_of_a_lexical_one(
    make: Make, shop: tuple[CorpusView, Path]
) -> None:
    dense = make(pipeline="pipelines/dense.yaml", embedding=_NAMED)
    with pytest.raises(SystemFailedError, match="no vectors: the dense branch would find nothing"):
        dense.open(*shop)


def test_a_graph_arm_refuses_an_index_without_resolved_edges(make: Make, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", {"alone.py": "def alone():\n    return 1\n"})
    system = make(pipeline="pipelines/dense_graph_decay_0_9.yaml", embedding=_NAMED)
    with pytest.raises(SystemFailedError, match="no edges: graph expansion would add nothing"):
        system.index(corpus, tmp_path / "index")


def test_a_centrality_arm_refuses_an_index_without_scores(
    make: Make, dense_shop: tuple[CorpusView, Path]
) -> None:
    system = make(pipeline="pipelines/dense_graph_centrality.yaml", embedding=_NAMED)
    with pytest.raises(SystemFailedError, match="no node_scores: the centrality prior"):
        system.open(*dense_shop)


def test_dense_arms_share_an_index_and_lexical_ones_another(make: Make) -> None:
    dense, fused, lexical = (
        make(pipeline=f"pipelines/{name}.yaml", embedding=embedding).ingestion_config()
        for name, embedding in (("dense", _NAMED), ("rrf_k60", _NAMED), ("lexical", None))
    )
    assert dense == fused
    assert dense != lexical
