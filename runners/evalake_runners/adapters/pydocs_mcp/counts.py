"""Count what an index holds, and refuse one that lacks a branch the arm claims."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from evalake_warehouse.errors import SystemFailedError

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig

# A count of rows in chunks_fts itself would read the chunks table, so an index that was never
# rebuilt, and finds nothing, would look full. Its docsize table has what was really indexed.
_QUERIES = {
    "chunks": "select count(*) from chunks",
    "files": "select count(distinct source_path) from chunks",
    "fts_rows": "select count(*) from chunks_fts_docsize",
    "trees": "select count(*) from document_trees",
    "edges": "select count(*) from node_references "
    "where to_node_id is not null and to_node_id <> ''",
    "node_scores": "select count(*) from node_scores",
    "token_vectors": "select count(*) from chunk_multi_vector_ids",
}
_WHY = {
    "fts_rows": "full-text search would find nothing",
    "vectors": "the dense branch would find nothing; does the ingestion pipeline embed chunks?",
    "edges": "graph expansion would add nothing; does the ingestion pipeline capture references?",
    "node_scores": "the centrality prior would change nothing; is pydocs-mcp's graph extra there?",
    "token_vectors": "late interaction would drop every hit; does the ingestion make them?",
    "trees": "the language model would see no tree",
}


async def count_index(database: Path, settings: AppConfig) -> dict[str, int]:
    """Rows and vectors of an index, by the names `Pipeline.needs` uses."""
    counts = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for name, query in _QUERIES.items():
            try:
                counts[name] = int(connection.execute(query).fetchone()[0])
            except sqlite3.OperationalError:
                counts[name] = 0  # a table that this version of pydocs-mcp does not make
    counts["vectors"] = await _count_vectors(database.with_suffix(".tq"), settings)
    return counts


def require_branches(needs: Iterable[str], counts: Mapping[str, int], *, where: str) -> None:
    """Refuse an index without what the arm retrieves from.

    Raises:
        SystemFailedError: a branch is empty.
    """
    empty = [name for name in sorted(needs) if not counts.get(name)]
    if empty:
        told = "; ".join(f"no {name}: {_WHY[name]}" for name in empty)
        raise SystemFailedError(f"the index lacks what the pipeline needs: {told}", where=where)


async def _count_vectors(sidecar: Path, settings: AppConfig) -> int:
    if not sidecar.exists():
        return 0
    from pydocs_mcp.storage.turboquant_uow import TurboQuantUnitOfWork

    async with TurboQuantUnitOfWork(
        index_path=sidecar, dim=settings.embedding.dim, bit_width=settings.embedding.bit_width
    ) as vectors:
        return int(vectors.size())
