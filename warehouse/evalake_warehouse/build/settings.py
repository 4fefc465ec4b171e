"""The build's variables: names, defaults and ranges. All of them are also dbt vars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalake_warehouse.errors import ConfigError, Problem
from evalake_warehouse.lake.judgements import read_pins
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.relevance.text_scores import TEXT_FLOOR

# Raised whenever a rule in int_hit_matches or int_credits changes its meaning.
RELEVANCE_RULES = "1"


class BuildSettings(BaseModel):
    """One value per dbt var; a what-if changes some of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text_threshold: float = Field(
        default=85.0, ge=TEXT_FLOOR, le=100, description="Least partial_ratio of a text match."
    )
    text_min_chars: int = Field(
        default=40, ge=1, description="Characters that the shorter text of a pair must have."
    )
    overlap_gold: float = Field(
        default=0.5, gt=0, le=1, description="Share of a gold span that a hit must cover."
    )
    overlap_hit: float = Field(
        default=0.1, gt=0, le=1, description="Share of a hit's span that must be gold."
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="Level of all intervals.")
    resamples: int = Field(default=1_000, ge=100, le=20_000, description="Bootstrap resamples.")
    bootstrap_seed: int = Field(default=0, ge=0, lt=2**31, description="Seed of all resampling.")
    margin: float = Field(
        default=0.02, ge=0, le=1, description="Differences inside it count as none, in points."
    )
    min_pairs: int = Field(default=10, ge=2, description="Fewer common tasks allow no verdict.")
    sign_flips: int = Field(
        default=9_999, ge=99, le=1_000_000, description="Draws of the sign-flip test."
    )
    gold: str = Field(
        default="",
        pattern=r"^([^@,]+@[^@,]+(,[^@,]+@[^@,]+)*)?$",
        description="Editions to judge by before later ones: DATASET@EDITION, separated by commas.",
    )

    @classmethod
    def parse(cls, assignments: Iterable[str]) -> BuildSettings:
        """Read `name=value` flags.

        Raises:
            ConfigError: every unknown name, missing value and value out of range, at once.
        """
        values: dict[str, str] = {}
        problems: list[Problem] = []
        for assignment in assignments:
            name, equals, value = assignment.partition("=")
            if not equals:
                problems.append(Problem(f"--var {assignment}", "write it as name=value"))
            elif name not in cls.model_fields:
                what = f"unknown variable{did_you_mean(name, cls.model_fields)}"
                problems.append(Problem(f"--var {name}", what))
            else:
                values[name] = value
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            problems += [
                Problem(f"--var {'.'.join(map(str, item['loc']))}", f"{item['msg']}{_floor(item)}")
                for item in error.errors()
            ]
        if problems:
            raise ConfigError(problems, hint="evalake build --help")
        return settings

    def over(self, kept: Mapping[str, Any]) -> BuildSettings:
        """These settings over those of an earlier build, over the defaults.

        A kept variable that there is no longer is left out.

        Raises:
            ConfigError: a kept value that is no longer allowed.
        """
        named = {name: getattr(self, name) for name in self.model_fields_set}
        values = {name: kept[name] for name in type(self).model_fields if name in kept} | named
        return type(self).parse(f"{name}={value}" for name, value in values.items())

    def pinned_editions(self) -> dict[str, str]:
        """Edition per dataset that `gold` names."""
        return read_pins(self.gold)

    def changed(self) -> dict[str, Any]:
        """The values that differ from the defaults."""
        default = BuildSettings()
        return {
            name: value
            for name, value in self.model_dump().items()
            if value != getattr(default, name)
        }


def _floor(item: Any) -> str:
    if item["loc"] == ("text_threshold",) and item["type"] == "greater_than_equal":
        return "; pairs below that floor were stored without their score"
    return ""
