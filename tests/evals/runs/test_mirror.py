"""A run at a URL: written through, fetched by another machine, and never written over."""

import fsspec
import pytest
from draftproof.errors import UserError
from draftproof.evals.runs import mirror
from draftproof.evals.runs.mirror import Mirror, local_folder, open_directory
from draftproof.evals.runs.record import read_run

from ...scripted import ScriptedServer
from ...test_cli import draftproof
from ..asking.test_session import wait_for
from ..scripted_runs import ask, journal, judged, make_plan, right, write_suite

FILES = fsspec.filesystem("memory")


@pytest.fixture
def url(request):
    """A place of its own for each test; nothing is left there."""
    place = f"/{request.node.name}/run"
    yield f"memory:/{place}"
    if FILES.exists(place):
        FILES.rm(place, recursive=True)


@pytest.fixture
def servers():
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


@pytest.fixture
def plan(tmp_path, servers):
    return make_plan(write_suite(tmp_path / "suite.jsonl"), servers)


def asked(servers):
    return sum(len(server.requests) for server in servers.values())


def session(url, directory, plan):
    """One session on a machine whose local side is that directory."""
    with Mirror(url, directory, lambda _: None) as one:
        ask(plan, one.directory)
        return judged(one.directory)[1]


def files_of(directory):
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def files_at(url):
    root = url.removeprefix("memory:/")
    return {name.removeprefix(f"{root}/"): FILES.cat_file(name) for name in FILES.find(root)}


def test_what_stands_here_stands_there(tmp_path, url, plan):
    """Every file of the run, and no lock."""
    session(url, tmp_path / "run", plan)
    assert files_at(url) == files_of(tmp_path / "run")
    assert "attempts/mtp.jsonl" in files_at(url)


def test_another_machine_goes_on(tmp_path, url, plan, servers):
    """It fetches what is there, asks what is missing only, and both sides are whole again."""
    findings = session(url, tmp_path / "one", plan)
    root = url.removeprefix("memory:/")
    whole = files_at(url)["attempts/mtp.jsonl"]
    # The first machine was lost after its last copy, in the middle of a line.
    FILES.pipe_file(f"{root}/attempts/mtp.jsonl", whole[: len(whole) // 2])
    before = asked(servers)
    assert session(url, tmp_path / "two", plan) == findings
    kept = len(journal(tmp_path / "one", "mtp")) // 2 - 1
    assert 0 < asked(servers) - before <= len(journal(tmp_path / "one", "mtp")) - kept
    assert files_at(url) == files_of(tmp_path / "two")


def test_what_was_not_copied_goes_there_next_time(tmp_path, url, plan, servers, monkeypatch):
    """The local side is longer: it holds, and nothing is asked again."""

    def refuse(*_args, **_keywords):
        raise PermissionError("no")

    with monkeypatch.context() as patched:
        patched.setattr(FILES, "put_file", refuse)
        with pytest.raises(UserError, match="cannot be read or written") as caught:
            session(url, tmp_path / "run", plan)
    assert caught.value.exit_code == 4
    assert files_at(url) == {}
    before = asked(servers)
    session(url, tmp_path / "run", plan)
    assert asked(servers) == before
    assert files_at(url) == files_of(tmp_path / "run")


def test_an_error_of_the_run_is_not_hidden_by_one_of_the_copy(tmp_path, url, monkeypatch):
    """What ended the run is raised, and the other one told."""

    def refuse(*_args, **_keywords):
        raise OSError("full")

    monkeypatch.setattr(FILES, "put_file", refuse)
    told = []
    one = Mirror(url, tmp_path / "run", told.append)
    one.__enter__()
    (one.directory / "run.json").write_text("{}")
    one.__exit__(UserError, UserError("the run's own"), None)
    assert "full" in told[-1]


def test_two_sides_that_went_on_apart_are_refused(tmp_path, url, plan):
    """Neither is thrown away, and nothing is written."""
    session(url, tmp_path / "run", plan)
    path = f"{url.removeprefix('memory:/')}/attempts/mtp.jsonl"
    FILES.pipe_file(path, FILES.cat_file(path).replace(b"City", b"Town"))
    here, there = files_of(tmp_path / "run"), files_at(url)
    with pytest.raises(UserError, match=r"attempts/mtp\.jsonl went on otherwise than in"):
        session(url, tmp_path / "run", plan)
    assert (files_of(tmp_path / "run"), files_at(url)) == (here, there)


def test_another_run_at_the_url_is_refused(tmp_path, url, plan, servers):
    """Its samples differ."""
    session(url, tmp_path / "one", plan)
    other = make_plan(write_suite(tmp_path / "other.jsonl", 2), servers)
    ask(other, tmp_path / "two")
    with pytest.raises(UserError, match=r"samples\.jsonl went on otherwise"):
        session(url, tmp_path / "two", other)


def test_a_second_writer_is_noticed_before_anything_is_written_over(tmp_path, url, plan):
    """Two machines at once on one URL: the one that comes later stops, and has its answers here."""
    one = Mirror(url, tmp_path / "one", lambda _: None)
    one.__enter__()
    session(url, tmp_path / "two", plan)
    ask(plan, one.directory)
    with pytest.raises(UserError, match=r"written by somebody else") as caught:
        one.__exit__(None, None, None)
    assert caught.value.exit_code == 4
    assert files_at(url) == files_of(tmp_path / "two")
    assert len(journal(tmp_path / "one", "mtp")) == 4


def test_two_sessions_on_one_machine_are_refused(tmp_path, url):
    """The second one waits for nobody."""
    with (
        Mirror(url, tmp_path / "run", lambda _: None),
        pytest.raises(UserError, match="another draftproof is writing"),
        Mirror(url, tmp_path / "run", lambda _: None),
    ):
        pass


def test_it_is_copied_on_the_way(tmp_path, url, monkeypatch):
    """Not only at the end: a machine may be lost."""
    monkeypatch.setattr(mirror, "COPY_SECONDS", 0.01)
    with Mirror(url, tmp_path / "run", lambda _: None) as one:
        (one.directory / "run.json").write_text("{}")
        wait_for(lambda: files_at(url) == {"run.json": b"{}"})


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("nosuch://bucket/run", "Protocol not known"),
        ("sftp://me:secret@host/run", "expected it in the environment"),
        ("memory://foreign/place", "is not empty and not a run"),
    ],
)
def test_a_bad_url_is_one_clear_error(tmp_path, monkeypatch, out, words):
    """Before anything is asked; a password is not repeated."""
    monkeypatch.chdir(tmp_path)
    FILES.pipe_file("/foreign/place/letter.txt", b"dear")
    with pytest.raises(UserError, match=words) as caught, open_directory(out, lambda _: None):
        pass
    assert "secret" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_run_by_the_command_line_is_read_where_it_stands(tmp_path, url, plan, servers, monkeypatch):
    """`--out URL` asks, judges and copies; the same again asks nothing."""
    monkeypatch.chdir(tmp_path)
    arms = "".join(
        f'[[arms]]\nname = "{name}"\nbase_url = "{one.base_url}"\nmodel = "scripted"\n'
        for name, one in servers.items()
    )
    (tmp_path / "plan.toml").write_text(f"[run]\ntasks = {list(plan.run.tasks)}\nconfirm = 0\n{arms}")
    ran = draftproof("run", "plan.toml", "--out", url, "--quiet")
    assert ran.returncode == 0, ran.stderr
    directory = local_folder(url)
    assert f"the run stands in {directory}, and is copied to {url}" in ran.stderr
    assert "summary.json" in files_at(url)
    assert len(read_run(directory).attempts) == asked(servers) == 12
    assert "nothing to ask" in draftproof("run", "--out", url, "--quiet").stderr


def test_a_url_holds_one_run(tmp_path, url, monkeypatch):
    """Several loads are several runs."""
    monkeypatch.chdir(tmp_path)
    arms = "".join(
        f'[[arms]]\nname = "{n}"\nbase_url = "http://h/v1"\nmodel = "m"\n' for n in ("baseline", "b")
    )
    (tmp_path / "plan.toml").write_text(f'[run]\ntasks = ["builtin:starter"]\nconcurrency = [1, 4]\n{arms}')
    ran = draftproof("run", "plan.toml", "--out", url)
    assert ran.returncode == 2
    assert "a URL holds one run" in ran.stderr


@pytest.mark.parametrize("url", ["s3://", "s3:///", "memory:////"])
def test_a_url_without_a_place_is_refused(tmp_path, url):
    """Some file systems would take the scheme itself for a folder."""
    with pytest.raises(UserError, match="names no place; expected such as s3://bucket/run"):
        Mirror(url, tmp_path / "run", pytest.fail)
