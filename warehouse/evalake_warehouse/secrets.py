"""Secrets that this process can know: environment variables, `SecretStr` fields, what is in them.

A variable is secret by its name (`OPENAI_API_KEY`, `DBPASS`, `FOO_PAT`), or because its value is
an address with a password in it. A value that says nothing (`true`, `1`, a folder that exists) is
none, whatever its variable is called.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus

MASK = "***"

_WORDS = (
    "KEY", "TOKEN", "SECRET", "PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "CRED",
    "CREDENTIAL", "AUTH", "AUTHORIZATION", "BEARER", "JWT", "DSN", "COOKIE", "WEBHOOK",
)  # fmt: skip
_SECRET_NAME = re.compile(
    # A part of the name that ends in such a word (DBPASS), or is one that is short (FOO_PAT).
    rf"(?:{'|'.join(_WORDS)})S?\d*(?:_|$)|(?:^|_)(?:PAT|PW|OTP|SALT|PIN)\d*(?:_|$)"
    r"|(?:DATABASE|DB|REDIS|MONGO|MONGODB|AMQP|BROKER|POSTGRES|MYSQL|SENTRY)_(?:URL|URI)$"
    r"|CONN(?:ECTION)?_?STR(?:ING)?$",
    re.IGNORECASE,
)
_FOLDERS = frozenset({"PWD", "OLDPWD"})
# What settings that are named like secrets hold; taken out, every second sentence would suffer.
_COMMON = frozenset(
    {
        "true", "false", "yes", "off", "none", "null", "nil", "auto", "default", "enabled",
        "disabled", "required", "optional", "basic", "bearer", "digest", "oauth", "oauth2", "token",
        "tokens", "password", "secret", "secrets", "key", "keys", "file", "env", "local", "test",
        "dev", "prod", "read", "write", "readonly", "localhost", "service_account",
    }
)  # fmt: skip
_MIN_CHARS = 3
_BOUNDED_BELOW = 6  # a shorter value is one only where it stands as a word of its own
_LONG = 12
_ADDRESS_PASSWORD = re.compile(r"://[^/\s:@]*:(.+)@")
_PEM_LINE_CHARS = 16


@dataclass(frozen=True, slots=True)
class KnownSecrets:
    """The values to take out of a text, longest first."""

    all: tuple[str, ...]
    # Those that no ordinary text holds by chance: only these are taken out of evidence.
    strong: tuple[str, ...]


_remembered: dict[str, None] = {}


def remember_secret(value: str) -> None:
    """Treat a value as a secret from now on, in this process."""
    if value.strip():
        _remembered[value] = None


def remembered_secrets() -> tuple[str, ...]:
    """The values remembered so far, beside those of the environment."""
    return tuple(_remembered)


def remember_secrets(config: object) -> None:
    """Remember every `SecretStr` and `SecretBytes` within a configuration model."""
    from pydantic import BaseModel, SecretBytes, SecretStr  # costs a start-up that needs none

    if isinstance(config, SecretStr):
        remember_secret(config.get_secret_value())
    elif isinstance(config, SecretBytes):
        remember_secret(config.get_secret_value().decode("utf-8", "replace"))
    elif isinstance(config, BaseModel):
        for name in type(config).model_fields:
            remember_secrets(getattr(config, name))
        for extra in (config.model_extra or {}).values():
            remember_secrets(extra)
    elif isinstance(config, Mapping):
        for item in config.values():
            remember_secrets(item)
    elif isinstance(config, list | tuple | set | frozenset):
        for item in config:
            remember_secrets(item)


def known_secrets(environment: Mapping[str, str] | None = None) -> KnownSecrets:
    """The secrets of an environment (default: of this process) and those remembered."""
    variables = os.environ if environment is None else environment
    return _known(frozenset(variables.items()), tuple(_remembered))


def is_secret_name(name: str) -> bool:
    """Whether a variable or a key of a configuration is called like a secret."""
    return _SECRET_NAME.search(name.replace("-", "_")) is not None and name not in _FOLDERS


def is_bounded(value: str) -> bool:
    """Whether a secret is so short that it is one only as a word of its own."""
    return len(value) < _BOUNDED_BELOW


@lru_cache(maxsize=8)
def _known(variables: frozenset[tuple[str, str]], remembered: tuple[str, ...]) -> KnownSecrets:
    values: set[str] = set()
    for name, value in variables:
        if is_secret_name(name):
            values.update(_parts(value))
        values.update(_ADDRESS_PASSWORD.findall(value))
    for value in remembered:
        values.update(_parts(value))
    telling = [value for value in values if _is_telling(value)]
    spelt = {spelling for value in telling for spelling in _spellings(value)}
    strong = {spelling for value in telling if _is_strong(value) for spelling in _spellings(value)}
    return KnownSecrets(
        tuple(sorted(spelt, key=lambda text: (-len(text), text))),
        tuple(sorted(strong, key=lambda text: (-len(text), text))),
    )


def _parts(value: str) -> Iterator[str]:
    """A value, and what of it may turn up alone: a password, a key file's fields and lines."""
    yield value
    yield value.strip()
    yield from _ADDRESS_PASSWORD.findall(value)
    if value.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            yield from _fields(json.loads(value))
    if "-----BEGIN" in value:
        lines = value.replace("\\n", "\n").splitlines()
        yield from (line for line in lines if len(line) >= _PEM_LINE_CHARS and "-----" not in line)


def _fields(loaded: object) -> Iterator[str]:
    """Secret fields of a key file, such as a service account's `private_key`."""
    if isinstance(loaded, Mapping):
        for key, item in loaded.items():
            if isinstance(item, str) and (is_secret_name(str(key)) or key == "private_key_id"):
                yield from _parts(item)
            else:
                yield from _fields(item)
    elif isinstance(loaded, list):
        for item in loaded:
            yield from _fields(item)


def _is_telling(value: str) -> bool:
    if len(value) < _MIN_CHARS or value.lower() in _COMMON or set(value) <= {"*", "x", "-"}:
        return False
    if value.isdecimal() and len(value) < _BOUNDED_BELOW - 2:
        return False
    return not (value.startswith(("/", "~", "./")) and _exists(value))


def _exists(path: str) -> bool:
    try:
        return Path(path).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def _is_strong(value: str) -> bool:
    has_letter = any(char.isalpha() for char in value)
    has_digit = any(char.isdigit() for char in value)
    return (has_letter and has_digit) or len(value) >= _LONG


def _spellings(value: str) -> set[str]:
    """A value as it stands, in an address, in JSON, in a Python literal, and in base64."""
    spelt = {
        value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1],
    }  # fmt: skip
    if len(value) >= _LONG:
        spelt.add(base64.b64encode(value.encode("utf-8", "surrogatepass")).decode().rstrip("="))
    return spelt
