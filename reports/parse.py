"""`draftproof parse`: a model's raw text, read strictly, for people or as JSON."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import UserError
from ..parsers.dialects import DIALECTS, guess_dialect
from ..parsers.result import Json, Parsed, Span
from ..parsers.tools import Tools, ToolSchemaError, compile_tools
from .defects import render_parsed


def parse_report(
    file: Path,
    *,
    dialect: str,
    tools: Path | None,
    starts_in_reasoning: bool,
    as_json: bool,
    tell: Callable[[str], None],
) -> str:
    """Read a text and say what is in it.

    Args:
        file: The text; `-` is standard input.
        dialect: A dialect's name, or `auto` to guess from the markup.
        tools: A JSON list of OpenAI tools; then names and schemas are checked as well.
        starts_in_reasoning: The prompt ended with the opening of thinking.
        as_json: The contract's JSON instead of a text for people.
        tell: Told which dialect was guessed.

    Raises:
        UserError: A file that cannot be read, an unknown dialect, a broken tool.
    """
    declared = None if tools is None else read_tools(tools)
    text = _read_text(file)
    name = dialect
    if dialect == "auto":
        guess = guess_dialect(text)
        name = guess or next(iter(DIALECTS))
        why = "guessed from its markup" if guess else "no markup of a call to guess from"
        tell(f"dialect: {name} ({why}; --dialect names another)")
    elif dialect not in DIALECTS:
        raise UserError(f"--dialect {dialect}: expected auto or one of {', '.join(DIALECTS)}")
    parsed = DIALECTS[name].parse(text, declared, starts_in_reasoning)
    if as_json:
        return json.dumps(to_json(parsed), ensure_ascii=False, indent=2) + "\n"
    return render_parsed(text, parsed)


def read_tools(path: Path) -> Tools:
    """Read a JSON list of OpenAI tools.

    Raises:
        UserError: The file cannot be read, or a tool is none.
    """
    try:
        raw: Json = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(raw, list) or not all(isinstance(tool, dict) for tool in raw):
        raise UserError(f"{path}: expected a JSON list of OpenAI tools")
    try:
        return compile_tools([tool for tool in raw if isinstance(tool, dict)])
    except ToolSchemaError as error:
        raise UserError(f"{path}: {error}") from error


def to_json(parsed: Parsed) -> dict[str, object]:
    """The contract of `parse --json`."""
    return {
        "calls": [
            {"name": call.name, "arguments": call.arguments, "span": _span(call.span)}
            for call in parsed.calls
        ],
        "defects": [
            {"code": defect.code.value, "message": defect.message, "span": _span(defect.span)}
            for defect in parsed.defects
        ],
        "notes": [
            {"code": note.code.value, "message": note.message, "span": _span(note.span)}
            for note in parsed.notes
        ],
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "open": parsed.open,
    }


def _span(span: Span) -> list[int]:
    return [span.start, span.end]


def _read_text(file: Path) -> str:
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8 at byte {error.start}") from error
