"""The command that compares arms: `diff`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .cli_report import has_color, tell, terminal_width
from .errors import UserError

if TYPE_CHECKING:
    from .evals.summing_up.pairing import Pair
    from .evals.summing_up.summary import Summary

Format = Literal["terminal", "markdown", "html"]


def diff(
    left: Annotated[str, typer.Argument(metavar="RUN[:ARM]", help="A run directory, and an arm of it.")],
    right: Annotated[
        str | None, typer.Argument(metavar="[RUN[:ARM]]", help="The other; alone, a run shows all its arms.")
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name is that of `report`
        Format, typer.Option("--format", help="What to render.")
    ] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output without it.")
    ] = None,
) -> None:
    """Compare any two arms, of one run or two, or all arms of a run.

    `diff RUN` shows every arm of it and the one to turn on, `diff RUN:ngram RUN:mtp` what only one breaks.
    """
    from .evals.runs.journal import write_text

    text = _rendered(_compared(left, right), format, is_printed=output is None)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        tell(f"wrote {output}")


def _rendered(compared: "Pair | Summary", kind: Format, *, is_printed: bool) -> str:
    from .reports.diff import build_diff
    from .reports.diff_html import render_diff_html
    from .reports.markdown import render_diff_markdown
    from .reports.terminal import render_diff

    match kind:
        case "html":
            return render_diff_html(compared)
        case "markdown":
            return render_diff_markdown(build_diff(compared))
        case "terminal" if is_printed:
            return render_diff(build_diff(compared), width=terminal_width(), color=has_color())
        case "terminal":
            return render_diff(build_diff(compared))


def _compared(left: str, right: str | None) -> "Pair | Summary":
    """Two arms, or a run whose arms are all compared."""
    from .evals.summing_up.pairing import operands, pair_arms

    run, arm = _split(left)
    summary = _judged(run)
    if right is None and arm is None:
        return summary
    if right is None:
        other, other_arm = summary, arm
        arm = summary.run.plan.baseline.name
    else:
        other_run, other_arm = _split(right)
        _refuse_lone_arm(summary, other_run)
        other = summary if other_run.resolve() == run.resolve() else _judged(other_run)
    return pair_arms(
        *operands(summary, arm or _only_candidate(summary), other, other_arm or _only_candidate(other))
    )


def _split(text: str) -> tuple[Path, str | None]:
    """A run and an arm; a directory whose name holds a colon is still a directory."""
    run, colon, arm = text.rpartition(":")
    return (Path(text), None) if not colon or not run or Path(text).is_dir() else (Path(run), arm)


def _refuse_lone_arm(summary: "Summary", other: Path) -> None:
    """Check that the other operand is no arm of the first one's run, named without it."""
    directory = summary.run.directory
    if not other.exists() and str(other) in (arm.name for arm in summary.run.plan.arms):
        raise UserError(
            f"{other}: no run directory; expected RUN or RUN:ARM", tip=f"{directory}:{other} is that arm"
        )


def _judged(run: Path) -> "Summary":
    from .evals.at_rest.open_run import open_run
    from .evals.summing_up.summary import summarise

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
