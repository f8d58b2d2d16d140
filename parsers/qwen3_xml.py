r"""Qwen3 XML: Qwen3-Coder, Qwen3.5, 3.6 and 3.8, Nemotron 3, Step 3.5 and 3.7, MiMo-V2.

    output    := thinking? (content | call)*
    call      := "<tool_call>" ws function ws "</tool_call>"
    function  := "<function=" NAME ">" ws (parameter ws)* "</function>"
    parameter := "<parameter=" KEY ">" "\n"? VALUE "\n"? "</parameter>"
    ws        := [ \t\n\r]*        # the template writes one newline at each place, MiMo none around VALUE

VALUE is raw text up to the first `</parameter>`, without exactly one newline at either end: nothing is
escaped, and the tool's schema alone says what is a string and what is JSON.
"""

import json
import re
from collections.abc import Sequence

from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .flawless import read_flawless
from .flawless_pairs import read_flawless_pairs
from .raw_blocks import BlockBrokenError, Draft, RawBlockReader, RawGrammar
from .reasoning import StartsInReasoning, split_reasoning
from .result import Json, JsonObject, Parsed, Span
from .tools import Tools
from .transcript import Transcript

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
_FUNCTION_CLOSE = "</function>"
_PARAMETER_CLOSE = "</parameter>"

_GRAMMAR = RawGrammar(
    family="qwen3_xml",
    opening=OPEN,
    closing=CLOSE,
    value_closing=_PARAMETER_CLOSE,
    markup=re.compile(
        r"</?tool_call>|<(?:function|parameter)=[^<>\n]*+>|</(?:function|parameter)>"
        r"|</parameter(?![\w>-]|\Z)"
    ),
    bare_call=re.compile(r"<function=[^<>\n]*+>(?=\s*+(?:<parameter=|</function>))"),
    inner_tags=("<function=", "<parameter=", _FUNCTION_CLOSE, _PARAMETER_CLOSE),
)
_FUNCTION = re.compile(r"<function=([^<>\n]*+)(>?)")
_PARAMETER = re.compile(r"<parameter=([^<>\n]*+)(>?)")
# A key that is not declared and holds one of these is a tag gone wrong, not a name of its own.
_NO_KEY = re.compile(r"[=\"'`]|\A\s|\s\Z|\A\Z")
_REPEATED = "parameter="
# A block as the template writes it, whose values hold nothing like a tag of the grammar.
_VALUE = r"(?:[^<]++|<(?!/?(?:tool_call|function|parameter)))++"
_FLAWLESS = re.compile(
    r"\n<function=([^<>\n]++)>\n"
    rf"((?:<parameter=[^<>\n]++>\n{_VALUE}(?<=\n)</parameter>\n)*+)</function>\n"
)
_FLAWLESS_PARAMETER = re.compile(rf"<parameter=([^<>\n]++)>\n({_VALUE})</parameter>")
# How calls of other dialects begin that have no tag of their own: Python, and GLM without arguments.
_OTHER_CALL = re.compile(r"([A-Za-z_][\w.:/-]{0,127}+(?:\(|(?=\s*+</tool_call>)))")


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None nothing is checked, and every value stays text.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    flawless = read_flawless(text, tools, split, (OPEN, CLOSE), _read_flawless_block)
    return flawless or _Reader(Transcript(text, tools, split)).read(split.answer)


def _read_flawless_block(body: str, tools: Tools | None) -> tuple[str, JsonObject] | None:
    found = _FLAWLESS.fullmatch(body)
    if found is None:
        return None
    pairs = [(key, raw[:-1]) for key, raw in _FLAWLESS_PARAMETER.findall(found[2])]
    if any(_NO_KEY.search(key) for key, _ in pairs):
        return None
    return read_flawless_pairs(found[1], pairs, tools)


class _Reader(RawBlockReader):
    """Reads the function of a block. Each method reads one rule and says where it ends."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, _GRAMMAR)
        self._newline_noted = False

    def _call(self, start: int, body: int, position: int) -> int:
        text = self._text
        tag, name = self._function_tag(position)
        draft = self._begin(name, tag)
        gaps = [Span(body, position)]
        closing: Span | None = None  # the last tag that closed a value
        end = tag.end
        while text.startswith("<parameter=", position := self._next(gaps, end)):
            closing = self._parameter(draft, position, gaps)
            end = closing.end
        if not text.startswith(_FUNCTION_CLOSE, position):
            raise self._broken_at(position, "<parameter=KEY> or </function>", closing)
        function = Span(tag.start, position + len(_FUNCTION_CLOSE))
        position = self._next(gaps, function.end)
        if not text.startswith(CLOSE, position):
            raise self._broken_at(position, CLOSE, closing)
        block = Span(start, position + len(CLOSE))
        self._finish(draft, block, function)
        if not draft.is_broken:
            self._judge_newlines(gaps)
        return block.end

    def _function_tag(self, position: int) -> tuple[Span, Span]:
        """Read the tag that names the function; return it and the place of the name."""
        found = _FUNCTION.match(self._text, position)
        if found is None:
            other = _OTHER_CALL.match(self._text, position)
            if other is None:
                raise self._broken_at(position, "<function=NAME>")
            message = f"{self._shown(Span(*other.span(1)))} begins a call of another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, Span(*other.span(1)))
            raise BlockBrokenError(position)
        tag = self._whole_tag(found)
        return tag, Span(*found.span(1))

    def _parameter(self, draft: Draft, position: int, gaps: list[Span]) -> Span:
        """Read one parameter into the call, and return the tag that closes it."""
        found = _PARAMETER.match(self._text, position)
        assert found is not None  # noqa: S101 - the caller saw how it begins
        tag = self._whole_tag(found)
        key = found[1]
        if _NO_KEY.search(key) and not self._values.is_declared(draft.name, key):
            self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(tag)} names no parameter", tag)
            if key.startswith(_REPEATED):
                message = f'"{_REPEATED}" stands twice in a row'
                self._out.add_note(NoteCode.TOKEN_DUPLICATION, message, *tag)
            raise BlockBrokenError(tag.end)
        closing = self._value_closing(tag)
        start, end = tag.end, closing.start
        start += self._text.startswith("\n", start, end)
        end -= self._text.endswith("\n", start, end)
        gaps += [Span(tag.end, start), Span(end, closing.start)]
        self._put(draft, key, tag, Span(start, end))
        return closing

    def _whole_tag(self, found: re.Match[str]) -> Span:
        """Return where a tag stands, if it has its closing bracket."""
        tag = Span(*found.span())
        if found[2]:
            return tag
        if tag.end == len(self._text):
            raise BlockBrokenError(None)
        self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(tag)} lacks its closing bracket", tag)
        raise BlockBrokenError(tag.end)

    def _next(self, gaps: list[Span], end: int) -> int:
        """Return where something stands after a tag that ends at `end`, and keep the gap between."""
        position = self._skip(end)
        gaps.append(Span(end, position))
        return position

    def _judge_newlines(self, gaps: list[Span]) -> None:
        """Note once that newlines of the template are missing: some servers want them."""
        gap = next((gap for gap in gaps if "\n" not in self._text[slice(*gap)]), None)
        if gap is not None and not self._newline_noted:
            self._newline_noted = True
            message = "the template writes a newline after each tag and around each value"
            self._out.add_note(NoteCode.MISSING_NEWLINE, message, *gap)


def _render_value(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | None):
        return str(value)  # as the template does: True, False and None are Python's spellings
    return json.dumps(value, ensure_ascii=False)


def _render_call(name: str, arguments: JsonObject) -> str:
    parameters = "".join(
        f"<parameter={key}>\n{_render_value(value)}\n{_PARAMETER_CLOSE}\n" for key, value in arguments.items()
    )
    return f"{OPEN}\n<function={name}>\n{parameters}{_FUNCTION_CLOSE}\n{CLOSE}"


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    return "\n".join(_render_call(name, arguments) for name, arguments in calls)


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    # The signatures as JSON, as in the templates from Qwen3.5 on; Coder's own has them as XML.
    tools = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in declared)
    return f"""# Tools

You can call functions to help with what the user asks. Their signatures stand between <tools> and </tools>:
<tools>
{tools}
</tools>

To call a function, write a block of exactly this form, and nothing after it:
{OPEN}
<function=name_of_the_function>
<parameter=name_of_a_parameter>
its value
{_PARAMETER_CLOSE}
<parameter=name_of_another>
a value that may
take several lines
{_PARAMETER_CLOSE}
{_FUNCTION_CLOSE}
{CLOSE}
Text values are written as they are, without quotation marks; lists and objects as JSON. Every required
parameter must be there. To make several calls, write several such blocks one after another."""


def _render_result(_name: str, content: str) -> str:
    return f"<tool_response>\n{content}\n</tool_response>"


QWEN3_XML = Dialect(
    name="qwen3_xml",
    summary="XML with raw values in <tool_call> tags: Qwen3-Coder, Qwen3.5 and later, Nemotron 3, MiMo-V2",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(OPEN, CLOSE, "<function=", "<parameter=", _FUNCTION_CLOSE, "</parameter"),
)
