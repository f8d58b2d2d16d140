"""What to do next, as commands to copy: from a report to one broken call, and from there to its request."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.summing_up.pairing import Operand, Pair
from ..evals.summing_up.summary import Summary
from .case import show_command
from .visible import visible_line


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what it is for."""

    purpose: str
    command: str


def report_steps(summary: Summary) -> Iterator[Step]:
    """After a report: one regression, else any sample; the choice among several candidates; the page; CI."""
    directory, redacted = summary.run.directory, summary.run.plan.run.redact
    yield from _one_sample(directory, _telling_id(summary), is_redacted=redacted)
    if len(summary.comparisons) > 1:
        yield Step("choose an arm", _command("diff", str(directory)))
    yield Step("see it drawn", _command("report", str(directory), "--format", "html", "-o", "report.html"))
    yield Step("decide, for CI", _command("gate", str(directory)))


def diff_steps(compared: Pair | Summary) -> Iterator[Step]:
    """After a comparison: a sample that only one arm breaks, and the page."""
    if isinstance(compared, Summary):
        directory = compared.run.directory
        yield from _one_sample(directory, _telling_id(compared), is_redacted=compared.run.plan.run.redact)
        if (closer := closer_step(compared)) is not None:
            yield closer
        arms = [str(directory)]
    else:
        broken = next((one for one in compared.comparison.findings if one.broken_in is not None), None)
        if broken is not None:
            run = _operand(compared, broken).summary.run
            yield from _one_sample(run.directory, broken.id, is_redacted=run.plan.run.redact)
        arms = [f"{one.summary.run.directory}:{one.arm}" for one in (compared.left, compared.right)]
    yield Step("see it drawn", _command("diff", *arms, "--format", "html", "-o", "diff.html"))


def closer_step(summary: Summary) -> Step | None:
    """How to compare two candidates of a run; None where it has one."""
    names = [f"{summary.run.directory}:{one.candidate}" for one in summary.comparisons[:2]]
    return Step("compare two", _command("diff", *names)) if len(names) > 1 else None


def step_lines(steps: tuple[Step, ...]) -> list[str]:
    """The steps as lines, the commands below each other."""
    width = max(len(step.purpose) for step in steps)
    return [f"{step.purpose:<{width}}  {step.command}" for step in steps]


def _one_sample(directory: Path, sample_id: str | None, *, is_redacted: bool) -> Iterator[Step]:
    if sample_id is None:
        return
    yield Step("take one apart", show_command(directory, sample_id))
    if not is_redacted:
        yield Step("send it by hand", show_command(directory, sample_id, "--repeat", "curl"))


def _telling_id(summary: Summary) -> str | None:
    """A regression that is not the cap's, else any regression, else a fix, else the first sample, if any."""
    found = [one for each in summary.comparisons for one in each.findings if one.broken_in is not None]
    found.sort(key=lambda finding: (finding.transition is Transition.FIX, finding.cause is Cause.CAP))
    return found[0].id if found else next(iter(summary.run.ids), None)


def _operand(pair: Pair, finding: Finding) -> Operand:
    return pair.left if finding.broken_in == pair.left.label else pair.right


def _command(*words: str) -> str:
    return visible_line(shlex.join(("draftproof", *words)))
