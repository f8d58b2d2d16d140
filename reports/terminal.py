"""The report for people at a terminal."""

import io

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..evals.gate import Decision
from ..evals.summary import Summary
from .contents import build_contents
from .table import Table
from .visible import visible_line

STYLES = {
    Decision.PASS: "bold green",
    Decision.REGRESSION: "bold red",
    Decision.INCONCLUSIVE: "bold yellow",
    Decision.VOID: "bold magenta",
}


def render_terminal(summary: Summary, *, width: int = 100, color: bool = False) -> str:
    """The report as text of that width (characters), with terminal colours or without any."""
    contents = build_contents(summary)
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        emoji=False,
    )
    console.print(Text(contents.title, style="bold"))
    console.print(Text(contents.asked))
    for table in contents.tables:
        console.print()
        console.print(Text(table.title, style="bold"))
        print_table(console, table)
    for note in contents.notes:
        console.print(Text(f"• {note}"))
    console.print()
    for verdict in contents.verdicts:
        console.print(
            Text.assemble(
                (f"{verdict.candidate}: ", "bold"), (verdict.decision.value, STYLES[verdict.decision])
            )
        )
        for reason in verdict.reasons:
            console.print(Text(f"  {visible_line(reason)}"))
    console.print()
    console.print(
        Text.assemble(
            ("decision: ", "bold"),
            (contents.decision.value, STYLES[contents.decision]),
            f" (gate would exit {contents.decision.exit_code})",
        )
    )
    console.print()
    console.print(Text("next:", style="bold"))
    for command in contents.next_commands:
        # Never wrapped: a command is there to be copied.
        console.print(Text(f"  {command}"), soft_wrap=True)
    file = console.file
    return file.getvalue() if isinstance(file, io.StringIO) else ""


def print_table(console: Console, table: Table) -> None:
    """Draw one table, without its title."""
    if not table.rows:
        console.print(Text("  none"))
        return
    rich = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for column, title in enumerate(table.header):
        is_number = column in table.numeric
        rich.add_column(title, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in table.rows:
        rich.add_row(*(Text(visible_line(cell)) for cell in row))
    console.print(rich)
    if table.note:
        console.print(Text(f"  {table.note}", style="dim"))
