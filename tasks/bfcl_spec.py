"""How BFCL is named in a plan: `bfcl:CATEGORY`, `bfcl:all-single-turn`, `bfcl:PATH#CATEGORY`, with options.

Options follow a `?` and are joined by `&`: `names=published` keeps dots in function names (else they become
`_`, in the tools sent and in what is expected), `unpassable=include` asks entries that no answer can pass.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qsl

from ..errors import UserError
from .bfcl_schema import Names
from .values import shown

ALL = "all-single-turn"
SINGLE_TURN = (
    # The first three are v4's spelling, the next three v3's.
    "simple_python",
    "simple_java",
    "simple_javascript",
    "simple",
    "java",
    "javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)

_RETIRED = "was retired by the benchmark"
_REFUSED = {
    "multi_turn": "is played over several turns against simulated services",
    "web_search": "is agentic: it needs a web search that answers",
    "memory": "is agentic: it needs a memory that answers",
    "format_sensitivity": "asks entries of other categories in other prompt formats",
    "exec": _RETIRED,
    "rest": _RETIRED,
    "sql": _RETIRED,
    "chatable": _RETIRED,
}


class Unpassable(StrEnum):
    """What becomes of entries that no answer can pass."""

    EXCLUDE = "exclude"
    INCLUDE = "include"


@dataclass(frozen=True, slots=True)
class BfclSpec:
    """A suite of the kind `bfcl:`, as it was named; without a folder, it is looked for."""

    category: str
    folder: Path | None = None
    names: Names = Names.UNDERSCORE
    unpassable: Unpassable = Unpassable.EXCLUDE


_Option = TypeVar("_Option", bound=StrEnum)


def parse_bfcl_spec(spec: str) -> BfclSpec:
    """Read a spec.

    Raises:
        UserError: An option is unknown, or the category is none or none of a single turn.
    """
    folder, _, rest = spec.removeprefix("bfcl:").rpartition("#")
    category, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    names = _option(spec, options, "names", Names.UNDERSCORE)
    unpassable = _option(spec, options, "unpassable", Unpassable.EXCLUDE)
    if options:
        unknown = ", ".join(map(shown, options))
        raise UserError(f"tasks: {shown(spec)}: {unknown}: no such option, expected names or unpassable")
    _refuse_category(spec, category)
    return BfclSpec(category, Path(folder).expanduser() if folder else None, names, unpassable)


def _option(spec: str, options: dict[str, str], name: str, default: _Option) -> _Option:
    """Take an option out of `options`."""
    value = options.pop(name, default.value)
    known = {one.value: one for one in type(default)}
    if value not in known:
        expected = " or ".join(map(shown, known))
        raise UserError(f"tasks: {shown(spec)}: {name} is {shown(value)}, expected {expected}")
    return known[value]


def _refuse_category(spec: str, category: str) -> None:
    if category in {*SINGLE_TURN, ALL}:
        return
    for beginning, reason in _REFUSED.items():
        if category == beginning or category.startswith(f"{beginning}_"):
            raise UserError(
                f"tasks: {shown(spec)}: {category} {reason}; only single-turn categories are replayed",
                tip=f"bfcl:{ALL} names every category that is",
            )
    raise UserError(
        f"tasks: {shown(spec)}: no category of BFCL has the name {shown(category)}",
        tip=f"there are {', '.join(SINGLE_TURN)}, and {ALL}",
    )
