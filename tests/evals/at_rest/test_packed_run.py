"""A packed run says what its journals say, and gives them back byte for byte."""

import importlib
import json
import shutil
from dataclasses import replace

import pytest
from draftproof.errors import UserError
from draftproof.evals.at_rest import packed_file, packed_run, packing
from draftproof.evals.at_rest.attempt_columns import Line, attempts_of, columns_of, columns_schema, read_rows
from draftproof.evals.at_rest.merge import merge_runs
from draftproof.evals.at_rest.open_run import open_run
from draftproof.evals.at_rest.packed_file import PackedWriter, attempts_file, samples_file
from draftproof.evals.at_rest.packed_run import PackedRun
from draftproof.evals.at_rest.packing import pack_run, unpack_run
from draftproof.evals.attempt import (
    Attempt,
    Drafts,
    EndpointError,
    ErrorType,
    ReadCall,
    Reading,
    ReadMark,
    Stage,
    Timing,
    Usage,
    read_attempt,
)
from draftproof.evals.plan import Mode
from draftproof.evals.runs import stored_run
from draftproof.evals.runs.record import Record, read_run
from draftproof.evals.summing_up import judged
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.frames import render_frames
from draftproof.reports.html import render_html
from draftproof.reports.junit import render_junit
from draftproof.reports.sample import render_repeat, render_sample
from draftproof.reports.terminal import render_terminal
from hypothesis import given, settings
from hypothesis import strategies as st

from ...reports.runs import three_arms
from ...reports.test_reports import make_run
from ...scripted import ScriptedServer, error, tool_call
from ...test_cli import draftproof
from ..build import RIGHT, attempt, record, sample
from ..runs.test_stored_run import RUNS, written
from ..scripted_runs import CAP, ask, cut, make_plan, number_of, right, write_suite, wrong
from .test_merge import ask_shard


@pytest.fixture(autouse=True)
def in_small_groups(monkeypatch):
    """Groups of a sample or two, judged one after another in this process."""
    monkeypatch.setattr(packing, "GROUP", 5)
    monkeypatch.setattr(stored_run, "BLOCK", 2)
    monkeypatch.setattr(judged, "in_processes", map)


@pytest.fixture(params=["whole", "on disk"])
def is_left_on_disk(request, monkeypatch):
    """A packed run is read whole if it is small, else a group at a time."""
    if request.param == "on disk":
        monkeypatch.setattr(packed_run, "SMALL", -1)
    return request.param == "on disk"


def packed(directory, out=None):
    out = out or directory.with_name(f"{directory.name}-packed")
    pack_run(directory, out)
    return out


def derived_files(run, directory):
    assert derive(run, directory)[1] is None
    return [(directory / name).read_bytes() for name in ("findings.jsonl", "summary.json")]


def kept_files(directory):
    """What a run keeps, byte for byte."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name not in ("findings.jsonl", "summary.json", "run.lock")
    }


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


def test_what_else_stands_in_the_directory_comes_along_and_back(tmp_path):
    """Left out by its exact place is what is written in another form or derived anew, and our locks."""
    directory = written(tmp_path / "run", make_run())
    others = ("servers/mtp.log", "report.html", ".part", "attempts/old.jsonl", "attempts/.note")
    others += ("notes/.keep", "notes/own.lock", "notes/findings.jsonl", "notes/run.json", "own.lock")
    left_out = ("findings.jsonl", "run.lock", "mirror.lock")
    for name in (*others, *left_out):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(name)
    for folder in (directory, directory / "attempts"):
        folder.chmod(0o555)
    there = packed(directory)
    assert all(one.stat().st_mode & 0o200 for one in (there, there / "attempts"))
    names = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
    assert names == {"run.json", "samples.parquet", "attempts.parquet", *others}
    unpack_run(there, tmp_path / "back")
    directory.chmod(0o755)
    (directory / "mirror.lock").unlink()
    assert kept_files(tmp_path / "back") == kept_files(directory)


def test_a_run_packs_without_a_folder_for_journals(tmp_path):
    """It would be empty; what looks for journals finds none there."""
    assert not (packed(written(tmp_path / "run", make_run())) / "attempts").exists()


def test_samples_come_back_line_by_line(tmp_path):
    """What a hand put around them says nothing, and stays behind."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "samples.jsonl"
    lines = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n\r\n"))
    unpack_run(packed(directory), tmp_path / "back")
    assert (tmp_path / "back" / "samples.jsonl").read_bytes() == lines


@pytest.mark.parametrize(
    "render",
    [
        render_terminal,
        render_html,
        render_junit,
        lambda summary: render_sample(summary, "core/cap"),
        lambda summary: render_sample(summary, "nobody"),
        lambda summary: render_repeat(summary, "core/cap", "curl"),
        lambda summary: pair_arms(*operands(summary, "mtp", summary, "ngram")).comparison,
        lambda summary: render_frames(summary, "csv"),
        lambda summary: render_frames(summary, "parquet"),
    ],
    ids=["terminal", "html", "junit", "show", "show nobody", "repeat", "diff", "csv", "parquet"],
)
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


WORDS = st.text(st.characters(), max_size=8)
TEXTS = st.none() | WORDS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(WORDS, one, max_size=3),
    max_leaves=6,
)
COUNTS = st.integers() | st.integers(-5, 5)
MAYBE = st.none() | COUNTS
FLOATS = st.floats(allow_nan=False)
SPANS = st.tuples(st.integers(0, 9), st.integers(0, 9))
MARKS = st.lists(st.builds(ReadMark, WORDS, SPANS), max_size=2).map(tuple)
READINGS = st.builds(
    Reading,
    calls=st.lists(
        st.builds(ReadCall, WORDS, st.dictionaries(WORDS, WORDS, max_size=2), SPANS), max_size=2
    ).map(tuple),
    defects=MARKS,
    notes=MARKS,
    content=WORDS,
    reasoning=WORDS,
)
ATTEMPTS = st.builds(
    Attempt,
    id=WORDS,
    arm=st.sampled_from(["baseline", "ngram"]),
    max_tokens=COUNTS,
    attempt=COUNTS,
    finish_reason=TEXTS,
    stop_reason=JSON,
    content=TEXTS,
    reasoning=TEXTS,
    tool_calls=JSON,
    usage=st.none() | st.builds(Usage, MAYBE, MAYBE, MAYBE),
    request=st.dictionaries(WORDS, JSON, max_size=3),
    duration_ms=FLOATS,
    ttft_ms=st.none() | FLOATS,
    retries=COUNTS,
    spec=st.none() | st.builds(Drafts, COUNTS, COUNTS, MAYBE),
    system_fingerprint=TEXTS,
    error=st.none() | st.builds(EndpointError, message=WORDS, status=MAYBE),
    started_at=WORDS,
    index=COUNTS,
    chunks=MAYBE,
    first_event_ms=st.none() | FLOATS,
    timing=st.none() | st.builds(Timing, st.none() | FLOATS, st.none() | FLOATS, MAYBE),
    raw_text=TEXTS,
    reading=st.none() | READINGS,
)


@settings(deadline=None)
@given(attempts=st.lists(ATTEMPTS, max_size=4))
def test_every_attempt_comes_back(tmp_path_factory, attempts):
    """Its line byte for byte, and every member with its type, whether columns can hold it or not."""
    directory = tmp_path_factory.mktemp("packed")
    texts = [one.to_line().encode() for one in attempts]
    lines = [
        Line(one.arm, n, 10 * n, text) for n, (one, text) in enumerate(zip(attempts, texts, strict=True))
    ]
    with PackedWriter(attempts_file(directory), columns_schema(), "token") as writer:
        writer.write(columns_of(lines))
    rows = list(read_rows(attempts_of(directory), 0, {"baseline", "ngram"}))
    assert [Line(row.arm, row.number, row.offset, row.text) for row in rows] == lines
    for row, text in zip(rows, texts, strict=True):
        if not isinstance(row.attempt, bytes):
            assert repr(row.attempt) == repr(read_attempt(text))


def test_what_columns_can_hold_stands_in_them():
    """A line as it stands is the exception: most of the file would be such lines otherwise."""
    texts = [
        attempt(RIGHT, tool_calls=[tool_call("get_weather", {"city": "Ålesund \ud800"})], drafts=(3, 1)),
        attempt("naïve 😀", None, reasoning="", tokens=None),
        attempt(error=ErrorType.TIMEOUT),
        replace(attempt(), mode=Mode.RAW, stage=Stage.CONTROL, timing=Timing(1.5), raw_text="x", chunks=2),
        attempt("a lone surrogate \udfff"),
    ]
    table = columns_of(Line("baseline", 1, 0, one.to_line().encode()) for one in texts)
    assert [line is None for line in table.column("line").to_pylist()] == [True] * 4 + [False]


def with_other_format(directory):
    pq = importlib.import_module("pyarrow.parquet")
    path = attempts_file(directory)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"draftproof": "9"}), path)


def with_flipped_bytes(directory):
    path = attempts_file(directory)
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2, 7):
        content[place] ^= 0x55
    path.write_bytes(content)


def with_samples_of_another(directory):
    packed(written(directory.with_name("other"), RUNS["half asked"]()))
    shutil.copyfile(samples_file(directory.with_name("other-packed")), samples_file(directory))


def with_samples_packed_again(directory):
    """As many groups, and of the same run, but who is to know."""
    again = packed(directory.with_name("run"), directory.with_name("again"))
    shutil.copyfile(samples_file(again), samples_file(directory))


def rewritten(change, name="attempts"):
    """Change each group of a file, and keep what the file says of itself."""

    def spoil(directory):
        pq, path = importlib.import_module("pyarrow.parquet"), directory / f"{name}.parquet"
        file = pq.ParquetFile(path)
        groups = [change(file.read_row_group(number)) for number in range(file.num_row_groups)]
        with pq.ParquetWriter(path, groups[0].schema.with_metadata(file.schema_arrow.metadata)) as writer:
            for group in groups:
                writer.write_table(group, row_group_size=max(1, group.num_rows))

    return spoil


def with_value(name, value):
    def change(table):
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        cells = importlib.import_module("pyarrow").array([value] * table.num_rows, field.type)
        return table.set_column(place, field, cells)

    return rewritten(change)


def with_renamed_arm(directory):
    path = directory / "run.json"
    path.write_text(path.read_text().replace('"ngram"', '"mtp"'))


def of_text(table):
    place = table.schema.get_field_index("number")
    field = table.schema.field(place).with_type(importlib.import_module("pyarrow").string())
    return table.set_column(place, field, table.column("number").cast(field.type))


ESCAPED = "../../../../escaped"
WRONG_FILES = {
    "cut": (lambda d: attempts_file(d).write_bytes(attempts_file(d).read_bytes()[:-50]), "cannot be read"),
    "empty": (lambda d: attempts_file(d).write_bytes(b""), "cannot be read"),
    "no samples": (lambda d: samples_file(d).unlink(), r"samples\.parquet: cannot be read"),
    "bytes that changed": (with_flipped_bytes, r"attempts\.parquet: cannot be read"),
    "another format": (with_other_format, r"attempts\.parquet: format 9; this version .* reads format 1"),
    "of another run": (with_samples_of_another, "is not of one run with samples.parquet"),
    "of another packing": (with_samples_packed_again, "is not of one run with samples.parquet"),
    "an arm that is a path": (with_value("arm", ESCAPED), f"run.json knows no arm '{ESCAPED}'"),
    "an unknown mode": (with_value("mode", "aloud"), r"attempts\.parquet: cannot be read: 'aloud'"),
    "an unknown stage": (with_value("stage", "last"), r"attempts\.parquet: cannot be read: 'last'"),
    "no JSON": (with_value("tool_calls", "["), r"attempts\.parquet: cannot be read"),
    "a reading that is none": (with_value("reading", "{}"), r"attempts\.parquet: cannot be read"),
    "an arm renamed": (with_renamed_arm, "run.json knows no arm 'ngram'"),
    "samples of another kind": (
        rewritten(lambda t: t.rename_columns(["line", "id"]), "samples"),
        r"samples\.parquet: has other columns",
    ),
    "no budgets": (with_value("max_tokens", None), "an attempt lacks a member"),
    "no ids": (with_value("id", None), "an attempt lacks a member"),
    "a column less": (
        rewritten(lambda t: t.drop_columns(["stage"])),
        "expected one column 'stage' of string, found none",
    ),
    "a column twice": (
        rewritten(lambda t: t.append_column("arm", t.column("arm"))),
        "expected one column 'arm' of string without nulls, found string, string",
    ),
    "a column more": (rewritten(lambda t: t.append_column("more", t.column("arm"))), "has other columns"),
    "a column of another type": (
        rewritten(of_text),
        "expected one column 'number' of int64 .* found string",
    ),
}


@pytest.mark.parametrize(("spoil", "says"), WRONG_FILES.values(), ids=WRONG_FILES)
@pytest.mark.usefixtures("is_left_on_disk")
def test_a_damaged_file_is_one_error(tmp_path, spoil, says):
    """Nothing of it is believed or written anywhere, and it is said what to do."""
    directory = packed(written(tmp_path / "run", make_run()))
    spoil(directory)
    there = set(tmp_path.rglob("*"))
    for read in (
        lambda: summarise(open_run(directory)),
        lambda: unpack_run(directory, tmp_path / "a" / "b" / "back"),
    ):
        with pytest.raises(UserError, match=says) as caught:
            read()
        assert caught.value.exit_code == 2
        assert caught.value.tip
    assert set(tmp_path.rglob("*")) - there <= {tmp_path / "a", tmp_path / "a" / "b"}


def test_a_missing_library_names_the_extra(tmp_path, monkeypatch):
    """To pack and to read."""
    directory = written(tmp_path / "run", make_run())
    there = packed(directory)
    packed_file._module.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    packed_file._opened.cache_clear()
    for act in (lambda: packed(directory, tmp_path / "again"), lambda: open_run(there)):
        with pytest.raises(UserError, match="needs pyarrow") as caught:
            act()
        assert caught.value.tip == "pip install 'draftproof[frames]'"
    assert not (tmp_path / "again").exists()
    packed_file._module.cache_clear()


@pytest.mark.parametrize(
    ("act", "name", "says"),
    [
        (pack_run, "run-packed", "run-packed: is packed already"),
        (unpack_run, "run", "run: is not packed"),
        (pack_run, "nowhere", "not a run directory"),
        (unpack_run, "nowhere", "not a run directory"),
    ],
)
def test_what_there_is_nothing_to_do_with_is_refused(tmp_path, act, name, says):
    """With what to do in its place, and no directory is made."""
    packed(written(tmp_path / "run", make_run()))
    with pytest.raises(UserError, match=says) as caught:
        act(tmp_path / name, tmp_path / "new" / "out")
    assert caught.value.tip
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("act", "name"), [(pack_run, "run"), (unpack_run, "run-packed")])
def test_a_place_that_is_taken_is_refused(tmp_path, act, name):
    """And what stands there stays."""
    directory = written(tmp_path / "run", make_run())
    packed(directory)
    before = kept_files(directory)
    with pytest.raises(UserError, match="is there already"):
        act(tmp_path / name, directory)
    with pytest.raises(UserError, match=r"stands in .*, which is read"):
        act(tmp_path / name, tmp_path / name / "deep" / "new")
    assert not (tmp_path / name / "deep").exists()
    assert kept_files(directory) == before


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
