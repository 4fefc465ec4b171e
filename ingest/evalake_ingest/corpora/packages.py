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

from evalake_ingest.corpora.archives import FolderTree, read_archive
from evalake_ingest.corpora.rules import WHEEL_MODULES
from evalake_ingest.corpora.sources import Entry
from evalake_ingest.originals.download import check_sha256
from evalake_ingest.records import CorpusDocument, SkippedDocument
from evalake_warehouse.errors import DatasetError, DownloadError, EvalakeError, Problem
from evalake_warehouse.identity import corpus_id
from evalake_warehouse.scratch import scratch_folder

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


@dataclass(frozen=True)
class PackagesSource:
    """The union of several packages, each below its own top folder."""

    name: str
    origin: str
    packages: Sequence[Files]
    left_out: Sequence[SkippedDocument] = ()
    repo: str | None = None
    commit: str | None = None
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file of every package, and what was left out of them."""
        for files in self.packages:
            for path, content in files.items():
                yield CorpusDocument(path, content)
        yield from self.left_out


def read_packages(
    pins: Sequence[WheelPin],
    *,
    cache: Path,
    wheels_dir: Path | None = None,
    dataset: str = "NAME",
    left_out: list[SkippedDocument] | None = None,
) -> list[Files]:
    """Python files of each package, exactly as pinned.

    A pin without `files_sha256` is read from its wheel only.

    Args:
        wheels_dir: wheels on disk, used instead of this installation and of any index.
        dataset: who asks, for the hint.
        left_out: takes the files of the packages that are not Python modules.

    Raises:
        DatasetError: packages that could not be had, all of them, with their wheels' names.
    """
    found: list[Files] = []
    problems: list[Problem] = []
    for pin in pins:
        try:
            package = _read_package(pin, cache, wheels_dir)
        except EvalakeError as error:
            problems += error.problems
            continue
        found.append(package.files)
        if left_out is not None:
            left_out += package.left_out
    if problems:
        # Who brought wheels that do not do is told how to have them fetched, and the other way.
        hint = f"evalake ingest {dataset}{'' if wheels_dir else ' --from DIR'}"
        raised = DatasetError("\n".join(map(str, problems)), hint=hint)
        raised.problems = tuple(problems)
        raise raised
    return found


@dataclass(frozen=True, slots=True)
class _Package:
    files: Files
    left_out: tuple[SkippedDocument, ...]


def _read_package(pin: WheelPin, cache: Path, wheels_dir: Path | None) -> _Package:
    if wheels_dir is not None:
        wheel = wheels_dir / pin.wheel
        if not wheel.is_file():
            raise DownloadError(f"missing; put {pin.wheel} there", where=str(wheels_dir))
        return _read_wheel(pin, wheel)
    if pin.files_sha256 is not None:
        package = _read_installed(pin)
        if package is not None and _digest(package.files) == pin.files_sha256:
            return package
    cached = cache / "wheels" / pin.wheel
    if cached.is_file():
        return _read_wheel(pin, cached)
    return _fetch(pin, cached)


def _read_installed(pin: WheelPin) -> _Package | None:
    try:
        distribution = metadata.distribution(pin.name)
    except metadata.PackageNotFoundError:
        return None
    if distribution.version != pin.version or distribution.files is None:
        return None
    paths = {
        file.as_posix(): Path(str(distribution.locate_file(file))) for file in distribution.files
    }
    # Scripts and compiled modules are the installer's, not the package's.
    return _read_paths({
        path: file for path, file in paths.items()
        if not path.startswith("..") and "__pycache__" not in path
    })  # fmt: skip


def _read_paths(paths: Mapping[str, Path]) -> _Package | None:
    files: dict[str, bytes] = {}
    left_out: list[SkippedDocument] = []
    tree = FolderTree(WHEEL_MODULES, paths)
    for path, file in paths.items():
        if tree.leaves_out(path, 0):
            continue
        if reason := WHEEL_MODULES.skip_name(path):
            left_out.append(SkippedDocument(path, *reason))
            continue
        try:
            files[path] = file.read_bytes()
        except OSError:
            return None
    return _Package(files, (*left_out, *tree.left_out()))


def _read_wheel(pin: WheelPin, wheel: Path) -> _Package:
    check_sha256(wheel, pin.sha256)
    files: dict[str, bytes] = {}
    left_out: list[SkippedDocument] = []
    for entry in read_archive(wheel, WHEEL_MODULES):
        if isinstance(entry, CorpusDocument):
            files[entry.path] = entry.content
        else:
            left_out.append(entry)
    return _Package(files, tuple(left_out))


def _fetch(pin: WheelPin, target: Path) -> _Package:
    """Let the installer at hand fetch the package from the index the user has configured."""
    told: list[str] = []
    for fetcher in (_with_pip, _with_uv):
        with scratch_folder(Path(tempfile.gettempdir()), "evalake-fetch-") as folder:
            try:
                package = fetcher(pin, folder, target)
            except (OSError, subprocess.SubprocessError) as error:
                told.append(f"{fetcher.__name__.removeprefix('_with_')}: {_why(error)}")
                continue
            if package is not None:
                if pin.files_sha256 is not None and _digest(package.files) != pin.files_sha256:
                    raise DownloadError(
                        "the index gave other files than those pinned",
                        where=f"{pin.name}=={pin.version}",
                    )
                return package
    what = f"could not be fetched ({'; '.join(told) or 'neither pip nor uv is here'}); "
    raise DownloadError(
        f"{what}put {pin.wheel} into {target.parent}", where=f"{pin.name}=={pin.version}"
    )


def _with_pip(pin: WheelPin, folder: Path, target: Path) -> _Package | None:
    if importlib.util.find_spec("pip") is None:
        return None
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), *_platform_flags(pin.wheel)]
    _run([*command, f"{pin.name}=={pin.version}"])
    wheel = folder / pin.wheel
    if not wheel.is_file():
        raise FileNotFoundError(f"the index has no {pin.wheel}")
    package = _read_wheel(pin, wheel)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(wheel, target)
    return package


def _with_uv(pin: WheelPin, folder: Path, target: Path) -> _Package | None:
    del target
    if shutil.which("uv") is None or pin.files_sha256 is None:
        return None
    command = ["uv", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python", sys.executable, "--target", str(folder), f"{pin.name}=={pin.version}"]
    _run(command)
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return _read_paths({file.relative_to(folder).as_posix(): file for file in files})


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
