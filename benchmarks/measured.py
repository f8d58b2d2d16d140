"""One line of a benchmark: two figures of one run on one machine, and their ratio."""

import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc")


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
    """Run a script of this folder in a process of its own; return the JSON that it prints last.

    `peak_mb` is added: the memory of that process and of all that it starts, together, at the worst moment.
    """
    path = Path(__file__).parent / script
    command = [sys.executable, str(path), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = _Peak(process)
        out, _ = process.communicate()
        peak.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return {**json.loads(out.splitlines()[-1]), "peak_mb": peak.megabytes}


class _Peak(threading.Thread):
    """Watches the resident memory of a process and its descendants, twenty times a second.

    Pages that several of them share are counted for each. Where there is no /proc (macOS), what the system
    kept of the largest one is told instead.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        super().__init__(daemon=True)
        self._process = process
        self.megabytes = 0.0
        self.start()

    def run(self) -> None:
        while self._process.poll() is None:
            self.megabytes = max(self.megabytes, _resident(self._process.pid) / 1024**2)
            time.sleep(0.05)
        if not PROC.exists():
            self.megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2


def _resident(pid: int) -> int:
    """Bytes of a process and its descendants."""
    try:
        pages = int((PROC / str(pid) / "statm").read_text().split()[1])
        tasks = (PROC / str(pid) / "task").iterdir()
        children = [one for task in tasks for one in (task / "children").read_text().split()]
    except (OSError, IndexError):
        return 0  # it has just ended
    return pages * resource.getpagesize() + sum(_resident(int(one)) for one in children)


def best(values: Iterator[float]) -> float:
    """The smallest: what the machine can do when nobody disturbs it."""
    return min(values)
