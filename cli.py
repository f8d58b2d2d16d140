"""The command line: a table of its commands, which stand in the `cli_…` modules beside it.

Each reads, computes, writes, and returns an exit code.
"""

from typing import Annotated

import typer

from .cli_ask import demo, gate, run
from .cli_diff import diff
from .cli_merge import merge
from .cli_pack import pack, unpack
from .cli_plan import plan
from .cli_read import explain, parse, probe
from .cli_report import report, show
from .cli_tasks import tasks_app
from .errors import UserError

app = typer.Typer(
    name="draftproof",
    help="Does turning on speculative decoding break my tool calls, and if so, how?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 pass, 1 regression, 2 usage or bad input, 3 inconclusive, 4 void, 130 interrupted.",
)
COMMANDS = (demo, plan, run, report, gate, merge, pack, unpack, diff, show, probe, parse, explain)
for command in COMMANDS:
    app.command()(command)
app.add_typer(tasks_app, name="tasks")


def main() -> None:
    """Run the command line; the one place where an error becomes an exit code."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(error.exit_code) from None


def version_line(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from . import __version__

        typer.echo(f"draftproof {__version__}")
        raise typer.Exit


@app.callback()
def front_door(
    _version: Annotated[
        bool, typer.Option("--version", callback=version_line, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Replay tool calls with speculation off and on, and say of each that broke why."""
