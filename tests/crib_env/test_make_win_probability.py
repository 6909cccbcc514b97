"""How chances by score are made: the counts by the rule book, what follows from them by hand."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env import make_tables, make_win_probability
from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.game_record import RECORD, Role
from crib_env.kernel import as_records
from crib_env.make_win_probability import (
    BATCHES,
    count_deals,
    deal_starts,
    standard_error,
    win_probability,
)

Array = npt.NDArray[Any]
Deals = list[list[tuple[Role, int]]]  # what was pegged in each deal, in order

SIZE = 122


def counted(games: Games, deals: int) -> tuple[Array, Array]:
    """Returns what `count_deals` counts in *deals* deals of each lane; moves the games on."""
    reached, totals = np.zeros((2, SIZE, SIZE), np.int64)
    scratch = as_records(np.zeros(2, RECORD))
    for lane in range(len(games)):
        count_deals(as_records(games.records), lane, deals, scratch, reached, totals)
    return reached, totals


# ---- what is counted ----


@pytest.mark.parametrize("dealer", [0, 1])
def test_who_wins_in_a_deal_is_what_the_same_deal_gives_at_those_scores(dealer: int) -> None:
    """Each pair of scores is played out by the rule book itself, with the same cards."""
    lanes = 300
    reached, totals = counted(Games(lanes, seed=5, first_dealer=dealer), 1)
    assert totals.sum() == lanes
    for needs in (1, 2, 3, 5, 8, 12, 16, 20, 26):
        for pone_needs in (1, 2, 4, 7, 10, 15, 24):
            games = Games(lanes, seed=5, first_dealer=dealer)
            games.records["scores"][:, dealer] = 121 - needs
            games.records["scores"][:, 1 - dealer] = 121 - pone_needs
            games.play_bots([Bot.EXPERT, Bot.EXPERT])
            at_once = games.records["deal_number"] == 0
            where = f"dealer needs {needs}, pone {pone_needs}"
            assert (games.winner[at_once] == dealer).sum() == reached[needs, :pone_needs].sum(), (
                where
            )
            assert (~at_once).sum() == totals[:needs, :pone_needs].sum(), where


def test_counting_goes_on_where_it_stopped() -> None:
    games = Games(2, seed=9, first_dealer=0)
    parts = [counted(games, deals) for deals in (30, 1, 69)]
    whole = counted(Games(2, seed=9, first_dealer=0), 100)
    for index in range(2):
        assert np.array_equal(sum(part[index] for part in parts), whole[index])


def test_every_deal_of_many_gives_the_dealer_a_point_and_nobody_the_game() -> None:
    reached, totals = counted(Games(1, seed=10, first_dealer=0), 20_000)
    assert totals[0].sum() == 0  # R11: the last card, or a go before it, is the dealer's
    assert totals[:, 100:].sum() == totals[100:].sum() == 0
    # Whoever has d points in the end has reached each number up to d once.
    at_least = totals.sum(axis=1)[::-1].cumsum()[::-1]
    assert np.array_equal(reached.sum(axis=1)[1:], at_least[1:])


# ---- what is made of the counts ----


def on_paper(deals: Deals) -> tuple[Array, Array]:
    """Returns the counts of deals written down, as `count_deals` would."""
    reached, totals = np.zeros((2, SIZE, SIZE), np.int64)
    for deal in deals:
        pegged = {Role.DEALER: 0, Role.PONE: 0}
        for role, points in deal:
            for _ in range(points):
                pegged[role] += 1
                if role == Role.DEALER:
                    reached[pegged[Role.DEALER], pegged[Role.PONE]] += 1
        totals[pegged[Role.DEALER], pegged[Role.PONE]] += 1
    return reached, totals


def random_deals(rng: np.random.Generator, number: int) -> Deals:
    """Returns deals in which one to six times somebody pegs one to five points."""
    return [
        [(Role(int(rng.integers(2))), int(rng.integers(1, 6))) for _ in range(rng.integers(1, 7))]
        for _ in range(number)
    ]


def test_table_is_what_playing_such_deals_out_by_hand_gives() -> None:
    for seed in range(5):
        deals = random_deals(np.random.default_rng(seed), 4)

        @cache
        def chance(dealer_needs: int, pone_needs: int, deals: Deals = deals) -> Fraction:
            wins = Fraction(0)
            for deal in deals:
                needs = {Role.DEALER: dealer_needs, Role.PONE: pone_needs}
                for role, points in deal:
                    needs[role] -= points
                    if needs[role] <= 0:
                        wins += role == Role.DEALER
                        break
                else:
                    wins += 1 - chance(needs[Role.PONE], needs[Role.DEALER])
            return wins / len(deals)

        table = win_probability(*on_paper(deals))
        for dealer in range(103, 121):
            for pone in range(103, 121):
                expected = float(chance(121 - dealer, 121 - pone))
                assert table[dealer, pone] == pytest.approx(expected, abs=1e-12), (dealer, pone)


def test_starts_are_where_such_deals_lead() -> None:
    # The dealer pegs 50 or 30, pone 20: five deals at most, so that all ways can be followed.
    _, totals = on_paper([[(Role.PONE, 20), (Role.DEALER, points)] for points in (50, 30)])
    expected = np.zeros((121, 121))

    def follow(dealer: int, pone: int, share: float) -> None:
        if dealer < 121 and pone < 121:
            expected[dealer, pone] += share
            for points in (50, 30):
                follow(pone + 20, dealer + points, share / 2)

    follow(0, 0, 1.0)
    starts = deal_starts(totals)
    assert np.allclose(starts, expected / expected.sum(), rtol=0, atol=1e-15)
    assert starts.sum() == pytest.approx(1, abs=1e-12)


def test_deals_without_a_point_are_refused() -> None:
    with pytest.raises(ValueError, match="1 deals without a point"):
        win_probability(*on_paper([[], [(Role.DEALER, 1)]]))


def test_standard_error_is_that_of_the_mean_of_the_batches() -> None:
    # At 120-120 with one pegging a deal the table is the share of deals in which the dealer pegs.
    dealer, pone = [(Role.DEALER, 1)], [(Role.PONE, 1)]
    batches = [on_paper([dealer] * share + [pone] * (10 - share)) for share in (4, 6, 5, 9)]
    reached, totals = (np.array(counts) for counts in zip(*batches, strict=True))
    expected = np.std([0.4, 0.6, 0.5, 0.9], ddof=1) / 2
    assert standard_error(reached, totals)[120, 120] == pytest.approx(expected)


# ---- the command ----


def test_deals_are_doubled_until_the_table_has_settled(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = make_win_probability.make_win_probability(deals=25, settled=0.015)
    rounds = capsys.readouterr().out.splitlines()
    played = [int(line.split()[0]) for line in rounds]
    assert len(played) > 1
    assert played == [BATCHES * 25 * 2**index for index in range(len(played))]
    errors = [float(line.split()[-1]) for line in rounds]
    assert errors[-1] <= 0.015 < min(errors[:-1])
    assert made["standard_error"].max() == pytest.approx(errors[-1], abs=1e-6)
    assert made["deals"] == played[-1]

    at_once = make_win_probability.make_win_probability(deals=played[-1] // BATCHES, settled=1)
    for name, table in made.items():
        assert np.array_equal(table, at_once[name]), name


def test_a_table_that_does_not_settle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_win_probability, "MOST_DOUBLINGS", 1)
    with pytest.raises(RuntimeError, match="not settled after 1 doublings"):
        make_win_probability.make_win_probability(deals=5, settled=0)


def test_command_writes_the_tables_and_the_same_bytes_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(make_tables, "DATA", tmp_path)
    monkeypatch.setattr(
        make_tables,
        "make_win_probability",
        lambda: make_win_probability.make_win_probability(deals=10, settled=1),
    )
    path = tmp_path / "win_probability.npz"
    written = []
    for _ in range(2):
        assert make_tables.main(["win_probability"]) == 0
        written.append(path.read_bytes())
    assert written[0] == written[1]
    with np.load(path) as tables:
        shapes = {name: (tables[name].dtype.name, tables[name].shape) for name in tables.files}
    assert shapes == {
        "win_probability": ("float64", (121, 121)),
        "standard_error": ("float32", (121, 121)),
        "deal_starts": ("float64", (121, 121)),
        "deals": ("int64", ()),
    }
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_table_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_tables.main(["wins"]) == 2
    assert "allowed is one of: hands, cribs, win_probability" in capsys.readouterr().err
