"""A redacted run holds no text of prompts, values or answers, and is judged exactly as one in clear."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.record import read_run
from draftproof.evals.runs.redaction import Redaction
from draftproof.evals.runs.run_file import read_run_file
from draftproof.parsers.result import Call, Span
from draftproof.reports.sample import render_sample
from draftproof.reports.terminal import render_terminal
from draftproof.tasks.match import same_calls
from draftproof.tasks.raw_sample import sample_from_json
from draftproof.tasks.redaction import Hashes, redact_sample
from hypothesis import given
from hypothesis import strategies as st

from ... import scripted
from ...scripted import ScriptedServer, answer, error, tool_call
from .. import build
from ..asking import test_seed_story
from ..scripted_runs import CAP, ask, call_of, journal, judged, make_plan, write_suite

SECRET = "XYZZY"
LISTED = {"enum": [f"{SECRET}-listed", "mm"]}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": f"{SECRET}-described",
        "parameters": {
            "type": "object",
            "title": f"{SECRET}-title",
            "properties": {
                "city": {
                    "type": "string",
                    "description": f"{SECRET}-inner",
                    "examples": [f"{SECRET}-example"],
                },
                "unit": {"anyOf": [LISTED, {"const": f"{SECRET}-const"}], "default": f"{SECRET}-default"},
                "where": {"type": "object"},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
EARLIER = [
    {"role": "system", "content": f"{SECRET}-system"},
    {"role": "user", "name": f"{SECRET}-name", "content": [{"type": "text", "text": f"{SECRET}-part"}]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": f"{SECRET}-thought",
        "tool_calls": [tool_call("get_weather", {"city": f"{SECRET}-before"}, "call_7")],
    },
    {"role": "tool", "tool_call_id": "call_7", "content": f"{SECRET}-result"},
]
LOOP = f"{SECRET} again and again. " * 20
NATIVE_BROKEN = tool_call("get_weather", f'{{"city": "{SECRET}" 5}}')


def suite_line(number, **members):
    return {
        "id": f"s/{number}",
        "category": "captured",
        "messages": [*EARLIER, {"role": "user", "content": f"Weather in {SECRET}{number}?"}],
        "tools": [TOOL],
        "metadata": {"customer": f"{SECRET}-metadata"},
        "extra_body": {"stop": [f"{SECRET}-stop"], "user": f"{SECRET}-user"},
        "expected": {"calls": [{"name": "get_weather", "arguments": {"city": [f"{SECRET}{number}"]}}]},
        **members,
    }


def number_of(request):
    return int(request.body["messages"][-1]["content"].removeprefix(f"Weather in {SECRET}").rstrip("?"))


def is_first(request):
    return request.body["max_tokens"] == CAP


# What the candidate answers, by the number of its sample; the baseline is right.
PROMPTED = [
    lambda n, _: answer(f"{SECRET}-prose " + call_of(f"{SECRET}{n}")),
    lambda _n, _: answer(call_of(f"{SECRET}-elsewhere")),
    lambda _n, _: answer(
        f'<tool_call>\n{{"name": "get_weather", "arguments": {{"city": "{SECRET}" 5}}}}\n</tool_call>'
    ),
    lambda n, r: (
        answer(f'<tool_call>\n{{"name": "{SECRET}', "length", completion_tokens=r.body["max_tokens"])
        if is_first(r)
        else answer(call_of(f"{SECRET}{n}"), completion_tokens=130)
    ),
    lambda _n, r: answer(LOOP, "length", completion_tokens=r.body["max_tokens"]),
    lambda _n, _: answer(f"<think>{SECRET}</think>", completion_tokens=2),
    lambda _n, _: answer(f"Here it is, {SECRET}:", completion_tokens=2, reasoning=f"{SECRET}-hidden"),
    lambda _n, _: answer(call_of(7)),
    lambda _n, _: answer(
        f'<tool_call>\n{{"name": "{SECRET}_call", "arguments": {{"{SECRET}": 1}}}}\n</tool_call>'
    ),
    lambda n, _: answer(call_of(f"{SECRET}{n}").replace('"city"', f'"{SECRET}": {{"{SECRET}": 1}}, "city"')),
    lambda _n, _: error(500, f"model produced output that does not match the grammar: {SECRET}"),
    lambda n, _: answer(
        call_of(f"{SECRET}{n}") + call_of(f"{SECRET}{n}") + LOOP, "length", completion_tokens=CAP
    ),
    lambda _n, _: error(400, f"bad request: {SECRET}"),
    lambda _n, _: answer("", completion_tokens=1),
    lambda _n, _: answer(f"{SECRET} \ud800 speaks", "stop", system_fingerprint="fp"),
]
NATIVE = [
    lambda n, _: answer(None, "tool_calls", tool_calls=[tool_call("get_weather", {"city": f"{SECRET}{n}"})]),
    lambda _n, _: answer(None, "tool_calls", tool_calls=[NATIVE_BROKEN]),
    lambda _n, _: answer(f"{SECRET}", "tool_calls", tool_calls=[{"id": "x", SECRET: SECRET}, SECRET]),
    lambda _n, r: answer(
        None, "length", completion_tokens=r.body["max_tokens"], reasoning=f"{SECRET} {LOOP}"
    ),
    lambda n, r: answer(
        None,
        "tool_calls",
        completion_tokens=r.body["max_tokens"],
        tool_calls=[tool_call("get_weather", {"city": f"{SECRET}{n}"})],
    ),
    lambda _n, _: answer(
        None, "tool_calls", tool_calls=[tool_call("get_weather", {"city": "<tool_call>" + SECRET})]
    ),
    lambda _n, _: answer(call_of(SECRET)),
    lambda _n, _: answer(None, completion_tokens=60),
]
KINDS = {"prompted": PROMPTED, "native": NATIVE}


def right(mode):
    def reply(request):
        city = f"{SECRET}{number_of(request)}"
        if mode == "native":
            return answer(
                None,
                "tool_calls",
                completion_tokens=50,
                tool_calls=[tool_call("get_weather", {"city": city})],
            )
        return answer(call_of(city), completion_tokens=50)

    return reply


def write_lines(path, count, **members):
    path.write_text("".join(json.dumps(suite_line(n, **members)) + "\n" for n in range(count)))
    return path


def both(tmp_path, suite, replies, **run):
    """The same answers in clear and redacted; the two run directories."""
    for name, redact in (("clear", False), ("redacted", True)):
        with ScriptedServer(replies[0]) as baseline, ScriptedServer(replies[1]) as mtp:
            ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, redact=redact, **run), tmp_path / name)
    return tmp_path / "clear", tmp_path / "redacted"


def without_words(directory):
    """Summary and findings as written, without the sentences and paths that name values."""
    summary, findings = judged(directory)
    rows = [json.loads(line) for line in findings.splitlines()]
    for row in rows:
        for words in ("message", "paths", "parts_at", "divergence"):
            row["evidence"].pop(words, None)
    return {**summary.to_json(), "arms": None}, rows


def files_with(directory, secret):
    return [
        path.name for path in directory.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("is_labelled", [True, False], ids=["labelled", "unlabelled"])
@pytest.mark.parametrize("mode", KINDS)
def test_nothing_is_in_clear_and_everything_is_found(tmp_path, mode, is_labelled):
    """Whatever comes back: no file names a secret, and the findings are those of the run in clear."""
    kinds = KINDS[mode]
    suite = write_lines(tmp_path / "suite.jsonl", len(kinds), **({} if is_labelled else {"expected": None}))

    def candidate(request):
        number = number_of(request)
        return kinds[number](number, request)

    run = {"mode": mode, "control": True, "confirm": 1, "retries": 0}
    clear, redacted = both(tmp_path, suite, (right(mode), candidate), **run)
    assert without_words(redacted) == without_words(clear)
    assert files_with(clear, SECRET)
    assert files_with(redacted, SECRET) == []
    kept, original = journal(redacted, "mtp"), journal(clear, "mtp")
    for field in ("id", "stage", "max_tokens", "status", "finish_reason", "usage"):
        assert [row[field] for row in kept] == [row[field] for row in original]
    assert all("reading" not in row for row in original)
    summary, _ = judged(redacted)
    shown = [render_terminal(summary), *(render_sample(summary, one.id) for one in summary.run.samples)]
    assert not any(SECRET in text for text in shown)
    assert all("redacted: texts and values are hashes" in text for text in shown[1:])


def test_the_seed_story_is_the_same(tmp_path):
    """Eight cap, one malformed, one real change, from hashes alone."""
    suite = tmp_path / "story.jsonl"
    suite.write_text("".join(json.dumps(line) + "\n" for line in test_seed_story.suite_lines()))
    scripts = (test_seed_story.baseline_script, test_seed_story.mtp_script)
    run = {"max_tokens": test_seed_story.CAP, "control": True, "confirm": 2, "concurrency": 4}
    clear, redacted = both(tmp_path, suite, scripts, **run)
    assert without_words(redacted) == without_words(clear)
    codes = judged(redacted)[0].to_json()["comparisons"][0]["codes"]
    assert codes == {"cap_cut": 8, "name_is_expression": 1, "wrong_arguments": 1}
    assert [files_with(redacted, secret) for secret in ("Boston", "Bergen", "City", "Weather")] == [[]] * 4


def test_a_redacted_run_goes_on_where_it_was_killed(tmp_path):
    """From the journal torn after any line: the source is loaded again, and no two hashes disagree."""
    suite = write_lines(tmp_path / "suite.jsonl", 4)
    replies = (right("prompted"), lambda r: PROMPTED[number_of(r)](number_of(r), r))
    _, whole = both(tmp_path, suite, replies)
    with ScriptedServer(replies[0]) as baseline, ScriptedServer(replies[1]) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, redact=True)
        path = whole / "attempts" / "mtp.jsonl"
        lines, findings = path.read_bytes().splitlines(keepends=True), judged(whole)[1]
        path.write_bytes(b"".join(lines[:2]) + lines[2][:40])
        ask(plan, whole)
        # From run.json alone, as `run --out` does.
        assert ask(read_run_file(whole).plan, whole)[-1].endswith("is complete: nothing to ask")
    assert judged(whole)[1] == findings
    assert files_with(whole, SECRET) == []
    assert mtp.requests[0].body["messages"][-1]["content"].startswith("Weather in XYZZY")


@pytest.mark.parametrize("before", [True, False])
def test_another_redact_is_refused(tmp_path, before):
    """A run is redacted from its first line on, or not at all."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    with ScriptedServer(scripted.in_turn(answer(call_of("City0")))) as server:
        arms = {"baseline": server, "mtp": server}
        ask(make_plan(suite, arms, redact=before), tmp_path / "run")
        with pytest.raises(UserError, match=rf"another run.redact \({before} there, {not before} here\)"):
            ask(make_plan(suite, arms, redact=not before), tmp_path / "run")


def test_what_cannot_be_redacted_is_refused_before_anything_is_written(tmp_path):
    """That benchmark's rules need the text, and a system prompt stands in run.json."""
    tool = {"name": "get_weather", "arguments": {"city": ["Oslo"]}}
    suite = write_lines(tmp_path / "suite.jsonl", 1, expected={"match": "bfcl", "calls": [tool]})
    servers = {"baseline": "http://127.0.0.1:1/v1", "mtp": "http://127.0.0.1:1/v1"}
    with pytest.raises(UserError, match=r'run.redact: sample s/0 has "match": "bfcl"'):
        ask(make_plan(suite, servers, redact=True), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(UserError, match=r"system_prompt stands in run\.json in clear"):
        make_plan(suite, servers, redact=True, system_prompt="{tools}")


def test_names_types_and_lengths_stay():
    """A redacted line can still be read by people: which function, which parameters, how long."""
    sample = sample_from_json(suite_line(0))
    hashes = Hashes.of([sample])
    kept = redact_sample(sample, hashes)
    function = kept.tools.declared[0]["function"]
    assert function["name"] == "get_weather"
    assert function["parameters"]["properties"]["city"]["type"] == "string"
    assert function["parameters"]["required"] == ["city"]
    assert function["description"] == hashes.text(f"{SECRET}-described")
    call = kept.messages[2]["tool_calls"][0]
    assert (call["id"], call["function"]["name"]) == ("call_7", "get_weather")
    assert kept.messages[0]["role"] == "system"
    assert kept.messages[0]["content"].endswith("(12 characters)")
    assert kept.expected.calls[0].arguments == {"city": [hashes.value(f"{SECRET}0")]}
    assert Hashes.of([sample_from_json(suite_line(1))]).value("x") != hashes.value("x")


def test_the_key_is_nowhere(tmp_path):
    """Not in the directory, and the suite's digest in run.json is another hash."""
    suite = write_suite(tmp_path / "suite.jsonl", 2)
    with ScriptedServer(scripted.in_turn(answer(call_of("City0")))) as server:
        plan = make_plan(suite, {"baseline": server, "mtp": server}, redact=True)
        ask(plan, tmp_path / "run")
    samples = [sample_from_json(json.loads(line)) for line in suite.read_text().splitlines()]
    assert files_with(tmp_path / "run", Hashes.of(samples).key.hex()) == []
    assert read_run(tmp_path / "run").digest != Hashes.of(samples).key.hex()


def test_a_failed_line_is_redacted_too(tmp_path):
    """What a server says of a request may quote it."""
    sample = sample_from_json(suite_line(0))
    failed = build.attempt(sample_id="s/0", error=build.ErrorType.UNSUPPORTED_REQUEST)
    redacted = Redaction(build.plan(redact=True), [sample]).redact(failed)
    assert redacted.error.message.endswith("(8 characters)")
    assert redacted.reading is None
    (tmp_path / "run").mkdir()
    with Journal(tmp_path / "run") as lines:
        lines.append(redacted)
    assert "reading" not in journal(tmp_path / "run", "baseline")[0]


VALUES = st.sampled_from([1, 1.0, "1", True, None, "a", "b", [1], {"a": 1}, {"a": 1.0}])
CALLS = st.lists(
    st.builds(
        lambda name, arguments: Call(name, arguments, Span(0, 0)),
        st.sampled_from(["f", "g"]),
        st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3),
    ),
    max_size=4,
)


@given(CALLS, CALLS, st.binary(min_size=1, max_size=4))
def test_hashed_calls_differ_as_the_calls_do(reference, calls, key):
    """The code of a difference depends on which values are equal, never on what they are."""
    hashes = Hashes(key)

    def hashed(made):
        return [Call(c.name, {n: hashes.value(v) for n, v in c.arguments.items()}, c.span) for c in made]

    clear, of_hashes = same_calls(reference, calls), same_calls(hashed(reference), hashed(calls))
    assert (clear and clear.code) == (of_hashes and of_hashes.code)
