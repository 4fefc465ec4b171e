from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evalake_runners.adapters.pydocs_mcp.branches import claimed_branches
from evalake_runners.adapters.pydocs_mcp.pipelines import ingestion_stages, read_pipeline
from evalake_warehouse.errors import ConfigError
from evalake_warehouse.project import find_project_dir

SHIPPED = find_project_dir() / "configs" / "pipelines"
CONDITIONS = sorted(SHIPPED.glob("*.yaml"))
DATASETS = ("repoqa", "swe-", "swe_", "starter", "ds1000", "odex", "conala")


def written(tmp_path: Path, *steps: dict[str, Any]) -> Path:
    path = tmp_path / "pipeline.yaml"
    path.write_text(yaml.safe_dump({"name": "p", "steps": list(steps)}))
    return path


def step(kind: str, **params: Any) -> dict[str, Any]:
    return {"name": kind, "type": kind, "params": params}


@pytest.mark.parametrize("path", CONDITIONS, ids=lambda path: path.stem)
def test_a_shipped_condition_is_named_by_what_it_does_and_loads_in_pydocs_mcp(
    path: Path, tmp_path: Path
) -> None:
    from pydocs_mcp.retrieval.config import AppConfig
    from pydocs_mcp.retrieval.factories import build_retrieval_context
    from pydocs_mcp.retrieval.pipeline import CodeRetrieverPipeline

    pipeline = read_pipeline(path)
    assert pipeline.document["name"] == path.stem
    assert not any(name in path.read_text().lower() for name in DATASETS)
    anything: Any = object()
    context = build_retrieval_context(
        tmp_path / "none.db",
        AppConfig(),
        embedder=anything,
        multi_vector_embedder=anything,
        llm_client=anything,
    )
    loaded = CodeRetrieverPipeline.from_dict(dict(pipeline.document), context)
    assert len(loaded.stages) == len(pipeline.document["steps"])


@pytest.mark.parametrize("path", CONDITIONS, ids=lambda path: path.stem)
def test_a_shipped_condition_gives_a_hundred_hits(path: Path) -> None:
    pipeline = read_pipeline(path)
    assert pipeline.deepest == (8 if pipeline.is_composite else 100)


def test_the_shortest_cap_limits_a_list(tmp_path: Path) -> None:
    steps = [step("chunk_fetcher", limit=40), step("top_k_filter", k=30), step("limit")]
    assert read_pipeline(written(tmp_path, *steps[:2])).deepest == 30
    assert read_pipeline(written(tmp_path, *steps)).deepest == 8  # the step's own default
    widened = [step("chunk_fetcher", limit=5), step("top_k_filter", k=30)]
    assert read_pipeline(written(tmp_path, *widened)).deepest == 5


def test_fused_branches_are_sure_of_the_longest_one_only(tmp_path: Path) -> None:
    short = {"name": "a", "steps": [step("chunk_fetcher", limit=10)]}
    longer = {"name": "b", "steps": [step("dense_fetcher", limit=25)]}
    fused = written(tmp_path, step("parallel_retrieval", branches=[short, longer]))
    assert read_pipeline(fused).deepest == 25
    assert read_pipeline(fused).needs == {"fts_rows", "vectors"}


def test_steps_inside_other_steps_count_as_needs(tmp_path: Path) -> None:
    inner = {"type": "llm_tree_reasoning", "name": "tree"}
    pipeline = read_pipeline(written(tmp_path, step("conditional", stage=inner)))
    assert pipeline.asks_llm
    assert pipeline.needs == {"trees"}


CLAIMED = {
    "composite": set(),
    "dense": {"dense"},
    "late_interaction": {"late_interaction"},
    "late_interaction_rrf": {"bm25", "late_interaction"},
    "lexical": {"bm25"},
    "lexical_tree_rerank": {"llm_tree"},
    "tree": {"llm_tree"},
    "hybrid_graph": {"bm25", "dense", "graph"},
}
CLAIMED_ALIKE = {"dense_graph": {"dense", "graph"}, "rrf": {"bm25", "dense"}}
CLAIMED_ALIKE["weighted"] = CLAIMED_ALIKE["rrf"]


@pytest.mark.parametrize("path", CONDITIONS, ids=lambda path: path.stem)
def test_a_shipped_condition_claims_the_branches_that_its_hits_are_to_name(path: Path) -> None:
    alike = [names for start, names in CLAIMED_ALIKE.items() if path.stem.startswith(start)]
    expected = CLAIMED.get(path.stem) or (alike[0] if alike else set())
    assert set(claimed_branches(read_pipeline(path))) == expected


FETCH, RANK = step("chunk_fetcher"), step("bm25_scorer")
LATE, DENSE = step("late_interaction_scorer"), step("dense_scorer")
GRAPH = step("graph_expand")


@pytest.mark.parametrize(
    ("steps", "claimed"),
    [
        ([FETCH, RANK, DENSE], {"dense"}),
        # A list that was named before keeps its name, whoever ranks it again.
        ([FETCH, step("top_k_filter", publish_to="words.ranked"), LATE], {"words"}),
        ([FETCH, step("top_k_filter", publish_to="kept"), LATE], {"late_interaction"}),
        # A condition may not hold, and then the candidates are what they were.
        ([FETCH, step("conditional", stage=LATE)], {"bm25", "late_interaction"}),
        ([FETCH, step("nested", steps=[LATE])], {"late_interaction"}),
        ([step("chunk_fetcher", retriever_name="titles")], {"titles"}),
        ([step("dense_fetcher"), GRAPH], {"dense", "graph"}),
        # Scoring the neighbours too hides who found them, unless the expansion was published.
        ([step("dense_fetcher"), GRAPH, DENSE], {"dense"}),
        (
            [step("dense_fetcher"), GRAPH, step("limit", publish_to="graph.ranked"), DENSE],
            {"dense", "graph"},
        ),
        # Without `.ranked` at its end the model's list gives no hit a name.
        ([FETCH, step("llm_tree_reasoning", output_scratch_key="picks")], {"bm25"}),
        ([step("llm_tree_reasoning")], {"tree"}),
    ],
)
def test_a_branch_is_claimed_where_a_hit_can_name_it(
    tmp_path: Path, steps: list[dict[str, Any]], claimed: set[str]
) -> None:
    assert set(claimed_branches(read_pipeline(written(tmp_path, *steps)))) == claimed


def test_fused_lists_without_names_keep_the_stamps_of_their_fetchers(tmp_path: Path) -> None:
    branches = [
        {"name": kind, "steps": [step(kind), step("top_k_filter", publish_to=kind)]}
        for kind in ("chunk_fetcher", "dense_fetcher")
    ]
    side_by_side = step("parallel_retrieval", branches=branches)
    both = ["chunk_fetcher", "dense_fetcher"]
    for keys, claimed in ((both, ("bm25", "dense")), (both[1:], ("dense",))):
        fused = written(tmp_path, side_by_side, step("rrf_fusion", branch_keys=keys))
        assert claimed_branches(read_pipeline(fused)) == claimed


@pytest.mark.parametrize("text", ["steps: 3", "- a", "a: [", "name: x", "steps: [{name: y}]"])
def test_a_file_that_is_no_pipeline_is_a_configuration_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.yaml"):
        read_pipeline(path)
    with pytest.raises(ConfigError, match=r"broken\.yaml"):
        ingestion_stages(path)


def test_every_need_has_an_ingestion_pipeline_that_makes_it() -> None:
    made = {path.stem: ingestion_stages(path) for path in (SHIPPED / "ingestion").glob("*.yaml")}
    assert "embed_chunks" in made["dense"]
    assert "embed_chunks_multi_vector" in made["late_interaction"]
    assert not any("embed" in stage for stage in made["lexical"])
    assert all("reference_capture" in stages for stages in made.values())
