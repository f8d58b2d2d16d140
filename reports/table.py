"""A titled table of text cells: what every report draws in its own way."""

from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table of text cells; columns in `numeric` are drawn flush right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    note: str | None = None
