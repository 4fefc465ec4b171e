"""The commands as a user meets them: data on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.toy_loaded import LOAD, loaded, task

from evalake_cli.main import run_cli
from evalake_ingest import benchmarks, loaders
from evalake_ingest.corpora.store import open_corpus
from evalake_ingest.editions.catalogue import describe
from evalake_ingest.editions.gold_answers import load_gold_hits
from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.records import Drop, Loaded, LoadFlag, LoadOptions
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project


class Toy:
    """A loader that needs no files."""

    name = "toy"
    takes: frozenset[LoadFlag] = frozenset()

    def load(self, options: LoadOptions) -> Loaded:
        del options
        return loaded([task("a", LOAD)], [Drop("row 2", "no_gold", "b")])


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_cli(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.dbt
def test_ingest_tells_rows_and_reasons_and_is_idle_the_second_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders, "get_loader", lambda _: Toy())
    code, out, err = run(capsys, "ingest", "toy", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["is_new"]
    assert (told["rows_read"], told["rows_kept"], told["dropped_by_reason"]) == (
        2,
        1,
        {"no_gold": 1},
    )
    code, out, err = run(capsys, "ingest", "toy")
    assert code == 0
    assert "nothing added" in err
    assert "dropped: 1 no_gold" in err


def test_datasets_show_has_what_scripts_rely_on(
    capsys: pytest.CaptureFixture[str], project: Project
) -> None:
    ingest(project, Toy().load(LoadOptions(cache=project.home)), check=None)
    code, out, _ = run(capsys, "datasets", "show", "toy", "--json", "--drops")
    shown: dict[str, Any] = json.loads(out)
    assert code == 0
    wanted = ("rows_read", "rows_kept", "rows_dropped", "dropped_by_reason", "splits", "caveats")
    assert {name: shown[name] for name in wanted[:4]} == {
        "rows_read": 2, "rows_kept": 1, "rows_dropped": 1, "dropped_by_reason": {"no_gold": 1},
    }  # fmt: skip
    assert sum(shown["splits"][name] for name in ("dev", "test") if name in shown["splits"]) == 1
    assert [drop["source_row"] for drop in shown["drops"]] == ["row 2"]
    code, out, _ = run(capsys, "datasets", "list", "--json")
    assert [row["dataset"] for row in json.loads(out)] == ["toy"]


def test_a_person_is_told_reasons_splits_and_caveats_on_stdout(
    capsys: pytest.CaptureFixture[str], project: Project
) -> None:
    drops = [
        Drop("row 3", "no_gold", "c"), Drop("row 4", "no_citation", "d"),
        Drop("row 3", "missing_field", "c"),  # a second thing about one row
        Drop("a", "ambiguous_basename", "a", "x.py"),  # one citation of a row that is kept
    ]  # fmt: skip
    toy = loaded([task("a", LOAD), task("b", LOAD)], drops, rows_read=4, caveats=("Only boxes.",))
    ingest(project, toy, check=None)
    _, listed, _ = run(capsys, "datasets", "list")
    _, shown, _ = run(capsys, "datasets", "show", "toy")
    (line,) = (line for line in listed.splitlines() if " toy " in line)
    assert "no_gold 1, no_citation 1" in line
    told = {name.strip(): value.strip() for name, _, value in map(cells, shown.splitlines())}
    assert told["rows_dropped"] == "2 = 1 no_citation + 1 no_gold"
    assert told["dropped_within_kept_rows"] == "1 = 1 ambiguous_basename"
    splits = dict(part.split(" ") for part in told["splits"].split(", "))
    assert sum(int(splits.get(name, 0)) for name in ("dev", "test")) == 2
    assert told["splits"] in line
    assert "Only boxes." in shown
    assert "repos" not in told  # what a dataset does not have is not listed


def cells(line: str) -> tuple[str, str, str]:
    return line.partition("│")


def test_every_dataset_that_can_be_ingested_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "datasets", "list", "--all", "--json")
    assert [row["dataset"] for row in json.loads(out)] == list(benchmarks.BENCHMARKS)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ingest", "repoq"], "error: unknown dataset `repoq`; did you mean `repoqa`?"),
        (["ingest", "repoqa", "--from", "no-such"], "error: --from no-such: not a folder"),
        (["ingest", "startr"], "hint: evalake ingest starter"),
        (["ingest", "startr"], "unknown dataset `startr`; did you mean `starter`?"),
        (["datasets", "show", "toy"], "hint: evalake datasets list --all"),
        (["datasets", "show", "odex"], "hint: evalake ingest odex"),
        (["datasets", "show", "toy"], "error: no dataset `toy` in the lake"),
        (["datasets", "show", "odx"], "in the lake; did you mean `odex`?"),
        (["datasets", "show", "odx"], "hint: evalake ingest odex"),
        (["plan", "--system", "bm25", "--dataset", "minee"],
         "error: no dataset `minee` in the lake\n\nhint: evalake datasets list --all\n"),
        (["import", "jsonl", "--dataset", "d"], "error: evalake import jsonl: give --tasks, --run"),
        (["import", "trec", "--dataset", "d", "--label", "l", "--run", "r", "--qrels", "q"],
         "error: q: cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_2_and_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert "Traceback" not in err


def test_a_file_with_the_wrong_hash_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, project: Project
) -> None:
    (tmp_path / "odex.json").write_text("{}\n")
    code, _, err = run(capsys, "ingest", "odex", "--from", str(tmp_path))
    assert code == 2
    assert "expected 38d671e66fdf70e82f5ffa9238e53e32c68945940609b23347e1f7d9a8d1b525" in err
    assert "hint: evalake ingest odex" in err.splitlines()[-1]
    assert "--from DIR" not in err
    assert not project.lake.exists()


def test_wheels_that_are_missing_are_not_asked_for_in_the_same_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = run(capsys, "ingest", "starter", "--from", str(tmp_path))
    assert code == 2
    assert err.splitlines()[-1] == "hint: evalake ingest starter"


def test_import_trec_prints_the_run_as_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "q").write_text("t1 0 d1 1\nt2 0 d1 1\n")
    (tmp_path / "r").write_text("t1 Q0 d1 1 1 x\n")
    flags = ["--dataset", "d", "--label", "l", "--run", str(tmp_path / "r")]
    code, out, _ = run(capsys, "import", "trec", *flags, "--qrels", str(tmp_path / "q"), "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["run"]["n_tasks"], told["run"]["n_unanswered"]) == (2, 1)


def test_a_ranking_without_qrels_is_one_on_the_dataset_in_the_lake(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, project: Project
) -> None:
    done = ingest(project, Toy().load(LoadOptions(cache=project.home)), check=None)
    (tmp_path / "r").write_text("a Q0 d1 1 1 x\n")
    flags = ["--label", "l", "--run", str(tmp_path / "r"), "--json"]
    code, out, _ = run(capsys, "import", "trec", "--dataset", "toy", *flags)
    assert (code, json.loads(out)["dataset"]["edition"]) == (0, done.edition)
    code, _, err = run(capsys, "import", "trec", "--dataset", "none", *flags)
    assert code == 2
    assert "no dataset `none` in the lake; there are: toy\n" in err
    assert err.endswith("hint: evalake datasets list --all\n")
    code, _, err = run(capsys, "import", "trec", "--dataset", "tooy", *flags)
    assert code == 2
    assert err.endswith(
        "no dataset `tooy` in the lake; did you mean `toy`?\n\nhint: evalake datasets show toy\n"
    )


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("sucess@1", "error: --metric: no metric `sucess@1`; did you mean `success@1`"),
        (
            "recall@5:symbol",
            "error: --metric: no metric `recall@5:symbol`; did you mean `recall@5`",
        ),
        ("hits", "error: --metric: no metric `hits`; there are: recall@1, "),
        ("", "error: --metric: empty; leave it out or give a value"),
    ],
)
def test_a_metric_that_no_run_will_have_is_refused_before_anything_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, project: Project, metric: str, told: str
) -> None:
    tasks = tmp_path / "t.jsonl"
    tasks.write_text('{"task_id": "1", "query": "q", "gold": [{"doc_id": "d"}]}\n')
    flags = ["import", "jsonl", "--dataset", "mine", "--tasks", str(tasks), "--metric"]
    code, out, err = run(capsys, *flags, metric)
    assert (code, out) == (2, "")
    assert told in err
    assert not project.lake.exists()
    code, _, err = run(capsys, *flags, "success@1")
    assert code == 0, err


def test_an_imported_dataset_is_never_to_be_ingested(
    capsys: pytest.CaptureFixture[str], project: Project
) -> None:
    done = ingest(project, Toy().load(LoadOptions(cache=project.home)), check=None)
    code, _, err = run(capsys, "datasets", "show", "toy", "--edition", "nope")
    assert code == 2
    assert f"no edition nope of `toy` in the lake; there are: {done.edition}\n" in err
    assert err.endswith("hint: evalake datasets show toy\n")
    with pytest.raises(UsageError, match="no edition nope of toy") as raised:
        load_gold_hits(project, "toy", "nope")
    assert raised.value.hint == "evalake import --help"
    shutil.rmtree(project.corpora)
    (corpus,) = describe(project.lake, "toy")["corpora"]
    with pytest.raises(UsageError, match="is not laid out here") as raised:
        open_corpus(project, corpus["corpus_id"])
    assert raised.value.hint == "evalake import --help"
    for hint in ("evalake datasets show toy", "evalake import --help"):
        assert run(capsys, *hint.split()[1:])[0] == 0
