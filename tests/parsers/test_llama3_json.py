"""Llama 3 JSON: each code with its place and message, beside a good text that differs by little."""

import pytest
from draftproof.parsers.codes import NoteCode
from draftproof.parsers.llama3_json import LLAMA3_JSON, TAG, parse
from draftproof.parsers.result import Call, Span

from .cases import Broken, Good, check_broken, check_good
from .marked import TOOLS

UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")
OSLO = '{"name": "get_weather", "parameters": {"city": "Oslo"}}'
NOW = '{"name": "now", "parameters": {}}'

BROKEN = [
    # The whole message is the call.
    Broken(
        "a call after prose",
        f"Sure: ⟦{NOW}⟧",
        [],
        [("wrong_dialect", "a call stands in other text, not as the whole message")],
    ),
    Broken(
        "a call in a fence",
        f"```json\n⟦{NOW}⟧\n```",
        [],
        [("wrong_dialect", "a call stands in a Markdown fence, not as the whole message")],
    ),
    Broken(
        "prose after a call",
        f"{NOW}\n⟦This tells the time.⟧\n",
        [],
        [
            (
                "text_between_markup",
                'the text "This tells the time." follows the call, which is the whole message',
            )
        ],
    ),
    Broken(
        "prose after a semicolon",
        f"{NOW}⟦; and so on⟧",
        [],
        [("text_between_markup", 'the text "; and so on" follows the call, which is the whole message')],
    ),
    Broken(
        "a tag after prose",
        f"Sure: ⟦{TAG}⟧{NOW}",
        [],
        [("malformed_markup", '"<|python_tag|>" stands inside the message, which a call is the whole of')],
    ),
    Broken(
        "two calls without a semicolon",
        f"{OSLO}\n⟦{NOW}⟧",
        [],
        [("trailing_data", '"{\\"name\\": \\"now\\", \\"parameters\\": {}}" follows the call')],
    ),
    Broken("a brace too many", f"{OSLO}⟦}}⟧; {NOW}", ["now"], [("trailing_data", '"}" follows the call')]),
    Broken(
        "a list of calls",
        f"⟦[{OSLO}, {NOW}]⟧",
        [],
        [("not_an_object", "a call is a JSON object, not a list")],
    ),
    # Other dialects.
    Broken(
        "a call of a built-in tool",
        f'{TAG}⟦brave_search.call(⟧query="Oslo")',
        [],
        [("wrong_dialect", '"brave_search.call(" begins a call of a built-in tool, not a JSON object')],
    ),
    Broken(
        "Python calls",
        '⟦[get_weather(city="Oslo"), now()]⟧',
        [],
        [("wrong_dialect", "a list of Python calls stands instead of JSON")],
    ),
    Broken(
        "another family's call",
        "⟦<function=now>⟧</function>",
        [],
        [("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    Broken(
        "another family's call after the tag",
        f"{TAG}⟦<function=now>⟧</function>",
        [],
        [("wrong_dialect", '"<function=now>" belongs to another dialect')],
    ),
    Broken(
        "the wrapping of the API",
        f'⟦{{"type": "function", "function": {NOW}}}⟧',
        [],
        [("wrong_dialect", "a call stands in other text, not as the whole message")],
    ),
    # The tag.
    Broken("a tag and nothing else", f"⟦{TAG}⟧ ", [], [UNCLOSED]),
    Broken(
        "a doubled tag",
        f"{TAG}⟦{TAG}⟧{NOW}",
        ["now"],
        [("nested_open", "the tag stands again before the call")],
    ),
    Broken(
        "text after the tag",
        f"{TAG}⟦the time⟧",
        [],
        [("text_between_markup", 'the text "the time" stands where a JSON object should begin')],
    ),
    Broken(
        "another value after the tag",
        f"{TAG}⟦[1]⟧",
        [],
        [("not_an_object", "a call is a JSON object, not a list")],
    ),
    # JSON.
    Broken("a text that ends in a call", '⟦{⟧"name": "get_weather", "parameters": {"ci', [], [UNCLOSED]),
    Broken(
        "a name is not judged while it may be an answer's", '⟦{⟧"name": "New York", "popul', [], [UNCLOSED]
    ),
    Broken("a text that ends in a call after the tag", f'⟦{TAG}⟧{{"na', [], [UNCLOSED]),
    Broken("a text that ends in the second call", f'{OSLO}; ⟦{{⟧"name": "no', ["get_weather"], [UNCLOSED]),
    Broken("a text that ends after a semicolon", f"{OSLO}⟦;⟧ ", ["get_weather"], [UNCLOSED]),
    Broken(
        "a brace is missing before another call",
        f'{{"name": "now", "parameters": {{}}⟦⟧; {OSLO}',
        ["get_weather"],
        [("truncated_json", "the JSON ends before it is whole, and another call follows")],
    ),
    Broken(
        "a leading zero",
        f'{{"name": "get_weather", "parameters": {{"days": 0⟦5⟧}}}}; {NOW}',
        ["now"],
        [("invalid_json", "a number must not begin with 0 and another digit")],
    ),
    Broken(
        "doubled braces",
        '{⟦{⟧"name": "now", "parameters": {}}}',
        [],
        [("invalid_json", "a string in double quotes, as key, or } should stand here, not `{`")],
    ),
    Broken(
        "single quotes",
        "{⟦'⟧name': 'now', 'parameters': {}}",
        [],
        [
            (
                "invalid_json",
                "a string in double quotes, as key, or } should stand here, not a single quotation mark",
            )
        ],
    ),
    Broken(
        "a key that repeats",
        '{"name": "get_weather", "parameters": {"city": "Oslo", ⟦"city"⟧: "Bergen"}}',
        [],
        [("duplicate_key", 'the key "city" stands twice')],
    ),
    # Members.
    Broken(
        "arguments for parameters",
        '{"name": "now", ⟦"arguments"⟧: {}}',
        [],
        [("unknown_member", 'a call has no member "arguments" (it is called "parameters")')],
    ),
    Broken(
        "a member of no use",
        '{"name": "now", "parameters": {}, ⟦"id"⟧: 1}',
        [],
        [("unknown_member", 'a call has no member "id"')],
    ),
    Broken(
        "another type",
        '{⟦"type"⟧: "tool", "name": "now", "parameters": {}}',
        [],
        [("unknown_member", 'a call has no member "type"')],
    ),
    Broken("no name", '⟦{"parameters": {}}⟧', [], [("missing_name", "the call has no name")]),
    Broken("no parameters", '⟦{"name": "now"}⟧', [], [("missing_arguments", "the call has no parameters")]),
    Broken(
        "a name that is null",
        '{"name": ⟦null⟧, "parameters": {}}',
        [],
        [("name_not_string", "the name is null, not a string")],
    ),
    Broken(
        "an expression for a name",
        '{"name": ⟦"get_weather(city=\'Oslo\')"⟧, "parameters": {}}',
        [],
        [
            (
                "name_is_expression",
                "the name \"get_weather(city='Oslo')\" is an expression: it holds the arguments",
            )
        ],
    ),
    Broken(
        "a function that nobody declared",
        '{"name": ⟦"tides"⟧, "parameters": {}}',
        ["tides"],
        [("undeclared_function", 'the function "tides" is not declared (get_weather, now)')],
    ),
    Broken(
        "parameters encoded twice",
        '{"name": "now", "parameters": ⟦"{}"⟧}',
        [],
        [("arguments_double_encoded", 'the arguments are a string that holds JSON: "{}"')],
    ),
    Broken(
        "a number as a string",
        '{"name": "get_weather", "parameters": ⟦{"city": "Oslo", "days": "3"}⟧}',
        ["get_weather"],
        [("schema_type", 'get_weather: $.days is "3", not of type integer')],
    ),
]

GOOD = [
    Good("a call", OSLO, ["get_weather"]),
    Good("a call after the tag", f"{TAG}{OSLO}", ["get_weather"]),
    Good("whitespace around a call", f"\n\n {NOW} \n", ["now"], "\n\n "),
    Good("members in the other order", '{"parameters": {}, "name": "now"}', ["now"]),
    Good("nested braces and a semicolon in a string", OSLO.replace("Oslo", "{{}}; {"), ["get_weather"]),
    Good("calls joined with a semicolon", f"{OSLO}; {NOW}", ["get_weather", "now"], "", ("joined_calls",)),
    Good(
        "the member type",
        '{"type": "function", "name": "now", "parameters": {}}',
        ["now"],
        "",
        ("extra_member",),
    ),
    Good("an answer in JSON", '{"name": "Oslo", "population": 7}', [], '{"name": "Oslo", "population": 7}'),
    Good("an answer in JSON that is cut", '{"city": "Os', [], '{"city": "Os'),
    Good("an answer that is broken JSON", '{"ci\nty": 1', [], '{"ci\nty": 1'),
    Good("an empty object", "{}", [], "{}"),
    Good("talk about the tag", f"Not `{TAG}`.", [], f"Not `{TAG}`."),
    Good("the beginning of a tag", "<|python_t", [], "<|python_t"),
    Good("prose", "It is noon; {time} flies.", [], "It is noon; {time} flies."),
]


@pytest.mark.parametrize("row", BROKEN, ids=[row.claim for row in BROKEN])
def test_a_broken_text_gives_these_defects(row):
    """Each kind of break has its code, its message and its place, and costs no other call."""
    check_broken(LLAMA3_JSON, row)


@pytest.mark.parametrize("row", GOOD, ids=[row.claim for row in GOOD])
def test_a_good_text_gives_no_defect(row):
    """What the grammar allows, and what is no call, is no defect."""
    check_good(LLAMA3_JSON, row)


def test_the_tag_makes_a_call_of_any_object():
    """After the tag an empty object is a broken call and no answer."""
    parsed = parse(f"{TAG}{{}}")
    assert [defect.code.value for defect in parsed.defects] == ["missing_name", "missing_arguments"]


def test_the_first_call_spans_the_tag():
    """The tag belongs to the call that follows it; the semicolon belongs to none."""
    start = len(TAG)
    assert parse(f"{TAG}{NOW}; {NOW}").calls == (
        Call("now", {}, Span(0, start + len(NOW))),
        Call("now", {}, Span(start + len(NOW) + 2, start + 2 * len(NOW) + 2)),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{TAG}{TAG}{NOW}", f'"{TAG}" stands twice in a row'),
        (NOW.replace('"name": ', '"name": "name": '), '"\\"name\\": " stands twice in a row'),
    ],
)
def test_repeats_are_noted(text, message):
    """The finger-print of draft tokens stands beside its defect."""
    notes = parse(text, TOOLS).notes
    assert [(note.code, note.message) for note in notes] == [(NoteCode.TOKEN_DUPLICATION, message)]


def test_the_prompt_shows_the_form_that_is_read():
    """Several calls are joined with a semicolon, as servers split them."""
    assert LLAMA3_JSON.render_calls([("now", {}), ("now", {})]) == f"{NOW}; {NOW}"
    text = LLAMA3_JSON.describe_tools(TOOLS.declared)
    assert '{"name": <function-name>, "parameters": <parameters-as-json-object>}' in text
    assert LLAMA3_JSON.render_result("now", "12:00") == "Result of now:\n12:00"


@pytest.mark.parametrize("space", ["\x0b", "\x1c", "\x1d", "\x85", "\xa0", "\u3000"], ids=repr)
@pytest.mark.parametrize("begun", ["{%s", '{"name"%s', '{%s"na'])
def test_prose_in_braces_is_prose_however_it_is_cut(begun, space):
    """What Python calls whitespace and JSON does not begins no call, so a cut behind it looks like none."""
    text = begun.replace("%s", space)
    assert parse(text + " of x}").defects == ()
    assert parse(text).defects == ()
