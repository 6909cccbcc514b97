"""Chances by score: against another engine's games, against games played out, and by sense.

The tables of hands are tested in test_scoring.py, those of cribs in test_bots.py.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.game_record import RECORD, Phase
from crib_env.kernel import COMPILED, as_records
from crib_env.make_win_probability import SETTLED, count_deals, win_probability
from crib_env.policy import BotPolicy
from crib_env.rules import Rules
from crib_env.tables import DEAL_STARTS, WIN_PROBABILITY

Array = npt.NDArray[Any]
DATA = Path(__file__).parents[1] / "data"
FILE = Path(__file__).parents[2] / "crib_env" / "data" / "win_probability.npz"

compiled_only = pytest.mark.skipif(not COMPILED, reason="whole games take minutes uncompiled")


def published() -> tuple[Array, Array]:
    """Returns scores, (14,), and the dealer's chances by dealer's and pone's, (14, 14), in %."""
    lines = (DATA / "win_probability.txt").read_text(encoding="utf-8").splitlines()
    head, *rows = [line.split() for line in lines if not line.startswith("#")]
    scores = [int(word) for word in head[1:]]
    assert [int(row[0]) for row in rows] == scores
    return np.array(scores), np.array([[float(word) for word in row[1:]] for row in rows])


@pytest.fixture(scope="module")
def fresh() -> tuple[Array, Array]:
    """What is counted in 200,000 deals that the command has not played."""
    reached, totals = np.zeros((2, 122, 122), np.int64)
    games = as_records(Games(1, seed=420, first_dealer=0).records)
    count_deals(games, 0, 200_000, as_records(np.zeros(2, RECORD)), reached, totals)
    return reached, totals


# ---- chances to win ----


def test_tables_are_whole_and_fit_for_kernels() -> None:
    for table in (WIN_PROBABILITY, DEAL_STARTS):
        assert table.shape == (121, 121)
        assert table.dtype == np.float64
        assert table.flags.c_contiguous
        assert 0 <= table.min() <= table.max() <= 1


def test_chances_are_those_of_another_engine_s_games() -> None:
    scores, percent = published()
    off = 100 * WIN_PROBABILITY[np.ix_(scores, scores)] - percent
    worst = np.unravel_index(abs(off).argmax(), off.shape)
    where = f"dealer {scores[worst[0]]}, pone {scores[worst[1]]}: off by {off[worst]:.2f} points"
    assert abs(off).max() <= 2.0, where
    assert sqrt((off**2).mean()) < 0.6


def test_first_dealer_wins_56_of_100_games() -> None:
    assert 0.558 <= WIN_PROBABILITY[0, 0] <= 0.57


def test_another_point_never_hurts() -> None:
    # Exactly so, noise or not: the table is true of games with the deals that were counted, and in
    # the same deals whoever has a point more is out no later.
    assert np.diff(WIN_PROBABILITY, axis=0).min() >= -1e-12
    assert np.diff(WIN_PROBABILITY, axis=1).max() <= 1e-12


def test_dealing_is_worth_something_until_counting_first_is_worth_more() -> None:
    # What a player wins more often as dealer than as pone, by both scores.
    worth = WIN_PROBABILITY - (1 - WIN_PROBABILITY.T)
    assert worth[:80, :80].min() >= 0
    assert worth[115, 115] < -0.5


@compiled_only
@pytest.mark.parametrize(
    ("dealer", "pone"), [(0, 0), (35, 37), (70, 80), (96, 105), (118, 118), (120, 120)]
)
def test_chances_are_those_of_games_played_out(dealer: int, pone: int) -> None:
    games = Games(20_000, seed=421, first_dealer=1)
    games.records["scores"][:, :2] = pone, dealer
    games.play_bots([Bot.EXPERT, Bot.EXPERT])
    expected = WIN_PROBABILITY[dealer, pone]
    error = sqrt(expected * (1 - expected) / len(games))
    assert abs((games.winner == 1).mean() - expected) < 4 * error


@compiled_only
def test_a_shorter_game_is_the_end_of_a_long_one() -> None:
    games = Games(20_000, Rules(target=61), seed=422, first_dealer=0)
    games.play_bots([Bot.EXPERT, Bot.EXPERT])
    expected = WIN_PROBABILITY[121 - 61, 121 - 61]
    error = sqrt(expected * (1 - expected) / len(games))
    assert abs((games.winner == 0).mean() - expected) < 4 * error


@compiled_only
def test_chances_are_those_of_fresh_deals(fresh: tuple[Array, Array]) -> None:
    with np.load(FILE) as tables:
        error, deals = tables["standard_error"].astype(np.float64), int(tables["deals"])
    assert error.max() <= SETTLED
    # Errors of rare events are themselves uncertain, hence a thousandth more.
    allowed = 5 * error * sqrt(1 + deals / 200_000) + 0.001
    assert (abs(win_probability(*fresh) - WIN_PROBABILITY) < allowed).all()


@compiled_only
def test_without_the_order_of_pegging_the_chances_would_be_wrong(
    fresh: tuple[Array, Array],
) -> None:
    """The trap: what each pegs in a deal, taken apart, and pone winning where both get there.

    It does not show at 0-0, where what the roles lose to each other cancels.
    """
    _, totals = fresh
    apart = np.outer(totals.sum(axis=1), totals.sum(axis=0))
    # The dealer reaches a when it gets there at all, and pone has what it has in the end.
    reached = apart[::-1].cumsum(axis=0)[::-1]
    reached[0] = 0
    trap = win_probability(reached, apart)
    assert WIN_PROBABILITY[120, 117] - trap[120, 117] > 0.9
    scores, percent = published()
    assert abs(100 * trap[np.ix_(scores, scores)] - percent).max() > 5


# ---- where deals start ----


def test_starts_sum_to_one_and_a_game_takes_9_deals() -> None:
    assert DEAL_STARTS.sum() == pytest.approx(1, abs=1e-12)
    # Every game has one deal that starts at 0-0.
    assert 9.07 < 1 / DEAL_STARTS[0, 0] < 9.1


@compiled_only
def test_starts_are_those_of_games_played_out() -> None:
    games = Games(3_000, seed=423, first_dealer=0)
    policy = BotPolicy("expert")
    dealer, pone = np.indices(DEAL_STARTS.shape)
    features = {
        "dealer's score": dealer,
        "pone's score": pone,
        "both below 60": (dealer < 60) & (pone < 60),
        "dealer ahead": dealer > pone,
        "one at 100": (dealer >= 100) | (pone >= 100),
    }
    # By game: the sum over its deals of what each is above the table's mean. True means give 0.
    above = {name: np.zeros(len(games)) for name in features}
    last = np.full(len(games), -1)
    while not games.over.all():
        lanes = np.flatnonzero(~games.over)
        records = games.records[lanes]
        begins = records["deal_number"] > last[lanes]
        assert (records["phase"][begins] == Phase.DISCARD).all()
        last[lanes] = records["deal_number"]
        where = lanes[begins]
        rows = np.arange(len(where))
        of_dealer = records["scores"][begins][rows, records["dealer"][begins]]
        of_pone = records["scores"][begins][rows, 1 - records["dealer"][begins]]
        for name, feature in features.items():
            above[name][where] += feature[of_dealer, of_pone] - (DEAL_STARTS * feature).sum()
        observations = games.observe(lanes=lanes)
        games.apply(policy(observations, games.action_masks(lanes=lanes), games.luck(lanes)), lanes)
    for name, sums in above.items():
        assert abs(sums.mean()) < 4 * sums.std() / sqrt(len(games)), name
