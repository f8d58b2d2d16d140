"""The ratios of this folder in one table; each benchmark has more, and says what it measures.

python benchmarks/all.py [--verifier "PYTHON SCRIPT"]
"""

import argparse
from itertools import chain

import asking
import deciding
import judging
import parsing
import starting
from measured import print_table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verifier", help="see asking.py")
    options = parser.parse_args()
    print_table(
        chain(
            starting.rows(rounds=5),
            parsing.rows(rounds=9),
            judging.rows([1_000, 10_000], is_packed=False),
            asking.rows(400, [1, 16, 64, 256], options.verifier),
            deciding.rows(),
        )
    )


if __name__ == "__main__":
    main()
