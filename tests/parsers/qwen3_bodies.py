"""Calls of Qwen3 XML that break in a value, the dialect, the name or an argument; `⟦⟧` mark spans."""

from .qwen3_markup import CITY, city, days, named, weather

# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN_BODIES = [
    # ambiguous values
    (
        "a value that holds its own closing tag",
        city("close it with ⟦</parameter>⟧ here"),
        [],
        [("ambiguous_value", '"</parameter>" may end the value or belong to it: the same tag follows')],
    ),
    (
        "a value that holds its own closing tag, in quotation marks",
        city('print("⟦</parameter>⟧")'),
        [],
        [("ambiguous_value", '"</parameter>" may end the value or belong to it: the same tag follows')],
    ),
    (
        "a value that is closed twice",
        weather("<parameter=city>\nOslo\n⟦</parameter>⟧\n</parameter>\n"),
        [],
        [("ambiguous_value", '"</parameter>" may end the value or belong to it: the same tag follows')],
    ),
    (
        "a value that holds the end of a function",
        city("a\n⟦</parameter>⟧\n</function>\nb"),
        [],
        [("ambiguous_value", '"</parameter>" may end the value or belong to it: the same tag follows')],
    ),
    (
        "a value that holds another opening tag within a line",
        city("use ⟦<parameter=x>⟧ so"),
        [],
        [
            (
                "ambiguous_value",
                'the value of "<parameter=city>" holds "<parameter=x>", as text or for want of a tag',
            )
        ],
    ),
    # other dialects
    (
        "JSON in a block",
        '<tool_call>\n⟦{⟧"name": "now", "arguments": {}}\n</tool_call>',
        [],
        [("wrong_dialect", "JSON stands where <function=NAME> should")],
    ),
    (
        "JSON where the parameters belong",
        weather('⟦{⟧"city": "Oslo"}\n'),
        [],
        [("wrong_dialect", "JSON stands where <parameter=KEY> or </function> should")],
    ),
    (
        "GLM in a block",
        "<tool_call>now⟦<arg_key>⟧city</arg_key><arg_value>Oslo</arg_value></tool_call>",
        [],
        [("wrong_dialect", '"<arg_key>" belongs to another dialect')],
    ),
    (
        "GLM without arguments in a block",
        "<tool_call>⟦now⟧\n</tool_call>",
        [],
        [("wrong_dialect", '"now" begins a call of another dialect')],
    ),
    (
        "a Python call in a block",
        "<tool_call>\n⟦get_weather(⟧city='Oslo')\n</tool_call>",
        [],
        [("wrong_dialect", '"get_weather(" begins a call of another dialect')],
    ),
    (
        "XML attributes in a block",
        '<tool_call>\n⟦<function name="now">⟧\n</function>\n</tool_call>',
        [],
        [("wrong_dialect", '"<function name=\\"now\\">" belongs to another dialect')],
    ),
    (
        "a Markdown fence in a block",
        "<tool_call>\n⟦```⟧xml\n<function=now>\n</function>\n```\n</tool_call>",
        [],
        [("wrong_dialect", "a Markdown fence stands inside the block")],
    ),
    (
        "a bare JSON call outside any block",
        'Sure: ⟦{"name": "now", "arguments": {}}⟧',
        [],
        [("wrong_dialect", "a call stands bare, outside of <tool_call> and </tool_call>")],
    ),
    (
        "another family's tag in the content",
        '⟦[TOOL_CALLS]⟧[{"name": "now", "arguments": {}}]',
        [],
        [("wrong_dialect", '"[TOOL_CALLS]" belongs to another dialect')],
    ),
    # names
    (
        "a function tag without a name",
        "<tool_call>\n⟦<function=>⟧\n</function>\n</tool_call>",
        [],
        [("missing_name", "the call has no name")],
    ),
    (
        "arguments written into the name",
        "<tool_call>\n<function=⟦get_weather(location='Boston')⟧>\n</function>\n</tool_call>",
        [],
        [
            (
                "name_is_expression",
                "the name \"get_weather(location='Boston')\" is an expression: it holds the arguments",
            )
        ],
    ),
    (
        "a name with a space",
        named("⟦get weather⟧"),
        [],
        [("invalid_name", '"get weather" cannot be the name of a function')],
    ),
    (
        "a name in quotation marks",
        named('⟦"get_weather"⟧'),
        [],
        [("invalid_name", '"\\"get_weather\\"" cannot be the name of a function')],
    ),
    (
        "a name with markup in it",
        named("⟦[TOOL_CALLS]now⟧"),
        [],
        [("markup_in_name", 'the name "[TOOL_CALLS]now" holds markup')],
    ),
    (
        "a function nobody declared is listed with its defect",
        named("⟦get_tides⟧"),
        ["get_tides"],
        [("undeclared_function", 'the function "get_tides" is not declared (get_weather, now)')],
    ),
    # arguments
    (
        "a parameter that stands twice",
        weather(f"{CITY}⟦<parameter=city>⟧{CITY[16:]}"),
        [],
        [("duplicate_parameter", 'the parameter "city" stands twice')],
    ),
    (
        "a required parameter that is missing",
        "<tool_call>\n⟦<function=get_weather>\n</function>⟧\n</tool_call>",
        ["get_weather"],
        [("schema_missing_required", "get_weather: $.city is required and missing")],
    ),
    (
        "a date where a number belongs",
        days("⟦2024-01-05⟧"),
        ["get_weather"],
        [("schema_type", 'get_weather: $.days is "2024-01-05", not of type integer')],
    ),
    (
        "null where the schema has none",
        days("⟦null⟧"),
        ["get_weather"],
        [("schema_type", "get_weather: $.days is null, not of type integer")],
    ),
    (
        "a parameter that the schema forbids",
        weather(f"{CITY}<parameter=when>\n⟦now⟧\n</parameter>\n"),
        ["get_weather"],
        [("schema_unexpected", "get_weather: $.when is not declared")],
    ),
    (
        "a value that is not listed",
        weather(f"{CITY}<parameter=unit>\n⟦kelvin⟧\n</parameter>\n"),
        ["get_weather"],
        [("schema_enum", 'get_weather: $.unit is "kelvin", not one of ["celsius", "fahrenheit"]')],
    ),
    (
        "another rule of the schema",
        days("⟦8⟧"),
        ["get_weather"],
        [("schema_other", "get_weather: $.days is 8, against maximum: 7")],
    ),
    (
        "a number that JSON does not have",
        days("0⟦5⟧"),
        [],
        [("invalid_json", "get_weather: $.days: a number must not begin with 0 and another digit")],
    ),
]

# (claim, parameter of the function `f`, marked raw value, [(code, message)])
BROKEN_VALUES = [
    (
        "single quotes",
        "options",
        "{⟦'⟧a': 1}",
        "invalid_json",
        "a string in double quotes, as key, or } should stand here, not a single quotation mark",
    ),
    (
        "Python's True inside an object",
        "options",
        '{"a": ⟦T⟧rue}',
        "invalid_json",
        "a value should stand here, not Python's True; JSON writes true",
    ),
    (
        "an object that ends early",
        "options",
        '{"a": [1, 2]⟦⟧',
        "truncated_json",
        "the JSON ends before it is whole, and the value is closed",
    ),
    ("a brace too many", "options", '{"a": 1}⟦}⟧', "trailing_data", '"}" follows the value'),
    ("a key that stands twice", "options", '{"a": 1, ⟦"a"⟧: 2}', "duplicate_key", 'the key "a" stands twice'),
]
