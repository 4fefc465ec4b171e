"""Index and answer through pydocs-mcp's command line and MCP server, as an agent's client would."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from evalake_runners.adapters.mcp_session import McpSession, StdioServer
from evalake_runners.adapters.protocol import Answer, CorpusView, Query, RawHit
from evalake_runners.adapters.pydocs_mcp.isolation import isolated_environment
from evalake_runners.adapters.pydocs_mcp.searching import strip_pointers
from evalake_runners.adapters.pydocs_mcp.workspace import Workspace
from evalake_warehouse.errors import SystemFailedError
from evalake_warehouse.scratch import scratch_folder

_START_TIMEOUT_S = 180.0  # it loads its model and looks through the corpus first
_CALL_TIMEOUT_S = 120.0
_SHOWN_CHARS = 800
_KEY_VARIABLE = "EVALAKE_NO_EMBEDDER"
# The command line builds an embedder whatever the pipeline needs. This one is never called.
_NO_EMBEDDER = {
    "provider": "openai",
    "model_name": "none",
    "dim": 8,
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": _KEY_VARIABLE,
}


class _Item(BaseModel):
    qualified_name: str | None = None
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    score: float | None = None


class _Envelope(BaseModel):
    """`structuredContent` of `search_codebase`."""

    text: str
    items: list[_Item]


@dataclass(slots=True)
class ServerSearcher:
    """One server process; the folder of its settings goes with it."""

    session: McpSession
    is_composite: bool
    folder: ExitStack = field(repr=False)

    def search(self, query: Query) -> Answer:
        """Call `search_codebase` and read its rows."""
        arguments = {"query": query.text, "kind": "docs", "limit": query.depth}
        if self.is_composite:
            del arguments["limit"]
        result = self.session.call("search_codebase", arguments)
        if result.isError:
            said = " ".join(block.text for block in result.content if block.type == "text")
            raise SystemFailedError(f"`search_codebase` failed: {said[:_SHOWN_CHARS]}")
        try:
            envelope = _Envelope.model_validate(result.structuredContent)
        except ValidationError as error:
            raise SystemFailedError(f"search_codebase answered something else: {error}") from error
        call = f"search_codebase(kind=docs, limit={arguments.get('limit')})"
        if self.is_composite:
            text = strip_pointers(envelope.text)
            found = bool(envelope.items)
            hits = [RawHit(item_id="composite-1", text=text, branch="composite")] if found else []
        else:
            hits = [_hit(item) for item in envelope.items[: query.depth]]
        return Answer(hits, call=call, n_tool_calls=1)

    def close(self) -> None:
        """Stop the server and remove its settings."""
        self.session.close()
        self.folder.close()


def index_by_command(corpus: CorpusView, workspace: Workspace, *, offline: bool) -> None:
    """Let pydocs-mcp's own command index a corpus of files.

    Raises:
        SystemFailedError: the command failed; the message has the end of what it said.
    """
    settings = _write_settings(workspace, workspace.folder, pipeline=None, depth=10)
    done = subprocess.run(
        _command(settings, "index", corpus.root, workspace),
        env=_environment(workspace, offline=offline),
        cwd=workspace.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip()[-_SHOWN_CHARS:]
        raise SystemFailedError(f"pydocs-mcp index ended with {done.returncode}: {said}")
    databases = list(workspace.served.glob("*.db"))
    if len(databases) != 1:
        raise SystemFailedError(f"pydocs-mcp index left {len(databases)} databases, not one")


def open_server(
    corpus: CorpusView,
    workspace: Workspace,
    pipeline: Mapping[str, Any],
    *,
    is_composite: bool,
    depth: int,
    offline: bool,
) -> ServerSearcher:
    """Start a server over a finished index.

    Raises:
        SystemFailedError: it did not start; the message has the end of what it said.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(Path(tempfile.gettempdir()), "evalake-pydocs-"))
        settings = _write_settings(workspace, folder, pipeline=pipeline, depth=depth)
        server = StdioServer(
            _command(settings, "serve", corpus.root, workspace),
            _environment(workspace, offline=offline),
            folder,
        )
        session = McpSession(
            server,
            stderr=folder / "stderr.txt",
            start_timeout_s=_START_TIMEOUT_S,
            call_timeout_s=_CALL_TIMEOUT_S,
        )
        session.start()
        return ServerSearcher(session, is_composite, stack.pop_all())


def served_database(workspace: Workspace) -> Path:
    """The database that the command made; its name has a hash of the corpus path."""
    return next(workspace.served.glob("*.db"))


def _command(settings: Path, verb: str, corpus_root: Path, workspace: Workspace) -> list[str]:
    # --no-inspect: otherwise it imports what it indexes, and a corpus is untrusted.
    options = ["--skip-deps", "--no-inspect", "--cache-dir", str(workspace.served)]
    program = [sys.executable, "-m", "pydocs_mcp", "--config", str(settings)]
    return [*program, verb, str(corpus_root), *options]


def _environment(workspace: Workspace, *, offline: bool) -> dict[str, str]:
    environment = isolated_environment(workspace.home, offline=offline)
    return environment | {_KEY_VARIABLE: "unused"}


def _write_settings(
    workspace: Workspace, folder: Path, *, pipeline: Mapping[str, Any] | None, depth: int
) -> Path:
    """Settings of a command: those of the index, the arm's pipeline, and room for its depth."""
    document = yaml.safe_load(workspace.settings.read_text(encoding="utf-8"))
    document.setdefault("embedding", _NO_EMBEDDER)
    document["git"] = {"enabled": "off"}
    document["search"] = {"output": {"default_limit": depth, "max_limit": max(depth, 100)}}
    if pipeline is not None:
        (folder / "chunk.yaml").write_text(yaml.safe_dump(dict(pipeline)), encoding="utf-8")
        route = {"default": True, "pipeline_path": "chunk.yaml"}
        document["pipelines"] = {"chunk": {"routes": [route]}}
    ingestion = (workspace.folder / "ingestion.yaml").read_bytes()
    (folder / "ingestion.yaml").write_bytes(ingestion)
    target = folder / "command.yaml"
    target.write_text(yaml.safe_dump(document), encoding="utf-8")
    return target


def _hit(item: _Item) -> RawHit:
    return RawHit(
        score=item.score,
        raw_path=item.path,
        start_line=item.start_line,
        end_line=item.end_line,
        qualified_name=item.qualified_name,
    )
