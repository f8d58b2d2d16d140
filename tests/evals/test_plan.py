"""The plan: every bad key or value is one clear error with file, key and what was expected."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.arm import Arm
from draftproof.evals.plan import Mode, build_plan, plan_from_flags, read_plans

GOOD = """
[run]
tasks = ["builtin:starter"]
temperature = 0
max_tokens = 1024

[[arms]]
name = "baseline"
base_url = "http://127.0.0.1:8000/v1/"
model = "m"

[[arms]]
name = "mtp"
base_url = "https://host.example/v1"
model = "m"
speculation = "mtp n=2"
extra_body = { min_p = 0.0, chat_template_kwargs = { enable_thinking = false } }
"""


def plan_of(tmp_path, text, **overrides):
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    (plan,) = read_plans(path, overrides)
    return plan


def test_a_plan_has_the_defaults_of_the_contract(tmp_path):
    """What the file leaves out is as documented."""
    plan = plan_of(tmp_path, GOOD)
    assert plan.run.mode is Mode.PROMPTED
    assert plan.run.model_dump(exclude={"tasks", "mode"}) == {
        "dialect": "hermes",
        "max_tokens": 1024,
        "doublings": 1,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 1,
        "stream": False,
        "compare_raw": False,
        "margins": True,
        "concurrency": 8,
        "control_concurrency": None,
        "isolate": False,
        "in_turn": False,
        "server_starts": 1,
        "timeout": 600,
        "retries": 5,
        "retry_seconds": 60,
        "control": True,
        "confirm": 2,
        "limit": None,
        "categories": (),
        "sample_ids": (),
        "shots": 0,
        "system_prompt": None,
        "redact": False,
        "until_decided": False,
        "starts_in_reasoning": "auto",
        "allow": (),
    }
    assert plan.gate.model_dump() == {
        "preset": None,
        "margin": 0.03,
        "alpha": 0.05,
        "max_malformed": 0,
        "min_baseline": 0.3,
        "max_failed": 0.05,
        "cap": "report",
        "require_speculation": "auto",
    }
    assert plan.baseline.name == "baseline"
    assert [arm.name for arm in plan.candidates] == ["mtp"]
    assert plan.baseline.base_url == "http://127.0.0.1:8000/v1"


def test_a_plan_survives_its_own_json(tmp_path):
    """`run.json` gives back the same plan."""
    plan = plan_of(tmp_path, GOOD)
    assert build_plan(plan.model_dump(mode="json"), source="run.json") == plan


def test_flags_win_over_the_file(tmp_path):
    """`--max-tokens 64` with a file is the file's plan with 64."""
    assert plan_of(tmp_path, GOOD, max_tokens=64).run.max_tokens == 64


def test_an_arm_that_says_so_is_the_baseline(tmp_path):
    """`baseline = true` wins over a name."""
    text = GOOD.replace('speculation = "mtp n=2"', "baseline = true")
    assert plan_of(tmp_path, text).baseline.name == "mtp"


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (
            "max_tokens = 1024",
            "max_token = 1024",
            ["run.max_token: unknown key", "did you mean 'max_tokens'?"],
        ),
        ("max_tokens = 1024", "zzz = 1", ["run.zzz: unknown key", "expected one of tasks, mode, dialect"]),
        (
            "max_tokens = 1024",
            "max_tokens = 0",
            ["run.max_tokens: should be greater than or equal to 1 (got 0)"],
        ),
        ("max_tokens = 1024", "max_tokens = true", ["run.max_tokens: should be a valid integer (got True)"]),
        (
            "max_tokens = 1024",
            'max_tokens = "1024"',
            ["run.max_tokens: should be a valid integer (got '1024')"],
        ),
        ("temperature = 0", "temperature = nan", ["run.temperature"]),
        ("temperature = 0", "temperature = 3", ["run.temperature", "less than or equal to 2"]),
        ("temperature = 0", 'dialect = "xml"', ["run.dialect: expected one of hermes"]),
        ("temperature = 0", 'mode = "magic"', ["run.mode", "'prompted'", "'native'"]),
        ("temperature = 0", 'stream = "all"', ["run.stream"]),
        ("temperature = 0", "retries = -1", ["run.retries"]),
        ("temperature = 0", 'categories = "simple"', ["run.categories"]),
        ("temperature = 0", "sample_ids = [1]", ["run.sample_ids"]),
        ("temperature = 0", "shots = -1", ["run.shots"]),
        (
            "temperature = 0",
            'system_prompt = "Use tools."',
            ["run.system_prompt: has no {tools}; expected a text with {tools} or {tools_json}"],
        ),
        (
            "temperature = 0",
            'system_prompt = "{tools}"\nmode = "native"',
            ['run: system_prompt goes with mode = "prompted"; mode is "native"'],
        ),
        ('tasks = ["builtin:starter"]', "tasks = []", ["run.tasks", "at least 1 item"]),
        ('tasks = ["builtin:starter"]', "", ["run.tasks: is missing and has no default"]),
        ('tasks = ["builtin:starter"]', 'tasks = "builtin:starter"', ["run.tasks"]),
        ('name = "mtp"', 'name = "BASELINE"', ["arms: 'baseline' is named twice"]),
        ('name = "mtp"', 'name = "../mtp"', ["arms[1].name: expected 1 to 64 letters"]),
        ('name = "mtp"', 'name = ".."', ["arms[1].name: expected 1 to 64 letters"]),
        ('name = "baseline"', 'name = "other"', ["arms: expected one with baseline = true", "found none"]),
        (
            "https://host.example/v1",
            "host.example/v1",
            ["arms[1].base_url: expected an http:// or https:// URL"],
        ),
        (
            "https://host.example/v1",
            "https://k:s3cret@h/v1",
            ["arms[1].base_url: expected a URL without user"],
        ),
        (
            "https://host.example/v1",
            "https://h/v1?key=s3cret",
            ["arms[1].base_url: expected a URL without ?"],
        ),
        ("min_p = 0.0", "min_p = inf", ["arms[1].extra_body: expected finite numbers"]),
        ("min_p = 0.0", "temperature = 1.0", ["arms[1].extra_body: temperature is set by [run]"]),
        ('speculation = "mtp n=2"', "speculate = 1", ["arms[1].speculate: unknown key", "'speculation'"]),
        ('speculation = "mtp n=2"', "[gate]\nmargin = 2", ["gate.margin"]),
        ('speculation = "mtp n=2"', "[gates]\nmargin = 2", ["gates: unknown key; did you mean 'gate'?"]),
        ("[run]", "[run", ["not valid TOML"]),
    ],
)
def test_a_bad_key_or_value_is_one_clear_error(tmp_path, old, new, messages):
    """The message names the file, the key and what was expected; the exit code is 2."""
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if new.startswith("[gate"):
        text = text.replace("extra_body", "# extra_body")
    with pytest.raises(UserError) as caught:
        plan_of(tmp_path, text)
    for message in ("plan.toml", *messages):
        assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_several_problems_are_told_at_once(tmp_path):
    """Nobody mends a plan one error at a time."""
    text = GOOD.replace("max_tokens = 1024", "max_tokens = 0").replace('name = "mtp"', 'name = "m t p"')
    with pytest.raises(UserError) as caught:
        plan_of(tmp_path, text)
    assert len(str(caught.value).splitlines()) == 2


def test_a_missing_or_unreadable_file_is_a_clear_error(tmp_path):
    """The file is named."""
    with pytest.raises(UserError, match=r"nowhere\.toml: cannot be read: No such file"):
        read_plans(tmp_path / "nowhere.toml", {})
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"bytes\.toml: not valid TOML"):
        read_plans(tmp_path / "bytes.toml", {})


def test_flags_alone_make_a_plan():
    """`--baseline URL --candidate NAME=URL` is a whole plan."""
    plan = plan_from_flags(
        baseline="http://127.0.0.1:1/v1",
        candidates=["ngram=http://127.0.0.1:2/v1", "mtp=http://127.0.0.1:3/v1?"],
        model="m",
        api_key_env="KEY",
        run={"tasks": ["x.jsonl"]},
    )
    assert [(arm.name, arm.api_key_env) for arm in plan.arms] == [
        ("baseline", "KEY"),
        ("ngram", "KEY"),
        ("mtp", "KEY"),
    ]
    with pytest.raises(UserError, match="expected NAME=URL"):
        plan_from_flags(
            baseline="http://h/v1", candidates=["http://h/v1"], model="m", api_key_env=None, run={}
        )


def test_a_plan_needs_two_arms():
    """A baseline alone compares with nothing."""
    with pytest.raises(UserError, match="arms: expected a baseline and one candidate or more, found 1"):
        plan_from_flags(
            baseline="http://h/v1", candidates=[], model="m", api_key_env=None, run={"tasks": ["x"]}
        )


@pytest.mark.parametrize(
    ("section", "margin"),
    [
        ("", 0.03),
        ('preset = "smoke"', 0.05),
        ('preset = "gate"', 0.03),
        ('preset = "release"', 0.02),
        ('preset = "release"\nmargin = 0.1', 0.1),
    ],
)
def test_a_preset_is_a_margin_and_one_that_is_given_wins(tmp_path, section, margin):
    """And both survive `run.json`."""
    plan = plan_of(tmp_path, f"{GOOD}\n[gate]\n{section}\n")
    assert plan.gate.margin == margin
    assert build_plan(plan.model_dump(mode="json"), source="run.json") == plan


def test_an_unknown_preset_is_an_error(tmp_path):
    """With what was expected."""
    with pytest.raises(UserError, match=r"gate\.preset: should be 'smoke', 'gate' or 'release'"):
        plan_of(tmp_path, f'{GOOD}\n[gate]\npreset = "soft"\n')


def test_another_arm_can_be_the_baseline(tmp_path):
    """The former one is a candidate like the others; an unknown one is an error."""
    plan = plan_of(tmp_path, GOOD).with_baseline("mtp")
    assert plan.baseline.name == "mtp"
    assert [arm.name for arm in plan.candidates] == ["baseline"]
    with pytest.raises(UserError, match="no arm is named 'ngram'"):
        plan.with_baseline("ngram")


def test_early_looks_and_servers_that_are_started_in_turn_do_not_go_together(tmp_path):
    """Every batch would start every server again."""
    text = GOOD.replace('speculation = "mtp n=2"', 'serve = "vllm serve m --port 8001"')
    assert plan_of(tmp_path, text).is_managed
    with pytest.raises(UserError, match=r"until_decided: compares the arms batch by batch"):
        plan_of(tmp_path, text, until_decided=True)


@pytest.mark.parametrize(
    "serve", ["vllm serve m --api-key sk-x", "s --api-key=sk-x", "s --hf-token x", "s --password 'a b'"]
)
def test_a_secret_in_the_command_of_a_server_is_refused(serve):
    """The command stands in run.json; the message names the option and not the secret."""
    with pytest.raises(ValueError, match="gives a secret") as caught:
        Arm(name="a", base_url="http://127.0.0.1:1/v1", model="m", serve=serve)
    assert "environment" in str(caught.value)
    assert Arm(name="a", base_url="http://a.test", model="m", serve="s --max-tokens 5 --tokenizer t").serve
