"""What is held in memory before it is on disk has a bound, and a full disk loses nothing more."""

from __future__ import annotations

import errno
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from driving import arm, hit_set, run
from toy import rows

from evalake_runners.adapters.protocol import Answer, RawHit
from evalake_runners.engine import record
from evalake_runners.engine.record import Outcome, RunRecorder
from evalake_runners.workers import channel
from evalake_runners.workers.answers import pack_answer
from evalake_runners.workers.replies import Answered, ReplyTooLargeError, encode_reply
from evalake_warehouse.project import Project

MEGABYTE = 1_000_000


def recorder(lake: Path) -> RunRecorder:
    return RunRecorder(
        lake, dataset="d", edition="e", run_id="01a22c53-1db4-766b-ae66-2b8eddbdded7", next_part=0,
        known_texts=set(),
    )  # fmt: skip


def outcome(number: int, n_bytes: int) -> Outcome:
    text = f"{number:08d}" + "x" * (n_bytes - 8)
    packed = pack_answer(Answer([RawHit(doc_id="d", text=text)]), depth=1, resolver=None)
    return Outcome(f"task-{number}", 1, "ok", datetime(2026, 1, 2), 0, answer=packed)


def test_texts_held_before_they_are_written_stay_under_a_bound(tmp_path: Path) -> None:
    written = recorder(tmp_path)
    most = 0
    for number in range(40):
        written.add(outcome(number, 5 * MEGABYTE))
        most = max(most, written.pending_bytes)
    assert most < record.SHARD_BYTES == 16 * 2**20
    written.flush()
    assert written.pending_bytes == 0
    files = list((tmp_path / "attempts").glob("dataset=d/*/*.parquet"))
    assert len(files) == 10  # the fourth text of 5,000,000 bytes passes 16 MiB
    assert sum(pq.read_metadata(file).num_rows for file in files) == 40


def test_hits_without_texts_count_too(tmp_path: Path) -> None:
    written = recorder(tmp_path)
    hits = [RawHit(doc_id=f"document-{rank}") for rank in range(1_000)]
    packed = pack_answer(Answer(hits), depth=1_000, resolver=None)
    written.add(Outcome("task", 1, "ok", datetime(2026, 1, 2), 0, answer=packed))
    assert written.pending_bytes > 1_000 * 13 * 16


def test_an_answer_that_is_too_large_to_cross_is_an_error_of_its_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evalake_runners.workers.replies.MAX_MESSAGE_BYTES", 2**20)
    packed = pack_answer(Answer([RawHit(text="x" * 3 * 2**20)]), depth=1, resolver=None)
    with pytest.raises(ReplyTooLargeError, match="the answer has 3 MiB, more than 1 MiB"):
        encode_reply(1, Answered(packed, 0.5, is_cold=True))
    assert channel.MAX_MESSAGE_BYTES == 256 * 2**20


def test_a_full_disk_is_told_as_such_and_what_was_not_written_is_asked_again(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = Project(home=tmp_path / "calm", data_dir=toy.data_dir)
    shutil.copytree(toy.home, calm.home)
    run(calm, arm())
    write_table = pq.write_table

    def full(data: Any, file: Any, **options: Any) -> None:
        if "/hits/" in file.name:
            file.write(b"half a file")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_table(data, file, **options)

    monkeypatch.setattr("evalake_warehouse.lake.writer.pq.write_table", full)
    (failed,) = run(toy, arm())
    assert failed.state == "failed"
    assert (failed.message or "").startswith(str(toy.lake / "hits"))
    assert "No space left on device" in (failed.message or "")
    assert (failed.statuses.total(), failed.n_left) == (0, 12)
    assert not list(toy.lake.rglob("*.tmp"))
    for table in ("texts", "hits", "attempts"):
        assert not list((toy.lake / table).rglob(f"*{failed.run_id}*"))

    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "systems_under_test"))
    (again,) = run(toy, arm())
    assert (again.run_id, again.statuses) == (failed.run_id, {"ok": 12})
    assert hit_set(toy) == hit_set(calm)
    assert len(rows(toy, "attempts")) == 12
