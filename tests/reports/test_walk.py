"""A way through the findings: which there are, which is next, and where it ends."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.judging.finding import Cause
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.walk import Wanted, chosen_sample, findings_table, wanted_findings

from .runs import three_arms


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Wanted(cause=Cause.CAP), ["core/cap", "core/thinking"]),
        (Wanted(code="invalid_json"), ["core/syntax", "core/syntax"]),
        (Wanted(code="no_call", cause=Cause.REAL_CHANGE), ["core/silent"]),
        (Wanted(code="timeout"), ["core/void"]),
        (Wanted(cause=Cause.UNRESOLVED), ["core/unresolved"]),
    ],
)
def test_findings_are_chosen_by_code_and_cause(wanted, ids):
    """In the order of the suite; a void sample by its code."""
    assert [finding.id for finding in wanted_findings(summarise(three_arms()), wanted)] == ids


def test_without_a_choice_all_regressions_and_fixes_are_listed():
    """The table counts them."""
    table = findings_table(wanted_findings(summarise(three_arms()), Wanted()))
    assert table.title == "Findings (n = 11)"
    assert ("core/fix", "mtp", "fix", "real_change", "wrong_arguments", "–") in table.rows


def test_a_walk_goes_from_sample_to_sample_and_ends():
    """Each stop names the command for the next; the last one none."""
    summary, wanted = summarise(three_arms()), Wanted(cause=Cause.CAP)
    first, place = chosen_sample(summary, wanted, None)
    assert (first, place) == (
        "core/cap",
        "1 of 2; next: draftproof show runs/test --cause cap --next core/cap",
    )
    assert chosen_sample(summary, wanted, first) == ("core/thinking", "2 of 2")
    with pytest.raises(UserError, match="no finding is left"):
        chosen_sample(summary, wanted, "core/thinking")


def test_a_walk_goes_on_from_a_sample_that_is_no_finding():
    """`--next` takes any id of the run."""
    assert (
        chosen_sample(summarise(three_arms()), Wanted(code="wrong_arguments"), "core/silent")[0] == "core/fix"
    )


def test_a_command_to_copy_is_quoted_where_a_shell_would_read_it_otherwise():
    """An id is somebody else's text."""
    summary = summarise(three_arms(ids=lambda name: f"$(id) {name}"))
    _, place = chosen_sample(summary, Wanted(cause=Cause.CAP), None)
    assert place.endswith("--next '$(id) cap'")


@pytest.mark.parametrize(
    ("wanted", "after", "words"),
    [
        (Wanted(code="nonsense"), None, "no finding has code nonsense"),
        (Wanted(), "nobody", "no sample has the id 'nobody'"),
    ],
)
def test_what_is_not_there_is_one_clear_error(wanted, after, words):
    """And the tip says what there is."""
    with pytest.raises(UserError, match=words):
        chosen_sample(summarise(three_arms()), wanted, after)
