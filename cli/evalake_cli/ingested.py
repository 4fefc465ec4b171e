"""What a person is told after an ingest or import: what was left out, and where to look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalake_cli.output import say

if TYPE_CHECKING:
    from evalake_ingest.corpora.store import CorpusFile
    from evalake_ingest.editions.pipeline import Ingested

_SHOWN = 3


def tell_missing(done: Ingested) -> None:
    """Tasks and files that were left out, by reason, with the command that lists them."""
    tell_left_out(done.left_out)
    for reason, count in done.dropped_by_reason.items():
        told = (drop for drop in done.drops if drop.reason == reason and drop.evidence)
        drop = next(told, None)
        such_as = f", such as {drop.task_id or drop.source_row}: {drop.evidence}" if drop else ""
        say(f"dropped: {count} {reason}{such_as}")
    if done.rows_dropped:
        reasons = ", ".join(f"{count} {name}" for name, count in done.lost_rows_by_reason.items())
        say(f"{done.rows_dropped} of {done.rows_read} tasks dropped: {reasons}")
    if done.rows_dropped or done.left_out:
        say(f"\nhint: evalake datasets show {done.dataset} --drops")


def tell_left_out(left_out: Sequence[CorpusFile]) -> None:
    """Files that a source has and its corpus has not, by reason, with examples."""
    from evalake_ingest.corpora.store import count_left_out

    for status, count in count_left_out(left_out).items():
        examples = [file for file in left_out if file.status == status]
        shown = ", ".join(file.path for file in examples[:_SHOWN])
        more = ", ..." if len(examples) > _SHOWN else ""
        details = Counter(file.detail for file in examples if file.detail)
        detail = f": {next(iter(details))}" if len(details) == 1 else ""
        say(f"left out of the corpus: {count} {status}{detail} ({shown}{more})")
