"""Where things are: the project's data (models, configs), its state, and the shared cache."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evalake_warehouse.errors import UsageError

_MARKER = Path("warehouse/dbt-project/dbt_project.yml")


def expanded(path: str | Path, *, where: str) -> Path:
    """A path with `~` and `~name` replaced, made absolute.

    Raises:
        UsageError: there is no such user, or the path has NUL in it.
    """
    try:
        return Path(path).expanduser().resolve()
    except RuntimeError:
        user = str(path).split("/", 1)[0].removeprefix("~")
        raise UsageError(f"no user `{user}` here: {path}", where=where) from None
    except ValueError:
        raise UsageError(f"{str(path)!r} is no path", where=where) from None


def find_project_dir(explicit: Path | None = None) -> Path:
    """Folder with `models/`, `configs/` and the dbt project.

    Looked up in order: the argument (`--project-dir`), `EVALAKE_PROJECT_DIR`, the checkout
    this package lies in, and the copy inside the installed wheel.

    Raises:
        UsageError: a folder was named and is not a project.
    """
    named = explicit or (Path(value) if (value := os.environ.get("EVALAKE_PROJECT_DIR")) else None)
    if named is not None:
        if not (named / _MARKER).is_file():
            raise UsageError(f"no evalake project: {_MARKER} is missing", where=str(named))
        return named.resolve()
    package = Path(__file__).resolve().parent
    for candidate in (package.parents[1], package / "_shipped"):
        if (candidate / _MARKER).is_file():
            return candidate
    raise UsageError(
        "this installation lacks its models",
        where=str(package),
        hint="pip install --force-reinstall evalake",
    )


@dataclass(frozen=True)
class Project:
    """The two folders every command works with."""

    home: Path
    data_dir: Path

    @classmethod
    def locate(cls, *, home: Path | None = None, project_dir: Path | None = None) -> Project:
        """`home` falls back to `EVALAKE_HOME`, then to `./.evalake`."""
        chosen = home or Path(os.environ.get("EVALAKE_HOME") or ".evalake")
        return cls(
            home=expanded(chosen, where="EVALAKE_HOME"), data_dir=find_project_dir(project_dir)
        )

    @property
    def lake(self) -> Path:
        """Immutable Parquet evidence."""
        return self.home / "lake"

    @property
    def corpora(self) -> Path:
        """Corpora laid out for systems, one folder per corpus id."""
        return self.home / "corpora"

    @property
    def indexes(self) -> Path:
        """Indexes that systems built, keyed by corpus and ingestion."""
        return self.home / "indexes"

    @property
    def warehouse(self) -> Path:
        """The stable name of the current warehouse file."""
        return self.home / "warehouse.duckdb"

    @property
    def models(self) -> Path:
        """dbt models."""
        return self.data_dir / "models"

    @property
    def dbt_project(self) -> Path:
        """dbt_project.yml, macros and seeds."""
        return self.data_dir / "warehouse" / "dbt-project"

    @property
    def configs(self) -> Path:
        """Systems, pipelines, sweeps and prices."""
        return self.data_dir / "configs"

    @property
    def baselines(self) -> Path:
        """Frozen results, which every build compares runs with (`EVALAKE_BASELINES` moves it).

        They are committed beside the code; an installation has no such place, so there they are
        state.
        """
        if value := os.environ.get("EVALAKE_BASELINES"):
            return expanded(value, where="EVALAKE_BASELINES")
        is_installed = self.data_dir.name == "_shipped"
        return (self.home if is_installed else self.data_dir) / "baselines"

    @cached_property
    def cache(self) -> Path:
        """Downloads and clones, shared by all projects of this user (`EVALAKE_CACHE` moves it)."""
        if value := os.environ.get("EVALAKE_CACHE"):
            return expanded(value, where="EVALAKE_CACHE")
        import platformdirs

        return Path(platformdirs.user_cache_dir("evalake"))
