"""The one scrubber: keeps secrets out of every text from outside that is stored or shown.

Two kinds are taken out: the values that `secrets` knows, and what has the shape of a key. Text
that was returned as evidence loses the values only: a document about passwords is full of shapes.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from evalake_warehouse.secrets import MASK, is_bounded, is_secret_name, known_secrets

_NAMED = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|secret[_-]?key"
    r"|private[_-]?key(?:[_-]?id)?|encryption[_-]?key|signing[_-]?key|secret|token|password"
    r"|passwd|passphrase|pass|pwd|credentials?|(?<![a-z])pat|(?<![a-z])sig(?:nature)?|webhook)"
)
_HEADER = (
    r"(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:key|token|auth|secret)[\w-]{0,40}"
)
_QUOTED = r"(?P<quote>\\*[\"'])(?:(?!(?P=quote)).)*(?P=quote)?"
_PLAIN = (
    re.compile(r"-----BEGIN [^-]+-----.*?(?:-----END [^-]+-----|\Z)", re.DOTALL),
    re.compile(r"(?<![\w+/=\s\\])[\w+/=\s\\]{16,}-----END [^-]+-----"),  # the end of a cut block
    re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]+){0,4}"),
    re.compile(r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,}\b"),
    re.compile(
        r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|ya29\.|npm_|pypi-|dop_v1_|SG\."
        r"|shpat_|lin_api_|ctx7sk[-_]|(?:sk|pk|rk)_(?:live|test)_)[\w.-]{8,}"
    ),
    re.compile(r"\bhf_[A-Za-z0-9]{8,}|\b(?:sk|pk)[-_](?:[\w-]{16,}|(?=[\w-]*\d)[\w-]{8,})"),
    re.compile(r"(?i)(?<=hooks\.slack\.com/services/)[\w/]+"),
)
_KEPT = (  # the first group stays
    re.compile(rf"(?i)(\b(?:{_HEADER})\\*[\"']?\s*[:=]\s*)(?:{_QUOTED}|[^\r\n\"']+)", re.DOTALL),
    re.compile(rf"(?i)({_NAMED}\\*[\"']?\s*(?:[:=]|=>)\s*)(?:{_QUOTED}|[^\s\"']+)", re.DOTALL),
    re.compile(r"(?i)(\bbearer\s+)(?:[\w.~+/=-]{20,}|(?=\S*[\d._])[\w.~+/=-]{6,})"),
    re.compile(r"(?<![\w.%+/:-])([\w.%+-]{1,64}:)(?!//)[^\s\"'<>]{1,200}(?=@[\w(\[])"),
)
_BASIC = re.compile(r"(?i)(\bbasic\s+)([\w+/-]{6,}={0,2})")
_AWS_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")
_AWS_SECRET = re.compile(
    r"(?<![\w/+])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])[A-Za-z0-9/+]{32,64}(?![\w/+])"
)
_ADDRESS = re.compile(r"(://)([^\s\"'<>`]*)")
# What every shape has at least one of; most texts have none and are done.
_MAYBE = re.compile(
    r"(?i)key|tok|sec|pass|pwd|cred|pat|sig|hook|auth|cook|bear|basic|eyJ|[@]|-----|hf_|[sprk]k[-_]"
    r"|gh[pousr]_|AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA|xox|xapp|AIza|ya29|npm_|pypi-|dop_|SG\.|glpat"
    r"|shpat|lin_"
)


def scrub(text: str, environment: Mapping[str, str] | None = None) -> str:
    """`text` without known secret values and without anything of the shape of a key."""
    text = _replaced(text, known_secrets(environment).all)
    if _MAYBE.search(text) is None:
        return text
    if _AWS_ID.search(text):
        text = _AWS_SECRET.sub(MASK, text)
    for shape in _PLAIN:
        text = shape.sub(MASK, text)
    text = _ADDRESS.sub(_without_userinfo, text)
    text = _BASIC.sub(_without_pair, text)
    for shape in _KEPT:
        text = shape.sub(_masked, text)
    return text


def scrub_evidence(text: str, environment: Mapping[str, str] | None = None) -> str:
    """`text` without the secret values that no ordinary text holds by chance."""
    return _replaced(text, known_secrets(environment).strong)


def scrub_tree(value: Any) -> Any:
    """A JSON-like value with every text scrubbed, and every text under a secret name masked."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {
            scrub(key) if isinstance(key, str) else key: _scrub_field(key, item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [scrub_tree(item) for item in value]
    return value


def scrub_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a log, scrubbed as they come; a key block that goes over lines is one mask."""
    in_block = False
    for line in lines:
        begins, ends = "-----BEGIN " in line, "-----END " in line
        if in_block:
            in_block = not ends
            continue
        in_block = begins and not ends
        yield scrub(line)


def _scrub_field(key: object, item: Any) -> Any:
    # `set` and `missing` are what a configuration says of a `SecretStr`.
    is_secret = isinstance(item, str) and is_secret_name(str(key))
    return MASK if is_secret and item not in {"set", "missing", ""} else scrub_tree(item)


def _replaced(text: str, values: tuple[str, ...]) -> str:
    for value in values:
        if value not in text:
            continue
        text = _word(value).sub(MASK, text) if is_bounded(value) else text.replace(value, MASK)
    return text


@lru_cache(maxsize=64)
def _word(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")


def _masked(match: re.Match[str]) -> str:
    mark = match.groupdict().get("quote")
    if mark is None:
        return f"{match.group(1)}{MASK}"
    closed = match.group(0).endswith(mark) and len(match.group(0)) > len(match.group(1)) + len(mark)
    return f"{match.group(1)}{mark}{MASK}{mark if closed else ''}"


def _without_userinfo(match: re.Match[str]) -> str:
    """An address without its user, password or token.

    A password may hold `/` and `@`, so everything up to the last `@` goes, if what comes first
    cannot be a host: it is followed by `@`, or by a `:` and no port.
    """
    scheme, rest = match.groups()
    at = rest.rfind("@")
    if at < 0:
        return f"{scheme}{rest}"
    first = re.split(r"[/?#]", rest, maxsplit=1)[0]
    name, colon, after = first.partition(":")
    is_port = after.isdecimal() and ("." in name or name == "localhost")
    if "@" in first or (colon and not is_port):
        return f"{scheme}{MASK}{rest[at:]}"
    return scheme + _ADDRESS.sub(_without_userinfo, rest)  # an address may hold another one


def _without_pair(match: re.Match[str]) -> str:
    """`Basic` followed by the base64 of `user:password`; `Basic usage` stays."""
    encoded = match.group(2).rstrip("=")
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_")
    except (binascii.Error, ValueError):
        return match.group(0)
    return f"{match.group(1)}{MASK}" if b":" in decoded else match.group(0)
