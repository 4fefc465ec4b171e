"""The vocabulary as dbt macros: `python -m evalake_warehouse.vocabulary_macros` writes them."""

from __future__ import annotations

import sys

from evalake_warehouse import vocabulary
from evalake_warehouse.lake.tries import counted_try
from evalake_warehouse.project import find_project_dir

_LISTS = {
    "answered": vocabulary.ANSWERED,
    "failed": vocabulary.FAILED,
    "unanswered": vocabulary.UNANSWERED,
    "one_text": vocabulary.ONE_TEXT,
    "relevant_roles": vocabulary.RELEVANT_ROLES,
    "default_role": (vocabulary.DEFAULT_ROLE,),
    "control_systems": vocabulary.CONTROL_SYSTEMS,
    "chance_systems": vocabulary.CHANCE_SYSTEMS,
    "finding_nothing": vocabulary.FINDING_NOTHING,
}

_WORDS = """{#-
    A list of evalake_warehouse/vocabulary.py as `('ok', 'empty')`, to stand after `in`.
    Written by `python -m evalake_warehouse.vocabulary_macros`.
-#}
{% macro words(name) -%}
    {%- set lists = {
LISTS    } -%}
    {{ lists[name] }}
{%- endmacro %}
"""

_COUNTED_TRY = """{#-
    Condition for `qualify`: the try that counts for its task, of all its tries in a run.
    Written by `python -m evalake_warehouse.vocabulary_macros` from evalake_warehouse/lake/tries.py.
-#}
{% macro counted_try(partition) -%}
    CONDITION
{%- endmacro %}
"""


def render_macros() -> dict[str, str]:
    """Text of each macro file, by its name in the folder `macros/vocabulary`."""
    lists = "".join(
        f"        '{name}': \"{vocabulary.sql_list(words)}\",\n" for name, words in _LISTS.items()
    )
    return {
        "words.sql": _WORDS.replace("LISTS", lists),
        "counted_try.sql": _COUNTED_TRY.replace("CONDITION", counted_try("{{ partition }}")),
    }


def main() -> None:
    """Write the macro files of the checkout."""
    folder = find_project_dir() / "warehouse" / "dbt-project" / "macros" / "vocabulary"
    folder.mkdir(exist_ok=True)
    for name, text in render_macros().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name, file=sys.stderr)


if __name__ == "__main__":
    main()
