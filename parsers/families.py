"""How other families write calls: enough to say that a text speaks another dialect, not to read it."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from .json_scanner import Decoded, JsonFault, decode_located
from .names import NAME, is_callable_name
from .reasoning import CALL_MARKUP
from .result import Json, JsonObject, Span
from .tools import Tools

# Openings only, each whole by itself: a text cut anywhere must not look foreign when the whole does not.
_OPENINGS: dict[str, str] = {
    "qwen3_xml": r"<function=[^<>\s]*>|<parameter=[^<>\s]*>",
    "glm": r"<arg_key>|<arg_value>",
    "kimi_k2": r"<\|(?:tool_calls?_section_begin|tool_call_begin)\|>",
    "kimi_k3": r"<\|open\|>tools<\|sep\|>",
    "deepseek_v31": r"<\uff5ctool[\u2581_]calls?[\u2581_]begin\uff5c>",
    "deepseek_v32": r"<\uff5cDSML\uff5c ?[a-z_]+[ >]",
    "minimax_m2": r"<minimax:tool_call>|<invoke name=\"?[\w.:/-]+\"?>",
    "minimax_m3": r"\]<\]minimax\[>\[",
    "mistral": r"\[TOOL_CALLS\]",
    "llama3_json": r"<\|python_tag\|>",
    "llama4_pythonic": r"<\|python_start\|>",
    "granite": r"<\|tool_call\|>",
    "gemma": r"<\|tool_call>|<start_function_call>",
    "seed": r"<seed:tool_call>",
    "lfm2": r"<\|tool_call_start\|>",
    "phi4": r"functools\[\{",
    "gpt_oss": r"<\|channel\|>commentary to=",
    "nemotron": r"<TOOLCALL>",
    "apertus": r"<\|tools_prefix\|>",
    "internlm": r"<\|action_start\|><\|plugin\|>",
    "cohere": r"<\|START_ACTION\|>",
    "others": r"<tool_calls>|<function_calls?>|<longcat_tool_call>|<dots_function_call>|<atem:function_calls>"
    r"|<function name=\"[^\"<>]*\">|<\|tool_call:begin\|>|<ifm\|tool_call>",
}
# Any tag of any family, closings too: what a server that parses calls should not leave in the content.
_LEAK = re.compile(
    r"</?tool_call>|</(?:function|parameter|arg_key|arg_value|invoke|minimax:tool_call|seed:tool_call)>"
    r"|<\|tool_calls?_section_end\|>|<\|tool_call_end\|>|<\uff5ctool[\u2581_]calls?[\u2581_]end\uff5c>|"
    + "|".join(_OPENINGS.values())
)
_QUOTATION_MARKS = frozenset("`\"'")
_OBJECT = re.compile(r'\{\s*+"(?:name|arguments|parameters|type|id|function|tool_calls)"\s*+:')
_WRAPPER_MEMBERS = frozenset({"id", "type", "index", "function"})
_BARE_MEMBERS = frozenset({"id", "type", "name", "arguments", "parameters"})


def foreign_markup(text: str, own: str, start: int = 0, end: int | None = None) -> Span | None:
    """Return the first tag of a family other than `own`, or None.

    A tag right after a quotation mark or a backtick is talk about the tag.
    """
    for found in _foreign_pattern(own).finditer(text, start, len(text) if end is None else end):
        if found.start() == 0 or text[found.start() - 1] not in _QUOTATION_MARKS:
            return Span(*found.span())
    return None


def leaked_markup(text: str, start: int = 0) -> Span | None:
    """Return the first tag of any family, opening or closing, that is no talk; None if there is none."""
    for found in _LEAK.finditer(text, start):
        before = text[found.start() - 1] if found.start() > 0 else ""
        if before not in _QUOTATION_MARKS:
            return Span(*found.span())
    return None


def call_markup(text: str) -> Span | None:
    """Return where any family's call begins in text that may talk about tags, or None."""
    found = CALL_MARKUP.search(text)
    return Span(*found.span()) if found is not None else None


@cache
def _foreign_pattern(own: str) -> re.Pattern[str]:
    return re.compile("|".join(pattern for family, pattern in _OPENINGS.items() if family != own))


def bare_calls(text: str, start: int, end: int, tools: Tools | None) -> Iterator[Span]:
    """Yield the JSON objects between `start` and `end` that are calls without any markup.

    Only the exact shape of a call counts: a name that could be one, an object of arguments, and no member
    beside those that call formats have. A tool's definition and other JSON in prose are none. An object that
    breaks off is none either: it may be the beginning of anything.
    """
    piece = text[start:end]
    position = 0
    while (found := _OBJECT.search(piece, position)) is not None:
        read = decode_located(piece, found.start())
        if isinstance(read, Decoded):
            position = read.end
            if isinstance(read.value, Mapping) and is_call(read.value, tools):
                yield Span(start + found.start(), start + read.end)
        elif read.fault is JsonFault.TRUNCATED:
            return
        else:
            position = max(read.position, found.start() + 1)


def is_call(value: JsonObject, tools: Tools | None) -> bool:
    """Return True if a JSON object has the shape of a call, bare or in the wrapping of the OpenAI API."""
    calls = value.get("tool_calls")
    if isinstance(calls, list) and calls:
        first = calls[0]
        return isinstance(first, Mapping) and is_call(first, tools)
    function = value.get("function")
    if isinstance(function, Mapping) and set(value) <= _WRAPPER_MEMBERS:
        return is_call(function, tools)
    name = value.get("name")
    if not isinstance(name, str) or not set(value) <= _BARE_MEMBERS:
        return False
    if "arguments" in value:
        arguments: Json = value["arguments"]
        is_object = isinstance(arguments, Mapping) or (
            isinstance(arguments, str) and arguments.startswith("{")
        )
        return is_object and is_callable_name(name, tools)
    parameters = value.get("parameters")
    if not isinstance(parameters, Mapping) or "properties" in parameters:
        return False
    return bool(NAME.fullmatch(name)) if tools is None else name in tools.functions
