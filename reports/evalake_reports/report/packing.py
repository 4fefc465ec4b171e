"""The task explorer's data as text for the page: compressed, and cut as far as its share asks."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalake_warehouse.shown import shown

if TYPE_CHECKING:
    from zlib import _Compress

BUDGET_BYTES = 1_900_000  # of base64 in the page, all panels together
# Characters of a hit's text, then hits of a list: cut further and further until all fits.
_CHARACTERS = (1_200, 600, 300, 120, 0)
_HITS = (20, 10, 5, 2)
MAX_HITS = _HITS[0]
# No such data was seen to shrink more than this, so what is larger need not be tried.
_MAX_RATIO = 25
_GZIP = 31  # zlib's name for its gzip format, which carries no time
_CHUNK = 1 << 18


def pack(data: Mapping[str, Any], budget: int = BUDGET_BYTES) -> str:
    """The data as base64 of gzipped JSON, texts and lists cut as far as the budget asks for."""
    room = budget * 3 // 4
    known = _visible({k: value for k, value in data.items() if k not in ("hits", "texts")})
    head = _json(known)[:-1]
    for n_hits in _HITS:
        start = f'{head},"hits":{_json(_first(data["hits"], n_hits))},"texts":'.encode(
            "utf-8", "replace"
        )
        # What texts have in common with every cut is compressed once.
        state = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        begun = state.compress(start)
        for limit in _CHARACTERS if n_hits == MAX_HITS else _CHARACTERS[-1:]:
            is_last = (n_hits, limit) == (_HITS[-1], _CHARACTERS[-1])
            texts = (_json([_cut(text, limit) for text in data["texts"]]) + "}").encode(
                "utf-8", "replace"
            )
            if len(start) + len(texts) > _MAX_RATIO * room and not is_last:
                continue
            rest = _finished(state.copy(), texts, None if is_last else room - len(begun))
            if rest is not None:
                return base64.b64encode(begun + rest).decode()
    raise AssertionError("the last cut is taken whatever its size")


def _finished(state: _Compress, text: bytes, room: int | None) -> bytes | None:
    """The last bytes of the compressed data, with `text` in it; None if they exceed `room`."""
    parts: list[bytes] = []
    for place in range(0, len(text), _CHUNK):
        parts.append(state.compress(text[place : place + _CHUNK]))
        if room is not None and sum(map(len, parts)) > room:
            return None
    parts.append(state.flush())
    whole = b"".join(parts)
    return None if room is not None and len(whole) > room else whole


def _first(hits: Mapping[str, Mapping[str, Sequence[Any]]], count: int) -> dict[str, Any]:
    if count == MAX_HITS:  # as they were read
        return dict(hits)
    return {task: {arm: rows[:count] for arm, rows in arms.items()} for task, arms in hits.items()}


def _cut(text: str, limit: int) -> list[Any]:
    """[shown text, length of the whole]: the page says how much is missing."""
    return [shown(text[:limit], lines=True), len(text)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _visible(value: Any) -> Any:
    """A JSON-like value whose texts have visible characters, line ends and tabs only."""
    if isinstance(value, str):
        return shown(value, lines=True)
    if isinstance(value, Mapping):
        return {_visible(key): _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, list | tuple) else value
