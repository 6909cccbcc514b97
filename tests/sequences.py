"""What sets of games give, as seen in play, and sequential tests of them, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eval.likeliest import shares_from, tilts
from eval.sprt import Hypotheses, evidence

Array = npt.NDArray[Any]

# How often A wins none, one, ..., all games of a set: 30,000 games each, seed 1.
SEEN = {
    "expert v greedy": (0.0265, 0.6277, 0.3458),
    "expert v noisy:0.3:pegging:expert": (0.0226, 0.8352, 0.1422),
    "expert v noisy:0.1:pegging:expert": (0.0218, 0.9171, 0.0611),
    "expert v greedy, three_player": (0.1003, 0.6414, 0.2375, 0.0208),
}


def chances(seen: str, rate: float) -> Array:
    """Returns the distribution seen in play, changed as little as can be to have another mean."""
    away = shares_from([rate], len(SEEN[seen]) - 1)
    found = np.array(SEEN[seen]) / (1 + tilts(np.array([SEEN[seen]]), away)[:, None] * away)[0]
    return np.asarray(found / found.sum())


def fixed_sets(chances: Array, hypotheses: Hypotheses, deviates: float) -> float:
    """Returns how many sets a test of fixed length needs for the same errors.

    Args:
        chances: How often A wins none, one, ..., all games of a set.
        hypotheses: What is tested.
        deviates: The normal deviates of alpha and beta, added.
    """
    shares = np.arange(len(chances)) / (len(chances) - 1)
    variance = chances @ shares**2 - (chances @ shares) ** 2
    return float(deviates**2 * variance / (hypotheses.rate1 - hypotheses.rate0) ** 2)


def simulated(
    hypotheses: Hypotheses, chances: Array, simulations: int, seed: int
) -> tuple[float, float]:
    """Returns how often tests find H1, and how many sets they take on average.

    They go on side by side, set by set, which gives what `SequentialTest` gives one by one.
    """
    generator = np.random.default_rng(seed)
    bounds = np.cumsum(chances)[:-1]
    counts = np.zeros((simulations, len(chances)), np.int64)
    taken = np.zeros(simulations, np.int64)
    found = np.zeros(simulations, np.bool_)
    going, steps = np.arange(simulations), 0
    while len(going):
        steps += 1
        won = np.searchsorted(bounds, generator.random(len(going)), side="right")
        counts[going, won] += 1
        llr, information = evidence(counts[going], hypotheses)
        lower, upper = hypotheses.bounds(information)
        ended = (llr <= lower) | (llr >= upper)
        taken[going[ended]], found[going[ended]] = steps, (llr >= upper)[ended]
        going = going[~ended]
    return float(found.mean()), float(taken.mean())
