"""Which files a unified diff changes, at the state before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OLD = re.compile(r"^--- (?:a/)?(?P<path>\"(?:[^\"\\]|\\.)*\"|[^\t\n]+)", re.MULTILINE)
_HEADER = re.compile(r"^diff --git a/(?P<old>.+?) b/(?P<new>.+)$", re.MULTILINE)


def changed_files(diff: str) -> list[str]:
    """Files that exist before the diff and that it changes, deletes or renames, in its order.

    A file that the diff adds is in no corpus of that state, so it is not among them.
    """
    return list(dict.fromkeys(_changed(diff)))


def added_files(diff: str) -> list[str]:
    """Files that the diff adds."""
    return [
        match.group("new")
        for match in _HEADER.finditer(diff)
        if "--- /dev/null" in _section(diff, match) or "\nnew file mode" in _section(diff, match)
    ]


def _changed(diff: str) -> Iterator[str]:
    headers = list(_HEADER.finditer(diff))
    if not headers:
        for match in _OLD.finditer(diff):
            if match.group("path") != "/dev/null":
                yield match.group("path")
        return
    added = set(added_files(diff))
    for match in headers:
        if match.group("new") not in added:
            yield match.group("old")


def _section(diff: str, match: re.Match[str]) -> str:
    """The lines between a file's header and its first hunk."""
    following = diff[match.end() :]
    ends = [
        position for mark in ("\n@@", "\ndiff --git ") if (position := following.find(mark)) >= 0
    ]
    return following[: min(ends, default=len(following))]
