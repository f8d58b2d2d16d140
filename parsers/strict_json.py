r"""A strict JSON decoder that says where a text breaks, and whether it broke or merely ended.

This is RFC 8259 with the liberties of `json.loads` taken back: duplicate keys are reported, and `NaN`,
`Infinity`, numbers beyond the range of a double and `\u` escapes of a lone surrogate are errors. Two limits
are its own, so that hostile text costs a line and not a crash: 200 levels of nesting, 4,300 characters in a
number (the limit of Python's `int()`).

A text is read twice at most: by the C scanner of the standard library, which accepts nothing here that this
grammar refuses (see `_decode_quickly`), and, where that declines, by the one that keeps positions.
"""

import json
import math
import re

from .json_scanner import MAX_DEPTH, MAX_NUMBER_LENGTH, Decoded, JsonError, decode_located
from .result import Json

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


def _finite_float(literal: str) -> float:
    number = float(literal)
    if len(literal.removeprefix("-")) > MAX_NUMBER_LENGTH or math.isinf(number):
        raise _DeclinedError(literal)
    return number


_QUICK = json.JSONDecoder(
    object_pairs_hook=_unique_members, parse_constant=_refuse_constant, parse_float=_finite_float
)


def _decode_quickly(text: str, start: int, end: int) -> Decoded | None:
    """Decode an object or array with the C scanner, or return None where that is not exactly as strict.

    It is laxer in four things. Duplicate keys, constants and infinite floats are refused by hooks; surrogate
    escapes and deep nesting are looked for before. Numbers end where an object or array goes on, so a slice
    that ends too early can only fail.
    """
    piece = text[start:end]
    if piece[:1] not in {"{", "["} or ("\\u" in piece and _SURROGATE.search(piece)):
        return None
    if piece.count("{") + piece.count("[") > MAX_DEPTH:
        return None
    try:
        value, length = _QUICK.raw_decode(piece)
    except (ValueError, RecursionError):
        return None
    return Decoded(value, start + length)
