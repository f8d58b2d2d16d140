"""What a run shows while it asks: live bars at a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TextIO

from ..evals.attempt import Ask, Attempt

SECONDS_BETWEEN_LINES = 10.0
CUT_REASONS = frozenset(("length", "max_tokens"))


@dataclass(slots=True)
class _ArmCount:
    """Counts of one arm in the round that is being asked."""

    total: int
    started: float
    done: int = 0
    cut: int = 0
    failed: int = 0

    def text(self, now: float) -> str:
        rate = self.done / (now - self.started) if now > self.started else 0.0
        left = (self.total - self.done) / rate if rate else None
        parts = [f"{self.done}/{self.total}", f"{rate:.1f}/s"]
        if self.cut:
            parts.append(f"cut {self.cut}")
        if self.failed:
            parts.append(f"failed {self.failed}")
        if self.done < self.total:
            parts.append("time left ?" if left is None else f"{_duration(left)} left")
        return "  ".join(parts)


class PlainProgress:
    """One line per arm when it is done, and at most one every ten seconds in between."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._counts: dict[str, _ArmCount] = {}
        self._stage = ""
        self._last = time.monotonic()

    def round_started(self, asks: Sequence[Ask]) -> None:
        """Start counting a round."""
        self._counts = count_asks(asks)
        self._stage = stage_name(asks)
        totals = ", ".join(f"{arm} {count.total}" for arm, count in self._counts.items())
        self._print(f"{self._stage}: asking {totals}")

    def attempt_done(self, attempt: Attempt) -> None:
        """Count one attempt."""
        now = time.monotonic()
        count = self._counts[attempt.arm]
        count_attempt(count, attempt)
        if count.done == count.total or now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            self._print(f"{self._stage}: {attempt.arm}  {count.text(now)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class LiveProgress:
    """A bar per arm, redrawn in place."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        self._progress = Progress(
            TextColumn("{task.fields[stage]:>9}"),
            TextColumn("[bold]{task.description}", markup=True),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}"),
            console=Console(stderr=True),
        )
        self._counts: dict[str, _ArmCount] = {}
        self._tasks: dict[str, TaskID] = {}

    def round_started(self, asks: Sequence[Ask]) -> None:
        """Add the round's bars."""
        self._counts = count_asks(asks)
        stage = stage_name(asks)
        self._tasks = {
            arm: self._progress.add_task(arm, total=count.total, stage=stage, state=f"0/{count.total}")
            for arm, count in self._counts.items()
        }

    def attempt_done(self, attempt: Attempt) -> None:
        """Count one attempt and redraw its bar."""
        count = self._counts[attempt.arm]
        count_attempt(count, attempt)
        self._progress.update(
            self._tasks[attempt.arm], completed=count.done, state=count.text(time.monotonic())
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()


def open_progress(*, quiet: bool = False) -> "PlainProgress | LiveProgress | SilentProgress":
    """The display that suits standard error."""
    if quiet:
        return SilentProgress()
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()


class SilentProgress:
    """Shows nothing."""

    def round_started(self, asks: Sequence[Ask]) -> None:
        """Ignore it."""

    def attempt_done(self, attempt: Attempt) -> None:
        """Ignore it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""


def count_asks(asks: Sequence[Ask]) -> dict[str, _ArmCount]:
    """Totals per arm, in the order of the asks."""
    counts: dict[str, _ArmCount] = {}
    now = time.monotonic()
    for ask in asks:
        counts.setdefault(ask.arm, _ArmCount(0, now)).total += 1
    return counts


def count_attempt(count: _ArmCount, attempt: Attempt) -> None:
    """Add one attempt; an arm's clock starts with its own first answer when arms take turns."""
    if not count.done:
        count.started = min(
            time.monotonic(), max(count.started, time.monotonic() - attempt.duration_ms / 1000)
        )
    count.done += 1
    count.failed += not attempt.succeeded
    count.cut += attempt.finish_reason in CUT_REASONS


def stage_name(asks: Sequence[Ask]) -> str:
    """The stage that names a round: its asks' own, control and first together being `first`."""
    stages = {ask.stage.value for ask in asks}
    return next(stage for stage in ("first", "doubled", "confirm", "control") if stage in stages)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
