"""Files that grow line by line while a run asks, read back: what a kill tore tells nothing."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

_T = TypeVar("_T")


def read_lines(path: Path, adapter: TypeAdapter[_T]) -> Iterator[_T]:
    """Read every line that is whole; none where the file is not there."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        if (one := read_line(line, adapter)) is not None:
            yield one


def read_line(line: bytes, adapter: TypeAdapter[_T]) -> _T | None:
    """Read one line; None for a torn one."""
    with contextlib.suppress(ValueError):
        return adapter.validate_json(line)
    return None
