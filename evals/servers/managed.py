"""Servers that the tool starts itself (`[[arms]] serve`): one at a time, for they do not fit side by side."""

import asyncio
import contextlib
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from ...errors import UserError
from ..plan import Arm
from ..stopping import Stopping
from .endpoint import Endpoint, server_root
from .guardian import PATIENCE_SECONDS
from .log_tail import last_output

_POLL_SECONDS = 0.25


class ManagedServers:
    """Starts the server of an arm when it is wanted, and ends the one before; use it as a context manager.

    Args:
        directory: The run directory; output goes to `servers/ARM.log` in it.
        stopping: Ends the wait for a server that comes up.
        tell: Prints a sentence to the user.
    """

    def __init__(self, directory: Path, stopping: Stopping, tell: Callable[[str], None]) -> None:
        self._directory, self._stopping, self._tell = directory, stopping, tell
        self._guardian: asyncio.subprocess.Process | None = None
        self.running: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, endpoint: Endpoint) -> bool:
        """Have the server of that arm running; True if it was started now.

        Raises:
            UserError: It cannot be started, ends, or is not ready in time (exit code 4).
        """
        arm = endpoint.arm
        if arm.serve is None or self.running == arm.name:
            return False
        await self.stop()
        if await _is_ready(endpoint):
            raise UserError(
                f"arm {arm.name}: something answers at {arm.base_url} before its server is started",
                tip="stop it, or leave `serve` out and let the run ask it as it is",
                exit_code=4,
            )
        log = self._directory / "servers" / f"{arm.name}.log"
        self._tell(f"arm {arm.name}: starting its server (output: {log})")
        self._guardian = await _spawn(arm, log)
        self.running = arm.name
        try:
            seconds = await self._until_ready(endpoint, self._guardian, log)
        except BaseException:
            await self.stop()
            raise
        if not self._stopping.is_set:
            self._tell(f"arm {arm.name}: ready after {seconds:.0f} s")
        return True

    async def stop(self) -> None:
        """End the running server and everything it started; nothing if none runs."""
        guardian, self._guardian, self.running = self._guardian, None, None
        if guardian is None:
            return
        if guardian.stdin is not None:
            guardian.stdin.close()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS * 2):
                await guardian.wait()
        except TimeoutError:
            guardian.kill()
            await guardian.wait()

    async def _until_ready(
        self, endpoint: Endpoint, guardian: asyncio.subprocess.Process, log: Path
    ) -> float:
        """Wait until the server answers, or the run is to end; return how long it took."""
        arm, started = endpoint.arm, time.monotonic()
        while not self._stopping.is_set:
            if guardian.returncode is not None:
                raise UserError(
                    f"arm {arm.name}: its server ended with code {guardian.returncode} before it was ready; "
                    + last_output(log),
                    tip=f"does `{arm.serve}` work in a terminal? the whole log: {log}",
                    exit_code=4,
                )
            if await _is_ready(endpoint):
                break
            if time.monotonic() - started > arm.start_timeout:
                raise UserError(
                    f"arm {arm.name}: its server was not ready within start_timeout {arm.start_timeout:g} s; "
                    + last_output(log),
                    tip=f"does it listen at {arm.base_url}? name another ready_url if it has no /health",
                    exit_code=4,
                )
            await self._stopping.wait(_POLL_SECONDS)
        return time.monotonic() - started


async def _spawn(arm: Arm, log: Path) -> asyncio.subprocess.Process:
    log.parent.mkdir(parents=True, exist_ok=True)
    # -P keeps the working folder off sys.path of the guardian; the server's own environment is as the user's.
    command = (sys.executable, "-P", "-m", "draftproof.evals.servers.guardian", *shlex.split(arm.serve or ""))
    with log.open("ab") as output:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, **arm.env},
            start_new_session=True,  # Ctrl-C is ours to handle: the answers in flight are waited for
        )


async def _is_ready(endpoint: Endpoint) -> bool:
    """Whether the server answers: at `ready_url`, else at /health, else at the list of models."""
    arm = endpoint.arm
    if arm.ready_url is not None:
        return await endpoint.get_text(arm.ready_url) is not None
    if await endpoint.get_text(f"{server_root(arm.base_url)}/health") is not None:
        return True
    with contextlib.suppress(UserError):
        return await endpoint.get_text(f"{arm.base_url}/models") is not None
    return False
