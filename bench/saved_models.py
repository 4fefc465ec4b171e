"""Compiled models on disk, for measured processes that are to have no dbt in them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from evalake_warehouse.build.compiled_models import CompiledModels, compile_models
from evalake_warehouse.project import Project, find_project_dir

_FILE = "models.json"


def save_models(home: Path) -> None:
    """Compile the models and write them into a folder."""
    models = compile_models(Project(home=home, data_dir=find_project_dir()))
    (home / _FILE).write_text(json.dumps(asdict(models), default=str))


def load_models(home: Path) -> CompiledModels:
    """What `save_models` wrote."""
    saved = json.loads((home / _FILE).read_bytes())
    return CompiledModels(
        data_dir=Path(saved["data_dir"]),
        sql=saved["sql"],
        depends_on={name: tuple(names) for name, names in saved["depends_on"].items()},
        database=saved["database"],
        seeds={name: Path(path) for name, path in saved["seeds"].items()},
    )
