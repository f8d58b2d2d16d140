"""The story this tool was built for: 10 calls look broken under MTP, and the cap alone broke 8 of them."""

import json

from draftproof.evals.asking.session import ask_plan
from draftproof.evals.attempt import Stage
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.record import read_run
from draftproof.evals.summing_up.derived import derive
from draftproof.reports.markdown import render_markdown
from draftproof.reports.progress import SilentProgress
from draftproof.reports.terminal import render_terminal

from ...scripted import ScriptedServer, answer

CAP = 1024
# Completion tokens that each cut answer needs, as in the published validation.
NEEDED = (1082, 1120, 1175, 1203, 1266, 1319, 1390, 1461)
SAMPLES = 60
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
    },
}


def call(name, arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def suite_lines():
    for number in range(SAMPLES):
        yield {
            "id": f"story/{number:02}",
            "category": "simple",
            "messages": [{"role": "user", "content": f"Weather in City{number}?"}],
            "tools": [TOOL],
            "expected": {"calls": [{"name": "get_weather", "arguments": {"location": [f"City{number}"]}}]},
        }


def number_of(request):
    return int(request.body["messages"][-1]["content"].removeprefix("Weather in City").rstrip("?"))


def right(number, **keywords):
    return answer(call("get_weather", {"location": f"City{number}"}), **keywords)


def baseline_script(request):
    return right(number_of(request), completion_tokens=900, timings={"predicted_n": 900})


def mtp_script(request):
    number = number_of(request)
    timings = {"predicted_n": 1, "draft_n": 40, "draft_n_accepted": 30}
    if number < len(NEEDED):
        if request.body["max_tokens"] < NEEDED[number]:
            cut = "Let me think about it." + "<tool_call>\n" + '{"name": "get_weather", "arg'
            return answer(cut, "length", completion_tokens=request.body["max_tokens"], timings=timings)
        return right(number, completion_tokens=NEEDED[number], timings=timings)
    if number == len(NEEDED):
        return answer(call("get_weather(location='Boston')", {}), completion_tokens=880, timings=timings)
    if number == len(NEEDED) + 1:
        return answer(call("get_weather", {"location": "Bergen"}), completion_tokens=870, timings=timings)
    return right(number, completion_tokens=910, timings=timings)


def test_the_report_says_exactly_eight_cap_one_malformed_one_real_change(tmp_path):
    """Of 10 calls that look broken, 8 were cut, one has an expression for a name, one really changed."""
    suite = tmp_path / "story.jsonl"
    suite.write_text("".join(json.dumps(line) + "\n" for line in suite_lines()), encoding="utf-8")
    directory = tmp_path / "run"
    with ScriptedServer(baseline_script) as baseline, ScriptedServer(mtp_script) as mtp:
        plan = build_plan(
            {
                "run": {"tasks": [str(suite)], "max_tokens": CAP},
                "arms": [
                    {"name": "baseline", "base_url": baseline.base_url, "model": "m"},
                    {"name": "mtp", "base_url": mtp.base_url, "model": "m"},
                ],
            },
            source="test",
        )
        ask_plan(plan, directory, progress=SilentProgress(), tell=print)
    summary, _ = derive(read_run(directory))

    written = json.loads((directory / "summary.json").read_text())
    comparison = written["comparisons"][0]
    assert comparison["regressions"] == {
        "total": 10,
        "cap": 8,
        "malformed": 1,
        "real_change": 1,
        "unresolved": 0,
        "malformed_syntax": 1,
        "malformed_contract": 0,
    }
    assert comparison["fixes"]["total"] == 0
    assert comparison["codes"] == {"cap_cut": 8, "name_is_expression": 1, "wrong_arguments": 1}
    assert comparison["needed_max_tokens"] == 1461
    assert written["arms"]["mtp"]["finish_reasons"] == {"length": 8, "stop": 52}
    assert comparison["control"] == {"compared": 60, "churn": 0.0, "regressions": 0, "fixes": 0}

    findings = [json.loads(line) for line in (directory / "findings.jsonl").read_text().splitlines()]
    broken = {row["id"]: row for row in findings if row["transition"] == "regression"}
    assert [broken[f"story/{n:02}"]["cause"] for n in range(8)] == ["cap"] * 8
    assert broken["story/00"]["budgets"] == [1024, 2048]
    assert broken["story/00"]["at_cap"] == {"baseline_grade": "pass", "candidate_grade": "truncated"}
    assert (broken["story/08"]["cause"], broken["story/08"]["reproduced"]) == ("malformed", "2/2")
    assert (broken["story/09"]["cause"], broken["story/09"]["reproduced"]) == ("real_change", "2/2")

    # The union of what was cut is asked again in every arm, and in the control.
    record = read_run(directory)
    for number in range(8):
        for arm, stage in (("baseline", Stage.DOUBLED), ("mtp", Stage.DOUBLED), ("baseline", Stage.CONTROL)):
            assert record.attempt(f"story/{number:02}", arm, stage, 2048) is not None
    for rendered in (render_terminal(summary), render_markdown(summary)):
        assert "1461" in rendered
