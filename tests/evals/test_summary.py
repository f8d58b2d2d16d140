"""A run judged as a whole; the same run twice gives the same bytes."""

import json
import shutil
from dataclasses import replace

from draftproof.evals.attempt import Stage
from draftproof.evals.gate import Decision
from draftproof.evals.journal import Journal
from draftproof.evals.plan import GateSection
from draftproof.evals.record import create_run, read_run
from draftproof.evals.summary import summarise, write_derived
from draftproof.tasks.suite import Suite

from .build import BUDGET, OPEN, RIGHT, WRONG, attempt, plan, record, sample


def samples(count):
    return [sample(f"s{number:03}") for number in range(count)]


def answers(count, arm, stage=Stage.FIRST, content=RIGHT, **changes):
    return [attempt(content, arm=arm, stage=stage, sample_id=f"s{n:03}", **changes) for n in range(count)]


def test_a_run_directory_judged_twice_gives_the_same_bytes(tmp_path):
    """Everything after asking is a pure function of the run directory."""
    made = samples(3)
    create_run(tmp_path / "run", plan(confirm=0), Suite(tuple(made), "d", ("x.jsonl",)))
    with Journal(tmp_path / "run") as journal:
        for one in [
            *answers(3, "baseline"),
            *answers(3, "baseline", Stage.CONTROL),
            *answers(3, "ngram", content=WRONG),
        ]:
            journal.append(one)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    for name in ("run", "copy", "copy"):
        write_derived(tmp_path / name, summarise(read_run(tmp_path / name)))
    for file in ("findings.jsonl", "summary.json"):
        assert (tmp_path / "run" / file).read_bytes() == (tmp_path / "copy" / file).read_bytes()
    assert len((tmp_path / "run" / "findings.jsonl").read_text().splitlines()) == 3


def test_an_arm_that_answers_as_the_baseline_does_passes_given_enough_samples():
    """300 equal answers are enough for a margin of 3 %."""
    attempts = [*answers(300, "baseline"), *answers(300, "baseline", Stage.CONTROL), *answers(300, "ngram")]
    summary = summarise(record(samples(300), attempts))
    assert summary.decision is Decision.PASS
    assert summary.comparisons[0].regressions.total == summary.comparisons[0].fixes.total == 0


def test_a_missing_answer_makes_the_run_incomplete_and_void():
    """What was not asked cannot pass."""
    attempts = [*answers(300, "baseline"), *answers(300, "baseline", Stage.CONTROL), *answers(299, "ngram")]
    summary = summarise(record(samples(300), attempts))
    assert not summary.is_complete
    assert summary.decision is Decision.VOID
    assert "incomplete" in summary.rulings[0].reasons[0]
    assert summary.to_json()["exit_code"] == 4


def test_arm_figures_count_the_first_stage_only():
    """Controls, doubled attempts and repeats never enter the arms' counts."""
    attempts = [
        *answers(2, "baseline"),
        *answers(2, "baseline", Stage.CONTROL, WRONG),
        *answers(2, "ngram", content=OPEN, finish_reason="length", tokens=BUDGET),
        *answers(2, "ngram", Stage.DOUBLED, budget=200),
        *answers(2, "baseline", Stage.DOUBLED, budget=200),
        *answers(2, "baseline", Stage.CONTROL, budget=200),
    ]
    arms = {arm.name: arm for arm in summarise(record(samples(2), attempts)).arms}
    assert (arms["baseline"].attempts, arms["baseline"].passed) == (2, 2)
    assert (arms["ngram"].attempts, arms["ngram"].cut, arms["ngram"].passed) == (2, 2, 0)
    assert arms["ngram"].finish_reasons == {"length": 2}


def test_another_gate_judges_the_same_run():
    """A report can be made again with another margin, without asking anybody."""
    attempts = [*answers(60, "baseline"), *answers(60, "baseline", Stage.CONTROL), *answers(60, "ngram")]
    made = record(samples(60), attempts)
    assert summarise(made).decision is Decision.INCONCLUSIVE
    assert summarise(made, gate=GateSection(margin=0.1)).decision is Decision.PASS


def test_null_stays_null_in_the_counts_of_endings():
    """A missing finish_reason is counted as such, never as `stop`."""
    attempts = [*answers(1, "baseline"), *answers(1, "baseline", Stage.CONTROL)]
    attempts += [replace(one, finish_reason=None) for one in answers(1, "ngram")]
    arm = summarise(record(samples(1), attempts)).to_json()["arms"]["ngram"]
    assert json.loads(json.dumps(arm))["finish_reasons"] == {"null": 1}
    assert arm["endings"] == {"missing_finish": 1}
