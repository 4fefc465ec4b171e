"""A part of a page that is made, between two comments in a page that is written."""

from __future__ import annotations

from evalake_warehouse.errors import UsageError


def replace_block(page: str, start: str, end: str, block: str, *, where: str) -> str:
    """The page with other lines between the two comments.

    Args:
        where: the page's name, for an error.

    Raises:
        UsageError: the page lacks one of the comments.
    """
    before, found_start, rest = page.partition(start)
    _, found_end, after = rest.partition(end)
    if not (found_start and found_end):
        raise UsageError(f"the page needs a line `{start}` and a line `{end}`", where=where)
    return f"{before}{start}\n{block}\n{end}{after}"
