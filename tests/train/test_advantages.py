"""Generalised advantage estimation over each seat's own decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from train.advantages import Array, advantages_by_seat


def column(values: Sequence[float], kind: type = np.float32) -> Array:
    """Returns a game's steps as the one column of a (T, 1) array."""
    return np.array(values, kind)[:, None]


def of_two(gains: Array) -> Array:
    """Returns what each of two seats gained, (T, N, 2), from what seat 0 gained on seat 1."""
    return np.stack([gains, -gains], axis=2)


def of_sides(rng: np.random.Generator, steps: int, lanes: int, players: int) -> Array:
    """Returns random gains, (T, N, players), that add up to 0; those of partners are the same."""
    sides = 3 if players == 3 else 2
    points = rng.integers(-12, 13, (steps, lanes, sides)).astype(np.float32) / 10
    gains: Array = points - points.mean(axis=2, keepdims=True)
    return gains[:, :, np.arange(players) % sides]


def all_valid(steps: int) -> Array:
    """Returns that there was a decision at every step."""
    return np.ones((steps, 1), np.bool_)


def by_definition(gains: Array, seats: Array, values: Array, valid: Array, lam: float) -> Array:
    """Returns the advantages by the definition, one seat of one game at a time, in float64.

    advantage_k = sum over l of lambda^l delta_{k+l}, delta_k = reward_k + value_{k+1} - value_k
    (Schulman et al. 2016, eq. 11 to 16, with gamma = 1).
    """
    steps, lanes, players = gains.shape
    advantages = np.zeros((steps, lanes))
    for lane in range(lanes):
        for seat in range(players):
            own = [t for t in range(steps) if valid[t, lane] and seats[t, lane] == seat]
            deltas = []
            for k, begin in enumerate(own):
                last = k + 1 == len(own)
                end = steps if last else own[k + 1]
                reward = sum(
                    float(gains[t, lane, seat]) for t in range(begin, end) if valid[t, lane]
                )
                after = 0.0 if last else float(values[own[k + 1], lane])
                deltas.append(reward + after - float(values[begin, lane]))
            for k, begin in enumerate(own):
                advantages[begin, lane] = sum(
                    lam**later * delta for later, delta in enumerate(deltas[k:])
                )
    return advantages


def test_an_example_worked_by_hand() -> None:
    # step              0     1     2     3     4
    # seat              1     0     1     1     0
    # seat 0 gains      0    +2    -3     0    +5      what each step's action brought
    # value             1     4     2     0     3      for the seat that acts
    #
    # seat 1 decides at 0, 2, 3 and gains the opposite.
    #   reward_0 = -(0 + 2) = -2, reward_2 = -(-3) = 3, reward_3 = -(0 + 5) = -5
    #   delta_0 = -2 + 2 - 1 = -1, delta_2 = 3 + 0 - 2 = 1, delta_3 = -5 + 0 - 0 = -5
    # seat 0 decides at 1, 4.
    #   reward_1 = 2 - 3 + 0 = -1, reward_4 = 5
    #   delta_1 = -1 + 3 - 4 = -2, delta_4 = 5 + 0 - 3 = 2
    gains = of_two(column([0, 2, -3, 0, 5]))
    seats = column([1, 0, 1, 1, 0], np.int64)
    values = column([1, 4, 2, 0, 3])
    half = advantages_by_seat(gains, seats, values, all_valid(5), 0.5)
    assert half[:, 0].tolist() == [-1 + 0.5 * (1 + 0.5 * -5), -2 + 0.5 * 2, 1 - 2.5, -5, 2]
    none = advantages_by_seat(gains, seats, values, all_valid(5), 0.0)
    assert none[:, 0].tolist() == [-1, -2, 1, -5, 2]
    whole = advantages_by_seat(gains, seats, values, all_valid(5), 1.0)
    assert whole[:, 0].tolist() == [-5, 0, -4, -5, 2]


def test_with_no_value_and_lambda_1_each_seat_has_what_it_gains_to_the_end() -> None:
    gains = of_two(column([1, 0, -4, 0]))
    seats = column([0, 1, 1, 0], np.int64)
    found = advantages_by_seat(gains, seats, np.zeros((4, 1), np.float32), all_valid(4), 1.0)
    assert found[:, 0].tolist() == [-3, 4, 4, 0]


def test_the_seat_that_gains_has_positive_and_the_other_negative_advantages() -> None:
    steps = 8
    seats = column([0, 1] * 4, np.int64)
    values = np.zeros((steps, 1), np.float32)
    for sign in (1, -1):
        gains = of_two(sign * column([0] * (steps - 1) + [10]))
        found = sign * advantages_by_seat(gains, seats, values, all_valid(steps), 1.0)[:, 0]
        assert (found[0::2] == 10).all()
        assert (found[1::2] == -10).all()


@pytest.mark.parametrize("gae_lambda", [0.5, 0.9, 1.0])
def test_whoever_wins_has_gained_by_every_decision_and_the_other_lost(gae_lambda: float) -> None:
    # D050: each seat's return is its own result, here 1 for the winner and -1 for the other, made
    # by the last step, whoever took that and in whatever order the seats came before.
    rng = np.random.default_rng(5)
    steps, lanes = 12, 500
    seats = rng.integers(0, 2, (steps, lanes))
    winner = rng.integers(0, 2, lanes)
    gains = np.zeros((steps, lanes), np.float32)
    gains[-1] = np.where(winner == 0, 1, -1)
    values = np.zeros((steps, lanes), np.float32)
    valid = np.ones((steps, lanes), np.bool_)
    found = advantages_by_seat(of_two(gains), seats, values, valid, gae_lambda)
    won = seats == winner
    assert (found[won] > 0).all()
    assert (found[~won] < 0).all()
    if gae_lambda == 1:
        assert (found == np.where(won, 1, -1)).all()


def test_what_the_other_pegs_in_between_counts_against_the_decision_before() -> None:
    # Seat 0 leads, seat 1 pairs for 2, seat 0 has one more card.
    found = advantages_by_seat(
        of_two(column([0, -2, 0])),
        column([0, 1, 0], np.int64),
        np.zeros((3, 1), np.float32),
        all_valid(3),
        0.0,
    )
    assert found[:, 0].tolist() == [-2, 2, 0]


def test_steps_without_a_decision_have_no_advantage_and_change_none() -> None:
    rng = np.random.default_rng(1)
    gains = of_two(rng.integers(-5, 6, (6, 1)).astype(np.float32))
    seats = rng.integers(0, 2, (6, 1))
    values = rng.normal(size=(6, 1)).astype(np.float32)
    short = advantages_by_seat(gains, seats, values, all_valid(6), 0.9)
    longer = [
        np.concatenate([rows, np.full((4, *rows.shape[1:]), filling, rows.dtype)])
        for rows, filling in ((gains, 99), (seats, 1), (values, 99), (all_valid(6), False))
    ]
    long = advantages_by_seat(longer[0], longer[1], longer[2], longer[3], 0.9)
    np.testing.assert_array_equal(long[:6], short)
    assert (long[6:] == 0).all()


def test_a_perfect_critic_leaves_no_advantage() -> None:
    # Whatever lambda is: if each value is what its seat gains from there on, nothing surprises.
    rng = np.random.default_rng(2)
    gains = rng.integers(-5, 6, (9, 1)).astype(np.float32)
    seats = rng.integers(0, 2, (9, 1))
    to_come = np.cumsum(gains[::-1], axis=0)[::-1]
    values = np.where(seats == 0, to_come, -to_come).astype(np.float32)
    for lam in (0.0, 0.5, 1.0):
        found = advantages_by_seat(of_two(gains), seats, values, all_valid(9), lam)
        np.testing.assert_allclose(found, 0, atol=1e-5)


@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(1, 14),
    lanes=st.integers(1, 6),
    players=st.integers(2, 4),
    lam=st.sampled_from([0.0, 0.3, 0.9, 0.95, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_it_equals_the_definition_on_random_games(
    seed: int, steps: int, lanes: int, players: int, lam: float
) -> None:
    rng = np.random.default_rng(seed)
    gains = of_sides(rng, steps, lanes, players)
    seats = rng.integers(0, players, (steps, lanes))
    values = rng.normal(size=(steps, lanes)).astype(np.float32)
    # Games end at different steps, and a few steps in between are without a decision.
    valid = (np.arange(steps)[:, None] < rng.integers(0, steps + 1, lanes)) & (
        rng.random((steps, lanes)) < 0.9
    )
    found = advantages_by_seat(gains, seats, values, valid, lam)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_definition(gains, seats, values, valid, lam), atol=1e-4)


def test_games_side_by_side_do_not_touch_each_other() -> None:
    rng = np.random.default_rng(3)
    gains = of_sides(rng, 10, 5, 3)
    seats = rng.integers(0, 3, (10, 5))
    values = rng.normal(size=(10, 5)).astype(np.float32)
    valid = rng.random((10, 5)) < 0.8
    together = advantages_by_seat(gains, seats, values, valid, 0.9)
    for lane in range(5):
        one = slice(lane, lane + 1)
        alone = advantages_by_seat(gains[:, one], seats[:, one], values[:, one], valid[:, one], 0.9)
        np.testing.assert_array_equal(alone, together[:, one])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_moving_everybody_one_seat_on_changes_nothing(players: int) -> None:
    rng = np.random.default_rng(players)
    gains = of_sides(rng, 10, 5, players)
    seats = rng.integers(0, players, (10, 5))
    values = rng.normal(size=(10, 5)).astype(np.float32)
    valid = np.ones((10, 5), np.bool_)
    np.testing.assert_array_equal(
        advantages_by_seat(gains, seats, values, valid, 0.9),
        advantages_by_seat(np.roll(gains, 1, axis=2), (seats + 1) % players, values, valid, 0.9),
    )


def test_three_seats_worked_by_hand() -> None:
    # Seat 1 leads, seat 2 pairs for 2, seat 0 lays, seat 1 takes the go, seat 2 has the last card.
    # A seat that pegs p gains p; each of the others loses p / 2.
    #
    # step              0     1     2     3     4
    # seat              1     2     0     1     2
    # pegs              0     2     0     1     1
    # value             1     0     2     1     0
    #
    # seat 1: from 0 on it loses 1 (step 1), from 3 on it gains 1 and loses 0.5.
    #   delta_0 = -1 + 1 - 1 = -1, delta_3 = 0.5 - 1 = -0.5
    # seat 2: from 1 on it gains 2, and loses 0.5 by step 3; from 4 on it gains 1.
    #   delta_1 = 1.5 + 0 - 0 = 1.5, delta_4 = 1
    # seat 0: from 2 on it loses 0.5 and 0.5.
    #   delta_2 = -1 - 2 = -3
    seats = column([1, 2, 0, 1, 2], np.int64)
    pegged = np.zeros((5, 1, 3), np.float32)
    pegged[np.arange(5), 0, seats[:, 0]] = [0, 2, 0, 1, 1]
    gains = 1.5 * pegged - pegged.sum(axis=2, keepdims=True) / 2
    found = advantages_by_seat(gains, seats, column([1, 0, 2, 1, 0]), all_valid(5), 0.5)
    assert found[:, 0].tolist() == [-1 - 0.25, 1.5 + 0.5, -3, -0.5, 1]


def test_what_a_partner_pegs_counts_for_the_decision_before() -> None:
    # Seats 0 and 2 are partners: seat 0 lays, seat 1 lays, seat 2 pegs 2.
    seats = column([0, 1, 2], np.int64)
    gains = np.zeros((3, 1, 4), np.float32)
    gains[2, 0] = [2, -2, 2, -2]
    values = np.zeros((3, 1), np.float32)
    found = advantages_by_seat(gains, seats, values, all_valid(3), 0.0)
    assert found[:, 0].tolist() == [2, -2, 2]
