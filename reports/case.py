"""One sample in every arm, as plain values: what `show` and the HTML pages both draw."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from ..evals.attempt import Attempt, Stage
from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.judging.grade import Grade
from ..evals.judging.ladder import GradedSample, read_answers
from ..evals.judging.ways import Locus
from ..evals.plan import Mode
from ..evals.reading.answer import Answer
from ..evals.runs.divergence import DivergenceLabel
from ..evals.summing_up.pairing import Pair
from ..evals.summing_up.summary import Summary
from ..parsers.codes import DefectCode
from ..parsers.result import Defect, Json
from ..tasks.sample import Sample
from .defects import draw_defect
from .visible import visible_line

STAGES = (Stage.FIRST, Stage.CONTROL, Stage.DOUBLED, Stage.CONFIRM)
DEFECTS_DRAWN = 8

_OF_A_CALL = re.compile(r"call (\d+)")
_IN_THE_NAME = frozenset(
    (
        DefectCode.NAME_IS_EXPRESSION,
        DefectCode.INVALID_NAME,
        DefectCode.UNDECLARED_FUNCTION,
        DefectCode.MARKUP_IN_NAME,
    )
)


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt with what was made of it; `answer` and `grade` are None where the endpoint failed."""

    attempt: Attempt
    answer: Answer | None
    grade: Grade | None

    @property
    def text(self) -> str:
        """What was generated, as far as the server shows it."""
        return answer_text(self.attempt)

    def drawn_defects(self, width: int) -> list[str]:
        """Each defect under carets with its rule, the first few of them."""
        if self.answer is None:
            return []
        drawn = self.answer.defects[:DEFECTS_DRAWN]
        return [draw_defect(_text_of(self.attempt, defect), defect, width=width) for defect in drawn]


@dataclass(frozen=True, slots=True)
class Case:
    """A sample and all tries of each arm, in the order of stages, budgets and numbers."""

    graded: GradedSample
    tries: Mapping[str, tuple[Try, ...]]

    @property
    def sample(self) -> Sample:
        """The sample itself."""
        return self.graded.sample

    def judged(self, arm: str, budget: int) -> Try | None:
        """The try of an arm that counts at a budget: its first one there, or the doubled one."""
        return next(
            (
                one
                for one in self.tries.get(arm, ())
                if one.attempt.max_tokens == budget and one.attempt.stage in (Stage.FIRST, Stage.DOUBLED)
            ),
            None,
        )


def read_case(summary: Summary, graded: GradedSample) -> Case:
    """Read every attempt of a sample again, with its grade."""
    names = [arm.name for arm in summary.run.plan.arms]
    return Case(graded, {name: read_tries(summary, graded, name) for name in names})


def read_pair(pair: Pair, graded: GradedSample) -> Case:
    """The same of two arms alone, under their labels.

    Args:
        pair: The two arms.
        graded: A sample of the pair.
    """
    tries = {
        one.label: read_tries(one.summary, one.graded_sample(graded.sample.id), one.arm)
        for one in (pair.left, pair.right)
    }
    return Case(graded, tries)


def read_tries(summary: Summary, graded: GradedSample, arm: str) -> tuple[Try, ...]:
    """Every attempt of one arm at a sample, in the order of stages, budgets and numbers."""
    record = summary.record_of(graded.sample.id)
    if record is None:
        raise AssertionError("what was graded is a sample of the run")
    answers = read_answers(record, graded.sample, arm)
    attempts = sorted(
        record.by_sample.get((graded.sample.id, arm), ()),
        key=lambda one: (STAGES.index(one.stage), one.max_tokens, one.attempt),
    )
    return tuple(
        Try(
            attempt,
            answers.get((attempt.stage, attempt.max_tokens, attempt.attempt)),
            _grade(graded, attempt),
        )
        for attempt in attempts
    )


def _grade(graded: GradedSample, attempt: Attempt) -> Grade | None:
    match attempt.stage:
        case Stage.CONTROL:
            return graded.control.get(attempt.max_tokens)
        case Stage.CONFIRM:
            return graded.confirms.get((attempt.arm, attempt.max_tokens), {}).get(attempt.attempt)
        case _:
            return graded.arms[attempt.arm].get(attempt.max_tokens)


def telling_budget(finding: Finding) -> int:
    """The budget whose outputs show what happened: the first one where the cut is the story."""
    is_of_the_cut = finding.cause is Cause.CAP or bool(finding.evidence.get("also_cut"))
    return finding.budgets[0] if is_of_the_cut and finding.budgets else finding.judged_budget


def due_lines(sample: Sample) -> Iterator[str]:
    """What was right, a line per call."""
    if sample.expected is None:
        yield "nobody labelled it; the baseline's first answer is the reference"
    elif not sample.expected.calls:
        yield "any call" if sample.expected.is_any_call else "no call"
    else:
        for call in sample.expected.calls:
            values = {
                name: right[0] if len(right) == 1 else {"any of": list(right)}
                for name, right in call.arguments.items()
            }
            optional = f"   (may be left out: {', '.join(sorted(call.optional))})" if call.optional else ""
            yield f"{call.name} {as_json(values)}{optional}"


def call_lines(one: Try) -> list[str]:
    """The calls of an answer as they were parsed, a line each."""
    calls = () if one.answer is None else one.answer.parsed.calls
    return [f"{call.name} {as_json(call.arguments)}" for call in calls]


def differing(finding: Finding) -> tuple[str, ...]:
    """JSON paths, within the arguments, at which the wrong answer differs from a right one."""
    paths = finding.evidence.get("paths")
    return tuple(path for path in paths if isinstance(path, str)) if isinstance(paths, list) else ()


def sufficed(case: Case, finding: Finding) -> str | None:
    """What budget would have been enough for the arm that was cut; None where nothing was cut."""
    arm = finding.baseline if finding.transition is Transition.FIX else finding.candidate
    ladder = case.graded.arms.get(arm, {})
    answers = [(budget, grade.answer) for budget, grade in ladder.items() if grade.answer is not None]
    if not answers or not answers[0][1].is_cut:
        return None
    for budget, answer in answers:
        if not answer.is_cut:
            tokens = answer.attempt.completion_tokens
            enough = f"max_tokens {tokens}" if tokens is not None else f"max_tokens {budget} (not counted)"
            return f"{enough} would have been enough for {arm}; it was cut at {answers[0][0]}"
    return f"more than max_tokens {answers[-1][0]} is needed for {arm}: it was cut there too"


def divergence(finding: Finding) -> str | None:
    """How near a tie the baseline found the first difference, where its log-probabilities were asked for."""
    found = finding.evidence.get("divergence")
    if not isinstance(found, dict):
        return None
    margin, place = found.get("margin_nats"), found.get("token_index")
    at = "" if place is None else f", at token {place}"
    match found.get("label"):
        case DivergenceLabel.NEAR_TIE:
            said = "a near tie, which rounding can turn over"
        case DivergenceLabel.WIDE:
            said = "wide: the baseline had a clear choice"
        case _:
            reason = found.get("reason")
            return "how near a tie is not known" + (f": {_plain(reason)}" if reason is not None else "") + at
    if not isinstance(margin, int | float):
        return said + at
    bound = "at least " if found.get("is_lower_bound") else ""
    return f"{said} ({bound}{margin:.2f} nats{at})"


def locus(finding: Finding) -> str | None:
    """Where a wrong answer went wrong, where two readings of it tell: the model, the server or the stream."""
    found, code = finding.evidence.get("locus"), finding.evidence.get("server_parse")
    if not isinstance(found, str) or found == Locus.UNKNOWN:
        return None
    return f"the {found}" + (f" ({code})" if isinstance(code, str) else "")


def answer_text(attempt: Attempt) -> str:
    """What was generated, thinking first, as far as the server shows it."""
    parts: list[str] = []
    if attempt.reasoning:
        parts.append(f"[reasoning] {attempt.reasoning}")
    if attempt.content:
        parts.append(attempt.content)
    if attempt.tool_calls:
        parts.append(f"[tool_calls] {as_json(attempt.tool_calls)}")
    return "\n".join(parts)


def show_command(directory: Path, *arguments: str) -> str:
    """A `draftproof show` command to copy: an id that a shell could read otherwise is quoted."""
    words = ["draftproof", "show", str(directory), *arguments]
    return visible_line(" ".join(map(shlex.quote, words)))


def message_text(content: Json) -> str:
    """A message's content: text as it is, anything else as JSON."""
    return content if isinstance(content, str) else as_json(content)


def as_json(value: object) -> str:
    """JSON on one line, letters of every script as they are; what cannot be written is summed up."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return "{…}"


def _plain(value: JsonValue) -> str:
    return visible_line(value if isinstance(value, str) else as_json(value))


def _text_of(attempt: Attempt, defect: Defect) -> str | None:
    """The string that a defect's span counts; None where only the message says what is wrong.

    In text dialects that is the content. A server's parser gives several strings, and the message says which:
    "call 2 …" is about the name or the arguments of the second call.
    """
    if attempt.reading is not None or defect.span.start >= defect.span.end:
        return None
    if attempt.mode is not Mode.NATIVE:
        return attempt.content or ""
    if (of_call := _OF_A_CALL.match(defect.message)) is None:
        return attempt.reasoning if defect.message.startswith("the reasoning") else attempt.content
    member = "name" if defect.code in _IN_THE_NAME else "arguments"
    return _member(attempt.tool_calls, int(of_call.group(1)) - 1, member)


def _member(tool_calls: JsonValue, index: int, member: str) -> str | None:
    calls: Sequence[JsonValue] = tool_calls if isinstance(tool_calls, list) else ()
    call = calls[index] if index < len(calls) else None
    function = call.get("function") if isinstance(call, dict) else None
    text = function.get(member) if isinstance(function, dict) else None
    return text if isinstance(text, str) else None
