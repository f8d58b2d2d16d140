"""A pair of arms judged over its budgets: transition, cause, code."""

from dataclasses import replace

import pytest
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.judging.attribute import (
    MISSING,
    ONLY_BATCHED,
    ONLY_WARM,
    attribute,
    control_transitions,
    judge,
)
from draftproof.evals.judging.divergence import Divergence, DivergenceLabel
from draftproof.evals.judging.finding import Cause, Finding, Transition
from draftproof.evals.judging.finding_line import line_of
from draftproof.evals.judging.grade import Fault, Reference, Verdict, grade_answer
from draftproof.evals.judging.ladder import GradedSample, grade_run
from draftproof.evals.plan import Mode
from draftproof.evals.servers.server import ServerFacts
from draftproof.parsers.result import Call, Span
from draftproof.tasks.bfcl_reading import read_bfcl_answer
from draftproof.tasks.bfcl_terms import BfclRule, BfclTerms, terms_of_description
from draftproof.tasks.sample import Expected, ExpectedCall, MatchRule

from ..build import (
    BROKEN,
    BUDGET,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    answer,
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


# What stands in a finding beside its cause: the report and the file show it.


def seen(grade, code, tokens, finish="stop", ending="finished"):
    return {
        "grade": grade,
        "code": code,
        "finish_reason": finish,
        "ending": ending,
        "completion_tokens": tokens,
    }


def test_a_finding_says_everything_that_its_line_holds():
    """Names, grades at both budgets, what was asked, and the evidence in full."""
    finding = finding_of(run_of([ok(), ok(DOUBLE, 140)], [cut(), bad(DOUBLE, tokens=120)]))
    message = finding.evidence["message"]
    assert '"Bergen"' in message
    assert finding == Finding(
        id="s1",
        category="simple",
        baseline="baseline",
        candidate="ngram",
        transition=REGRESSION,
        cause=Cause.REAL_CHANGE,
        code="wrong_arguments",
        fault=Fault.DIFFERENCE,
        baseline_grade=Verdict.PASS,
        candidate_grade=Verdict.FAIL,
        at_cap=(Verdict.PASS, Verdict.TRUNCATED),
        budgets=(BUDGET, DOUBLE),
        judged_budget=DOUBLE,
        reproduced=None,
        is_baseline_failure=False,
        is_candidate_failure=False,
        evidence={
            "judged_budget": DOUBLE,
            "class": "difference",
            "message": message,
            "paths": ["$.city"],
            "attempts": {
                str(BUDGET): {
                    "baseline": seen("pass", None, 50),
                    "candidate": seen("truncated", "cut", BUDGET, "length", "cut"),
                },
                str(DOUBLE): {
                    "baseline": seen("pass", None, 140),
                    "candidate": seen("fail", "wrong_arguments", 120),
                },
            },
            "locus": "model",
            "parts_at": RIGHT.index("Oslo"),
        },
    )


def test_a_fix_says_what_the_baseline_did_wrong_and_nothing_of_a_locus():
    """Where it went wrong is asked of regressions only; where the texts part, of both."""
    finding = finding_of(run_of([bad(content=BROKEN)], [ok()], control=[ok()]))
    assert (finding.transition, finding.fault, finding.reproduced) == (FIX, Fault.SYNTAX, None)
    assert (finding.baseline_grade, finding.candidate_grade) == (Verdict.FAIL, Verdict.PASS)
    assert finding.evidence.keys() == {"judged_budget", "class", "message", "attempts", "parts_at"}


def test_a_void_pair_says_whose_endpoint_failed_and_shows_what_there_is():
    """An attempt that was never made stands as null; nothing is said of causes."""
    finding = finding_of(run_of([ok()], [failed(error=ErrorType.TIMEOUT)]))
    assert (finding.code, finding.cause, finding.fault) == ("timeout", None, None)
    assert (finding.is_baseline_failure, finding.is_candidate_failure) == (False, True)
    assert finding.evidence == {
        "judged_budget": BUDGET,
        "attempts": {
            str(BUDGET): {
                "baseline": seen("pass", None, 50),
                "candidate": {"grade": "void", "code": "timeout"},
            }
        },
    }
    mirrored = finding_of(run_of([failed()], [ok()]))
    assert (mirrored.is_baseline_failure, mirrored.is_candidate_failure) == (True, False)
    missing = finding_of(run_of([ok(), ok(DOUBLE)], [cut()]))
    assert missing.code == "missing_attempt"
    assert missing.budgets == (BUDGET, DOUBLE)
    assert missing.evidence["attempts"][str(DOUBLE)]["candidate"] is None
    assert not missing.is_candidate_failure
    left_out = finding_of(run_of([cut()], [ok(), ok(DOUBLE)]))
    assert left_out.budgets == (BUDGET, DOUBLE)
    assert left_out.evidence["attempts"][str(DOUBLE)]["baseline"] is None


def test_a_pair_that_passes_or_fails_in_both_arms_has_attempts_and_nothing_more():
    """No blame, no place where texts part."""
    for content in (RIGHT, WRONG):
        finding = finding_of(run_of([bad(content=content)], [bad(content=content)]))
        assert finding.evidence.keys() == {"judged_budget", "attempts"}
        assert (finding.fault, finding.reproduced) == (None, None)


def test_what_was_also_cut_is_said_and_what_was_not_is_not():
    """A defect before the cut, and a loop at the last budget, were cut later on; a mere failure was not."""
    broken = finding_of(run_of([ok(), ok(DOUBLE)], [cut(content=f"{BROKEN}\n{OPEN}"), ok(DOUBLE)]))
    assert broken.evidence["also_cut"] is True
    assert broken.evidence["class"] == "syntax"
    looping = finding_of(run_of([ok(), ok(DOUBLE)], [cut(), cut(DOUBLE, LOOP)]))
    assert looping.evidence["also_cut"] is True
    assert "also_cut" not in finding_of(run_of([ok()], [bad()])).evidence
    assert "also_cut" not in finding_of(run_of([ok(), ok(DOUBLE)], [cut(), ok(DOUBLE)])).evidence


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


def confirmed(*shown, **run):
    """A regression with confirmations: for each whether it showed again."""
    repeats = [
        attempt(content, arm=arm, stage=Stage.CONFIRM, number=number)
        for number, again in enumerate(shown, 1)
        for arm, content in (("baseline", RIGHT), ("ngram", WRONG if again else RIGHT))
    ]
    firsts = [attempt(RIGHT), attempt(WRONG, arm="ngram")]
    return finding_of(record([sample()], [*firsts, *repeats], confirm=max(1, len(shown)), **run))


@pytest.mark.parametrize(
    ("shown", "only"),
    [
        ([True, False], "only_batched"),
        ([True, False, False], "only_batched"),
        ([True, True], None),
        ([True, False, True], None),
        ([False, False], None),
        ([False, True], None),
        ([True], None),
        ([], None),
    ],
)
def test_what_shows_in_company_and_never_alone_is_a_fault_of_company(shown, only):
    """The first confirmation is asked among others, the later ones alone and without prefix cache."""
    finding = confirmed(*shown)
    assert finding.evidence.get("only") == only
    assert finding.reproduced == ((sum(shown), len(shown)) if shown else None)


def test_without_company_it_is_a_fault_of_the_warm_cache():
    """One request at a time has no company."""
    assert confirmed(True, False, concurrency=1).evidence["only"] == "only_warm"


def test_a_fix_has_no_company():
    """Confirmations are asked of regressions; those of a fix, were there any, say nothing."""
    repeats = [
        attempt(content, arm=arm, stage=Stage.CONFIRM, number=number)
        for number in (1, 2)
        for arm, content in (("baseline", RIGHT), ("ngram", WRONG if number == 1 else RIGHT))
    ]
    firsts = [attempt(WRONG), attempt(RIGHT, arm="ngram")]
    finding = finding_of(record([sample()], [*firsts, *repeats], confirm=2))
    assert (finding.transition, finding.reproduced) == (FIX, None)
    assert "only" not in finding.evidence


def test_a_fix_is_no_premature_stop():
    """The word is for candidates."""
    made = run_of([bad(content="Here it is:", tokens=20)], [ok()], control=[bad(content="No:", tokens=60)])
    assert (finding_of(made).transition, finding_of(made).code) == (FIX, "no_call")


def test_an_empty_answer_after_thinking_is_a_premature_stop():
    """As one without a call is; a call that is wrong is none."""
    made = run_of([ok()], [bad(content="<think>\nhm\n</think>", tokens=9)], control=[ok(tokens=60)])
    assert finding_of(made).code == "premature_stop"


def test_a_divergence_of_the_judged_budget_is_evidence():
    """One of another budget, or of another candidate, is not."""
    (graded,) = grade_run(run_of([ok()], [bad()]))
    known = Divergence("s1", "ngram", BUDGET, DivergenceLabel.NEAR_TIE, 0.1)
    other = replace(known, budget=DOUBLE, label=DivergenceLabel.WIDE)
    for divergences, expected in (
        ({"ngram": (other, known)}, known.to_evidence()),
        ({"ngram": (known, other)}, known.to_evidence()),
        ({"ngram": (other,)}, None),
        ({"mtp": (known,)}, None),
    ):
        (finding,) = attribute(
            [replace(graded, divergences=divergences)], baseline="baseline", candidate="ngram"
        )
        assert finding.evidence.get("divergence") == expected


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


def test_a_sample_of_bfcl_shows_that_benchmarks_verdict_on_both_answers():
    """And of a cut answer none: it is not read there."""
    terms = terms_of_description(
        {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    )
    expected = Expected(
        (ExpectedCall("get_weather", {"city": ["Oslo"]}),),
        MatchRule.BFCL,
        BfclTerms(BfclRule.SIMPLE, {"get_weather": terms}),
    )
    shown = finding_of(run_of([ok()], [bad(content=BROKEN)], expected=expected)).evidence["bfcl"]
    right = read_bfcl_answer(expected, [Call("get_weather", {"city": "Oslo"}, Span(0, 0))], is_broken=False)
    broken = read_bfcl_answer(expected, [], is_broken=True)
    assert shown == {"baseline": right.to_json(), "candidate": broken.to_json()}
    undeclared = [ok()], [bad(content=block("nope", city="Oslo"))]
    shown = finding_of(run_of(*undeclared, expected=expected)).evidence["bfcl"]
    other = read_bfcl_answer(expected, [Call("nope", {"city": "Oslo"}, Span(0, 0))], is_broken=False)
    assert shown["candidate"] == other.to_json()
    assert finding_of(run_of([ok()], [cut()], expected=expected)).evidence["bfcl"].keys() == {"baseline"}
    assert "bfcl" not in finding_of(run_of([ok()], [bad()])).evidence


def test_the_words_of_a_finding_are_those_of_the_contract():
    """`findings.jsonl` and `summary.json` are read by other programs."""
    assert [one.value for one in Transition] == ["regression", "fix", "both_pass", "both_fail", "void"]
    assert [one.value for one in Cause] == ["cap", "malformed", "real_change", "unresolved"]
    assert confirmed(True, False).evidence["only"] == ONLY_BATCHED == "only_batched"
    assert ONLY_WARM == "only_warm"
    assert (MISSING.verdict, MISSING.code) == (Verdict.VOID, "missing_attempt")


def test_a_lost_repeat_does_not_end_the_counting():
    """The endpoint's fault is skipped; the repeats after it count."""
    repeats = [attempt(arm="baseline", stage=Stage.CONFIRM, number=number) for number in (1, 2)]
    repeats += [attempt(arm="ngram", stage=Stage.CONFIRM, number=1, error=ErrorType.TIMEOUT)]
    repeats += [attempt(WRONG, arm="ngram", stage=Stage.CONFIRM, number=2)]
    firsts = [attempt(RIGHT), attempt(WRONG, arm="ngram")]
    assert finding_of(record([sample()], [*firsts, *repeats], confirm=2)).reproduced == (1, 1)


def test_the_control_counts_among_the_lengths_of_the_baseline():
    """20 tokens are under half of 50, and not under half of the control's 38."""
    made = run_of([ok()], [bad(content="Here it is:", tokens=20)], control=[ok(tokens=38)])
    assert finding_of(made).code == "no_call"


def test_a_wrong_call_is_no_premature_stop_however_short_it_is():
    """What was called is what is judged."""
    made = run_of([ok()], [bad(content=f"{WRONG}\nAnd so:", tokens=9)], control=[ok(tokens=60)])
    assert finding_of(made).code == "wrong_arguments"


def test_a_regression_that_only_a_cut_made_has_no_locus_and_was_not_also_cut():
    """Neither the cap nor a limit of the server's own is anybody's wrong answer."""
    for candidate in ([cut(), ok(DOUBLE)], [cut(tokens=10), ok(DOUBLE)], [cut(), cut(DOUBLE)]):
        finding = finding_of(run_of([ok(), ok(DOUBLE)], candidate))
        assert finding.transition is REGRESSION
        assert not finding.evidence.keys() & {"locus", "also_cut", "class", "message"}


def test_texts_are_compared_of_discordant_pairs_whose_texts_are_known():
    """Not where both are right in other words, nor where the server took the thinking out of a text."""
    apart = finding_of(run_of([ok()], [bad(content=f"Sure.\n{RIGHT}")]))
    assert apart.transition is BOTH_PASS
    assert "parts_at" not in apart.evidence
    thinking = attempt(RIGHT, reasoning="hm")
    for baseline, candidate in ((thinking, bad()), (ok(), replace(thinking, content=WRONG))):
        finding = finding_of(run_of([baseline], [candidate]))
        assert finding.transition is REGRESSION
        assert "parts_at" not in finding.evidence


def native(city, raw=None, *, stream=False):
    """An answer whose call the server parsed, with the text that it parsed."""
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    one = attempt(None, mode=Mode.NATIVE, tool_calls=[{"id": "a", "type": "function", "function": function}])
    return answer(replace(one, raw_text=raw, stream=stream, finish_reason="tool_calls"))


@pytest.mark.parametrize(
    ("wrong", "beside", "locus", "server_parse"),
    [
        (native("Bergen"), [], "unknown", None),
        (native("Bergen", WRONG), [], "model", None),
        (native("Bergen", RIGHT), [], "server", "server_parse_repair"),
        (native("Bergen", RIGHT, stream=True), [native("Oslo")], "stream", "server_parse_repair"),
        (native("Bergen", RIGHT, stream=True), [native("Bergen")], "server", "server_parse_repair"),
    ],
)
def test_a_regression_says_where_it_went_wrong(wrong, beside, locus, server_parse):
    """With the answers of the same arm to the same question asked whole, and of no other arm."""
    right = grade_answer(native("Oslo"), Reference(OSLO))
    graded = GradedSample(
        sample(),
        {"baseline": {BUDGET: right}, "ngram": {BUDGET: grade_answer(wrong, Reference(OSLO))}},
        {},
        {},
        is_context_limited=False,
        beside={"ngram": tuple(beside), "baseline": (native("Oslo"),)},
    )
    (finding,) = attribute([graded], baseline="baseline", candidate="ngram")
    assert finding.evidence["locus"] == locus
    assert finding.evidence.get("server_parse") == server_parse
    (alone,) = attribute([replace(graded, beside={})], baseline="baseline", candidate="ngram")
    assert alone.evidence["locus"] == ("server" if locus == "stream" else locus)
