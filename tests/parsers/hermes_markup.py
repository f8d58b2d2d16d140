"""Texts of the Hermes dialect whose markup is broken, and good ones; `⟦⟧` stand around expected spans."""

OSLO = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
NOW = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'


def block(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def argument(value: str) -> str:
    return block(f'{{"name": "get_weather", "arguments": {{"city": {value}}}}}')


# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN_MARKUP = [
    (
        "a block that the text ends in is unclosed",
        '⟦<tool_call>⟧\n{"name": "get_weather", "arguments": {"ci',
        [],
        [("unclosed_block", "the block is not closed: the text ends inside it")],
    ),
    (
        "a whole object without its closing tag is no call",
        '⟦<tool_call>⟧\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_c',
        [],
        [("unclosed_block", "the block is not closed: the text ends inside it")],
    ),
    (
        "a defect that is complete before the end stands beside unclosed_block",
        '⟦<tool_call>⟧\n{"name": "get_weather", "arguments": {"days": 0⟦5⟧, "ci',
        [],
        [
            ("unclosed_block", "the block is not closed: the text ends inside it"),
            ("invalid_json", "a number must not begin with 0 and another digit"),
        ],
    ),
    (
        "a name that is complete before the end is judged",
        '⟦<tool_call>⟧\n{"name": ⟦"get_weather(city=\'Oslo\')"⟧, "argu',
        [],
        [
            ("unclosed_block", "the block is not closed: the text ends inside it"),
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            ),
        ],
    ),
    (
        "a closing tag with nothing open is stray, and a call beside it is not reported twice",
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}\n⟦</tool_call>⟧',
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    (
        "a doubled opening tag is nested, and the inner call is kept",
        f"<tool_call>\n⟦<tool_call>⟧{OSLO[11:]}",
        ["get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a doubled pair of tags is one defect",
        f"<tool_call>\n⟦<tool_call>⟧{OSLO[11:]}\n</tool_call>",
        ["get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a block whose closing tag is missing loses its own call only",
        f'<tool_call>\n{{"name": "now", "arguments": {{}}}}\n⟦<tool_call>⟧{OSLO[11:]}',
        ["get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a block without a body is empty",
        "⟦<tool_call>\n</tool_call>⟧",
        [],
        [("empty_block", "the block is empty")],
    ),
    (
        "Qwen XML in a block is another dialect",
        block("⟦<function=get_weather>⟧\n<parameter=city>\nOslo\n</parameter>\n</function>"),
        [],
        [("wrong_dialect", '"<function=get_weather>" belongs to another dialect')],
    ),
    (
        "GLM in a block is another dialect",
        "<tool_call>now⟦<arg_key>⟧city</arg_key><arg_value>Oslo</arg_value></tool_call>",
        [],
        [("wrong_dialect", '"<arg_key>" belongs to another dialect')],
    ),
    (
        "a GLM call without arguments is another dialect",
        "<tool_call>⟦now⟧\n</tool_call>",
        [],
        [("wrong_dialect", '"now" begins a call of another dialect, not a JSON object')],
    ),
    (
        "a Python call in a block is another dialect",
        block("⟦get_weather(⟧city='Oslo')"),
        [],
        [("wrong_dialect", '"get_weather(" begins a call of another dialect, not a JSON object')],
    ),
    (
        "a Markdown fence in a block is another dialect",
        block('⟦```⟧json\n{"name": "now", "arguments": {}}\n```'),
        [],
        [("wrong_dialect", "a Markdown fence stands inside the block")],
    ),
    (
        "a bare JSON call outside any block is another dialect",
        'Sure: ⟦{"name": "now", "arguments": {}}⟧',
        [],
        [("wrong_dialect", "a call stands bare, outside of <tool_call> and </tool_call>")],
    ),
    (
        "a call in a Markdown fence is another dialect",
        '```json\n⟦{"name": "now", "arguments": {}}⟧\n```',
        [],
        [("wrong_dialect", "a call stands in a Markdown fence, outside of <tool_call> and </tool_call>")],
    ),
    (
        "another family's tag in the content is another dialect",
        '⟦[TOOL_CALLS]⟧[{"name": "now", "arguments": {}}]',
        [],
        [("wrong_dialect", '"[TOOL_CALLS]" belongs to another dialect')],
    ),
    (
        "an opening tag with attributes is malformed",
        '⟦<tool_call name=⟧"now">{}',
        [],
        [("malformed_markup", '"<tool_call name=" is no opening tag')],
    ),
    (
        "an unknown tag where the object should begin is malformed",
        block('⟦<name="now">⟧'),
        [],
        [("malformed_markup", '"<name=\\"now\\">" stands where a JSON object should begin')],
    ),
    (
        "another closing tag after the object is malformed",
        '<tool_call>\n{"name": "now", "arguments": {}}\n⟦</function>⟧\n</tool_call>',
        [],
        [("malformed_markup", '"</function>" is no closing tag of a call')],
    ),
    (
        "prose before the object stands between markup",
        block('⟦Here it is:⟧ {"name": "now", "arguments": {}}'),
        [],
        [("text_between_markup", 'the text "Here it is:" stands where a JSON object should begin')],
    ),
    (
        "prose after the object stands between markup",
        block('{"name": "now", "arguments": {}} ⟦as you asked⟧'),
        [],
        [("text_between_markup", 'the text "as you asked" stands between the object and the closing tag')],
    ),
    (
        "thinking that is never closed is reported, and so is a call in it",
        f"⟦<think>⟧\nhm\n⟦<tool_call>\n{{⟧{OSLO[13:]}",
        [],
        [
            ("unclosed_reasoning", "thinking is not closed: the text ends without </think>"),
            ("call_in_reasoning", "a call begins inside thinking, where nobody looks for one"),
        ],
    ),
]


GOOD = [
    ("one call", OSLO, ["get_weather"], ""),
    (
        "two calls with prose around and between",
        f"Look: {OSLO} and\n{NOW}!",
        ["get_weather", "now"],
        "Look:  and\n!",
    ),
    ("a call without newlines", OSLO.replace("\n", ""), ["get_weather"], ""),
    (
        "members in the other order",
        block('{"arguments": {"city": "Oslo"}, "name": "get_weather"}'),
        ["get_weather"],
        "",
    ),
    ("a literal closing tag inside a string", argument('"</tool_call>"'), ["get_weather"], ""),
    ("a literal opening tag inside a string", argument('"<tool_call>{<function=f>"'), ["get_weather"], ""),
    (
        "prose that mentions a tag in backticks",
        "Use `<tool_call>` and `</tool_call>`.",
        [],
        "Use `<tool_call>` and `</tool_call>`.",
    ),
    ("a mention that the text ends in", "Close it with `</tool_call>", [], "Close it with `</tool_call>"),
    ("prose that mentions a foreign tag", "Not `<function=f>`.", [], "Not `<function=f>`."),
    (
        "JSON in prose that is no call",
        '{"name": "Oslo", "population": 7}',
        [],
        '{"name": "Oslo", "population": 7}',
    ),
    (
        "the definition of a tool in prose",
        '{"name": "now", "parameters": {"type": "object", "properties": {}}}',
        [],
        '{"name": "now", "parameters": {"type": "object", "properties": {}}}',
    ),
    ("the beginning of an opening tag at the end", f"{NOW}<tool_ca", ["now"], "<tool_ca"),
    ("an unclosed tag of another kind in prose", "a < b and [1] {x}", [], "a < b and [1] {x}"),
    ("nothing at all", "", [], ""),
]
