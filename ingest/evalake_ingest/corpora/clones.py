"""Repositories at a pinned commit: as archives that the user brings, or as shallow clones.

A clone is made under a temporary name, checked to be at its commit, cut off from its origin and
then renamed, so one that dies half way is made again. Nothing of it is ever run: no hooks, no
filters, no submodules.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evalake_ingest.corpora.rules import SUFFIXES, CorpusRule
from evalake_ingest.corpora.sources import ArchiveSource, FolderSource
from evalake_ingest.records import CorpusSource, LoadOptions
from evalake_warehouse.errors import DownloadError, Problem
from evalake_warehouse.scratch import scratch_folder

_PARALLEL = 4
_TIMEOUT_S = 1800
_ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar.xz", ".tar", ".zip")
_FULL_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Pin:
    """One repository at one commit; a short SHA is completed by its clone."""

    repo: str  # owner/name
    commit: str
    url: str

    @property
    def short_name(self) -> str:
        """Name without its owner."""
        return self.repo.rpartition("/")[2]

    @property
    def corpus_name(self) -> str:
        """One repository may have a corpus at each of many commits."""
        return f"{self.repo}@{self.commit}"

    @property
    def stem(self) -> str:
        """How an archive of it is called."""
        return f"{self.repo.replace('/', '__')}-{self.commit[:12]}"


@dataclass(frozen=True, slots=True)
class Missing:
    """A repository that is not among the archives brought."""

    pin: Pin
    detail: str


def sources_of(opened: Mapping[Pin, CorpusSource | Missing]) -> tuple[CorpusSource, ...]:
    """The corpora that are there."""
    return tuple(one for one in opened.values() if not isinstance(one, Missing))


def open_repositories(
    pins: Sequence[Pin], options: LoadOptions
) -> dict[Pin, CorpusSource | Missing]:
    """A corpus for each pin: of --archives where given, else of clones in the shared cache.

    Raises:
        DownloadError: clones failed; all of them named, with where an archive would be found.
    """
    rule = SUFFIXES
    if options.include or options.exclude:
        rule = SUFFIXES.narrowed(options.include, options.exclude)
    if options.archives_dir is not None:
        return {pin: _from_archive(pin, options.archives_dir, rule) for pin in pins}
    with ThreadPoolExecutor(_PARALLEL) as pool:
        results = list(pool.map(lambda pin: _try_clone(pin, options.cache, rule), pins))
    problems = [result for result in results if isinstance(result, Problem)]
    if problems:
        wanted = ", ".join(f"DIR/{pin.stem}.tar.gz" for pin in pins)
        error = DownloadError(
            "\n".join(map(str, problems)), hint=f"evalake ingest NAME --archives DIR  # {wanted}"
        )
        error.problems = tuple(problems)
        raise error
    return dict(zip(pins, (one for one in results if not isinstance(one, Problem)), strict=True))


def find_archive(pin: Pin, folder: Path) -> Path | None:
    """An archive below a folder whose name has the repository's name and at least 7 digits of
    the commit.
    """
    named = re.compile(
        rf"(?:^|[^A-Za-z0-9]){re.escape(pin.short_name)}[-_@]v?([0-9a-f]{{7,40}})\b", re.IGNORECASE
    )
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith(_ARCHIVE_SUFFIXES):
            continue
        match = named.search(path.name)
        if match and (pin.commit.startswith(match[1]) or match[1].startswith(pin.commit)):
            return path
    return None


def _from_archive(pin: Pin, folder: Path, rule: CorpusRule) -> CorpusSource | Missing:
    archive = find_archive(pin, folder)
    if archive is None:
        return Missing(pin, f"no archive; expected {pin.stem}.tar.gz")
    return ArchiveSource(
        name=pin.corpus_name,
        origin=f"{pin.url} at {pin.commit}, archive {archive.name}",
        archive=archive,
        repo=pin.repo,
        commit=pin.commit,
        rule=rule,
    )


def _try_clone(pin: Pin, cache: Path, rule: CorpusRule) -> CorpusSource | Problem:
    import filelock

    folder = cache / "clones" / f"{pin.repo.replace('/', '__')}@{pin.commit}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(folder.with_name(f"{folder.name}.lock")):
            if not folder.is_dir():
                clone(pin, folder)
        commit = _git(folder, "rev-parse", "HEAD")
    except (OSError, subprocess.SubprocessError) as error:
        return Problem(f"{pin.url} at {pin.commit}", _why(error))
    origin = f"{pin.url} at {commit}"
    return FolderSource(pin.corpus_name, origin, folder, repo=pin.repo, commit=commit, rule=rule)


def clone(pin: Pin, folder: Path) -> None:
    """Make a checkout of one commit, without history where its full SHA is known.

    Raises:
        OSError: git is missing, or the disk is full.
        subprocess.SubprocessError: git failed, timed out, or gave another commit.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder.parent, f".{folder.name}.", suffix=".tmp") as temporary:
        _git(temporary, "init", "--quiet")
        _git(temporary, "remote", "add", "origin", pin.url)
        if _FULL_SHA.fullmatch(pin.commit):
            _git(temporary, "fetch", "--quiet", "--depth=1", "--no-tags", "origin", pin.commit)
            commit = pin.commit
        else:  # a server does not serve a short SHA; the list of commits is small without files
            _git(temporary, "fetch", "--quiet", "--filter=tree:0", "--no-tags", "origin")
            commit = _git(temporary, "rev-parse", "--verify", f"{pin.commit}^{{commit}}")
        _git(temporary, "checkout", "--quiet", "--detach", commit)
        actual = _git(temporary, "rev-parse", "HEAD")
        if actual != commit:
            raise subprocess.SubprocessError(f"the checkout is at {actual}, expected {commit}")
        _git(temporary, "remote", "remove", "origin")
        temporary.rename(folder)


def _git(folder: Path, *arguments: str) -> str:
    quiet = {
        "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_LFS_SKIP_SMUDGE": "1",
    }  # fmt: skip
    safe = ("-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0")
    done = subprocess.run(
        ["git", *safe, *arguments],  # noqa: S607
        cwd=folder, env=os.environ | quiet, check=True, capture_output=True, text=True,
        timeout=_TIMEOUT_S,
    )  # fmt: skip
    return done.stdout.strip()


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        told = [line for line in str(error.stderr).splitlines() if line.strip()]
        return told[-1].strip() if told else f"git ended with {error.returncode}"
    if isinstance(error, FileNotFoundError):
        return "git is not installed"
    return str(error) or type(error).__name__
