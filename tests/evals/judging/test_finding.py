"""What stands in a finding beside its cause: reports and findings.jsonl show it."""

from dataclasses import replace

import msgspec
import pytest
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.judging.attribute import (
    MISSING,
    ONLY_BATCHED,
    ONLY_WARM,
    attribute,
)
from draftproof.evals.judging.finding import Cause, Finding, Transition
from draftproof.evals.judging.finding_line import line_of
from draftproof.evals.judging.grade import Fault, Reference, Verdict, grade_answer
from draftproof.evals.judging.ladder import GradedSample, grade_run
from draftproof.evals.plan import Mode
from draftproof.evals.runs.divergence import Divergence, DivergenceLabel
from draftproof.parsers.result import Call, Span
from draftproof.tasks.bfcl_reading import read_bfcl_answer
from draftproof.tasks.bfcl_terms import BfclRule, BfclTerms, terms_of_description
from draftproof.tasks.sample import Expected, ExpectedCall, MatchRule

from ..build import (
    BROKEN,
    BUDGET,
    LOOP,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    answer,
    attempt,
    block,
    record,
    sample,
)
from .pairs import BOTH_PASS, DOUBLE, FIX, REGRESSION, bad, cut, failed, finding_of, ok, run_of


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
            [msgspec.structs.replace(graded, divergences=divergences)], baseline="baseline", candidate="ngram"
        )
        assert finding.evidence.get("divergence") == expected


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
    (alone,) = attribute([msgspec.structs.replace(graded, beside={})], baseline="baseline", candidate="ngram")
    assert alone.evidence["locus"] == ("server" if locus == "stream" else locus)
