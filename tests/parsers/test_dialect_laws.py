"""Laws of Kimi K2, DeepSeek V3.1, MiniMax M2 and Llama 3, searched for counter-examples."""

import re

import pytest
from draftproof.parsers.codes import DefectCode
from draftproof.parsers.dialects import get_dialect
from draftproof.parsers.tools import compile_tools
from hypothesis import given, settings
from hypothesis import strategies as st

from . import test_raw_value_laws as raw
from .marked import TOOLS
from .test_hermes_laws import argument_objects, names

_FEW = settings(max_examples=80, deadline=None)
_SLOW = settings(max_examples=25, deadline=None)
_MANY = settings(max_examples=300, deadline=None)
_OPEN_CODES = {DefectCode.UNCLOSED_BLOCK, DefectCode.UNCLOSED_REASONING}
DIALECTS = pytest.mark.parametrize("name", ["kimi_k2", "deepseek_v31", "minimax_m2", "llama3_json"])

_json_calls = st.lists(st.tuples(names, argument_objects), max_size=3)
_raw_calls = raw.call_lists.map(
    lambda calls: [
        (name, {key: value for key, value in arguments.items() if '"' not in key})
        for name, arguments in calls
    ]
)
_PIECES = [
    *("{", "}", "[", "]", '"', "'", "\\", ",", ":", ";", "; ", "`", "```json\n", "\n", " ", "a", "é", "\x00"),
    *("\x1d", "\xa0", "\x0b"),  # whitespace to Python, none to JSON
    *("<think>", "</think>", "<", "</", "<|", "<｜", ">", "<tool_call>", "<function=f>", "[TOOL_CALLS]"),
    *("{}", '{"city": "Oslo"}', '{"a": 05}', '"name"', '"parameters"', '"now"', "0", "1e999", "true", "None"),
    *('{"name": "now", "parameters": {}}', '{"name": "now", "arguments": {}}', '{"name": "', "now"),
]
_OWN_PIECES = {
    "kimi_k2": ["functions.now:0", "functions.get_weather:1", "<|tool_call_section_begin|>", "<|tool_ca"],
    "deepseek_v31": ["function", "<|tool▁call▁begin|>", "<｜tool▁ca", "<｜DSML｜invoke >"],
    "minimax_m2": [
        *('<invoke name="now">', '<parameter name="city">', '<parameter name="days">5</parameter>'),
        *("<invoke name=now>", '<invoke name="', '"<invoke name="now">"'),
    ],
    "llama3_json": ["<|python_tag|>", "<|python_", '{"type": "function", "name": "now", "parameters": {}}'],
}
_CALL_ENDS = {"kimi_k2": 4, "deepseek_v31": 4, "minimax_m2": 4}  # which of the tags closes a call


def pieces(name):
    """Return what a text of a dialect is made of when it is made to hurt."""
    dialect = get_dialect(name)
    whole = dialect.render_calls([("now", {}), ("get_weather", {"city": "Oslo"})])
    return st.sampled_from([*_PIECES, *_OWN_PIECES[name], *dialect.tags, *dialect.tags, whole, whole[:-9]])


def hostile_texts(name):
    return st.lists(pieces(name), max_size=18).map("".join)


def good_texts(name):
    """Return texts and the tools that declare their calls; the calls of Llama are whole messages."""
    prose = st.just("") if name == "llama3_json" else raw.prose
    calls = _raw_calls if name == "minimax_m2" else _json_calls
    thinking = st.sampled_from(["", "<think>\nhm\n</think>\n\n", "<think></think>"])
    return st.builds(
        lambda begin, before, calls, after: (
            begin + before + get_dialect(name).render_calls(calls) + after,
            raw.tools_for(calls) if name == "minimax_m2" else None,
        ),
        thinking,
        prose,
        calls,
        prose,
    )


def pairs(parsed):
    return [(call.name, call.arguments) for call in parsed.calls]


def assert_prefix(dialect, text, tools, whole):
    """A prefix gives a prefix of the calls, and nothing but that the text ended inside something."""
    cut = dialect.parse(text, tools)
    assert cut.calls == whole.calls[: len(cut.calls)]
    assert {defect.code for defect in cut.defects} <= _OPEN_CODES
    assert len(cut.defects) == int(cut.open)


@DIALECTS
@_FEW
@given(data=st.data())
def test_parsing_what_was_rendered_gives_the_calls(name, data):
    """parse(render(calls)) == calls, for whatever the grammar can express."""
    dialect = get_dialect(name)
    calls = data.draw(_raw_calls if name == "minimax_m2" else _json_calls)
    tools = raw.tools_for(calls) if name == "minimax_m2" else None
    parsed = dialect.parse(dialect.render_calls(calls), tools)
    assert parsed.defects == ()
    assert pairs(parsed) == calls
    assert parsed.content == ""


@DIALECTS
@_MANY
@given(data=st.data())
def test_any_text_parses_without_an_exception(name, data):
    """Any text gives a result whose spans lie in the text, in order, and nothing is told twice."""
    text = data.draw(hostile_texts(name))
    tools = data.draw(st.sampled_from([None, TOOLS, compile_tools([])]))
    parsed = get_dialect(name).parse(text, tools, data.draw(st.sampled_from([False, True, "auto"])))
    for found in (parsed.calls, parsed.defects, parsed.notes):
        spans = [item.span for item in found]
        assert spans == sorted(spans)
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert parsed.open == any(defect.code in _OPEN_CODES for defect in parsed.defects)
    assert sum(defect.code in _OPEN_CODES for defect in parsed.defects) <= 1
    blocks = sum(call.span.end - call.span.start for call in parsed.calls)
    assert len(parsed.content) + len(parsed.reasoning) + blocks <= len(text)
    assert parsed.reasoning in text
    position = 0
    for character in parsed.content:
        position = text.index(character, position) + 1


@DIALECTS
@_FEW
@given(text=st.text(max_size=60))
def test_any_unicode_parses_without_an_exception(name, text):
    """Text outside of every alphabet, lone surrogates included, is read as well."""
    assert get_dialect(name).parse(text).calls == ()


@DIALECTS
@_FEW
@given(data=st.data())
def test_a_mutated_good_text_parses_without_an_exception(name, data):
    """Deleting, doubling or inserting anywhere never raises, and never makes more calls than tags."""
    dialect = get_dialect(name)
    text, tools = data.draw(good_texts(name))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    inserted = data.draw(st.one_of(pieces(name), st.just(text[start:end] * 2), st.just("")))
    mutated = text[:start] + inserted + text[end:]
    closing = dialect.tags[_CALL_ENDS[name]] if name in _CALL_ENDS else "}"
    assert len(dialect.parse(mutated, tools).calls) <= mutated.count(closing)


@DIALECTS
@_SLOW
@given(data=st.data())
def test_every_prefix_of_a_good_text_gives_a_prefix_of_its_calls(name, data):
    """A cut loses calls from the end and says nothing but that the text ended inside something."""
    dialect = get_dialect(name)
    text, tools = data.draw(good_texts(name))
    whole = dialect.parse(text, tools)
    assert whole.defects == ()
    for end in range(len(text)):
        assert_prefix(dialect, text[:end], tools, whole)


@DIALECTS
@_MANY
@given(data=st.data())
def test_no_prefix_of_a_text_without_defects_has_one(name, data):
    """Talk about tags, JSON in prose and quotation marks do not look broken when they are cut."""
    dialect = get_dialect(name)
    text = data.draw(hostile_texts(name))
    whole = dialect.parse(text, TOOLS)
    for end in range(0 if whole.defects else len(text)):
        cut = dialect.parse(text[:end], TOOLS)
        assert cut.calls == whole.calls[: len(cut.calls)]
        assert {defect.code for defect in cut.defects} <= _OPEN_CODES


@DIALECTS
@_FEW
@given(data=st.data())
def test_a_good_text_is_content_thinking_and_blocks(name, data):
    """Nothing is lost: what is neither content nor thinking nor a call is the markup around the calls."""
    dialect = get_dialect(name)
    text, tools = data.draw(good_texts(name))
    parsed = dialect.parse(text, tools)
    rest = text
    for call in reversed(parsed.calls):
        rest = f"{rest[: call.span.start]}\0{rest[call.span.end :]}"
    if text.startswith("<think>"):
        rest = rest.replace(f"<think>{parsed.reasoning}</think>", "", 1)
    opening, closing = re.escape(dialect.tags[0]), re.escape("".join(dialect.tags[1:2]))
    markup = r"\0(?:; \0)*" if name == "llama3_json" else rf"{opening}[\n\0]*{closing}"
    assert re.sub(markup, "", rest, count=1) == parsed.content


@DIALECTS
@_MANY
@given(data=st.data())
def test_a_block_that_follows_is_kept_whatever_came_before(name, data):
    """Broken text cannot hide a whole block that stands after the end of one, on a line of its own."""
    dialect = get_dialect(name)
    call = dialect.render_calls([("now", {})])
    before, after = (data.draw(hostile_texts(name)) for _ in range(2))
    if name == "llama3_json":  # the call is the whole message, so only broken calls can come before
        text = f'{{"name": 05}}; {call}'
    else:
        text = f"{before}\n{dialect.tags[1]}\n{call}\n{after}".replace("<think>", "")
    assert any(found.name == "now" for found in dialect.parse(text).calls)


@DIALECTS
def test_a_megabyte_in_one_value_is_read_whole(name):
    """One long argument is one argument."""
    calls = [("get_weather", {"city": 'a "quoted" \\ line\n' * 55_000})]
    text = get_dialect(name).render_calls(calls)
    assert pairs(get_dialect(name).parse(text, TOOLS)) == calls
