"""Progress on stderr, shown only where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def step_display(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner whose text is the step at hand; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    with console.status(title) as status:
        yield lambda step: status.update(f"{title}: {escape(step)}")
