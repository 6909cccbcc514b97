"""Records that come from outside: those of play are taken, others never reach a kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env import Games, Phase, Rules
from crib_env.records import check_records
from tests.tabletop import random_actions

Array = npt.NDArray[Any]


def records_of_play(one_deal: bool, target: int) -> list[Array]:
    """Returns records of many moments of random games, over ones among them."""
    rng = np.random.default_rng(1)
    games = Games(60, Rules(target=target), seed=target, one_deal=one_deal)
    records = [games.records.copy()]
    for step in range(60):
        live = np.flatnonzero(~games.over)
        if not len(live):
            break
        games.apply(random_actions(games.action_masks(lanes=live), rng), live)
        records.append(games.records.copy())
        if step % 9 == 8:
            games.redeal_hidden(step % 2, seed=step)
            games.next_game()
    return records


@pytest.mark.parametrize("one_deal", [False, True])
@pytest.mark.parametrize("target", [1, 7, 31, 121])
def test_every_record_of_play_is_taken(one_deal: bool, target: int) -> None:
    for records in records_of_play(one_deal, target):
        check_records(records, records)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_record_where_the_loser_deals_is_taken(players: int) -> None:
    rules = Rules(players=players, cards_dealt=6 if players == 2 else 5, target=31)
    games = Games(50, rules, seed=1, first_dealer="loser")
    firsts = set()
    for _ in range(4):
        check_records(games.records, games.records)
        firsts |= set(games.records["first_cut"].tolist())
        games.play_bots([0] * players)
        games.next_game()
    assert firsts == set(range(2 * players))


def in_phase(phase: Phase) -> Array:
    """Returns records, (1,), of a game in a phase; the first in the play has nothing laid."""
    rng = np.random.default_rng(2)
    games = Games(1, Rules(target=31), seed=3)
    while games.records["phase"][0] != phase:
        games.apply(random_actions(games.action_masks(), rng))
    return games.records.copy()


# By phase, a field and what it is set to: each in its range, and none what play comes to.
IMPOSSIBLE = [
    (Phase.DISCARD, "hands", (0, 0)),
    (Phase.DISCARD, "hands", (1, 2)),
    (Phase.DISCARD, "held", (5, 6)),
    (Phase.DISCARD, "held", (-1, 6)),
    (Phase.DISCARD, "turn", "the dealer"),
    (Phase.DISCARD, "crib", 1),
    (Phase.DISCARD, "num_plays", 1),
    (Phase.DISCARD, "phase", Phase.PLAY),
    (Phase.DISCARD, "phase", Phase.OVER),
    (Phase.DISCARD, "lacks", (30, 30)),
    (Phase.DISCARD, "count", 5),
    (Phase.DISCARD, "scores", (31, 0)),
    (Phase.DISCARD, "winner", 0),
    (Phase.DISCARD, "first_dealer", -4),
    (Phase.DISCARD, "first_cut", 4),
    (Phase.PLAY, "hands", (0, 0)),
    (Phase.PLAY, "discards", (0, 0)),
    (Phase.PLAY, "crib", 0),
    (Phase.PLAY, "starter", -1),
    (Phase.PLAY, "num_plays", 1),
    (Phase.PLAY, "pile_size", 3),
    (Phase.PLAY, "pile", 5),
    (Phase.PLAY, "count", 31),
    (Phase.PLAY, "lacks", (16, 16)),
    (Phase.PLAY, "worth", -7),
    (Phase.PLAY, "gone", 4),
    (Phase.PLAY, "phase", Phase.DISCARD),
    (Phase.OVER, "winner", -1),
    (Phase.OVER, "phase", Phase.PLAY),
    (Phase.OVER, "held", (6, 6)),
]


@pytest.mark.parametrize(("phase", "name", "value"), IMPOSSIBLE)
def test_a_record_that_no_play_comes_to_is_refused(phase: Phase, name: str, value: Any) -> None:
    records = in_phase(phase)
    check_records(records, records)
    spoilt = records.copy()
    if isinstance(value, tuple):
        spoilt[name][:, :2] = value
    else:
        spoilt[name] = records["dealer"] if name == "turn" else value
    with pytest.raises(ValueError, match=r"^games: '") as refused:
        check_records(spoilt, records)
    assert "\n" not in str(refused.value)


def test_a_card_in_two_places_is_refused() -> None:
    records = in_phase(Phase.PLAY)
    held = int(records["hands"][0, 0])
    lowest = (held & -held).bit_length() - 1
    for name, value in (("starter", lowest), ("hands", held)):
        spoilt = records.copy()
        spoilt[name][0] = value
        with pytest.raises(ValueError, match=r"games: 'hands' of lane 0"):
            check_records(spoilt, records)
