"""Raw samples for tests."""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer"},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
EXPECTED_CALL = {
    "name": "get_weather",
    "arguments": {"city": ["Oslo", "Oslo, Norway"], "unit": ["celsius"]},
    "optional": ["unit"],
}


def raw_sample(**changes):
    """A valid raw sample with some members changed; a member set to `...` is left out."""
    raw = {
        "id": "core/weather-3",
        "category": "simple",
        "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [WEATHER],
        "tool_choice": "auto",
        "expected": {"calls": [EXPECTED_CALL]},
        **changes,
    }
    return {name: value for name, value in raw.items() if value is not ...}
