"""An accepted run: what it showed is known, what is new decides, and unlike runs are refused by key."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.errors import UserError
from draftproof.evals.attempt import Stage
from draftproof.evals.decision.gate import Decision
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.new_run import create_run
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.history import accepted_of, judge_against, read_accepted, refuse_unlike
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.terminal import render_terminal
from draftproof.tasks.suite import Suite

from ..build import BROKEN, RIGHT, WRONG, attempt, plan, record, sample

N = 100
NAMES = [f"s{number:03}" for number in range(N)]


def attempts(wrong=(), broken=(), fixed=(), arms=("ngram",)):
    """Every sample right in both arms, but: wrong or broken in the candidates, or wrong in the baseline."""
    made = []
    for name in NAMES:
        first = WRONG if name in fixed else RIGHT
        made += [attempt(first, sample_id=name, stage=stage) for stage in (Stage.FIRST, Stage.CONTROL)]
        text = WRONG if name in wrong else BROKEN if name in broken else RIGHT
        made += [attempt(text, sample_id=name, arm=arm, drafts=(2, 1)) for arm in arms]
    return made


def made_run(arms=("ngram",), digest="digest", keywords=None, **changes):
    made = record(
        [sample(name) for name in NAMES],
        attempts(arms=arms, **changes),
        candidates=arms,
        confirm=0,
        **(keywords or {}),
    )
    return replace(made, digest=digest)


def judged(**changes):
    return summarise(made_run(**changes))


def against(summary, before):
    return judge_against(summary, accepted_of(before, before.run.directory))


def test_what_the_accepted_run_showed_does_not_fail_the_next():
    """Twenty regressions fail a run; the same twenty are known the next time, and the run passes."""
    run = judged(wrong=NAMES[:20])
    assert run.decision is Decision.REGRESSION
    again = against(run, run)
    assert again.decision is Decision.PASS
    assert all(finding.is_known for finding in again.comparisons[0].findings[:20])
    assert again.comparisons[0].regressions.total == 20, "counted as ever; only the decision leaves them out"
    assert again.rulings[0].net_rate == 0


def test_only_what_is_new_fails():
    """Twenty known ones and twenty new ones: the decision is that of twenty."""
    both = against(judged(wrong=NAMES[:40]), judged(wrong=NAMES[:20]))
    assert both.decision is Decision.REGRESSION
    assert both.rulings[0].net_rate == pytest.approx(20 / N)


def test_known_fixes_leave_the_test_as_known_regressions_do():
    """Twenty old fixes must not outweigh twenty new regressions."""
    before = judged(fixed=NAMES[:20])
    run = judged(fixed=NAMES[:20], wrong=NAMES[20:40])
    assert run.rulings[0].net_rate == 0
    assert run.decision is not Decision.REGRESSION
    assert against(run, before).decision is Decision.REGRESSION


def test_another_cause_of_the_same_sample_is_new():
    """A wrong city that became broken markup is no old acquaintance."""
    run = against(judged(broken=NAMES[:1]), judged(wrong=NAMES[:1]))
    assert not run.comparisons[0].findings[0].is_known
    assert run.decision is Decision.INCONCLUSIVE
    assert "1 new outputs of broken syntax" in "".join(run.rulings[0].reasons)
    known = against(judged(broken=NAMES[:1]), judged(broken=NAMES[:1]))
    assert known.decision is Decision.PASS, "known broken syntax does not block"


def test_a_run_against_itself_finds_nothing_new():
    """The law of every comparison here, whatever the run holds."""
    run = judged(wrong=NAMES[:7], broken=NAMES[7:12], fixed=NAMES[12:30])
    counted = against(run, run).comparisons[0].without_known()
    assert counted.regressions.total == counted.fixes.total == counted.reproduced_syntax == 0
    assert counted.codes == {}
    assert counted.informative == run.comparisons[0].informative


def test_reports_list_known_findings_as_such_and_say_what_is_gone():
    """New ones first; a sentence with both counts and the accepted run."""
    text = render_terminal(against(judged(wrong=NAMES[1:3]), judged(wrong=NAMES[:2])), width=140)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    new = lines.index("ngram s002 regression real_change wrong_arguments 50 → 50 –")
    assert new < lines.index("ngram s001 regression, known real_change wrong_arguments 50 → 50 –")
    said = "ngram: known from runs/test and not counted in the decision: regressions 1 of 2, fixes 0 of 0; "
    assert said + "regressions that are gone: 1." in " ".join(lines)


def test_a_candidate_that_was_not_asked_then_is_new_as_a_whole():
    """Its findings all count, and the report says so."""
    run = against(judged(arms=("ngram", "mtp"), wrong=NAMES[:20]), judged(wrong=NAMES[:20]))
    assert [ruling.decision for ruling in run.rulings] == [Decision.PASS, Decision.REGRESSION]
    assert run.history[1].startswith("mtp was not asked in runs/test")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "native"}, "run.mode ('prompted' there, 'native' here)"),
        ({"dialect": "glm"}, "run.dialect ('hermes' there, 'glm' here)"),
        ({"max_tokens": 200}, "run.max_tokens (100 there, 200 here)"),
        ({"doublings": 2}, "run.doublings (1 there, 2 here)"),
        ({"temperature": 0.5}, "run.temperature (0.0 there, 0.5 here)"),
        ({"seed": 2}, "run.seed (1 there, 2 here)"),
    ],
)
def test_a_run_asked_otherwise_is_refused_by_key(changes, words):
    """Before anything is asked: only the plan is needed."""
    accepted = accepted_of(judged(), Path("accepted"))
    with pytest.raises(UserError, match="asked with another") as refused:
        refuse_unlike(accepted, plan(**changes))
    assert words in refused.value.what
    assert refused.value.exit_code == 2
    refuse_unlike(accepted, plan(concurrency=1, retries=1, redact=True))


def test_another_model_or_suite_is_refused():
    """A known regression of another model, or of another question, is none."""
    accepted = accepted_of(judged(), Path("accepted"))
    other = replace(accepted, settings={**accepted.settings, "arms.ngram.model": "M"})
    with pytest.raises(UserError, match=r"arms\.ngram\.model \('M' there, 'm' here\)"):
        refuse_unlike(other, plan())
    with pytest.raises(UserError, match="another suite"):
        against(judged(digest="another"), judged())
    with pytest.raises(UserError, match="has none of the candidates mtp"):
        refuse_unlike(accepted, plan("mtp"))


def written(directory, **changes):
    """The run, as a directory with its derived files."""
    made = tuple(sample(name) for name in NAMES)
    create_run(directory, plan(confirm=0), Suite(made, "digest", ("x.jsonl",)))
    with Journal(directory) as journal:
        for one in attempts(**changes):
            journal.append(one)
    derive(made_run(**changes), directory)
    return directory


def test_the_two_derived_files_do_as_well_as_the_whole_run(tmp_path):
    """What a repository would keep of an accepted run: summary.json and findings.jsonl."""
    run = written(tmp_path / "run", wrong=NAMES[:3], broken=NAMES[3:5], fixed=NAMES[5:9])
    whole = read_accepted(run)
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("summary.json", "findings.jsonl"):
        (kept / name).write_bytes((run / name).read_bytes())
    for path in (kept, kept / "summary.json", run / "summary.json"):
        read = read_accepted(path)
        assert (read.changes, read.digest, read.settings) == (whole.changes, whole.digest, whole.settings)
    assert len(whole.changes) == 9


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda kept: (kept / "findings.jsonl").unlink(), "its counts do not tell what is known"),
        (
            lambda kept: (kept / "summary.json").unlink(),
            "expected the accepted run's directory or its summary",
        ),
        (lambda kept: (kept / "summary.json").write_text("[]"), "not a summary.json that a run can be"),
        (lambda kept: (kept / "summary.json").write_text("{"), "not a summary.json that a run can be"),
        (lambda kept: change(kept, settings=None), "settings"),
        (lambda kept: change(kept, format=2), "format 2; this version of draftproof reads format 1"),
        (lambda kept: change(kept, complete=False), "the accepted run is incomplete"),
        (
            lambda kept: (kept / "findings.jsonl").write_text("{}"),
            "findings.jsonl:1: not a finding",
        ),
        (lambda kept: (kept / "findings.jsonl").write_text(""), "is not of the run of summary.json"),
    ],
)
def test_what_cannot_be_compared_with_is_one_clear_error(tmp_path, spoil, words):
    """A summary alone knows counts, not samples: it is refused rather than guessed from."""
    derive(made_run(wrong=NAMES[:3]), tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError) as refused:
        read_accepted(tmp_path)
    assert words in refused.value.what


def change(kept, **members):
    path = kept / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))


def test_an_incomplete_run_is_not_accepted():
    """What it never asked it cannot have known."""
    half = summarise(record([sample("s1"), sample("s2")], [attempt()]))
    with pytest.raises(UserError, match="incomplete"):
        accepted_of(half, half.run.directory)
