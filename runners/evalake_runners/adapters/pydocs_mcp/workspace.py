"""The files of one index: pydocs-mcp's own configuration, its database and its vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import yaml

from evalake_runners.adapters.pydocs_mcp.config import (
    TOKENS_OF,
    EmbeddingConfig,
    LateInteractionConfig,
    PydocsConfig,
)
from evalake_runners.adapters.pydocs_mcp.models import own_max_seq_length
from evalake_runners.adapters.pydocs_mcp.token_models import derive, read_shape

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig


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

    def write_settings(
        self,
        config: PydocsConfig,
        ingestion: Path,
        *,
        node_scores: bool,
        models: Mapping[str, Path],
    ) -> None:
        """Write pydocs-mcp's configuration; it accepts pipelines only from the same folder.

        What is there already and the same is left alone, for others may be reading it.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        late, models = config.late_interaction, dict(models)
        if late is not None and late.model.startswith(TOKENS_OF):
            models["late_interaction"] = derive(models["late_interaction"], self.folder)
        document = settings_document(config, node_scores=node_scores, models=models)
        _replace(self.folder / "ingestion.yaml", ingestion.read_text(encoding="utf-8"))
        _replace(self.settings, yaml.safe_dump(document))

    def load_settings(self) -> AppConfig:
        """pydocs-mcp's configuration as it reads it; call inside `isolated`."""
        from pydocs_mcp.retrieval.config import AppConfig

        return AppConfig.load(self.settings)


def _replace(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    whole = path.with_name(f".{path.name}-{uuid4().hex}")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)


def settings_document(
    config: PydocsConfig, *, node_scores: bool, models: Mapping[str, Path]
) -> dict[str, Any]:
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
        folder = models.get("embedding")
        document["embedding"] = _embedding_settings(config.embedding, folder)
    if config.late_interaction is not None:
        folder = models.get("late_interaction")
        document["late_interaction"] = _late_interaction_settings(config.late_interaction, folder)
    return document


def _embedding_settings(embedding: EmbeddingConfig, folder: Path | None) -> Mapping[str, Any]:
    settings = embedding.model_dump(exclude_none=True, exclude={"model"})
    # pydocs-mcp would set 2,048 tokens, which a model with fewer positions does not survive.
    own = folder and own_max_seq_length(folder)
    if embedding.max_seq_length is None and own:
        settings["max_seq_length"] = own
    return settings | {"model_name": str(folder or embedding.model)}


def _late_interaction_settings(
    late: LateInteractionConfig, folder: Path | None
) -> Mapping[str, Any]:
    settings = {"enabled": True, "model_name": str(folder or late.model), "device": late.device}
    shape = folder and read_shape(folder)
    if shape is None:
        return settings
    return settings | {
        "embedding_dim": shape.dim,
        "document_length": late.document_length or shape.document_length,
        "query_length": late.query_length or shape.query_length,
    }
