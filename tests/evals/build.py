"""Runs made by hand: records, attempts and ladders for tests that ask no server."""

import json
from dataclasses import replace
from pathlib import Path

from draftproof.evals.attempt import Attempt, Drafts, EndpointError, ErrorType, Stage, Usage
from draftproof.evals.judging.grade import Grade, Reference, grade_answer, grade_failed
from draftproof.evals.plan import Mode, build_plan
from draftproof.evals.reading.answer import Answer, read_answer
from draftproof.evals.runs.record import Record
from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.tools import compile_tools
from draftproof.tasks.sample import Expected, ExpectedCall, Sample

BUDGET = 100
HERMES = DIALECTS["hermes"]
TOOLS = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        }
        for name in ("get_weather", "get_news")
    ]
)
OSLO = Expected((ExpectedCall("get_weather", {"city": ["Oslo"]}),))
NOTHING_DUE = Expected(())


def block(name="get_weather", **arguments):
    return (
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments or {'city': 'Oslo'}})}\n</tool_call>"
    )


RIGHT = block()
WRONG = block(city="Bergen")
OPEN = '<tool_call>\n{"name": "get_weather", "arguments": {"ci'
LOOP = "the same again and " * 30
BROKEN = '<tool_call>\n{"name": "get_weather", "arguments": {"days": 05}}\n</tool_call>'


def attempt(
    content: str | None = RIGHT,
    finish_reason: str | None = "stop",
    *,
    tokens: int | None = 50,
    prompt_tokens: int | None = 20,
    budget: int = BUDGET,
    stage: Stage = Stage.FIRST,
    number: int = 1,
    arm: str = "baseline",
    sample_id: str = "s1",
    error: ErrorType | None = None,
    mode: Mode = Mode.PROMPTED,
    reasoning: str | None = None,
    tool_calls: object = None,
    drafts: tuple[int, ...] | None = None,
) -> Attempt:
    is_answer = error in (None, ErrorType.SERVER_PARSE_FAILURE)
    return Attempt(
        id=sample_id,
        arm=arm,
        mode=mode,
        stream=False,
        stage=stage,
        max_tokens=budget,
        attempt=number,
        status="success" if is_answer else "failed",
        finish_reason=None if error else finish_reason,
        stop_reason=None,
        content=None if error else content,
        reasoning=reasoning,
        tool_calls=tool_calls,
        usage=None if error or tokens is None else Usage(prompt_tokens, tokens),
        request={},
        duration_ms=1000.0,
        ttft_ms=None,
        retries=0,
        spec=None if drafts is None else Drafts(*drafts),
        system_fingerprint=None,
        error=None if error is None else EndpointError(error, 500, "scripted"),
        started_at="2026-12-01T00:00:00.000+00:00",
        index=0,
    )


def plan(*candidates: str, **run):
    return build_plan(
        {
            "run": {"tasks": ["x.jsonl"], "max_tokens": BUDGET, **run},
            "arms": [
                {"name": name, "base_url": "http://127.0.0.1:1/v1", "model": "m"}
                for name in ("baseline", *(candidates or ("ngram",)))
            ],
        },
        source="test",
    )


def answer(one: Attempt, *, context: int | None = None) -> Answer:
    return read_answer(one, TOOLS, HERMES, plan(mode=one.mode.value).run, context)


def grade(one: Attempt, expected: Expected = OSLO, *, context: int | None = None) -> Grade:
    return (
        grade_answer(answer(one, context=context), Reference(expected))
        if one.succeeded
        else grade_failed(one)
    )


def ladder(*attempts: Attempt, expected: Expected = OSLO) -> dict[int, Grade]:
    """Grades by budget; each attempt brings its own."""
    return {one.max_tokens: grade(one, expected) for one in attempts}


def sample(sample_id: str = "s1", expected: Expected | None = OSLO, category: str = "simple") -> Sample:
    return Sample(sample_id, category, ({"role": "user", "content": "Weather?"},), TOOLS, expected)


def record(samples, attempts, *, facts=None, candidates=("ngram",), **run) -> Record:
    return Record(
        directory=Path("runs/test"),
        plan=plan(*candidates, **run),
        digest="digest",
        samples=tuple(samples),
        facts=facts or {},
        attempts={one.key: one for one in attempts},
    )


def in_arm(arm: str, one: Attempt, **changes) -> Attempt:
    return replace(one, arm=arm, **changes)
