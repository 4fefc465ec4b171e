"""An import is in the lake whole or not at all, however often and however many at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ingest.importing import (
    answers,
    import_into,
    jsonl,
    qrels,
    read,
    refused,
    tasks,
    trec_run,
    whole,
    write,
)

from evalake_ingest.imports.commit import import_all
from evalake_ingest.names import ingested_names
from evalake_warehouse.errors import EvalakeError
from evalake_warehouse.project import Project

ROOT = Path(__file__).parents[2]


def lake_files(project: Project) -> set[str]:
    found = (file.relative_to(project.lake) for file in project.lake.rglob("*.parquet"))
    return {str(file) for file in found if "__schema" not in file.parts[1]}


def files(folder: Path) -> tuple[Path, Path]:
    return write(folder / "q", "t1 0 d1 1\nt2 0 d2 1\n"), write(folder / "r", "t1 Q0 d1 1 2 x\n")


def test_the_same_import_again_adds_nothing_and_names_the_run(
    project: Project, tmp_path: Path
) -> None:
    judged, ranked = files(tmp_path)
    first = import_into(project, qrels(judged), trec_run(ranked))
    before = lake_files(project)
    again = import_into(project, qrels(judged), trec_run(ranked))
    assert first.run is not None
    assert again.run is not None
    assert (again.run.run_id, again.run.is_new) == (first.run.run_id, False)
    assert lake_files(project) == before


def test_another_option_is_another_import(project: Project, tmp_path: Path) -> None:
    judged, ranked = files(tmp_path)
    runs = [
        import_into(project, qrels(judged), trec_run(ranked, **options)).run
        for options in ({}, {"depth": 10}, {"unanswered": "empty"})
    ]
    assert len({run.run_id for run in runs if run}) == 3
    declared = [{}, {"metric": "ndcg@5"}, {"split_as": "hash"}, {"split_as": "all"}]
    editions = {import_into(project, qrels(judged, **options)).edition for options in declared}
    assert len(editions) == 4


def test_corrected_qrels_are_another_edition_for_the_same_run(
    project: Project, tmp_path: Path
) -> None:
    judged, ranked = files(tmp_path)
    first = import_into(project, qrels(judged), trec_run(ranked))
    mended = import_into(project, qrels(write(judged, "t1 0 d1 2\nt2 0 d2 1\n")), trec_run(ranked))
    assert mended.edition != first.edition
    assert first.run is not None
    assert mended.run is not None
    assert (mended.run.run_id, mended.run.is_new) == (first.run.run_id, False)
    more = import_into(
        project, qrels(write(judged, "t1 0 d1 2\nt2 0 d2 1\nt3 0 d1 1\n")), trec_run(ranked)
    )
    assert more.run is not None
    assert more.run.is_new  # it asks more than the run was asked


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ({"gold": [{"doc_id": "a", "grade": 10**30}]}, {}),
        ({}, {"hits": [{"doc_id": "a", "start_line": 10**30}]}),
        ({}, {"hits": [{"doc_id": "a", "score": 10**400}]}),
        ({}, {"task_id": "other"}),
        ({}, {"seconds": float("inf")}),
        ({"gold": [{"path": "no/such.py"}]}, {}),
    ],
)
def test_an_import_that_fails_leaves_nothing(
    project: Project, tmp_path: Path, task: dict[str, object], answer: dict[str, object]
) -> None:
    (tmp_path / "src").mkdir()
    write(tmp_path / "src" / "a.py", "x = 1\n")
    asked = jsonl(
        tmp_path / "t.jsonl",
        {"task_id": "1", "query": "q", "gold": [{"path": "a.py"}]} | task,
    )
    answered = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": [{"path": "a.py"}]} | answer)
    with pytest.raises(EvalakeError):
        import_into(project, tasks(asked, corpus=tmp_path / "src"), answers(answered))
    assert lake_files(project) == set()
    assert ingested_names(project.lake) == []


def test_problems_of_all_files_of_an_import_are_told_together(tmp_path: Path) -> None:
    judged, ranked = write(tmp_path / "q", "t1 0 d1\n"), write(tmp_path / "r", "t1 Q0 d1\n")

    def both(problems: object) -> None:
        qrels(judged)(problems)  # type: ignore[arg-type]
        trec_run(ranked)(problems)  # type: ignore[arg-type]

    assert [told[:4] for told in refused(both)] == ["q:1:", "r:1:"]


def test_a_full_disk_while_the_run_is_written_leaves_no_dataset_either(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalake_ingest.rankings import write_run

    def full(_: object, table: str, *rest: object, **options: object) -> None:
        if table == "runs":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(write_run, "write_rows", full)
    judged, ranked = files(tmp_path)
    with pytest.raises(OSError, match="No space left"):
        import_into(project, qrels(judged), trec_run(ranked))
    assert lake_files(project) == set()


IMPORT = """
import sys
from pathlib import Path
from evalake_warehouse.project import Project
from tests.ingest.importing import import_into, qrels, trec_run

home, data_dir, judged, ranked, dies_at = sys.argv[1:]
moved = 0
replace = Path.replace

def dying(self, target):
    global moved
    if ".staged-" in str(self) and self.suffix == ".parquet" and ".staged-" not in str(target):
        if moved == int(dies_at):
            import os
            os.kill(os.getpid(), 9)
        moved += 1
    return replace(self, target)

Path.replace = dying
project = Project(home=Path(home), data_dir=Path(data_dir))
done = import_into(project, qrels(Path(judged)), trec_run(Path(ranked)))
print(done.run.run_id, done.run.is_new)
"""


def start(project: Project, folder: Path, *, dies_at: int = -1) -> subprocess.Popen[str]:
    paths = (project.home, project.data_dir, *files(folder))
    arguments = [sys.executable, "-c", IMPORT, *map(str, paths)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.Popen(
        [*arguments, str(dies_at)], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_the_same_import_three_times_at_once_is_one_run(project: Project, tmp_path: Path) -> None:
    at_once = [start(project, tmp_path) for _ in range(3)]
    told = [process.communicate(timeout=120)[0].split() for process in at_once]
    assert [process.returncode for process in at_once] == [0, 0, 0]
    assert len({run_id for run_id, _ in told}) == 1
    assert sorted(is_new for _, is_new in told) == ["False", "False", "True"]
    assert len(read(project, "attempts")) == 2
    assert sorted(row["event"] for row in read(project, "runs")) == ["finished", "started"]


def test_a_kill_at_any_step_leaves_no_run_without_its_dataset_nor_the_other_way(
    project: Project, tmp_path: Path
) -> None:
    whole_import = start(project, tmp_path)
    assert whole_import.wait(timeout=120) == 0
    n_files = len(lake_files(project))
    for step in (0, 3, n_files - 2, n_files - 1):
        home = tmp_path / f"home-{step}"
        other = Project(home=home, data_dir=project.data_dir)
        assert start(other, tmp_path, dies_at=step).wait(timeout=120) == -9
        assert ingested_names(other.lake) == []  # what has no dataset counts nowhere
        # The next import undoes what was left, also where it is another one.
        judged = qrels(write(tmp_path / "other", "t1 0 d1 5\n"))
        import_all(other, "d", whole(judged), None, step=lambda _: None)
        assert read(other, "runs") == []
        assert read(other, "hits") == []
