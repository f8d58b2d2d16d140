r"""Llama 3 JSON: Llama 3.1, 3.2 and 3.3.

    message := thinking? ws (calls ws | content)
    calls   := ("<|python_tag|>" ws)? object (ws ";" ws object)*
    object  := {"name": STRING, "parameters": OBJECT}        # beside them at most "type": "function"
    ws      := [ \t\n\r]*

The call is the whole message. The template allows one; servers split several at a semicolon, which is noted,
and so is the `type` of the model's own documentation. Each object is a block: after a broken one reading goes
on at the next call that follows a semicolon. Without the tag, an object that has a member no call has, and
neither parameters nor arguments, is an answer in JSON and no call.
"""

import json
import re
from collections.abc import Mapping, Sequence

from .arguments import kind_of
from .call_object import duplicate_defects, member_span, object_defects, read_call
from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .families import bare_calls, foreign_markup, is_call
from .json_path import shorten
from .json_scanner import Decoded, JsonError, JsonFault, decode_located
from .reasoning import StartsInReasoning, split_reasoning
from .repetition import repeated_at
from .result import Json, JsonObject, Parsed, Span
from .strict_json import decode
from .tools import Tools
from .transcript import Transcript

TAG = "<|python_tag|>"

_KEY = "parameters"
_TYPE = ("type", "function")
_SURE = frozenset({"parameters", "arguments"})  # members that only a call has
_JUDGED_REPEATS = 16  # a text with more broken objects than that is no riddle any more
_WHITESPACE = re.compile(r"[ \t\n\r]*+")
_QUOTATION_MARKS = frozenset("`\"'")
_JSON_FIRST = frozenset('{}[],:"-0123456789')
_FIRST_MEMBERS = ("name", "parameters", "arguments", "type", "id", "function")
_CALL_OBJECT = rf"\{{++\s*+[\"']?(?:{'|'.join(_FIRST_MEMBERS)})[\"']?\s*+:"
_BEGINS_CALL = re.compile(_CALL_OBJECT)
_KEY_BEGUN = re.compile(r"\{[ \t\n\r]*+(?:\"([a-z]*+)(?:\"[ \t\n\r]*+)?)?\Z")  # JSON so far
_NEXT = re.compile(rf";[ \t\n\r]*+(?={_CALL_OBJECT})")
_SEMICOLON_LAST = re.compile(r";\s*+(?:\{\s*+(?:\"[a-z]*+(?:\"\s*+)?)?)?\Z")
_BUILT_IN = re.compile(r"[A-Za-z_][\w.]{0,127}+\(")
_PYTHONIC = re.compile(r"\[[A-Za-z_][\w.]{0,127}+\([^\n]*\)\]\s*\Z")
_FENCE = re.compile(r"```[\w-]*+\s*+\Z")
_FENCE_LENGTH = 32


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
    """Reads the one message that a text is."""

    def __init__(self, transcript: Transcript) -> None:
        self._out = transcript
        self._text = transcript.text
        self._errors = 0

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
            self._out.add_content(start, len(self._text))
            self._judge_content(start, position)
        return self._out.finish()

    def _begins_calls(self, position: int) -> bool:
        """Return True if a call begins here without the tag, or something that may yet become one."""
        begun = _KEY_BEGUN.match(self._text, position)
        if begun is not None:
            key = begun[1] or ""
            return any(member.startswith(key) for member in _FIRST_MEMBERS)
        if _BEGINS_CALL.match(self._text, position) is None:
            return False
        read = self._decode(position)
        if isinstance(read, Decoded) and isinstance(read.value, Mapping):
            keys = set(read.value)
        else:
            keys = {member.key for member in read.members}
        return bool(keys & _SURE) or keys <= {"name", "type"}

    def _tagged(self, start: int) -> None:
        """Read what follows the tag that begins at `start`."""
        text = self._text
        body = start + len(TAG)
        position = self._skip(body)
        while text.startswith(TAG, position):
            place = Span(position, position + len(TAG))
            self._say(DefectCode.NESTED_OPEN, "the tag stands again before the call", place)
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, f'"{TAG}" stands twice in a row', *place)
            start, body = place
            position = self._skip(body)
        if TAG.startswith(text[position:]):
            self._out.end_open(start, body)
        elif text.startswith("{", position):
            self._calls(start, position)
        else:
            self._no_object(position)

    def _no_object(self, position: int) -> None:
        """Judge what stands after the tag where an object should begin."""
        place = Span(position, len(self._text.rstrip()))
        foreign = foreign_markup(self._text, "llama3_json", position)
        if foreign is not None:
            self._say(DefectCode.WRONG_DIALECT, f"{self._shown(foreign)} belongs to another dialect", foreign)
        elif (built_in := _BUILT_IN.match(self._text, position)) is not None:
            message = f"{shorten(built_in.group())} begins a call of a built-in tool, not a JSON object"
            self._say(DefectCode.WRONG_DIALECT, message, Span(*built_in.span()))
        elif isinstance(read := decode_located(self._text, position), Decoded):
            message = f"a call is a JSON object, not {kind_of(read.value)}"
            self._say(DefectCode.NOT_AN_OBJECT, message, Span(position, read.end))
        else:
            message = f"the text {self._shown(place)} stands where a JSON object should begin"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)

    def _calls(self, start: int, position: int) -> None:
        """Read objects from `position` on; the block of the first begins at `start`."""
        while (semicolon := self._object(start, position)) is not None:
            found = _NEXT.match(self._text, semicolon)
            if found is None:  # the next call is only begun
                self._out.end_open(semicolon, semicolon + 1)
                return
            message = "another call is joined with a semicolon; the template allows one in a message"
            self._out.add_note(NoteCode.JOINED_CALLS, message, semicolon, semicolon + 1)
            start = position = found.end()

    def _object(self, start: int, position: int) -> int | None:
        """Read one object; return where the semicolon is that another follows, or None at the end."""
        text, out = self._text, self._out
        read = self._decode(position)
        if isinstance(read, JsonError):
            return self._broken_json(start, position, read)
        is_typed = isinstance(read.value, Mapping) and _TYPE in read.value.items()
        call = read_call(_untyped(read.value), out.tools, _KEY) if not read.duplicates else None
        if call is None:
            located = decode_located(text, position)
            self._judge_members(located, Span(position, read.end))
        else:
            out.judge_contract(*call, lambda word: member_span(text, position, _member(word)))
        after = self._skip(read.end)
        is_last = after == len(text)
        if not is_last and not self._is_semicolon(after):
            return self._trailing(after)
        if call is not None:
            out.add_call(*call, Span(start, read.end))
            if is_typed:
                message = 'the template does not write the member "type"'
                out.add_note(NoteCode.EXTRA_MEMBER, message, *member_span(text, position, "type"))
        return None if is_last else after

    def _trailing(self, position: int) -> int | None:
        """Judge what follows an object and is no semicolon with another; it costs the object its call."""
        following = _NEXT.search(self._text, position + 1)
        end = len(self._text) if following is None else following.start()
        place = Span(position, position + len(self._text[position:end].rstrip()))
        if self._text[position] in _JSON_FIRST:
            message = f"{self._shown(place)} follows the call"
            self._say(DefectCode.TRAILING_DATA, message, place)
        else:
            message = f"the text {self._shown(place)} follows the call, which is the whole message"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)
        return None if following is None else following.start()

    def _broken_json(self, start: int, position: int, error: JsonError) -> int | None:
        """Say where the JSON of a call breaks, and find the semicolon at which to go on."""
        text, place = self._text, error.position
        is_tagged = text.startswith(TAG, start)
        # Without a tag it may still turn out to be an answer, until a member shows that it is a call.
        if is_tagged or error.fault is JsonFault.INVALID or any(each.key in _SURE for each in error.members):
            self._judge_members(error, None)
        if error.fault is JsonFault.TRUNCATED:
            opening = TAG if is_tagged else "{"
            self._out.end_open(start, start + len(opening))
            return None
        if not error.in_string and _NEXT.match(text, place) is not None:
            message = "the JSON ends before it is whole, and another call follows"
            self._say(DefectCode.TRUNCATED_JSON, message, Span(place, place))
            return place
        self._say(DefectCode.INVALID_JSON, error.message, Span(place, place + 1))
        self._errors += 1
        unit = repeated_at(text, place) if self._errors <= _JUDGED_REPEATS else None
        if unit is not None:
            message = f"{shorten(unit)} stands twice in a row"
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, message, place, place + 1)
        following = _NEXT.search(text, max(error.string_start, position + 1))
        return None if following is None else following.start()

    def _judge_members(self, read: Decoded | JsonError, place: Span | None) -> None:
        """Judge the members that are whole, of an object that is no call."""
        members = [member for member in read.members if (member.key, member.value) != _TYPE]
        defects = object_defects(members, self._out.tools, place, _KEY)
        if isinstance(read, JsonError) and read.fault is JsonFault.INVALID:
            # The object will never name a function; what it would have named does not matter.
            defects = [defect for defect in defects if not defect.code.is_contract]
        self._out.add_defects([*defects, *duplicate_defects(self._text, read.duplicates)])

    def _judge_content(self, start: int, position: int) -> None:
        """Look in a message that is no call for calls all the same."""
        text, end = self._text, len(self._text)
        foreign = foreign_markup(text, "llama3_json", start)
        tag = _unquoted(text, TAG, start)
        if tag is not None and (foreign is None or tag < foreign):
            message = f"{self._shown(tag)} stands inside the message, which a call is the whole of"
            self._say(DefectCode.MALFORMED_MARKUP, message, tag)
        elif foreign is not None:
            self._say(DefectCode.WRONG_DIALECT, f"{self._shown(foreign)} belongs to another dialect", foreign)
        elif (pythonic := _PYTHONIC.match(text, position)) is not None:
            place = Span(position, position + len(pythonic.group().rstrip()))
            self._say(DefectCode.WRONG_DIALECT, "a list of Python calls stands instead of JSON", place)
        elif (place := self._list_of_calls(position)) is not None:
            self._say(DefectCode.NOT_AN_OBJECT, "a call is a JSON object, not a list", place)
        else:
            for place in bare_calls(text, start, end, self._out.tools):
                before = max(start, place.start - _FENCE_LENGTH)
                is_fenced = _FENCE.search(text, before, place.start) is not None
                where = "in a Markdown fence" if is_fenced else "in other text"
                message = f"a call stands {where}, not as the whole message"
                self._say(DefectCode.WRONG_DIALECT, message, place)

    def _list_of_calls(self, position: int) -> Span | None:
        """Return where a list stands that begins with a call, or None."""
        if not self._text.startswith("[", position):
            return None
        read = decode(self._text, position)
        if isinstance(read, JsonError) or not isinstance(read.value, list) or not read.value:
            return None
        first = read.value[0]
        is_list = isinstance(first, Mapping) and is_call(first, self._out.tools)
        return Span(position, read.end) if is_list else None

    # Small words.

    def _decode(self, position: int) -> Decoded | JsonError:
        following = _NEXT.search(self._text, position)
        return decode(self._text, position, None if following is None else following.start())

    def _say(self, code: DefectCode, message: str, place: Span) -> None:
        self._out.add_defect(code, message, *place)

    def _shown(self, place: Span) -> str:
        return shorten(self._text[place.start : min(place.end, place.start + 100)], 40)

    def _skip(self, position: int) -> int:
        found = _WHITESPACE.match(self._text, position)
        return position if found is None else found.end()

    def _is_semicolon(self, position: int) -> bool:
        """Return True if a semicolon stands here with another call after it, or with the end."""
        semicolon = _NEXT.match(self._text, position) or _SEMICOLON_LAST.match(self._text, position)
        return semicolon is not None


def _untyped(value: Json) -> Json:
    """Return an object without the member that says no more than that it is a call."""
    if not isinstance(value, Mapping) or _TYPE not in value.items():
        return value
    return {key: value[key] for key in value if key != _TYPE[0]}


def _member(word: str) -> str:
    return _KEY if word == "arguments" else word


def _unquoted(text: str, tag: str, start: int) -> Span | None:
    """Return the first place of a tag that no quotation mark stands before: that would be talk about it."""
    position = text.find(tag, start)
    while position >= 0 and text[max(0, position - 1) : position] in _QUOTATION_MARKS:
        position = text.find(tag, position + 1)
    return None if position < 0 else Span(position, position + len(tag))


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    return "; ".join(
        json.dumps({"name": name, _KEY: arguments}, ensure_ascii=False) for name, arguments in calls
    )


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    tools = "\n\n".join(json.dumps(tool, ensure_ascii=False, indent=4) for tool in declared)
    return f"""You can call functions to help with what the user asks. These are declared:

{tools}

To call a function, answer with nothing but a JSON object that has its name and its parameters:
{{"name": <function-name>, "parameters": <parameters-as-json-object>}}
To make several calls, write several such objects with a semicolon and a space between them."""


def _render_result(name: str, content: str) -> str:
    return f"Result of {name}:\n{content}"


LLAMA3_JSON = Dialect(
    name="llama3_json",
    summary="JSON with parameters, as the whole message: Llama 3.1, 3.2, 3.3",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(TAG,),
)
