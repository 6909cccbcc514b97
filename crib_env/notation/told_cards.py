"""The cards of one deal, gathered from all its lines: those dealt, thrown, laid and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crib_env.cards import cards_text
from crib_env.notation.transcript import Deal, Keyword, Line, NotationError
from crib_env.notation.writer import line_text
from crib_env.rules import Rules

# The lines before the starter is turned, in the order in which they are written.
OPENING = (Keyword.DEALT, Keyword.PACK, Keyword.THROW)


@dataclass
class ToldCards:
    """What a deal's lines tell of its cards.

    Args:
        deal: The deal.
        dealer: The seat that deals.
        rules: The rules.

    Raises:
        NotationError: If a card stands in two places, or what is told cannot be a deal.
    """

    deal: Deal
    dealer: int
    rules: Rules
    hands: list[set[int]] = field(default_factory=list, init=False)
    """The cards dealt to each seat, as far as they are told."""
    from_pack: set[int] = field(default_factory=set, init=False)
    """The cards that the pack adds to the crib, as far as they are told."""
    starter: int | None = field(default=None, init=False)
    """The starter, if it is told."""
    lines: list[Line] = field(default_factory=list, init=False)
    """The lines in the order in which they happen: at a table all throw at once."""

    def __post_init__(self) -> None:
        """Gathers the cards."""
        self._places: dict[int, tuple[str, Line]] = {}
        self._cribs: list[Line] = []
        self._gone: dict[int, Line] = {}  # the lines of cards thrown and laid
        self.hands = [set() for _ in range(self.rules.players)]
        self._thrown: list[set[int]] = [set() for _ in range(self.rules.players)]
        self._order_lines()
        for line in self.lines:
            self._gather(line)
        for line in self._cribs:
            self._gather_crib(line)

    def _order_lines(self) -> None:
        """Puts the lines before the starter in order: from the dealer's left, the dealer last."""
        players = self.rules.players
        seen: set[tuple[Keyword, int | None]] = set()
        opening: list[Line] = []
        for index, line in enumerate(self.deal.lines):
            if line.keyword not in OPENING:
                self.lines = list(self.deal.lines[index:])
                break
            if (line.keyword, line.seat) in seen:
                raise _error(line, "stands there twice in this deal")
            seen.add((line.keyword, line.seat))
            opening.append(line)
        for line in self.lines:
            if line.keyword in OPENING:
                raise _error(line, f"stands after {line_text(self.lines[0])!r}")

        def place(line: Line) -> tuple[int, int]:
            return OPENING.index(line.keyword), ((line.seat or 0) - self.dealer - 1) % players

        self.lines = sorted(opening, key=place) + self.lines

    def _gather(self, line: Line) -> None:
        """Keeps the cards of a line."""
        if line.keyword == Keyword.PACK:
            self._place(line.cards, "from the pack", line)
            self.from_pack |= set(line.cards)
        elif line.keyword == Keyword.STARTER:
            if self.starter is not None:
                raise _error(line, "stands there twice in this deal")
            self._place(line.cards, "the starter", line)
            self.starter = line.cards[0]
        elif line.keyword == Keyword.CRIB:
            self._cribs.append(line)
        elif line.keyword in (Keyword.DEALT, Keyword.THROW, Keyword.PLAY, Keyword.HAND):
            assert line.seat is not None
            self._place(line.cards, f"seat {line.seat}'s", line)
            if line.keyword in (Keyword.THROW, Keyword.PLAY):
                self._let_go(line)
            if line.keyword == Keyword.THROW:
                self._thrown[line.seat] |= set(line.cards)
            hand = self.hands[line.seat]
            more = set(line.cards) - hand
            if more and len(hand) + len(more) > self.rules.cards_dealt:
                raise _error(
                    line,
                    f"seat {line.seat} was dealt {cards_text(sorted(hand))}",
                )
            hand |= more

    def _let_go(self, line: Line) -> None:
        """Keeps that cards are thrown or laid, which each can be once."""
        for card in line.cards:
            first = self._gone.setdefault(card, line)
            if first is not line:
                done = "thrown" if first.keyword == Keyword.THROW else "laid"
                where = f" in line {first.number}" if first.number else ""
                raise _error(line, f"{cards_text([card])} is {done}{where}")

    def _gather_crib(self, line: Line) -> None:
        """Takes from the crib what the pack added to it, where no line tells it."""
        if not self.rules.crib_from_pack or self.from_pack or not line.cards:
            return
        rest = set(line.cards).difference(*self._thrown)
        if len(rest) == self.rules.crib_from_pack:
            self._place(tuple(rest), "from the pack", line)
            self.from_pack = rest

    def _place(self, cards: Sequence[int], place: str, line: Line) -> None:
        """Keeps where cards are.

        Raises:
            NotationError: If one is elsewhere already.
        """
        for card in cards:
            there, first = self._places.setdefault(card, (place, line))
            if there != place:
                where = f", in line {first.number}" if first.number else ""
                raise _error(line, f"{cards_text([card])} is {there}{where}")

    @property
    def complete(self) -> bool:
        """Whether all cards that a deal needs before the starter are told."""
        return (
            all(len(hand) == self.rules.cards_dealt for hand in self.hands)
            and len(self.from_pack) == self.rules.crib_from_pack
        )

    def check_complete(self) -> None:
        """Raises NotationError unless all cards are told that the rule book has to know."""
        for seat, hand in enumerate(self.hands):
            if len(hand) < self.rules.cards_dealt:
                raise NotationError(
                    self.deal.line,
                    f"deal: {len(hand)} of the {self.rules.cards_dealt} cards of seat {seat} are "
                    f"told, {cards_text(sorted(hand))}: allowed is a line 'dealt {seat}', or what "
                    "it throws and shows",
                )
        if len(self.from_pack) < self.rules.crib_from_pack:
            raise NotationError(
                self.deal.line,
                "deal: the card from the pack to the crib is not told: allowed is a line 'pack', "
                "or the crib with its cards",
            )


def _error(line: Line, reason: str) -> NotationError:
    """Returns the error that names a line."""
    return NotationError(line.number, f"{line_text(line)!r}: {reason}")
