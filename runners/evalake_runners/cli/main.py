"""Entry point: gathers the commands, and turns errors into messages and exit codes."""

from __future__ import annotations

import sys

import click

from evalake_runners.cli.app import app
from evalake_runners.cli.output import print_error, say
from evalake_warehouse.errors import EvalakeError, ExitCode


def gather_commands() -> None:
    """Import every command module; each adds its commands to `app`."""
    from evalake_runners.cli import (
        audit,
        baseline,
        build,
        cache,
        charts,
        compare,
        config,
        datasets,
        doctor,
        imports,
        ingest,
        report,
        sql,
        sweep,
    )

    _ = (
        audit,
        baseline,
        build,
        cache,
        charts,
        compare,
        config,
        datasets,
        doctor,
        imports,
        ingest,
        report,
    )
    _ = (sql, sweep)


def run_cli(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; never raises, never prints a traceback
    for an error that a user can cause.
    """
    gather_commands()
    try:
        result = app(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show(file=sys.stderr)
        return ExitCode.USAGE
    except EvalakeError as error:
        print_error(error)
        return error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return ExitCode.OK
    return result if isinstance(result, int) else ExitCode.OK


def main() -> None:
    """Console script."""
    sys.exit(run_cli())
