"""`evalake --help`: what every command pays before it does anything."""

from __future__ import annotations

import sys

from bench.measure import measure, ratio_line


def main() -> None:
    """Print CPU seconds of `evalake --help`, next to an interpreter that does nothing."""
    program = "from evalake_cli.main import main; main()"
    ours = measure([sys.executable, "-c", program, "--help"], runs=5)
    print(ratio_line("evalake --help", ours, ours))
    print(ratio_line("python -c pass", measure([sys.executable, "-c", "pass"], runs=5), ours))


if __name__ == "__main__":
    main()
