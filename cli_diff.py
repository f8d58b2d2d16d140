"""The command that compares arms: `diff`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_report import has_color, terminal_width
from .errors import UserError

if TYPE_CHECKING:
    from .evals.summary import Summary


def diff(
    left: Annotated[str, typer.Argument(metavar="RUN[:ARM]", help="A run directory, and an arm of it.")],
    right: Annotated[
        str | None, typer.Argument(metavar="[RUN[:ARM]]", help="The other; alone, a run shows all its arms.")
    ] = None,
) -> None:
    """Compare any two arms, of one run or two; `diff RUN` compares all arms of it."""
    from .evals.pairing import operands
    from .reports.diff import render_matrix, render_pair

    width, color = terminal_width(), has_color()
    run, arm = _split(left)
    summary = _judged(run)
    if right is None and arm is None:
        typer.echo(render_matrix(summary, width=width, color=color), nl=False)
        return
    if right is None:
        other, other_arm = summary, arm
        arm = summary.run.plan.baseline.name
    else:
        other_run, other_arm = _split(right)
        other = summary if other_run.resolve() == run.resolve() else _judged(other_run)
    pair = operands(summary, arm or _only_candidate(summary), other, other_arm or _only_candidate(other))
    typer.echo(render_pair(*pair, width=width, color=color), nl=False)


def _split(text: str) -> tuple[Path, str | None]:
    """A run and an arm; a directory whose name holds a colon is still a directory."""
    run, colon, arm = text.rpartition(":")
    return (Path(text), None) if not colon or not run or Path(text).is_dir() else (Path(run), arm)


def _judged(run: Path) -> "Summary":
    from .evals.stored_run import open_run
    from .evals.summary import summarise

    return summarise(open_run(run))


def _only_candidate(summary: "Summary") -> str:
    names = [arm.name for arm in summary.run.plan.candidates]
    if len(names) > 1:
        directory = summary.run.directory
        raise UserError(
            f"{directory}: has several candidates ({', '.join(names)}); expected {directory}:ARM",
            tip=f"`draftproof diff {directory}` shows all of them",
        )
    return names[0]
