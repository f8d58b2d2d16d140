"""The run directory while it is written: one writer, append and flush, nothing lost by a kill.

An attempt line is a paid answer. It is written before anything else happens with it; a line torn by a kill is
closed with a newline and left where it is (the reader counts it as unreadable and the sample is asked again).
"""

import fcntl
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import JsonValue

from ...errors import UserError
from ..attempt import Attempt
from ..servers.counters import Snapshot
from .divergence import Divergence

# The format of run.json and of everything beside it.
# 1: the first. A redacted run (`plan.run.redact`) has hashes for texts and a `reading` in each answered
#    attempt; a line without one is a line of any other run. `chunks`, `timing` and `raw_text` of
#    an attempt, and the folder `counters`, came later and may be absent.
FORMAT = 1

_LINE = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


class RunLock:
    """The right to write one run directory; a killed process leaves nothing behind.

    The lock is the kernel's (flock on `run.lock`), so it ends with the process that held it. The directory is
    created if it is not there; `run.lock` in a directory says that everything in it is a run's.
    """

    def __init__(self, directory: Path, name: str = "run.lock") -> None:
        self._path = directory / name
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a+", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if self._file is not None:
                self._file.close()
            raise UserError(
                f"{self._path.parent}: another draftproof is writing this run",
                tip="wait for it, or give another --out",
            ) from None
        except OSError as error:
            raise write_error(self._path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


class Journal:
    """Appends to the files of a run that grow while it asks; a context manager, used under a RunLock."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[Path, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()

    def append(self, attempt: Attempt) -> None:
        """Write one attempt through to the operating system.

        Raises:
            UserError: The line could not be written (a full disk, say); what was written before stands.
        """
        self._append(attempts_path(self._directory, attempt.arm), attempt.to_line())

    def append_snapshot(self, arm: str, snapshot: Snapshot) -> None:
        """Write one snapshot of a server's totals; raises as `append`."""
        self._append(counters_path(self._directory, arm), snapshot.to_line())

    def append_divergence(self, divergence: Divergence) -> None:
        """Write where one pair parted; raises as `append`."""
        self._append(divergences_path(self._directory), divergence.to_line())

    def _append(self, path: Path, line: str) -> None:
        try:
            file = self._files.get(path) or self._open(path)
            _write_whole(file, line.encode("ascii"))
        except OSError as error:
            # Part of the line may stand there; whoever opens the file next closes it with a newline.
            if (file := self._files.pop(path, None)) is not None:
                file.close()
            raise write_error(path, error) from error

    def _open(self, path: Path) -> IO[bytes]:
        # Never the run directory itself: one that was moved away must not begin anew where it was.
        if path.parent != self._directory:
            path.parent.mkdir(exist_ok=True)
        # Unbuffered: a buffer would keep what a full disk refused, and write it later, elsewhere.
        file = path.open("ab", buffering=0)
        self._files[path] = file
        if file.tell() and not _ends_with_newline(path):
            _write_whole(file, b"\n")
        return file


@lru_cache
def attempts_path(directory: Path, arm: str) -> Path:
    """Where the attempts of an arm stand."""
    return directory / "attempts" / f"{arm}.jsonl"


def counters_path(directory: Path, arm: str) -> Path:
    """Where the snapshots of an arm's server stand."""
    return directory / "counters" / f"{arm}.jsonl"


def divergences_path(directory: Path) -> Path:
    """Where it stands how each discordant pair parted."""
    return directory / "divergences.jsonl"


def write_json(path: Path, value: JsonValue) -> None:
    """Write a JSON file whole, or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_json_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write a JSON-lines file whole, or not at all."""
    write_text(path, "".join(f"{json_line(row)}\n" for row in rows))


def json_line(row: Mapping[str, object]) -> str:
    """One JSON line without its newline; ASCII, so that no text can break it."""
    return _LINE.encode(row)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole, or not at all; what UTF-8 cannot hold stands as its escape.

    Raises:
        UserError: The file could not be written.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all: a temporary file beside it, renamed into place.

    Who may read it is what the user's umask says, as of every file of a run.

    Raises:
        UserError: The file could not be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise write_error(path, error) from error


def _write_whole(file: IO[bytes], line: bytes) -> None:
    while line:
        line = line[file.write(line) :]


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def write_error(path: Path, error: OSError) -> UserError:
    """What to tell of a file that could not be written."""
    return UserError(
        f"{path}: cannot be written: {error.strerror or error}",
        tip="every answer written so far is safe; mend this and run the same command again to go on",
        exit_code=4,
    )
