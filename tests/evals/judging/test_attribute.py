"""A pair of arms judged over its budgets: transition, cause, code."""

import pytest
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.judging.attribute import (
    attribute,
    control_transitions,
    judge,
)
from draftproof.evals.judging.finding import Cause
from draftproof.evals.judging.ladder import grade_run
from draftproof.evals.servers.server import ServerFacts

from ..build import (
    BROKEN,
    BUDGET,
    LOOP,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    attempt,
    block,
    ladder,
    record,
    sample,
)
from .pairs import (
    BOTH_FAIL,
    BOTH_PASS,
    DOUBLE,
    FIX,
    REGRESSION,
    VOID,
    bad,
    cut,
    failed,
    finding_of,
    ok,
    run_of,
    spf,
)


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


@pytest.mark.parametrize(
    ("baseline", "candidate", "budget", "grades", "at_cap"),
    [
        ([ok()], [bad()], BUDGET, "pass fail", "pass fail"),
        ([ok(), ok(DOUBLE)], [cut(), bad(DOUBLE)], DOUBLE, "pass fail", "pass truncated"),
        ([ok(), ok(DOUBLE)], [ok(), bad(DOUBLE)], BUDGET, "pass pass", "pass pass"),
        ([cut(), cut(DOUBLE)], [cut(), cut(DOUBLE)], DOUBLE, "truncated truncated", "truncated truncated"),
        ([ok(), ok(DOUBLE)], [cut(), failed(DOUBLE)], DOUBLE, "pass void", "pass truncated"),
        ([failed(), ok(DOUBLE)], [ok(), ok(DOUBLE)], BUDGET, "void pass", "void pass"),
        ([ok()], [], BUDGET, "pass void", "pass void"),
        ([], [ok()], BUDGET, "void pass", "void pass"),
        ([], [], 0, "void void", "void void"),
        (
            [ok(), failed(DOUBLE, ErrorType.UNSUPPORTED_REQUEST)],
            [cut(), failed(DOUBLE, ErrorType.UNSUPPORTED_REQUEST)],
            BUDGET,
            "pass truncated",
            "pass truncated",
        ),
    ],
)
def test_a_judgement_keeps_the_grades_of_the_judged_and_of_the_first_budget(
    baseline, candidate, budget, grades, at_cap
):
    """Of an attempt that is missing too: it is void, and says so."""
    judgement = judge(ladder(*baseline), ladder(*candidate), is_context_limited=False)
    assert judgement.judged_budget == budget
    assert judgement.is_also_cut is False
    assert f"{judgement.baseline.verdict} {judgement.candidate.verdict}" == grades
    assert " ".join(grade.verdict for grade in judgement.at_cap) == at_cap
    codes = {grade.code for grade in (judgement.baseline, judgement.candidate) if grade.answer is None}
    assert codes <= {"missing_attempt", "endpoint_error"}


def test_a_context_that_is_full_stays_the_limit_whatever_was_cut():
    """What the run knows of the context holds for a pair that is cut at its last budget."""
    judgement = judge(ladder(ok()), ladder(cut()), is_context_limited=True)
    assert (judgement.cause, judgement.code) == (Cause.UNRESOLVED, "context_limit")


def test_a_fix_is_no_premature_stop():
    """The word is for candidates."""
    made = run_of([bad(content="Here it is:", tokens=20)], [ok()], control=[bad(content="No:", tokens=60)])
    assert (finding_of(made).transition, finding_of(made).code) == (FIX, "no_call")


def test_an_empty_answer_after_thinking_is_a_premature_stop():
    """As one without a call is; a call that is wrong is none."""
    made = run_of([ok()], [bad(content="<think>\nhm\n</think>", tokens=9)], control=[ok(tokens=60)])
    assert finding_of(made).code == "premature_stop"


@pytest.mark.parametrize(
    ("control", "transition"),
    [
        ([cut(), ok(DOUBLE)], BOTH_PASS),
        ([cut(), bad(DOUBLE)], REGRESSION),
        ([spf(), ok(DOUBLE)], BOTH_PASS),
        ([ok(), bad(DOUBLE)], BOTH_PASS),
        ([cut(), cut(DOUBLE)], VOID),
        ([failed()], VOID),
        ([], VOID),
    ],
)
def test_an_unlabelled_control_is_judged_where_it_is_not_cut(control, transition):
    """At its smallest such budget; a control that never finished says nothing."""
    made = run_of([ok()], [ok()], control=control, expected=None)
    assert control_transitions(grade_run(made), "baseline") == [transition]


def test_every_sample_of_a_run_has_its_transition_and_its_finding():
    """In the order of the samples, labelled or not."""
    made = record(
        [sample("a"), sample("b", None)],
        [
            attempt(content, sample_id=sample_id, arm=arm, stage=stage)
            for sample_id in ("a", "b")
            for arm, stage, content in (
                ("baseline", Stage.FIRST, RIGHT),
                ("baseline", Stage.CONTROL, WRONG),
                ("ngram", Stage.FIRST, RIGHT),
            )
        ],
    )
    assert control_transitions(grade_run(made), "baseline") == [REGRESSION, REGRESSION]
    findings = attribute(grade_run(made), baseline="baseline", candidate="ngram")
    assert [(one.id, one.transition) for one in findings] == [("a", BOTH_PASS), ("b", FIX)]


def test_the_control_counts_among_the_lengths_of_the_baseline():
    """20 tokens are under half of 50, and not under half of the control's 38."""
    made = run_of([ok()], [bad(content="Here it is:", tokens=20)], control=[ok(tokens=38)])
    assert finding_of(made).code == "no_call"


def test_a_wrong_call_is_no_premature_stop_however_short_it_is():
    """What was called is what is judged."""
    made = run_of([ok()], [bad(content=f"{WRONG}\nAnd so:", tokens=9)], control=[ok(tokens=60)])
    assert finding_of(made).code == "wrong_arguments"
