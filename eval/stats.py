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
* Abramowitz, Stegun (1964), Handbook of Mathematical Functions, 26.7.5.
* Cochran (1977), Sampling Techniques, 3rd edition, 6.4 (ratio estimates).
* Owen (2001), Empirical Likelihood, 2.9 (the likeliest distribution that has a given mean).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

MOST_DECIMALS = 6
PRECISION = 1e-12  # of the ends of an interval that are sought


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

    Over n pairs the rate is (1 + D) / 2 with D = (both - none) / n, a difference of paired
    proportions. Its interval is Tango's (1998): all D that the score test

        |both - none - n D| <= Z sqrt(n (2 q + D (1 - D)))

    does not reject, where q is the most likely share of pairs with none, given D: the larger root
    of 2n q^2 + (-both - none + (2n - both + none) D) q - none D (1 - D) = 0. The variance is that
    of the hypothesis, not of the sample, so the interval stays inside [0, 1] and has a width at
    0 %, at 100 %, when all pairs split and for a single pair; Fagerland and others (2014) recommend
    it for small samples and large. Where no pair splits, n pairs are worth n games and it is
    Wilson's.

    Args:
        none: How many pairs had the result in neither game.
        one: How many pairs had it in one game.
        both: How many pairs had it in both games.

    Raises:
        ValueError: If a count is negative, or all are zero.
    """
    if min(none, one, both) < 0 or none + one + both == 0:
        raise ValueError(f"pairs {none}, {one}, {both}: allowed are counts of at least one pair")
    n = none + one + both
    difference = (both - none) / n
    low = _score_bound(none, both, n, -1.0, difference)
    high = _score_bound(none, both, n, 1.0, difference)
    return Estimate((one + 2 * both) / (2 * n), (1 + low) / 2, (1 + high) / 2)


def _score_bound(none: int, both: int, n: int, end: float, difference: float) -> float:
    """Returns the D farthest towards *end*, -1 or 1, that Tango's score test does not reject."""
    if difference == end:
        return end
    # `inside` is never rejected, and `outside` always is: the test is strict at the ends.
    inside, outside = difference, end
    while True:
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            return inside
        slope = (2 * n - both + none) * middle - both - none
        offset = none * middle * (1 - middle)
        share = (math.sqrt(slope * slope + 8 * n * offset) - slope) / (4 * n)
        variance = n * (2 * share + middle * (1 - middle))
        if (both - none - n * middle) ** 2 <= Z * Z * variance:
            inside = middle
        else:
            outside = middle


def set_rate(counts: Sequence[int]) -> Estimate:
    """Returns the rate of games with some result, from what sets of k games with equal cards gave.

    `pair_rate` for sets of any size: its interval holds all rates r that the score test

        |mean - r| <= Z sqrt(variance(r) / n)

    does not reject, where variance(r) is that of the likeliest distribution of a set's share (one
    of 0, 1/k, ..., 1) whose mean is r. For sets of two that is Tango's (1998), and where all games
    of a set go alike, Wilson's on n games.

    Args:
        counts: (k + 1,) how many sets had the result in none, in one, ..., in all k of their games.

    Raises:
        ValueError: If a count is negative, or all are zero.
    """
    if min(counts) < 0 or sum(counts) == 0:
        raise ValueError(f"sets {list(counts)}: allowed are counts of at least one set")
    n, size = sum(counts), len(counts) - 1
    mean = math.fsum(count * games for games, count in enumerate(counts)) / (n * size)
    ends = []
    for end in (0.0, 1.0):
        # `inside` is never rejected, and `outside` always is: the test is strict at the ends.
        inside, outside = mean, end
        while abs(outside - inside) > PRECISION:
            middle = (inside + outside) / 2
            if (mean - middle) ** 2 * n <= Z * Z * likeliest_variance(counts, middle):
                inside = middle
            else:
                outside = middle
        ends.append(inside if mean != end else end)
    return Estimate(mean, *ends)


def likeliest_variance(counts: Sequence[int], rate: float) -> float:
    """Returns the variance of the likeliest distribution of shares that has the mean *rate*.

    It gives the share x the probability count / (n (1 + c (x - rate))), with the one c that makes
    the mean right (Owen 2001, 2.9). Where the c that this takes would make 1 + c (x - rate)
    negative at an end that was not observed, that end gets what is left of the probability.

    Args:
        counts: See `set_rate`.
        rate: Above 0 and below 1.
    """
    n, size = sum(counts), len(counts) - 1
    away = [games / size - rate for games in range(size + 1)]
    seen = [(count / n, x) for count, x in zip(counts, away, strict=True) if count]

    def excess(c: float) -> float:
        return math.fsum(share * x / (1 + c * x) for share, x in seen)

    low, high = -1 / away[-1], -1 / away[0]
    while high - low > PRECISION * (1 + abs(low)):
        c = (low + high) / 2
        # The excess falls as c grows.
        if excess(c) > 0:
            low = c
        else:
            high = c
    c = (low + high) / 2
    chances = [(share / (1 + c * x), x) for share, x in seen]
    left = 1 - math.fsum(chance for chance, _ in chances)
    chances.append((max(0.0, left), away[0] if c > 0 else away[-1]))
    return math.fsum(chance * x * x for chance, x in chances)


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
    error = t_quantile(n - 1) * math.sqrt(variance / n)
    return Estimate(mean, max(low, mean - error), min(high, mean + error))


def t_quantile(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t with *freedom* degrees of freedom, 1 or more.

    Exact for one and two degrees; beyond, four terms of Abramowitz and Stegun 26.7.5, at most
    0.12 % short (three degrees).
    """
    tail = 1 - CONFIDENCE
    if freedom == 1:
        return 1 / math.tan(tail * math.pi / 2)
    if freedom == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    z = Z
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


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
