"""Suite files: JSONL, one sample a line, read as a stream; every wrong line is named in one error."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import UserError
from ..parsers.json_scanner import Decoded, JsonError
from ..parsers.result import Json
from ..parsers.strict_json import decode
from .raw_sample import SampleError, sample_from_json
from .sample import Sample
from .values import shown

LONGEST_LINE_BYTES = 16 * 1024 * 1024
_SHOWN_LINES = 20


def read_suite_file(path: Path) -> Iterator[tuple[int, Sample]]:
    """Read a suite file, one line at a time.

    Args:
        path: A UTF-8 file with one raw sample a line; blank lines are skipped.

    Yields:
        Line numbers, counted from 1, with their samples, in the order of the file.

    Raises:
        UserError: After the last line, if any line is wrong: the first problem of each, as
            `file:line: field: what is wrong, expected what`, at most 20 of them and how many there are.
            Also if the file cannot be read or holds no sample.
    """
    line_of: dict[str, int] = {}
    problems: list[str] = []
    wrong_lines = 0
    for number, line in _lines(path):
        try:
            sample = _sample(line)
            _refuse_known_id(sample.id, line_of)
        except SampleError as error:
            wrong_lines += 1
            if len(problems) < _SHOWN_LINES:
                problems.append(f"{path}:{number}: {error}")
            continue
        line_of[sample.id] = number
        yield number, sample
    if problems:
        raise _wrong_lines(problems, wrong_lines)
    if not line_of:
        raise UserError(f"{path}: holds no sample, expected one JSON object a line")


def _lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield numbered lines that are not blank; None stands for one that is too long to be held."""
    try:
        with path.open("rb") as stream:
            yield from _numbered(stream)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    while line := stream.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(line) > LONGEST_LINE_BYTES and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        elif text := line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip():
            yield number, text


def _sample(line: bytes | None) -> Sample:
    if line is None:
        mebibytes = LONGEST_LINE_BYTES // 1024**2
        raise SampleError("", f"the line is too long, expected at most {mebibytes} MiB")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise SampleError("", f"not UTF-8: byte 0x{byte:02x} at byte {error.start + 1} of the line") from None
    return sample_from_json(_json(text))


def _json(text: str) -> Json:
    """Read a line as strictly as a model's output is read: what a suite holds must be sent unchanged."""
    match decode(text):
        case JsonError(position=position, message=message):
            raise SampleError("", f"not JSON: {message}, at column {position + 1}")
        case Decoded(duplicates=(first, *_)):
            key, column = text[first.start : first.end], first.start + 1
            raise SampleError("", f"holds the key {key} twice in one object, again at column {column}")
        case Decoded(value=value, end=end):
            if rest := text[end:].lstrip(" \t\r\n"):
                column = len(text) - len(rest) + 1
                raise SampleError("", f"not JSON: something follows the value, at column {column}")
            return value


def _refuse_known_id(sample_id: str, line_of: dict[str, int]) -> None:
    if sample_id in line_of:
        raise SampleError("id", f"is {shown(sample_id)}, which line {line_of[sample_id]} has already")


def _wrong_lines(problems: list[str], wrong_lines: int) -> UserError:
    if wrong_lines == 1:
        return UserError(problems[0])
    shown_first = "" if wrong_lines == len(problems) else f", the first {len(problems)} of them shown"
    return UserError("\n".join([*problems, f"{wrong_lines} lines are wrong{shown_first}"]))
