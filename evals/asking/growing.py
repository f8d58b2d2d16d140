"""The record of a session that asks: it grows by each answer, and leaves the requests in the journal."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..attempt import Attempt, Key
from ..runs.record import Record, keep_attempt, read_run
from ..runs.run import facts_of


@dataclass(frozen=True, kw_only=True)
class GrowingRecord(Record):
    """A record that takes one attempt after another; what is due is computed from it again and again.

    No attempt in it has its request, which is most of what an attempt weighs: the journal has it.
    """

    attempts: dict[Key, Attempt]

    def keep(self, attempt: Attempt) -> None:
        """Add an attempt that stands in the journal, as `read_run` would on reading it."""
        key, place = attempt.key, (attempt.id, attempt.arm)
        # The rows first: what makes them looks at all attempts.
        own, beside = self._rows
        way = (self.plan.run.mode, self.plan.run.is_streamed)
        rows = own if (attempt.mode, attempt.stream) == way else beside
        before = self.attempts.get(key)
        keep_attempt(self.attempts, attempt.without_request())
        kept = self.attempts[key]
        if kept is not before:
            rows[place] = (*(one for one in rows.get(place, ()) if one is not before), kept)

    @cached_property
    def _rows(self) -> tuple[dict[tuple[str, str], tuple[Attempt, ...]], ...]:
        return tuple(dict(rows) for rows in super()._rows)


def read_growing(directory: Path) -> GrowingRecord:
    """Read a whole run directory to go on with it; raises as `read_run`."""
    record = read_run(directory, with_requests=False)
    return GrowingRecord(**facts_of(record), samples=record.samples, attempts=dict(record.attempts))
