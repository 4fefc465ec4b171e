"""`evalake runs list | show | diff`: every run ever recorded."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.failed import as_rows
from evalake_cli.opened import open_judged
from evalake_cli.output import print_json, print_rows, say
from evalake_cli.run_flags import DatasetOption, EditionOption, RunArgument, SplitOption
from evalake_warehouse.questions.definitions import cutoff_of

runs_app = typer.Typer(no_args_is_help=True, help="Every run ever recorded.")
app.add_typer(runs_app, name="runs")

_SHOWN_CHARS = 600

_LIST = """
select
    runs.run_id,
    runs.arm_label,
    runs.dataset,
    runs.edition,
    runs.split,
    runs.repeat,
    runs.status,
    coalesce(runs.primary_metric, editions.primary_metric) as metric,
    metrics.mean,
    completeness.n_tasks,
    metrics.n_scored,
    completeness.n_error + completeness.n_timeout as failed,
    completeness.suspect,
    runs.started_at
from dim_runs as runs
left join fct_run_completeness as completeness on runs.run_id = completeness.run_id
left join dim_editions as editions
    on runs.dataset = editions.dataset and runs.edition = editions.edition
left join fct_run_metrics as metrics
    on runs.run_id = metrics.run_id
    and metrics.metric = coalesce(runs.primary_metric, editions.primary_metric)
where ($dataset is null or runs.dataset = $dataset)
  and ($system is null or runs.system = $system)
order by runs.run_id desc
limit $limit
"""

_OTHER_EDITIONS = """
select judges.edition, judges.n_tasks, editions.ingested_at
from dim_run_editions as judges
inner join dim_runs as runs on judges.run_id = runs.run_id
left join dim_editions as editions
    on runs.dataset = editions.dataset and judges.edition = editions.edition
where judges.run_id = ? and not judges.is_current
order by editions.is_latest desc, editions.ingested_at desc, judges.edition
"""


@runs_app.command("list", epilog="Example: evalake runs list --dataset starter --json")
def list_(
    dataset: Annotated[str | None, typer.Option(help="Runs on this dataset only.")] = None,
    system: Annotated[str | None, typer.Option(help="Runs of this system only.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most this many, latest first.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """List runs, the latest first, with their primary metric and cautions."""
    from evalake_warehouse.questions.cautions import run_cautions
    from evalake_warehouse.questions.open_warehouse import rows
    from evalake_warehouse.questions.runs import check_dataset, known_datasets

    wanted = {"dataset": dataset, "system": system, "limit": limit}
    with open_judged() as connection:
        found = rows(connection, _LIST, wanted)
        if dataset is not None and not found:
            check_dataset(dataset, known_datasets(connection))
        for row in found:
            run_id, metric = row["run_id"], row["metric"]
            row["cautions"] = run_cautions(connection, [run_id], [metric])[run_id]
    if as_json:
        records = [{**row, "cautions": [c.record() for c in row["cautions"]]} for row in found]
        print_json(records)
    else:
        codes = [", ".join(caution.code for caution in row["cautions"]) or None for row in found]
        print_rows([{**row, "cautions": code} for row, code in zip(found, codes, strict=True)])


@runs_app.command(epilog="Example: evalake runs show latest --json")
def show(
    run: RunArgument,
    *,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    edition: EditionOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show one run: arm, completeness, failures, metrics, latency, branches, cautions, its log."""
    from evalake_runners.engine.failures import read_failures
    from evalake_runners.workers.run_log import log_file
    from evalake_warehouse.lake.reader import list_lake
    from evalake_warehouse.questions.cautions import run_cautions
    from evalake_warehouse.questions.open_warehouse import rows
    from evalake_warehouse.questions.resolve import Wanted, resolve_run
    from evalake_warehouse.questions.runs import primary_metric

    wanted = Wanted(dataset, split, edition)
    with open_judged() as connection:
        found = resolve_run(connection, run, wanted, tell=say)
        record: dict[str, Any] = {
            part: rows(connection, f"select * from {mart} where run_id = ?", [found.run_id])
            for part, mart in (
                ("run", "dim_runs"),
                ("completeness", "fct_run_completeness"),
                ("metrics", "fct_run_metrics"),
                ("latency", "fct_run_latency"),
                ("branches", "fct_run_branches"),
            )
        }
        record["other_editions"] = rows(connection, _OTHER_EDITIONS, [found.run_id])
        cautions = run_cautions(connection, [found.run_id])[found.run_id]
        judged_by = primary_metric(connection, [found])
    home, run_id = current_project().home, found.run_id
    record["failures"] = as_rows(read_failures(list_lake(home), [run_id]).get(run_id, ()))
    record["cautions"] = [caution.record() for caution in cautions]
    log = log_file(home, run_id) if log_file(home, run_id).is_file() else None
    if as_json:
        print_json(record | {"run": record["run"][0], "log": log and str(log)})
        return
    print_rows(_as_lines(record["run"][0]), title="run")
    print_rows(_as_lines(*record["completeness"]), title="\ncompleteness")
    if record["other_editions"]:
        print_rows(record["other_editions"], title="\nother editions that can judge it")
    if record["failures"]:
        print_rows(record["failures"], title="\nfailures")
    shown = (
        "metric",
        "level",
        "n_tasks",
        "n_scored",
        "mean",
        "mean_strict",
        "ci_low",
        "ci_high",
        "chance",
    )
    scored = sorted(
        (row for row in record["metrics"] if row["mean"] is not None), key=_metric_order
    )
    print_rows([{name: row[name] for name in shown} for row in scored], title="\nmetrics")
    print_rows(
        [{name: row[name] for name in row if name != "run_id"} for row in record["latency"]],
        title="\nlatency",
    )
    if record["branches"]:
        print_rows(
            [{name: row[name] for name in row if name != "run_id"} for row in record["branches"]],
            title="\nbranches",
        )
    shown_metrics = {None, judged_by, *(row["metric"] for row in scored)}
    told = [row for row in record["cautions"] if row["metric"] in shown_metrics]
    if told:
        columns = ("code", "metric", "text")
        print_rows([{name: row[name] for name in columns} for row in told], title="\ncautions")
    if record["other_editions"]:
        other = record["other_editions"][0]["edition"]
        say(
            f"judge it by another edition: evalake build --gold {quote(found.dataset)}@{other} "
            f"--scenario {other}"
        )
    if log is not None:
        say(f"what the system printed: {log}")


@runs_app.command(epilog="Example: evalake runs diff bm25 latest")
def diff(
    first: RunArgument,
    second: RunArgument,
    *,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    edition: EditionOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what differs between two runs: configuration, versions, host, dataset."""
    from evalake_warehouse.questions.open_warehouse import rows
    from evalake_warehouse.questions.resolve import Wanted, refuse_itself, resolve_run

    wanted = Wanted(dataset, split, edition)
    with open_judged() as connection:
        one, other = (resolve_run(connection, text, wanted, tell=say) for text in (first, second))
        refuse_itself(first, second, one, other)
        records = [
            _flat(rows(connection, "select * from dim_runs where run_id = ?", [run.run_id])[0])
            for run in (one, other)
        ]
    keys = sorted(records[0].keys() | records[1].keys())
    changed = [
        {"field": key, "first": records[0].get(key), "second": records[1].get(key)}
        for key in keys
        if records[0].get(key) != records[1].get(key)
    ]
    if as_json:
        print_json(changed)
    elif changed:
        print_rows(changed)
    else:
        say("the two runs do not differ")


def _metric_order(row: dict[str, Any]) -> tuple[bool, str, str, int]:
    """Primary level first, then by measure, then by cutoff as a number."""
    base, _, level = row["metric"].partition(":")
    return bool(level), level, base.partition("@")[0], cutoff_of(base) or 0


def _as_lines(record: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [
        {"field": name, "value": _shortened(value)}
        for name, value in (record or {}).items()
        if value is not None
    ]


def _shortened(value: object) -> object:
    """A list of all packages fills screens, and is for machines."""
    if not isinstance(value, str) or len(value) <= _SHOWN_CHARS:
        return value
    return f"{value[:_SHOWN_CHARS]}… ({len(value)} characters; --json has all)"


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A row without nesting: a JSON column becomes one entry per leaf, named by its path."""
    import json

    flat: dict[str, Any] = {}
    for name, value in record.items():
        if name.endswith("_json") and value:
            flat |= _leaves(name.removesuffix("_json"), json.loads(value))
        else:
            flat[name] = value
    return flat


def _leaves(prefix: str, value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and value:
        leaves: dict[str, Any] = {}
        for key, item in value.items():
            leaves |= _leaves(f"{prefix}.{key}", item)
        return leaves
    return {prefix: value}
