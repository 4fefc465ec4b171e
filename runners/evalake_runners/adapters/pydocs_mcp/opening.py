"""Open a finished index for in-process search: settings, embedder, language model, pipeline."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.ledger import Ledger
from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.adapters.pydocs_mcp.config import LlmConfig
from evalake_runners.adapters.pydocs_mcp.llm import LlmClient
from evalake_runners.adapters.pydocs_mcp.pipelines import Pipeline
from evalake_runners.adapters.pydocs_mcp.searching import InProcessSearcher
from evalake_runners.adapters.pydocs_mcp.tokens import require_encoding, use_estimated_tokens
from evalake_runners.adapters.pydocs_mcp.workspace import Workspace
from evalake_warehouse.errors import SystemFailedError

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig


def open_in_process(
    corpus: CorpusView,
    workspace: Workspace,
    settings: AppConfig,
    *,
    pipeline: Pipeline,
    llm_config: LlmConfig | None,
    ledger: Ledger,
) -> InProcessSearcher:
    """Build the arm's pipeline over an index; call inside `isolated`."""
    from pydocs_mcp.retrieval.factories import build_retrieval_context
    from pydocs_mcp.retrieval.pipeline import CodeRetrieverPipeline

    runner = asyncio.Runner()
    llm = _language_model(llm_config, ledger, runner) if pipeline.asks_llm else None
    has_vectors = "vectors" in pipeline.needs
    context = build_retrieval_context(
        workspace.database,
        settings,
        embedder=None if has_vectors else _Absent("embedder"),  # None: it builds the configured one
        llm_client=llm or _Absent("language model"),
    )
    limit = None if llm_config is None else llm_config.max_tree_tokens
    return InProcessSearcher(
        pipeline=CodeRetrieverPipeline.from_dict(pipeline.document_for(limit), context),
        is_composite=pipeline.is_composite,
        title_is_doc_id=corpus.kind == "documents",
        llm=llm,
        runner=runner,
    )


def _language_model(
    config: LlmConfig | None, ledger: Ledger, runner: asyncio.Runner
) -> LlmClient | None:
    """The arm's language model, once it has been shown to answer; None if it has none."""
    if config is None:
        return None
    key = config.api_key_env and os.environ.get(config.api_key_env)
    if config.api_key_env and not key and not config.dry_run:
        raise SystemFailedError(
            f"{config.api_key_env} is not set; a server without keys needs `api_key_env: null`",
            where="llm",
            hint=f"export {config.api_key_env}=...",
        )
    client = LlmClient(config, key, ledger=ledger)
    if config.prompt_size == "estimate":
        use_estimated_tokens()
    else:
        require_encoding(config.model)
    if not config.dry_run:
        runner.run(client.preflight())
    return client


class _Absent:
    """Stands where an arm has no such part; pydocs-mcp would otherwise build its default."""

    dim = 0

    def __init__(self, part: str) -> None:
        self.model_name = "absent"
        self._part = part

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this arm has no {self._part}; `{name}` was asked of it")
