"""CSV and Parquet files as rows; what stands in their cells is text or JSON, and JSON text stays text."""

import csv
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ..errors import UserError
from ..parsers.result import Json
from .json_lines import LONGEST_LINE_BYTES, JsonRead
from .problems import SampleError

HUB_EXTRA = "pip install 'draftproof[hub]'"
_ROWS_IN_MEMORY = 64


def read_csv(path: Path) -> Iterator[tuple[int, JsonRead]]:
    """Read a UTF-8 CSV file with a line of names; an empty cell is a member that is missing.

    Yields:
        The number of the line on which each row ends, with the row.

    Raises:
        UserError: The file cannot be read.
    """
    _ = csv.field_size_limit(LONGEST_LINE_BYTES)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            for row in reader:
                # Cells beyond the names stand under None, names without a cell have None.
                cells = cast("dict[str | None, str | list[str] | None]", row)
                if None in cells or None in cells.values():
                    yield reader.line_num, SampleError("", "has another number of cells than the first line")
                else:
                    yield reader.line_num, {str(name): str(cell) for name, cell in cells.items() if cell}
    except csv.Error as error:
        raise UserError(f"{path}: not CSV: {error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: cannot be read: not UTF-8") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_parquet(path: Path) -> Iterator[tuple[int, JsonRead]]:
    """Read a Parquet file, a few rows at a time.

    Yields:
        The number of each row, counted from 1, with the row.

    Raises:
        UserError: The file cannot be read, or pyarrow is not installed.
    """
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise UserError(f"{path}: Parquet needs pyarrow, which is not installed", tip=HUB_EXTRA) from error
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_IN_MEMORY):
                for row in cast("list[dict[str, object]]", batch.to_pylist()):
                    number += 1
                    yield number, plain_row(row)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except arrow.ArrowException as error:
        raise UserError(f"{path}: not Parquet: {error}") from error


def plain_row(row: Mapping[str, object]) -> JsonRead:
    """Return a row as JSON, or what in it is none, such as a time or a picture."""
    try:
        return {name: _plain(value) for name, value in row.items()}
    except TypeError as error:
        return SampleError("", str(error))


def _plain(value: object) -> Json:
    match value:
        case float() if not math.isfinite(value):
            raise TypeError(f"holds {value}, which JSON does not have")
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            members = cast("Mapping[object, object]", value)
            return {str(name): _plain(member) for name, member in members.items()}
        case list() | tuple():
            return [_plain(item) for item in cast("list[object]", value)]
        case _:
            return f"<{type(value).__name__}>"
