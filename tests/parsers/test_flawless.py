"""A text that is read at once is read the same as step by step."""

from importlib import import_module
from unittest.mock import patch

import pytest
from draftproof.parsers.dialects import get_dialect
from draftproof.parsers.tools import compile_tools
from hypothesis import given, settings
from hypothesis import strategies as st

from . import test_dialect_laws as dialects
from . import test_hermes_laws as hermes
from . import test_raw_value_laws as raw
from .marked import TOOLS

PLAIN_TOOLS = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string"},
                        "days": {"type": "integer"},
                        "unit": {"type": ["object", "null", "number"]},
                        "a": {"type": "array", "items": {"type": "object"}},
                    },
                    "required": ["city"],
                },
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ]
)
NAMES = ("hermes", "qwen3_xml", "glm", "kimi_k2", "deepseek_v31")
_WITH_JSON = ("hermes", "kimi_k2", "deepseek_v31")
DIALECTS = pytest.mark.parametrize("name", NAMES)
_PIECES = {"hermes": hermes.pieces, "qwen3_xml": raw.pieces, "glm": raw.pieces} | {
    name: dialects.pieces(name) for name in ("kimi_k2", "deepseek_v31")
}
# Calls of the tools that are declared, some of them against their schemas, and some that are not declared.
_values = st.one_of(
    st.sampled_from(["Oslo", "", " 5", "5", 'a "b": c', "10:30", "x\n", "\n", "<b>", "{}", "True", "null"]),
    st.sampled_from([3, 3.0, -1, 2.5, True, None, [], [{"a": 1}, {"a": 2}], {"unit": {"a": 1}}]),
)
_arguments = st.dictionaries(st.sampled_from(["city", "days", "unit", "x y", "a"]), _values, max_size=3)
_calls = st.lists(
    st.tuples(st.sampled_from(["get_weather", "now", "get_wether", "a b", "f"]), _arguments), max_size=3
)
_prose = st.sampled_from(["", "\n", "Sure. ", '"', "`", "[1]", "{", "a < b", "<b>", "<tool_call"])
_thinking = st.sampled_from(["", "<think>\nhm\n</think>\n\n", " <think></think>", "hm</think>", "<think>"])


def read_step_by_step(name, *arguments):
    module = import_module(f"draftproof.parsers.{name}")
    read = "read_flawless" if hasattr(module, "read_flawless") else "read_flawless_sections"
    with patch.object(module, read, lambda *_, **__: None):
        return get_dialect(name).parse(*arguments)


def texts(name):
    """Return texts that are right or nearly so, mutated ones, and hostile ones."""
    render = get_dialect(name).render_calls
    right = st.builds(
        lambda thinking, before, calls, after, newline: (
            thinking + before + newline.join(render([call]) for call in calls) + after
        ),
        _thinking,
        _prose,
        _calls,
        _prose,
        st.sampled_from(["", "\n", " and "]),
    )
    pieces = st.one_of(_PIECES[name], _prose)
    mutated = st.builds(
        lambda text, place, length, piece: (
            text[: (at := int(place * len(text)))] + piece + text[at + length :]
        ),
        right,
        st.floats(0, 1),
        st.integers(0, 3),
        pieces,
    )
    hostile = st.lists(st.one_of(pieces, right), max_size=6).map("".join)
    return st.one_of(right, mutated, mutated, hostile)


@DIALECTS
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_reading_at_once_changes_nothing(name, data):
    """Calls, defects, notes, content and thinking are the same, to the last span."""
    text = data.draw(texts(name))
    tools = data.draw(st.sampled_from([None, PLAIN_TOOLS, TOOLS, compile_tools([])]))
    starts = data.draw(st.sampled_from([False, True, "auto"]))
    parsed = get_dialect(name).parse(text, tools, starts)
    assert repr(parsed) == repr(read_step_by_step(name, text, tools, starts))


@DIALECTS
@pytest.mark.parametrize("tools", [None, PLAIN_TOOLS], ids=["no tools", "tools"])
@pytest.mark.parametrize(
    ("thinking", "starts"),
    [("", False), ("", "auto"), ("<think>\nhm\n</think>\n\n", False), ("hm\n</think>\n", True)],
)
def test_what_a_model_does_well_is_read_at_once(name, tools, thinking, starts):
    """Thinking, prose and right calls need no reader that goes step by step."""
    dialect = get_dialect(name)
    calls = [("get_weather", {"city": "Oslo", "days": 3}), ("now", {})]
    text = f"{thinking}I look it up: at 10:30.\n{dialect.render_calls(calls)}\nPlease wait."
    with patch.object(import_module(f"draftproof.parsers.{name}"), "Transcript", None):
        parsed = dialect.parse(text, tools, starts)
    days = "3" if tools is None and name not in _WITH_JSON else 3  # without a schema a raw value stays text
    calls[0][1]["days"] = days
    assert [(call.name, call.arguments) for call in parsed.calls] == calls
    assert (parsed.defects, parsed.notes) == ((), ())
