"""Asks what is due until nothing is: every arm at once or one after the other, each answer journalled first."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ..parsers.dialects import DIALECTS
from ..tasks.sample import Sample
from .attempt import Ask, Attempt, Key
from .endpoint import Endpoint
from .journal import Journal, RunLock
from .prompt import request_body
from .record import Record, keep_attempt, read_run, save_facts
from .rounds import due
from .server import ServerFacts, read_facts


class Progress(Protocol):
    """Who is told what happens while a run asks; one place may draw it."""

    def round_started(self, asks: Sequence[Ask]) -> None:
        """These asks are about to be sent."""
        ...

    def attempt_done(self, attempt: Attempt) -> None:
        """An attempt is in the journal."""
        ...


class Stopping:
    """Set once somebody wants the run to end: what is in flight is waited for, nothing new is sent."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """Ask the run to end."""
        self.is_set = True


async def ask_all(
    directory: Path, *, progress: Progress, stopping: Stopping, only_arms: Sequence[str] = ()
) -> Record:
    """Ask everything that is due in a run directory; return the record as it then stands.

    Args:
        directory: A run directory (`create_run` made it).
        progress: Told of each round and each attempt.
        stopping: Looked at before each send.
        only_arms: Names of the arms to ask; empty for all. Rounds that need answers of the others wait.

    Raises:
        UserError: A server does not answer at all, or the journal cannot be written.
    """
    with RunLock(directory), Journal(directory) as journal:
        record = read_run(directory)
        arms = [arm for arm in record.plan.arms if not only_arms or arm.name in only_arms]
        endpoints = {arm.name: Endpoint(arm, record.plan.run) for arm in arms}
        try:
            if not due(record):
                return record
            facts = await _read_all_facts(endpoints)
            save_facts(directory, facts)
            record = replace(record, facts={**record.facts, **facts})
            return await _ask_rounds(record, endpoints, journal, progress, stopping)
        finally:
            for endpoint in endpoints.values():
                await endpoint.close()


async def _ask_rounds(
    record: Record,
    endpoints: Mapping[str, Endpoint],
    journal: Journal,
    progress: Progress,
    stopping: Stopping,
) -> Record:
    gave_up: set[Key] = set()
    samples = {sample.id: sample for sample in record.samples}
    sent = dict.fromkeys(endpoints, 0)
    for attempt in record.attempts.values():
        if attempt.arm in sent:
            sent[attempt.arm] = max(sent[attempt.arm], attempt.index + 1)
    while not stopping.is_set:
        asks = [ask for ask in due(record, gave_up) if ask.arm in endpoints]
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

        lanes = [
            _Lane(record, endpoint, [ask for ask in asks if ask.arm == name], samples, sent, keep, stopping)
            for name, endpoint in endpoints.items()
        ]
        if record.plan.run.in_turn:
            for lane in lanes:
                await lane.run()
        else:
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    group.create_task(lane.run())
        record = replace(record, attempts=attempts)
    return record


class _Keep(Protocol):
    def __call__(self, attempt: Attempt) -> None: ...


class _Lane:
    """One arm's asks of one round: `concurrency` workers take them in order, so nothing queues in memory."""

    def __init__(
        self,
        record: Record,
        endpoint: Endpoint,
        asks: Sequence[Ask],
        samples: Mapping[str, Sample],
        sent: dict[str, int],
        keep: _Keep,
        stopping: Stopping,
    ) -> None:
        self._record, self._endpoint, self._asks = record, endpoint, iter(asks)
        self._samples, self._sent, self._keep, self._stopping = samples, sent, keep, stopping

    async def run(self) -> None:
        """Send everything, or stop handing out when somebody wants to end."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._record.plan.run.concurrency):
                group.create_task(self._work())

    async def _work(self) -> None:
        run = self._record.plan.run
        arm = self._endpoint.arm
        for ask in self._asks:
            if self._stopping.is_set:
                return
            body = request_body(self._samples[ask.id], ask, arm, run, DIALECTS[run.dialect])
            index = self._sent[arm.name]
            self._sent[arm.name] += 1
            self._keep(await self._endpoint.ask(ask, body, index))


async def _read_all_facts(endpoints: Mapping[str, Endpoint]) -> dict[str, ServerFacts]:
    read = await asyncio.gather(*(read_facts(endpoint) for endpoint in endpoints.values()))
    return dict(zip(endpoints, read, strict=True))
