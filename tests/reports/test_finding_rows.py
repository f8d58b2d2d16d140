"""The findings as the pages' table has them: each tells its whole story, and none can leave its element."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.evals.summing_up.pairing import operands, pair_arms, run_pairs
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.finding_rows import findings_json, json_for_html

from ..evals.build import RIGHT, WRONG
from .runs import three_arms


@pytest.mark.parametrize("sign", ["<", ">", "&", "\u2028", "\u2029", "\x00", "\u202e", "\ud800", "\u00e9"])
def test_json_holds_no_sign_that_html_could_read(sign):
    """And gives back every one of them."""
    text = json_for_html({sign: [f"</script>{sign}<!--"]})
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert json.loads(text) == {sign: [f"</script>{sign}<!--"]}


def test_rows_say_what_broke_how_it_ended_and_what_would_have_sufficed():
    """Everything a person needs to understand one finding, without the run directory."""
    data = json.loads(findings_json(run_pairs(summarise(three_arms()))))
    rows = {(row["id"], row["candidate"]): row for row in data["rows"]}
    cap = rows["core/cap", "ngram"]
    assert (cap["what"], cap["cause"], cap["code"], cap["budget"], cap["judged"]) == (
        "regression",
        "cap",
        "cap_cut",
        100,
        200,
    )
    assert cap["sufficed"] == "max_tokens 140 would have been enough for ngram; it was cut at 100"
    assert [one["ending"] for one in cap["sides"][1]["tries"]] == ["cut", "finished"]
    assert cap["meaning"].startswith("Cut at the first budget")
    assert cap["due"] == ['get_weather {"city": "Oslo"}']
    real = rows["core/real", "ngram"]
    assert (real["code"], real["paths"]) == ("wrong_arguments", ["$.city"])
    assert real["sides"][0]["before"].endswith('{"city": "')
    assert [side["after"][:2] for side in real["sides"]] == ["Os", "Be"]
    syntax = rows["core/syntax", "mtp"]
    assert "^" in syntax["sides"][1]["defects"][0]
    assert "RFC 8259" in syntax["sides"][1]["defects"][0]
    void = rows["core/void", "ngram"]
    assert (void["what"], void["cause"], void["code"]) == ("void", None, "timeout")
    assert void["sides"][1]["tries"][0]["tokens"] is None
    unresolved = rows["core/unresolved", "mtp"]
    assert unresolved["sufficed"] == "more than max_tokens 200 is needed for mtp: it was cut there too"
    body = json.loads(data["bodies"][cap["sides"][1]["body"]])
    assert body["max_tokens"] == 100
    assert "$OPENAI_API_KEY" in data["arms"]["ngram"]["curl"][0]


def test_a_redacted_run_gives_no_bodies_and_no_first_difference():
    """Hashes can be neither sent nor compared by position."""
    data = json.loads(findings_json(run_pairs(summarise(three_arms(redact=True)))))
    assert all(row["difference"] is None for row in data["rows"])


def test_rows_of_two_arms_name_the_one_that_broke():
    """Neither is the baseline, so neither word of a run's own comparison fits."""
    summary = summarise(three_arms())
    pair = pair_arms(*operands(summary, "ngram", summary, "mtp"))
    rows = {row["id"]: row for row in json.loads(findings_json([pair], names_arms=True))["rows"]}
    assert rows["core/silent"]["what"] == "only mtp"
    assert rows["core/real"]["what"] == "only ngram"
    assert (rows["core/real"]["tone"], rows["core/void"]["what"]) == ("fix", "void")
    assert [side["arm"] for side in rows["core/real"]["sides"]] == ["ngram", "mtp"]
    assert rows["core/real"]["commands"] == ["draftproof show runs/test core/real"]


def test_rows_of_two_runs_show_each_side_from_its_own_run():
    """Its own answers, requests and grades, and a command for each run."""
    one = summarise(three_arms({"real": (RIGHT, WRONG, RIGHT)}))
    other = three_arms({"real": (WRONG, WRONG, "Sure!")})
    other = summarise(replace(other, directory=Path("runs/other")))
    pair = pair_arms(*operands(one, "baseline", other, "mtp"))
    data = json.loads(findings_json([pair], names_arms=True))
    (row,) = data["rows"]
    assert (row["what"], row["code"]) == ("only other:mtp", "no_call")
    assert [side["arm"] for side in row["sides"]] == ["test:baseline", "other:mtp"]
    assert row["sides"][1]["before"] + row["sides"][1]["after"] == "Sure!"
    stages = [[one["stage"] for one in side["tries"]] for side in row["sides"]]
    assert stages == [["first", "control"], ["first"]]
    assert row["commands"] == [f"draftproof show runs/{name} core/real" for name in ("test", "other")]


def test_a_control_is_graded_by_its_own_run():
    """Both baselines were asked twice; the second run's was wrong both times."""
    one = summarise(three_arms({"real": (RIGHT, RIGHT, RIGHT)}))
    other = summarise(replace(three_arms({"real": (WRONG, RIGHT, RIGHT)}), directory=Path("runs/other")))
    pair = pair_arms(*operands(one, "baseline", other, "baseline"))
    (row,) = json.loads(findings_json([pair]))["rows"]
    grades = [[one["grade"] for one in side["tries"]] for side in row["sides"]]
    assert grades == [["pass", "pass"], ["fail", "fail"]]
