"""The guardian of one server: starts it, and ends it with everything it started when its owner is gone.

Run as `python -m draftproof.evals.servers.guardian COMMAND…`. Its owner holds the other end of its standard
input: when that closes, because the owner is done, was interrupted or was killed, the server and all its
children are ended, politely first. Servers start workers in process groups and sessions of their own (vLLM
does), so on Linux the guardian adopts whatever loses its parent and ends that as well.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.1


def main() -> int:
    """Guard the server until it ends, or its owner does; return its exit code."""
    _adopt_orphans()
    for number in (signal.SIGINT, signal.SIGTERM):
        # The owner decides, by closing the pipe. A handler, since the server would inherit an ignored signal.
        signal.signal(number, _take_no_notice)
    server = subprocess.Popen(  # noqa: S603 - the command is the user's own
        sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True
    )
    threading.Thread(target=_end_with_owner, args=(server,), daemon=True).start()
    code = server.wait()
    _end_all(server.pid)
    return code if code >= 0 else 128 - code


def _take_no_notice(_number: int, _frame: object) -> None:
    """Go on."""


def _end_with_owner(server: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1):
        pass
    _signal_group(server.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(PATIENCE_SECONDS)
    _end_all(server.pid)
    os._exit(0)


def _end_all(group: int) -> None:
    """End what is left: the server's group, and every orphan that came to us."""
    _signal_group(group, signal.SIGKILL)
    while children := _children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(_POLL_SECONDS)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux: prctl(2), a child subreaper)."""
    if sys.platform == "linux":
        pr_set_child_subreaper = 36  # linux/prctl.h
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1)


def _children() -> list[int]:
    """Processes whose parent we are; nothing where the system does not tell."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
