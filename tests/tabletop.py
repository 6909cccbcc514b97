"""A table for the tests: positions from cards written as text, then laid card by card.

Seat 0 is `PONE` and seat 1 is `DEALER`, unless a position says who deals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.cards import NUM_CARDS, card_set, card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Role, Source
from crib_env.position import Position
from crib_env.rules import Rules, RulesLike, rules_of
from crib_env.scoring import hand_score, pegging_score

PONE, DEALER = 0, 1

# Cards that nothing is said about come from here, from the left; a starter from the right.
# There is no jack, so that nobody has his heels unasked.
SPARE = [card for card in range(NUM_CARDS) if card // 4 != 10]


@dataclass
class Table:
    """One game, and what lies on its table."""

    games: Games

    def lay(self, text: str) -> Table:
        """Lays cards in turn, as in ``"7D 8H"``; or throws them, before the cut."""
        for card in parse_cards(text):
            self.games.apply([card])
        return self

    def lay_all(self) -> Table:
        """Lays the lowest card that fits until the deal, or the game, is over."""
        deal = self.deal_number
        while self.phase == Phase.PLAY and self.deal_number == deal:
            self.games.apply([int(np.argmax(self.games.action_masks()[0]))])
        return self

    def _field(self, name: str) -> int:
        return int(self.games.records[name][0])

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.games.rules

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of all sides."""
        return tuple(self.games.scores[0].tolist())

    @property
    def phase(self) -> Phase:
        """What is asked for."""
        return Phase(self._field("phase"))

    @property
    def turn(self) -> int:
        """The seat to act."""
        return self._field("turn")

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return self._field("dealer")

    @property
    def count(self) -> int:
        """The count."""
        return self._field("count")

    @property
    def winner(self) -> int:
        """The winner, -1 before the end."""
        return self._field("winner")

    @property
    def deal_number(self) -> int:
        """Which deal of the game this is, from 0."""
        return self._field("deal_number")

    @property
    def gone(self) -> set[int]:
        """The seats that have said go in this count."""
        return {seat for seat in range(self.rules.players) if self._field("gone") >> seat & 1}

    @property
    def num_plays(self) -> int:
        """How many cards have been laid in this deal."""
        return self._field("num_plays")

    def leftwards(self, seat: int) -> list[int]:
        """Returns all seats in turn, from the left of one, itself last."""
        players = self.rules.players
        return [(seat + step) % players for step in range(1, players + 1)]

    def hand(self, seat: int) -> set[str]:
        """Returns the cards that a seat holds."""
        return {card_text(card) for card in cards_in(self.games.records["hands"][0, seat])}

    def allowed(self) -> set[str]:
        """Returns the cards that the seat to act may choose."""
        return {card_text(int(card)) for card in np.flatnonzero(self.games.action_masks()[0])}

    def points(self, seat: int, source: Source) -> int:
        """Returns what a seat has pegged for one thing in this game, in either role."""
        return int(self.games.points[0, seat, source].sum())

    def points_as(self, seat: int, source: Source, role: Role) -> int:
        """Returns what a seat has pegged for one thing in one role."""
        return int(self.games.points[0, seat, source, role])


def dealt(
    hands: Sequence[Sequence[int]],
    starter: int | None = None,
    *,
    deals: int = DEALER,
    scores: Sequence[int] = (),
    discards: Sequence[Sequence[int]] = (),
    plays: Sequence[int] = (),
    rules: RulesLike = None,
) -> Table:
    """Returns a table where these hands were dealt."""
    games = Games(1, rules)
    games.set_position(0, Position(deals, scores or None, hands, discards, starter, plays))
    return Table(games)


def after_cut(
    hands: Sequence[str] = (),
    starter: str = "",
    *,
    crib: str = "",
    deals: int = DEALER,
    scores: Sequence[int] = (),
    rules: RulesLike = None,
) -> Table:
    """Returns a table where the starter has just been turned.

    Args:
        hands: The cards that each seat has kept; cards and hands left out are filled in.
        starter: The starter; by default some card that is no jack.
        crib: What is thrown, from the dealer's left; cards left out are filled in.
        deals: The seat that deals.
        scores: The scores of all sides before his heels; () for none.
        rules: The rules.
    """
    rules = rules_of(rules)
    seats, throws = range(rules.players), rules.num_discards
    kept = [parse_cards(hands[seat]) if hands else [] for seat in seats]
    thrown = parse_cards(crib)
    named = {card for hand in kept for card in hand} | set(thrown)
    spare = [card for card in SPARE if card not in named]
    turned = parse_card(starter) if starter else spare.pop()
    spare = [card for card in spare if card != turned]
    for hand, size in [*((hand, rules.num_kept) for hand in kept), (thrown, 4)]:
        while len(hand) < size:
            hand.append(spare.pop(0))
    # From the dealer's left; with three players the fourth card of the crib is the pack's own.
    turns = [(seat - deals - 1) % rules.players for seat in seats]
    discards = [thrown[throws * turn : throws * (turn + 1)] for turn in turns]
    return dealt(
        [kept[seat] + discards[seat] for seat in seats],
        turned,
        deals=deals,
        scores=scores,
        discards=discards,
        rules=rules,
    )


def show_points(hand: str, starter: str, *, is_crib: bool = False) -> int:
    """Returns the points of a hand or a crib in the show."""
    return int(hand_score(card_set(parse_cards(hand)), parse_card(starter), is_crib))


def pegging_points(pile: str) -> int:
    """Returns what the last card of a pile pegs."""
    cards = parse_cards(pile)
    ranks = 0
    for card in cards:
        ranks = ranks << 4 | card // 4
    count = sum(min(card // 4 + 1, 10) for card in cards)
    return int(pegging_score(ranks, len(cards), count))


def random_actions(masks: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns an action for each row of masks, (N,), all legal ones alike likely."""
    return np.asarray((rng.random(masks.shape) * masks).argmax(axis=1), np.int64)


def sets(cards: Iterable[npt.NDArray[np.integer]]) -> npt.NDArray[np.int64]:
    """Returns rows of 0 and 1, (N, 52), as sets of cards, (N,)."""
    powers = np.int64(1) << np.arange(NUM_CARDS, dtype=np.int64)
    return np.asarray(np.asarray(cards, np.int64) @ powers)
