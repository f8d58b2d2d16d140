"""JSON as text, in bounded memory: a value a line, or the items of an array, read as strictly as an answer.

What a suite holds must be sent unchanged, so what could not be sent again is no JSON here either.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, TypeAlias

from ..errors import UserError
from ..parsers.json_scanner import Decoded, JsonError, JsonFault
from ..parsers.result import Json
from ..parsers.strict_json import decode
from .problems import SampleError

# A value, or what is wrong where one should stand.
JsonRead: TypeAlias = "Json | SampleError"

LONGEST_LINE_BYTES = 16 * 1024 * 1024
_CHUNK_CHARACTERS = 1024 * 1024
_WHITESPACE = " \t\r\n"


def read_json_lines(path: Path) -> Iterator[tuple[int, JsonRead]]:
    """Read a UTF-8 file of one JSON value a line; blank lines are skipped.

    Yields:
        Line numbers, counted from 1, with the value, or with what is wrong with the line.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            for number, line in _numbered(stream):
                yield number, _line_value(line)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_json_line(line: bytes) -> JsonRead:
    """Read one line, its newline included, as `read_json_lines` reads those of a file."""
    return _line_value(None if len(line.removesuffix(b"\n")) > LONGEST_LINE_BYTES else line.strip())


def read_json_array(path: Path) -> Iterator[tuple[int, JsonRead]]:
    """Read a UTF-8 file that holds one JSON array, an item at a time.

    Yields:
        Numbers of items, counted from 1, with the item; at last, if the array breaks, what is wrong there.

    Raises:
        UserError: The file cannot be read.
    """
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for number, item in enumerate(_Items(stream), 1):
                yield number, item
    except SampleError as error:
        yield number + 1, error
    except UnicodeDecodeError:
        yield number + 1, SampleError("", "not UTF-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def holds_array(path: Path) -> bool:
    """Say whether a file begins as a JSON array.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(_CHUNK_CHARACTERS).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def json_value(text: str) -> Json:
    """Read a text as one JSON value.

    Raises:
        SampleError: It is none; says where.
    """
    match decode(text):
        case JsonError(position=position, message=message):
            raise SampleError("", f"not JSON: {message}, at column {position + 1}")
        case Decoded(value=value, end=end, duplicates=duplicates):
            _refuse_duplicates(text, duplicates)
            if rest := text[end:].lstrip(_WHITESPACE):
                column = len(text) - len(rest) + 1
                raise SampleError("", f"not JSON: something follows the value, at column {column}")
            return value


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield numbered lines that are not blank; None stands for one that is too long to be held."""
    number = 0
    while line := stream.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(line) > LONGEST_LINE_BYTES and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        elif text := line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip():
            yield number, text


def _line_value(line: bytes | None) -> JsonRead:
    if line is None:
        return _too_long("line")
    try:
        return json_value(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return SampleError("", f"not UTF-8: byte 0x{byte:02x} at byte {error.start + 1} of the line")
    except SampleError as error:
        return error


class _Items:
    """The items of an array, from a stream of text; holds one item and a chunk."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._is_end = False

    def __iter__(self) -> Iterator[Json]:
        if self._next() != "[":
            raise SampleError("", "not JSON: expected an array")
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            yield from self._rest()
        if self._next():
            raise SampleError("", "not JSON: something follows the array")

    def _rest(self) -> Iterator[Json]:
        while True:
            yield self._item()
            match self._next():
                case ",":
                    self._at += 1
                case "]":
                    self._at += 1
                    return
                case "":
                    raise SampleError("", "not JSON: the array does not end")
                case _:
                    raise SampleError("", "not JSON: a comma or the end of the array should stand here")

    def _item(self) -> Json:
        while True:
            # A bare number may go on in the next chunk; nothing else reads as whole before it is.
            found = decode(self._text, self._at)
            is_whole = isinstance(found, Decoded) and (found.end < len(self._text) or self._is_end)
            if isinstance(found, Decoded) and is_whole:
                _refuse_duplicates(self._text, found.duplicates)
                self._at = found.end
                return found.value
            if isinstance(found, JsonError) and (found.fault is JsonFault.INVALID or self._is_end):
                raise SampleError("", f"not JSON: {found.message}")
            if len(self._text) - self._at > LONGEST_LINE_BYTES:
                raise _too_long("item")
            # As much again as there is: reading an item anew must not become quadratic.
            self._more(max(_CHUNK_CHARACTERS, len(self._text) - self._at))

    def _next(self) -> str:
        """Skip whitespace and return the next character, or nothing at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITESPACE:
                self._at += 1
            if self._at < len(self._text) or self._is_end:
                return self._text[self._at : self._at + 1]
            self._more(_CHUNK_CHARACTERS)

    def _more(self, characters: int) -> None:
        chunk = self._stream.read(characters)
        self._is_end = not chunk
        self._text = self._text[self._at :] + chunk
        self._at = 0


def _refuse_duplicates(text: str, duplicates: tuple[tuple[int, int], ...]) -> None:
    for start, end in duplicates:
        column = start + 1
        raise SampleError(
            "", f"holds the key {text[start:end]} twice in one object, again at column {column}"
        )


def _too_long(what: str) -> SampleError:
    mebibytes = LONGEST_LINE_BYTES // 1024**2
    return SampleError("", f"the {what} is too long, expected at most {mebibytes} MiB")
