"""Time grows with the text, not with its square: no answer of a model can hang a report."""

import time

import pytest
from draftproof.parsers.hermes import HERMES, parse
from draftproof.parsers.strict_json import decode

from .marked import TOOLS

UNITS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_call></tool_call>",
    "<tool_call>{",
    '<tool_call>{"',
    '<tool_call>{"a": "',
    '<tool_call>{"name": "now", "arguments": {}}',
    '<tool_call>{"name": "now", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "now", "arguments": {}}}</tool_call>',
    '<tool_call>{"a":1,"a":2}</tool_call>',
    "<tool_call>x ",
    "<tool_call>[",
    "`<tool_call>`",
    "<think>",
    "</think>",
    '"',
    "'",
    "{",
    "}",
    "[",
    "\\",
    '\\"',
    "\\u",
    '{"name":',
    '{"name": "now", "arguments": {}}',
    '{"name": "now", "arguments": ',
    '{"tool_calls":[',
    "<function=",
    "<parameter=x>",
    "<tool_call ",
    "<",
    "<｜",
    "[TOOL",
    "```",
    " ",
    "\n",
    "a",
    "0",
    "9" * 299 + " ",
]
STARTS = [
    "",
    "<tool_call>",
    '<tool_call>{"name": "',
    '<tool_call>{"a": [',
    "<think>",
    '<tool_call>{"name": "now", "arguments": {}}',
    '{"name": "',
]


def seconds(text: str) -> float:
    start = time.perf_counter()
    _ = parse(text, TOOLS, "auto")
    return time.perf_counter() - start


def assert_linear(small_size: int, unit: str, start: str) -> None:
    small, large = (start + unit * (size // len(unit)) for size in (small_size, 8 * small_size))
    # Eight times the text: eight times the time if linear, sixty-four if square; a busy machine blurs it.
    assert seconds(large) < 30 * seconds(small) + 0.1


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text(unit):
    """Eight times the text of any one piece, after any beginning, takes far less than a square would."""
    for start in ("", '<tool_call>{"name": "'):
        assert_linear(8_000, unit, start)


@pytest.mark.heavy
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("start", STARTS)
def test_time_grows_with_a_long_text(unit, start):
    """The same up to 200,000 characters."""
    assert_linear(25_000, unit, start)


def test_a_megabyte_in_one_string_is_read_at_once():
    """One long argument costs what its characters cost."""
    text = HERMES.render_calls([("now", {"text": 'a "quoted" \\ line\n' * 60_000})])
    assert seconds(text) < 2
    assert len(parse(text).calls) == 1


def test_deep_json_ends_at_the_limit():
    """A hundred thousand levels are refused after two hundred."""
    start = time.perf_counter()
    _ = decode('{"a":[' * 100_000)
    assert time.perf_counter() - start < 2
