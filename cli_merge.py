"""The command that joins run directories: `merge`."""

from pathlib import Path
from typing import Annotated

import typer

from .cli_report import judged, print_report, tell


def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Shards, or runs of one plan; packed ones too.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Run directory to make.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Join even if shards are missing; the gate says void.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report.")] = False,
) -> None:
    """Join the shards of a run, or runs of one plan; asks nothing.

    Runs of one plan may have asked different arms of it.
    """
    from .evals.at_rest.merge import merge_runs

    merge_runs(runs, output, is_partial=partial, tell=tell)
    summary = judged(output, must_write=True)
    if not quiet:
        print_report(summary)
