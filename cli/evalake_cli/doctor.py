"""`evalake doctor`: what is installed, what works, and where things are."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, print_rows, say
from evalake_warehouse.errors import EvalakeError, ExitCode

if TYPE_CHECKING:
    from evalake_warehouse.project import Project

_PACKAGES = (
    "evalake", "duckdb", "dbt-core", "dbt-duckdb", "pyarrow", "polars", "numpy", "pydantic",
    "altair", "vl-convert-python", "bm25s", "ripgrep", "pydocs-mcp", "mcp",
)  # fmt: skip
_MIN_FREE_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Finding:
    subject: str
    works: bool | None  # None: an optional part that is not there
    detail: str
    hint: str | None = None


@app.command(
    epilog="Exits 3 if something that is needed does not work.  |  Example: evalake doctor --json"
)
def doctor(as_json: JsonFlag = False) -> int:
    """Check the installation, the systems, and the folders; changes nothing."""
    findings = [*_versions(), *_systems(), *_folders(current_project())]
    if as_json:
        print_json([_row(finding) for finding in findings])
    else:
        print_rows(
            [{"what": f.subject, "works": _WORDS[f.works], "detail": f.detail} for f in findings]
        )
    broken = [finding for finding in findings if finding.works is False]
    for finding in broken:
        say(f"error: {finding.subject}: {finding.detail}")
        if finding.hint:
            say(f"\nhint: {finding.hint}")
    return ExitCode.INCOMPLETE if broken else ExitCode.OK


_WORDS = {True: "yes", False: "no", None: "absent"}


def _row(finding: _Finding) -> dict[str, Any]:
    return {
        "subject": finding.subject,
        "works": finding.works,
        "detail": finding.detail,
        "hint": finding.hint,
    }


def _versions() -> Iterator[_Finding]:
    from evalake_runners.engine.host import package_version

    yield _Finding("python", True, f"{platform.python_version()} on {platform.system()}")
    for name in _PACKAGES:
        version = package_version(name)
        if version is None and name == "evalake":
            yield _Finding(name, None, "run from a checkout that is not installed")
            continue
        yield _Finding(name, version is not None, version or "not installed", f"pip install {name}")


def _systems() -> Iterator[_Finding]:
    from evalake_runners.adapters.pydocs_mcp.versions import diagnose
    from evalake_runners.adapters.registry import adapter_names, get_adapter

    for name in adapter_names():
        try:
            adapter = get_adapter(name)
        except EvalakeError as error:
            yield _Finding(f"system {name}", False, error.problems[0].what, error.hint)
        else:
            yield _Finding(f"system {name}", True, adapter.summary)
    yield _rg()
    for found in diagnose():
        yield _Finding(found.subject, found.ok, found.detail, found.hint)


def _rg() -> _Finding:
    from evalake_runners.adapters.ripgrep import find_rg

    try:
        rg = find_rg()
        done = subprocess.run(
            [str(rg), "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except EvalakeError as error:
        return _Finding("rg", False, error.problems[0].what, error.hint)
    except (OSError, subprocess.SubprocessError) as error:
        return _Finding("rg", False, str(error), "pip install --force-reinstall ripgrep==14.1.0")
    return _Finding("rg", True, f"{done.stdout.splitlines()[0]}, {rg}")


def _folders(project: Project) -> Iterator[_Finding]:
    from evalake_runners.engine.locks import held_locks
    from evalake_warehouse.lake.reader import list_lake

    yield _Finding("project", True, str(project.data_dir))
    yield _home(project.home)
    existing = next(folder for folder in (project.home, *project.home.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    yield _Finding(
        "disk", free >= _MIN_FREE_BYTES, f"{free / 1e9:.1f} GB free", "evalake cache evict --all"
    )
    listing = list_lake(project.home)
    detail = f"{len(listing.files)} files, {len(listing.by_run)} runs"
    yield _Finding("lake", not listing.problems, detail)
    for problem in listing.problems:
        yield _Finding("lake file", False, str(problem))
    held = held_locks(project.home)
    yield _Finding("locks", True, f"held: {', '.join(held)}" if held else "none held")


def _home(home: Path) -> _Finding:
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    writable = os.access(existing, os.W_OK)
    detail = str(home) if home.exists() else f"{home}, made when first needed"
    return _Finding(
        "EVALAKE_HOME", writable, detail if writable else f"{home}: not writable",
        "evalake --home DIR ...",
    )  # fmt: skip
