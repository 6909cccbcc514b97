"""`Games` against OpenSpiel's cribbage, points compared after every card laid.

The import of `eval.openspiel` needs `pyspiel` and shall fail without it: a witness that is skipped
is none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from crib_env.batch import Games
from crib_env.cards import cards_in
from crib_env.game_record import Phase
from crib_env.rules import PRESETS
from tests.test_openspiel import Cards, Engine, lock_step

GAMES = 5_000
RULES = {2: "six_card", 3: "three_player", 4: "four_player"}


class GamesEngine:
    """One lane of `Games` as an engine of the lock-step; player 0 deals first."""

    def __init__(self, players: int, seed: int) -> None:
        self._games = Games(1, PRESETS[RULES[players]], seed=[seed], first_dealer=0)

    def _field(self, name: str) -> int:
        return int(self._games.records[name][0])

    @property
    def players(self) -> int:
        return self._games.rules.players

    @property
    def dealer(self) -> int:
        return self._field("dealer")

    @property
    def over(self) -> bool:
        return self._field("phase") == Phase.OVER

    @property
    def player_to_act(self) -> int:
        return self._field("turn")

    def deal(self) -> Cards:
        hands = self._games.records["hands"][0, : self.players]
        # Nothing has been thrown: what lies in the crib is from the pack.
        pack = list(cards_in(self._field("crib")))
        return Cards([list(cards_in(hand)) for hand in hands], pack, self._field("starter"))

    def discard(self, player: int, cards: Sequence[int]) -> None:
        for card in cards:
            assert self._field("turn") == player
            self._games.apply([card])

    def play(self, card: int) -> None:
        self._games.apply([card])

    def legal_plays(self) -> set[int]:
        mask = self._games.action_masks()[0].tolist()
        return {card for card, legal in enumerate(mask) if legal}

    def scores(self) -> tuple[int, ...]:
        return tuple(self._games.scores[0].tolist())


def compare(players: int, numbers: Iterable[int]) -> None:
    """Requires that the games of these seeds have the same points in both, to their ends."""
    ends: Counter[str] = Counter()
    crib_flushes = uncut = 0
    for number in numbers:
        engine: Engine = GamesEngine(players, number)
        compared = lock_step(engine, random.Random(number), f"game {number} of {players}")
        ends[compared.end] += 1
        crib_flushes += compared.crib_flushes
        uncut += compared.uncut
    # The comparison is worth little unless the games met what is treated apart.
    assert set(ends) == {"heels", "play", "show"}
    assert crib_flushes > 0
    assert uncut > 0


def test_points_equal_those_of_openspiel_after_every_card() -> None:
    compare(2, range(GAMES))


@pytest.mark.parametrize("players", [3, 4])
def test_points_of_three_and_four_equal_those_of_openspiel_after_every_card(players: int) -> None:
    compare(players, range(400))


@pytest.mark.torture
@pytest.mark.parametrize("players", [3, 4])
def test_two_thousand_games_of_three_and_four_equal_those_of_openspiel(players: int) -> None:
    compare(players, range(2_000))
