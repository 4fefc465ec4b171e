"""What of a question a tool is asked: all of it, its content words, or the names of code in it."""

from __future__ import annotations

import re
from typing import Literal

from evalake_runners.adapters.words import QUESTION_WORDS, identifiers, subwords

QueryForm = Literal["raw", "keywords", "identifiers"]

_MIN_CHARS = 3
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")


def query_words(question: str, form: QueryForm) -> list[str]:
    """Distinct words of a question in one form, in order of first use.

    `keywords` are content words as written; `identifiers` are those that look like names of code:
    with an underscore, a digit, a dot inside, or capitals after the first letter.
    """
    if form == "raw":
        return list(dict.fromkeys(question.split()))
    if form == "identifiers":
        dotted = _DOTTED.findall(question)
        plain = [word for word in identifiers(_DOTTED.sub(" ", question)) if _is_code(word)]
        return list(dict.fromkeys([*dotted, *plain]))
    words = (word for word in identifiers(question) if len(word) >= _MIN_CHARS)
    return list(dict.fromkeys(word for word in words if word.lower() not in QUESTION_WORDS))


def in_form(question: str, form: QueryForm) -> str:
    """The question in this form; empty where no part of it has the form."""
    return question if form == "raw" else " ".join(query_words(question, form))


def as_pattern(question: str, form: QueryForm) -> str:
    """A regular expression that matches any word of the form."""
    return "|".join(re.escape(word) for word in query_words(question, form))


def _is_code(word: str) -> bool:
    inside = word.strip("_")
    return (
        "_" in word
        or any(map(str.isdigit, word))
        or (len(subwords(inside)) > 1 or (inside.isupper() and len(inside) > 1))
    )
