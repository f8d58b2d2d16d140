"""BFCL's function descriptions as OpenAI tools: type words converted to JSON Schema, names made plain.

The conversion is the one the benchmark makes for the interfaces of model vendors: an unknown or missing type
is a string, a float is a number that says so in its description. In the Java and JavaScript categories every
parameter is a string that holds source text; the sentence that says so is worded here, not as the benchmark
words it.
"""

from collections.abc import Mapping
from enum import StrEnum

from ..parsers.result import Json, JsonObject
from .bfcl_terms import Language, members_of

FLOAT_SUFFIX = " This is a float type value."

_TYPE_OF_WORD = {
    "integer": "integer",
    "number": "number",
    "float": "number",
    "string": "string",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "dict": "object",
    "object": "object",
    "tuple": "array",
    "any": "string",
    "byte": "integer",
    "short": "integer",
    "long": "integer",
    "Bigint": "integer",
    "double": "number",
    "char": "string",
    "String": "string",
    "Any": "string",
    "ArrayList": "array",
    "Array": "array",
    "Queue": "array",
    "Stack": "array",
    "HashMap": "object",
    "Hashtable": "object",
}
_SHOWN_LANGUAGE = {Language.JAVA: "Java", Language.JAVASCRIPT: "JavaScript"}


class Names(StrEnum):
    """How function names reach the model, and what is then expected of it."""

    UNDERSCORE = "underscore"  # `.` as `_`: many servers take nothing but ^[a-zA-Z0-9_-]+$
    PUBLISHED = "published"

    def apply(self, name: str) -> str:
        """Return a published name as it is sent."""
        return name.replace(".", "_") if self is Names.UNDERSCORE else name


def tool_of_function(
    name: str, description: str, parameters: JsonObject, names: Names, language: Language
) -> JsonObject:
    """Return a published function description as an OpenAI tool object.

    Args:
        name: As published.
        description: As published.
        parameters: `{"type": "dict", "properties", "required"}`.
        names: What becomes of dots in the name.
        language: Of the category.
    """
    schema = _schema({**parameters, "type": "dict"})
    if language is not Language.PYTHON:
        members = members_of(parameters, "properties")
        schema["properties"] = {key: _source_text(member, language) for key, member in members.items()}
    sent: dict[str, Json] = {
        "name": names.apply(name),
        "description": description,
        "parameters": schema,
    }
    return {"type": "function", "function": sent}


def _schema(published: Json) -> dict[str, Json]:
    """Convert one schema and those inside it; other keywords stay as they are."""
    if not isinstance(published, Mapping):
        return {"type": "string"}
    word = published.get("type")
    kind = _TYPE_OF_WORD.get(word, "string") if isinstance(word, str) else "string"
    schema: dict[str, Json] = {**published, "type": kind}
    if word == "float":
        schema["format"] = "float"
        schema["description"] = f"{published.get('description', '')}{FLOAT_SUFFIX}"
    properties, items = published.get("properties"), published.get("items")
    if isinstance(properties, Mapping):
        schema["properties"] = {name: _schema(member) for name, member in properties.items()}
    if items is not None:
        schema["items"] = _schema(items)
    # On a parameter, `"required": true` is the author's habit; JSON Schema wants a list of members.
    if not isinstance(published.get("required", []), list):
        del schema["required"]
    return schema


def _source_text(published: Json, language: Language) -> dict[str, Json]:
    member: JsonObject = published if isinstance(published, Mapping) else {}
    items = members_of(member, "items")
    word = f"{member.get('type', 'any')}"
    if "type" in items:
        word += f" of {items['type']}"
    hint = f"Write it as {_SHOWN_LANGUAGE[language]} source text, in a string; its type is {word}."
    description = f"{member.get('description', '')} {hint}".lstrip()
    return {"type": "string", "description": description}
