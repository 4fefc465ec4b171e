"""What a system says of itself. A user's own is asked in a worker: its code never runs in here.

Whatever such code does, a module that calls `os._exit` or a `make` that never returns, then ends a
worker, and is told as a problem of that system. One worker describes all systems of a process; it
is started with the first one.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.facts import SystemFacts, read_facts
from evalake_runners.adapters.registry import is_plugin
from evalake_runners.adapters.setup import Setup
from evalake_runners.adapters.sources import Source
from evalake_runners.configuration.yaml_values import Loc
from evalake_runners.workers.fields import text
from evalake_runners.workers.pool import (
    MAX_STARTS,
    Worker,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from evalake_runners.workers.replies import Failed, Refused, Reply, Told
from evalake_runners.workers.stop import StopFlag
from evalake_runners.workers.systems import tell
from evalake_warehouse.errors import ConfigError, UsageError
from evalake_warehouse.scratch import scratch_folder
from evalake_warehouse.secrets import remember_secret

_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Description:
    """What an arm is made from."""

    facts: SystemFacts
    config: Mapping[str, Any]  # with the defaults; a `SecretStr` is a mask
    source: Source | None  # of a user's own system; a shipped one has a version


def check_config(adapter: str, config: Mapping[str, Any]) -> list[tuple[Loc, str]]:
    """What is wrong with a system's configuration, where.

    Raises:
        UsageError: there is no such adapter, or it cannot be loaded.
    """
    wrong = _ask(adapter, "check", adapter, dict(config))
    with _telling_nonsense(adapter):
        return [(tuple(loc), str(what)) for loc, what in wrong]


def list_keys(adapter: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The keys of a system's configuration as rows, and as a JSON schema.

    Raises:
        UsageError: there is no such adapter, or it cannot be loaded.
    """
    keys = _ask(adapter, "keys", adapter)
    with _telling_nonsense(adapter):
        return list(keys["rows"]), dict(keys["schema"])


def describe(adapter: str, config: Mapping[str, Any], setup: Setup) -> Description:
    """A configured system, as it is now.

    Raises:
        ConfigError: the configuration does not fit.
        UsageError: it cannot be made, or is not what the protocol says.
    """
    described = _ask(adapter, "describe", adapter, dict(config), setup)
    with _telling_nonsense(adapter):
        return Description(
            facts=read_facts(described["facts"], adapter),
            config=dict(described["config"]),
            source=_read_source(described["source"]),
        )


def _read_source(plain: Mapping[str, Any] | None) -> Source | None:
    if plain is None:
        return None
    files, packages = (
        {text(key, name): text(value, name) for key, value in plain[name].items()}
        for name in ("files", "packages")
    )
    return Source(files, packages, tuple(text(name, "unread") for name in plain["unread"]))


def _ask(adapter: str, question: str, *arguments: Any) -> Any:
    if not is_plugin(adapter):
        return tell(question, *arguments)
    try:
        reply = _describer.ask(question, arguments)
    except WorkerTimeoutError as error:
        what = f"system `{adapter}` cannot be loaded: no answer in {_TIMEOUT_S:g} s"
        raise UsageError(what, where="system") from error
    except WorkerCrashedError as error:
        raise UsageError(f"system `{adapter}` cannot be loaded: {error}", where="system") from error
    if isinstance(reply, Told):
        for secret in reply.secrets:
            remember_secret(secret)
        return reply.value
    if not isinstance(reply, Refused):
        why = reply.reason if isinstance(reply, Failed) else "it answers something else"
        raise UsageError(f"system `{adapter}` cannot be loaded: {why}", where="system")
    if len(reply.problems) > 1:
        raise ConfigError(reply.problems, hint=reply.hint)
    raise UsageError(reply.problems[0].what, where=reply.problems[0].where, hint=reply.hint)


@contextmanager
def _telling_nonsense(adapter: str) -> Iterator[None]:
    """Name the system where what its worker sent cannot be read."""
    try:
        yield
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        what = "describes itself as nothing that can be read"
        raise UsageError(what, where=adapter) from error


class _Describer:
    """The worker that describes; a new one takes the place of one that was lost."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._path: list[str] = []  # that its modules were found on
        self._files: dict[str, tuple[int, int] | None] = {}  # that were loaded, as they were
        self._folder = ExitStack()
        self._lock = threading.Lock()

    def ask(self, question: str, arguments: tuple[Any, ...]) -> Reply:
        """The worker's reply.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: whatever was asked about ended the worker.
        """
        # The code is to find what it would find in this process.
        surroundings = (list(sys.path), str(Path.cwd()), dict(os.environ))
        message = ("tell", surroundings, question, *arguments)
        with self._lock:
            for n_lost in range(1, MAX_STARTS + 1):
                try:
                    reply = self._started().call(message, timeout_s=_TIMEOUT_S)
                except WorkerCrashedError as error:
                    self._lose()
                    if not error.is_by_chance or n_lost == MAX_STARTS:
                        raise
                    continue
                except BaseException:  # its answer may still come, and be taken for another's
                    self._lose()
                    raise
                if isinstance(reply, Told):
                    self._files |= {file: _state(file) for file in reply.files}
                else:  # of what failed, parts may have been loaded
                    self._lose()
                return reply
        raise AssertionError("a worker answers, or is lost")

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
        self._folder.close()

    def _started(self) -> Worker:
        if self._is_outdated():
            self._lose()
        if self._worker is None:
            folder = scratch_folder(Path(tempfile.gettempdir()), "evalake-describe-")
            self._worker = Worker(self._folder.enter_context(folder), StopFlag(), network=True)
            self._worker.start()
            self._path, self._files = list(sys.path), {}
            atexit.register(self.close)
        return self._worker

    def _is_outdated(self) -> bool:
        """Whether the worker is gone, or has loaded what is another code by now."""
        return (
            self._worker is None
            or not self._worker.is_alive
            or self._path != sys.path
            or any(_state(file) != state for file, state in self._files.items())
        )

    def _lose(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
            self._folder.close()
            atexit.unregister(self.close)
        self._folder.close()


def _state(file: str) -> tuple[int, int] | None:
    """Modification time and size of a file; None where it is gone."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


_describer = _Describer()
