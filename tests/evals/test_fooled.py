"""Servers that try to turn a regression into a pass, or noise into a failure: each is caught, by name."""

import pytest

from ..scripted import ScriptedServer
from .fooling import Case, lines_of, plan_of, prose, right, right_native, right_stream, right_twice
from .fooling_calls import CALLS
from .fooling_endings import ENDINGS
from .fooling_servers import SERVERS
from .fooling_streams import STREAMS
from .scripted_runs import ask, judged

CASES = [*CALLS, *ENDINGS, *STREAMS, *SERVERS]


@pytest.fixture(scope="module")
def servers():
    """One pair for all cases: a script and its pages are set anew for each."""
    with ScriptedServer(right) as baseline, ScriptedServer(right) as candidate:
        yield {"baseline": baseline, "mtp": candidate}


def script_of_baseline(case):
    if case.baseline is not None:
        return case.baseline
    if case.run.get("mode") == "native":
        return right_stream if case.run.get("stream") else right_native
    return {"two": right_twice, "none": prose}.get(case.suite, right)


def summary_of(case: Case, servers, tmp_path):
    suite = tmp_path / "suite.jsonl"
    suite.write_text(lines_of(case.suite))
    listing = "/v1/models"
    for arm, script in (("baseline", script_of_baseline(case)), ("mtp", case.candidate)):
        server = servers[arm]
        server.reply = script
        server.pages = {listing: server.pages[listing], **case.pages.get(arm, {})}
    ask(plan_of(case, suite, servers), tmp_path / "run")
    return judged(tmp_path / "run")[0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nobody_is_fooled(case, servers, tmp_path):
    """The decision, and the causes and codes behind it, are the honest ones."""
    summary = summary_of(case, servers, tmp_path)
    (comparison,), (ruling,) = summary.comparisons, summary.rulings
    counts = comparison.regressions
    causes = {
        name: count
        for name in ("cap", "malformed", "real_change", "unresolved")
        if (count := getattr(counts, name))
    }
    said = {
        "decision": ruling.decision.value,
        "causes": causes,
        "codes": comparison.codes,
        "void_codes": comparison.void_codes,
        "fixes": comparison.fixes.total,
    }
    honest = {
        "decision": case.decision,
        "causes": dict(case.causes),
        "codes": dict(case.codes),
        "void_codes": dict(case.void_codes),
        "fixes": case.fixes,
    }
    assert said == honest, f"{case.claim} ({'; '.join(ruling.reasons)})"
    assert case.reason in " ".join(ruling.reasons)


def test_there_are_fifty_and_each_is_named_once():
    """A case that shares its name with another would hide behind it."""
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 50
