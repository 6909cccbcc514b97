"""Text as transcripts: what stands in a line is checked as far as the line alone tells.

Whether it happens in the game is for `replaying`. No text makes this raise anything but a
`NotationError`, which names the line, what stands there and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from crib_env.game_record import NUM_CLAIMS
from crib_env.notation.cursor import Cursor, Row, scores_of, short
from crib_env.notation.heading import HEADING_WORDS, MAX_NUMBER, Heading, check_heading
from crib_env.notation.transcript import (
    COLUMNS,
    ENDS,
    HEADING,
    Deal,
    Keyword,
    Line,
    NotationError,
    Transcript,
)
from crib_env.rules import Rules
from crib_env.scoring import THIRTY_ONE

MAX_LINE = 1_000  # characters; the longest line of a transcript has about a hundred
MAX_LINES = 100_000  # of a game; the longest of a game to 121 has some thousands
MAX_POINTS = 99  # more than anything counts


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
            raise NotationError(number, f"a line of more than {MAX_LINE:,} characters")
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
    check_heading(*rows[0])
    first = next((i for i, (_, text) in enumerate(rows) if _first_word(text) == "deal"), len(rows))
    game = Heading(rows[1:first], rows[0][0]).transcript()
    deals: list[Deal] = []
    lines: list[Line] = []
    for number, text in rows[first:]:
        cursor = Cursor(number, text)
        if lines and lines[-1].keyword in ENDS:
            end = lines[-1].keyword
            raise cursor.error(f"stands after '{end}', which ends a game")
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


def _first_word(text: str) -> str:
    """Returns the first word of a line."""
    return text.split(maxsplit=1)[0].lower()


def _deal(cursor: Cursor, rules: Rules) -> Deal:
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


def _line(cursor: Cursor, rules: Rules) -> Line:
    """Returns a line of a deal.

    Raises:
        NotationError: If it is none.
    """
    if cursor.word not in COLUMNS:
        what = "stands after a deal" if cursor.word in HEADING_WORDS else "is no line"
        allowed = ", ".join(("deal", *COLUMNS))
        raise cursor.error(f"{short(cursor.word)} {what}: allowed are {allowed}")
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
            told["claimed"] = cursor.whole("points", 0, NUM_CLAIMS - 1)
        elif column == "points":
            if cursor.next.startswith("+"):
                cursor.words[cursor.at] = cursor.next[1:]
                told["points"] = cursor.whole("points", 0, MAX_POINTS)
        elif column == "worth":
            if cursor.next.lower() == "worth":
                cursor.take()
                told["worth"] = cursor.whole("worth", 0, MAX_POINTS)
        elif column == "scores":
            told["scores"] = scores_of(cursor, rules, rules.target)
        else:
            told["words"] = cursor.rest.lower()
            cursor.at = len(cursor.words)
    cursor.end()
    return Line(keyword, number=cursor.number, **told)


def _counted_cards(cursor: Cursor, keyword: Keyword, rules: Rules) -> tuple[int, ...]:
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
