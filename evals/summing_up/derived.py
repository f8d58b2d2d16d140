"""The two derived files of a run, findings.jsonl and summary.json: written while it is judged, each whole."""

import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from ...errors import UserError
from ..runs.journal import write_error, write_json
from ..runs.run import Run
from .summary import Summary, summarise


class FindingsFile:
    """findings.jsonl as it grows: all lines of the first candidate, then those of the next.

    Each candidate's lines are gathered in a file of their own beside it; what cannot be written is told at
    the end, since the judging is worth something without it.
    """

    def __init__(self, path: Path, candidates: Sequence[str]) -> None:
        self._path = path
        part = uuid.uuid4().hex
        self._parts = {name: path.with_name(f".{path.name}.{part}.{n}") for n, name in enumerate(candidates)}
        self._files: dict[str, IO[bytes]] = {}
        self._error: OSError | None = None

    def add(self, candidate: str, lines: bytes) -> None:
        """Add lines of one candidate."""
        if self._error is not None:
            return
        try:
            file = self._files.get(candidate)
            if file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                file = self._files[candidate] = self._parts[candidate].open("x+b")
            file.write(lines)
        except OSError as error:
            self._error = error

    def finish(self) -> UserError | None:
        """Put the file in place, or say why that cannot be; the parts are gone in either case."""
        try:
            if self._error is not None:
                raise self._error
            first, *rest = self._parts
            for name in rest:
                _append(self._files[first], self._files[name])
            self._files[first].flush()
            os.fsync(self._files[first].fileno())
            self._parts[first].replace(self._path)
        except OSError as error:
            return write_error(self._path, error)
        finally:
            self.discard()
        return None

    def discard(self) -> None:
        """Close and remove what is not in place."""
        for name, file in self._files.items():
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                self._parts[name].unlink(missing_ok=True)


def derive(run: Run, directory: Path | None = None) -> tuple[Summary, UserError | None]:
    """Judge a run and write its derived files; a place that cannot be written to costs the files alone.

    Args:
        run: The run.
        directory: Where to write; default the run's own directory.

    Returns:
        The summary, and why the files could not be written, if so.
    """
    there = directory or run.directory
    findings = FindingsFile(there / "findings.jsonl", [arm.name for arm in run.plan.candidates])
    try:
        summary = summarise(run, lines=findings.add)
    except BaseException:
        findings.discard()
        raise
    problem = findings.finish()
    if problem is None:
        try:
            write_json(there / "summary.json", summary.to_json())
        except UserError as error:
            problem = error
    return summary, problem


def _append(to: IO[bytes], file: IO[bytes]) -> None:
    file.seek(0)
    while piece := file.read(1024 * 1024):
        to.write(piece)
