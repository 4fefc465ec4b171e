"""What ids, queries, grades and scores may be: one set of rules for every imported format.

Each function returns the value as it is kept, or raises BadValueError with what is wrong.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

MAX_INT64 = 2**63 - 1
# Far beyond any run, and small enough that sums over one stay finite.
MAX_AMOUNT = 1e12

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_IN_PROSE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class BadValueError(ValueError):
    """What is wrong with one value, without its place."""


def as_id(value: object) -> str:
    """An id as text: a whole number is its decimal digits."""
    if isinstance(value, bool):
        raise BadValueError(f"{str(value).lower()} is no id; write it as a string")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        raise BadValueError(f"{value} is a number with a point; write the id as a string")
    if not isinstance(value, str):
        raise BadValueError("an id is a string or a whole number")
    if not value.strip():
        raise BadValueError("an id may not be empty")
    if found := _CONTROL.search(value):
        raise BadValueError(f"an id may hold no control character ({ord(found[0]):#04x})")
    return value


def as_label(value: object) -> str:
    """The value of a label: like an id, and may be empty."""
    return "" if value == "" else as_id(value)


def as_query(value: object) -> str:
    """A query: text that is not blank."""
    if not isinstance(value, str):
        raise BadValueError("a query is a string")
    if not value.strip():
        raise BadValueError("the query is empty")
    if found := _CONTROL_IN_PROSE.search(value):
        raise BadValueError(f"a query may hold no control character ({ord(found[0]):#04x})")
    return value


def as_grade(value: object, scale: int = 1) -> int:
    """A grade as a whole number of 64 bits, after `--grade-scale`: `1.0` is 1.

    trec_eval reads the digits before the point alone, so 0.5 is 0 there; here it is refused.
    """
    number = _exact(value)
    if number is None:
        raise BadValueError(f"the grade {_shown(value)} is not a number")
    if abs(number) > MAX_INT64 or abs(number * scale) > MAX_INT64:
        raise BadValueError(f"the grade {_shown(value)} does not fit into 64 bits")
    scaled = number * scale
    if scaled != scaled.to_integral_value():
        times = f" times {scale}" if scale != 1 else ""
        raise BadValueError(
            f"the grade {_shown(value)}{times} is not a whole number; "
            "--grade-scale N multiplies grades by N"
        )
    return int(scaled)


def as_score(value: object) -> float:
    """A score: any finite number."""
    return _finite(value, "score")


def as_amount(value: object) -> float:
    """Seconds or dollars: finite, and not negative."""
    amount = _finite(value, "amount")
    if not 0 <= amount <= MAX_AMOUNT:
        raise BadValueError(f"{_shown(value)} is not between 0 and {MAX_AMOUNT:g}")
    return amount


def lone_surrogate(value: object) -> str | None:
    """Where in a JSON value half a surrogate pair is, as `key.0.key`; None where there is none."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        place, found = pending.pop()
        if isinstance(found, str) and _SURROGATE.search(found):
            return place
        if isinstance(found, dict):
            if any(_SURROGATE.search(key) for key in found):
                return f"{place}: a key".lstrip(": ")
            pending += [(f"{place}.{key}".lstrip("."), item) for key, item in found.items()]
        elif isinstance(found, list):
            pending += [(f"{place}.{index}", item) for index, item in enumerate(found)]
    return None


def _finite(value: object, kind: str) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    else:
        raise BadValueError(f"the {kind} {_shown(value)} is not a number")
    if not math.isfinite(number):
        raise BadValueError(f"the {kind} {_shown(value)} is not a finite number")
    return number


def _exact(value: object) -> Decimal | None:
    """The number that a text spells, exactly; None where it spells no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value if isinstance(value, str) else repr(value)
    try:
        return Decimal(text) if _NUMBER.fullmatch(text) else None
    except InvalidOperation:
        return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:30]}... ({len(text)} characters)"


def _graded(value: object, info: ValidationInfo) -> int:
    return as_grade(value, info.context or 1)


Id = Annotated[str, BeforeValidator(as_id)]
Label = Annotated[str, BeforeValidator(as_label)]
Query = Annotated[str, BeforeValidator(as_query)]
Grade = Annotated[int, BeforeValidator(_graded)]  # validation context: the grade scale
Score = Annotated[float, BeforeValidator(as_score)]
Amount = Annotated[float, BeforeValidator(as_amount)]
LineNumber = Annotated[int, Field(ge=1, le=MAX_INT64)]
