"""Rows of the files that benchmarks publish."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SourceRow(BaseModel):
    """One row of somebody else's file: what we read of it is checked, and the rest is theirs."""

    model_config = ConfigDict(extra="ignore", frozen=True)
