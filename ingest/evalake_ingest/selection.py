"""--repo: which repositories of a dataset are kept."""

from __future__ import annotations

from collections.abc import Sequence

from evalake_warehouse.errors import UsageError


def select_repo(repo: str, wanted: Sequence[str]) -> bool:
    """Whether --repo, if given, names a repository by its short or full name."""
    return not wanted or repo in wanted or repo.rpartition("/")[2] in wanted


def check_repos(wanted: Sequence[str], repos: Sequence[str]) -> None:
    """Refuse --repo values that no repository of the dataset has.

    Raises:
        UsageError: with the names that there are.
    """
    unknown = [name for name in wanted if not any(select_repo(repo, [name]) for repo in repos)]
    if unknown:
        there = ", ".join(sorted({repo.rpartition("/")[2] for repo in repos}))
        raise UsageError(f"no repository {', '.join(unknown)}; there are: {there}", where="--repo")
