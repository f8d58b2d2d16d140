"""Work shared out among processes, its results in order and never many at once."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from ...errors import UserError

# Each holds the libraries and a block, some 100 MB: all of them and a million attempts stay below 1 GiB.
MOST = 6

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def in_processes(
    work: Callable[[_Task], _Result], tasks: Iterable[_Task], processes: int | None = None
) -> Iterator[_Result]:
    """Do work in other processes; results come in the order of the tasks.

    Args:
        work: A function of a module; tasks and results must be picklable.
        tasks: Taken up as results are taken out: twice as many as processes are under way.
        processes: How many; default one for each core that this process may use, at most `MOST`.

    Raises:
        UserError: A process was killed.
    """
    count = min(MOST, _cores()) if processes is None else processes
    if count == 1:
        yield from map(work, tasks)
        return
    under_way: deque[Future[_Result]] = deque()
    # Spawned, not forked: whoever judges may have threads.
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        for task in tasks:
            under_way.append(pool.submit(work, task))
            if len(under_way) >= 2 * count:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenProcessPool:
        raise UserError(
            "a process that judges ended early: killed, perhaps for want of memory, or not able to start",
            tip="run the same command again; a script of your own that judges a large run does so under "
            '`if __name__ == "__main__":`',
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin() -> None:
    """Leave an interrupt to the process that shares the work out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
