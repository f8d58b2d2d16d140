"""Commands that judge a run directory and ask nothing: `report` and `show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .errors import UserError

if TYPE_CHECKING:
    from .evals.summary import Summary

Run = Annotated[Path, typer.Argument(help="A run directory.")]


def report(
    run: Run,
    format: Annotated[  # noqa: A002 - the option's name is the contract
        Literal["terminal", "markdown", "json", "junit"], typer.Option("--format", help="What to render.")
    ] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output without it.")
    ] = None,
) -> None:
    """Grade, attribute and render a run again; asks nothing."""
    summary = judged(run)
    write_report(summary, format, output)


def show(run: Run, sample_id: Annotated[str, typer.Argument(metavar="ID", help="A sample's id.")]) -> None:
    """Take one sample apart: outputs, calls, defects, first difference, every attempt."""
    from .evals.record import read_run
    from .evals.summary import summarise
    from .reports.sample import render_sample

    text = render_sample(summarise(read_run(run)), sample_id)
    if text is None:
        raise UserError(
            f"{run}: no sample has the id {sample_id!r}", tip=f"ids stand in {run / 'samples.jsonl'}"
        )
    typer.echo(text, nl=False)


def judged(
    directory: Path,
    *,
    margin: float | None = None,
    alpha: float | None = None,
    baseline: str | None = None,
    must_write: bool = False,
) -> "Summary":
    """Judge a run and write its derived files; another margin, alpha or baseline is for this time only.

    A directory that cannot be written (somebody else's, an archive) is judged all the same.
    """
    from .evals.record import read_run
    from .evals.summary import summarise, write_derived

    record = read_run(directory)
    if margin is None and alpha is None and baseline is None:
        summary = summarise(record)
        try:
            write_derived(directory, summary)
        except UserError as error:
            if must_write:
                raise
            tell(f"note: {error.what}; the report is made all the same")
        return summary
    from .evals.plan import build_gate

    given = {key: value for key, value in (("margin", margin), ("alpha", alpha)) if value is not None}
    gate = build_gate({**record.plan.gate.model_dump(), **given})
    return summarise(record, gate=gate, baseline=baseline)


def print_report(summary: "Summary") -> None:
    """Print the report for people, as wide and as colourful as the terminal is."""
    import shutil
    import sys

    from .reports.terminal import render_terminal

    width = shutil.get_terminal_size((100, 24)).columns
    typer.echo(render_terminal(summary, width=width, color=_has_color(sys.stdout.isatty())), nl=False)


def _has_color(is_terminal: bool) -> bool:
    """Colour at a terminal, unless NO_COLOR is set (no-color.org)."""
    import os

    return is_terminal and not os.environ.get("NO_COLOR")


def write_report(
    summary: "Summary", kind: str, output: Path | None, *, allow_inconclusive: bool = False
) -> None:
    """Write a report of that kind to a file, or print it."""
    from .evals.journal import write_text
    from .reports.junit import render_junit
    from .reports.machine import render_json
    from .reports.markdown import render_markdown
    from .reports.terminal import render_terminal

    match kind:
        case "markdown":
            text = render_markdown(summary)
        case "json":
            text = render_json(summary)
        case "junit":
            text = render_junit(summary, allow_inconclusive=allow_inconclusive)
        case _ if output is None:
            print_report(summary)
            return
        case _:
            text = render_terminal(summary)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(f"wrote {output}", err=True)


def tell(sentence: str) -> None:
    """Say something that is no result: on standard error."""
    typer.echo(sentence, err=True)


def leave(code: int) -> None:
    """End the command with an exit code."""
    if code:
        raise typer.Exit(code)
