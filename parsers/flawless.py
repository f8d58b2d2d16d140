"""Texts against which nothing can be said, as most are, read at once: prose, and blocks that are right.

Whatever is in any doubt the reader of the dialect reads from its beginning, and says what there is to say. A
property test holds the one against the other.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .contract import keeps_contract
from .names import is_callable_name
from .reasoning import CALL_MARKUP, Split
from .result import Call, Json, JsonObject, Parsed, Span
from .tools import Tools
from .typed_value import ValueReader

# Reads what stands between the tags of a block; None if anything at all could be said of it.
ReadBlock: TypeAlias = Callable[[str, Tools | None], tuple[str, JsonObject] | None]

_QUOTATION_MARKS = frozenset("`\"'")


def read_flawless(
    text: str, tools: Tools | None, split: Split, tags: tuple[str, str], read_block: ReadBlock
) -> Parsed | None:
    """Read thinking, prose and whole blocks between two tags; None if anything at all could be said of them.

    Args:
        text: What the model wrote.
        tools: The declared tools, or None.
        split: Where thinking stands in the text.
        tags: What opens a block and what closes one.
        read_block: Reads what stands between them.
    """
    if split.opening is not None and not _is_plain_thinking(text, split):
        return None
    opening, closing = tags
    calls: list[Call] = []
    content: list[str] = []
    position = split.answer
    while (start := text.find(opening, position)) >= 0:
        body = start + len(opening)
        end = text.find(closing, body)
        call = read_block(text[body:end], tools) if end > 0 else None
        if call is None or text[start - 1 : start] in _QUOTATION_MARKS:
            return None
        content.append(text[position:start])
        position = end + len(closing)
        calls.append(Call(*call, Span(start, position)))
    content.append(text[position:])
    prose = "".join(content)
    if "<" in prose or "{" in prose or "[" in prose:
        return None
    return Parsed(tuple(calls), (), (), prose, "" if split.opening is None else text[slice(*split.thinking)])


def read_flawless_pairs(
    name: str, pairs: Sequence[tuple[str, str]], tools: Tools | None
) -> tuple[str, JsonObject] | None:
    """Make a call of a name and of keys with raw values; None if anything at all could be said of it."""
    if not is_callable_name(name, tools):
        return None
    values = ValueReader(tools)
    arguments: dict[str, Json] = {}
    for key, raw in pairs:
        read = values.read(name, key, raw, 0)
        if read.defects or read.notes:
            return None
        arguments[key] = read.value
    is_right = len(arguments) == len(pairs) and keeps_contract(tools, name, arguments)
    return (name, arguments) if is_right else None


def _is_plain_thinking(text: str, split: Split) -> bool:
    """Return True if thinking stands at the very beginning, is closed, and holds no call."""
    thinking = split.thinking
    return (
        split.opening is not None
        and split.opening.start == 0
        and not split.is_open
        and CALL_MARKUP.search(text, thinking.start, thinking.end) is None
    )
