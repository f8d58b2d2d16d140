"""One line of a benchmark: two figures of one run on one machine, and their ratio."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, beside what, as texts; `ratio` is the first over the second."""

    what: str
    figure: str
    beside: str
    ratio: float

    def line(self) -> str:
        return f"| {self.what} | {self.figure} | {self.beside} | {self.ratio:.2f} |"


def print_table(rows: Iterable[Row]) -> None:
    """Print as Markdown, each line as it comes."""
    print("| what | draftproof | beside | ratio |\n|---|---:|---:|---:|")
    for row in rows:
        print(row.line(), flush=True)


def child(script: str, *arguments: object) -> dict[str, Any]:
    """Run a script of this folder in a process of its own; return the JSON that it prints last."""
    path = Path(__file__).parent / script
    command = [sys.executable, str(path), *map(str, arguments)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def best(values: Iterator[float]) -> float:
    """The smallest: what the machine can do when nobody disturbs it."""
    return min(values)
