"""Thinking, split from the answer before any dialect reads it.

    output := ("<think>" thinking "</think>")? answer        # the opening tag may stand in the prompt instead

Thinking ends at `</think>` and nowhere else: some servers let a tool call end it too, which hides that the
model never stopped thinking.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .result import Span

StartsInReasoning: TypeAlias = Literal["auto"] | bool

_OPEN = "<think>"
_CLOSE = "</think>"
_OPENING = re.compile(r"\s*<think>")
# What a call begins with in the families that write tags; a mere mention of a tag is no call.
CALL_MARKUP = re.compile(
    r"<tool_call>\s*(?:\{|<function=|[A-Za-z_][\w.:/-]*\s*<arg_key>)|<function=[\w.:/-]+>\s*<param"
    r"|<minimax:tool_call>\s*<invoke name="
    r"|<\|tool_call_begin\|>[^<>]{0,200}+<\|tool_call_argument_begin\|>"
    r"|<\uff5ctool\u2581call\u2581begin\uff5c>[^<>]{0,200}+<\uff5ctool\u2581sep\uff5c>"
)


@dataclass(frozen=True, slots=True)
class Split:
    """Where thinking stands in a text.

    `opening` is the opening tag (an empty span at 0 if it stood in the prompt; None if there was no
    thinking), `thinking` the text between the tags, and `answer` is where the answer begins. `is_open` says
    that the text ended before `</think>`.
    """

    opening: Span | None
    thinking: Span
    answer: int
    is_open: bool


_NO_THINKING = Split(None, Span(0, 0), 0, is_open=False)


def split_reasoning(text: str, starts_in_reasoning: StartsInReasoning = False) -> Split:
    """Split thinking from the answer.

    Args:
        text: What the model wrote.
        starts_in_reasoning: True if the prompt ended with the opening of thinking. "auto": the text decides;
            it began inside thinking if `</think>` comes with neither `<think>` nor a call before it.
    """
    if starts_in_reasoning is not True and "think>" not in text:
        return _NO_THINKING
    opening = _OPENING.match(text)
    if opening is not None:
        start = opening.end()
        tag = Span(start - len(_OPEN), start)
    elif starts_in_reasoning is True or (starts_in_reasoning == "auto" and _began_inside(text)):
        start = 0
        tag = Span(0, 0)
    else:
        return _NO_THINKING
    end = text.find(_CLOSE, start)
    if end < 0:
        return Split(tag, Span(start, len(text)), len(text), is_open=True)
    return Split(tag, Span(start, end), end + len(_CLOSE), is_open=False)


def _began_inside(text: str) -> bool:
    """Return True if a closing tag stands before any opening tag and before any call."""
    end = text.find(_CLOSE)
    return end >= 0 and _OPEN not in text[:end] and "<tool_call>" not in text[:end]
