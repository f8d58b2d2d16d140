"""Commands that judge a run directory and ask nothing: `report` and `show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .errors import UserError

if TYPE_CHECKING:
    from .evals.summing_up.summary import Summary
    from .reports.frames import FrameKind
    from .reports.table import Table

Run = Annotated[Path, typer.Argument(help="A run directory.")]


Format = Literal["terminal", "markdown", "html", "json", "junit", "csv", "parquet"]
Code = Annotated[str | None, typer.Option(help="Walk through the findings of this code.")]
CauseName = Annotated[
    Literal["cap", "malformed", "real_change", "unresolved"] | None,
    typer.Option(help="Walk through the findings of this cause."),
]


def report(
    run: Run,
    format: Annotated[  # noqa: A002 - the option's name is the contract
        Format, typer.Option("--format", help="What to render.")
    ] = "terminal",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File, or a folder for csv and parquet; standard output without it."
        ),
    ] = None,
) -> None:
    """Grade, attribute and render a run again; asks nothing."""
    summary = judged(run)
    if format in ("csv", "parquet"):
        write_frames(summary, format, output)
    else:
        write_report(summary, format, output)


def show(
    run: Run,
    sample_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A sample's id; without it, the findings.")
    ] = None,
    code: Code = None,
    cause: CauseName = None,
    next_after: Annotated[
        str | None, typer.Option("--next", metavar="ID", help="Go on to the finding after this sample.")
    ] = None,
    repeat: Annotated[
        Literal["curl", "python"] | None, typer.Option(help="Print the requests alone, to send by hand.")
    ] = None,
) -> None:
    """Take one sample apart; without an ID, list the findings.

    Outputs, calls, defects, first difference, every attempt, and with --repeat the requests to send again.
    """
    from .evals.at_rest.open_run import open_run
    from .evals.judging.finding import Cause
    from .evals.summing_up.summary import summarise
    from .reports.case import show_command
    from .reports.sample import render_repeat, render_sample
    from .reports.walk import Wanted, chosen_sample, findings_table, wanted_findings

    wanted = Wanted(code, None if cause is None else Cause(cause))
    is_walk = wanted != Wanted() or next_after is not None
    if sample_id is not None and is_walk:
        raise UserError("an ID names the one sample to show; expected no --code, --cause or --next beside it")
    summary = summarise(open_run(run))
    if sample_id is None and not is_walk:
        found = wanted_findings(summary, wanted)
        print_table(findings_table(found))
        if found:
            typer.echo(f"\ntake one apart: {show_command(run, found[0].id)}")
        return
    place = None
    if sample_id is None:
        sample_id, place = chosen_sample(summary, wanted, next_after)
    text = (
        render_sample(summary, sample_id, width=terminal_width())
        if repeat is None
        else render_repeat(summary, sample_id, repeat)
    )
    if text is None:
        raise UserError(
            f"{run}: no sample has the id {sample_id!r}", tip=f"ids stand in {run / 'samples.jsonl'}"
        )
    typer.echo(text, nl=False)
    if place is not None and repeat is None:
        typer.echo(f"\n{place}")


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
    from .evals.at_rest.open_run import open_run

    run = open_run(directory)
    if margin is None and alpha is None and baseline is None:
        from .evals.summing_up.derived import derive

        summary, problem = derive(run)
        if problem is not None and must_write:
            raise problem
        if problem is not None:
            tell(f"note: {problem.what}; the report is made all the same")
        return summary
    from .evals.plan import build_gate
    from .evals.summing_up.summary import summarise

    given = {key: value for key, value in (("margin", margin), ("alpha", alpha)) if value is not None}
    gate = build_gate({**run.plan.gate.model_dump(), **given})
    return summarise(run, gate=gate, baseline=baseline)


def print_report(summary: "Summary") -> None:
    """Print the report for people, as wide and as colourful as the terminal is."""
    from .reports.terminal import render_terminal

    typer.echo(render_terminal(summary, width=terminal_width(), color=has_color()), nl=False)


def print_table(table: "Table") -> None:
    """Print one table, the same way."""
    from .reports.terminal import render_table

    typer.echo(render_table(table, width=terminal_width(), color=has_color()), nl=False)


def terminal_width() -> int:
    """Characters that fit on a line; 100 where nobody knows."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def has_color() -> bool:
    """Colour at a terminal, unless NO_COLOR is set (no-color.org)."""
    import os
    import sys

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def write_report(
    summary: "Summary", kind: str, output: Path | None, *, allow_inconclusive: bool = False
) -> None:
    """Write a report of that kind to a file, or print it."""
    from .evals.runs.journal import write_text
    from .reports.html import render_html
    from .reports.junit import render_junit
    from .reports.machine import render_json
    from .reports.markdown import render_markdown
    from .reports.terminal import render_terminal

    match kind:
        case "markdown":
            text = render_markdown(summary)
        case "html":
            text = render_html(summary)
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


def write_frames(summary: "Summary", kind: "FrameKind", output: Path | None) -> None:
    """Write the run as data frames: all three into a folder, or the findings into one file.

    Raises:
        UserError: There is nowhere to write Parquet to.
    """
    from .evals.runs.journal import write_bytes
    from .reports.frames import render_frames

    if output is None and kind == "parquet":
        raise UserError("--format parquet is no text to print; expected -o FOLDER or -o FILE.parquet")
    files = render_frames(summary, kind)
    if output is None:
        typer.echo(files["findings"].decode(), nl=False)
        return
    is_file = output.suffix == f".{kind}"
    wanted = {output: files["findings"]} if is_file else {output / f"{n}.{kind}": b for n, b in files.items()}
    for path, content in wanted.items():
        write_bytes(path, content)
        tell(f"wrote {path}")


def tell(sentence: str) -> None:
    """Say something that is no result: on standard error."""
    typer.echo(sentence, err=True)


def leave(code: int) -> None:
    """End the command with an exit code."""
    if code:
        raise typer.Exit(code)
