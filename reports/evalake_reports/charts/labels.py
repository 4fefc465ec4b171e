"""Text on charts: names cut to length, durations with a unit, legends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evalake_warehouse.questions.runs import Run
from evalake_warehouse.shown import shown

MAX_LABEL = 44
DASH = "\u2013"  # for what is not there
MINUS = "\u2212"


def shorten(text: str, limit: int = MAX_LABEL) -> str:
    """Text on one line of at most `limit` characters; what is cut is cut from the middle.

    The end of a label often tells two arms apart, so both ends stay.
    """
    line = shown(text).strip()
    if len(line) <= limit:
        return line
    tail = (limit - 1) // 3
    return f"{line[: limit - 1 - tail].rstrip()}…{line[-tail:].lstrip()}"


def unique_labels(runs: Sequence[Run], limit: int = MAX_LABEL) -> Mapping[str, str]:
    """A short label per run id, no two alike: a clash gets the run id's end."""
    short = {run.run_id: shorten(run.arm_label, limit) or run.arm_hash[:7] for run in runs}
    count = Counter(short.values())
    return {
        run_id: label if count[label] == 1 else f"{shorten(label, limit - 9)} ~{run_id[-7:]}"
        for run_id, label in short.items()
    }


def legend(run: Run, n: int, limit: int = 96) -> str:
    """`<system> / <config> (<label>) [<sha>, n=...]`."""
    sha = run.git_sha[:7] if run.git_sha else "no sha"
    text = f"{run.system} / {config_name(run)} ({run.arm_label})"
    return f"{shorten(text, limit)} [{sha}, n={n}]"


def config_name(run: Run) -> str:
    """What the arm's configuration calls itself, else the arm hash's first seven digits."""
    for key in ("name", "config", "pipeline", "preset"):
        value = run.config.get(key)
        if isinstance(value, str) and value:
            return value.rsplit("/", 1)[-1].removesuffix(".yaml")
    return run.arm_hash[:7]


def duration(seconds: float | None) -> str:
    """A duration with three figures and the unit that suits it: us, ms or s."""
    if seconds is None:
        return DASH
    for limit, factor, unit in ((0.000_999_5, 1e6, "us"), (0.999_5, 1e3, "ms")):
        if seconds < limit:
            return f"{_three_figures(seconds * factor)} {unit}"
    return f"{_three_figures(seconds)} s"


def interval(mean: float | None, low: float | None, high: float | None) -> str:
    """`0.742 [0.66, 0.81]`, without the brackets where there is no interval."""
    if mean is None:
        return "not scored"
    if low is None or high is None:
        return f"{mean:.3f}"
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"


def difference(mean: float | None, low: float | None, high: float | None) -> str:
    """`+0.042 [+0.010, +0.075]` with true minus signs."""
    if mean is None:
        return DASH
    text = f"{mean:+.3f}"
    if low is not None and high is not None:
        text += f" [{low:+.3f}, {high:+.3f}]"
    return text.replace("-", MINUS)


def chance_text(chance: float | None) -> str:
    """`Chance: 0.018.`, or that it is not known."""
    return "Chance: not known." if chance is None else f"Chance: {chance:.3f}."


def p_value(p: float | None) -> str:
    """A p value as `p = 0.012`, or `p < 0.001`."""
    if p is None:
        return DASH
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def title(runs: Sequence[Run]) -> str:
    """Dataset, split and number of tasks: what every chart says by default."""
    first = runs[0]
    tasks = max(run.n_seen for run in runs)
    return f"{first.dataset}, {first.split}, n = {tasks} tasks"


def _three_figures(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
