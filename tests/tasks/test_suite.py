"""Suites: one seeded order, one digest, ids that are unique over all of them."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.tasks import suite
from draftproof.tasks.suite import describe_suites, load_suites

from .samples import raw_sample


@pytest.fixture
def write(tmp_path):
    def write(name, *raw):
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in raw))
        return str(path)

    return write


@pytest.fixture(autouse=True)
def builtin(monkeypatch):
    """Two built-in suites whose contents the tests know."""
    suites = {
        "core": [raw_sample(id=f"core/{i}", category="simple" if i else "parallel") for i in range(3)],
        "more": [raw_sample(id="more/0", category=...)],
    }
    monkeypatch.setattr(suite, "builtin_names", lambda: tuple(suites))
    monkeypatch.setattr(suite, "read_builtin", suites.__getitem__)


def ids(loaded):
    return [sample.id for sample in loaded.samples]


def test_files_and_built_in_suites_are_asked_as_one(write):
    loaded = load_suites(["builtin:core", write("a.jsonl", raw_sample(id="a"))], seed=1)
    assert sorted(ids(loaded)) == ["a", "core/0", "core/1", "core/2"]
    assert loaded.specs[0] == "builtin:core"


def test_the_order_depends_on_the_seed_and_nothing_else(write):
    raw = [raw_sample(id=str(i)) for i in range(20)]
    forward, backward = write("forward.jsonl", *raw), write("backward.jsonl", *reversed(raw))
    assert ids(load_suites([forward], seed=1)) == ids(load_suites([backward], seed=1))
    assert ids(load_suites([forward], seed=1)) != ids(load_suites([forward], seed=2))


def test_the_order_of_a_seed_never_changes_between_versions(write):
    path = write("a.jsonl", *(raw_sample(id=str(i)) for i in range(6)))
    assert ids(load_suites([path], seed=1)) == ["4", "5", "2", "3", "0", "1"]


@pytest.mark.parametrize("limit", [1, 7, 20, 99])
def test_a_limit_takes_the_first_of_the_order(write, limit):
    path = write("a.jsonl", *(raw_sample(id=str(i)) for i in range(20)))
    assert ids(load_suites([path], limit=limit, seed=3)) == ids(load_suites([path], seed=3))[:limit]


def test_the_digest_names_the_samples_and_not_their_order(write):
    path = write("a.jsonl", *(raw_sample(id=str(i)) for i in range(5)))
    whole = load_suites([path], seed=1).digest
    assert whole == load_suites([path], seed=2).digest
    assert whole != load_suites([path], limit=4, seed=1).digest
    one = raw_sample(id="4", messages=[{"role": "user", "content": "Weather in Bergen?"}])
    assert whole != load_suites([write("b.jsonl", *(raw_sample(id=str(i)) for i in range(4)), one)]).digest


def test_the_same_samples_from_another_place_have_the_same_digest(write):
    path = write(
        "a.jsonl", *(raw_sample(id=f"core/{i}", category="simple" if i else "parallel") for i in range(3))
    )
    assert load_suites([path]).digest == load_suites(["builtin:core"]).digest


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([], "no suite is named, expected at least one"),
        (["bfcl:none"], 'tasks: "bfcl:none": no category of BFCL has the name "none"'),
        (["web:owner/name"], 'tasks: "web:owner/name": suites of the kind web: are not in this version'),
        (["builtin:none"], 'tasks: "builtin:none": no built-in suite has this name'),
        (["none.jsonl"], "none.jsonl: cannot be read: No such file or directory"),
        (
            ["builtin:core", "builtin:core"],
            'builtin:core, sample 1: id: is "core/0", which builtin:core, sample 1 has',
        ),
    ],
)
def test_a_spec_that_names_nothing_is_one_error(specs, message):
    with pytest.raises(UserError) as caught:
        load_suites(specs)
    assert str(caught.value).startswith(message)


def test_an_unknown_kind_is_told_what_there_is():
    with pytest.raises(UserError) as caught:
        load_suites(["web:owner/name"])
    assert caught.value.tip == (
        "there are builtin:core, builtin:more, bfcl:CATEGORY, hub:OWNER/NAME, and paths of files"
    )


def test_a_file_whose_name_looks_like_a_kind_is_a_file(write, tmp_path, monkeypatch):
    write("bfcl:mine", raw_sample(id="a"))
    monkeypatch.chdir(tmp_path)
    assert ids(load_suites(["bfcl:mine"])) == ["a"]


def test_an_id_in_two_files_names_both_places(write):
    first = write("a.jsonl", raw_sample(id="a"), raw_sample(id="b"))
    second = write("b.jsonl", raw_sample(id="b"))
    with pytest.raises(UserError) as caught:
        load_suites([first, second])
    assert caught.value.what == f'{second}:1: id: is "b", which {first}:2 has already'


def test_a_limit_below_one_is_refused():
    with pytest.raises(UserError, match="limit: is 0, expected at least 1"):
        load_suites(["builtin:core"], limit=0)


def test_built_in_suites_are_described_by_category():
    core, more = describe_suites()
    assert (core.spec, core.samples, core.categories) == ("builtin:core", 3, {"parallel": 1, "simple": 2})
    assert (more.spec, more.samples, more.categories) == ("builtin:more", 1, {"uncategorised": 1})
