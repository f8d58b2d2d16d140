"""Selection: strata in proportion, limits that nest, categories and ids that must exist."""

from collections import Counter

import pytest
from draftproof.errors import UserError
from draftproof.tasks.excluded import Excluded
from draftproof.tasks.raw_sample import sample_from_json
from draftproof.tasks.selection import Selection, keep_excluded, read_sample_ids, select
from hypothesis import given
from hypothesis import strategies as st

from .samples import raw_sample

ONE = sample_from_json(raw_sample())


def suite(**sizes):
    """Samples by category; the tools of one are those of all, since compiling is slow."""
    return [
        type(ONE)(f"{category}/{number}", category, ONE.messages, ONE.tools, ONE.expected)
        for category, size in sizes.items()
        for number in range(size)
    ]


def chosen(samples, **selection):
    return [one.id for one in select(samples, [], Selection(**selection))]


SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 12), min_size=1)


@given(SIZES, st.integers(1, 40), st.integers(1, 40), st.randoms())
def test_a_smaller_limit_is_the_beginning_of_a_larger_one(sizes, one, other, random):
    """Whatever the order in which the samples come."""
    samples = suite(**sizes)
    smaller, larger = sorted((one, other))
    before = chosen(samples, limit=smaller)
    random.shuffle(samples)
    assert chosen(samples, limit=larger)[:smaller] == before
    assert chosen(samples)[:larger] == chosen(samples, limit=larger)


@given(SIZES, st.integers(1, 40))
def test_every_limit_holds_the_categories_in_proportion(sizes, limit):
    """No sample could move to another category and make the shares more alike: the divisor method's law."""
    samples = suite(**sizes)
    limit = min(limit, len(samples))
    counts = Counter(one.category for one in select(samples, [], Selection(limit=limit)))
    for category, size in sizes.items():
        for other, other_size in sizes.items():
            if other != category and counts[category]:
                assert (2 * counts[category] - 1) / size <= (2 * counts[other] + 1) / other_size


def test_shares_are_those_of_webster_and_sainte_lague():
    """The textbook example of 53, 24 and 23 hundredths over seven seats: 3, 2 and 2."""
    counts = Counter(one.category for one in select(suite(a=53, b=24, c=23), [], Selection(limit=7)))
    assert counts == {"a": 3, "b": 2, "c": 2}


def test_another_seed_draws_others():
    samples = suite(a=30)
    assert set(chosen(samples, limit=5)) != set(chosen(samples, limit=5, seed=2))


def test_categories_and_ids_are_kept_alone():
    samples = suite(a=3, b=3)
    assert {one[0] for one in chosen(samples, categories=("b",))} == {"b"}
    assert set(chosen(samples, sample_ids=("a/1", "b/2"))) == {"a/1", "b/2"}
    assert chosen(samples, categories=("a",), sample_ids=("a/1",)) == ["a/1"]


@pytest.mark.parametrize(
    ("selection", "message", "tip"),
    [
        ({"categories": ("a", "z")}, 'categories: no sample is in "z"', 'there are "a", "b"'),
        (
            {"sample_ids": ("a/1", "a/9")},
            'sample_ids: no sample has the id "a/9"',
            "`draftproof tasks show SPEC` lists the ids of a suite",
        ),
        (
            {"sample_ids": ("a/1",), "categories": ("b",)},
            'sample_ids: no sample of the categories asked for has the id "a/1"',
            "`draftproof tasks show SPEC` lists the ids of a suite",
        ),
    ],
)
def test_what_is_asked_for_and_not_there_is_named(selection, message, tip):
    """A typing error must not quietly ask less."""
    with pytest.raises(UserError) as caught:
        chosen(suite(a=3, b=1), **selection)
    assert (caught.value.what, caught.value.tip) == (message, tip)


def test_an_id_that_is_left_out_says_why():
    with pytest.raises(UserError, match='sample_ids: "x" is left out: no tool'):
        select(suite(a=1), [Excluded("x", "a", "no tool")], Selection(sample_ids=("x",)))


def test_what_is_left_out_is_counted_of_what_was_asked_for():
    excluded = [Excluded("x", "a", "r"), Excluded("y", "b", "r")]
    assert keep_excluded(excluded, Selection()) == tuple(excluded)
    assert [one.id for one in keep_excluded(excluded, Selection(categories=("b",)))] == ["y"]
    assert keep_excluded(excluded, Selection(sample_ids=("a/1",))) == ()


def test_ids_come_as_they_are_or_from_files(tmp_path):
    """One a line, or the JSON lines of a run: `--sample-ids runs/x/findings.jsonl`."""
    plain, lines = tmp_path / "ids.txt", tmp_path / "findings.jsonl"
    plain.write_bytes(b"\xef\xbb\xbfa/1\r\n\r\n  a, 2 \r\n")
    lines.write_text('{"id": "b/1", "cause": "cap"}\n{"id": "a/1"}\n')
    assert read_sample_ids([str(plain), "c/1", str(lines)]) == ("a/1", "a, 2", "c/1", "b/1")
    assert read_sample_ids(["x" * 5000, "nul\0"]) == ("x" * 5000, "nul\0")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "FILE: holds no id, expected one a line"),
        (b"\xff", "FILE: cannot be read: not UTF-8"),
        (b'a\n{"name": 1}', "FILE:2: expected an id, or a JSON object with one"),
        (b"{a", "FILE:1: expected an id, or a JSON object with one"),
    ],
)
def test_a_file_of_no_ids_is_an_error(tmp_path, content, message):
    path = tmp_path / "ids"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_sample_ids([str(path)])
    assert str(caught.value).replace(str(path), "FILE") == message
