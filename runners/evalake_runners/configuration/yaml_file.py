"""Read a YAML file against a model and report everything that is wrong with it, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from evalake_runners.configuration.yaml_values import Loc, PlainValues, check_bounds
from evalake_warehouse.errors import ConfigError, Problem
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.secrets import remember_secrets

Model = TypeVar("Model", bound=BaseModel)

MAX_BYTES = 1_000_000


@dataclass
class YamlFile:
    """One parsed file: its plain content, its line numbers, and the problems found so far."""

    path: Path
    shown: str  # as the user named it
    content: Any
    marks: Any  # ruamel's nodes, which know their lines
    problems: list[Problem] = field(default_factory=list)

    def add(self, loc: Loc, what: str) -> None:
        """Note a problem at a place of the file."""
        key = dotted(loc)
        named = f"`{key}`: {what}" if key else what
        self.problems.append(Problem(f"{self.shown}:{self.line(loc)}", named))

    def line(self, loc: Loc) -> int:
        """Line (from 1) of a key, or of the nearest thing around it that exists."""
        node, line = self.marks, 1
        for key in loc:
            try:
                line = _line_in(node, key)
                node = node[key]
            except (KeyError, IndexError, TypeError, AttributeError):
                break
        return line

    def validate(self, model: type[Model], value: Any, at: Loc = ()) -> Model | None:
        """`value` (found at `at`) as a model, or None with its problems noted."""
        made, wrong = check(model, value)
        for loc, what in wrong:
            self.add((*at, *loc), what)
        return made

    def salvage(
        self, model: type[Model], value: Any, *, stand_in: Mapping[str, Any] | None = None
    ) -> Model | None:
        """Like `validate`, but gives what is right of `value`, to be checked further."""
        made, wrong = check_parts(model, value, stand_in=stand_in)
        for loc, what in wrong:
            self.add(loc, what)
        return made

    def raise_if_wrong(self, hint: str) -> None:
        """End with every problem noted so far, in the order of the file."""
        if self.problems:
            raise ConfigError(sorted(self.problems, key=_place), hint=hint)


def check(model: type[Model], value: Any) -> tuple[Model | None, list[tuple[Loc, str]]]:
    """`value` as a model, or None and what is wrong with it, where."""
    try:
        made = model.model_validate(value)
    except ValidationError as error:
        return None, [
            (tuple(item["loc"]), _message(model, tuple(item["loc"]), item["type"], item["msg"]))
            for item in error.errors(include_url=False, include_input=False)
        ]
    remember_secrets(made)
    return made, []


def check_parts(
    model: type[Model], value: Any, *, stand_in: Mapping[str, Any] | None = None
) -> tuple[Model | None, list[tuple[Loc, str]]]:
    """Like `check`, with the model of those keys of `value` that are right.

    Args:
        stand_in: values for required keys that are missing or wrong; without one there is no
            model then.
    """
    made, wrong = check(model, value)
    if made is not None or not isinstance(value, Mapping):
        return made, wrong
    spoilt = {loc[0] for loc, _ in wrong}
    right = {key: item for key, item in value.items() if key not in spoilt}
    return check(model, {**(stand_in or {}), **right})[0], wrong


def read_yaml(path: Path, *, shown: str | None = None) -> YamlFile:
    """Parse one file.

    Raises:
        ConfigError: it is missing, not a file, too large, not UTF-8 or not YAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    name = shown or str(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError([Problem(name, _missing(path))]) from None
    except (OSError, ValueError) as error:  # a name with NUL in it is a ValueError
        told = getattr(error, "strerror", None) or str(error)
        raise ConfigError([Problem(name, told.lower())]) from None
    if len(data) > MAX_BYTES:
        raise ConfigError([Problem(name, f"larger than {MAX_BYTES:,} bytes, so no configuration")])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError([Problem(f"{name}:{line}", "not UTF-8")]) from None
    check_bounds(name, text)
    try:
        marks = YAML(typ="rt").load(text)
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1
        what = (error.problem or "").split(" with value")[0].replace('"', "`")
        raise ConfigError([Problem(f"{name}:{line}", what)]) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError([Problem(f"{name}:{line}", f"not YAML: {error.problem}")]) from None
    except (YAMLError, RecursionError, ValueError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError([Problem(name, f"not YAML: {what}")]) from None
    values = PlainValues(marks)
    file = YamlFile(path, name, values.content, marks)
    for loc, what in values.problems:
        file.add(loc, what)
    return file


def dotted(loc: Loc) -> str:
    """`arms[2].config.k1`."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _message(model: type[BaseModel], loc: Loc, kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(loc[-1]), _keys_at(model, loc[:-1]))}"
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return "a mapping of keys is wanted here"
    if kind == "string_pattern_mismatch":
        return f"{message} (letters, digits and ._+@-, at most 80)"
    return message.removeprefix("Value error, ")


def _keys_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Keys that the model at a place knows."""
    current: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, int) or current is None:
            continue
        info = current.model_fields.get(part)
        current = model_in(info.annotation) if info else None
    return sorted(current.model_fields) if current else []


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model in a type: `list[ArmEntry]` has `ArmEntry`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for a in get_args(annotation) if (found := model_in(a))), None)


def _place(problem: Problem) -> tuple[str, int]:
    file, _, line = problem.where.rpartition(":")
    return (file, int(line)) if line.isdigit() else (problem.where, 0)


def _line_in(node: Any, key: str | int) -> int:
    position = node.lc.item(key) if isinstance(key, int) else node.lc.key(key)
    return int(position[0]) + 1


def _missing(path: Path) -> str:
    folder = path.parent if path.parent.is_dir() else None
    names = sorted(entry.name for entry in folder.glob("*.y*ml")) if folder else []
    return f"no such file{did_you_mean(path.name, names)}" if names else "no such file"
