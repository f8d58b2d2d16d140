"""The readers that most harnesses write, one a dialect: a regex, `json.loads`, and silence about the rest."""

import json
import re
from collections.abc import Callable

Calls = list[tuple[str, dict[str, object]]]

_HERMES = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_QWEN = re.compile(r"<function=(.*?)>(.*?)</function>", re.DOTALL)
_QWEN_PARAMETER = re.compile(r"<parameter=(.*?)>\n?(.*?)\n?</parameter>", re.DOTALL)
_GLM = re.compile(r"<tool_call>([^\n<]*)\n?(.*?)</tool_call>", re.DOTALL)
_GLM_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_KIMI = re.compile(
    r"<\|tool_call_begin\|>functions\.(.*?):\d+<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_DEEPSEEK = re.compile(
    r"<｜tool▁call▁begin｜>(.*?)<｜tool▁sep｜>(.*?)<｜tool▁call▁end｜>",
    re.DOTALL,
)
_MINIMAX = re.compile(r'<invoke name="(.*?)">(.*?)</invoke>', re.DOTALL)
_MINIMAX_PARAMETER = re.compile(r'<parameter name="(.*?)">(.*?)</parameter>', re.DOTALL)


def blocks(text: str) -> list[str]:
    """What stands between the tags of Hermes."""
    return _HERMES.findall(text)


def read_hermes(text: str) -> Calls:
    calls: Calls = []
    for block in blocks(text):
        try:
            value = json.loads(block)
            calls.append((value["name"], value["arguments"]))
        except (ValueError, KeyError, TypeError):
            continue
    return calls


def _tagged(calls: re.Pattern[str], values: re.Pattern[str]) -> Callable[[str], Calls]:
    """Read calls whose values are raw; they stay text."""
    return lambda text: [(name, dict(values.findall(body))) for name, body in calls.findall(text)]


def _with_json(calls: re.Pattern[str]) -> Callable[[str], Calls]:
    def read(text: str) -> Calls:
        found: Calls = []
        for name, arguments in calls.findall(text):
            try:
                found.append((name, json.loads(arguments)))
            except ValueError:
                continue
        return found

    return read


def _read_llama(text: str) -> Calls:
    try:
        value = json.loads(text.removeprefix("<|python_tag|>"))
        return [(value["name"], value["parameters"])]
    except (ValueError, KeyError, TypeError):
        return []


READERS: dict[str, Callable[[str], Calls]] = {
    "hermes": read_hermes,
    "qwen3_xml": _tagged(_QWEN, _QWEN_PARAMETER),
    "glm": _tagged(_GLM, _GLM_PAIR),
    "kimi_k2": _with_json(_KIMI),
    "deepseek_v31": _with_json(_DEEPSEEK),
    "minimax_m2": _tagged(_MINIMAX, _MINIMAX_PARAMETER),
    "llama3_json": _read_llama,
}
