"""A hit on its way to the lake: what a system said, plus where its path leads.

The fields are those of `RawHit`, so one that is added there crosses the border and reaches the
column of its name in `hits` by itself. By columns it goes: names are sent once for a list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args, get_type_hints

from evalake_runners.adapters.protocol import RawHit
from evalake_runners.workers import fields
from evalake_runners.workers.paths import RESOLVED, UNRESOLVED, PathResolver
from evalake_warehouse.scrub import scrub, scrub_evidence
from evalake_warehouse.secrets import known_secrets


@dataclass(slots=True)
class PackedHit(RawHit):
    """One hit of plain values; `item_id` is set."""

    path: str | None = None  # corpus-relative
    path_status: str | None = None  # resolved | unresolved; None for a hit without a path


_Reader = Callable[[Any, str], Any]
_READER_OF_TYPE: Mapping[type, _Reader] = {
    str: fields.optional_text,
    float: fields.score,
    int: fields.line,
}


def _readers(hit: type) -> dict[str, _Reader]:
    """Per field, what checks a value that a system or a worker gave and makes it plain."""
    found = {}
    for name, annotation in get_type_hints(hit).items():
        [kind] = set(get_args(annotation)) - {NoneType}
        found[name] = _READER_OF_TYPE[kind]
    return found


_SAID = _readers(RawHit)
_PACKED = _readers(PackedHit) | {"item_id": fields.text}
HIT_FIELDS = tuple(_PACKED)
_IN_OWN_WORDS = frozenset({"title", "reason"})  # the rest is evidence


def pack_hits(hits: Iterable[object], resolver: PathResolver | None) -> tuple[PackedHit, ...]:
    """Check hits and make them plain.

    Args:
        resolver: of a files corpus; None where hits have doc ids, not paths.

    Raises:
        TypeError: one is no `RawHit`, says nothing of what it is, or a field has another type.
        ValueError: a number is out of bounds.
    """
    return _scrubbed(tuple(_pack(hit, resolver) for hit in hits))


def hit_columns(hits: Sequence[PackedHit]) -> dict[str, list[Any]]:
    """The values of each field, in the order of the hits."""
    return {name: [getattr(hit, name) for hit in hits] for name in HIT_FIELDS}


def read_hits(columns: object) -> tuple[PackedHit, ...]:
    """Hits that came over the border as columns.

    Raises:
        TypeError, ValueError: they are none; the text names the field.
    """
    if not isinstance(columns, Mapping) or columns.keys() != _PACKED.keys():
        raise TypeError(f"hits have other fields than {', '.join(HIT_FIELDS)}")
    read = [
        [reader(value, name) for value in fields.sequence(columns[name], name)]
        for name, reader in _PACKED.items()
    ]
    return tuple(
        PackedHit(**dict(zip(HIT_FIELDS, values, strict=True)))
        for values in zip(*read, strict=True)
    )


def _pack(hit: object, resolver: PathResolver | None) -> PackedHit:
    if not isinstance(hit, RawHit):
        raise TypeError(f"a hit is {type(hit).__name__}, not RawHit")
    packed = PackedHit(**{name: read(getattr(hit, name), name) for name, read in _SAID.items()})
    if packed.raw_path is not None and resolver is not None:
        packed.path = resolver.resolve(packed.raw_path)
        packed.path_status = UNRESOLVED if packed.path is None else RESOLVED
    packed.item_id = packed.item_id or _item_id(packed)
    return packed


def _item_id(hit: PackedHit) -> str:
    """What a hit without an id of its own is called."""
    if hit.doc_id is not None:
        return hit.doc_id
    if (where := hit.path or hit.raw_path) is not None:
        start = hit.start_line
        return where if start is None else f"{where}:{start}-{hit.end_line or start}"
    if hit.qualified_name:
        return hit.qualified_name
    if hit.text is None:
        raise TypeError("a hit has neither id, path, name, doc id nor text")
    return "text:" + hashlib.sha256(hit.text.encode()).hexdigest()[:16]


def _scrubbed(hits: tuple[PackedHit, ...]) -> tuple[PackedHit, ...]:
    """The hits without secrets that only this process may know; before a text gets its hash."""
    texts = [
        {name: value for name in HIT_FIELDS if isinstance(value := getattr(hit, name), str)}
        for hit in hits
    ]
    told = "\n".join(value for of_hit in texts for value in of_hit.values())
    if any(secret in told for secret in known_secrets().all):
        for hit, of_hit in zip(hits, texts, strict=True):
            for name, value in of_hit.items():
                is_prose = name in _IN_OWN_WORDS
                setattr(hit, name, scrub(value) if is_prose else scrub_evidence(value))
    return hits
