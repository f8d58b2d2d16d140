"""The quick yes: whatever it takes, the validator takes too."""

import pytest
from draftproof.parsers.plain_schema import plainly_fits
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

NAMES = st.sampled_from(["a", "b", "c"])
WORDS = st.sampled_from(["x", "y", "1", ""])
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 2.0, -1.5, 10**400]), st.booleans())


def schemas(inner):
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("string")},
            optional={
                "enum": st.lists(st.one_of(WORDS, NUMBERS), min_size=1, max_size=3),
                "minLength": st.just(1),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["integer", "number"])},
            optional={
                "minimum": st.integers(-2, 2),
                "maximum": st.sampled_from([1, 2.5]),
                "multipleOf": st.just(2),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["boolean", "null", ["string", "null"]])},
            optional={"title": WORDS, "default": NUMBERS},
        ),
        st.fixed_dictionaries(
            {"type": st.just("array")}, optional={"items": inner, "minItems": st.integers(0, 2)}
        ),
        st.fixed_dictionaries(
            {"type": st.just("object")},
            optional={
                "properties": st.dictionaries(NAMES, inner, max_size=3),
                "required": st.lists(NAMES, max_size=2, unique=True),
                "additionalProperties": st.one_of(st.booleans(), inner),
                "description": WORDS,
            },
        ),
    )


SCHEMAS = st.recursive(schemas(st.just({"type": "string"})), schemas, max_leaves=5)
VALUES = st.recursive(
    st.one_of(WORDS, NUMBERS, st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_what_plainly_fits_is_valid(schema, value):
    """A quick yes is never wrong."""
    if plainly_fits(value, schema):
        assert list(Draft202012Validator(schema).iter_errors(value)) == []


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        ({"a": "x"}, {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, True),
        (
            {"a": [1, 2]},
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}},
            True,
        ),
        (
            {"a": {"b": True}},
            {
                "type": "object",
                "properties": {"a": {"type": "object", "properties": {"b": {"type": "boolean"}}}},
            },
            True,
        ),
        (3, {"type": "integer", "minimum": 0, "maximum": 3}, True),
        (4, {"type": "integer", "maximum": 3}, False),
        (True, {"type": "number"}, False),
        (5.0, {"type": "integer"}, False),
        ("z", {"type": "string", "enum": ["x"]}, False),
        ({}, {"type": "object", "properties": {}, "required": ["a"]}, False),
        ({"b": 1}, {"type": "object", "properties": {}}, False),
        ("x", {"type": "string", "pattern": "y"}, False),
        ("x", True, False),
    ],
)
def test_plain_and_fitting_is_said_at_once(value, schema, fits):
    """Calls as most are; what is left over is the validator's, valid or not."""
    assert plainly_fits(value, schema) is fits
