"""Equality of JSON values, and the paths at which they differ."""

import pytest
from draftproof.tasks.values import differing_paths, equal, member_path, shown
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_paths_are_given_exactly_when_values_differ(left, right):
    assert (differing_paths(left, right, "$") == ()) == equal(left, right)


@given(JSON)
def test_a_value_equals_itself(value):
    assert equal(value, value)


@pytest.mark.parametrize(
    ("expected", "actual", "paths"),
    [
        (1, 2, ("$",)),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ("$.b",)),
        ({"a": 1}, {"a": 1, "c": 0, "b": 0}, ("$.b", "$.c")),
        ([1, 2], [1], ("$",)),
        ([{"a b": [1]}], [{"a b": [2]}], ('$[0]["a b"][0]',)),
        ([0] * 20, [1] * 20, ("$",)),
    ],
)
def test_the_deepest_places_that_differ_are_named(expected, actual, paths):
    assert differing_paths(expected, actual, "$") == paths


@pytest.mark.parametrize(
    ("key", "path"),
    [("city", "$.city"), ("a-1", "$.a-1"), ("1a", '$["1a"]'), ("", '$[""]'), ('a"b', '$["a\\"b"]')],
)
def test_a_key_that_is_no_plain_word_is_quoted(key, path):
    assert member_path("$", key) == path


@pytest.mark.parametrize("text", ["\ud83d", "a" * 1000, "\ud83d" * 1000])
def test_whatever_came_is_shown_in_a_line_that_can_be_written(text):
    assert len(shown(text).encode()) < 500
    assert member_path("$", text).isprintable()
