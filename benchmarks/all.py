"""Every ratio of this folder in one table, as the README has it.

python benchmarks/all.py
"""

from itertools import chain

import asking
import deciding
import judging
import starting
from measured import print_table


def main() -> None:
    print_table(
        chain(
            starting.rows(rounds=5),
            judging.rows([1_000, 10_000], is_packed=False),
            asking.rows(400, [1, 16, 64, 256]),
            deciding.rows(),
        )
    )


if __name__ == "__main__":
    main()
