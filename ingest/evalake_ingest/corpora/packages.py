"""Pinned Python packages as a corpus: from this installation where it agrees, else from the wheel.

Packages are read as files. They are never imported, and nothing in them is run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from evalake_ingest.corpora.archives import read_archive
from evalake_ingest.corpora.sources import Entry
from evalake_ingest.download import check_sha256
from evalake_ingest.records import CorpusDocument
from evalake_warehouse.errors import DatasetError, DownloadError, EvalakeError, Problem
from evalake_warehouse.identity import corpus_id

_TIMEOUT_S = 900

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WheelPin:
    """One package at one version."""

    name: str
    version: str
    wheel: str  # file name
    sha256: str  # of the wheel
    files_sha256: str | None = None  # identity.corpus_id over its Python files


def read_pins(file: Path) -> list[WheelPin]:
    """Pins from a JSON list."""
    return [WheelPin(**entry) for entry in json.loads(file.read_text("utf-8"))]


def is_python(path: str) -> bool:
    """Python modules, of a package or on their own."""
    return path.endswith(".py") and not path.partition("/")[0].endswith((".dist-info", ".data"))


@dataclass(frozen=True)
class PackagesSource:
    """The union of several packages, each below its own top folder."""

    name: str
    origin: str
    packages: Sequence[Files]
    repo: str | None = None
    commit: str | None = None
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file of every package."""
        for files in self.packages:
            for path, content in files.items():
                yield CorpusDocument(path, content)


def read_packages(
    pins: Sequence[WheelPin],
    *,
    cache: Path,
    wheels_dir: Path | None = None,
    dataset: str = "NAME",
) -> list[Files]:
    """Python files of each package, exactly as pinned.

    A pin without `files_sha256` is read from its wheel only.

    Args:
        wheels_dir: wheels on disk, used instead of this installation and of any index.
        dataset: who asks, for the hint.

    Raises:
        DatasetError: packages that could not be had, all of them, with their wheels' names.
    """
    found: list[Files] = []
    problems: list[Problem] = []
    for pin in pins:
        try:
            found.append(_read_package(pin, cache, wheels_dir))
        except EvalakeError as error:
            problems += error.problems
    if problems:
        # Who brought wheels that do not do is told how to have them fetched, and the other way.
        hint = f"evalake ingest {dataset}{'' if wheels_dir else ' --from DIR'}"
        raised = DatasetError("\n".join(map(str, problems)), hint=hint)
        raised.problems = tuple(problems)
        raise raised
    return found


def _read_package(pin: WheelPin, cache: Path, wheels_dir: Path | None) -> Files:
    if wheels_dir is not None:
        wheel = wheels_dir / pin.wheel
        if not wheel.is_file():
            raise DownloadError(f"missing; put {pin.wheel} there", where=str(wheels_dir))
        return _read_wheel(pin, wheel)
    if pin.files_sha256 is not None:
        files = _installed_files(pin)
        if files is not None and _digest(files) == pin.files_sha256:
            return files
    cached = cache / "wheels" / pin.wheel
    if cached.is_file():
        return _read_wheel(pin, cached)
    return _fetch(pin, cached)


def _installed_files(pin: WheelPin) -> Files | None:
    try:
        distribution = metadata.distribution(pin.name)
    except metadata.PackageNotFoundError:
        return None
    if distribution.version != pin.version or distribution.files is None:
        return None
    files: dict[str, bytes] = {}
    for file in distribution.files:
        path = file.as_posix()
        if is_python(path) and not path.startswith(".."):
            try:
                files[path] = Path(str(distribution.locate_file(file))).read_bytes()
            except OSError:
                return None
    return files


def _read_wheel(pin: WheelPin, wheel: Path) -> Files:
    check_sha256(wheel, pin.sha256)
    return {
        entry.path: entry.content
        for entry in read_archive(wheel, keep=is_python)
        if isinstance(entry, CorpusDocument)
    }


def _fetch(pin: WheelPin, target: Path) -> Files:
    """Let the installer at hand fetch the package from the index the user has configured."""
    told: list[str] = []
    for fetcher in (_with_pip, _with_uv):
        with tempfile.TemporaryDirectory() as folder:
            try:
                files = fetcher(pin, Path(folder), target)
            except (OSError, subprocess.SubprocessError) as error:
                told.append(f"{fetcher.__name__.removeprefix('_with_')}: {_why(error)}")
                continue
            if files is not None:
                if pin.files_sha256 is not None and _digest(files) != pin.files_sha256:
                    raise DownloadError(
                        "the index gave other files than those pinned",
                        where=f"{pin.name}=={pin.version}",
                    )
                return files
    what = f"could not be fetched ({'; '.join(told) or 'neither pip nor uv is here'}); "
    raise DownloadError(
        f"{what}put {pin.wheel} into {target.parent}", where=f"{pin.name}=={pin.version}"
    )


def _with_pip(pin: WheelPin, folder: Path, target: Path) -> Files | None:
    if importlib.util.find_spec("pip") is None:
        return None
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), *_platform_flags(pin.wheel)]
    _run([*command, f"{pin.name}=={pin.version}"])
    wheel = folder / pin.wheel
    if not wheel.is_file():
        raise FileNotFoundError(f"the index has no {pin.wheel}")
    files = _read_wheel(pin, wheel)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(wheel, target)
    return files


def _with_uv(pin: WheelPin, folder: Path, target: Path) -> Files | None:
    del target
    if shutil.which("uv") is None or pin.files_sha256 is None:
        return None
    command = ["uv", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python", sys.executable, "--target", str(folder), f"{pin.name}=={pin.version}"]
    _run(command)
    return {
        path: file.read_bytes()
        for file in sorted(folder.rglob("*.py"))
        if is_python(path := file.relative_to(folder).as_posix())
    }


def _platform_flags(wheel: str) -> list[str]:
    """Ask for a wheel of its own platform, whatever this machine is."""
    python, _, platforms = wheel.removesuffix(".whl").split("-")[-3:]
    if platforms == "any":
        return []
    flags = [flag for name in platforms.split(".") for flag in ("--platform", name)]
    return [*flags, "--python-version", f"{python[2]}.{python[3:]}", "--implementation", python[:2]]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S)


def _digest(files: Files) -> str:
    return corpus_id((path, hashlib.sha256(content).hexdigest()) for path, content in files.items())


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in str(error.stderr).splitlines() if line.startswith("ERROR")]
        return lines[-1] if lines else f"ended with {error.returncode}"
    return str(error) or type(error).__name__
