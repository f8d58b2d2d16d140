"""Faults survived: no paid answer is lost, none counts twice, and the findings are those of a quiet run."""

import contextlib
import json
import os
import random
import resource
import stat
import threading
from collections import Counter
from pathlib import Path

import pytest
from draftproof.cli import main
from draftproof.errors import UserError
from draftproof.evals.asking.rounds import is_complete
from draftproof.evals.runs import journal as journal_file
from draftproof.evals.runs.divergence import Divergence, DivergenceLabel, read_divergences
from draftproof.evals.runs.record import read_run
from draftproof.evals.servers.counters import Counters, Snapshot, read_snapshots

from ..scripted import (
    ScriptedReply,
    ScriptedServer,
    answer,
    broken_off,
    delayed,
    error,
    html,
    json_reply,
    not_json,
    reset,
    streamed,
    text_reply,
    tool_call,
    without_choices,
)
from .scripted_runs import (
    CAP,
    ask,
    cut,
    journal,
    judged,
    keys,
    make_plan,
    number_of,
    right,
    write_suite,
    wrong,
)

SETTINGS = {"control": True, "confirm": 1, "doublings": 1, "concurrency": 2}
METRICS = text_reply("vllm:generation_tokens_total 5.0\n")


def eventful(request):
    """One sample is cut, one is wrong, the rest is right."""
    match number_of(request):
        case 0 if request.body["max_tokens"] == CAP:
            return cut(request)
        case 1:
            return wrong(request)
        case _:
            return right(request)


@pytest.fixture
def arms():
    pages = {"/metrics": METRICS}
    with ScriptedServer(right, pages=pages) as baseline, ScriptedServer(eventful, pages=pages) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


@pytest.fixture
def plan(tmp_path, arms):
    return make_plan(write_suite(tmp_path / "suite.jsonl", 4), arms, **SETTINGS)


@pytest.fixture
def quiet(tmp_path, plan, arms):
    """The findings of a run that nothing disturbed, and its directory."""
    ask(plan, tmp_path / "quiet")
    for server in arms.values():
        server.requests.clear()
    return judged(tmp_path / "quiet")[1], tmp_path / "quiet"


def check(directory, quiet, arms):
    """Every answer once, and the findings of the quiet run."""
    record = read_run(directory)
    assert is_complete(record)
    assert all(one.succeeded for one in record.attempts.values())
    for arm in arms:
        rows = [line for line in lines_of(directory, arm) if line.get("status") == "success"]
        assert sorted(keys(rows)) == sorted(keys(journal(quiet[1], arm)))
    assert judged(directory)[1] == quiet[0]


def lines_of(directory, arm):
    """The lines that can be read."""
    rows = []
    for line in (directory / "attempts" / f"{arm}.jsonl").read_bytes().splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(row := json.loads(line), dict):
                rows.append(row)
    return rows


def sends(arms):
    return sum(len(server.requests) for server in arms.values())


FAULTS = {
    "reset": reset(),
    "broken off": broken_off(),
    "html": html(502),
    "html with success": text_reply("<html>", 200, "text/html"),
    "garbage": ScriptedReply(200, bytes(range(256)) * 40, {"Content-Type": "application/json"}),
    "half a JSON": not_json(),
    "no choices": without_choices(),
    "an error in success": json_reply({"error": {"message": "overloaded"}}),
    "a stream that was not asked for": streamed([{"content": "a"}]),
    "a redirect": ScriptedReply(307, b"", {"Location": "http://elsewhere.test/"}),
    "too many requests": error(429, retry_after="3600"),
    "not found": error(404),
    "too many headers": ScriptedReply(200, b"{}", {f"X-{n}": "y" for n in range(10_000)}),
    "an encoding of its own": ScriptedReply(200, b"{}", {"Content-Encoding": "zstd"}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_for_a_while_costs_no_answer(tmp_path, plan, arms, quiet, fault):
    """Some requests fail for good; the next session asks those again, and only those."""
    for name, script in (("baseline", right), ("mtp", eventful)):
        arms[name].reply = lambda request, script=script: (
            fault if 2 <= request.number < 5 else script(request)
        )
    impatient = plan.model_copy(update={"run": plan.run.model_copy(update={"retries": 0})})
    ask(impatient, tmp_path / "run")
    before = read_run(tmp_path / "run").attempts.values()
    assert [one.succeeded for one in before].count(False) >= 4
    paid = sum(one.succeeded for one in before)
    for name, script in (("baseline", right), ("mtp", eventful)):
        arms[name].reply = script
        arms[name].requests.clear()
    ask(plan, tmp_path / "run")
    assert sends(arms) == len(read_run(tmp_path / "run").attempts) - paid
    check(tmp_path / "run", quiet, arms)


def test_a_server_that_dies_and_comes_back_elsewhere_goes_on(tmp_path, plan, arms, quiet):
    """The arm is given up, the run says so, and another address is no other run."""
    arms["mtp"].reply = lambda request: reset() if request.number >= 3 else eventful(request)
    told = ask(plan, tmp_path / "run")
    assert any("still without an answer: mtp" in sentence for sentence in told)
    asked = len(journal(tmp_path / "run", "baseline"))
    with ScriptedServer(eventful) as again:
        moved = make_plan(tmp_path / "suite.jsonl", {**arms, "mtp": again}, **SETTINGS)
        ask(moved, tmp_path / "run")
        assert len(again.requests) == len(journal(quiet[1], "mtp")) - 3
    assert len(arms["baseline"].requests) == len(journal(tmp_path / "run", "baseline")) >= asked
    check(tmp_path / "run", quiet, arms)


def torn(lines, place, source):
    lines[place] = lines[place][: source.randrange(1, len(lines[place]) - 1)] + b"\n"


def flipped(lines, place, source):
    at = source.randrange(len(lines[place]) - 1)
    lines[place] = lines[place][:at] + b"\xff\x00{" + lines[place][at + 1 :]


def joined(lines, place, _source):
    lines[place] = lines[place].rstrip(b"\n")


def zeroed(lines, place, _source):
    lines[place] = bytes(len(lines[place]) - 1) + b"\n"


def deep(lines, place, _source):
    lines[place] = b"[" * 200_000 + b"\n"


def other(lines, place, _source):
    lines[place] = b'{"id": 5}\n'


def doubled(lines, place, _source):
    lines.insert(place, lines[place])


def marked(lines, place, _source):
    lines[place] = b"\xef\xbb\xbf" + lines[place]


def split(lines, place, _source):
    lines[place] = lines[place][:20] + b"\n" + lines[place][20:]


DAMAGES = (torn, flipped, joined, zeroed, deep, other, doubled, marked, split)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_a_damaged_line_anywhere_is_asked_again_and_nothing_else_is(plan, arms, quiet, damage):
    """In every line of a journal, the last one too, and in the counters beside it."""
    source = random.Random(3)
    whole = read_run(quiet[1]).attempts
    path = quiet[1] / "attempts" / "mtp.jsonl"
    original = path.read_bytes()
    places = range(original.count(b"\n"))
    for place in [0, len(places) - 1, source.choice(places)]:
        for file in (path, quiet[1] / "counters" / "mtp.jsonl"):
            lines = file.read_bytes().splitlines(keepends=True)
            damage(lines, min(place, len(lines) - 1), source)
            file.write_bytes(b"".join(lines))
        lost = len(whole) - len(read_run(quiet[1]).attempts)
        assert lost == {doubled: 0, marked: 0, joined: 2}.get(damage, 1) or (damage is joined and lost == 0)
        for server in arms.values():
            server.requests.clear()
        ask(plan, quiet[1])
        assert sends(arms) == lost
        assert read_run(quiet[1]).attempts.keys() == whole.keys()
        assert judged(quiet[1])[1] == quiet[0]
        path.write_bytes(original)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_damaged_lines_of_counters_and_divergences_tell_nothing(tmp_path, damage):
    """The lines around them are read; no kind of damage stops a report."""
    source = random.Random(5)
    for place in (0, 1, 2):
        snapshots = [
            Snapshot("s", f"2026-12-01T00:00:0{n}.000+00:00", Counters(drafts=n)).to_line().encode()
            for n in range(3)
        ]
        damage(snapshots, place, source)
        (tmp_path / "counters.jsonl").write_bytes(b"".join(snapshots))
        assert len(list(read_snapshots(tmp_path / "counters.jsonl"))) in (1, 2, 3, 4)
        lines = [Divergence(f"s/{n}", "mtp", 5, DivergenceLabel.UNKNOWN).to_line().encode() for n in range(3)]
        damage(lines, place, source)
        (tmp_path / "divergences.jsonl").write_bytes(b"".join(lines))
        assert len(read_divergences(tmp_path / "divergences.jsonl")) in (1, 2, 3)


@contextlib.contextmanager
def no_file_over(size):
    """A disk on which no file of this process grows beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 700, 1500, 2500, 4000, 6000, 9000])
def test_a_disk_that_is_full_at_any_moment_costs_no_answer(tmp_path, plan, arms, quiet, size):
    """Whichever file is hit: one clear error, exit code 4; what stands is not asked again."""
    directory = tmp_path / "run"
    with no_file_over(size), pytest.raises(UserError, match="cannot be written") as caught:
        ask(plan, directory)
    assert caught.value.exit_code == 4
    written = sum(len(lines_of(directory, arm)) for arm in arms if (directory / "attempts").exists())
    for server in arms.values():
        server.requests.clear()
    ask(plan, directory)
    check(directory, quiet, arms)
    assert sends(arms) == sum(len(journal(quiet[1], arm)) for arm in arms) - written


@pytest.mark.parametrize("name", ["attempts/mtp", "counters/mtp", "counters/baseline"])
def test_answers_in_flight_are_kept_when_one_file_cannot_be_written(
    tmp_path, plan, arms, quiet, name, monkeypatch
):
    """What the other arm is asked meanwhile is paid for: it is waited for and journalled."""
    directory, write = tmp_path / "run", journal_file._write_whole

    def full(file, line):
        if file.name.endswith(f"{name}.jsonl"):
            raise OSError(28, "No space left on device")
        write(file, line)

    monkeypatch.setattr(journal_file, "_write_whole", full)
    arms["baseline"].reply = lambda request: delayed(right(request), 0.1)
    with pytest.raises(UserError, match=rf"{name}\.jsonl: cannot be written: No space left"):
        ask(plan, directory)
    assert len(journal(directory, "baseline")) == len(arms["baseline"].requests)
    monkeypatch.undo()
    arms["baseline"].reply = right
    ask(plan, directory)
    check(directory, quiet, arms)


@pytest.mark.parametrize("name", ["findings.jsonl", "summary.json"])
def test_a_derived_file_that_does_not_fit_leaves_the_old_one(quiet, name):
    """It is derived: the next report writes it."""
    before = (quiet[1] / name).read_bytes()
    size = len(before) // 2
    with no_file_over(size), pytest.raises(UserError, match="cannot be written"):
        judged(quiet[1])
    assert (quiet[1] / name).read_bytes() == before
    assert not [path for path in quiet[1].iterdir() if path.name.startswith(".")]


def test_a_run_that_was_moved_goes_on_where_it_is(tmp_path, plan, arms, quiet):
    """Also when it was moved while it was asked: what came is in it, at its new place."""
    directory, moved = tmp_path / "run", tmp_path / "elsewhere" / "run"
    moved.parent.mkdir()
    lock = threading.Lock()

    def moving(request):
        with lock:
            if request.number == 2:
                directory.rename(moved)
        return eventful(request)

    arms["mtp"].reply = moving
    with pytest.raises(UserError) as caught:
        ask(plan, directory)
    assert not directory.exists(), (caught.value, list(directory.rglob("*")))
    arms["mtp"].reply = eventful
    before = sum(len(lines_of(moved, arm)) for arm in arms)
    assert before == sends(arms)
    ask(plan, moved)
    check(moved, quiet, arms)
    assert sends(arms) == sum(len(journal(quiet[1], arm)) for arm in arms)


def test_a_run_that_is_read_only_is_reported_and_not_asked(plan, quiet, monkeypatch, capsys):
    """A report needs no writing; a resume says at once that it does."""
    opened = Path.open

    def read_only(path, mode="r", *rest, **named):
        # Permissions do not bind root, as whom tests may run.
        if quiet[1] in path.parents and set(mode) & set("awx+"):
            raise PermissionError(13, "Permission denied")
        return opened(path, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr("sys.argv", ["draftproof", "report", str(quiet[1])])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    printed = capsys.readouterr()
    assert "the report is made all the same" in printed.err
    assert "regression" in printed.out
    with pytest.raises(UserError, match=r"run\.lock: cannot be written: Permission denied") as caught:
        ask(plan, quiet[1])
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("found", [2, 99, "1", None, [1]])
def test_a_run_of_another_format_is_one_clear_error(plan, quiet, found):
    """A newer one says what to do."""
    path = quiet[1] / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": found}))
    for action in (lambda: read_run(quiet[1]), lambda: ask(plan, quiet[1])):
        with pytest.raises(UserError, match="this version of draftproof reads format 1") as caught:
            action()
        assert ("upgrade" in str(caught.value)) is (found in (2, 99))


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_umask_says_who_reads_a_run(tmp_path, plan, umask):
    """Prompts and answers are the user's: no file is wider than asked for."""
    before = os.umask(umask)
    try:
        ask(plan, tmp_path / "run")
        judged(tmp_path / "run")
    finally:
        os.umask(before)
    for path in [tmp_path / "run", *(tmp_path / "run").rglob("*")]:
        wanted = (0o777 if path.is_dir() else 0o666) & ~umask
        assert (stat.S_IMODE(path.stat().st_mode), path) == (wanted, path)


@pytest.mark.parametrize("depth", [50, 200])
def test_deeply_nested_calls_survive_the_whole_way(tmp_path, arms, depth):
    """Journal, grading and reports take what the reader of answers takes."""
    nested = json.loads("[" * depth + "]" * depth)
    arms["mtp"].reply = lambda _request: answer(None, tool_calls=[nested, tool_call("get_weather", nested)])
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 2), arms, mode="native", retries=0)
    ask(plan, tmp_path / "run")
    rows = journal(tmp_path / "run", "mtp")
    assert read_run(tmp_path / "run").damaged == ()
    assert Counter(row["status"] for row in rows).total() == 2
    judged(tmp_path / "run")
