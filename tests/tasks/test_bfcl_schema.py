"""Type words to JSON Schema, as the benchmark converts them for vendors' interfaces."""

import pytest
from draftproof.parsers.tools import compile_tools
from draftproof.tasks.bfcl_schema import Names, tool_of_function
from draftproof.tasks.bfcl_terms import (
    Declared,
    FunctionTerms,
    Language,
    terms_of_description,
    terms_of_schema,
)


def schema_of(properties, language=Language.PYTHON):
    parameters = {"type": "dict", "properties": properties, "required": []}
    tool = tool_of_function("f", "", parameters, Names.UNDERSCORE, language)
    return compile_tools([tool]).functions["f"]["properties"]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("integer", "integer"),
        ("number", "number"),
        ("float", "number"),
        ("boolean", "boolean"),
        ("bool", "boolean"),
        ("list", "array"),
        ("tuple", "array"),
        ("dict", "object"),
        ("any", "string"),
        ("long", "integer"),
        ("double", "number"),
        ("char", "string"),
        ("ArrayList", "array"),
        ("HashMap", "object"),
        ("", "string"),
        ("nonsense", "string"),
    ],
)
def test_a_word_has_one_type(word, kind):
    assert schema_of({"x": {"type": word}})["x"]["type"] == kind


def test_the_words_inside_items_and_members_are_converted_and_all_else_stays():
    published = {
        "type": "array",
        "default": [],
        "items": {
            "type": "dict",
            "properties": {"a": {"type": "float", "enum": [1.5]}, "b": {}},
            "required": ["a"],
        },
    }
    assert schema_of({"x": published})["x"] == {
        "type": "array",
        "default": [],
        "items": {
            "type": "object",
            "properties": {
                "a": {
                    "type": "number",
                    "enum": [1.5],
                    "format": "float",
                    "description": " This is a float type value.",
                },
                "b": {"type": "string"},
            },
            "required": ["a"],
        },
    }


def test_a_claim_on_a_parameter_itself_is_dropped():
    assert schema_of({"x": {"type": "string", "required": True}})["x"] == {"type": "string"}


@pytest.mark.parametrize(
    ("published", "sent"), [("a.b.c", "a_b_c"), ("plain", "plain"), ("with-dash", "with-dash")]
)
def test_only_dots_in_names_are_replaced(published, sent):
    assert (Names.UNDERSCORE.apply(published), Names.PUBLISHED.apply(published)) == (sent, published)


@pytest.mark.parametrize("language", [Language.JAVA, Language.JAVASCRIPT])
def test_other_languages_are_shown_strings_with_a_hint(language):
    shown = schema_of({"x": {"type": "any", "description": "A thing."}, "y": {}}, language)
    assert [one["type"] for one in shown.values()] == ["string", "string"]
    assert shown["x"]["description"].startswith("A thing. Write it as Java")


def test_the_types_of_a_converted_schema_are_those_of_the_description():
    properties = {
        "a": {"type": "float"},
        "b": {"type": "dict", "properties": {}},
        "c": {"type": "array", "items": {"type": "float"}},
        "d": {"type": "boolean"},
    }
    published = {"type": "dict", "properties": properties, "required": ["a"]}
    tool = tool_of_function("f", "", published, Names.UNDERSCORE, Language.PYTHON)
    assert terms_of_schema(tool["function"]["parameters"]) == terms_of_description(published)
    assert terms_of_description(published) == FunctionTerms(
        {
            "a": Declared("float"),
            "b": Declared("dict"),
            "c": Declared("array", "float"),
            "d": Declared("boolean"),
        },
        ("a",),
    )
