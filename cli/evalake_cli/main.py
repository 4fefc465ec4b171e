"""Entry point: gathers the commands, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import os
import sys

from typer.exceptions import Abort, TyperException

from evalake_cli.app import app
from evalake_cli.boundary import check_arguments, explain
from evalake_cli.output import print_error, say, say_warnings
from evalake_warehouse.errors import ExitCode

# In the order of the help: the main path first.
_COMMANDS = (
    "demo",
    "ingest",
    "datasets",
    "imports",
    "sweep",
    "build",
    "runs",
    "report",
    "charts",
    "compare",
    "baseline",
    "sql",
    "audit",
    "cache",
    "config",
    "doctor",
)


def gather_commands() -> None:
    """Import every command module; each adds its commands to `app`."""
    for name in _COMMANDS:
        importlib.import_module(f"evalake_cli.{name}")


def run_cli(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; raises nothing, prints no traceback."""
    say_warnings()
    try:
        check_arguments(sys.argv[1:] if arguments is None else arguments)
        gather_commands()
        result = app(args=arguments, prog_name="evalake", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        _print_usage_error(error)
        return ExitCode.USAGE
    except (KeyboardInterrupt, Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except BaseException as error:
        if _is_closed_output(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.CLOSED_PIPE
        explained = explain(error)
        print_error(explained)
        return explained.exit_code
    return result if isinstance(result, int) else ExitCode.OK


def _is_closed_output(error: BaseException) -> bool:
    """Whether who read the output stopped; typer makes a `SystemExit` of that."""
    cause = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(cause, BrokenPipeError)


def _print_usage_error(error: TyperException) -> None:
    """A wrong flag or argument, in the form of all our errors."""
    # A class of typer's own that it does not export: it has no other public name for these.
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if message.startswith("Usage:"):  # nothing was wrong but that nothing was asked for
        say(message)
        return
    say(f"error: {message.rstrip('.')}")
    context = getattr(error, "ctx", None)
    if context is not None:
        say(f"\nhint: {context.command_path} --help")


def main() -> None:
    """Console script."""
    sys.exit(run_cli())
