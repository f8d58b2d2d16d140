"""Where the lines of each sample stand in a file of JSON lines, so that one can be read without the rest."""

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UserError
from ..attempt import leading_id

if TYPE_CHECKING:
    from ...parsers.result import Json

# Bytes: with less, the system is asked once for every two or three lines.
READ_AT_ONCE = 256 * 1024
_NONE = -1


class Place(NamedTuple):
    """A line of a file: its number, counted from 1, and its bytes, the newline included."""

    number: int
    offset: int
    length: int


@dataclass(slots=True)
class LineIndex:
    """The lines of one file by the sample they are of; some 16 bytes a line and 8 a sample.

    Samples are numbered in the order of the suite. The lines of one are a chain from the last to the first:
    `_last` has for each sample its last line, `_before` for each line the one before it of the same sample.
    """

    _last: "array[int]"
    _before: "array[int]" = field(default_factory=lambda: array("q"))
    _offsets: "array[int]" = field(default_factory=lambda: array("Q", [0]))

    @classmethod
    def of(cls, samples: int) -> "LineIndex":
        """An empty index for so many samples."""
        return cls(array("q", [_NONE]) * samples)

    def add(self, sample: int | None, length: int) -> None:
        """Add the next line of the file: of which sample it is (None: of none), and how many bytes it has."""
        before = _NONE
        if sample is not None:
            before, self._last[sample] = self._last[sample], len(self._before)
        self._before.append(before)
        self._offsets.append(self._offsets[-1] + length)

    def places(self, *samples: int) -> list[Place]:
        """The lines of some samples, in the order of the file."""
        found: list[int] = []
        for sample in samples:
            line = self._last[sample]
            while line != _NONE:
                found.append(line)
                line = self._before[line]
        found.sort()
        offsets = self._offsets
        return [Place(line + 1, offsets[line], offsets[line + 1] - offsets[line]) for line in found]


def scan_lines(path: Path) -> Iterator[tuple[bytes, str | None]]:
    """Go through a file: each line as it stands, and the id in it (None if there is none).

    Raises:
        UserError: The file cannot be read.
    """
    try:
        with path.open("rb", buffering=READ_AT_ONCE) as file:
            for line in file:
                yield line, id_of(line)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def id_of(line: bytes) -> str | None:
    """The id that a line is of, None without one; a line that begins with it, as ours do, is not decoded."""
    if (plain := leading_id(line)) is not None:
        return plain
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
