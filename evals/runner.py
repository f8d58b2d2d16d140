"""Asks what is due until nothing is: all arms at once or in turn, each answer journalled first."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ..parsers.dialects import DIALECTS
from .attempt import Ask, Attempt, EndpointError, Key
from .endpoint import Endpoint
from .facts import read_facts
from .journal import Journal
from .prompt import request_body
from .record import Record, keep_attempt, read_run, save_facts
from .redaction import Redaction
from .rounds import due, is_refused_budget
from .server import ServerFacts
from .stopping import Stopping


class Progress(Protocol):
    """Who is told what happens while a run asks; one place may draw it."""

    def round_started(self, asks: Sequence[Ask]) -> None:
        """These asks are about to be sent."""
        ...

    def attempt_done(self, attempt: Attempt) -> None:
        """An attempt is in the journal."""
        ...


async def ask_all(
    directory: Path,
    *,
    progress: Progress,
    stopping: Stopping,
    tell: Callable[[str], None],
    only_arms: Sequence[str] = (),
    redaction: Redaction | None = None,
) -> Record:
    """Ask everything that is due in a run directory; return the record as it then stands.

    Args:
        directory: A run directory (`create_run` made it); the caller holds its `RunLock`.
        progress: Told of each round and each attempt.
        stopping: Looked at before each send.
        tell: Prints a sentence to the user.
        only_arms: Names of the arms to ask; empty for all. Rounds that need answers of the others wait.
        redaction: Of a redacted run: its samples on disk cannot be asked.

    Raises:
        UserError: A server does not answer at all, or the journal cannot be written.
    """
    with Journal(directory) as journal:
        record = read_run(directory)
        if record.plan.run.redact != (redaction is not None):
            raise AssertionError("a redacted run is asked with its redaction, and no other is")
        if not due(record):
            tell(f"{directory} is complete: nothing to ask")
            return record
        arms = [arm for arm in record.plan.arms if not only_arms or arm.name in only_arms]
        endpoints = {arm.name: Endpoint(arm, record.plan.run, stopping) for arm in arms}
        try:
            facts = await _read_all_facts(endpoints)
            save_facts(directory, facts)
            record = replace(record, facts={**record.facts, **facts})
            lanes = {
                name: _Lane(record, endpoint, stopping, tell, redaction)
                for name, endpoint in endpoints.items()
            }
            return await _ask_rounds(record, lanes, journal, progress, stopping)
        finally:
            for endpoint in endpoints.values():
                await endpoint.close()


async def _ask_rounds(
    record: Record, lanes: Mapping[str, "_Lane"], journal: Journal, progress: Progress, stopping: Stopping
) -> Record:
    gave_up: set[Key] = set()
    while not stopping.is_set:
        open_arms = {name for name, lane in lanes.items() if not lane.is_given_up}
        asks = [ask for ask in due(record, gave_up) if ask.arm in open_arms]
        if not asks:
            break
        progress.round_started(asks)
        attempts = dict(record.attempts)

        def keep(attempt: Attempt, attempts: dict[Key, Attempt] = attempts) -> None:
            journal.append(attempt)
            keep_attempt(attempts, attempt)
            if not attempt.succeeded:
                gave_up.add(attempt.key)
            progress.attempt_done(attempt)

        shares = [(lane, [ask for ask in asks if ask.arm == name]) for name, lane in lanes.items()]
        if record.plan.run.in_turn:
            for lane, share in shares:
                await lane.run(share, keep)
        else:
            async with asyncio.TaskGroup() as group:
                for lane, share in shares:
                    group.create_task(lane.run(share, keep))
        record = replace(record, attempts=attempts)
    return record


class _Keep(Protocol):
    def __call__(self, attempt: Attempt) -> None: ...


class _Lane:
    """One arm for one session: sends its asks in order, and gives the arm up when nothing comes back.

    `concurrency` workers share one iterator, so nothing queues in memory.
    """

    def __init__(
        self,
        record: Record,
        endpoint: Endpoint,
        stopping: Stopping,
        tell: Callable[[str], None],
        redaction: Redaction | None,
    ) -> None:
        self._settings = record.plan.run
        self._samples = redaction.samples if redaction else {one.id: one for one in record.samples}
        self._redaction = redaction
        self._endpoint, self._stopping, self._tell = endpoint, stopping, tell
        indexes = (attempt.index for attempt in record.attempts.values() if attempt.arm == endpoint.arm.name)
        self._next_index = max(indexes, default=-1) + 1
        self._failures_in_a_row = 0
        self.is_given_up = False

    async def run(self, asks: Iterable[Ask], keep: _Keep) -> None:
        """Send everything, or stop handing out when somebody wants to end or the arm is dead."""
        waiting = iter(asks)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._settings.concurrency):
                group.create_task(self._work(waiting, keep))

    async def _work(self, waiting: Iterator[Ask], keep: _Keep) -> None:
        arm, dialect = self._endpoint.arm, DIALECTS[self._settings.dialect]
        while not (self._stopping.is_set or self.is_given_up):
            if (ask := next(waiting, None)) is None:
                return
            body = request_body(self._samples[ask.id], ask, arm, self._settings, dialect)
            index = self._next_index
            self._next_index += 1
            attempt = await self._endpoint.ask(ask, body, index)
            if self._redaction is not None:
                attempt = self._redaction.redact(attempt)
            keep(attempt)
            self._count(attempt)

    def _count(self, attempt: Attempt) -> None:
        """Give the arm up when many asks in a row brought no answer: each has had all its repeats.

        A server that died would otherwise cost every remaining ask its repeats and timeouts, for hours.
        """
        if attempt.succeeded or is_refused_budget(attempt, self._settings):
            self._failures_in_a_row = 0
            return
        self._failures_in_a_row += 1
        if self.is_given_up or self._failures_in_a_row < failures_to_give_up(self._settings.concurrency):
            return
        self.is_given_up = True
        error = attempt.error
        last = "" if error is None else f" (the last: {_status(error)}{error.message})"
        self._tell(
            f"arm {attempt.arm}: {self._failures_in_a_row} requests in a row brought no answer{last}; "
            "it is asked nothing more for now"
        )


def failures_to_give_up(concurrency: int) -> int:
    """How many asks in a row must fail: more than were in flight together, which one short outage can hit."""
    return max(5, 2 * concurrency)


def _status(error: EndpointError) -> str:
    return "" if error.status is None else f"HTTP {error.status}: "


async def _read_all_facts(endpoints: Mapping[str, Endpoint]) -> dict[str, ServerFacts]:
    read = await asyncio.gather(*(read_facts(endpoint) for endpoint in endpoints.values()))
    for endpoint, facts in zip(endpoints.values(), read, strict=True):
        endpoint.kind = facts.kind
    return dict(zip(endpoints, read, strict=True))
