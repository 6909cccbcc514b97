"""What the house players choose in 100,000 positions, as one hash each; printed by

    python -m tests.golden_bots

`expert` is the yardstick of every result, so its choices are frozen: tests/data/golden_bots.json
holds the hashes. A change that alters them makes a new player, with a new name.

The positions are dealt and played here, by a generator of this file, so that a change of the
engine's own luck leaves them as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.cards import NUM_CARDS
from crib_env.kernel import as_records
from crib_env.loops import bot_actions
from crib_env.position import Position

POSITIONS = 100_000
LANES = 1_000
FROZEN = (Bot.GREEDY, Bot.EXPERT)


class Numbers:
    """A generator of a few lines, the same on every machine and for ever (Lehmer, 1951)."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, n: int) -> int:
        """Returns a number from 0 to n - 1."""
        self._state = self._state * 6364136223846793005 % (2**64 - 59)
        return (self._state >> 32) * n >> 32

    def sample(self, n: int, size: int) -> list[int]:
        """Returns *size* different numbers below *n*."""
        drawn: list[int] = []
        while len(drawn) < size:
            number = self.below(n)
            if number not in drawn:
                drawn.append(number)
        return drawn


def batches() -> Iterator[Games]:
    """Yields positions, LANES at a time: every decision of deals that are played at random."""
    numbers = Numbers(2026)
    while True:
        games = Games(LANES)
        for lane in range(LANES):
            cards = numbers.sample(NUM_CARDS, 13)
            scores = [numbers.below(121), numbers.below(121)]
            position = Position(lane % 2, scores, [cards[:6], cards[6:12]], (), cards[12])
            games.set_position(lane, position)
        for _ in range(12):
            # Only lanes still in their first deal: later cards would be the engine's own.
            lanes = np.flatnonzero((games.records["deal_number"] == 0) & ~games.over)
            games = games.copy(lanes)
            yield games.copy()
            actions = []
            for mask in games.action_masks().tolist():
                legal = [card for card in range(NUM_CARDS) if mask[card]]
                actions.append(legal[numbers.below(len(legal))])
            games.apply(actions)


def positions() -> list[Games]:
    """Returns exactly POSITIONS positions."""
    chosen: list[Games] = []
    left = POSITIONS
    for games in batches():
        chosen.append(games.copy(np.arange(min(left, len(games)))))
        left -= len(chosen[-1])
        if not left:
            break
    return chosen


def choices(bot: Bot, games: Games) -> npt.NDArray[np.int64]:
    """Returns the cards that a house player chooses."""
    out = np.zeros(len(games), np.int64)
    bot_actions(as_records(games.records), int(bot), np.zeros((len(games), 2), np.uint32), out)
    return out


def hashes() -> dict[str, str]:
    """Returns the hash of each frozen player's choices, and of the positions themselves."""
    shown = hashlib.sha256()
    chosen = {bot: hashlib.sha256() for bot in FROZEN}
    for games in positions():
        for name in ("hands", "discards", "plays"):
            shown.update(games.records[name].astype("<i8").tobytes())
        for bot, digest in chosen.items():
            digest.update(choices(bot, games).astype(np.int8).tobytes())
    return {
        "positions": shown.hexdigest(),
        **{bot.name.lower(): digest.hexdigest() for bot, digest in chosen.items()},
    }


if __name__ == "__main__":
    print(json.dumps(hashes(), indent=2))
