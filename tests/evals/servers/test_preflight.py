"""Arms that differ in what confounds are not compared, unless the plan allows it by name."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.run_file import read_run_file
from draftproof.evals.servers.preflight import check_arms
from draftproof.evals.servers.rendered import fingerprint
from draftproof.evals.servers.server import ServerFacts, ServerKind, Speculating

from ...scripted import MODEL, ScriptedServer, broken_off, error, html, json_reply, text_reply
from ..scripted_runs import ask, make_plan, raw_plan, right, write_suite

OFF, ON = Speculating.OFF, Speculating.ON
VLLM, LLAMA = ServerKind.VLLM, ServerKind.LLAMA_CPP


def facts(speculating=Speculating.UNKNOWN, kind=VLLM, version="1", models=("m",), context=4096, prompt=None):
    return ServerFacts(kind, version, models, context, speculating, prompt=fingerprint(prompt))


def plan_of(models=("m", "m"), require="auto", **changes):
    arms = [
        {"name": name, "base_url": f"http://{name}/v1", "model": model}
        for name, model in zip(("baseline", "mtp"), models, strict=True)
    ]
    arms[1] |= changes
    raw = {"run": {"tasks": ["t"]}, "arms": arms, "gate": {"require_speculation": require}}
    return build_plan(raw, source="test")


@pytest.mark.parametrize(
    ("mine", "theirs", "names"),
    [
        (facts(OFF), facts(ON), []),
        (facts(), facts(), []),
        (ServerFacts(), ServerFacts(), []),
        (facts(ON), facts(ON), ["speculation"]),
        (facts(OFF), facts(OFF), ["speculation"]),
        (facts(ON), facts(OFF), ["speculation", "speculation"]),
        (facts(context=4096), facts(context=2048), ["context"]),
        (facts(context=4096), facts(context=None), []),
        (facts(prompt=[1, 2]), facts(prompt=[1, 2]), []),
        (facts(prompt=[1, 2]), facts(prompt=[2, 1]), ["prompt"]),
        (facts(prompt="a"), facts(prompt="b"), ["prompt"]),
        (facts(prompt="a"), facts(prompt=[1]), []),
        (facts(prompt="a"), facts(prompt=None), []),
        (facts(models=("other",)), facts(), ["model"]),
        (facts(models=()), facts(), []),
        (facts(models=("other",), kind=LLAMA), facts(kind=LLAMA), []),
    ],
)
def test_what_stands_against_a_comparison(mine, theirs, names):
    """Only what both servers tell is compared; silence is no difference."""
    found = check_arms(plan_of(), {"baseline": mine, "mtp": theirs})
    assert [one.name for one in found.obstacles] == names


def test_two_model_names_are_an_obstacle_before_any_server_is_met():
    """The plan alone shows it."""
    (one,) = check_arms(plan_of(models=("a", "b")), {}).obstacles
    assert (one.name, one.words) == ("model", "baseline asks the model a, mtp b")


def test_speculation_is_no_obstacle_where_the_gate_does_not_require_it():
    """`require_speculation = false` compares anything with anything."""
    known = {"baseline": facts(ON), "mtp": facts(OFF)}
    assert check_arms(plan_of(require=False), known).obstacles == ()


@pytest.mark.parametrize(
    ("mine", "theirs", "notes"),
    [
        (facts(), facts(), []),
        (facts(version="1"), facts(version="2"), ["arms baseline and mtp are two versions: 1, 2"]),
        (facts(), facts(kind=LLAMA), ["arms baseline and mtp are two engines: vllm, llama.cpp"]),
        (
            facts(kind=LLAMA, models=("x",)),
            facts(kind=LLAMA),
            ["arm baseline: its server does not list m (it lists x)"],
        ),
    ],
)
def test_what_is_only_told(mine, theirs, notes):
    """Another engine or version is worth a sentence and no refusal."""
    found = check_arms(plan_of(), {"baseline": mine, "mtp": theirs})
    assert (list(found.notes), found.obstacles) == (notes, ())


@pytest.mark.parametrize(
    ("changes", "is_told"),
    [
        ({"base_url": "http://baseline/v1"}, True),
        ({}, False),
        ({"base_url": "http://baseline/v1", "extra_body": {"speculate": True}}, False),
        ({"base_url": "http://baseline/v1", "headers": {"X-Route": "mtp"}}, False),
        ({"base_url": "http://baseline/v1", "serve": "server"}, False),
    ],
)
def test_an_arm_that_is_compared_with_itself_is_told(changes, is_told):
    """One URL, asked alike; two servers may still take turns there, so it stops nothing."""
    found = check_arms(plan_of(**changes), {"baseline": facts(), "mtp": facts()})
    assert found.obstacles == ()
    assert any("an arm is compared with itself" in note for note in found.notes) is is_told


def test_every_obstacle_that_is_not_allowed_is_named():
    """Exit code 4, and the flags that would allow it."""
    known = {"baseline": facts(ON, context=1, prompt="a"), "mtp": facts(ON, context=2, prompt="b")}
    found = check_arms(plan_of(), known)
    with pytest.raises(UserError) as caught:
        found.refuse(["prompt"])
    assert caught.value.exit_code == 4
    assert caught.value.what == (
        "these arms cannot be compared: the baseline baseline speculates; "
        "baseline has a context of 1 tokens, mtp of 2"
    )
    assert caught.value.tip.endswith("--allow speculation --allow context")
    found.refuse(["prompt", "context", "speculation"])


def vllm_pages(context=4096, tokens=(1, 2, 3), metrics="vllm:x 0\n"):
    models = {"data": [{"id": MODEL, "owned_by": "vllm", "max_model_len": context}]}
    return {
        "/v1/models": json_reply(models),
        "/tokenize": json_reply({"tokens": list(tokens)}),
        "/metrics": text_reply(metrics),
    }


SPECULATING = "vllm:spec_decode_num_draft_tokens_total 0\n"


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (vllm_pages(context=2048, metrics=SPECULATING), "context"),
        (vllm_pages(tokens=(3, 2, 1), metrics=SPECULATING), "prompt"),
        (vllm_pages(), "speculation"),
    ],
)
def test_a_run_stops_before_it_asks_anything(tmp_path, other, name):
    """Nothing is sent to any arm; allowed by name, the run goes on in the same directory."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    with (
        ScriptedServer(right, pages=vllm_pages()) as one,
        ScriptedServer(right, pages=other) as two,
    ):
        arms = {"baseline": one, "mtp": two}
        with pytest.raises(UserError, match=f"cannot be compared(.|\n)*--allow {name}$") as caught:
            ask(make_plan(suite, arms), tmp_path / "run")
        assert (caught.value.exit_code, one.requests, two.requests) == (4, [], [])
        assert one.pages_read.count("/tokenize") == 1
        ask(make_plan(suite, arms, allow=[name]), tmp_path / "run")
        assert (len(one.requests), len(two.requests)) == (1, 1)
    known = read_run_file(tmp_path / "run").facts
    assert known["baseline"].prompt == fingerprint([1, 2, 3])


@pytest.mark.parametrize("page", [error(404), html(200), json_reply({}), broken_off(text_reply("x" * 99))])
def test_a_page_that_is_not_there_stops_nothing(tmp_path, page):
    """Optional pages are extras: without them nothing is compared."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    with (
        ScriptedServer(right, pages=vllm_pages()) as one,
        ScriptedServer(right, pages={**vllm_pages(metrics=SPECULATING), "/tokenize": page}) as two,
    ):
        ask(make_plan(suite, {"baseline": one, "mtp": two}), tmp_path / "run")
        assert (len(one.requests), len(two.requests)) == (1, 1)


def test_an_arm_that_is_met_later_is_held_against_what_is_stored(tmp_path):
    """Two servers that do not fit one GPU: the first one's facts stand in run.json."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    with (
        ScriptedServer(right, pages=vllm_pages()) as one,
        ScriptedServer(right, pages=vllm_pages(context=2048, metrics=SPECULATING)) as two,
    ):
        plan = make_plan(suite, {"baseline": one, "mtp": two})
        ask(plan, tmp_path / "run", arms=["baseline"])
        with pytest.raises(UserError, match="a context of 4096 tokens, mtp of 2048"):
            ask(plan, tmp_path / "run", arms=["mtp"])
        assert two.requests == []


def test_a_server_that_was_mended_is_met_anew(tmp_path):
    """What a refused session stored does not stand against the next."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    mended = vllm_pages(metrics=SPECULATING)
    with (
        ScriptedServer(right, pages=vllm_pages()) as one,
        ScriptedServer(right, pages=vllm_pages(context=2048, metrics=SPECULATING)) as two,
    ):
        plan = make_plan(suite, {"baseline": one, "mtp": two})
        with pytest.raises(UserError, match="--allow context"):
            ask(plan, tmp_path / "run")
        two.pages.update(mended)
        ask(plan, tmp_path / "run")
        assert (len(one.requests), len(two.requests)) == (1, 1)


def test_a_redacted_run_keeps_no_fingerprint_of_a_prompt(tmp_path):
    """Whoever guesses a prompt could check the guess against a plain hash."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    with (
        ScriptedServer(right, pages=vllm_pages()) as one,
        ScriptedServer(right, pages=vllm_pages(metrics=SPECULATING)) as two,
    ):
        ask(make_plan(suite, {"baseline": one, "mtp": two}, redact=True), tmp_path / "run")
        assert "/tokenize" not in one.pages_read
    assert all(known.prompt is None for known in read_run_file(tmp_path / "run").facts.values())


def test_an_unknown_name_is_bad_input(tmp_path):
    """The names are listed."""
    raw = raw_plan(tmp_path / "s.jsonl", {"baseline": "http://h/v1", "mtp": "http://h/v1"}, allow=["all"])
    with pytest.raises(UserError, match=r"run\.allow\[0\]: .*'context', 'prompt', 'model' or 'speculation'"):
        build_plan(raw, source="test")
