"""Cases about what was called: broken calls that look right, and right calls that look different."""

import json

from ..scripted import answer, tool_call
from .fooling import (
    Case,
    arguments_of,
    block,
    calling,
    native,
    number_of,
    on_hard,
    right_native,
    right_twice,
    saying,
)

NATIVE = {"mode": "native"}
DEEP = 4000


def good(request):
    return tool_call("get_weather", arguments_of(request))


def malformed(name, claim, candidate, code, **more):
    return Case(name, claim, candidate, causes={"malformed": 8}, codes={code: 8}, **more)


def changed(name, claim, candidate, code, **more):
    return Case(name, claim, candidate, causes={"real_change": 8}, codes={code: 8}, **more)


def same(name, claim, candidate, **more):
    return Case(name, claim, candidate, decision="pass", **more)


def raw_arguments(text):
    """A call whose arguments are this text, the city's name put in."""
    return lambda request: tool_call("get_weather", text.replace("CITY", f"City{number_of(request)}"))


def deep(request):
    nested = "[" * DEEP + "]" * DEEP
    return tool_call("get_weather", f'{{"city": "City{number_of(request)}", "days": 3, "where": {nested}}}')


CALLS = [
    # calls in the wrong place
    malformed(
        "a call in the reasoning",
        "A server that leaves the call in the thinking returned nothing that could be dispatched.",
        on_hard(
            lambda r: answer("Let me see.", reasoning=block(arguments_of(r)), tool_calls=None), right_native
        ),
        "markup_in_content",
        run=NATIVE,
    ),
    malformed(
        "markup left in the content",
        "A native answer whose content holds the call is a broken call, not prose.",
        on_hard(lambda r: answer(block(arguments_of(r))), right_native),
        "markup_in_content",
        run=NATIVE,
    ),
    malformed(
        "markup beside the right call",
        "A right call does not excuse a second one that leaked into the content.",
        calling(good, content=block({"city": "Elsewhere"})),
        "markup_in_content",
        run=NATIVE,
    ),
    malformed(
        "a call in a Markdown fence",
        "JSON in a fence is no call of this dialect, however right.",
        saying(
            lambda r: f"```json\n{json.dumps({'name': 'get_weather', 'arguments': arguments_of(r)})}\n```"
        ),
        "wrong_dialect",
    ),
    # arguments
    malformed(
        "arguments encoded twice",
        "A string that holds JSON is no object, whatever it would decode to.",
        saying(lambda r: block(json.dumps(json.dumps(arguments_of(r))))),
        "arguments_double_encoded",
    ),
    malformed(
        "native arguments encoded twice",
        "The same from a server's parser.",
        calling(lambda r: tool_call("get_weather", json.dumps(json.dumps(arguments_of(r))))),
        "arguments_double_encoded",
        run=NATIVE,
    ),
    malformed(
        "a key that is repeated",
        "Readers disagree on which of two equal keys counts, so the call cannot be trusted.",
        saying(lambda r: block(f'{{"city": "Elsewhere", "city": "City{number_of(r)}", "days": 3}}')),
        "duplicate_key",
    ),
    malformed(
        "not a number",
        "NaN is no JSON.",
        calling(raw_arguments('{"city": "CITY", "days": 3, "limit": NaN}')),
        "invalid_json",
        run=NATIVE,
    ),
    malformed(
        "a number with a leading zero",
        "`03` is no JSON, although many readers take it.",
        saying(lambda r: block(f'{{"city": "City{number_of(r)}", "days": 03}}')),
        "invalid_json",
    ),
    malformed(
        "one brace too many",
        "What follows a whole value in a block breaks it.",
        saying(lambda r: block(arguments_of(r)).replace("}}\n", "}}}\n")),
        "trailing_data",
    ),
    malformed(
        "true for a number",
        "`true` is no integer, although some languages count it as 1.",
        saying(lambda r: block(arguments_of(r, days=True))),
        "schema_type",
    ),
    malformed(
        "a number in a string",
        '`"3"` is no integer.',
        calling(lambda r: tool_call("get_weather", arguments_of(r, days="3"))),
        "schema_type",
        run=NATIVE,
    ),
    malformed(
        "JSON nested without end",
        "What is nested thousands deep can be read by nobody, and ends no run.",
        calling(deep),
        "invalid_json",
        run=NATIVE,
    ),
    malformed(
        "half of a surrogate pair, escaped",
        "An escape that names half a character is no JSON that everybody can read.",
        calling(lambda r: tool_call("get_weather", arguments_of(r, city=f"City{number_of(r)}\ud83d"))),
        "invalid_json",
        run=NATIVE,
    ),
    changed(
        "half of a surrogate pair, as text",
        "A lone surrogate is text like any other, and not the right text.",
        saying(
            lambda r: block(json.dumps(arguments_of(r, city=f"City{number_of(r)}\ud83d"), ensure_ascii=False))
        ),
        "wrong_arguments",
    ),
    changed(
        "a space that nobody sees",
        "Strings are compared as they are.",
        saying(lambda r: block(arguments_of(r, city=f"City{number_of(r)} "))),
        "wrong_arguments",
    ),
    changed(
        "letters that look alike",
        "A Cyrillic letter in a value is another value.",
        saying(lambda r: block(arguments_of(r, city=f"\u0421ity{number_of(r)}"))),
        "wrong_arguments",
    ),
    changed(
        "an optional argument that was due",
        "An artificially closed call lacks its last argument: wrong, though its schema holds.",
        calling(lambda r: tool_call("get_weather", {"city": f"City{number_of(r)}"})),
        "missing_argument",
        run=NATIVE,
    ),
    changed(
        "a huge argument",
        "A million characters of argument are read, and wrong.",
        calling(lambda r: tool_call("get_weather", arguments_of(r, city="Oslo" * 50_000))),
        "wrong_arguments",
        run=NATIVE,
    ),
    # names
    malformed(
        "a name that holds its arguments",
        "The finger-print of speculation gone wrong is no call.",
        saying(lambda r: block({}, f"get_weather(city='City{number_of(r)}', days=3)")),
        "name_is_expression",
    ),
    malformed(
        "a name of other letters",
        "A Cyrillic letter in the name makes it nobody's function.",
        calling(lambda r: tool_call("get_we\u0430ther", arguments_of(r))),
        "invalid_name",
        run=NATIVE,
    ),
    malformed(
        "a name with a space behind it",
        "A client finds no function of that name.",
        calling(lambda r: tool_call("get_weather ", arguments_of(r))),
        "invalid_name",
        run=NATIVE,
    ),
    malformed(
        "a name of other case",
        "Names are compared as they are.",
        calling(lambda r: tool_call("Get_Weather", arguments_of(r))),
        "undeclared_function",
        run=NATIVE,
    ),
    # too many, too few
    changed(
        "a call too many",
        "The right call and another one are not right.",
        saying(lambda r: block(arguments_of(r)) + block({"city": "Oslo"}, "get_news")),
        "extra_call",
    ),
    changed(
        "the same call twice",
        "Done twice is not done once.",
        calling(lambda r: [good(r), tool_call("get_weather", arguments_of(r), "call_2")]),
        "duplicate_call",
        run=NATIVE,
    ),
    changed(
        "a call that takes the first one back",
        "The right call, then the same function with another city.",
        saying(lambda r: block(arguments_of(r)) + block(arguments_of(r, city="Elsewhere"))),
        "extra_call",
    ),
    changed(
        "one of two calls",
        "Half of the work is not the work.",
        on_hard(lambda r: answer(block(arguments_of(r))), right_twice),
        "missing_call",
        suite="two",
    ),
    changed(
        "a call where none is due",
        "A call on a question that no tool fits is a regression.",
        on_hard(lambda r: answer(block(arguments_of(r))), lambda _r: answer("I cannot look that up.")),
        "call_not_due",
        suite="none",
    ),
    changed(
        "nothing at all where no call is due",
        "An empty answer is not the silence that was asked for.",
        on_hard(lambda _r: answer("\n"), lambda _r: answer("I cannot look that up.")),
        "empty_output",
        suite="none",
    ),
    malformed(
        "many tokens and nothing to see",
        "Output that the server's parser ate is lost, not silence.",
        on_hard(lambda _r: answer("", completion_tokens=60), right_native),
        "lost_output",
        run=NATIVE,
    ),
    # right, and only looking different
    same(
        "two calls in the other order",
        "Parallel calls have no order.",
        lambda r: answer(block(arguments_of(r), "get_news") + "\n" + block(arguments_of(r))),
        suite="two",
    ),
    same(
        "keys in another order, numbers spelled otherwise",
        "`3.0` and `3e0` are 3, and members have no order.",
        lambda r: answer(
            f'<tool_call>{{"arguments": {{"days": {"3.0" if number_of(r) % 2 else "3e0"}, '
            f'"city": "\\u0043ity{number_of(r)}"}}, "name": "get_weather"}}</tool_call>'
        ),
    ),
    same(
        "other prose around the call",
        "What is said beside the call is nobody's business.",
        lambda r: answer(f"Sure!\n{block(arguments_of(r))}\nAnything else? {{}} []"),
    ),
    same(
        "other prose where no call is due",
        "Prose is never compared.",
        lambda r: answer(f"I have no tool for {number_of(r)}, sorry."),
        suite="none",
    ),
    same(
        "arguments as an object",
        "An object in place of a string is another spelling, in every answer of some servers.",
        lambda r: native(
            r, {"type": "function", "function": {"name": "get_weather", "arguments": arguments_of(r)}}
        ),
        run=NATIVE,
    ),
]
