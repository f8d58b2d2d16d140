"""How an answer ended: what the server says, what the token count says, and which of the two is believed."""

import pytest
from draftproof.evals.plan import Mode
from draftproof.evals.reading.answer import Ending, settle_endings
from draftproof.parsers.codes import DefectCode

from ..build import BROKEN, BUDGET, OPEN, RIGHT, answer, attempt

CALLS = [
    {
        "id": "c1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
    }
]


@pytest.mark.parametrize(
    ("content", "finish_reason", "tokens", "context", "ending"),
    [
        (RIGHT, "stop", 50, None, Ending.FINISHED),
        (RIGHT, "tool_calls", 50, None, Ending.FINISHED),
        # A stop token exactly at the budget, after a whole call, is an end.
        (RIGHT, "stop", BUDGET, None, Ending.FINISHED),
        (RIGHT, "tool_calls", BUDGET, None, Ending.FINISHED),
        # The same count with an unfinished block is a cut, whatever the reason says.
        (OPEN, "tool_calls", BUDGET, None, Ending.CUT_MASKED),
        (OPEN, "stop", BUDGET, None, Ending.CUT_MASKED),
        (RIGHT + "\n" + OPEN, "stop", BUDGET, None, Ending.CUT_MASKED),
        # Prose without a call at the limit is asked again.
        ("I would say that", "stop", BUDGET, None, Ending.CUT_MASKED),
        ("I would say that", "stop", BUDGET - 1, None, Ending.FINISHED),
        (OPEN, "stop", 50, None, Ending.FINISHED),
        # `length` is a cut even after a whole call: another one could have followed.
        (RIGHT, "length", BUDGET, None, Ending.CUT),
        (OPEN, "length", None, None, Ending.CUT),
        (OPEN, "max_tokens", BUDGET, None, Ending.CUT),
        # `length` below the budget: the context, where it is known to be full.
        (OPEN, "length", 60, 80, Ending.CUT_CONTEXT),
        (OPEN, "length", 59, 80, Ending.CUT_CONTEXT),
        (OPEN, "length", 60, 4096, Ending.CUT),
        (OPEN, "stop", 60, 80, Ending.CUT_MASKED),
        (OPEN, "stop", 59, 80, Ending.FINISHED),
        # Absent stays absent, and is graded on its text.
        (RIGHT, None, 50, None, Ending.MISSING_FINISH),
        (OPEN, None, BUDGET, None, Ending.CUT_MASKED),
        (OPEN, None, None, None, Ending.MISSING_FINISH),
        ("", "content_filter", 5, None, Ending.FILTERED),
        ("", "abort", 5, None, Ending.ABORTED),
        (RIGHT, "repetition", 5, None, Ending.REPETITION),
        ("<think>\nLet me", "length", BUDGET, None, Ending.CUT_REASONING),
        ("<think>\nLet me", "stop", BUDGET, None, Ending.CUT_REASONING),
        ("<think>\nShort.\n</think>\n\n" + OPEN, "length", BUDGET, None, Ending.CUT),
    ],
)
def test_an_ending_follows_from_reason_tokens_and_text(content, finish_reason, tokens, context, ending):
    """The token count unmasks a cut; `length` is never explained away; null is never `stop`."""
    assert answer(attempt(content, finish_reason, tokens=tokens), context=context).ending is ending


def test_reasoning_that_the_server_split_off_is_cut_while_thinking():
    """With thinking in its own field and no content yet, the cut fell into the thinking."""
    cut = attempt("", "length", tokens=BUDGET, reasoning="I should look up")
    assert answer(cut).ending is Ending.CUT_REASONING
    assert answer(cut).parsed.reasoning == "I should look up"


@pytest.mark.parametrize(
    ("content", "finish_reason", "codes"),
    [
        (OPEN, "length", []),
        (OPEN, "stop", [DefectCode.UNCLOSED_BLOCK]),
        (BROKEN, "length", [DefectCode.INVALID_JSON]),
        (BROKEN + "\n" + OPEN, "length", [DefectCode.INVALID_JSON]),
        (BROKEN + "\n" + OPEN, "stop", [DefectCode.INVALID_JSON, DefectCode.UNCLOSED_BLOCK]),
        ("<think>\nLet me", "length", []),
        ("<think>\nLet me", "stop", [DefectCode.UNCLOSED_REASONING]),
    ],
)
def test_a_cut_explains_the_open_end_and_nothing_else(content, finish_reason, codes):
    """What stands before the place of the cut stays a defect."""
    tokens = BUDGET if finish_reason == "length" else 50
    assert [d.code for d in answer(attempt(content, finish_reason, tokens=tokens)).defects] == codes


def test_the_same_length_below_the_budget_twice_is_a_limit_of_the_server():
    """`length` at 60 of 100 and at 61 of 200 tokens is a limit that nobody asked for."""
    settled = settle_endings(
        {
            100: answer(attempt(OPEN, "length", tokens=60)),
            200: answer(attempt(OPEN, "length", tokens=61, budget=200)),
        }
    )
    assert [one.ending for one in settled.values()] == [Ending.CUT_SERVER, Ending.CUT_SERVER]


def test_the_same_length_above_two_budgets_was_cut_by_neither():
    """A server that ignores the budget, or counts more than the answer, ends its answers itself."""
    native = {"mode": Mode.NATIVE, "content": None, "finish_reason": "tool_calls", "tool_calls": CALLS}
    settled = settle_endings(
        {
            100: answer(attempt(**native, tokens=500)),
            200: answer(attempt(**native, tokens=500, budget=200)),
        }
    )
    assert [one.ending for one in settled.values()] == [Ending.FINISHED, Ending.FINISHED]


@pytest.mark.parametrize(("told", "counted"), [(0, None), (-1, None), (1, 1)])
def test_a_count_of_nothing_under_a_text_is_no_count(told, counted):
    """Whoever fills in 0 or -1 counted nothing; an empty answer may well have taken no token."""
    assert attempt(OPEN, tokens=told).completion_tokens == counted
    assert attempt("", tokens=0).completion_tokens == 0


@pytest.mark.parametrize(
    ("arguments", "reason", "codes"),
    [
        (['{"days": 3}'], "length", []),
        (['{"days": 3}'], "tool_calls", []),
        ([""], "tool_calls", []),
        # An earlier call was whole, whatever became of the last one.
        (['{"days": 3}', '{"city": "Oslo"}'], "length", [DefectCode.SCHEMA_MISSING_REQUIRED]),
        (['{"days": 3}', '{"ci'], "length", [DefectCode.SCHEMA_MISSING_REQUIRED]),
    ],
)
def test_a_call_that_the_server_closed_at_the_cap_is_no_defect(arguments, reason, codes):
    """What is missing in the last call of a cut answer the cut explains."""
    calls = [{**CALLS[0], "function": {"name": "get_weather", "arguments": text}} for text in arguments]
    here = answer(attempt(None, reason, mode=Mode.NATIVE, tokens=BUDGET, tool_calls=calls))
    assert here.is_cut
    assert [defect.code for defect in here.defects] == codes


def test_another_length_below_the_budget_is_still_a_cut():
    """60 tokens and then 90 tokens are two cuts, not one limit."""
    settled = settle_endings(
        {
            100: answer(attempt(OPEN, "length", tokens=60)),
            200: answer(attempt(OPEN, "length", tokens=90, budget=200)),
        }
    )
    assert [one.ending for one in settled.values()] == [Ending.CUT, Ending.CUT]


@pytest.mark.parametrize(
    ("later_arguments", "ending"),
    [('{"city": "Oslo"}', Ending.FINISHED), ('{"city": "Oslo", "days": 3}', Ending.CUT_MASKED)],
)
def test_a_native_answer_at_the_limit_is_finished_if_more_room_gives_the_same_calls(later_arguments, ending):
    """Some servers close open tags themselves: a cut call can look valid with a parameter missing."""
    later = [{**CALLS[0], "function": {"name": "get_weather", "arguments": later_arguments}}]
    native = {"mode": Mode.NATIVE, "content": None, "finish_reason": "tool_calls"}
    here = answer(attempt(**native, tokens=BUDGET, tool_calls=CALLS))
    there = answer(attempt(**native, tokens=120, budget=200, tool_calls=later))
    assert here.ending is Ending.CUT_MASKED
    assert settle_endings({100: here, 200: there})[100].ending is ending
