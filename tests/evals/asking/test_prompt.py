"""From a sample to the request: everything is explicit, and prompted mode sends tools as text alone."""

import json
import random
from itertools import product
from unittest import mock

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking import prompt
from draftproof.evals.asking.prompt import Prompts, prompted_messages, read_system_prompt
from draftproof.evals.attempt import Ask, Stage, derived_seed
from draftproof.evals.plan import Arm, Mode, RunSection
from draftproof.parsers.dialects import DIALECTS
from draftproof.tasks.raw_sample import sample_from_json
from draftproof.tasks.suite import load_suites

from ..scripted_runs import TOOL, sample_line

HERMES = DIALECTS["hermes"]
USER = {"role": "user", "content": "hi"}


def called(arguments, call_id="c1"):
    function = {"name": "get_weather", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def body_of(ask, *, extra_body=None, messages=None, **run):
    line = sample_line(1, **({} if messages is None else {"messages": messages}))
    arm = Arm(name="a", base_url="http://h/v1", model="m", extra_body=extra_body or {})
    samples = {ask.id: sample_from_json(line)}
    return Prompts(samples, RunSection(tasks=("t",), **run), DIALECTS["hermes"]).body(ask, arm)


FIRST = Ask("s/1", "a", Mode.PROMPTED, False, Stage.FIRST, 64)


def test_every_sampling_parameter_is_sent():
    """What is not sent is taken from the checkpoint's generation_config, and not known."""
    body = body_of(FIRST, temperature=0.5, top_p=0.9, extra_body={"top_k": 1})
    assert {key: body[key] for key in ("model", "max_tokens", "temperature", "top_p", "stream", "top_k")} == {
        "model": "m",
        "max_tokens": 64,
        "temperature": 0.5,
        "top_p": 0.9,
        "stream": False,
        "top_k": 1,
    }
    assert body["seed"] == derived_seed(1, "s/1", Stage.FIRST, 1)


def test_prompted_mode_sends_no_tools_field_and_native_sends_them_as_they_are():
    """Prompted: tools are text of the system turn. Native: the server's own parser is asked."""
    prompted = body_of(FIRST)
    assert not {"tools", "tool_choice"} & prompted.keys()
    assert "get_weather" in prompted["messages"][0]["content"]
    for mode in (Mode.NATIVE, Mode.RAW):
        native = body_of(FIRST._replace(mode=mode))
        assert (native["tools"], native["tool_choice"]) == ([TOOL], "auto")
        assert native["messages"] == [{"role": "user", "content": "Weather in City1?"}]


def test_a_stream_asks_for_its_usage():
    """Servers count tokens in a stream only when asked to."""
    assert body_of(FIRST)["stream"] is False
    assert "stream_options" not in body_of(FIRST)
    streamed = body_of(FIRST._replace(stream=True))
    assert (streamed["stream"], streamed["stream_options"]) == (True, {"include_usage": True})


def test_arms_share_a_seed_and_repeats_do_not():
    """The same question has the same seed in every arm; control, larger budget and repeats have another."""
    one = derived_seed(1, "s/1", Stage.FIRST, 1)
    assert body_of(Ask("s/1", "other", Mode.PROMPTED, False, Stage.FIRST, 128))["seed"] == one
    others = [
        derived_seed(1, "s/1", Stage.CONTROL, 1),
        derived_seed(1, "s/1", Stage.CONFIRM, 1),
        derived_seed(1, "s/1", Stage.CONFIRM, 2),
        derived_seed(1, "s/2", Stage.FIRST, 1),
        derived_seed(2, "s/1", Stage.FIRST, 1),
        derived_seed(1, "s/\udc00", Stage.FIRST, 1),
    ]
    assert len({one, *others}) == 7
    assert all(0 <= seed < 2**31 for seed in [one, *others])


def test_turns_of_a_tool_become_text_that_alternates():
    """Earlier calls are written in the dialect; neighbouring results share one user turn."""
    turns = prompted_messages(
        [
            {"role": "system", "content": "Be brief."},
            USER,
            called('{"city": "Oslo"}'),
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "wind"}]},
            {"role": "assistant", "content": "Rain."},
        ],
        [TOOL],
        HERMES,
    )
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user", "assistant"]
    assert turns[0]["content"].startswith("Be brief.\n\n")
    assert "get_weather" in turns[0]["content"]
    assert HERMES.parse(turns[2]["content"]).calls[0].arguments == {"city": "Oslo"}
    assert "rain" in turns[3]["content"]
    assert "wind" in turns[3]["content"]
    assert all(turn.keys() == {"role", "content"} for turn in turns)


def test_without_a_system_turn_one_is_added():
    """Tools need a place; a sample without tools is left as it is."""
    assert [turn["role"] for turn in prompted_messages([USER], [TOOL], HERMES)] == ["system", "user"]
    assert prompted_messages([USER], [], HERMES) == [USER]


@pytest.mark.parametrize("arguments", [None, "", "{}", {}])
def test_a_call_without_arguments_has_an_empty_object(arguments):
    """Frameworks spell it in several ways."""
    (turn,) = prompted_messages([called(arguments)], [], HERMES)
    assert HERMES.parse(turn["content"]).calls[0].arguments == {}


@pytest.mark.parametrize("arguments", ["{bad", "[1]", "7", [1], "[" * 100_000])
def test_an_earlier_call_that_cannot_be_written_names_its_sample(arguments):
    """It is no object: sending another conversation than the sample's would be quietly wrong."""
    with pytest.raises(UserError, match=r"^sample s/1: messages: the arguments of an earlier call"):
        body_of(FIRST, messages=[USER, called(arguments), USER])


@pytest.mark.parametrize(
    "calls", [None, [], {}, "x", [None], [{}], [{"function": None}], [{"id": ["x"], "function": {"name": 7}}]]
)
def test_odd_tool_calls_of_a_sample_are_no_crash(calls):
    """What is no call is not written."""
    turn = {"role": "assistant", "content": "hm", "tool_calls": calls}
    assert prompted_messages([turn], [], HERMES)[0]["content"].startswith("hm")


def test_the_body_is_plain_json():
    """The client and the journal take dicts and lists alone."""
    assert json.loads(json.dumps(body_of(FIRST._replace(mode=Mode.NATIVE))))["tools"] == [TOOL]


def test_a_system_prompt_of_the_users_own_takes_the_tools_in_its_place():
    """After the sample's own system text; other braces stay, and what a tool says is not read again."""
    tool = {**TOOL, "function": {**TOOL["function"], "description": "Not {tools_json}."}}
    (turn, _) = prompted_messages(
        [{"role": "system", "content": "Be brief."}, USER], [tool], HERMES, "{x} {tools} <j>{tools_json}</j>"
    )
    described, as_json = HERMES.describe_tools([tool]), json.dumps(tool)
    assert turn["content"] == f"Be brief.\n\n{{x}} {described} <j>{as_json}</j>"


def test_a_sample_without_tools_gets_no_system_prompt():
    """There is nothing to put to the model."""
    assert prompted_messages([USER], [], HERMES, "{tools}") == [USER]


def test_the_plan_s_system_prompt_is_sent():
    """It stands in `run.json`, and in every request of the journal."""
    assert body_of(FIRST, system_prompt="Tools: {tools_json}")["messages"][0] == {
        "role": "system",
        "content": f"Tools: {json.dumps(TOOL)}",
    }


def test_a_system_prompt_that_cannot_be_read_is_one_error(tmp_path):
    """Missing, or no text."""
    path = tmp_path / "prompt.txt"
    with pytest.raises(UserError, match=r"prompt.txt: cannot be read: No such file"):
        read_system_prompt(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"prompt.txt: cannot be read: not UTF-8"):
        read_system_prompt(path)
    path.write_text("{tools}")
    assert read_system_prompt(path) == "{tools}"


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """All that changes a body: tool choices, turns of tools, captured fields, worked examples, no tools."""
    folder = tmp_path_factory.mktemp("suites")
    chosen = {"type": "function", "function": {"name": "get_weather"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
    system = {"role": "system", "content": "Be brief."}
    lines = [
        sample_line(1),
        sample_line(2, tool_choice=chosen, messages=[system, USER]),
        sample_line(3, messages=[USER, called('{"city": "Oslo"}'), result, result, USER]),
        {"id": "bare", "messages": [{**USER, "name": "me"}], "extra_body": {"parallel_tool_calls": False}},
    ]
    own, captured = folder / "own.jsonl", folder / "captured.jsonl"
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    fields = {"tools": [TOOL], "tool_choice": "required", "parallel_tool_calls": False, "x": {"y": [None]}}
    captured.write_text(json.dumps({"model": "other", "messages": [system, USER], **fields}))
    starter = load_suites(["builtin:starter"], limit=2, shots=1).samples
    return (*load_suites([str(own), str(captured)]).samples, *starter)


def body_by_itself(sample, ask, arm, settings, dialect):
    """What is sent, said once more and from nothing that was held."""
    is_prompted = ask.mode is Mode.PROMPTED
    tools = [] if is_prompted else list(sample.tools.declared)
    messages = sample.messages
    if is_prompted:
        messages = prompted_messages(messages, sample.tools.declared, dialect, settings.system_prompt)
    own = {name: value for name, value in sample.extra_body.items() if tools or name != "parallel_tool_calls"}
    return {
        "model": arm.model,
        "messages": list(messages),
        "max_tokens": ask.max_tokens,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": derived_seed(settings.seed, sample.id, ask.stage, ask.attempt),
        "stream": ask.stream,
        **({"stream_options": {"include_usage": True}} if ask.stream else {}),
        **({"tools": tools, "tool_choice": sample.tool_choice} if tools else {}),
        **own,
        **arm.extra_body,
    }


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("system_prompt", [None, "Use {tools_json}, {name}."])
@pytest.mark.parametrize("held", [1, 1024])
def test_a_body_is_the_same_whatever_was_rendered_before_it(samples, dialect, system_prompt, held):
    """Byte for byte, in every mode, arm, stage and order; and what is held of a prompt stays as it was."""
    settings = RunSection(tasks=("t",), system_prompt=system_prompt, temperature=0.5)
    extra = (
        {},
        {"top_k": 1, "x": "the arm's own"},
        {"parallel_tool_calls": True, "chat_template_kwargs": {"a": 1}},
    )
    arms = [
        Arm(name=f"a{n}", base_url="http://h/v1", model=f"m{n}", extra_body=e) for n, e in enumerate(extra)
    ]
    asks = [
        (sample, arm, Ask(sample.id, arm.name, mode, stream, stage, 64, number))
        for sample, arm, mode in product(samples, arms, Mode)
        for stream, stage, number in [
            (False, Stage.FIRST, 1),
            (True, Stage.CONTROL, 1),
            (False, Stage.CONFIRM, 2),
        ]
    ]
    random.Random(held).shuffle(asks)
    with mock.patch.object(prompt, "HELD_PROMPTS", held):
        prompts = Prompts({one.id: one for one in samples}, settings, DIALECTS[dialect])
    sent = [json.dumps(prompts.body(ask, arm)) for _, arm, ask in asks]
    assert sent == [
        json.dumps(body_by_itself(sample, ask, arm, settings, DIALECTS[dialect])) for sample, arm, ask in asks
    ]


def test_a_prompt_is_rendered_once_for_its_arms_and_stages(samples):
    """Rendering is most of what a body costs."""
    prompts = Prompts({one.id: one for one in samples}, RunSection(tasks=("t",)), HERMES)
    with mock.patch.object(prompt, "prompted_messages", side_effect=prompted_messages) as rendered:
        for sample, arm, stage in product(samples, "ab", Stage):
            ask = Ask(sample.id, arm, Mode.PROMPTED, False, stage, 64)
            prompts.body(ask, Arm(name=arm, base_url="http://h/v1", model="m"))
    assert rendered.call_count == len(samples)
