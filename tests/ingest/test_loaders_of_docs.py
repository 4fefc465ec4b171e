"""Loaders whose corpus is the documentation datastore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ingest.loading import by_id, gold, jsonl, load, reasons

from evalake_ingest.corpora.packages import WheelPin
from evalake_ingest.loaders import ds1000 as ds1000_module
from evalake_ingest.loaders import get_loader, library_docs
from evalake_ingest.loaders.ds1000 import stripped
from evalake_ingest.originals.download import RemoteFile
from evalake_ingest.records import LoadOptions
from evalake_warehouse.errors import DatasetError, DownloadError, UsageError
from evalake_warehouse.project import Project

DOCS = {
    "pandas.reference.api.where": "Replace values where the condition is False.",
    "pandas.reference.api.sum": "Return the sum.",
    "sklearn.modules.fit": "Fit.",
    "python.library.functions#float": "Return a number.",
}

PROMPT = """\
Problem:
How do I shuffle rows?
A: a list of labels is not wanted.


A:
<code>
import pandas as pd
</code>
result = ... # put solution in this variable
BEGIN SOLUTION
<code>
"""
COMPLETION = """\
import matplotlib.pyplot as plt

x = 1
# Plot x
# Show a legend
# SOLUTION START
"""


def datastore(folder: Path, docs: dict[str, str] = DOCS) -> Path:
    (folder / "library-documentation").mkdir(parents=True, exist_ok=True)
    table = pa.table({"doc_id": list(docs), "doc_content": list(docs.values())})
    pq.write_table(table, folder / "library-documentation" / "library_docs.parquet")
    return folder


def problem(number: int, library: str, *titles: str, prompt: str = PROMPT) -> dict[str, Any]:
    return {
        "prompt": prompt, "reference_code": "x", "code_context": "y",
        "metadata": {
            "problem_id": number, "library_problem_id": 0, "library": library, "test_case_cnt": 1,
            "perturbation_type": "Surface", "perturbation_origin_id": 0,
        },
        "docs": [
            {"function": "f", "title": title, "text": DOCS.get(title, "?")} for title in titles
        ],
    }  # fmt: skip


PROBLEMS = [
    problem(0, "Pandas", "pandas.reference.api.where", "pandas.reference.api.sum"),
    problem(1, "Pandas"),
    problem(2, "Sklearn", "sklearn.modules.fit"),
    problem(3, "Pandas", "pandas.reference.api.gone"),
]


def ds1000(folder: Path) -> Path:
    jsonl(folder / "ds1000.json", PROBLEMS)
    return datastore(folder)


def test_the_question_is_told_in_words_without_the_scaffold() -> None:
    assert stripped(PROMPT) == "How do I shuffle rows?\nA: a list of labels is not wanted."
    assert stripped(COMPLETION) == "Plot x\nShow a legend"
    assert stripped("x = 1\n# SOLUTION START\n") == "x = 1"


def test_ds1000_gold_is_matched_by_doc_id(project: Project, tmp_path: Path) -> None:
    edition = load(project, "ds1000", ds1000(tmp_path))
    tasks = by_id(edition)
    assert sorted(tasks) == ["ds1000-0", "ds1000-2"]
    first = tasks["ds1000-0"]
    assert gold(first, "doc") == {
        "pandas.reference.api.where": "primary", "pandas.reference.api.sum": "primary",
    }  # fmt: skip
    assert {qrel.relation for item in first.gold for qrel in item.qrels} == {"doc_id"}
    assert first.query_variants == {"stripped": first.query, "full_prompt": PROMPT}
    assert (first.library, first.labels["perturbation"]) == ("pandas", "Surface")
    assert reasons(edition) == {
        ("ds1000.json:2", "no_gold"): 1, ("ds1000.json:4", "gold_not_in_corpus"): 1,
    }  # fmt: skip


def test_library_narrows_the_tasks_and_the_corpus_only_when_asked(
    project: Project, tmp_path: Path
) -> None:
    source = ds1000(tmp_path)
    narrowed = [
        load(project, "ds1000", source, libraries=("scikit-learn",), narrow_corpus=narrow)
        for narrow in (False, True)
    ]
    assert [sorted(by_id(edition)) for edition in narrowed] == [["ds1000-2"]] * 2
    assert narrowed[0].corpus_ids != narrowed[1].corpus_ids
    assert narrowed[0].dropped_by_reason == {"not_selected": 3}
    with pytest.raises(UsageError, match=r"pandsa; did you mean pandas\? \(there are: matplotlib"):
        load(project, "ds1000", source, libraries=("pandsa",))


def test_ds1000_over_packages_is_matched_by_content(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = [WheelPin("pandas", "1.5.3", "pandas-1.5.3-py3-none-any.whl", "0")]
    files = {"pandas/core.py": b"def where(): ...\n", "pandas/tests/test_core.py": b""}
    monkeypatch.setattr(ds1000_module, "read_pins", lambda _: pins)
    monkeypatch.setattr(ds1000_module, "read_packages", lambda *_, **__: [files])
    rows = [*PROBLEMS, problem(4, "Tensorflow", "tensorflow.x")]
    jsonl(tmp_path / "ds1000.json", rows)
    edition = load(project, "ds1000-packages", tmp_path)
    assert {
        qrel.relation for task in edition.tasks for item in task.gold for qrel in item.qrels
    } == {"text"}
    assert edition.dropped_by_reason == {"corpus_unavailable": 1, "no_gold": 1}
    (corpus_id,) = edition.sources
    laid_out = project.corpora / corpus_id / "files"
    assert sorted(path.name for path in laid_out.rglob("*") if path.is_file()) == [
        "core.py", "pyproject.toml",
    ]  # fmt: skip
    assert '"pandas==1.5.3"' in (laid_out / "pyproject.toml").read_text()


@pytest.mark.parametrize("missing", ["prompt", "metadata", "docs"])
def test_a_problem_without_a_field_is_refused_with_its_line(
    project: Project, tmp_path: Path, missing: str
) -> None:
    broken = {key: value for key, value in PROBLEMS[0].items() if key != missing}
    jsonl(tmp_path / "ds1000.json", [PROBLEMS[2], broken])
    datastore(tmp_path)
    with pytest.raises(DatasetError, match=rf"ds1000\.json:2: `{missing}`: Field required"):
        load(project, "ds1000", tmp_path)


def test_without_the_datastore_the_message_says_where_to_put_it(
    project: Project, tmp_path: Path
) -> None:
    jsonl(tmp_path / "ds1000" / "ds1000.json", PROBLEMS)
    with pytest.raises(DatasetError, match=r"put library_docs\.parquet or library_docs\.json"):
        load(project, "ds1000", tmp_path / "ds1000")


def test_a_datastore_in_json_lines_gives_the_same_corpus(project: Project, tmp_path: Path) -> None:
    as_parquet = load(project, "ds1000", ds1000(tmp_path / "a"))
    jsonl(tmp_path / "b" / "ds1000.json", PROBLEMS)
    rows = [{"doc_id": key, "doc_content": text} for key, text in DOCS.items()]
    jsonl(tmp_path / "b" / "library_docs.json", rows)
    assert load(project, "ds1000", tmp_path / "b").corpus_ids == as_parquet.corpus_ids


def test_a_torn_datastore_is_refused(project: Project, tmp_path: Path) -> None:
    file = ds1000(tmp_path) / "library-documentation" / "library_docs.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    options = LoadOptions(cache=tmp_path, source_dir=tmp_path)
    with pytest.raises(DatasetError, match="truncated or not Parquet"):
        list(library_docs.open_datastore(options, "ds1000").rows())


def test_odex_rows_of_one_task_id_stay_apart(project: Project, tmp_path: Path) -> None:
    row = {
        "task_id": 7, "prompt": "def f_7():", "intent": "make a float ", "library": [],
        "docs": [{"function": "float", "title": "python.library.functions#float", "text": "t"}],
    }  # fmt: skip
    rows = [row, row | {"library": ["pandas"]}, row | {"docs": []}]
    jsonl(tmp_path / "odex.json", rows)
    edition = load(project, "odex", datastore(tmp_path))
    tasks = by_id(edition)
    assert sorted(tasks) == ["0_7", "1_7"]
    assert tasks["0_7"].query == "make a float"
    assert [tasks[name].library for name in ("0_7", "1_7")] == ["python", "pandas"]
    assert reasons(edition) == {("odex.json:3", "no_gold"): 1}


def conala(folder: Path, **splits: list[dict[str, Any]]) -> Path:
    for split in ("train", "dev", "test"):
        path = folder / "data" / "conala" / f"cmd_{split}.oracle_man.full.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(splits.get(split, [])))
    return datastore(folder)


def test_conala_keeps_its_split_of_origin_as_a_label(project: Project, tmp_path: Path) -> None:
    row = {
        "nl": "to number", "cmd": "float(x)", "question_id": "1-2", "cmd_name": "conala",
        "oracle_man": ["python.library.functions#float"],
    }  # fmt: skip
    edition = load(
        project, "conala-docs", conala(tmp_path, train=[row, row], test=[row | {"oracle_man": []}])
    )
    assert sorted(by_id(edition)) == ["train-0001", "train-0002"]  # one question_id, two rows
    assert by_id(edition)["train-0001"].labels["source_split"] == "train"
    assert reasons(edition) == {("test:1", "no_gold"): 1}


def test_conala_of_another_schema_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"the first at `0\.question_id`: Field required"):
        load(project, "conala-docs", conala(tmp_path, train=[{"nl": "x", "oracle_man": []}]))


def test_every_loader_can_be_had_by_name_and_a_wrong_name_gets_a_near_one() -> None:
    from evalake_ingest.benchmarks import BENCHMARKS

    assert [get_loader(name).name for name in BENCHMARKS] == list(BENCHMARKS)
    with pytest.raises(UsageError, match="did you mean `ds1000`"):
        get_loader("ds100")


def test_after_a_failed_download_every_missing_file_is_told_without_trying(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fail(file: RemoteFile, cache: Path) -> Path:
        asked.append(file.name)
        raise DownloadError(f"no network; put it into {cache}", where=file.name)

    monkeypatch.setattr("evalake_ingest.originals.original_files.fetch", fail)
    with pytest.raises(DatasetError) as raised:
        get_loader("conala-docs").load(LoadOptions(cache=project.home))
    assert len(asked) == 1
    assert [problem.where for problem in raised.value.problems] == [
        f"cmd_{split}.oracle_man.full.json" for split in ("train", "dev", "test")
    ]
    assert raised.value.hint == "evalake ingest conala-docs --from DIR"
