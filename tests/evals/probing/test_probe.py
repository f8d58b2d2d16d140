"""A probe tells by effects what a server does, and every trap is seen for what it is."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.probing.check import Verdict
from draftproof.evals.probing.probe import probe_all
from draftproof.evals.probing.probe_sampling import must_change, parts_at_near_tie
from draftproof.evals.servers.response import TokenLogprob
from draftproof.evals.servers.server import Speculating

from ...scripted import MODEL, ScriptedServer, answer, error, json_reply, reset, text_reply
from .toy_model import Toy

OK, APPLIED, IGNORED = Verdict.OK, Verdict.APPLIED, Verdict.IGNORED
REFUSED, UNKNOWN, WRONG = Verdict.REFUSED, Verdict.UNKNOWN, Verdict.WRONG
SAMPLING = (
    "temperature",
    "seed",
    "top_k",
    "top_p",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "stop",
    "logit_bias",
)


def probed(script, pages=None, model=None):
    pages = {"/tokenize": error(404), "/apply-template": error(404), **(pages or {})}
    with ScriptedServer(script, max_model_len=512, pages=pages) as server:
        (probe,) = probe_all([server.base_url], model=model, api_key_env=None, tell=lambda _: None)
        return probe, server


def checks_of(script, pages=None):
    probe, _ = probed(script, pages)
    return {check.name: check for check in probe.checks}


def one(name):
    return frozenset((name,))


def test_a_server_without_fault_has_no_fault():
    """Every parameter is applied, every ending is true, and it costs well under 60 requests."""
    probe, server = probed(Toy())
    verdicts = {check.name: check.verdict for check in probe.checks}
    assert {name: verdicts[name] for name in SAMPLING} == dict.fromkeys(SAMPLING, APPLIED)
    told = ("model", "context", "temperature 0", "finish_reason", "finish_reason, streamed", "usage")
    asked = ("usage, streamed", "streaming", "logprobs", "tools", "forced call", "greedy answer")
    assert {name: verdicts[name] for name in told + asked} == dict.fromkeys(told + asked, OK)
    assert verdicts["tools in the prompt"] is APPLIED
    assert len(server.requests) == probe.requests < 40


@pytest.mark.parametrize("name", SAMPLING)
def test_a_parameter_that_is_accepted_and_ignored_is_ignored(name):
    """HTTP 200 proves nothing: the effect is missing."""
    assert checks_of(Toy(ignores=one(name)))[name].verdict is IGNORED


@pytest.mark.parametrize("name", [name for name in SAMPLING if name not in ("temperature", "seed", "top_p")])
def test_a_parameter_that_is_refused_says_so_in_the_servers_words(name):
    """HTTP 400 whole, or an error event in a stream that began with HTTP 200 and in nothing else."""
    checks = checks_of(Toy(refuses=one(name)))
    assert (checks[name].verdict, checks[name].detail) == (REFUSED, f"HTTP 400: {name} is not supported")
    checks = checks_of(Toy(refuses_streamed=one(name)))
    words = f"only in a stream: HTTP 400: {name} is not supported"
    assert (checks[name].verdict, checks[name].detail) == (REFUSED, words)
    others = [check.verdict for check in checks.values() if check.name in SAMPLING and check.name != name]
    assert set(others) == {APPLIED}


@pytest.mark.parametrize(
    ("toy", "name", "verdict", "detail"),
    [
        (Toy(length_is="stop"), "finish_reason", WRONG, "max_tokens 1: says 'stop', not 'length'"),
        (Toy(length_is="stop"), "finish_reason, streamed", WRONG, "max_tokens 4: says 'stop', not"),
        (Toy(length_is="tool_calls"), "finish_reason", WRONG, "says 'tool_calls'"),
        (Toy(extra_tokens=1), "finish_reason", WRONG, "max_tokens 1: 2 tokens"),
        (Toy(usage=False), "usage", WRONG, "absent"),
        (Toy(usage=False), "usage, streamed", WRONG, "absent"),
        (Toy(usage=False), "finish_reason", OK, "tokens not counted"),
        (Toy(usage=False), "tools in the prompt", UNKNOWN, "counts no prompt tokens"),
        (Toy(streams=False), "streaming", IGNORED, "comes whole"),
        (Toy(repeats_itself=False), "temperature 0", WRONG, "3 different answers to 3 identical"),
        (Toy(repeats_itself=False), "presence_penalty", UNKNOWN, "does not repeat itself"),
        (Toy(logprobs="absent"), "logprobs", IGNORED, "absent"),
        (Toy(logprobs="zero"), "logprobs", WRONG, "0.0 for every token"),
        (Toy(logprobs="absent", ignores=one("presence_penalty")), "presence_penalty", UNKNOWN, "perhaps"),
        (Toy(ids=False), "logit_bias", UNKNOWN, "no token ids"),
        (Toy(runs_on=True), "stop", WRONG, "text follows the stop string"),
        (Toy(ignores=one("tools")), "tools in the prompt", IGNORED, "same with tools as without"),
        (Toy(refuses=one("tools")), "tools", REFUSED, "tools is not supported"),
        (Toy(call="text"), "forced call", WRONG, "in the text, not in tool_calls"),
        (Toy(call="array"), "forced call", WRONG, "no JSON object"),
        (Toy(call="prose"), "forced call", IGNORED, "without the call"),
        (Toy(call="cut"), "forced call", UNKNOWN, "cut at 96 tokens before its call was whole"),
    ],
)
def test_each_trap_is_seen(toy, name, verdict, detail):
    """The verdict, and why."""
    check = checks_of(toy)[name]
    assert check.verdict is verdict, check
    assert detail in check.detail


def test_a_server_that_dies_of_a_parameter_is_asked_nothing_more():
    """An engine can die of one field: it is named, and the rest is unknown rather than refused."""
    probe, server = probed(Toy(dies_of="top_k"))
    checks = {check.name: check for check in probe.checks}
    assert checks["top_k"].verdict is WRONG
    assert "answers nothing more since this request: HTTP 500: EngineCore died" in checks["top_k"].detail
    assert checks["seed"].verdict is APPLIED
    for name in ("top_p", "stop", "logit_bias", "tools", "forced call"):
        assert (checks[name].verdict, checks[name].detail.partition(":")[0]) == (UNKNOWN, "not asked"), name
    died = next(n for n, request in enumerate(server.requests) if "top_k" in request.body)
    assert len(server.requests) == died + 2


def test_a_connection_that_is_lost_once_is_no_refusal():
    """Servers close idle connections just as they are used again: the question is asked once more."""
    toy, lost = Toy(), []

    def losing(request):
        if request.number % 5 == 2:
            lost.append(request)
            return reset()
        return toy(request)

    probe, _ = probed(losing)
    whole, _ = probed(Toy())
    assert len(lost) > 3
    seen, expected = ({check.name: check.verdict for check in one.checks} for one in (probe, whole))
    assert seen == expected


LISTING = {"owned_by": "llamacpp", "id": MODEL}


@pytest.mark.parametrize(
    ("pages", "verdict", "detail"),
    [
        (
            {
                "/v1/models": json_reply({"data": [LISTING]}),
                "/props": json_reply({"default_generation_settings": {"speculative.types": "none"}}),
                "/slots": json_reply([{"speculative": True}]),
            },
            OK,
            "on, by the server's pages",
        ),
        (
            {
                "/v1/models": json_reply({"data": [LISTING]}),
                "/slots": json_reply([{"speculative": False}]),
            },
            OK,
            "off",
        ),
        ({"/v1/models": json_reply({"data": [{"owned_by": "vllm", "id": MODEL}]})}, UNKNOWN, "does not show"),
        (
            {
                "/v1/models": json_reply({"data": [{"owned_by": "vllm", "id": MODEL}]}),
                "/metrics": text_reply("vllm:spec_decode_num_draft_tokens_total 7\n"),
            },
            OK,
            "on, by the server's pages; drafted nothing here",
        ),
    ],
    ids=["props-none-slots-on", "slots-off", "vllm-without-metrics", "vllm-counters"],
)
def test_speculation_is_on_off_or_unknown(pages, verdict, detail):
    """llama.cpp's /props is not believed; vLLM without metrics is unknown, not off."""
    check = checks_of(Toy(), pages)["speculating"]
    assert check.verdict is verdict
    assert detail in check.detail


def test_drafts_in_the_answers_prove_what_no_page_shows():
    """A count in the answers is proof, and contradicts a page that says off."""

    def drafting(_request):
        return answer(" one two three", "length", timings={"draft_n": 4, "draft_n_accepted": 2})

    pages = {
        "/v1/models": json_reply({"data": [LISTING]}),
        "/slots": json_reply([{"speculative": False}]),
    }
    probe, _ = probed(drafting, pages)
    check = next(check for check in probe.checks if check.name == "speculating")
    assert (check.verdict, probe.facts.speculating) == (WRONG, Speculating.OFF)
    assert "were drafted" in check.detail


def test_vllm_renders_the_prompt_by_its_tokens():
    """Its /tokenize page gives the ids; the same with tools as without shows a template that drops them."""
    pages = {
        "/v1/models": json_reply({"data": [{"owned_by": "vllm", "id": MODEL}]}),
        "/tokenize": json_reply({"tokens": [1, 2, 3]}),
    }
    checks = checks_of(Toy(), pages)
    assert checks["prompt with tools"].detail.startswith("3 tokens, #")
    assert checks["tools in the prompt"].verdict is IGNORED


@pytest.mark.parametrize(
    ("data", "model", "words", "code"),
    [
        ([], None, "lists no models; expected --model", 2),
        ([{"id": "a"}, {"id": "b"}], None, "lists several models; expected --model, one of a, b", 2),
        ([{"id": "a"}], None, None, 0),
    ],
)
def test_the_only_model_is_taken(data, model, words, code):
    """None or several to choose from is bad input."""
    pages = {"/v1/models": json_reply({"data": data})}
    if words is None:
        assert probed(Toy(), pages)[0].model == "a"
        return
    with pytest.raises(UserError, match=words) as caught:
        probed(Toy(), pages, model)
    assert caught.value.exit_code == code


def test_a_model_that_does_not_answer_ends_the_probe():
    """Exit code 4, with the server's words."""
    with pytest.raises(UserError, match="does not answer: HTTP 404: no such model") as caught:
        probed(lambda _: error(404, "no such model"), model="gone")
    assert caught.value.exit_code == 4


def test_nobody_there_ends_the_probe():
    """Exit code 4; both addresses are asked side by side and one error is said."""
    with pytest.raises(UserError, match="no answer from") as caught:
        probe_all(["http://127.0.0.1:9/v1"] * 2, model=None, api_key_env=None, tell=lambda _: None)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("url", ["ftp://h/v1", "h:8000", "http://user:secret@h/v1", "http://h/v1?x=1"])
def test_a_bad_url_is_bad_input(url):
    """One clear error, without a password in it."""
    with pytest.raises(UserError, match="expected a") as caught:
        probe_all([url], model=None, api_key_env=None, tell=lambda _: None)
    assert caught.value.exit_code == 2
    assert "secret" not in str(caught.value)


def logprobs(*rows):
    return [TokenLogprob(token, top, alternatives=((token, top), other)) for token, top, other in rows]


@pytest.mark.parametrize(
    ("rows", "name", "due"),
    [
        ([("a", -0.1, ("b", -1.0)), ("a", -0.1, ("b", -1.0))], "presence_penalty", True),
        ([("a", -0.1, ("b", -9.0)), ("a", -0.1, ("b", -9.0))], "presence_penalty", False),
        ([("a", -0.1, ("b", -5.0))] * 4, "presence_penalty", False),
        ([("a", -0.1, ("b", -5.0))] * 4, "frequency_penalty", True),
        ([("a", -0.1, ("b", -0.2)), ("c", -0.1, ("d", -0.2))], "presence_penalty", False),
        ([], "presence_penalty", False),
    ],
)
def test_whether_a_penalty_must_show_follows_from_the_logprobs(rows, name, due):
    """Only then is an unchanged answer proof that the penalty is ignored."""
    assert must_change(logprobs(*rows), name) is due


@pytest.mark.parametrize(
    ("text", "near"),
    [("ab", False), ("ax", True), ("az", False), ("x", False), ("", False)],
)
def test_a_near_tie_is_one_by_the_logprobs(text, near):
    """The other token was as good, and it is the one that was taken."""
    rows = logprobs(("a", -0.5, ("x", -3.0)), ("b", -0.7, ("x", -0.75)))
    assert parts_at_near_tie(rows, text) is near
