r"""A strict JSON decoder that says where a text breaks, and whether it broke or merely ended.

This is RFC 8259 with the liberties of `json.loads` taken back: duplicate keys are reported, and `NaN`,
`Infinity`, numbers beyond the range of a double and `\u` escapes of a lone surrogate are errors. Two limits
are its own, so that hostile text costs a line and not a crash: 200 levels of nesting, 4,300 characters in a
number (the limit of Python's `int()`).

A value is read by the C scanner of the standard library, which accepts nothing here that this grammar refuses
(`quick_json`), and, where that declines, from its beginning by the one that keeps positions (`json_scanner`).
"""

from .json_scanner import Decoded, JsonError, decode_located
from .quick_json import decode_quickly
from .result import Json

_WHITESPACE = " \t\n\r"


def decode(text: str, start: int = 0, likely_end: int | None = None) -> Decoded | JsonError:
    """Decode the JSON value that begins at `start`; what follows it is the caller's to read.

    `members` of a plain success may be empty: see `decode_located`. Time is linear in what is read.

    Args:
        text: The text.
        start: Where the value begins; whitespace before it is skipped.
        likely_end: A guess at where the value ends. A good guess is quick; a bad one only costs time.
    """
    quick = decode_quickly(text[start:likely_end])
    return decode_located(text, start) if quick is None else Decoded(quick[0], start + quick[1])


def decode_flawless(piece: str) -> Json:
    """Return the object or array that a piece of text is, whitespace around it aside; None if in any doubt.

    Nothing can be said against what is returned; of what is not, `decode` tells.
    """
    piece = piece.strip(_WHITESPACE)
    quick = decode_quickly(piece)
    return quick[0] if quick is not None and quick[1] == len(piece) else None
