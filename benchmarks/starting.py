"""How long the command takes to start, beside a bare interpreter that imports typer.

    python benchmarks/starting.py [--rounds 5]

A command that reads its arguments makes typer import pydantic as well. So what runs one stands beside a typer
command with the same arguments that does nothing, too.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Iterator

from measured import Row, best, print_table

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
NOTHING = """
from pathlib import Path
from typing import Annotated, Optional
import typer

def main(
    file: Annotated[Path, typer.Argument(help="A file.")] = Path("-"),
    dialect: Annotated[str, typer.Option(help="A word.")] = "auto",
    tools: Annotated[Optional[Path], typer.Option(help="Another file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="A choice.")] = False,
) -> None:
    pass

typer.run(main)
"""
COMMANDS = {"--help": ["--help"], "parse": ["parse", "-"], "tasks list": ["tasks", "list"]}


def cpu_seconds(command: list[str]) -> float:
    """CPU time of one process; wall time would measure who else is on the machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        input=CALL,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "100"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(rounds: int) -> Iterator[Row]:
    bare = {
        "import typer": [sys.executable, "-c", "import typer"],
        "a typer command that does nothing": [sys.executable, "-c", NOTHING, "-"],
    }
    for name, arguments in COMMANDS.items():
        command = [sys.executable, "-m", "draftproof", *arguments]
        for what, beside in bare.items():
            if name == "--help" and what != "import typer":
                continue
            # Side by side: both kinds in each round.
            pairs = [(cpu_seconds(beside), cpu_seconds(command)) for _ in range(rounds)]
            base, own = best(one for one, _ in pairs), best(one for _, one in pairs)
            yield Row(
                f"start `draftproof {name}`", f"{own * 1e3:.0f} ms", f"{what} {base * 1e3:.0f} ms", own / base
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    print_table(rows(parser.parse_args().rounds))


if __name__ == "__main__":
    main()
