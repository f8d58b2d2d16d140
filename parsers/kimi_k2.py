r"""Kimi K2: Kimi K2, K2 Thinking and K2.5.

    output  := thinking? (content | section)*
    section := "<|tool_calls_section_begin|>" (call)+ "<|tool_calls_section_end|>"
    call    := "<|tool_call_begin|>" id "<|tool_call_argument_begin|>" OBJECT "<|tool_call_end|>"
    id      := "functions." NAME ":" INDEX       # INDEX counts the calls of the whole conversation

Whitespace between these is tolerated and noted (`sections.py` reads all but the id). The name stands in the
id and nowhere else, so an id of another form names no function: `call_1` and `3` hold no name, and what
`functions_get_weather_1` means would be a guess.
"""

import json
import re
from collections.abc import Sequence

from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .flawless import read_flawless_sections
from .json_path import shorten
from .names import name_defect
from .reasoning import StartsInReasoning, split_reasoning
from .result import JsonObject, Parsed, Span
from .sections import SectionReader, SectionTags
from .tools import Tools
from .transcript import Transcript

_TAGS = SectionTags(
    begin="<|tool_calls_section_begin|>",
    end="<|tool_calls_section_end|>",
    call_begin="<|tool_call_begin|>",
    separator="<|tool_call_argument_begin|>",
    call_end="<|tool_call_end|>",
    # Singular sections, plural calls, bars or pieces of the name left out.
    lookalike=r"<\|?tool_?calls?_(?:(?:section|arguments?)_)?(?:begin|end)\|?>",
)
_ID = re.compile(r"functions\.(.*):[0-9]+", re.DOTALL)
# Ids of other formats, which hold no name at all.
_NAMELESS = re.compile(r"[0-9]+|(?:call|chatcmpl|toolu)(?:[_-]\S*|[0-9]\S*)?")
_SHOWN_ID = "functions.NAME:INDEX"


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None neither names nor schemas are checked.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    flawless = read_flawless_sections(text, tools, split, _TAGS, _ID, has_ids=True)
    return flawless or _Reader(Transcript(text, tools, split)).read(split.answer)


class _Reader(SectionReader):
    """Reads the ids of calls."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, _TAGS, "kimi_k2")
        self._ids = set[str]()

    def _name(self, opening: Span, header: Span) -> tuple[str, Span] | None:
        """Read `"functions." NAME ":" INDEX`."""
        identifier = self._text[header.start : header.end]
        found = _ID.fullmatch(identifier)
        if found is None or not found[1]:
            self._no_name(opening, header)
            return None
        if identifier in self._ids:
            message = f"the id {shorten(identifier)} stands before another call as well"
            self._out.add_note(NoteCode.DUPLICATE_ID, message, *header)
        self._ids.add(identifier)
        place = Span(header.start + found.start(1), header.start + found.end(1))
        defect = name_defect(found[1], self._out.tools, place)
        if defect is not None and not defect.code.is_contract:
            self._out.add_defects([defect])
            return None
        return found[1], place

    def _no_name(self, opening: Span, header: Span) -> None:
        """Say what is wrong with an id from which no name can be read."""
        identifier = self._text[header.start : header.end]
        shown = shorten(identifier)
        shape = name_defect(identifier, None, header)
        if not identifier:
            self._say(DefectCode.MISSING_NAME, "the call has no id, which would name its function", opening)
        elif _NAMELESS.fullmatch(identifier) or _ID.fullmatch(identifier):
            message = f"the id {shown} names no function (it is {_SHOWN_ID})"
            self._say(DefectCode.MISSING_NAME, message, header)
        elif shape is not None and shape.code is DefectCode.NAME_IS_EXPRESSION:
            self._out.add_defects([shape])
        else:
            message = f"the id {shown} is not of the form {_SHOWN_ID}"
            self._say(DefectCode.MALFORMED_MARKUP, message, header)


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    if not calls:
        return ""
    written = "".join(
        f"{_TAGS.call_begin}functions.{name}:{index}{_TAGS.separator}"
        f"{json.dumps(arguments, ensure_ascii=False)}{_TAGS.call_end}"
        for index, (name, arguments) in enumerate(calls)
    )
    return f"{_TAGS.begin}{written}{_TAGS.end}"


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    return f"""# Tools

You can call functions to help with what the user asks. This list declares them:
{json.dumps(list(declared), ensure_ascii=False)}

To call functions, end your answer with one section of calls. Each call has an id, made of the function's \
name and a number that counts the calls from 0, and the arguments as a JSON object. Write no spaces or \
newlines between the tags:
{_TAGS.begin}{_TAGS.call_begin}functions.<function-name>:<number>{_TAGS.separator}<arguments-as-json-object>\
{_TAGS.call_end}{_TAGS.end}
To make several calls, write several of them, from {_TAGS.call_begin} to {_TAGS.call_end}, in the section."""


def _render_result(name: str, content: str) -> str:
    return f"## Return of {name}\n{content}"


KIMI_K2 = Dialect(
    name="kimi_k2",
    summary="JSON with an id, in sections of <|tool_call_begin|>: Kimi K2, K2 Thinking, K2.5",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(_TAGS.begin, _TAGS.end, _TAGS.call_begin, _TAGS.separator, _TAGS.call_end),
)
