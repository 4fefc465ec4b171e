"""Queries that stand in the corpus: told at import, and left out of lists where that is asked."""

from __future__ import annotations

from pathlib import Path

from tests.ingest.importing import beir, import_into, jsonl, qrels, read, trec_run, write

from evalake_warehouse.project import Project

HELPS = "if it is the query itself, import the dataset with --ignore-identical-ids"


def folder_of(root: Path) -> Path:
    jsonl(root / "corpus.jsonl", *({"_id": name, "text": name} for name in ("q1", "d1", "d2")))
    jsonl(root / "queries.jsonl", *({"_id": name, "text": name} for name in ("q1", "q2")))
    write(root / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return root


def test_queries_with_the_id_of_a_document_are_told(project: Project, tmp_path: Path) -> None:
    done = import_into(project, beir(folder_of(tmp_path / "b")))
    assert done.notes == (f"1 of 2 queries have the id of a document; {HELPS}",)


def test_lists_that_hold_their_own_query_are_told_also_without_a_corpus(
    project: Project, tmp_path: Path
) -> None:
    gold = write(tmp_path / "qrels", "1 0 d1 1\n2 0 d2 1\n3 0 d3 1\n")
    run = write(tmp_path / "run", "1 Q0 1 1 9 s\n1 Q0 d1 2 8 s\n2 Q0 1 1 9 s\n4 Q0 4 1 9 s\n")
    told = f"1 of 2 lists hold the document that has the id of their query; {HELPS}"
    assert told in import_into(project, qrels(gold), trec_run(run)).notes
    assert told in import_into(project, None, trec_run(run)).notes  # on the dataset in the lake


def test_what_is_to_be_ignored_makes_another_edition_and_is_not_told(
    project: Project, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "b")
    plain = import_into(project, beir(folder))
    run = write(tmp_path / "run", "q1 Q0 q1 1 9 s\nq1 Q0 d1 2 8 s\n")
    ignoring = import_into(project, beir(folder, ignore_identical_ids=True), trec_run(run))
    assert plain.edition != ignoring.edition
    assert not [note for note in ignoring.notes if "--ignore-identical-ids" in note]
    kept = {row["edition"]: row["ignore_identical_ids"] for row in read(project, "datasets")}
    assert kept == {plain.edition: False, ignoring.edition: True}
    # Evidence is whole: what is ignored is left out where ranks are counted.
    assert [row["doc_id"] for row in read(project, "hits")] == ["q1", "d1"]


def test_where_no_id_is_shared_nothing_is_told(project: Project, tmp_path: Path) -> None:
    gold = write(tmp_path / "qrels", "1 0 d1 1\n")
    run = write(tmp_path / "run", "1 Q0 d1 1 9 s\n1 Q0 2 2 8 s\n")
    notes = import_into(project, qrels(gold, metric="mrr"), trec_run(run)).notes
    assert notes == ()
