"""Texts of others pass from an import to every reader as data: no path, markup, SQL or shell."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from toy import Ended, evalake

from evalake_warehouse.project import Project

HOSTILE = (
    "'; drop table hits; --",
    '"]$.x[*] \\" \\',
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "${7*7} {{7*7}} {% raw %} <%= 7*7 %>",
    "[red]bold[/red] [/] [link=https://x.example]here[/link]",
    "a\u2028b\u2029c\u202ed\u200be",
    "../../etc/passwd",
    "*?[a] $ `id` $(id) ; rm -rf . #",
    "| a | b |\u00a0\u00a0~~**_x_**~~",
    "x" * 400,
)
LABEL = "[red]one[/red] </script><b>"


@pytest.fixture
def imported(toy: Project, tmp_path: Path) -> Project:
    """A built warehouse of one imported run, in which every text that a file may set is hostile."""
    tasks, answers = tmp_path / "tasks.jsonl", tmp_path / "answers.jsonl"
    with tasks.open("w") as task_lines, answers.open("w") as answer_lines:
        for number in range(2 * len(HOSTILE)):
            text = HOSTILE[number // 2]
            task_id = f"{number} {text[:100]}"
            task = {
                "task_id": task_id, "query": f"about {text}", "qa_type": text[:90],
                "labels": {text[:90]: f"{text[:80]} {number % 2}"}, "gold": [{"doc_id": text}],
            }  # fmt: skip
            hit = {"doc_id": text if number % 2 else "other", "title": text, "text": text}
            task_lines.write(json.dumps(task) + "\n")
            answer_lines.write(json.dumps({"task_id": task_id, "hits": [hit]}) + "\n")
    given = ("--tasks", str(tasks), "--run", str(answers), "--label", LABEL, "--depth", "10")
    ended = evalake(toy, "import", "jsonl", "--dataset", "hostile", *given)
    assert ended.code == 0, ended.err
    assert evalake(toy, "build").code == 0
    return toy


class Tags(HTMLParser):
    """Every tag of a page that a hostile text would have opened, and every handler."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        handlers = [name for name, _ in attrs if name.startswith("on")]
        if tag == "img" or handlers or ("src", "x") in attrs:
            self.found.append(f"{tag} {attrs}")


@pytest.mark.dbt
def test_hostile_texts_are_data_to_every_reader(imported: Project, tmp_path: Path) -> None:
    chosen = ("--dataset", "hostile")
    page = tmp_path / "report.html"
    ended = {
        name: evalake(imported, *arguments)
        for name, arguments in {
            "leaderboard": ("leaderboard", *chosen),
            "leaderboard json": ("leaderboard", *chosen, "--json"),
            "runs": ("runs", "list", *chosen),
            "run": ("runs", "show", LABEL),
            "html": ("report", *chosen, "--output", str(page)),
            "markdown": ("report", *chosen, "--format", "md", "--full"),
            "json": ("report", *chosen, "--format", "json"),
            "charts": ("charts", *chosen, "--output", str(tmp_path / "charts")),
            "dataset": ("datasets", "show", "hostile"),
            "slices": ("sql", "from fct_run_breakouts where metric = 'success@1'", "--json"),
        }.items()
    }
    assert {name: (done.code, done.err) for name, done in ended.items() if done.code} == {}
    # By hand: of the two tasks of each text, one is answered; so is each slice by a text.
    slices = json.loads(ended["slices"].out)
    by_kind = {row["value"]: row["mean"] for row in slices if row["dimension"] == "qa_type"}
    assert by_kind == {text[:90]: 0.5 for text in HOSTILE}
    places = [row["mean"] for row in json.loads(ended["leaderboard json"].out)]
    assert places == [pytest.approx(0.5, abs=1e-12)]
    json.loads(ended["json"].out)
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    assert tags.found == []
    del ended["json"]  # a program reads it, for whom U+2028 is a character like others
    assert [name for name, done in ended.items() if _is_odd(done)] == []
    assert any((tmp_path / "charts").glob("breakout_heatmap.svg"))


def _is_odd(done: Ended) -> bool:
    """Whether the output holds a character that a terminal or a line-wise reader acts on."""
    return any(char in done.out + done.err for char in "\x1b\u2028\u2029\u202e\u200b")


def test_a_place_in_a_message_stays_on_its_line(toy: Project, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    task = {"task_id": "1", "query": "q", "labels": {"a\nerror: all is well\t": 1}, "gold": []}
    tasks.write_text(json.dumps(task) + "\n")
    ended = evalake(toy, "import", "jsonl", "--dataset", "mine", "--tasks", str(tasks))
    assert ended.code == 2
    assert "labels.a\\nerror: all is well\\t" in ended.err
    assert "\nerror: all is well" not in ended.err
