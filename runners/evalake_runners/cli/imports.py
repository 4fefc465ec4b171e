"""`evalake import`: datasets and rankings that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_runners.cli.app import JsonFlag, app, current_project
from evalake_runners.cli.output import print_json, print_rows, say

if TYPE_CHECKING:
    from evalake_ingest.imports.rankings import ImportedRun, Ranking, Unanswered
    from evalake_ingest.pipeline import Ingested
    from evalake_ingest.records import Loaded

imports = typer.Typer(no_args_is_help=True, help="Bring in datasets and rankings made elsewhere.")
app.add_typer(imports, name="import")

_DatasetFlag = Annotated[str, typer.Option("--dataset", help="Name of the dataset in the lake.")]
_LabelFlag = Annotated[str | None, typer.Option(help="Label of the imported run.")]
_DepthFlag = Annotated[
    int | None,
    typer.Option(min=1, help="Hits asked for, per task.  [default: the longest list]"),
]
_UnansweredFlag = Annotated[
    bool,
    typer.Option(
        "--unanswered-are-empty",
        help="Score tasks that the ranking leaves out as 0, like trec_eval -c, instead of NULL.",
    ),
]


@imports.command("trec", epilog="Example: evalake import trec --dataset robust --label bm25 "
                 "--run bm25.run --qrels robust.qrels")  # fmt: skip
def import_trec(
    *,
    dataset: _DatasetFlag,
    label: Annotated[str, typer.Option(help="Label of the imported run.")],
    run: Annotated[Path, typer.Option(help="Run file: topic Q0 doc rank score tag.")],
    qrels: Annotated[
        Path | None,
        typer.Option(
            help="Qrels file: topic iteration doc grade.  [default: the dataset's own gold]"
        ),
    ] = None,
    depth: _DepthFlag = None,
    unanswered_are_empty: _UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import TREC qrels as a dataset, and a TREC run file as a run on it.

    Without qrels the run is one on the dataset of that name that is in the lake.

    Exits 2 with every line that cannot be read; then nothing is written.
    """
    from evalake_ingest.imports.trec import load_qrels, load_run

    loaded = load_qrels(qrels, dataset) if qrels is not None else None
    ranking = load_run(run, label, depth=depth, unanswered=_unanswered(unanswered_are_empty))
    _import(dataset, loaded, ranking, as_json=json_output)


@imports.command("jsonl", epilog="Example: evalake import jsonl --dataset mine --tasks tasks.jsonl "
                 "--corpus repo/ --run answers.jsonl --label mine-v1")  # fmt: skip
def import_jsonl(
    *,
    dataset: _DatasetFlag,
    tasks: Annotated[
        Path | None,
        typer.Option(help="Tasks, one JSON object per line.  [default: those in the lake]"),
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Gold items, where the tasks file has none.")
    ] = None,
    corpus: Annotated[Path | None, typer.Option(help="Folder of files to search in.")] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Documents to search in: {doc_id, text} per line.")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Answers: {task_id, hits} per line.")] = None,
    label: _LabelFlag = None,
    metric: Annotated[
        str | None, typer.Option(help="Primary metric.  [default: recall@10; doc level ndcg@10]")
    ] = None,
    depth: _DepthFlag = None,
    unanswered_are_empty: _UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import tasks, gold and rankings in the documented JSON Lines schema (docs/datasets.md).

    Exits 2 with every line that does not fit; then nothing is written.
    """
    from evalake_ingest.imports.jsonl import JsonlFiles, load_answers, load_dataset
    from evalake_ingest.names import require_metric
    from evalake_warehouse.errors import UsageError

    if tasks is None and run is None:
        raise UsageError("give --tasks, --run or both", where="evalake import jsonl")
    if run is not None and label is None:
        raise UsageError("a ranking needs a label", where="--label")
    if corpus is not None and documents is not None:
        raise UsageError("give a folder or documents, not both", where="--corpus and --documents")
    if corpus is not None and not corpus.is_dir():
        raise UsageError("not a folder", where=f"--corpus {corpus}")
    if metric is not None:
        require_metric(current_project(), metric, where="--metric")
    loaded = None
    if tasks is not None:
        files = JsonlFiles(tasks, gold, corpus, documents)
        loaded = load_dataset(files, dataset, primary_metric=metric)
    ranking = None
    if run is not None and label is not None:
        kind = _unanswered(unanswered_are_empty)
        ranking = load_answers(run, label, depth=depth, unanswered=kind)
    _import(dataset, loaded, ranking, as_json=json_output)


@imports.command("beir", epilog="Example: evalake import beir --dataset scifact --from scifact/")
def import_beir(
    *,
    dataset: _DatasetFlag,
    folder: Annotated[
        Path, typer.Option("--from", help="Folder with corpus.jsonl, queries.jsonl and qrels/.")
    ],
    split: Annotated[str, typer.Option(help="Which qrels: the name of a .tsv in qrels/.")] = "test",
    run: Annotated[
        Path | None, typer.Option(help="TREC run file to import as a run on it.")
    ] = None,
    label: _LabelFlag = None,
    depth: _DepthFlag = None,
    unanswered_are_empty: _UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import a dataset in BEIR's layout, and if given a TREC run file as a run on it.

    Exits 2 with every line that does not fit; then nothing is written.
    """
    from evalake_ingest.imports.beir import load_beir
    from evalake_ingest.imports.trec import load_run
    from evalake_warehouse.errors import UsageError

    loaded = load_beir(folder, dataset, split=split)
    ranking = None
    if run is not None:
        if label is None:
            raise UsageError("a ranking needs a label", where="--label")
        kind = _unanswered(unanswered_are_empty)
        ranking = load_run(run, label, depth=depth, unanswered=kind)
    _import(dataset, loaded, ranking, as_json=json_output)


def _unanswered(are_empty: bool) -> Unanswered:
    return "empty" if are_empty else "not_attempted"


def _import(dataset: str, loaded: Loaded | None, ranking: Ranking | None, *, as_json: bool) -> None:
    from evalake_ingest.imports.rankings import write_ranking
    from evalake_ingest.names import absent_dataset, ingested_names
    from evalake_ingest.pipeline import ingest, latest_edition

    project = current_project()
    ingested = ingest(project, loaded, check=None) if loaded else None
    edition = ingested.edition if ingested else latest_edition(project.lake, dataset)
    if edition is None:
        raise absent_dataset(dataset, ingested_names(project.lake))
    run = write_ranking(project, dataset, edition, ranking) if ranking else None
    if as_json:
        print_json({"dataset": _dataset_row(dataset, edition, ingested), "run": _run_row(run)})
        return
    print_rows([_dataset_row(dataset, edition, ingested)])
    if run is not None and ranking is not None:
        _tell(run, ranking)


def _tell(run: ImportedRun, ranking: Ranking) -> None:
    say(
        f"run {run.run_id}"
        if run.is_new
        else f"run {run.run_id} was imported before: nothing added"
    )
    if run.n_unanswered:
        say(f"{run.n_unanswered} of {run.n_tasks} tasks are not in it: {ranking.unanswered}")
    if run.unknown_tasks:
        shown = ", ".join(run.unknown_tasks[:3])
        say(f"{len(run.unknown_tasks)} answered tasks are not in the dataset, left out: {shown}")


def _dataset_row(dataset: str, edition: str, ingested: Ingested | None) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": dataset, "edition": edition}
    if ingested is not None:
        row |= {
            "is_new": ingested.is_new, "rows_read": ingested.rows_read,
            "rows_kept": ingested.rows_kept, "rows_dropped": ingested.rows_dropped,
        }  # fmt: skip
    return row


def _run_row(run: ImportedRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "run_id": run.run_id, "is_new": run.is_new, "depth": run.depth, "n_tasks": run.n_tasks,
        "n_unanswered": run.n_unanswered, "unknown_tasks": list(run.unknown_tasks),
    }  # fmt: skip
