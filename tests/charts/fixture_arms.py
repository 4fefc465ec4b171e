"""Arms and runs of the synthetic warehouses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evalake_warehouse.identity import sha256_text

T0 = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC).replace(tzinfo=None)
QA_TYPES = ("describe", "locate", "trace", "why")
DEPTH = 20
ENVIRONMENT: dict[str, Any] = {
    "adapter_version": "1",
    "primary_metric": "recall@5",
    "jobs": 1,
    "seed": 0,
    "repeat": 0,
    "device": "cpu",
    "network_blocked": True,
    "git_dirty": False,
    "command": "evalake run demo.yaml",
    "evalake_version": "0.1.0",
    "packages_json": json.dumps({"duckdb": "1.5.5", "pyarrow": "21.0.0"}),
    "host_json": json.dumps({"cpu": "8 cores", "memory_gb": 32, "os": "Linux"}),
}
EDITION = "e" * 12
PROJECT_DIR = Path(__file__).resolve().parents[2]
DEFINITIONS = PROJECT_DIR / "warehouse" / "dbt-project" / "seeds" / "metric_definitions.csv"
VARIABLES = {
    "confidence": 0.95,
    "resamples": 1000,
    "bootstrap_seed": 0,
    "margin": 0.02,
    "min_pairs": 10,
    "text_threshold": 85,
    "text_min_chars": 40,
    "overlap_gold": 0.5,
    "overlap_hit": 0.1,
}


@dataclass(frozen=True)
class Arm:
    label: str
    system: str
    config: dict[str, Any]
    skill: float  # chance that the gold is at rank 1; further ranks decay from there
    latency_s: float
    role: str | None = "candidate"


ARMS = (
    Arm("bm25", "bm25", {"name": "bm25", "k1": 1.2}, 0.34, 0.0021, "baseline"),
    Arm("ripgrep", "ripgrep", {"name": "ripgrep"}, 0.18, 0.148),
    Arm("pydocs-lexical", "pydocs-mcp", {"name": "lexical", "branches": ["bm25"]}, 0.41, 0.0094),
    Arm("pydocs-dense", "pydocs-mcp", {"name": "dense", "branches": ["dense"]}, 0.39, 0.186),
    Arm(
        "pydocs-hybrid",
        "pydocs-mcp",
        {"name": "hybrid", "branches": ["bm25", "dense"], "fusion": "rrf"},
        0.47,
        0.201,
    ),
    Arm(
        "pydocs-hybrid-rerank",
        "pydocs-mcp",
        {
            "name": "hybrid-rerank",
            "branches": ["bm25", "dense"],
            "fusion": "rrf",
            "reranker": "cross-encoder",
        },
        0.55,
        0.94,
    ),
    Arm(
        "pydocs-hybrid-graph",
        "pydocs-mcp",
        {
            "name": "hybrid-graph",
            "branches": ["bm25", "dense"],
            "fusion": "rrf",
            "graph_expand": True,
        },
        0.49,
        0.23,
    ),
    Arm("random", "random", {"name": "random"}, 0.004, 0.000031, "control"),
)

METRICS = (
    ("success@1", "success", 1),
    ("success@5", "success", 5),
    ("success@10", "success", 10),
    ("recall@5", "recall", 5),
    ("recall@10", "recall", 10),
    ("mrr", "rr", None),
    ("ndcg@10", "ndcg", 10),
)
PRIMARY = "recall@5"


@dataclass(frozen=True)
class Joins:
    """Another family that took a run in."""

    family: str
    at: datetime
    role: str = "candidate"
    primary_metric: str = PRIMARY


def arrival_id(at: datetime, digest: str = "0" * 22) -> str:
    """An id that sorts by a time, as those of a lake do."""
    millis = f"{int(at.replace(tzinfo=UTC).timestamp() * 1_000):012x}"
    return f"{millis[:8]}-{millis[8:]}-7{digest[:3]}-8{digest[3:6]}-{digest[6:18]}"


@dataclass
class RunSpec:
    arm: Arm
    dataset: str = "starter"
    split: str = "dev"
    sweep: str = "demo"
    n_tasks: int = 120
    started_at: datetime = T0
    status: str = "ok"
    git_sha: str = "9f3c2ab41d55"
    n_error: int = 0
    n_not_attempted: int = 0
    scored: bool = True
    run_id: str = ""
    edition: str = EDITION
    seed: int = 0
    depth: int = DEPTH
    n_hits: int = 10
    suspect_reason: str | None = None
    cautions: tuple[dict[str, Any], ...] = ()  # further rows of fct_run_cautions
    joins: tuple[Joins, ...] = ()


def demo_runs(arms: tuple[Arm, ...] = ARMS, **changes: Any) -> list[RunSpec]:
    """One run per arm, a minute apart."""
    return [
        RunSpec(arm, started_at=T0 + timedelta(minutes=number), seed=number, **changes)
        for number, arm in enumerate(arms)
    ]


def arm_hash(arm: Arm) -> str:
    return sha256_text(json.dumps([arm.label, arm.system, arm.config], sort_keys=True))
