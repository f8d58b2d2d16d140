"""JSON values compared: exact equality (1 = 1.0, true is not 1), and the paths at which two values differ.

Everything here walks with a stack of its own: what a model nests a thousand deep is still only wrong, and
must not end in a RecursionError.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii

from ..parsers.json_path import json_path, shorten
from ..parsers.result import Json

_MOST_PATHS = 8


@dataclass(frozen=True, slots=True)
class _Text:
    """Text that is already in its final form, between values that are not."""

    text: str


def identity(value: Json) -> str:
    """Return a text that two values share exactly when they are equal as JSON.

    Numbers are compared by their exact value (`1` = `1.0`, `2**53 + 1` differs from every float), `true` is
    no number, the order of keys does not matter, and strings are taken as they are. The text is a key for
    comparing and sorting, not JSON for reading.
    """
    if value is None or isinstance(value, (str, int, float)):
        return _scalar(value)  # what most arguments are
    parts: list[str] = []
    pending: list[Json | _Text] = [value]
    while pending:
        match pending.pop():
            case _Text(text):
                parts.append(text)
            case Mapping() as members:
                parts.append("{")
                pending.append(_Text("}"))
                for key in sorted(members, reverse=True):
                    pending += (members[key], _Text(f",{encode_basestring_ascii(key)}:"))
            case list() as items:
                parts.append("[")
                pending.append(_Text("]"))
                for item in reversed(items):
                    pending += (item, _Text(","))
            case scalar:
                parts.append(_scalar(scalar))
    return "".join(parts)


def _scalar(value: str | float | bool | None) -> str:
    match value:
        case str():
            return encode_basestring_ascii(value)
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)


def equal(left: Json, right: Json) -> bool:
    """Say whether two values are equal as JSON."""
    return identity(left) == identity(right)


def member_path(path: str, key: str) -> str:
    """Return the JSON path of a member: `$.city`, or `$["odd key"]` where the key is no plain word."""
    return f"{path}{_encodable(json_path([key]).removeprefix('$'))}"


def differing_paths(expected: Json, actual: Json, path: str) -> tuple[str, ...]:
    """Return the deepest paths at which two values differ, in the order of `expected`; none if equal.

    Args:
        expected: The value that was right.
        actual: The value that came.
        path: The JSON path of both.

    Returns:
        Paths of members and items. Lists of different lengths differ as a whole, and so do values that
        differ in more places than a reader could take in: then `path` alone is returned.
    """
    found: list[str] = []
    pending: list[tuple[str, Json, Json]] = [(path, expected, actual)]
    while pending and len(found) <= _MOST_PATHS:
        place, wanted, came = pending.pop()
        if equal(wanted, came):
            continue
        match wanted, came:
            case Mapping(), Mapping():
                keys = [*wanted, *sorted(key for key in came if key not in wanted)]
                places = [(key, member_path(place, key)) for key in keys]
                found += (at for key, at in places if key not in wanted or key not in came)
                shared = [(at, wanted[key], came[key]) for key, at in places if key in wanted and key in came]
                pending += reversed(shared)
            case list(), list() if len(wanted) == len(came):
                items = [(f"{place}[{i}]", *pair) for i, pair in enumerate(zip(wanted, came, strict=True))]
                pending += reversed(items)
            case _:
                found.append(place)
    return tuple(found) if len(found) <= _MOST_PATHS else (path,)


def shown(value: Json) -> str:
    """Return a value as JSON for a message, shortened where it is long."""
    return _encodable(shorten(value))


def _encodable(text: str) -> str:
    """Escape lone surrogates: one of them would break the report that prints the message."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
