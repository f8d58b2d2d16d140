"""The samples of a packed run as columns: their ids, and their lines as they stood."""

from collections.abc import Sequence
from pathlib import Path

from .packed_file import Arrow, PackedFile, arrow, one_error, samples_file


def samples_of(directory: Path) -> PackedFile:
    """The file with the samples of a packed run."""
    return PackedFile(samples_file(directory), sample_schema)


def sample_schema() -> Arrow:
    """The columns of `samples.parquet`, as a schema of Arrow; an id may hold what no text column can.

    Raises:
        UserError: PyArrow is not installed.
    """
    return arrow().schema([arrow().field(name, arrow().binary(), nullable=False) for name in ("id", "line")])


def sample_columns_of(ids: Sequence[str], lines: Sequence[bytes]) -> Arrow:
    """Samples as a table of Arrow: ids, and lines with their newlines."""
    encoded = [one.encode("utf-8", "surrogatepass") for one in ids]
    return arrow().table({"id": encoded, "line": lines}, sample_schema())


def read_sample_ids(file: PackedFile, group: int) -> list[str]:
    """The ids of a group of samples, in the order of the suite.

    Raises:
        UserError: The file cannot be read.
    """
    ids: list[bytes] = file.read(group, ["id"]).column("id").to_pylist()
    with one_error(file.path):
        return [one.decode("utf-8", "surrogatepass") for one in ids]


def read_sample_lines(file: PackedFile, group: int) -> list[bytes]:
    """The lines of a group of samples, each with its newline.

    Raises:
        UserError: The file cannot be read.
    """
    return file.read(group, ["line"]).column("line").to_pylist()
