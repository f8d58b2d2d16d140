"""Kimi K2: each code with its place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.kimi_k2 import KIMI_K2, parse
from draftproof.parsers.result import Call, Span

from .cases import Broken, Good, check_broken, check_good
from .marked import TOOLS

BEGIN, END, CALL, SEPARATOR, CALL_END = KIMI_K2.tags
UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")


def call(identifier: str = "functions.now:0", arguments: str = "{}") -> str:
    return f"{CALL}{identifier}{SEPARATOR}{arguments}{CALL_END}"


def section(*calls: str) -> str:
    return f"{BEGIN}{''.join(calls)}{END}"


OSLO = call("functions.get_weather:0", '{"city": "Oslo"}')
NOW = call("functions.now:1")


def identified(identifier: str) -> str:
    return section(call(identifier), NOW)


def with_arguments(arguments: str) -> str:
    return section(call("functions.get_weather:0", arguments), NOW)


def form(identifier: str) -> tuple[str, str]:
    return "malformed_markup", f'the id "{identifier}" is not of the form functions.NAME:INDEX'


def nameless(identifier: str) -> tuple[str, str]:
    return "missing_name", f'the id "{identifier}" names no function (it is functions.NAME:INDEX)'


BROKEN = [
    # The ids seen in the wild.
    Broken(
        "low lines for a dot and a colon", identified("⟦functions_now_1⟧"), ["now"], [form("functions_now_1")]
    ),
    Broken("no dot and no colon", identified("⟦functionsexec5⟧"), ["now"], [form("functionsexec5")]),
    Broken("a call's number", identified("⟦call00003⟧"), ["now"], [nameless("call00003")]),
    Broken("a bare index", identified("⟦3⟧"), ["now"], [nameless("3")]),
    Broken(
        "a random id, with the name inside the arguments",
        section(call("⟦call_a1B2⟧", '{"name": "now", "arguments": {}}'), NOW),
        ["now"],
        [nameless("call_a1B2")],
    ),
    Broken("no prefix", identified("⟦now:0⟧"), ["now"], [form("now:0")]),
    Broken("no index", identified("⟦functions.now⟧"), ["now"], [form("functions.now")]),
    Broken("an index that is no number", identified("⟦functions.now:a⟧"), ["now"], [form("functions.now:a")]),
    Broken("an id without a name", identified("⟦functions.:0⟧"), ["now"], [nameless("functions.:0")]),
    Broken(
        "no id at all",
        f"{BEGIN}⟦{CALL}⟧{SEPARATOR}{{}}{CALL_END}{NOW}{END}",
        ["now"],
        [("missing_name", "the call has no id, which would name its function")],
    ),
    Broken(
        "an expression in the id",
        identified("functions.⟦get_weather(city='Oslo')⟧:0"),
        ["now"],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    Broken(
        "an expression for an id",
        identified("⟦get_weather(city='Oslo')⟧"),
        ["now"],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    Broken(
        "a name with a space",
        identified("functions.⟦right now⟧:0"),
        ["now"],
        [("invalid_name", '"right now" cannot be the name of a function')],
    ),
    Broken(
        "a name with markup in it",
        identified("functions.⟦now<function⟧:0"),
        ["now"],
        [("markup_in_name", 'the name "now<function" holds markup')],
    ),
    Broken(
        "a function that nobody declared is listed",
        identified("functions.⟦tides⟧:0"),
        ["tides", "now"],
        [("undeclared_function", 'the function "tides" is not declared (get_weather, now)')],
    ),
    # Sections.
    Broken(
        "a singular section",
        f"⟦<|tool_call_section_begin|>⟧{OSLO}<|tool_call_section_end|>",
        [],
        [("malformed_markup", '"<|tool_call_section_begin|>" is no tag of a section')],
    ),
    Broken(
        "a singular section that ends in the plural",
        f"⟦<|tool_call_section_begin|>⟧{OSLO}{END}",
        [],
        [("malformed_markup", '"<|tool_call_section_begin|>" is no tag of a section')],
    ),
    Broken(
        "a section that ends in the singular keeps its calls",
        f"{BEGIN}{OSLO}⟦<|tool_call_section_end|>⟧",
        ["get_weather"],
        [("malformed_markup", '"<|tool_call_section_end|>" is no tag of a section')],
    ),
    Broken(
        "a section without its end keeps its calls",
        f"⟦{BEGIN}⟧{OSLO}{NOW}",
        ["get_weather", "now"],
        [UNCLOSED],
    ),
    Broken("an end that is begun is none", f"⟦{BEGIN}⟧{OSLO}<|tool_calls_sec", ["get_weather"], [UNCLOSED]),
    Broken(
        "a section without its beginning",
        f"{OSLO}⟦{END}⟧",
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    Broken(
        "a call outside of any section",
        f"Sure.⟦{CALL}⟧{OSLO.removeprefix(CALL)}",
        [],
        [("malformed_markup", '"<|tool_call_begin|>" stands outside of a section')],
    ),
    Broken("an empty section", f"⟦{BEGIN}{END}⟧", [], [("empty_block", "the block is empty")]),
    Broken(
        "a section in a section",
        f"{BEGIN}{OSLO}⟦{BEGIN}⟧{NOW}{END}",
        ["get_weather", "now"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    Broken(
        "text between calls",
        section(OSLO, "⟦and⟧", NOW),
        ["get_weather", "now"],
        [("text_between_markup", 'the text "and" stands where a call should begin')],
    ),
    Broken(
        "bare JSON in a section",
        section('⟦{"name": "now", "arguments": {}}⟧', NOW),
        ["now"],
        [("wrong_dialect", 'JSON stands bare in the section, outside of "<|tool_call_begin|>"')],
    ),
    Broken(
        "bare JSON outside of any section",
        '⟦{"name": "now", "arguments": {}}⟧',
        [],
        [("wrong_dialect", f"a call stands bare, outside of {BEGIN} and {END}")],
    ),
    Broken(
        "another family's call in a section",
        section("⟦<function=now>⟧</function>", NOW),
        ["now"],
        [("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    Broken(
        "DeepSeek's section",
        "⟦<｜tool▁calls▁begin｜>⟧<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}",
        [],
        [("wrong_dialect", '"<｜tool▁calls▁begin｜>" belongs to another dialect')],
    ),
    # Calls.
    Broken("a text that ends in an id", f"{BEGIN}⟦{CALL}⟧functions.get_wea", [], [UNCLOSED]),
    Broken("a text that ends in arguments", f'{BEGIN}⟦{CALL}⟧functions.now:0{SEPARATOR}{{"a', [], [UNCLOSED]),
    Broken(
        "a text that ends in a tag", f"{BEGIN}⟦{CALL}⟧functions.now:0{SEPARATOR}{{}}<|tool_ca", [], [UNCLOSED]
    ),
    Broken(
        "a call without its end, before another",
        section(OSLO.removesuffix(CALL_END), f"⟦{CALL}⟧{NOW.removeprefix(CALL)}"),
        ["now"],
        [("nested_open", "a call begins before the one around it is closed")],
    ),
    Broken(
        "a call without its end, before the end of the section",
        f"{BEGIN}{NOW}{OSLO.removesuffix(CALL_END)}⟦{END}⟧",
        ["now"],
        [("malformed_markup", "the section is closed before its call is")],
    ),
    Broken(
        "a doubled end of a call",
        section(OSLO, f"⟦{CALL_END}⟧", NOW),
        ["get_weather", "now"],
        [("stray_close", "a closing tag stands without an open call")],
    ),
    Broken(
        "an empty call", section(f"⟦{CALL}{CALL_END}⟧", NOW), ["now"], [("empty_block", "the call is empty")]
    ),
    Broken(
        "no separator",
        section(f"{CALL}⟦functions.now:0⟧{{}}{CALL_END}", NOW),
        ["now"],
        [("malformed_markup", '"<|tool_call_argument_begin|>" is missing after "functions.now:0"')],
    ),
    Broken(
        "a separator in the plural",
        section(f"{CALL}functions.now:0⟦<|tool_call_arguments_begin|>⟧{{}}{CALL_END}", NOW),
        ["now"],
        [
            (
                "malformed_markup",
                '"<|tool_call_arguments_begin|>" stands where <|tool_call_argument_begin|> should',
            )
        ],
    ),
    Broken(
        "JSON for an id",
        section(f'{CALL}⟦{{⟧"name": "now", "arguments": {{}}}}{CALL_END}', NOW),
        ["now"],
        [("wrong_dialect", "a JSON object stands where the header of a call should")],
    ),
    # Arguments.
    Broken(
        "no arguments",
        section(f"⟦{CALL}functions.now:0{SEPARATOR}{CALL_END}⟧", NOW),
        ["now"],
        [("missing_arguments", "the call has no arguments")],
    ),
    Broken(
        "no separator and no arguments",
        section(f"⟦{CALL}functions.now:0{CALL_END}⟧", NOW),
        ["now"],
        [("missing_arguments", "the call has no arguments")],
    ),
    Broken(
        "null",
        with_arguments("⟦null⟧"),
        ["now"],
        [("arguments_not_object", "the arguments are null, not an object")],
    ),
    Broken(
        "a list",
        with_arguments("⟦[1]⟧"),
        ["now"],
        [("arguments_not_object", "the arguments are a list, not an object: [1]")],
    ),
    Broken(
        "an empty string",
        with_arguments('⟦""⟧'),
        ["now"],
        [("arguments_empty_string", "the arguments are an empty string, not an object")],
    ),
    Broken(
        "a string that holds JSON",
        with_arguments('⟦"{}"⟧'),
        ["now"],
        [("arguments_double_encoded", 'the arguments are a string that holds JSON: "{}"')],
    ),
    Broken(
        "a brace is missing",
        with_arguments('{"city": "Oslo"⟦⟧'),
        ["now"],
        [("truncated_json", "the arguments end before they are whole, and the call is closed")],
    ),
    Broken(
        "a leading zero",
        with_arguments('{"days": 0⟦5⟧}'),
        ["now"],
        [("invalid_json", "a number must not begin with 0 and another digit")],
    ),
    Broken(
        "plain text for arguments",
        with_arguments("⟦c⟧ity=Oslo"),
        ["now"],
        [("invalid_json", "a value should stand here, not `c`")],
    ),
    Broken(
        "a brace too many",
        with_arguments('{"city": "Oslo"}⟦}⟧'),
        ["now"],
        [("trailing_data", '"}" follows the arguments of the call')],
    ),
    Broken(
        "prose after the arguments",
        with_arguments('{"city": "Oslo"} ⟦please⟧'),
        ["now"],
        [("text_between_markup", 'the text "please" stands between the arguments and the closing tag')],
    ),
    Broken(
        "a key that repeats",
        with_arguments('{"city": "Oslo", ⟦"city"⟧: "Bergen"}'),
        ["now"],
        [("duplicate_key", 'the key "city" stands twice')],
    ),
    Broken(
        "a fence around the arguments",
        with_arguments('⟦```⟧json\n{"city": "Oslo"}\n```'),
        ["now"],
        [("wrong_dialect", "a Markdown fence stands inside the call")],
    ),
    Broken(
        "a required parameter is missing",
        with_arguments("⟦{}⟧"),
        ["get_weather", "now"],
        [("schema_missing_required", "get_weather: $.city is required and missing")],
    ),
    Broken(
        "a call inside thinking",
        f"<think>{BEGIN}⟦{CALL}functions.now:0{SEPARATOR}⟧{{}}{CALL_END}{END}</think>{section(NOW)}",
        ["now"],
        [("call_in_reasoning", "a call begins inside thinking, where nobody looks for one")],
    ),
]

GOOD = [
    Good("two calls in a section", section(OSLO, NOW), ["get_weather", "now"]),
    Good("prose around it", f"Sure. {section(NOW)}\nDone.", ["now"], "Sure. \nDone."),
    Good("a section after thinking", f"<think>hm</think>{section(NOW)}", ["now"]),
    Good(
        "a name with dots and colons",
        section(call("functions.get_weather:0", '{"city": "a:b.c"}')),
        ["get_weather"],
    ),
    Good("tags in a string", with_arguments(f'{{"city": "{CALL_END}{END}{BEGIN}"}}'), ["get_weather", "now"]),
    Good("whitespace between the tags", f"{BEGIN}\n{NOW}\n{END}", ["now"], "", ("extra_whitespace",)),
    Good("whitespace around an id", section(call(" functions.now:0\n")), ["now"], "", ("extra_whitespace",)),
    Good("an id that repeats", section(NOW, NOW), ["now", "now"], "", ("duplicate_id",)),
    Good(
        "talk about tags", f"Not `{BEGIN}`, `{CALL}` or `{END}`.", [], f"Not `{BEGIN}`, `{CALL}` or `{END}`."
    ),
    Good("the beginning of a tag", "Well <|tool_calls_sect", [], "Well <|tool_calls_sect"),
    Good("no call", "", []),
]


@pytest.mark.parametrize("row", BROKEN, ids=[row.claim for row in BROKEN])
def test_a_broken_text_gives_these_defects(row):
    """Each kind of break has its code, its message and its place, and costs no other call."""
    check_broken(KIMI_K2, row)


@pytest.mark.parametrize("row", GOOD, ids=[row.claim for row in GOOD])
def test_a_good_text_gives_no_defect(row):
    """What the grammar allows, and what is talk, is no defect."""
    check_good(KIMI_K2, row)


def test_a_call_spans_its_own_tags():
    """The span of a call leaves the section's tags out."""
    parsed = parse(section(NOW))
    assert parsed.calls == (Call("now", {}, Span(len(BEGIN), len(BEGIN) + len(NOW))),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{BEGIN}{section(NOW)}", f'"{BEGIN}" stands twice in a row'),
        (section(NOW, CALL_END), f'"{CALL_END}" stands twice in a row'),
        (section(f"{CALL}{NOW}"), f'"{CALL}" stands twice in a row'),
    ],
)
def test_doubled_tags_are_noted(text, message):
    """A tag that stands twice in a row is a finger-print beside its defect."""
    notes = parse(text, TOOLS).notes
    assert [(note.code, note.message) for note in notes] == [(NoteCode.TOKEN_DUPLICATION, message)]


def test_ids_count_the_calls():
    """A well-behaved model numbers its calls, and the prompt shows the form that is read."""
    text = KIMI_K2.render_calls([("now", {}), ("now", {"a": 1})])
    assert text == section(call("functions.now:0"), call("functions.now:1", '{"a": 1}'))
    assert f"{CALL}functions.<function-name>:<number>{SEPARATOR}" in KIMI_K2.describe_tools(TOOLS.declared)
    assert KIMI_K2.render_result("now", "12:00") == "## Return of now\n12:00"
    assert KIMI_K2.render_calls([]) == ""
