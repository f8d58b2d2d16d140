"""A run directory packed, and unpacked again: nothing is asked, judged or lost, and the first one stays.

Packed, the lines of a sample stand together, in the order of the suite: its arms were asked in nearly the
same words, and those are stored nearly once. Where each line stood in its journal is kept beside it.
"""

import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from ...errors import UserError
from ...tasks.suite_file import read_suite_file
from ..runs.collection import uncollected
from ..runs.journal import attempts_path
from ..runs.line_index import LineIndex, Place, scan_lines
from ..runs.mirror import LOCK as MIRROR_LOCK
from ..runs.record import is_empty_shard, read_head, samples_path
from ..runs.run_file import is_packed, read_run_file
from .attempt_columns import Line, Row, attempts_of, columns_of, columns_schema, read_rows
from .new_directory import new_directory
from .packed_file import PackedWriter, attempts_file, count_groups, samples_file
from .sample_columns import read_sample_lines, sample_columns_of, sample_schema, samples_of

# Samples and lines of a group together: some 20 MB for a process that judges it.
GROUP = 2048


def pack_run(directory: Path, out: Path) -> None:
    """Pack a run into a new directory, which appears whole or not at all.

    What is neither journal nor sample is copied. `findings.jsonl` is not: it is as large as all the rest, and
    whoever judges the packed run writes it anew.

    Raises:
        UserError: The run cannot be read or is packed, PyArrow is not installed, or `out` holds something or
            cannot be written.
    """
    arms = [arm.name for arm in read_run_file(directory).plan.arms]
    if is_packed(directory):
        raise UserError(f"{directory}: is packed already", tip="`draftproof unpack` gives its journals back")
    with new_directory(out, [directory]) as made:
        ids = _sample_ids(directory)
        _copy_rest(directory, made, arms)
        _write_packed(directory, made, ids, arms)


def unpack_run(directory: Path, out: Path) -> None:
    """Write the journals and samples that a run was packed from into a new directory.

    It appears whole or not at all. Journals come back byte for byte, samples line by line: a byte order mark,
    blank lines and carriage returns that a hand put there stay behind. All else is copied, but for
    `findings.jsonl`.

    Raises:
        UserError: The packed run cannot be read or is not as draftproof writes it, or `out` holds something
            or cannot be written.
    """
    arms = [arm.name for arm in read_run_file(directory).plan.arms]
    if not is_packed(directory):
        raise UserError(f"{directory}: is not packed", tip="name a directory that `draftproof pack` made")
    samples, attempts = samples_of(directory), attempts_of(directory)
    groups = count_groups(samples, attempts)
    with new_directory(out, [directory]) as made:
        _copy_rest(directory, made, arms)
        with samples_path(made).open("wb") as file:
            for group in range(groups):
                file.writelines(read_sample_lines(samples, group))
        _write_journals(chain.from_iterable(read_rows(attempts, n, arms) for n in range(groups + 1)), made)


def _write_packed(directory: Path, made: Path, ids: Sequence[str], arms: Sequence[str]) -> None:
    numbers = {sample_id: number for number, sample_id in enumerate(ids)}
    token = uuid4().hex
    with ExitStack() as stack:
        journals = [
            _Journal.read(arm, path, stack.enter_context(path.open("rb")), numbers)
            for arm in arms
            if (path := attempts_path(directory, arm)).exists()
        ]
        to_samples = stack.enter_context(PackedWriter(samples_file(made), sample_schema(), token))
        to_attempts = stack.enter_context(PackedWriter(attempts_file(made), columns_schema(), token))
        for first, sample_lines, lines in _groups(_sample_lines(directory), journals):
            to_samples.write(sample_columns_of(ids[first : first + len(sample_lines)], sample_lines))
            with uncollected():
                to_attempts.write(columns_of(lines))
        to_attempts.write(columns_of(line for journal in journals for line in journal.strays()))


def _write_journals(rows: Iterable[Row], made: Path) -> None:
    """Write each line where it stood: they come in the order of samples."""
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {}
        for row in rows:
            if row.arm not in files:
                path = attempts_path(made, row.arm)
                path.parent.mkdir(exist_ok=True)
                files[row.arm] = stack.enter_context(path.open("wb"))
            files[row.arm].seek(row.offset)
            files[row.arm].write(row.text)


@dataclass(frozen=True, slots=True)
class _Journal:
    """A journal that is being packed: where the lines of each sample stand, and those of none."""

    arm: str
    file: BinaryIO
    index: LineIndex
    of_none: list[Place]

    @classmethod
    def read(cls, arm: str, path: Path, file: BinaryIO, numbers: Mapping[str, int]) -> "_Journal":
        index, of_none, offset = LineIndex.of(len(numbers)), list[Place](), 0
        for number, (line, sample_id) in enumerate(scan_lines(path), start=1):
            sample = None if sample_id is None else numbers.get(sample_id)
            index.add(sample, len(line))
            if sample is None:
                of_none.append(Place(number, offset, len(line)))
            offset += len(line)
        return cls(arm, file, index, of_none)

    def lines(self, sample: int) -> Iterator[Line]:
        """The lines of a sample, by its number."""
        return map(self._line, self.index.places(sample))

    def strays(self) -> Iterator[Line]:
        """The lines that are of no sample."""
        return map(self._line, self.of_none)

    def _line(self, place: Place) -> Line:
        text = os.pread(self.file.fileno(), place.length, place.offset)
        return Line(self.arm, place.number, place.offset, text)


def _groups(
    sample_lines: Iterator[bytes], journals: list[_Journal]
) -> Iterator[tuple[int, list[bytes], list[Line]]]:
    """Samples that are judged together: the number of the first, their lines, and those of their attempts.

    There is at least one group: a shard that no sample fell to has an empty one.
    """
    first, samples, lines = 0, list[bytes](), list[Line]()
    for number, sample_line in enumerate(sample_lines):
        samples.append(sample_line)
        lines += (line for journal in journals for line in journal.lines(number))
        if len(samples) + len(lines) >= GROUP:
            yield first, samples, lines
            first, samples, lines = number + 1, [], []
    if samples or not first:
        yield first, samples, lines


def _sample_ids(directory: Path) -> list[str]:
    head = read_head(directory)
    if is_empty_shard(head):
        return []
    file = read_suite_file(samples_path(directory), is_redacted=head.plan.run.redact, is_checked=True)
    return [sample.id for _, sample in file]


def _sample_lines(directory: Path) -> Iterator[bytes]:
    with samples_path(directory).open("rb") as file:
        for number, line in enumerate(file):
            text = line.removeprefix(BOM_UTF8) if number == 0 else line
            if text.strip():
                yield text.rstrip(b"\r\n") + b"\n"


def _copy_rest(directory: Path, made: Path, arms: Sequence[str]) -> None:
    """Copy what stays as it is: `run.json`, totals of servers, divergences, whatever else stands there.

    Only files that are written in another form, derived anew or locks of the run are left out.
    """
    left_out = {samples_path(directory), samples_file(directory), attempts_file(directory)}
    left_out |= {attempts_path(directory, arm) for arm in arms}
    left_out |= {directory / name for name in ("findings.jsonl", "run.lock", MIRROR_LOCK)}

    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if Path(folder, name) in left_out}

    mode = made.stat().st_mode
    shutil.copytree(directory, made, ignore=ignored, dirs_exist_ok=True)
    # As the folder was made: where a run may only be read, this one may be written.
    for folder in (made, *filter(Path.is_dir, made.rglob("*"))):
        folder.chmod(mode)
    with suppress(OSError):  # It holds something else, or was not there.
        (made / "attempts").rmdir()
