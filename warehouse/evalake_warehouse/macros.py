"""The dbt macros of paired tests, rendered without dbt.

A comparison on demand must say what the built marts say, so the SQL is written once, as Jinja
macros, and this renders those same files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PATTERNS = ("stat_*.sql", "paired_*.sql")


def render_macro(macros: Path, call: str, variables: Mapping[str, Any]) -> str:
    """SQL of one macro call, such as `stat_holm('p', 'family', 'rank', 'n')`.

    Args:
        macros: the dbt project's folder of macros.
        variables: what `var()` gives; a macro that asks for another fails, unless it has a default.
    """
    import jinja2

    files = sorted(path for pattern in _PATTERNS for path in macros.glob(pattern))
    source = "\n".join(path.read_text("utf-8") for path in files)
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701 - SQL

    def var(name: str, default: Any = None) -> Any:
        value = variables.get(name, default)
        if value is None:
            raise KeyError(f"no dbt variable {name!r}")
        return value

    environment.globals["var"] = var
    return environment.from_string(source + "{{ " + call + " }}").render().strip()
