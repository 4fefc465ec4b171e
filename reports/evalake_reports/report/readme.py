"""Render README's table and pictures from the demo's marts: `make readme`.

The rows drawn are kept beside the pictures, with a hash of what the demo is made of. So a test
can draw everything again and tell when README no longer says what the demo does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_reports.charts.choose import panels
from evalake_reports.charts.difference_charts import forest
from evalake_reports.charts.labels import title
from evalake_reports.charts.marts import Marts, ids, open_marts
from evalake_reports.charts.save import to_svg, write_whole
from evalake_reports.charts.scores import score_bars
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import Style
from evalake_reports.marked_block import replace_block
from evalake_reports.report.leaderboard import leaderboard, leaderboard_table
from evalake_reports.report.markdown import markdown_table
from evalake_warehouse.errors import EvalakeError
from evalake_warehouse.identity import content_hash, sha256_text
from evalake_warehouse.project import Project
from evalake_warehouse.questions.definitions import SHOWN_METRICS, metric_definitions

if TYPE_CHECKING:
    import duckdb

FAMILY = "demo"
START, END = "<!-- demo: made by `make readme` -->", "<!-- /demo -->"
README = Path("README.md")
IMAGES = Path("docs/images")
SNAPSHOT = IMAGES / "demo.json"
# What the demo's figures depend on; a change of any means that README must be made anew.
_INPUTS = (
    "ingest/evalake_ingest/loaders/starter/**/*.yaml",
    "configs/sweeps/demo.yaml",
    "configs/systems/*.yaml",
    "configs/pipelines/lexical.yaml",
)
_TABLES: Mapping[str, str] = {
    "dim_runs": "run_id, arm_hash, arm_label, system, system_version, dataset, edition, split, "
    "depth, output, seed, repeat, sweep_id, family, role, status, "
    "started_at::varchar as started_at, "
    "finished_at::varchar as finished_at, git_sha, primary_metric, n_tasks, config_json",
    "fct_run_metrics": "run_id, metric, n_tasks, n_scored, mean, ci_low, ci_high, wilson_low, "
    "wilson_high, chance",
    "fct_run_latency": "run_id, phase, temperature, n, p50_s, p95_s, p99_s",
    "fct_run_completeness": "run_id, n_tasks, n_error, n_timeout, n_not_attempted",
    "fct_run_cautions": "run_id, caution, metric, n, of_n, detail, is_suspect",
    "fct_task_lists": "run_id, task_id, list_digest[:8] as list_digest",
}
# Where there may be no row to tell the columns by.
_EMPTY: Mapping[str, str] = {
    "fct_run_cautions": "run_id varchar, caution varchar, metric varchar, n bigint, of_n bigint, "
    "detail varchar, is_suspect boolean",
    "fct_task_lists": "run_id varchar, task_id varchar, list_digest varchar",
}
_PAIRED = "family, baseline_run_id, candidate_run_id, metric, n_pairs, mean_diff, diff_low, " \
    "diff_high, p_holm, verdict"  # fmt: skip
_OF_FAMILY = ("sweep_id", "family", "role", "primary_metric")


def take_snapshot(selection: Selection, project_dir: Path) -> dict[str, Any]:
    """Rows that README shows, and the hash of the demo's inputs."""
    run_ids = ids(selection.runs)
    metrics = [selection.primary_metric, *SHOWN_METRICS]
    tables = {
        name: selection.marts.rows(
            f"select {columns} from {name} where list_contains(?, run_id) order by all", run_ids
        )
        for name, columns in _TABLES.items()
    }
    shown = {run.run_id: run for run in selection.runs}
    for row in tables["dim_runs"]:  # its family and role here need not be its first
        row |= {name: getattr(shown[row["run_id"]], name) for name in _OF_FAMILY}
    for name in ("fct_run_metrics", "fct_run_cautions"):
        tables[name] = [row for row in tables[name] if row["metric"] in (None, *metrics)]
    tables["fct_paired_tests"] = selection.marts.rows(
        f"select {_PAIRED} from fct_paired_tests "
        "where list_contains(?, candidate_run_id) and metric = ? and family = ? "
        "and baseline_kind = 'run' order by all",
        run_ids,
        selection.primary_metric,
        FAMILY,
    )
    tasks = selection.marts.rows(
        "select distinct task_id from fct_task_metrics where list_contains(?, run_id) order by 1",
        run_ids,
    )
    return {
        "inputs": inputs_hash(project_dir, selection.primary_metric),
        "primary_metric": selection.primary_metric,
        "tasks": [row["task_id"] for row in tasks],
        **tables,
    }


def inputs_hash(project_dir: Path, primary_metric: str) -> str:
    """Hash of what decides the demo's figures: files by their path in the project, and formulas."""
    shown = {primary_metric, *SHOWN_METRICS}
    files = sorted({path for pattern in _INPUTS for path in project_dir.glob(pattern)})
    definitions = metric_definitions(Project(home=Path(), data_dir=project_dir))
    return content_hash(
        {
            "files": {
                str(path.relative_to(project_dir)): sha256_text(path.read_text("utf-8"))
                for path in files
            },
            # Of what stands in README alone: another measure or cutoff changes no figure of it.
            "formulas": sorted(
                {(row["measure"], row["formula"]) for row in definitions if row["metric"] in shown}
            ),
        }
    )


def render(snapshot: Mapping[str, Any], readme: str) -> dict[Path, str]:
    """Every file that `make readme` writes, by its path in the project.

    Raises:
        UsageError: README has no place for the demo.
    """
    with _opened(snapshot) as marts:
        [selection] = panels(marts, family=FAMILY)
        files = {IMAGES / name: text for name, text in _pictures(selection)}
        block = _block(selection)
    files[README] = replace_block(readme, START, END, block, where=str(README))
    files[SNAPSHOT] = json.dumps(snapshot, indent=1, ensure_ascii=False) + "\n"
    return files


def differences(selection: Selection, snapshot: Mapping[str, Any]) -> list[str]:
    """Where the demo's scores are no longer those of the snapshot; times are not compared."""
    with _opened(snapshot) as marts:
        [kept] = panels(marts, family=FAMILY)
        old = {row["arm"]: row for row in leaderboard(kept)}
    new = {row["arm"]: row for row in leaderboard(selection)}
    found = [f"{arm}: in one of the two only" for arm in sorted(old.keys() ^ new.keys())]
    for arm in sorted(old.keys() & new.keys()):
        found += [
            f"{arm}: {name} was {old[arm][name]}, is {new[arm][name]}"
            for name in ("n_scored", "mean", "ci_low", "ci_high", *SHOWN_METRICS)
            if old[arm][name] != new[arm][name]
        ]
    return found


def _block(selection: Selection) -> str:
    table = leaderboard_table(selection)
    pictures = [
        ("scores", f"Scores with 95 % intervals on {title(selection.runs)}"),
        ("forest", "Paired differences to the baseline with 95 % intervals"),
    ]
    lines = [f"`make demo` on {title(selection.runs)}:", "", *markdown_table(table), ""]
    for name, text in pictures:
        source = f"{IMAGES}/demo-{name}"
        lines += [
            "<picture>",
            f'  <source media="(prefers-color-scheme: dark)" srcset="{source}-dark.svg">',
            f'  <img alt="{text}" src="{source}.svg">',
            "</picture>",
            "",
        ]
    return "\n".join(lines).rstrip()


def _pictures(selection: Selection) -> Iterator[tuple[str, str]]:
    for suffix, style in (("", Style()), ("-dark", Style(theme="dark"))):
        scores = score_bars(selection, metrics=[selection.primary_metric], style=style)
        yield f"demo-scores{suffix}.svg", to_svg(scores)
        yield f"demo-forest{suffix}.svg", to_svg(forest(selection, style=style))


def _opened(snapshot: Mapping[str, Any]) -> Marts:
    """Marts in memory with the snapshot's rows."""
    from evalake_warehouse.questions.box import empty_box

    connection = empty_box()
    for name in (*_TABLES, "fct_paired_tests"):
        _create(connection, name, snapshot[name])
    runs = [row["run_id"] for row in snapshot["dim_runs"]]
    attempts = [
        {"run_id": run, "task_id": task, "metric": "", "null_reason": ""}
        for run in runs
        for task in snapshot["tasks"]
    ]
    _create(connection, "fct_task_metrics", attempts)
    connection.execute(
        "create table dim_editions as select distinct dataset, edition, ? as primary_metric, "
        "true as is_latest from dim_runs",
        [snapshot["primary_metric"]],
    )
    connection.execute("alter table dim_runs alter started_at type timestamp")
    connection.execute("alter table dim_runs alter finished_at type timestamp")
    connection.execute(
        f"create table dim_run_families as select run_id, {', '.join(_OF_FAMILY)}, "
        "started_at as joined_at, null::varchar as arrival_id from dim_runs"
    )
    return Marts(connection, macros=Path())


def _create(connection: duckdb.DuckDBPyConnection, name: str, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa

    if not rows:
        connection.execute(f"create table {name} ({_EMPTY[name]})")
        return
    connection.register("incoming", pa.Table.from_pylist(rows))
    connection.execute(f"create table {name} as select * from incoming")
    connection.unregister("incoming")


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with `--check` only say whether they are current."""
    parser = argparse.ArgumentParser(description="Render README from the demo's marts.")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if stale")
    check = parser.parse_args(arguments).check
    project = Project.locate()
    root = project.data_dir
    try:
        with open_marts(project) as marts:
            [selection] = panels(marts, family=FAMILY)
            if check:
                snapshot = json.loads((root / SNAPSHOT).read_text("utf-8"))
                stale = differences(selection, snapshot)
                print("\n".join(stale) or "README is current", file=sys.stderr)
                return 1 if stale else 0
            snapshot = take_snapshot(selection, root)
        for path, text in render(snapshot, (root / "README.md").read_text("utf-8")).items():
            write_whole(root / path, text.encode())
            print(path)
    except EvalakeError as error:
        print(f"error: {error}", file=sys.stderr)
        if error.hint:
            print(f"\nhint: {error.hint}", file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
