"""What a run records about where it ran: machine, versions, commit."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def host_facts() -> dict[str, object]:
    """Machine facts that change a measurement. No user name, host name or path."""
    return {
        "os": platform.system(),
        "os_release": platform.release(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "cpus_usable": _usable_cpus(),
        "memory_bytes": _memory_bytes(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
    }


def package_versions(names: Iterable[str] | None = None) -> dict[str, str]:
    """Versions of the named installed packages, or of all of them."""
    if names is None:
        found = {
            dist.metadata["Name"].lower().replace("_", "-"): dist.version
            for dist in metadata.distributions()
            if dist.metadata["Name"]
        }
        return dict(sorted(found.items()))
    return {name: version for name in names if (version := package_version(name)) is not None}


def package_version(name: str) -> str | None:
    """Version of one package, or None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def git_state(folder: Path) -> tuple[str | None, bool | None]:
    """Commit and dirty flag of the checkout that `folder` lies in; (None, None) without one."""
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return None, None
    sha = _git(git, folder, "rev-parse", "HEAD")
    status = _git(git, folder, "status", "--porcelain", "--untracked-files=no")
    return sha or None, None if status is None else bool(status)


def _git(git: str, folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            [git, "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu_model() -> str:
    try:
        for line in (
            Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        ):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _usable_cpus() -> int | None:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
