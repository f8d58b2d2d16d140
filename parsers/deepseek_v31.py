r"""DeepSeek V3.1.

    output  := thinking? (content | section)*
    section := "<｜tool▁calls▁begin｜>" (call)+ "<｜tool▁calls▁end｜>"
    call    := "<｜tool▁call▁begin｜>" NAME "<｜tool▁sep｜>" OBJECT "<｜tool▁call▁end｜>"

The bar is U+FF5C and the low line U+2581; with other characters they are no tags. Whitespace between these
is tolerated and noted (`sections.py` reads all but the name). V3 and R1 write `function<｜tool▁sep｜>NAME`
and the arguments in a Markdown fence, in the same section: another dialect, as is the DSML of V3.2.
"""

import json
import re
from collections.abc import Mapping, Sequence

from .codes import DefectCode
from .dialect import Dialect
from .flawless import read_flawless_sections
from .names import name_defect
from .reasoning import StartsInReasoning, split_reasoning
from .result import JsonObject, Parsed, Span
from .sections import SectionReader, SectionTags
from .tools import Tools
from .transcript import Transcript

_TAGS = SectionTags(
    begin="<｜tool▁calls▁begin｜>",
    end="<｜tool▁calls▁end｜>",
    call_begin="<｜tool▁call▁begin｜>",
    separator="<｜tool▁sep｜>",
    call_end="<｜tool▁call▁end｜>",
    # Other bars and low lines, or some of them doubled or left out.
    lookalike=r"<[|｜‖∣│❘]{1,2}tool[▁_ ]?(?:calls?[▁_ ]?(?:begin|end)|sep)[|｜‖∣│❘]{1,2}>",
)
_HEADER = re.compile(r"([^<>\s]+)")
_V3_BEGIN = f"{_TAGS.call_begin}function{_TAGS.separator}"


def parse(text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False) -> Parsed:
    """Read a text of this dialect.

    Args:
        text: What the model wrote, from its first token on.
        tools: The declared tools; with None neither names nor schemas are checked.
        starts_in_reasoning: True if the prompt ended with `<think>`; "auto" if nobody knows.
    """
    split = split_reasoning(text, starts_in_reasoning)
    flawless = read_flawless_sections(text, tools, split, _TAGS, _HEADER)
    return flawless or _Reader(Transcript(text, tools, split)).read(split.answer)


class _Reader(SectionReader):
    """Reads the names of calls."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, _TAGS, "deepseek_v31")

    def _name(self, opening: Span, header: Span) -> tuple[str, Span] | None:
        """The header is the name."""
        name = self._text[header.start : header.end]
        if not name:
            self._say(DefectCode.MISSING_NAME, "the call has no name", opening)
            return None
        defect = name_defect(name, self._out.tools, header)
        if defect is not None and not defect.code.is_contract:
            self._out.add_defects([defect])
            return None
        return name, header

    def _is_other_form(self, position: int) -> bool:
        """V3 and R1 name the type first, then the function, and put the arguments in a fence."""
        first = self._text[position : position + 1]
        is_v3 = (first.isalpha() or first == "_") and self._text.endswith(_V3_BEGIN, 0, position)
        if is_v3:
            place = Span(position - len(_V3_BEGIN) + len(_TAGS.call_begin), position)
            message = "the type stands before the name: that is the form of DeepSeek V3, not of V3.1"
            self._say(DefectCode.WRONG_DIALECT, message, place)
        return is_v3 or super()._is_other_form(position)


def _render_calls(calls: Sequence[tuple[str, JsonObject]]) -> str:
    if not calls:
        return ""
    written = "".join(
        f"{_TAGS.call_begin}{name}{_TAGS.separator}"
        f"{json.dumps(arguments, ensure_ascii=False)}{_TAGS.call_end}"
        for name, arguments in calls
    )
    return f"{_TAGS.begin}{written}{_TAGS.end}"


def _describe_tools(declared: Sequence[JsonObject]) -> str:
    tools = "\n\n".join(_describe_tool(tool) for tool in declared)
    return f"""## Tools

You can call these tools:

{tools}

To call tools, end your answer with one section of calls, in exactly this form, without spaces or newlines \
between the tags; the arguments are a JSON object:
{_TAGS.begin}{_TAGS.call_begin}<tool-name>{_TAGS.separator}<arguments-as-json-object>{_TAGS.call_end}{_TAGS.end}
To make several calls, write several of them, from {_TAGS.call_begin} to {_TAGS.call_end}, in the section."""


def _describe_tool(tool: JsonObject) -> str:
    function = tool.get("function")
    declared: JsonObject = function if isinstance(function, Mapping) else {}
    parameters = declared.get("parameters") or {"type": "object", "properties": {}}
    described = declared.get("description")
    description = f"Description: {described}\n\n" if isinstance(described, str) and described else ""
    return (
        f"### {declared.get('name')}\n{description}Parameters: {json.dumps(parameters, ensure_ascii=False)}"
    )


def _render_result(_name: str, content: str) -> str:
    return f"<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>"


DEEPSEEK_V31 = Dialect(
    name="deepseek_v31",
    summary="JSON with a name, in sections of <｜tool▁call▁begin｜>: DeepSeek V3.1",
    parse=parse,
    render_calls=_render_calls,
    describe_tools=_describe_tools,
    render_result=_render_result,
    tags=(_TAGS.begin, _TAGS.end, _TAGS.call_begin, _TAGS.separator, _TAGS.call_end),
)
