"""`Games` against OpenSpiel's cribbage, points compared after every card laid.

The import of `eval.openspiel` needs `pyspiel` and shall fail without it: a witness that is skipped
is none.
"""

from __future__ import annotations

import random
from collections import Counter

from crib_env.batch import Games
from crib_env.cards import cards_in
from crib_env.game_record import Phase
from tests.test_openspiel import Engine, lock_step

GAMES = 5_000


class GamesEngine:
    """One lane of `Games` as an engine of the lock-step; player 0 deals first."""

    def __init__(self, seed: int) -> None:
        self._games = Games(1, seed=[seed], first_dealer=0)

    def _field(self, name: str) -> int:
        return int(self._games.records[name][0])

    @property
    def dealer(self) -> int:
        return self._field("dealer")

    @property
    def over(self) -> bool:
        return self._field("phase") == Phase.OVER

    @property
    def player_to_act(self) -> int:
        return self._field("turn")

    def deal(self) -> tuple[list[int], list[int], int]:
        hands = [list(cards_in(self._games.records["hands"][0, seat])) for seat in (0, 1)]
        return hands[0], hands[1], self._field("starter")

    def discard(self, player: int, pair: tuple[int, int]) -> None:
        for card in pair:
            assert self._field("turn") == player
            self._games.apply([card])

    def play(self, card: int) -> None:
        self._games.apply([card])

    def legal_plays(self) -> set[int]:
        mask = self._games.action_masks()[0].tolist()
        return {card for card, legal in enumerate(mask) if legal}

    def scores(self) -> tuple[int, int]:
        first, second = self._games.scores[0].tolist()
        return first, second


def test_points_equal_those_of_openspiel_after_every_card() -> None:
    ends: Counter[str] = Counter()
    crib_flushes = 0
    for number in range(GAMES):
        engine: Engine = GamesEngine(number)
        compared = lock_step(engine, random.Random(number), f"game {number}")
        ends[compared.end] += 1
        crib_flushes += compared.crib_flushes
    # The comparison is worth little unless the games met what is treated apart.
    assert set(ends) == {"heels", "play", "show"}
    assert crib_flushes > 0
