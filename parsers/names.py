"""What may stand where a function's name belongs."""

import re

from .codes import DefectCode
from .json_path import shorten
from .result import Defect, Span
from .tools import Tools

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]{0,127}")
# An identifier that a bracket, a value or a second word with a value follows.
_EXPRESSION = re.compile(
    r"\s*+[A-Za-z_][\w.:/-]*+(?:\s*+[({\[]|\s*+[=,]\s*+\S|\s++[A-Za-z_]\w*+\s*+[=:])",
)
_MARKUP = re.compile(r"</?[A-Za-z_|\uff5c]|<\||\|>|\[TOOL_CALLS\]|\[ARGS\]|_call>|[A-Za-z]>")
_SHOWN_NAMES = 5


def is_callable_name(name: str, tools: Tools | None) -> bool:
    """Return True if a call of this name can be listed: it is declared, or has the form of a name."""
    return (tools is not None and name in tools.functions) or NAME.fullmatch(name) is not None


def name_defect(name: str, tools: Tools | None, span: Span) -> Defect | None:
    """Judge a name.

    A declared name is right whatever it looks like. Of one that is not declared, the shape is judged first:
    a call written into the name and markup in it are finger-prints that "not declared" would hide.

    Args:
        name: What stood in the place of the name.
        tools: The declared tools, or None if they are not known: then only the shape is judged.
        span: Where the name stands.
    """
    if tools is not None and name in tools.functions:
        return None
    shown = shorten(name)
    if _EXPRESSION.match(name):
        return Defect(
            DefectCode.NAME_IS_EXPRESSION, f"the name {shown} is an expression: it holds the arguments", span
        )
    if _MARKUP.search(name):
        return Defect(DefectCode.MARKUP_IN_NAME, f"the name {shown} holds markup", span)
    if not NAME.fullmatch(name):
        return Defect(DefectCode.INVALID_NAME, f"{shown} cannot be the name of a function", span)
    if tools is None:
        return None
    names = list(tools.functions)
    listed = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
    return Defect(
        DefectCode.UNDECLARED_FUNCTION, f"the function {shown} is not declared ({listed or 'none is'})", span
    )
