r"""Llama 3 JSON: Llama 3.1, 3.2 and 3.3.

    message := thinking? ws (calls | content)
    calls   := "<|python_tag|>"? ws object (ws ";" ws object)* ws
    object  := {"name": STRING, "parameters": OBJECT}        # beside them at most "type": "function"
    ws      := [ \t\n\r]*

The call is the whole message. The template allows one; servers split several at a semicolon, which is noted,
as is the `type` that the model's own documentation shows. Without the tag, JSON that has no member of a call
is an answer in JSON and no call. Each object is a block: after a broken one reading goes on at the next object
that follows a semicolon.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial

from .arguments import kind_of
from .call_object import duplicate_defects, member_span, object_defects, read_call
from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .families import bare_calls, foreign_markup, is_call
from .json_path import shorten
from .json_scanner import Decoded, JsonError, JsonFault, Member, decode_located
from .reasoning import StartsInReasoning, split_reasoning
from .repetition import repeated_at
from .result import JsonObject, Parsed, Span
from .strict_json import decode
from .tools import Tools
from .transcript import Transcript

TAG = "<|python_tag|>"

_KEY = "parameters"
_JUDGED_REPEATS = 16
_WHITESPACE = re.compile(r"[ \t\n\r]*+")
_QUOTATION_MARKS = frozenset("`\"'")
_JSON_FIRST = frozenset('{}[],:"-0123456789')
_MEMBERS = ("name", "parameters", "arguments", "type", "function")
# How an object begins that may be a call, whole or cut, right or wrong.
_BEGINS_CALL = re.compile(rf"\{{++\s*+(?:[\"']?(?:{'|'.join(_MEMBERS)})[\"']?\s*+:|\Z)")
_KEY_BEGUN = re.compile(r"\{\s*+\"([a-z]*+)\"?\s*+\Z")
_NEXT = re.compile(r";[ \t\n\r]*+(?=\{)")
_PIECE = re.compile(r"[^;{]*+")
_BUILT_IN = re.compile(r"[A-Za-z_][\w.]{0,127}+\(")
_FENCE = re.compile(r"```[\w-]*+\s*+\Z")
_FENCE_LENGTH = 32
_SUSPECT = re.compile(r"[<\[{]")


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None neither names nor schemas are checked.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    return _Reader(Transcript(text, tools, split)).read(split.answer)


class _Reader:
    """Reads the one message. Methods return where reading goes on."""

    def __init__(self, transcript: Transcript) -> None:
        self._out = transcript
        self._text = transcript.text
        self._errors = 0
        self._calls_begun = 0

    def read(self, start: int) -> Parsed:
        """Read the message that begins at `start`."""
        position = self._skip(start)
        if self._text.startswith(TAG, position):
            self._out.add_content(start, position)
            self._tagged(position)
        elif self._begins_calls(position):
            self._out.add_content(start, position)
            self._calls(position, position)
        else:
            self._content(start)
        return self._out.finish()

    def _begins_calls(self, position: int) -> bool:
        """Return True if what stands here without a tag is a call, or may be the beginning of one."""
        text = self._text
        if len(text) - position < len(TAG) and TAG.startswith(text[position:]):
            return False  # nothing, or an unfinished tag
        begun = _KEY_BEGUN.match(text, position)
        if begun is not None:
            return any(member.startswith(begun[1]) for member in _MEMBERS)
        if _BEGINS_CALL.match(text, position) is None:
            return False
        read = decode(text, position)
        if isinstance(read, JsonError) or not isinstance(read.value, Mapping):
            return True
        members = set(read.value)
        return bool(members & {"parameters", "arguments"}) or members <= {"name", "type"}

    def _tagged(self, start: int) -> None:
        """Read what follows the tag that begins at `start`."""
        text, body = self._text, start + len(TAG)
        position = self._skip(body)
        built_in = _BUILT_IN.match(text, position)
        if text.startswith(TAG, position):
            end = position + len(TAG)
            self._say(DefectCode.NESTED_OPEN, "the tag stands twice before one call", position, end)
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, f'"{TAG}" stands twice in a row', position, end)
            self._tagged(position)
        elif position == len(text) or TAG.startswith(text[position:]):
            self._out.end_open(start, body)
        elif text.startswith("{", position):
            self._calls(start, position)
        elif built_in is not None:
            message = f"{shorten(built_in.group())} begins a call of a built-in tool, which is no JSON"
            self._say(DefectCode.WRONG_DIALECT, message, *built_in.span())
        else:
            self._no_object(position)

    def _no_object(self, position: int) -> None:
        """Judge what stands where the object of a call should begin."""
        text = self._text
        end = len(text.rstrip())
        foreign = foreign_markup(text, "llama3_json", position)
        read = decode_located(text, position)
        if foreign is not None:
            self._say(DefectCode.WRONG_DIALECT, f"{self._shown(*foreign)} belongs to another dialect", *foreign)
        elif isinstance(read, Decoded):
            message = f"a call is a JSON object, not {kind_of(read.value)}"
            self._say(DefectCode.NOT_AN_OBJECT, message, position, read.end)
        else:
            message = f"the text {self._shown(position, end)} stands where a JSON object should begin"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, position, end)

    def _calls(self, start: int, position: int) -> None:
        """Read `object (";" object)*`, the first of which begins at `position` and its block at `start`."""
        text = self._text
        while True:
            after = self._object(start, position)
            if after is None:
                return
            found = _NEXT.match(text, after)
            if found is None:
                return
            start = position = found.end()
            message = "another call is joined with a semicolon; the template allows one in a message"
            self._out.add_note(NoteCode.JOINED_CALLS, message, found.start(), found.start() + 1)

    def _object(self, start: int, position: int) -> int | None:
        """Read one object; return where the semicolon after it stands, or None at the end of the text."""
        text, out = self._text, self._out
        read = decode(text, position)
        if isinstance(read, JsonError):
            return self._broken_json(start, position, read)
        after = self._skip(read.end)
        value = read.value
        place = Span(position, read.end)
        extra = isinstance(value, Mapping) and value.get("type") == "function"
        known = {key: value[key] for key in value if key != "type"} if isinstance(value, Mapping) and extra else value
        call = read_call(known, out.tools, _KEY) if not read.duplicates else None
        if call is None:
            self._judge_members(decode_located(text, position), read.duplicates, place)
        if extra:
            message = 'the call has the member "type", which the template does not write'
            out.add_note(NoteCode.EXTRA_MEMBER, message, *member_span(text, position, "type"))
        if call is not None:
            out.judge_contract(*call, partial(self._member, position))
        if after == len(text) or _NEXT.match(text, after) is not None:
            if call is not None:
                out.add_call(*call, Span(start, read.end))
            return None if after == len(text) else after
        return self._resume_after(after)
