"""How many pairs a rule that looks on the way takes: exactly, over every course that they could take."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

# Whether b regressions and c fixes among n pairs call a regression. More regressions must do so all the more,
# and another pair without a difference all the less.
Rule = Callable[[int, int, int], bool]

# Courses further than this from the mean (in standard deviations) share less than a billionth.
REACH = 7.0


@dataclass(frozen=True)
class Chances:
    """How probable a call is after each number of pairs, from 0 on; and no call, by the counts in the end."""

    called: np.ndarray[tuple[int], np.dtype[np.float64]]
    not_called: np.ndarray[tuple[int, int], np.dtype[np.float64]]

    def mean_asked(self, plan: int, batch: int = 1) -> float:
        """How many pairs a plan of that size asks on average, in whole batches, if a call ends it."""
        called = self.called[: plan + 1]
        asked = np.minimum(-(-np.arange(plan + 1) // batch) * batch, plan)
        return float((called * asked).sum() + (1 - called.sum()) * plan)


class Looks:
    """A rule, looked at after `every` so many of `most` pairs, with a churn up to the one named."""

    def __init__(self, rule: Rule, most: int, churn: float, *, every: int = 1) -> None:
        self.most = most
        # The fewest regressions that call, by number of fixes, at each look.
        self._fewest: dict[int, np.ndarray[tuple[int], np.dtype[np.int64]]] = {}
        fewest = [0] * (_likely(most, churn / 2) + 1)
        for pairs in range(every, most + 1, every):
            for fixes, least in enumerate(fewest):
                b = least
                while b + fixes <= pairs and not rule(b, fixes, pairs):
                    b += 1
                fewest[fixes] = b
            self._fewest[pairs] = np.array(fewest)

    def chances(self, net: float, churn: float) -> Chances:
        """Half the churn are fixes; the other half, and the net rate on top of it, are regressions."""
        worse, better = churn / 2 + net, churn / 2
        on = np.zeros((_likely(self.most, worse) + 1, _likely(self.most, better) + 1))
        on[0, 0] = 1.0
        called = np.zeros(self.most + 1)
        regressions = np.arange(on.shape[0])[:, None]
        for pairs in range(1, self.most + 1):
            after = on * (1 - worse - better)
            after[1:] += on[:-1] * worse
            after[:, 1:] += on[:, :-1] * better
            on = after
            if (fewest := self._fewest.get(pairs)) is not None:
                is_called = regressions >= fewest[: on.shape[1]]
                called[pairs] = on[is_called].sum()
                on[is_called] = 0.0
        return Chances(called, on)


def _likely(pairs: int, rate: float) -> int:
    """More of the pairs than this are quite improbable at that rate."""
    return min(pairs, int(pairs * rate + REACH * sqrt(pairs * rate) + REACH))
