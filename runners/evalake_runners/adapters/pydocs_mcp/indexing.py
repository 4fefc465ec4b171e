"""Build an index with pydocs-mcp's own parts: from files, or one chunk per document."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.protocol import CorpusView

if TYPE_CHECKING:
    from pydocs_mcp.retrieval.config import AppConfig

_PROJECT = "__project__"  # pydocs-mcp's name for the source being indexed
_DOCUMENTS_PER_WRITE = 2_000


@dataclass(frozen=True, slots=True)
class Indexed:
    """Counts and warnings of one indexing."""

    device: str | None
    n_warnings: int  # files skipped for their size, and chunkers that failed on a file


async def build_index(
    corpus: CorpusView, database: Path, settings: AppConfig, stages: tuple[str, ...]
) -> Indexed:
    """Index a corpus into `database` and the files beside it; call inside `isolated`."""
    from pydocs_mcp.db import open_index_database
    from pydocs_mcp.storage.factories import build_composite_uow_factory, build_connection_provider
    from pydocs_mcp.storage.search_backend import build_search_backend
    from pydocs_mcp.storage.sqlite import SqliteChunkRepository

    open_index_database(database).close()
    backend = build_search_backend(settings, database)
    unit_of_work = build_composite_uow_factory(backend.write_uow_children())
    embedder = _document_embedder(settings, stages)
    with _counted_warnings() as warnings:
        pipeline = _ingestion_pipeline(settings, embedder, unit_of_work)
        if corpus.kind == "documents":
            await _index_documents(corpus, settings, pipeline, unit_of_work)
        else:
            await _index_files(corpus, settings, pipeline, unit_of_work)
    # Without this the full-text index stays empty, and no search says so.
    await SqliteChunkRepository(provider=build_connection_provider(database)).rebuild_index()
    return Indexed(_device(pipeline), len(warnings))


def device_of(embedder: object) -> str | None:
    """The device an embedder's model really lies on; None where it does not say."""
    while (inner := getattr(embedder, "inner", None)) is not None:  # query-side wrappers
        embedder = inner
    model = getattr(embedder, "model", None) or getattr(embedder, "_model", None)
    device = getattr(model, "device", None)
    return None if device is None else str(device)


def _device(pipeline: Any) -> str | None:
    """Where the model of the embedding stage ran."""
    told = (device_of(getattr(stage, "embedder", None)) for stage in pipeline.stages)
    return next((device for device in told if device is not None), None)


def _document_embedder(settings: AppConfig, stages: tuple[str, ...]) -> Any:
    if "embed_chunks" not in stages:
        return None
    from pydocs_mcp.extraction.strategies.embedders import build_embedder

    return build_embedder(settings.embedding)


def _ingestion_pipeline(settings: AppConfig, embedder: Any, unit_of_work: Any) -> Any:
    from pydocs_mcp.extraction import build_ingestion_pipeline

    return build_ingestion_pipeline(
        settings,
        embedder=embedder,
        uow_factory=unit_of_work,
        pipeline_hash=settings.compute_ingestion_pipeline_hash(),
    )


async def _index_files(
    corpus: CorpusView, settings: AppConfig, pipeline: Any, unit_of_work: Any
) -> None:
    from pydocs_mcp.application import ProjectIndexer
    from pydocs_mcp.extraction import PipelineChunkExtractor

    indexer = ProjectIndexer(
        indexing_service=_indexing_service(settings, unit_of_work),
        dependency_resolver=_NoDependencies(),
        chunk_extractor=PipelineChunkExtractor(pipeline=pipeline),
        member_extractor=_NoMembers(),
        uow_factory=unit_of_work,
    )
    await indexer.index_project(corpus.root, include_dependencies=False)


async def _index_documents(
    corpus: CorpusView, settings: AppConfig, pipeline: Any, unit_of_work: Any
) -> None:
    """One chunk per row, its title the doc id, embedded by the same stages as files are."""
    from pydocs_mcp.extraction.pipeline.ingestion import (
        ChunkBundle,
        FileBundle,
        IngestionState,
    )
    from pydocs_mcp.models import Chunk, Package, PackageOrigin

    chunks = tuple(
        Chunk(text=text, metadata={"package": _PROJECT, "title": doc_id, "module": doc_id})
        for doc_id, text in _documents(corpus.root / "documents.parquet")
    )
    state = IngestionState(
        files=FileBundle(target=corpus.root, package_name=_PROJECT, root=corpus.root),
        chunks=ChunkBundle(chunks=chunks),
    )
    for stage in pipeline.stages:
        if stage.name.startswith("embed_chunks"):
            state = await stage.run(state)
    package = Package(
        name=_PROJECT,
        version="",
        summary="",
        homepage="",
        dependencies=(),
        content_hash=corpus.corpus_id,
        origin=PackageOrigin.PROJECT,
    )
    service = _indexing_service(settings, unit_of_work)
    await service.reindex_package(package, state.chunks.chunks, ())


def _indexing_service(settings: AppConfig, unit_of_work: Any) -> Any:
    from pydocs_mcp.application import IndexingService

    return IndexingService(
        uow_factory=unit_of_work,
        node_scores_enabled=settings.reference_graph.node_scores.enabled,
    )


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(
        batch_size=_DOCUMENTS_PER_WRITE, columns=["doc_id", "text"]
    ):
        yield from zip(batch["doc_id"].to_pylist(), batch["text"].to_pylist(), strict=True)


class _NoDependencies:
    """A corpus is all there is; its declared dependencies are not looked up."""

    async def resolve(self, project_dir: Path) -> tuple[str, ...]:
        del project_dir
        return ()


class _NoMembers:
    """Chunk pipelines never read the table of members."""

    async def extract_from_project(self, project_dir: Path) -> tuple[Any, ...]:
        del project_dir
        return ()

    async def extract_from_dependency(self, dep_name: str) -> tuple[Any, ...]:
        del dep_name
        return ()


class _Collected(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def _counted_warnings() -> Iterator[list[logging.LogRecord]]:
    """pydocs-mcp reports a file it could not use only as a warning in its log."""
    logger, handler = logging.getLogger("pydocs-mcp"), _Collected()
    logger.addHandler(handler)
    try:
        yield handler.records
    finally:
        logger.removeHandler(handler)
