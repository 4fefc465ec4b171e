"""A command line as a system: one process per question."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from evalake_runners.adapters.protocol import Answer, CorpusView, Query
from evalake_runners.adapters.setup import Adapter, Setup
from evalake_runners.adapters.tools.config import CallText, ToolConfig
from evalake_runners.adapters.tools.raw_answers import RawAnswer
from evalake_runners.adapters.tools.system import ToolSystem, ask_and_read, root_of
from evalake_runners.adapters.tools.templates import fill
from evalake_runners.adapters.tools.workspace import (
    Workspace,
    located,
    open_workspace,
    refuse_traces,
    run_command,
)

_SAID_CHARS = 2_000


class CommandConfig(ToolConfig):
    """A program that is run once per question, in the corpus folder."""

    command: list[CallText] = Field(
        min_length=1, description="Program and arguments, with {query}, {depth}, {corpus}, ..."
    )
    ok_codes: list[int] = Field(default=[0], description="Exit codes of an answer.")
    empty_codes: list[int] = Field(
        default_factory=list, description="Exit codes that say that nothing was found."
    )


class CommandSystem(ToolSystem):
    """`System` of one command."""

    def __init__(self, config: CommandConfig, setup: Setup) -> None:
        super().__init__("command", config, setup, commands=[config.command])
        self._config = config
        self._located = located(config.command, setup)

    def open(self, corpus: CorpusView, index_dir: Path) -> CommandSearcher:
        """Start nothing; the command runs once per question."""
        workspace = open_workspace(corpus, index_dir)
        return CommandSearcher(self._config, self._located, workspace, corpus)


class CommandSearcher:
    """Runs one command per question, over one corpus."""

    def __init__(
        self, config: CommandConfig, command: list[str], workspace: Workspace, corpus: CorpusView
    ) -> None:
        self._config = config
        self._command = command
        self._workspace = workspace
        self._corpus = corpus
        self._environment = workspace.environment(config.env)

    def search(self, query: Query) -> Answer:
        """Run the command and read what it printed."""
        codes = self._config.empty_codes
        return ask_and_read(query, self._workspace, self._config, self._ask, empty_codes=codes)

    def close(self) -> None:
        """Make sure that the corpus is as it was."""
        refuse_traces(self._corpus)

    def _ask(self, fields: Mapping[str, str | int]) -> tuple[RawAnswer, str]:
        argv = [str(item) for item in fill(self._command, fields)]
        code, out, said = run_command(
            argv, cwd=self._workspace.corpus, environment=self._environment
        )
        failure = None
        if code not in self._config.ok_codes:
            failure = f"the command ended with {code}"
            if end := said.strip()[-_SAID_CHARS:]:
                failure += f": {end}"
        raw = RawAnswer((out,), code=code, failure=failure, root=root_of(self._workspace, out))
        return raw, shlex.join([Path(argv[0]).name, *argv[1:]])


ADAPTERS = {
    "command": Adapter(
        "command", "Any command line, one process per question", CommandConfig, CommandSystem
    )
}
