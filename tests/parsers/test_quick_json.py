"""The quick decoder takes what is surely right, and leaves all else to the one that keeps positions."""

import sys

import pytest
from draftproof.parsers.quick_json import decode_quickly

from .test_strict_json import VALID

TAKEN = [
    ('{"a": ":", "b": {"c": "x: y"}}', {"a": ":", "b": {"c": "x: y"}}),
    ('{"a" :1, "b"\n: 2}', {"a": 1, "b": 2}),
    ('{"a": "\\": \\": \\": "}', {"a": '": ": ": '}),
    ('{"a": {"a": {"a": []}}}', {"a": {"a": {"a": []}}}),
    ('[{"a": 1}, {"a": 2}] and more', [{"a": 1}, {"a": 2}]),
]
LEFT = [
    '{"a": 1, "a": 2}',
    '{"a" : 1, "a" :2}',
    '{"a": ":", "a": ":"}',
    '{"a": "::", "b": {"c": 1, "c": "\\":"}}',
    '[{"a": [{"b": 1, "b": 1}]}]',
    '{"\\u0061": 1, "a": 1}',
    '{"a": NaN}',
    "[1e999]",
    '["\\ud83d"]',
    "[" * 201 + "]" * 201,
    '{"a":' * 201 + "1" + "}" * 201,
    "[" + "9" * 4301 + "]",
    "[" + "0." + "1" * 4301 + "]",
    '"text"',
    "5",
    "",
    "[1,",
]


@pytest.mark.parametrize(("piece", "value"), TAKEN)
def test_colons_outside_of_keys_cost_nothing_but_time(piece, value):
    """A value without a fault is taken, however many colons stand in its strings."""
    taken = decode_quickly(piece)
    assert taken is not None
    assert taken[0] == value


@pytest.mark.parametrize("piece", LEFT, ids=lambda piece: piece[:30])
@pytest.mark.parametrize("limit", [0, 640, 4300, 10_000])
def test_what_the_grammar_refuses_is_left(piece, limit):
    """Also where this Python reads integers of any length, or refuses shorter ones."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        assert decode_quickly(piece) is None
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("piece", [text for text in VALID if text[:1] in {"{", "["}])
def test_what_is_nested_as_deeply_as_is_read_is_taken(piece):
    """The limit is the grammar's: inside another container what was just so deep is left."""
    assert decode_quickly(piece) is not None
    assert (decode_quickly(f"[{piece}]") is None) == (piece.count("[") >= 200)
