"""The report in headless Chromium: it works, and it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.charts.browser import Page, browser, missing_reason
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, Arm, demo_runs
from tests.charts.test_charts import HTML_LABEL

from evalake_reports.charts import Selection, open_marts, panels, save, score_bars
from evalake_reports.report import write_report

REASON = missing_reason()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")
ENTRIES = "[...document.querySelectorAll('.tasks button')]"
DOWN = "\ue015"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def report(demo: Selection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report([demo], tmp_path_factory.mktemp("browser") / "report.html")


@pytest.fixture
def opened(tab: Page, report: Path) -> Page:
    tab.size(1280)
    visit(tab, report)
    return tab


def visit(tab: Page, path: Path) -> None:
    tab.open(path.as_uri())
    tab.run("localStorage.clear()")
    tab.open("about:blank")
    tab.prefer("light")
    tab.console()
    tab.requests()
    tab.open(path.as_uri())
    tab.wait("document.querySelector('.tasks button')")


def choose(page: Page, name: str, value: str) -> None:
    page.run(
        "const f = document.querySelector(`.filters [name='${arguments[0]}']`); f.value = "
        "arguments[1]; f.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )


def shown_tasks(page: Page) -> set[int]:
    return set(page.run(f"return {ENTRIES}.map(b => Number(b.dataset.task))"))


def test_the_report_asks_for_nothing_and_complains_of_nothing(opened: Page, report: Path) -> None:
    opened.run(
        f"for (const b of {ENTRIES}.slice(0, 5)) b.click();"
        "document.querySelectorAll('details').forEach(d => d.open = true);"
        "document.getElementById('theme').click()"
    )
    assert opened.console() == []
    assert opened.requests() == [report.as_uri()]


def test_flipped_shows_the_tasks_that_one_arm_found_and_the_other_did_not(
    opened: Page, demo: Selection
) -> None:
    assert len(shown_tasks(opened)) == 40
    choose(opened, "show", "flipped")
    scores = demo.marts.rows(
        "select run_id, task_id, value from fct_task_metrics where metric = 'recall@5'"
    )
    label = {run.run_id: run.arm_label for run in demo.runs}
    value = {(label[row["run_id"]], row["task_id"]): row["value"] for row in scores}
    best = opened.run("return document.querySelector('[name=b]').selectedOptions[0].textContent")
    expected = {
        number
        for number in range(40)
        if (value["bm25", f"task-{number:04}"] > 0) != (value[best, f"task-{number:04}"] > 0)
    }
    assert shown_tasks(opened) == expected
    assert expected


def test_found_by_no_arm_leaves_out_what_any_arm_but_a_control_found(
    opened: Page, demo: Selection
) -> None:
    choose(opened, "show", "unfound")
    found = demo.marts.rows(
        "select distinct task_id from fct_task_metrics join dim_runs using (run_id) "
        "where metric = 'recall@5' and value > 0 and role <> 'control'"
    )
    by_chance = demo.marts.rows(
        "select task_id from fct_task_metrics join dim_runs using (run_id) "
        "where metric = 'recall@5' and value > 0 and role = 'control'"
    )
    missed = set(range(40)) - {int(row["task_id"][5:]) for row in found}
    assert shown_tasks(opened) == missed
    assert missed & {int(row["task_id"][5:]) for row in by_chance}


def test_question_type_repository_and_words_narrow_the_list(opened: Page) -> None:
    choose(opened, "label:qa_type", "trace")
    assert shown_tasks(opened) == set(range(2, 40, 4))
    choose(opened, "label:repo", "click")  # every trace task is on rich
    assert shown_tasks(opened) == set()
    assert "No task fits" in opened.run("return document.querySelector('.detail').textContent")
    choose(opened, "label:repo", "")
    choose(opened, "text", "CASE 14 closed")
    assert shown_tasks(opened) == {14}
    choose(opened, "label:difficulty", "hard")
    assert shown_tasks(opened) == {14}
    choose(opened, "label:difficulty", "easy")
    assert shown_tasks(opened) == set()
    choose(opened, "label:difficulty", "")
    status = opened.run("return document.querySelector('.count').textContent")
    assert status == "1 of 40 tasks"


def test_a_task_shows_query_gold_and_both_arms_with_the_match_named(
    opened: Page, demo: Selection
) -> None:
    row = demo.marts.rows(
        "select task_id, rank from fct_hits join dim_runs using (run_id) "
        "where credited and rank <= 8 and arm_label = 'bm25' order by task_id limit 1"
    )[0]
    number = int(row["task_id"][5:])
    opened.run(f"document.querySelector('.tasks [data-task=\"{number}\"]').click()")
    detail = opened.run("return document.querySelector('.detail').innerText")
    assert f"case {number} when the connection" in detail
    assert f"function_{number}" in detail
    left, right = opened.run(
        "return [...document.querySelectorAll('.arm-hits')].map(a => "
        "[a.querySelector('h4').textContent, a.querySelectorAll('.hits > li').length])"
    )
    assert left == ["bm25", 10]
    assert right[1] == 10
    chips = opened.run(
        "return [...document.querySelectorAll('.arm-hits:first-child .match')].map(m => "
        "[Number(m.querySelector('.r').textContent), m.querySelector('.chip').textContent])"
    )
    assert chips == [
        [row["rank"], "match: symbol"],
        [row["rank"] + 2, "match: symbol, no credit"],
    ]


def test_the_list_is_walked_with_the_keyboard(opened: Page) -> None:
    opened.run(f"{ENTRIES}[0].focus()")
    opened.press(DOWN)
    opened.press("j")
    assert opened.run(f"return {ENTRIES}.indexOf(document.activeElement)") == 2
    current = opened.run("return document.querySelector('.tasks [aria-current]').dataset.task")
    assert current == "2"
    opened.press("k")
    assert opened.run(f"return {ENTRIES}.indexOf(document.activeElement)") == 1
    opened.press("/")
    assert opened.run("return document.activeElement.name") == "text"


def test_a_chosen_task_has_an_address_that_opens_it_again(opened: Page, report: Path) -> None:
    opened.run("document.querySelector('.tasks [data-task=\"17\"]').click()")
    address = opened.run("return location.href")
    assert address == f"{report.as_uri()}#p0-tasks=task-0017"
    opened.open("about:blank")
    opened.open(address)
    opened.wait("document.querySelector('.tasks [aria-current]')")
    current = opened.run("return document.querySelector('.tasks [aria-current]').dataset.task")
    assert current == "17"


def test_on_a_phone_a_task_opens_below_and_leads_back_to_the_list(opened: Page) -> None:
    opened.size(375, 700)
    opened.run("document.querySelector('.tasks [data-task=\"9\"]').click()")
    top = opened.run("return document.querySelector('.detail').getBoundingClientRect().top")
    assert 0 <= top < 200
    opened.run("document.querySelector('.back').click()")
    assert opened.run("return document.activeElement.dataset.task") == "9"
    box = opened.run("return document.querySelector('.tasks').getBoundingClientRect().top")
    assert 0 <= box < 700


def test_everything_that_reacts_can_be_reached_with_the_keyboard(opened: Page) -> None:
    stray = opened.run(
        "return [...document.querySelectorAll('button, a, input, select, summary, .scroll')]"
        ".filter(e => e.tabIndex < 0).map(e => e.outerHTML.slice(0, 80))"
    )
    assert stray == []
    unnamed = opened.run(
        "return [...document.querySelectorAll('svg')].filter(s => !s.getAttribute('aria-label') "
        "&& !s.closest('[aria-hidden]')).length"
    )
    assert unnamed == 0


@pytest.mark.parametrize("width", [375, 768, 1280])
def test_no_width_scrolls_sideways(opened: Page, width: int) -> None:
    opened.size(width)
    assert opened.run("return document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_the_page_in_both_themes(opened: Page, theme: str) -> None:
    opened.prefer(theme)
    # WCAG 2 asks for 4.5 for text; ink on paper is far above, muted text just above.
    ratios = opened.run(
        """
        const level = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => {
          v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const page = level(getComputedStyle(document.body).backgroundColor);
        return ['body', '.meta', 'td', 'thead th', 'nav a', '.why', '.count'].map(s => {
          const ink = level(getComputedStyle(document.querySelector(s)).color);
          return (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05); });
        """
    )
    opened.prefer("light")
    assert min(ratios) > 4.5


def test_charts_follow_the_theme(opened: Page) -> None:
    script = "return getComputedStyle(document.querySelector('figure svg text')).fill"
    opened.prefer("light")
    light = opened.run(script)
    opened.prefer("dark")
    dark = opened.run(script)
    opened.prefer("light")
    assert light != dark


def test_the_theme_button_overrides_the_system(opened: Page) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    opened.run("localStorage.clear(); document.documentElement.removeAttribute('data-theme')")
    opened.open(opened.run("return location.href"))
    before = opened.run(background)
    opened.run("document.getElementById('theme').click()")
    opened.run("document.getElementById('theme').click()")
    assert opened.run("return document.querySelector('#theme span').textContent") == "dark"
    assert opened.run(background) != before
    opened.run("localStorage.clear()")


def test_html_in_labels_queries_and_texts_never_runs(tab: Page, tmp_path: Path) -> None:
    attack = "</script></pre><script>window.broken=1</script><img src=x onerror='broken=1'>"
    arms = (Arm(HTML_LABEL, "bm25", {}, 0.4, 0.01, "baseline"), ARMS[2])
    runs = demo_runs(arms, n_tasks=6)
    project = build_project(tmp_path, runs, hit_text=attack, query_prefix=attack)
    with open_marts(project) as marts:
        visit(tab, write_report(panels(marts), tmp_path / "report.html", name=attack))
        assert tab.run("return document.querySelectorAll('.app img, .app script').length") == 0
        assert tab.run("return document.querySelector('.detail h3').textContent").startswith(attack)
        assert tab.run("return typeof window.broken") == "undefined"
        assert tab.console() == []
        chart = save(score_bars(panels(marts)[0]), tmp_path / "chart.html")
    tab.open(chart.as_uri())
    tab.wait("document.querySelector('#chart svg')")
    assert tab.run("return typeof window.broken") == "undefined"


def test_an_interactive_chart_draws_itself_without_a_network(
    tab: Page, demo: Selection, tmp_path: Path
) -> None:
    chart = save(score_bars(demo), tmp_path / "chart.html")
    tab.open("about:blank")
    tab.console()
    tab.requests()
    tab.open(chart.as_uri())
    tab.wait("document.querySelector('#chart svg')")
    assert tab.console() == []
    asked = [url for url in tab.requests() if not url.startswith("data:")]
    assert asked == [chart.as_uri()]
