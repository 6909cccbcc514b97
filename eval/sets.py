"""What sets of games gave: rates and means over sets, and what playing in sets was worth.

Axes: (G,) games, the *size* games of a set side by side; with size 1 every game is a set. The
statistics themselves are `eval.stats`: here they meet arrays of games.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.rules import Rules
from eval.stats import Estimate, mean_estimate, ratio_estimate, set_rate

Array = npt.NDArray[Any]


def check_games(games: int, rules: Rules) -> None:
    """Refuses a number of games that cannot be played in sets.

    Raises:
        ValueError: If it is none of whole sets.
    """
    size = rules.sides
    if games < size or games % size:
        if size == 2:
            allowed = "an even number from 2, as games come in pairs"
        else:
            allowed = f"a multiple of {size}, as games come in sets of {size}"
        raise ValueError(f"games={games}: allowed is {allowed}")


def outcomes(happened: Array, size: int) -> Array:
    """Returns in how many games of each set something happened, (S,) int64, from (G,) bool."""
    return np.asarray(happened.reshape(-1, size).sum(axis=1, dtype=np.int64))


def rate(happened: Array, size: int) -> Estimate:
    """Returns the rate of what happened in games, (G,) bool."""
    return set_rate(np.bincount(outcomes(happened, size), minlength=size + 1).tolist())


def totals(values: Array, size: int) -> Array:
    """Returns the sum of a number a game over each set, (S,) float64, from (G,)."""
    return np.asarray(values.reshape(-1, size).sum(axis=1, dtype=np.float64))


def mean(values: Array, size: int, low: float, high: float) -> Estimate:
    """Returns the mean of a number a game, (G,), which lies in [low, high]."""
    # Totals are whole numbers or halves: where all are equal, no rounding lets them vary.
    over_sets = totals(values, size)
    average = min(max(float(over_sets.mean()) / size, low), high)
    return mean_estimate(len(over_sets), average, variance(over_sets) / size**2, low, high)


def variance(values: Array) -> float:
    """Returns the sample variance of independent numbers, 0 for a single one."""
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def pairing(values: Array, size: int) -> Estimate | None:
    """Returns how many games sets need for each one that independent games need.

    For the same interval of the mean of a number a game, (G,), both measured in the same games: the
    variance of the mean of a set's games, over what it would be if they had nothing in common. The
    independent games it is held against have the seats exchanged in turn too, so the g-th games of
    all sets are compared among themselves. A ratio of two means over sets, linearised
    (`eval.stats.ratio_estimate`).

    Returns:
        None where games do not vary, or there is only one set.
    """
    games = values.reshape(-1, size).astype(np.float64)
    over_sets = totals(values, size)
    alone = ((games - games.mean(axis=0)) ** 2).mean(axis=1)
    together = (over_sets - over_sets.mean()) ** 2 / size
    if len(games) < 2 or not alone.any():
        return None
    ratio = float(together.sum() / alone.sum())
    residuals = variance(together - ratio * alone)
    return ratio_estimate(len(games), ratio, residuals, float(alone.mean()), 0, size)
