"""Report sections on what the answers took: latency, cost, and the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalake_reports.charts.labels import DASH, duration
from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_reports.report.dataset_facts import cost_rows
from evalake_reports.report.tables import (
    Column,
    Section,
    Table,
    arm_column,
    count,
    size,
    text,
    whole,
)


def latency(selection: Selection) -> Section:
    """Percentiles per arm, phase and temperature, in milliseconds or whatever suits."""
    found = selection.marts.rows(
        """
        select *
        from fct_run_latency
        where list_contains(?, run_id)
        order by phase = 'search' desc, phase, temperature desc, p50_s
        """,
        ids(selection.runs),
    )
    for row in found:
        row["arm"] = selection.labels[row["run_id"]]
    columns = [
        arm_column(),
        text("phase"),
        text("temperature"),
        count("n"),
        *map(_percentile, ("p50", "p95", "p99")),
    ]
    lines = ["Index runs that came from a cache are not in the index figures."]
    return Section("latency", "Latency", text=lines, tables=[Table("latency", columns, found)])


def _percentile(name: str) -> Column:
    return Column(name, lambda row: duration(row[f"{name}_s"]), align="right")


def cost(selection: Selection) -> Section:
    """Money, payload and index size per arm."""
    rows = cost_rows(selection)
    columns = [
        arm_column(),
        count("n_attempts", "attempts"),
        Column("cost", _money, align="right"),
        Column("payload, median", lambda row: size(row["payload_bytes"]), align="right"),
        INDEX_TIME,
        Column("index size", lambda row: size(row["bytes_on_disk"]), align="right"),
        count("n_chunks", "chunks"),
        count("n_vectors", "vectors"),
    ]
    return Section("cost", "Cost", tables=[Table("cost", columns, rows)])


def _money(row: Mapping[str, Any]) -> str:
    return DASH if row["cost_usd"] is None else f"$ {row['cost_usd']:.4f}"


def _index_time(row: Mapping[str, Any]) -> str:
    """Seconds of the indexes that this run built; those that it found built are told apart."""
    cached = row["n_cached"] or 0
    if row["index_s"] is None:
        return "from cache" if cached else DASH
    return duration(row["index_s"]) + (f" + {whole(cached)} from cache" if cached else "")


INDEX_TIME = Column("index", _index_time, align="right")


def environment(selection: Selection) -> Section:
    """Versions per arm, and the machine, once where all runs share it."""
    found = selection.marts.rows(
        "select * from dim_runs where list_contains(?, run_id) order by run_id",
        ids(selection.runs),
    )
    for row in found:
        row["arm"] = selection.labels[row["run_id"]]
        row["commit"] = _commit(row)
    columns = [
        arm_column(),
        # The digits of its time tell a run, and are enough for every command.
        Column("run", lambda row: row["run_id"][:13], kind="code"),
        text("system"),
        text("system_version", "version"),
        text("adapter_version", "adapter"),
        count("depth"),
        text("query_variant", "query"),
        text("device"),
        count("jobs"),
        text("network_blocked", "network blocked"),
        text("commit", kind="code"),
        Column("started (UTC)", lambda row: f"{row['started_at']:%Y-%m-%d %H:%M}"),
    ]
    runs = Table("runs", columns, found)
    machine = Table("machine", [text("what"), text("value", kind="long")], _machine(found))
    configs = Table(
        "configurations",
        [arm_column(), text("config_json", "effective configuration", kind="code")],
        found,
        caption="Effective configurations",
        folded=True,
    )
    packages = Table(
        "packages",
        [text("package"), text("version")],
        _packages(found),
        caption="Packages",
        folded=True,
    )
    return Section("environment", "Environment", tables=[runs, machine, configs, packages])


def _commit(row: Mapping[str, Any]) -> str | None:
    sha = row["git_sha"]
    return f"{sha[:10]}{' (dirty)' if row['git_dirty'] else ''}" if sha else None


def _machine(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Facts of the host and the command; several values where runs differ."""
    facts: dict[str, dict[str, None]] = {}
    for row in found:
        shown: dict[str, Any] = {"evalake": row["evalake_version"]}
        for key, value in _parsed(row["host_json"]).items():
            is_size = key.endswith("bytes") and isinstance(value, int)
            shown[key.removesuffix("_bytes").replace("_", " ")] = size(value) if is_size else value
        shown["command"] = row["command"]
        for name, value in shown.items():
            if value not in (None, "", [], {}):
                facts.setdefault(name, {})[_flat(value)] = None
    return [{"what": name, "value": "; ".join(values)} for name, values in facts.items()]


def _packages(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Versions of the packages that ran; several where runs differ."""
    versions: dict[str, dict[str, None]] = {}
    for row in found:
        for name, version in _parsed(row["packages_json"]).items():
            versions.setdefault(name, {})[_flat(version)] = None
    return [{"package": name, "version": ", ".join(versions[name])} for name in sorted(versions)]


def _parsed(text_value: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text_value or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {"value": value}


def _flat(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
