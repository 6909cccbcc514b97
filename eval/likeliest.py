"""The likeliest distribution of what a set of games gives, among those with a given rate.

Axes: (M,) cases, (M, k + 1) how many sets had some result in none, in one, ..., in all k of their
games. A set's share is one of 0, 1/k, ..., 1. Of all distributions of shares that have the mean r,
the likeliest (Owen, *Empirical Likelihood*, 2001, 2.9) gives the share x the probability

    p(x) = count(x) / (n (1 + c (x - r)))

with the one c, the *tilt*, at which the mean is r: it maximises the sum of count log(1 + c (x - r))
where no 1 + c (x - r) is negative, and that greatest sum is what the mean costs of the logarithm of
the likelihood. Where c stands at an end of what is allowed, a share that was never seen, 0 or 1,
gets what is left of the probability.

For pairs this is the constrained estimate of Tango's interval (`eval.stats.pair_rate`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STEPS = 60  # at most, as many as halving alone would take
TINY = 1e-300  # in place of 0, where all shares seen are the rate itself
PRECISION = 1e-13  # of a tilt, relative to what is allowed for it


def shares_from(rates: npt.ArrayLike, size: int) -> Array:
    """Returns how far each share lies from each rate, (M, k + 1) float64.

    Args:
        rates: (M,) above 0 and below 1.
        size: k, the games of a set.
    """
    return np.arange(size + 1) / size - np.asarray(rates, np.float64)[:, None]


def tilts(counts: Array, away: Array) -> Array:
    """Returns the tilt of each case, (M,) float64.

    Args:
        counts: (M, k + 1) of sets.
        away: (M, k + 1) of `shares_from`.
    """
    low, high = -1 / away[:, -1], -1 / away[:, 0]
    enough = PRECISION * (high - low)
    tilt = np.zeros(len(away))
    for _ in range(STEPS):
        parts = away / (1 + tilt[:, None] * away)
        # What the mean is above the rate, which falls as the tilt grows, and how fast it falls.
        above = (counts * parts).sum(axis=1)
        fall = (counts * parts**2).sum(axis=1)
        low, high = np.where(above > 0, tilt, low), np.where(above > 0, high, tilt)
        # Newton's step, or half way where that leads astray.
        step = tilt + above / np.maximum(fall, TINY)
        fine = (low < step) & (step < high) | (step == tilt)
        step = np.where(fine, step, (low + high) / 2)
        # What has been found stays: going on would lead on to the very end, and a division by 0.
        going = np.abs(step - tilt) > enough
        if not going.any():
            break
        tilt = np.where(going, step, tilt)
    return tilt


def costs(counts: Array, rates: npt.ArrayLike) -> Array:
    """Returns how far below the greatest log-likelihood it is if a rate is the true one, (M,).

    Args:
        counts: (M, k + 1) of sets.
        rates: (M,) above 0 and below 1.
    """
    away = shares_from(rates, counts.shape[1] - 1)
    return np.asarray((counts * np.log1p(tilts(counts, away)[:, None] * away)).sum(axis=1))


def variances(counts: Array, rates: npt.ArrayLike) -> Array:
    """Returns the variance of a set's share under the likeliest distribution, (M,).

    Args:
        counts: (M, k + 1) of sets, at least one in each case.
        rates: (M,) above 0 and below 1.
    """
    away = shares_from(rates, counts.shape[1] - 1)
    tilt = tilts(counts, away)
    chances = counts / counts.sum(axis=1, keepdims=True) / (1 + tilt[:, None] * away)
    left = np.maximum(0.0, 1 - chances.sum(axis=1))
    end = np.where(tilt > 0, away[:, 0], away[:, -1])
    return np.asarray((chances * away**2).sum(axis=1) + left * end**2)
