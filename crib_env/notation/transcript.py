"""`Transcript`: a game as it is told, line by line. Plain data, which knows no engine.

What is None, 0 cards or "" is not told. `reader` makes transcripts of text and `writer` text of
them; `replaying` holds them against the rule book and fills in what is not told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from crib_env.rules import Rules

VERSION = 1
HEADING = f"crib_env game {VERSION}"  # the first line of each game
MAX_TEXT = 200  # characters of a name or a note


class NotationError(ValueError):
    """A line that no transcript can have, or that is not what happens in the game.

    Args:
        line: The number of the line in its text, from 1; 0 where there is no text.
        reason: What stands there and what is allowed.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line = line
        self.reason = reason


class Keyword(StrEnum):
    """What a line of a deal tells; the first word of it."""

    DEALT = "dealt"
    """The cards dealt to a seat."""
    PACK = "pack"
    """The card that the pack adds to the crib of three players."""
    THROW = "throw"
    """The cards that a seat throws to the crib."""
    STARTER = "starter"
    """The card turned."""
    HEELS = "heels"
    """His heels, pegged by the dealer."""
    PLAY = "play"
    """A card laid, the count with it, and what it pegs."""
    GO = "go"
    """A seat says go: it holds cards, and none fits."""
    LAST = "last"
    """The point for a go or the last card, of the seat that laid the last card of the count."""
    HAND = "hand"
    """A hand in the show."""
    CRIB = "crib"
    """The crib in the show."""
    CLAIM = "claim"
    """Muggins: what the owner says that a card, a last card, a hand or the crib counts."""
    EXCESS = "excess"
    """Muggins: what a claim was too high by, pegged by the next seat."""
    CALL = "call"
    """Muggins: how much another seat says was missed, 0 for nothing."""
    BOARD = "board"
    """The scores after a deal."""
    WON = "won"
    """The end: the side that has won, the scores, and who is skunked."""
    OVER = "over"
    """The end of a game of one deal that nobody has won."""
    FORFEIT = "forfeit"
    """The end by an illegal action of a seat."""
    UNFINISHED = "unfinished"
    """The end of what is told of a game that is not over."""


DECISIONS = (Keyword.THROW, Keyword.PLAY, Keyword.CLAIM, Keyword.CALL)
ENDS = (Keyword.WON, Keyword.OVER, Keyword.FORFEIT, Keyword.UNFINISHED)

# What may stand in a line after its keyword, in this order: fields of `Line`.
COLUMNS: dict[Keyword, tuple[str, ...]] = {
    Keyword.DEALT: ("seat", "cards"),
    Keyword.PACK: ("cards",),
    Keyword.THROW: ("seat", "cards"),
    Keyword.STARTER: ("cards",),
    Keyword.HEELS: ("seat", "points", "words"),
    Keyword.PLAY: ("seat", "cards", "count", "points", "worth", "words"),
    Keyword.GO: ("seat",),
    Keyword.LAST: ("seat", "points", "worth", "words"),
    Keyword.HAND: ("seat", "cards", "points", "worth", "words"),
    Keyword.CRIB: ("seat", "cards", "points", "worth", "words"),
    Keyword.CLAIM: ("seat", "claimed", "points"),
    Keyword.EXCESS: ("seat", "points"),
    Keyword.CALL: ("seat", "claimed", "points"),
    Keyword.BOARD: ("scores",),
    Keyword.WON: ("seat", "scores", "words"),
    Keyword.OVER: ("scores",),
    Keyword.FORFEIT: ("seat", "scores"),
    Keyword.UNFINISHED: ("scores",),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a deal: what a keyword says, with the fields of its `COLUMNS`."""

    keyword: Keyword
    """What the line tells."""
    seat: int | None = None
    """Who; of `Keyword.WON`, which side."""
    cards: tuple[int, ...] = ()
    """The cards it is about."""
    count: int | None = None
    """The count with the card laid."""
    claimed: int | None = None
    """What is claimed or called."""
    points: int | None = None
    """What is pegged, as far as the target lets it."""
    worth: int | None = None
    """What it truly counts, where that is not what is pegged."""
    scores: tuple[int, ...] = ()
    """The score of each side."""
    words: str = ""
    """What the points are for, or who is skunked."""
    number: int = field(default=0, compare=False)
    """Where the line stands in its text, from 1; 0 where there is no text."""


@dataclass(frozen=True)
class Deal:
    """One deal of a game."""

    number: int | None = None
    """Which deal of the game, from 1."""
    dealer: int | None = None
    """The seat that deals."""
    lines: tuple[Line, ...] = ()
    """What happens, in order. The last one of a game may tell its end."""
    line: int = field(default=0, compare=False)
    """Where the deal begins in its text."""


@dataclass(frozen=True)
class Lane:
    """Where in the engine's luck a game stands, for whoever wants the same cards to come."""

    seed: int | None = None
    """The lane's seed."""
    game: int = 0
    """Which game of the lane, from 0."""
    first: str = "0"
    """How the lane finds its first dealers: ``"alternate"``, ``"loser"``, ``"cut"``, or a seat."""
    first_cut: int = 0
    """What the lane remembers for it: the seat that dealt its first game, where first dealers
    alternate; where the loser deals, the seat that dealt this game, with as many added as there are
    players where the number of the game is odd."""


@dataclass(frozen=True)
class Transcript:
    """A game, as far as it is told."""

    rules: Rules = field(default_factory=Rules)
    """The rules."""
    names: tuple[str, ...] = ()
    """What the seats are called, "" for a seat without a name; () where none has one."""
    notes: tuple[str, ...] = ()
    """Lines of free text: an event, a date, a place."""
    lane: Lane | None = None
    """The lane of the engine that dealt."""
    one_deal: bool = False
    """Whether the game is a single deal."""
    cuts: tuple[tuple[int, ...], ...] = ()
    """The cut for deal: a card a seat, and again where the lowest were equal."""
    scores: tuple[int, ...] = ()
    """The scores before the first deal told, where they are not those of a game that begins."""
    deals: tuple[Deal, ...] = ()
    """The deals, in order."""
    line: int = field(default=0, compare=False)
    """Where the game begins in its text."""
    places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Where lines of the heading stand in the text, by their first word."""

    def __post_init__(self) -> None:
        """Checks what is free text.

        Raises:
            ValueError: If a name or a note would not be read as it is written, or if there is not
                one name for each seat.
        """
        for text in (*self.names, *self.notes):
            if text != plain_text(text):
                raise ValueError(f"{text!r}: allowed is one line of text, without #")
        if self.names and len(self.names) != self.rules.players:
            raise ValueError(
                f"{len(self.names)} names: allowed are {self.rules.players}, one a seat, or none"
            )


def plain_text(text: str) -> str:
    """Returns a text as a name or a note can hold it: in one line, and not too long."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text.replace("#", " "))
    return shown.strip()[:MAX_TEXT].strip()
