"""What every code means, with an example, its usual cause and what to do: `explain` and docs/codes.md."""

import difflib
from collections.abc import Iterator, Mapping
from functools import cache

from ..errors import UserError
from .explained_calls import DIFFERENCES, OUTCOMES
from .explained_defects import DEFECTS
from .explained_endings import ENDINGS, NOTES
from .explanation import Explanation, Group

GROUPS: tuple[Group, ...] = (*ENDINGS, *DEFECTS, *DIFFERENCES, *OUTCOMES, *NOTES)


@cache
def explanations() -> Mapping[str, Explanation]:
    """Every explanation by its code, in the order of the reference."""
    return {entry.code: entry for group in GROUPS for entry in group.entries}


def explanation(code: str) -> Explanation | None:
    """What a code means; None for a code that is not one of ours."""
    return explanations().get(code)


def render_explanation(code: str) -> str:
    """One code explained, as text.

    Raises:
        UserError: There is no such code.
    """
    entry = explanation(code)
    if entry is None:
        near = difflib.get_close_matches(code, explanations(), n=3)
        tip = f"did you mean {' or '.join(near)}?" if near else "`draftproof explain` lists all of them"
        raise UserError(f"no code is named {code!r}", tip=tip)
    group = next(one for one in GROUPS if entry in one.entries)
    example = "\n".join(f"    {line}" for line in entry.example.split("\n"))
    return (
        f"{entry.code}  ({group.title})\n\n{entry.meaning}\n\nfor example:\n{example}\n\n"
        f"usual cause: {entry.causes}\nwhat to do:  {entry.advice}\n"
    )


def render_codes() -> str:
    """All codes, a line each, by group."""
    return "\n".join(_list(group) for group in GROUPS)


def render_reference() -> str:
    """docs/codes.md, whole."""
    return "\n".join(_reference()) + "\n"


def _list(group: Group) -> str:
    lines = [f"{entry.code:<26}{entry.meaning}" for entry in group.entries]
    return "\n".join((group.title, *(f"  {line}" for line in lines), ""))


def _reference() -> Iterator[str]:
    yield "# Codes"
    yield ""
    yield "<!-- Made by `python -m draftproof explain --markdown`; edit reports/explained_….py instead. -->"
    yield ""
    yield "One attempt has one ending, any number of defects, and at most one difference from what was right."
    yield "`draftproof explain CODE` says the same at a terminal. Once released, a code keeps name and rule."
    for group in GROUPS:
        yield ""
        yield f"## {group.title}"
        yield ""
        yield group.about
        for entry in group.entries:
            yield ""
            yield f"### `{entry.code}`"
            yield ""
            yield entry.meaning
            yield ""
            yield "````text"  # four signs, since an example may hold a fence of three
            yield entry.example
            yield "````"
            yield ""
            yield f"- **Usual cause:** {entry.causes}"
            yield f"- **What to do:** {entry.advice}"
