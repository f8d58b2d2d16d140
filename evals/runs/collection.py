"""Python's collector of cycles, kept from looking at what is about to be let go anyway."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """Collect no cycles meanwhile: reading and judging make millions of objects, and hardly a cycle.

    The collector would walk over all of them again and again, a third of the whole time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
