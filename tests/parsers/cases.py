"""Rows of a dialect's table, broken and good, and how they are checked."""

from typing import NamedTuple

from draftproof.parsers.dialect import Dialect

from .marked import TOOLS, unmark

OPEN_CODES = {"unclosed_block", "unclosed_reasoning"}


class Broken(NamedTuple):
    """A broken text: `defects` are (code, message) in the order of the places marked in `text`."""

    claim: str
    text: str
    names: list[str]
    defects: list[tuple[str, str]]


class Good(NamedTuple):
    """A text without a defect: the names of its calls, what is content, and the codes of the notes."""

    claim: str
    text: str
    names: list[str]
    content: str = ""
    notes: tuple[str, ...] = ()


def check_broken(dialect: Dialect, row: Broken) -> None:
    """A broken text gives exactly these defects, at exactly these places, and keeps its whole calls."""
    text, spans = unmark(row.text)
    parsed = dialect.parse(text, TOOLS)
    assert [(defect.code.value, defect.message) for defect in parsed.defects] == row.defects
    assert [defect.span for defect in parsed.defects] == spans
    assert [call.name for call in parsed.calls] == row.names
    assert parsed.open == any(code in OPEN_CODES for code, _ in row.defects)


def check_good(dialect: Dialect, row: Good) -> None:
    """A good text gives its calls, its content and its notes, and no defect."""
    parsed = dialect.parse(row.text, TOOLS)
    assert parsed.defects == ()
    assert [call.name for call in parsed.calls] == row.names
    assert parsed.content == row.content
    assert tuple(note.code.value for note in parsed.notes) == row.notes
    assert not parsed.open
