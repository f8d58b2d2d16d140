"""What `--ray` cannot do is one clear error before anything is asked; none of it needs Ray."""

import importlib.util
import socket

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.session import ask_plan
from draftproof.evals.cluster.ray_cluster import RayCluster
from draftproof.evals.plan import build_plan
from draftproof.reports.progress import SilentProgress

from ..scripted_runs import raw_plan, write_suite


@pytest.fixture
def planned(tmp_path):
    def planned(*, serve=None, **run):
        servers = {"baseline": "http://127.0.0.1:9/v1", "mtp": "http://127.0.0.1:9/v1"}
        raw = raw_plan(write_suite(tmp_path / "suite.jsonl"), servers, **run)
        if serve is not None:
            raw["arms"][1]["serve"] = serve
        return build_plan(raw, source="test")

    return planned


@pytest.mark.parametrize(
    "address", ["auto", "", "head", "head:0", "head:99999", "ray://head:10001", "http://h:1"]
)
def test_an_address_is_host_and_port(planned, address):
    """Ray's own client is none: a run must not depend on a proxy in between."""
    with pytest.raises(UserError, match=r"expected HOST:PORT of the cluster's head") as caught:
        RayCluster(address, planned())
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"serve": "vllm serve m"}, r"arm mtp: serve starts a server on this machine"),
        ({"redact": True}, r"run\.redact: with --ray prompts and answers pass through the cluster's memory"),
    ],
)
def test_a_plan_that_needs_this_machine_is_refused(planned, tmp_path, changes, words):
    """Nothing is created."""
    with pytest.raises(UserError, match=words) as caught:
        ask_plan(
            planned(**changes),
            tmp_path / "run",
            progress=SilentProgress(),
            tell=lambda _: None,
            ray="127.0.0.1:6379",
        )
    assert caught.value.exit_code == 2
    assert not (tmp_path / "run").exists()


def test_arms_in_turn_stopping_early_and_shards_stay_possible(planned):
    """The driver keeps the order in which arms are asked."""
    for run in ({"in_turn": True}, {"until_decided": True, "control": True}):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(importlib.util, "find_spec", lambda _: object())
            RayCluster("127.0.0.1:6379", planned(**run))


def test_without_the_extra_it_says_how_to_get_it(planned, monkeypatch):
    """Ray is heavy, and nobody else needs it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserError, match="--ray needs Ray") as caught:
        RayCluster("127.0.0.1:6379", planned())
    assert caught.value.tip == "pip install 'draftproof[ray]'"


def test_a_port_where_nobody_listens_is_refused_at_once(planned, monkeypatch):
    """Ray would try for a quarter of an hour."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
        with pytest.raises(UserError, match=rf"--ray {address}: no cluster there .*refused") as caught:
            RayCluster(address, planned()).__enter__()
    assert caught.value.exit_code == 4
