"""A run as data frames: typed, whole, and with missing values that stay missing."""

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from draftproof.errors import UserError
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.new_run import create_run
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.frames import attempts_frame, findings_frame, grades_frame, render_frames
from draftproof.tasks.suite import Suite

from .runs import three_arms

NULLABLE = {"string", "Int64", "Float64", "boolean"}


def frames():
    summary = summarise(three_arms())
    return attempts_frame(summary.run), grades_frame(summary), findings_frame(summary)


def test_every_attempt_grade_and_finding_is_a_row():
    """No denominator shrinks."""
    attempts, grades, findings = frames()
    assert len(attempts) == len(three_arms().attempts)
    assert len(grades) == len(attempts)
    assert len(findings) == 2 * 12
    assert findings["transition"].value_counts()["regression"] == 9


def test_every_column_has_a_nullable_type_and_missing_stays_missing():
    """Never 0, never an empty text, never a float that was an integer."""
    for frame in frames():
        assert {str(kind) for kind in frame.dtypes} <= NULLABLE
    attempts, _, findings = frames()
    timeout = attempts[attempts["error"] == "timeout"].iloc[0]
    assert timeout["completion_tokens"] is pd.NA
    assert timeout["finish_reason"] is pd.NA
    assert findings["reproduced"].isna().all()
    assert attempts.loc[attempts["arm"] == "baseline", "draft_tokens"].isna().all()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_give_back_the_same_rows(kind):
    """Parquet with its types, CSV with empty cells for what is missing."""
    summary = summarise(three_arms())
    files = render_frames(summary, kind)
    assert files.keys() == {"attempts", "grades", "findings"}
    if kind == "parquet":
        pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(files["findings"])), findings_frame(summary))
    else:
        kinds = {name: str(kind) for name, kind in findings_frame(summary).dtypes.items()}
        pd.testing.assert_frame_equal(
            pd.read_csv(io.BytesIO(files["findings"]), dtype=kinds), findings_frame(summary)
        )


def test_a_lone_surrogate_of_a_server_can_be_written():
    """As its escape."""
    made = three_arms()
    attempts = {key: replace(one, content="a\ud800b") for key, one in made.attempts.items()}
    files = render_frames(summarise(replace(made, attempts=attempts)), "parquet")
    assert set(pd.read_parquet(io.BytesIO(files["attempts"]))["content"]) == {"a\\ud800b"}


@pytest.mark.parametrize(("kind", "name"), [("csv", "pandas"), ("parquet", "pyarrow")])
def test_a_missing_library_names_the_extra(monkeypatch, kind, name):
    """One clear error with the command that mends it."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UserError, match=f"data frames need {name}") as caught:
        render_frames(summarise(three_arms()), kind)
    assert caught.value.tip == "pip install 'draftproof[frames]'"


def test_the_page_about_frames_runs(tmp_path, monkeypatch):
    """Every example of docs/frames.md, in order, against a real run directory."""
    made = three_arms()
    create_run(tmp_path / "runs" / "demo", made.plan, Suite(made.samples, "d", ("x.jsonl",)))
    with Journal(tmp_path / "runs" / "demo") as journal:
        for one in made.attempts.values():
            journal.append(one)
    page = (Path(__file__).parents[2] / "docs" / "frames.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 5
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/frames.md", "exec"), names)
    assert names["would_cut"].to_dict() == {"baseline": 0, "mtp": 2, "ngram": 1}
    assert names["by_code"].to_numpy().sum() == 9
    assert names["share"] is None
    assert json.loads(names["longer"]["baseline"].dropna().to_json(orient="values")) == [0] * 12
