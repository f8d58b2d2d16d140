"""Defects are drawn under carets, and no text can harm a terminal."""

import pytest
from draftproof.parsers.hermes import parse
from draftproof.reports.defects import render_parsed


def draw(text: str) -> str:
    return render_parsed(text, parse(text))


def test_a_defect_stands_under_carets_in_its_line():
    """The whole report of a small text."""
    text = 'Sure.\n<tool_call>\n{"name": "f", "arguments": {"x": 05}}\n</tool_call>'
    assert draw(text) == (
        "0 calls, 1 defect\n"
        "\n"
        "invalid_json at line 3, column 35 (character 52)\n"
        ' 3 | {"name": "f", "arguments": {"x": 05}}\n'
        "   |                                   ^ a number must not begin with 0 and another digit\n"
        "   = JSON follows RFC 8259 to the letter.\n"
    )


def test_calls_and_notes_follow():
    """A call is shown with its arguments, a note with its rule."""
    assert draw('<tool_call>{"name": "f", "arguments": {"x": "é"}}</tool_call>') == (
        "1 call, 0 defects, 1 note\n"
        "\n"
        'call 1: f {"x": "é"}\n'
        "\n"
        "note missing_newline at line 1, column 12: "
        "the template writes a newline between the tag and the object. "
        "The template frames a call with newlines; some servers want them.\n"
    )


def test_an_open_text_says_so():
    """That the text ended inside something stands in the first line."""
    assert draw("<tool_call>").startswith(
        "0 calls, 1 defect, the text ends inside a block or inside thinking\n"
    )


def test_a_long_line_is_windowed_around_the_place():
    """Of a long line only the surroundings are shown, and the caret still fits."""
    shown, carets = draw("x" * 500 + "</tool_call>" + "y" * 500).splitlines()[3:5]
    assert shown == " 1 | …" + "x" * 40 + "</tool_call>" + "y" * 48 + "…"
    assert carets == "   | " + " " * 41 + "^" * 12 + " a closing tag stands without an open block"


def test_wide_characters_take_two_cells():
    """The caret stands under the place on a terminal, not in a string."""
    carets = draw("日本</tool_call>").splitlines()[4]
    assert carets.startswith("   |     ^^^")
    assert carets.index("^") == 5 + 4


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\x07", "\x9b", "\r", "\u202e", "\x00", "\ud83d"])
def test_no_control_character_reaches_the_terminal(hostile):
    """Control characters, escapes and marks of direction are shown as text, wherever they stand."""
    name = f"a{hostile}b"
    call = f'<tool_call>{{"name": "{name}", "arguments": {{"{hostile}": 1}}}}</tool_call>'
    text = f"{hostile}{call}{hostile}</tool_call>"
    drawn = draw(text)
    assert hostile not in drawn
    assert all(character.isprintable() or character == "\n" for character in drawn)


def test_many_defects_are_cut_off():
    """A text of nothing but defects does not fill the screen for ever."""
    drawn = draw("</tool_call>" * 200)
    assert "and 150 more defects" in drawn
    assert drawn.count("stray_close at") == 50
