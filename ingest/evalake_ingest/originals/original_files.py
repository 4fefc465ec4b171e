"""Find a benchmark's original files: in a folder the user names, or by download at the pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from evalake_ingest.originals.download import RemoteFile, cached_path, fetch, find_local
from evalake_ingest.originals.problems import file_sha256
from evalake_ingest.records import LoadOptions
from evalake_warehouse.errors import DatasetError, DownloadError, Problem


@dataclass(frozen=True, slots=True)
class Original:
    """One original file, as pinned."""

    name: str  # how the source names it
    sha256: str | None
    url: str | None = None  # None: not to be fetched; the user brings it
    paths: tuple[str, ...] = ()  # where it may lie below --from, besides its name

    @property
    def places(self) -> tuple[str, ...]:
        """Relative paths to look at, in order."""
        return (*self.paths, self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """Original files at hand, in the order asked for, and the revision they are of."""

    paths: tuple[Path, ...]
    sha256s: tuple[str, ...]
    revision: str


def find_originals(
    originals: Sequence[Original], options: LoadOptions, *, pin: str, dataset: str
) -> Found:
    """Every original file of a benchmark, each checked against its pinned sha256.

    `--revision` names another version than the pin: hashes are then recorded, not required.

    Raises:
        DatasetError: files are missing in the folder, or have another hash; all of them named.
        DownloadError: a file could not be fetched.
    """
    is_pin = options.revision in {None, pin}
    paths: list[Path] = []
    problems: list[Problem] = []
    for number, original in enumerate(originals):
        try:
            path = _find(original, options, dataset, problems)
        except DownloadError as error:
            problems += [*error.problems, *_not_tried(originals[number + 1 :], options)]
            break
        if path is not None:
            paths.append(path)
    _refuse(problems, hint=f"evalake ingest {dataset} --from DIR")
    hashes = [file_sha256(path) for path in paths]
    for original, path, actual in zip(originals, paths, hashes, strict=True):
        if is_pin and original.sha256 not in {None, actual}:
            what = f"sha256 is {actual}, expected {original.sha256} ({dataset} at {pin})"
            problems.append(Problem(str(path), what))
    _refuse(problems, hint=_hint_of_another(originals, options, dataset))
    revision = pin if is_pin else f"{options.revision}+sha256:{_short(hashes)}"
    return Found(tuple(paths), tuple(hashes), revision)


def _find(
    original: Original, options: LoadOptions, dataset: str, problems: list[Problem]
) -> Path | None:
    if options.source_dir is not None:
        path = find_local(options.source_dir, original.places)
        if path is None:
            what = f"missing; looked for {' and '.join(original.places)}"
            problems.append(Problem(str(options.source_dir), what))
        return path
    if original.url is None:
        where = f"--from DIR with DIR/{original.places[0]}"
        problems.append(Problem(dataset, f"{original.name} is not to be fetched; give {where}"))
        return None
    if options.revision is not None:
        problems.append(Problem(dataset, "--revision needs --from DIR with that version's files"))
        return None
    return fetch(_remote(original, original.url), options.cache)


def _remote(original: Original, url: str) -> RemoteFile:
    return RemoteFile(original.name, url, original.sha256)


def _not_tried(originals: Sequence[Original], options: LoadOptions) -> Iterator[Problem]:
    """The other files that are missing when a download fails, so that one error names all."""
    for original in originals:
        if original.url is not None:
            place = cached_path(_remote(original, original.url), options.cache)
            if not place.exists():
                yield Problem(original.name, f"is missing too; from {original.url} to {place}")


def _hint_of_another(originals: Sequence[Original], options: LoadOptions, dataset: str) -> str:
    """After a wrong hash: fetch the pinned version, or say that the files are of another."""
    if all(original.url is not None for original in originals):
        return f"evalake ingest {dataset}"
    return (
        f"evalake ingest {dataset} --from {quote(str(options.source_dir))} --revision THEIR_VERSION"
    )


def _refuse(problems: list[Problem], *, hint: str) -> None:
    if not problems:
        return
    error = DatasetError("\n".join(map(str, problems)), hint=hint)
    error.problems = tuple(problems)
    raise error


def _short(hashes: Sequence[str]) -> str:
    from evalake_warehouse.identity import content_hash

    return (hashes[0] if len(hashes) == 1 else content_hash(list(hashes)))[:16]
