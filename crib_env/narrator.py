"""`Narrator`: what happened at the table, decision by decision, in events and in words.

It compares the record before a decision with the record after it, so that every point stands in one
event, and remembers what a board shows: both pegs of each side. The narrator itself sees all cards.
What a seat may be told is decided in one place, `story`; nothing else that it tells is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.cards import CARDS_UP_TO, NO_CARD, card_set, cards_in
from crib_env.events import VERBS, Count, Event, Play, Story, What
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
from crib_env.game_record import CLAIM_ACTION, HIS_HEELS_POINTS, Counting, Phase, Source
from crib_env.rules import FIVE_CARD_START, Rules
from crib_env.scoring import THIRTY_ONE

Gained = npt.NDArray[np.int64]  # points by seat and source, (MAX_PLAYERS, sources)

CLAIMING = (Phase.CLAIM, Phase.CALL)
SOURCES = {
    Counting.CARD: Source.PEGGING,
    Counting.GO: Source.PEGGING,
    Counting.HAND: Source.HAND,
    Counting.CRIB: Source.CRIB,
}

SKUNKS = ("", "a skunk", "a double skunk", "a triple skunk")


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
        self.counts: list[Count] = []
        """What lies open in the show that goes on or, until the next starter, is just over."""
        self._claiming = False

    def begin(self, record: Any) -> list[Event]:
        """Begins at a position of which nothing before is known, and forgets all else.

        Args:
            record: One record of `crib_env.game_record.RECORD`.

        Returns:
            The deal, if no card has been thrown yet, and what pone of a five-card game starts with;
            otherwise nothing.
        """
        self.events = []
        self.counts = []
        self.front = [int(score) for score in record["scores"][: self.rules.sides]]
        self.back = [None if score else 0 for score in self.front]
        self._claiming = record["phase"] in CLAIMING
        if self._claiming:
            play = play_of(record)
            self.counts = [self._open(record, play, place) for place in range(int(record["shown"]))]
            if self.counts and record["claimed"] >= 0:
                points = min(int(record["claimed"]), int(record["true_points"]))
                self.counts[-1] = self.counts[-1]._replace(points=points)
        if record["phase"] == Phase.DISCARD and not np.any(record["discards"]):
            self.events.append(Event(What.DEAL, int(record["dealer"])))
            self._tell_start(record)
        return self.events.copy()

    def clear(self) -> None:
        """Forgets the events told so far; the pegs stay, and a show that goes on."""
        self.events = []
        if not self._claiming:
            self.counts = []

    def tell(self, before: Any, action: int, after: Any) -> list[Event]:
        """Returns what one decision brought about, in order, and keeps it in `events`.

        Args:
            before: A copy of the record before, its game not over.
            action: The card that the seat to act threw or laid; `CLAIM_ACTION` and above, what it
                claimed or called.
            after: The record after that one decision.
        """
        first = len(self.events)
        gained = (after["points"] - before["points"]).sum(axis=2, dtype=np.int64)
        if before["phase"] == Phase.DISCARD:
            self._tell_throw(before, int(action), after, gained)
        elif before["phase"] == Phase.PLAY:
            self._tell_lay(before, int(action), gained)
        elif before["phase"] == Phase.CLAIM:
            self._tell_claim(before, int(action) - CLAIM_ACTION, gained)
        else:
            self._tell_call(before, int(action) - CLAIM_ACTION, after, gained)
        self._claiming = after["phase"] in CLAIMING
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
            verb = event.verb or VERBS.get(event.what, "")
            lead = f"{name} {verb}" if verb else name
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
            told = (f"{name} {score}" for name, score in zip(sides, self.front, strict=True))
            return "the deal", "is over", ", ".join(told)
        names = self.names[winner :: self.rules.sides]
        verb = "wins" if len(names) == 1 else "win"
        losers = [side for side in range(self.rules.sides) if side != winner]
        scores = " and ".join(str(self.front[side]) for side in losers)
        words = f"{self.front[winner]} to {scores}"
        # Each loser may be skunked, so where there are two it is said who is.
        skunks = [
            SKUNKS[level] + (f" for {self.names[side]}" if len(losers) > 1 else "")
            for side in losers
            if (level := self.rules.skunk_level(self.front[side]))
        ]
        if skunks:
            words += f", {' and '.join(skunks)}"
        return " and ".join(names), verb, words

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

    def _tell_start(self, record: Any) -> None:
        """Tells what pone starts a five-card game with, if this is its start (R32)."""
        pone = 1 - int(record["dealer"])
        start = [0, 0]
        start[pone] = FIVE_CARD_START
        is_first = record["deal_number"] == 0 and not np.any(record["points"])
        if self.rules.is_five_card and is_first and self.front == start:
            self.front = [0, 0]
            words = f"{number_word(FIVE_CARD_START)} to start with"
            self._peg(Event(What.START, pone, FIVE_CARD_START, words))

    def _tell_throw(self, before: Any, card: int, after: Any, gained: Gained) -> None:
        """Tells a throw, and after the last one the starter and his heels (R5, R7)."""
        self.events.append(Event(What.THROW, int(before["turn"]), cards=(card,)))
        if after["phase"] == Phase.DISCARD:
            return
        dealer = int(before["dealer"])
        self.counts = []
        starter = (int(before["starter"]),)
        self.events.append(Event(What.STARTER, dealer, cards=starter))
        points = int(gained[dealer, Source.HIS_HEELS])
        if points:
            heels = [Part(Kind.HIS_HEELS, starter, HIS_HEELS_POINTS)]
            self._peg(scored(What.HIS_HEELS, dealer, points, say(heels), heels))

    def _tell_lay(self, before: Any, card: int, gained: Gained) -> None:
        """Tells a card laid and what it pegs, unless that is to be claimed (R8, R44)."""
        seat = int(before["turn"])
        play = play_of(before, card)
        if self.rules.muggins == "full":
            count = number_word(pips_total(play.pile))
            self._peg(Event(What.LAY, seat, words=count, cards=(card,)))
            return
        parts = explain_play(play.pile)
        points = min(points_of(parts), int(gained[seat, Source.PEGGING]))
        self._peg(scored(What.LAY, seat, points, say_play(play.pile), parts, (card,)))
        if not self._won():
            self._tell_turn(before, play, seat, gained)

    def _tell_turn(self, before: Any, play: Play, seat: int, gained: Gained) -> None:
        """Tells who cannot go on after a card of *seat*, and what follows (R10, R11, R13)."""
        count = pips_total(play.pile)
        fits = int(CARDS_UP_TO[THIRTY_ONE - count])
        for step in range(1, self.rules.players):
            other = (seat + step) % self.rules.players
            if play.hands[other] & fits:
                return
            said_before = int(before["gone"]) >> other & 1
            if play.hands[other] and count < THIRTY_ONE and not said_before:
                self.events.append(Event(What.SAYS_GO, other))
        if play.hands[seat] & fits:
            return
        if count < THIRTY_ONE:
            if self.rules.muggins == "full":
                return  # this point is claimed as well
            is_go = any(play.hands)
            what, kind = (What.GO, Kind.GO) if is_go else (What.LAST_CARD, Kind.LAST_CARD)
            last = [Part(kind, (play.pile[-1],), 1)]
            self._peg(scored(what, seat, 1, say(last), last))
        self._tell_count_over(before, play, gained)

    def _tell_count_over(self, before: Any, play: Play, gained: Gained) -> None:
        """Tells the show if the play is over with the count (R13, R33)."""
        if not self._won() and (self.rules.is_five_card or not any(play.hands)):
            self._tell_show(before, play, gained)

    def _tell_show(self, before: Any, play: Play, gained: Gained, first: int = 0) -> None:
        """Tells each hand and the crib that was counted before the game was won (R19, R26).

        Where they are claimed, only the first is turned up, for its owner to claim (R41).
        """
        for place in range(first, self.rules.players + 1):
            count = self._open(before, play, place)
            what, seat, cards, starter = count[:4]
            if self.rules.muggins != "none":
                self._peg(Event(what, seat, cards=cards, starter=starter))
                self.counts.append(count)
                return
            is_crib = what == What.CRIB
            parts = explain(cards, starter, is_crib=is_crib)
            points = int(gained[seat, Source.CRIB if is_crib else Source.HAND])
            event = scored(what, seat, points, say(parts), parts, cards)
            self._peg(event._replace(starter=starter))
            self.counts.append(count._replace(points=points))
            if self._won():
                return

    def _open(self, record: Any, play: Play, place: int) -> Count:
        """Returns what is turned up in the show after *place* others, the crib last (R19)."""
        dealer, starter = int(record["dealer"]), int(record["starter"])
        if place == self.rules.players:
            return Count(What.CRIB, dealer, tuple(cards_in(record["crib"])), starter)
        seat = (dealer + 1 + place) % self.rules.players
        hand = {card for card, by in play.laid if by == seat} | set(cards_in(play.hands[seat]))
        return Count(What.HAND, seat, tuple(sorted(hand)), starter)

    def _tell_claim(self, before: Any, claim: int, gained: Gained) -> None:
        """Tells a claim, and the excess of one too high (R41, R43, R45)."""
        owner, counting = int(before["owner"]), Counting(int(before["counting"]))
        true_points = int(before["true_points"])
        words = ""
        if claim > true_points:
            there = f"only {number_word(true_points)}" if true_points else "nothing"
            words = f"{there} {'are' if true_points > 1 else 'is'} there"
        points = int(gained[owner, SOURCES[counting]])
        words = cut_off(words, points, min(claim, true_points))
        verb = claim_words(claim, before)
        self._peg(Event(What.CLAIM, owner, points, words, verb=verb))
        if counting in (Counting.HAND, Counting.CRIB):
            self.counts[-1] = self.counts[-1]._replace(points=points)
        left = (owner + 1) % self.rules.players
        points = int(gained[left, Source.MUGGINS])
        if points:
            excess = claim - true_points
            words, verb = cut_off("", points, excess), f"pegs {excess} claimed too many"
            self._peg_muggins(Event(What.EXCESS, left, points, words, verb=verb))

    def _tell_call(self, before: Any, call: int, after: Any, gained: Gained) -> None:
        """Tells a call and, after the last one, what follows what was counted (R42, R44)."""
        seat, missed = int(before["turn"]), int(before["missed"])
        points = int(gained[seat, Source.MUGGINS])
        verb = f"calls muggins for {call}" if call else "calls nothing"
        words = "not so many were missed" if call > missed else cut_off("", points, call)
        self._peg_muggins(Event(What.CALL, seat, points, words, verb=verb))
        if self._won() or after["phase"] == Phase.CALL:
            return
        play = play_of(before)
        if before["counting"] == Counting.CARD:
            self._tell_turn(before, play, int(before["owner"]), gained)
        elif before["counting"] == Counting.GO:
            self._tell_count_over(before, play, gained)
        else:
            self._tell_show(before, play, gained, int(before["shown"]))

    def _peg_muggins(self, event: Event) -> None:
        """Keeps an event of muggins, and its points beside the hand or crib they are for."""
        self._peg(event)
        if event.points and self.counts:
            count = self.counts[-1]
            called = (*count.called, (event.seat, event.points))
            self.counts[-1] = count._replace(called=called)


def play_of(record: Any, card: int = NO_CARD) -> Play:
    """Returns how the play stands, also after the seat to act has laid *card*."""
    number, pile_size = int(record["num_plays"]), int(record["pile_size"])
    cards = [int(one) for one in record["plays"][:number]]
    seats = [int(one) for one in record["play_seats"][:number]]
    hands = [int(hand) for hand in record["hands"]]
    if card != NO_CARD:
        seat = int(record["turn"])
        cards.append(card)
        seats.append(seat)
        hands[seat] &= ~card_set([card])
    laid = list(zip(cards, seats, strict=True))
    return Play(laid, cards[number - pile_size :], hands)


def counted_words(record: Any) -> str:
    """Returns what is claimed, as its owner says it: ``"its hand"``, ``"the last card"``.

    Args:
        record: A record in a claim or call, also one that a seat has recalled.
    """
    if record["counting"] == Counting.GO:
        return "the go" if np.any(record["held"]) else "the last card"
    words = {Counting.CARD: "the card", Counting.HAND: "its hand", Counting.CRIB: "the crib"}
    return words[Counting(int(record["counting"]))]


def claim_words(claim: int, record: Any) -> str:
    """Returns a claim as it is told after a name: ``"claims 6 for its hand"``."""
    return f"claims {claim or 'nothing'} for {counted_words(record)}"


def cut_off(words: str, points: int, full: int) -> str:
    """Returns words that say so where the target has cut off *full* points to *points* (R27)."""
    if points == full:
        return words
    enough = f"{number_word(points)} {'is' if points == 1 else 'are'} enough"
    return f"{words}, {enough}" if words else enough


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
    words = cut_off(words, points, points_of(parts))
    return Event(what, seat, points, words, cards, tuple(parts))
