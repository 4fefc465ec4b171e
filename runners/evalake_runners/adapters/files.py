"""Files and folders that a system is made of, and what identifies their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from evalake_warehouse.errors import UsageError
from evalake_warehouse.identity import content_hash

INSTALLED = frozenset({"site-packages", "dist-packages"})  # folders of what pip installs
_NO_SOURCE = frozenset({".pyc", ".pyo", ".log"})


def files_in(path: Path, *, is_code: bool = False) -> Iterator[Path]:
    """The files of a folder in path order, those behind links too; or the file itself.

    Args:
        is_code: leave out what is no source: hidden files and folders, bytecode, logs.
    """
    if not path.is_dir():
        yield path
        return
    found: list[Path] = []
    for parent, folders, names in os.walk(path, followlinks=True):
        if _is_loop(Path(parent), path):
            folders.clear()
            continue
        if is_code:
            folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
        files = (Path(parent, name) for name in names)
        found += [file for file in files if file.is_file() and not (is_code and _is_left_out(file))]
    yield from sorted(found)


def _is_left_out(file: Path) -> bool:
    return file.name.startswith(".") or file.suffix in _NO_SOURCE


def path_sha256(path: Path) -> str:
    """Hash of a file, or of the relative paths and hashes of a folder's files.

    Raises:
        UsageError: it is not there, or cannot be read.
    """
    if path.is_dir():
        inner = {file.relative_to(path).as_posix(): path_sha256(file) for file in files_in(path)}
        return content_hash(inner)
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device never ends
        raise UsageError("is no file and no folder", where=str(path))
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from error


def package_version(distribution: str, module: str) -> str:
    """Version of the package that a system of ours runs, without importing it.

    Where the module is not the installed one, but a checkout (an editable install, or a folder of
    `PYTHONPATH`), its version says too little: edits do not change it. The hash of its source
    follows it then, as `+src.`.

    Raises:
        PackageNotFoundError: the distribution is not installed.
    """
    version = metadata.version(distribution)
    spec = find_spec(module)
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or INSTALLED & set(folder.parts):
        return version
    source = {
        file.relative_to(folder).as_posix(): path_sha256(file)
        for file in files_in(folder, is_code=True)
    }
    return f"{version}+src.{content_hash(source)[:12]}"


def _is_loop(folder: Path, top: Path) -> bool:
    """Whether a folder below `top` is a link to one that it lies in."""
    if not folder.is_symlink() or folder == top:
        return False
    real = folder.resolve()
    return any(above.resolve() == real for above in folder.parents if above.is_relative_to(top))
