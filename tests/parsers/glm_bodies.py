"""Calls of GLM that break in a value, the dialect, the name or an argument; `⟦⟧` mark spans."""

from .glm_markup import CITY, SAME_TAG, UNCLOSED, city, days, weather

# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN_BODIES = [
    # ambiguous values
    ("a value that holds its own closing tag", city("a⟦</arg_value>⟧b"), [], [("ambiguous_value", SAME_TAG)]),
    (
        "a value that holds its own closing tag, in quotation marks",
        city('print("⟦</arg_value>⟧")'),
        [],
        [("ambiguous_value", SAME_TAG)],
    ),
    ("a value that is closed twice", city("Oslo⟦</arg_value>⟧"), [], [("ambiguous_value", SAME_TAG)]),
    (
        "a value that holds another tag",
        city("use ⟦<arg_key>⟧ so"),
        [],
        [("ambiguous_value", 'the value of "<arg_value>" holds "<arg_key>", as text or for want of a tag')],
    ),
    # other dialects
    (
        "JSON in a block",
        '<tool_call>\n⟦{⟧"name": "now", "arguments": {}}\n</tool_call>',
        [],
        [("wrong_dialect", "JSON stands where the name of a function should")],
    ),
    (
        "JSON where the pairs belong",
        '<tool_call>get_weather\n⟦{⟧"city": "Oslo"}\n</tool_call>',
        [],
        [("wrong_dialect", "JSON stands where <arg_key> or </tool_call> should")],
    ),
    (
        "Qwen XML in a block",
        "<tool_call>\n⟦<function=now>⟧\n</function>\n</tool_call>",
        [],
        [("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    (
        "Qwen XML in a block that the text ends in",
        "⟦<tool_call>⟧\n⟦<function=now>⟧\n</func",
        [],
        [UNCLOSED, ("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    (
        "a Markdown fence in a block",
        "<tool_call>\n⟦```⟧\nnow\n```\n</tool_call>",
        [],
        [("wrong_dialect", "a Markdown fence stands inside the block")],
    ),
    (
        "a bare JSON call outside any block",
        '```json\n⟦{"name": "now", "arguments": {}}⟧\n```',
        [],
        [("wrong_dialect", "a call stands in a Markdown fence, outside of <tool_call> and </tool_call>")],
    ),
    # names
    (
        "a call without a name",
        f"<tool_call>⟦<arg_key>⟧{CITY[9:]}</tool_call>",
        [],
        [("missing_name", "the call has no name")],
    ),
    (
        "arguments as attributes in the name",
        "<tool_call>⟦get_weather city=Oslo days=3⟧</tool_call>",
        [],
        [
            (
                "name_is_expression",
                'the name "get_weather city=Oslo days=3" is an expression: it holds the arguments',
            )
        ],
    ),
    (
        "arguments in quotation marks in the name",
        '<tool_call>⟦get_weather city="Oslo"⟧</tool_call>',
        [],
        [
            (
                "name_is_expression",
                'the name "get_weather city=\\"Oslo\\"" is an expression: it holds the arguments',
            )
        ],
    ),
    (
        "a Python call in a block",
        "<tool_call>⟦get_weather(city='Oslo')⟧</tool_call>",
        [],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    (
        "a JSON object glued to the name",
        '<tool_call>⟦get_weather{"city": "Oslo"}⟧</tool_call>',
        [],
        [
            (
                "name_is_expression",
                'the name "get_weather{\\"city\\": \\"Oslo\\"}" is an expression: it holds the arguments',
            )
        ],
    ),
    (
        "a name with a space",
        f"<tool_call>⟦get weather⟧{CITY}</tool_call>",
        [],
        [("invalid_name", '"get weather" cannot be the name of a function')],
    ),
    (
        "markup in a name",
        f"<tool_call>⟦get_weather<br>⟧{CITY}</tool_call>",
        [],
        [("markup_in_name", 'the name "get_weather<br>" holds markup')],
    ),
    (
        "a function nobody declared is listed with its defect",
        "<tool_call>⟦get_tides⟧</tool_call>",
        ["get_tides"],
        [("undeclared_function", 'the function "get_tides" is not declared (get_weather, now)')],
    ),
    # arguments
    (
        "a key that stands twice",
        weather(f"{CITY}⟦<arg_key>city</arg_key>⟧<arg_value>Bergen</arg_value>"),
        [],
        [("duplicate_parameter", 'the parameter "city" stands twice')],
    ),
    (
        "a required parameter that is missing",
        "<tool_call>⟦get_weather⟧</tool_call>",
        ["get_weather"],
        [("schema_missing_required", "get_weather: $.city is required and missing")],
    ),
    (
        "a word where a number belongs",
        days("⟦three⟧"),
        ["get_weather"],
        [("schema_type", 'get_weather: $.days is "three", not of type integer')],
    ),
    (
        "a quoted number where a number belongs",
        days('⟦"3"⟧'),
        ["get_weather"],
        [("schema_type", 'get_weather: $.days is "3", not of type integer')],
    ),
    (
        "a parameter that the schema forbids",
        weather(f"{CITY}<arg_key>when</arg_key><arg_value>⟦now⟧</arg_value>"),
        ["get_weather"],
        [("schema_unexpected", "get_weather: $.when is not declared")],
    ),
    (
        "a value that is not listed, for its quotation marks",
        weather(f'{CITY}<arg_key>unit</arg_key><arg_value>⟦"celsius"⟧</arg_value>'),
        ["get_weather"],
        [
            (
                "schema_enum",
                'get_weather: $.unit is "\\"celsius\\"", not one of ["celsius", "fahrenheit"]',
            )
        ],
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

# (claim, parameter of the function `f`, marked raw value, code, clause)
BROKEN_VALUES = [
    (
        "single quotes",
        "tags",
        "[⟦'⟧a']",
        "invalid_json",
        "a value should stand here, not a single quotation mark",
    ),
    (
        "a list that ends early",
        "tags",
        '["a", "b"⟦⟧',
        "truncated_json",
        "the JSON ends before it is whole, and the value is closed",
    ),
    ("a second value", "tags", '["a"] ⟦["b"]⟧', "trailing_data", '"[\\"b\\"]" follows the value'),
    ("a key that stands twice", "options", '{"a": 1, ⟦"a"⟧: 2}', "duplicate_key", 'the key "a" stands twice'),
]
