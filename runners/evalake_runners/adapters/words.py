"""Words of code and questions, as lexical systems see them."""

from __future__ import annotations

import re
from functools import lru_cache

_IDENTIFIER = re.compile(r"[^\W_]\w*|_\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")

# Question words and verbs that say how something is asked, not what about.
QUESTION_WORDS = frozenset(
    """about across actually after also among any anything are because become becomes been before
    being between both can cannot code could describe did does doing done during each either else
    every explain file find for from function functions get gets given had has have having here how
    implement implemented implementation into its itself just kind like made make makes many may
    method methods might more most must need needs non not only other our out over own per place
    rather same should show since some such than that the their them then there these they thing
    this those through too under until upon use used uses using very via want was way what when
    where whether which while who whose why will with within without would you your and but nor yet
    all""".split()  # noqa: SIM905
)


def identifiers(text: str) -> list[str]:
    """Identifiers as written, in order, with repeats."""
    return _IDENTIFIER.findall(text)


@lru_cache(maxsize=100_000)  # a corpus says the same few names over and over
def subwords(identifier: str) -> tuple[str, ...]:
    """Lower-case parts of one identifier: `HTTPBasicAuth` is http, basic, auth."""
    return tuple(part.lower() for part in _PART.findall(identifier))


def code_tokens(text: str) -> list[str]:
    """Lower-case tokens: every identifier whole, and its parts where it has more than one."""
    tokens = []
    for identifier in identifiers(text):
        parts = subwords(identifier)
        tokens.append(identifier.lower())
        if len(parts) > 1:
            tokens += parts
    return tokens


def plain_tokens(text: str) -> list[str]:
    """Lower-case identifiers, whole."""
    return [identifier.lower() for identifier in identifiers(text)]
