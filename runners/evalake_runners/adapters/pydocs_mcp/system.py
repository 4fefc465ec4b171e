"""The `System` that evalake's engine drives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.ledger import Ledger
from evalake_runners.adapters.protocol import CorpusView, IndexReport, Searcher
from evalake_runners.adapters.pydocs_mcp import versions
from evalake_runners.adapters.pydocs_mcp.branches import claimed_branches
from evalake_runners.adapters.pydocs_mcp.config import (
    EmbeddingConfig,
    LateInteractionConfig,
    PydocsConfig,
)
from evalake_runners.adapters.pydocs_mcp.isolation import isolated
from evalake_runners.adapters.pydocs_mcp.models import (
    find_model,
    identify_model,
    named_models,
    require_model,
)
from evalake_runners.adapters.pydocs_mcp.pipelines import (
    Pipeline,
    ingestion_stages,
    read_pipeline,
)
from evalake_runners.adapters.pydocs_mcp.serving import (
    index_by_command,
    open_server,
    served_database,
)
from evalake_runners.adapters.pydocs_mcp.validation import find_problems
from evalake_runners.adapters.pydocs_mcp.workspace import Workspace
from evalake_runners.adapters.setup import Setup
from evalake_warehouse.errors import ConfigError, SystemFailedError
from evalake_warehouse.identity import sha256_text

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig


def make(name: str) -> Callable[[PydocsConfig, Setup], PydocsSystem]:
    """The factory of one adapter; it pickles."""
    return partial(_make, name)


def _make(name: str, config: PydocsConfig, setup: Setup) -> PydocsSystem:
    pipeline = read_pipeline(setup.find(config.pipeline))
    ingestion = setup.find(config.ingestion or f"pipelines/ingestion/{_makes(pipeline)}.yaml")
    if config.embedding is None and "vectors" in pipeline.needs:
        config = config.model_copy(update={"embedding": EmbeddingConfig()})
    if config.late_interaction is None and "token_vectors" in pipeline.needs:
        config = config.model_copy(update={"late_interaction": LateInteractionConfig()})
    models = {key: find_model(model, setup) for key, model in named_models(config).items()}
    if problems := find_problems(config, pipeline, ingestion, models, depth=setup.depth):
        raise ConfigError(problems)
    return PydocsSystem(
        name,
        config,
        pipeline=pipeline,
        ingestion=ingestion,
        models=models,
        depth=setup.depth,
        ledger=Ledger(setup.ledger),
    )


def _makes(pipeline: Pipeline) -> str:
    if "token_vectors" in pipeline.needs:
        return "late_interaction"
    return "dense" if "vectors" in pipeline.needs else "lexical"


class PydocsSystem:
    """pydocs-mcp with one pipeline. Nothing of it is imported until `index` or `open`."""

    needs_corpus = True

    def __init__(
        self,
        name: str,
        config: PydocsConfig,
        *,
        pipeline: Pipeline,
        ingestion: Path,
        models: Mapping[str, Path | None],
        depth: int,
        ledger: Ledger,
    ) -> None:
        self.name = name
        self.version = versions.identified_version()
        self.adapter_version = versions.ADAPTER_VERSION
        self.output = "composite" if pipeline.is_composite else "ranked"
        self.config = config
        self.pipeline = pipeline
        self.ingestion = ingestion
        self.models = models  # folders of local models; None: hosted, or not here
        self.depth = depth
        self.is_served = config.transport == "mcp"
        self.gives_text = pipeline.is_composite or not self.is_served
        # The server does not say who found a hit.
        self.branches = () if self.is_served else claimed_branches(pipeline)
        self.ledger = ledger
        wanted = config.node_scores
        self.node_scores = "node_scores" in pipeline.needs if wanted is None else wanted
        remote_vectors = config.embedding is not None and not config.embedding.is_local
        dry_run = config.llm is not None and config.llm.dry_run
        self.needs_network = remote_vectors or (pipeline.asks_llm and not dry_run)

    def public_config(self) -> Mapping[str, Any]:
        """Every key of the configuration; none of them is a secret."""
        shown = self.config.model_dump(mode="json")
        shown["node_scores"] = self.node_scores
        shown["models"] = self._identified_models()
        return shown

    def config_files(self) -> Mapping[str, Path]:
        """The two pipeline files."""
        return {"pipeline": self.pipeline.path, "ingestion": self.ingestion}

    def ingestion_config(self) -> Mapping[str, Any]:
        """What an index depends on, and no more, so that arms share one."""
        embeds = "embed_chunks" in ingestion_stages(self.ingestion)
        return {
            "system": "pydocs-mcp",
            "version": self.version,
            "adapter_version": self.adapter_version,
            "transport": self.config.transport,
            "ingestion_sha256": sha256_text(self.ingestion.read_text(encoding="utf-8")),
            "extensions": self.config.extensions and sorted(self.config.extensions),
            "max_file_bytes": self.config.max_file_bytes,
            "node_scores": self.node_scores,
            "embedding": self.config.embedding.model_dump(mode="json")
            if embeds and self.config.embedding
            else None,
            "late_interaction": self.config.late_interaction
            and self.config.late_interaction.model_dump(mode="json"),
            "models": self._identified_models(),
        }

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Build the index and prove that it has what the pipeline retrieves from."""
        from evalake_runners.adapters.pydocs_mcp.counts import count_index, require_branches
        from evalake_runners.adapters.pydocs_mcp.indexing import Indexed, build_index

        self._require_usable(corpus)
        workspace, offline = Workspace(index_dir), not self.needs_network
        with isolated(workspace.home, offline=offline), asyncio.Runner() as runner:
            settings = self._prepared(workspace)
            if self.is_served:
                index_by_command(corpus, workspace, offline=offline)
                built = Indexed(None, 0)
            else:
                stages = ingestion_stages(self.ingestion)
                built = runner.run(build_index(corpus, workspace.database, settings, stages))
            counts = runner.run(count_index(self._database(workspace), settings))
        require_branches(self.pipeline.needs, counts, where=self.name)
        if corpus.kind == "files":  # it has its own list of suffixes and of folders
            counts["files_without_chunks"] = len(corpus.paths) - counts["files"]
        return IndexReport(
            n_chunks=counts["chunks"],
            n_vectors=counts["vectors"],
            counts={**counts, "warnings": built.n_warnings},
            device=built.device or self._device_if_untold(),
        )

    def open(self, corpus: CorpusView, index_dir: Path) -> Searcher:
        """Open a finished index; one that lacks a branch is refused here too.

        Arms share indexes, so the arm that built this one may have needed less of it.
        """
        from evalake_runners.adapters.pydocs_mcp.counts import count_index, require_branches
        from evalake_runners.adapters.pydocs_mcp.opening import open_in_process

        self._require_usable(corpus)
        workspace, offline = Workspace(index_dir), not self.needs_network
        with isolated(workspace.home, offline=offline), asyncio.Runner() as runner:
            settings = self._prepared(workspace)
            counts = runner.run(count_index(self._database(workspace), settings))
            require_branches(self.pipeline.needs, counts, where=self.name)
            if not self.is_served:
                return open_in_process(
                    corpus,
                    workspace,
                    settings,
                    pipeline=self.pipeline,
                    llm_config=self.config.llm,
                    ledger=self.ledger,
                )
        return open_server(
            corpus,
            workspace,
            self.pipeline.document,
            is_composite=self.pipeline.is_composite,
            depth=self.depth,
            offline=offline,
        )

    def _prepared(self, workspace: Workspace) -> AppConfig:
        """pydocs-mcp's settings for this arm, as it reads them; call inside `isolated`.

        They are written on opening too: a model may lie elsewhere than when the index was made.
        """
        if self.config.late_interaction is not None:
            versions.require_late_interaction()
        workspace.write_settings(
            self.config,
            self.ingestion,
            node_scores=self.node_scores,
            models={key: folder for key, folder in self.models.items() if folder},
        )
        return workspace.load_settings()

    def _device_if_untold(self) -> str | None:
        """Without a model, full-text search runs on the CPU; a model elsewhere keeps its own."""
        return None if self.models else "cpu"

    def _database(self, workspace: Workspace) -> Path:
        return served_database(workspace) if self.is_served else workspace.database

    def _require_usable(self, corpus: CorpusView) -> None:
        versions.require_supported()
        for key, model in named_models(self.config).items():
            require_model(model, self.models[key])
        if self.name == "pydocs-oracle" and corpus.kind != "documents":
            raise SystemFailedError(
                f"needs a corpus of documents; {corpus.corpus_id[:12]} is one of {corpus.kind}",
                where=self.name,
            )
        if self.is_served and corpus.kind == "documents":
            raise SystemFailedError(
                "its MCP server indexes folders of files, not documents", where=self.name
            )

    def _identified_models(self) -> dict[str, str]:
        """Hashes of local models, whose paths mean nothing on another machine."""
        named = named_models(self.config)
        return {key: identify_model(model, self.models[key]) for key, model in named.items()}
