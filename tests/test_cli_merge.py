"""`run --shard` on several machines, `merge` on one."""

import pytest

from .evals.scripted_runs import right, write_suite, wrong
from .scripted import ScriptedServer
from .test_cli import arm_toml, draftproof


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "k")
    suite = write_suite(tmp_path / "suite.jsonl", 6)
    with ScriptedServer(right) as baseline, ScriptedServer(wrong) as mtp:
        path = tmp_path / "plan.toml"
        path.write_text(
            f'[run]\ntasks = ["{suite}"]\nconfirm = 0\nmargins = false\n'
            + arm_toml("baseline", baseline.base_url)
            + arm_toml("mtp", mtp.base_url)
        )
        yield path


def test_shards_are_run_merged_and_decided(tmp_path, plan):
    """Each shard exits 0; merging prints the report; the gate decides on the whole."""
    shards = [tmp_path / "s1", tmp_path / "s2"]
    for number, shard in enumerate(shards, 1):
        ran = draftproof("run", plan, "--shard", f"{number}/2", "--out", shard, "-q")
        assert ran.returncode == 0, ran.stderr
    assert draftproof("gate", shards[0], "-q").returncode == 4
    merged = draftproof("merge", *shards, "-o", tmp_path / "all")
    assert merged.returncode == 0, merged.stderr
    assert "mtp" in merged.stdout
    assert (tmp_path / "all" / "findings.jsonl").read_bytes().count(b"\n") == 6
    assert draftproof("gate", tmp_path / "all", "-q").returncode == 1


def test_what_cannot_be_joined_exits_2(tmp_path, plan):
    """One error, and no directory."""
    draftproof("run", plan, "--shard", "1/2", "--out", tmp_path / "s1", "-q")
    merged = draftproof("merge", tmp_path / "s1", tmp_path / "s1", "-o", tmp_path / "all")
    assert merged.returncode == 2
    assert "shard 2 of 2 missing" in merged.stderr
    assert not (tmp_path / "all").exists()
    bad = draftproof("run", plan, "--shard", "3/2", "--out", tmp_path / "s3")
    assert (bad.returncode, (tmp_path / "s3").exists()) == (2, False)
