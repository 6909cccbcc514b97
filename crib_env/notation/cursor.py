"""One line of a transcript, taken apart word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crib_env.cards import parse_card
from crib_env.notation.transcript import NotationError
from crib_env.rules import Rules

Row = tuple[int, str]
"""A line's number in its text, from 1, and the line."""

# Words of one or two letters that may follow cards; none of them is a card.
_PLAIN = ("a", "an", "is", "of")


class Cursor:
    """Takes a line apart, word by word.

    Args:
        number: The line's number.
        text: The line.
    """

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text
        self.words = text.split()
        self.word = self.words[0].lower()
        self.at = 1

    @property
    def next(self) -> str:
        """The next word, "" at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    @property
    def rest(self) -> str:
        """All words that are left, with one blank between them."""
        return " ".join(self.words[self.at :])

    def error(self, reason: str) -> NotationError:
        """Returns the error that names this line."""
        return NotationError(self.number, f"{short(self.text)}: {reason}")

    def take(self) -> str:
        """Returns the next word and goes on to the one after it."""
        word = self.next
        self.at += 1
        return word

    def whole(self, name: str, low: int, high: int) -> int:
        """Takes a whole number.

        Raises:
            NotationError: If the next word is none, or is out of range.
        """
        word = self.next
        if not re.fullmatch("[0-9]{1,20}", word) or not low <= int(word) <= high:
            told = short(word) if word else "nothing"
            raise self.error(f"{name} {told}: allowed is {low} to {high}")
        return int(self.take())

    def cards(self) -> tuple[int, ...]:
        """Takes all cards that follow.

        Raises:
            NotationError: If a word in their place looks like a card and is none, or if a card is
                there twice.
        """
        cards: list[int] = []
        while (
            re.fullmatch("[0-9]{0,2}[A-Za-z]{1,2}", self.next) and self.next.lower() not in _PLAIN
        ):
            try:
                card = parse_card(self.next.upper())
            except ValueError as error:
                raise self.error(str(error)) from None
            if card in cards:
                raise self.error(f"{self.next.upper()} is there twice")
            cards.append(card)
            self.take()
        return tuple(cards)

    def pairs(self, allowed: Iterable[str]) -> dict[str, str]:
        """Takes the rest as names and values.

        Raises:
            NotationError: If a name is unknown or there twice, or has no value.
        """
        allowed = tuple(allowed)
        told: dict[str, str] = {}
        while self.next:
            name = self.take()
            if name not in allowed:
                raise self.error(f"{short(name)}: allowed are {', '.join(allowed)}")
            if name in told:
                raise self.error(f"{name!r} is there twice")
            if not self.next:
                raise self.error(f"{name!r} has no value")
            told[name] = self.take()
        return told

    def end(self) -> None:
        """Raises NotationError unless the line ends here."""
        if self.next:
            raise self.error(f"{short(self.rest)} is too much")


def short(text: str) -> str:
    """Returns what stands in a line, so that an error remains one line that can be read."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def scores_of(cursor: Cursor, rules: Rules, most: int) -> tuple[int, ...]:
    """Takes the score of each side, or nothing where none stands.

    Raises:
        NotationError: If there are some and not all, or one is out of range.
    """
    if not cursor.next[:1].isdigit():
        return ()
    return tuple(cursor.whole("score", 0, most) for _ in range(rules.sides))
