"""A position: what was dealt, thrown, turned and laid; set by replay through the rule book."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from crib_env.cards import (
    NUM_CARDS,
    card_set,
    card_text,
    cards_in,
    cards_text,
    parse_card,
    parse_cards,
)
from crib_env.checks import is_whole, named
from crib_env.game_record import MAX_PLAYERS, Phase
from crib_env.redeal import UNKNOWN
from crib_env.rules import Rules

Cards: TypeAlias = str | Iterable[int]


@dataclass(frozen=True)
class Position:
    """A position of a game, as a table would tell it.

    Cards are ints or text: ``"5H"``, ``"5H TC AS"``. What is None is the lane's own.
    """

    dealer: int | None = None
    """The seat that deals; None for whose turn it is in this game of the lane."""
    scores: Sequence[int] | None = None
    """The score of each side before heels and plays, below the target; None for 0 each."""
    hands: Sequence[Cards | None] | None = None
    """The cards dealt to each seat, thrown ones included. A hand that is None is drawn by the
    lane's luck, which is possible where nothing is told of that seat's cards; with no hand at all,
    the cards are those of the lane's own deal."""
    discards: Sequence[Cards] = ()
    """The cards each seat has thrown so far; () where nobody has."""
    starter: int | str | None = None
    """The starter; None draws it from the pack by the lane's luck."""
    plays: Cards = ()
    """The cards laid so far, in order."""

    def __post_init__(self) -> None:
        """Reads text as cards, and turns iterables into tuples, which can be read again."""
        if self.hands is not None:
            rows = _row(self.hands, "hands")
            hands = tuple(None if hand is None else _cards(hand) for hand in rows)
            object.__setattr__(self, "hands", hands)
        rows = _row(self.discards, "discards")
        object.__setattr__(self, "discards", tuple(_cards(row) for row in rows))
        object.__setattr__(self, "plays", _cards(self.plays))
        if self.scores is not None:
            object.__setattr__(self, "scores", _row(self.scores, "scores"))
        if isinstance(self.starter, str):
            object.__setattr__(self, "starter", _card(self.starter))

    @property
    def hands_known(self) -> tuple[tuple[int, ...] | None, ...]:
        """The cards dealt to each seat, None where they are not told; () where none are."""
        hands = cast(tuple[tuple[int, ...] | None, ...], self.hands or ())
        return hands if any(hand is not None for hand in hands) else ()

    def thrown(self, seat: int) -> tuple[int, ...]:
        """Returns the cards that a seat has thrown."""
        return cast(tuple[int, ...], self.discards[seat]) if self.discards else ()

    def check(self, rules: Rules) -> None:
        """Raises ValueError, in one line, for what no deal under *rules* can be.

        Whether the plays are legal is found out by replaying them.
        """
        self._check_numbers()
        if self.dealer is not None and not 0 <= self.dealer < rules.players:
            raise ValueError(f"position: dealer {self.dealer}: allowed is 0 to {rules.players - 1}")
        if self.scores is not None and len(self.scores) != rules.sides:
            raise ValueError(f"position: {len(self.scores)} scores: allowed is {rules.sides}")
        for score in self.scores or ():
            if not 0 <= score < rules.target:
                raise ValueError(f"position: score {score}: allowed is 0 to {rules.target - 1}")
        if self.hands is not None and len(self.hands) != rules.players:
            raise ValueError(f"position: {len(self.hands)} hands: allowed is {rules.players}")
        if self.discards and len(self.discards) != rules.players:
            raise ValueError(
                f"position: discards of {len(self.discards)} seats: allowed is {rules.players}"
            )
        self._check_hands(rules)
        self._check_discards(rules)

    def _check_hands(self, rules: Rules) -> None:
        """Raises ValueError unless the hands are dealt from one pack, and told where needed."""
        seen: set[int] = set()
        given = [card for hand in self.hands_known for card in hand or ()]
        for card in [*given, *([] if self.starter is None else [cast(int, self.starter)])]:
            if not 0 <= card < NUM_CARDS:
                raise ValueError(f"position: card {card}: a card is an int from 0 to 51")
            if card in seen:
                raise ValueError(f"position: card {card_text(card)} is there twice")
            seen.add(card)
        for seat, hand in enumerate(self.hands_known):
            if hand is not None and len(hand) != rules.cards_dealt:
                raise ValueError(
                    f"position: seat {seat} is dealt {len(hand)} cards: allowed is "
                    f"{rules.cards_dealt}"
                )
        if not self.hands_known and self.starter is not None:
            raise ValueError("position: a starter needs the hands dealt with it")
        hands = self.hands_known or (None,) * rules.players
        for seat, hand in enumerate(hands):
            if hand is None and (self.plays or self.thrown(seat)):
                raise ValueError(f"position: seat {seat} has thrown or laid cards: tell its hand")

    def _check_numbers(self) -> None:
        """Raises ValueError unless all that is told are whole numbers."""
        told: dict[str, Iterable[Any]] = {
            "dealer": () if self.dealer is None else (self.dealer,),
            "scores": self.scores or (),
            "hands": (card for hand in self.hands_known for card in hand or ()),
            "discards": (card for row in self.discards for card in row),
            "starter": () if self.starter is None else (self.starter,),
            "plays": self.plays,
        }
        for name, numbers in told.items():
            for number in numbers:
                if not is_whole(number):
                    raise ValueError(
                        f"position: {name}: {named(number)}: allowed are whole numbers"
                    )

    def _check_discards(self, rules: Rules) -> None:
        """Raises ValueError unless each throw is from its hand and in turn, pone first."""
        if not self.hands_known:
            return  # nothing is thrown or laid
        if self.dealer is None:
            if any(self.discards) or self.plays:
                raise ValueError("position: cards are thrown or laid: tell the dealer")
            return
        waiting = False
        for step in range(1, rules.players + 1):
            seat = (self.dealer + step) % rules.players
            thrown = list(self.thrown(seat))
            for card in thrown:
                if card not in (self.hands_known[seat] or ()):
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
        game: One record of `crib_env.game_record.RECORD`.
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
    """Returns the hands dealt as sets, (MAX_PLAYERS,) int64, UNKNOWN where they are not told."""
    hands = np.full(MAX_PLAYERS, UNKNOWN, np.int64)
    for seat, hand in enumerate(position.hands_known):
        if hand is not None:
            hands[seat] = card_set(hand)
    return hands


def _row(values: Any, name: str) -> tuple[Any, ...]:
    """Returns what is told of each seat or side as a tuple.

    Raises:
        ValueError: If it is no row: text, or without an order.
    """
    try:
        if isinstance(values, (str, bytes, Mapping, Set)):
            raise TypeError
        return tuple(values)
    except TypeError:
        raise ValueError(
            f"position: {name} {named(values)}: allowed is a row, one a seat"
        ) from None


def _cards(cards: Cards) -> tuple[Any, ...]:
    """Returns cards, or what stands in their place, as a tuple; text is read.

    Raises:
        ValueError: If a word of a text is no card, or there is no row of cards.
    """
    try:
        return tuple(parse_cards(cards) if isinstance(cards, str) else cards)
    except ValueError as error:
        raise ValueError(f"position: {error}") from None
    except TypeError:
        raise ValueError(
            f"position: cards {named(cards)}: allowed are ints or text, as 5H TC"
        ) from None


def _card(text: str) -> int:
    """Returns the card that a text names.

    Raises:
        ValueError: If it names none.
    """
    try:
        return parse_card(text)
    except ValueError as error:
        raise ValueError(f"position: {error}") from None
