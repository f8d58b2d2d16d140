"""`gate` in CI: exit codes with and without an accepted run, the files it writes, and what GitHub is told."""

import json

import pytest

from .evals.summing_up.test_history import NAMES, written
from .test_cli import arm_toml, draftproof


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run without a regression, one with three calls of broken syntax, and that one's files alone."""
    folder = tmp_path_factory.mktemp("gate")
    written(folder / "equal")
    broken = written(folder / "broken", broken=NAMES[:3])
    (folder / "kept").mkdir()
    for name in ("summary.json", "findings.jsonl"):
        (folder / "kept" / name).write_bytes((broken / name).read_bytes())
    return folder


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("equal",), 0),
        (("equal", "--margin", "0.001"), 3),
        (("equal", "--margin", "0.001", "--allow-inconclusive"), 0),
        (("broken",), 3),
        (("broken", "--allow-inconclusive"), 0),
        (("broken", "--against", "broken"), 0),
        (("broken", "--against", "kept"), 0),
        (("broken", "--against", "kept/summary.json"), 0),
        (("broken", "--against", "equal"), 3),
        (("broken", "--against", "nowhere"), 2),
    ],
)
def test_what_gate_exits_with(runs, monkeypatch, arguments, code):
    """The table of exit codes, with and without an accepted run."""
    monkeypatch.chdir(runs)
    ran = draftproof("gate", *arguments, "-q")
    assert ran.returncode == code, ran.stderr
    allowed = "--allow-inconclusive" in arguments
    assert ("warning: inconclusive, let through by --allow-inconclusive: ngram: " in ran.stderr) is allowed


def test_the_derived_files_stay_those_of_the_run_alone(runs):
    """What an accepted run takes out of a decision is not written: the directory is a function of itself."""
    before = (runs / "broken" / "summary.json").read_bytes()
    assert draftproof("gate", runs / "broken", "--against", runs / "kept", "-q").returncode == 0
    assert (runs / "broken" / "summary.json").read_bytes() == before
    assert json.loads(before)["exit_code"] == 3


def test_another_plan_is_refused_before_anything_is_asked(runs, tmp_path):
    """The servers of this plan are not even there."""
    plan = tmp_path / "plan.toml"
    arms = arm_toml("baseline", "http://127.0.0.1:9/v1") + arm_toml("ngram", "http://127.0.0.1:9/v1")
    plan.write_text(f'[run]\ntasks = ["builtin:starter"]\nmax_tokens = 7\n{arms}')
    ran = draftproof("gate", plan, "--against", runs / "kept", "--out", tmp_path / "run")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "run.max_tokens (100 there, 7 here)" in ran.stderr
    assert not (tmp_path / "run").exists()


def test_report_writes_junit(runs):
    """The same file as the gate's, without deciding anything."""
    out = runs / "junit.xml"
    assert draftproof("report", runs / "broken", "--format", "junit", "-o", out).returncode == 0
    assert draftproof("gate", runs / "broken", "--junit", runs / "gate.xml", "-q").returncode == 3
    assert out.read_text() == (runs / "gate.xml").read_text()


def test_github_is_told_only_where_it_is(runs, tmp_path):
    """No annotations on a laptop; a summary that cannot be written costs a note and no decision."""
    assert "::" not in draftproof("gate", runs / "broken", env={"GITHUB_ACTIONS": ""}).stdout
    nowhere = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "where")}
    ran = draftproof("gate", runs / "broken", "-q", env=nowhere)
    assert ran.returncode == 3
    assert ran.stdout.startswith("::error title=draftproof%3A ngram%3A inconclusive::")
    assert "the job summary lacks the report" in ran.stderr
