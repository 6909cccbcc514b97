"""Ratings of players who met in pairs of games: Bradley and Terry's model, on the scale of Elo.

Player i beats player j with the probability 1 / (1 + 10 ** ((r_j - r_i) / 400)). Only differences
mean anything, so one player, the anchor, is given its rating. Sources:

* Bradley, Terry (1952), "Rank analysis of incomplete block designs", Biometrika 39, 324-345.
* Maystre, Grossglauser (2015), "Fast and accurate inference of Plackett-Luce models", the algorithm
  of `choix.ilsr_pairwise_dense`.
* Efron, Tibshirani (1993), An Introduction to the Bootstrap, 13.3 (percentile intervals).

Axes: (P, P) players, winner first; (S,) sets of games with the same cards; (B,) resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import choix
import numpy as np
import numpy.typing as npt

from eval.stats import CONFIDENCE, Estimate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ELO = 400 / math.log(10)  # points for a factor e in the odds

# Added to the wins of both players of every pairing that met, as if one game more had been drawn: a
# player that never wins, or never loses, has a rating, and in thousands of games nobody else's
# moves by anything that counts.
DRAWN = 0.5

RESAMPLES = 1000
MOST_STEPS = 10_000
TOLERANCE = 1e-7


def met(wins: Floats, player: int) -> npt.NDArray[np.bool_]:
    """Returns who has met a player, or somebody who has, and so on, (P,) bool, itself included.

    Between all others no games tell anything.

    Args:
        wins: (P, P) games won by row against column.
        player: The player.
    """
    played = wins + wins.T > 0
    reached = np.zeros(len(wins), bool)
    reached[player] = True
    while True:
        further = reached | played[reached].any(axis=0)
        if np.array_equal(further, reached):
            return reached
        reached = further


def ratings(wins: Floats, anchor: int, rating: float = 0.0, start: Floats | None = None) -> Floats:
    """Returns the likeliest ratings, (P,), in points of Elo, all players having met (`met`).

    Args:
        wins: (P, P) games won by row against column.
        anchor: The player whose rating is given.
        rating: Its rating.
        start: (P,) ratings to begin the search from, any.
    """
    played = wins + wins.T > 0
    found = choix.ilsr_pairwise_dense(
        wins + DRAWN * played,
        initial_params=None if start is None else start / ELO,
        max_iter=MOST_STEPS,
        tol=TOLERANCE,
    )
    return np.asarray(ELO * (found - found[anchor]) + rating)


def rated(
    pairings: Sequence[tuple[int, int, Ints, Ints]],
    players: int,
    anchor: int,
    rating: float,
    seed: int,
    resamples: int = RESAMPLES,
) -> list[Estimate | None]:
    """Returns the ratings with intervals from a bootstrap over sets of games.

    The sets are drawn again for all pairings at once: those with one number have the same cards, so
    whoever they were lucky for was so in all of them. The interval is of the difference to the
    anchor, whose own rating is given and has none.

    Args:
        pairings: For each: players a and b, the numbers of the sets they played, (S,), and how many
            of the two games of each a won, (S,).
        players: P, how many there are.
        anchor: The player whose rating is given.
        rating: Its rating.
        seed: Of the resamples.
        resamples: B, how many.

    Returns:
        By player; None for those whom no games connect with the anchor.
    """
    games = np.zeros((players, players))
    for a, b, _, won in pairings:
        games[a, b] += won.sum()
        games[b, a] += (2 - won).sum()
    known = np.flatnonzero(met(games, anchor))
    place = {player: i for i, player in enumerate(known.tolist())}
    counted = [one for one in pairings if one[0] in place]
    best = ratings(games[np.ix_(known, known)], place[anchor], rating)
    draws = np.empty((resamples, len(known)))
    luck = np.random.default_rng(seed)
    numbers = np.unique(np.concatenate([one[2] for one in counted])) if counted else np.zeros(0)
    where = [np.searchsorted(numbers, one[2]) for one in counted]
    for draw in draws:
        chosen = luck.integers(max(len(numbers), 1), size=len(numbers))
        often = np.bincount(chosen, minlength=len(numbers))
        wins = np.zeros((len(known), len(known)))
        for (a, b, _, won), sets in zip(counted, where, strict=True):
            weights = often[sets]
            wins[place[a], place[b]] += weights @ won
            wins[place[b], place[a]] += weights @ (2 - won)
        # A pairing of few sets may be missed by a resample: it keeps its drawn game.
        wins += DRAWN * ((games + games.T)[np.ix_(known, known)] > 0) * (wins + wins.T == 0)
        draw[:] = ratings(wins, place[anchor], rating, best)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(draws, [tail, 100 - tail], axis=0)
    result: list[Estimate | None] = [None] * players
    for player, i in place.items():
        value = float(best[i])
        result[player] = Estimate(value, min(value, float(low[i])), max(value, float(high[i])))
    return result
