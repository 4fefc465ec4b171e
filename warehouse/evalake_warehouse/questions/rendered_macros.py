"""The dbt macros of statistics, rendered without dbt.

A comparison on demand must say what the built marts say, so the SQL is written once, as Jinja
macros, and this renders those same files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_warehouse.identity import canonical_json

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDERS = ("measures", "paired", "statistics", "vocabulary")


def render_macro(macros: Path, call: str, variables: Mapping[str, Any]) -> str:
    """SQL of one macro call, such as `stat_holm('p', 'family', 'nth', 'n')`.

    Args:
        macros: the dbt project's folder of macros.
        variables: what `var()` gives; a macro that asks for another fails, unless it has a default.
    """
    environment = _environment(macros, canonical_json(variables))
    return environment.from_string("{{ " + call + " }}").render().strip()


@lru_cache(maxsize=8)
def _environment(macros: Path, variables_json: str) -> Environment:
    """An environment that has every macro as a global; compiling them is what takes time."""
    import json

    import jinja2

    variables = json.loads(variables_json)

    def var(name: str, default: Any = None) -> Any:
        value = variables.get(name, default)
        if value is None:
            raise KeyError(f"no dbt variable {name!r}")
        return value

    files = sorted(path for folder in _FOLDERS for path in (macros / folder).glob("*.sql"))
    source = "\n".join(path.read_text("utf-8") for path in files)
    environment = jinja2.Environment(  # noqa: S701 - SQL, not HTML
        undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do"]
    )
    environment.globals["var"] = var
    module = environment.from_string(source).module
    environment.globals.update(
        {name: macro for name, macro in vars(module).items() if not name.startswith("__")}
    )
    return environment
