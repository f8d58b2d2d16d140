r"""MiniMax M2: M2, M2.1, M2.5 and M2.7.

    output    := thinking? (content | block)*
    block     := "<minimax:tool_call>" ws (invoke ws)+ "</minimax:tool_call>"
    invoke    := "<invoke name=" QUOTED_NAME ">" ws (parameter ws)* "</invoke>"
    parameter := "<parameter name=" QUOTED_KEY ">" VALUE "</parameter>"
    ws        := [ \t\n\r]*        # the template writes one newline at each place

Names and keys stand in double quotes, and may hold anything but these and a newline. VALUE is raw text up to
the first `</parameter>`, with its whitespace: nothing is escaped, and the tool's schema alone says what is a
string and what is JSON. Each invoke is a call of its own: one that is whole stands, and a broken one costs no
other.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence

from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .raw_blocks import BlockBrokenError, RawBlockReader, RawGrammar
from .reasoning import StartsInReasoning, split_reasoning
from .result import Json, JsonObject, Parsed, Span
from .tools import Tools
from .transcript import Transcript

OPEN = "<minimax:tool_call>"
CLOSE = "</minimax:tool_call>"
_INVOKE = "<invoke name="
_INVOKE_CLOSE = "</invoke>"
_PARAMETER = "<parameter name="
_PARAMETER_CLOSE = "</parameter>"

_GRAMMAR = RawGrammar(
    family="minimax_m2",
    opening=OPEN,
    closing=CLOSE,
    value_closing=_PARAMETER_CLOSE,
    markup=re.compile(
        r"</?minimax:tool_call>|<(?:invoke|parameter) name=(?:\"[^\"\n]*+\"|[^\s\"<>]++)>"
        r"|</(?:invoke|parameter)>|</parameter(?![\w>-]|\Z)"
    ),
    bare_call=re.compile(r"<invoke name=\"[^\"\n]*+\">(?=\s*+(?:<parameter name=|</invoke>))"),
    inner_tags=(f'{_INVOKE}"', f'{_PARAMETER}"', _INVOKE_CLOSE, _PARAMETER_CLOSE),
)
_TAG = re.compile(r"<(?:invoke|parameter) name=(?:\"([^\"\n]*+)(\"?)|[^\s\"<>]*+)(>?)")


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None nothing is checked, and every value stays text.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    return _Reader(Transcript(text, tools, split)).read(split.answer)


class _Reader(RawBlockReader):
    """Reads the invokes of a block. Each method reads one rule and says where it ends."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, _GRAMMAR)
        self._newline_noted = False

    def _body(self, start: int, body: int, position: int) -> int:
        gaps = [Span(body, position)]
        is_whole = True
        while not self._text.startswith(CLOSE, position):
            if self._text.startswith(OPEN, position):
                return self._nested_open(position)
            if position in (self._tail, len(self._text)):
                return self._end_open(start, body)
            end = self._invoke_or_break(start, body, position)
            if end is None:
                return len(self._text)
            is_whole = is_whole and self._draft is not None and not self._draft.is_broken
            position = self._next(gaps, end)
        if is_whole:
            self._judge_newlines(gaps)
        return position + len(CLOSE)

    def _invoke_or_break(self, start: int, body: int, position: int) -> int | None:
        """Return where reading goes on after an invoke, whole or broken; None if the text ends inside."""
        self._draft = None
        try:
            return self._call(start, body, position)
        except BlockBrokenError as broken:
            if self._draft is not None:
                self._draft.is_broken = True
            end = None if broken.resume is None else self._after_broken(max(broken.resume, position + 1))
            is_cut = broken.resume is None
        if end is None:
            if is_cut and self._draft is not None:  # a name that is whole before the end is judged
                self._judge_declaration(self._draft)
            tag = _TAG.match(self._text, position)
            _ = self._end_open(*((start, body) if tag is None else tag.span()))
        return end

    def _after_broken(self, position: int) -> int | None:
        """Return where the next invoke may begin, or the block end; None if nothing of that follows."""
        for index in range(bisect_left(self._markup_starts, position), len(self._markup)):
            place = self._markup[index]
            if self._is_talk(*place):
                continue
            if self._text.startswith(_INVOKE_CLOSE, place.start):
                return place.end
            if self._text.startswith((_INVOKE, OPEN, CLOSE), place.start):
                return place.start
        return None

    def _call(self, start: int, body: int, position: int) -> int:
        """Read `"<invoke name=" QUOTED_NAME ">" ws (parameter ws)* "</invoke>"`."""
        del start, body  # an invoke is a block of its own
        text = self._text
        tag, name = self._whole_tag(position, _INVOKE)
        draft = self._begin(name, tag)
        gaps: list[Span] = []
        closing: Span | None = None  # the last tag that closed a value
        end = tag.end
        while text.startswith(_PARAMETER, position := self._next(gaps, end)):
            parameter, key = self._whole_tag(position, _PARAMETER)
            if key.start == key.end:
                draft.is_broken = True
                self._say(DefectCode.MALFORMED_MARKUP, "a parameter has no name", parameter)
            closing = self._value_closing(parameter)
            self._put(draft, text[slice(*key)], parameter, Span(parameter.end, closing.start))
            end = closing.end
        if text.startswith(_INVOKE, position):
            place = Span(position, position + len(_INVOKE))
            self._say(DefectCode.NESTED_OPEN, "an invoke opens before the one around it is closed", place)
            raise BlockBrokenError(position)
        if not text.startswith(_INVOKE_CLOSE, position):
            raise self._broken_at(position, f'{_PARAMETER}"KEY"> or {_INVOKE_CLOSE}', closing)
        invoke = Span(tag.start, position + len(_INVOKE_CLOSE))
        self._finish(draft, invoke, invoke)
        if not draft.is_broken:
            self._judge_newlines(gaps)
        return invoke.end

    def _whole_tag(self, position: int, begin: str) -> tuple[Span, Span]:
        """Read a tag that names something, and return its place and the place of the name."""
        found = _TAG.match(self._text, position) if self._text.startswith(begin, position) else None
        if found is None:
            raise self._broken_at(position, f'{begin}"NAME">')
        tag = Span(*found.span())
        if found[2] and found[3]:
            return tag, Span(*found.span(1))
        if tag.end == len(self._text):
            raise BlockBrokenError(None)
        lacking = "quotation marks" if found[1] is None else "second quotation mark"
        lacking = "closing bracket" if found[2] else lacking
        self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(tag)} lacks its {lacking}", tag)
        raise BlockBrokenError(tag.end)

    def _next(self, gaps: list[Span], end: int) -> int:
        """Return where something stands after a tag that ends at `end`, and keep the gap between."""
        position = self._skip(end)
        gaps.append(Span(end, position))
        return position

    def _judge_newlines(self, gaps: Sequence[Span]) -> None:
        """Note once that newlines of the template are missing: some servers want them."""
        gap = next((gap for gap in gaps if "\n" not in self._text[slice(*gap)]), None)
        if gap is not None and not self._newline_noted:
            self._newline_noted = True
            message = "the template writes a newline between the tags"
            self._out.add_note(NoteCode.MISSING_NEWLINE, message, *gap)


def _render_value(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _render_call(name: str, arguments: JsonObject) -> str:
    parameters = "".join(
        f'{_PARAMETER}"{key}">{_render_value(value)}{_PARAMETER_CLOSE}\n' for key, value in arguments.items()
    )
    return f'{_INVOKE}"{name}">\n{parameters}{_INVOKE_CLOSE}\n'


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    if not calls:
        return ""
    return f"{OPEN}\n{''.join(_render_call(name, arguments) for name, arguments in calls)}{CLOSE}"


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    tools = "\n".join(
        f"<tool>{json.dumps(tool.get('function'), ensure_ascii=False)}</tool>" for tool in declared
    )
    return f"""# Tools

You can call tools to help with what the user asks. They are declared between <tools> and </tools>:
<tools>
{tools}
</tools>

To call tools, write one block of exactly this form; to make several calls, write several <invoke> in it:
{OPEN}
{_INVOKE}"name-of-a-tool">
{_PARAMETER}"name-of-a-parameter">its value{_PARAMETER_CLOSE}
{_PARAMETER}"name-of-another">its value{_PARAMETER_CLOSE}
{_INVOKE_CLOSE}
{CLOSE}
Text values are written as they are, without quotation marks; all others as JSON."""


def _render_result(_name: str, content: str) -> str:
    return f"<response>{content}</response>"


MINIMAX_M2 = Dialect(
    name="minimax_m2",
    summary="XML with raw values in <minimax:tool_call> tags: MiniMax M2, M2.1, M2.5, M2.7",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(OPEN, CLOSE, _INVOKE, _PARAMETER, _INVOKE_CLOSE, "</parameter"),
)
