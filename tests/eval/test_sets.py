"""Rates, means and the worth of pairing, from arrays of games."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env import Rules
from crib_env.rules import PRESETS
from eval import sets
from eval.stats import game_rate, set_rate


def test_outcomes_and_totals_are_by_set() -> None:
    happened = np.array([1, 0, 1, 1, 0, 0], np.bool_)
    assert sets.outcomes(happened, 2).tolist() == [1, 2, 0]
    assert sets.outcomes(happened, 3).tolist() == [2, 1]
    assert sets.totals(np.arange(6), 2).tolist() == [1, 5, 9]
    assert sets.rate(happened, 2) == set_rate([1, 1, 1])
    assert sets.rate(happened, 1) == game_rate(3, 6)


def test_rounding_carries_no_mean_out_of_its_range() -> None:
    for games in range(1, 60):
        values = np.full(games, 0.7)
        assert sets.mean(values, 1, 0.7, 1).value >= 0.7
        assert sets.mean(values, 1, 0, 0.7).value <= 0.7


def test_a_single_number_has_no_variance() -> None:
    assert sets.variance(np.array([3.0])) == 0
    assert sets.variance(np.array([1.0, 3.0])) == 2


@pytest.mark.parametrize("correlation", [-0.8, -0.4, 0.0, 0.5])
def test_pairing_is_worth_one_plus_the_correlation_of_a_pair(correlation: float) -> None:
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        covariance = 25 * np.array([[1, correlation], [correlation, 1]])
        # Who deals first is worth something, which exchanged seats take out either way.
        games = generator.multivariate_normal([3, -3], covariance, 400)
        worth = sets.pairing(games.ravel(), 2)
        assert worth is not None
        held += worth.low <= 1 + correlation <= worth.high
    assert 0.9 <= held / 200 <= 0.99


def test_pairing_of_three() -> None:
    generator = np.random.default_rng(2)
    alike = np.repeat(generator.normal(0, 1, 500), 3)
    worth = sets.pairing(alike, 3)
    assert worth is not None
    assert worth.value == pytest.approx(3)
    # One game of each set is won: there is nothing left to vary.
    won = np.eye(3, dtype=np.bool_)[generator.integers(3, size=500)].ravel()
    worth = sets.pairing(won, 3)
    assert worth is not None
    assert worth.value == pytest.approx(0)
    assert worth.low <= 1e-12 < worth.high


def test_pairing_of_games_that_do_not_vary_is_none() -> None:
    assert sets.pairing(np.ones(10), 2) is None
    assert sets.pairing(np.array([0.0, 1.0]), 2) is None


@pytest.mark.parametrize(
    ("games", "rules", "allowed"),
    [
        (0, Rules(), "an even number from 2"),
        (7, Rules(), "an even number from 2"),
        (10, PRESETS["three_player"], "a multiple of 3"),
        (-4, PRESETS["four_player"], "an even number from 2"),
    ],
)
def test_games_that_are_no_whole_sets_are_refused(games: int, rules: Rules, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"games={games}: allowed is {allowed}"):
        sets.check_games(games, rules)
