"""The `tasks` commands: suites listed, shown, checked and written out."""

from pathlib import Path
from typing import Annotated

import typer

tasks_app = typer.Typer(
    help="Suites: list, show, validate, export.", no_args_is_help=True, rich_markup_mode=None
)

Spec = Annotated[str, typer.Argument(help="A built-in suite, a benchmark or a file: see README.")]
Categories = Annotated[list[str] | None, typer.Option("--category", help="Only this category; repeat.")]
SampleIds = Annotated[
    list[str] | None,
    typer.Option("--sample-ids", help="Only these: ids joined by commas, or a file of them; repeat."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only N samples, every category in proportion.")]
Seed = Annotated[int, typer.Option(help="Seed of order and drawing.")]


def split_ids(given: list[str] | None) -> list[str] | None:
    """Read `--sample-ids`: a file is one value, whatever its name; other values are split at commas."""
    if given is None:
        return None
    return [one for value in given for one in ([value] if Path(value).is_file() else value.split(","))]


@tasks_app.command("list")
def tasks_list() -> None:
    """List the built-in suites."""
    from .reports.suites import render_suites

    typer.echo(render_suites(), nl=False)


@tasks_app.command("show")
def tasks_show(
    spec: Spec,
    sample_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One sample, as JSON.")] = None,
    category: Categories = None,
    sample_ids: SampleIds = None,
    limit: Limit = None,
    seed: Seed = 1,
) -> None:
    """List the samples of a suite, or print one."""
    from .reports.suites import render_raw_sample, render_suite
    from .tasks.suite import load_suites

    suite = load_suites(
        [spec], limit=limit, seed=seed, categories=category or (), sample_ids=split_ids(sample_ids) or ()
    )
    _tell_notes(suite.notes)
    typer.echo(render_suite(suite) if sample_id is None else render_raw_sample(suite, sample_id), nl=False)


@tasks_app.command("validate")
def tasks_validate(
    spec: Annotated[str, typer.Argument(metavar="FILE", help="A suite file, or any other spec.")],
) -> None:
    """Check a suite file; every problem with its line and field."""
    from .reports.suites import render_check
    from .tasks.suite import read_suite

    typer.echo(render_check(spec, read_suite(spec)), nl=False)


@tasks_app.command("export")
def tasks_export(
    spec: Annotated[list[str], typer.Argument(help="One spec or several, written as one suite file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output without it.")
    ] = None,
    category: Categories = None,
    sample_ids: SampleIds = None,
    limit: Limit = None,
    seed: Seed = 1,
) -> None:
    """Write samples as a suite file, JSON lines, which asks exactly the same."""
    from .evals.runs.journal import write_text
    from .reports.suites import render_lines
    from .tasks.suite import load_suites

    suite = load_suites(
        spec, limit=limit, seed=seed, categories=category or (), sample_ids=split_ids(sample_ids) or ()
    )
    _tell_notes(suite.notes)
    text = render_lines(suite)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
    typer.echo(f"wrote {output}: {len(suite.samples)} samples", err=True)


def _tell_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        typer.echo(f"note: {note}", err=True)
