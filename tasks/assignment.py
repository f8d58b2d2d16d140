"""The cheapest one-to-one assignment between two sides: bipartite matching, never greedy."""

from collections.abc import Sequence


def cheapest_assignment(costs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sum of costs is least.

    The Hungarian method with potentials, one shortest augmenting path a row (Kuhn 1955; Jonker and Volgenant
    1987), in exact integers. Ties are broken by position, so equal costs give an equal answer.

    Args:
        costs: A rectangular table of costs that are not negative.

    Returns:
        Pairs (row, column) in ascending order; every line of the shorter side is paired.
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = list(zip(*costs, strict=True))
        return sorted((row, column) for column, row in cheapest_assignment(turned))
    # Rows and columns count from 1; row 0 and column 0 are the root of each path.
    row_potential = [0] * (len(costs) + 1)
    column_potential = [0] * (len(costs[0]) + 1)
    row_of = [0] * (len(costs[0]) + 1)
    for row in range(1, len(costs) + 1):
        row_of[0] = row
        _augment(costs, row_potential, column_potential, row_of)
    return sorted((row - 1, column - 1) for column, row in enumerate(row_of) if row and column)


def _augment(
    costs: Sequence[Sequence[int]], row_potential: list[int], column_potential: list[int], row_of: list[int]
) -> None:
    """Give the row at the root (`row_of[0]`) a column, along the cheapest alternating path."""
    columns = len(row_of) - 1
    reached = [False] * (columns + 1)
    slack: list[int | None] = [None] * (columns + 1)
    came_from = [0] * (columns + 1)
    column = 0
    while row_of[column]:
        reached[column] = True
        row = row_of[column]
        nearest, step = 0, None
        for other in range(1, columns + 1):
            if reached[other]:
                continue
            reduced = costs[row - 1][other - 1] - row_potential[row] - column_potential[other]
            known = slack[other]
            if known is None or reduced < known:
                known, came_from[other] = reduced, column
                slack[other] = known
            if step is None or known < step:
                nearest, step = other, known
        step = step or 0
        for other in range(columns + 1):
            if reached[other]:
                row_potential[row_of[other]] += step
                column_potential[other] -= step
            elif (known := slack[other]) is not None:
                slack[other] = known - step
        column = nearest
    while column:
        row_of[column] = row_of[came_from[column]]
        column = came_from[column]
