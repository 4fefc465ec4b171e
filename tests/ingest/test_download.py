"""Pinned files are fetched whole, once, or not at all. The server is on this machine."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evalake_ingest.originals.download import RemoteFile, cached_path, fetch
from evalake_warehouse.errors import DownloadError

CONTENT = os.urandom(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Server:
    """What the server answers with, call by call, and what it was asked."""

    url: str = ""
    plan: list[str] = field(default_factory=list)  # cut | busy | gone | no-range; else whole
    ranges: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            how = state.plan.pop(0) if state.plan else "whole"
            if how in {"busy", "gone"}:
                self.send_response(503 if how == "busy" else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start = int(asked[6:-1]) if asked and how != "no-range" else 0
            body = CONTENT[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if how == "cut" else body)
            self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        state.url = f"http://127.0.0.1:{running.server_address[1]}/data.bin"
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield state
        running.shutdown()
        thread.join()


def remote(server: Server, sha256: str | None = SHA256) -> RemoteFile:
    return RemoteFile("data.bin", server.url, sha256)


def test_a_file_is_fetched_once_and_kept(server: Server, tmp_path: Path) -> None:
    first = fetch(remote(server), tmp_path, wait_s=0.001)
    second = fetch(remote(server), tmp_path, wait_s=0.001)
    assert first == second == cached_path(remote(server), tmp_path)
    assert first.read_bytes() == CONTENT
    assert server.ranges == [None]


def test_a_truncated_answer_is_resumed_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.plan = ["cut", "cut"]
    assert fetch(remote(server), tmp_path, wait_s=0.001).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=150000-", "bytes=225000-"]


def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    server.plan = ["cut", "no-range"]
    assert fetch(remote(server), tmp_path, wait_s=0.001).read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.plan = ["busy", "busy", "busy"]
    assert fetch(remote(server), tmp_path, wait_s=0.001).read_bytes() == CONTENT


def test_a_part_left_by_a_killed_process_is_resumed(server: Server, tmp_path: Path) -> None:
    target = cached_path(remote(server), tmp_path)
    target.parent.mkdir(parents=True)
    target.with_name("data.bin.part").write_bytes(CONTENT[:1000])
    assert fetch(remote(server), tmp_path, wait_s=0.001).read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"]


def test_a_wrong_hash_is_refused_with_what_was_expected(server: Server, tmp_path: Path) -> None:
    wrong = "0" * 64
    with pytest.raises(DownloadError, match=f"sha256 is {SHA256}, expected {wrong}"):
        fetch(remote(server, wrong), tmp_path, wait_s=0.001)
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ["data.bin.lock"]


def test_a_file_that_is_gone_is_not_asked_for_again_and_says_where_to_put_it(
    server: Server, tmp_path: Path
) -> None:
    server.plan = ["gone"]
    with pytest.raises(DownloadError, match="404") as raised:
        fetch(remote(server), tmp_path, wait_s=0.001)
    assert str(cached_path(remote(server), tmp_path)) in str(raised.value)
    assert len(server.ranges) == 1


def test_an_answer_that_stays_truncated_is_given_up(server: Server, tmp_path: Path) -> None:
    server.plan = ["cut"] * 10
    with pytest.raises(DownloadError, match=r"complete message|ended after"):
        fetch(remote(server), tmp_path, wait_s=0.001)
    assert len(server.ranges) == 4


def test_no_network_is_an_error_with_the_file_and_its_place(tmp_path: Path) -> None:
    file = RemoteFile("data.bin", "http://127.0.0.1:9/data.bin", SHA256)
    with pytest.raises(DownloadError, match=r"data\.bin: could not be fetched") as raised:
        fetch(file, tmp_path, wait_s=0.001)
    assert str(cached_path(file, tmp_path)) in str(raised.value)


def test_a_file_without_a_pin_is_kept_by_its_address(server: Server, tmp_path: Path) -> None:
    assert fetch(remote(server, None), tmp_path, wait_s=0.001).read_bytes() == CONTENT


def test_progress_is_silent_where_stderr_is_no_terminal(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(remote(server), tmp_path, wait_s=0.001)
    assert capsys.readouterr() == ("", "")


def test_processes_that_want_the_same_file_fetch_it_once(server: Server, tmp_path: Path) -> None:
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch(remote(server), tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert server.ranges == [None]
