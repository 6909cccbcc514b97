"""Intervals for what matches measure: rates and means over sets of games.

Games with the same cards and exchanged seats are correlated, so the observation is the set: a pair,
or three games where three play. Everything here takes counts or moments of sets, plain numbers, and
knows no game. All intervals are two-sided with 95 % confidence. Sources:

* Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
  paired-sample design", Statistics in Medicine 17, 891-908.
* Fagerland, Lydersen, Laake (2014), "Recommended tests and confidence intervals for paired binomial
  proportions", Statistics in Medicine 33, 2850-2875.
* Wilson (1927), "Probable inference, the law of succession, and statistical inference", Journal of
  the American Statistical Association 22, 209-212.
* Cochran (1977), Sampling Techniques, 3rd edition, 6.4 (ratio estimates).

Intervals from resampled sets are in `eval.bootstrap`, tests that stop early in `eval.sprt`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from eval.likeliest import variances

Array = npt.NDArray[Any]

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

MOST_DECIMALS = 6
HALVINGS = 42  # of where an interval ends: its ends are right to 1e-12


@dataclass(frozen=True)
class Estimate:
    """A measured number with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """The longer arm of the interval."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def ci95(self) -> list[float]:
        """The interval as results state it, [low, high]."""
        return [self.low, self.high]

    def __str__(self) -> str:
        """Returns value and interval with no more digits than the error leaves meaning."""
        places = decimals(self.error)
        return f"{self.value:.{places}f} [{self.low:.{places}f}, {self.high:.{places}f}]"


def decimals(error: float) -> int:
    """Returns how many decimals a number with this error is shown with.

    The last digit shown has the place of the error's first: 0.004 leaves three, 12 leaves none.

    Args:
        error: The half-width of the interval, 0 or more; 0 leaves the most there are.
    """
    if error <= 10.0**-MOST_DECIMALS:
        return MOST_DECIMALS
    return max(0, -math.floor(math.log10(error)))


def pair_rate(none: int, one: int, both: int) -> Estimate:
    """Returns the rate of games with some result, say won, from what pairs of games gave.

    It is `set_rate` for pairs, whose interval is then Tango's (1998) for the difference of paired
    proportions, D = 2 rate - 1. Fagerland and others (2014) recommend it for samples small and
    large: as the variance is that of the hypothesis, not of the sample, it stays inside [0, 1] and
    has a width at 0 %, at 100 %, when all pairs split and for a single pair. Where no pair splits,
    n pairs are worth n games and it is Wilson's.

    Args:
        none: How many pairs had the result in neither game.
        one: How many pairs had it in one game.
        both: How many pairs had it in both games.

    Raises:
        ValueError: If a count is negative, or all are zero.
    """
    return set_rate((none, one, both))


def set_rate(counts: Sequence[int]) -> Estimate:
    """Returns the rate of games with some result, from what sets of k games with equal cards gave.

    Args:
        counts: (k + 1,) how many sets had the result in none, in one, ..., in all k of their games.

    Raises:
        ValueError: If a count is negative, or all are zero.
    """
    if min(counts) < 0 or sum(counts) == 0:
        raise ValueError(f"sets {list(counts)}: allowed are counts of at least one set")
    n, size = sum(counts), len(counts) - 1
    mean = sum(count * games for games, count in enumerate(counts)) / (n * size)
    low, high = score_bounds(np.array([counts]))[0].tolist()
    return Estimate(mean, low, high)


def score_bounds(counts: Array) -> Array:
    """Returns the ends of the score test's interval of a rate, (M, 2) float64, for many matches.

    The interval holds all rates r that the test

        |mean - r| <= Z sqrt(variance(r) / n)

    does not reject, where variance(r) is that of the likeliest distribution of a set's share (one
    of 0, 1/k, ..., 1) whose mean is r (`eval.likeliest`). For sets of two that is Tango's (1998),
    and where all games of a set go alike, Wilson's on n games.

    Args:
        counts: (M, k + 1) how many sets of each match had the result in none, in one, ..., in all k
            of their games; at least one set.
    """
    size = counts.shape[1] - 1
    n = counts.sum(axis=1)
    mean = np.repeat(counts @ np.arange(size + 1) / (n * size), 2)
    ends = np.tile([0.0, 1.0], len(counts))
    n, both = np.repeat(n, 2), np.repeat(counts, 2, axis=0)
    observed = ends == mean
    # `inside` is never rejected, and `outside` always is: the test is strict at the ends. (Beyond
    # an end that was observed there is nothing; there any search will do.)
    inside, outside = mean, np.where(observed, 0.5, ends)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        held = (mean - middle) ** 2 * n <= Z * Z * variances(both, middle)
        inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
    return np.where(observed, ends, inside).reshape(-1, 2)


def game_rate(wins: int, games: int) -> Estimate:
    """Returns a rate over games that are independent, with Wilson's interval (1927).

    Args:
        wins: In how many games it happened.
        games: How many were played, 1 or more.

    Raises:
        ValueError: If *wins* is not among 0 to *games*, or there is no game.
    """
    return pair_rate(games - wins, 0, wins)


def mean_estimate(n: int, mean: float, variance: float, low: float, high: float) -> Estimate:
    """Returns a mean over n independent observations that are known to lie in [low, high].

    The interval is Student's, mean +- t sqrt(variance / n), cut to the range. Observations that are
    all equal have no variance to go by: then a share of z^2 / (n + z^2), Wilson's bound on what was
    not seen in n observations, is allowed to lie at either end of the range. For n pairs that all
    split this is the interval of `pair_rate`.

    Args:
        n: How many observations, 1 or more.
        mean: Their mean.
        variance: Their sample variance, with divisor n - 1; 0 for one observation.
        low: The least possible.
        high: The most possible.

    Raises:
        ValueError: If there is no observation, or the mean is out of range.
    """
    if n < 1 or not low <= mean <= high or variance < 0:
        raise ValueError(
            f"n={n}, mean={mean}, variance={variance}: allowed is a mean from {low} to {high}"
        )
    if variance == 0:
        unseen = Z * Z / (n + Z * Z)
        return Estimate(mean, mean - unseen * (mean - low), mean + unseen * (high - mean))
    error = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / n)
    return Estimate(mean, max(low, mean - error), min(high, mean + error))


def ratio_estimate(
    n: int, ratio: float, residual_variance: float, mean_divisor: float, low: float, high: float
) -> Estimate:
    """Returns a ratio of two totals, say points of hands to deals, over n independent observations.

    Linearised (Cochran, 6.4): the residuals y - R x of the observations have the variance that the
    ratio's error has, times n times the square of the mean divisor.

    Args:
        n: How many observations, 1 or more.
        ratio: R, the total of y over the total of x.
        residual_variance: The sample variance of y - R x; 0 for one observation.
        mean_divisor: The mean of x, above 0.
        low: The least possible ratio.
        high: The greatest possible ratio.

    Raises:
        ValueError: If there is no observation, or the ratio is out of range.
    """
    return mean_estimate(n, ratio, residual_variance / mean_divisor**2, low, high)
