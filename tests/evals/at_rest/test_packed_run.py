"""A packed run says what its journals say, and gives them back byte for byte."""

import json
from dataclasses import replace

import pytest
from draftproof.evals.at_rest import packed_file, packed_run
from draftproof.evals.at_rest.merge import merge_runs
from draftproof.evals.at_rest.open_run import open_run
from draftproof.evals.at_rest.packed_run import PackedRun
from draftproof.evals.at_rest.packing import pack_run, unpack_run
from draftproof.evals.runs.record import Record, read_run
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.frames import render_frames
from draftproof.reports.sample import render_repeat, render_sample

from ...reports.runs import three_arms
from ...reports.test_reports import make_run
from ...scripted import ScriptedServer, error
from ...test_cli import draftproof
from ..build import attempt, record, sample
from ..runs.test_stored_run import REPORTS, RUNS, written
from ..scripted_runs import CAP, ask, cut, make_plan, number_of, right, write_suite, wrong
from .packed_runs import derived_files, kept_files, packed
from .test_merge import ask_shard

pytestmark = pytest.mark.usefixtures("in_small_groups")


def holds_the_same(directory):
    """Whether the packed run is judged as its journals are, and gives them back."""
    there = packed(directory)
    run = open_run(there)
    # A run that stopped early is gone through in random order, and so is never read group by group.
    is_in_groups = packed_run.SMALL < 0 and not run.plan.run.until_decided
    assert isinstance(run, PackedRun if is_in_groups else Record)
    of_journals = derived_files(read_run(directory), directory.with_name("of-journals"))
    assert derived_files(run, directory.with_name("of-packed")) == of_journals
    unpack_run(there, directory.with_name("back"))
    assert kept_files(directory.with_name("back")) == kept_files(directory)
    return of_journals


@pytest.mark.parametrize("make", RUNS.values(), ids=RUNS)
@pytest.mark.usefixtures("is_left_on_disk")
def test_both_derived_files_are_the_same_and_the_journals_come_back(tmp_path, make):
    """Whatever the run holds, and in whatever order its lines came."""
    holds_the_same(written(tmp_path / "run", make()))


@pytest.mark.usefixtures("is_left_on_disk")
def test_a_real_run_is_the_same(tmp_path):
    """Doublings, confirmations, another way of asking beside, failures that were asked again."""

    def flaky(request):
        match number_of(request):
            case 2:
                return error(500)
            case 3 if request.body["max_tokens"] == CAP:
                return cut(request)
            case _:
                return right(request)

    suite = write_suite(tmp_path / "suite.jsonl", 6)
    with ScriptedServer(right) as baseline, ScriptedServer(flaky) as mtp:
        plan = make_plan(
            suite, {"baseline": baseline, "mtp": mtp}, retries=0, control=True, confirm=1, stream="both"
        )
        ask(plan, tmp_path / "run")
        mtp.reply = wrong
        ask(plan, tmp_path / "run")
    lines = (tmp_path / "run" / "attempts" / "mtp.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {"success", "failed"} == {row["status"] for row in rows}
    assert {"first", "doubled", "confirm"} == {row["stage"] for row in rows}
    assert {True, False} == {row["stream"] for row in rows}
    findings, _ = holds_the_same(tmp_path / "run")
    assert b'"regression"' in findings


@pytest.mark.usefixtures("is_left_on_disk")
def test_a_redacted_run_is_the_same(tmp_path):
    """Its readings of texts that are hashes now are kept as well."""
    with ScriptedServer(right) as baseline, ScriptedServer(wrong) as mtp:
        servers = {"baseline": baseline, "mtp": mtp}
        plan = make_plan(write_suite(tmp_path / "suite.jsonl"), servers, redact=True, margins=False)
        ask(plan, tmp_path / "run")
    assert any(one.reading for one in read_run(tmp_path / "run").attempts.values())
    holds_the_same(tmp_path / "run")


@pytest.mark.usefixtures("is_left_on_disk")
def test_shards_are_the_same_and_can_be_joined_packed(tmp_path):
    """Also one that no sample fell to; the joined run, packed or not, is that of the journals."""
    suite = write_suite(tmp_path / "suite.jsonl", 3)
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, margins=False)
        shards = [ask_shard(plan, tmp_path / f"s{n}" / "run", n, 4) for n in (1, 2, 3, 4)]
    assert any(not read_run(shard).samples for shard in shards)
    for shard in shards:
        holds_the_same(shard)
    merge_runs(shards, tmp_path / "plain", tell=pytest.fail)
    some_packed = [*(packed(shard, tmp_path / shard.parent.name / "p") for shard in shards[:2]), *shards[2:]]
    merge_runs(some_packed, tmp_path / "joined", tell=pytest.fail)
    assert kept_files(tmp_path / "joined") == kept_files(tmp_path / "plain")
    pack_run(tmp_path / "joined", tmp_path / "both")
    assert kept_files(tmp_path / "both").keys() == {"run.json", "samples.parquet", "attempts.parquet"}
    expected = derived_files(read_run(tmp_path / "plain"), tmp_path / "of-plain")
    assert derived_files(open_run(tmp_path / "both"), tmp_path / "of-both") == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


SPOILT = {
    "torn": lambda first, _: first[:60] + b"\n",
    "torn before its id": lambda first, _: first[:4] + b"\n",
    "blank": lambda *_: b"\n  \n",
    "of nobody": lambda first, _: first.replace(b'{"id":"', b'{"id":"no'),
    "of nobody, and torn": lambda *_: b'{"id":"nobody"}\n',
    "no text": lambda *_: b"\x00\n\xff\xfe{\n",
    "of another arm": lambda first, _: first.replace(b'"arm":"ngram"', b'"arm":"baseline"'),
    "with spaces": lambda first, _: json.dumps(json.loads(first)).encode() + b"\n",
    "with a member of a later version": lambda first, _: first.replace(b"}\n", b',"later":1}\n'),
    "with a number that no column holds": lambda first, _: first.replace(
        b'"index":', b'"index":1' + b"0" * 30
    ),
    "with an infinite number": lambda first, _: first.replace(b'"retries":', b'"ttft_ms":1e400,"retries":'),
    "twice": lambda first, last: first + last,
    "with a carriage return": lambda first, _: first.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
@pytest.mark.usefixtures("is_left_on_disk")
def test_no_line_is_lost_or_mended(tmp_path, spoil):
    """What is no attempt, or is not as it would be written, stands as it is and is named where it stood."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "attempts" / "ngram.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(lines[0] + spoil(lines[0], lines[-1]) + whole + lines[3][:-1])
    holds_the_same(directory)


@pytest.mark.usefixtures("is_left_on_disk")
def test_an_arm_without_a_journal_stays_without(tmp_path):
    """And one whose journal is empty says as little."""
    directory = written(tmp_path / "run", record([sample("a"), sample("b")], [attempt(sample_id="b")]))
    assert not (directory / "attempts" / "ngram.jsonl").exists()
    holds_the_same(directory)


# Beside those that read a stored run.
MORE_REPORTS = {
    "show nobody": lambda summary: render_sample(summary, "nobody"),
    "repeat": lambda summary: render_repeat(summary, "core/cap", "curl"),
    "csv": lambda summary: render_frames(summary, "csv"),
    "parquet": lambda summary: render_frames(summary, "parquet"),
}


@pytest.mark.parametrize("render", (REPORTS | MORE_REPORTS).values(), ids=REPORTS | MORE_REPORTS)
@pytest.mark.usefixtures("is_left_on_disk")
def test_reports_show_the_same(tmp_path, render):
    """Those that need texts or requests read them for what they show."""
    directory = written(tmp_path / "run", three_arms())
    there = packed(directory)
    expected = summarise(read_run(directory))
    found = summarise(replace(open_run(there), directory=directory))
    assert render(found) == render(expected)


def test_no_request_is_read_to_judge(tmp_path, monkeypatch):
    """They are most of what stands there; whoever shows a sample reads those of its group."""
    monkeypatch.setattr(packed_run, "SMALL", -1)
    directory = packed(written(tmp_path / "run", three_arms()))
    columns = set()
    read = packed_file.PackedFile.read

    def noted(file, group, names):
        columns.update(names)
        return read(file, group, names)

    monkeypatch.setattr(packed_file.PackedFile, "read", noted)
    summary = summarise(open_run(directory))
    assert "content" in columns
    assert "request" not in columns
    one = next(iter(summary.record_of("core/cap").attempts.values()))
    assert one.request == read_run(tmp_path / "run").attempts[one.key].request
    assert one.request


def test_every_command_reads_a_packed_run_and_none_asks_in_it(tmp_path):
    """The exit codes are those of the run that it was packed from."""
    suite = write_suite(tmp_path / "suite.jsonl")
    with ScriptedServer(right) as baseline, ScriptedServer(wrong) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}), tmp_path / "one" / "run")
        did = draftproof("pack", tmp_path / "one" / "run", "-o", tmp_path / "two" / "run")
        assert did.returncode == 0, did.stderr
        asked = len(baseline.requests)
        resumed = draftproof("run", "--out", tmp_path / "two" / "run")
        assert len(baseline.requests) == asked
    assert resumed.returncode == 2
    assert "is packed, and nothing can be asked there" in resumed.stderr
    did = draftproof("unpack", tmp_path / "two" / "run", "-o", tmp_path / "back")
    assert did.returncode == 0, did.stderr
    assert kept_files(tmp_path / "back") == kept_files(tmp_path / "one" / "run")
    for command in (
        ("report", "{}"),
        ("report", "{}", "--format", "json"),
        ("gate", "{}"),
        ("diff", "{}"),
        ("show", "{}"),
        ("show", "{}", "s/1"),
        ("report", "{}", "--format", "csv"),
    ):
        of_run, of_packed = (
            draftproof(*(part.format(tmp_path / name / "run") for part in command)) for name in ("one", "two")
        )
        assert of_packed.returncode == of_run.returncode
        said = of_packed.stdout.replace(str(tmp_path / "two"), str(tmp_path / "one"))
        assert said == of_run.stdout
    for name in ("findings.jsonl", "summary.json"):
        of_run, *others = ((tmp_path / there / name).read_bytes() for there in ("one/run", "two/run", "back"))
        assert others == [of_run, of_run]
