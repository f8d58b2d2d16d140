"""Texts with the expected spans drawn in: `⟦` and `⟧` stand around what a defect should point at."""

from draftproof.parsers.result import Span
from draftproof.parsers.tools import compile_tools

TOOLS = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string"},
                        "days": {"type": "integer", "maximum": 7},
                        "unit": {"enum": ["celsius", "fahrenheit"]},
                    },
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ]
)

# One parameter of each type, for the grammars whose values carry none.
TYPED_TOOLS = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": "f",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "count": {"type": "integer"},
                        "ratio": {"type": "number"},
                        "flag": {"type": "boolean"},
                        "nothing": {"type": "null"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "options": {"type": "object"},
                        "maybe_flag": {"type": ["boolean", "null"]},
                        "maybe_text": {"type": ["string", "null"]},
                        "text_or_count": {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 9}]},
                        "text_or_tags": {"oneOf": [{"$ref": "#/$defs/name"}, {"type": "array"}]},
                        "level": {"enum": ["low", "high"]},
                        "size": {"enum": [1, 2]},
                        "mixed": {"enum": [1, "1", "one"]},
                        "version": {"const": "2"},
                        "name": {"$ref": "#/$defs/name"},
                        "limit": {"allOf": [{"$ref": "#/$defs/limit"}, {"maximum": 9}]},
                        "anything": {},
                        "never": False,
                    },
                    "patternProperties": {"^n_": {"type": "integer"}},
                    "$defs": {
                        "name": {"type": "string", "minLength": 1},
                        "limit": {"type": "integer"},
                        "loop": {"$ref": "#/$defs/loop"},
                    },
                },
            },
        },
        {
            "type": "function",
            "function": {
                "name": "g",
                "parameters": {
                    "allOf": [{"$ref": "#/$defs/part"}],
                    "anyOf": [
                        {"properties": {"value": {"type": "integer"}}},
                        {"properties": {"value": {"type": "boolean"}}},
                    ],
                    "$defs": {"part": {"properties": {"ready": {"type": "boolean"}}}},
                },
            },
        },
        {
            "type": "function",
            "function": {"name": "h", "parameters": {"additionalProperties": {"type": "number"}}},
        },
    ]
)


def unmark(marked: str) -> tuple[str, list[Span]]:
    """Return the text without its marks, and the spans between them, in order."""
    text = ""
    spans: list[Span] = []
    start = 0
    for character in marked:
        if character == "⟦":
            start = len(text)
        elif character == "⟧":
            spans.append(Span(start, len(text)))
        else:
            text += character
    return text, spans
