"""Shards joined are the run that one machine would have made, or are refused with the key that differs."""

import json
import shutil

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.rounds import is_complete
from draftproof.evals.asking.session import ask_plan
from draftproof.evals.at_rest.merge import merge_runs
from draftproof.evals.decision.gate import Decision
from draftproof.evals.runs.record import read_run
from draftproof.evals.runs.shard import Shard
from draftproof.evals.runs.stored_run import index_run
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.html import render_html
from draftproof.reports.junit import render_junit
from draftproof.reports.markdown import render_markdown
from draftproof.reports.progress import SilentProgress
from draftproof.reports.terminal import render_terminal

from ...scripted import ScriptedServer, error
from ..scripted_runs import CAP, ask, cut, journal, judged, make_plan, number_of, right, sample_line, wrong

SETTINGS = {"control": True, "confirm": 1, "concurrency": 2, "limit": 11}


def eventful(request):
    """By sample: cut and right later, wrong, cut for good, or right."""
    match number_of(request) % 4:
        case 0:
            return cut(request) if request.body["max_tokens"] == CAP else right(request)
        case 1:
            return wrong(request)
        case 2:
            return cut(request)
        case _:
            return right(request)


@pytest.fixture
def arms():
    with ScriptedServer(right) as baseline, ScriptedServer(eventful) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


@pytest.fixture
def suite(tmp_path):
    """Fourteen samples of two categories: with a limit, their order depends on those that are left out."""
    path = tmp_path / "suite.jsonl"
    lines = [sample_line(n, category="simple" if n % 3 else "hard") for n in range(14)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def ask_shard(plan, directory, number, count, arms=()):
    told = []
    ask_plan(
        plan, directory, progress=SilentProgress(), tell=told.append, arms=arms, shard=Shard(number, count)
    )
    return directory


def shards_of(plan, tmp_path, count):
    return [ask_shard(plan, tmp_path / f"s{n}of{count}", n, count) for n in range(1, count + 1)]


def merge(directories, out, **options):
    told = []
    merge_runs(directories, out, tell=told.append, **{"is_partial": False, **options})
    return told


@pytest.mark.parametrize("count", [2, 3, 8])
def test_shards_joined_are_the_whole_run(tmp_path, suite, arms, count):
    """Findings, byte for byte; samples in the order of the suite; every attempt once. One of 8 is empty."""
    plan = make_plan(suite, arms, **SETTINGS)
    ask(plan, tmp_path / "whole")
    shards = shards_of(plan, tmp_path, count)
    sizes = [len(read_run(shard).samples) for shard in shards]
    assert sum(sizes) == 11
    assert (0 in sizes) is (count == 8)
    assert merge(shards[::-1], tmp_path / "all") == []
    summary, findings = judged(tmp_path / "all")
    whole, expected = judged(tmp_path / "whole")
    assert findings == expected
    assert '"cause":"cap"' in findings
    assert (tmp_path / "all" / "samples.jsonl").read_bytes() == (
        tmp_path / "whole" / "samples.jsonl"
    ).read_bytes()
    for arm in arms:
        joined, alone = (
            sorted((row["id"], row["stage"], row["max_tokens"], row["attempt"]) for row in journal(run, arm))
            for run in (tmp_path / "all", tmp_path / "whole")
        )
        assert joined == alone
    assert summary.run.part is None
    assert summary.to_json() == whole.to_json()
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == set()


@pytest.mark.parametrize("read", [read_run, index_run])
def test_a_shard_that_no_sample_fell_to_is_told_like_any(tmp_path, suite, arms, read):
    """There is a summary and every report of it: void, as of every shard, and of nothing."""
    shards = shards_of(make_plan(suite, arms, **SETTINGS), tmp_path, 8)
    empty = next(shard for shard in shards if not read_run(shard).samples)
    summary, problem = derive(read(empty))
    assert problem is None
    assert (empty / "findings.jsonl").read_bytes() == b""
    assert summary.decision is Decision.VOID
    assert {one.samples for one in summary.comparisons} == {0}
    for render in (render_terminal, render_markdown, render_html, render_junit):
        assert render(summary)
    one, other = list(arms)[:2]
    assert pair_arms(*operands(summary, one, summary, other)).comparison.samples == 0


def test_a_joined_run_is_a_run(tmp_path, suite, arms):
    """It is complete, resumes, and asks nothing."""
    plan = make_plan(suite, arms, **SETTINGS)
    merge(shards_of(plan, tmp_path, 2), tmp_path / "all")
    for server in arms.values():
        server.requests.clear()
    assert ask(plan, tmp_path / "all") == [f"{tmp_path / 'all'} is complete: nothing to ask"]
    assert all(server.requests == [] for server in arms.values())


def test_a_shard_is_complete_and_resumes_but_decides_nothing(tmp_path, suite, arms):
    """The gate wants what was planned; another shard's number is refused on resume."""
    plan = make_plan(suite, arms, **SETTINGS)
    shard = ask_shard(plan, tmp_path / "s2", 2, 3)
    assert is_complete(read_run(shard))
    assert ask(plan, shard) == [f"{shard} is complete: nothing to ask"]
    summary = summarise(read_run(shard))
    assert summary.decision is Decision.VOID
    assert summary.rulings[0].reasons[0] == (
        "holds shard 2 of 3, not all 11 samples; `draftproof merge` joins shards"
    )
    assert summary.to_json()["complete"] is False
    with pytest.raises(UserError, match=r"another shard \(shard 2 of 3 there, shard 1 of 3 here\)"):
        ask_shard(plan, shard, 1, 3)
    ask(plan, tmp_path / "whole")
    with pytest.raises(UserError, match=r"another shard \(all samples there, shard 1 of 3 here\)"):
        ask_shard(plan, tmp_path / "whole", 1, 3)


def test_a_missing_shard_is_refused_or_said(tmp_path, suite, arms):
    """With --partial the result is void to the gate, and can be joined with the rest later."""
    plan = make_plan(suite, arms, **SETTINGS)
    one, two, three = shards_of(plan, tmp_path, 3)
    with pytest.raises(UserError, match="shard 2 of 3 missing"):
        merge([one, three], tmp_path / "all")
    assert not (tmp_path / "all").exists()
    told = merge([three, one], tmp_path / "some", is_partial=True)
    assert told == ["note: shard 2 of 3 missing; the joined run is not whole, and void to the gate"]
    assert summarise(read_run(tmp_path / "some")).decision is Decision.VOID
    assert merge([tmp_path / "some", two], tmp_path / "all") == []
    ask(plan, tmp_path / "whole")
    assert judged(tmp_path / "all")[1] == judged(tmp_path / "whole")[1]


def test_one_shard_twice_is_kept_once(tmp_path, suite, arms):
    """Said, and harmless."""
    plan = make_plan(suite, arms, **SETTINGS)
    one, two = shards_of(plan, tmp_path, 2)
    shutil.copytree(one, tmp_path / "copy")
    told = merge([one, tmp_path / "copy", two], tmp_path / "all")
    assert told == ["note: shard 1 came more than once; each attempt is kept once"]
    merge([one, two], tmp_path / "plain")
    for name in ("attempts/baseline.jsonl", "attempts/mtp.jsonl", "samples.jsonl", "run.json"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()


def test_arms_asked_apart_are_joined(tmp_path, suite, arms):
    """Two machines, one arm each: no shards, one plan."""
    plan = make_plan(suite, arms, **{**SETTINGS, "doublings": 0, "confirm": 0, "margins": False})
    for arm in arms:
        ask(plan, tmp_path / arm, arms=[arm])
    assert merge([tmp_path / "baseline", tmp_path / "mtp"], tmp_path / "all") == []
    ask(plan, tmp_path / "whole")
    assert judged(tmp_path / "all")[1] == judged(tmp_path / "whole")[1]


def test_the_first_success_of_a_key_stays(tmp_path, suite, arms):
    """A request that failed here and was answered there is answered; of two answers the first counts."""
    plan = make_plan(suite, arms, **{**SETTINGS, "doublings": 0, "confirm": 0, "retries": 0, "limit": 2})
    arms["mtp"].reply = lambda _: error(500)
    ask(plan, tmp_path / "failed")
    arms["mtp"].reply = wrong
    ask(plan, tmp_path / "wrong")
    arms["mtp"].reply = right
    ask(plan, tmp_path / "right")
    merge([tmp_path / "failed", tmp_path / "wrong", tmp_path / "right"], tmp_path / "all")
    assert journal(tmp_path / "all", "mtp") == journal(tmp_path / "wrong", "mtp")
    merge([tmp_path / "failed", tmp_path / "failed"], tmp_path / "still")
    assert [row["status"] for row in journal(tmp_path / "still", "mtp")] == ["failed"] * 2


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"seed": 2, "limit": None}, r"run\.seed"),
        ({"temperature": 0.5}, r"run\.temperature"),
        ({"control": False}, r"run\.control"),
        ({"limit": 5}, "suite"),
    ],
)
def test_unlike_runs_are_refused_with_the_key(tmp_path, suite, arms, change, key):
    """Plans, suites and sampling; what was there stays, and nothing is left behind."""
    one = ask_shard(make_plan(suite, arms, **SETTINGS), tmp_path / "s1", 1, 2)
    two = ask_shard(make_plan(suite, arms, **{**SETTINGS, **change}), tmp_path / "s2", 2, 2)
    with pytest.raises(UserError, match=f"cannot be joined: they differ in {key}"):
        merge([one, two], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_whole_run_and_other_splits_are_refused(tmp_path, suite, arms):
    """A third is no half."""
    plan = make_plan(suite, arms, **SETTINGS)
    half = ask_shard(plan, tmp_path / "half", 1, 2)
    third = ask_shard(plan, tmp_path / "third", 2, 3)
    ask(plan, tmp_path / "whole")
    for other in (third, tmp_path / "whole"):
        with pytest.raises(UserError, match="they differ in shards"):
            merge([half, other], tmp_path / "all")


def test_servers_of_another_context_are_refused(tmp_path, suite, arms):
    """An answer is judged by the context of its server: two of them are two arms."""
    plan = make_plan(suite, arms, **SETTINGS)
    one, two = shards_of(plan, tmp_path, 2)
    path = two / "run.json"
    run = json.loads(path.read_bytes())
    run["arms"]["mtp"]["context"] = 4096
    path.write_text(json.dumps(run))
    with pytest.raises(
        UserError, match=r"the servers of arm mtp differ in context \(None there, 4096 here\)"
    ):
        merge([one, two], tmp_path / "all")


def test_a_directory_that_holds_something_is_left_alone(tmp_path, suite, arms):
    """And one run alone is nothing to join."""
    plan = make_plan(suite, arms, **SETTINGS)
    one, two = shards_of(plan, tmp_path, 2)
    with pytest.raises(UserError, match="is there already"):
        merge([one, two], two)
    with pytest.raises(UserError, match=r"stands in .*, which is read"):
        merge([one, two], two / "deep" / "all")
    assert not (two / "deep").exists()
    with pytest.raises(UserError, match="two run directories or more"):
        merge([one], tmp_path / "all")


def test_stopping_early_goes_with_no_split(tmp_path, suite, arms):
    """Where it stops depends on all answers so far."""
    plan = make_plan(suite, arms, **SETTINGS, until_decided=True)
    with pytest.raises(UserError, match="expected no --shard beside it"):
        ask_shard(plan, tmp_path / "s1", 1, 2)
    assert not (tmp_path / "s1").exists()


def test_redacted_shards_share_their_hashes(tmp_path, suite, arms):
    """The key of the hashes is the whole suite's, so findings are those of one redacted run."""
    plan = make_plan(suite, arms, **SETTINGS, redact=True)
    ask(plan, tmp_path / "whole")
    merge(shards_of(plan, tmp_path, 2), tmp_path / "all")
    assert judged(tmp_path / "all")[1] == judged(tmp_path / "whole")[1]


def test_counters_and_divergences_are_carried_over(tmp_path, suite, arms):
    """Snapshots of every session; of a pair's divergences one a budget; torn lines only where they were."""
    plan = make_plan(suite, arms, **SETTINGS)
    one, two = shards_of(plan, tmp_path, 2)
    snapshot = '{"session":"%s","at":"now","counters":{"draft_tokens":%d,"accepted_tokens":1}}\n'
    for name, shard in (("a", one), ("b", two)):
        (shard / "counters").mkdir(exist_ok=True)
        (shard / "counters" / "mtp.jsonl").write_text(snapshot % (name, 10) + snapshot % (name, 30))
    line = '{"id":"s/1","candidate":"mtp","budget":100,"label":"wide","margin_nats":%d}\n'
    (one / "divergences.jsonl").write_text(line % 2 + '{"torn')
    (two / "divergences.jsonl").write_text(line % 3)
    merge([one, two], tmp_path / "all")
    record = read_run(tmp_path / "all")
    assert record.counters["mtp"].draft_tokens == 40
    assert [one.margin_nats for one in record.divergences["s/1", "mtp"]] == [2]
