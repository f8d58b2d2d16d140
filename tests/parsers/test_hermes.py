"""Each code of the dialect, with the exact place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.hermes import HERMES, parse
from draftproof.parsers.result import Call, Parsed, Span
from draftproof.parsers.tools import compile_tools

from .marked import TOOLS, unmark

OSLO = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
NOW = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'


def block(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def argument(value: str) -> str:
    return block(f'{{"name": "get_weather", "arguments": {{"city": {value}}}}}')


def named(name: str) -> str:
    return block(f'{{"name": {name}, "arguments": {{"city": "Oslo"}}}}')


def with_arguments(value: str) -> str:
    return block(f'{{"name": "get_weather", "arguments": {value}}}')


# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN = [
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


def named_defects(parsed: Parsed) -> list[tuple[str, str]]:
    return [(defect.code.value, defect.message) for defect in parsed.defects]


@pytest.mark.parametrize(
    ("marked", "names", "expected"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_text_gives_these_defects(marked, names, expected):
    """A broken text gives exactly these defects, at exactly these places."""
    text, spans = unmark(marked)
    parsed = parse(text, TOOLS)
    assert named_defects(parsed) == expected
    assert [defect.span for defect in parsed.defects] == spans
    assert [call.name for call in parsed.calls] == names
    assert parsed.open == any(code in {"unclosed_block", "unclosed_reasoning"} for code, _ in expected)


@pytest.mark.parametrize(
    ("text", "names", "content"), [row[1:] for row in GOOD], ids=[row[0] for row in GOOD]
)
def test_a_good_text_gives_no_defect(text, names, content):
    """A good text gives its calls, its content, and no defect."""
    parsed = parse(text, TOOLS)
    assert parsed.defects == ()
    assert [call.name for call in parsed.calls] == names
    assert parsed.content == content
    assert not parsed.open


def test_a_call_spans_its_block_with_its_markup():
    """The span of a call covers the block with both of its tags."""
    parsed = parse(f"ab{NOW}cd")
    assert parsed.calls == (Call("now", {}, Span(2, 2 + len(NOW))),)


@pytest.mark.parametrize(
    "broken", [marked for _, marked, _, found in BROKEN if "unclosed" not in found[0][0]]
)
def test_whole_blocks_before_and_after_a_broken_one_are_kept(broken):
    """A broken block costs its own call and no other."""
    text, spans = unmark(broken)
    alone = [call.name for call in parse(text, TOOLS).calls]
    parsed = parse(f"{NOW}\n{text}\n{NOW}", TOOLS)
    assert [call.name for call in parsed.calls] == ["now", *alone, "now"]
    assert [defect.span.start for defect in parsed.defects] == [span.start + len(NOW) + 1 for span in spans]


def test_without_tools_neither_names_nor_schemas_are_checked():
    """Without tools any well-formed name goes, with any object."""
    assert parse(block('{"name": "get_tides", "arguments": {"x": 1}}')).defects == ()


def test_with_no_tool_declared_every_call_is_undeclared():
    """An empty list of tools is not the same as unknown tools."""
    assert named_defects(parse(NOW, compile_tools([]))) == [
        ("undeclared_function", 'the function "now" is not declared (none is)')
    ]


def test_a_declared_name_is_right_whatever_it_looks_like():
    """A declared name need not have the usual form."""
    tools = compile_tools([{"type": "function", "function": {"name": "7-zip.übung"}}])
    parsed = parse(block('{"name": "7-zip.übung", "arguments": {}}'), tools)
    assert (parsed.defects, len(parsed.calls)) == ((), 1)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            OSLO.replace('"name": ', '"name": "name": '),
            NoteCode.TOKEN_DUPLICATION,
            '"\\"name\\": " stands twice in a row',
        ),
        (f"<tool_call>{OSLO}", NoteCode.TOKEN_DUPLICATION, '"<tool_call>" stands twice in a row'),
        (f"{OSLO}</tool_call>", NoteCode.TOKEN_DUPLICATION, '"</tool_call>" stands twice in a row'),
        (
            OSLO.replace("\n", ""),
            NoteCode.MISSING_NEWLINE,
            "the template writes a newline between the tag and the object",
        ),
        (
            argument('"Oslo", "days": 3.0'),
            NoteCode.INTEGER_AS_FLOAT,
            "get_weather: $.days is an integer written as a float",
        ),
    ],
)
def test_oddities_are_noted(text, code, message):
    """What is tolerated, or typical of draft tokens, is a note and no defect of its own."""
    assert [(note.code, note.message) for note in parse(text, TOOLS).notes] == [(code, message)]


def test_missing_newlines_are_noted_once():
    """A model that never writes the newlines does not fill the report with notes."""
    assert len(parse(NOW.replace("\n", "") * 5).notes) == 1


def test_the_system_prompt_names_the_tags_and_every_tool():
    """What tools are put as holds each tool as JSON, and the form that the parser reads."""
    text = HERMES.describe_tools(TOOLS.declared)
    assert text.count('"type": "function"') == len(TOOLS.declared)
    assert (
        '<tool_call>\n{"name": <function-name>, "arguments": <arguments-as-json-object>}\n</tool_call>'
        in text
    )
    assert HERMES.render_result("now", "12:00") == "<tool_response>\n12:00\n</tool_response>"
