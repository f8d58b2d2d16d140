"""A probe of the real llama.cpp, without speculation and with n-gram: side by side."""

import importlib.util
from pathlib import Path

import pytest
from draftproof.evals.probing.check import Verdict
from draftproof.evals.probing.probe import probe_all
from draftproof.evals.servers.embedded import Speculation, start_embedded
from draftproof.reports.probe import render_probe

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed (the extra `demo`)"
    ),
]
TEMPLATE = (Path(__file__).parents[1] / "hermes.jinja").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def probes(model_path, tmp_path_factory):
    """One probe a server, one after another: two engines at once would share too few cores."""
    found = []
    for speculation in (Speculation.NONE, Speculation.NGRAM):
        log = tmp_path_factory.mktemp("probe") / "log"
        with start_embedded(
            "small", model_path, speculation, n_ctx=1024, chat_template=TEMPLATE, log=log
        ) as server:
            found += probe_all([server.base_url], model=None, api_key_env=None, tell=print)
    return found


def verdicts(probe):
    return {check.name: check.verdict for check in probe.checks}


def test_speculation_shows_in_drafts_alone(probes):
    """Off and on are told apart, and both tell the truth about endings and tokens."""
    details = [{check.name: check.detail for check in probe.checks}["speculating"] for probe in probes]
    assert details == ["off", "on: the answers were drafted"]
    for probe in probes:
        told = verdicts(probe)
        for name in ("finish_reason", "finish_reason, streamed", "usage", "usage, streamed", "streaming"):
            assert told[name] is Verdict.OK, probe
        assert probe.requests < 60


def test_llama_cpp_applies_what_it_knows(probes):
    """Every parameter has its effect, under its own name of the repetition penalty."""
    for probe in probes:
        told = verdicts(probe)
        for name in ("temperature", "seed", "top_k", "min_p", "stop", "logit_bias", "frequency_penalty"):
            assert told[name] is Verdict.APPLIED, (name, probe)
        detail = {check.name: check.detail for check in probe.checks}["repetition_penalty"]
        assert "this server calls it repeat_penalty" in detail


def test_the_template_takes_the_tools(probes):
    """The rendered text is one in both, and tools are in it."""
    assert [verdicts(probe)["tools in the prompt"] for probe in probes] == [Verdict.APPLIED] * 2
    assert probes[0].prompt == probes[1].prompt
    assert probes[0].configuration == probes[1].configuration
    assert "chat_template" in probes[0].configuration
    assert "≠ speculating" in render_probe(probes, None)
