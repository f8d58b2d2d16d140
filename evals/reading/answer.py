"""One answer as read: what the model said, how it ended, and whether the cap cut it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import cast

import msgspec

from ...parsers.codes import DefectCode, NoteCode
from ...parsers.dialect import Dialect
from ...parsers.native import CUT_REASONS, read_native
from ...parsers.result import Call, Defect, Json, Note, Parsed, Span
from ...parsers.tools import Tools
from ...tasks.match import same_calls
from ..attempt import Attempt, ErrorType, Reading
from ..plan import Mode, RunSection

# What a cut explains, and is therefore no defect of a cut answer: the text ended inside something, or the
# server's parser had not yet given out what it held back.
OPEN_DEFECTS = frozenset((DefectCode.UNCLOSED_BLOCK, DefectCode.UNCLOSED_REASONING, DefectCode.LOST_OUTPUT))


class Ending(StrEnum):
    """How an answer ended."""

    FINISHED = "finished"
    CUT = "cut"
    CUT_MASKED = "cut_masked"
    CUT_CONTEXT = "cut_context"
    CUT_SERVER = "cut_server"
    CUT_REASONING = "cut_reasoning"
    MISSING_FINISH = "missing_finish"
    FILTERED = "filtered"
    ABORTED = "aborted"
    REPETITION = "repetition"

    @property
    def is_cut(self) -> bool:
        """True when the text stops because something stopped it."""
        return self in _CUT


_CUT = frozenset((Ending.CUT, Ending.CUT_MASKED, Ending.CUT_CONTEXT, Ending.CUT_SERVER, Ending.CUT_REASONING))
_CUT_BY_LENGTH = frozenset((Ending.CUT, Ending.CUT_SERVER, Ending.CUT_REASONING))


class Answer(msgspec.Struct, frozen=True):
    """A successful attempt, read.

    `parsed` keeps every defect; `defects` leaves out those that the cut explains. `is_server_failure` says
    that the server's parser failed on the model's output and returned no text at all. `is_tail_unseen` says
    that what was written last cannot be seen: a server's parser gives out a call before its closing tag, so
    at the first budget a whole call may be one that was cut inside that tag. `raw` is the same generation
    read before the server's parser, where the server gave its tokens.
    """

    attempt: Attempt
    parsed: Parsed
    ending: Ending
    is_server_failure: bool = False
    is_tail_unseen: bool = False
    raw: Parsed | None = None

    @property
    def is_cut(self) -> bool:
        """True when a larger budget could change this answer."""
        return self.ending.is_cut

    @property
    def defects(self) -> tuple[Defect, ...]:
        """Defects that stand in the text before the place of the cut.

        Some servers close a call that was cut, so that its last arguments are missing or short: in native
        mode a broken schema of the call at the end says nothing. The larger budget tells.
        """
        if not self.is_cut:
            return self.parsed.defects
        left = [defect for defect in self.parsed.defects if defect.code not in OPEN_DEFECTS]
        if self.attempt.mode is Mode.NATIVE and self.parsed.calls and not self.parsed.open:
            last = self.parsed.calls[-1].span
            while left and left[-1].code.is_schema and left[-1].span == last:
                left.pop()
        return tuple(left)

    @property
    def is_below_budget(self) -> bool:
        """True when the server said `length` with fewer tokens than it was allowed.

        Hidden thinking is added: some servers leave it out of `completion_tokens`, and the cap counts it. One
        token of slack, as for a full context.
        """
        tokens, usage = self.attempt.completion_tokens, self.attempt.usage
        if self.ending not in _CUT_BY_LENGTH or tokens is None or usage is None:
            return False
        return tokens + max(0, usage.reasoning_tokens or 0) < self.attempt.max_tokens - 1


def read_answer(
    attempt: Attempt,
    tools: Tools,
    dialect: Dialect,
    settings: RunSection,
    context: int | None,
    *,
    parsed: Parsed | None = None,
) -> Answer:
    """Read a successful attempt.

    Args:
        attempt: A journal line with status "success".
        tools: The sample's tools, for names and schemas.
        dialect: The markup the model was asked to write.
        settings: Of the run: the first budget, and whether answers begin inside thinking.
        context: Tokens that prompt and answer share on this server, None if unknown.
        parsed: What the same text of the same sample was read as before, if it was.
    """
    if attempt.error is not None and attempt.error.type is ErrorType.SERVER_PARSE_FAILURE:
        return Answer(attempt, Parsed(), Ending.FINISHED, is_server_failure=True)
    if parsed is not None:
        pass
    elif attempt.reading is not None:
        parsed = _as_it_was_read(attempt.reading)
    elif attempt.mode is Mode.NATIVE:
        parsed = read_native(
            attempt.content,
            attempt.reasoning,
            cast("Json", attempt.tool_calls),  # pydantic's name for the same JSON
            tools,
            finish_reason=attempt.finish_reason,
            is_at_limit=_is_at_limit(attempt, context),
            completion_tokens=_visible_tokens(attempt),
            dialect=dialect,
        )
    else:
        parsed = dialect.parse(attempt.content or "", tools, settings.starts_in_reasoning)
        if attempt.reasoning:
            # The server split the thinking off; what is left in the content is read after it.
            parsed = msgspec.structs.replace(parsed, reasoning=attempt.reasoning + parsed.reasoning)
    raw = None
    if attempt.raw_text is not None and attempt.mode is Mode.NATIVE:
        raw = dialect.parse(attempt.raw_text, tools, settings.starts_in_reasoning)
    return Answer(
        attempt,
        parsed,
        _ending(attempt, parsed, context),
        is_tail_unseen=attempt.mode is Mode.NATIVE and attempt.max_tokens <= settings.max_tokens,
        raw=raw,
    )


def _as_it_was_read(reading: Reading) -> Parsed:
    """The reading of a redacted answer; its messages quote nothing."""
    return Parsed(
        calls=tuple(Call(call.name, call.arguments, Span(*call.span)) for call in reading.calls),
        defects=tuple(Defect(DefectCode(m.code), _place(m.span), Span(*m.span)) for m in reading.defects),
        notes=tuple(Note(NoteCode(m.code), _place(m.span), Span(*m.span)) for m in reading.notes),
        content=reading.content,
        reasoning=reading.reasoning,
        open=reading.open,
    )


def _place(span: tuple[int, int]) -> str:
    return f"characters {span[0]} to {span[1]} of a text that is redacted"


def settle_endings(answers: Mapping[int, Answer]) -> dict[int, Answer]:
    """Answers of one sample and arm by budget, with what only the next budget can tell.

    `length` below the budget, and the same length (give or take a token) at the larger one, is a limit of
    the server's own. A native answer that stops exactly at the limit with whole calls is finished if the
    larger budget gives the same calls. Where both stop under another reason than `length`, at or above both
    budgets and after the same number of tokens, the budget cut neither: this server does not keep to it, or
    counts what is no part of the answer.
    """
    settled = dict(answers)
    budgets = sorted(answers)
    for budget, larger in pairwise(budgets):
        here, there = answers[budget], answers[larger]
        if here.is_below_budget and there.is_below_budget and _same_length(here.attempt, there.attempt):
            settled[budget] = _ended(here, Ending.CUT_SERVER)
            settled[larger] = _ended(there, Ending.CUT_SERVER)
        elif here.ending is there.ending is Ending.CUT_MASKED and _same_length(here.attempt, there.attempt):
            settled[budget] = _ended(here, _told(here))
            settled[larger] = _ended(there, _told(there))
        elif (
            here.ending is Ending.CUT_MASKED
            and here.attempt.mode is Mode.NATIVE
            and here.parsed.calls
            and not there.is_cut
            and same_calls(there.parsed.calls, here.parsed.calls) is None
        ):
            settled[budget] = _ended(here, Ending.FINISHED)
    return settled


def _ended(answer: Answer, ending: Ending) -> Answer:
    return msgspec.structs.replace(answer, ending=ending)


def _told(answer: Answer) -> Ending:
    return Ending.MISSING_FINISH if answer.attempt.finish_reason is None else Ending.FINISHED


def count_endings(answers: Iterable[Answer]) -> dict[str, int]:
    """How many answers ended which way, by code."""
    counts: dict[str, int] = {}
    for answer in answers:
        counts[answer.ending.value] = counts.get(answer.ending.value, 0) + 1
    return counts


def _visible_tokens(attempt: Attempt) -> int | None:
    """Tokens of the answer without those of hidden thinking, where the server counts them apart."""
    tokens = attempt.completion_tokens
    if tokens is None or attempt.usage is None:
        return None
    return tokens - (attempt.usage.reasoning_tokens or 0)


def _ending(attempt: Attempt, parsed: Parsed, context: int | None) -> Ending:
    tokens, limit = attempt.completion_tokens, _limit(attempt, context)
    match attempt.finish_reason:
        case "content_filter":
            return Ending.FILTERED
        case "abort" | "aborted":
            return Ending.ABORTED
        case "repetition":
            return Ending.REPETITION
        case reason if reason in CUT_REASONS:
            # One token of slack: some servers stop one short of a full context.
            is_full = limit < attempt.max_tokens and tokens is not None and tokens >= limit - 1
            if is_full:
                return Ending.CUT_CONTEXT
            return Ending.CUT_REASONING if _ends_in_reasoning(attempt, parsed) else Ending.CUT
        case reason:
            if _is_at_limit(attempt, context) and not _is_complete(attempt, parsed):
                return Ending.CUT_REASONING if _ends_in_reasoning(attempt, parsed) else Ending.CUT_MASKED
            return Ending.MISSING_FINISH if reason is None else Ending.FINISHED


def _limit(attempt: Attempt, context: int | None) -> int:
    """The most tokens that the answer could have: the budget, or what the context had left for it."""
    prompt = None if attempt.usage is None else attempt.usage.prompt_tokens
    return (
        attempt.max_tokens if context is None or prompt is None else min(attempt.max_tokens, context - prompt)
    )


def _is_at_limit(attempt: Attempt, context: int | None) -> bool:
    tokens = attempt.completion_tokens
    return tokens is not None and tokens >= _limit(attempt, context)


def _is_complete(attempt: Attempt, parsed: Parsed) -> bool:
    """Could this text, stopping exactly at the limit, be whole? In native mode the evidence is lost."""
    return attempt.mode is not Mode.NATIVE and bool(parsed.calls) and not parsed.open


def _ends_in_reasoning(attempt: Attempt, parsed: Parsed) -> bool:
    if any(defect.code is DefectCode.UNCLOSED_REASONING for defect in parsed.defects):
        return True
    return bool(attempt.reasoning) and not attempt.content and not parsed.calls


def _same_length(one: Attempt, other: Attempt) -> bool:
    if one.completion_tokens is None or other.completion_tokens is None:
        return False
    return abs(one.completion_tokens - other.completion_tokens) <= 1


def visible_text(attempt: Attempt) -> str:
    """All text of the answer, thinking first, as it was generated."""
    return (attempt.reasoning or "") + (attempt.content or "")
