"""The plan: what is asked of whom. TOML or flags in, one validated, frozen object out."""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, cast

from pydantic import (
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ..errors import UserError
from ..parsers.dialects import DIALECTS
from .arm import Arm, Section
from .conditions import conditions_of

# Where a system prompt of the user's own takes the tools: in the dialect's own words, or as JSON alone.
TOOL_PLACES = ("{tools}", "{tools_json}")

# What `[gate] preset` stands for: a margin, and the samples that it takes to pass one.
PRESET_MARGINS = {"smoke": 0.05, "gate": 0.03, "release": 0.02}
PRESET_SAMPLES = {"smoke": 200, "gate": 500, "release": 1000}


class Mode(StrEnum):
    """How tools reach the model."""

    PROMPTED = "prompted"  # written into the system prompt in the dialect's own form
    NATIVE = "native"  # the request's `tools` field; the server's own parser answers
    RAW = "raw"  # the server renders its own template; the completion is read without the server's parser


# What arms may differ in where the plan allows it by name (`preflight.py`).
Allowed = Literal["context", "prompt", "model", "speculation"]


class RunSection(Section):
    """`[run]`: the suite, the request parameters, and how hard to try."""

    # Containers and enums are the places where TOML has no type of its own: read leniently, checked fully.
    tasks: tuple[str, ...] = Field(min_length=1, strict=False)
    mode: Mode = Field(default=Mode.PROMPTED, strict=False)
    dialect: str = "hermes"
    max_tokens: int = Field(default=1024, ge=1)
    doublings: int = Field(default=1, ge=0, le=8)
    temperature: float = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = Field(default=1, ge=0)
    stream: bool | Literal["both"] = False
    compare_raw: bool = False  # in native mode: ask once more in raw mode, for a note
    concurrency: int = Field(default=8, ge=1, le=1000)
    control_concurrency: int | None = Field(default=None, ge=1, le=1000)
    isolate: bool = False  # no prefix cache: every request starts cold (vLLM, llama.cpp)
    in_turn: bool = False
    server_starts: int = Field(default=1, ge=1, le=20)  # parts of the first answers, each a start of its own
    timeout: float = Field(default=600, gt=0, allow_inf_nan=False)
    retries: int = Field(default=5, ge=0, le=100)
    retry_seconds: float = Field(default=60, ge=0, allow_inf_nan=False)
    control: bool = True
    confirm: int = Field(default=2, ge=0, le=20)
    margins: bool = True  # ask the baseline's server how near a tie each difference was, where it can tell
    limit: int | None = Field(default=None, ge=1)
    categories: tuple[str, ...] = Field(default=(), strict=False)
    sample_ids: tuple[str, ...] = Field(default=(), strict=False)  # ids, or files of them
    shots: int = Field(default=0, ge=0, le=32)
    system_prompt: str | None = None
    redact: bool = False
    until_decided: bool = False
    starts_in_reasoning: bool | Literal["auto"] = "auto"
    allow: tuple[Allowed, ...] = Field(default=(), strict=False)  # differences between arms that may be

    @field_validator("dialect")
    @classmethod
    def _known_dialect(cls, value: str) -> str:
        if value not in DIALECTS:
            msg = f"expected one of {', '.join(DIALECTS)}"
            raise ValueError(msg)
        return value

    @field_validator("system_prompt")
    @classmethod
    def _has_place_for_tools(cls, value: str | None) -> str | None:
        if value is not None and not any(place in value for place in TOOL_PLACES):
            msg = f"has no {{tools}}; expected a text with {' or '.join(TOOL_PLACES)} where the tools go"
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _prompt_is_sent(self) -> "RunSection":
        if self.system_prompt is not None and self.mode is not Mode.PROMPTED:
            msg = f'system_prompt goes with mode = "prompted"; mode is "{self.mode.value}"'
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _nothing_in_clear(self) -> "RunSection":
        if self.redact and self.system_prompt is not None:
            msg = "system_prompt stands in run.json in clear; expected none of it with redact = true"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _raw_beside_native(self) -> "RunSection":
        if self.compare_raw and self.mode is not Mode.NATIVE:
            msg = f'compare_raw goes with mode = "native"; mode is "{self.mode.value}"'
            raise ValueError(msg)
        return self

    @property
    def is_streamed(self) -> bool:
        """Whether the answers that are judged come as streams; with "both" the others stand beside them."""
        return self.stream is not False

    @property
    def ways_beside(self) -> tuple[tuple[Mode, bool], ...]:
        """Other ways (mode, streamed) of asking every first question, to be compared and never judged."""
        unstreamed = ((self.mode, False),) if self.stream == "both" else ()
        return (*unstreamed, *(((Mode.RAW, self.is_streamed),) if self.compare_raw else ()))


class GateSection(Section):
    """`[gate]`: how much worse is still no worse, and what makes a comparison void."""

    preset: Literal["smoke", "gate", "release"] | None = None
    margin: float = Field(default=0.03, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    max_malformed: int = Field(default=0, ge=0)
    min_baseline: float = Field(default=0.3, ge=0, le=1)
    max_failed: float = Field(default=0.05, ge=0, le=1)
    cap: Literal["report", "fail"] = "report"
    require_speculation: Literal["auto"] | bool = "auto"

    @model_validator(mode="before")
    @classmethod
    def _margin_of_preset(cls, raw: object) -> object:
        """A preset stands for a margin; one that is given wins."""
        if not isinstance(raw, Mapping):
            return raw
        given = cast("Mapping[str, object]", raw)
        margin = PRESET_MARGINS.get(str(given.get("preset")))
        return given if margin is None else {"margin": margin, **given}


class Plan(Section):
    """Everything a run needs to know, checked."""

    run: RunSection
    arms: tuple[Arm, ...] = Field(strict=False)
    gate: GateSection = GateSection()

    @model_validator(mode="after")
    def _arms_apart(self) -> "Plan":
        if len(self.arms) < 2:
            msg = f"arms: expected a baseline and one candidate or more, found {len(self.arms)}"
            raise ValueError(msg)
        names = [arm.name.casefold() for arm in self.arms]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            msg = f"arms: {twice[0]!r} is named twice; expected names that differ, upper and lower case alike"
            raise ValueError(msg)
        if not any(self._is_baseline(arm) for arm in self.arms):
            msg = 'arms: expected one with baseline = true (or named "baseline"), found none'
            raise ValueError(msg)
        if (count := sum(arm.baseline for arm in self.arms)) > 1:
            msg = f"arms: expected one with baseline = true, found {count}"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _early_looks_need_all_arms(self) -> "Plan":
        if self.run.until_decided and self.is_managed:
            msg = (
                "run.until_decided: compares the arms batch by batch, and each batch would start every "
                "server again; expected base_url instead of serve in every arm"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _starts_are_ours(self) -> "Plan":
        if self.run.server_starts > 1 and not all(arm.serve is not None for arm in self.arms):
            msg = (
                "run.server_starts: starts every arm's server again, so that speed is a median over starts; "
                "expected serve in every arm"
            )
            raise ValueError(msg)
        return self

    def _is_baseline(self, arm: Arm) -> bool:
        """An arm named `baseline` is the baseline where no arm says so."""
        return arm.baseline or (arm.name == "baseline" and not any(one.baseline for one in self.arms))

    @property
    def baseline(self) -> Arm:
        """The arm without speculation."""
        return next(arm for arm in self.arms if self._is_baseline(arm))

    @property
    def is_in_turn(self) -> bool:
        """Whether one arm is asked at a time; arms whose servers the tool starts itself always are."""
        return self.run.in_turn or self.is_managed

    @property
    def is_managed(self) -> bool:
        """Whether the tool starts and ends servers of its own."""
        return any(arm.serve is not None for arm in self.arms)

    @property
    def candidates(self) -> tuple[Arm, ...]:
        """Every other arm, in the order of the plan."""
        return tuple(arm for arm in self.arms if not self._is_baseline(arm))

    def with_baseline(self, name: str) -> "Plan":
        """The same plan with another arm as the baseline; the former one is a candidate like the others.

        Raises:
            UserError: No arm has that name.
        """
        chosen = self.arm(name)
        arms = tuple(arm.model_copy(update={"baseline": arm is chosen}) for arm in self.arms)
        return self.model_copy(update={"arms": arms})

    def arm(self, name: str) -> Arm:
        """The arm of that name; an unknown one is a UserError that lists the known."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        known = ", ".join(arm.name for arm in self.arms)
        raise UserError(f"no arm is named {name!r}; expected one of {known}")


def read_plans(path: Path, overrides: Mapping[str, object]) -> tuple[Plan, ...]:
    """Read a TOML file; `overrides` are `[run]` keys given as flags and win over the file.

    Where it names several conditions (`conditions.py`) there is a plan for each.

    Raises:
        UserError: The file is missing, is not TOML, or holds an unknown key or a bad value.
    """
    raw = _read_toml(path, overrides)
    section = raw.get("run")
    table = cast("Mapping[str, object]", section if isinstance(section, Mapping) else {})
    if not table:
        return (build_plan(raw, source=str(path)),)
    return tuple(
        build_plan({**raw, "run": run}, source=str(path)) for run in conditions_of(table, source=str(path))
    )


def _read_toml(path: Path, overrides: Mapping[str, object]) -> dict[str, object]:
    try:
        raw: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from error
    if overrides:
        section = raw.get("run", {})
        if not isinstance(section, Mapping):
            raise UserError(f"{path}: run: expected a table [run]")
        raw["run"] = {**section, **overrides}
    return raw


def build_plan(raw: Mapping[str, object], *, source: str) -> Plan:
    """Validate a raw plan; `source` (a file, or "command line") leads every message.

    Raises:
        UserError: One message with every problem, each as `source: key: what was expected`.
    """
    try:
        return Plan.model_validate(raw)
    except ValidationError as error:
        raise _plan_error(error, source) from None


def build_gate(raw: Mapping[str, object]) -> GateSection:
    """Validate `[gate]` keys given as flags.

    Raises:
        UserError: A bad value.
    """
    try:
        return GateSection.model_validate(raw)
    except ValidationError as error:
        raise _plan_error(error, "command line") from None


def _plan_error(error: ValidationError, source: str) -> UserError:
    problems: list[str] = []
    for item in error.errors(include_url=False):
        expected = _expectation(item["type"], item["msg"], item["loc"], item["input"])
        problems.append(f"{source}: {_key(item['loc'])}{expected}")
    return UserError("\n".join(problems))


def _key(location: Sequence[int | str]) -> str:
    """`("arms", 1, "name")` → `arms[1].name: `; a plan-wide problem has no key."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"{text}: " if text else ""


def _expectation(kind: str, message: str, location: Sequence[int | str], given: object) -> str:
    message = message.removeprefix("Value error, ").replace("Input should", "should")
    match kind:
        case "extra_forbidden":
            near = difflib.get_close_matches(str(location[-1]), _keys_at(location[:-1]), n=1)
            known = ", ".join(_keys_at(location[:-1]))
            return "unknown key; " + (f"did you mean {near[0]!r}?" if near else f"expected one of {known}")
        case "missing":
            return "is missing and has no default"
        case "value_error":
            return message
        case _ if isinstance(given, str | int | float | bool):
            return f"{message} (got {given!r})"
        case _:
            return message


def _keys_at(location: Sequence[int | str]) -> list[str]:
    model = {"run": RunSection, "arms": Arm, "gate": GateSection}.get(
        str(location[0]) if location else "", Plan
    )
    return list(model.model_fields)


def plan_from_flags(
    *,
    baseline: str,
    candidates: Sequence[str],
    model: str,
    api_key_env: str | None,
    run: Mapping[str, object],
) -> Plan:
    """A plan from `--baseline URL --candidate NAME=URL …`; `run` holds the `[run]` keys given as flags.

    Raises:
        UserError: A candidate is not NAME=URL, or a value is bad.
    """
    key = {} if api_key_env is None else {"api_key_env": api_key_env}
    arms: list[dict[str, object]] = [
        {"name": "baseline", "base_url": baseline, "model": model, "baseline": True, **key}
    ]
    for candidate in candidates:
        name, equals, url = candidate.partition("=")
        if not equals:
            raise UserError(
                f"--candidate {candidate}: expected NAME=URL, such as ngram=http://127.0.0.1:8001/v1"
            )
        arms.append({"name": name, "base_url": url, "model": model, **key})
    return build_plan({"run": dict(run), "arms": arms}, source="command line")
