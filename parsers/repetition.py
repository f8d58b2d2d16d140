"""Immediate repeats around a place: the finger-print of draft tokens that were accepted wrongly."""

import re

_WINDOW = 48
# A unit of punctuation, or of several characters with punctuation in it, and the same again at once.
_REPEAT = re.compile(r"([{\[:,\"]|(?=[^{}\[\]:,\"<>]*+[{}\[\]:,\"<>]).{2,24}?)\1")


def repeated_at(text: str, position: int) -> str | None:
    """Return the unit that repeats at once around `position` (`"name": ` in `{"name": "name": `), or None."""
    start = max(0, position - _WINDOW)
    window = text[start : position + _WINDOW // 2]
    place = position - start
    for found in _REPEAT.finditer(window):
        unit = found[1]
        if found.start() <= place <= found.end() and (len(unit) == 1 or not unit.isalnum()):
            return unit
    return None
