"""Conditions: load, prefix cache, position in the run; a finding says where it showed and where not."""

import threading
from dataclasses import replace

import pytest
from draftproof.evals.attempt import Stage
from draftproof.evals.judging.position import FEWEST, passes_by_part
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.server_tables import position_table

from ..scripted import ScriptedServer, error, json_reply
from .build import RIGHT, WRONG, attempt, record, sample
from .scripted_runs import ask, judged, make_plan, right, write_suite, wrong

CHAT = "/v1/chat/completions"


def served(reply, owner="llamacpp"):
    card = {"id": "scripted", "object": "model", "owned_by": owner}
    return ScriptedServer(reply, pages={"/v1/models": json_reply({"data": [card]})})


@pytest.mark.parametrize(
    ("owner", "field", "is_set"),
    [("llamacpp", "cache_prompt", False), ("vllm", "cache_salt", None), ("test", "cache_salt", None)],
)
def test_an_isolated_request_starts_cold(tmp_path, owner, field, is_set):
    """vLLM: a salt of its own for each; llama.cpp: no prompt cache; others have no such field."""
    suite = write_suite(tmp_path / "s.jsonl", 3)
    with served(right, owner) as server:
        ask(make_plan(suite, {"baseline": server, "mtp": server}, isolate=True), tmp_path / "run")
        values = [one.body.get(field) for one in server.requests if one.path == CHAT]
    if owner == "test":
        assert values == [None] * 6
    elif owner == "vllm":
        assert len(set(values)) == 6
    else:
        assert values == [is_set] * 6


class Load:
    """Remembers the most requests in flight; answers once the expected number came, or time is up."""

    def __init__(self, expected):
        self._expected, self._lock, self._enough = expected, threading.Lock(), threading.Event()
        self._now = self.most = 0

    def __call__(self, request):
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now >= self._expected:
                self._enough.set()
        self._enough.wait(0.3)
        with self._lock:
            self._now -= 1
        return right(request)


def test_the_control_may_have_a_load_of_its_own(tmp_path):
    """A server that repeats itself exactly shows its noise only under another load."""
    suite = write_suite(tmp_path / "s.jsonl", 6)
    load = Load(3)
    with ScriptedServer(load) as baseline, ScriptedServer(right) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, control=True, control_concurrency=3)
        ask(plan, tmp_path / "run")
    assert load.most == 3
    firsts = [one for one in judged(tmp_path / "run")[0].run.attempts.values() if one.stage is Stage.FIRST]
    assert len(firsts) == 12


@pytest.mark.parametrize(("concurrency", "label"), [(2, "only_batched"), (1, "only_warm")])
def test_a_fault_that_needs_company_is_labelled(tmp_path, concurrency, label):
    """Wrong at first and in the first confirmation, right when asked alone and cold."""

    def candidate(request):
        return right(request) if request.body.get("cache_prompt") is False else wrong(request)

    suite = write_suite(tmp_path / "s.jsonl", 1)
    with served(right) as baseline, served(candidate) as mtp:
        plan = make_plan(
            suite, {"baseline": baseline, "mtp": mtp}, confirm=3, concurrency=concurrency, margins=False
        )
        ask(plan, tmp_path / "run")
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.reproduced == (1, 3)
    assert finding.evidence["only"] == label


@pytest.mark.parametrize(("candidate", "reproduced"), [(wrong, (2, 2)), (None, (0, 2))])
def test_a_fault_that_shows_alone_or_never_again_has_no_label(tmp_path, candidate, reproduced):
    """Company explains neither."""
    seen = []

    def once(request):
        if request.path != CHAT:
            return error(404)
        seen.append(request)
        return wrong(request) if len(seen) == 1 else right(request)

    suite = write_suite(tmp_path / "s.jsonl", 1)
    with served(right) as baseline, served(candidate or once) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, confirm=2, margins=False)
        ask(plan, tmp_path / "run")
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.reproduced == reproduced
    assert "only" not in finding.evidence


def by_part(made):
    return passes_by_part({name: arm.passes for name, arm in summarise(made).judged.arms.items()})


def test_a_fault_that_grows_shows_by_quarters():
    """In the order of asking, not of the suite; an arm with few answers shows none."""
    count = FEWEST
    attempts = []
    for n in range(count):
        ngram = attempt(RIGHT if n >= 20 else WRONG, sample_id=f"s{n}", arm="ngram")
        attempts += [replace(one, index=count - n) for one in (attempt(RIGHT, sample_id=f"s{n}"), ngram)]
    made = record([sample(f"s{n}") for n in range(count)], attempts, control=False, confirm=0)
    baseline, ngram = by_part(made)
    assert baseline.parts == ((10, 10),) * 4
    assert ngram.parts == ((10, 10), (10, 10), (0, 10), (0, 10))
    assert position_table((ngram,)).rows == (("ngram", "10/10", "10/10", "0/10", "0/10"),)
    few = record([sample("s0")], attempts[:2], control=False, confirm=0)
    assert by_part(few) == ()
    assert position_table(()) is None
