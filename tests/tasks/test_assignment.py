"""The cheapest assignment, judged by trying every one."""

import itertools

from draftproof.tasks.assignment import cheapest_assignment
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.tuples(st.integers(1, 5), st.integers(1, 5))
TABLES = SIZES.flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 10), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


@given(TABLES)
def test_no_other_assignment_is_cheaper(costs):
    pairs = cheapest_assignment(costs)
    rows, columns = len(costs), len(costs[0])
    table = costs if rows <= columns else list(zip(*costs, strict=True))
    least = min(
        sum(table[row][column] for row, column in enumerate(order))
        for order in itertools.permutations(range(max(rows, columns)), min(rows, columns))
    )
    assert sum(costs[row][column] for row, column in pairs) == least


@given(TABLES)
def test_every_line_of_the_shorter_side_is_paired_once(costs):
    pairs = cheapest_assignment(costs)
    shorter = min(len(costs), len(costs[0]))
    assert len(pairs) == len({row for row, _ in pairs}) == len({column for _, column in pairs}) == shorter
    assert pairs == sorted(pairs)


def test_nothing_is_paired_with_nothing():
    assert cheapest_assignment([]) == []
    assert cheapest_assignment([[], []]) == []
