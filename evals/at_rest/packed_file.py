"""The Parquet files of a packed run: opened once a process, read group by group, and never half believed."""

import importlib
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from ...errors import UserError
from ..runs.run_file import PACKED_ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Generator

# A module, schema, table or column of PyArrow, which brings no types.
Arrow: TypeAlias = Any

# The format of both files, in their own metadata.
# 1: the first. `samples.parquet` has `id` and `line`, `attempts.parquet` the columns of `attempt_columns.py`;
#    group n of both is of the same samples, and one more group of attempts has the lines that are of none.
FORMAT = 1
_FORMAT_KEY = b"draftproof"
# What both files of one run share, and no other file.
_TOKEN_KEY = b"draftproof.packed"


def arrow() -> Arrow:
    """PyArrow.

    Raises:
        UserError: It is not installed.
    """
    return _module("pyarrow")


@lru_cache
def _module(name: str) -> Arrow:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UserError(
            "a packed run needs pyarrow, which is not installed", tip="pip install 'draftproof[frames]'"
        ) from None


def samples_file(directory: Path) -> Path:
    """Where the samples of a packed run stand."""
    return directory / "samples.parquet"


def attempts_file(directory: Path) -> Path:
    """Where the attempts of all arms of a packed run stand."""
    return directory / PACKED_ATTEMPTS


@dataclass(frozen=True, slots=True)
class PackedFile:
    """One Parquet file, to be read here or in another process.

    `schema` makes the schema of Arrow that it must have; `distinct` are its columns that are read as
    dictionaries: each distinct text once.
    """

    path: Path
    schema: Callable[[], Arrow]
    distinct: tuple[str, ...] = ()

    @property
    def group_rows(self) -> Sequence[int]:
        """How many rows each group has.

        Raises:
            UserError: The file cannot be read, or another program or version wrote it.
        """
        metadata = self._open().metadata
        return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]

    @property
    def token(self) -> bytes:
        """What the other file of the same run says too; empty if the file says nothing.

        Raises:
            UserError: The file cannot be read, or another program or version wrote it.
        """
        return self._open().metadata.metadata.get(_TOKEN_KEY, b"")

    def read(self, group: int, columns: Sequence[str]) -> Arrow:
        """Some columns of a group, as a table of Arrow.

        Raises:
            UserError: The file cannot be read, or another program or version wrote it.
        """
        file = self._open()
        with one_error(self.path):
            return file.read_row_group(group, list(columns), use_threads=False)

    def _open(self) -> Arrow:
        with one_error(self.path):
            state = self.path.stat()
            return _opened(self, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _opened(file: PackedFile, _changed: int, _size: int) -> Arrow:
    """The file, opened once for all groups: what is known of all of them is read first, and is 60 kB each.

    Its schema is compared here, once, so whoever reads a column finds it, with its type.
    """
    parquet = _module("pyarrow.parquet")
    metadata = parquet.read_metadata(file.path)
    facts: dict[bytes, bytes] = metadata.metadata or {}
    if (found := facts.get(_FORMAT_KEY, b"unknown").decode(errors="replace")) != str(FORMAT):
        raise UserError(
            f"{file.path}: format {found}; this version of draftproof reads format {FORMAT}",
            tip="a newer draftproof wrote it, or another program did",
        )
    if problem := _difference(metadata.schema.to_arrow_schema(), file.schema()):
        raise UserError(
            f"{file.path}: {problem}",
            tip="another program wrote it: fetch it anew from where it was copied, or pack the run again",
        )
    return parquet.ParquetFile(
        file.path, metadata=metadata, read_dictionary=list(file.distinct), page_checksum_verification=True
    )


def _difference(found: Arrow, expected: Arrow) -> str | None:
    """In what a schema is another than expected, if it is."""
    if found.equals(expected):
        return None
    for field in expected:
        same = [one for one in found if one.name == field.name]
        if same != [field]:
            kind = field.type if field.nullable else f"{field.type} without nulls"
            kinds = ", ".join(str(one.type) for one in same) or "none"
            return f"expected one column {field.name!r} of {kind}, found {kinds}"
    return "has other columns than draftproof writes, or in another order"


def count_groups(samples: PackedFile, attempts: PackedFile) -> int:
    """How many groups the samples of a packed run are in; the attempts have one more.

    Raises:
        UserError: One of the files cannot be read, or they were not packed together.
    """
    groups = len(samples.group_rows)
    if not groups or len(attempts.group_rows) != groups + 1 or samples.token != attempts.token:
        raise UserError(
            f"{attempts.path}: is not of one run with {samples.path.name}",
            tip="fetch both anew from where they were copied, or pack the run again",
        )
    return groups


class PackedWriter:
    """Writes a Parquet file group by group; a context manager.

    Args:
        path: The file.
        schema: Its columns.
        token: Something that no other run has, the same for both files of this one.
    """

    def __init__(self, path: Path, schema: Arrow, token: str) -> None:
        self._path, self._schema, self._token = path, schema, token

    def __enter__(self) -> Self:
        schema = self._schema.with_metadata({_FORMAT_KEY: str(FORMAT), _TOKEN_KEY: self._token})
        self._file = _module("pyarrow.parquet").ParquetWriter(
            self._path,
            schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            write_statistics=False,
            write_page_checksum=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, table: Arrow) -> None:
        """Write a table of Arrow as one group, be it empty."""
        self._file.write_table(table, row_group_size=max(1, table.num_rows))


# Of zstd: what higher levels save of a run is less than the time they take.
COMPRESSION_LEVEL = 3


@contextmanager
def one_error(path: Path) -> "Generator[None]":
    """Whatever is wrong with a file's bytes, or a value in it, is one error; Arrow has a kind for each."""
    try:
        yield
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path}: cannot be read: {' '.join(str(error).splitlines()[:1])}",
            tip="it is damaged or not whole: fetch it anew from where it was copied, or pack the run again",
        ) from error
