"""What a plain schema accepts at once the validator accepts too, and says the same of it: nothing."""

import pytest
from draftproof.parsers.contract import _strict_integers, schema_defects
from draftproof.parsers.plain_schema import plain_schema
from draftproof.parsers.result import Span
from draftproof.parsers.tools import compile_tools
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")
NAMES = st.sampled_from("abc")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([0.0, 1.0, 1.5, -0.0, 1e308, 10**400]),
    st.sampled_from(["", "a", "red", "1"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.one_of(
    st.just(True),
    st.fixed_dictionaries({"type": st.sampled_from(KINDS)}),
    st.fixed_dictionaries({"type": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2, unique=True)}),
    st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3), "description": st.just("x")}),
    st.fixed_dictionaries({"title": st.just("x"), "default": SCALARS, "format": st.just("date")}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string"]),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "items": inner,
        },
    ),
    max_leaves=6,
)
BOUNDS = st.fixed_dictionaries(
    {"type": st.sampled_from([*KINDS, ["integer", "number"], ["integer", "string"]])},
    optional={
        **{
            keyword: st.sampled_from([-1, 0, 1, 1.5])
            for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        },
        **{
            keyword: st.sampled_from([0, 1, 2])
            for keyword in ("minItems", "maxItems", "minLength", "maxLength")
        },
    },
)
BOUNDED = st.one_of(BOUNDS, SCHEMAS, st.fixed_dictionaries({"type": st.just("array"), "items": BOUNDS}))


@settings(max_examples=600, deadline=None)
@given(BOUNDED, VALUES)
def test_what_is_accepted_is_valid(schema, value):
    """By JSON Schema 2020-12, as jsonschema has it, bounds and all."""
    accepts = plain_schema(schema)
    if accepts is not None and accepts(value):
        assert Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a"},
        {"type": "integer", "multipleOf": 2},
        {"properties": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"anyOf": [{"type": "string"}]}}},
        {"additionalProperties": {"const": 1}},
        {"items": {"not": {}}},
        {"type": "unknown"},
        False,
    ],
)
def test_a_keyword_that_is_not_known_makes_a_schema_not_plain(schema):
    """However deep it stands, and whatever value comes: the validator is asked."""
    assert plain_schema(schema) is None


@settings(max_examples=600, deadline=None)
@given(BOUNDED, VALUES)
def test_of_what_is_accepted_exactly_there_is_nothing_to_say(schema, value):
    """It is valid, within its bounds, and would be if 5.0 were no integer: no defect and no note."""
    accepts = plain_schema(schema, is_exact=True)
    if accepts is not None and accepts(value):
        validator = Draft202012Validator(schema)
        assert validator.is_valid(value)
        assert _strict_integers(validator).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value", "is_accepted"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3, True),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 4, False),
        ({"type": "number", "exclusiveMinimum": 0}, 0.5, True),
        ({"type": "number", "exclusiveMinimum": 0}, 0, False),
        ({"type": ["string", "null"], "maxLength": 2}, None, True),
        ({"type": "array", "minItems": 1}, [], False),
        ({"type": "integer"}, 5, True),
        ({"type": "integer"}, 5.0, False),
        ({"type": ["integer", "number"]}, 5.0, True),
    ],
)
def test_a_value_within_its_bounds_needs_no_validator(schema, value, is_accepted):
    """A whole float for an integer is right, and worth a note."""
    exact, accepts = plain_schema(schema, is_exact=True), plain_schema(schema)
    assert exact is not None
    assert accepts is not None
    assert exact(value) == is_accepted
    assert accepts(value) == (is_accepted or value == 5.0)


SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "days": {"type": ["integer", "null"]},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = compile_tools([{"type": "function", "function": {"name": "now", "parameters": SCHEMA}}])


@pytest.mark.parametrize(
    ("arguments", "is_accepted"),
    [
        ({"city": "Oslo", "days": 3, "unit": "celsius", "tags": ["a"]}, True),
        ({"city": "Oslo", "days": 3.0}, True),
        ({"city": "Oslo", "days": None}, True),
        ({"city": "Oslo", "days": True}, False),
        ({"city": "Oslo", "unit": "kelvin"}, False),
        ({"city": "Oslo", "tags": [1]}, False),
        ({"city": "Oslo", "more": 1}, False),
        ({"days": 3}, False),
        ([], False),
    ],
)
def test_a_usual_schema_is_plain(arguments, is_accepted):
    """What it accepts has no defect; what it does not has one."""
    assert TOOLS.plain["now"](arguments) == is_accepted
    assert bool(schema_defects(TOOLS, "now", arguments, Span(0, 0))) == (not is_accepted)
