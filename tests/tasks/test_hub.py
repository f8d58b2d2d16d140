"""Data sets of the hub, without the hub: what was fetched before works, what was not is one clear error."""

import json
import os
import subprocess
import sys

import pytest
from draftproof.errors import UserError
from draftproof.tasks import hub
from draftproof.tasks.hub import HubSpec, parse_hub_spec
from draftproof.tasks.suite import load_suites

from .samples import WEATHER

pytest.importorskip("datasets")

ANSWERS = json.dumps([{"name": "get_weather", "arguments": {"city": "Oslo"}}])


def row(number):
    tools = json.dumps([WEATHER["function"]])
    return {"id": number, "query": f"Weather {number}?", "tools": tools, "answers": ANSWERS}


@pytest.mark.parametrize(
    ("spec", "read"),
    [
        ("hub:o/n", {}),
        (
            "hub:o/n-1.x?config=c&split=test&revision=main&streaming=true&take=5",
            {"config": "c", "split": "test", "revision": "main", "is_streaming": True, "take": 5},
        ),
        ("hub:o/n?data_files=a/*.parquet&split=train", {"data_files": "a/*.parquet", "split": "train"}),
        ("hub:o/n?data_files=a.json", {"data_files": "a.json"}),
    ],
)
def test_a_spec_says_what_is_loaded(spec, read):
    repository = spec.removeprefix("hub:").partition("?")[0]
    assert parse_hub_spec(spec) == HubSpec(spec, repository, repository.partition("/")[2], **read)
    assert parse_hub_spec(spec).is_text is spec.endswith(".json")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("hub:name", "expected hub:OWNER/NAME"),
        ("hub:a/b/c", "expected hub:OWNER/NAME"),
        ("hub:o/n?splt=test", '"splt" is no option here, expected config, split, data_files, '),
        ("hub:o/n?streaming=yes", 'streaming is "yes", expected true or false'),
        ("hub:o/n?take=0", "take is 0, expected at least 1"),
        ("hub:o/n?take=x", 'take is "x", expected a whole number, 0 or more'),
        ("hub:o/n?data_files=a.json&split=test", "a JSON file is fetched whole and read as text"),
    ],
)
def test_a_wrong_spec_is_one_error(spec, problem):
    with pytest.raises(UserError) as caught:
        load_suites([spec])
    assert caught.value.what.startswith(f"tasks: {json.dumps(spec)}: {problem}")


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    for spec in ("hub:o/n", "hub:o/n?data_files=a.json"):
        with pytest.raises(UserError) as caught:
            load_suites([spec])
        assert "needs the package datasets, which is not installed" in caught.value.what
        assert caught.value.tip == "pip install 'draftproof[hub]'"


class Library:
    """Stands where a library is imported."""

    def __init__(self, loaded=None, file=None):
        self.loaded, self.file, self.asked = loaded, file, None

    def load_dataset(self, *positional, **named):
        self.asked = positional, named
        return self.loaded

    def hf_hub_download(self, *positional, **named):
        self.asked = positional, named
        return str(self.file)


@pytest.fixture
def library(monkeypatch):
    def put(**given):
        made = Library(**given)
        monkeypatch.setattr(hub, "_library", lambda _name, _spec: made)
        return made

    return put


def test_rows_become_samples_of_the_data_set(library):
    """One split needs no name; ids carry that of the data set; `take` reads no further."""
    made = library(loaded={"train": (row(n) for n in range(100))})
    loaded = load_suites(["hub:o/n?config=c&streaming=true&take=3&revision=r&shots=1"])
    assert {sample.id for sample in loaded.samples} == {"n/0", "n/1", "n/2"}
    assert len(list(made.loaded["train"])) == 97
    assert made.asked == (
        ("o/n", "c"),
        {"data_files": None, "split": None, "revision": "r", "streaming": True},
    )


def test_several_splits_must_be_told_apart(library):
    library(loaded={"train": [], "test": []})
    with pytest.raises(UserError) as caught:
        load_suites(["hub:o/n"])
    assert caught.value.what.endswith("has the splits train, test, expected one to be named")
    assert caught.value.tip == "for example hub:o/n?split=train"


def test_a_named_json_file_is_read_as_text(library, tmp_path):
    """Arrow never sees it: its objects may differ as they like."""
    path = tmp_path / "cached" / "rows.json"
    path.parent.mkdir()
    other = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    path.write_text(json.dumps([{**row(0), "tools": [WEATHER]}, {**row(1), "tools": [other]}, {"x": 1}]))
    made = library(file=path)
    loaded = load_suites(["hub:o/n?data_files=rows.json&take=2"])
    assert {sample.id: sample.tools.declared for sample in loaded.samples} == {
        "rows/0": (WEATHER,),
        "rows/1": (other,),
    }
    assert made.asked == (("o/n", "rows.json"), {"repo_type": "dataset", "revision": None})


@pytest.mark.parametrize("value", [b"bytes", float("nan"), {"a": float("inf")}])
def test_what_is_no_json_never_reaches_a_sample(library, value):
    """A picture in a column that nobody asks for does not matter; a number that JSON lacks is named."""
    library(loaded=[{**row(0), "image": value}])
    if isinstance(value, bytes):
        assert len(load_suites(["hub:o/n?split=train"]).samples) == 1
        return
    with pytest.raises(UserError, match=r"hub:o/n, row 1: holds (nan|inf), which JSON does not have"):
        load_suites(["hub:o/n?split=train"])


def offline(folder, spec, **env):
    """Run the command line where the network is off and the cache of the hub is empty."""
    settings = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return subprocess.run(
        [sys.executable, "-m", "draftproof", "tasks", "show", spec],
        cwd=folder,
        env={**os.environ, **settings, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.heavy
@pytest.mark.parametrize("spec", ["hub:o/n", "hub:o/n?data_files=a.json", "hub:o/n?streaming=true"])
def test_offline_what_was_never_fetched_is_one_clear_error(tmp_path, spec):
    ran = offline(tmp_path, spec)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f'error: tasks: "{spec}": cannot be had: ' in ran.stderr
    assert "HF_HUB_OFFLINE" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.heavy
@pytest.mark.parametrize("options", ["", "?split=train&streaming=true", "?data_files=rows.parquet"])
def test_offline_the_library_itself_brings_the_rows(tmp_path, options):
    """A folder of the same name stands for the repository, as `datasets` has it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "o" / "n"
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row(n) for n in range(3)]), folder / "rows.parquet")
    ran = offline(tmp_path, f"hub:o/n{options}")
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[1] for line in ran.stdout.splitlines()] == ["n/0", "n/1", "n/2"]


@pytest.mark.heavy
def test_offline_a_file_that_was_fetched_before_is_read(tmp_path):
    """The cache of the hub, laid out as it lays it out itself."""
    repository = tmp_path / "cache" / "hub" / "datasets--o--n"
    commit = "0" * 40
    (repository / "snapshots" / commit).mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    (repository / "snapshots" / commit / "rows.json").write_text(json.dumps([row(n) for n in range(2)]))
    ran = offline(tmp_path, "hub:o/n?data_files=rows.json")
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[1] for line in ran.stdout.splitlines()] == ["rows/0", "rows/1"]
