"""Keep a user's own pydocs-mcp settings out of a run, and a run out of the user's home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
# A tokenizer that starts threads before a fork warns and slows down; progress is evalake's to show.
_QUIET = {"TOKENIZERS_PARALLELISM": "false", "TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def isolated_environment(home: Path, *, offline: bool) -> dict[str, str]:
    """This process's environment without `PYDOCS_*`, and with every home inside `home`."""
    environment = {key: value for key, value in os.environ.items() if not _leaks(key)}
    environment |= {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
    }
    return environment | _QUIET | (_OFFLINE if offline else {})


@contextmanager
def isolated(home: Path, *, offline: bool) -> Iterator[None]:
    """Run a block in this environment, and restore the one before."""
    before = dict(os.environ)
    _replace(isolated_environment(home, offline=offline))
    try:
        yield
    finally:
        _replace(before)


def _leaks(key: str) -> bool:
    # PYDOCS_* would override the configuration that the arm records.
    return key.startswith("PYDOCS_")


def _replace(environment: dict[str, str]) -> None:
    for key in os.environ.keys() - environment.keys():
        del os.environ[key]
    os.environ.update(environment)
