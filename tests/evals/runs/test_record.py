"""A run directory is read as it stands, and belongs to one plan."""

import json
from dataclasses import replace

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.session import load_planned
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.journal import Journal, write_json
from draftproof.evals.runs.new_run import create_run, refuse_foreign
from draftproof.evals.runs.record import read_run
from draftproof.evals.runs.run_file import read_run_file, save_facts
from draftproof.evals.servers.server import ServerFacts, ServerKind, Speculating
from draftproof.tasks.suite import load_suites

from ..build import attempt
from ..scripted_runs import make_plan, raw_plan, write_suite

SERVERS = {"baseline": "http://127.0.0.1:1/v1", "mtp": "http://127.0.0.1:2/v1"}


def started(tmp_path, count=3, **run):
    suite = write_suite(tmp_path / "suite.jsonl", count)
    plan = make_plan(suite, SERVERS, **run)
    create_run(tmp_path / "run", plan, load_suites(plan.run.tasks))
    return tmp_path / "run"


def changed(raw, path, value):
    *folders, last = path
    for folder in folders:
        raw = raw[folder]
    raw[last] = value


FIXED = [
    (("run", "mode"), "native", "run.mode"),
    (("run", "max_tokens"), 101, "run.max_tokens"),
    (("run", "doublings"), 2, "run.doublings"),
    (("run", "temperature"), 0.5, "run.temperature"),
    (("run", "top_p"), 0.9, "run.top_p"),
    (("run", "seed"), 2, "run.seed"),
    (("run", "limit"), 2, "suite"),
    (("run", "sample_ids"), ["s/1"], "suite"),
    (("run", "shots"), 1, "suite"),
    (("run", "system_prompt"), "Other {tools}", "run.system_prompt"),
    (("run", "redact"), True, "run.redact"),
    (("arms", 1, "name"), "ngram", "arms"),
    (("arms", 1, "baseline"), True, "baseline"),
    (("arms", 1, "model"), "other", "arms.mtp.model"),
    (("arms", 0, "extra_body"), {"top_k": 1}, "arms.baseline.extra_body"),
]


@pytest.mark.parametrize(("path", "value", "key"), FIXED, ids=[key for *_, key in FIXED])
def test_resuming_with_another_plan_names_the_key(tmp_path, path, value, key):
    """What was asked before must stay comparable with what is asked now."""
    directory = started(tmp_path)
    raw = raw_plan(tmp_path / "suite.jsonl", SERVERS)
    changed(raw, path, value)
    plan = build_plan(raw, source="test")
    suite = load_planned(plan.run)
    before = (directory / "run.json").read_bytes()
    with pytest.raises(UserError, match=rf"holds a run with another {key} ") as caught:
        create_run(directory, plan, suite)
    assert "--out" in caught.value.tip
    assert (directory / "run.json").read_bytes() == before


FREE = [
    (("run", "concurrency"), 7),
    (("run", "timeout"), 1.0),
    (("run", "retries"), 9),
    (("run", "retry_seconds"), 9.0),
    (("run", "in_turn"), True),
    (("arms", 0, "base_url"), "http://127.0.0.1:9/v1"),
    (("arms", 1, "api_key_env"), "OTHER"),
    (("gate",), {"margin": 0.2}),
]


@pytest.mark.parametrize(("path", "value"), FREE, ids=[".".join(map(str, path)) for path, _ in FREE])
def test_pace_place_and_gate_may_change(tmp_path, path, value):
    """They do not change what an answer is; the new plan is kept, and so are the facts."""
    directory = started(tmp_path)
    facts = {"mtp": ServerFacts(ServerKind.VLLM, "0.33.0", ("m",), 4096, Speculating.ON)}
    save_facts(directory, facts)
    raw = raw_plan(tmp_path / "suite.jsonl", SERVERS)
    changed(raw, path, value)
    plan = build_plan(raw, source="test")
    create_run(directory, plan, load_suites(plan.run.tasks))
    kept = read_run_file(directory)
    assert (kept.plan, kept.facts) == (plan, facts)


def test_a_changed_task_file_is_a_changed_suite(tmp_path):
    """The digest is over the samples, not over the names of files."""
    directory = started(tmp_path, count=3)
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 4), SERVERS)
    with pytest.raises(UserError, match="another suite"):
        create_run(directory, plan, load_suites(plan.run.tasks))


def test_nothing_is_written_into_a_foreign_directory(tmp_path):
    """Not even a lock; a directory with logs of servers, or a killed beginning of ours, is not foreign."""
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match=r"is not empty and not a run"):
        refuse_foreign(tmp_path)
    with pytest.raises(UserError, match="cannot be read"):
        refuse_foreign(tmp_path / "thesis.tex")
    refuse_foreign(tmp_path / "new")
    for name in ("servers", "run.lock", ".run.json.x1y2"):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text("")
        refuse_foreign(tmp_path / "run")


def test_a_beginning_that_was_killed_is_begun_again(tmp_path):
    """Killed after samples.jsonl and before run.json, the same command goes on."""
    directory = started(tmp_path)
    (directory / "run.json").unlink()
    (directory / "run.lock").write_text("")
    started(tmp_path)
    assert len(read_run(directory).samples) == 3


def test_lines_come_back_and_the_first_success_of_a_key_stays(tmp_path):
    """A failure gives way to a later success; a second success changes nothing."""
    directory = started(tmp_path)
    failed = attempt(error=ErrorType.TIMEOUT)
    with Journal(directory) as journal:
        for one in (failed, attempt("first"), attempt("second"), failed, attempt("b", arm="mtp")):
            journal.append(one)
    record = read_run(directory)
    assert [one.content for one in record.attempts.values()] == ["first", "b"]
    assert record.attempt("s1", "baseline", Stage.FIRST, 100).content == "first"
    assert record.attempt("s1", "mtp", Stage.FIRST, 200) is None
    assert {key: len(rows) for key, rows in record.by_sample.items()} == {
        ("s1", "baseline"): 1,
        ("s1", "mtp"): 1,
    }


def test_unreadable_lines_are_named_and_the_others_read(tmp_path):
    """Corrupted, torn, empty, not UTF-8: each is counted where it stands."""
    directory = started(tmp_path)
    with Journal(directory) as journal:
        for number in range(1, 5):
            journal.append(attempt(number=number))
    path = directory / "attempts" / "baseline.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"status":"success"', b'"status":"succ\x00ss"')
    lines[2] = b"\x00" * 40 + b"\n"
    path.write_bytes(b"".join([*lines[:3], b"\n", lines[3], b"\xff\xfe{", b"\n" + lines[0][:30]]))
    record = read_run(directory)
    assert [one.attempt for one in record.attempts.values()] == [1, 4]
    assert record.damaged == tuple(f"attempts/baseline.jsonl:{number}" for number in (2, 3, 6, 7))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "not a run directory"),
        ("", "cannot be read"),
        ('{"format": 1', "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "format None"),
        ('{"format": 2}', "format 2; this version of draftproof reads format 1"),
        ('{"format": 1}', "not as draftproof writes it"),
        ('{"format": 1, "plan": {}, "suite": {"digest": "d"}, "arms": {}}', "not as draftproof writes it"),
        ('{"format": 1, "plan": 5, "suite": [], "arms": {}}', "not as draftproof writes it"),
    ],
)
def test_a_run_file_that_cannot_be_read_is_said(tmp_path, text, says):
    """With the path in front, and never a traceback."""
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(UserError, match=says):
        read_run(tmp_path)


def test_a_journal_that_is_no_file_is_said(tmp_path):
    """A folder in its place."""
    directory = started(tmp_path)
    (directory / "attempts" / "mtp.jsonl").mkdir(parents=True)
    with pytest.raises(UserError, match=r"mtp\.jsonl: cannot be read"):
        read_run(directory)


def test_the_plan_comes_back_as_it_was(tmp_path):
    """Through JSON and back: nothing is lost, and nothing but the plan is there."""
    directory = started(tmp_path, temperature=0.0, limit=None)
    plan = make_plan(tmp_path / "suite.jsonl", SERVERS)
    assert read_run_file(directory).plan == plan
    raw = json.loads((directory / "run.json").read_text())
    assert raw.keys() == {"format", "draftproof", "plan", "suite", "arms"}


def test_facts_of_other_arms_stay(tmp_path):
    """Two servers that do not fit one GPU are asked one at a time."""
    directory = started(tmp_path)
    save_facts(directory, {"baseline": ServerFacts(context=1)})
    save_facts(directory, {"mtp": ServerFacts(context=2)})
    assert {name: facts.context for name, facts in read_run_file(directory).facts.items()} == {
        "baseline": 1,
        "mtp": 2,
    }


def test_a_run_without_facts_is_read(tmp_path):
    """A run that was planned and never asked."""
    directory = started(tmp_path)
    record = read_run(directory)
    assert (record.facts, record.attempts, record.damaged) == ({}, {}, ())
    write_json(directory / "run.json", replace(read_run_file(directory), facts={}).to_json())
    assert read_run(directory).digest == record.digest
