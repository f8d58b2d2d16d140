"""A run left on disk: what is known of it is where the lines of each sample stand.

A run of a few thousand attempts is read whole (`open_run`): looking at it again then costs nothing.
"""

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...errors import UserError
from ...tasks.problems import SampleError
from ...tasks.sample import Sample
from ...tasks.suite_file import read_checked_line, read_suite_file
from ..attempt import Attempt, Key, read_attempt
from ..reading.answers import Answers
from .journal import attempts_path
from .line_index import LineIndex, Place, id_of, scan_lines
from .record import Record, is_empty_shard, keep_attempt, read_head, samples_path
from .run import Run, facts_of

# Samples that are read, judged and forgotten together.
BLOCK = 256
# Bytes of lines that adjoin and are read in one go.
ADJOINING = 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """Some samples of a run directory, and where their lines stand; `head` is the run without any sample."""

    head: Record
    ids: Sequence[str]
    samples: Sequence[Place]
    attempts: Mapping[str, Sequence[Place]]

    def read(self, *, with_requests: bool = False) -> Record:
        """The samples with all their attempts; lines that cannot be read are named in `damaged`.

        Args:
            with_requests: Whether attempts keep their requests: to judge takes none.

        Raises:
            UserError: A file cannot be read, or a line of `samples.jsonl` is no sample.
        """
        directory = self.head.directory
        samples = self._read_samples()
        attempts: dict[Key, Attempt] = {}
        damaged: list[str] = []
        for arm, places in self.attempts.items():
            path = attempts_path(directory, arm)
            for place, line in _read_places(path, places):
                try:
                    keep_attempt(attempts, read_attempt(line, with_request=with_requests))
                except (ValueError, RecursionError):
                    damaged.append(_name(path, place.number))
        return replace(
            self.head, samples=samples, attempts=attempts, damaged=tuple(damaged), answers=Answers()
        )

    def _read_samples(self) -> tuple[Sample, ...]:
        path, is_redacted = samples_path(self.head.directory), self.head.plan.run.redact
        samples: list[Sample] = []
        try:
            for place, line in _read_places(path, self.samples):
                text = line.removeprefix(BOM_UTF8) if place.number == 1 else line
                samples.append(read_checked_line(text, is_redacted=is_redacted))
        except SampleError:
            raise _wrong_samples(path, is_redacted=is_redacted) from None
        # The index looked at their ids alone, and earlier.
        if [sample.id for sample in samples] != list(self.ids):
            raise _wrong_samples(path, is_redacted=is_redacted)
        return tuple(samples)


@dataclass(frozen=True, kw_only=True)
class StoredRun(Run):
    """A run whose samples and attempts stay on disk; `numbers` are those of the samples, by id, in order."""

    numbers: Mapping[str, int]
    samples: LineIndex
    attempts: Mapping[str, LineIndex]

    @cached_property
    def ids(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleMethodOverride] - read once
        """The ids of all samples, in the order of the suite."""
        return tuple(self.numbers)

    def blocks(self) -> Iterator[StoredBlock]:
        """All samples, in the order of the suite, `BLOCK` at a time."""
        for start in range(0, max(1, len(self.ids)), BLOCK):
            yield self._block(range(start, min(start + BLOCK, len(self.ids))))

    def record_of(self, sample_id: str) -> Record | None:
        """That sample alone, read anew."""
        number = self.numbers.get(sample_id)
        if number is None:
            return None
        return self._block(range(number, number + 1)).read(with_requests=True)

    def _block(self, numbers: range) -> StoredBlock:
        ids = self.ids[numbers.start : numbers.stop]
        return StoredBlock(
            self._head(ids),
            ids,
            self.samples.places(*numbers),
            {arm: index.places(*numbers) for arm, index in self.attempts.items()},
        )

    def _head(self, ids: Sequence[str]) -> Record:
        """The run without any sample, but what is known beside the journals of these."""
        pairs = ((sample_id, arm.name) for sample_id in ids for arm in self.plan.arms)
        facts = facts_of(self)
        facts["damaged"] = ()
        facts["divergences"] = {pair: found for pair in pairs if (found := self.divergences.get(pair))}
        return Record(**facts, samples=(), attempts={})


def index_run(directory: Path) -> StoredRun:
    """Go through the lines of a run directory once, and note where those of each sample stand.

    Raises:
        UserError: No run there, or its plan or samples cannot be read.
    """
    head = read_head(directory)
    is_redacted, path = head.plan.run.redact, samples_path(directory)
    numbers, samples = _index_samples(path, is_redacted=is_redacted)
    if not numbers and not is_empty_shard(head):
        raise _wrong_samples(path, is_redacted=is_redacted)
    attempts: dict[str, LineIndex] = {}
    damaged: list[str] = []
    for arm in head.plan.arms:
        path = attempts_path(directory, arm.name)
        if path.exists():
            attempts[arm.name] = _index_attempts(path, numbers, damaged)
    facts = facts_of(head)
    facts["damaged"] = tuple(damaged)
    return StoredRun(**facts, numbers=numbers, samples=samples, attempts=attempts)


def _index_samples(path: Path, *, is_redacted: bool) -> tuple[dict[str, int], LineIndex]:
    numbers: dict[str, int] = {}
    lines: list[tuple[int, str | None, bool]] = []
    for line, sample_id in scan_lines(path):
        text = (line if lines else line.removeprefix(BOM_UTF8)).strip()
        lines.append((len(line), sample_id or id_of(text), not text))
    index = LineIndex.of(len(lines))
    for length, sample_id, is_blank in lines:
        if not is_blank and (sample_id is None or sample_id in numbers):
            raise _wrong_samples(path, is_redacted=is_redacted)
        if sample_id is None:
            index.add(None, length)
        else:
            index.add(len(numbers), length)
            numbers[sample_id] = len(numbers)
    return numbers, index


def _index_attempts(path: Path, numbers: Mapping[str, int], damaged: list[str]) -> LineIndex:
    index = LineIndex.of(len(numbers))
    for number, (line, sample_id) in enumerate(scan_lines(path), start=1):
        sample = None if sample_id is None else numbers.get(sample_id)
        index.add(sample, len(line))
        if sample is None and line.strip() and not _is_attempt(line):
            damaged.append(_name(path, number))
    return index


def _is_attempt(line: bytes) -> bool:
    try:
        _ = read_attempt(line)
    except (ValueError, RecursionError):
        return False
    return True


def _wrong_samples(path: Path, *, is_redacted: bool) -> UserError:
    """What is wrong with the whole file, said as where it is read as a whole."""
    try:
        for _ in read_suite_file(path, is_redacted=is_redacted, is_checked=True):
            pass
    except UserError as error:
        return error
    return UserError(f"{path}: changed while it was read", tip="run the same command again")


def _read_places(path: Path, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
    """The lines at these places; those that adjoin, as most of a block do, are read at once."""
    if not places:
        return
    try:
        with path.open("rb", buffering=0) as file:
            for first, last in _adjoining(places):
                start = places[first].offset
                read = os.pread(file.fileno(), places[last].offset + places[last].length - start, start)
                for place in places[first : last + 1]:
                    begin = place.offset - start
                    yield place, read[begin : begin + place.length]
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _adjoining(places: Sequence[Place]) -> Iterator[tuple[int, int]]:
    """The first and the last of each row of places without a gap, so long as a row is no burden to hold."""
    first, size = 0, 0
    for number, place in enumerate(places):
        before = places[number - 1]
        size += place.length
        if number > first and (place.offset != before.offset + before.length or size > ADJOINING):
            yield first, number - 1
            first, size = number, place.length
    yield first, len(places) - 1


def _name(path: Path, number: int) -> str:
    return f"attempts/{path.name}:{number}"
