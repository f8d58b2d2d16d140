"""An attempt judged against its sample."""

from dataclasses import replace

import pytest
from draftproof.evals.attempt import ErrorType, Reading
from draftproof.evals.judging.grade import (
    Blame,
    Fault,
    Grade,
    Reference,
    Verdict,
    grade_answer,
    grade_failed,
    visible_text,
)
from draftproof.tasks.bfcl_terms import BfclRule, BfclTerms, terms_of_description
from draftproof.tasks.sample import Expected, ExpectedCall, MatchRule

from ..build import (
    BROKEN,
    BUDGET,
    LOOP,
    NOTHING_DUE,
    OPEN,
    OSLO,
    RIGHT,
    WRONG,
    answer,
    attempt,
    block,
    grade,
)

TWO_DUE = Expected(
    (ExpectedCall("get_weather", {"city": ["Oslo"]}), ExpectedCall("get_news", {"city": ["Oslo"]}))
)


@pytest.mark.parametrize(
    ("content", "expected", "verdict", "code"),
    [
        (RIGHT, OSLO, Verdict.PASS, None),
        (f"Sure.\n{RIGHT}\nDone.", OSLO, Verdict.PASS, None),
        (WRONG, OSLO, Verdict.FAIL, "wrong_arguments"),
        (block("get_news", city="Oslo"), OSLO, Verdict.FAIL, "wrong_function"),
        (f"{RIGHT}\n{RIGHT}", OSLO, Verdict.FAIL, "duplicate_call"),
        (f"{RIGHT}\n{WRONG}", OSLO, Verdict.FAIL, "extra_call"),
        (RIGHT, TWO_DUE, Verdict.FAIL, "missing_call"),
        (f"{block('get_news', city='Oslo')}\n{RIGHT}", TWO_DUE, Verdict.PASS, None),
        ("It is sunny in Oslo.", OSLO, Verdict.FAIL, "no_call"),
        ("It is sunny in Oslo.", NOTHING_DUE, Verdict.PASS, None),
        (RIGHT, NOTHING_DUE, Verdict.FAIL, "call_not_due"),
        ("", OSLO, Verdict.FAIL, "empty_output"),
        (" \n", NOTHING_DUE, Verdict.FAIL, "empty_output"),
        (LOOP, OSLO, Verdict.FAIL, "degenerate_loop"),
        (LOOP, NOTHING_DUE, Verdict.PASS, None),
        (BROKEN, OSLO, Verdict.FAIL, "invalid_json"),
        (f"{RIGHT}\n{BROKEN}", OSLO, Verdict.FAIL, "invalid_json"),
        (OPEN, OSLO, Verdict.FAIL, "unclosed_block"),
        (block("get_wether", city="Oslo"), OSLO, Verdict.FAIL, "undeclared_function"),
        (block(city=5), OSLO, Verdict.FAIL, "schema_type"),
        (block(days=2), OSLO, Verdict.FAIL, "schema_missing_required"),
        # A broken call where none was due is no abstention.
        (BROKEN, NOTHING_DUE, Verdict.FAIL, "invalid_json"),
    ],
)
def test_a_finished_answer_passes_or_says_the_first_thing_wrong(content, expected, verdict, code):
    """Defects come before differences, and differences in their order of precedence."""
    graded = grade(attempt(content), expected)
    assert (graded.verdict, graded.code) == (verdict, code)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (BROKEN, Fault.SYNTAX),
        (block("get_weather(city='Oslo')"), Fault.SYNTAX),
        (block("get_wether", city="Oslo"), Fault.CONTRACT),
        (block(city=5), Fault.CONTRACT),
        (WRONG, Fault.DIFFERENCE),
    ],
)
def test_syntax_contract_and_difference_are_kept_apart(content, fault):
    """A client could not dispatch the first two; the third it could."""
    assert grade(attempt(content)).blame.fault is fault


@pytest.mark.parametrize(
    ("content", "code", "blamed"),
    [
        (OPEN, "cut", None),
        ("Let me", "cut", None),
        (f"{BROKEN}\n{OPEN}", "cut", "invalid_json"),
        (LOOP, "cut", "degenerate_loop"),
        (f"{RIGHT}\nAnd now", "cut", "overrun"),
        (f"{WRONG}\nAnd now", "cut", None),
    ],
)
def test_a_cut_answer_is_truncated_and_remembers_what_stood_before_the_cut(content, code, blamed):
    """`truncated` is no failure, but a complete defect, a loop or an overrun is kept beside it."""
    graded = grade(attempt(content, "length", tokens=BUDGET))
    assert (graded.verdict, graded.code) == (Verdict.TRUNCATED, code)
    assert (graded.blame.code if graded.blame else None) == blamed


@pytest.mark.parametrize(
    ("error", "verdict", "code"),
    [
        (ErrorType.ENDPOINT_ERROR, Verdict.VOID, "endpoint_error"),
        (ErrorType.TIMEOUT, Verdict.VOID, "timeout"),
        (ErrorType.BAD_RESPONSE, Verdict.VOID, "bad_response"),
        (ErrorType.UNSUPPORTED_REQUEST, Verdict.VOID, "unsupported_request"),
        (ErrorType.SERVER_PARSE_FAILURE, Verdict.FAIL, "server_parse_failure"),
    ],
)
def test_the_endpoints_fault_is_void_and_the_models_is_not(error, verdict, code):
    """An outage is never a failed answer; output that the server's parser could not read is one."""
    graded = grade(attempt(error=error))
    assert (graded.verdict, graded.code) == (verdict, code)
    assert graded.is_endpoint_failure is (verdict is Verdict.VOID)


@pytest.mark.parametrize("reason", ["content_filter", "abort"])
def test_filtered_and_aborted_answers_are_not_judged(reason):
    """They are void, and no failure of the endpoint either."""
    graded = grade(attempt("", reason))
    assert graded.verdict is Verdict.VOID
    assert not graded.is_endpoint_failure


def test_a_repetition_that_the_server_stopped_is_a_loop():
    """`finish_reason: repetition` is the server's own word for it."""
    assert grade(attempt(RIGHT, "repetition")).code == "degenerate_loop"


def test_an_unlabelled_answer_is_compared_with_the_calls_of_the_reference():
    """Key order and prose do not matter; a value does."""
    reference = Reference(answer(attempt(block(city="Oslo", days=2))).parsed.calls)
    assert (
        grade_answer(answer(attempt("Here. " + block(days=2, city="Oslo"))), reference).verdict
        is Verdict.PASS
    )
    assert grade_answer(answer(attempt(block(city="Oslo", days=3))), reference).code == "wrong_arguments"
    assert grade_answer(answer(attempt("No.")), reference).code == "no_call"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"city": "oslo."}, None),  # the benchmark's spelling rule
        ({"city": "Oslo", "note": "x"}, None),  # undeclared in our schema, listed in its ground truth
        ({"city": "Bergen", "note": "x"}, "schema_unexpected"),
        ({"city": "Bergen"}, "wrong_arguments"),
    ],
)
def test_a_call_that_bfcl_accepts_is_not_failed_by_its_own_broken_schema(arguments, code):
    """Published answers of that benchmark break their own schemas; its rule of matching decides there."""
    properties = {"city": {"type": "string"}, "note": {"type": "string"}}
    terms = terms_of_description({"type": "dict", "properties": properties, "required": ["city"]})
    expected = Expected(
        (ExpectedCall("get_weather", {"city": ["Oslo"], "note": ["x", ""]}),),
        MatchRule.BFCL,
        BfclTerms(BfclRule.SIMPLE, {"get_weather": terms}),
    )
    assert grade(attempt(block(**arguments)), expected).code == code
    assert grade(attempt(BROKEN), expected).code == "invalid_json"


FAULTY_ENDINGS = [
    (
        attempt(error=ErrorType.SERVER_PARSE_FAILURE),
        Fault.SYNTAX,
        "server_parse_failure",
        "the server's parser could not read the model's output",
    ),
    (attempt(RIGHT, "repetition"), Fault.DIFFERENCE, "degenerate_loop", "the server stopped a repetition"),
    (attempt(""), Fault.DIFFERENCE, "empty_output", "the answer holds no call and no text"),
    (attempt(LOOP), Fault.DIFFERENCE, "degenerate_loop", "the tail of the answer repeats itself"),
]


@pytest.mark.parametrize(("one", "fault", "code", "message"), FAULTY_ENDINGS, ids=lambda one: str(one)[:24])
def test_a_failure_says_what_kind_it_is_and_why_in_a_sentence(one, fault, code, message):
    """The sentence is what a report prints; the answer stays with its grade."""
    read = answer(one)
    assert grade_answer(read, Reference(OSLO)) == Grade(Verdict.FAIL, code, Blame(fault, code, message), read)


def test_a_defect_or_a_difference_keeps_its_own_words():
    """What the parser and the matching said is what the grade says, with the paths where there are any."""
    broken, wrong = answer(attempt(BROKEN)), answer(attempt(WRONG))
    (defect,) = broken.defects
    assert grade_answer(broken, Reference(OSLO)).blame == Blame(Fault.SYNTAX, "invalid_json", defect.message)
    blame = grade_answer(wrong, Reference(OSLO)).blame
    assert (blame.fault, blame.code) == (Fault.DIFFERENCE, "wrong_arguments")
    assert '"Bergen"' in blame.message
    assert blame.paths == ("$.city",)


@pytest.mark.parametrize(
    ("content", "fault", "code", "message"),
    [
        (
            f"{RIGHT}\nAnd now",
            Fault.DIFFERENCE,
            "overrun",
            "everything due had been called, and the text ran on into the cap",
        ),
        (LOOP, Fault.DIFFERENCE, "degenerate_loop", "the tail of the answer repeats itself"),
    ],
)
def test_what_was_wrong_before_a_cut_is_said_in_full(content, fault, code, message):
    """With the answer, whose tokens the evidence shows."""
    read = answer(attempt(content, "length", tokens=BUDGET))
    assert grade_answer(read, Reference(OSLO)) == Grade(
        Verdict.TRUNCATED, "cut", Blame(fault, code, message), read
    )


@pytest.mark.parametrize(("reason", "code"), [("content_filter", "filtered"), ("abort", "aborted")])
def test_an_answer_that_is_not_judged_says_why(reason, code):
    """And keeps the answer."""
    read = answer(attempt("", reason))
    assert grade_answer(read, Reference(OSLO)) == Grade(Verdict.VOID, code, None, read)


def test_a_failed_attempt_without_an_error_is_the_endpoints_as_well():
    """A journal of another hand may lack it."""
    assert grade_failed(replace(attempt(error=ErrorType.TIMEOUT), error=None)) == Grade(
        Verdict.VOID, "endpoint_error", None, None
    )


def test_a_right_answer_has_no_code_and_no_blame():
    """Nothing to say is None, everywhere."""
    read = answer(attempt(RIGHT))
    assert grade_answer(read, Reference(OSLO)) == Grade(Verdict.PASS, None, None, read)


def test_the_words_on_disk_are_those_of_the_contract():
    """`findings.jsonl` and `summary.json` are read by other programs."""
    assert [one.value for one in Verdict] == ["pass", "fail", "truncated", "void"]
    assert [one.value for one in Fault] == ["syntax", "contract", "difference"]


def test_thinking_is_part_of_what_was_written():
    """A loop in the thinking alone is a loop, and the thinking comes first."""
    both = attempt("b", reasoning="a")
    assert visible_text(both) == "ab"
    assert visible_text(attempt(None)) == ""
    assert grade(attempt("", "length", tokens=BUDGET, reasoning=LOOP)).blame.code == "degenerate_loop"


def test_a_redacted_answer_loops_if_it_did_when_it_came():
    """Its text is a hash; what was said of it then is kept."""
    for did_loop, code in ((True, "degenerate_loop"), (False, "no_call")):
        reading = Reading((), (), (), "hash", "", open=False, loops=did_loop, stops_inside=False)
        assert grade(replace(attempt("hash"), reading=reading)).code == code


def test_what_is_not_said_of_a_grade_is_none():
    """Never an empty word, and never a list that is none."""
    assert Grade(Verdict.VOID) == Grade(Verdict.VOID, None, None, None)
    assert Blame(Fault.SYNTAX, "invalid_json", "why").paths == ()


def test_calls_that_were_read_together_are_compared_once():
    """The difference is the one found before; what was asked of a reference is no part of what it is."""
    reference, calls = Reference(OSLO), answer(attempt(WRONG)).parsed.calls
    first = reference.difference(calls)
    assert first is not None
    assert reference.difference(answer(attempt(RIGHT)).parsed.calls) is None
    assert reference.difference(calls) is first
    assert reference == Reference(OSLO)
    assert repr(reference) == repr(Reference(OSLO))
    assert "said" not in repr(reference)
