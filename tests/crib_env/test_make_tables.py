"""How the tables of cribs are made, and that they are what the cribs of whole games are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env import make_tables
from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.game_record import Phase
from crib_env.kernel import COMPILED
from crib_env.make_tables import AVERAGED_DEALS, averaged_cribs, crib_error, play_deals
from crib_env.rules import PRESETS
from crib_env.tables import CRIB_SCALE, CRIB_VARIANTS, CRIBS
from tests.golden_bots import choices

Array = npt.NDArray[Any]

compiled_only = pytest.mark.skipif(not COMPILED, reason="many deals take minutes uncompiled")
variants = pytest.mark.parametrize("variant", range(len(CRIB_VARIANTS)), ids=CRIB_VARIANTS)

# What the averaged tables are off by at most, in points (docs/results.md). Of six cards, what is
# thrown often is off by less than can be seen here.
REMAINING = (0, 0.03, 0.03, 0.03)
# A crib's standard deviation, in points: of its mean over the starters, and with one of them.
SPREAD, SPREAD_AT_THE_CUT = 2.5, 4


# ---- what the tables say ----


@compiled_only
@variants
def test_the_crib_tables_are_what_their_command_finds_by_self_play(variant: int) -> None:
    """A million fresh deals: every throw made often is within five standard errors."""
    rules, deals = PRESETS[CRIB_VARIANTS[variant]], 1_000_000
    totals, counts = (np.zeros((2, 13, 13), np.int64) for _ in range(2))
    play_deals(rules.players, rules.cards_dealt, CRIBS[variant], deals, 99, totals, counts)
    assert counts.sum() == rules.players * deals
    starters = 52 - rules.players * rules.cards_dealt - rules.crib_from_pack
    often = counts > 2_000
    assert often.sum() >= 26 if rules.num_discards == 1 else often.sum() > 120
    found = totals[often] / counts[often] / starters
    error = 5 * SPREAD / np.sqrt(counts[often]) + REMAINING[variant]
    assert (abs(found - CRIBS[variant][often] / CRIB_SCALE) < error).all()


@compiled_only
@variants
def test_the_crib_tables_are_what_the_cribs_of_games_are_worth(variant: int) -> None:
    """Deals by the rule book, where expert throws: which table is read, and whose crib it is of."""
    games = Games(150_000, CRIB_VARIANTS[variant], seed=430)
    rules = games.rules
    for _ in range(rules.players * rules.num_discards):
        games.apply(choices(Bot.EXPERT, games))
    records = games.records
    assert (records["phase"] != Phase.DISCARD).all()
    points = records["worth"][:, -1].astype(np.int64)
    totals, counts = (np.zeros((2, 13, 13), np.int64) for _ in range(2))
    for seat in range(rules.players):
        thrown = records["discards"][:, seat]
        low = lowest_rank(thrown)
        high = lowest_rank(thrown & (thrown - 1)) if rules.num_discards == 2 else low
        another = ((records["dealer"] - seat) % rules.sides != 0).astype(np.int64)
        np.add.at(totals, (another, low, high), points)
        np.add.at(counts, (another, low, high), 1)
    often = counts > 500
    found = totals[often] / counts[often]
    error = 5 * SPREAD_AT_THE_CUT / np.sqrt(counts[often]) + REMAINING[variant]
    off = abs(found - CRIBS[variant][often] / CRIB_SCALE)
    assert (off < error).all()
    # With the two tables exchanged it would not be so.
    assert (abs(found - CRIBS[variant, ::-1][often] / CRIB_SCALE) > error).any()


def lowest_rank(cards: Array) -> Array:
    """Returns the rank of the lowest card of each set, (N,)."""
    return np.asarray(np.bitwise_count((cards & -cards) - 1) // 4, np.int64)


# ---- how they are made ----


@compiled_only
def test_averaging_finds_them_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few(monkeypatch)
    made = averaged_cribs("three_player")
    assert made.dtype == np.int64
    # 80,000 deals are averaged: the rarest throw is made 700 times.
    assert abs(made - CRIBS[CRIB_VARIANTS.index("three_player")]).max() < 0.3 * CRIB_SCALE
    assert np.array_equal(made, averaged_cribs("three_player"))
    told = [line for line in capsys.readouterr().out.splitlines() if "off by" in line]
    assert len(told) == 2
    assert told[0] == told[1]
    assert told[0].startswith("three_player: off by 0.")


@compiled_only
def test_the_error_told_is_how_far_off_tables_are() -> None:
    cribs = CRIBS[CRIB_VARIANTS.index("four_player")]
    rules = PRESETS["four_player"]
    largest, mean = crib_error(rules, cribs, 500_000, 431)
    assert 0 < mean < largest < 0.05
    # All alike too high by a tenth, which changes no throw.
    raised = cribs + 100 * (cribs > 0)
    assert crib_error(rules, raised, 500_000, 431)[1] == pytest.approx(0.1, abs=0.01)


def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the tables made from few deals."""
    monkeypatch.setattr(make_tables, "AVERAGED_DEALS", dict.fromkeys(AVERAGED_DEALS, 10_000))
    monkeypatch.setattr(make_tables, "ITERATIONS", 12)
    monkeypatch.setattr(make_tables, "FIRST_ITERATIONS", 4)
    monkeypatch.setattr(make_tables, "CHECK_DEALS", 200_000)
    monkeypatch.setattr(make_tables, "DEALS", 100_000)
    monkeypatch.setattr(make_tables, "FINAL_DEALS", 150_000)
    monkeypatch.setattr(make_tables, "SETTLED", 1)


@compiled_only
def test_command_writes_the_tables_of_all_variants_and_the_same_bytes_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few(monkeypatch)
    # So many that every pair of the five-card game is thrown.
    monkeypatch.setitem(make_tables.AVERAGED_DEALS, "five_card", 200_000)
    monkeypatch.setattr(make_tables, "ITERATIONS", 2)
    monkeypatch.setattr(make_tables, "FIRST_ITERATIONS", 1)
    monkeypatch.setattr(make_tables, "DATA", tmp_path)
    path = tmp_path / "cribs.npz"
    written = []
    for _ in range(2):
        assert make_tables.main(["cribs"]) == 0
        written.append(path.read_bytes())
    assert written[0] == written[1]
    with np.load(path) as tables:
        shapes = {name: (tables[name].dtype.name, tables[name].shape) for name in tables.files}
    assert shapes == {name: ("int32", (2, 13, 13)) for name in CRIB_VARIANTS}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@compiled_only
def test_tables_that_do_not_settle_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch)
    monkeypatch.setattr(make_tables, "MOST_ITERATIONS", 1)
    with pytest.raises(RuntimeError, match="have not settled in 1 iterations"):
        make_tables.settled_cribs()


def test_a_throw_that_is_never_made_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_tables, "AVERAGED_DEALS", {"three_player": 5})
    with pytest.raises(RuntimeError, match="a throw is never made in 5 deals: play more"):
        averaged_cribs("three_player")
