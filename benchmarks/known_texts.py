"""Texts of which is known what calls stand in them and how many are broken: what any reader has to find.

What is right and what broken was written down by hand, from RFC 8259, the template of the models, and the
tools; most of the broken ones were seen in the wild (the issue stands beside them).
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Call = tuple[str, object]


def _tool(name: str, required: Sequence[str], **properties: object) -> dict[str, object]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": parameters},
    }


TOOLS = [
    _tool(
        "get_weather",
        ["city"],
        city={"type": "string"},
        days={"type": "integer"},
        unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
    ),
    _tool("save", ["rows"], rows={"type": "array", "items": {"type": "object"}}),
    _tool("note", ["text"], text={"type": "string"}),
    _tool("now", []),
]


@dataclass(frozen=True)
class Known:
    """A text, the calls in it that may be dispatched, and how many more were meant and are broken."""

    what: str
    text: str
    right: tuple[Call, ...] = ()
    broken: int = 0
    is_contract: bool = False


def _block(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def _call(name: str, arguments: object) -> str:
    return _block(json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False))


def _right(what: str, *calls: Call, text: str | None = None) -> Known:
    return Known(what, "\n".join(_call(*call) for call in calls) if text is None else text, calls)


def _broken(what: str, body: str, *right: Call) -> Known:
    """A broken block, and after it the calls that are right."""
    return Known(what, "\n".join([_block(body), *(_call(*call) for call in right)]), right, broken=1)


def _contract(what: str, name: str, arguments: object) -> Known:
    return Known(what, _call(name, arguments), broken=1, is_contract=True)


_OSLO: Call = ("get_weather", {"city": "Oslo", "days": 3})
_ROME: Call = ("get_weather", {"city": "Rome"})
_OSLO_TEXT = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'

RIGHT = [
    _right("one call", _OSLO),
    _right("prose around", _OSLO, text=f"I look: at 10:30.\n{_call(*_OSLO)}\nDone."),
    _right("two calls", _OSLO, _ROME),
    _right("no newlines", _OSLO, text=f"<tool_call>{_OSLO_TEXT}</tool_call>"),
    _right("arguments first", _ROME, text=_block('{"arguments": {"city": "Rome"}, "name": "get_weather"}')),
    _right("no arguments", ("now", {})),
    _right("pretty printed", _OSLO, text=_block(json.dumps(json.loads(_OSLO_TEXT), indent=2))),
    _right("nested", ("save", {"rows": [{"a": {"b": [1, 2.5, None, True]}}, {}]})),
    _right("other scripts", ("note", {"text": "東京 Øl 🙂"})),
    _right("escapes", ("note", {"text": 'a "b" \\ c\n\td'})),
    _right(
        "surrogate pair",
        ("note", {"text": "🙂"}),
        text=_block(json.dumps({"name": "note", "arguments": {"text": "🙂"}})),
    ),
    _right("braces in a string", ("note", {"text": "if (a) { b[0] = '}'; }"})),
    _right("a closing tag in a string (vLLM #45167)", ("note", {"text": "write </tool_call> last"})),
    _right("an opening tag in a string", ("note", {"text": "write <tool_call> first"})),
    _right("after thinking", _OSLO, text=f"<think>\nHm.\n</think>\n\n{_call(*_OSLO)}"),
    _right("talk about the tag", text="Calls stand in `<tool_call>` and `</tool_call>`."),
    _right("JSON in prose", text='The file holds {"city": "Oslo"} and [1, 2].'),
    _right("prose", text="It rains in Oslo."),
]
BROKEN = [
    _broken("outer brace missing (hermes-agent #5315)", _OSLO_TEXT[:-1]),
    _broken("a brace too many (langchain-qwq #30)", _OSLO_TEXT + "}"),
    _broken("two objects in a block (vLLM #17790)", f"{_OSLO_TEXT}\n{_OSLO_TEXT}"),
    _broken(
        "raw newline in a string (ai-sdk-middleware #298)", '{"name": "note", "arguments": {"text": "a\nb"}}'
    ),
    _broken("unescaped quote", '{"name": "note", "arguments": {"text": "a "b" c"}}'),
    _broken("arguments as a string (vLLM #54964)", json.dumps({"name": "now", "arguments": "{}"})),
    _broken("parameters for arguments", '{"name": "get_weather", "parameters": {"city": "Oslo"}}'),
    _broken(
        "name is an expression (n-gram speculation)",
        '{"name": "get_weather(city=\'Oslo\')", "arguments": {}}',
    ),
    _broken("a token twice", '{"name": "name": "get_weather", "arguments": {"city": "Oslo"}}'),
    _broken("trailing comma", '{"name": "get_weather", "arguments": {"city": "Oslo",}}'),
    _broken("single quotes", _OSLO_TEXT.replace('"', "'")),
    _broken("Python's None", '{"name": "get_weather", "arguments": {"city": None}}'),
    _broken("NaN", '{"name": "save", "arguments": {"rows": [{"a": NaN}]}}'),
    _broken("a number that becomes infinite", '{"name": "save", "arguments": {"rows": [{"a": 1e999}]}}'),
    _broken("a key twice", '{"name": "get_weather", "arguments": {"city": "Oslo", "city": "Rome"}}'),
    _broken("the name twice", '{"name": "now", "name": "get_weather", "arguments": {"city": "Oslo"}}'),
    _broken("no JSON escape", '{"name": "note", "arguments": {"text": "C:\\path"}}'),
    _broken("half a surrogate pair", '{"name": "note", "arguments": {"text": "\\ud83d"}}'),
    _broken("a comment", '{"name": "get_weather", /* where */ "arguments": {"city": "Oslo"}}'),
    _broken("arguments are null", '{"name": "now", "arguments": null}'),
    _broken("arguments are a list", '{"name": "get_weather", "arguments": ["Oslo"]}'),
    _broken("no name", '{"arguments": {"city": "Oslo"}}'),
    _broken("the name is a number", '{"name": 7, "arguments": {"city": "Oslo"}}'),
    _broken("a member too many", '{"name": "now", "arguments": {}, "city": "Oslo"}'),
    _broken("cut inside a closed block", '{"name": "get_weather", "arguments": {"city": "Os'),
    _broken("prose in the block", f"Sure! {_OSLO_TEXT}"),
    _broken("nothing in the block", ""),
    _broken("GLM in the block", "get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>"),
    _broken(
        "Qwen XML in the block (Qwen3-Coder #537)",
        "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
    ),
    _broken("a broken one, then a right one", _OSLO_TEXT[:-1], _ROME),
    _broken(
        "a name that leaks, then a right one", _OSLO_TEXT.replace("get_weather", "get_weather</tool"), _ROME
    ),
    Known("never closed", f"<tool_call>\n{_OSLO_TEXT}", broken=1),
    Known("right, then never closed", f"{_call(*_ROME)}\n<tool_call>\n{_OSLO_TEXT[:40]}", (_ROME,), broken=1),
    Known("never opened", f"{_OSLO_TEXT}\n</tool_call>", broken=1),
    Known("opened twice", f"<tool_call>\n<tool_call>\n{_OSLO_TEXT[:-1]}\n</tool_call>", broken=1),
    Known("bare (llama.cpp #18183)", _OSLO_TEXT, broken=1),
    Known("in a fence (vLLM #17821)", f"```json\n{_OSLO_TEXT}\n```", broken=1),
]
CONTRACT = [
    _contract("an undeclared function", "get_wether", {"city": "Oslo"}),
    _contract("a required parameter missing", "get_weather", {"days": 3}),
    _contract("a number as a string", "get_weather", {"city": "Oslo", "days": "3"}),
    _contract("a parameter that is not declared", "get_weather", {"city": "Oslo", "when": "now"}),
    _contract("none of the listed values", "get_weather", {"city": "Oslo", "unit": "kelvin"}),
]


@dataclass
class Found:
    """What a reader made of all the texts; `lost` are right calls that did not come back.

    Of broken calls: `told` by an error or a defect, `passed` as if they were right (as they stand, or
    repaired), `dropped` without a word. `invented` are calls where none was meant, `alarms` errors where
    nothing is wrong.
    """

    right: int = 0
    lost: int = 0
    told: int = 0
    passed: int = 0
    dropped: int = 0
    invented: int = 0
    alarms: int = 0

    def add(self, known: Known, calls: Sequence[Call], *, is_told: bool) -> None:
        meant, read = (Counter(map(_same, some)) for some in (known.right, calls))
        right = (meant & read).total()
        more = read.total() - right
        self.right += right
        self.lost += len(known.right) - right
        if is_told:
            self.told += known.broken
            self.alarms += not known.broken
        else:
            passed = min(known.broken, more)
            self.passed += passed
            self.dropped += known.broken - passed
            self.invented += more - passed


def _same(call: Call) -> str:
    """Calls are the same if their JSON is: 1 is not 1.0, and not true."""
    return json.dumps(call, sort_keys=True, default=repr)
