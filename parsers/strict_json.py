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

# Digits that may be a number of more characters than are read; what is shorter has none.
_LONG_NUMBER = re.compile(r"[0-9]{4000}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WHITESPACE = " \t\n\r"


def decode(text: str, start: int = 0, likely_end: int | None = None) -> Decoded | JsonError:
    """Decode the JSON value that begins at `start`; what follows it is the caller's to read.

    `members` of a plain success may be empty: see `decode_located`. Time is linear in what is read.

    Args:
        text: The text.
        start: Where the value begins; whitespace before it is skipped.
        likely_end: A guess at where the value ends. A good guess is quick; a bad one only costs time.
    """
    quick = _decode_quickly(text[start:likely_end])
    return decode_located(text, start) if quick is None else Decoded(quick[0], start + quick[1])


def decode_flawless(piece: str) -> Json:
    """Return the object or array that a piece of text is, whitespace around it aside; None if in any doubt.

    Nothing can be said against what is returned; of what is not, `decode` tells.
    """
    piece = piece.strip(_WHITESPACE)
    quick = _decode_quickly(piece)
    return quick[0] if quick is not None and quick[1] == len(piece) else None


class _DeclinedError(ValueError):
    """Something the quick decoder leaves to the other one."""


def _refuse_constant(constant: str) -> Json:
    raise _DeclinedError(constant)


def _unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DeclinedError
    return members


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number) or len(literal) > MAX_NUMBER_LENGTH:
        raise _DeclinedError(literal)
    return number


_QUICK = json.JSONDecoder(
    object_pairs_hook=_unique_members, parse_float=_finite, parse_constant=_refuse_constant
)


def _decode_quickly(piece: str) -> tuple[Json, int] | None:
    """Decode an object or array with the C scanner, or return None where that is not exactly as strict.

    It is laxer in five things. Hooks refuse duplicate keys, constants and floats that are infinite; surrogate
    escapes and long integers are looked for before, and deep nesting after. Numbers end where an object or
    array goes on, so a piece that ends too early can only fail.
    """
    if piece[:1] not in {"{", "["} or ("\\u" in piece and _SURROGATE.search(piece)):
        return None
    if len(piece) > MAX_NUMBER_LENGTH and _LONG_NUMBER.search(piece):
        return None
    try:
        value, length = _QUICK.raw_decode(piece)
    except (ValueError, RecursionError):
        return None
    if piece.count("{") + piece.count("[") > MAX_DEPTH and _is_too_deep(value):
        return None
    return value, length


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
