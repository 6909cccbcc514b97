"""`Narrator`: what happened at the table, decision by decision, in events and in words.

It compares the record before a decision with the record after it, so that every point stands in one
event, and remembers what a board shows: both pegs of each side. The narrator itself sees all cards.
What a seat may be told is decided in one place, `story`; nothing else that it tells is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crib_env.cards import CARDS_UP_TO, NO_CARD, card_set, card_text, cards_in
from crib_env.explain import (
    Kind,
    Part,
    explain,
    explain_play,
    number_word,
    pips_total,
    say,
    say_play,
)
from crib_env.game_record import HIS_HEELS_POINTS, Phase, Source
from crib_env.rules import Rules
from crib_env.scoring import THIRTY_ONE

Gained = npt.NDArray[np.int64]  # points by seat and source, (MAX_PLAYERS, 4)

SKUNKS = ("", "a skunk", "a double skunk", "a triple skunk")


class What(StrEnum):
    """What an event is."""

    DEAL = "deal"
    THROW = "throw"
    STARTER = "starter"
    HIS_HEELS = "his heels"
    LAY = "lay"
    SAYS_GO = "says go"
    GO = "go"
    LAST_CARD = "last card"
    HAND = "hand"
    CRIB = "crib"
    END = "end"
    FORFEIT = "forfeit"


# What follows a name where an event is told; elsewhere the name speaks: "agent: go for one".
VERBS = {
    What.DEAL: "deals",
    What.THROW: "throws",
    What.LAY: "lays",
    What.SAYS_GO: "says go",
    What.HAND: "shows",
    What.CRIB: "turns the crib",
    What.FORFEIT: "forfeits the game",
}


class Event(NamedTuple):
    """One thing that happened."""

    what: What
    seat: int
    """Who: the dealer for the starter, the first seat of the winning side for the end."""
    points: int = 0
    """What the seat pegged, as the record holds it: cut off at the target."""
    words: str = ""
    """What was said aloud, the same for everybody."""
    cards: tuple[int, ...] = ()
    """The cards it was about. Those of a throw are for its seat alone."""
    parts: tuple[Part, ...] = ()
    """What the points were for, in full where the target cut them off."""
    starter: int = NO_CARD
    """The starter that a hand or a crib was counted with."""


class Story(NamedTuple):
    """One line as somebody is told it: a lead, then cards, then words."""

    what: What
    seat: int
    points: int
    lead: str
    cards: tuple[int, ...] = ()
    starter: int = NO_CARD
    words: str = ""

    def text(self, card_word: Callable[[int], str] = card_text) -> str:
        """Returns the line as text: ``"opponent lays 8D: fifteen two"``.

        Args:
            card_word: How a card is written.
        """
        line = " ".join([self.lead, *map(card_word, self.cards)])
        if self.starter != NO_CARD:
            line += f" with {card_word(self.starter)}"
        return f"{line}: {self.words}" if self.words else line


class Narrator:
    """Follows one game and tells what happened.

    Call `begin` with the first record, at any point of a game, and `tell` with each decision. It
    holds plain values only: it can be pickled and copied.

    Args:
        rules: The rules of the game.
        names: What the seats are called, one each.

    Raises:
        ValueError: If there is not one name for each seat.
    """

    def __init__(self, rules: Rules, names: Sequence[str] = ("agent", "opponent")) -> None:
        """Knows no game yet."""
        self.rules = rules
        self.names = tuple(names)
        if len(self.names) != rules.players:
            raise ValueError(f"{len(self.names)} names: allowed are {rules.players}, one a seat")
        self.events: list[Event] = []
        """What happened since `clear`, in order."""
        self.front: list[int] = [0] * rules.sides
        """The front peg of each side: its score."""
        self.back: list[int | None] = [0] * rules.sides
        """The back peg: the score before the last pegging; None where that is not known."""

    def begin(self, record: Any) -> list[Event]:
        """Begins at a position of which nothing before is known, and forgets all else.

        Args:
            record: One record of `crib_env.game_record.RECORD`.

        Returns:
            The deal, if no card has been thrown yet; otherwise nothing.
        """
        self.events = []
        self.front = [int(score) for score in record["scores"][: self.rules.sides]]
        self.back = [None if score else 0 for score in self.front]
        if record["phase"] == Phase.DISCARD and not np.any(record["discards"]):
            self.events.append(Event(What.DEAL, int(record["dealer"])))
        return self.events.copy()

    def clear(self) -> None:
        """Forgets the events told so far; the pegs stay."""
        self.events = []

    def tell(self, before: Any, action: int, after: Any) -> list[Event]:
        """Returns what one decision brought about, in order, and keeps it in `events`.

        Args:
            before: A copy of the record before, its game not over.
            action: The card that the seat to act threw or laid.
            after: The record after that one decision.
        """
        first = len(self.events)
        gained = (after["points"] - before["points"]).sum(axis=2, dtype=np.int64)
        if before["phase"] == Phase.DISCARD:
            self._tell_throw(before, int(action), after, gained)
        else:
            self._tell_lay(before, int(action), gained)
        winner = int(after["winner"])
        if winner >= 0:
            self.events.append(Event(What.END, winner, words=self.outcome(winner)[2]))
        elif after["deal_number"] != before["deal_number"]:
            self.events.append(Event(What.DEAL, int(after["dealer"])))
        return self.events[first:]

    def forfeit(self, seat: int) -> None:
        """Keeps that a seat has lost the game by an illegal action; the board stays as it is."""
        self.events.append(Event(What.FORFEIT, seat))

    def stories(self, player: int | None) -> list[Story]:
        """Returns the events since `clear` as a seat is told them.

        Args:
            player: The seat that is told; None tells all that was thrown.
        """
        told: list[Story] = []
        thrown: list[int] = []
        for index, event in enumerate(self.events):
            if event.what == What.THROW:
                # Throws of a seat in a row are one line.
                thrown += event.cards
                after = self.events[index + 1 : index + 2]
                if after and after[0].what == What.THROW and after[0].seat == event.seat:
                    continue
                event = event._replace(cards=tuple(thrown))
                thrown = []
            told.append(self.story(event, player))
        return told

    def lines(self, player: int | None) -> list[str]:
        """Returns the events since `clear` as lines of text (`stories`)."""
        return [story.text() for story in self.stories(player)]

    def story(self, event: Event, player: int | None) -> Story:
        """Returns an event as a seat is told it: a throw names its cards to its own seat alone.

        Args:
            event: The event.
            player: The seat that is told; None is told all.
        """
        name = self.names[event.seat]
        cards = event.cards
        if event.what == What.END:
            lead = " ".join(self.outcome(event.seat)[:2])
        elif event.what == What.STARTER:
            lead = "the starter is"
        else:
            lead = f"{name} {VERBS[event.what]}" if event.what in VERBS else name
        if event.what == What.THROW and player not in (None, event.seat):
            lead += " a card" if len(cards) == 1 else f" {number_word(len(cards))} cards"
            cards = ()
        return Story(event.what, event.seat, event.points, lead, cards, event.starter, event.words)

    def outcome(self, winner: int) -> tuple[str, str, str]:
        """Returns how the end is told: ``("agent", "wins", "121 to 88, a skunk")``.

        Args:
            winner: The side that has won; -1 for a game of one deal that nobody has.
        """
        if winner < 0:
            sides = [
                " and ".join(self.names[side :: self.rules.sides])
                for side in range(self.rules.sides)
            ]
            scores = (f"{name} {score}" for name, score in zip(sides, self.front, strict=True))
            return "the deal", "is over", ", ".join(scores)
        names = self.names[winner :: self.rules.sides]
        losers = [score for side, score in enumerate(self.front) if side != winner]
        words = " to ".join(map(str, [self.front[winner], *losers]))
        skunk = SKUNKS[self.rules.skunk_level(max(losers))]
        verb = "wins" if len(names) == 1 else "win"
        return " and ".join(names), verb, f"{words}, {skunk}" if skunk else words

    def _peg(self, event: Event) -> None:
        """Keeps an event and moves the back peg of its side in front, by its points."""
        self.events.append(event)
        if event.points:
            side = event.seat % self.rules.sides
            self.back[side] = self.front[side]
            self.front[side] += event.points

    def _won(self) -> bool:
        """Says whether a side has reached the target."""
        return self.rules.target in self.front

    def _tell_throw(self, before: Any, card: int, after: Any, gained: Gained) -> None:
        """Tells a throw, and after the last one the starter and his heels (R5, R7)."""
        self.events.append(Event(What.THROW, int(before["turn"]), cards=(card,)))
        if after["phase"] == Phase.DISCARD:
            return
        dealer = int(before["dealer"])
        starter = (int(before["starter"]),)
        self.events.append(Event(What.STARTER, dealer, cards=starter))
        points = int(gained[dealer, Source.HIS_HEELS])
        if points:
            heels = [Part(Kind.HIS_HEELS, starter, HIS_HEELS_POINTS)]
            self._peg(scored(What.HIS_HEELS, dealer, points, say(heels), heels))

    def _tell_lay(self, before: Any, card: int, gained: Gained) -> None:
        """Tells a card laid, who cannot go on, the point for it, and the show (R8 to R13)."""
        seat = int(before["turn"])
        num_plays = int(before["num_plays"])
        laid = [*(int(one) for one in before["plays"][:num_plays]), card]
        pile = laid[num_plays - int(before["pile_size"]) :]
        parts = explain_play(pile)
        pegged = int(gained[seat, Source.PEGGING])
        points = min(points_of(parts), pegged)
        self._peg(scored(What.LAY, seat, points, say_play(pile), parts, (card,)))
        if self._won():
            return
        hands = [card_set(set(cards_in(hand)) - {card}) for hand in before["hands"]]
        fits = int(CARDS_UP_TO[THIRTY_ONE - pips_total(pile)])
        for step in range(1, self.rules.players):
            other = (seat + step) % self.rules.players
            if hands[other] & fits:
                break
            said_before = int(before["gone"]) >> other & 1
            if hands[other] and pips_total(pile) < THIRTY_ONE and not said_before:
                self.events.append(Event(What.SAYS_GO, other))
        if pegged > points:
            what, kind = (What.GO, Kind.GO) if any(hands) else (What.LAST_CARD, Kind.LAST_CARD)
            last = [Part(kind, (card,), 1)]
            self._peg(scored(what, seat, pegged - points, say(last), last))
        if not any(hands) and not self._won():
            seats = [*(int(one) for one in before["play_seats"][:num_plays]), seat]
            self._tell_show(before, list(zip(laid, seats, strict=True)), gained)

    def _tell_show(self, before: Any, laid: list[tuple[int, int]], gained: Gained) -> None:
        """Tells each hand and the crib that was counted before the game was won (R19, R26)."""
        dealer = int(before["dealer"])
        starter = int(before["starter"])
        for step in range(1, self.rules.players + 1):
            seat = (dealer + step) % self.rules.players
            hand = tuple(sorted(card for card, by in laid if by == seat))
            parts = explain(hand, starter)
            points = int(gained[seat, Source.HAND])
            hand_told = scored(What.HAND, seat, points, say(parts), parts, hand)
            self._peg(hand_told._replace(starter=starter))
            if self._won():
                return
        crib = tuple(cards_in(before["crib"]))
        parts = explain(crib, starter, is_crib=True)
        points = int(gained[dealer, Source.CRIB])
        crib_told = scored(What.CRIB, dealer, points, say(parts), parts, crib)
        self._peg(crib_told._replace(starter=starter))


def points_of(parts: Sequence[Part]) -> int:
    """Returns the points of all parts."""
    return sum(part.points for part in parts)


def scored(
    what: What,
    seat: int,
    points: int,
    words: str,
    parts: Sequence[Part],
    cards: tuple[int, ...] = (),
) -> Event:
    """Returns an event of a score; where the target cut it off, its words say so (R27)."""
    if points < points_of(parts):
        words = f"{words}, {number_word(points)} {'is' if points == 1 else 'are'} enough"
    return Event(what, seat, points, words, cards, tuple(parts))
