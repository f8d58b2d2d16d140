"""DeepSeek V3.1: each code with its place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.deepseek_v31 import DEEPSEEK_V31, parse

from .cases import Broken, Good, check_broken, check_good
from .marked import TOOLS

BEGIN, END, CALL, SEPARATOR, CALL_END = DEEPSEEK_V31.tags
UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")


def call(name: str = "now", arguments: str = "{}") -> str:
    return f"{CALL}{name}{SEPARATOR}{arguments}{CALL_END}"


def section(*calls: str) -> str:
    return f"{BEGIN}{''.join(calls)}{END}"


OSLO = call("get_weather", '{"city": "Oslo"}')
NOW = call()


def first_tag(text: str) -> str:
    """Mark the first tag of a text."""
    end = text.index(">") + 1
    return f"⟦{text[:end]}⟧{text[end:]}"


BROKEN = [
    Broken(
        "the form of V3 and R1",
        section(f'{CALL}⟦function{SEPARATOR}⟧get_weather\n```json\n{{"city": "Oslo"}}\n```{CALL_END}', NOW),
        ["now"],
        [("wrong_dialect", "the type stands before the name: that is the form of DeepSeek V3, not of V3.1")],
    ),
    Broken(
        "a fence around the arguments",
        section(call("now", "⟦```⟧json\n{}\n```"), NOW),
        ["now"],
        [("wrong_dialect", "a Markdown fence stands inside the call")],
    ),
    Broken(
        "the DSML of V3.2",
        '⟦<｜DSML｜function_calls>⟧\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>',
        [],
        [("wrong_dialect", '"<｜DSML｜function_calls>" belongs to another dialect')],
    ),
    Broken(
        "DSML in a section",
        section('⟦<｜DSML｜invoke ⟧name="now">', NOW),
        ["now"],
        [("wrong_dialect", '"<｜DSML｜invoke " belongs to another dialect')],
    ),
    Broken(
        "Kimi's section",
        "⟦<|tool_calls_section_begin|>⟧<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}",
        [],
        [("wrong_dialect", '"<|tool_calls_section_begin|>" belongs to another dialect')],
    ),
    # Other characters for the bar and the low line.
    Broken(
        "ASCII bars",
        first_tag(section(OSLO).replace("｜", "|")),
        [],
        [("malformed_markup", '"<|tool▁calls▁begin|>" is no tag of a section')],
    ),
    Broken(
        "ASCII bars and low lines",
        first_tag(section(OSLO).replace("｜", "|").replace("▁", "_")),
        [],
        [("malformed_markup", '"<|tool_calls_begin|>" is no tag of a section')],
    ),
    Broken(
        "double vertical lines",
        first_tag(section(OSLO).replace("｜", "‖")),
        [],
        [("malformed_markup", '"<‖tool▁calls▁begin‖>" is no tag of a section')],
    ),
    Broken(
        "doubled bars",
        first_tag(section(OSLO).replace("｜", "｜｜")),
        [],
        [("malformed_markup", '"<｜｜tool▁calls▁begin｜｜>" is no tag of a section')],
    ),
    Broken(
        "ASCII low lines",
        first_tag(section(OSLO).replace("▁", "_")),
        [],
        [("malformed_markup", '"<｜tool_calls_begin｜>" is no tag of a section')],
    ),
    Broken(
        "low lines left out in one tag",
        section(f"{CALL}now{SEPARATOR}{{}}⟦<｜toolcall▁end｜>⟧{CALL_END}", NOW),
        ["now"],
        [("malformed_markup", '"<｜toolcall▁end｜>" stands where <｜tool▁call▁end｜> should')],
    ),
    Broken(
        "an end of the section with other bars keeps its calls",
        f"{BEGIN}{NOW}⟦<|tool▁calls▁end|>⟧",
        ["now"],
        [("malformed_markup", '"<|tool▁calls▁end|>" is no tag of a section')],
    ),
    # Sections and calls that are not closed, or not opened.
    Broken(
        "a section without its end keeps its calls",
        f"⟦{BEGIN}⟧{OSLO}{NOW}",
        ["get_weather", "now"],
        [UNCLOSED],
    ),
    Broken(
        "a call that the section's end cuts off",
        f"{BEGIN}{NOW}{CALL}now{SEPARATOR}{{}}⟦{END}⟧",
        ["now"],
        [("malformed_markup", "the section is closed before its call is")],
    ),
    Broken("a text that ends in a name", f"{BEGIN}{NOW}⟦{CALL}⟧get_wea", ["now"], [UNCLOSED]),
    Broken("a text that ends in a tag", f"{BEGIN}⟦{CALL}⟧now<｜tool▁s", [], [UNCLOSED]),
    Broken("a text that ends after the V3 type", f"{BEGIN}⟦{CALL}⟧function{SEPARATOR}", [], [UNCLOSED]),
    Broken(
        "no section around a call",
        f"⟦{CALL}⟧now{SEPARATOR}{{}}{CALL_END}",
        [],
        [("malformed_markup", '"<｜tool▁call▁begin｜>" stands outside of a section')],
    ),
    Broken(
        "no beginning of the section",
        f"{NOW}⟦{END}⟧",
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    Broken("an empty section", f"⟦{BEGIN}\n{END}⟧", [], [("empty_block", "the block is empty")]),
    Broken(
        "an empty call", section(f"⟦{CALL}{CALL_END}⟧", NOW), ["now"], [("empty_block", "the call is empty")]
    ),
    Broken(
        "a doubled separator",
        section(f"{CALL}now{SEPARATOR}⟦{SEPARATOR}⟧{{}}{CALL_END}", NOW),
        ["now"],
        [("malformed_markup", '"<｜tool▁sep｜>" stands where the arguments should')],
    ),
    Broken(
        "a separator between calls",
        section(NOW, f"⟦{SEPARATOR}⟧", NOW),
        ["now", "now"],
        [("malformed_markup", '"<｜tool▁sep｜>" stands where a call should begin')],
    ),
    Broken(
        "no separator",
        section(f"{CALL}⟦now⟧{{}}{CALL_END}", NOW),
        ["now"],
        [("malformed_markup", '"<｜tool▁sep｜>" is missing after "now"')],
    ),
    Broken(
        "another family's closing tag",
        section(call("now", "{}⟦</parameter>⟧"), NOW),
        ["now"],
        [("malformed_markup", '"</parameter>" is no closing tag of a call')],
    ),
    Broken(
        "another family's tag for arguments",
        section(call("now", "⟦<arg_key>⟧"), NOW),
        ["now"],
        [("wrong_dialect", '"<arg_key>" belongs to another dialect')],
    ),
    # Names and arguments.
    Broken(
        "no name",
        f"{BEGIN}⟦{CALL}⟧{SEPARATOR}{{}}{CALL_END}{NOW}{END}",
        ["now"],
        [("missing_name", "the call has no name")],
    ),
    Broken(
        "an expression for a name",
        section(call("⟦get_weather(city='Oslo')⟧"), NOW),
        ["now"],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    Broken(
        "a name that cannot be one",
        section(call("⟦7up⟧"), NOW),
        ["now"],
        [("invalid_name", '"7up" cannot be the name of a function')],
    ),
    Broken(
        "a function that nobody declared",
        section(call("⟦tides⟧"), NOW),
        ["tides", "now"],
        [("undeclared_function", 'the function "tides" is not declared (get_weather, now)')],
    ),
    Broken(
        "a function that is called function",
        section(call("⟦function⟧"), NOW),
        ["function", "now"],
        [("undeclared_function", 'the function "function" is not declared (get_weather, now)')],
    ),
    Broken(
        "no arguments",
        section(f"⟦{CALL}now{SEPARATOR}{CALL_END}⟧", NOW),
        ["now"],
        [("missing_arguments", "the call has no arguments")],
    ),
    Broken(
        "two objects",
        section(call("now", "{}⟦{}⟧"), NOW),
        ["now"],
        [("trailing_data", '"{}" follows the arguments of the call')],
    ),
    Broken(
        "single quotes",
        section(call("now", "{⟦'⟧a': 1}"), NOW),
        ["now"],
        [
            (
                "invalid_json",
                "a string in double quotes, as key, or } should stand here, not a single quotation mark",
            )
        ],
    ),
    Broken(
        "a missing quotation mark does not swallow the next call",
        section(call("now", '{"a": "b}'), f'{CALL}now{SEPARATOR}{{"⟦a⟧": 1}}{CALL_END}', NOW),
        ["now", "now"],
        [("invalid_json", "a comma or } should stand here, not `a`")],
    ),
    Broken(
        "a value of another type",
        section(call("get_weather", '⟦{"city": "Oslo", "days": "3"}⟧')),
        ["get_weather"],
        [("schema_type", 'get_weather: $.days is "3", not of type integer')],
    ),
    Broken(
        "a call inside thinking",
        f"<think>{BEGIN}⟦{CALL}now{SEPARATOR}⟧{{}}{CALL_END}{END}</think>{section(NOW)}",
        ["now"],
        [("call_in_reasoning", "a call begins inside thinking, where nobody looks for one")],
    ),
]

GOOD = [
    Good("two calls in a section", section(OSLO, NOW), ["get_weather", "now"]),
    Good("prose around it", f"Sure. {section(NOW)}\nDone.", ["now"], "Sure. \nDone."),
    Good("tags in a string", section(call("get_weather", f'{{"city": "{CALL_END}{END}"}}')), ["get_weather"]),
    Good(
        "newlines between calls, as in V3",
        section(OSLO, "\n", NOW),
        ["get_weather", "now"],
        "",
        ("extra_whitespace",),
    ),
    Good("talk about tags", f"Not `{BEGIN}` nor `<|tool_sep|>`.", [], f"Not `{BEGIN}` nor `<|tool_sep|>`."),
    Good("the beginning of a tag", f"{section(NOW)}<｜tool▁c", ["now"], "<｜tool▁c"),
    Good("bars in prose", "a |b| <｜c｜>", [], "a |b| <｜c｜>"),
]


@pytest.mark.parametrize("row", BROKEN, ids=[row.claim for row in BROKEN])
def test_a_broken_text_gives_these_defects(row):
    """Each kind of break has its code, its message and its place, and costs no other call."""
    check_broken(DEEPSEEK_V31, row)


@pytest.mark.parametrize("row", GOOD, ids=[row.claim for row in GOOD])
def test_a_good_text_gives_no_defect(row):
    """What the grammar allows, and what is talk, is no defect."""
    check_good(DEEPSEEK_V31, row)


def test_a_repeat_in_the_arguments_is_noted():
    """The finger-print of draft tokens stands beside the JSON error."""
    parsed = parse(section(call("now", '{"a": "a": 1}')), TOOLS)
    assert [(note.code, note.message) for note in parsed.notes] == [
        (NoteCode.TOKEN_DUPLICATION, '"\\"a\\": " stands twice in a row')
    ]


def test_the_prompt_describes_each_tool_under_its_name():
    """The tools stand under headings, and the form is the one that is read."""
    text = DEEPSEEK_V31.describe_tools(TOOLS.declared)
    assert '### now\nParameters: {"type": "object", "properties": {}}' in text
    assert f"{BEGIN}{CALL}<tool-name>{SEPARATOR}<arguments-as-json-object>{CALL_END}{END}" in text
    assert DEEPSEEK_V31.render_result("now", "12:00") == "<｜tool▁output▁begin｜>12:00<｜tool▁output▁end｜>"
