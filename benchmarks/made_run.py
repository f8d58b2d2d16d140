"""A run directory as real asking leaves it, made without asking: input for the benchmarks.

The built-in suites, repeated under other ids until there are enough samples; a baseline, its control, and a
candidate. Of a hundred answers of each arm four are wrong, one is broken and two are cut and then right.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from draftproof.evals.asking.prompt import Prompts
from draftproof.evals.attempt import Ask, Attempt, Stage, Usage
from draftproof.evals.plan import Plan, build_plan
from draftproof.evals.runs.journal import attempts_path
from draftproof.evals.runs.new_run import create_run
from draftproof.parsers.dialects import DIALECTS
from draftproof.tasks.sample import Sample
from draftproof.tasks.suite import Suite, load_suites, suite_digest

SUITES = ("builtin:core", "builtin:starter")
BUDGET = 1024
DIALECT = DIALECTS["hermes"]


def made_plan(**run: object) -> Plan:
    """Two arms and a control; nothing of it is ever sent."""
    arms = [{"name": n, "base_url": "http://127.0.0.1:9/v1", "model": "made"} for n in ("baseline", "mtp")]
    settings = {"tasks": SUITES, "max_tokens": BUDGET, "confirm": 0, "margins": False, **run}
    return build_plan({"run": settings, "arms": arms}, source="benchmark")


def made_samples(count: int) -> list[Sample]:
    """So many samples: the suites, again and again."""
    suite = load_suites(SUITES).samples
    return [
        replace(suite[n % len(suite)], id=f"{n // len(suite)}/{suite[n % len(suite)].id}")
        for n in range(count)
    ]


def write_run(directory: Path, attempts: int) -> None:
    """Write a complete run of about so many attempts."""
    plan, samples = made_plan(), made_samples(max(1, attempts // 3))
    create_run(directory, plan, Suite(tuple(samples), suite_digest(samples), SUITES))
    for arm in plan.arms:
        path = attempts_path(directory, arm.name)
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="ascii") as file:
            file.writelines(line.to_line() for line in _attempts(plan, samples, arm.name))


def _attempts(plan: Plan, samples: list[Sample], arm: str) -> Iterator[Attempt]:
    stages = (Stage.FIRST, Stage.CONTROL) if arm == plan.baseline.name else (Stage.FIRST,)
    # What is cut anywhere is asked again everywhere: the same draw in both arms says what that is.
    index = 0
    for sample in samples:
        is_cut = random.Random(sample.id).random() < 0.02
        for stage in stages:
            yield _attempt(plan, sample, arm, stage, BUDGET, index, is_cut=is_cut)
            index += 1
            if is_cut:
                again = Stage.CONTROL if stage is Stage.CONTROL else Stage.DOUBLED
                yield _attempt(plan, sample, arm, again, 2 * BUDGET, index, is_cut=False)
                index += 1


def _attempt(
    plan: Plan, sample: Sample, arm: str, stage: Stage, budget: int, index: int, *, is_cut: bool
) -> Attempt:
    draw = random.Random(f"{sample.id} {arm} {stage} {budget}")
    ask = Ask(sample.id, arm, plan.run.mode, False, stage, budget)
    text = answer_text(sample, draw)
    return Attempt(
        id=sample.id,
        arm=arm,
        mode=ask.mode,
        stream=False,
        stage=stage,
        max_tokens=budget,
        attempt=1,
        status="success",
        finish_reason="length" if is_cut else "stop",
        stop_reason=None,
        content=text[: len(text) // 2] if is_cut else text,
        reasoning=None,
        tool_calls=None,
        usage=Usage(700, budget if is_cut else max(1, len(text) // 4)),
        request=Prompts({sample.id: sample}, plan.run, DIALECT).body(ask, plan.arm(arm)),
        duration_ms=round(800 + 400 * draw.random(), 1),
        ttft_ms=None,
        retries=0,
        spec=None,
        system_fingerprint=None,
        error=None,
        started_at="2026-12-01T00:00:00.000+00:00",
        index=index,
    )


def answer_text(sample: Sample, draw: random.Random) -> str:
    """What a model might say: mostly right, after a sentence."""
    calls = () if sample.expected is None else sample.expected.calls
    kind = draw.random()
    shown = [
        (call.name, {name: values[0] for name, values in call.arguments.items() if kind >= 0.04})
        for call in calls
    ]
    said = "Let me look that up for you, one moment please.\n"
    if not shown:
        return said * 3
    text = said + DIALECT.render_calls(shown)
    return text.replace("}}", "}", 1) if 0.04 <= kind < 0.05 else text


def journals(directory: Path) -> list[Path]:
    """The journals of a run."""
    return sorted(directory.glob("attempts/*.jsonl"))


def lines_of(directory: Path) -> list[bytes]:
    """Every journal line of a run."""
    return [line for path in journals(directory) for line in path.read_bytes().splitlines()]


def size_of(directory: Path) -> int:
    """Bytes of samples and journal."""
    files = (directory / "samples.jsonl", *journals(directory))
    return sum(path.stat().st_size for path in files)


def write_suite(path: Path, count: int) -> Path:
    """The same samples as a suite file, to be asked."""
    from draftproof.tasks.raw_sample import sample_to_json

    path.write_text("".join(json.dumps(sample_to_json(one)) + "\n" for one in made_samples(count)))
    return path
