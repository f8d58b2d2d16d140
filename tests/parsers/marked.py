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
