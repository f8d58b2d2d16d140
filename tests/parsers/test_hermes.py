"""Each code of the dialect, with the exact place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.hermes import HERMES, parse
from draftproof.parsers.result import Call, Parsed, Span
from draftproof.parsers.tools import compile_tools

from .hermes_bodies import BROKEN_BODIES
from .hermes_markup import BROKEN_MARKUP, GOOD, NOW, OSLO, argument, block
from .marked import TOOLS, unmark

BROKEN = [*BROKEN_MARKUP, *BROKEN_BODIES]


def named_defects(parsed: Parsed) -> list[tuple[str, str]]:
    return [(defect.code.value, defect.message) for defect in parsed.defects]


@pytest.mark.parametrize(
    ("marked", "names", "expected"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_text_gives_these_defects(marked, names, expected):
    """A broken text gives exactly these defects, at exactly these places."""
    text, spans = unmark(marked)
    parsed = parse(text, TOOLS)
    assert named_defects(parsed) == expected
    assert [defect.span for defect in parsed.defects] == spans
    assert [call.name for call in parsed.calls] == names
    assert parsed.open == any(code in {"unclosed_block", "unclosed_reasoning"} for code, _ in expected)


@pytest.mark.parametrize(
    ("text", "names", "content"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD]
)
def test_a_good_text_gives_no_defect(text, names, content):
    """A good text gives its calls, its content, and no defect."""
    parsed = parse(text, TOOLS)
    assert parsed.defects == ()
    assert [call.name for call in parsed.calls] == names
    assert parsed.content == content
    assert not parsed.open


def test_a_call_spans_its_block_with_its_markup():
    """The span of a call covers the block with both of its tags."""
    parsed = parse(f"ab{NOW}cd")
    assert parsed.calls == (Call("now", {}, Span(2, 2 + len(NOW))),)


@pytest.mark.parametrize(
    "broken", [marked for _, marked, _, found in BROKEN if "unclosed" not in found[0][0]]
)
def test_whole_blocks_before_and_after_a_broken_one_are_kept(broken):
    """A broken block costs its own call and no other."""
    text, spans = unmark(broken)
    alone = [call.name for call in parse(text, TOOLS).calls]
    parsed = parse(f"{NOW}\n{text}\n{NOW}", TOOLS)
    assert [call.name for call in parsed.calls] == ["now", *alone, "now"]
    assert [defect.span.start for defect in parsed.defects] == [span.start + len(NOW) + 1 for span in spans]


def test_without_tools_neither_names_nor_schemas_are_checked():
    """Without tools any well-formed name goes, with any object."""
    assert parse(block('{"name": "get_tides", "arguments": {"x": 1}}')).defects == ()


def test_with_no_tool_declared_every_call_is_undeclared():
    """An empty list of tools is not the same as unknown tools."""
    assert named_defects(parse(NOW, compile_tools([]))) == [
        ("undeclared_function", 'the function "now" is not declared (none is)')
    ]


def test_a_declared_name_is_right_whatever_it_looks_like():
    """A declared name need not have the usual form."""
    tools = compile_tools([{"type": "function", "function": {"name": "7-zip.übung"}}])
    parsed = parse(block('{"name": "7-zip.übung", "arguments": {}}'), tools)
    assert (parsed.defects, len(parsed.calls)) == ((), 1)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            OSLO.replace('"name": ', '"name": "name": '),
            NoteCode.TOKEN_DUPLICATION,
            '"\\"name\\": " stands twice in a row',
        ),
        (f"<tool_call>{OSLO}", NoteCode.TOKEN_DUPLICATION, '"<tool_call>" stands twice in a row'),
        (f"{OSLO}</tool_call>", NoteCode.TOKEN_DUPLICATION, '"</tool_call>" stands twice in a row'),
        (
            OSLO.replace("\n", ""),
            NoteCode.MISSING_NEWLINE,
            "the template writes a newline between the tag and the object",
        ),
        (
            argument('"Oslo", "days": 3.0'),
            NoteCode.INTEGER_AS_FLOAT,
            "get_weather: $.days is an integer written as a float",
        ),
    ],
)
def test_oddities_are_noted(text, code, message):
    """What is tolerated, or typical of draft tokens, is a note and no defect of its own."""
    assert [(note.code, note.message) for note in parse(text, TOOLS).notes] == [(code, message)]


def test_missing_newlines_are_noted_once():
    """A model that never writes the newlines does not fill the report with notes."""
    assert len(parse(NOW.replace("\n", "") * 5).notes) == 1


def test_the_system_prompt_names_the_tags_and_every_tool():
    """What tools are put as holds each tool as JSON, and the form that the parser reads."""
    text = HERMES.describe_tools(TOOLS.declared)
    assert text.count('"type": "function"') == len(TOOLS.declared)
    assert (
        '<tool_call>\n{"name": <function-name>, "arguments": <arguments-as-json-object>}\n</tool_call>'
        in text
    )
    assert HERMES.render_result("now", "12:00") == "<tool_response>\n12:00\n</tool_response>"
