"""Calls that a server parsed are read as strictly as text."""

import json

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.hermes import HERMES
from draftproof.parsers.native import read_native
from draftproof.parsers.result import Call, Parsed, Span
from hypothesis import given, settings
from hypothesis import strategies as st

from .marked import TOOLS
from .test_hermes_laws import hostile_texts, json_values

NOW = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'


def entry(
    name: object = "get_weather", arguments: object = '{"city": "Oslo"}', identifier: object = "a"
) -> dict[str, object]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def read(
    tool_calls: object = None,
    content: str | None = None,
    reasoning: str | None = None,
    finish: str | None = "tool_calls",
    tokens: int | None = 20,
) -> Parsed:
    return read_native(
        content, reasoning, tool_calls, TOOLS, finish_reason=finish, completion_tokens=tokens, dialect=HERMES
    )


def said(parsed: Parsed) -> list[tuple[str, str, tuple[int, int]]]:
    return [(defect.code.value, defect.message, tuple(defect.span)) for defect in parsed.defects]


def test_a_good_answer_is_read():
    """Arguments are decoded from their string, which the span covers."""
    parsed = read([entry()], content="Sure.", reasoning="hm")
    assert parsed == Parsed(
        (Call("get_weather", {"city": "Oslo"}, Span(0, 16)),), content="Sure.", reasoning="hm"
    )


BROKEN = [
    (
        [entry(arguments="")],
        "arguments_empty_string",
        "call 1: the arguments are an empty string, not an object",
        (0, 0),
    ),
    (
        [entry(arguments="null")],
        "arguments_not_object",
        "call 1: the arguments are null, not an object",
        (0, 4),
    ),
    (
        [entry(arguments=None)],
        "arguments_not_object",
        "call 1: the arguments are null, not a string that holds an object",
        (0, 0),
    ),
    (
        [entry(arguments='"{\\"city\\": 1}"')],
        "arguments_double_encoded",
        'call 1: the arguments are a string that holds JSON: "{\\"city\\": 1}"',
        (0, 15),
    ),
    (
        [entry(arguments='{"city": "a", "city": "b"}')],
        "duplicate_key",
        'call 1, in the arguments: the key "city" stands twice',
        (14, 20),
    ),
    (
        [entry(arguments='{"city": NaN}')],
        "invalid_json",
        "call 1, in the arguments: a value should stand here, not NaN, which JSON does not have",
        (9, 10),
    ),
    ([entry(arguments='{"city": "a"}}')], "trailing_data", 'call 1: "}" follows the arguments', (13, 14)),
    (
        [entry(arguments='{"city": "Os'), entry(identifier="b")],
        "truncated_json",
        "call 1: the arguments end before they are whole",
        (12, 12),
    ),
    (
        [entry(arguments='{"city": "Os')],
        "unclosed_block",
        "call 1: the arguments end before they are whole, and nothing follows",
        (0, 12),
    ),
    ([{"id": "a", "function": {"name": "now"}}], "missing_arguments", "call 1 has no arguments", (0, 0)),
    ([{"id": "a", "function": {"arguments": "{}"}}], "missing_name", "call 1 has no name", (0, 0)),
    ([entry(name=7)], "name_not_string", "call 1: the name is a number, not a string", (0, 0)),
    (
        [entry(name="get_weather(location='Boston')", arguments="{}")],
        "name_is_expression",
        "call 1: the name \"get_weather(location='Boston')\" is an expression: it holds the arguments",
        (0, 30),
    ),
    (
        [entry(name="now</tool_call>")],
        "markup_in_name",
        'call 1: the name "now</tool_call>" holds markup',
        (0, 15),
    ),
    (
        [entry(name="tides")],
        "undeclared_function",
        'call 1: the function "tides" is not declared (get_weather, now)',
        (0, 5),
    ),
    (
        [entry(arguments='{"city": 5}')],
        "schema_type",
        "call 1: get_weather: $.city is 5, not of type string",
        (0, 11),
    ),
    (
        [entry(arguments='{"city": "Oslo</tool_call>"}')],
        "markup_in_arguments",
        'call 1: "</tool_call>" stands in the arguments',
        (14, 26),
    ),
    (["now"], "not_an_object", "call 1 is a string", (0, 0)),
    ([{"id": "a"}], "not_an_object", "call 1 is an object without a function", (0, 0)),
    ({"a": 1}, "not_an_object", "tool_calls is an object, not a list", (0, 0)),
    ([{**entry(), "type": "custom"}], "unknown_member", 'call 1 is of type "custom", not a function', (0, 0)),
]


@pytest.mark.parametrize(
    ("tool_calls", "code", "message", "span"), BROKEN, ids=[row[1] + str(n) for n, row in enumerate(BROKEN)]
)
def test_a_broken_answer_gives_one_defect(tool_calls, code, message, span):
    """Each thing that a client could not dispatch has its code, its call and its place."""
    assert said(read(tool_calls)) == [(code, message, span)]


def test_a_cut_leaves_an_open_block_and_nothing_else():
    """Arguments that a cut ended are open, even those that it ended before their first character."""
    for arguments in ("", '{"city": "Os', '{"city'):
        parsed = read([entry("now", "{}", "b"), entry(arguments=arguments)], finish="length")
        assert [defect.code.value for defect in parsed.defects] == ["unclosed_block"]
        assert parsed.open
        assert [call.name for call in parsed.calls] == ["now"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Sure.", []),
        ("The `<tool_call>` tag.", []),
        (NOW, ["markup_in_content"]),
        ("</tool_call>", ["markup_in_content"]),
        ("x</parameter>", ["markup_in_content"]),
        ("<|tool_calls_section_begin|>", ["markup_in_content"]),
        (NOW[:30], ["unclosed_block"]),
        (f"{NOW}\n{NOW[:30]}", ["unclosed_block"]),
        (f"<think>{NOW[:30]}</think>ok", []),
    ],
)
def test_markup_left_in_the_content_is_reported(content, expected):
    """Leaked tags of any family count; a block that the text ends in is what a cut leaves."""
    assert [defect.code.value for defect in read(content=content, finish="stop").defects] == expected


def test_a_call_left_in_the_reasoning_is_reported():
    """A call that a server left in the reasoning never reaches the client; talk about tags is nothing."""
    assert [defect.code.value for defect in read(reasoning=f"hm {NOW}", finish="stop").defects] == [
        "markup_in_content"
    ]
    assert read(reasoning="I write <tool_call> tags", finish="stop").defects == ()


@pytest.mark.parametrize(
    ("content", "finish", "tokens", "is_lost"),
    [
        ("", "stop", 31, False),
        ("", "stop", 32, True),
        (None, "tool_calls", 500, True),
        ("x" * 16, "stop", 32, False),
        ("", "length", 500, False),
        ("", "stop", None, False),
    ],
)
def test_tokens_without_text_are_lost_output(content, finish, tokens, is_lost):
    """From 32 tokens on, less than one character for two of them means that the server lost the rest."""
    defects = read(content=content, finish=finish, tokens=tokens).defects
    assert [defect.code.value for defect in defects] == (["lost_output"] if is_lost else [])


def test_oddities_of_servers_are_notes():
    """An object for arguments, missing and doubled ids, and a finish reason that does not fit are noted."""
    parsed = read([entry("now", {}, None), entry("now", "{}", "b"), entry("now", "{}", "b")], finish="stop")
    assert [note.code for note in parsed.notes] == [
        NoteCode.ARGUMENTS_AS_OBJECT,
        NoteCode.MISSING_ID,
        NoteCode.DUPLICATE_ID,
        NoteCode.FINISH_MISMATCH,
    ]
    assert len(parsed.calls) == 3
    assert [note.code for note in read([]).notes] == [NoteCode.FINISH_MISMATCH]


@settings(max_examples=200, deadline=None)
@given(json_values, hostile_texts, hostile_texts)
def test_any_answer_is_read_without_an_exception(tool_calls, content, arguments):
    """Whatever stands in the fields of a message gives a result."""
    for calls in (tool_calls, [tool_calls], [entry(tool_calls, tool_calls)], [entry(arguments=arguments)]):
        assert read(calls, content, content).content == content


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_arguments_survive_the_way_through_a_string(arguments):
    """What json.dumps writes is what is read."""
    text = json.dumps(arguments)
    assert read_native(
        None, None, [entry("f", text)], None, finish_reason="tool_calls", completion_tokens=9, dialect=HERMES
    ).calls == (Call("f", arguments, Span(0, len(text))),)


@pytest.mark.parametrize("odd", [{}, [], [[1]], {"a": 1}, 7, 1.5, True, "x"], ids=repr)
@pytest.mark.parametrize("name", ["id", "type", "function", "name", "arguments"])
def test_any_json_in_place_of_a_member_is_told_and_never_raised(name, odd):
    """What the contract does not allow there is a defect or a note, whatever kind of JSON it is."""
    call = entry()
    (call if name in call else call["function"])[name] = odd
    parsed = read([call])
    assert bool(parsed.defects or parsed.notes) != ((name, odd) == ("id", "x"))
