"""The base of every configuration model: of sweep files, of system files and of each system."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Strict(BaseModel):
    """Frozen; an unknown key is an error, and so is `true` for a number, or one without end."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        annotation = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and not _takes(annotation, bool) and _takes(annotation, float):
            raise ValueError(f"a number is wanted here, not {str(value).lower()}")
        return value


def _takes(annotation: Any, kind: type) -> bool:
    """Whether a type, or a part of it, is one that a bool or a number is meant for."""
    if annotation is Any:
        return True
    if isinstance(annotation, type):
        return issubclass(annotation, bool if kind is bool else int | float)
    return any(_takes(part, kind) for part in get_args(annotation))
