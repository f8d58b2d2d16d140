"""Java and JavaScript source literals read as values, as far as BFCL converts them, and written from values.

In these categories every parameter is shown as a string that holds source text. The benchmark converts it
with one regular expression a type and leaves the text as it is where that fails; then type and value are
judged. What its expressions make of literals they were not meant for (commas or brackets inside quotes, maps
inside maps) is not imitated throughout: such text stays text, and is refused for its type.
"""

import re
from collections.abc import Mapping

from ..parsers.result import Json
from .bfcl_terms import Declared, Language

_INTEGER = re.compile(r"-?\d{1,4000}\n?")
_LONG = re.compile(r"(-?\d{1,4000})[lL]\n?")
_BIGINT = re.compile(r"(-?\d{1,4000})n\n?")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\n?")
_JAVA_FLOAT = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)[fF]\n?")
_JS_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?\n?")

_JAVA_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}", re.DOTALL)
_JAVA_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)", re.DOTALL)
_JAVA_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.*?)\}\}", re.DOTALL)
_JAVA_ADD = re.compile(r"add\((.+?)\)", re.DOTALL)
_JAVA_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_JAVA_MAP = re.compile(r"new\s+HashMap<[^()]*>\s*\(\)(.*)", re.DOTALL)
_JAVA_PUT = re.compile(r'put\("(.*?)",\s*(.*?)\)', re.DOTALL)

# JavaScript: flat lists and objects; no quote may hold a comma or a bracket.
_JS_ARRAY = re.compile(r"\[([^\[\]]*)\]|new Array\(([^()\[\]{}]*)\)")
_JS_NESTED_ARRAY = re.compile(r"\[\s*\[(.*)\]\s*\]", re.DOTALL)
_JS_NEXT_ARRAY = re.compile(r"\]\s*,\s*\[")
_JS_OBJECTS = re.compile(r"\[\s*(\{[^{}\[\]]*\}\s*(?:,\s*\{[^{}\[\]]*\}\s*)*)\]")
_JS_OBJECT = re.compile(r"\{([^{}]*)\}")
_JS_MEMBER = re.compile(
    r"""\s*(?:"([^"]*)"|'([^']*)'|(\w+))\s*:\s*"""
    r"""("[^"]*"|'[^']*'|\[[^\[\]]*\]|[^"',\[\]{}]*?(?:\([^()]*\))?)\s*(?:,(?=\s*\S)|$)"""
)


def source_value(text: str, declared: Declared, language: Language) -> Json:
    """Return the value that a literal of the declared type stands for; the text itself where it is none."""
    convert = _java_value if language is Language.JAVA else _javascript_value
    return convert(text, declared.word, declared.item)


def source_literal(value: Json, declared: Declared, language: Language) -> str:
    """Write a value so that `source_value` reads it back, where the declared type has such a literal.

    A string in a place that wants no string is a variable, and stays a bare word.
    """
    render = _java_literal if language is Language.JAVA else _javascript_literal
    return render(value, declared.word, declared.item)


def _java_value(text: str, word: str, item: str | None = None) -> Json:
    match word:
        case "byte" | "short" | "integer":
            return int(text) if _INTEGER.fullmatch(text) else text
        case "long":
            return int(found[1]) if (found := _LONG.fullmatch(text)) else text
        case "float":
            return float(found[1]) if (found := _JAVA_FLOAT.fullmatch(text)) else text
        case "double":
            return float(text) if _DECIMAL.fullmatch(text) else text
        case "boolean":
            return _boolean(text)
        case "Array":
            found = _JAVA_ARRAY.search(text)
            return text if found is None else [_java_item(one, item) for one in _parts(found[1]) if one]
        case "ArrayList":
            return _java_list(text, item)
        case "HashMap":
            found = _JAVA_MAP.search(text)
            return text if found is None else {k: _java_guess(v) for k, v in _JAVA_PUT.findall(found[1])}
        case _:
            return text


def _java_item(text: str, item: str | None) -> Json:
    return text if item is None else _java_value(text, item)


def _java_list(text: str, item: str | None) -> Json:
    if found := _JAVA_AS_LIST.search(text):
        parts = _parts(found[1])
    elif found := _JAVA_ADDED.search(text):
        parts = [one.strip() for one in _JAVA_ADD.findall(found[1])]
    else:
        return [] if _JAVA_EMPTY_LIST.search(text) else text
    if item in {"String", "char"}:
        # The first and last character go, whatever they are.
        return [one[1:-1] for one in parts]
    return [_java_item(one, item) for one in parts]


def _java_guess(text: str) -> Json:
    """Read a value inside a map, where nothing declares its type."""
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    number = text.removeprefix("+")
    for word in ("integer", "long", "double", "float", "boolean"):
        value = _java_value(number, word)
        if value != number:
            return value
    return text


def _javascript_value(text: str, word: str, item: str | None = None) -> Json:
    match word:
        case "String":
            return text[1:-1] if text[:1] in {'"', "'"} and text.endswith(text[:1]) else text
        case "integer":
            return int(text) if _INTEGER.fullmatch(text) else text
        case "float":
            return float(text) if _JS_DECIMAL.fullmatch(text) else text
        case "Bigint":
            return int(found[1]) if (found := _BIGINT.fullmatch(text)) else text
        case "Boolean":
            return _boolean(text)
        case "array":
            return _javascript_array(text.strip(), item)
        case "dict":
            return _javascript_object(text.strip())
        case _:
            return text


def _javascript_array(text: str, item: str | None) -> Json:
    if item == "dict" and (found := _JS_OBJECTS.match(text)):
        return [_javascript_object(one[0]) for one in _JS_OBJECT.finditer(found[1])]
    if nested := _JS_NESTED_ARRAY.match(text):
        inner = _JS_NEXT_ARRAY.split(nested[1])
        if any(character in one for one in inner for character in "[]{}"):
            return text
        return [[_javascript_item(one.strip()) for one in each.split(",")] for each in inner]
    if (found := _JS_ARRAY.match(text)) is None:
        return text
    parts = _parts(found[1] if found[1] is not None else found[2])
    return [one if item is None else _javascript_value(one, item) for one in parts]


def _javascript_object(text: str) -> Json:
    if (found := _JS_OBJECT.match(text)) is None:
        return text
    value: dict[str, Json] = {}
    position, body = 0, found[1].rstrip()
    while position < len(body):
        if (member := _JS_MEMBER.match(body, position)) is None:
            return text
        key = next(name for name in member.groups()[:3] if name is not None)
        raw = member[4].strip()
        is_list = raw.startswith("[")
        value[key] = (
            [_javascript_item(one) for one in _parts(raw[1:-1])] if is_list else _javascript_guess(raw)
        )
        position = member.end()
    return value


def _javascript_item(text: str) -> Json:
    """Read an item of a list inside an object or another list."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] in "\"'" else _javascript_guess(text)


def _javascript_guess(text: str) -> Json:
    """Read a value that nothing declares the type of; quotes go first, so that a member `"5"` is a number."""
    bare = text.strip("\"'")
    number = bare.removeprefix("+")
    if _INTEGER.fullmatch(number):
        return int(number)
    return float(number) if _DECIMAL.fullmatch(number) else _boolean(bare)


def _boolean(text: str) -> Json:
    return {"true": True, "false": False}.get(text, text)


def _parts(text: str) -> list[str]:
    """Split at every comma; nothing gives no part."""
    return [one.strip() for one in text.split(",")] if text.strip() else []


def _java_literal(value: Json, word: str, item: str | None = None) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value}{ {'long': 'L', 'float': 'f'}.get(word, '') }"
        case list() if word == "ArrayList":
            quote = '"' if item in {"String", "char"} else ""
            items = ", ".join(f"{quote}{_java_literal(one, item or '')}{quote}" for one in value)
            return f"new ArrayList<>(Arrays.asList({items}))" if value else "new ArrayList<>()"
        case list():
            return f"new Object[]{{{', '.join(_java_literal(one, item or '') for one in value)}}}"
        case Mapping():
            puts = " ".join(f'put("{key}", {_quoted_string(one, "long")});' for key, one in value.items())
            return f"new HashMap<>() {{{{ {puts} }}}}"
        case _:
            return str(value)


def _quoted_string(value: Json, word: str) -> str:
    return f'"{value}"' if isinstance(value, str) else _java_literal(value, word)


def _javascript_literal(value: Json, word: str, item: str | None = None) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value}n" if word == "Bigint" else str(value)
        case list():
            return f"[{', '.join(_member_literal(one, item or '') for one in value)}]"
        case Mapping():
            members = (f'"{key}": {_member_literal(one, "String")}' for key, one in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return str(value)


def _member_literal(value: Json, word: str) -> str:
    """Quote a string where quotes are taken off again."""
    if not isinstance(value, str) or word != "String":
        return _javascript_literal(value, word, "String")
    return f"'{value}'" if '"' in value else f'"{value}"'
