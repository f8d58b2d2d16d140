"""Several conditions: each is a run of its own, judged apart, and the worst decides."""

import json

import pytest

from .evals.scripted_runs import right, write_suite, wrong
from .scripted import ScriptedServer
from .test_cli import draftproof


def arm(server, name):
    url = getattr(server, "base_url", server)
    return f'[[arms]]\nname = "{name}"\nbase_url = "{url}"\nmodel = "scripted"\n'


@pytest.fixture
def planned(tmp_path):
    def planned(baseline, candidate, concurrency, count=60, isolate="false"):
        suite = write_suite(tmp_path / "suite.jsonl", count)
        path = tmp_path / "plan.toml"
        path.write_text(
            f"""[run]
tasks = ["{suite}"]
concurrency = {concurrency}
isolate = {isolate}
control = false
confirm = 0
margins = false
{arm(baseline, "baseline")}{arm(candidate, "mtp")}"""
        )
        return path

    return planned


def test_each_load_is_asked_and_judged_and_the_worst_decides(planned, tmp_path):
    """Wrong only in company, as several public faults of speculation are."""
    with ScriptedServer(right) as baseline:
        asked = []

        def in_company(request):
            asked.append(request)
            # The second run, at the larger load, is the faulty one.
            return right(request) if len(asked) <= 60 else wrong(request)

        with ScriptedServer(in_company) as mtp:
            plan = planned(baseline, mtp, "[1, 4]")
            ran = draftproof(
                "gate", str(plan), "--out", str(tmp_path / "out"), "--junit", str(tmp_path / "j.xml")
            )
    assert ran.returncode == 1, ran.stderr
    decisions = {
        path.parent.name: json.loads(path.read_text())["decision"]
        for path in (tmp_path / "out").glob("*/summary.json")
    }
    assert decisions == {"concurrency-1": "inconclusive", "concurrency-4": "regression"}
    assert sorted(path.name for path in tmp_path.glob("j*.xml")) == [
        "j-concurrency-1.xml",
        "j-concurrency-4.xml",
    ]
    assert ran.stdout.count("First answers, by arm") == 2
    # The folder of both is judged again without asking anybody.
    assert draftproof("gate", str(tmp_path / "out"), "-q").returncode == 1
    assert draftproof("gate", str(tmp_path / "out" / "concurrency-1"), "-q").returncode == 3


def test_with_and_without_a_shared_cache_are_two_runs(planned, tmp_path):
    """Wrong only with a warm prefix: the isolated run is no worse, and the shared one decides."""
    with ScriptedServer(right) as baseline:
        asked = []

        def warm(request):
            asked.append(request)
            return wrong(request) if len(asked) <= 60 else right(request)

        with ScriptedServer(warm) as mtp:
            ran = draftproof(
                "gate", str(planned(baseline, mtp, 1, isolate='"both"')), "--out", str(tmp_path / "out"), "-q"
            )
    assert ran.returncode == 1, ran.stderr
    plans = {path.parent.name: json.loads(path.read_text()) for path in (tmp_path / "out").glob("*/run.json")}
    assert {name: plan["plan"]["run"]["isolate"] for name, plan in plans.items()} == {
        "shared": False,
        "isolated": True,
    }
    codes = {name: draftproof("gate", str(tmp_path / "out" / name), "-q").returncode for name in plans}
    assert codes == {"shared": 1, "isolated": 3}


@pytest.mark.parametrize("concurrency", ["[]", "[2, 2]", "[0]", '["a"]', "[1.5]"])
def test_a_bad_list_of_loads_is_one_clear_error(planned, concurrency):
    """Said before anything is asked."""
    ran = draftproof("run", str(planned("http://h/v1", "http://h/v1", concurrency)))
    assert ran.returncode == 2
    assert "run.concurrency: " in ran.stderr
