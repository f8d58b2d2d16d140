"""The workers of a run as its driver sees them: who is free, who is lost, and what is sent again.

A lane of the runner hands over one ask whenever one of its places is free. So `concurrency` is one limit
over all workers, and a lost worker takes along what it had in flight and nothing more. An answer counts when
it has reached the driver, which alone writes: one that was generated and lost on the way is asked again, and
cannot be counted twice.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ... import __version__
from ...errors import UserError
from ..arm import Arm
from ..attempt import Ask, Attempt, Body
from ..plan import RunSection
from ..servers.endpoint import Endpoint
from ..stopping import Stopping
from .worker import Errand

# A request that has taken so many workers along is likelier their death than their bad luck.
LOSSES_OF_ONE_ASK = 5
# How long asks wait when no worker is there: a cluster brings one back in seconds, a new machine in minutes.
PATIENCE_SECONDS = 300.0
PAUSE_SECONDS = 1.0


class LostError(Exception):
    """A worker did not answer: it died, or cannot be reached.

    `is_for_good`: nothing will bring it back. Otherwise the cluster may.
    """

    def __init__(self, reason: str, *, is_for_good: bool) -> None:
        super().__init__(reason)
        self.is_for_good = is_for_good


class RemoteWorker(Protocol):
    """A `Worker` elsewhere; its methods raise LostError, and UserError where the worker raised one."""

    @property
    def node(self) -> str:
        """Where it was started, for people."""
        ...

    async def greet(self) -> None:
        """See `Worker.greet`."""
        ...

    async def ask(self, errand: Errand) -> Attempt:
        """See `Worker.ask`."""
        ...

    def stop(self) -> None:
        """See `Worker.stop`; nobody waits for it."""
        ...

    async def close(self) -> None:
        """End it, and leave what it has in flight."""
        ...


class Cluster(Protocol):
    """Where workers can be started."""

    def start_workers(self, arms: Sequence[Arm], settings: RunSection) -> Sequence[RemoteWorker]:
        """Start one on each node; whether it came up is seen when it is greeted."""
        ...


@dataclass(eq=False, slots=True)
class _Member:
    remote: RemoteWorker
    is_there: bool = False
    losses: int = 0
    in_flight: int = 0
    asked: int = 0


class Crew:
    """All workers of one session; use it inside one event loop and `await close()` at the end.

    Args:
        cluster: Where they run.
        arms: Those that are asked.
        settings: Of the run.
        stopping: Passed on to the workers, once set.
        tell: Prints a sentence to the user.
    """

    def __init__(
        self,
        cluster: Cluster,
        arms: Sequence[Arm],
        settings: RunSection,
        stopping: Stopping,
        tell: Callable[[str], None],
    ) -> None:
        self._cluster, self._arms, self._settings = cluster, arms, settings
        self._stopping, self._tell = stopping, tell
        self._members: list[_Member] = []
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def hire(self) -> None:
        """Start the workers and wait until each can ask, or its node turns out to be gone.

        Raises:
            UserError: A node cannot ask, or no worker starts on any (exit code 4).
        """
        self._members = [_Member(one) for one in self._cluster.start_workers(self._arms, self._settings)]
        async with asyncio.TaskGroup() as group:
            for member in self._members:
                group.create_task(self._welcome(member))
        nodes = sorted(member.remote.node for member in self._members)
        if not nodes:
            raise UserError(
                "no worker starts on any node of the cluster",
                tip=f"draftproof {__version__} must be installed in the Python that runs Ray on every node",
                exit_code=4,
            )
        self._tell(f"asking from {len(nodes)} worker{'s' if len(nodes) != 1 else ''}: {', '.join(nodes)}")
        self._start(self._pass_stopping_on())

    async def close(self) -> None:
        """End all workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for member in self._members:
            await member.remote.close()

    async def ask(self, endpoint: Endpoint, ask: Ask, body: Body, index: int) -> Attempt:
        """Have the least busy worker send it, and another one if that is lost; each loss is a retry.

        Raises:
            UserError: There is no worker any more, or this ask took too many along (exit code 4).
        """
        errand = Errand(endpoint.arm.name, endpoint.kind, ask, body, index)
        for losses in range(LOSSES_OF_ONE_ASK):
            member = await self._idlest()
            losses_before = member.losses
            member.in_flight += 1
            member.asked += 1
            try:
                attempt = await member.remote.ask(errand)
                return replace(attempt, retries=attempt.retries + losses)
            except LostError as error:
                # Several asks tell of one loss, some when the worker is back already.
                if member.losses == losses_before:
                    self._lose(member, error)
            finally:
                member.in_flight -= 1
        raise UserError(
            f"arm {ask.arm}: {LOSSES_OF_ONE_ASK} workers were lost one after another with sample {ask.id} in "
            "flight; every answer that came is kept",
            tip="do they run out of memory? the same command goes on from here",
            exit_code=4,
        )

    async def _idlest(self) -> _Member:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while self._members:
                    if there := [member for member in self._members if member.is_there]:
                        return min(there, key=lambda member: (member.in_flight, member.asked))
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass
        raise UserError(
            "every worker of the cluster is lost; every answer that came is kept",
            tip="the same command goes on from here, once there are nodes again",
            exit_code=4,
        )

    def _lose(self, member: _Member, error: LostError) -> None:
        member.is_there = False
        member.losses += 1
        self._tell(f"note: {member.remote.node}: worker lost ({error}); what it had in flight is sent again")
        self._start(self._welcome_back(member))

    async def _welcome(self, member: _Member) -> None:
        """A cluster lists a node for a while after it is gone: that is no reason not to begin."""
        try:
            await self._greet(member)
        except LostError as error:
            await self._dismiss(member)
            self._tell(f"note: {member.remote.node}: no worker starts there ({error})")

    async def _welcome_back(self, member: _Member) -> None:
        """Greet a lost worker until the cluster has it running again, or will not."""
        while True:
            try:
                await self._greet(member)
                self._tell(f"note: {member.remote.node}: worker is back")
            except UserError as error:
                await self._dismiss(member)
                self._tell(f"note: {error.what}; it is asked nothing more")
            except LostError as error:
                if not error.is_for_good:
                    await asyncio.sleep(PAUSE_SECONDS)
                    continue
                await self._dismiss(member)
                self._tell(f"note: {member.remote.node}: is gone; {len(self._members)} workers go on")
            self._changed.set()
            return

    async def _dismiss(self, member: _Member) -> None:
        await member.remote.close()
        self._members.remove(member)

    async def _greet(self, member: _Member) -> None:
        try:
            await member.remote.greet()
        except UserError as error:
            raise UserError(
                f"{member.remote.node}: {error.what}",
                tip=f"on that node: {error.tip}" if error.tip else None,
                exit_code=4,
            ) from None
        member.is_there = True
        if self._stopping.is_set:
            member.remote.stop()

    async def _pass_stopping_on(self) -> None:
        await self._stopping.wait()
        for member in self._members:
            member.remote.stop()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
