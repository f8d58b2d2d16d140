"""MiniMax M2: each code with its place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.minimax_m2 import CLOSE, MINIMAX_M2, OPEN, parse
from draftproof.parsers.result import Call, Span
from draftproof.parsers.tools import compile_tools

from .cases import Broken, Good, check_broken, check_good
from .marked import TOOLS

UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")
NOW = '<invoke name="now">\n</invoke>'


def parameter(key: str, value: str) -> str:
    return f'<parameter name="{key}">{value}</parameter>\n'


def invoke(*parameters: str, name: str = "get_weather") -> str:
    return f'<invoke name="{name}">\n{"".join(parameters)}</invoke>'


def block(*invokes: str) -> str:
    return "\n".join((OPEN, *invokes, CLOSE))


CITY = parameter("city", "Oslo")
OSLO = invoke(CITY)

BROKEN = [
    # Values that hold what looks like markup.
    Broken(
        "a closing tag inside a value",
        block(
            '<invoke name="get_weather">\n<parameter name="city">a⟦</parameter>⟧b</parameter>\n</invoke>', NOW
        ),
        ["now"],
        [("ambiguous_value", '"</parameter>" may end the value or belong to it: the same tag follows')],
    ),
    Broken(
        "a parameter inside a value",
        block(
            invoke(f'<parameter name="city">a ⟦<parameter name="x">⟧b</parameter>\n{parameter("days", "1")}'),
            NOW,
        ),
        ["now"],
        [
            (
                "ambiguous_value",
                (
                    'the value of "<parameter name=\\"city\\">" holds "<parameter name=\\"x\\">", '
                    "as text or for want of a tag"
                ),
            )
        ],
    ),
    Broken(
        "a value that is not closed",
        block('<invoke name="get_weather">\n⟦<parameter name="city">⟧Oslo\n</invoke>', NOW),
        ["now"],
        [("malformed_markup", '"<parameter name=\\"city\\">" is not closed before "</invoke>"')],
    ),
    # Attributes.
    Broken(
        "a parameter without quotation marks",
        block(invoke("⟦<parameter name=city>⟧Oslo</parameter>\n"), NOW),
        ["now"],
        [("malformed_markup", '"<parameter name=city>" lacks its quotation marks')],
    ),
    Broken(
        "an invoke without quotation marks",
        block(f"⟦<invoke name=get_weather>⟧\n{CITY}</invoke>", NOW),
        ["now"],
        [("malformed_markup", '"<invoke name=get_weather>" lacks its quotation marks')],
    ),
    Broken(
        "an invoke without its second quotation mark",
        block('⟦<invoke name="now>⟧\n</invoke>', NOW),
        ["now"],
        [("malformed_markup", '"<invoke name=\\"now>" lacks its second quotation mark')],
    ),
    Broken(
        "an invoke without its bracket",
        block('⟦<invoke name="now"⟧\n</invoke>', NOW),
        ["now"],
        [("malformed_markup", '"<invoke name=\\"now\\"" lacks its closing bracket')],
    ),
    Broken(
        "an attribute too many",
        block(invoke('⟦<parameter name="city"⟧ type="string">Oslo</parameter>\n'), NOW),
        ["now"],
        [("malformed_markup", '"<parameter name=\\"city\\"" lacks its closing bracket')],
    ),
    Broken(
        "a parameter without a name",
        block(invoke('⟦<parameter name="">⟧Oslo</parameter>\n'), NOW),
        ["now"],
        [("malformed_markup", "a parameter has no name")],
    ),
    # Blocks and invokes.
    Broken("an empty block", f"⟦{OPEN}\n{CLOSE}⟧", [], [("empty_block", "the block is empty")]),
    Broken("a block without its end keeps its calls", f"⟦{OPEN}⟧\n{OSLO}\n", ["get_weather"], [UNCLOSED]),
    Broken("a text that ends in a name", f'{OPEN}\n⟦<invoke name="get_wea⟧', [], [UNCLOSED]),
    Broken("a text that ends in a tag", f"⟦{OPEN}⟧\n<invoke na", [], [UNCLOSED]),
    Broken(
        "a text that ends in a value",
        f'{OPEN}\n{NOW}\n⟦<invoke name="get_weather">⟧\n<parameter name="city">Os',
        ["now"],
        [UNCLOSED],
    ),
    Broken(
        "a block without its beginning",
        f"{OSLO}\n⟦{CLOSE}⟧",
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    Broken(
        "an invoke outside of any block",
        '⟦<invoke name="now">⟧\n</invoke>',
        [],
        [("malformed_markup", f'"<invoke name=\\"now\\">" begins a call outside of {OPEN}')],
    ),
    Broken(
        "an invoke that is not closed before the next",
        block(f'<invoke name="get_weather">\n{CITY}⟦<invoke name=⟧"now">\n</invoke>'),
        ["now"],
        [("nested_open", "an invoke opens before the one around it is closed")],
    ),
    Broken(
        "an invoke that is not closed before the block",
        f'{OPEN}\n{NOW}\n<invoke name="get_weather">\n{CITY}⟦{CLOSE}⟧',
        ["now"],
        [("malformed_markup", f'"{CLOSE}" stands where <parameter name="KEY"> or </invoke> should')],
    ),
    Broken(
        "a block in a block",
        f"{OPEN}\n{NOW}\n⟦{OPEN}⟧\n{OSLO}\n{CLOSE}",
        ["now", "get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    Broken(
        "text between invokes",
        block(OSLO, "⟦and⟧", NOW),
        ["get_weather", "now"],
        [("text_between_markup", 'the text "and" stands where <invoke name="NAME"> should')],
    ),
    Broken(
        "text between parameters",
        block(invoke(CITY, "⟦and⟧ "), NOW),
        ["now"],
        [("text_between_markup", 'the text "and" stands where <parameter name="KEY"> or </invoke> should')],
    ),
    Broken(
        "JSON in a block",
        block('⟦{⟧"name": "now", "arguments": {}}', NOW),
        ["now"],
        [("wrong_dialect", 'JSON stands where <invoke name="NAME"> should')],
    ),
    Broken(
        "Qwen XML in a block",
        block("⟦<function=now>⟧\n</function>", NOW),
        ["now"],
        [("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    Broken(
        "another wrapper",
        f"⟦<function_calls>⟧\n{NOW}\n</function_calls>",
        [],
        [("wrong_dialect", '"<function_calls>" belongs to another dialect')],
    ),
    Broken(
        "the form of M3",
        "⟦]<]minimax[>[⟧<tool_call>",
        [],
        [("wrong_dialect", '"]<]minimax[>[" belongs to another dialect')],
    ),
    # Names and values.
    Broken(
        "no name",
        block('⟦<invoke name="">⟧\n</invoke>', NOW),
        ["now"],
        [("missing_name", "the call has no name")],
    ),
    Broken(
        "an expression for a name",
        block(invoke(name="⟦get_weather(city='Oslo')⟧"), NOW),
        ["now"],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    Broken(
        "a function that nobody declared",
        block(invoke(CITY, name="⟦tides⟧")),
        ["tides"],
        [("undeclared_function", 'the function "tides" is not declared (get_weather, now)')],
    ),
    Broken(
        "a parameter that repeats",
        block(invoke(CITY, '⟦<parameter name="city">⟧Bergen</parameter>\n'), NOW),
        ["now"],
        [("duplicate_parameter", 'the parameter "city" stands twice')],
    ),
    Broken(
        "a number that is broken",
        block(invoke(CITY, '<parameter name="days">0⟦5⟧</parameter>\n'), NOW),
        ["now"],
        [("invalid_json", "get_weather: $.days: a number must not begin with 0 and another digit")],
    ),
    Broken(
        "text for a number",
        block(invoke(CITY, '<parameter name="days">⟦three⟧</parameter>\n'), NOW),
        ["get_weather", "now"],
        [("schema_type", 'get_weather: $.days is "three", not of type integer')],
    ),
    Broken(
        "a required parameter is missing",
        block('⟦<invoke name="get_weather">\n</invoke>⟧', NOW),
        ["get_weather", "now"],
        [("schema_missing_required", "get_weather: $.city is required and missing")],
    ),
    Broken(
        "a call inside thinking",
        f'<think>⟦{OPEN}\n<invoke name=⟧"now">\n</invoke>\n{CLOSE}</think>{block(NOW)}',
        ["now"],
        [("call_in_reasoning", "a call begins inside thinking, where nobody looks for one")],
    ),
]

GOOD = [
    Good("two calls in a block", block(OSLO, NOW), ["get_weather", "now"]),
    Good(
        "two blocks, with prose around", f"So: {block(OSLO)} {block(NOW)}.", ["get_weather", "now"], "So:  ."
    ),
    Good("no newlines", block(OSLO).replace("\n", ""), ["get_weather"], "", ("missing_newline",)),
    Good(
        "a whole float",
        block(invoke(CITY, parameter("days", "3.0"))),
        ["get_weather"],
        "",
        ("integer_as_float",),
    ),
    Good("talk about tags", f"Not `{OPEN}` or `{CLOSE}`.", [], f"Not `{OPEN}` or `{CLOSE}`."),
    Good("the beginning of a tag", "Well <minimax:too", [], "Well <minimax:too"),
]


@pytest.mark.parametrize("row", BROKEN, ids=[row.claim for row in BROKEN])
def test_a_broken_text_gives_these_defects(row):
    """Each kind of break has its code, its message and its place, and costs no other call."""
    check_broken(MINIMAX_M2, row)


@pytest.mark.parametrize("row", GOOD, ids=[row.claim for row in GOOD])
def test_a_good_text_gives_no_defect(row):
    """What the grammar allows, and what is talk, is no defect."""
    check_good(MINIMAX_M2, row)


def test_a_call_spans_its_own_tags():
    """The span of a call leaves the block's tags out."""
    start = len(OPEN) + 1
    assert parse(block(NOW)).calls == (Call("now", {}, Span(start, start + len(NOW))),)


TYPED = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "properties": {
                        "text": {"type": "string"},
                        "flag": {"type": "boolean"},
                        "list": {"type": "array"},
                        "either": {"type": ["integer", "null"]},
                        "a>b": {"type": "number"},
                    }
                },
            },
        }
    ]
)


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("text", "007", "007"),
        ("text", "true", "true"),
        ("text", ' "x" &lt;\n', ' "x" &lt;\n'),
        ("text", "", ""),
        ("flag", "true", True),
        ("flag", "True", True),
        ("list", '[1, "</invoke>"]', [1, "</invoke>"]),
        ("list", '[1, {"a": null}]', [1, {"a": None}]),
        ("either", "null", None),
        ("either", "5", 5),
        ("a>b", "1.5", 1.5),
        ("undeclared", "5", "5"),
    ],
)
def test_values_are_read_by_the_schema(key, raw, value):
    """A string stays as it is, numeric look and whitespace included; all else is JSON."""
    parsed = parse(block(invoke(parameter(key, raw), name="f")), TYPED)
    assert parsed.defects == ()
    assert [call.arguments for call in parsed.calls] == [{key: value}]


def test_without_tools_values_stay_text():
    """No schema, no types."""
    parsed = parse(block(invoke(parameter("days", "5"))))
    assert [call.arguments for call in parsed.calls] == [{"days": "5"}]


def test_python_spelling_is_noted():
    """True for true is tolerated, and said."""
    parsed = parse(block(invoke(parameter("flag", "True"), name="f")), TYPED)
    assert [note.code for note in parsed.notes] == [NoteCode.PYTHON_SPELLING]


def test_the_prompt_shows_the_form_that_is_read():
    """Tools are declared as JSON Schema between tags, and values are rendered as the template does."""
    text = MINIMAX_M2.describe_tools(TOOLS.declared)
    assert '<tool>{"name": "now"}</tool>' in text
    assert parse(text[text.index(OPEN) : text.index(CLOSE) + len(CLOSE)]).defects == ()
    rendered = MINIMAX_M2.render_calls([("f", {"text": "a", "flag": True, "list": ["é", None]})])
    assert rendered == block(
        invoke(parameter("text", "a"), parameter("flag", "true"), parameter("list", '["é", null]'), name="f")
    )
    assert MINIMAX_M2.render_result("now", "12:00") == "<response>12:00</response>"
    assert MINIMAX_M2.render_calls([]) == ""
