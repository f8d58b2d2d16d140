"""Each code of the dialect, with the exact place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.qwen3_xml import QWEN3_XML, parse
from draftproof.parsers.result import Call, Parsed, Span
from draftproof.parsers.tools import compile_tools

from .marked import TOOLS, TYPED_TOOLS, unmark
from .qwen3_bodies import BROKEN_BODIES, BROKEN_VALUES
from .qwen3_markup import BROKEN_MARKUP, GOOD, NOW, OSLO, TEXTS, days, weather

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
    ("key", "marked", "code", "clause"),
    [row[1:] for row in BROKEN_VALUES],
    ids=[row[0] for row in BROKEN_VALUES],
)
def test_a_value_whose_json_breaks_yields_no_call(key, marked, code, clause):
    """Broken JSON is said with its path, at its exact place."""
    text, spans = unmark(
        f"<tool_call>\n<function=f>\n<parameter={key}>\n{marked}\n</parameter>\n</function>\n</tool_call>"
    )
    parsed = parse(text, TYPED_TOOLS)
    assert named_defects(parsed) == [(code, f"f: $.{key}: {clause}")]
    assert [defect.span for defect in parsed.defects] == spans
    assert parsed.calls == ()


@pytest.mark.parametrize(
    ("text", "names", "content"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD]
)
def test_a_good_text_gives_no_defect(text, names, content):
    """A good text gives its calls, its content, and no defect."""
    parsed = parse(text, TOOLS)
    assert parsed.defects == ()
    assert [call.name for call in parsed.calls] == names
    assert parsed.content == (text if content is None else content)
    assert not parsed.open


@pytest.mark.parametrize(("raw", "value"), TEXTS)
def test_one_newline_at_either_end_is_not_of_the_value(raw, value):
    """A string is what stands there, without exactly one newline at either end, and nothing unescaped."""
    parsed = parse(weather(f"<parameter=city>{raw}</parameter>\n"), TOOLS)
    assert parsed.defects == ()
    assert parsed.calls[0].arguments == {"city": value}


def test_types_come_from_the_schema():
    """One text, read by the types of its tool; and without tools, all text."""
    arguments = {
        "text": "5",
        "count": 5,
        "flag": True,
        "maybe_flag": None,
        "tags": ["a"],
        "options": {"b": 1},
    }
    text = QWEN3_XML.render_calls([("f", arguments)])
    assert "<parameter=flag>\nTrue\n</parameter>\n<parameter=maybe_flag>\nNone\n</parameter>" in text
    assert parse(text, TYPED_TOOLS).calls[0].arguments == arguments
    assert parse(text).calls[0].arguments == {
        "text": "5",
        "count": "5",
        "flag": "True",
        "maybe_flag": "None",
        "tags": '["a"]',
        "options": '{"b": 1}',
    }


def test_a_call_spans_its_block_with_its_markup():
    """The span of a call covers the block with both of its tags."""
    parsed = parse(f"ab{NOW}cd")
    assert parsed.calls == (Call("now", {}, Span(2, 2 + len(NOW))),)


@pytest.mark.parametrize(
    "broken",
    [marked for _, marked, _, found in BROKEN if found[0][0] not in {"unclosed_block", "call_in_reasoning"}],
)
def test_whole_blocks_before_and_after_a_broken_one_are_kept(broken):
    """A broken block costs its own call and no other."""
    text, spans = unmark(broken)
    alone = [call.name for call in parse(text, TOOLS).calls]
    parsed = parse(f"{NOW}\n{text}\n{NOW}", TOOLS)
    assert [call.name for call in parsed.calls] == ["now", *alone, "now"]
    assert [defect.span.start for defect in parsed.defects] == [span.start + len(NOW) + 1 for span in spans]


def test_a_declared_name_or_key_is_right_whatever_it_looks_like():
    """A declared name need not have the usual form, nor a declared key."""
    tools = compile_tools(
        [
            {
                "type": "function",
                "function": {
                    "name": "7-zip.übung",
                    "parameters": {"properties": {"a=b": {"type": "integer"}}},
                },
            }
        ]
    )
    parsed = parse(QWEN3_XML.render_calls([("7-zip.übung", {"a=b": 1})]), tools)
    assert (parsed.defects, [call.arguments for call in parsed.calls]) == ((), [{"a=b": 1}])


@pytest.mark.parametrize(
    ("marked", "tools", "code", "message"),
    [
        (
            OSLO.replace("<tool_call>\n", "<tool_call>⟦⟧"),
            TOOLS,
            NoteCode.MISSING_NEWLINE,
            "the template writes a newline after each tag and around each value",
        ),
        (
            OSLO.replace("\nOslo\n", "⟦⟧Oslo"),
            TOOLS,
            NoteCode.MISSING_NEWLINE,
            "the template writes a newline after each tag and around each value",
        ),
        (
            days("⟦3.0⟧"),
            TOOLS,
            NoteCode.INTEGER_AS_FLOAT,
            "get_weather: $.days is an integer written as a float",
        ),
        (
            QWEN3_XML.render_calls([("f", {"flag": True})]).replace("True", "⟦True⟧"),
            TYPED_TOOLS,
            NoteCode.PYTHON_SPELLING,
            "f: $.flag is written True, as in Python; JSON writes true",
        ),
        (
            weather("⟦<parameter=parameter=city>⟧\nOslo\n</parameter>\n"),
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"parameter=" stands twice in a row',
        ),
        (
            "<tool_call>\n<function=now>\n</function>⟦</function>⟧\n</tool_call>",
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"</function>" stands twice in a row',
        ),
        (
            weather("<parameter=city>\nOslo\n</parameter>⟦</parameter>⟧\n"),
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"</parameter>" stands twice in a row',
        ),
    ],
)
def test_oddities_are_noted(marked, tools, code, message):
    """What is tolerated, or typical of draft tokens, is a note with its place."""
    text, spans = unmark(marked)
    assert [(note.code, note.message, note.span) for note in parse(text, tools).notes] == [
        (code, message, *spans)
    ]


def test_missing_newlines_are_noted_once():
    """A model that never writes the newlines does not fill the report with notes."""
    assert len(parse(OSLO.replace("\n", "") * 5).notes) == 1


def test_the_template_is_rendered():
    """Rendering writes what the chat template writes for earlier calls."""
    calls = [("get_weather", {"city": "Oslo", "days": 3}), ("now", {})]
    assert QWEN3_XML.render_calls(calls) == f"{days('3')}\n{NOW}"
    assert parse(QWEN3_XML.render_calls(calls), TOOLS).notes == ()


def test_the_system_prompt_names_the_form_and_every_tool():
    """What tools are put as holds each tool as JSON, and the form that the parser reads."""
    text = QWEN3_XML.describe_tools(TOOLS.declared)
    assert text.count('"type": "function"') == len(TOOLS.declared)
    assert len(parse(text[text.index("<tool_call>") :]).calls) == 1
    assert QWEN3_XML.render_result("now", "12:00") == "<tool_response>\n12:00\n</tool_response>"
