"""One MCP server, over stdio or HTTP, for synchronous callers.

The client library's contexts must be left by the task that entered them, so one task in a thread
of its own opens the session, makes every call, and closes it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from evalake_runners.adapters.protocol import UnusableSystemError
from evalake_warehouse.errors import SystemFailedError
from evalake_warehouse.processes import descendants

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult, Tool

_CLOSE_TIMEOUT_S = 15.0
_SAID_BYTES = 4_000
_METHOD_NOT_FOUND = -32601


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started for the session, in a process group of its own."""

    command: list[str]
    environment: Mapping[str, str]
    folder: Path  # it works in


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that runs already and speaks streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Call:
    ask: Callable[[ClientSession], Awaitable[Any]]
    answer: Future[Any] = field(default_factory=Future)


class McpSession:
    """`start`, any number of `call`s, `close`.

    Args:
        stderr: file that gets what a stdio server says there.
        call_timeout_s: None where the caller is ended from outside when its time is up.
    """

    def __init__(
        self,
        server: StdioServer | HttpServer,
        *,
        stderr: Path,
        start_timeout_s: float,
        call_timeout_s: float | None = None,
    ) -> None:
        self._server = server
        self._stderr = stderr
        self._start_timeout_s = start_timeout_s
        self._call_timeout_s = call_timeout_s
        self._started: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: asyncio.Queue[_Call | None] | None = None
        self._n_foreign = 0  # messages that are not of the protocol
        self._children: set[int] = set()
        self._is_dead = False
        self._thread = threading.Thread(target=self._run, name="mcp-session", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether another call can be made."""
        return self._thread.is_alive() and not self._is_dead

    def start(self) -> None:
        """Start the server and shake hands.

        Raises:
            SystemFailedError: it did not answer in time, or ended.
            UnusableSystemError: it answered something else.
        """
        before = set(descendants(os.getpid()))
        self._thread.start()
        try:
            self._started.result(self._start_timeout_s)
        except BaseException as error:
            self._children = set(descendants(os.getpid())) - before
            self.close()
            if self._n_foreign or _is_foreign(error):
                what = "does not speak MCP"
                raise UnusableSystemError(self._told(what, _leaf(error))) from error
            raise SystemFailedError(self._told("did not start", _leaf(error))) from error
        self._children = set(descendants(os.getpid())) - before

    def tools(self) -> list[Tool]:
        """The tools that the server lists.

        Raises:
            SystemFailedError: the server failed.
        """

        async def ask(session: ClientSession) -> list[Tool]:
            found: list[Tool] = []
            cursor: str | None = None
            while True:
                page = await session.list_tools(cursor)
                found += page.tools
                cursor = page.nextCursor
                if cursor is None:
                    return found

        answer: list[Tool] = self._ask(ask, "while it listed its tools")
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call one tool; whether it says that it failed is in the result.

        Raises:
            SystemFailedError: the server failed, or broke the tool's own schema.
        """

        async def ask(session: ClientSession) -> CallToolResult:
            return await session.call_tool(tool, dict(arguments))

        answer: CallToolResult = self._ask(ask, f"in `{tool}`")
        return answer

    def close(self) -> None:
        """End the session and every process of the server; harmless when repeated."""
        left = self._children | {below for child in self._children for below in descendants(child)}
        if self._loop is not None and self._calls is not None and self._thread.is_alive():
            with suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._calls.put_nowait, None)
        if self._started.done() and self._thread.is_alive():  # else only a kill ends it
            self._thread.join(_CLOSE_TIMEOUT_S)
        self._end(left)
        if self._thread.is_alive():
            self._thread.join(_CLOSE_TIMEOUT_S)
        self._children = set()

    def _end(self, processes: set[int]) -> None:
        """Kill the server's process group: children that it started can outlive it."""
        for process in processes:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)

    def _ask(self, ask: Callable[[ClientSession], Awaitable[Any]], where: str) -> Any:
        if self._loop is None or self._calls is None or not self.is_alive:
            raise SystemFailedError(self._told("is gone", ""))
        call = _Call(ask)
        self._loop.call_soon_threadsafe(self._calls.put_nowait, call)
        patience = self._call_timeout_s
        try:
            return call.answer.result(None if patience is None else patience + _CLOSE_TIMEOUT_S)
        except Exception as error:
            told = _leaf(error)
            self._is_dead = _is_end(error)
            raise SystemFailedError(self._told(f"failed {where}", told)) from error

    def _run(self) -> None:
        try:
            with self._stderr.open("ab") as stderr:
                asyncio.run(self._own(stderr))
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)

    async def _own(self, stderr: IO[bytes]) -> None:
        from mcp import ClientSession

        self._loop, self._calls = asyncio.get_running_loop(), asyncio.Queue()
        patience = self._call_timeout_s and timedelta(seconds=self._call_timeout_s)
        async with (
            self._streams(stderr) as (read, write),
            ClientSession(
                read, write, read_timeout_seconds=patience or None, message_handler=self._notice
            ) as session,
        ):
            await session.initialize()
            self._started.set_result(None)
            while (call := await self._calls.get()) is not None:
                try:
                    result = await call.ask(session)
                except Exception as error:
                    call.answer.set_exception(error)
                except BaseException:  # cancelled, because the connection broke
                    call.answer.set_exception(ConnectionError("the connection broke"))
                    raise
                else:
                    call.answer.set_result(result)

    @asynccontextmanager
    async def _streams(self, stderr: IO[bytes]) -> AsyncIterator[tuple[Any, Any]]:
        if isinstance(self._server, HttpServer):
            from mcp.client.streamable_http import streamablehttp_client

            headers = dict(self._server.headers)
            async with streamablehttp_client(self._server.url, headers=headers) as streams:
                yield streams[0], streams[1]
            return
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        server = StdioServerParameters(
            command=self._server.command[0],
            args=self._server.command[1:],
            env=dict(self._server.environment),
            cwd=self._server.folder,
            encoding_error_handler="replace",
        )
        # A text wrapper, because the client library types it so; only its file number is used.
        errlog: Any = stderr
        async with stdio_client(server, errlog=errlog) as streams:
            yield streams

    async def _notice(self, message: object) -> None:
        """Count lines that are no messages: until hands are shaken they tell another protocol."""
        if isinstance(message, Exception) and not self._started.done():
            self._n_foreign += 1

    def _told(self, what: str, leaf: str) -> str:
        parts = [f"the MCP server {what}", leaf, self._last_words()]
        return ": ".join(part for part in parts if part)

    def _last_words(self) -> str:
        """The last line on its standard error that is no place in a stack."""
        said = self._stderr.read_bytes()[-_SAID_BYTES:] if self._stderr.exists() else b""
        lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if not line[0].isspace()]
        return (telling or lines or [""])[-1].strip()


def _innermost(error: BaseException | None) -> BaseException | None:
    """What really happened: the client library wraps failures in groups of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _leaf(error: BaseException | None) -> str:
    error = _innermost(error)
    if error is None:
        return ""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _is_end(error: BaseException) -> bool:
    """Whether nothing more will come over a session."""
    import anyio
    from mcp import McpError

    inner = _innermost(error)
    if isinstance(inner, McpError):
        return inner.error.message == "Connection closed"
    broken = (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError)
    return isinstance(inner, broken)


def _is_foreign(error: BaseException) -> bool:
    """Whether a handshake failed because the other side is something else."""
    import httpx
    from mcp import McpError

    inner = _innermost(error)
    if isinstance(inner, httpx.HTTPStatusError):
        return inner.response.status_code in {400, 404, 405, 406, 415, 501}
    if isinstance(inner, McpError):
        # Method not found: JSON-RPC, but no MCP; terminated: HTTP 404 in the client's words.
        return inner.error.code == _METHOD_NOT_FOUND or inner.error.message == "Session terminated"
    return isinstance(inner, ValueError)  # of pydantic too: a message of another shape
