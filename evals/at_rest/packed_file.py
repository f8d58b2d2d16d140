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

    `schema` makes the columns that it must have; `distinct` are those that are read as dictionaries: each
    distinct text once.
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
        with told(self.path):
            file = self._open()
            metadata = file.metadata
            facts: dict[bytes, bytes] = metadata.metadata or {}
            if (found := facts.get(_FORMAT_KEY, b"unknown").decode()) != str(FORMAT):
                raise UserError(
                    f"{self.path}: format {found}; this version of draftproof reads format {FORMAT}",
                    tip="a newer draftproof wrote it, or another program did",
                )
            if file.schema.to_arrow_schema() != self.schema():
                raise ValueError("its columns are not those that this version writes")
            return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]

    def read(self, group: int, columns: Sequence[str]) -> Arrow:
        """Some columns of a group, as a table of Arrow.

        Raises:
            UserError: The file cannot be read.
        """
        with told(self.path):
            return self._open().read_row_group(group, list(columns), use_threads=False)

    def _open(self) -> Arrow:
        state = self.path.stat()
        return _opened(self.path, self.distinct, state.st_mtime_ns, state.st_size)


def count_groups(samples: PackedFile, attempts: PackedFile) -> int:
    """How many groups the samples of a packed run are in; the attempts have one more.

    Raises:
        UserError: One of the files cannot be read, or they are not of one run.
    """
    groups = len(samples.group_rows)
    if not groups or len(attempts.group_rows) != groups + 1:
        raise UserError(
            f"{attempts.path}: is not of one run with {samples.path.name}",
            tip="fetch both anew from where they were copied, or pack the run again",
        )
    return groups


@lru_cache(maxsize=8)
def _opened(path: Path, distinct: tuple[str, ...], _changed: int, _size: int) -> Arrow:
    """The file, opened once for all groups: what is known of all of them is read first, and is 60 kB each."""
    return _module("pyarrow.parquet").ParquetFile(
        path, read_dictionary=list(distinct), page_checksum_verification=True
    )


class PackedWriter:
    """Writes a Parquet file group by group; a context manager."""

    def __init__(self, path: Path, schema: Arrow) -> None:
        self._path, self._schema = path, schema

    def __enter__(self) -> Self:
        schema = self._schema.with_metadata({_FORMAT_KEY: str(FORMAT)})
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
def told(path: Path) -> "Generator[None]":
    """Whatever is wrong with the bytes of a file, or with what they say, is one error.

    Raises:
        UserError: What is done meanwhile shows that something is wrong; Arrow has a kind of error for each.
    """
    try:
        yield
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise UserError(
            f"{path}: cannot be read: {str(error).splitlines()[0]}",
            tip="it is damaged or not whole: fetch it anew from where it was copied, or pack the run again",
        ) from error
