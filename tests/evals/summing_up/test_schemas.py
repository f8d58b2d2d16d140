"""The published schemas: generated from what writes the files, up to date, and kept by a real run's files."""

import json
from pathlib import Path

import pytest
from draftproof.evals.judging.finding_line import FindingLine, line_of
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.schemas import SCHEMAS, schema_text
from draftproof.evals.summing_up.summary import summarise
from jsonschema import Draft202012Validator

from ...reports.test_reports import hostile_run, make_run
from ..build import attempt, plan, record, sample

DOCS = Path(__file__).parents[3] / "docs"


def validator(name):
    schema = json.loads((DOCS / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_up_to_date(name):
    """Change a model and `make schemas` must follow; a changed name wants a new format besides."""
    assert json.loads((DOCS / name).read_text(encoding="utf-8")) == json.loads(schema_text(name))


@pytest.mark.parametrize(
    "made",
    [
        make_run(),
        make_run(control=False, in_turn=True),
        hostile_run(),
        record([sample()], [attempt()]),
    ],
    ids=["every cause", "no control", "hostile", "incomplete"],
)
def test_the_files_of_a_run_keep_to_their_schemas(tmp_path, made):
    """Both files, with every kind of finding, and with figures that are missing."""
    assert derive(made, tmp_path)[1] is None
    validator("summary.schema.json").validate(json.loads((tmp_path / "summary.json").read_text()))
    lines = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text().splitlines()]
    assert len(lines) == len(made.samples)
    for line in lines:
        validator("finding.schema.json").validate(line)


@pytest.mark.parametrize(
    ("key", "value"),
    [("decision", "maybe"), ("exit_code", "0"), ("suite", None), ("format", 2), ("arms", {"ngram": {}})],
)
def test_the_schema_refuses_what_the_file_never_holds(key, value):
    """It is a contract, not a decoration."""
    written = summarise(make_run()).to_json()
    assert validator("summary.schema.json").is_valid(written)
    assert not validator("summary.schema.json").is_valid({**written, key: value})


def test_every_name_in_the_files_is_in_the_schema():
    """Nothing is written that the schema does not describe."""
    schema = json.loads(schema_text("summary.schema.json"))
    written = summarise(make_run()).to_json()
    assert written.keys() == schema["properties"].keys()
    for entry, name in (
        (written["arms"]["ngram"], "ArmEntry"),
        (written["comparisons"][0], "ComparisonEntry"),
        (written["comparisons"][0]["fixes"], "CountsEntry"),
    ):
        assert entry.keys() == schema["$defs"][name]["properties"].keys()


def test_how_the_run_was_asked_stands_in_the_summary():
    """Settings by the plan's keys: a summary kept alone still says what it may be compared with."""
    settings = summarise(make_run()).to_json()["settings"]
    assert settings["run.max_tokens"] == plan().run.max_tokens
    assert settings["arms.ngram.model"] == "m"


def test_a_line_reads_back_as_it_was_written():
    """The model that writes findings.jsonl reads it."""
    for finding in summarise(make_run()).comparisons[0].findings:
        line = json.loads(json.dumps(line_of(finding)))
        read = FindingLine.model_validate(line)
        assert (list(line), line) == (list(FindingLine.model_fields), read.model_dump())
