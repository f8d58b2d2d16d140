"""Margins: the baseline's own choice at the token where a candidate left it, near a tie, wide, or unknown."""

import json

import pytest
from draftproof.evals.runs.divergence import DivergenceLabel, label_of
from draftproof.evals.runs.record import read_run

from ...scripted import ScriptedServer, answer, error, json_reply
from ..scripted_runs import ask, call_of, judged, make_plan, right, write_suite, wrong

NOT_LISTED = {
    "label": "unknown",
    "margin_nats": None,
    "reason": "the baseline's own token is not among the likeliest here",
}
NEAR, WIDE, UNKNOWN = DivergenceLabel.NEAR_TIE, DivergenceLabel.WIDE, DivergenceLabel.UNKNOWN


@pytest.mark.parametrize(
    ("margin", "is_lower_bound", "label"),
    [
        (0.0, False, NEAR),
        (-0.3, False, NEAR),
        (0.99, False, NEAR),
        (1.0, False, WIDE),
        (0.5, True, UNKNOWN),
        (4.0, True, WIDE),
    ],
)
def test_a_margin_has_a_name(margin, is_lower_bound, label):
    """From one nat it is wide; a lower bound below that tells nothing."""
    assert label_of(margin, is_lower_bound=is_lower_bound) is label


def letters(text):
    return [ord(letter) for letter in text]


def vllm_pages(logprobs):
    """A vLLM whose tokens are letters; `logprobs` are those of the next letter, by letter."""

    def reply(request, other):
        match request.path, request.body:
            case "/tokenize", {"messages": _}:
                return json_reply({"tokens": letters("PROMPT ")})
            case "/tokenize", {"prompt": text, "add_special_tokens": False}:
                return json_reply({"tokens": letters(text)})
            case "/v1/completions", {"prompt": ids, "logprobs": _}:
                assert (
                    bytes(ids).decode()
                    == 'PROMPT <tool_call>\n{"name": "get_weather", "arguments": {"city": "'
                )
                top = {f"token_id:{ord(letter)}": value for letter, value in logprobs.items()}
                return json_reply({"choices": [{"text": "C", "logprobs": {"top_logprobs": [top]}}]})
            case _:
                return other(request)

    return reply


def served(reply):
    card = {"id": "scripted", "object": "model", "owned_by": "vllm", "max_model_len": 4096}
    return ScriptedServer(reply, pages={"/v1/models": json_reply({"data": [card]})})


def expected(label, margin_nats, *, bound=False):
    found = {"label": label, "margin_nats": margin_nats, "token_index": 59}
    return {**found, "is_lower_bound": True} if bound else found


@pytest.mark.parametrize(
    ("logprobs", "evidence"),
    [
        ({"C": -0.1, "E": -0.4}, expected("near_tie", 0.3)),
        ({"C": -0.1, "E": -5.1}, expected("wide", 5.0)),
        ({"C": -0.01, "X": -6.0}, expected("wide", 5.99, bound=True)),
        ({"C": -0.7, "X": -0.9}, expected("unknown", 0.2, bound=True)),
        ({"X": -0.1, "E": -0.2}, NOT_LISTED),
        ({"C": 0.0, "E": 0.0}, NOT_LISTED),
        ({}, NOT_LISTED),
    ],
)
def test_a_finding_says_how_near_a_tie_it_was(tmp_path, logprobs, evidence):
    """City0 in the baseline, Elsewhere in the candidate: C against E, after what both share."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    reply = vllm_pages(logprobs)
    with served(lambda request: reply(request, right)) as baseline, served(wrong) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}), tmp_path / "run")
        assert "/v1/completions" not in {one.path for one in mtp.requests}  # only the baseline's word counts
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.evidence["parts_at"] == 59
    assert finding.evidence["divergence"] == evidence


def test_a_complete_run_asks_no_margin_again(tmp_path):
    """It is kept in the run, and a report needs no server."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    reply = vllm_pages({"C": -0.1, "E": -0.4})
    with served(lambda request: reply(request, right)) as baseline, served(wrong) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp})
        ask(plan, tmp_path / "run")
        before = len(baseline.requests)
        assert ask(plan, tmp_path / "run") == [f"{tmp_path / 'run'} is complete: nothing to ask"]
        assert len(baseline.requests) == before
    assert len((tmp_path / "run" / "divergences.jsonl").read_text().splitlines()) == 1


def test_a_server_that_does_not_tell_is_unknown_with_its_reason(tmp_path):
    """No page, an error, another kind of server: evidence is missing, and nothing else changes."""
    suite = write_suite(tmp_path / "s.jsonl", 1)

    def refusing(request):
        return right(request) if request.path == "/v1/chat/completions" else error(404, "no such page")

    with served(refusing) as vllm, ScriptedServer(right) as other, served(wrong) as mtp:
        for name, baseline, reason in (("a", vllm, "no such page"), ("b", other, "gives no margins")):
            ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}), tmp_path / name)
            (finding,) = judged(tmp_path / name)[0].comparisons[0].findings
            assert finding.evidence["divergence"]["label"] == "unknown"
            assert reason in finding.evidence["divergence"]["reason"]


@pytest.mark.parametrize("run", [{"margins": False}, {"temperature": 0.7}, {"redact": True}])
def test_nothing_is_asked_where_a_margin_means_nothing(tmp_path, run):
    """Switched off, sampled, or hashes instead of texts."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    with served(right) as baseline, served(wrong) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, **run), tmp_path / "run")
        assert "/v1/completions" not in {one.path for one in baseline.requests}
    assert read_run(tmp_path / "run").divergences == {}


def test_one_text_that_begins_the_other_has_no_token_to_compare(tmp_path):
    """Where the candidate went on or stopped, the end of the turn is the token, and its id is not known."""
    suite = write_suite(tmp_path / "s.jsonl", 1)

    def tokenizing(request):
        if request.path != "/tokenize":
            return right(request)
        return json_reply({"tokens": letters(request.body.get("prompt", "PROMPT "))})

    def longer(request):
        return answer(json.loads(right(request).body)["choices"][0]["message"]["content"] + call_of("City0"))

    with served(tokenizing) as baseline, served(longer) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}), tmp_path / "run")
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.evidence["divergence"]["reason"] == "one answer is the beginning of the other"
