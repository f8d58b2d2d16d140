"""An accepted earlier run of the same suite: what it showed already is known, and only what is new decides.

A regression is known when the accepted run had one of the same candidate, sample, cause and class (syntax,
contract or difference; two codes of one class are two spellings of the same break); likewise a fix. Known
pairs stay among the pairs compared and count as unchanged, which against the accepted run they are: they
leave b (regressions) and c (fixes) alike, so that chance, which makes as many of either, is taken out of both
sides and the test stays fair; taking out regressions alone would let old fixes hide new regressions, and the
net rate keeps its denominator, so that a margin means the same share of the suite with and without a history.
What it cannot do: a sample that flips from run to run is new whenever the accepted run happened to miss it,
and slow decay passes if every step is accepted. Void samples, failures of an endpoint and an arm that does
not speculate are judged as ever.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import msgspec
from pydantic import BaseModel, JsonValue, ValidationError

from ...errors import UserError
from ..at_rest.open_run import open_run
from ..comparing.comparison import Comparison
from ..judging.finding import Cause, Finding, Transition
from ..judging.finding_line import FindingLine
from ..judging.grade import Fault
from ..plan import Plan
from ..runs.new_run import DIFFERENT_SUITE
from ..runs.run_settings import asked_settings, differing_setting
from .summary import Summary, rule_all, summarise
from .summary_file import FORMAT, SuiteEntry

_CHANGES = (Transition.REGRESSION, Transition.FIX)


class Change(NamedTuple):
    """What makes two regressions, or two fixes, of two runs the same."""

    candidate: str
    sample_id: str
    transition: Transition
    cause: Cause | None
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted run: where it stands, how and what it asked, and what it showed."""

    source: Path
    settings: Mapping[str, JsonValue]
    digest: str
    changes: frozenset[Change]

    def has_arm(self, name: str) -> bool:
        """True when that arm was asked there."""
        return f"arms.{name}.model" in self.settings


def read_accepted(path: Path) -> Accepted:
    """Read an accepted run: a run directory, or a summary.json with its findings.jsonl beside it.

    A run directory is judged anew, by the same rules as the run it is compared with.

    Raises:
        UserError: Neither is there, it cannot be read, or the accepted run is incomplete.
    """
    if (path / "run.json").exists():
        return accepted_of(summarise(open_run(path)), path)
    return _read_files(path / "summary.json" if path.is_dir() else path)


def accepted_of(summary: Summary, source: Path) -> Accepted:
    """What a judged run leaves to compare with.

    Raises:
        UserError: It is incomplete: what it never asked it cannot have known.
    """
    if not summary.is_complete:
        raise _incomplete(source)
    findings = (finding for comparison in summary.comparisons for finding in comparison.findings)
    changes = frozenset(_change(finding) for finding in findings if finding.transition in _CHANGES)
    return Accepted(source, asked_settings(summary.run.plan), summary.run.digest, changes)


def refuse_unlike(accepted: Accepted, plan: Plan, digest: str | None = None) -> None:
    """Check that a run asks what the accepted one asked, as it asked it.

    Args:
        accepted: The accepted run.
        plan: The plan of the other run.
        digest: Its suite's digest; None before the suite is loaded.

    Raises:
        UserError: The first key that differs, with both values.
    """
    if plan.run.until_decided:
        raise UserError(
            "--against: a run asked until decided stops at what it shows, known or new",
            tip="ask whole runs, without until_decided, to compare them",
        )
    here = asked_settings(plan)
    shared = {
        key
        for key in {*accepted.settings, *here}
        if not key.startswith("arms.") or (key in accepted.settings and key in here)
    }
    there = {key: value for key, value in accepted.settings.items() if key in shared}
    difference = differing_setting(there, {key: value for key, value in here.items() if key in shared})
    if difference is None and digest is not None and digest != accepted.digest:
        difference = DIFFERENT_SUITE
    if difference is not None:
        raise UserError(
            f"{accepted.source}: the accepted run was asked with another {difference}",
            tip="compare runs of one plan and one suite, or accept a new run",
        )
    if not any(accepted.has_arm(arm.name) for arm in plan.candidates):
        names = ", ".join(arm.name for arm in plan.candidates)
        raise UserError(
            f"{accepted.source}: the accepted run has none of the candidates {names}",
            tip="name a candidate as it was named there",
        )


def judge_against(summary: Summary, accepted: Accepted) -> Summary:
    """The same run with known findings marked, and decided on the new ones.

    Raises:
        UserError: The runs are not comparable.
    """
    refuse_unlike(accepted, summary.run.plan, summary.run.digest)
    arms = {arm.name: arm for arm in summary.arms}
    comparisons = tuple(_with_known(comparison, accepted) for comparison in summary.comparisons)
    return replace(
        summary,
        comparisons=comparisons,
        rulings=rule_all(
            summary.run,
            summary.judged,
            arms,
            [one.without_known() for one in comparisons],
            summary.gate,
        ),
        history=tuple(_told(one, accepted) for one in comparisons),
    )


def _with_known(comparison: Comparison, accepted: Accepted) -> Comparison:
    return replace(
        comparison,
        findings=tuple(
            msgspec.structs.replace(finding, is_known=_change(finding) in accepted.changes)
            for finding in comparison.findings
        ),
    )


def _change(finding: Finding) -> Change:
    return Change(finding.candidate, finding.id, finding.transition, finding.cause, finding.fault)


def _told(comparison: Comparison, accepted: Accepted) -> str:
    """One candidate's history in a sentence."""
    name = comparison.candidate
    if not accepted.has_arm(name):
        return f"{name} was not asked in {accepted.source}, the accepted run: everything of it is new."
    known = Counter(finding.transition for finding in comparison.findings if finding.is_known)
    before = {
        change.sample_id
        for change in accepted.changes
        if change.candidate == name and change.transition is Transition.REGRESSION
    }
    gone = sum(
        finding.id in before and finding.transition in (Transition.BOTH_PASS, Transition.FIX)
        for finding in comparison.findings
    )
    return (
        f"{name}: known from {accepted.source} and not counted in the decision: regressions "
        f"{known[Transition.REGRESSION]} of {comparison.regressions.total}, fixes {known[Transition.FIX]} of "
        f"{comparison.fixes.total}; regressions that are gone: {gone}."
    )


class _Total(BaseModel):
    total: int


class _Counted(BaseModel):
    candidate: str
    regressions: _Total
    fixes: _Total


class _SummaryHead(BaseModel):
    """What is needed of a summary.json."""

    format: int
    complete: bool
    suite: SuiteEntry
    settings: dict[str, JsonValue]
    comparisons: list[_Counted]


def _read_files(path: Path) -> Accepted:
    """Read the two derived files of a run whose answers were not kept.

    The counts of a summary alone cannot tell which regressions are known, so it does not do alone.
    """
    beside = path.parent / "findings.jsonl"
    text = _read(path, "the accepted run's directory or its summary.json")
    try:
        head = _SummaryHead.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path}: not a summary.json that a run can be compared with: {_first_problem(error)}",
            tip="`draftproof report` on the accepted run writes it anew",
        ) from None
    if head.format != FORMAT:
        raise UserError(f"{path}: format {head.format}; this version of draftproof reads format {FORMAT}")
    if not head.complete:
        raise _incomplete(path)
    lines = list(
        _lines(beside, _read(beside, "the findings of that summary: its counts do not tell what is known"))
    )
    changes = frozenset(_change_of_line(line) for line in lines if Transition(line.transition) in _CHANGES)
    written = Counter((change.candidate, change.transition) for change in changes)
    for one in head.comparisons:
        counted = (one.regressions.total, one.fixes.total)
        if counted != tuple(written[one.candidate, transition] for transition in _CHANGES):
            raise UserError(
                f"{beside}: is not of the run of {path.name}: their counts for {one.candidate} differ",
                tip="keep both files of one run together",
            )
    return Accepted(path, head.settings, head.suite.digest, changes)


def _read(path: Path, expected: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}; expected {expected}") from error


def _lines(path: Path, text: bytes) -> Iterator[FindingLine]:
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield FindingLine.model_validate(json.loads(line))
        except (ValidationError, ValueError, RecursionError) as error:
            raise UserError(
                f"{path}:{number}: not a finding as draftproof writes it: {_first_problem(error)}"
            ) from None


def _change_of_line(line: FindingLine) -> Change:
    fault = line.evidence.get("class")
    return Change(
        line.candidate,
        line.id,
        Transition(line.transition),
        None if line.cause is None else Cause(line.cause),
        Fault(fault) if isinstance(fault, str) and fault in set(Fault) else None,
    )


def _first_problem(error: ValidationError | ValueError | RecursionError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
    return str(error)


def _incomplete(source: Path) -> UserError:
    return UserError(
        f"{source}: the accepted run is incomplete: what it never asked it cannot have known",
        tip="finish it first (`draftproof run --out` on its directory goes on)",
    )
