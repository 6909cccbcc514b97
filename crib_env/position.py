"""A position: what was dealt, thrown, turned and laid; set by replay through the rule book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from crib_env.cards import NUM_CARDS, card_set, card_text, cards_in, cards_text
from crib_env.game import MAX_PLAYERS, Phase
from crib_env.rules import Rules


@dataclass(frozen=True)
class Position:
    """A position of a game, as a table would tell it."""

    dealer: int
    """The seat that deals."""
    scores: Sequence[int]
    """The score of each side before heels and plays, below the target."""
    hands: Sequence[Sequence[int]]
    """The cards dealt to each seat, thrown ones included."""
    discards: Sequence[Sequence[int]] = ()
    """The cards each seat has thrown so far; () where nobody has."""
    starter: int | None = None
    """The starter; None draws it from the pack by the lane's own luck."""
    plays: Sequence[int] = ()
    """The cards laid so far, in order."""

    def __post_init__(self) -> None:
        """Turns arrays and other iterables into tuples, so that they can be read more than once."""
        for name in ("hands", "discards"):
            rows = tuple(tuple(row) for row in getattr(self, name))
            object.__setattr__(self, name, rows)
        for name in ("scores", "plays"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def check(self, rules: Rules) -> None:
        """Raises ValueError, in one line, for what no deal under *rules* can be.

        Whether the plays are legal is found out by replaying them.
        """
        self._check_numbers()
        if not 0 <= self.dealer < rules.players:
            raise ValueError(f"position: dealer {self.dealer}: allowed is 0 to {rules.players - 1}")
        if len(self.scores) != rules.sides:
            raise ValueError(f"position: {len(self.scores)} scores: allowed is {rules.sides}")
        for score in self.scores:
            if not 0 <= score < rules.target:
                raise ValueError(f"position: score {score}: allowed is 0 to {rules.target - 1}")
        if len(self.hands) != rules.players:
            raise ValueError(f"position: {len(self.hands)} hands: allowed is {rules.players}")
        seen: set[int] = set()
        given = [card for hand in self.hands for card in hand]
        for card in [*given, *([] if self.starter is None else [self.starter])]:
            if not 0 <= card < NUM_CARDS:
                raise ValueError(f"position: card {card}: a card is an int from 0 to 51")
            if card in seen:
                raise ValueError(f"position: card {card_text(card)} is there twice")
            seen.add(card)
        for seat, hand in enumerate(self.hands):
            if len(hand) != rules.cards_dealt:
                raise ValueError(
                    f"position: seat {seat} is dealt {len(hand)} cards: allowed is "
                    f"{rules.cards_dealt}"
                )
        if self.discards and len(self.discards) != rules.players:
            raise ValueError(
                f"position: discards of {len(self.discards)} seats: allowed is {rules.players}"
            )
        self._check_discards(rules)

    def _check_numbers(self) -> None:
        """Raises ValueError unless all that is told are whole numbers."""
        cards = [card for part in (*self.hands, *self.discards, self.plays) for card in part]
        starter = [] if self.starter is None else [self.starter]
        for number in (self.dealer, *self.scores, *cards, *starter):
            if isinstance(number, bool) or not isinstance(number, Integral):
                raise ValueError(f"position: {number!r}: allowed are whole numbers")

    def _check_discards(self, rules: Rules) -> None:
        """Raises ValueError unless each throw is from its hand and in turn, pone first."""
        waiting = False
        for step in range(1, rules.players + 1):
            seat = (self.dealer + step) % rules.players
            thrown = list(self.discards[seat]) if self.discards else []
            for card in thrown:
                if card not in self.hands[seat]:
                    named = card_text(card) if 0 <= card < NUM_CARDS else str(card)
                    raise ValueError(
                        f"position: seat {seat} throws {named}, which it was not dealt"
                    )
            if len(set(thrown)) != len(thrown) or len(thrown) > rules.num_discards:
                raise ValueError(
                    f"position: seat {seat} throws {cards_text(thrown)}: allowed are "
                    f"{rules.num_discards} different cards"
                )
            if waiting and thrown:
                raise ValueError(f"position: seat {seat} throws before the seat at its right has")
            waiting = waiting or len(thrown) < rules.num_discards
        if waiting and self.plays:
            raise ValueError("position: cards are laid before all have thrown")


def position_text(game: Any, player: int | None = None) -> str:
    """Returns one line that says where a game stands.

    Args:
        game: One record of `crib_env.game.RECORD`.
        player: The one seat whose hand is told; by default every hand is open.
    """
    scores = "-".join(str(int(score)) for score in game["scores"][: game["sides"]])
    hands = ", ".join(
        f"seat {seat} holds "
        + (
            cards_text(cards_in(game["hands"][seat]))
            if player is None or seat == player
            else f"{game['held'][seat]} unseen"
        )
        for seat in range(game["players"])
    )
    phase = Phase(int(game["phase"])).name.lower()
    line = f"deal {game['deal_number'] + 1}, dealer seat {game['dealer']}, score {scores}, {phase}"
    if game["phase"] != Phase.OVER:
        line += f", seat {game['turn']} to act, count {game['count']}"
    return f"{line}, {hands}"


def hands_array(position: Position) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Returns the hands dealt as sets, (MAX_PLAYERS,) int64."""
    hands = np.zeros(MAX_PLAYERS, np.int64)
    for seat, hand in enumerate(position.hands):
        hands[seat] = card_set(hand)
    return hands
