"""The report of a probe: a column each, what differs is marked, and what to do is said."""

import json

from draftproof.evals.probing.check import Check, Verdict
from draftproof.evals.probing.checkpoint import Checkpoint
from draftproof.evals.probing.probe import Probe
from draftproof.evals.servers.server import RenderedPrompt, ServerFacts, ServerKind
from draftproof.reports.probe import probe_json, render_probe

APPLIED = Check("logit_bias", Verdict.APPLIED, "a forced token fills the answer")
REFUSED = Check("logit_bias", Verdict.REFUSED, "HTTP 400: not supported\x1b[31m")
PROMPT = Check("prompt with tools", Verdict.OK, "3 tokens, #abc")


def probe(*checks, configuration=None, prompt=None, kind=ServerKind.VLLM):
    facts = ServerFacts(kind, "1.0", ("m",), 4096)
    return Probe("http://h/v1", "m", facts, checks, configuration or {}, prompt, 28)


def test_one_endpoint_is_one_column_with_advice():
    """Nothing is marked, the servers' words are harmless, and all its settings are told."""
    assert render_probe([probe(REFUSED, configuration={"block_size": "16"})], None) == (
        "A  http://h/v1  (m; 28 requests)\n"
        "\n"
        "  logit_bias   refused: HTTP 400: not supported\\x1b[31m\n"
        "\n"
        "configuration\n"
        "  block_size: 16\n"
        "\n"
        "what it means\n"
        "• logit_bias: clients that send it get an error\n"
    )


def test_two_endpoints_stand_side_by_side_and_differences_are_marked():
    """Rows, settings and a check that only one side has."""
    only = Check("seed", Verdict.APPLIED, "same seed, same text")
    one = probe(APPLIED, only, configuration={"block_size": "16", "dtype": "bf16"})
    other = probe(REFUSED, configuration={"block_size": "32", "dtype": "bf16"})
    lines = render_probe([one, other], None, width=100).splitlines()
    marked = [line for line in lines if line.startswith("≠")]
    assert [line.split()[1] for line in marked] == ["logit_bias", "seed", "block_size:"]
    assert "configuration (1 settings are the same)" in lines
    assert "≠ block_size: A 16, B 32" in lines
    assert lines[-1] == (
        "• logit_bias: clients that send it get an error; leave it out of a comparison of these two"
    )


def test_equal_endpoints_have_no_mark():
    """And their equal settings are counted."""
    same = probe(APPLIED, configuration={"dtype": "bf16"})
    text = render_probe([same, same], None)
    assert "≠" not in text
    assert "configuration: 1 settings told, none differs" in text


def test_prompts_of_two_units_are_not_said_to_differ():
    """Token ids of one server and text of another cannot be compared."""
    text = Check("prompt with tools", Verdict.OK, "9 characters, #def")
    other = Check("prompt with tools", Verdict.OK, "4 tokens, #def")
    tokens = RenderedPrompt("tokens", 3, "abc")
    apart = [probe(PROMPT, prompt=tokens), probe(text, prompt=RenderedPrompt("characters", 9, "def"))]
    differing = [probe(PROMPT, prompt=tokens), probe(other, prompt=RenderedPrompt("tokens", 4, "def"))]
    assert "≠" not in render_probe(apart, None)
    assert "≠ prompt with tools" in render_probe(differing, None)
    assert "use one chat template" in render_probe(differing, None)


def test_json_holds_every_check_and_what_differs(tmp_path):
    """The same facts for machines."""
    raw = json.loads(probe_json([probe(APPLIED), probe(REFUSED)], Checkpoint(tmp_path, 2, 1, 0)))
    assert raw["format"] == 1
    assert raw["differing"] == ["logit_bias"]
    assert [one["name"] for one in raw["endpoints"]] == ["A", "B"]
    assert raw["endpoints"][0]["checks"] == [
        {"name": "logit_bias", "verdict": "applied", "detail": "a forced token fills the answer"}
    ]
    assert raw["checkpoint"]["verdict"] == "wrong"
    assert raw["checkpoint"]["declared_mtp_layers"] == 1


def test_a_checkpoint_alone_is_reported(tmp_path):
    """Without any endpoint."""
    text = render_probe([], Checkpoint(tmp_path, 2, 1, 0))
    assert text == (
        f"checkpoint  {tmp_path}\n"
        "  MTP layers   wrong: 1 declared, no tensors shipped: a server fails late or drafts nothing\n"
        "\n"
        "what it means\n"
        "• MTP layers: fetch a checkpoint with these layers, or turn MTP off\n"
    )
