"""Each code of the dialect, with the exact place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.glm import GLM, parse
from draftproof.parsers.result import Call, Parsed, Span
from draftproof.parsers.tools import compile_tools

from .glm_bodies import BROKEN_BODIES, BROKEN_VALUES
from .glm_markup import BROKEN_MARKUP, GOOD, LINES, NOW, OSLO, SPACING, TEXTS, city, days, weather
from .marked import TOOLS, TYPED_TOOLS, unmark

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
    text, spans = unmark(f"<tool_call>f<arg_key>{key}</arg_key><arg_value>{marked}</arg_value></tool_call>")
    parsed = parse(text, TYPED_TOOLS)
    assert named_defects(parsed) == [(code, f"f: $.{key}: {clause}")]
    assert [defect.span for defect in parsed.defects] == spans
    assert parsed.calls == ()


@pytest.mark.parametrize(
    ("text", "names", "content"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD]
)
def test_a_good_text_gives_neither_defect_nor_note(text, names, content):
    """A good text of either variant gives its calls, its content, no defect and no note."""
    parsed = parse(text, TOOLS)
    assert (parsed.defects, parsed.notes) == ((), ())
    assert [call.name for call in parsed.calls] == names
    assert parsed.content == (text if content is None else content)
    assert not parsed.open


@pytest.mark.parametrize("value", TEXTS)
def test_a_string_is_the_text_between_its_tags(value):
    """Nothing is stripped, unquoted or unescaped."""
    parsed = parse(city(value), TOOLS)
    assert parsed.defects == ()
    assert parsed.calls[0].arguments == {"city": value}


def test_types_come_from_the_schema():
    """One text, read by the types of its tool; and without tools, all text."""
    arguments = {
        "text": "5",
        "count": 5,
        "flag": True,
        "maybe_flag": None,
        "tags": ["é"],
        "options": {"b": 1},
    }
    text = GLM.render_calls([("f", arguments)])
    assert parse(text, TYPED_TOOLS) == Parsed((Call("f", arguments, Span(0, len(text))),))
    assert parse(text).calls[0].arguments == {
        "text": "5",
        "count": "5",
        "flag": "true",
        "maybe_flag": "null",
        "tags": '["é"]',
        "options": '{"b": 1}',
    }


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
                    "parameters": {"properties": {"a > b": {"type": "integer"}}},
                },
            }
        ]
    )
    parsed = parse(GLM.render_calls([("7-zip.übung", {"a > b": 1})]), tools)
    assert (parsed.defects, [call.arguments for call in parsed.calls]) == ((), [{"a > b": 1}])


@pytest.mark.parametrize(
    ("marked", "tools", "code", "message"),
    [
        ("<tool_call>⟦\n⟧now\n</tool_call>", TOOLS, NoteCode.ODD_SPACING, SPACING),
        ("<tool_call>⟦  ⟧now</tool_call>", TOOLS, NoteCode.ODD_SPACING, SPACING),
        ("<tool_call>now⟦ ⟧</tool_call>", TOOLS, NoteCode.ODD_SPACING, SPACING),
        (OSLO.replace("</tool_call>", "⟦\n⟧</tool_call>"), TOOLS, NoteCode.ODD_SPACING, SPACING),
        (LINES.replace("\n<arg_value>", "⟦⟧<arg_value>"), TOOLS, NoteCode.ODD_SPACING, SPACING),
        (
            days("⟦3.0⟧"),
            TOOLS,
            NoteCode.INTEGER_AS_FLOAT,
            "get_weather: $.days is an integer written as a float",
        ),
        (
            GLM.render_calls([("f", {"flag": True})]).replace("true", "⟦True⟧"),
            TYPED_TOOLS,
            NoteCode.PYTHON_SPELLING,
            "f: $.flag is written True, as in Python; JSON writes true",
        ),
        (
            weather("<arg_key>city</arg_key>⟦</arg_key>⟧<arg_value>x</arg_value>"),
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"</arg_key>" stands twice in a row',
        ),
        (
            weather("<arg_key>⟦<arg_key>⟧city</arg_key><arg_value>x</arg_value>"),
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"<arg_key>" stands twice in a row',
        ),
        (
            f"{OSLO[:-12]}⟦</arg_value>⟧</tool_call>",
            TOOLS,
            NoteCode.TOKEN_DUPLICATION,
            '"</arg_value>" stands twice in a row',
        ),
    ],
)
def test_oddities_are_noted(marked, tools, code, message):
    """What is tolerated, or typical of draft tokens, is a note with its place."""
    text, spans = unmark(marked)
    assert [(note.code, note.message, note.span) for note in parse(text, tools).notes] == [
        (code, message, *spans)
    ]


def test_odd_spacing_is_noted_once():
    """A model that mixes the variants does not fill the report with notes."""
    assert len(parse("<tool_call>\nnow</tool_call>" * 5).notes) == 1


def test_variant_b_is_rendered():
    """Rendering writes what the template of GLM-4.7 and 5 writes for earlier calls."""
    assert (
        GLM.render_calls([("get_weather", {"city": "Oslo", "days": 3}), ("now", {})]) == f"{days('3')}{NOW}"
    )


def test_the_system_prompt_names_the_form_and_every_tool():
    """What tools are put as holds each tool as JSON, and the form that the parser reads."""
    text = GLM.describe_tools(TOOLS.declared)
    assert text.count('"type": "function"') == len(TOOLS.declared)
    assert len(parse(text[text.index("<tool_call>") :]).calls) == 1
    assert GLM.render_result("now", "12:00") == "<tool_response>12:00</tool_response>"
