"""Names that resemble one that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LEAST = 0.6  # resemblance, in [0, 1]
_SPREAD = 0.1  # those less like it than the most alike by more than this are left out


def nearest(name: str, known: Iterable[str], *, n: int = 3) -> list[str]:
    """Up to `n` known names that resemble `name` whatever their case, else that contain it."""
    wanted = name.lower()
    likeness = {
        other: difflib.SequenceMatcher(None, other.lower(), wanted).ratio() for other in known
    }
    best = max(likeness.values(), default=0)
    near = [other for other, ratio in likeness.items() if ratio >= max(_LEAST, best - _SPREAD)]
    if not near and wanted:
        near = [other for other in likeness if wanted in other.lower()]
    return sorted(near, key=lambda other: -likeness[other])[:n]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something is near, else the list of what there is."""
    known = list(known)
    if near := nearest(name, known):
        return f"; did you mean {' or '.join(f'`{other}`' for other in near)}?"
    return f"; there are: {', '.join(known)}" if known else ""
