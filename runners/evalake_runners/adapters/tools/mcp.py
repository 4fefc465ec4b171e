"""An MCP server as a system: one session per worker, one tool call per question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from evalake_runners.adapters.mcp_session import HttpServer, McpSession, StdioServer
from evalake_runners.adapters.protocol import Answer, CorpusView, Query
from evalake_runners.adapters.setup import Adapter, Setup, Strict
from evalake_runners.adapters.tools.config import Argv, CallArguments, PlaceText, ToolConfig
from evalake_runners.adapters.tools.mcp_tools import check_call
from evalake_runners.adapters.tools.raw_answers import RawAnswer, canonical
from evalake_runners.adapters.tools.system import ToolSystem, ask_and_read, root_of
from evalake_runners.adapters.tools.templates import fill, with_variables
from evalake_runners.adapters.tools.workspace import (
    Workspace,
    open_workspace,
    refuse_traces,
    run_step,
)
from evalake_warehouse.errors import SystemFailedError

if TYPE_CHECKING:
    from mcp.types import CallToolResult


class SetupStep(Strict):
    """A command, or a call of one of the server's tools."""

    command: Argv | None = None
    tool: str | None = Field(default=None, description="A tool of the server.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="With {corpus}, {index}.")

    @model_validator(mode="after")
    def _is_one(self) -> SetupStep:
        if (self.command is None) == (self.tool is None):
            raise ValueError("give `command` or `tool`")
        return self


class McpConfig(ToolConfig):
    """A server that is started with a command, or reached at a URL, and the tool that is asked."""

    command: Argv | None = Field(
        default=None, description="Starts the server over stdio: program and arguments."
    )
    url: PlaceText | None = Field(
        default=None, pattern=r"^https?://", description="Of a server over streamable HTTP."
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="For `url`; ${NAME} takes an environment variable."
    )
    tool: str = Field(description="The tool that is called for each question.")
    arguments: CallArguments = Field(
        default={"query": "{query}"}, description="Its arguments, with {query}, {depth}, ..."
    )
    unlisted: bool = Field(
        default=False, description="Call the tool though the server does not list it."
    )
    setup: list[SetupStep] = Field(
        default_factory=list,
        description="Before the first question of a worker: tools of the server, or commands.",
    )
    start_timeout_s: float = Field(
        default=60.0, gt=0, description="For the server to start and shake hands, in seconds."
    )

    @model_validator(mode="after")
    def _has_a_server(self) -> McpConfig:
        if (self.command is None) == (self.url is None):
            raise ValueError("give `command` (stdio) or `url` (HTTP)")
        if self.headers and self.url is None:
            raise ValueError("`headers` have no meaning without `url`")
        return self


class McpSystem(ToolSystem):
    """`System` of one server."""

    def __init__(self, config: McpConfig, setup: Setup) -> None:
        commands = [config.command] if config.command else []
        commands += [step.command for step in config.setup if step.command]
        is_remote = config.url is not None
        super().__init__("mcp", config, setup, commands=commands, needs_network=is_remote)
        self._config = config

    def ingestion_config(self) -> Mapping[str, Any]:
        """The set-up commands and calls, which an index depends on."""
        return {**super().ingestion_config(), **self.tool.model_dump(mode="json",
                include={"setup", "command", "url"})}  # fmt: skip

    def open(self, corpus: CorpusView, index_dir: Path) -> McpSearcher:
        """Start the server, check that it has the tool, and make the calls of set-up."""
        searcher = McpSearcher(self, self._config, open_workspace(corpus, index_dir), corpus)
        try:
            searcher.start()
        except BaseException:
            searcher.close()
            raise
        return searcher


class McpSearcher:
    """One session with one server; a server that ended is started anew for the next question."""

    def __init__(
        self, system: McpSystem, config: McpConfig, workspace: Workspace, corpus: CorpusView
    ) -> None:
        self._system = system
        self._config = config
        self._workspace = workspace
        self._corpus = corpus
        self._environment = workspace.environment(config.env)
        self._session: McpSession | None = None

    def start(self) -> None:
        """Start the server and do what comes before the first question.

        Raises:
            SystemFailedError: the server or a step of set-up failed.
            UnusableSystemError: it does not speak MCP, or has no such tool.
        """
        config = self._config
        for step in config.setup:
            if step.command is not None:
                argv = self._system.argv(step.command, self._workspace)
                run_step(argv, self._workspace, self._environment, what="setup")
        session = self._session = McpSession(
            self._server(),
            stderr=self._workspace.index.parent / "stderr.txt",
            start_timeout_s=config.start_timeout_s,
        )
        session.start()
        tools = session.tools()
        if not config.unlisted:
            check_call(tools, config.tool, config.arguments, where="tool")
        for step in config.setup:
            if step.tool is not None:
                check_call(tools, step.tool, step.arguments, where="setup.tool")
                result = session.call(step.tool, fill(step.arguments, self._workspace.fields))
                if result.isError:
                    said = " ".join(_texts(result))
                    raise SystemFailedError(f"setup: `{step.tool}` failed: {said}")

    def search(self, query: Query) -> Answer:
        """Call the tool and read its answer."""
        return ask_and_read(query, self._workspace, self._config, self._ask)

    def close(self) -> None:
        """End the server, and make sure that the corpus is as it was."""
        if self._session is not None:
            self._session.close()
        refuse_traces(self._corpus)

    def _server(self) -> StdioServer | HttpServer:
        config, workspace = self._config, self._workspace
        if config.command is not None:
            argv = self._system.argv(config.command, workspace)
            return StdioServer(argv, self._environment, workspace.corpus)
        headers = {name: with_variables(value) for name, value in config.headers.items()}
        return HttpServer(str(fill(config.url or "", workspace.fields)), headers)

    def _ask(self, fields: Mapping[str, str | int]) -> tuple[RawAnswer, str]:
        if self._session is None or not self._session.is_alive:
            if self._session is not None:
                self._session.close()
            self.start()
        if self._session is None:
            raise AssertionError("`start` makes a session or raises")
        config = self._config
        arguments = fill(config.arguments, fields)
        result = self._session.call(config.tool, arguments)
        texts = tuple(_texts(result))
        structured = result.structuredContent
        told = "" if structured is None else canonical(structured)
        raw = RawAnswer(
            texts,
            structured,
            failure="the tool says that it failed" if result.isError else None,
            root=root_of(self._workspace, *texts, told),
        )
        return raw, f"{config.tool} {json.dumps(arguments, ensure_ascii=False, sort_keys=True)}"


def _texts(result: CallToolResult) -> list[str]:
    """Text blocks, and the texts of embedded resources."""
    texts = []
    for block in result.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "resource" and (text := getattr(block.resource, "text", None)):
            texts.append(text)
    return texts


ADAPTERS = {"mcp": Adapter("mcp", "Any MCP server, over stdio or HTTP", McpConfig, McpSystem)}
