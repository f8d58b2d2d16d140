"""Samples and attempts of a run in memory: everything after asking is a pure function of these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ...errors import UserError
from ...tasks.sample import Sample
from ...tasks.suite_file import read_suite_file
from ..attempt import Attempt, Key, Stage, read_attempt
from ..reading.answers import Answers
from ..servers.counters import counted, read_snapshots, server_starts
from .collection import uncollected
from .divergence import read_divergences
from .journal import attempts_path, counters_path, divergences_path
from .line_index import READ_AT_ONCE
from .run import Run
from .run_file import read_run_file


@dataclass(frozen=True, kw_only=True)
class Record(Run):
    """Samples of a run with all their attempts, in memory: a whole run, or a block of one.

    `attempts` holds one line per key: the success where there is one, else the last failure. `damaged` names
    all journal lines that could not be read.
    """

    samples: tuple[Sample, ...]
    attempts: Mapping[Key, Attempt]
    answers: Answers = field(default_factory=Answers, repr=False, compare=False)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the samples, in order."""
        return tuple(self._by_id)

    def blocks(self) -> Iterator["Record"]:
        """The record itself: all that is here is read already."""
        yield self

    def read(self) -> "Record":
        """The record itself."""
        return self

    def record_of(self, sample_id: str) -> "Record | None":
        """The record itself, if the sample is in it."""
        return self if sample_id in self._by_id else None

    def sample(self, sample_id: str) -> Sample:
        """The sample of that id, which must be here."""
        return self._by_id[sample_id]

    def attempt(
        self, sample_id: str, arm: str, stage: Stage, max_tokens: int, number: int = 1
    ) -> Attempt | None:
        """The attempt of that key, or None where it was never made."""
        run = self.plan.run
        return self.attempts.get(Key(sample_id, arm, run.mode, run.is_streamed, stage, max_tokens, number))

    @cached_property
    def _by_id(self) -> Mapping[str, Sample]:
        return {sample.id: sample for sample in self.samples}

    @property
    def by_sample(self) -> Mapping[tuple[str, str], tuple[Attempt, ...]]:
        """Attempts of each (sample, arm) in the plan's own way of asking, in no particular order."""
        return self._rows[0]

    @property
    def beside(self) -> Mapping[tuple[str, str], tuple[Attempt, ...]]:
        """Attempts of each (sample, arm) in another mode, or not streamed: compared, never judged."""
        return self._rows[1]

    @cached_property
    def _rows(self) -> tuple[Mapping[tuple[str, str], tuple[Attempt, ...]], ...]:
        mode, is_streamed = self.plan.run.mode, self.plan.run.is_streamed
        own: dict[tuple[str, str], list[Attempt]] = {}
        beside: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in self.attempts.values():
            rows = own if attempt.mode is mode and attempt.stream is is_streamed else beside
            rows.setdefault((attempt.id, attempt.arm), []).append(attempt)
        return tuple({place: tuple(row) for place, row in rows.items()} for rows in (own, beside))


def read_run(directory: Path, *, with_requests: bool = True) -> Record:
    """Read a whole run directory; it may be incomplete, being written, or read-only.

    Args:
        directory: Where the run stands.
        with_requests: Whether attempts keep their requests, most of what they weigh in memory.

    Raises:
        UserError: No run there, or its plan or samples cannot be read.
    """
    head = read_head(directory)
    attempts: dict[Key, Attempt] = {}
    damaged: list[str] = []
    file = read_suite_file(samples_path(directory), is_redacted=head.plan.run.redact, is_checked=True)
    with uncollected():
        samples = () if is_empty_shard(head) else tuple(sample for _, sample in file)
        for arm in head.plan.arms:
            path = attempts_path(directory, arm.name)
            if path.exists():
                damaged.extend(_read_attempts(path, attempts, with_requests=with_requests))
    return replace(head, samples=samples, attempts=attempts, damaged=tuple(damaged))


def read_head(directory: Path) -> Record:
    """What a run directory says whatever its samples are: a record without any.

    Raises:
        UserError: No run there, or its plan cannot be read.
    """
    run_file = read_run_file(directory)
    snapshots = {
        arm.name: list(read_snapshots(counters_path(directory, arm.name))) for arm in run_file.plan.arms
    }
    return Record(
        directory=directory,
        plan=run_file.plan,
        digest=run_file.digest,
        facts=run_file.facts,
        notes=run_file.notes,
        counters={arm: total for arm, seen in snapshots.items() if (total := counted(seen)) is not None},
        starts={arm: times for arm, seen in snapshots.items() if (times := server_starts(seen))},
        divergences=read_divergences(divergences_path(directory)),
        part=run_file.part,
        samples=(),
        attempts={},
    )


def samples_path(directory: Path) -> Path:
    """Where the samples of a run stand."""
    return directory / "samples.jsonl"


def is_empty_shard(head: Run) -> bool:
    """Whether this is a shard that no sample fell to."""
    path = samples_path(head.directory)
    try:
        return head.part is not None and path.stat().st_size == 0
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read_attempts(path: Path, attempts: dict[Key, Attempt], *, with_requests: bool) -> Iterable[str]:
    try:
        with path.open("rb", buffering=READ_AT_ONCE) as file:
            for number, line in enumerate(file, start=1):
                if line.strip() and not _read_line(line, attempts, with_requests=with_requests):
                    yield f"attempts/{path.name}:{number}"
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read_line(line: bytes, attempts: dict[Key, Attempt], *, with_requests: bool) -> bool:
    try:
        keep_attempt(attempts, read_attempt(line, with_request=with_requests))
    except (ValueError, RecursionError):
        return False
    return True


def keep_attempt(attempts: dict[Key, Attempt], attempt: Attempt) -> None:
    """Keep one line per key: the first success stays, a failure gives way to whatever comes later."""
    key = attempt.key
    before = attempts.get(key)
    if before is None or not before.succeeded:
        attempts[key] = attempt
