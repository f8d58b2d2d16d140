"""Paths into JSON values, and values shortened for a message."""

import json
import re
from collections.abc import Iterable

from .result import Json

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN_KEY_LENGTH = 80


def json_path(steps: Iterable[str | int]) -> str:
    """Return `$.a.b[0]` for the steps `("a", "b", 0)`; other keys are quoted: `$["a b"]`."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.fullmatch(step):
            parts.append(f".{step}"[:_SHOWN_KEY_LENGTH])
        else:
            parts.append(f"[{shorten(step, _SHOWN_KEY_LENGTH)}]")
    return "".join(parts)


def shorten(value: Json, limit: int = 60) -> str:
    """Return a value as JSON on one line, cut to `limit` characters with an ellipsis.

    Strings are sliced before they are encoded, so that a megabyte costs no more than a line.
    """
    if isinstance(value, str):
        shown = json.dumps(value[:limit], ensure_ascii=False)
        return shown if len(value) <= limit else f'{shown[:-1]}…"'
    if isinstance(value, bool | None):
        return json.dumps(value)
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return "a value that cannot be shown"
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
