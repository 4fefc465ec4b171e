"""State that can always be made again: notes of files found good, and what is damaged set aside."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger(__name__)

Marks = dict[str, list[int]]  # per file name: its size, its time, and what else it was checked for


def load_marks(path: Path) -> Marks:
    """Notes of files that need no second look; none where they are missing or damaged."""
    try:
        loaded = json.loads(path.read_bytes())
    except OSError:
        return {}
    except (ValueError, RecursionError):
        loaded = None
    if isinstance(loaded, dict) and all(map(_is_mark, loaded.values())):
        return loaded
    _log.warning("%s: damaged, and made again", path)
    return {}


def save_marks(path: Path, marks: Mapping[str, list[int]]) -> None:
    """Write notes whole; a folder that cannot be written is no reason to fail."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    with suppress(OSError):
        try:
            temporary.write_text(json.dumps(marks))
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def set_aside(home: Path, path: Path, why: str) -> None:
    """Move damaged state out of the way, to `home/set-aside`, and say so."""
    folder = home / "set-aside"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / path.name
    if place.exists():
        place = folder / f"{path.name}.{uuid.uuid4().hex[:8]}"
    path.replace(place)
    _log.warning("%s: %s; set aside as %s, and made again", path, why, place)


def _is_mark(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)
