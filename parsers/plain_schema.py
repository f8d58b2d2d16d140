"""Values that fit so plain a schema that no validator has to be asked.

    schema := {"type": "string", "enum": [STRING*]} | {"type": "boolean"}
            | {"type": "integer" | "number", "minimum", "maximum"}
            | {"type": "array", "items": schema}
            | {"type": "object", "properties": {NAME: schema*}, "required": [NAME*], "additionalProperties"}

Titles, descriptions and defaults say nothing of what fits. Most tools are declared so, and most calls fit: it
is a quick yes, never a no. Whatever else a schema holds, and whatever does not fit, is left to the validator.
"""

from collections.abc import Mapping

from .result import Json

_SILENT = frozenset(("type", "title", "description", "default", "examples"))
_OF_STRINGS = _SILENT | {"enum"}
_OF_NUMBERS = _SILENT | {"minimum", "maximum"}
_OF_ARRAYS = _SILENT | {"items"}
_OF_OBJECTS = _SILENT | {"properties", "required", "additionalProperties"}


def plainly_fits(value: Json, schema: Json) -> bool:
    """Return True only if the schema is plain and the value fits it; False says nothing.

    Args:
        value: A value of a call's arguments, or all of them.
        schema: What is declared of it, checked against the metaschema.
    """
    if not isinstance(schema, Mapping):
        return False
    match schema.get("type"):
        case "string":
            return isinstance(value, str) and schema.keys() <= _OF_STRINGS and _is_allowed(value, schema)
        case "integer":
            return isinstance(value, int) and schema.keys() <= _OF_NUMBERS and _is_within(value, schema)
        case "number":
            is_number = isinstance(value, (int, float))
            return is_number and schema.keys() <= _OF_NUMBERS and _is_within(value, schema)
        case "boolean":
            return isinstance(value, bool) and schema.keys() <= _SILENT
        case "array":
            return isinstance(value, list) and schema.keys() <= _OF_ARRAYS and _fit_items(value, schema)
        case "object":
            return isinstance(value, Mapping) and schema.keys() <= _OF_OBJECTS and _fit_members(value, schema)
        case _:
            return False


def _is_allowed(value: str, schema: Mapping[str, Json]) -> bool:
    allowed = schema.get("enum", [value])
    return isinstance(allowed, list) and value in allowed


def _is_within(value: float, schema: Mapping[str, Json]) -> bool:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if isinstance(value, bool) or not isinstance(least, (int, float)) or not isinstance(most, (int, float)):
        return False
    return least <= value <= most


def _fit_items(items: list[Json], schema: Mapping[str, Json]) -> bool:
    return all(plainly_fits(item, schema.get("items")) for item in items)


def _fit_members(members: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    required, properties = schema.get("required", []), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, Mapping):
        return False
    # Of a member that is not declared a schema may have much to say.
    return all(name in members for name in required) and all(
        plainly_fits(value, properties.get(name)) for name, value in members.items()
    )
