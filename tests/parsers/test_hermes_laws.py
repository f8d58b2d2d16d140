"""Laws that hold for every text of the dialect, searched for counter-examples."""

import json
from unittest.mock import patch

from draftproof.parsers import hermes
from draftproof.parsers.codes import DefectCode
from draftproof.parsers.hermes import HERMES, parse
from draftproof.parsers.json_scanner import decode_located
from draftproof.parsers.names import NAME
from draftproof.parsers.tools import compile_tools
from hypothesis import given, settings
from hypothesis import strategies as st

from .marked import TOOLS

_FEW = settings(max_examples=150, deadline=None)
_SLOW = settings(max_examples=40, deadline=None)
_MANY = settings(max_examples=400, deadline=None)
_OPEN_CODES = {DefectCode.UNCLOSED_BLOCK, DefectCode.UNCLOSED_REASONING}
_UNFINISHED_TAGS = [tag[:length] for tag in ("<tool_call>", "<think>") for length in range(len(tag))]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
argument_objects = st.dictionaries(texts, json_values, max_size=4)
names = st.from_regex(NAME, fullmatch=True)
call_lists = st.lists(st.tuples(names, argument_objects), max_size=4)
# What a text is made of when it is made to hurt.
pieces = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<think>", "</think>", "<", "</", "<function=f>", "[TOOL_CALLS]"),
        *(
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "\\",
            ",",
            ":",
            "`",
            "```json\n",
            "\n",
            " ",
            "a",
            "é",
            "\x00",
            "\\ud83d",
        ),
        *('"name"', '"arguments"', '"now"', "0", "5", "1e999", "true", "None"),
        *('{"name": "now", "arguments": {}}', '<tool_call>\n{"name": "'),
    ]
)
hostile_texts = st.lists(pieces, max_size=25).map("".join)
prose = st.text(alphabet="abc .,\n{}[]", max_size=12)
good_texts = st.builds(
    lambda thinking, parts: thinking + "".join(text + HERMES.render_calls([call]) for text, call in parts),
    st.sampled_from(["", "<think>\nhm\n</think>\n\n", "<think></think>"]),
    st.lists(st.tuples(prose, st.tuples(names, argument_objects)), max_size=3),
)


@_FEW
@given(call_lists)
def test_parsing_what_was_rendered_gives_the_calls(calls):
    """parse(render(calls)) == calls, for any JSON and any name."""
    text = HERMES.render_calls(calls)
    parsed = parse(text)
    assert parsed.defects == ()
    assert [(call.name, call.arguments) for call in parsed.calls] == calls
    assert parsed.content == "\n" * max(0, len(calls) - 1)


@_FEW
@given(names, argument_objects, st.randoms(use_true_random=False))
def test_key_order_does_not_matter(name, arguments, random):
    """Members in another order give the same call."""
    keys = list(arguments)
    random.shuffle(keys)
    shuffled = {"arguments": {key: arguments[key] for key in keys}, "name": name}
    parsed = parse(f"<tool_call>\n{json.dumps(shuffled)}\n</tool_call>")
    assert [(call.name, call.arguments) for call in parsed.calls] == [(name, arguments)]


@_MANY
@given(
    hostile_texts, st.sampled_from([False, True, "auto"]), st.sampled_from([None, TOOLS, compile_tools([])])
)
def test_any_text_parses_without_an_exception(text, starts_in_reasoning, tools):
    """Any text gives a result whose spans lie in the text, in order."""
    parsed = parse(text, tools, starts_in_reasoning)
    for found in (parsed.calls, parsed.defects, parsed.notes):
        spans = [item.span for item in found]
        assert spans == sorted(spans)
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert parsed.open == any(defect.code in _OPEN_CODES for defect in parsed.defects)


@_FEW
@given(st.text(max_size=60))
def test_any_unicode_parses_without_an_exception(text):
    """Text outside of every alphabet, lone surrogates included, is read as well."""
    assert parse(text).calls == ()


@_FEW
@given(good_texts, st.data())
def test_a_mutated_good_text_parses_without_an_exception(text, data):
    """Deleting, doubling or inserting anywhere never raises, and never makes more calls than tags."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    inserted = data.draw(st.one_of(pieces, st.just(text[start:end] * 2), st.just("")))
    mutated = text[:start] + inserted + text[end:]
    assert len(parse(mutated, TOOLS).calls) <= mutated.count("</tool_call>")


@_MANY
@given(
    st.one_of(hostile_texts, good_texts, st.tuples(hostile_texts, good_texts, hostile_texts).map("".join)),
    st.sampled_from([None, TOOLS]),
)
def test_the_quick_way_through_a_block_changes_nothing(text, tools):
    """Without it every block is read step by step, and everything that is said of it is the same."""
    with (
        patch.object(hermes, "decode_flawless", lambda _piece: None),
        patch.object(hermes, "decode", lambda text, start, _end: decode_located(text, start)),
    ):
        slow = parse(text, tools)
    assert repr(parse(text, tools)) == repr(slow)


@_SLOW
@given(good_texts)
def test_every_prefix_of_a_good_text_gives_a_prefix_of_its_calls(text):
    """A cut loses calls from the end and says nothing but that the text ended inside something."""
    whole = parse(text)
    assert whole.defects == ()
    for end in range(len(text)):
        cut = parse(text[:end])
        assert cut.calls == whole.calls[: len(cut.calls)]
        assert {defect.code for defect in cut.defects} <= _OPEN_CODES
        assert len(cut.defects) == int(cut.open)
        assert any(whole.content.startswith(cut.content.removesuffix(tag)) for tag in _UNFINISHED_TAGS)


@_MANY
@given(hostile_texts)
def test_no_prefix_of_a_text_without_defects_has_one(text):
    """Talk about tags, JSON in prose and quotation marks do not look broken when they are cut."""
    whole = parse(text)
    for end in range(0 if whole.defects else len(text)):
        cut = parse(text[:end])
        assert cut.calls == whole.calls[: len(cut.calls)]
        assert {defect.code for defect in cut.defects} <= _OPEN_CODES


@_FEW
@given(good_texts)
def test_a_good_text_is_content_thinking_and_blocks(text):
    """Nothing is lost: content, thinking with its tags, and the spans of the calls make up the text."""
    parsed = parse(text)
    rest = text
    for call in reversed(parsed.calls):
        rest = rest[: call.span.start] + rest[call.span.end :]
    if text.startswith("<think>"):
        rest = rest.replace(f"<think>{parsed.reasoning}</think>", "", 1)
    assert rest == parsed.content


@_MANY
@given(hostile_texts)
def test_content_and_thinking_are_pieces_of_the_text_in_order(text):
    """Of a broken text too, content and thinking are made of its own characters, none of them twice."""
    parsed = parse(text)
    blocks = sum(call.span.end - call.span.start for call in parsed.calls)
    assert len(parsed.content) + len(parsed.reasoning) + blocks <= len(text)
    assert parsed.reasoning in text
    position = 0
    for character in parsed.content:
        position = text.index(character, position) + 1


@_FEW
@given(hostile_texts, hostile_texts)
def test_a_block_that_follows_is_kept_whatever_came_before(before, after):
    """Broken text with its quotation marks closed cannot hide a whole block on a line of its own."""
    call = HERMES.render_calls([("now", {})])
    text = f"{before}\n</tool_call>\n{call}\n{after}"
    parsed = parse(text.replace("<think>", ""))
    assert any(found.name == "now" for found in parsed.calls)
