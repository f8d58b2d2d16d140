"""Samples asked several times in each arm: the net rate of their means, with an interval by clusters."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

from .statistics import Interval


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean over samples; `standard_error` and `interval` allow for clusters whose samples hang together."""

    mean: float
    standard_error: float
    interval: Interval
    clusters: int


def mean_differences(
    baseline: Sequence[Sequence[bool]], candidate: Sequence[Sequence[bool]]
) -> tuple[float, ...]:
    """Return how much more often each sample is right in the baseline than in the candidate.

    Args:
        baseline: For each sample, whether each repeat was right there; at least one repeat.
        candidate: The same samples in the candidate; the number of repeats may differ.

    Returns:
        A difference of shares for each sample, from -1 to 1; above 0 the candidate is worse.

    Raises:
        ValueError: The arms differ in samples, or a sample has no answer.
    """
    if len(baseline) != len(candidate):
        raise ValueError(f"{len(baseline)} samples in the baseline and {len(candidate)} in the candidate")
    if not all(baseline) or not all(candidate):
        raise ValueError("a sample without an answer has no mean")
    return tuple(
        sum(left) / len(left) - sum(right) / len(right)
        for left, right in zip(baseline, candidate, strict=True)
    )


def clustered_interval(
    differences: Sequence[float], clusters: Sequence[Hashable], confidence: float = 0.95
) -> ClusteredMean | None:
    """Return the mean of per-sample differences with a standard error that clusters samples.

    Residuals are summed within each cluster before they are squared (Miller, arXiv 2411.00640, section 2.2),
    with the factor G / (G - 1) and Student's quantile for G clusters, without which few clusters look surer
    than they are. Each sample its own cluster gives the ordinary standard error of a mean. Unlike Tango's
    interval this one collapses where no sample differs: then it says nothing, and the counts must be asked.

    Args:
        differences: One mean difference a sample (`mean_differences`).
        clusters: The cluster of each: the sample's id, or a shared `metadata.cluster`.
        confidence: Two-sided, between 0 and 1.

    Returns:
        Mean, error and interval; None with fewer than two clusters, whose spread nobody can know.

    Raises:
        ValueError: Not one cluster for each difference.
    """
    if len(differences) != len(clusters):
        raise ValueError(f"{len(differences)} differences and {len(clusters)} clusters")
    count = len(set(clusters))
    if count < 2:
        return None
    from scipy.special import stdtrit  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

    mean = sum(differences) / len(differences)
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[cluster] += difference - mean
    variance = sum(value**2 for value in sums.values()) * count / (count - 1)
    error = sqrt(variance) / len(differences)
    quantile = float(stdtrit(count - 1, (1 + confidence) / 2))  # pyright: ignore[reportUnknownArgumentType]
    reach = quantile * error
    return ClusteredMean(mean, error, Interval(mean - reach, mean + reach), count)
