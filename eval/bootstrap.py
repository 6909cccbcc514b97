"""Intervals by drawing sets of games again from those that were played: a check on the others.

The bootstrap assumes no form of distribution, only that the sets are many enough to stand for all
that could have been. It takes any number a set, so rates and means alike. Its interval is the
bias-corrected and accelerated one (BCa; Efron, "Better bootstrap confidence intervals", Journal of
the American Statistical Association 82, 1987, 171-185; Efron and Tibshirani, *An Introduction to
the Bootstrap*, 1993, 14.3).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.stats import CONFIDENCE, Estimate

Array = npt.NDArray[Any]

# How often all sets are drawn again. The ends of an interval then vary by about 2 % of its half.
RESAMPLES = 5000

TINY = 1e-9  # where the formula would divide by 0, far out of what resamples give

# What two intervals may differ by at either end, as a share of the width: beyond what the
# resamples' own luck gives, so that a difference says something about the sets.
ALLOWED_GAP = 0.1


def bootstrapped(values: Array, seed: int) -> Estimate | None:
    """Returns the mean of independent numbers with its interval by the bootstrap.

    Sets with equal values are drawn together, by how many of each there are, which is the same and
    takes hardly any time.

    Args:
        values: (S,) a number a set, exact in binary, as multiples of 1/2 are.
        seed: Of the resamples.

    Returns:
        None where all sets are equal, of which the bootstrap can make nothing.
    """
    distinct, counts = np.unique(values.astype(np.float64), return_counts=True)
    n = int(counts.sum())
    if len(distinct) == 1:
        return None
    mean = float(counts @ distinct) / n
    generator = np.random.default_rng(seed)
    means = generator.multinomial(n, counts / n, RESAMPLES) @ distinct / n
    # How far the resamples stand to one side of the mean, ties by half, in standard deviations.
    below = float((means < mean).sum() + (means == mean).sum() / 2) / RESAMPLES
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    # How fast the standard deviation changes with the mean: from the skewness of the sets.
    away = distinct - mean
    acceleration = float((counts @ away**3) / (6 * (counts @ away**2) ** 1.5))
    levels = []
    for level in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        point = bias + normal.inv_cdf(level)
        levels.append(normal.cdf(bias + point / max(1 - acceleration * point, TINY)))
    low, high = np.quantile(means, levels).tolist()
    return Estimate(mean, min(low, mean), max(high, mean))


def gap(one: Estimate, other: Estimate) -> float:
    """Returns how far the ends of two intervals lie apart at most, as a share of the wider one."""
    width = max(one.high - one.low, other.high - other.low)
    apart = max(abs(one.low - other.low), abs(one.high - other.high))
    return apart / width if width else math.inf if apart else 0.0
