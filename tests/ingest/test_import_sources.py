"""Files as they come: compressed, with other line ends, in other encodings, as Parquet."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ingest.importing import (
    answers,
    beir,
    import_into,
    json_qrels,
    json_run,
    jsonl,
    qrels,
    read,
    refused,
    tasks,
    trec_run,
    whole,
    write,
)

from evalake_ingest.originals.problems import Problems
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.project import Project

TEXT = b"t1 0 d1 1\nt1 0 d2 2\n"


def packed(kind: str, content: bytes) -> bytes:
    if kind in {"zstd", "lz4"}:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, kind) as stream:
            stream.write(content)
        return sink.getvalue().to_pybytes()
    ways = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    return ways[kind](content)


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zstd", "lz4"])
def test_compressed_files_are_known_by_their_bytes_and_are_the_same_content(
    tmp_path: Path, kind: str
) -> None:
    plain = whole(qrels(write(tmp_path / "plain", TEXT)))
    found = whole(qrels(write(tmp_path / "packed", packed(kind, TEXT))))
    assert found.tasks == plain.tasks
    assert found.info.revision == plain.info.revision
    assert found.info.revision == f"sha256:{hashlib.sha256(TEXT).hexdigest()}"
    torn = write(tmp_path / "torn", packed(kind, TEXT * 2_000)[:-9])
    assert any(told.startswith("torn: cannot be read: ") for told in refused(qrels(torn)))


def test_the_parts_of_a_beir_folder_may_be_compressed(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl.gz", packed("gzip", b'{"_id": "d1", "text": "x"}\n'))
    write(tmp_path / "queries.jsonl.zst", packed("zstd", b'{"_id": "q1", "text": "x"}\n'))
    write(tmp_path / "qrels" / "test.tsv.xz", packed("xz", b"q1\td1\t1\n"))
    (task,) = whole(beir(tmp_path)).tasks
    assert [item.gold_id for item in task.gold] == ["d1"]


@pytest.mark.parametrize(
    ("start", "kind", "hint"),
    [
        (b"PK\x03\x04", "a zip archive", "unzip"),
        (b"\xff\xfet\x00", "UTF-16", "iconv -f utf-16 -t utf-8"),
        (b"\xfe\xff\x00t", "UTF-16", "iconv -f utf-16 -t utf-8"),
        (b"PAR1", "a Parquet file", "evalake import beir"),
        (b"\x1f\x9d\x90", "compressed with compress", "uncompress"),
    ],
)
def test_what_is_no_text_is_named_with_what_to_do(
    tmp_path: Path, start: bytes, kind: str, hint: str
) -> None:
    file = write(tmp_path / "x", start + b"\n")
    assert refused(trec_run(file)) == [f"x: this is {kind}, not UTF-8 text"]
    from evalake_ingest.imports.options import RankingOptions
    from evalake_ingest.imports.trec import load_run
    from evalake_ingest.originals.problems import Problems

    problems = Problems()
    load_run(file, RankingOptions("l"), problems)
    assert problems.hints[0].startswith(hint)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_lines_may_end_as_they_like_and_begin_with_a_byte_order_mark(
    tmp_path: Path, start: str, end: str
) -> None:
    text = start + end.join(["t1 0 d1 1", "", "t1 0 d2 2", "t1 0 d3 x"]) + end
    assert refused(qrels(write(tmp_path / "q", text))) == ["q:4: the grade 'x' is not a number"]
    rows = [f'{{"task_id": "{number}", "query": "q"}}' for number in (1, 2)]
    file = write(tmp_path / "t.jsonl", start + end.join(rows))
    assert len(list(whole(tasks(file)).tasks)) == 2


def test_a_line_separator_of_unicode_ends_no_line(tmp_path: Path) -> None:
    row = '{"task_id": "1", "query": "a\u2028b\u0085c"}'
    (task,) = whole(tasks(write(tmp_path / "t.jsonl", row))).tasks
    assert task.query == "a\u2028b\u0085c"


def test_every_line_that_is_not_utf8_is_told_with_its_byte(tmp_path: Path) -> None:
    content = b"t1 0 d1 1\nt1 0 caf\xe9 1\nt1 0 d3 x\nt1 0 \xff 1\n"
    assert refused(qrels(write(tmp_path / "q", content))) == [
        "q:2:9: not UTF-8: byte 0xe9 (invalid continuation byte)",
        "q:3: the grade 'x' is not a number",
        "q:4:6: not UTF-8: byte 0xff (invalid start byte)",
    ]


def test_a_file_that_can_be_read_once_only_is_hashed_as_it_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    found = whole(qrels(Path(f"/dev/fd/{reading}")))
    os.close(reading)
    assert found.info.revision == whole(qrels(write(tmp_path / "q", TEXT))).info.revision


def test_a_line_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    rows = [{"task_id": "1", "query": long}, {"task_id": 2, "query": "q"}]
    file = jsonl(tmp_path / "t.jsonl", *rows)
    assert [task.query for task in whole(tasks(file)).tasks] == [long, "q"]


def parquet(path: Path, **columns: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def hub(folder: Path, qrels_folder: str = "qrels") -> Path:
    parquet(
        folder / "corpus" / "corpus-00000-of-00002.parquet", _id=["d1"], title=["T"], text=["x"]
    )
    parquet(folder / "corpus" / "corpus-00001-of-00002.parquet", _id=["d2"], title=[""], text=["y"])
    parquet(folder / "queries" / "queries-00000-of-00001.parquet", id=[1, 2], text=["one", "two"])
    parquet(
        folder / qrels_folder / "test-00000-of-00001.parquet",
        **{"query-id": [1, 1], "corpus-id": ["d1", "d2"], "score": [2.0, 0.0]},
    )
    return folder


@pytest.mark.parametrize("qrels_folder", ["qrels", "data", "default"])
def test_the_hubs_parquet_layout_is_read_in_shards(
    project: Project, tmp_path: Path, qrels_folder: str
) -> None:
    done = import_into(project, beir(hub(tmp_path / "hub", qrels_folder)))
    assert done.dataset is not None
    assert done.dataset.dropped_by_reason == {"no_gold": 1}
    assert [(row["task_id"], row["query"]) for row in read(project, "tasks")] == [("1", "one")]
    assert {(row["gold_id"], row["grade"]) for row in read(project, "gold")} == {
        ("d1", 2), ("d2", 0),
    }  # fmt: skip
    assert {row["path"] for row in read(project, "corpus_files")} == {"d1", "d2"}


def test_problems_of_parquet_files_are_told_with_their_rows(tmp_path: Path) -> None:
    folder = hub(tmp_path / "hub")
    parquet(
        folder / "corpus" / "corpus-00001-of-00002.parquet", _id=["d2", "d1"], text=["y", "again"]
    )
    parquet(
        folder / "qrels" / "test-00000-of-00001.parquet",
        **{"query-id": [1, 1], "corpus-id": ["d1", "d1"], "score": [1.0, None]},
    )
    assert refused(beir(folder)) == [
        "test-00000-of-00001.parquet: row 2: the grade None is not a number",
        "corpus-00001-of-00002.parquet: row 2: document 'd1' stands in "
        f"{folder}/corpus/corpus-00000-of-00002.parquet: row 1 already",
    ]


def test_a_shard_that_is_missing_is_told(tmp_path: Path) -> None:
    folder = hub(tmp_path / "hub")
    (folder / "corpus" / "corpus-00000-of-00002.parquet").unlink()
    assert refused(beir(folder)) == ["corpus-00001-of-00002.parquet: 1 of 2 shards are here"]


def test_what_is_no_parquet_is_told(tmp_path: Path) -> None:
    folder = hub(tmp_path / "hub")
    write(folder / "qrels" / "test-00000-of-00001.parquet", b"PAR1 and no more")
    (problem,) = refused(beir(folder))
    assert problem.startswith("test-00000-of-00001.parquet: cannot be read as Parquet: ")


def test_a_corpus_that_is_cut_by_split_is_read_of_the_split_at_hand(tmp_path: Path) -> None:
    folder = hub(tmp_path / "hub")
    for file in (folder / "corpus").iterdir():
        file.unlink()
    for split in ("test", "train"):
        parquet(folder / "corpus" / f"{split}-00000-of-00001.parquet", _id=[split], text=["x"])
    (corpus,) = whole(beir(folder)).corpora
    assert [entry.path for entry in corpus.documents()] == ["test"]


def test_the_split_of_a_parquet_folder_is_named(tmp_path: Path) -> None:
    assert refused(beir(hub(tmp_path / "hub"), split="dev")) == [
        "hub: no qrels of split 'dev'; qrels has test-00000-of-00001.parquet"
    ]


def test_an_array_of_answers_is_told_once(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", '[\n {"task_id": "1"},\n {"task_id": "2"}\n]\n')
    assert refused(answers(file)) == ["r.json:1: this is one JSON array; write one object a line"]


PAIRS, LINES = '{"q1": {"d1": 1}}\n', '{"task_id": "q1", "hits": [{"doc_id": "d1"}]}\n'
TREC_QRELS, TREC_RUN = "\nq1 0 d1 1\n", "q1 Q0 d1 1 2.5 tag\n"
THIS_IS = {
    "json": "this is JSON of the form {query: {document: number}}",
    "jsonl": "this is JSON Lines",
    "trec": "this is a TREC file",
}


@pytest.mark.parametrize(
    ("read_file", "text", "line", "importer"),
    [
        (qrels, PAIRS, 1, "json"),
        (trec_run, '{\n "q1": {"d1": 1}\n}\n', 1, "json"),
        (qrels, LINES, 1, "jsonl"),
        (trec_run, "\ufeff" + LINES, 1, "jsonl"),
        (json_qrels, TREC_QRELS, 2, "trec"),
        (json_run, TREC_RUN, 1, "trec"),
        (json_run, "\n\n" + LINES, 3, "jsonl"),
        (answers, PAIRS, 1, "json"),
        (answers, '{"q1":\n {"d1": 1}}\n', 1, "json"),
        (answers, TREC_RUN, 1, "trec"),
        (tasks, TREC_QRELS.lstrip(), 1, "trec"),
    ],
)
def test_a_file_for_another_importer_is_told_once_as_that(
    tmp_path: Path,
    read_file: Callable[[Path], Callable[[Problems], object]],
    text: str,
    line: int,
    importer: str,
) -> None:
    file = write(tmp_path / "f", text)
    with pytest.raises(DatasetError) as raised:
        whole(read_file(file))
    assert [str(one) for one in raised.value.problems] == [f"{file}:{line}: {THIS_IS[importer]}"]
    assert raised.value.hint == f"evalake import {importer} --help"


def test_a_line_whose_first_key_has_an_object_is_json_lines(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    write(folder / "corpus.jsonl", '{"metadata": {"n": 1}, "_id": "d1", "text": "x"}\n')
    write(folder / "queries.jsonl", '{"metadata": {}, "_id": "q1", "text": "x"}\n')
    write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert [task.task_id for task in whole(beir(folder)).tasks] == ["q1"]
