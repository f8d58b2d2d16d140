"""How a run was asked, by the plan's keys: runs that differ here are neither resumed nor compared."""

from collections.abc import Mapping

from pydantic import JsonValue

from ..plan import Plan

_SHOWN_VALUE = 200


def differing_setting(there: Mapping[str, JsonValue], here: Mapping[str, JsonValue]) -> str | None:
    """The first key of two settings whose values differ, with both; None where all are equal."""
    for key in {**there, **here}:
        old, new = there.get(key, "absent"), here.get(key, "absent")
        if old != new:
            return f"{key} ({_shown(old)} there, {_shown(new)} here)"
    return None


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE else f"{text[:_SHOWN_VALUE]}…"


def fixed_settings(plan: Plan) -> dict[str, JsonValue]:
    """What a resumed run must share with its beginning; the rest (URLs, keys, pace, gate) may change."""
    fixed: dict[str, JsonValue] = {
        "arms": [arm.name for arm in plan.arms],
        "run.redact": plan.run.redact,
        **asked_settings(plan),
    }
    if plan.run.until_decided:
        # They say where asking stops.
        fixed |= {"gate.margin": plan.gate.margin, "gate.alpha": plan.gate.alpha, "gate.cap": plan.gate.cap}
    return fixed


def asked_settings(plan: Plan) -> dict[str, JsonValue]:
    """How the arms are asked, by the plan's keys: answers under other settings are not comparable."""
    run = plan.run
    settings: dict[str, JsonValue] = {
        "run.mode": run.mode.value,
        "run.dialect": run.dialect,
        "run.max_tokens": run.max_tokens,
        "run.doublings": run.doublings,
        "run.temperature": run.temperature,
        "run.top_p": run.top_p,
        "run.seed": run.seed,
        "run.stream": run.stream,
        "run.compare_raw": run.compare_raw,
        "run.system_prompt": run.system_prompt,
        "run.until_decided": run.until_decided,
        "baseline": plan.baseline.name,
    }
    for arm in plan.arms:
        settings[f"arms.{arm.name}.model"] = arm.model
        settings[f"arms.{arm.name}.extra_body"] = arm.extra_body
    return settings
