"""One value at a time: what a system said, as an exact `str`, `int`, `float` or `bool`, or why not.

In a worker these make plain what a system returned; in evalake's own process they check what came
over the border. A message names the field.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from evalake_runners.workers.redact import clean

MAX_COUNT = 2**53  # sums of many stay within 64 bits, and JSON readers agree on it
MAX_COST_USD = 1e6
MAX_SECONDS = 1e8
_MAX_KEYS = 10_000
_BOOLS = frozenset({"bool", "bool_"})  # Python's and numpy's


def text(value: object, name: str) -> str:
    """Valid Unicode; a subclass of `str` is made one."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {_kind(value)}, not str")
    return clean(str.__str__(value))


def optional_text(value: object, name: str) -> str | None:
    """`text`, or None."""
    return None if value is None else text(value, name)


def count(value: Any, name: str) -> int:
    """A whole number from 0; numpy's are made Python's."""
    whole = _whole(value, name)
    if not 0 <= whole <= MAX_COUNT:
        raise ValueError(f"{name} is {_short(whole)}, not from 0 to {MAX_COUNT}")
    return whole


def optional_count(value: Any, name: str) -> int | None:
    """`count`, or None."""
    return None if value is None else count(value, name)


def number(value: Any, name: str) -> float:
    """Any float, also NaN and infinity."""
    if isinstance(value, str | bytes) or _kind(value) in _BOOLS:
        raise TypeError(f"{name} is {_kind(value)}, not a number")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {_kind(value)}, not a number") from error
    except OverflowError as error:
        raise ValueError(f"{name} is too large") from error


def amount(value: Any, name: str, *, high: float) -> float:
    """A finite number from 0 to `high`."""
    found = number(value, name)
    if not 0 <= found <= high:  # False for NaN too
        raise ValueError(f"{name} is {found:g}, not from 0 to {high:g}")
    return found


def optional_cost(value: Any) -> float | None:
    """US dollars, or None."""
    return None if value is None else amount(value, "cost_usd", high=MAX_COST_USD)


def score(value: Any, name: str) -> float | None:
    """A finite float; NaN and infinity are no score."""
    if value is None:
        return None
    found = number(value, name)
    return found if math.isfinite(found) else None


def line(value: Any, name: str) -> int | None:
    """A line number from 1; a system's 0, negative or absurd one says that it knows none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    whole = _whole(value, name)
    return whole if 0 < whole < 2**31 else None


def optional_bool(value: Any, name: str) -> bool | None:
    """A truth value, or None."""
    if value is not None and _kind(value) not in _BOOLS:
        raise TypeError(f"{name} is {_kind(value)}, not bool")
    return None if value is None else bool(value)


def seconds_by_phase(value: object) -> dict[str, float]:
    """Seconds under the names of phases."""
    return {
        name: amount(seconds, f"phase_seconds[{name!r}]", high=MAX_SECONDS)
        for name, seconds in _items(value, "phase_seconds")
    }


def counts(value: object) -> dict[str, int]:
    """Counts under their names."""
    return {name: count(found, f"counts[{name!r}]") for name, found in _items(value, "counts")}


def sequence(value: object, name: str) -> Sequence[Any]:
    """A list or another sequence; texts are refused."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError(f"{name} is {_kind(value)}, not a list")
    return value


def _whole(value: Any, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str | bytes) or _kind(value) in _BOOLS:
        raise TypeError(f"{name} is {_kind(value)}, not a whole number")
    try:
        return int(operator.index(value))
    except TypeError as error:
        shown = f"{value!r}" if isinstance(value, float) else _kind(value)
        raise TypeError(f"{name} is {shown}, not a whole number") from error


def _items(value: object, name: str) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {_kind(value)}, not a mapping")
    if len(value) > _MAX_KEYS:
        raise ValueError(f"{name} has {len(value)} keys, more than {_MAX_KEYS}")
    return [(text(key, f"a key of {name}"), found) for key, found in value.items()]


def _kind(value: object) -> str:
    return type(value).__name__


def _short(whole: int) -> str:
    """A number as text, which is costly and of no use for one of thousands of digits."""
    return str(whole) if abs(whole) < 10**30 else f"a number of {whole.bit_length()} bits"
