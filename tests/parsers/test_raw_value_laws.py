"""Laws of the grammars with raw values, searched for counter-examples; time grows with the text."""

import pytest
from draftproof.parsers.codes import DefectCode
from draftproof.parsers.dialects import get_dialect
from draftproof.parsers.names import NAME
from draftproof.parsers.parameters import kind_of_json
from draftproof.parsers.tools import compile_tools
from hypothesis import given, settings
from hypothesis import strategies as st

from .marked import TOOLS

_FEW = settings(max_examples=100, deadline=None)
_SLOW = settings(max_examples=30, deadline=None)
_MANY = settings(max_examples=400, deadline=None)
_OPEN_CODES = {DefectCode.UNCLOSED_BLOCK, DefectCode.UNCLOSED_REASONING}
_UNFINISHED_TAGS = [tag[:length] for tag in ("<tool_call>", "<think>") for length in range(len(tag))]

DIALECTS = pytest.mark.parametrize(
    "dialect", [get_dialect("qwen3_xml"), get_dialect("glm")], ids=["qwen", "glm"]
)

# Raw text that holds no tag of either grammar, unless it is quoted.
_plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), max_size=12)
_nasty = st.sampled_from(
    [
        *(
            "",
            "\n",
            "\n\n",
            " ",
            '"',
            "'",
            "`",
            "5",
            "True",
            "null",
            "&lt;b&gt;",
            "a < b",
            "<b>x</b>",
            "</para",
        ),
        *('"<tool_call>"', "say '</tool_call>'", "`<parameter=x>`", '"</function>" ', "'<arg_key>'", "</"),
        *('"<function=f>"', "\n<args>\n", "</parameters>", '{"a": 1}', "```json\n", "[TOOL_CALLS]"),
    ]
)
raw_texts = st.one_of(_plain, _nasty, st.tuples(_plain, _nasty).map(lambda pair: f"{pair[0]} {pair[1]}"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_plain, inner, max_size=3),
    max_leaves=6,
)
keys = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True),
    st.sampled_from(["größe", "a b", "a=b", '"a"', "parameter=a", "$x"]),
)
argument_objects = st.dictionaries(keys, raw_texts | json_values, max_size=4)
names = st.from_regex(NAME, fullmatch=True)
call_lists = st.lists(st.tuples(names, argument_objects), max_size=3, unique_by=lambda call: call[0])
pieces = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "<", "</", ">", "{", "[", '"', "'", "`"),
        *("<function=now>", "<function=", "</function>", "<parameter=city>", "<parameter=", "</parameter>"),
        *(
            "now",
            "get_weather",
            "<arg_key>",
            "</arg_key>",
            "<arg_value>",
            "</arg_value>",
            "</parameter",
            "</arg_value",
        ),
        *(
            "\n",
            " ",
            "a",
            "é",
            "\x00",
            "5",
            "05",
            "True",
            "```",
            "[TOOL_CALLS]",
            '{"name": "now", "arguments": {}}',
        ),
        *("<tool_call>\n<function=get_weather>\n<parameter=city>\n", "<parameter=days>5</parameter>"),
        *("<tool_call>get_weather<arg_key>city</arg_key><arg_value>", "<tool_call>now\n"),
    ]
)
hostile_texts = st.lists(pieces, max_size=20).map("".join)
prose = st.text(alphabet="abc .,\n{}[]", max_size=12)
good_parts = st.tuples(
    st.sampled_from(["", "<think>\nhm\n</think>\n\n", "<think></think>"]),
    st.lists(prose, min_size=3),
    call_lists,
)


def tools_for(calls):
    """Return tools that declare each call as it is: its parameters with the kinds of their values."""
    return compile_tools(
        [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "parameters": {
                        "type": "object",
                        "properties": {
                            key: {"type": kind_of_json(value)} for key, value in arguments.items()
                        },
                    },
                },
            }
            for name, arguments in calls
        ]
    )


def compose(dialect, parts):
    """Return a good text: thinking, and calls with prose between."""
    thinking, talk, calls = parts
    return thinking + "".join(
        text + dialect.render_calls([call]) for text, call in zip(talk, calls, strict=False)
    )


def pairs(parsed):
    return [(call.name, call.arguments) for call in parsed.calls]


@DIALECTS
@_FEW
@given(calls=call_lists)
def test_parsing_what_was_rendered_gives_the_calls(dialect, calls):
    """parse(render(calls)) == calls, for values that the grammar can express, read by their types."""
    parsed = dialect.parse(dialect.render_calls(calls), tools_for(calls))
    assert parsed.defects == ()
    assert pairs(parsed) == calls


@DIALECTS
@_FEW
@given(calls=call_lists)
def test_without_tools_every_value_is_the_text_that_was_written(dialect, calls):
    """Nobody guesses types: without tools each string comes back, and each other value as a string."""
    spelled = [(name, {k: v for k, v in arguments.items() if k.isidentifier()}) for name, arguments in calls]
    parsed = dialect.parse(dialect.render_calls(spelled))
    assert parsed.defects == ()
    for call, (name, arguments) in zip(parsed.calls, spelled, strict=True):
        assert call.name == name
        assert all(isinstance(value, str) for value in call.arguments.values())
        assert {k: v for k, v in arguments.items() if isinstance(v, str)}.items() <= call.arguments.items()


@DIALECTS
@_MANY
@given(
    text=hostile_texts,
    starts_in_reasoning=st.sampled_from([False, True, "auto"]),
    tools=st.sampled_from([None, TOOLS, compile_tools([])]),
)
def test_any_text_parses_without_an_exception(dialect, text, starts_in_reasoning, tools):
    """Any text gives a result whose spans lie in the text, in order."""
    parsed = dialect.parse(text, tools, starts_in_reasoning)
    for found in (parsed.calls, parsed.defects, parsed.notes):
        spans = [item.span for item in found]
        assert spans == sorted(spans)
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert parsed.open == any(defect.code in _OPEN_CODES for defect in parsed.defects)


@DIALECTS
@_FEW
@given(text=st.text(max_size=60))
def test_any_unicode_parses_without_an_exception(dialect, text):
    """Text outside of every alphabet, lone surrogates included, is read as well."""
    assert dialect.parse(text).calls == ()


@DIALECTS
@_FEW
@given(parts=good_parts, data=st.data())
def test_a_mutated_good_text_parses_without_an_exception(dialect, parts, data):
    """Deleting, doubling or inserting anywhere never raises, and never makes more calls than tags."""
    text = compose(dialect, parts)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    inserted = data.draw(st.one_of(pieces, st.just(text[start:end] * 2), st.just("")))
    mutated = text[:start] + inserted + text[end:]
    assert len(dialect.parse(mutated, tools_for(parts[2])).calls) <= mutated.count("</tool_call>")


@DIALECTS
@_SLOW
@given(parts=good_parts)
def test_every_prefix_of_a_good_text_gives_a_prefix_of_its_calls(dialect, parts):
    """A cut loses calls from the end and says nothing but that the text ended inside something."""
    text, tools = compose(dialect, parts), tools_for(parts[2])
    whole = dialect.parse(text, tools)
    assert whole.defects == ()
    for end in range(len(text)):
        cut = dialect.parse(text[:end], tools)
        assert cut.calls == whole.calls[: len(cut.calls)]
        assert {defect.code for defect in cut.defects} <= _OPEN_CODES
        assert len(cut.defects) == int(cut.open)
        assert any(whole.content.startswith(cut.content.removesuffix(tag)) for tag in _UNFINISHED_TAGS)


@DIALECTS
@_MANY
@given(text=hostile_texts, tools=st.sampled_from([None, TOOLS]))
def test_no_prefix_of_a_text_without_defects_has_one(dialect, text, tools):
    """Talk about tags, in prose and in values, does not look broken when it is cut."""
    whole = dialect.parse(text, tools)
    for end in range(0 if whole.defects else len(text)):
        cut = dialect.parse(text[:end], tools)
        assert cut.calls == whole.calls[: len(cut.calls)]
        assert {defect.code for defect in cut.defects} <= _OPEN_CODES


@DIALECTS
@_FEW
@given(parts=good_parts)
def test_a_good_text_is_content_thinking_and_blocks(dialect, parts):
    """Nothing is lost: content, thinking with its tags, and the spans of the calls make up the text."""
    text = compose(dialect, parts)
    parsed = dialect.parse(text, tools_for(parts[2]))
    rest = text
    for call in reversed(parsed.calls):
        rest = rest[: call.span.start] + rest[call.span.end :]
    if text.startswith("<think>"):
        rest = rest.replace(f"<think>{parsed.reasoning}</think>", "", 1)
    assert rest == parsed.content


@DIALECTS
@_MANY
@given(text=hostile_texts)
def test_content_and_thinking_are_pieces_of_the_text_in_order(dialect, text):
    """Of a broken text too, content and thinking are made of its own characters, none of them twice."""
    parsed = dialect.parse(text)
    blocks = sum(call.span.end - call.span.start for call in parsed.calls)
    assert len(parsed.content) + len(parsed.reasoning) + blocks <= len(text)
    assert parsed.reasoning in text
    position = 0
    for character in parsed.content:
        position = text.index(character, position) + 1


@DIALECTS
@_MANY
@given(before=hostile_texts, after=hostile_texts)
def test_a_block_that_follows_is_kept_whatever_came_before(dialect, before, after):
    """Broken text with a closing tag behind it cannot hide a whole block on a line of its own."""
    call = dialect.render_calls([("now", {})])
    text = f"{before}\n</tool_call>\n{call}\n{after}"
    parsed = dialect.parse(text.replace("<think>", ""))
    assert any(found.name == "now" for found in parsed.calls)


UNITS = [
    *(
        "<tool_call>",
        "</tool_call>",
        "<tool_call>now",
        "<tool_call><function=now>",
        "<tool_call>{",
        "<tool_call>x ",
    ),
    *(
        "<parameter=a>",
        "</parameter>",
        "</parameter",
        "<function=",
        "<parameter=",
        "</function>",
        "<parameter=a>1\n",
    ),
    *(
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "</arg_value",
        "<arg_key>a</arg_key><arg_value>",
    ),
    *(
        "<tool_call>now</tool_call>",
        "<arg_key>a</arg_key><arg_value>1</arg_value>",
        "<parameter=a>1</parameter>",
    ),
    *(
        '"<tool_call>"',
        "'</parameter>'",
        '"<arg_key>"',
        "<",
        "</",
        "{",
        "[",
        "[{",
        '"',
        "\\",
        "```",
        " ",
        "\n",
        "a",
        "9",
    ),
]
STARTS = [
    *(
        "",
        "<tool_call>",
        "<tool_call><function=get_weather><parameter=days>",
        "<tool_call><function=get_weather>",
    ),
    *("<tool_call>get_weather<arg_key>", "<tool_call>get_weather<arg_key>days</arg_key><arg_value>"),
]
ENDS = ["", "</parameter></function></tool_call>", "</arg_value></tool_call>"]


@DIALECTS
def test_a_megabyte_in_one_value_is_read_whole(dialect):
    """One long argument is one argument."""
    calls = [("get_weather", {"city": 'a "quoted" <b> &lt; line\n' * 45_000})]
    text = dialect.render_calls(calls)
    assert pairs(dialect.parse(text, TOOLS)) == calls
