"""Open a finished index for in-process search: settings, embedder, language model, pipeline."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.adapters.pydocs_mcp.counts import count_index, require_branches
from evalake_runners.adapters.pydocs_mcp.isolation import isolated
from evalake_runners.adapters.pydocs_mcp.searching import InProcessSearcher
from evalake_runners.adapters.pydocs_mcp.workspace import Workspace

if TYPE_CHECKING:
    from evalake_runners.adapters.pydocs_mcp.system import PydocsSystem


def open_in_process(
    system: PydocsSystem, corpus: CorpusView, workspace: Workspace
) -> InProcessSearcher:
    """Build the arm's pipeline over an index that has every branch it needs.

    Raises:
        SystemFailedError: a branch is empty.
    """
    from pydocs_mcp.retrieval.factories import build_retrieval_context
    from pydocs_mcp.retrieval.pipeline import CodeRetrieverPipeline

    needs = system.pipeline.needs
    runner = asyncio.Runner()
    with isolated(workspace.home, offline=not system.needs_network):
        settings = workspace.load_settings()
        counts = runner.run(count_index(workspace.database, settings))
        require_branches(needs, counts, where=system.name)
        context = build_retrieval_context(
            workspace.database,
            settings,
            embedder=_query_embedder(settings) if "vectors" in needs else _Absent("embedder"),
            multi_vector_embedder=None,
            llm_client=_Absent("language model"),
        )
        pipeline = CodeRetrieverPipeline.from_dict(dict(system.pipeline.document), context)
    return InProcessSearcher(
        pipeline=pipeline,
        is_composite=system.pipeline.is_composite,
        title_is_doc_id=corpus.kind == "documents",
        llm=None,
        runner=runner,
    )


def _query_embedder(settings: Any) -> Any:
    from pydocs_mcp.retrieval.factories import build_query_embedder

    return build_query_embedder(settings.embedding)


class _Absent:
    """Stands where an arm has no such part; pydocs-mcp would otherwise build its default."""

    dim = 0

    def __init__(self, part: str) -> None:
        self.model_name = "absent"
        self._part = part

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this arm has no {self._part}; `{name}` was asked of it")
