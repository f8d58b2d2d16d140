"""One sample in every arm: what would have sufficed, how near a tie it was, where defects stand."""

import msgspec
import pytest
from draftproof.evals.plan import Mode
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.case import divergence, locus, read_case, sufficed, telling_budget

from ..evals.build import attempt, record, sample
from .runs import three_arms


def findings(name):
    summary = summarise(three_arms())
    graded = next(one for one in summary.graded() if one.sample.id == f"core/{name}")
    found = [f for c in summary.comparisons for f in c.findings if f.id == graded.sample.id]
    return read_case(summary, graded), found


@pytest.mark.parametrize(
    ("name", "candidate", "said", "budget"),
    [
        ("cap", 0, "max_tokens 140 would have been enough for ngram; it was cut at 100", 100),
        ("unresolved", 1, "more than max_tokens 200 is needed for mtp: it was cut there too", 200),
        ("real", 0, None, 100),
    ],
)
def test_what_would_have_sufficed_is_said_of_what_was_cut(name, candidate, said, budget):
    """And the budget whose outputs tell is the one that cut."""
    case, found = findings(name)
    assert sufficed(case, found[candidate]) == said
    assert telling_budget(found[candidate]) == budget


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (
            {"label": "near_tie", "margin_nats": 0.031, "token_index": 17},
            "a near tie, which rounding can turn over (0.03 nats, at token 17)",
        ),
        (
            {"label": "wide", "margin_nats": 4.5, "is_lower_bound": True},
            "wide: the baseline had a clear choice (at least 4.50 nats)",
        ),
        (
            {"label": "unknown", "margin_nats": None, "reason": "no logprobs"},
            "how near a tie is not known: no logprobs",
        ),
        (None, None),
    ],
)
def test_a_first_difference_is_a_near_tie_or_wide(evidence, said):
    """In words; nothing is said where nobody asked."""
    _, (finding, _) = findings("real")
    changed = msgspec.structs.replace(finding, evidence={**finding.evidence, "divergence": evidence})
    assert divergence(changed if evidence else finding) == said


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"locus": "server", "server_parse": "server_parse_drop"}, "the server (server_parse_drop)"),
        ({"locus": "model"}, "the model"),
        ({"locus": "unknown"}, None),
        ({}, None),
    ],
)
def test_where_it_went_wrong_is_said_where_it_is_known(evidence, said):
    """Unknown is not said: it helps nobody."""
    _, (finding, _) = findings("real")
    assert locus(msgspec.structs.replace(finding, evidence=evidence)) == said


def native(name, arguments):
    return [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]


@pytest.mark.parametrize(
    ("tool_calls", "content", "line"),
    [
        (native("get_weather", '{"days": 05}'), None, ' 1 | {"days": 05}'),
        (native("get_weather(city='Oslo')", "{}"), None, " 1 | get_weather(city='Oslo')"),
        (None, '<tool_call>{"name": "x"', ' 1 | <tool_call>{"name": "x"'),
    ],
)
def test_a_defect_of_a_servers_calls_is_drawn_in_the_string_in_which_it_stands(tool_calls, content, line):
    """Name, arguments or content: the span counts that string's characters."""
    attempts = [
        attempt(content, "stop", tool_calls=tool_calls, arm=arm, mode=Mode.NATIVE)
        for arm in ("baseline", "ngram")
    ]
    summary = summarise(record([sample()], attempts, mode="native", control=False))
    (one,) = read_case(summary, next(summary.graded())).tries["ngram"]
    drawn = one.drawn_defects(100)[0].split("\n")
    assert drawn[1] == line
    assert "^" in drawn[2]


def test_a_defect_without_a_place_is_said_without_carets():
    """A call without a name stands nowhere."""
    calls = [{"id": "c", "type": "function", "function": {"arguments": "{}"}}]
    attempts = [
        attempt(None, "stop", tool_calls=calls, arm=arm, mode=Mode.NATIVE) for arm in ("baseline", "ngram")
    ]
    summary = summarise(record([sample()], attempts, mode="native", control=False))
    (one,) = read_case(summary, next(summary.graded())).tries["ngram"]
    assert one.drawn_defects(100) == ["missing_name: call 1 has no name\n = A call names its function."]
