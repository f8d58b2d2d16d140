"""The object `{"name": …, "arguments": {…}}` that the JSON dialects write between their markup.

call := {"name": STRING, "arguments": OBJECT}        # in any order, and nothing beside

Some dialects have another word for the arguments; `key` is that word.
"""

from collections.abc import Sequence

from .arguments import arguments_defect
from .codes import DefectCode
from .json_path import shorten
from .json_scanner import Member, decode_located
from .names import is_callable_name, name_defect
from .result import Defect, Json, JsonObject, Span
from .tools import Tools

_MEMBER_COUNT = 2
# Members that other formats use for the same thing: then the wrong word is the one root cause.
_NAME_ALIASES = frozenset({"function", "function_name", "tool", "tool_name"})
_ARGUMENTS_ALIASES = frozenset({"arguments", "parameters", "args", "params", "input", "kwargs"})


def read_call(value: Json, tools: Tools | None, key: str = "arguments") -> tuple[str, JsonObject] | None:
    """Return name and arguments if nothing but the contract can be said against the object, else None."""
    if not isinstance(value, dict) or len(value) != _MEMBER_COUNT:
        return None
    name, arguments = value.get("name"), value.get(key)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return (name, arguments) if is_callable_name(name, tools) else None


def object_defects(
    members: Sequence[Member], tools: Tools | None, place: Span | None, key: str = "arguments"
) -> list[Defect]:
    """Judge the members of a call object.

    Args:
        members: The members that are whole.
        tools: The declared tools, if they are known.
        place: Where the object stands; None if it is not whole, so that nothing can be missing yet.
        key: What the dialect calls the arguments.
    """
    defects: list[Defect] = []
    aliased = set[str]()
    for member in members:
        if member.key == "name":
            defects.extend(_judge_name(member, tools))
        elif member.key == key:
            found = arguments_defect(member.value, member.value_span)
            defects.extend([found] if found is not None else [])
        else:
            meant = "name" if member.key in _NAME_ALIASES else None
            meant = key if member.key in _ARGUMENTS_ALIASES else meant
            aliased.update([meant] if meant is not None else [])
            instead = f" (it is called {shorten(meant)})" if meant is not None else ""
            message = f"a call has no member {shorten(member.key)}{instead}"
            defects.append(Defect(DefectCode.UNKNOWN_MEMBER, message, member.key_span))
    if place is not None:
        present = {member.key for member in members} | aliased
        if "name" not in present:
            defects.append(Defect(DefectCode.MISSING_NAME, "the call has no name", place))
        if key not in present:
            defects.append(Defect(DefectCode.MISSING_ARGUMENTS, f"the call has no {key}", place))
    return defects


def _judge_name(member: Member, tools: Tools | None) -> list[Defect]:
    value: Json = member.value
    if not isinstance(value, str):
        message = f"the name is {shorten(value)}, not a string"
        return [Defect(DefectCode.NAME_NOT_STRING, message, member.value_span)]
    found = name_defect(value, tools, member.value_span)
    return [found] if found is not None else []


def duplicate_defects(text: str, duplicates: Sequence[Span]) -> list[Defect]:
    """Say which keys stand twice in one object; readers disagree on which of the values counts."""
    return [
        Defect(
            DefectCode.DUPLICATE_KEY,
            f"the key {shorten(text[start + 1 : end - 1])} stands twice",
            Span(start, end),
        )
        for start, end in duplicates
    ]


def member_span(text: str, start: int, key: str) -> Span:
    """Return where the value of a member stands in the object that begins at `start`."""
    located = decode_located(text, start)
    spans = [member.value_span for member in located.members if member.key == key]
    return spans[-1] if spans else Span(start, start)
