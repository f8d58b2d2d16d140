"""What may stand where a call's arguments belong: one JSON object, and nothing that merely stands for one."""

from collections.abc import Mapping

from .codes import DefectCode
from .json_path import shorten
from .result import Defect, Json, Span

_KINDS: tuple[tuple[type, str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    (int, "a number"),
    (float, "a number"),
    (str, "a string"),
    (list, "a list"),
)


def kind_of(value: Json) -> str:
    """Return what JSON calls a value, with its article."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "an object")


def arguments_defect(value: Json, span: Span) -> Defect | None:
    """Judge the decoded value of `arguments` by its shape; None if it is an object."""
    if isinstance(value, Mapping):
        return None
    if isinstance(value, str):
        if not value.strip():
            return Defect(
                DefectCode.ARGUMENTS_EMPTY_STRING, "the arguments are an empty string, not an object", span
            )
        if value.lstrip()[0] in "{[":
            message = f"the arguments are a string that holds JSON: {shorten(value)}"
            return Defect(DefectCode.ARGUMENTS_DOUBLE_ENCODED, message, span)
    message = f"the arguments are {kind_of(value)}, not an object: {shorten(value)}"
    if value is None:
        message = "the arguments are null, not an object"
    return Defect(DefectCode.ARGUMENTS_NOT_OBJECT, message, span)
