"""Tools as data sets declare them, turned into OpenAI tool objects.

Three forms are in use: OpenAI's own; the inner function object alone; and, in xLAM and APIGen, a function
whose `parameters` map each name to `{"type": "str, optional", "description": …, "default": …}`.
"""

import re
from collections.abc import Mapping

from ..parsers.result import Json, JsonObject
from .problems import SampleError
from .row import objects
from .values import member_path, shown

# Python's words and JSON Schema's; what is none of them is left without a type.
_TYPES: dict[str, str] = {
    **dict.fromkeys(("str", "string"), "string"),
    **dict.fromkeys(("int", "integer"), "integer"),
    **dict.fromkeys(("float", "number", "double"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("list", "array", "tuple", "set", "sequence"), "array"),
    **dict.fromkeys(("dict", "object", "mapping"), "object"),
}
_GENERIC = re.compile(r"(?P<head>\w+)\[(?P<inner>.*)\]", re.DOTALL)


def openai_tools(declared: Json, field: str = "tools") -> list[JsonObject]:
    """Turn declared tools into OpenAI tool objects; those that are such already stay as they are.

    Raises:
        SampleError: They are no list of functions.
    """
    return [_tool(one, f"{field}[{n}]") for n, one in enumerate(objects(declared, field))]


def _tool(declared: JsonObject, field: str) -> JsonObject:
    if isinstance(declared.get("function"), Mapping):
        return declared
    parameters = declared.get("parameters")
    if not isinstance(declared.get("name"), str):
        raise SampleError(f"{field}.name", "is missing")
    function: dict[str, Json] = {name: value for name, value in declared.items() if name != "type"}
    if isinstance(parameters, Mapping) and not _is_schema(parameters):
        function["parameters"] = _schema(parameters, f"{field}.parameters")
    return {"type": "function", "function": function}


def _is_schema(parameters: JsonObject) -> bool:
    """Tell a JSON Schema from a map of parameters, of which one may be called `type` or `properties`."""
    properties = parameters.get("properties")
    return (
        isinstance(parameters.get("type"), str)
        or (isinstance(properties, Mapping) and all(isinstance(one, Mapping) for one in properties.values()))
        or not all(isinstance(value, Mapping) for value in parameters.values())
    )


def _schema(parameters: JsonObject, field: str) -> JsonObject:
    properties: dict[str, Json] = {}
    required: list[Json] = []
    for name, declared in parameters.items():
        if not isinstance(declared, Mapping):
            raise SampleError(member_path(field, name), f"is {shown(declared)}, expected an object")
        word = declared.get("type")
        schema, is_optional = _type(word) if isinstance(word, str) else ({}, False)
        others = {key: value for key, value in declared.items() if key not in ("type", "required")}
        properties[name] = {**schema, **others}
        if not is_optional and "default" not in declared and declared.get("required") is not False:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _type(word: str) -> tuple[dict[str, Json], bool]:
    """Read a type word such as `int`, `List[str], optional` or `Optional[float]`; says if it is optional."""
    text, _, rest = word.strip().rpartition(",")
    is_optional = rest.strip().lower() == "optional"
    text = text.strip() if is_optional else word.strip()
    generic = _GENERIC.fullmatch(text)
    head = (generic["head"] if generic else text).lower()
    if generic and head == "optional":
        return _type(generic["inner"])[0], True
    if head not in _TYPES:
        return {}, is_optional
    schema: dict[str, Json] = {"type": _TYPES[head]}
    # An array of one kind of items; a tuple's places differ.
    if generic and head in ("list", "array", "sequence", "set"):
        items, _ = _type(generic["inner"])
        schema |= {"items": items} if items else {}
    return schema, is_optional
