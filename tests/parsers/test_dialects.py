"""The registry: names that are known, and texts whose dialect shows."""

import pytest
from draftproof.parsers.codes import DefectCode, NoteCode
from draftproof.parsers.dialects import DIALECTS, UnknownDialectError, get_dialect, guess_dialect
from draftproof.parsers.rules import DEFECT_RULES, NOTE_RULES


def test_every_dialect_is_found_by_its_name():
    """A dialect stands under its own name, and reads what it writes."""
    for name in DIALECTS:
        dialect = get_dialect(name)
        calls = [("get_weather", {"city": "Oslo"}), ("now", {})]
        parsed = dialect.parse(dialect.render_calls(calls))
        assert dialect.name == name
        assert [(call.name, call.arguments) for call in parsed.calls] == calls
        assert guess_dialect(f"Sure. {dialect.render_calls(calls)}") == name


def test_an_unknown_dialect_names_those_that_exist():
    """The error is one that a user can act on."""
    with pytest.raises(UnknownDialectError) as caught:
        get_dialect("klingon")
    assert str(caught.value) == f"unknown dialect 'klingon'; known: {', '.join(DIALECTS)}"


def test_prose_has_no_dialect():
    """A text without a call is nobody's."""
    assert guess_dialect("The <tool_call> tag.") is None


def test_every_code_has_its_rule():
    """No code can be shown without a sentence that says what should have been."""
    assert set(DEFECT_RULES) == set(DefectCode)
    assert set(NOTE_RULES) == set(NoteCode)
