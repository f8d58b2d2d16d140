"""Which arm to turn on: never one that regresses or is void, the fastest of the passing, honestly none."""

import pytest
from draftproof.evals.decision.gate import Decision
from draftproof.evals.summing_up.choice import choose_arm

P, R, I, V = Decision.PASS, Decision.REGRESSION, Decision.INCONCLUSIVE, Decision.VOID  # noqa: E741


@pytest.mark.parametrize(
    ("baseline", "candidates", "chosen", "words"),
    [
        (50, {"ngram": (60, P), "mtp": (90, P)}, "mtp", "1.80× baseline"),
        (50, {"ngram": (60, P), "mtp": (900, R)}, "ngram", "1.20× baseline"),
        (50, {"ngram": (60, P), "mtp": (900, V)}, "ngram", "1.20× baseline"),
        (50, {"ngram": (60, P), "mtp": (900, I)}, "ngram", "1.20× baseline"),
        (50, {"ngram": (60, I), "mtp": (90, R)}, None, "no candidate passes"),
        (50, {"ngram": (40, P), "mtp": (50, P)}, None, "none is faster than baseline"),
        (None, {"ngram": (None, P), "mtp": (None, R)}, "ngram", "speed was not measured"),
        (None, {"ngram": (None, P), "mtp": (None, P)}, None, "which is fastest is not known"),
        (50, {"ngram": (60, P), "mtp": (None, P)}, None, "which is fastest is not known"),
    ],
)
def test_the_fastest_of_those_that_pass_is_chosen(baseline, candidates, chosen, words):
    """And the reason says how much faster, or why none is."""
    speeds = {"baseline": baseline, **{name: speed for name, (speed, _) in candidates.items()}}
    said = {name: decision for name, (_, decision) in candidates.items()}
    choice = choose_arm("baseline", said, speeds)
    assert choice.arm == chosen
    assert words in choice.reason
