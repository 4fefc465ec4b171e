"""`evalake compare` and `evalake gate`: two runs against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.opened import open_judged
from evalake_cli.output import print_json, print_rows, say
from evalake_cli.run_flags import (
    DatasetOption,
    EditionOption,
    RunArgument,
    ScenarioOption,
    SplitOption,
)
from evalake_warehouse.errors import ExitCode

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.questions.baseline import Baseline
    from evalake_warehouse.questions.cautions import Caution
    from evalake_warehouse.questions.compare import Comparison
    from evalake_warehouse.questions.resolve import Wanted
    from evalake_warehouse.questions.runs import Run

BaselineArgument = Annotated[
    str, typer.Argument(help="A run (id, prefix, label, latest) or a frozen baseline file.")
]
MetricOption = Annotated[
    str | None, typer.Option(help="Metric to judge by.  [default: the run's primary metric]")
]

_SHOWN_MEASURES = ("success", "recall", "rr", "ndcg")
_SHOWN_CUTOFFS = ("1", "5", "10", "")
_COLUMNS = {
    "metric": "metric",
    "n_pairs": "pairs",
    "baseline_mean": "baseline",
    "candidate_mean": "candidate",
    "mean_diff": "diff",
    "diff_low": "low",
    "diff_high": "high",
    "only_baseline": "lost",
    "only_candidate": "won",
    "p_value": "p",
    "mde": "mde",
    "verdict": "verdict",
}


@app.command(epilog="Example: evalake compare bm25 latest --dataset starter --json")
def compare(
    baseline: BaselineArgument,
    candidate: RunArgument,
    *,
    metric: MetricOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    edition: EditionOption = None,
    scenario: ScenarioOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Test a candidate run against a baseline on the tasks both were scored on.

    Prints tests, intervals and verdicts per metric, and the tasks whose score changed. Exits 0
    whatever they say; `evalake gate` judges. Exits 2 if the runs cannot be compared, 3 if no
    verdict is possible: a run is suspect, or no task was scored in both.
    """
    from evalake_warehouse.questions.resolve import Wanted

    wanted = Wanted(dataset, split, edition)
    result = _compare(baseline, candidate, wanted, metric=metric, scenario=scenario)
    code = ExitCode.OK if result.has_verdict else ExitCode.INCOMPLETE
    if as_json:
        print_json(
            {
                "baseline": result.baseline.record(),
                "candidate": result.candidate.record(),
                "primary_metric": result.primary_metric,
                "summary": _summary(result),
                "cautions": _caution_records(result),
                "tests": result.tests,
                "flipped": result.flipped,
            }
        )
        return code
    say(f"baseline   {_baseline_name(result)}\ncandidate  {result.candidate}\n")
    print_rows([{name: row[key] for key, name in _COLUMNS.items()} for row in _shown(result)])
    say(f"\n{_summary(result)}")
    if result.flipped:
        lost = sum(row["direction"] == "lost" for row in result.flipped)
        say(f"\n{result.primary_metric}: {lost} tasks lost, {len(result.flipped) - lost} won")
        keys = ("task_id", "baseline_value", "candidate_value", "query")
        print_rows([{key: _short(row[key]) for key in keys} for row in result.flipped[:20]])
        if len(result.flipped) > 20:
            say(f"and {len(result.flipped) - 20} more; --json lists all")
    return code


@app.command(
    epilog="Example: evalake gate bm25 latest --metric success@5  |  "
    "Exits 0 if it holds, 1 if it fails, 2 if the runs cannot be compared, 3 if inconclusive."
)
def gate(
    baseline: BaselineArgument,
    candidate: RunArgument,
    *,
    metric: MetricOption = None,
    max_drop: Annotated[
        float, typer.Option(min=0, max=1, help="Largest drop allowed, in metric points.")
    ] = 0.0,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    edition: EditionOption = None,
    scenario: ScenarioOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Judge a candidate run against a baseline on their common tasks.

    Fails if the whole interval of the difference lies below -MAX_DROP. Inconclusive with too
    few common tasks, if a run is suspect, or if the candidate failed on more tasks than the
    baseline.
    """
    from evalake_warehouse.questions.gate import judge
    from evalake_warehouse.questions.resolve import Wanted

    wanted = Wanted(dataset, split, edition)
    result = _compare(baseline, candidate, wanted, metric=metric, scenario=scenario)
    test = result.test(result.primary_metric)
    verdict = judge(
        test,
        max_drop=max_drop,
        min_pairs=int(result.variables["min_pairs"]),
        same_split=result.baseline.split == result.candidate.split,
    )
    if as_json:
        print_json(
            {
                "verdict": verdict.outcome,
                "exit_code": int(verdict.exit_code),
                "reason": verdict.reason,
                "metric": result.primary_metric,
                "max_drop": max_drop,
                "baseline": result.baseline.record(),
                "candidate": result.candidate.record(),
                "cautions": _caution_records(result),
                "test": test,
                "lost": [row["task_id"] for row in result.flipped if row["direction"] == "lost"],
            }
        )
    else:
        print(f"{verdict.outcome}: {verdict.reason}")
    return verdict.exit_code


def _compare(
    baseline: str,
    candidate: str,
    wanted: Wanted,
    *,
    metric: str | None,
    scenario: str | None,
) -> Comparison:
    from evalake_warehouse.questions.compare import compare_runs

    macros = current_project().dbt_project / "macros"
    with open_judged(scenario) as connection:
        against, run = _resolve_both(connection, baseline, candidate, wanted)
        result = compare_runs(connection, against, run, macros=macros, metric=metric)
    for side, run_of_side, cautions in _sides(result):
        for caution in cautions:
            say(f"warning: {side} {run_of_side.arm_label}: {caution.text}")
    for caution in result.pair_cautions:
        say(f"warning: {caution.text}")
    return result


def _sides(result: Comparison) -> list[tuple[str, Run, Sequence[Caution]]]:
    return [
        ("baseline", result.baseline, result.baseline_cautions),
        ("candidate", result.candidate, result.candidate_cautions),
    ]


def _caution_records(result: Comparison) -> dict[str, list[dict[str, Any]]]:
    told = {side: cautions for side, _, cautions in _sides(result)}
    told["pair"] = result.pair_cautions
    return {side: [caution.record() for caution in cautions] for side, cautions in told.items()}


def _resolve_both(
    connection: DuckDBPyConnection, baseline: str, candidate: str, wanted: Wanted
) -> tuple[Run | Baseline, Run]:
    """Find both sides, and report what is wrong with either at once."""
    from evalake_warehouse.errors import ConfigError, EvalakeError, Problem
    from evalake_warehouse.questions.baseline import is_baseline_file, load_baseline
    from evalake_warehouse.questions.resolve import refuse_itself, resolve_run

    def find(name: str) -> Run:
        return resolve_run(connection, name, wanted, tell=say, judged=True)

    problems: list[Problem] = []
    hints: list[str | None] = []
    frozen: Baseline | None = None
    against: Run | None = None
    run: Run | None = None
    try:
        if is_baseline_file(baseline):
            frozen = load_baseline(Path(baseline))
            against = replace(frozen.run, run_id=frozen.record.run_id)
        else:
            against = find(baseline)
    except EvalakeError as error:
        problems += [Problem("BASELINE", str(problem)) for problem in error.problems]
        hints.append(error.hint)
    try:
        run = find(candidate)
    except EvalakeError as error:
        problems += [Problem("CANDIDATE", str(problem)) for problem in error.problems]
        hints.append(error.hint)
    if problems or against is None or run is None:
        builds = [hint for hint in hints if hint and hint.startswith("evalake build")]
        raise ConfigError(problems, hint=next(filter(None, [*builds, *hints]), None))
    refuse_itself(baseline, candidate, against, run)
    return frozen or against, run


def _shown(result: Comparison) -> list[dict[str, Any]]:
    """The rows that a person wants first: the primary metric and a few well-known ones."""
    return [
        row
        for row in result.tests
        if row["is_primary"]
        or (
            row["measure"] in _SHOWN_MEASURES
            and row["metric"].partition("@")[2] in _SHOWN_CUTOFFS
            and row["n_pairs"] > 0
        )
    ]


def _baseline_name(result: Comparison) -> str:
    run, file = result.baseline, result.test(result.primary_metric)["baseline_file"]
    return f"{run.arm_label} on {run.dataset}/{run.split} (frozen in {file})" if file else str(run)


def _summary(result: Comparison) -> str:
    from evalake_warehouse.questions.verdicts import verdict_sentence

    return verdict_sentence(
        result.test(result.primary_metric),
        margin=float(result.variables["margin"]),
        min_pairs=int(result.variables["min_pairs"]),
    )


def _short(value: object) -> object:
    text = str(value)
    return value if len(text) <= 90 else text[:89] + "…"
