"""The strict decoder: what it takes, what it refuses and where, and that its two ways agree."""

import json
import sys

import pytest
from draftproof.parsers.json_scanner import Decoded, JsonError, JsonFault, decode_located
from draftproof.parsers.result import Span
from draftproof.parsers.strict_json import decode, decode_flawless
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_hermes_laws import json_values

INVALID = [
    ("05", 1, "a number must not begin with 0 and another digit"),
    ("[1,]", 3, "a comma must not stand before ]"),
    ('{"a": 1,}', 8, "a comma must not stand before }"),
    ("{'a': 1}", 1, "a string in double quotes, as key, or } should stand here, not a single quotation mark"),
    ("{a: 1}", 1, "a string in double quotes, as key, or } should stand here, not `a`"),
    ("[NaN]", 1, "a value should stand here, not NaN, which JSON does not have"),
    ("[-Infinity]", 2, "a digit should stand here, not Infinity, which JSON does not have"),
    ("[True]", 1, "a value should stand here, not Python's True; JSON writes true"),
    ("[tru]", 4, "the rest of true should stand here, not `]`"),
    ("[1.]", 3, "a digit should stand here, not `]`"),
    ("[+1]", 1, "a value should stand here, not `+`"),
    ("[.5]", 1, "a value should stand here, not `.`"),
    ("[1e]", 3, "a digit should stand here, not `]`"),
    ("[0x1]", 2, "a comma or ] should stand here, not `x`"),
    ('["\t"]', 2, '"\\t" must be escaped inside a string'),
    ('["\\x"]', 2, "`\\x` is no escape of JSON"),
    ('["\\u12g4"]', 2, "`\\u12g4` is no escape of JSON"),
    ('["\\ud800"]', 2, "a lone surrogate escape is no character"),
    ('["\\ud800\\n"]', 2, "a lone surrogate escape is no character"),
    ('["\\ud800\\ud800\\udc00"]', 2, "a lone surrogate escape is no character"),
    ('["x\\udc00"]', 3, "a lone surrogate escape is no character"),
    ("[1 // one\n]", 3, "a comma or ] should stand here, not a comment"),
    ("[1 2]", 3, "a comma or ] should stand here, not `2`"),
    ('{"a" 1}', 5, "a colon should stand here, not `1`"),
    ('{"a": 1 "b": 2}', 8, 'a comma or } should stand here, not "\\""'),
    ("[1e999]", 1, "a number beyond the range of a double would become infinite"),
    ("[" + "9" * 4301 + "]", 1, "a number of more than 4300 characters is not read"),
    ("[" * 100_000, 200, "JSON nested more than 200 levels deep is not read"),
    ('{"a":' * 100_000, 1000, "JSON nested more than 200 levels deep is not read"),
    ("\u00a0[]", 0, 'a value should stand here, not "\\u00a0"'),
    ("٣", 0, "a value should stand here, not `٣`"),
]
TRUNCATED = [
    "",
    "{",
    "[",
    '{"a',
    '{"a"',
    '{"a":',
    '{"a": 1',
    '{"a": 1,',
    '["\\',
    '["\\u12',
    '["\\ud83d',
    '["\\ud83d\\',
    "[tr",
    "[-",
    "[1.",
    "[1e",
    "[1e+",
    "[0",
]
VALID = [
    "0",
    "-0",
    "1.5e3",
    '"\\ud83d\\ude00"',
    '"\\\\ud800"',
    "{}",
    "[]",
    '{"": []}',
    "[" * 200 + "]" * 200,
    "9" * 4300,
    '"\x7f"',
    "true",
]


@pytest.mark.parametrize(("text", "position", "message"), INVALID, ids=range(len(INVALID)))
def test_invalid_json_is_refused_where_it_breaks(text, position, message):
    """The error names the first character that cannot stand there, and says why."""
    read = decode(text)
    assert isinstance(read, JsonError)
    assert (read.fault, read.position, read.message) == (JsonFault.INVALID, position, message)


@pytest.mark.parametrize("text", TRUNCATED)
def test_text_that_is_valid_so_far_is_truncated(text):
    """What merely ends is told apart from what is wrong."""
    read = decode(text)
    assert isinstance(read, JsonError)
    assert (read.fault, read.position) == (JsonFault.TRUNCATED, len(text))


@pytest.mark.parametrize("text", VALID)
def test_valid_json_is_decoded(text):
    """What RFC 8259 allows, within the two limits, is decoded as `json.loads` does."""
    assert decode(text) == Decoded(json.loads(text), len(text))


def test_a_repeated_key_is_reported_in_any_depth():
    """Each repeat has its place; the last value counts."""
    text = '{"a": {"b": 1, "b": 2}, "a": 3}'
    read = decode(text)
    assert isinstance(read, Decoded)
    assert read.duplicates == (Span(15, 18), Span(24, 27))
    assert read.value == {"a": 3}


def test_members_have_the_places_of_their_keys_and_values():
    """The places of the outermost members are exact."""
    text = ' {"a" : [1, {"x": 2}] , "b":"c"}'
    read = decode_located(text)
    assert [(text[slice(*m.key_span)], text[slice(*m.value_span)]) for m in read.members] == [
        ('"a"', '[1, {"x": 2}]'),
        ('"b"', '"c"'),
    ]


def test_what_follows_the_value_is_left_alone():
    """Decoding ends with the value."""
    assert decode('xx{"a": 1} and more', 2) == Decoded({"a": 1}, 10)


def test_members_that_were_whole_before_an_error_are_kept():
    """An error keeps what could be read before it."""
    read = decode('{"name": "f", "arguments": {"a": 05}}')
    assert isinstance(read, JsonError)
    assert [(member.key, member.value) for member in read.members] == [("name", "f")]


def test_a_string_right_before_an_error_is_named():
    """Where a quotation mark may be missing, the error says where that string began."""
    read = decode('{"a": "b</x>{"c": 1}')
    assert isinstance(read, JsonError)
    assert (read.position, read.string_start) == (14, 6)


def test_a_wrong_guess_of_the_end_changes_nothing():
    """`likely_end` is a matter of speed only."""
    text = '{"a": "</tool_call>", "b": [1, 2.5]}'
    assert {repr(decode(text, 0, end).value) for end in range(len(text) + 1)} == {repr(json.loads(text))}


_MUTATIONS = st.lists(
    st.sampled_from(
        [*"{}[]\",:\\'\n0159eE.+-tfn ", "\\ud83d", "\\u0041", "NaN", "1e999", '"a": 1', "é", "\x01"]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(
    st.one_of(
        _MUTATIONS.map(lambda text: "{" + text),
        _MUTATIONS.map(lambda text: '{"a": [' + text + "]}"),
        _MUTATIONS,
    )
)
def test_the_quick_way_and_the_located_way_agree(text):
    """The quick scanner and the one with positions take the same texts, with the same values."""
    quick, located = decode(text), decode_located(text)
    if isinstance(located, JsonError):
        assert quick == located
    else:
        assert isinstance(quick, Decoded)
        assert (repr(quick.value), quick.end, quick.duplicates) == (
            repr(located.value),
            located.end,
            located.duplicates,
        )


_BLANKS = st.text(" \t\n\r", max_size=2)


@settings(max_examples=600, deadline=None)
@given(
    _BLANKS,
    st.one_of(
        _MUTATIONS.map(lambda text: '{"a": ' + text + "}"),
        _MUTATIONS.map(lambda text: '{"a": [' + text + "]}"),
        _MUTATIONS,
        json_values.map(json.dumps),
    ),
    st.one_of(_BLANKS, _MUTATIONS),
)
def test_what_is_called_flawless_is_taken_by_the_located_way_too(before, text, after):
    """Whole, with the same value and no key twice; and a plain object is called flawless."""
    value = decode_flawless(before + text + after)
    located = decode_located(before + text + after)
    is_clean = isinstance(located, Decoded) and not (text + after)[located.end - len(before) :].strip(
        " \t\n\r"
    )
    if value is not None:
        assert is_clean
        assert (repr(value), located.duplicates) == (repr(located.value), ())
    elif is_clean and not located.duplicates and "\\u" not in text:
        assert not isinstance(located.value, dict | list)


@pytest.mark.parametrize(
    ("text", "is_flawless"),
    [
        ('{"a": 1.5e308}', True),
        ('{"a": 1.5e309}', False),
        ('{"a": -1e999}', False),
        (f'{{"a": 1{"0" * 400}.5}}', False),
        (f'{{"a": 1{"0" * 400}}}', True),
        (f'{{"a": 0.{"0" * 4300}1}}', False),
        (f'{{"a": {"9" * 4301}}}', False),
        ('{"a": "' + "9" * 3000 + '"}', True),
        ("[" * 200 + "]" * 200, True),
        ("[" * 201 + "]" * 201, False),
        ('{"a": "\\ud83d\\ude00"}', False),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', False),
        ('{"a": NaN}', False),
    ],
)
def test_flawless_is_within_every_limit(text, is_flawless):
    """Where the C scanner is laxer, or in doubt, the other one is asked, and decides."""
    assert (decode_flawless(text) is not None) == is_flawless
    assert decode(text).duplicates or isinstance(decode(text), type(decode_located(text)))


@settings(max_examples=300, deadline=None)
@given(st.one_of(_MUTATIONS, json_values.map(json.dumps)))
def test_nothing_is_taken_that_json_loads_refuses(text):
    """The strict decoder takes a part of what the standard library takes."""
    read = decode(text)
    if isinstance(read, Decoded):
        assert repr(json.loads(text[: read.end])) == repr(read.value)


@settings(max_examples=80, deadline=None)
@given(json_values, st.booleans())
def test_every_prefix_of_valid_json_is_truncated_or_whole(value, ascii_only):
    """No prefix of valid JSON is called invalid."""
    text = json.dumps([value], ensure_ascii=ascii_only)
    assert decode(text) == Decoded([value], len(text))
    for end in range(len(text)):
        read = decode(text[:end])
        assert isinstance(read, JsonError)
        assert read.fault is JsonFault.TRUNCATED


def test_a_lower_limit_of_the_interpreter_is_no_crash():
    """Python's own limit on the digits of an integer may be set lower than ours."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        read = decode("[" + "9" * 1000 + "]")
    finally:
        sys.set_int_max_str_digits(before)
    assert isinstance(read, JsonError)
    assert read.fault is JsonFault.INVALID
