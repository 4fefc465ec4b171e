"""One MCP server over stdio for synchronous callers.

The client library's contexts must be left by the task that entered them, so one task in a thread
of its own opens the session, makes every call, and closes it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from evalake_warehouse.errors import SystemFailedError

_START_TIMEOUT_S = 180.0  # it loads its model and looks through the corpus first
_CALL_TIMEOUT_S = 120.0
_CLOSE_TIMEOUT_S = 15.0
_SAID_BYTES = 800


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str
    arguments: Mapping[str, Any]
    answer: Future[Any] = field(default_factory=Future)


class OwnedSession:
    """`start`, any number of `call`s, `close`."""

    def __init__(self, command: list[str], *, environment: Mapping[str, str], folder: Path) -> None:
        self._command = command
        self._environment = dict(environment)
        self._stderr = folder / "stderr.txt"
        self._folder = folder
        self._started: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: asyncio.Queue[_Call | None] | None = None
        self._thread = threading.Thread(target=self._run, name="mcp-session", daemon=True)

    def start(self) -> None:
        """Start the server and shake hands.

        Raises:
            SystemFailedError: it did not answer in time, or ended.
        """
        self._thread.start()
        try:
            self._started.result(_START_TIMEOUT_S)
        except BaseException as error:
            self.close()
            raise SystemFailedError(self._told("did not start", error)) from error

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call one tool and return its structured content.

        Raises:
            SystemFailedError: the server failed, or the tool says that it did.
        """
        if self._loop is None or self._calls is None or not self._thread.is_alive():
            raise SystemFailedError(self._told("is gone", None))
        call = _Call(tool, arguments)
        self._loop.call_soon_threadsafe(self._calls.put_nowait, call)
        try:
            result = call.answer.result(_CALL_TIMEOUT_S + _CLOSE_TIMEOUT_S)
        except Exception as error:
            raise SystemFailedError(self._told(f"failed in `{tool}`", error)) from error
        if result.isError:
            said = " ".join(block.text for block in result.content if block.type == "text")
            raise SystemFailedError(f"`{tool}` failed: {said[:_SAID_BYTES]}")
        return result.structuredContent

    def close(self) -> None:
        """End the session and the server's process group; harmless when repeated."""
        if self._loop is not None and self._calls is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._calls.put_nowait, None)
        if self._thread.is_alive():
            self._thread.join(_CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        try:
            with self._stderr.open("wb") as stderr:
                asyncio.run(self._own(stderr))
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)

    async def _own(self, stderr: IO[bytes]) -> None:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        self._loop, self._calls = asyncio.get_running_loop(), asyncio.Queue()
        server = StdioServerParameters(
            command=self._command[0],
            args=self._command[1:],
            env=self._environment,
            cwd=self._folder,
        )
        patience = timedelta(seconds=_CALL_TIMEOUT_S)
        # A text wrapper, because the client library types it so; only its file number is used.
        errlog: Any = stderr
        async with (
            stdio_client(server, errlog=errlog) as (read, write),
            ClientSession(read, write, read_timeout_seconds=patience) as session,
        ):
            await session.initialize()
            self._started.set_result(None)
            while (call := await self._calls.get()) is not None:
                try:
                    result = await session.call_tool(call.tool, dict(call.arguments))
                except Exception as error:
                    call.answer.set_exception(error)
                else:
                    call.answer.set_result(result)

    def _told(self, what: str, error: BaseException | None) -> str:
        said = self._stderr.read_bytes()[-_SAID_BYTES:] if self._stderr.exists() else b""
        parts = [f"the MCP server {what}", _leaf(error), said.decode(errors="replace").strip()]
        return ": ".join(part for part in parts if part)


def _leaf(error: BaseException | None) -> str:
    """What really happened: the client library wraps failures in groups of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return "" if error is None else f"{type(error).__name__}: {error}"
