"""Entry point: gathers the commands, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import os
import sys

from typer.exceptions import Abort, TyperException

from evalake_cli.app import app
from evalake_cli.output import print_error, say, say_warnings
from evalake_warehouse.errors import EvalakeError, ExitCode

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
    """Run one command line and return its exit code; never raises, never prints a traceback
    for an error that a user can cause.
    """
    gather_commands()
    say_warnings()
    try:
        result = app(args=arguments, prog_name="evalake", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        _print_usage_error(error)
        return ExitCode.USAGE
    except EvalakeError as error:
        print_error(error)
        return error.exit_code
    except (KeyboardInterrupt, Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except (SystemExit, BrokenPipeError):  # typer makes the one of the other, with exit code 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLOSED_PIPE
    except OSError as error:
        # A folder that cannot be written, a full disk: the user's to mend, and no bug of ours.
        say(f"error: {error.filename or 'output'}: {error.strerror or error}")
        say("\nhint: evalake doctor")
        return ExitCode.USAGE
    return result if isinstance(result, int) else ExitCode.OK


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
