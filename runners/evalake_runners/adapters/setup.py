"""What every adapter module declares and is given.

An adapter module (or package) has two public names, which `adapters.registry` looks for:

- `CONFIG`: its configuration model, a `Strict`;
- `make(config, setup)`: the `System` for one validated configuration. It is cheap, and is called
  again in every worker process, so `config` and `setup` must pickle.

A module of the user's own, or its system, may have a third, `source_files`: files and folders that
it reads and does not import, relative to its own folder. Their content is part of the arm and of
the index key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.ledger import LedgerPlace
from evalake_runners.adapters.protocol import System
from evalake_runners.configuration.strict import Strict
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project, expanded

__all__ = ["Adapter", "Setup", "Strict"]  # a module of the user's own takes `Strict` from here


@dataclass(frozen=True, slots=True)
class Setup:
    """What a system is made for: a dataset, and the folders that its paths are relative to."""

    dataset: str
    edition: str
    depth: int  # hits asked for by every query of the run
    seed: int
    project: Project
    base_dirs: tuple[Path, ...]  # a configured path is looked up in these, in order
    ledger: LedgerPlace | None = None  # of the run; None outside of one

    def find(self, path: str) -> Path:
        """A file or folder that a configuration names.

        Raises:
            UsageError: it is in none of the base folders.
        """
        named = expanded(path, where=path) if path.startswith("~") else Path(path)
        for base in self.base_dirs:
            if (candidate := base / named).exists():
                return candidate.resolve()
        looked = ", ".join(map(str, self.base_dirs))
        raise UsageError(f"no such file or folder; looked in {looked}", where=path)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One way to make systems, as the registry hands it out."""

    name: str
    summary: str
    config_model: type[Strict]
    make: Callable[[Any, Setup], System]
    source_files: tuple[str, ...] = ()  # that a user's module names beside those it imports
