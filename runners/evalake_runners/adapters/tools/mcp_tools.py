"""Check a call against what a server lists, before a question is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.protocol import UnusableSystemError
from evalake_warehouse.nearest import did_you_mean

if TYPE_CHECKING:
    from mcp.types import Tool


def check_call(
    tools: Sequence[Tool], name: str, arguments: Mapping[str, Any], *, where: str
) -> None:
    """Refuse a call that the server's own schema does not know.

    Raises:
        UnusableSystemError: there is no such tool, or no such argument, or one is missing.
    """
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise UnusableSystemError(
            f"`{where}`: the server has no `{name}`{did_you_mean(name, by_name)}"
        )
    schema = by_name[name].inputSchema
    known: Mapping[str, Any] = schema.get("properties") or {}
    is_open = bool(schema.get("additionalProperties"))
    if known and not is_open:
        for argument in arguments:
            if argument not in known:
                what = f"`{name}` has no argument `{argument}`{did_you_mean(argument, known)}"
                raise UnusableSystemError(what)
    if missing := [key for key in schema.get("required") or () if key not in arguments]:
        named = ", ".join(f"`{key}`" for key in missing)
        raise UnusableSystemError(f"`{name}` needs {named}; set it in `arguments`")
