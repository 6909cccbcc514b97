"""What happened at a table, as plain data: events, counts, stories. `narrator.py` tells them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from crib_env.cards import NO_CARD, card_text
from crib_env.explain import Part


class What(StrEnum):
    """What an event is."""

    DEAL = "deal"
    START = "start"
    THROW = "throw"
    STARTER = "starter"
    HIS_HEELS = "his heels"
    LAY = "lay"
    SAYS_GO = "says go"
    GO = "go"
    LAST_CARD = "last card"
    HAND = "hand"
    CRIB = "crib"
    CLAIM = "claim"
    EXCESS = "excess"
    CALL = "call"
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
    verb: str = ""
    """What follows the name, where it is not the same for all of its kind: a claim, a call."""


class Count(NamedTuple):
    """A hand or a crib that lies open in the show, and what was pegged for it."""

    what: What
    """`What.HAND` or `What.CRIB`."""
    seat: int
    """Whose."""
    cards: tuple[int, ...]
    """The cards, without the starter."""
    starter: int
    """The starter."""
    points: int | None = None
    """What its owner has pegged; None while that is to be claimed, or where it is not known."""
    called: tuple[tuple[int, int], ...] = ()
    """What others have pegged for it, each a seat and its points: muggins, and the excess of a
    claim too high."""


class Play(NamedTuple):
    """How the play stands."""

    laid: list[tuple[int, int]]
    """The cards laid in this deal, in order, each with the seat that laid it."""
    pile: list[int]
    """The last of them, which belong to this count."""
    hands: list[int]
    """The cards held, a set by seat."""


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
