"""One argument judged as BFCL judges it: its exact Python type first, then its value, normalised.

The rules are the benchmark's own, quirks included, written from a description of what its checker does; the
names of errors are those of its result files. `""` among the right values means that the parameter may be
left out, and here and there passes for an empty string or an empty list.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from ..parsers.result import Json, JsonObject
from .bfcl_terms import Declared, Language

OMITTED = ""
"""Among the right values: the parameter may be left out."""

_KINDS: dict[Language, dict[str, type]] = {
    Language.PYTHON: {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    },
    # Left out: Set, Hashtable, Queue and Stack, whose conversion the benchmark never wrote.
    Language.JAVA: {
        "byte": int,
        "short": int,
        "integer": int,
        "long": int,
        "float": float,
        "double": float,
        "boolean": bool,
        "char": str,
        "String": str,
        "any": str,
        "Array": list,
        "ArrayList": list,
        "HashMap": dict,
    },
    Language.JAVASCRIPT: {
        "String": str,
        "integer": int,
        "float": float,
        "Bigint": int,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
    },
}
_LISTS = frozenset({"array", "tuple", "Array", "ArrayList"})
_IGNORED = re.compile(r"[ ,./\-_*^]")


class CheckerCrashError(Exception):
    """The benchmark's own checker ends in an exception here; its result is neither right nor wrong."""


def is_known_type(declared: Declared, language: Language) -> bool:
    """Say whether the checker knows a declared type; at any other it crashes."""
    kinds = _KINDS[language]
    return declared.word in kinds and (declared.word not in _LISTS or declared.item in kinds)


def value_error(declared: Declared, value: Json, right: Sequence[Json], language: Language) -> str | None:
    """Judge one argument of a call.

    Args:
        declared: The declared type.
        value: What the model gave; in the Java and JavaScript categories, what its source text stands for.
        right: Every acceptable value, as published; order matters.
        language: Whose type words are declared.

    Returns:
        None if the value passes, else the benchmark's error type.

    Raises:
        CheckerCrashError: The benchmark's checker raises here.
    """
    if not is_known_type(declared, language):
        raise CheckerCrashError(f"the checker does not know the type {declared.shown}")
    kinds = _KINDS[language]
    kind = kinds[declared.word]
    item = kinds[declared.item] if declared.word in _LISTS and declared.item is not None else None
    if language is Language.PYTHON and kind is float and kind_of(value) is int:
        value = _widened(value)
    if (error := _type_error(value, right, kind, item)) is not None:
        return error
    if _right_kind(right) not in {None, kind}:
        # A "variable": the right value is not of the declared type, and is compared literally.
        return _scalar_error(value, right)
    return _checker_of(kind, item)(value, right)


def kind_of(value: Json) -> type:
    """Return the exact Python type of a value; whatever is a mapping is a dict."""
    return dict if isinstance(value, Mapping) else type(value)


def normalised(text: str) -> str:
    """Return a string as it is compared: without spaces and `,./-_*^`, in lower case, `'` as `"`."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _widened(value: Json) -> float:
    try:
        return float(value) if isinstance(value, int) else 0.0
    except OverflowError:
        raise CheckerCrashError("the integer does not fit a float") from None


def _right_kind(right: Sequence[Json]) -> type | None:
    """The type of the first right value that is not `""`; None if there is no such value."""
    return next((kind_of(value) for value in right if value != OMITTED), None)


def _type_error(value: Json, right: Sequence[Json], kind: type, item: type | None) -> str | None:
    right_kind = _right_kind(right)
    if kind_of(value) is kind:
        if item is None or not isinstance(value, list):
            return None
        return _item_type_error(value, right, item)
    # A right value that is not of the declared type allows its own.
    return None if right_kind is not None and kind_of(value) is right_kind else "type_error:simple"


def _item_type_error(items: list[Json], right: Sequence[Json], item: type) -> str | None:
    """One alternative whose items all fit is enough; what is no list, such as `""`, lets everything pass."""
    error = "type_error:simple"
    for alternative in right:
        if not isinstance(alternative, list):
            return None
        if all(_type_error(one, alternative, item, None) is None for one in items):
            return None
        error = "type_error:nested"
    return error


def _checker_of(kind: type, item: type | None) -> Callable[[Json, Sequence[Json]], str | None]:
    if kind is dict:
        return _dict_error
    if kind is list:
        return _list_of_dicts_error if item is dict else _list_error
    return _string_error if kind is str else _scalar_error


def _scalar_error(value: Json, right: Sequence[Json]) -> str | None:
    return None if value in right else "value_error:others"


def _string_error(value: Json, right: Sequence[Json]) -> str | None:
    wanted = [normalised(one) for one in right if isinstance(one, str)]
    return None if _flat(value) in wanted else "value_error:string"


def _list_error(value: Json, right: Sequence[Json]) -> str | None:
    wanted = [[_flat(item) for item in _sequence(alternative)] for alternative in right]
    return None if [_flat(item) for item in _sequence(value)] in wanted else "value_error:list/tuple"


def _dict_error(value: Json, right: Sequence[Json]) -> str | None:
    """The first alternative that fits decides; else the last one says what is wrong."""
    error = "dict_checker:unclear"
    for alternative in right:
        if alternative == OMITTED:
            continue
        found = _member_error(_mapping(value), _mapping(alternative))
        if found is None:
            return None
        error = found
    return error


def _member_error(value: JsonObject, alternative: JsonObject) -> str | None:
    # A slip of the authors is a value instead of a list: its characters count as values, and it as optional.
    if any(
        key not in value and not isinstance(right, str) and OMITTED not in _sequence(right)
        for key, right in alternative.items()
    ):
        return "value_error:dict_key"
    for key, member in value.items():
        if key not in alternative:
            return "value_error:dict_key"
        if _flat(member) not in [_flat(one) for one in _sequence(alternative[key])]:
            return "value_error:dict_value"
    return None


def _list_of_dicts_error(value: Json, right: Sequence[Json]) -> str | None:
    error = "list_dict_checker:unclear"
    items = _sequence(value)
    for alternative in right:
        wanted = _sequence(alternative)
        if len(items) != len(wanted):
            error = "value_error:list_dict_count"
            continue
        found = next(filter(None, map(_item_error, items, wanted)), None)
        if found is None:
            return None
        error = found
    return error


def _item_error(item: Json, wanted: Json) -> str | None:
    return _dict_error(item, [wanted])


def _flat(value: Json) -> Json:
    """Normalise a string; whatever is nested deeper is compared as it is."""
    return normalised(value) if isinstance(value, str) else value


def _sequence(value: Json) -> Sequence[Json]:
    """A string counts as the list of its characters, so that `""` is the empty list."""
    if isinstance(value, list | str):
        return value
    raise CheckerCrashError("a right value is no list where one is compared")


def _mapping(value: Json) -> JsonObject:
    if isinstance(value, Mapping):
        return value
    raise CheckerCrashError("a value is no object where one is compared")
