"""Commands that look at one thing and say what it is: `parse` a text, `probe` a server, `explain` a code."""

from pathlib import Path
from typing import Annotated

import typer

from .cli_report import tell
from .errors import UserError


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
    """Say what a code means, its usual cause, and what to do."""
    from .reports.explained import render_codes, render_explanation, render_reference

    if markdown:
        typer.echo(render_reference(), nl=False)
    else:
        typer.echo(render_codes() if code is None else render_explanation(code), nl=False)


def probe(
    url: Annotated[str | None, typer.Argument(help="Base URL, such as http://127.0.0.1:8000/v1.")] = None,
    other: Annotated[str | None, typer.Argument(metavar="[URL2]", help="A second one, side by side.")] = None,
    model: Annotated[str | None, typer.Option(help="Model to ask; else the only one listed.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Variable that holds the key.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder of a model: does it declare and ship MTP layers?")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a server does with caps, streams, parameters, tools.

    Two are set side by side.
    """
    from .evals.probing.checkpoint import read_checkpoint
    from .evals.probing.probe import probe_all
    from .reports.probe import probe_json, render_probe

    urls = [one for one in (url, other) if one is not None]
    if not urls and checkpoint is None:
        raise UserError("nothing to probe; expected a URL, or --checkpoint DIR")
    shipped = None if checkpoint is None else read_checkpoint(checkpoint)
    probes = probe_all(urls, model=model, api_key_env=api_key_env, tell=tell)
    typer.echo(probe_json(probes, shipped) if json else render_probe(probes, shipped), nl=False)
