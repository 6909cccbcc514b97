"""The heading of a transcript: the lines before its first deal."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from crib_env.luck import NUM_SEEDS
from crib_env.notation.cursor import Cursor, Row, scores_of, short
from crib_env.notation.transcript import COLUMNS, HEADING, VERSION, Lane, NotationError, Transcript
from crib_env.records import FIRST_DEALER_CODES
from crib_env.rules import PRESETS, Rules

MAX_NUMBER = 10**9  # of a deal or a game of a lane: the record has 32 bits for them

HEADING_WORDS = ("note", "rules", "one_deal", "seat", "lane", "cut", "scores")
REPEATED = ("note", "seat", "cut")  # those that may stand there more than once


def check_heading(number: int, text: str) -> None:
    """Raises NotationError unless a line is the first of a game, of a version that is known."""
    words = text.split()
    if words[:2] != HEADING.split()[:2]:
        raise NotationError(number, f"{short(text)} stands there: a game begins with {HEADING!r}")
    if words != HEADING.split():
        raise NotationError(
            number, f"{short(text)}: allowed is version {VERSION}, as in {HEADING!r}"
        )


class Heading:
    """Reads the lines before the first deal.

    Args:
        rows: The lines.
        line: Where the game begins.
    """

    def __init__(self, rows: list[Row], line: int) -> None:
        self.rows = rows
        self.line = line
        self.found: dict[str, list[Cursor]] = {}

    def transcript(self) -> Transcript:
        """Returns the game without its deals.

        Raises:
            NotationError: If a line is none of a heading.
        """
        for number, text in self.rows:
            cursor = Cursor(number, text)
            if cursor.word not in HEADING_WORDS:
                allowed = ", ".join((*HEADING_WORDS, "deal"))
                what = "stands before the first deal" if cursor.word in COLUMNS else "is no line"
                raise cursor.error(f"{short(cursor.word)} {what}: allowed are {allowed}")
            if cursor.word in self.found and cursor.word not in REPEATED:
                raise cursor.error(f"a game has one line {cursor.word!r}")
            self.found.setdefault(cursor.word, []).append(cursor)
        rules = self._rules()
        return Transcript(
            rules=rules,
            names=self._names(rules),
            notes=tuple(_text_after(one, 1) for one in self.found.get("note", [])),
            lane=self._lane(rules),
            one_deal=self._one_deal(),
            cuts=tuple(self._cut(one, rules) for one in self.found.get("cut", [])),
            scores=self._scores(rules),
            line=self.line,
            places={word: cursors[0].number for word, cursors in self.found.items()},
        )

    def _only(self, word: str) -> Cursor | None:
        """Returns the one line with this word."""
        return self.found[word][0] if word in self.found else None

    def _rules(self) -> Rules:
        """Returns the rules: a preset's if one is named, the default's else, and what differs."""
        cursor = self._only("rules")
        if cursor is None:
            return Rules()
        told: dict[str, Any] = {}
        base = Rules()
        if cursor.next in PRESETS:
            base = PRESETS[cursor.take()]
        kinds = {one.name: type(getattr(base, one.name)) for one in fields(Rules)}
        for name, word in cursor.pairs(kinds).items():
            if kinds[name] is bool:
                if word not in ("yes", "no"):
                    raise cursor.error(f"{name} {short(word)}: allowed are yes and no")
                told[name] = word == "yes"
            elif kinds[name] is int:
                if not re.fullmatch("[0-9]{1,9}", word):
                    raise cursor.error(f"{name} {short(word)}: allowed are whole numbers")
                told[name] = int(word)
            else:
                told[name] = word
        try:
            return Rules(**{name: getattr(base, name) for name in kinds} | told)
        except ValueError as error:
            raise cursor.error(str(error)) from None

    def _names(self, rules: Rules) -> tuple[str, ...]:
        """Returns the seats' names, "" for a seat without one; () for none."""
        names: dict[int, str] = {}
        for cursor in self.found.get("seat", []):
            seat = cursor.whole("seat", 0, rules.players - 1)
            if seat in names:
                raise cursor.error(f"seat {seat} has a name already")
            names[seat] = _text_after(cursor, 2)
        return tuple(names.get(seat, "") for seat in range(rules.players)) if names else ()

    def _lane(self, rules: Rules) -> Lane | None:
        """Returns the lane."""
        cursor = self._only("lane")
        if cursor is None:
            return None
        told = cursor.pairs(("seed", "game", "first", "first_cut"))
        first = told.get("first", "0")
        seats = [str(seat) for seat in range(rules.players)]
        if first not in (*FIRST_DEALER_CODES, *seats):
            allowed = ", ".join((*FIRST_DEALER_CODES, *seats))
            raise cursor.error(f"first {short(first)}: allowed are {allowed}")
        cut = told.get("first_cut", "0")
        # Where the loser deals, the number of the game is part of it.
        most = {"alternate": rules.players - 1, "loser": 2 * rules.players - 1}.get(first, 0)
        if cut not in map(str, range(most + 1)):
            raise cursor.error(f"first_cut {short(cut)}: allowed with first {first} is 0 to {most}")
        numbers: dict[str, int] = {}
        for name, most in (("seed", NUM_SEEDS - 1), ("game", MAX_NUMBER)):
            word = told.get(name)
            if word is None:
                continue
            if not re.fullmatch("[0-9]{1,20}", word) or int(word) > most:
                raise cursor.error(f"{name} {short(word)}: allowed is 0 to {most}")
            numbers[name] = int(word)
        return Lane(numbers.get("seed"), numbers.get("game", 0), first, int(cut))

    def _one_deal(self) -> bool:
        """Returns whether the game is a single deal."""
        cursor = self._only("one_deal")
        if cursor is None:
            return False
        if cursor.rest not in ("yes", "no"):
            raise cursor.error("allowed are yes and no")
        return cursor.rest == "yes"

    def _cut(self, cursor: Cursor, rules: Rules) -> tuple[int, ...]:
        """Returns the cards of a cut for deal."""
        cards = cursor.cards()
        cursor.end()
        if len(cards) != rules.players:
            raise cursor.error(f"{len(cards)} cards: allowed are {rules.players}, one a seat")
        return cards

    def _scores(self, rules: Rules) -> tuple[int, ...]:
        """Returns the scores before the first deal."""
        cursor = self._only("scores")
        if cursor is None:
            return ()
        scores = scores_of(cursor, rules, rules.target - 1)
        cursor.end()
        if not scores:
            raise cursor.error(f"no scores: allowed are {rules.sides}, one a side")
        return scores


def _text_after(cursor: Cursor, words: int) -> str:
    """Returns a line's text as it stands, after so many words.

    Raises:
        NotationError: If there is none.
    """
    parts = cursor.text.split(maxsplit=words)
    if len(parts) <= words:
        raise cursor.error("no text")
    return parts[words]
