"""Asks what is due until nothing is: all arms at once or in turn, each answer journalled first."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from ...errors import UserError
from ...parsers.dialects import DIALECTS
from ..attempt import Ask, Attempt, Body, EndpointError, Key, Stage
from ..cluster.crew import Cluster, Crew
from ..judging.attribute import attribute
from ..judging.ladder import grade_run
from ..judging.parting import Parting, partings
from ..runs.divergence import read_divergences
from ..runs.journal import Journal, divergences_path
from ..runs.record import Record
from ..runs.redaction import Redaction
from ..runs.run_file import save_facts
from ..runs.stored_run import index_run
from ..servers.counters import Counters, Snapshot, read_counters
from ..servers.endpoint import Endpoint
from ..servers.facts import read_facts, read_metrics
from ..servers.managed import ManagedServers
from ..servers.preflight import check_arms, read_prompt
from ..servers.server import RenderedPrompt
from ..stopping import Stopping
from .early import Walk
from .growing import GrowingRecord, read_growing
from .margins import measure_margin
from .prompt import Prompts
from .rounds import due, is_refused_budget


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
    cluster: Cluster | None = None,
) -> Record:
    """Ask everything that is due in a run directory; return the record as it then stands.

    Args:
        directory: A run directory (`create_run` made it); the caller holds its `RunLock`.
        progress: Told of each round and each attempt.
        stopping: Looked at before each send.
        tell: Prints a sentence to the user.
        only_arms: Names of the arms to ask; empty for all. Rounds that need answers of the others wait.
        redaction: Of a redacted run: its samples on disk cannot be asked.
        cluster: Whose workers send; None to send from here.

    Raises:
        UserError: A server does not answer at all, no worker can ask, or the journal cannot be written.
    """
    with Journal(directory) as journal:
        record = read_growing(directory)
        if record.plan.run.redact != (redaction is not None):
            raise AssertionError("a redacted run is asked with its redaction, and no other is")
        if not due(record) and not _margins_due(record):
            tell(f"{directory} is complete: nothing to ask")
            return record
        arms = [arm for arm in record.plan.arms if not only_arms or arm.name in only_arms]
        endpoints = {arm.name: Endpoint(arm, record.plan.run, stopping) for arm in arms}
        crew = None if cluster is None else Crew(cluster, arms, record.plan.run, stopping, tell)
        try:
            async with ManagedServers(directory, stopping, tell) as servers:
                asking = _Asking(record, journal, progress, stopping, frozenset(endpoints))
                samples = redaction.samples if redaction else {one.id: one for one in record.samples}
                prompts = Prompts(samples, record.plan.run, DIALECTS[record.plan.run.dialect])
                lanes = [
                    _Lane(record, one, prompts, stopping, tell, redaction, crew) for one in endpoints.values()
                ]
                if not record.plan.is_managed:
                    await asyncio.gather(*(asking.meet(lane) for lane in lanes))
                    asking.check_arms(tell)
                if crew is not None:
                    await crew.hire()
                await asking.ask_rounds(lanes, servers)
                await asking.measure_margins(lanes, servers)
                return asking.record
        finally:
            if crew is not None:
                await crew.close()
            for endpoint in endpoints.values():
                await endpoint.close()


def _margins_due(record: Record) -> list[Parting]:
    """Discordant pairs whose margin nobody asked for; sampled answers have none, and hashes no tokens."""
    plan = record.plan
    if not plan.run.margins or plan.run.temperature > 0 or plan.run.redact:
        return []
    return [
        parting
        for one in grade_run(record)
        for candidate in plan.candidates
        for parting in partings(
            [one], attribute([one], baseline=plan.baseline.name, candidate=candidate.name)
        )
    ]


class _Asking:
    """One session: what is known so far, and where it is kept."""

    def __init__(
        self,
        record: GrowingRecord,
        journal: Journal,
        progress: Progress,
        stopping: Stopping,
        unmet: frozenset[str],
    ) -> None:
        self.record = record
        self._unmet = unmet
        self._journal, self._progress, self._stopping = journal, progress, stopping
        self._session = uuid.uuid4().hex
        self._walk = Walk(record)
        self._gave_up: set[Key] = set()
        self._told: set[str] = set()
        self._ended_by: UserError | None = None

    async def meet(self, lane: "_Lane") -> None:
        """Ask a server what it is, and where its counters stand, before it is asked anything else."""
        facts = await read_facts(lane.endpoint)
        lane.endpoint.kind = facts.kind
        facts = replace(facts, prompt=await lane.first_prompt(self.record))
        arm = lane.endpoint.arm.name
        save_facts(self.record.directory, {arm: facts})
        self.record = replace(self.record, facts={**self.record.facts, arm: facts})
        self._unmet -= {arm}
        await self._count(lane)

    def check_arms(self, tell: Callable[[str], None]) -> None:
        """Refuse to go on if the arms met so far, in earlier sessions too, cannot be compared."""
        # A server that this session has still to meet may have been mended since its facts were stored.
        known = {arm: facts for arm, facts in self.record.facts.items() if arm not in self._unmet}
        preflight = check_arms(self.record.plan, known)
        preflight.refuse(self.record.plan.run.allow)
        for note in preflight.notes:
            if note not in self._told:
                tell(f"note: {note}")
                self._told.add(note)

    async def ask_rounds(self, lanes: Sequence["_Lane"], servers: ManagedServers) -> None:
        """Ask round after round, all arms side by side or in turn, until nothing is due."""
        while not self._stopping.is_set:
            open_arms = {lane.name for lane in lanes if not lane.is_given_up}
            asks = [ask for ask in due(self.record, self._gave_up, walk=self._walk) if ask.arm in open_arms]
            if not asks:
                break
            self._progress.round_started(asks)
            shares = [(lane, [ask for ask in asks if ask.arm == lane.name]) for lane in lanes]
            if self.record.plan.is_in_turn:
                if self.record.plan.run.server_starts > 1 and asks[0].stage is Stage.FIRST:
                    await servers.stop()
                # The server that is up goes first: to start one can take minutes.
                for lane, share in sorted(shares, key=lambda one: one[0].name != servers.running):
                    if share and not self._stopping.is_set:
                        if await servers.start(lane.endpoint) and not self._stopping.is_set:
                            await self.meet(lane)
                            self.check_arms(lane.tell)
                        await self._run(lane, share)
            else:
                async with asyncio.TaskGroup() as group:
                    for lane, share in shares:
                        group.create_task(self._run(lane, share))
        if self._ended_by is not None:
            raise self._ended_by

    async def measure_margins(self, lanes: Sequence["_Lane"], servers: ManagedServers) -> None:
        """Ask the baseline how clear its choice was where a candidate left it."""
        name = self.record.plan.baseline.name
        lane = next((one for one in lanes if one.name == name and not one.is_given_up), None)
        if lane is None:
            return
        ids = dict.fromkeys(parting.id for parting in _margins_due(self.record))
        if not ids:
            return
        if not self._stopping.is_set and await servers.start(lane.endpoint):
            await self.meet(lane)
        # With their requests, which this session left in the journal.
        stored = index_run(self.record.directory)
        for one in filter(None, map(stored.record_of, ids)):
            for parting in _margins_due(one):
                if self._stopping.is_set:
                    return
                self._journal.append_divergence(await measure_margin(lane.endpoint, parting))
        divergences = read_divergences(divergences_path(self.record.directory))
        self.record = replace(self.record, divergences=divergences)

    async def _run(self, lane: "_Lane", share: Sequence[Ask]) -> None:
        if not share:
            return
        await lane.run(share, self._keep, self._end)
        await self._count(lane)

    def _keep(self, attempt: Attempt) -> None:
        """Journal an attempt before anything else happens with it."""
        try:
            self._journal.append(attempt)
        except UserError as error:
            self._end(error)
            return
        self.record.keep(attempt)
        self._walk.saw(attempt)
        if not attempt.succeeded:
            self._gave_up.add(attempt.key)
        self._progress.attempt_done(attempt)

    async def _count(self, lane: "_Lane") -> None:
        """Note where the server's own counters stand, if it shows any."""
        page = await read_metrics(lane.endpoint)
        if page is None:
            return
        counters = read_counters(page)
        if counters != Counters():
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            try:
                self._journal.append_snapshot(lane.name, Snapshot(self._session, at, counters))
            except UserError as error:
                self._end(error)

    def _end(self, error: UserError) -> None:
        """Send nothing more, for want of a place to write or of workers; answers in flight are paid for."""
        self._ended_by = self._ended_by or error
        self._stopping.set()


class _Keep(Protocol):
    def __call__(self, attempt: Attempt) -> None: ...


class _End(Protocol):
    def __call__(self, error: UserError) -> None: ...


class _Send(Protocol):
    def __call__(self, ask: Ask, body: Body, index: int) -> Awaitable[Attempt]: ...


class _Lane:
    """One arm for one session: sends its asks in order, and gives the arm up when nothing comes back.

    `concurrency` tasks share one iterator, so nothing queues in memory; a crew, where there is one, sends.
    """

    def __init__(
        self,
        record: Record,
        endpoint: Endpoint,
        prompts: Prompts,
        stopping: Stopping,
        tell: Callable[[str], None],
        redaction: Redaction | None,
        crew: Crew | None,
    ) -> None:
        self._settings = record.plan.run
        self._prompts, self._redaction = prompts, redaction
        self.endpoint = endpoint
        self._send: _Send = endpoint.ask if crew is None else partial(crew.ask, endpoint)
        self.name = endpoint.arm.name
        self._stopping, self.tell = stopping, tell
        indexes = (attempt.index for attempt in record.attempts.values() if attempt.arm == endpoint.arm.name)
        self._next_index = max(indexes, default=-1) + 1
        self._failures_in_a_row = 0
        self.is_given_up = False

    async def first_prompt(self, record: Record) -> RenderedPrompt | None:
        """What the server makes of the first sample; None of a redacted run: a plain hash can be guessed."""
        if self._redaction is not None or not record.samples:
            return None
        settings, first = self._settings, record.samples[0]
        ask = Ask(first.id, self.name, settings.mode, settings.is_streamed, Stage.FIRST, settings.max_tokens)
        return await read_prompt(self.endpoint, self._prompts.body(ask, self.endpoint.arm))

    async def run(self, asks: Iterable[Ask], keep: _Keep, end: _End) -> None:
        """Send everything, or stop handing out when somebody wants to end or the arm is dead."""
        by_pace: dict[int, list[Ask]] = {}
        for ask in asks:
            by_pace.setdefault(self._pace(ask), []).append(ask)
        for pace, share in by_pace.items():
            waiting = iter(share)
            async with asyncio.TaskGroup() as group:
                for _ in range(pace):
                    group.create_task(self._work(waiting, keep, end))

    def _pace(self, ask: Ask) -> int:
        """How many requests may be in flight beside this one, itself included."""
        if ask.is_alone:
            return 1
        if ask.stage is Stage.CONTROL and self._settings.control_concurrency is not None:
            return self._settings.control_concurrency
        return self._settings.concurrency

    async def _work(self, waiting: Iterator[Ask], keep: _Keep, end: _End) -> None:
        while not (self._stopping.is_set or self.is_given_up):
            if (ask := next(waiting, None)) is None:
                return
            body = self._prompts.body(ask, self.endpoint.arm)
            index = self._next_index
            self._next_index += 1
            try:
                attempt = await self._send(ask, body, index)
            except UserError as error:
                # Of a crew that has no worker any more: what others still have in flight is waited for.
                end(error)
                return
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
        self.tell(
            f"arm {attempt.arm}: {self._failures_in_a_row} requests in a row brought no answer{last}; "
            "it is asked nothing more for now"
        )


def failures_to_give_up(concurrency: int) -> int:
    """How many asks in a row must fail: more than were in flight together, which one short outage can hit."""
    return max(5, 2 * concurrency)


def _status(error: EndpointError) -> str:
    return "" if error.status is None else f"HTTP {error.status}: "
