"""Suite files: JSONL, one sample a line, read as a stream; every wrong line is named in one error."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import UserError
from .json_lines import JsonRead, read_json_line, read_json_lines
from .problems import Problems, SampleError
from .raw_sample import sample_from_json
from .sample import Sample
from .sample_line import read_as_written
from .values import shown


def read_suite_file(
    path: Path, *, is_redacted: bool = False, is_checked: bool = False
) -> Iterator[tuple[int, Sample]]:
    """Read a suite file, one line at a time.

    Args:
        path: A UTF-8 file with one raw sample a line; blank lines are skipped.
        is_redacted: The file is that of a redacted run (see `tasks.redaction`).
        is_checked: The file is that of a run, which checked tools and labels before it asked.

    Yields:
        Line numbers, counted from 1, with their samples, in the order of the file, up to the first line that
        is wrong: what comes after it is only checked.

    Raises:
        UserError: After the last line, if any line is wrong: the first problem of each, as
            `file:line: field: what is wrong, expected what`, at most 20 of them and how many there are.
            Also if the file cannot be read or holds no sample.
    """
    line_of: dict[str, int] = {}
    problems = Problems()
    for number, value in read_json_lines(path):
        try:
            sample = _sample(value, line_of, is_redacted=is_redacted, is_checked=is_checked)
        except SampleError as error:
            problems.add(f"{path}:{number}", error)
            continue
        line_of[sample.id] = number
        if not problems:
            yield number, sample
    problems.refuse()
    if not line_of:
        raise UserError(f"{path}: holds no sample, expected one JSON object a line")


def read_checked_line(line: bytes, *, is_redacted: bool) -> Sample:
    """Read one sample of a run, which wrote the line itself, from samples that it had checked.

    Raises:
        SampleError: It is no sample; `read_suite_file` says of the whole file what is wrong.
    """
    if not is_redacted and (sample := read_as_written(line)) is not None:
        return sample
    value = read_json_line(line)
    if isinstance(value, SampleError):
        raise value
    return sample_from_json(value, is_redacted=is_redacted, is_checked=True)


def _sample(value: JsonRead, line_of: dict[str, int], *, is_redacted: bool, is_checked: bool) -> Sample:
    if isinstance(value, SampleError):
        raise value
    sample = sample_from_json(value, is_redacted=is_redacted, is_checked=is_checked)
    if sample.id in line_of:
        raise SampleError("id", f"is {shown(sample.id)}, which line {line_of[sample.id]} has already")
    return sample
