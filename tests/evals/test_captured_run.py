"""Captured traffic in a whole run: its own fields are sent, and the baseline's answer is the reference."""

import json

from ..scripted import MODEL, ScriptedServer, answer
from .scripted_runs import TOOL, ask, call_of, journal, judged, make_plan, right

SLOPPY = {"type": "function", "function": {"name": "search", "parameters": {"type": "str"}}}


def write_requests(path):
    bodies = [
        {
            "model": "captured",
            "messages": [{"role": "user", "content": f"Weather in City{number}?"}],
            "tools": [TOOL, SLOPPY],
            "temperature": 0.9,
            "stop": ["END"],
            "parallel_tool_calls": True,
            "id": f"r{number}",
        }
        for number in range(3)
    ]
    del bodies[2]["tools"]
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    return path


def test_the_fields_of_a_capture_are_sent_under_the_plan_s_sampling(tmp_path):
    """`parallel_tool_calls` goes only where tools go; an arm's own fields win."""
    suite = write_requests(tmp_path / "requests.jsonl")
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp:
        for mode in ("native", "prompted"):
            plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, mode=mode)
            told = ask(plan, tmp_path / mode)
            assert told[0].startswith("note: 2 of 3 samples declare a tool that is none")
            requests = {row["id"]: row["request"] for row in journal(tmp_path / mode, "baseline")}
            assert {body["temperature"] for body in requests.values()} == {0.0}
            assert {body["model"] for body in requests.values()} == {MODEL}
            assert all(body["stop"] == ["END"] for body in requests.values())
            with_field = {i for i, body in requests.items() if "parallel_tool_calls" in body}
            assert with_field == ({"r0", "r1"} if mode == "native" else set())
            assert {i for i, body in requests.items() if "tools" in body} == with_field


def test_the_baseline_s_answer_is_the_reference(tmp_path):
    """A change is found, a sloppy tool is no defect, and a sample without tools is compared all the same."""
    suite = write_requests(tmp_path / "requests.jsonl")
    without_call = {"City2": "No tool is here."}

    def base(request):
        text = request.body["messages"][-1]["content"]
        return next((answer(reply) for city, reply in without_call.items() if city in text), right(request))

    def changed(request):
        if "City1" in request.body["messages"][-1]["content"]:
            return answer(call_of("Elsewhere"))
        return base(request)

    with ScriptedServer(base) as baseline, ScriptedServer(changed) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, control=True)
        ask(plan, tmp_path / "run")
    _, findings = judged(tmp_path / "run")
    found = {row["id"]: row["transition"] for row in map(json.loads, findings.splitlines())}
    assert found == {"r0": "both_pass", "r1": "regression", "r2": "both_pass"}
