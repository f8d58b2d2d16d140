"""What servers say of themselves is read from their own pages, and silence is not off."""

import asyncio

import pytest
from draftproof.evals.plan import Arm, RunSection
from draftproof.evals.servers.endpoint import Endpoint
from draftproof.evals.servers.facts import read_facts
from draftproof.evals.servers.server import ServerFacts, ServerKind, Speculating

from ...scripted import ScriptedServer, answer, broken_off, error, html, json_reply, text_reply

ON, OFF, UNKNOWN = Speculating.ON, Speculating.OFF, Speculating.UNKNOWN


def facts_of(pages, path="/v1", model="m"):
    async def main(url):
        endpoint = Endpoint(
            Arm(name="mtp", base_url=url, model=model), RunSection(tasks=("t",), timeout=5.0, retries=0)
        )
        try:
            return await read_facts(endpoint)
        finally:
            await endpoint.close()

    with ScriptedServer(lambda _request: answer(), pages=pages) as server:
        return asyncio.run(main(server.root_url + path))


def listing(*rows):
    return json_reply({"object": "list", "data": list(rows)})


def owned(owner, name="m", **members):
    return {"id": name, "owned_by": owner, **members}


VLLM_OFF = "# HELP\nvllm:num_requests_running 0\n"
VLLM_ON = VLLM_OFF + "vllm:spec_decode_num_draft_tokens_total 0\n"


@pytest.mark.parametrize(
    ("metrics", "speculating"),
    [
        (text_reply(VLLM_ON), ON),
        (text_reply(VLLM_OFF), OFF),
        (text_reply("go_goroutines 7\n"), UNKNOWN),
        (html(200), UNKNOWN),
        (error(404), UNKNOWN),
        (broken_off(text_reply(VLLM_OFF)), UNKNOWN),
    ],
)
def test_vllm_shows_speculation_by_its_counters(metrics, speculating):
    """Counters there, even at 0, are on; a vLLM page without them is off; no such page is unknown."""
    pages = {
        "/v1/models": listing(owned("vllm", "other", max_model_len=9), owned("vllm", max_model_len=4096)),
        "/metrics": metrics,
        "/version": json_reply({"version": "0.33.0"}),
    }
    assert facts_of(pages) == ServerFacts(ServerKind.VLLM, "0.33.0", ("other", "m"), 4096, speculating)


@pytest.mark.parametrize(
    ("slots", "speculating"),
    [
        (json_reply([{"speculative": True}, {"speculative": False}]), ON),
        (json_reply([{"speculative": False}]), OFF),
        (json_reply([{"id": 0}]), UNKNOWN),
        (json_reply([{"speculative": "none"}]), UNKNOWN),
        (json_reply([]), UNKNOWN),
        (json_reply({"error": {"message": "disabled"}}), UNKNOWN),
        (error(501), UNKNOWN),
        (html(200), UNKNOWN),
    ],
)
def test_llama_cpp_shows_speculation_in_its_slots(slots, speculating):
    """`/props` says "none" even where it is on; `/slots` decides, and can be switched off."""
    pages = {
        "/v1/models": listing(owned("llamacpp")),
        "/props": json_reply(
            {
                "default_generation_settings": {"n_ctx": 2048, "speculative.types": "none"},
                "build_info": "b11434",
            }
        ),
        "/slots": slots,
    }
    assert facts_of(pages) == ServerFacts(ServerKind.LLAMA_CPP, "b11434", ("m",), 2048, speculating)


@pytest.mark.parametrize(
    ("info", "context", "speculating"),
    [
        ({"version": "0.5.23", "context_length": 8192, "speculative_algorithm": "EAGLE3"}, 8192, ON),
        ({"version": "0.5.23", "context_length": None, "speculative_algorithm": None}, 4096, OFF),
        ({"version": "0.5.23"}, 4096, UNKNOWN),
    ],
)
def test_sglang_names_its_algorithm(info, context, speculating):
    """An algorithm is on, null is off, no such member is unknown."""
    pages = {
        "/v1/models": listing(owned("sglang", max_model_len=4096)),
        "/server_info": json_reply(info),
    }
    assert facts_of(pages) == ServerFacts(ServerKind.SGLANG, "0.5.23", ("m",), context, speculating)


@pytest.mark.parametrize(
    "page",
    [
        error(404),
        html(200),
        json_reply([]),
        json_reply({"data": None}),
        json_reply({"data": [None, 7]}),
        json_reply(None),
        text_reply("[" * 100_000),
    ],
)
def test_a_server_that_tells_nothing_is_unknown(page):
    """No model list, or one of any shape, is no error: the facts are unknown."""
    assert facts_of({"/v1/models": page}) == ServerFacts()


@pytest.mark.parametrize(
    ("length", "context"), [(4096, 4096), (None, None), (0, None), (-1, None), (True, None), ("4096", None)]
)
def test_a_context_is_a_positive_number_or_unknown(length, context):
    """Any server may tell `max_model_len`; nonsense is not told."""
    facts = facts_of({"/v1/models": listing(owned(["who"], max_model_len=length))})
    assert (facts.kind, facts.context, facts.models) == (ServerKind.UNKNOWN, context, ("m",))


def test_server_pages_lie_beside_the_openai_routes():
    """A gateway's prefix stays: `/gateway/v1` has its pages under `/gateway`."""
    pages = {
        "/gateway/v1/models": listing(owned("vllm")),
        "/gateway/metrics": text_reply(VLLM_ON),
        "/gateway/version": error(404),
    }
    facts = facts_of(pages, "/gateway/v1")
    assert (facts.speculating, facts.version) == (ON, None)
