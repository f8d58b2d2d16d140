"""A run at rest: samples and attempts in two Parquet files, a group of rows for each block that is judged.

The rows are in the order of the suite, so nothing is looked for before judging begins. What such a run says
is, byte for byte, what the journals say that it was packed from (`packing.py`).
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

from ...errors import UserError
from ...tasks.problems import SampleError
from ...tasks.sample import Sample
from ...tasks.suite_file import read_checked_line
from ..attempt import Attempt, Key, read_attempt
from ..reading.answers import Answers
from ..runs.collection import uncollected
from ..runs.journal import attempts_path
from ..runs.record import Record, keep_attempt, read_head
from ..runs.run import Run
from .attempt_columns import Row, attempts_of, read_rows
from .packed_file import count_groups, samples_file
from .sample_columns import read_sample_ids, read_sample_lines, samples_of

# Attempts that are read whole, so that looking at a run again costs nothing: 32 MiB of journal.
SMALL = 10_000


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """A group of a packed run; `head` is the run without any sample."""

    head: Record
    ids: Sequence[str]
    group: int

    def read(self, *, with_requests: bool = False) -> Record:
        """The samples with all their attempts; lines that cannot be read are named in `damaged`.

        Args:
            with_requests: Whether attempts keep their requests: to judge takes none.

        Raises:
            UserError: A file cannot be read, or holds what is no sample.
        """
        directory = self.head.directory
        lines = read_sample_lines(samples_of(directory), self.group)
        arms = {arm.name for arm in self.head.plan.arms}
        rows = read_rows(attempts_of(directory), self.group, arms, with_requests=with_requests)
        kept, damaged = _kept(self.head, rows)
        return replace(
            self.head,
            samples=tuple(self._sample(line) for line in lines),
            attempts=kept,
            damaged=damaged,
            answers=Answers(),
        )

    def _sample(self, line: bytes) -> Sample:
        try:
            return read_checked_line(line, is_redacted=self.head.plan.run.redact)
        except SampleError as error:
            raise UserError(
                f"{samples_file(self.head.directory)}: holds what is no sample: {error}"
            ) from None


@dataclass(frozen=True, kw_only=True)
class PackedRun(Run):
    """A packed run that stays on disk.

    `head` is the run without any sample, `suite` has the ids of all; `ends` are the places in it where the
    groups end.
    """

    head: Record
    suite: Sequence[str]
    ends: Sequence[int]
    _last: dict[int, Record] = field(default_factory=dict[int, Record], repr=False, compare=False)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all samples, in the order of the suite."""
        return self.suite

    def blocks(self) -> Iterator[PackedBlock]:
        """All samples, in the order of the suite, a group at a time."""
        for group in range(len(self.ends)):
            yield self._block(group)

    def record_of(self, sample_id: str) -> Record | None:
        """The samples of its group: the next one that is asked for mostly stands in it too."""
        number = self._numbers.get(sample_id)
        if number is None:
            return None
        group = bisect_right(self.ends, number)
        if group not in self._last:
            self._last.clear()
            self._last[group] = self._block(group).read(with_requests=True)
        return self._last[group]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {sample_id: number for number, sample_id in enumerate(self.suite)}

    def _block(self, group: int) -> PackedBlock:
        ids = self.suite[self.ends[group - 1] if group else 0 : self.ends[group]]
        pairs = ((sample_id, arm.name) for sample_id in ids for arm in self.plan.arms)
        divergences = {pair: found for pair in pairs if (found := self.divergences.get(pair))}
        return PackedBlock(replace(self.head, divergences=divergences), ids, group)


def open_packed(directory: Path) -> Run:
    """Open a packed run to judge it; a small one, or one that may have stopped early, is read whole.

    Raises:
        UserError: No run there, or one of its files cannot be read or is not of this run.
    """
    head = read_head(directory)
    samples, attempts = samples_of(directory), attempts_of(directory)
    ids = [read_sample_ids(samples, group) for group in range(count_groups(samples, attempts))]
    # With `until_decided` the samples are gone through in random order: nearly each would read a group anew.
    is_read_whole = head.plan.run.until_decided or sum(attempts.group_rows) <= SMALL
    arms = {arm.name for arm in head.plan.arms}
    strays, damaged = _kept(head, read_rows(attempts, len(ids), arms, with_requests=is_read_whole))
    run = PackedRun(
        **{member.name: getattr(head, member.name) for member in fields(Run) if member.name != "damaged"},
        damaged=damaged,
        suite=tuple(chain.from_iterable(ids)),
        head=head,
        ends=tuple(accumulate(map(len, ids))),
    )
    return _read_whole(run, strays) if is_read_whole else run


def _read_whole(run: PackedRun, strays: dict[Key, Attempt]) -> Record:
    with uncollected():
        blocks = [block.read(with_requests=True) for block in run.blocks()]
    attempts: dict[Key, Attempt] = {}
    for block in blocks:
        attempts |= block.attempts
    return replace(
        run.head,
        samples=tuple(chain.from_iterable(block.samples for block in blocks)),
        attempts=attempts | strays,
        damaged=(*run.damaged, *chain.from_iterable(block.damaged for block in blocks)),
    )


def _kept(head: Record, rows: Iterable[Row]) -> tuple[dict[Key, Attempt], tuple[str, ...]]:
    """One attempt per key, and the names of lines that cannot be read; in the order of arms and lines."""
    order = {arm.name: place for place, arm in enumerate(head.plan.arms)}
    attempts: dict[Key, Attempt] = {}
    damaged: list[str] = []
    for row in sorted(rows, key=lambda row: (order[row.arm], row.number)):
        try:
            keep_attempt(
                attempts, read_attempt(row.attempt) if isinstance(row.attempt, bytes) else row.attempt
            )
        except (ValueError, RecursionError):
            if isinstance(row.attempt, bytes) and row.attempt.strip():
                damaged.append(f"{attempts_path(Path(), row.arm).as_posix()}:{row.number}")
    return attempts, tuple(damaged)
