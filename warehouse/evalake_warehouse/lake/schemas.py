"""The lake's tables, declared once: grain, schema version and columns.

All timestamps are UTC without a zone. Columns named `*_json` hold canonical JSON. A column
that may be NULL is nullable here; a writer refuses a NULL anywhere else.

A table's version is raised when a column is added. Columns are never renamed, retyped or
removed: files of every earlier version stay readable, and their missing columns read as NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from evalake_warehouse.vocabulary import (
    ATTEMPT_STATUSES,
    GOLD_ROLES,
    LEVELS,
    OUTPUTS,
    RELATIONS,
    RUN_ROLES,
)

_STR = pa.string()
_INT = pa.int64()
_FLOAT = pa.float64()
_BOOL = pa.bool_()
_TIME = pa.timestamp("us")


@dataclass(frozen=True, slots=True)
class LakeTable:
    """One table of the lake."""

    name: str
    grain: str
    version: int
    schema: pa.Schema
    per_run: bool  # files are named by run id, and only changed runs are read by a build
    # Columns that hold words of a closed list, or NULL where they may.
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _columns(required: dict[str, pa.DataType], nullable: dict[str, pa.DataType]) -> pa.Schema:
    fields = [pa.field(name, kind, nullable=False) for name, kind in required.items()]
    fields += [pa.field(name, kind, nullable=True) for name, kind in nullable.items()]
    return pa.schema(fields)


# fmt: off
_DECLARED = (
    LakeTable(
        "datasets", "arrival of a dataset edition", 3, per_run=False,
        words={"primary_level": LEVELS},
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "revision": _STR, "loader_version": _STR,
                "source": _STR, "licence": _STR, "citation": _STR, "caveats": pa.list_(_STR),
                "primary_level": _STR, "primary_metric": _STR, "default_split": _STR,
                "rows_read": _INT, "rows_kept": _INT, "rows_dropped": _INT, "ingested_at": _TIME,
            },
            {
                "sha256": _STR, "strata_label": _STR, "arrival_id": _STR, "selection_json": _STR,
                "ignore_identical_ids": _BOOL,
            },
        ),
    ),
    LakeTable(
        "tasks", "task", 1, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "task_id": _STR, "task_seed": _INT,
                "kind": _STR, "query": _STR, "query_variants_json": _STR, "corpus_id": _STR,
                "labels_json": _STR,
            },
            {"repo": _STR, "library": _STR, "qa_type": _STR, "qa_subtype": _STR, "stratum": _STR},
        ),
    ),
    LakeTable(
        "gold", "gold item", 1, per_run=False,
        words={"level": LEVELS, "role": GOLD_ROLES},
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "task_id": _STR, "gold_id": _STR, "level": _STR,
                "grade": _INT, "role": _STR, "truth_method": _STR,
            },
            {"evidence": _STR},
        ),
    ),
    LakeTable(
        "qrels", "gold item x relation", 1, per_run=False,
        words={"relation": RELATIONS},
        schema=_columns(
            {"dataset": _STR, "edition": _STR, "task_id": _STR, "gold_id": _STR, "relation": _STR},
            {"key": _STR, "path": _STR, "start_line": _INT, "end_line": _INT},
        ),
    ),
    LakeTable(
        "drops", "source row left out", 1, per_run=False,
        schema=_columns(
            {"dataset": _STR, "edition": _STR, "source_row": _STR, "reason": _STR},
            {"task_id": _STR, "evidence": _STR},
        ),
    ),
    LakeTable(
        "corpora", "corpus", 2, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "corpus_id": _STR, "kind": _STR, "origin": _STR, "n_files": _INT,
                "n_bytes": _INT, "n_symbols": _INT, "created_at": _TIME,
            },
            {"repo": _STR, "commit": _STR, "rule": _STR},
        ),
    ),
    LakeTable(
        "corpus_files", "corpus x file, edition x reading x file left out", 2, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "corpus_id": _STR, "path": _STR, "sha256": _STR, "n_bytes": _INT,
                "status": _STR,
            },
            {
                "n_lines": _INT, "detail": _STR, "language": _STR, "n_symbols": _INT,
                "edition": _STR, "reading": _INT, "n_files": _INT,
            },
        ),
    ),
    LakeTable(
        "corpus_symbols", "corpus x definition", 1, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "corpus_id": _STR, "path": _STR, "qualified_name": _STR,
                "symbol": _STR, "symbol_kind": _STR, "start_line": _INT, "end_line": _INT,
                "fingerprint": _STR, "rule_version": _STR,
            },
            {},
        ),
    ),
    LakeTable(
        "splits", "task x rule", 1, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "task_id": _STR, "split": _STR, "rule": _STR,
                "rule_version": _STR, "seed": _INT,
            },
            {},
        ),
    ),
    LakeTable(
        "texts", "distinct text", 1, per_run=False,
        schema=_columns(
            {"dataset": _STR, "text_sha256": _STR, "text": _STR, "origin": _STR},
            {"corpus_id": _STR},
        ),
    ),
    LakeTable(
        "runs", "run event", 5, per_run=True,
        words={"output": OUTPUTS, "role": RUN_ROLES},
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "split": _STR, "run_id": _STR, "event": _STR,
                "at": _TIME, "arm_hash": _STR, "arm_label": _STR, "system": _STR,
                "system_version": _STR, "adapter_version": _STR, "query_variant": _STR,
                "output": _STR, "depth": _INT, "seed": _INT, "repeat": _INT, "config_json": _STR,
                "config_files_json": _STR, "packages_json": _STR, "host_json": _STR,
                "n_tasks": _INT, "jobs": _INT, "evalake_version": _STR,
            },
            {
                "status": _STR, "device": _STR, "git_sha": _STR, "git_dirty": _BOOL,
                "command": _STR, "sweep_id": _STR, "family": _STR, "role": _STR,
                "primary_metric": _STR, "network_blocked": _BOOL, "provenance": _STR,
                "branches_json": _STR, "arrival_id": _STR, "network_block": _STR,
            },
        ),
    ),
    LakeTable(
        "index_events", "run x corpus", 2, per_run=True,
        schema=_columns(
            {
                "dataset": _STR, "run_id": _STR, "corpus_id": _STR, "ingestion_hash": _STR,
                "status": _STR, "cache_hit": _BOOL, "at": _TIME, "counts_json": _STR,
            },
            {
                "seconds": _FLOAT, "install_seconds": _FLOAT, "bytes_on_disk": _INT,
                "n_chunks": _INT, "n_vectors": _INT, "reason": _STR, "arrival_id": _STR,
            },
        ),
    ),
    LakeTable(
        "attempts", "task try", 1, per_run=True,
        words={"status": ATTEMPT_STATUSES},
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "run_id": _STR, "task_id": _STR, "attempt": _INT,
                "status": _STR, "n_hits": _INT, "n_concurrent": _INT, "started_at": _TIME,
            },
            {
                "reason": _STR, "payload_bytes": _INT, "payload_sha256": _STR, "call": _STR,
                "resolved_library": _STR, "n_tool_calls": _INT, "cost_usd": _FLOAT,
                "covered": _BOOL,
            },
        ),
    ),
    LakeTable(
        "timings", "task x phase x repeat", 1, per_run=True,
        schema=_columns(
            {
                "dataset": _STR, "run_id": _STR, "task_id": _STR, "attempt": _INT, "phase": _STR,
                "temperature": _STR, "repeat": _INT, "seconds": _FLOAT,
            },
            {},
        ),
    ),
    LakeTable(
        "hits", "retrieved item", 1, per_run=True,
        schema=_columns(
            {
                "dataset": _STR, "run_id": _STR, "task_id": _STR, "attempt": _INT, "rank": _INT,
                "item_id": _STR,
            },
            {
                "score": _FLOAT, "raw_path": _STR, "path": _STR, "path_status": _STR,
                "start_line": _INT, "end_line": _INT, "qualified_name": _STR, "doc_id": _STR,
                "title": _STR, "text_sha256": _STR, "reason": _STR, "branch": _STR,
            },
        ),
    ),
    LakeTable(
        "text_fingerprints", "distinct text", 1, per_run=False,
        schema=_columns(
            {"dataset": _STR, "text_sha256": _STR, "rule_version": _STR, "status": _STR},
            {"fingerprint": _STR},
        ),
    ),
    LakeTable(
        "text_scores", "text pair", 1, per_run=False,
        schema=_columns(
            {
                "dataset": _STR, "text_sha256": _STR, "gold_sha256": _STR, "scorer": _STR,
                "scorer_version": _STR, "floor": _FLOAT, "below_floor": _BOOL, "text_chars": _INT,
                "gold_chars": _INT,
            },
            {"score": _FLOAT},
        ),
    ),
    LakeTable(
        "looks", "test-tail use", 1, per_run=True,
        schema=_columns(
            {
                "dataset": _STR, "edition": _STR, "split": _STR, "run_id": _STR, "arm_hash": _STR,
                "looked_at": _TIME, "who": _STR, "why": _STR, "confirmatory": _BOOL, "batch": _STR,
            },
            {"family": _STR},
        ),
    ),
)
# fmt: on

TABLES: dict[str, LakeTable] = {table.name: table for table in _DECLARED}
