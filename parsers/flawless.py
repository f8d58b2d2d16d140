"""Texts against which nothing can be said, as most are, read at once: prose, and blocks that are right.

Whatever is in any doubt the reader of the dialect reads from its beginning, and says what there is to say. A
property test holds the one against the other.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from .contract import keeps_contract
from .names import is_callable_name
from .reasoning import CALL_MARKUP, Split
from .result import Call, JsonObject, Parsed, Span
from .sections import SectionTags
from .strict_json import decode_flawless
from .tools import Tools

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
    if not _is_plain_thinking(text, split):
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
    return _parsed(text, split, calls, "".join(content))


def read_flawless_sections(
    text: str,
    tools: Tools | None,
    split: Split,
    tags: SectionTags,
    header: re.Pattern[str],
    *,
    has_ids: bool = False,
) -> Parsed | None:
    """Read thinking, prose and whole sections of calls; None if anything at all could be said of them.

    Args:
        text: What the model wrote.
        tools: The declared tools, or None.
        split: Where thinking stands in the text.
        tags: The tags of the dialect.
        header: Matches what stands before the separator, with the name as its group.
        has_ids: A header is an id, and stands before one call alone.
    """
    if not _is_plain_thinking(text, split):
        return None
    calls: list[Call] = []
    headers: list[str] = []
    content: list[str] = []
    position = split.answer
    while (start := text.find(tags.begin, position)) >= 0:
        content.append(text[position:start])
        first = position = start + len(tags.begin)
        while text.startswith(tags.call_begin, position):
            read = _flawless_call(text, position, tags, header, tools)
            if read is None:
                return None
            headers.append(read[0])
            calls.append(read[1])
            position = read[1].span.end
        if (
            position == first
            or not text.startswith(tags.end, position)
            or text[start - 1 : start] in _QUOTATION_MARKS
        ):
            return None
        position += len(tags.end)
    if has_ids and len(set(headers)) < len(headers):
        return None
    content.append(text[position:])
    return _parsed(text, split, calls, "".join(content))


def _flawless_call(
    text: str, start: int, tags: SectionTags, header: re.Pattern[str], tools: Tools | None
) -> tuple[str, Call] | None:
    """Read a call of a section from its opening tag on, and return it with its header."""
    separator = text.find(tags.separator, start)
    end = text.find(tags.call_end, separator)
    if separator < 0 or end < 0:
        return None
    named = header.fullmatch(text, start + len(tags.call_begin), separator)
    body = text[separator + len(tags.separator) : end]
    if named is None or body[:1] != "{" or body[-1] != "}" or not is_callable_name(named[1], tools):
        return None
    arguments = decode_flawless(body)
    if not isinstance(arguments, dict) or (
        tools is not None and not keeps_contract(tools, named[1], arguments)
    ):
        return None
    return named[0], Call(named[1], arguments, Span(start, end + len(tags.call_end)))


def _parsed(text: str, split: Split, calls: list[Call], prose: str) -> Parsed | None:
    if prose and ("<" in prose or "{" in prose or "[" in prose):
        return None
    return Parsed(tuple(calls), (), (), prose, text[slice(*split.thinking)])


def _is_plain_thinking(text: str, split: Split) -> bool:
    """Return True if there is no thinking, or it stands at the very beginning, closed and without a call."""
    return split.opening is None or (
        split.opening.start == 0
        and not split.is_open
        and CALL_MARKUP.search(text, split.thinking.start, split.thinking.end) is None
    )
