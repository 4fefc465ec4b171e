"""The last border: whatever a command ends with becomes a message and an exit code.

Errors of other packages are told as what a person can do about them. What nobody foresaw is
`internal`: its traceback is in a file, and the exit code is never the one of a regression.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalake_cli.output import PACKAGES
from evalake_warehouse.errors import ConfigError, EvalakeError, IncompleteError, Problem, UsageError

_KEPT_LOGS = 20
_FULL_DISK = "No space left on device"
_FREE_SPACE = "evalake cache info"
# Of these kinds, data is the likely cause; of all others, evalake.
_KINDS: dict[type[BaseException], str] = {
    UnicodeError: "a text is not valid Unicode",
    RecursionError: "nested too deeply",
}
_VALUE_MISSING = re.compile(r"--[a-z][a-z-]*=")


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse what no flag can mean: a text that is not Unicode, and an empty one.

    Raises:
        UsageError: with the argument's place.
    """
    for number, argument in enumerate(arguments, start=1):
        before = arguments[number - 2] if number > 1 else ""
        where = before if re.match("--.", before) else f"argument {number}"
        if argument != argument.encode("utf-8", "replace").decode():
            raise UsageError(f"not UTF-8: {argument!a}", where=where)
        if not argument or _VALUE_MISSING.fullmatch(argument):
            raise UsageError("empty; leave it out or give a value", where=argument[:-1] or where)


def explain(error: BaseException) -> EvalakeError:
    """The evalake error that stands for any other; damaged lake files are named as its cause."""
    for cause in (error, error.__cause__):
        if cause is not None and (damaged := _damaged_files(cause)):
            return ConfigError(damaged, hint="evalake doctor")
    if isinstance(error, EvalakeError):
        return error
    if known := _of_package(error):
        return known
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        return UsageError("not enough memory", hint="evalake doctor")
    return _internal(error)


def _of_package(error: BaseException) -> EvalakeError | None:
    """An error that another package raises by design; None for any other."""
    if _is(error, "pydantic", "ValidationError"):
        return _of_pydantic(error)
    if _is(error, "duckdb", "Error"):
        return _of_duckdb(error)
    if _is(error, "concurrent.futures", "BrokenExecutor"):
        return IncompleteError("a worker process was killed, perhaps for want of memory")
    return None


def _damaged_files(error: BaseException) -> list[Problem]:
    if not (_is(error, "duckdb", "Error") or _is(error, "evalake_warehouse.errors", "BuildError")):
        return []
    from evalake_warehouse.lake.damage import find_damaged, may_be_damage
    from evalake_warehouse.lake.reader import list_lake

    return find_damaged(list_lake(_home())) if may_be_damage(error) else []


def _of_pydantic(error: Any) -> EvalakeError:
    found = error.errors(include_url=False, include_input=False)
    return ConfigError(
        [Problem(".".join(map(str, item["loc"])), item["msg"]) for item in found]
        or [Problem("", str(error))]
    )


def _of_duckdb(error: Any) -> EvalakeError:
    from evalake_warehouse.questions.open_warehouse import explained
    from evalake_warehouse.questions.warehouse_files import holder_of

    told = str(error).splitlines()[0] if str(error) else type(error).__name__
    if _FULL_DISK in str(error):
        return UsageError(f"the disk is full: {told}", hint=_FREE_SPACE)
    if holder := holder_of(error):
        named = re.search(r'"([^"]+)"', told)
        what = f"held by {holder}; end it, or let it open the file read-only"
        return UsageError(what, where=named[1] if named else "warehouse")
    return explained(error)


def _of_system(error: OSError) -> EvalakeError:
    # A folder that cannot be written, a full disk: the user's to mend, and no bug of ours.
    hint = _FREE_SPACE if error.errno in {errno.ENOSPC, errno.EDQUOT} else "evalake doctor"
    where = str(error.filename) if error.filename else "output"
    return UsageError(error.strerror or str(error) or type(error).__name__, where=where, hint=hint)


def _internal(error: BaseException) -> EvalakeError:
    from evalake_warehouse.scrub import scrub

    told = (str(error).splitlines() or [""])[0]
    named = scrub(f"{type(error).__name__}: {told}" if told else type(error).__name__)
    place = next(
        (
            f" ({Path(frame.filename).name}:{frame.lineno})"
            for frame in reversed(traceback.extract_tb(error.__traceback__))
            if any(package in Path(frame.filename).parts for package in PACKAGES)
        ),
        "",
    )
    text = scrub("".join(traceback.format_exception(error)))
    kind = next((told for kind, told in _KINDS.items() if isinstance(error, kind)), "internal")
    return UsageError(f"{kind}: {named}{place}; {_logged(text)}")


def _logged(text: str) -> str:
    """Where a traceback was written, as the end of a sentence."""
    folder = (_home() if _home().is_dir() else Path(tempfile.gettempdir()) / "evalake") / "logs"
    file = folder / f"error-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", "replace")
        for old in sorted(folder.glob("error-*.log"))[:-_KEPT_LOGS]:
            old.unlink(missing_ok=True)
    except OSError as error:
        return f"its traceback could not be written: {error.strerror}"
    return f"please report it with {file}"


def _home() -> Path:
    return Path(os.environ.get("EVALAKE_HOME") or ".evalake")


def _is(error: BaseException, module: str, name: str) -> bool:
    """Whether an error is of a class whose module may not have been imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(error, kind)
