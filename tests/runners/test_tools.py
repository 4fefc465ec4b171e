"""Tools that are systems by their configuration alone: MCP servers, commands, HTTP services."""

from __future__ import annotations

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from driving import run, statuses
from toy import ROOT, rows

from evalake_runners.sweeps.system_file import load_system
from evalake_warehouse.project import Project

SERVERS = Path(__file__).resolve().parent / "servers"

PAGE = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")


def example(system: str) -> str:
    """The page's YAML of a kind of tool, run by the interpreter of the tests."""
    [found] = re.findall(rf"```yaml\n(system: {system}\n.*?)```", PAGE, re.DOTALL)
    return str(found).replace("python3", sys.executable)


def system_file(folder: Path, text: str, server: str = "search_server.py") -> Path:
    (folder / server).write_text((SERVERS / server).read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / "my-server.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_an_mcp_server_is_scored_from_twelve_lines_of_yaml(toy: Project, tmp_path: Path) -> None:
    text = example("mcp")
    assert len(text.splitlines()) <= 12
    arm = load_system(str(system_file(tmp_path, text)), None, toy)
    results = run(toy, arm)
    assert [result.state for result in results] == ["ran"], results[0].message
    assert set(statuses(toy).values()) == {("ok", None)}
    best = {row["task_id"]: row for row in rows(toy, "hits") if row["rank"] == 1}
    # Module 3 holds `topic3` on lines 5 and, as `handle_topic3`, in no word of the question.
    hit = best["task-00003"]
    assert (hit["path"], hit["path_status"], hit["start_line"]) == ("pkg/mod_03.py", "resolved", 5)


def test_a_command_is_scored_from_a_regular_expression(toy: Project, tmp_path: Path) -> None:
    text = example("command")
    arm = load_system(str(system_file(tmp_path, text, "search_lines.py")), None, toy)
    results = run(toy, arm)
    assert [result.state for result in results] == ["ran"], results[0].message
    best = {row["task_id"]: row for row in rows(toy, "hits") if row["rank"] == 1}
    hit = best["task-00003"]
    assert (hit["path"], hit["path_status"], hit["start_line"]) == ("pkg/mod_03.py", "resolved", 5)


class Service(BaseHTTPRequestHandler):
    """Answers module N to topic N, and is not ready for topic 4."""

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        [number] = re.findall(r"topic(\d+)", asked["q"][0])
        hit = {"file": f"pkg/mod_{int(number):02d}.py", "line": 5}
        body = json.dumps({"hits": [hit][: int(asked["n"][0])]}).encode()
        self.send_response(202 if number == "4" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_service_is_scored_and_one_that_is_not_ready_fails_its_task(
    toy: Project, tmp_path: Path
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        text = example("http").replace(":8000", f":{server.server_port}")
        file = tmp_path / "my-service.yaml"
        file.write_text(text, encoding="utf-8")
        results = run(toy, load_system(str(file), None, toy))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert [result.state for result in results] == ["ran"], results[0].message
    told = statuses(toy)
    assert told.pop("task-00004")[0] == "error"
    assert set(told.values()) == {("ok", None)}
    found = {row["task_id"]: (row["path"], row["start_line"]) for row in rows(toy, "hits")}
    assert found["task-00003"] == ("pkg/mod_03.py", 5)
