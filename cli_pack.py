"""The commands for runs at rest: `pack` and `unpack`."""

from pathlib import Path
from typing import Annotated

import typer

from .cli_report import judged, tell

Output = Annotated[Path, typer.Option("--output", "-o", help="Run directory to make.")]


def pack(run: Annotated[Path, typer.Argument(help="A run directory.")], output: Output) -> None:
    """Store a run in Parquet, small and quick to judge; asks nothing.

    The run itself stays. What asks nothing reads a packed run as any other; to go on asking, unpack it.
    """
    from .evals.at_rest.packing import pack_run

    pack_run(run, output)
    judged(output, must_write=True)
    tell(f"packed: {output}")


def unpack(run: Annotated[Path, typer.Argument(help="A packed run directory.")], output: Output) -> None:
    """Write a packed run's journals again; asks nothing.

    They are what they were, byte for byte; the packed run stays.
    """
    from .evals.at_rest.packing import unpack_run

    unpack_run(run, output)
    judged(output, must_write=True)
    tell(f"unpacked: {output}")
