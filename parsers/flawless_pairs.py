"""Keys with raw values against which nothing can be said, made a call at once."""

from collections.abc import Sequence

from .contract import keeps_contract
from .names import is_callable_name
from .result import Json, JsonObject
from .tools import Tools
from .typed_value import ValueReader


def read_flawless_pairs(
    name: str, pairs: Sequence[tuple[str, str]], tools: Tools | None
) -> tuple[str, JsonObject] | None:
    """Make a call of a name and of keys with raw values; None if anything at all could be said of it."""
    if not is_callable_name(name, tools):
        return None
    values = ValueReader(tools)
    arguments: dict[str, Json] = {}
    for key, raw in pairs:
        read = values.read(name, key, raw, 0)
        if read.defects or read.notes:
            return None
        arguments[key] = read.value
    if len(arguments) < len(pairs) or (tools is not None and not keeps_contract(tools, name, arguments)):
        return None
    return name, arguments
