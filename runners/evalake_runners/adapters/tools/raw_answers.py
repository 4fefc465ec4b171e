"""A tool's answer before anything was read out of it: what the lake keeps, and what is parsed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evalake_warehouse.identity import canonical_json


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """A tool's answer: texts, structured content and error, alike for all kinds of tools."""

    texts: tuple[str, ...] = ()  # text blocks, standard output, or a response's body
    structured: Any = None  # an MCP tool's structured content
    code: int | None = None  # exit code, or HTTP status
    failure: str | None = None  # how the protocol itself says that the call failed
    root: str | None = None  # the folder searched, where the answer names it

    @property
    def text(self) -> str:
        """All that is text."""
        return "\n".join(self.texts)

    @property
    def n_bytes(self) -> int:
        """Bytes that a reader takes in: the texts, else the structured content as JSON."""
        read = self.text if self.texts or self.structured is None else canonical(self.structured)
        return len(read.encode("utf-8", "replace"))

    def to_json(self) -> str:
        """As the lake keeps it; keys without a value are left out."""
        kept = {
            "texts": list(self.texts) or None,
            "structured": self.structured,
            "code": self.code,
            "failure": self.failure,
            "root": self.root,
        }
        return canonical({name: value for name, value in kept.items() if value is not None})

    @classmethod
    def from_json(cls, text: str) -> RawAnswer:
        """What `to_json` made.

        Raises:
            ValueError: it is something else.
        """
        kept = json.loads(text)
        known = {"texts", "structured", "code", "failure", "root"}
        if not isinstance(kept, dict) or not kept.keys() <= known:
            raise ValueError("the stored answer is not that of an mcp, command or http system")
        return cls(**{**kept, "texts": tuple(map(str, kept.get("texts", ())))})


def canonical(value: Any) -> str:
    """JSON of what came as JSON; NaN and infinity, which JSON does not have, become texts."""
    try:
        return canonical_json(value)
    except ValueError:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
