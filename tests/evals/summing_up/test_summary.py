"""A run judged as a whole; the same run twice gives the same bytes."""

import json
import shutil
from dataclasses import replace

import msgspec
import pytest
from draftproof.evals.attempt import Stage
from draftproof.evals.comparing.comparison import compare_arms
from draftproof.evals.decision.gate import Decision
from draftproof.evals.plan import GateSection
from draftproof.evals.runs.divergence import Divergence, DivergenceLabel
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.new_run import create_run
from draftproof.evals.runs.record import read_run
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.markdown import render_markdown
from draftproof.tasks.suite import Suite

from ..build import BROKEN, BUDGET, OPEN, RIGHT, WRONG, attempt, plan, record, sample


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
        derive(read_run(tmp_path / name))
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


def test_any_arm_can_be_the_baseline_of_a_judgement():
    """Its regressions are the former one's fixes; the control is the asked baseline's and no other's."""
    attempts = [*answers(60, "baseline"), *answers(60, "baseline", Stage.CONTROL), *answers(60, "mtp")]
    attempts += answers(60, "ngram", content=WRONG)
    made = record(samples(60), attempts, candidates=("ngram", "mtp"), confirm=0)
    wide = Divergence("s000", "ngram", BUDGET, DivergenceLabel.WIDE, 3.0)
    made = replace(made, divergences={("s000", name): (wide,) for name in ("ngram", "mtp")})
    usual, other = summarise(made), summarise(made, baseline="ngram")
    # Measured against the former baseline, it says nothing of this one.
    assert (usual.comparisons[0].reproduced_wide, other.comparisons[1].reproduced_wide) == (1, 0)
    assert all("divergence" not in one.evidence for one in other.comparisons[1].findings)
    assert summarise(made, baseline="baseline").rulings == usual.rulings
    assert [one.candidate for one in other.comparisons] == ["baseline", "mtp"]
    assert usual.comparisons[0].regressions.total == other.comparisons[0].fixes.total == 60
    assert other.is_complete
    assert (usual.comparisons[0].control.compared, other.comparisons[0].control) == (60, None)
    assert "Compared with ngram, as asked for. The control was made of baseline only" in render_markdown(
        other
    )


def test_categories_are_counted_apart_beside_the_control():
    """Each with its n; both candidates beside one control."""
    made = [sample("a", category="one"), sample("b", category="one"), sample("c", category="two")]
    attempts = [
        attempt(WRONG if (name, arm) in (("a", "ngram"), ("c", "mtp")) else RIGHT, arm=arm, sample_id=name)
        for name in "abc"
        for arm in ("baseline", "ngram", "mtp")
    ]
    attempts += [
        attempt(WRONG if name == "b" else RIGHT, stage=Stage.CONTROL, sample_id=name) for name in "abc"
    ]
    summary = summarise(record(made, attempts, candidates=("ngram", "mtp"), confirm=0))
    rows = summary.to_json()["comparisons"][0]["by_category"]
    assert rows["one"] == {
        "compared": 2,
        "regressions": 1,
        "fixes": 0,
        "control": {"compared": 2, "churn": 0.5, "regressions": 1, "fixes": 0},
    }
    markdown = render_markdown(summary)
    assert "| one | 1 / 0 of 2 | 0 / 0 of 2 | 1 / 0 of 2 |" in markdown
    assert "| two | 0 / 0 of 1 | 1 / 0 of 1 | 0 / 0 of 1 |" in markdown


@pytest.mark.parametrize(
    ("divergence", "reproduced", "count"),
    [
        ({"label": "wide"}, (2, 2), 1),
        ({"label": "wide"}, None, 1),
        ({"label": "wide"}, (0, 2), 0),
        ({"label": "near_tie"}, (2, 2), 0),
        ({"label": "unknown"}, (2, 2), 0),
        (None, (2, 2), 0),
        ("wide", (2, 2), 0),
    ],
)
def test_wide_divergences_count_where_they_showed_again(divergence, reproduced, count):
    """Or were never asked again."""
    attempts = [*answers(1, "baseline"), *answers(1, "ngram", content=WRONG)]
    made = summarise(record(samples(1), attempts, control=False, confirm=0)).comparisons[0].findings[0]
    finding = msgspec.structs.replace(made, reproduced=reproduced, evidence={"divergence": divergence})
    assert compare_arms(("baseline", "ngram"), [finding], None, None).reproduced_wide == count


def test_six_broken_calls_of_two_hundred_are_a_regression():
    """Broken syntax knows no margin: 3 % of the calls is within one of 5 %, and is called all the same."""
    attempts = [
        attempt(BROKEN if arm == "ngram" and n < 6 else RIGHT, sample_id=f"s{n:03}", arm=arm, drafts=drafts)
        for n in range(200)
        for arm, drafts in (("baseline", (0, 0)), ("ngram", (9, 6)))
    ]
    gate = GateSection(margin=0.05)
    summary = summarise(record(samples(200), attempts, control=False, confirm=0), gate=gate)
    assert summary.decision is Decision.REGRESSION
    assert summary.comparisons[0].regressions.syntax == 6
    assert "significantly more calls of broken syntax: 6 new, 0 gone" in summary.rulings[0].reasons[0]
