r"""GLM XML: GLM-4.5 and 4.6 (variant A), GLM-4.7 and 5 (variant B), Ling 3, Laguna, Spark 2.5.

    output := thinking? (content | call)*
    call   := "<tool_call>" NAME gap (pair gap)* "</tool_call>"
    pair   := "<arg_key>" KEY "</arg_key>" gap "<arg_value>" VALUE "</arg_value>"
    gap    := "\n" in variant A, "" in variant B        # other whitespace is skipped, and noted once

VALUE is raw text up to the first `</arg_value>`, whitespace included: nothing is escaped, and the tool's
schema alone says what is a string and what is JSON.
"""

import json
import re
from collections.abc import Sequence

from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .families import foreign_markup
from .flawless import read_flawless
from .flawless_pairs import read_flawless_pairs
from .raw_blocks import BlockBrokenError, Draft, RawBlockReader, RawGrammar
from .reasoning import StartsInReasoning, split_reasoning
from .result import Json, JsonObject, Parsed, Span
from .tools import Tools
from .transcript import Transcript

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
_KEY_OPEN = "<arg_key>"
_KEY_CLOSE = "</arg_key>"
_VALUE_OPEN = "<arg_value>"
_VALUE_CLOSE = "</arg_value>"

_GRAMMAR = RawGrammar(
    family="glm",
    opening=OPEN,
    closing=CLOSE,
    value_closing=_VALUE_CLOSE,
    markup=re.compile(r"</?(?:tool_call|arg_key|arg_value)>|</arg_value(?![\w>-]|\Z)"),
    bare_call=re.compile(r"<arg_key>[^<>\n]*+</arg_key>(?=\s*+<arg_value>)"),
    inner_tags=(_KEY_OPEN, _KEY_CLOSE, _VALUE_OPEN, _VALUE_CLOSE),
    lost_closing=re.compile(r"<arg_key>[^<>\n]*+</arg_key>\s*+<arg_value>"),
)
# A block as the templates write it, in one variant or the other, whose values hold nothing like a tag of the
# grammar.
_VALUE = r"(?:[^<]++|<(?!/?(?:tool_call|arg_key|arg_value)))*+"
_FLAWLESS = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.:/-]*+)(\n?)"
    rf"((?:<arg_key>[^<>\s][^<>]*+</arg_key>\2<arg_value>{_VALUE}</arg_value>\2)*+)"
)
_FLAWLESS_PAIR = re.compile(rf"<arg_key>([^<]*+)</arg_key>\n?<arg_value>({_VALUE})")


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
    return None if found is None else read_flawless_pairs(found[1], _FLAWLESS_PAIR.findall(found[3]), tools)


class _Reader(RawBlockReader):
    """Reads the name and the pairs of a block. Each method reads one rule and says where it ends."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, _GRAMMAR)
        self._spacing_noted = False

    def _call(self, start: int, body: int, position: int) -> int:
        text = self._text
        name = self._name(position)
        draft = self._begin(name, Span(position, max(name.end, position + len(_KEY_OPEN))))
        position = self._skip(name.end)
        gaps = [Span(name.end, position)]
        end = name.end
        closing: Span | None = None  # the last tag that closed a value
        while text.startswith(_KEY_OPEN, position):
            closing = self._pair(draft, position, gaps)
            end = closing.end
            position = self._next(gaps, end)
        if not text.startswith(CLOSE, position):
            raise self._no_pair(position, closing)
        block = Span(start, position + len(CLOSE))
        self._finish(draft, block, Span(name.start, end))
        if not draft.is_broken:
            self._judge_spacing(Span(body, name.start), gaps)
        return block.end

    def _name(self, position: int) -> Span:
        """Return where the name stands: on the first line of what comes before the next tag."""
        text = self._text
        following = self._next_markup(position)
        end = self._piece_end(position, following.start if following is not None else None)
        first = text[position]
        if (
            first in "{["
            or text.startswith("```", position)
            or foreign_markup(text, self._family, position, end)
        ):
            raise self._broken_at(position, "the name of a function")
        if following is None:
            raise BlockBrokenError(None)
        if text.startswith(_KEY_CLOSE, following.start):
            raise self._unopened(following, _KEY_OPEN)
        if following.start == position and not text.startswith(_KEY_OPEN, position):
            raise self._broken_at(position, "the name of a function")
        line_end = text.find("\n", position, end)
        return Span(position, end if line_end < 0 else self._piece_end(position, line_end))

    def _pair(self, draft: Draft, position: int, gaps: list[Span]) -> Span:
        """Read one key and its value into the call, and return the tag that closes the value."""
        text = self._text
        tag = Span(position, position + len(_KEY_OPEN))
        key_closing = self._next_markup(tag.end, is_talk_counted=True)  # a key holds no tags, quoted or not
        if key_closing is None:
            raise BlockBrokenError(None)
        if not text.startswith(_KEY_CLOSE, key_closing.start):
            raise self._unclosed_key(tag, key_closing)
        key = text[tag.end : key_closing.start]
        whole = Span(tag.start, key_closing.end)
        if not key.strip():
            self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(whole)} names no parameter", whole)
            raise BlockBrokenError(whole.end)
        position = self._next(gaps, whole.end)
        if not text.startswith(_VALUE_OPEN, position):
            raise self._missing_value(whole, position)
        opened = Span(position, position + len(_VALUE_OPEN))
        closing = self._value_closing(opened)
        self._put(draft, key, whole, Span(opened.end, closing.start))
        return closing

    def _unclosed_key(self, tag: Span, following: Span) -> BlockBrokenError:
        """Say that another tag comes before the one that closes a key."""
        if self._text.startswith(_KEY_OPEN, following.start):
            self._judge_tag(following, "the key")
        elif not self._text.startswith(OPEN, following.start):
            message = f"{_KEY_OPEN} is not closed before {self._shown(following)}"
            self._say(DefectCode.MALFORMED_MARKUP, message, tag)
        return BlockBrokenError(following.start)

    def _no_pair(self, position: int, value_closing: Span | None) -> BlockBrokenError:
        """Say what stands where the next pair, or the end of the block, should."""
        following = self._next_markup(position)
        if following is not None and self._text.startswith(_KEY_CLOSE, following.start):
            return self._unopened(following, _KEY_OPEN)
        return self._broken_at(position, f"{_KEY_OPEN} or {CLOSE}", value_closing)

    def _unopened(self, closing: Span, opening: str) -> BlockBrokenError:
        """Say that a closing tag stands without the opening one."""
        message = f"{self._shown(closing)} stands without its {opening}"
        self._say(DefectCode.MALFORMED_MARKUP, message, closing)
        return BlockBrokenError(closing.end)

    def _missing_value(self, key: Span, position: int) -> BlockBrokenError:
        """Say what stands where the tag before a value should."""
        text = self._text
        following = self._next_markup(position)
        if following is not None and text.startswith(_VALUE_CLOSE, following.start):
            return self._unopened(following, _VALUE_OPEN)
        if text.startswith((_KEY_OPEN, CLOSE), position):
            self._say(DefectCode.MALFORMED_MARKUP, f"{self._shown(key)} has no value", key)
            return BlockBrokenError(position)
        return self._broken_at(position, _VALUE_OPEN)

    def _next(self, gaps: list[Span], end: int) -> int:
        """Return where something stands after a tag that ends at `end`, and keep the gap between."""
        position = self._skip(end)
        gaps.append(Span(end, position))
        return position

    def _judge_spacing(self, before_name: Span, gaps: list[Span]) -> None:
        """Note once that whitespace is that of neither variant; the gap after the name tells which it is."""
        if self._spacing_noted:
            return
        texts = [self._text[slice(*gap)] for gap in gaps]
        expected = texts[0] if texts[0] in {"", "\n"} else "\n"
        odd = next((gap for gap, text in zip(gaps, texts, strict=True) if text != expected), None)
        if before_name.start < before_name.end:
            odd = before_name
        if odd is not None:
            self._spacing_noted = True
            message = "the templates write a newline after the name, each key and each value, or none at all"
            self._out.add_note(NoteCode.ODD_SPACING, message, *odd)


def _render_value(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    """Write variant B, without newlines."""
    return "".join(
        OPEN
        + name
        + "".join(
            f"{_KEY_OPEN}{key}{_KEY_CLOSE}{_VALUE_OPEN}{_render_value(value)}{_VALUE_CLOSE}"
            for key, value in arguments.items()
        )
        + CLOSE
        for name, arguments in calls
    )


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    tools = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in declared)
    return f"""# Tools

You can call functions to help with what the user asks. Their signatures stand between <tools> and </tools>:
<tools>
{tools}
</tools>

To call a function, write its name and its arguments in exactly this form:
{OPEN}name-of-the-function{_KEY_OPEN}first-key{_KEY_CLOSE}{_VALUE_OPEN}first-value{_VALUE_CLOSE}\
{_KEY_OPEN}second-key{_KEY_CLOSE}{_VALUE_OPEN}second-value{_VALUE_CLOSE}{CLOSE}
Text values are written as they are, without quotation marks; all other values as JSON. To make several calls,
write several such blocks one after another."""


def _render_result(_name: str, content: str) -> str:
    return f"<tool_response>{content}</tool_response>"


GLM = Dialect(
    name="glm",
    summary="keys and raw values in <tool_call> tags: GLM-4.5 to 5, Ling 3, Laguna, Spark 2.5",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(OPEN, CLOSE, _KEY_OPEN, _KEY_CLOSE, _VALUE_OPEN, "</arg_value"),
)
