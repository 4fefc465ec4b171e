"""What the systems that are made of a configuration have in common."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from evalake_runners.adapters.protocol import (
    Answer,
    CorpusView,
    IndexReport,
    NotAttemptedError,
    Query,
    RawHit,
    UnreadAnswerError,
)
from evalake_runners.adapters.setup import Setup
from evalake_runners.adapters.tools.config import ToolConfig
from evalake_runners.adapters.tools.parsing import read_answer
from evalake_runners.adapters.tools.query_forms import as_pattern, in_form
from evalake_runners.adapters.tools.raw_answers import RawAnswer
from evalake_runners.adapters.tools.templates import fill, variables
from evalake_runners.adapters.tools.workspace import (
    Workspace,
    located,
    make_workspace,
    named_files,
    refuse_traces,
    run_command,
    run_step,
    search_path,
)
from evalake_warehouse.errors import ConfigError, Problem
from evalake_warehouse.secrets import remember_secret

UNKNOWN = "unknown"
_VERSION_TIMEOUT_S = 30.0
_MAX_VERSION_CHARS = 80


class ToolSystem:
    """A `System` but for `open`; its identity is its configuration and the files that it names.

    Raises:
        ConfigError: on making: a program or an environment variable is missing.
    """

    adapter_version = "1"

    def __init__(
        self,
        name: str,
        config: ToolConfig,
        setup: Setup,
        *,
        commands: Sequence[Sequence[str]] = (),
        needs_network: bool = False,
    ) -> None:
        self.name = name
        self.tool = config
        self.output: str = config.output
        self.needs_network = needs_network or config.network
        self.gives_text = config.output == "blob" or gives_text(config)
        self._setup = setup
        steps = [step.command for step in config.index]
        for argv in (*commands, *steps):
            located(argv, setup)
        if config.output == "blob" and setup.depth != 1:
            what = f"{setup.depth} hits asked for; `output: blob` is one item: set `depth: 1`"
            raise ConfigError([Problem("`output`", what)])
        require_variables(config)
        self._files: dict[str, Path] = {}
        for argv in (*commands, *steps, config.version_command or ["-"]):
            self._files |= named_files(argv, setup)
        self.version = config.version or self._told_version()

    def public_config(self) -> Mapping[str, Any]:
        """Every key as written: a secret is in there as `${NAME}`, never as its value."""
        return self.tool.model_dump(mode="json", exclude={"version"})

    def config_files(self) -> Mapping[str, Path]:
        """Files that the commands name, such as a server's script."""
        return self._files

    def ingestion_config(self) -> Mapping[str, Any]:
        """What set-up is made of."""
        return self.tool.model_dump(mode="json", include={"index", "corpus_copy", "env"})

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Lay out the tool's home and corpus, and run the commands of `index`."""
        workspace = make_workspace(corpus, index_dir, own_copy=self.tool.corpus_copy)
        environment = workspace.environment(self.tool.env)
        for step in self.tool.index:
            run_step(self.argv(step.command, workspace), workspace, environment, what="index")
        refuse_traces(corpus)
        return IndexReport(counts={"files": len(corpus.paths)})

    def argv(self, command: Sequence[str], workspace: Workspace) -> list[str]:
        """A command of set-up, ready to run."""
        return [str(item) for item in fill(located(command, self._setup), workspace.fields)]

    def _told_version(self) -> str:
        command = self.tool.version_command
        if command is None:
            return UNKNOWN
        return _version(tuple(located(command, self._setup)))


def gives_text(config: ToolConfig) -> bool:
    """Whether hits can have a text."""
    parser = config.parser
    return (
        "text" in parser.fields
        or "(?P<text>" in (parser.regex or "")
        or not (parser.fields or parser.regex)
    )


def require_variables(config: ToolConfig) -> None:
    """Treat the variables that a configuration takes as secrets.

    Raises:
        ConfigError: one is not set.
    """
    names = variables(config.model_dump(mode="json"))
    if missing := [name for name in names if not os.environ.get(name)]:
        raise ConfigError(
            [Problem(f"`${{{name}}}`", "this environment variable is not set") for name in missing]
        )
    for name in names:
        remember_secret(os.environ[name])


class Asks(Protocol):
    """Calls a tool with filled fields; returns the answer and the call as one can read it."""

    def __call__(self, fields: Mapping[str, str | int]) -> tuple[RawAnswer, str]:
        """Make the call."""


def ask_and_read(
    query: Query,
    workspace: Workspace,
    config: ToolConfig,
    ask: Asks,
    *,
    empty_codes: Sequence[int] = (),
) -> Answer:
    """One question in the arm's form, asked and read.

    Raises:
        NotAttemptedError: the tool does not claim to answer tasks of this kind.
        UnreadAnswerError: it answered with an error, or with what the parser does not read.
    """
    if query.kind is not None and (quoted := config.not_attempted.get(query.kind)) is not None:
        raise NotAttemptedError(f'{query.kind}: "{quoted}"')
    asked = in_form(query.text, config.query_form)
    if not asked.strip():
        return Answer((), reason=f"the question has no {config.query_form}", n_tool_calls=0)
    raw, call = ask(
        {
            **workspace.fields,
            "query": asked,
            "pattern": as_pattern(query.text, config.query_form),
            "depth": query.depth,
            "library": query.library or "",
        }
    )
    payload = raw.to_json()
    try:
        hits, reason = read_answer(raw, config, empty_codes=empty_codes)
    except UnreadAnswerError as error:
        raise UnreadAnswerError(str(error), payload=payload, call=call) from error
    placed: list[RawHit] = [workspace.placed(hit) for hit in hits]
    return Answer(
        placed, payload=payload, n_bytes=raw.n_bytes, call=call, n_tool_calls=1, reason=reason
    )


def root_of(workspace: Workspace, *texts: str) -> str | None:
    """The folder searched, where an answer names it: a parser needs it then, also later on."""
    root = str(workspace.corpus)
    return root if any(root in text for text in texts) else None


@lru_cache(maxsize=64)
def _version(argv: tuple[str, ...]) -> str:
    """The first line that a command prints.

    Raises:
        ConfigError: it fails, or prints nothing.
    """
    where = "`version_command`"
    with tempfile.TemporaryDirectory(prefix="evalake-version-") as folder:
        environment = {"PATH": search_path(), "HOME": folder}
        try:
            code, out, said = run_command(
                argv, cwd=Path(folder), environment=environment, timeout_s=_VERSION_TIMEOUT_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigError([Problem(where, f"failed: {error}")]) from error
    lines = (out.strip() or said.strip()).splitlines()
    if code != 0 or not lines:
        what = f"ended with {code}" if code else "printed nothing"
        raise ConfigError([Problem(where, what)])
    return lines[0].strip()[:_MAX_VERSION_CHARS]
