r"""Hermes JSON: Hermes 2 and 3, Qwen2.5, QwQ, Qwen3 other than Coder, Granite 4, Reka Edge.

    output := thinking? (content | call)*
    call   := "<tool_call>" ws object ws "</tool_call>"
    object := {"name": STRING, "arguments": OBJECT}
    ws     := [ \t\n\r]*           # the template writes one newline on either side, Hermes models none

A tag inside a JSON string is data, so a block is found with a JSON decoder and not by its closing tag. After
a broken block reading goes on at the next tag; a string that the error follows at once is not trusted to be
one, for a missing quotation mark swallows tags. A tag between two equal quotation marks or backticks is talk.
"""

import json
import re
from collections.abc import Sequence
from functools import partial

from .arguments import kind_of
from .blocks import BlockReader
from .call_object import duplicate_defects, member_span, object_defects, read_call
from .codes import DefectCode, NoteCode
from .contract import keeps_contract
from .dialect import Dialect
from .families import foreign_markup
from .flawless import read_flawless
from .json_path import shorten
from .json_scanner import Decoded, JsonError, JsonFault, decode_located
from .reasoning import StartsInReasoning, split_reasoning
from .repetition import repeated_at
from .result import JsonObject, Parsed, Span
from .strict_json import decode, decode_flawless
from .tools import Tools
from .transcript import Transcript

OPEN = "<tool_call>"
CLOSE = "</tool_call>"

_JUDGED_REPEATS = 16  # a text with more broken objects than that is no riddle any more
_JSON_FIRST = frozenset('{}[],:"-0123456789')
_VALUE_FIRST = re.compile(r"[\[\"\-0-9]|(?:true|false|null)\b")
_SOME_TAG = re.compile(r"</?[A-Za-z_|][^<>\n]{0,60}>?")
# How a call of GLM begins (its name, then a newline, a key or the end), and one in the form of Python.
_OTHER_CALL = re.compile(r"([A-Za-z_][\w.:/-]{0,127}+(?:\(|(?=[ \t]*+(?:\n|<arg_key>|</tool_call>))))")


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None neither names nor schemas are checked.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    flawless = read_flawless(text, tools, split, (OPEN, CLOSE), _read_flawless_block)
    return flawless or _Reader(Transcript(text, tools, split)).read(split.answer)


def _read_flawless_block(body: str, tools: Tools | None) -> tuple[str, JsonObject] | None:
    if body[:1] != "\n" or body[-1] != "\n":
        return None  # some servers want these newlines
    call = read_call(decode_flawless(body), tools)
    if call is None or (tools is not None and not keeps_contract(tools, *call)):
        return None
    return call


class _Reader(BlockReader):
    """Reads the object of a block. Each method reads on and returns where reading goes on."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, OPEN, CLOSE, "hermes")
        self._framing_noted = False
        self._errors = 0

    def _body(self, start: int, body: int, position: int) -> int:
        if not self._text.startswith("{", position):
            return self._no_object(start, body, position)
        read = decode(self._text, position, self._next_start(position))
        if isinstance(read, JsonError):
            return self._broken_json(start, body, read)
        return self._after_object(start, body, position, read)

    def _after_object(self, start: int, body: int, position: int, read: Decoded) -> int:
        """Read what follows a whole object: the closing tag, or what should not be there."""
        text, out = self._text, self._out
        call = read_call(read.value, out.tools) if not read.duplicates else None
        if call is None:
            self._judge_members(position, read)
        elif out.tools is not None:
            out.judge_contract(*call, partial(member_span, text, position))
        after = self._skip(read.end)
        if text.startswith(CLOSE, after):
            end = after + len(CLOSE)
            if call is not None:
                out.add_call(*call, Span(start, end))
                if not self._framing_noted:
                    self._judge_framing(Span(body, position), Span(read.end, after))
            return end
        if after == self._tail:
            return self._end_open(start, body)
        if text.startswith(OPEN, after):
            return self._nested_open(after)
        place = Span(after, self._piece_end(after))
        first = text[after]
        if text.startswith("</", after):
            self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(place)} is no closing tag of a call", place)
        elif first in _JSON_FIRST:
            self._say(
                DefectCode.TRAILING_DATA, f"{self._shown(place)} follows the object in its block", place
            )
        else:
            message = f"the text {self._shown(place)} stands between the object and the closing tag"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)
        return self._resume(start, body, after)

    def _broken_json(self, start: int, body: int, error: JsonError) -> int:
        """Say where the JSON of a block breaks, and find the tag after which to go on."""
        text, position = self._text, error.position
        self._judge_members(position, error)
        if error.fault is JsonFault.TRUNCATED:
            return self._end_open(start, body)
        if not error.in_string:
            if position == self._tail:
                return self._end_open(start, body)
            if text.startswith(CLOSE, position):
                message = "the JSON ends before it is whole, and the block is closed"
                self._say(DefectCode.TRUNCATED_JSON, message, Span(position, position))
                return position + len(CLOSE)
            if text.startswith(OPEN, position):
                return self._nested_open(position)
        self._say(DefectCode.INVALID_JSON, error.message, Span(position, position + 1))
        self._errors += 1
        unit = repeated_at(text, position) if self._errors <= _JUDGED_REPEATS else None
        if unit is not None:
            message = f"{shorten(unit)} stands twice in a row"
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, message, position, position + 1)
        return self._resume(start, body, error.string_start)

    def _no_object(self, start: int, body: int, position: int) -> int:
        """Judge a block that does not begin with an object."""
        text = self._text
        piece = Span(position, self._piece_end(position))
        foreign = foreign_markup(text, self._family, *piece)
        if foreign is not None:
            message = f"{self._shown(foreign)} belongs to another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, foreign)
        elif text.startswith("```", position):
            message = "a Markdown fence stands inside the block"
            self._say(DefectCode.WRONG_DIALECT, message, Span(position, position + 3))
        elif (found := _OTHER_CALL.match(text, position)) is not None:
            message = f"{shorten(found[1])} begins a call of another dialect, not a JSON object"
            self._say(DefectCode.WRONG_DIALECT, message, Span(*found.span(1)))
        elif _VALUE_FIRST.match(text, position):
            return self._other_value(start, body, position)
        elif (broken := _SOME_TAG.match(text, position)) is not None:
            message = f"{shorten(broken.group())} stands where a JSON object should begin"
            self._say(DefectCode.MALFORMED_MARKUP, message, Span(*broken.span()))
        elif text[position] in _JSON_FIRST or text[position] == "'":
            message = f"a call is a JSON object and begins with {{, not {shorten(text[position])}"
            self._say(DefectCode.INVALID_JSON, message, Span(position, position + 1))
        else:
            brace = text.find("{", *piece)
            place = Span(position, self._piece_end(position, brace if brace >= 0 else None))
            message = f"the text {self._shown(place)} stands where a JSON object should begin"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)
        return self._resume(start, body, position)

    def _other_value(self, start: int, body: int, position: int) -> int:
        """Judge a block that begins with some other JSON value."""
        read = decode_located(self._text, position)
        if isinstance(read, JsonError):
            return self._broken_json(start, body, read)
        after = self._skip(read.end)
        if self._text.startswith(":", after):
            message = "a member stands here without the { that begins its object"
            self._say(DefectCode.INVALID_JSON, message, Span(position, position + 1))
        else:
            message = f"a call is a JSON object, not {kind_of(read.value)}"
            self._say(DefectCode.NOT_AN_OBJECT, message, Span(position, read.end))
        return self._resume(start, body, read.end)

    def _judge_members(self, position: int, read: Decoded | JsonError) -> None:
        """Judge the members that are whole, of an object that is no call."""
        out = self._out
        place: Span | None = None
        if isinstance(read, Decoded):
            place = Span(position, read.end)
            read = read if read.members else decode_located(self._text, position)
        defects = object_defects(read.members, out.tools, place)
        if isinstance(read, JsonError) and read.fault is JsonFault.INVALID:
            # The object will never name a function; what it would have named does not matter.
            defects = [defect for defect in defects if not defect.code.is_contract]
        out.add_defects(defects)
        out.add_defects(duplicate_defects(self._text, read.duplicates))

    def _judge_framing(self, before: Span, after: Span) -> None:
        """Note once that the newlines of the template are missing: some servers want them."""
        for start, end in (before, after):
            if "\n" not in self._text[start:end]:
                self._framing_noted = True
                message = "the template writes a newline between the tag and the object"
                self._out.add_note(NoteCode.MISSING_NEWLINE, message, start, end)
                return


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    return "\n".join(
        f"{OPEN}\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n{CLOSE}"
        for name, arguments in calls
    )


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    tools = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in declared)
    return f"""# Tools

You can call functions to help with what the user asks. Their signatures stand between <tools> and </tools>:
<tools>
{tools}
</tools>

To call a function, write a JSON object with its name and its arguments between {OPEN} and {CLOSE}:
{OPEN}
{{"name": <function-name>, "arguments": <arguments-as-json-object>}}
{CLOSE}
To make several calls, write several such blocks one after another."""


def _render_result(_name: str, content: str) -> str:
    return f"<tool_response>\n{content}\n</tool_response>"


HERMES = Dialect(
    name="hermes",
    summary="JSON in <tool_call> tags: Hermes, Qwen2.5, QwQ, Qwen3 other than Coder, Granite 4",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(OPEN, CLOSE),
)
