"""Free and constrained requests apart, and a note where drafting was thin."""

import json
from dataclasses import replace

import pytest
from draftproof.evals.plan import Mode
from draftproof.evals.servers.counters import Counters
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.constraint_table import constraint_of, constraint_table
from draftproof.reports.contents import build_contents

from ..evals.build import RIGHT, attempt, record, sample

CALL = [
    {
        "id": "c",
        "type": "function",
        "function": {"name": "get_weather", "arguments": json.dumps({"city": "Oslo"})},
    }
]
NAMED = {"type": "function", "function": {"name": "get_weather"}}


@pytest.mark.parametrize(
    ("tool_choice", "extra_body", "kind"),
    [
        ("auto", {}, "auto"),
        ("required", {}, "required"),
        (NAMED, {}, "named function"),
        ("auto", {"response_format": {"type": "json_object"}}, "auto, structured output"),
        ("none", {"structured_outputs": {"regex": "a"}}, "none, structured output"),
        ("auto", {"response_format": None, "top_k": 1}, "auto"),
    ],
)
def test_a_request_says_what_holds_the_model(tool_choice, extra_body, kind):
    """By its fields, as they are sent."""
    assert constraint_of(replace(sample("s"), tool_choice=tool_choice, extra_body=extra_body)) == kind


def made(choices, mode=Mode.NATIVE, **members):
    samples = [replace(sample(f"s{n}"), tool_choice=choice) for n, choice in enumerate(choices)]
    attempts = [
        attempt(None, "tool_calls", sample_id=one.id, arm=arm, mode=mode, tool_calls=None if wrong else CALL)
        for one in samples
        for arm in ("baseline", "ngram")
        for wrong in [arm == "ngram" and one.tool_choice == "required"]
    ]
    return summarise(replace(record(samples, attempts, control=False, confirm=0, mode=mode), **members))


def test_constrained_requests_stand_apart():
    """A regression of the forced ones is not lost among the free."""
    table = constraint_table(made(["auto", "auto", "required"]))
    assert table.header == ("tool_choice", "ngram")
    assert table.rows == (("auto", "0 / 0 of 2"), ("required", "1 / 0 of 1"))


def test_no_table_where_all_are_free():
    """Nothing to tell apart; in prompted mode nothing is constrained."""
    assert constraint_table(made(["auto", "auto"])) is None
    prompted = [attempt(RIGHT, sample_id="s0", arm=arm) for arm in ("baseline", "ngram")]
    run = record([replace(sample("s0"), tool_choice="required")], prompted, control=False, confirm=0)
    assert constraint_table(summarise(run)) is None


@pytest.mark.parametrize(("accepted", "is_said"), [(5, True), (10, False), (0, False)])
def test_thin_drafting_is_said(accepted, is_said):
    """Half a percent of the output tells little; none at all is void already."""
    counters = {"ngram": Counters(10, 40, accepted, (), 1000)}
    notes = build_contents(made(["auto"], counters=counters)).notes
    said = "Only 0.50% of ngram's output came out of drafts: this says little about speculation."
    assert (said in notes) is is_said
