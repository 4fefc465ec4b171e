"""What of a dataset is loaded: flags that its loader heeds, and names that the dataset has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalake_ingest.records import Loaded, Loader, LoadFlag, LoadOptions
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import nearest

# Of loaders whose corpora are repositories at their pins.
REPOSITORY_FLAGS: frozenset[LoadFlag] = frozenset(
    {"--from", "--archives", "--repo", "--include", "--exclude"}
)
_SELECTING: tuple[LoadFlag, ...] = ("--repo", "--library", "--include", "--exclude")


def load(loader: Loader, options: LoadOptions) -> Loaded:
    """Read a dataset as asked for.

    Raises:
        UsageError: the loader cannot heed a flag; with what it can select by.
    """
    given = options.given
    if refused := [flag for flag in given if flag not in loader.takes]:
        selects = [flag for flag in _SELECTING if flag in loader.takes]
        told = f"it selects by {', '.join(selects)}" if selects else "it is ingested whole"
        what = f"`{loader.name}` cannot heed {', '.join(refused)}; {told}"
        raise UsageError(what, hint=f"evalake ingest {loader.name}")
    if "--narrow-corpus" in given and "--library" not in given:
        raise UsageError(
            "narrows the corpus to --library, which is not given", where="--narrow-corpus"
        )
    return loader.load(options)


def select_repo(repo: str, wanted: Sequence[str]) -> bool:
    """Whether --repo, if given, names a repository by its short or full name."""
    return not wanted or repo in wanted or repo.rpartition("/")[2] in wanted


def check_repos(wanted: Sequence[str], repos: Sequence[str]) -> None:
    """Refuse --repo values that no repository of the dataset has.

    Raises:
        UsageError: with the nearest names, and those that there are.
    """
    unknown = [name for name in wanted if not any(select_repo(repo, [name]) for repo in repos)]
    if unknown:
        raise unknown_names("--repo", unknown, {repo.rpartition("/")[2] for repo in repos})


def unknown_names(flag: LoadFlag, unknown: Sequence[str], known: Iterable[str]) -> UsageError:
    """The error about names that a dataset has not, with the nearest that it has."""
    names = sorted(known)
    what = {"--repo": "repository", "--library": "library"}.get(flag, "value")
    short = [name.rpartition("/")[2].lower() for name in unknown]
    near = [match for name in short for match in nearest(name, names, n=1)]
    meant = f"; did you mean {', '.join(near)}?" if near else ""
    there = f"no {what} {', '.join(unknown)}{meant} (there are: {', '.join(names)})"
    return UsageError(there, where=flag)
