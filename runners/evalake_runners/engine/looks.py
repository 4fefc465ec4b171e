"""Uses of the test tail: each needs a reason, and leaves a row that is committed with the code."""

from __future__ import annotations

import getpass
import json
import os
from pathlib import Path
from typing import Any

from evalake_runners.engine.plan import Cell, Request
from evalake_runners.engine.record import utc_now
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.scrub import scrub

_FILE = "looks.jsonl"


def require_reason(looks: list[Cell], confirm: str | None) -> None:
    """Refuse to touch the test tail without a reason.

    Raises:
        UsageError: there are looks and no reason.
    """
    if looks and not (confirm or "").strip():
        splits = ", ".join(sorted({f"{cell.dataset.dataset} {cell.split}" for cell in looks}))
        raise UsageError(
            f"{splits}: tasks of the test tail; each use is counted and needs a reason",
            where="--confirm",
            hint='add --confirm "why"',
        )


def look_row(cell: Cell, run_id: str, request: Request, batch: str) -> dict[str, Any]:
    """The lake row of one look."""
    return {
        "dataset": cell.dataset.dataset,
        "edition": cell.dataset.edition,
        "split": cell.split,
        "run_id": run_id,
        "arm_hash": cell.arm.arm_hash,
        "looked_at": utc_now(),
        "who": scrub(os.environ.get("EVALAKE_WHO") or _user()),
        "why": scrub((request.confirm or "").strip()),
        "confirmatory": True,
        "batch": batch,
        "family": cell.family,
    }


def mirror(project: Project, row: dict[str, Any], label: str) -> None:
    """Append a look to `baselines/looks.jsonl` of a checkout, else to one under `EVALAKE_HOME`.

    `EVALAKE_LOOKS` names another file, for trying things out beside the ledger that is committed.
    """
    is_checkout = (project.data_dir / ".git").exists()
    usual = (project.data_dir / "baselines" if is_checkout else project.home) / _FILE
    file = Path(os.environ.get("EVALAKE_LOOKS") or usual)
    file.parent.mkdir(parents=True, exist_ok=True)
    line = {**row, "looked_at": row["looked_at"].isoformat(), "arm_label": label}
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
