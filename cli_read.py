"""Commands that read one thing and say what it is: `parse` and `explain`."""

from pathlib import Path
from typing import Annotated

import typer

from .cli_report import tell


def parse(
    file: Annotated[Path, typer.Argument(help="A model's raw text; - is standard input.")] = Path("-"),
    dialect: Annotated[str, typer.Option(help="Markup to read, or auto.")] = "auto",
    tools: Annotated[Path | None, typer.Option(help="JSON list of OpenAI tools to check against.")] = None,
    starts_in_reasoning: Annotated[
        bool, typer.Option("--starts-in-reasoning", help="The prompt ended with the opening of thinking.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a model's raw text strictly: calls, defects, notes."""
    from .reports.parse import parse_report

    text = parse_report(
        file,
        dialect=dialect,
        tools=tools,
        starts_in_reasoning=starts_in_reasoning,
        as_json=json,
        tell=tell,
    )
    typer.echo(text, nl=False)


def explain(
    code: Annotated[str | None, typer.Argument(help="A code; without it, all of them.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference of all codes (docs/codes.md).")
    ] = False,
) -> None:
    """Say what a code means, with an example, its usual cause and what to do."""
    from .reports.explained import render_codes, render_explanation, render_reference

    if markdown:
        typer.echo(render_reference(), nl=False)
    else:
        typer.echo(render_codes() if code is None else render_explanation(code), nl=False)
