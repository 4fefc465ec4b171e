"""What a campaign found, as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

FAULTS = ("lost", "doubled", "torn", "unreadable", "stuck", "left", "orphans", "wrong end")


@dataclass
class Counts:
    """One row: how often a campaign struck, and what was wrong after."""

    name: str
    tried: int = 0
    struck: int = 0  # killed, starved or crowded before it was done
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def fault(self, kind: str, what: str, count: int = 1) -> None:
        """Note something wrong."""
        self.wrong[kind] += count
        if sum(self.wrong.values()) <= 3 or self.wrong[kind] == count:
            self.examples.append(f"{self.name}: {kind}: {' '.join(what.split())[-600:]}")


def show(rows: list[Counts]) -> str:
    """The table, and what is behind its numbers."""
    heads = ("campaign", "tried", "struck", *FAULTS)
    lines = [heads] + [
        (row.name, str(row.tried), str(row.struck), *(str(row.wrong[kind]) for kind in FAULTS))
        for row in rows
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    told = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    told.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([*told, *(example for row in rows for example in row.examples)])
