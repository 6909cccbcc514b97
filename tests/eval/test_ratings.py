"""Ratings against a second method, and what they do where a player never wins or never meets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from eval.ratings import DRAWN, ELO, met, rated, ratings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def likeliest(wins: Floats, anchor: int) -> Floats:
    """Returns the ratings that maximise the likelihood, found by a general optimiser."""
    games = wins + DRAWN * (wins + wins.T > 0)

    def loss(strengths: Floats) -> float:
        gaps = strengths[:, None] - strengths[None, :]
        return float((games * np.log1p(np.exp(-gaps))).sum())

    found = minimize(loss, np.zeros(len(wins)), method="BFGS", options={"gtol": 1e-9}).x
    return np.asarray(ELO * (found - found[anchor]))


def drawn(strengths: Floats, sets: int, seed: int) -> list[tuple[int, int, Ints, Ints]]:
    """Returns pairings of all with all, whose pairs of games are independent."""
    luck = np.random.default_rng(seed)
    pairings = []
    for a in range(len(strengths)):
        for b in range(a + 1, len(strengths)):
            rate = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
            pairings.append((a, b, np.arange(sets), luck.binomial(2, rate, sets)))
    return pairings


def totals(pairings: list[tuple[int, int, Ints, Ints]], players: int) -> Floats:
    """Returns the games won by row against column."""
    wins = np.zeros((players, players))
    for a, b, _, won in pairings:
        wins[a, b] += won.sum()
        wins[b, a] += (2 - won).sum()
    return wins


def test_a_second_method_finds_the_same_ratings() -> None:
    luck = np.random.default_rng(1)
    for players in (2, 3, 6):
        pairings = drawn(luck.normal(0, 200, players), 300, players)
        wins = totals(pairings, players)
        assert ratings(wins, 1) == pytest.approx(likeliest(wins, 1), abs=0.01)
        assert ratings(wins, 1, 1500.0)[1] == 1500


def test_two_players_are_rated_by_their_odds() -> None:
    wins = np.array([[0, 300.0], [100.0, 0]])
    assert ratings(wins, 1)[0] == pytest.approx(400 * np.log10(300.5 / 100.5), abs=1e-3)


def test_a_player_that_never_wins_leaves_all_others_finite_and_where_they_were() -> None:
    strengths = np.array([0.0, 60.0, 150.0])
    pairings = drawn(strengths, 2000, 3)
    before = rated(pairings, 3, 0, 0.0, 1, 200)
    numbers = np.arange(2000)
    loser = [(player, 3, numbers, np.full(2000, 2)) for player in range(3)]
    after = rated([*pairings, *loser], 4, 0, 0.0, 1, 200)
    for old, new in zip(before, after, strict=False):
        assert old is not None
        assert new is not None
        assert old.low <= new.value <= old.high
        assert np.isfinite([new.low, new.high]).all()
    assert after[3] is not None
    assert -5000 < after[3].value < -1000


def test_who_never_met_the_anchor_has_no_rating() -> None:
    [one] = drawn(np.array([0.0, 50.0]), 100, 4)
    apart = (2, 3, one[2], one[3])
    found = rated([one, apart], 5, 0, 0.0, 1, 50)
    assert found[0] is not None
    assert found[1] is not None
    assert found[2:] == [None, None, None]
    wins = totals([one, apart], 5)
    assert met(wins, 3).tolist() == [False, False, True, True, False]
    through = totals([one, apart, (1, 2, one[2], one[3])], 5)
    assert met(through, 0).tolist() == [True, True, True, True, False]


def test_intervals_hold_the_true_rating_and_shrink_with_the_games() -> None:
    strengths = np.array([0.0, 40.0, 80.0])
    held, widths = 0, []
    for seed in range(12):
        for sets in (100, 400):
            found = rated(drawn(strengths, sets, seed), 3, 0, 0.0, seed, 200)
            assert found[0] is not None
            assert found[0].low == found[0].high == 0
            for estimate, strength in zip(found[1:], strengths[1:], strict=True):
                assert estimate is not None
                held += estimate.low <= strength <= estimate.high
                widths.append((sets, estimate.high - estimate.low))
    assert 0.85 <= held / 48 <= 1
    narrow, wide = (np.mean([w for s, w in widths if s == sets]) for sets in (400, 100))
    assert wide / narrow == pytest.approx(2, rel=0.15)
