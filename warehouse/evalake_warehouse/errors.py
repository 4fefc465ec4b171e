"""Every error evalake raises on purpose, and the exit code each one ends a command with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from evalake_warehouse.shown import shown


class ExitCode(IntEnum):
    """What a command's exit code means."""

    OK = 0
    REGRESSION = 1  # the comparison ran and the gate failed
    USAGE = 2  # bad flag, bad config, bad input, missing secret: nothing was run
    INCOMPLETE = 3  # some tasks failed, a file was skipped, or the verdict is inconclusive
    INTERRUPTED = 130
    CLOSED_PIPE = 141  # whoever read the output stopped; a verdict may not have been reached


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what would be right.

    Printed as `error: <where>: <what>`; `where` is `file:line` or a flag or a run.
    """

    where: str
    what: str

    def __str__(self) -> str:
        # A place may be a key of somebody's file, which is to stay on its line.
        return f"{shown(self.where)}: {self.what}" if self.where else self.what


class EvalakeError(Exception):
    """Base of all errors meant for a person. `hint` is a command that can be pasted."""

    exit_code = ExitCode.USAGE

    def __init__(self, what: str, *, where: str = "", hint: str | None = None) -> None:
        self.problems: tuple[Problem, ...] = (Problem(where, what),)
        super().__init__(str(self.problems[0]))
        self.hint = hint


class UsageError(EvalakeError):
    """A flag, a name or a combination of them that cannot be used."""


class ConfigError(EvalakeError):
    """A configuration file with one or more problems, all of them reported at once."""

    def __init__(self, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        if not problems:
            raise ValueError("a ConfigError needs at least one problem")
        super().__init__("\n".join(map(str, problems)), hint=hint)
        self.problems = tuple(problems)


class DatasetError(EvalakeError):
    """A dataset file that is missing, changed, torn or of another schema. Nothing is written."""


class DownloadError(EvalakeError):
    """A file that could not be fetched; the message says where to put it by hand."""


class DiskFullError(EvalakeError):
    """No space is left where something was to be written; what was there before is untouched."""


class LakeError(EvalakeError):
    """A record that does not fit its lake table, or a lake that this version cannot read."""


class BuildError(EvalakeError):
    """A warehouse build that failed; the warehouse that was there before is untouched."""


class BuildBusyError(BuildError):
    """Another build holds the lock."""


class SystemFailedError(EvalakeError):
    """A system under test that cannot be set up, or whose arm lacks a branch it claims."""

    exit_code = ExitCode.INCOMPLETE


class IncompleteError(EvalakeError):
    """Work that ran and left something out, or evidence that allows no verdict."""

    exit_code = ExitCode.INCOMPLETE
