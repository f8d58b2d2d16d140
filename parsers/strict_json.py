r"""A strict JSON decoder that says where a text breaks, and whether it broke or merely ended.

This is RFC 8259 with the liberties of `json.loads` taken back: duplicate keys are reported, and `NaN`,
`Infinity`, numbers beyond the range of a double and `\u` escapes of a lone surrogate are errors. Two limits
are its own, so that hostile text costs a line and not a crash: 200 levels of nesting, 4,300 characters in a
number (the limit of Python's `int()`).

A text is read twice at most: by the C scanner of the standard library, which accepts nothing here that this
grammar refuses (see `_decode_quickly`), and, where that declines, by the one that keeps positions.
"""

import json
import re

from .json_scanner import MAX_DEPTH, Decoded, JsonError, decode_located
from .result import Json

# Numbers that may be infinite, or too long: a large exponent, or a long row of digits.
_HUGE_EXPONENT = re.compile(r"[eE]\+?[0-9]{3}")
_LONG_NUMBER = re.compile(r"[0-9]{300}")
_LONG_NUMBER_LENGTH = 300
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(text: str, start: int = 0, likely_end: int | None = None) -> Decoded | JsonError:
    """Decode the JSON value that begins at `start`; what follows it is the caller's to read.

    `members` of a plain success may be empty: see `decode_located`. Time is linear in what is read.

    Args:
        text: The text.
        start: Where the value begins; whitespace before it is skipped.
        likely_end: A guess at where the value ends. A good guess is quick; a bad one only costs time.
    """
    quick = _decode_quickly(text, start, len(text) if likely_end is None else likely_end)
    return decode_located(text, start) if quick is None else quick


class _DeclinedError(ValueError):
    """Something the quick decoder leaves to the other one."""


def _refuse_constant(constant: str) -> Json:
    raise _DeclinedError(constant)


def _unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DeclinedError
    return members


_QUICK = json.JSONDecoder(object_pairs_hook=_unique_members, parse_constant=_refuse_constant)


def _decode_quickly(text: str, start: int, end: int) -> Decoded | None:
    """Decode an object or array with the C scanner, or return None where that is not exactly as strict.

    It is laxer in four things. Hooks refuse duplicate keys and constants; surrogate escapes and numbers that
    may be infinite or too long are looked for before, and deep nesting after. Numbers end where an object or
    array goes on, so a slice that ends too early can only fail.
    """
    piece = text[start:end]
    if piece[:1] not in {"{", "["} or ("\\u" in piece and _SURROGATE.search(piece)):
        return None
    if _HUGE_EXPONENT.search(piece):
        return None
    if len(piece) >= _LONG_NUMBER_LENGTH and _LONG_NUMBER.search(piece):
        return None
    try:
        value, length = _QUICK.raw_decode(piece)
    except (ValueError, RecursionError):
        return None
    if piece.count("{") + piece.count("[") > MAX_DEPTH and _is_too_deep(value):
        return None
    return Decoded(value, start + length)


def _is_too_deep(value: Json) -> bool:
    """Return True if containers are nested more than `MAX_DEPTH` levels deep."""
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        children = (
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else _items(container))
        )
        level = [child for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
