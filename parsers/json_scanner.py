r"""The scanner behind `strict_json`: one JSON value, read with positions and an explicit stack.

value  := object | array | string | number | "true" | "false" | "null"
object := "{" (string ":" value ("," string ":" value)*)? "}"
array  := "[" (value ("," value)*)? "]"
"""

import json
import math
import re
from enum import StrEnum

import msgspec

from .result import Json, Span

MAX_DEPTH = 200
MAX_NUMBER_LENGTH = 4300

_WHITESPACE = re.compile(r"[ \t\n\r]*+")
_BLANK = frozenset(" \t\n\r")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
# A key without escapes, and its colon.
_PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE_LENGTH = 6
_HIGH_HALVES = range(0xD800, 0xDC00)
_LOW_HALVES = range(0xDC00, 0xE000)
_ESCAPE_START = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NUMBER_START = re.compile(r"-?(?:(?:0|[1-9][0-9]*+)(?:(?:\.[0-9]++)?[eE][+-]?[0-9]*+|\.[0-9]*+)?)?")
_NUMBER_FIRST = frozenset("-0123456789")
_LITERALS: dict[str, tuple[str, Json]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
_WORD = re.compile(r"[A-Za-z]{1,20}")
_FOREIGN_WORDS = {
    "True": "Python's True; JSON writes true",
    "False": "Python's False; JSON writes false",
    "None": "Python's None; JSON writes null",
    "NaN": "NaN, which JSON does not have",
    "Infinity": "Infinity, which JSON does not have",
    "undefined": "undefined, which JSON does not have",
}


class JsonFault(StrEnum):
    """How a text fails to be JSON."""

    TRUNCATED = "truncated"  # valid so far, and the text ends
    INVALID = "invalid"  # no continuation could mend it


class Member(msgspec.Struct, frozen=True):
    """A member of the outermost object, with the places of its key and its value."""

    key: str
    key_span: Span
    value: Json
    value_span: Span


class Decoded(msgspec.Struct, frozen=True):
    """One JSON value, which ends at `end`. Of a repeated key the last value counts, as in `json.loads`."""

    value: Json
    end: int
    members: tuple[Member, ...] = ()
    duplicates: tuple[Span, ...] = ()


class JsonError(msgspec.Struct, frozen=True):
    """A text that is no JSON value.

    `position` is the first character that cannot stand there (the end of the text if truncated), `message`
    says why. `in_string` says that the place is inside a string, and `string_start` is where the string
    begins in which, or right after which, the error stands (else `position`): a quotation mark that is
    missing swallows text up to there. `members` and `duplicates` hold what was whole before the error.
    """

    fault: JsonFault
    position: int
    message: str
    in_string: bool = False
    string_start: int = 0
    members: tuple[Member, ...] = ()
    duplicates: tuple[Span, ...] = ()


def decode_located(text: str, start: int = 0) -> Decoded | JsonError:
    """Decode the JSON value that begins at `start`, and keep the places of the outermost object's members.

    Whitespace before the value is skipped; what follows it is the caller's to read.
    """
    return _Scanner(text, start).scan()


class _Stop(Exception):  # noqa: N818 - carries an error out of the scanner, is none itself
    """The scanner's way out at the first error."""

    def __init__(self, error: JsonError) -> None:
        super().__init__(error.message)
        self.error = error


class _Scanner:
    """Reads one value with an explicit stack, keeping positions.

    Containers that are open stand in `_open`; `_keys` holds for each of them the key whose value is awaited
    (empty in an array).
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._position: int = start
        self._open: list[dict[str, Json] | list[Json]] = []
        self._keys: list[str] = []
        self._members: list[Member] = []
        self._duplicates: list[Span] = []
        self._outer_key = Span(start, start)
        self._outer_value_start: int = start
        self._last_string: tuple[int, int] = (-1, -1)

    def scan(self) -> Decoded | JsonError:
        """Return the value, or the first error with what was whole before it."""
        try:
            value = self._value()
        except _Stop as stop:
            return stop.error
        return Decoded(value, self._position, tuple(self._members), tuple(self._duplicates))

    def _value(self) -> Json:
        while True:
            self._skip()
            if len(self._open) == 1:
                self._outer_value_start = self._position
            opened = self._text[self._position : self._position + 1]
            done: Json
            if opened in {"{", "["}:
                if self._enter(opened):
                    continue
                done = self._open.pop()
                _ = self._keys.pop()
            else:
                done = self._scalar(opened)
            while True:  # a value is whole: put it into its container, and close what closes
                if not self._open:
                    return done
                if self._put(done):
                    break
                done = self._open.pop()
                _ = self._keys.pop()

    def _enter(self, opened: str) -> bool:
        """Open a container; return False if it closes at once."""
        if len(self._open) >= MAX_DEPTH:
            raise self._fail(self._position, f"JSON nested more than {MAX_DEPTH} levels deep is not read")
        self._position += 1
        self._open.append({} if opened == "{" else [])
        self._keys.append("")
        self._skip()
        if self._text.startswith("}" if opened == "{" else "]", self._position):
            self._position += 1
            return False
        if opened == "{":
            self._key("a string in double quotes, as key, or }")
        return True

    def _put(self, value: Json) -> bool:
        """Put a value into the innermost container; return False if that container closes after it."""
        container = self._open[-1]
        closing = "]"
        if isinstance(container, dict):
            container[self._keys[-1]] = value
            closing = "}"
            if len(self._open) == 1:
                place = Span(self._outer_value_start, self._position)
                self._members.append(Member(self._keys[-1], self._outer_key, value, place))
        else:
            container.append(value)
        self._skip()
        found = self._text[self._position : self._position + 1]
        if found == closing:
            self._position += 1
            return False
        if found != ",":
            raise self._unexpected(f"a comma or {closing}")
        self._position += 1
        if isinstance(container, dict):
            self._skip()
            if self._text.startswith("}", self._position):
                raise self._fail(self._position, "a comma must not stand before }")
            self._key("a string in double quotes, as key,")
        else:
            self._skip()
            if self._text.startswith("]", self._position):
                raise self._fail(self._position, "a comma must not stand before ]")
        return True

    def _key(self, wanted: str) -> None:
        """Read a key and its colon."""
        start = self._position
        plain = _PLAIN_KEY.match(self._text, start)
        if plain is not None:
            key, self._position = plain[1], plain.end(1) + 1
            self._last_string = (start, self._position)
        elif self._text.startswith('"', start):
            key = self._string()
        else:
            raise self._unexpected(wanted)
        container = self._open[-1]
        if isinstance(container, dict) and key in container:
            self._duplicates.append(Span(start, self._position))
        self._keys[-1] = key
        if len(self._open) == 1:
            self._outer_key = Span(start, self._position)
        if plain is not None:
            self._position = plain.end()
            return
        self._skip()
        if not self._text.startswith(":", self._position):
            raise self._unexpected("a colon")
        self._position += 1

    def _scalar(self, first: str) -> Json:
        if first == '"':
            return self._string()
        if first in _LITERALS:
            return self._literal(*_LITERALS[first])
        if first in _NUMBER_FIRST:
            return self._number()
        raise self._unexpected("a value")

    def _literal(self, word: str, value: Json) -> Json:
        for offset, letter in enumerate(word):
            if not self._text.startswith(letter, self._position + offset):
                self._position += offset
                raise self._unexpected(f"the rest of {word}")
        self._position += len(word)
        return value

    def _number(self) -> Json:
        text, start = self._text, self._position
        begun = _NUMBER_START.match(text, start)
        assert begun is not None  # noqa: S101 - the pattern matches the empty string
        matched = _NUMBER.match(text, start)
        if matched is None or matched.end() != begun.end():
            self._position = begun.end()
            raise self._unexpected("a digit")
        after = text[begun.end() : begun.end() + 1]
        if after and after in "0123456789":
            raise self._fail(begun.end(), "a number must not begin with 0 and another digit")
        literal = matched.group()
        self._position = begun.end()
        digits = literal.removeprefix("-")
        if len(digits) > MAX_NUMBER_LENGTH:
            raise self._fail(start, f"a number of more than {MAX_NUMBER_LENGTH} characters is not read")
        if digits.isdecimal():
            return self._integer(literal, start)
        number = float(literal)
        if math.isinf(number):
            raise self._fail(start, "a number beyond the range of a double would become infinite")
        return number

    def _integer(self, literal: str, start: int) -> int:
        try:
            return int(literal)
        except ValueError:  # the interpreter's own limit is set lower than ours
            raise self._fail(start, "a number of more digits than this Python reads") from None

    def _string(self) -> str:
        text, start = self._text, self._position
        matched = _STRING.match(text, start)
        assert matched is not None  # noqa: S101 - the caller saw the quotation mark
        end = matched.end()
        has_escape = "\\" in matched.group()
        if has_escape and _SURROGATE.search(text, start, end):
            lone = self._lone_surrogate(start, end)
            if lone is not None:
                raise self._stop(JsonFault.INVALID, lone, "a lone surrogate escape is no character", start)
        if not text.startswith('"', end):
            raise self._unclosed_string(start, end)
        self._position = end + 1
        self._last_string = (start, end + 1)
        return json.loads(text[start : end + 1]) if has_escape else text[start + 1 : end]

    def _unclosed_string(self, start: int, end: int) -> _Stop:
        """Say why a string stops at `end` without a quotation mark."""
        if self._ends_in_escape(end):
            return self._stop(JsonFault.TRUNCATED, len(self._text), "the text ends inside a string", start)
        if self._text.startswith("\\", end):
            length = _ESCAPE_LENGTH if self._text.startswith("u", end + 1) else 2
            message = f"{_shown(self._text[end : end + length])} is no escape of JSON"
        else:
            message = f"{_shown(self._text[end])} must be escaped inside a string"
        return self._stop(JsonFault.INVALID, end, message, start)

    def _lone_surrogate(self, start: int, end: int) -> int | None:
        r"""Return the place of the first `\u` escape of a surrogate without its other half.

        A high half at the very end of a text that may still go on with its other half is left alone.
        """
        high: int | None = None
        for escape in _ESCAPE.finditer(self._text, start, end):
            unit = int(escape[1], 16) if escape[1] else 0
            is_low = unit in _LOW_HALVES
            if high is not None:
                if not (is_low and escape.start() == high + _ESCAPE_LENGTH):
                    return high
                high = None
            elif is_low:
                return escape.start()
            elif unit in _HIGH_HALVES:
                high = escape.start()
        if high is not None and high + _ESCAPE_LENGTH == end and self._ends_in_escape(end):
            return None
        return high

    def _ends_in_escape(self, position: int) -> bool:
        """Return True if the text ends here, or ends in an escape that begins here."""
        begun = _ESCAPE_START.match(self._text, position)
        return (position if begun is None else begun.end()) == len(self._text)

    def _skip(self) -> None:
        if self._text[self._position : self._position + 1] not in _BLANK:
            return
        matched = _WHITESPACE.match(self._text, self._position)
        if matched is not None:
            self._position = matched.end()

    def _unexpected(self, wanted: str) -> _Stop:
        """Fail at the current character, or say that the text ends there."""
        found = self._text[self._position : self._position + 1]
        if not found:
            return self._stop(
                JsonFault.TRUNCATED, self._position, f"the text ends where {wanted} should stand"
            )
        word = _WORD.match(self._text, self._position)
        if found == "'":
            shown = "a single quotation mark"
        elif self._text.startswith(("//", "/*"), self._position) or found == "#":
            shown = "a comment"
        elif word is not None and word.group() in _FOREIGN_WORDS:
            shown = _FOREIGN_WORDS[word.group()]
        else:
            shown = _shown(found)
        return self._fail(self._position, f"{wanted} should stand here, not {shown}")

    def _fail(self, position: int, message: str) -> _Stop:
        start, end = self._last_string
        between = _WHITESPACE.match(self._text, end) if end >= 0 else None
        follows_string = between is not None and between.end() == position
        return self._stop(JsonFault.INVALID, position, message, None, start if follows_string else position)

    def _stop(
        self,
        fault: JsonFault,
        position: int,
        message: str,
        string: int | None = None,
        resume: int | None = None,
    ) -> _Stop:
        return _Stop(
            JsonError(
                fault,
                position,
                message,
                string is not None,
                string if string is not None else position if resume is None else resume,
                tuple(self._members),
                tuple(self._duplicates),
            )
        )


def _shown(piece: str) -> str:
    """Return a few characters as people should see them in a message."""
    return json.dumps(piece) if not piece.isprintable() or piece in {'"', " "} else f"`{piece}`"
