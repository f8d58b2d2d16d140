"""A run that stays on disk is judged as the same run in memory."""

import random
from dataclasses import fields, replace

import msgspec
import pytest
from draftproof.errors import UserError
from draftproof.evals.at_rest.open_run import open_run
from draftproof.evals.attempt import Stage
from draftproof.evals.runs import stored_run
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.new_run import create_run
from draftproof.evals.runs.record import Record, read_run
from draftproof.evals.runs.stored_run import index_run
from draftproof.evals.summing_up import judged
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.html import render_html
from draftproof.reports.junit import render_junit
from draftproof.reports.sample import render_sample
from draftproof.reports.terminal import render_terminal
from draftproof.tasks.suite import Suite

from ...reports.runs import three_arms
from ...reports.test_reports import hostile_run, make_run
from ..asking.test_early import always_right, always_wrong, ask_all, empty
from ..build import RIGHT, WRONG, attempt, record, sample


@pytest.fixture(autouse=True)
def in_small_blocks(monkeypatch):
    """Blocks of two samples, judged one after another in this process."""
    monkeypatch.setattr(stored_run, "BLOCK", 2)
    monkeypatch.setattr(judged, "in_processes", map)


def written(directory, made, seed=0):
    """The record as a run directory, its attempts in the order in which a busy server answers: any."""
    suite = Suite(made.samples, made.digest, ("x.jsonl",), made.notes)
    create_run(directory, made.plan, suite)
    attempts = list(made.attempts.values())
    random.Random(seed).shuffle(attempts)
    with Journal(directory) as journal:
        for one in attempts:
            journal.append(one)
    return directory


def unlabelled():
    samples = [sample(f"s{n}", expected=None) for n in range(5)]
    said = {"s1": WRONG, "s3": None}
    attempts = []
    for one in samples:
        attempts += [attempt(RIGHT, sample_id=one.id, stage=stage) for stage in (Stage.FIRST, Stage.CONTROL)]
        attempts.append(attempt(said.get(one.id, RIGHT), sample_id=one.id, arm="ngram"))
    return record(samples, attempts, confirm=0)


RUNS = {
    "every cause": make_run,
    "three arms, asked in turn": three_arms,
    "hostile": hostile_run,
    "unlabelled": unlabelled,
    "no control": lambda: make_run(control=False),
    "nothing asked": lambda: record([sample("a"), sample("b"), sample("c")], []),
    "half asked": lambda: record([sample("a"), sample("b"), sample("c")], [attempt(sample_id="b")]),
    "stopped early": lambda: ask_all(empty(), always_wrong),
    "asked to the end": lambda: ask_all(empty(), always_right),
    "stopped in the middle of asking": lambda: ask_all(empty(), always_right, limit=170),
}


@pytest.mark.parametrize("make", RUNS.values(), ids=RUNS)
def test_both_derived_files_are_the_same_byte_by_byte(tmp_path, make):
    """However the run is cut into blocks, and in whatever order its lines came."""
    directory = written(tmp_path / "run", make())
    for name, run in (("memory", read_run(directory)), ("disk", index_run(directory))):
        assert derive(run, tmp_path / name)[1] is None
    for file in ("findings.jsonl", "summary.json"):
        assert (tmp_path / "memory" / file).read_bytes() == (tmp_path / "disk" / file).read_bytes()


REPORTS = {
    "terminal": render_terminal,
    "html": render_html,
    "junit": render_junit,
    "show": lambda summary: render_sample(summary, "core/cap"),
    "diff": lambda summary: pair_arms(*operands(summary, "mtp", summary, "ngram")).comparison,
}


@pytest.mark.parametrize("render", REPORTS.values(), ids=REPORTS)
def test_reports_show_the_same(tmp_path, render):
    """Those that need texts read them again for the findings that they show."""
    directory = written(tmp_path / "run", three_arms())
    assert render(summarise(index_run(directory))) == render(summarise(read_run(directory)))


def test_another_baseline_is_judged_the_same(tmp_path):
    """The plan changes, the lines do not."""
    directory = written(tmp_path / "run", three_arms())
    of_memory, of_disk = (summarise(read(directory), baseline="mtp") for read in (read_run, index_run))
    assert of_disk.to_json() == of_memory.to_json()
    assert list(map(grades, of_disk.graded())) == list(map(grades, of_memory.graded()))


def grades(one):
    """All grades of a sample, and what each answer was read as."""
    return one.sample, [
        (name, budget, msgspec.structs.replace(grade, answer=None), grade.answer and grade.answer.parsed)
        for name, ladder in [*one.arms.items(), ("control", one.control), *one.confirms.items()]
        for budget, grade in ladder.items()
    ]


def test_requests_are_read_where_a_sample_is_shown_and_left_where_it_is_judged(tmp_path):
    """Of each attempt, whatever the journal's way to write it; what came back is read in either case."""
    directory = written(tmp_path / "run", three_arms())
    whole, run = read_run(directory), index_run(directory)
    for block in run.blocks():
        for key, left in block.read().attempts.items():
            assert left.request == {} != whole.attempts[key].request
            assert run.record_of(key.id).attempts[key] == whole.attempts[key]
            assert all(
                getattr(left, field.name) == getattr(whole.attempts[key], field.name)
                for field in fields(left)
                if field.name != "request"
            )


def test_lines_that_cannot_be_read_are_named_in_their_order(tmp_path):
    """Torn before and after its id, of another format, of nobody; a blank line is no line."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "attempts" / "ngram.jsonl"
    whole = path.read_bytes()
    first = whole.split(b"\n")[0]
    torn = [
        first[:4],
        first[:60],
        b"",
        b'{"id":"same"}',
        b'{"id":"nobody"}',
        b"\x00",
        b"\xff\xfe{",
        first[:-1],
    ]
    path.write_bytes(b"\n".join(torn) + b"\n" + whole)
    summaries = [summarise(read(directory)) for read in (read_run, index_run)]
    named = [f"attempts/ngram.jsonl:{number}" for number in (1, 2, 4, 5, 6, 7, 8)]
    assert [one.judged.damaged for one in summaries] == [named, named]
    assert summaries[0].to_json() == summaries[1].to_json()


def test_one_sample_is_read_without_the_rest(tmp_path):
    """With its attempts of every arm; an unknown id is none."""
    made = three_arms()
    run = index_run(written(tmp_path / "run", made))
    one = run.record_of("core/cap")
    assert [sample.messages for sample in one.samples] == [made.sample("core/cap").messages]
    whole = read_run(tmp_path / "run").attempts
    assert one.attempts == {key: found for key, found in whole.items() if key.id == "core/cap"}
    assert run.record_of("nobody") is None
    assert list(run.ids) == [one.id for one in made.samples]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text + text.splitlines()[1] + "\n", "which line 2 has already"),
        (lambda text: text.replace('"expected":', '"expexted":', 1), "is no known member"),
        (lambda text: text[:-20], "not JSON"),
        (lambda text: text.replace('{"id":', '{"ID":', 1), "samples.jsonl:1"),
        (lambda _: "", "holds no sample"),
        (lambda text: text.replace("}\n", ',"id":"other"}\n', 1), 'holds the key "id" twice'),
        (
            lambda text: text.replace('{"id":', '{"category":"a","category":"b","id":', 1),
            "twice in one object",
        ),
        (lambda text: text.replace("\n", "\n\ufeff", 1), "samples.jsonl:2: not JSON"),
        (lambda text: text.replace("}\n", ',"seed":1e400}\n', 1), "samples.jsonl:1: not JSON"),
        (lambda text: text.replace("}\n", ',"seed":NaN}\n', 1), "samples.jsonl:1: not JSON"),
        (lambda text: text.replace('"Oslo"', "[" * 250 + "]" * 250, 1), "more than 200 levels deep"),
        (
            lambda text: text.replace('{"type":"string"}', '{"default":' + "[" * 194 + "]" * 194 + "}", 1),
            "more than 200 levels deep",
        ),
        (lambda text: text.replace("Weather?", "x" * 2**24, 1), "the line is too long"),
    ],
    ids=[
        "twice",
        "unknown member",
        "torn",
        "no id",
        "empty",
        "two ids",
        "two of a key",
        "a mark in the middle",
        "infinite",
        "no number",
        "too deep",
        "tools too deep",
        "too long",
    ],
)
def test_samples_that_cannot_be_read_are_one_error_on_either_way(tmp_path, spoil, says):
    """The whole file is looked at and said of, as where it is read into memory."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "samples.jsonl"
    path.write_text(spoil(path.read_text()))
    told = []
    for read in (read_run, index_run):
        with pytest.raises(UserError, match=says) as refused:
            summarise(read(directory))
        told.append(str(refused.value))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: b"\xef\xbb\xbf\n" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"\x0c" + content.replace(b"\n", b" \x0b\x0c\n\x0c\n\x0c"),
    ],
    ids=["a mark", "a mark on a line of its own", "carriage returns", "other white space"],
)
def test_what_an_editor_leaves_around_samples_is_none_of_them(tmp_path, change):
    """As in every suite file."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "samples.jsonl"
    path.write_bytes(change(path.read_bytes()))
    assert summarise(index_run(directory)).to_json() == summarise(read_run(directory)).to_json()


@pytest.mark.parametrize(
    "change", [lambda lines: lines[::-1], lambda lines: lines[1:], lambda lines: [*lines[:1], *lines]]
)
def test_samples_that_change_while_they_are_judged_are_said(tmp_path, change):
    """Where each stands is known from before; lines of one length fit their places in any order."""
    directory = written(tmp_path / "run", RUNS["half asked"]())
    run, path = index_run(directory), directory / "samples.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(UserError, match=r"samples\.jsonl"):
        summarise(run)


def test_a_large_run_stays_on_disk(tmp_path, monkeypatch):
    """What is small is read whole: looking at it again costs nothing."""
    directory = written(tmp_path / "run", make_run())
    assert isinstance(open_run(directory), Record)
    monkeypatch.setattr("draftproof.evals.at_rest.open_run.SMALL", 100)
    assert not isinstance(open_run(directory), Record)


def test_a_place_that_cannot_be_written_costs_the_files_alone(tmp_path):
    """The summary is there, the reason is told, and nothing is left behind."""
    made = make_run()
    (tmp_path / "taken").write_text("")
    summary, problem = derive(made, tmp_path / "taken")
    assert "cannot be written" in problem.what
    assert summary.to_json() == summarise(made).to_json()
    (tmp_path / "run" / "findings.jsonl").mkdir(parents=True)
    _, problem = derive(replace(made), tmp_path / "run")
    assert "findings.jsonl: cannot be written" in problem.what
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["findings.jsonl"]
