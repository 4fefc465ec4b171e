"""Tools that are systems by their configuration alone: MCP servers, commands, HTTP services."""

from __future__ import annotations

import sys
from pathlib import Path

from driving import run, statuses
from toy import rows

from evalake_runners.sweeps.system_file import load_system
from evalake_warehouse.project import Project

SERVERS = Path(__file__).resolve().parent / "servers"

MY_SERVER = f"""\
system: mcp
label: my-server
config:
  version: "1"
  command: [{sys.executable}, search_server.py, "{{corpus}}"]
  tool: search
  arguments: {{query: "{{query}}", limit: "{{depth}}"}}
  parser:
    source: structured
    rows: result
    fields: {{path: file, start_line: line, score: n_words}}
    line_base: 0
"""


def system_file(folder: Path, text: str, server: str = "search_server.py") -> Path:
    (folder / server).write_text((SERVERS / server).read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / "my-server.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_an_mcp_server_is_scored_from_twelve_lines_of_yaml(toy: Project, tmp_path: Path) -> None:
    assert len(MY_SERVER.splitlines()) <= 12
    arm = load_system(str(system_file(tmp_path, MY_SERVER)), None, toy)
    results = run(toy, arm)
    assert [result.state for result in results] == ["ran"], results[0].message
    assert set(statuses(toy).values()) == {("ok", None)}
    best = {row["task_id"]: row for row in rows(toy, "hits") if row["rank"] == 1}
    # Module 3 holds `topic3` on lines 5 and, as `handle_topic3`, in no word of the question.
    hit = best["task-00003"]
    assert (hit["path"], hit["path_status"], hit["start_line"]) == ("pkg/mod_03.py", "resolved", 5)
