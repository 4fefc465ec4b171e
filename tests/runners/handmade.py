"""Systems of a user's own, written by a test into a folder, and asked as a user asks them."""

from __future__ import annotations

from pathlib import Path

from driving import arm

from evalake_runners.sweeps.arms import Arm, bind
from evalake_warehouse.project import Project

# Answers with the first file whose score is highest; `score` and `chunk` are what tests edit.
SYSTEM = """\
{imports}
from evalake_runners.adapters.protocol import Answer, IndexReport, RawHit
from evalake_runners.adapters.setup import Strict


class CONFIG(Strict):
    boost: float = 1.0


class MySystem:
    name, version, adapter_version = "mine", "1", "1"
    output, needs_network = "ranked", False
{members}
    def __init__(self, config):
        self.config = config

    def public_config(self):
        return {{}}

    def config_files(self):
        return {{}}

    def ingestion_config(self):
        return {{}}

    def index(self, corpus, index_dir):
        (index_dir / "mark").write_text("{mark}")
        return IndexReport(n_chunks=len(corpus.paths))

    def open(self, corpus, index_dir):
        return MySearcher(corpus, (index_dir / "mark").read_text())


class MySearcher:
    def __init__(self, corpus, mark):
        self.corpus, self.mark = corpus, mark

    def search(self, query):
{search}

    def close(self):
        pass


def make(config, setup):
    return MySystem(config)
"""

SEARCH = "return Answer(hits=[RawHit(raw_path=self.corpus.paths[0], title=self.mark)])"


def system(
    *, imports: str = "", members: str = "", mark: str = "first", search: str = SEARCH
) -> str:
    """The text of a module that is a system."""
    lines = "\n".join(f"        {line}" for line in search.splitlines())
    inside = "\n".join(f"    {line}" for line in members.splitlines())
    return SYSTEM.format(imports=imports, members=inside, mark=mark, search=lines)


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def bound(project: Project, module: str, **config: object) -> Arm:
    """The arm of a module on a dataset that no test looks into."""
    spec = arm(f"python:{module}", **config)
    return bind(spec, dataset="d", edition="e", seed=0, project=project)
