"""Attempts as the columns of a table: what a packed run keeps of each journal line, and how it is read back.

The columns have the names of the journal's members. They keep a line only if the attempt that is read from it
would be written as that very line, byte for byte; any other (torn, of another format, a text or a number that
no column can hold) stands as it is in `line`. So no line is lost, and none is mended. That the cells of an
attempt give this attempt back is not checked line by line: a property test holds them to it.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec
from pydantic import JsonValue

from ..attempt import (
    Attempt,
    Drafts,
    EndpointError,
    ErrorType,
    Reading,
    Stage,
    Timing,
    Usage,
    read_attempt,
)
from ..plan import Mode
from .packed_file import Arrow, PackedFile, arrow, attempts_file, one_error

_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_INTEGERS = range(-(2**63), 2**63)

# Of a member of an attempt; and as it is kept: a text, a number, a truth, members of a part, or None.
_Value: TypeAlias = Any
_Cell: TypeAlias = Any


class Line(NamedTuple):
    """One line of a journal as it stands, its newline included.

    `arm` is the one that the file is named after; `number` counts its lines from 1, `offset` its bytes.
    """

    arm: str
    number: int
    offset: int
    text: bytes


class Row(NamedTuple):
    """A line read back: an attempt, or the text of the line where it stands as it is."""

    arm: str
    number: int
    offset: int
    attempt: Attempt | bytes

    @property
    def text(self) -> bytes:
        """The line as it stood in its journal."""
        return self.attempt if isinstance(self.attempt, bytes) else self.attempt.to_line().encode("ascii")


class _Column(NamedTuple):
    """How one member is kept: its type in Arrow, and the ways from a value to a cell and back.

    `values` takes a column in which something stands. `is_distinct` says that it takes a dictionary: each
    distinct text once, and which of them stands in each row.
    """

    kind: Callable[[], Arrow]
    cell: Callable[[_Value], _Cell]
    values: Callable[[Arrow], Sequence[_Value]]
    is_distinct: bool = False


def _same(value: _Value) -> _Cell:
    return value


def _cells_of(column: Arrow) -> Sequence[_Cell]:
    return column.to_pylist()


def _plain(kind: str) -> _Column:
    return _Column(lambda: arrow().type_for_alias(kind), _same, _cells_of)


def _text(cell: Callable[[_Value], str | None] = _same, value: Callable[[str], _Value] = _same) -> _Column:
    """A text, or what is read from one: each distinct one once, since arms mostly say the same."""

    def values(column: Arrow) -> list[_Value]:
        found: list[_Value] = []
        for chunk in column.chunks:
            distinct = dict(enumerate(map(value, chunk.dictionary.to_pylist())))
            # The place of a row without a text is None, and so is what stands there. Not by `fill_null`: for
            # that Arrow imports pandas, 30 MB in each process that judges.
            found += map(distinct.get, chunk.indices.to_pylist())
        return found

    return _Column(lambda: arrow().string(), cell, values, is_distinct=True)


def _part(make: Callable[..., _Value], members: Mapping[str, str]) -> _Column:
    """A part of an attempt, its members as they are."""

    def cell(part: _Value) -> dict[str, _Cell] | None:
        return None if part is None else {name: getattr(part, name) for name in members}

    def values(column: Arrow) -> list[_Value]:
        there = column.is_valid().to_pylist()
        rows = zip(*(part.to_pylist() for part in column.flatten()), strict=True)
        return [make(*row) if is_there else None for is_there, row in zip(there, rows, strict=True)]

    return _Column(
        lambda: arrow().struct([(name, arrow().type_for_alias(one)) for name, one in members.items()]),
        cell,
        values,
    )


def _error(type_: str, status: int | None, message: str) -> EndpointError:
    return EndpointError(ErrorType(type_), status, message)


def _choice(kind: type[Enum]) -> _Column:
    return _text(lambda one: one.value, kind)


_WORD, _FLAG, _COUNT, _MS = _text(), _plain("bool"), _plain("int64"), _plain("float64")
_VALUE = _text(lambda value: None if value is None else _JSON.encode(value), json.loads)
_READING = _text(
    lambda one: None if one is None else _JSON.encode(asdict(one)),
    # In two steps: a name of a call may hold a lone surrogate, which msgspec does not take from a text.
    lambda text: msgspec.convert(json.loads(text), Reading),
)
_COLUMNS: Mapping[str, _Column] = {
    # In the order of an attempt's members.
    "id": _WORD,
    "arm": _WORD,
    "mode": _choice(Mode),
    "stream": _FLAG,
    "stage": _choice(Stage),
    "max_tokens": _COUNT,
    "attempt": _COUNT,
    "status": _WORD,
    "finish_reason": _WORD,
    "stop_reason": _VALUE,
    "content": _WORD,
    "reasoning": _WORD,
    "tool_calls": _VALUE,
    "usage": _part(Usage, dict.fromkeys(("prompt_tokens", "completion_tokens", "reasoning_tokens"), "int64")),
    "request": _VALUE,
    "duration_ms": _MS,
    "ttft_ms": _MS,
    "retries": _COUNT,
    "spec": _part(Drafts, dict.fromkeys(("draft_tokens", "accepted_tokens", "steps"), "int64")),
    "system_fingerprint": _WORD,
    "error": _part(_error, {"type": "string", "status": "int64", "message": "string"}),
    "started_at": _plain("string"),
    "index": _COUNT,
    "chunks": _COUNT,
    "first_event_ms": _MS,
    "timing": _part(Timing, {"prompt_ms": "float64", "predicted_ms": "float64", "cached_tokens": "int64"}),
    "raw_text": _WORD,
    "reading": _READING,
}

_PLACE = {"number": "int64", "offset": "int64", "line": "binary"}
_OF_EVERY_LINE = frozenset(("arm", "number", "offset"))
_OF_EVERY_ATTEMPT = (
    *("id", "mode", "stream", "stage", "max_tokens", "attempt", "status"),
    *("request", "duration_ms", "retries", "started_at", "index"),
)


def attempts_of(directory: Path) -> PackedFile:
    """The file with the attempts of all arms of a packed run."""
    return PackedFile(
        attempts_file(directory),
        columns_schema,
        tuple(name for name, column in _COLUMNS.items() if column.is_distinct),
    )


def columns_schema() -> Arrow:
    """The columns of `attempts.parquet`, as a schema of Arrow.

    Raises:
        UserError: PyArrow is not installed.
    """
    kinds = {name: arrow().type_for_alias(kind) for name, kind in _PLACE.items()}
    kinds |= {name: column.kind() for name, column in _COLUMNS.items()}
    return arrow().schema(
        [arrow().field(name, kind, nullable=name not in _OF_EVERY_LINE) for name, kind in kinds.items()]
    )


def columns_of(lines: Iterable[Line]) -> Arrow:
    """Lines of journals as a table of Arrow, in their order."""
    rows = [{"number": line.number, "offset": line.offset, "arm": line.arm, **_cells(line)} for line in lines]
    schema = columns_schema()
    return arrow().table({name: [row.get(name) for row in rows] for name in schema.names}, schema)


def _cells(line: Line) -> dict[str, _Cell]:
    """The cells of a line that comes back from them, else the line itself."""
    as_it_is = {"line": line.text}
    try:
        attempt = read_attempt(line.text)
        if attempt.arm != line.arm or attempt.to_line().encode("ascii") != line.text:
            return as_it_is
    except (ValueError, RecursionError):
        return as_it_is
    cells = {name: column.cell(getattr(attempt, name)) for name, column in _COLUMNS.items()}
    return cells if all(map(_can_be_kept, cells.values())) else as_it_is


def _can_be_kept(cell: _Cell) -> bool:
    match cell:
        case str():
            return cell.isascii() or _is_unicode(cell)
        case int():
            return cell in _INTEGERS
        case dict():
            return all(map(_can_be_kept, cast("dict[str, _Cell]", cell).values()))
        case _:
            return True


def _is_unicode(text: str) -> bool:
    """Whether a text is without lone surrogates, which servers do send."""
    try:
        _ = text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_rows(
    file: PackedFile, group: int, arms: Collection[str], *, with_requests: bool = True
) -> Iterator[Row]:
    """Read a group of rows back.

    Args:
        file: The attempts of a packed run.
        group: Which of its groups.
        arms: Names of the arms of the run: journals are named after them.
        with_requests: False leaves the requests, most of what stands there, unread and empty.

    Raises:
        UserError: The file cannot be read, or holds what no run is packed as.
    """
    names = [name for name in _COLUMNS if with_requests or name != "request"]
    table = file.read(group, [*_PLACE, *names])
    with one_error(file.path):
        values = {name: _values(_COLUMNS[name], table.column(name)) for name in names}
        if others := set(values["arm"]).difference(arms):
            raise ValueError(f"run.json knows no arm {min(others)!r}")
        attempts = table.column("line").null_count
        if any(
            len(table) - table.column(name).null_count < attempts
            for name in names
            if name in _OF_EVERY_ATTEMPT
        ):
            raise ValueError("an attempt lacks a member")
    nothing = [dict[str, JsonValue]()] * table.num_rows
    members = zip(*(values.get(name, nothing) for name in _COLUMNS), strict=True)
    places = zip(values["arm"], *(table.column(name).to_pylist() for name in _PLACE), strict=True)
    for (arm, number, offset, line), row in zip(places, members, strict=True):
        yield Row(arm, number, offset, Attempt(*row) if line is None else line)


def _values(column: _Column, cells: Arrow) -> Sequence[_Value]:
    return [None] * len(cells) if cells.null_count == len(cells) else column.values(cells)
