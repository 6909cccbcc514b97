"""Transcripts as text: one event a line, in columns that stand still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from crib_env.cards import card_text
from crib_env.notation.transcript import COLUMNS, HEADING, Deal, Keyword, Lane, Line, Transcript
from crib_env.rules import Rules

KEY_WIDTH = 12  # characters of the first column, the blanks after the keyword included
CARDS_WIDTH = {Keyword.PLAY: 1, Keyword.HAND: 4, Keyword.CRIB: 4}  # cards, where more follows


def write(transcripts: Transcript | Iterable[Transcript]) -> str:
    """Returns games as text, as `reader.parse` reads it; two games with an empty line between.

    What a transcript does not tell is left out: `replaying.replay` fills it in.
    """
    if isinstance(transcripts, Transcript):
        transcripts = [transcripts]
    return "\n".join("".join(f"{line}\n" for line in _lines(one)) for one in transcripts)


def line_text(line: Line) -> str:
    """Returns one line of a deal as text."""
    parts = [f"{line.keyword:<{KEY_WIDTH}}"]
    if "seat" not in COLUMNS[line.keyword] and line.keyword in (Keyword.PACK, Keyword.STARTER):
        parts[0] += "   "  # the cards stand where they do after a seat
    for column in COLUMNS[line.keyword]:
        text = _column(line, column)
        if text:
            parts.append(text)
    return "".join(parts).rstrip()


def _column(line: Line, column: str) -> str:
    """Returns a column with the blanks that part it from the next one; "" where nothing stands."""
    if column == "seat":
        return "" if line.seat is None else f"{line.seat}  "
    if column == "cards":
        text = " ".join(map(card_text, line.cards))
        return f"{text:<{3 * CARDS_WIDTH.get(line.keyword, 1) - 1}}  "
    if column == "count":
        return "    " if line.count is None else f"{line.count:>2}  "
    if column == "claimed":
        return "" if line.claimed is None else f"{line.claimed:>2}  "
    if column == "points":
        # Of a card, most often nothing is pegged: then nothing stands there.
        return "" if line.points is None else f"{f'+{line.points}':>3}  "
    if column == "worth":
        return "" if line.worth is None else f"worth {line.worth:>2}  "
    if column == "scores":
        return "".join(f"{score:>3}  " for score in line.scores)
    return line.words


def rules_text(rules: Rules) -> str:
    """Returns all that differs from the default rules: ``"target 61  triple_skunk yes"``."""
    default = Rules()
    return "  ".join(
        f"{one.name} {_value(getattr(rules, one.name))}"
        for one in fields(Rules)
        if getattr(rules, one.name) != getattr(default, one.name)
    )


def lane_text(lane: Lane) -> str:
    """Returns a lane as the heading tells it."""
    seed = "" if lane.seed is None else f"seed {lane.seed}  "
    cut = f"  first_cut {lane.first_cut}" if lane.first in ("alternate", "loser") else ""
    return f"{seed}game {lane.game}  first {lane.first}{cut}"


def _value(value: object) -> str:
    """Returns a value of the rules in a word."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _lines(transcript: Transcript) -> Iterator[str]:
    """Yields the lines of a game."""
    yield HEADING
    heading = [("note", note) for note in transcript.notes]
    rules = rules_text(transcript.rules)
    heading += [("rules", rules)] if rules else []
    heading += [("one_deal", "yes")] if transcript.one_deal else []
    heading += [("seat", f"{seat}  {name}") for seat, name in enumerate(transcript.names) if name]
    heading += [("lane", lane_text(transcript.lane))] if transcript.lane else []
    heading += [("cut", "   " + " ".join(map(card_text, cards))) for cards in transcript.cuts]
    if transcript.scores:
        heading.append(("scores", "".join(f"{score:>3}  " for score in transcript.scores)))
    for word, text in heading:
        yield f"{word:<{KEY_WIDTH}}{text}".rstrip()
    for deal in transcript.deals:
        yield ""
        yield _deal_text(deal)
        yield from map(line_text, deal.lines)


def _deal_text(deal: Deal) -> str:
    """Returns the line that begins a deal."""
    number = "   " if deal.number is None else f"{deal.number:<2} "
    dealer = "" if deal.dealer is None else f"dealer {deal.dealer}"
    return f"{'deal':<{KEY_WIDTH}}{number}{dealer}".rstrip()
