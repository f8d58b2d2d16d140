"""Whose a sample is: the same on every machine, and each sample somebody's."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.runs.shard import Part, Shard, read_shard

PINNED = [3, 4, 6, 7, 11]
IDS = [f"s/{number}" for number in range(600)]


def test_every_sample_is_of_exactly_one_shard_whatever_their_number():
    """No sample is asked twice, and none by nobody."""
    for count in (1, 2, 3, 7):
        shards = [Shard(number, count) for number in range(1, count + 1)]
        assert all(sum(shard.holds(one, 1) for shard in shards) == 1 for one in IDS)


def test_the_split_is_written_in_stone():
    """SHA-256 of seed and id, not Python's hash: machines of other versions, and next year's, split alike."""
    assert [number for number in range(12) if Shard(1, 3).holds(f"s/{number}", 1)] == PINNED
    assert Shard(1, 1).holds("\ud800", 1)


def test_shards_are_about_equal_and_follow_the_seed():
    """A share is a random one: other seeds give other shares of about the same size."""
    mine = {one for one in IDS if Shard(2, 4).holds(one, 1)}
    other = {one for one in IDS if Shard(2, 4).holds(one, 2)}
    assert 110 < len(mine) < 190
    assert 110 < len(other) < 190
    assert mine != other


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/2", "1/2/3", "", "1 / 2", "٢/٣"])
def test_anything_but_i_of_n_is_refused(text):
    """The message says what was expected."""
    with pytest.raises(UserError, match=r"expected I/N with I from 1 to N, such as 2/8"):
        read_shard(text)


def test_a_part_names_what_is_there_and_what_is_not():
    """One shard or several."""
    assert read_shard("2/8") == Shard(2, 8)
    assert Part(3, (2,), 10).text == "shard 2 of 3"
    assert Part(3, (1, 3), 10).text == "shards 1, 3 of 3"
    assert Part(3, (1, 3), 10).missing == (2,)
