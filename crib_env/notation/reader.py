"""Text as transcripts: what stands in a line is checked as far as the line alone tells.

Whether it happens in the game is for `replaying`. No text makes this raise anything but a
`NotationError`, which names the line, what stands there and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from crib_env.cards import parse_card
from crib_env.game import NUM_CLAIMS
from crib_env.luck import NUM_SEEDS
from crib_env.notation.transcript import (
    COLUMNS,
    ENDS,
    HEADING,
    VERSION,
    Deal,
    Keyword,
    Lane,
    Line,
    NotationError,
    Transcript,
)
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import THIRTY_ONE

MAX_LINE = 1_000  # characters; the longest line of a transcript has about a hundred
MAX_LINES = 100_000  # of a game; the longest of a game to 121 has some thousands
MAX_NUMBER = 10**9  # of a deal or a game of a lane: the record has 32 bits for them
MAX_POINTS = 99  # no score, count or worth is higher than 121, no points in words higher than 99

HEADING_WORDS = ("note", "seat", "rules", "one_deal", "lane", "cut", "scores")
REPEATED = ("note", "seat", "cut")  # those that may stand there more than once

Row = tuple[int, str]
"""A line's number in its text, from 1, and the line."""


def parse(text: str) -> list[Transcript]:
    """Returns the games of a text, in order.

    Raises:
        NotationError: If a line is none of a transcript.
    """
    return [parse_game(rows) for rows in split(text.split("\n"))]


def split(lines: Iterable[str]) -> Iterator[list[Row]]:
    """Yields the lines of each game, without comments and empty lines.

    A game begins with its heading. Whatever stands before the first one comes as a game of its own,
    which `parse_game` refuses.

    Raises:
        NotationError: If a line or a game is longer than any can be.
    """
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise NotationError(
                number, f"a line of {len(line)} characters: allowed are {MAX_LINE:,}"
            )
        told = line.partition("#")[0].replace("\t", " ").strip()
        if number == 1:
            told = told.removeprefix("\ufeff")  # some editors begin a file with it
        if not told:
            continue
        if rows and told.split()[:2] == HEADING.split()[:2]:
            yield rows
            rows = []
        rows.append((number, told))
        if len(rows) > MAX_LINES:
            raise NotationError(number, f"a game of more than {MAX_LINES:,} lines")
    if rows:
        yield rows


def parse_game(rows: list[Row]) -> Transcript:
    """Returns one game.

    Args:
        rows: Its lines, as `split` yields them.

    Raises:
        NotationError: If a line is none of a transcript.
    """
    for number, text in rows:
        if not text.isprintable():
            strange = next(letter for letter in text if not letter.isprintable())
            raise NotationError(number, f"{strange!r} stands there: allowed is text")
    _check_heading(*rows[0])
    first = next((i for i, (_, text) in enumerate(rows) if _first_word(text) == "deal"), len(rows))
    game = _Heading(rows[1:first], rows[0][0]).transcript()
    deals: list[Deal] = []
    lines: list[Line] = []
    for number, text in rows[first:]:
        cursor = _Cursor(number, text)
        if lines and lines[-1].keyword in ENDS:
            end = lines[-1].keyword
            raise NotationError(number, f"{text!r} stands after {end!r}, which ends a game")
        if cursor.word == "deal":
            if deals:
                deals[-1] = replace(deals[-1], lines=tuple(lines))
            lines = []
            deals.append(_deal(cursor, game.rules))
        else:
            lines.append(_line(cursor, game.rules))
    if deals:
        deals[-1] = replace(deals[-1], lines=tuple(lines))
    return replace(game, deals=tuple(deals))


def _check_heading(number: int, text: str) -> None:
    """Raises NotationError unless a line is the first of a game, of a version that is known."""
    words = text.split()
    if words[:2] != HEADING.split()[:2]:
        raise NotationError(number, f"{_short(text)} stands there: a game begins with {HEADING!r}")
    if words != HEADING.split():
        raise NotationError(
            number, f"{_short(text)}: allowed is version {VERSION}, as in {HEADING!r}"
        )


class _Cursor:
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
        return NotationError(self.number, f"{_short(self.text)}: {reason}")

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
            told = repr(word) if word else "nothing"
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
                raise self.error(f"{name!r}: allowed are {', '.join(allowed)}")
            if name in told:
                raise self.error(f"{name!r} is there twice")
            if not self.next:
                raise self.error(f"{name!r} has no value")
            told[name] = self.take()
        return told

    def end(self) -> None:
        """Raises NotationError unless the line ends here."""
        if self.next:
            raise self.error(f"{self.rest!r} is too much")


# Words of two letters that may follow cards; none of them is a card.
_PLAIN = ("a", "an", "is", "of")


def _short(text: str) -> str:
    """Returns what stands in a line, so that an error remains one line that can be read."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _first_word(text: str) -> str:
    """Returns the first word of a line."""
    return text.split(maxsplit=1)[0].lower()


# ---- the heading ----


class _Heading:
    """Reads the lines before the first deal.

    Args:
        rows: The lines.
        line: Where the game begins.
    """

    def __init__(self, rows: list[Row], line: int) -> None:
        self.rows = rows
        self.line = line
        self.found: dict[str, list[_Cursor]] = {}

    def transcript(self) -> Transcript:
        """Returns the game without its deals.

        Raises:
            NotationError: If a line is none of a heading.
        """
        for number, text in self.rows:
            cursor = _Cursor(number, text)
            if cursor.word not in HEADING_WORDS:
                allowed = ", ".join((*HEADING_WORDS, "deal"))
                what = "stands before the first deal" if cursor.word in COLUMNS else "is no line"
                raise cursor.error(f"{cursor.word!r} {what}: allowed are {allowed}")
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

    def _only(self, word: str) -> _Cursor | None:
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
                    raise cursor.error(f"{name} {word!r}: allowed are yes and no")
                told[name] = word == "yes"
            elif kinds[name] is int:
                if not re.fullmatch("[0-9]{1,9}", word):
                    raise cursor.error(f"{name} {word!r}: allowed are whole numbers")
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
        if first not in ("alternate", "cut", *seats):
            raise cursor.error(f"first {first!r}: allowed are alternate, cut, {', '.join(seats)}")
        cut = told.get("first_cut", "0")
        if cut not in seats:
            raise cursor.error(f"first_cut {cut!r}: allowed are {', '.join(seats)}")
        if "first_cut" in told and first != "alternate":
            raise cursor.error("first_cut: allowed with first alternate")
        numbers: dict[str, int] = {}
        for name, most in (("seed", NUM_SEEDS - 1), ("game", MAX_NUMBER)):
            word = told.get(name)
            if word is None:
                continue
            if not re.fullmatch("[0-9]{1,20}", word) or int(word) > most:
                raise cursor.error(f"{name} {word!r}: allowed is 0 to {most}")
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

    def _cut(self, cursor: _Cursor, rules: Rules) -> tuple[int, ...]:
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
        scores = _scores(cursor, rules, rules.target - 1)
        cursor.end()
        if not scores:
            raise cursor.error(f"no scores: allowed are {rules.sides}, one a side")
        return scores


def _text_after(cursor: _Cursor, words: int) -> str:
    """Returns a line's text as it stands, after so many words.

    Raises:
        NotationError: If there is none.
    """
    parts = cursor.text.split(maxsplit=words)
    if len(parts) <= words:
        raise cursor.error("no text")
    return parts[words]


# ---- the deals ----


def _deal(cursor: _Cursor, rules: Rules) -> Deal:
    """Returns the deal that a line begins."""
    number = None
    dealer = None
    if cursor.next and cursor.next.lower() != "dealer":
        number = cursor.whole("deal", 1, MAX_NUMBER)
    if cursor.next.lower() == "dealer":
        cursor.take()
        dealer = cursor.whole("dealer", 0, rules.players - 1)
    cursor.end()
    return Deal(number, dealer, (), cursor.number)


def _line(cursor: _Cursor, rules: Rules) -> Line:
    """Returns a line of a deal.

    Raises:
        NotationError: If it is none.
    """
    if cursor.word not in COLUMNS:
        what = "stands after a deal" if cursor.word in HEADING_WORDS else "is no line"
        allowed = ", ".join(("deal", *COLUMNS))
        raise cursor.error(f"{cursor.word!r} {what}: allowed are {allowed}")
    keyword = Keyword(cursor.word)
    told: dict[str, Any] = {}
    for column in COLUMNS[keyword]:
        if column == "seat":
            name, seats = (
                ("side", rules.sides) if keyword == Keyword.WON else ("seat", rules.players)
            )
            told["seat"] = cursor.whole(name, 0, seats - 1)
        elif column == "cards":
            told["cards"] = _counted_cards(cursor, keyword, rules)
        elif column == "count":
            if cursor.next[:1].isdigit():
                told["count"] = cursor.whole("count", 1, THIRTY_ONE)
        elif column == "claimed":
            told["claimed"] = cursor.whole(keyword, 0, NUM_CLAIMS - 1)
        elif column == "points":
            if cursor.next.startswith("+"):
                cursor.words[cursor.at] = cursor.next[1:]
                told["points"] = cursor.whole("points", 0, MAX_POINTS)
        elif column == "worth":
            if cursor.next.lower() == "worth":
                cursor.take()
                told["worth"] = cursor.whole("worth", 0, MAX_POINTS)
        elif column == "scores":
            told["scores"] = _scores(cursor, rules, rules.target)
        else:
            told["words"] = cursor.rest.lower()
            cursor.at = len(cursor.words)
    cursor.end()
    return Line(keyword, number=cursor.number, **told)


def _counted_cards(cursor: _Cursor, keyword: Keyword, rules: Rules) -> tuple[int, ...]:
    """Takes the cards of a line.

    Raises:
        NotationError: If they are not as many as the rules deal, throw or show.
    """
    allowed = {
        Keyword.DEALT: (rules.cards_dealt,),
        Keyword.PACK: (rules.crib_from_pack,),
        Keyword.THROW: tuple(range(1, rules.num_discards + 1)),
        Keyword.STARTER: (1,),
        Keyword.PLAY: (1,),
        Keyword.HAND: (0, rules.num_kept),
        Keyword.CRIB: (0, 4),
    }[keyword]
    cards = cursor.cards()
    if keyword == Keyword.PACK and not rules.crib_from_pack:
        raise cursor.error("with these rules, no card goes from the pack to the crib")
    if len(cards) not in allowed:
        number = " or ".join(map(str, allowed))
        raise cursor.error(f"{len(cards)} cards: allowed with these rules are {number}")
    return cards


def _scores(cursor: _Cursor, rules: Rules, most: int) -> tuple[int, ...]:
    """Takes the score of each side, or nothing where none stands.

    Raises:
        NotationError: If there are some and not all, or one is out of range.
    """
    if not cursor.next[:1].isdigit():
        return ()
    return tuple(cursor.whole("score", 0, most) for _ in range(rules.sides))
