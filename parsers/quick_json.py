r"""The C scanner of the standard library, held to the grammar of `strict_json`: quick, and mute about errors.

It is laxer than that grammar. Hooks refuse constants and floats that are infinite or too long; surrogate
escapes and long integers are looked for before, and deep nesting and keys that stand twice after.
"""

import json
import math
import re
import sys

from .json_scanner import MAX_DEPTH, MAX_NUMBER_LENGTH
from .result import Json

_CONTAINERS = (dict, list)
# Digits that may be a number of more characters than are read; what is shorter has none.
_LONG_NUMBER = re.compile(r"[0-9]{4000}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Every key ends so, and hardly anything else does.
_KEY_END = re.compile(r'"[ \t\n\r]*+:')


def decode_quickly(piece: str) -> tuple[Json, int] | None:
    """Decode the object or array that a piece of text begins with; None where the slow way has to look.

    Numbers end where an object or array goes on, so a piece that ends too early can only fail.

    Args:
        piece: The text, from the bracket on. It is scanned to the first error, and should not be far longer
            than what it begins with.

    Returns:
        The value, against which nothing can be said, and its length in characters.
    """
    if piece[:1] not in {"{", "["} or ("\\u" in piece and _SURROGATE.search(piece)):
        return None
    if len(piece) > MAX_NUMBER_LENGTH and _reads_long_integers() and _LONG_NUMBER.search(piece):
        return None
    try:
        value, length = _QUICK.raw_decode(piece)
        members = _count_members(value, MAX_DEPTH)
        # Where there are as many keys as members no key stood twice. Every key has a colon, and other colons
        # can only make it look as if one did.
        if piece.count(":", 0, length) != members and len(_KEY_END.findall(piece, 0, length)) != members:
            value, length = _CAREFUL.raw_decode(piece)
    except (ValueError, RecursionError):
        return None
    return value, length


class _DeclinedError(ValueError):
    """Something the quick decoder leaves to the other one."""


def _refuse_constant(constant: str) -> Json:
    raise _DeclinedError(constant)


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number) or len(literal) > MAX_NUMBER_LENGTH:
        raise _DeclinedError(literal)
    return number


def _unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DeclinedError
    return members


_QUICK = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_constant)
# A hook for every object costs more than all the rest.
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_unique_members, parse_float=_finite, parse_constant=_refuse_constant
)


def _reads_long_integers() -> bool:
    """Return True if the interpreter's own limit would let an integer of too many digits pass."""
    return not 0 < sys.get_int_max_str_digits() <= MAX_NUMBER_LENGTH


def _count_members(value: dict[str, Json] | list[Json], levels: int) -> int:
    """Return how many members the objects in a container have; refuse one that is nested too deeply."""
    if not levels:
        raise _DeclinedError
    count, children = (len(value), value.values()) if isinstance(value, dict) else (0, value)
    for child in children:
        if isinstance(child, _CONTAINERS):
            count += _count_members(child, levels - 1)
    return count
