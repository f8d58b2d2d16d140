"""Texts of the Hermes dialect whose markup is whole and whose call is broken."""

from .hermes_markup import argument, block


def named(name: str) -> str:
    return block(f'{{"name": {name}, "arguments": {{"city": "Oslo"}}}}')


def with_arguments(value: str) -> str:
    return block(f'{{"name": "get_weather", "arguments": {value}}}')


# The same, for blocks whose markup is whole.
BROKEN_BODIES = [
    (
        "markup in a name is reported",
        named('⟦"get_weather</tool_call>"⟧'),
        [],
        [("markup_in_name", 'the name "get_weather</tool_call>" holds markup')],
    ),
    (
        "an outer brace missing in a closed block is truncated JSON",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}\n⟦⟧</tool_call>',
        [],
        [("truncated_json", "the JSON ends before it is whole, and the block is closed")],
    ),
    (
        "a leading zero is invalid",
        argument("0⟦5⟧"),
        [],
        [("invalid_json", "a number must not begin with 0 and another digit")],
    ),
    (
        "single quotes are invalid",
        argument("⟦'⟧Oslo'"),
        [],
        [("invalid_json", "a value should stand here, not a single quotation mark")],
    ),
    (
        "a trailing comma is invalid",
        argument('"Oslo",⟦}⟧'),
        [],
        [("invalid_json", "a comma must not stand before }")],
    ),
    (
        "Python's None is invalid",
        argument("⟦N⟧one"),
        [],
        [("invalid_json", "a value should stand here, not Python's None; JSON writes null")],
    ),
    (
        "NaN is invalid",
        argument("⟦N⟧aN"),
        [],
        [("invalid_json", "a value should stand here, not NaN, which JSON does not have")],
    ),
    (
        "a raw newline in a string is invalid",
        argument('"Os⟦\n⟧lo"'),
        [],
        [("invalid_json", '"\\n" must be escaped inside a string')],
    ),
    (
        "an unknown escape is invalid",
        argument('"C:⟦\\⟧path"'),
        [],
        [("invalid_json", "`\\p` is no escape of JSON")],
    ),
    (
        "a comment is invalid",
        argument('"Oslo" ⟦/⟧/ here'),
        [],
        [("invalid_json", "a comma or } should stand here, not a comment")],
    ),
    (
        "a lone surrogate is invalid",
        argument('"⟦\\⟧ud83d"'),
        [],
        [("invalid_json", "a lone surrogate escape is no character")],
    ),
    (
        "a number out of range is invalid",
        argument("⟦1⟧e999"),
        [],
        [("invalid_json", "a number beyond the range of a double would become infinite")],
    ),
    (
        "an object without its opening brace is invalid",
        block('⟦"⟧name": "now", "arguments": {}}'),
        [],
        [("invalid_json", "a member stands here without the { that begins its object")],
    ),
    (
        "a missing quotation mark does not swallow the next block",
        (
            '<tool_call>{"name": "now", "arguments": {"a": "b}}</tool_call>'
            '<tool_call>{"⟦n⟧ame": "now", "arguments": {}}</tool_call>'
        ),
        ["now"],
        [("invalid_json", "a comma or } should stand here, not `n`")],
    ),
    (
        "an extra brace is trailing data",
        block('{"name": "now", "arguments": {}}⟦}⟧'),
        [],
        [("trailing_data", '"}" follows the object in its block')],
    ),
    (
        "a second object is trailing data",
        block('{"name": "now", "arguments": {}}\n⟦{"name": "now"}⟧'),
        [],
        [("trailing_data", '"{\\"name\\": \\"now\\"}" follows the object in its block')],
    ),
    (
        "a repeated key is reported where it repeats",
        argument('"Oslo", ⟦"city"⟧: "Bergen"'),
        [],
        [("duplicate_key", 'the key "city" stands twice')],
    ),
    ("a list is no call", block("⟦[1, 2]⟧"), [], [("not_an_object", "a call is a JSON object, not a list")]),
    (
        "a wrong word for arguments is one defect",
        block('{"name": "now", ⟦"parameters"⟧: {}}'),
        [],
        [("unknown_member", 'a call has no member "parameters" (it is called "arguments")')],
    ),
    (
        "a member of no use is reported",
        block('{"name": "now", "arguments": {}, ⟦"id"⟧: 1}'),
        [],
        [("unknown_member", 'a call has no member "id"')],
    ),
    (
        "a call without a name is reported",
        block('⟦{"arguments": {}}⟧'),
        [],
        [("missing_name", "the call has no name")],
    ),
    (
        "a name that is null is reported",
        named("⟦null⟧"),
        [],
        [("name_not_string", "the name is null, not a string")],
    ),
    (
        "arguments written into the name are an expression",
        named("⟦\"get_weather(location='Boston')\"⟧"),
        [],
        [
            (
                "name_is_expression",
                "the name \"get_weather(location='Boston')\" is an expression: it holds the arguments",
            )
        ],
    ),
    (
        "a name with a space is invalid",
        named('⟦" get_weather"⟧'),
        [],
        [("invalid_name", '" get_weather" cannot be the name of a function')],
    ),
    (
        "a function nobody declared is listed with its defect",
        named('⟦"get_tides"⟧'),
        ["get_tides"],
        [("undeclared_function", 'the function "get_tides" is not declared (get_weather, now)')],
    ),
    (
        "a call without arguments is reported",
        block('⟦{"name": "now"}⟧'),
        [],
        [("missing_arguments", "the call has no arguments")],
    ),
    (
        "null is no arguments",
        with_arguments("⟦null⟧"),
        [],
        [("arguments_not_object", "the arguments are null, not an object")],
    ),
    (
        "a list is no arguments",
        with_arguments("⟦[1]⟧"),
        [],
        [("arguments_not_object", "the arguments are a list, not an object: [1]")],
    ),
    (
        "an empty string is no arguments",
        with_arguments('⟦""⟧'),
        [],
        [("arguments_empty_string", "the arguments are an empty string, not an object")],
    ),
    (
        "arguments encoded twice are reported",
        with_arguments('⟦"{\\"city\\": 1}"⟧'),
        [],
        [("arguments_double_encoded", 'the arguments are a string that holds JSON: "{\\"city\\": 1}"')],
    ),
    (
        "a required parameter that is missing is named",
        with_arguments("⟦{}⟧"),
        ["get_weather"],
        [("schema_missing_required", "get_weather: $.city is required and missing")],
    ),
    (
        "a wrong type is named with its path",
        with_arguments('⟦{"city": 5}⟧'),
        ["get_weather"],
        [("schema_type", "get_weather: $.city is 5, not of type string")],
    ),
    (
        "a parameter that the schema forbids is named",
        with_arguments('⟦{"city": "Oslo", "a b": 1}⟧'),
        ["get_weather"],
        [("schema_unexpected", 'get_weather: $["a b"] is not declared')],
    ),
    (
        "a value that is not listed is named",
        with_arguments('⟦{"city": "Oslo", "unit": "kelvin"}⟧'),
        ["get_weather"],
        [("schema_enum", 'get_weather: $.unit is "kelvin", not one of ["celsius", "fahrenheit"]')],
    ),
    (
        "another rule of the schema is named",
        with_arguments('⟦{"city": "Oslo", "days": 8}⟧'),
        ["get_weather"],
        [("schema_other", "get_weather: $.days is 8, against maximum: 7")],
    ),
]
