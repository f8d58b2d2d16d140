"""Pairs of arms made by hand, and the finding that they come to."""

from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.judging.attribute import (
    attribute,
)
from draftproof.evals.judging.finding import Transition
from draftproof.evals.judging.ladder import grade_run

from ..build import (
    BUDGET,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    attempt,
    in_arm,
    record,
    sample,
)

DOUBLE = 2 * BUDGET
REGRESSION, FIX, BOTH_PASS, BOTH_FAIL, VOID = Transition


def ok(budget=BUDGET, tokens=50):
    return attempt(RIGHT, tokens=tokens, budget=budget)


def bad(budget=BUDGET, content=WRONG, tokens=50):
    return attempt(content, tokens=tokens, budget=budget)


def cut(budget=BUDGET, content=OPEN, tokens=None):
    return attempt(content, "length", tokens=budget if tokens is None else tokens, budget=budget)


def failed(budget=BUDGET, error=ErrorType.ENDPOINT_ERROR):
    return attempt(error=error, budget=budget)


def spf(budget=BUDGET):
    return failed(budget, ErrorType.SERVER_PARSE_FAILURE)


def run_of(baseline, candidate, *, expected=OSLO, control=(), facts=None, **run):
    attempts = [in_arm("baseline", one) for one in baseline]
    attempts += [in_arm("ngram", one) for one in candidate]
    attempts += [in_arm("baseline", one, stage=Stage.CONTROL) for one in control]
    attempts = [
        one
        if one.max_tokens == BUDGET or one.stage is not Stage.FIRST
        else in_arm(one.arm, one, stage=Stage.DOUBLED)
        for one in attempts
    ]
    return record([sample(expected=expected)], attempts, facts=facts, **run)


def finding_of(made, candidate="ngram"):
    return attribute(grade_run(made), baseline="baseline", candidate=candidate)[0]
