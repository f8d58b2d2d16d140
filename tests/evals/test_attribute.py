"""A pair of arms judged over its budgets: transition, cause, code."""

import pytest
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.attribute import attribute, control_transitions, judge
from draftproof.evals.finding import Cause, Transition
from draftproof.evals.finding_line import line_of
from draftproof.evals.ladder import grade_run
from draftproof.evals.servers.server import ServerFacts

from .build import (
    BROKEN,
    BUDGET,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    attempt,
    block,
    in_arm,
    ladder,
    record,
    sample,
)

DOUBLE = 2 * BUDGET
LOOP = "the same again and " * 30
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


@pytest.mark.parametrize(
    ("baseline", "candidate", "transition", "cause", "code"),
    [
        # One budget.
        ([ok()], [ok()], BOTH_PASS, None, None),
        ([bad()], [bad()], BOTH_FAIL, None, None),
        ([ok()], [bad()], REGRESSION, Cause.REAL_CHANGE, "wrong_arguments"),
        ([bad()], [ok()], FIX, Cause.REAL_CHANGE, "wrong_arguments"),
        ([ok()], [bad(content=BROKEN)], REGRESSION, Cause.MALFORMED, "invalid_json"),
        ([bad(content=BROKEN)], [ok()], FIX, Cause.MALFORMED, "invalid_json"),
        ([ok()], [bad(content=block("nope"))], REGRESSION, Cause.MALFORMED, "undeclared_function"),
        # Cut, and no larger budget asked.
        ([ok()], [cut()], REGRESSION, Cause.UNRESOLVED, "still_truncated"),
        ([cut()], [ok()], FIX, Cause.UNRESOLVED, "still_truncated"),
        ([cut()], [cut()], VOID, None, "still_truncated"),
        ([bad()], [cut()], BOTH_FAIL, None, None),
        # Cut at first, right at double: the cap.
        ([ok(), ok(DOUBLE)], [cut(), ok(DOUBLE)], REGRESSION, Cause.CAP, "cap_cut"),
        ([cut(), ok(DOUBLE)], [ok(), ok(DOUBLE)], FIX, Cause.CAP, "cap_cut"),
        (
            [ok(), ok(DOUBLE)],
            [cut(content="<think>\nSo"), ok(DOUBLE)],
            REGRESSION,
            Cause.CAP,
            "cap_reasoning",
        ),
        ([cut(), ok(DOUBLE)], [cut(), ok(DOUBLE)], BOTH_PASS, None, None),
        # `length` long before the cap: more room is no proof that the cap was to blame.
        ([ok(), ok(DOUBLE)], [cut(tokens=10), ok(DOUBLE)], REGRESSION, Cause.UNRESOLVED, "server_limit"),
        ([ok(), ok(DOUBLE)], [cut(tokens=BUDGET - 1), ok(DOUBLE)], REGRESSION, Cause.CAP, "cap_cut"),
        # Cut at first, wrong at double: what is wrong there.
        ([ok(), ok(DOUBLE)], [cut(), bad(DOUBLE)], REGRESSION, Cause.REAL_CHANGE, "wrong_arguments"),
        ([ok(), ok(DOUBLE)], [cut(), bad(DOUBLE, BROKEN)], REGRESSION, Cause.MALFORMED, "invalid_json"),
        ([cut(), ok(DOUBLE)], [cut(), bad(DOUBLE)], REGRESSION, Cause.REAL_CHANGE, "wrong_arguments"),
        ([cut(), bad(DOUBLE)], [cut(), ok(DOUBLE)], FIX, Cause.REAL_CHANGE, "wrong_arguments"),
        ([ok(), bad(DOUBLE)], [cut(), ok(DOUBLE)], FIX, Cause.REAL_CHANGE, "wrong_arguments"),
        # Asked at double for another arm's sake: the pair is judged where neither was cut.
        ([ok(), bad(DOUBLE)], [ok(), ok(DOUBLE)], BOTH_PASS, None, None),
        ([ok(), failed(DOUBLE)], [bad(), ok(DOUBLE)], REGRESSION, Cause.REAL_CHANGE, "wrong_arguments"),
        # Still cut at the last budget.
        ([ok(), ok(DOUBLE)], [cut(), cut(DOUBLE)], REGRESSION, Cause.UNRESOLVED, "still_truncated"),
        ([cut(), cut(DOUBLE)], [cut(), cut(DOUBLE)], VOID, None, "still_truncated"),
        ([ok(), ok(DOUBLE)], [cut(), cut(DOUBLE, LOOP)], REGRESSION, Cause.REAL_CHANGE, "degenerate_loop"),
        ([ok(), ok(DOUBLE)], [cut(), cut(DOUBLE, f"{RIGHT}\nAnd")], REGRESSION, Cause.REAL_CHANGE, "overrun"),
        # A larger budget does not launder what stood before the cut ...
        (
            [ok(), ok(DOUBLE)],
            [cut(content=f"{BROKEN}\n{OPEN}"), ok(DOUBLE)],
            REGRESSION,
            Cause.MALFORMED,
            "invalid_json",
        ),
        (
            [ok(), ok(DOUBLE)],
            [cut(content=LOOP), ok(DOUBLE)],
            REGRESSION,
            Cause.REAL_CHANGE,
            "degenerate_loop",
        ),
        # ... but an overrun that ends by itself was only the cap's.
        ([ok(), ok(DOUBLE)], [cut(content=f"{RIGHT}\nAnd"), ok(DOUBLE)], REGRESSION, Cause.CAP, "cap_cut"),
        # `length` twice at the same place below the budget.
        (
            [ok(), ok(DOUBLE)],
            [cut(tokens=60), cut(DOUBLE, tokens=60)],
            REGRESSION,
            Cause.UNRESOLVED,
            "still_truncated",
        ),
        # The endpoint's fault.
        ([ok()], [failed()], VOID, None, "endpoint_error"),
        ([failed()], [ok()], VOID, None, "endpoint_error"),
        ([ok(), ok(DOUBLE)], [cut(), failed(DOUBLE)], VOID, None, "endpoint_error"),
        ([ok()], [], VOID, None, "missing_attempt"),
        ([], [ok()], VOID, None, "missing_attempt"),
        ([ok(), ok(DOUBLE)], [cut()], VOID, None, "missing_attempt"),
        # A larger budget that the server refuses is a limit of its context.
        (
            [ok(), failed(DOUBLE, ErrorType.UNSUPPORTED_REQUEST)],
            [cut(), failed(DOUBLE, ErrorType.UNSUPPORTED_REQUEST)],
            REGRESSION,
            Cause.UNRESOLVED,
            "context_limit",
        ),
        ([ok()], [failed(error=ErrorType.UNSUPPORTED_REQUEST)], VOID, None, "unsupported_request"),
        # The server's parser failed: asked again like a cut, malformed if it persists.
        ([ok(), ok(DOUBLE)], [spf(), ok(DOUBLE)], REGRESSION, Cause.CAP, "cap_cut"),
        ([ok(), ok(DOUBLE)], [spf(), spf(DOUBLE)], REGRESSION, Cause.MALFORMED, "server_parse_failure"),
        ([ok()], [spf()], REGRESSION, Cause.MALFORMED, "server_parse_failure"),
    ],
)
def test_a_pair_is_judged_where_neither_arm_is_cut(baseline, candidate, transition, cause, code):
    """Transition, cause and code follow from the grades alone, and the mirror image is a fix."""
    judgement = judge(ladder(*baseline), ladder(*candidate), is_context_limited=False)
    assert (judgement.transition, judgement.cause, judgement.code) == (transition, cause, code)
    mirrored = judge(ladder(*candidate), ladder(*baseline), is_context_limited=False)
    mirror = {REGRESSION: FIX, FIX: REGRESSION}.get(transition, transition)
    assert (mirrored.transition, mirrored.cause, mirrored.code) == (mirror, cause, code)


def test_what_stood_before_the_cut_is_marked_as_also_cut():
    """The evidence says that the blamed text was cut later on."""
    judgement = judge(
        ladder(ok(), ok(DOUBLE)),
        ladder(cut(content=f"{BROKEN}\n{OPEN}"), ok(DOUBLE)),
        is_context_limited=False,
    )
    assert judgement.is_also_cut


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


def test_a_limit_of_the_servers_own_is_named():
    """`length` below the budget, twice at the same token, is `server_limit`."""
    made = run_of([ok(), ok(DOUBLE)], [cut(tokens=60), cut(DOUBLE, tokens=60)])
    assert (finding_of(made).cause, finding_of(made).code) == (Cause.UNRESOLVED, "server_limit")


def test_a_full_context_is_named():
    """With 120 tokens of context and a prompt of 20 there is no room for a larger budget."""
    facts = {"ngram": ServerFacts(context=120)}
    made = run_of([ok()], [cut()], facts=facts)
    assert (finding_of(made).cause, finding_of(made).code) == (Cause.UNRESOLVED, "context_limit")
    made = run_of(
        [ok(), ok(150)], [cut(tokens=60), cut(150, tokens=60)], facts={"ngram": ServerFacts(context=80)}
    )
    assert finding_of(made).code == "context_limit"


def test_repeats_that_show_the_same_cause_are_counted():
    """`reproduced` counts repeats where the baseline is right and the candidate wrong for the same cause."""
    repeats = []
    for number, (right, wrong) in enumerate(
        [(RIGHT, WRONG), (RIGHT, BROKEN), (WRONG, WRONG), (RIGHT, RIGHT)], 1
    ):
        for arm, content in (("baseline", right), ("ngram", wrong)):
            repeats.append(attempt(content, arm=arm, stage=Stage.CONFIRM, number=number))
    # A repeat of one arm only, and one that the endpoint lost, are no repeats.
    repeats.append(attempt(WRONG, arm="ngram", stage=Stage.CONFIRM, number=5))
    repeats += [attempt(arm="baseline", stage=Stage.CONFIRM, number=6)]
    repeats += [attempt(arm="ngram", stage=Stage.CONFIRM, number=6, error=ErrorType.TIMEOUT)]
    firsts = [attempt(RIGHT), attempt(WRONG, arm="ngram")]
    finding = finding_of(record([sample()], [*firsts, *repeats], confirm=6))
    assert finding.reproduced == (1, 4)
    assert line_of(finding)["reproduced"] == "1/4"


@pytest.mark.parametrize(
    ("content", "tokens", "code"),
    [
        ("Here it is:", 20, "premature_stop"),
        ("```json\n", 20, "premature_stop"),
        ("<think>\nOslo.\n</think>\n\n", 20, "premature_stop"),
        ("I cannot do that.", 20, "no_call"),
        ("Here it is:", 26, "no_call"),
    ],
)
def test_a_stop_under_half_of_both_baseline_lengths_inside_something_unfinished_is_premature(
    content, tokens, code
):
    """The baseline needed 50 and 60 tokens; a complete refusal is no premature stop."""
    made = run_of([ok()], [bad(content=content, tokens=tokens)], control=[ok(tokens=60)])
    assert (finding_of(made).cause, finding_of(made).code) == (Cause.REAL_CHANGE, code)


def test_uncounted_tokens_are_never_under_half():
    """A server without usage cannot be accused of stopping early."""
    made = run_of([ok()], [attempt("Here it is:", tokens=None)], control=[ok()])
    assert finding_of(made).code == "no_call"


@pytest.mark.parametrize(
    ("first", "control", "candidate", "transition", "code"),
    [
        (RIGHT, RIGHT, RIGHT, BOTH_PASS, None),
        (WRONG, WRONG, WRONG, BOTH_PASS, None),  # nobody says what is right: the first answer does
        (RIGHT, RIGHT, WRONG, REGRESSION, "wrong_arguments"),
        (RIGHT, WRONG, RIGHT, FIX, "wrong_arguments"),
        (RIGHT, WRONG, WRONG, BOTH_FAIL, None),
        (BROKEN, RIGHT, RIGHT, VOID, "no_reference"),
        ("It is sunny.", "Sunny, I think.", "Rain.", BOTH_PASS, None),
        ("It is sunny.", "Sunny, I think.", RIGHT, REGRESSION, "call_not_due"),
    ],
)
def test_an_unlabelled_sample_is_judged_by_the_baselines_first_answer(
    first, control, candidate, transition, code
):
    """The baseline is graded by its control, never by the answer that serves as reference."""
    made = run_of(
        [bad(content=first)], [bad(content=candidate)], control=[bad(content=control)], expected=None
    )
    assert (finding_of(made).transition, finding_of(made).code) == (transition, code)


def test_an_unlabelled_sample_with_a_cut_reference_is_void():
    """A reference that the cap cut is none, even if the larger budget finishes it."""
    made = run_of([cut(), ok(DOUBLE)], [ok(), ok(DOUBLE)], control=[cut(), ok(DOUBLE)], expected=None)
    assert (finding_of(made).transition, finding_of(made).code) == (VOID, "no_reference")


def test_an_arm_compared_with_itself_yields_no_findings():
    """Identical answers, whatever they are, are never a regression or a fix."""
    for content in (RIGHT, WRONG, BROKEN, OPEN, LOOP, ""):
        for reason, tokens in (("stop", 50), ("length", BUDGET), (None, None)):
            one = attempt(content, reason, tokens=tokens)
            transition = finding_of(run_of([one], [one])).transition
            assert transition in (BOTH_PASS, BOTH_FAIL, VOID)


@pytest.mark.parametrize(
    ("first", "control", "expected", "transition"),
    [
        (RIGHT, RIGHT, OSLO, BOTH_PASS),
        (RIGHT, WRONG, OSLO, REGRESSION),
        (WRONG, RIGHT, OSLO, FIX),
        (RIGHT, WRONG, None, REGRESSION),
        (RIGHT, RIGHT, None, BOTH_PASS),
        (BROKEN, RIGHT, None, VOID),
    ],
)
def test_the_control_is_judged_like_a_candidate(first, control, expected, transition):
    """Its churn is what the baseline changes against itself."""
    made = run_of([bad(content=first)], [ok()], control=[bad(content=control)], expected=expected)
    assert control_transitions(grade_run(made), "baseline") == [transition]
