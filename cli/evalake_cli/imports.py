"""`evalake import`: datasets and rankings that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.import_flags import (
    DatasetFlag,
    DepthFlag,
    GradeScaleFlag,
    IdenticalIdsFlag,
    LabelFlag,
    MetricFlag,
    SplitAsFlag,
    UnansweredFlag,
    declared_dataset,
    declared_ranking,
    require_any,
)
from evalake_cli.imported import tell

if TYPE_CHECKING:
    from evalake_ingest.originals.problems import Problems
    from evalake_ingest.rankings.answers import Ranking
    from evalake_ingest.records import Loaded

imports = typer.Typer(no_args_is_help=True, help="Bring in datasets and rankings made elsewhere.")
app.add_typer(imports, name="import")


@imports.command("trec", epilog="Example: evalake import trec --dataset robust --label bm25 "
                 "--run bm25.run --qrels robust.qrels")  # fmt: skip
def import_trec(
    *,
    dataset: DatasetFlag,
    run: Annotated[Path | None, typer.Option(help="Run file: topic Q0 doc rank score tag.")] = None,
    label: LabelFlag = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            help="Qrels file: topic iteration doc grade.  [default: the dataset's own gold]"
        ),
    ] = None,
    metric: MetricFlag = None,
    split_as: SplitAsFlag = "dev",
    grade_scale: GradeScaleFlag = 1,
    ignore_identical_ids: IdenticalIdsFlag = False,
    depth: DepthFlag = None,
    unanswered_are_empty: UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import TREC qrels as a dataset, and a TREC run file as a run on it.

    Without qrels the run is one on the dataset of that name that is in the lake. Files may be
    compressed.

    Exits 2 with every line that cannot be read; then nothing is written.
    """
    from evalake_ingest.imports.trec import load_qrels, load_run

    declared = declared_dataset(
        dataset, metric, split_as, grade_scale, ignore_identical_ids, makes_it=qrels is not None
    )
    ranked = declared_ranking(label, depth, unanswered_are_empty, has_run=run is not None)
    require_any("trec", "--qrels", qrels, run)
    _import(
        dataset,
        (lambda problems: load_qrels(qrels, declared, problems)) if qrels else None,
        (lambda problems: load_run(run, ranked, problems)) if run and ranked else None,
        as_json=json_output,
    )


@imports.command("json", epilog="Example: evalake import json --dataset mine --qrels qrels.json "
                 "--run run.json --label mine-v1")  # fmt: skip
def import_json(
    *,
    dataset: DatasetFlag,
    run: Annotated[Path | None, typer.Option(help="{query: {document: score}}.")] = None,
    label: LabelFlag = None,
    qrels: Annotated[
        Path | None,
        typer.Option(help="{query: {document: grade}}.  [default: the dataset's own gold]"),
    ] = None,
    metric: MetricFlag = None,
    split_as: SplitAsFlag = "dev",
    grade_scale: GradeScaleFlag = 1,
    ignore_identical_ids: IdenticalIdsFlag = False,
    depth: DepthFlag = None,
    unanswered_are_empty: UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import qrels and a run as BEIR, MTEB, pytrec_eval and ranx keep them in JSON.

    Exits 2 with every entry that does not fit; then nothing is written.
    """
    from evalake_ingest.imports.json_pairs import load_qrels, load_run

    declared = declared_dataset(
        dataset, metric, split_as, grade_scale, ignore_identical_ids, makes_it=qrels is not None
    )
    ranked = declared_ranking(label, depth, unanswered_are_empty, has_run=run is not None)
    require_any("json", "--qrels", qrels, run)
    _import(
        dataset,
        (lambda problems: load_qrels(qrels, declared, problems)) if qrels else None,
        (lambda problems: load_run(run, ranked, problems)) if run and ranked else None,
        as_json=json_output,
    )


@imports.command("jsonl", epilog="Example: evalake import jsonl --dataset mine --tasks tasks.jsonl "
                 "--corpus repo/ --run answers.jsonl --label mine-v1")  # fmt: skip
def import_jsonl(
    *,
    dataset: DatasetFlag,
    tasks: Annotated[
        Path | None,
        typer.Option(help="Tasks, one JSON object per line.  [default: those in the lake]"),
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Gold items, where the tasks file has none.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Folder to search in: its text files, of any language.")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only these files of --corpus; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Without these files of --corpus; may be repeated."),
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Documents to search in: {doc_id, text} per line.")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Answers: {task_id, hits} per line.")] = None,
    label: LabelFlag = None,
    names: Annotated[
        str | None,
        typer.Option("--map", help="The files' own names of keys: task_id=qid,query=question."),
    ] = None,
    metric: MetricFlag = None,
    split_as: SplitAsFlag = "dev",
    grade_scale: GradeScaleFlag = 1,
    ignore_identical_ids: IdenticalIdsFlag = False,
    depth: DepthFlag = None,
    unanswered_are_empty: UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import tasks, gold and rankings in the documented JSON Lines schema (docs/datasets.md).

    Exits 2 with every line that does not fit; then nothing is written.
    """
    from evalake_ingest.imports.jsonl import JsonlFiles, load_dataset
    from evalake_ingest.imports.jsonl_answers import load_answers
    from evalake_ingest.originals.line_schema import read_names
    from evalake_warehouse.errors import UsageError

    require_any("jsonl", "--tasks", tasks, run)
    if tasks is None:
        for flag, file in (("--gold", gold), ("--corpus", corpus), ("--documents", documents)):
            if file is not None:
                raise UsageError("needs --tasks", where=f"{flag} {file}")
    if corpus is not None and documents is not None:
        raise UsageError("give a folder or documents, not both", where="--corpus and --documents")
    if corpus is not None and not corpus.is_dir():
        raise UsageError("not a folder", where=f"--corpus {corpus}")
    globs = tuple(include or ()), tuple(exclude or ())
    if any(globs) and corpus is None:
        raise UsageError("has no meaning without --corpus", where="--include, --exclude")
    declared = declared_dataset(
        dataset, metric, split_as, grade_scale, ignore_identical_ids, makes_it=tasks is not None
    )
    ranked = declared_ranking(label, depth, unanswered_are_empty, has_run=run is not None)
    mapped = read_names(names)
    files = JsonlFiles(tasks, gold, corpus, documents, mapped, *globs) if tasks else None
    _import(
        dataset,
        (lambda problems: load_dataset(files, declared, problems)) if files else None,
        (lambda problems: load_answers(run, ranked, problems, names=mapped))
        if run and ranked
        else None,
        as_json=json_output,
    )


@imports.command("beir", epilog="Example: evalake import beir --dataset scifact --from scifact/")
def import_beir(
    *,
    dataset: DatasetFlag,
    folder: Annotated[
        Path,
        typer.Option(
            "--from", help="Folder with corpus, queries and qrels: JSON Lines and TSV, or Parquet."
        ),
    ],
    split: Annotated[str, typer.Option(help="Which qrels: qrels/SPLIT.tsv.")] = "test",
    run: Annotated[
        Path | None, typer.Option(help="TREC run file to import as a run on it.")
    ] = None,
    label: LabelFlag = None,
    metric: MetricFlag = None,
    split_as: SplitAsFlag = "dev",
    grade_scale: GradeScaleFlag = 1,
    ignore_identical_ids: IdenticalIdsFlag = False,
    depth: DepthFlag = None,
    unanswered_are_empty: UnansweredFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Import a dataset in BEIR's layout, and if given a TREC run file as a run on it.

    Exits 2 with every line that does not fit; then nothing is written.
    """
    from evalake_ingest.imports.beir import load_beir
    from evalake_ingest.imports.trec import load_run
    from evalake_warehouse.errors import UsageError

    if not folder.is_dir():
        raise UsageError("not a folder", where=f"--from {folder}")
    declared = declared_dataset(
        dataset, metric, split_as, grade_scale, ignore_identical_ids, makes_it=True
    )
    ranked = declared_ranking(label, depth, unanswered_are_empty, has_run=run is not None)
    _import(
        dataset,
        lambda problems: load_beir(folder, declared, problems, split=split),
        (lambda problems: load_run(run, ranked, problems)) if run and ranked else None,
        as_json=json_output,
    )


def _import(
    name: str,
    load: Callable[[Problems], Loaded] | None,
    rank: Callable[[Problems], Ranking] | None,
    *,
    as_json: bool,
) -> None:
    """Read all files, refuse all their problems at once, then write."""
    from evalake_cli.progress import step_display
    from evalake_ingest.imports.commit import import_all
    from evalake_ingest.originals.problems import Problems

    project = current_project()
    problems = Problems()
    with step_display(name) as step:
        step("reading and checking")
        loaded = load(problems) if load else None
        ranking = rank(problems) if rank else None
        problems.refuse()
        done = import_all(project, name, loaded, ranking, step=step)
    tell(name, done, ranking, as_json=as_json)
