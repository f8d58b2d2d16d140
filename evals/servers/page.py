"""Pages beside the OpenAI routes: what to send to one, and JSON that may be anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Page:
    """A POST to a page; `path` starts at the root of the server."""

    path: str
    body: dict[str, JsonValue]


def read_json(text: str | None) -> JsonValue:
    """What a page says; None where it is not there, or no JSON."""
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def read_object(text: str | None) -> Mapping[str, JsonValue]:
    """The object that a page says; an empty one where it says anything else."""
    value = read_json(text)
    return value if isinstance(value, dict) else {}
