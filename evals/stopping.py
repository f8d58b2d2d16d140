"""The wish that a run end: what is in flight is waited for, nothing new is sent."""

import asyncio
import contextlib


class Stopping:
    """Set once somebody wants the run to end; never unset."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        """True when nothing new may be sent."""
        return self._event.is_set()

    def set(self) -> None:
        """Ask the run to end."""
        self._event.set()

    async def wait(self, seconds: float | None = None) -> None:
        """Rest that long, or until the run is to end; without a number only that ends it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
