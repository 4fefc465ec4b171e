"""Run a loader over hand-made files in the original's schema."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalake_ingest.editions.edition import Edition, make_edition
from evalake_ingest.loaders import get_loader
from evalake_ingest.records import LoadOptions, Task
from evalake_warehouse.project import Project


def load(project: Project, name: str, source: Path, **options: Any) -> Edition:
    """Load by name; fixtures are no pinned revision, so they are named as one of their own."""
    values: dict[str, Any] = {"cache": project.home / "cache", "revision": "fixture"}
    loaded = get_loader(name).load(LoadOptions(source_dir=source, **(values | options)))
    return make_edition(project, loaded)


def jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def gzipped_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(value).encode()))
    return path


def archive(folder: Path, repo: str, commit: str, files: Mapping[str, str]) -> Path:
    """A tarball with the repository's own top folder."""
    folder.mkdir(parents=True, exist_ok=True)
    name = repo.rpartition("/")[2]
    path = folder / f"{repo.replace('/', '__')}-{commit[:12]}.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for inner, text in files.items():
            info = tarfile.TarInfo(f"{name}-{commit[:12]}/{inner}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


def by_id(edition: Edition) -> dict[str, Task]:
    return {task.task_id: task for task in edition.tasks}


def reasons(edition: Edition) -> Counter[tuple[str, str]]:
    return Counter((drop.source_row, drop.reason) for drop in edition.drops)


def gold(task: Task, level: str) -> dict[str, str]:
    """Gold ids of one level, with their roles."""
    return {item.gold_id: item.role for item in task.gold if item.level == level}
