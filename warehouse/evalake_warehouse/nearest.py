"""Names that resemble one that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def nearest(name: str, known: Iterable[str], *, n: int = 3) -> list[str]:
    """Up to `n` known names that resemble `name` whatever their case, or have it in them."""
    folded = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), folded, n=n, cutoff=0.6)
    near += [key for key in folded if name and name.lower() in key and key not in near]
    return [folded[key] for key in near[:n]]


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` where something is near, else the list of what there is."""
    if near := nearest(name, known):
        return f"; did you mean {' or '.join(f'`{one}`' for one in near)}?"
    return f"; there are: {', '.join(known)}" if known else ""
