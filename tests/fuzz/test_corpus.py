"""Every kept input of the fuzzer is replayed: what broke a reader once, and what reaches its corners."""

import pytest

from .corpus import kept
from .targets import TARGETS

INPUTS = {target: kept(target) for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS)
def test_kept_inputs_break_nothing(target):
    """No exception but the documented one, places in range, and a split or a cut changes nothing."""
    assert INPUTS[target], "nothing is kept of this target"
    for data in INPUTS[target]:
        try:
            TARGETS[target](data)
        except Exception as error:  # which of them it was
            raise AssertionError(f"{data!r}: {error}") from error
