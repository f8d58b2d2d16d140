"""Tools are compiled or refused with the tool and the path; arguments are checked without a crash."""

import pytest
from draftproof.parsers.contract import schema_defects, schema_notes
from draftproof.parsers.result import Span
from draftproof.parsers.tools import ToolSchemaError, compile_tools

from .marked import TOOLS

SPAN = Span(3, 9)


def tool(name: object, **parameters: object) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


REFUSED = [
    (["f"], 'tool 0: $: a tool is a JSON object, not "f"'),
    ([{"type": "code", "function": {}}], 'tool 0: $.type: must be "function"; it is "code"'),
    ([{"function": {"name": "f"}}], 'tool 0: $.type: must be "function"; it is missing'),
    ([{"type": "function"}], "tool 0: $.function: must be a JSON object with a name and parameters"),
    ([{"type": "function", "function": {}}], "tool 0: $.function.name: must be a string"),
    (
        [tool("a b")],
        (
            'tool 0: $.function.name: "a b" cannot be a name: 1 to 128 characters, '
            "no spaces, quotes, brackets, commas or equals signs"
        ),
    ),
    ([tool("f"), tool("f")], 'tool 1 ("f"): $.function.name: a tool of this name is already declared'),
    (
        [{"type": "function", "function": {"name": "f", "parameters": True}}],
        'tool 0 ("f"): $.function.parameters: must be a JSON Schema object',
    ),
    (
        [tool("f", properties={"a": {"type": "strin"}})],
        (
            'tool 0 ("f"): $.function.parameters.properties.a.type: '
            "'strin' is not valid under any of the given schemas"
        ),
    ),
    (
        [tool("f", properties={"a": {"$ref": "https://example.com/schema"}})],
        (
            'tool 0 ("f"): $.function.parameters.properties.a["$ref"]: "https://example.com/schema" does not '
            "resolve inside this schema; write the schema out, for nothing is fetched"
        ),
    ),
    (
        [tool("f", items=[{"allOf": 1}])],
        "tool 0 (\"f\"): $.function.parameters.items: [{'allOf': 1}] is not of type 'object', 'boolean'",
    ),
    ([tool("f", **{"$ref": "#"})], 'tool 0 ("f"): $.function.parameters: cannot be compiled: RecursionError'),
]


@pytest.mark.parametrize(("declared", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_tool_that_no_call_could_fit_is_refused(declared, message):
    """The error names the tool, the JSON path and what is wrong."""
    with pytest.raises(ToolSchemaError) as caught:
        compile_tools(declared)
    assert str(caught.value) == message


def test_a_reference_to_nothing_is_refused():
    """A local reference must lead somewhere."""
    with pytest.raises(ToolSchemaError, match="#/\\$defs/missing"):
        compile_tools([tool("f", properties={"a": {"$ref": "#/$defs/missing"}})])


def test_local_references_hold():
    """References inside a schema, recursive ones too, are followed."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
    tools = compile_tools(
        [tool("f", properties={"list": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})]
    )
    defects = schema_defects(tools, "f", {"list": {"next": {"next": {"x": 1}}}}, SPAN)
    assert [defect.message for defect in defects] == ["f: $.list.next.next.x is not declared"]


def test_a_property_that_is_called_ref_is_no_reference():
    """`$ref` in the place of a property's name or inside plain data is data."""
    compile_tools([tool("f", properties={"$ref": {"type": "string"}, "a": {"enum": [{"$ref": "http://x"}]}})])


def test_the_declared_objects_are_kept_as_they_are():
    """What is sent is what was given; a tool without parameters takes any object."""
    bare = {"type": "function", "function": {"name": "f"}}
    tools = compile_tools([bare])
    assert tools.declared == (bare,)
    assert tools.functions == {"f": {"type": "object", "properties": {}}}
    assert schema_defects(tools, "f", {"anything": 1}, SPAN) == ()


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 5.0, []),
        ({"type": "integer"}, 5.5, [("schema_type", "f: $.a is 5.5, not of type integer")]),
        ({"type": "integer"}, True, [("schema_type", "f: $.a is true, not of type integer")]),
        ({"type": "number"}, "5", [("schema_type", 'f: $.a is "5", not of type number')]),
        ({"type": ["string", "null"]}, 1, [("schema_type", "f: $.a is 1, not of type string or null")]),
        ({"const": 1}, 2, [("schema_enum", "f: $.a is 2, not 1")]),
        ({"enum": [1, True]}, "x", [("schema_enum", 'f: $.a is "x", not one of [1, true]')]),
        ({"enum": [1]}, True, [("schema_enum", "f: $.a is true, not one of [1]")]),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            1,
            [("schema_type", "f: $.a is 1, which fits no alternative")],
        ),
        (
            {"anyOf": [{"enum": ["x"]}, {"type": "null"}]},
            1,
            [("schema_enum", "f: $.a is 1, which fits no alternative")],
        ),
        ({"oneOf": [{}, {}]}, 1, [("schema_other", "f: $.a is 1, which fits no alternative")]),
        ({"pattern": "^b"}, "abc", [("schema_other", 'f: $.a is "abc", against pattern: "^b"')]),
        ({"items": {"type": "string"}}, ["x", 1], [("schema_type", "f: $.a[1] is 1, not of type string")]),
        (
            {"required": ["x", "y"]},
            {},
            [
                ("schema_missing_required", "f: $.a.x is required and missing"),
                ("schema_missing_required", "f: $.a.y is required and missing"),
            ],
        ),
        (
            {"multipleOf": 0.1},
            10**400,
            [
                (
                    "schema_other",
                    "f: $ could not be checked (OverflowError): too large a number, or nested too deeply",
                )
            ],
        ),
    ],
)
def test_each_violation_has_its_code_and_path(schema, value, expected):
    """Every violation is one defect, with the tool's name, the path and the value."""
    tools = compile_tools([tool("f", properties={"a": schema})])
    defects = schema_defects(tools, "f", {"a": value}, SPAN)
    assert [(defect.code.value, defect.message) for defect in defects] == expected
    assert all(defect.span == SPAN for defect in defects)


def test_defects_come_in_the_order_of_their_paths():
    """The order does not depend on the order of the keys."""
    one = schema_defects(TOOLS, "get_weather", {"z": 1, "days": "x", "b": 1}, SPAN)
    other = schema_defects(TOOLS, "get_weather", {"b": 1, "days": "x", "z": 1}, SPAN)
    assert one == other
    assert [defect.message.split()[1] for defect in one] == ["$.b", "$.city", "$.days", "$.z"]


def test_arguments_too_deep_to_check_are_a_defect():
    """What exhausts the stack of the validator is said and not raised."""
    node = {"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}}
    tools = compile_tools([tool("f", **{"$defs": {"n": node}, "$ref": "#/$defs/n"})])
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"x": deep}
    assert [defect.code.value for defect in schema_defects(tools, "f", deep, SPAN)] == ["schema_other"]


def test_a_whole_float_is_noted_where_an_integer_is_due():
    """`5.0` passes as an integer and is noted; where a number is due it is nothing."""
    either = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    tools = compile_tools(
        [tool("f", properties={"a": {"type": "integer"}, "b": {"type": "number"}, "c": either})]
    )
    notes = schema_notes(tools, "f", {"a": 5.0, "b": 5.0, "c": 2.0}, SPAN)
    assert [note.message for note in notes] == [
        "f: $.a is an integer written as a float",
        "f: $.c is an integer written as a float",
    ]
