"""Where a tool works: its corpus, its own home and environment, and the programs it is made of."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalake_runners.adapters.documents import doc_id_of, documents_folder, lay_out, read_doc_ids
from evalake_runners.adapters.protocol import CorpusView, RawHit
from evalake_runners.adapters.setup import Setup
from evalake_runners.adapters.tools.templates import fill, with_variables
from evalake_warehouse.errors import ConfigError, Problem, SystemFailedError, UsageError

# All that a tool is told of this process's environment; the rest is the configuration's.
_INHERITED = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR")
_SAID_BYTES = 2_000
_SHOWN_FILES = 3


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one tool on one corpus."""

    corpus: Path  # what it searches
    index: Path
    home: Path
    doc_ids: tuple[str, ...] | None = None  # of a documents corpus, which is laid out as files

    @property
    def fields(self) -> Mapping[str, str | int]:
        """What `{corpus}` and `{index}` stand for."""
        return {"corpus": str(self.corpus), "index": str(self.index)}

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The tool's environment: every home is its own, and programs are found as here."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        homes = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
        }
        own = {name: with_variables(str(fill(v, self.fields))) for name, v in extra.items()}
        return {"PATH": search_path(), **inherited, **homes, **own}

    def placed(self, hit: RawHit) -> RawHit:
        """A hit with the document of its file, where the corpus is of documents."""
        if self.doc_ids is not None and hit.doc_id is None and hit.raw_path is not None:
            hit.doc_id = doc_id_of(hit.raw_path, list(self.doc_ids))
        return hit


def make_workspace(corpus: CorpusView, index_dir: Path, *, own_copy: bool) -> Workspace:
    """Lay out what a tool needs inside an empty index folder."""
    (index_dir / "home").mkdir()
    (index_dir / "index").mkdir()
    if corpus.kind != "files":
        lay_out(corpus, index_dir)
    elif own_copy:
        shutil.copytree(corpus.root, index_dir / "corpus")
    return open_workspace(corpus, index_dir)


def open_workspace(corpus: CorpusView, index_dir: Path) -> Workspace:
    """The workspace that was made in an index folder."""
    doc_ids = None
    folder = index_dir / "corpus"
    if corpus.kind != "files":
        folder, doc_ids = documents_folder(index_dir), tuple(read_doc_ids(index_dir))
    elif not folder.is_dir():
        folder = corpus.root
    return Workspace(folder, index_dir / "index", index_dir / "home", doc_ids)


def refuse_traces(corpus: CorpusView) -> None:
    """Delete files that a tool wrote into the shared corpus, and fail its search for them.

    Raises:
        SystemFailedError: there was something.
    """
    if corpus.kind != "files":
        return
    known = set(corpus.paths)
    traces = [
        file
        for parent, _, names in os.walk(corpus.root)
        for name in names
        if (file := Path(parent, name)).relative_to(corpus.root).as_posix() not in known
    ]
    if not traces:
        return
    for file in traces:
        file.unlink(missing_ok=True)
        for folder in file.parents:
            if folder == corpus.root:
                break
            with suppress(OSError):  # it holds files of the corpus
                folder.rmdir()
    shown = ", ".join(str(file.relative_to(corpus.root)) for file in sorted(traces)[:_SHOWN_FILES])
    raise SystemFailedError(
        f"the tool wrote into the corpus ({shown}); it needs a copy of its own: `corpus_copy: true`"
    )


def search_path() -> str:
    """PATH, with the programs that were installed beside evalake first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def located(argv: Sequence[str], setup: Setup) -> list[str]:
    """A command with absolute paths of its program and of the files that it names.

    Raises:
        ConfigError: there is no such program.
    """
    return [_program(argv[0], setup), *(_file(item, setup) or item for item in argv[1:])]


def named_files(argv: Sequence[str], setup: Setup) -> dict[str, Path]:
    """Files that a command names, by what it calls them."""
    first = [argv[0]] if os.sep in argv[0] else []
    found = {item: _file(item, setup) for item in (*first, *argv[1:])}
    return {item: Path(path) for item, path in found.items() if path is not None}


def run_step(
    argv: Sequence[str], workspace: Workspace, environment: Mapping[str, str], *, what: str
) -> str:
    """Run one command of set-up, and return what it printed.

    Raises:
        SystemFailedError: it ended with another code than 0.
    """
    code, out, said = run_command(argv, cwd=workspace.corpus, environment=environment)
    if code != 0:
        end = (said.strip() or out.strip())[-_SAID_BYTES:]
        raise SystemFailedError(f"{what}: {Path(argv[0]).name} ended with {code}: {end}")
    return out


def run_command(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_s: float | None = None,
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command; nothing of its group is left.

    Raises:
        OSError: it could not be started.
        subprocess.TimeoutExpired: it took longer; it was killed.
    """
    process = subprocess.Popen(
        argv, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        out, said = process.communicate(timeout=timeout_s)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, out.decode("utf-8", "replace"), said.decode("utf-8", "replace")


def _program(name: str, setup: Setup) -> str:
    if os.sep in name:
        try:
            setup.find(name)
        except UsageError as error:
            raise ConfigError(list(error.problems)) from error
        # Not its target: a virtual environment's `python` is a link, and says so by its own path.
        bases = (base / Path(name).expanduser() for base in setup.base_dirs)
        return next(os.path.abspath(path) for path in bases if path.exists())  # noqa: PTH100
    found = shutil.which(name, path=search_path())
    if found is None:
        raise ConfigError([Problem(f"`{name}`", "no such program on PATH")])
    return found


def _file(item: str, setup: Setup) -> str | None:
    if not item or item.startswith("-") or "{" in item or len(item) > 255:
        return None
    try:
        found = setup.find(item)
    except (UsageError, OSError, ValueError):
        return None
    return str(found) if found.is_file() else None
