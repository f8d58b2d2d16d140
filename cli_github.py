"""What the commands do when they run inside GitHub Actions: annotations, and the job's summary page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .cli_report import tell

if TYPE_CHECKING:
    from .evals.summing_up.summary import Summary

# GitHub drops a step's summary that is larger, all of it.
SUMMARY_BYTES = 1024 * 1024


def tell_github(summary: "Summary", *, allow_inconclusive: bool) -> None:
    """Print annotations, and append the Markdown report to the step's summary; elsewhere do nothing.

    GitHub says that it is there by GITHUB_ACTIONS=true, and names the summary's file in GITHUB_STEP_SUMMARY.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    from .reports.annotations import render_annotations

    typer.echo(render_annotations(summary, allow_inconclusive=allow_inconclusive), nl=False)
    if name := os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(summary, Path(name))


def _append(summary: "Summary", file: Path) -> None:
    """Append to the summary; a file that cannot be written costs the page, never the decision."""
    from .reports.markdown import render_markdown_within

    try:
        written = file.stat().st_size if file.exists() else 0
        text = render_markdown_within(summary, SUMMARY_BYTES - written - 1)
        with file.open("a", encoding="utf-8") as page:
            page.write(f"\n{text}" if written else text)
    except OSError as error:
        tell(f"note: {file}: cannot be written: {error.strerror or error}; the job summary lacks the report")
