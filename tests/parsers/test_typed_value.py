"""Raw values are read by the schema: strings as they are, others as JSON, and nothing is guessed."""

import pytest
from draftproof.parsers.result import Span
from draftproof.parsers.tools import compile_tools
from draftproof.parsers.typed_value import ValueReader

from .marked import TYPED_TOOLS, unmark

READER = ValueReader(TYPED_TOOLS)

# (parameter, raw text, value)
READ = [
    ("text", "Oslo", "Oslo"),
    ("text", ' "Oslo" \n', ' "Oslo" \n'),
    ("text", "5", "5"),
    ("text", "True", "True"),
    ("text", "null", "null"),
    ("text", "&lt;b&gt;", "&lt;b&gt;"),
    ("text", "", ""),
    ("text", '{"a": 1,}', '{"a": 1,}'),
    ("count", "5", 5),
    ("count", " -5\n", -5),
    ("count", "5.0", 5.0),
    ("ratio", "1e3", 1000.0),
    ("flag", "true", True),
    ("flag", "false", False),
    ("nothing", "null", None),
    ("tags", '["a", "b"]', ["a", "b"]),
    ("options", '{\n  "a": [1, {"b": null}]\n}', {"a": [1, {"b": None}]}),
    ("maybe_flag", "null", None),
    ("maybe_flag", "true", True),
    ("maybe_text", "null", None),
    ("maybe_text", "nullable", "nullable"),
    ("maybe_text", '"null"', '"null"'),
    ("text_or_count", "5", 5),
    ("text_or_count", "10", "10"),
    ("text_or_count", "5 days", "5 days"),
    ("text_or_count", "05", "05"),
    ("text_or_tags", '["a"]', ["a"]),
    ("text_or_tags", '["a"', '["a"'),
    ("level", "low", "low"),
    ("size", "1", 1),
    ("mixed", "1", 1),
    ("mixed", "one", "one"),
    ("version", "2", "2"),
    ("name", "7", "7"),
    ("limit", "7", 7),
    ("anything", "7", 7),
    ("anything", "seven", "seven"),
    ("never", "7", "7"),
    ("n_3", "7", 7),
    ("undeclared", "7", "7"),
    # What is not JSON, and no broken JSON of the kind that is asked for, is text: the contract refuses it.
    ("count", "five", "five"),
    ("count", "", ""),
    ("count", "5 days", "5 days"),
    ("count", "2024-01-05", "2024-01-05"),
    ("count", "1_000", "1_000"),
    ("count", '"5"', "5"),
    ("count", "{'a': 1}", "{'a': 1}"),
    ("flag", "yes", "yes"),
    ("flag", "TRUE", "TRUE"),
    ("flag", "1", 1),
    ("count", "null", None),
    ("tags", "a, b", "a, b"),
    ("options", "[1", "[1"),
]


@pytest.mark.parametrize(("key", "raw", "value"), READ)
def test_a_value_is_read_by_its_schema(key, raw, value):
    """The schema says what is text and what is JSON; a value never has a defect for being of another type."""
    read = READER.read("f", key, raw, 7)
    assert (read.value, type(read.value)) == (value, type(value))
    assert (read.defects, read.notes) == ((), ())


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("flag", "True", True),
        ("flag", " False\n", False),
        ("nothing", "None", None),
        ("maybe_flag", "None", None),
        ("maybe_text", "None", None),
        ("anything", "True", True),
        ("count", "None", None),
    ],
)
def test_a_python_spelling_is_read_and_noted(key, raw, value):
    """The template itself writes True, False and None; that is a note with the place of the value."""
    read = READER.read("f", key, raw, 7)
    assert read.value is value
    json_spelling = {"True": "true", "False": "false", "None": "null"}[raw.strip()]
    assert [(note.code.value, note.message, note.span) for note in read.notes] == [
        (
            "python_spelling",
            f"f: $.{key} is written {raw.strip()}, as in Python; JSON writes {json_spelling}",
            Span(7, 7 + len(raw)),
        )
    ]


def test_a_python_spelling_that_fits_no_other_type_is_text():
    """In a union of text and number, True is a word."""
    read = READER.read("f", "text_or_count", "True", 0)
    assert (read.value, read.notes) == ("True", ())


@pytest.mark.parametrize(
    ("key", "marked", "defects"),
    [
        ("count", "0⟦5⟧", [("invalid_json", "a number must not begin with 0 and another digit")]),
        ("count", "⟦+⟧5", [("invalid_json", "a value should stand here, not `+`")]),
        ("count", "5.⟦⟧", [("truncated_json", "the JSON ends before it is whole, and the value is closed")]),
        ("ratio", "⟦.⟧5", [("invalid_json", "a value should stand here, not `.`")]),
        (
            "ratio",
            "⟦N⟧aN",
            [("invalid_json", "a value should stand here, not NaN, which JSON does not have")],
        ),
        (
            "ratio",
            "⟦1⟧e999",
            [("invalid_json", "a number beyond the range of a double would become infinite")],
        ),
        (
            "options",
            "{⟦'⟧a': 1}",
            [
                (
                    "invalid_json",
                    "a string in double quotes, as key, or } should stand here, not a single quotation mark",
                )
            ],
        ),
        (
            "options",
            '{"a": ⟦T⟧rue}',
            [("invalid_json", "a value should stand here, not Python's True; JSON writes true")],
        ),
        ("options", '{"a": 1,⟦}⟧', [("invalid_json", "a comma must not stand before }")]),
        (
            "options",
            '{"a": 1⟦⟧',
            [("truncated_json", "the JSON ends before it is whole, and the value is closed")],
        ),
        ("options", '{"a": 1}⟦}⟧', [("trailing_data", '"}" follows the value')]),
        ("options", '{"a": 1, ⟦"a"⟧: 2}', [("duplicate_key", 'the key "a" stands twice')]),
        (
            "options",
            '{"a": 1, ⟦"a"⟧: 2} ⟦and⟧\n',
            [("duplicate_key", 'the key "a" stands twice'), ("trailing_data", '"and\\n" follows the value')],
        ),
        ("tags", '["a"]\n⟦["b"]⟧', [("trailing_data", '"[\\"b\\"]" follows the value')]),
    ],
)
def test_broken_json_of_the_kind_that_is_asked_for_is_a_defect(key, marked, defects):
    """An object, a list or a number that begins and breaks is said with its path and its exact place."""
    raw, spans = unmark(marked)
    read = READER.read("f", key, raw, 7)
    assert [(found.code.value, found.message) for found in read.defects] == [
        (code, f"f: $.{key}: {clause}") for code, clause in defects
    ]
    assert [found.span for found in read.defects] == [Span(start + 7, end + 7) for start, end in spans]
    assert read.value == raw


@pytest.mark.parametrize(
    ("function", "key", "raw", "value"),
    [
        ("g", "ready", "true", True),
        ("g", "value", "3", 3),
        ("g", "value", "x", "x"),
        ("h", "other", "2", 2),
    ],
)
def test_a_parameter_is_found_wherever_the_schema_declares_it(function, key, raw, value):
    """References, allOf, anyOf and additionalProperties declare parameters too."""
    assert READER.read(function, key, raw, 0).value == value
    assert READER.is_declared(function, key)


def test_without_tools_every_value_is_text():
    """Nobody guesses a type that nobody declared."""
    for tools in (None, compile_tools([])):
        assert ValueReader(tools).read("f", "count", "5", 0).value == "5"
    assert not READER.is_declared("f", "undeclared")


def test_a_recursive_schema_ends():
    """A schema that refers to itself is read once around."""
    node = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}
    tools = compile_tools(
        [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "parameters": {"properties": {"a": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}},
                },
            }
        ]
    )
    reader = ValueReader(tools)
    assert reader.read("f", "a", '["x", ["y"]]', 0).value == ["x", ["y"]]
    assert reader.read("f", "a", '["x", [1]]', 0).value == '["x", [1]]'


def test_a_value_too_large_to_be_checked_is_text_in_a_union():
    """Deep lists end neither the reading nor the check."""
    deep = "[" * 150 + "]" * 150
    assert READER.read("f", "text_or_tags", deep, 0).value != ""
    assert READER.read("f", "text_or_tags", "[" * 5000, 0).value == "[" * 5000
