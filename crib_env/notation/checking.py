"""Files of transcripts, checked game by game: what ``python -m crib_env check`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from crib_env.game_record import OVER, Phase, Source
from crib_env.notation.reader import MAX_LINE, parse_game, split
from crib_env.notation.replaying import Replay, replay
from crib_env.notation.scribe import GO_WORDS
from crib_env.notation.transcript import HEADING, Keyword, Line, NotationError

# What a side has won by, by the line that has taken it to the target.
WON_BY = {
    Keyword.HEELS: "his heels",
    Keyword.PLAY: "a card",
    Keyword.LAST: "the last card",
    Keyword.HAND: "a hand",
    Keyword.CRIB: "the crib",
    Keyword.EXCESS: "the excess of a claim",
    Keyword.CALL: "a call of muggins",
}


@dataclass(frozen=True)
class Report:
    """What came of one game of a file."""

    line: int
    """Where the game begins; where the error is, if there is one."""
    text: str
    """One line: how the game went, or what is wrong."""
    replay: Replay | None
    """The game, None if there is an error."""


def check(file: BinaryIO) -> Iterator[Report]:
    """Yields a report of each game of a file, which is read as it comes.

    Args:
        file: The file, open for bytes.

    Raises:
        OSError: If it cannot be read.
    """
    number = 0
    games = split(_lines(file))
    while True:
        try:
            rows = next(games, None)
        except NotationError as error:
            yield Report(error.line, error.reason, None)
            return
        if rows is None:
            break
        number += 1
        try:
            played = replay(parse_game(rows))
        except NotationError as error:
            yield Report(error.line, error.reason, None)
        else:
            yield Report(rows[0][0], summary(played), played)
    if not number:
        yield Report(1, f"no game: one begins with {HEADING!r}", None)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yields the lines of a file as text.

    Raises:
        NotationError: If one is no text. One that is too long comes in part, and is refused then.
    """
    number = 0
    while line := file.readline(4 * MAX_LINE + 2):
        number += 1
        try:
            yield line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise NotationError(
                number, f"byte 0x{line[error.start]:02x} stands there: allowed is text in UTF-8"
            ) from None


def summary(played: Replay) -> str:
    """Returns a game in one line: who has won, by what, and the points by source."""
    told = played.transcript
    names = [told.names[seat] if told.names else "" for seat in range(told.rules.players)]
    seats = [f"{seat} {name}".strip() for seat, name in enumerate(names)]
    if not told.deals:
        return "no deal"
    number = len(told.deals)
    parts = [_outcome(played, seats), f"{number} deal{'s' if number > 1 else ''}"]
    for seat, points in enumerate(played.games.points[0].sum(axis=2).tolist()):
        pegged = [
            f"{source.name.lower().replace('_', ' ')} {points[source]}"
            for source in Source
            if points[source]
        ]
        parts.append(f"{seats[seat]}: {', '.join(pegged) or 'nothing'}")
    return "; ".join(parts)


def _outcome(played: Replay, seats: list[str]) -> str:
    """Returns how a game has ended, or how far it is told."""
    told = played.transcript
    lines = told.deals[-1].lines
    scores = " to ".join(map(str, played.games.scores[0].tolist()))
    end = lines[-1] if lines else Line(Keyword.UNFINISHED)
    if end.keyword == Keyword.WON:
        sides = told.rules.sides
        winners = " and ".join(seats[end.seat or 0 :: sides])
        losers = [score for side, score in enumerate(end.scores) if side != end.seat]
        verb = "wins" if told.rules.players == sides else "win"
        words = f"{winners} {verb} {' to '.join(map(str, [end.scores[end.seat or 0], *losers]))}"
        if end.words:
            words += f", {end.words}"
        return f"{words}, by {_won_by(list(lines[:-1]))}"
    if end.keyword == Keyword.FORFEIT:
        return f"{seats[end.seat or 0]} forfeits at {scores}"
    if end.keyword == Keyword.OVER:
        return f"the deal is over, {scores}"
    record = played.games.records[0]
    if record["phase"] == OVER or not len(played.records):
        return f"unfinished, {scores}"
    word = {Phase.DISCARD: "throw", Phase.PLAY: "play", Phase.CLAIM: "claim", Phase.CALL: "call"}
    asked = word[Phase(int(record["phase"]))]
    return f"unfinished, {scores}, {seats[int(record['turn'])]} is to {asked}"


def _won_by(lines: list[Line]) -> str:
    """Returns by what a game was won, whose lines before the end these are."""
    last = lines[-1]
    if last.keyword == Keyword.CLAIM:
        said = (Keyword.CLAIM, Keyword.CALL, Keyword.EXCESS)
        last = next(line for line in reversed(lines) if line.keyword not in said)
    if last.keyword == Keyword.LAST and last.words == GO_WORDS:
        return "a go"
    return WON_BY[last.keyword]
