"""Transcripts held against the rule book: every decision applied, every number checked.

What a transcript does not tell is filled in, where it follows from what it tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.cards import CARDS_UP_TO, NO_CARD, cards_in, cards_text
from crib_env.explain import pips_total
from crib_env.game_record import (
    A_CARD,
    A_GO,
    CALL,
    CLAIM,
    CLAIM_ACTION,
    DISCARD,
    OVER,
    PLAY,
)
from crib_env.notation.beginning import begin_game, is_own, lay_cards, usual_scores
from crib_env.notation.history import History
from crib_env.notation.reader import parse
from crib_env.notation.scribe import Scribe
from crib_env.notation.told_cards import ToldCards
from crib_env.notation.transcript import (
    COLUMNS,
    DECISIONS,
    ENDS,
    Deal,
    Keyword,
    Line,
    NotationError,
    Transcript,
)
from crib_env.notation.writer import line_text, write
from crib_env.scoring import THIRTY_ONE

CLAIMING = (CLAIM, CALL)
COUNTED_IN_PLAY = (A_CARD, A_GO)
DEALING = (Keyword.DEALT, Keyword.PACK)


@dataclass(frozen=True)
class Replay:
    """What came of a transcript."""

    transcript: Transcript
    """The same game with all that follows filled in."""
    games: Games
    """One lane, in which the game stands at the end of what is told."""
    actions: npt.NDArray[np.int64]
    """(M,) the moves; NO_CARD where a deal begins."""
    records: npt.NDArray[Any]
    """(M,) records of `crib_env.game_record.RECORD`: where each of them has led."""


def replay(transcript: Transcript) -> Replay:
    """Plays a transcript through the rule book, and checks every number that it tells.

    Raises:
        NotationError: If something does not happen in this game, naming the line, what stands there
            and what is allowed.
    """
    if not transcript.line:
        # Not read from text: written and read, its lines have numbers, and all is in its range.
        transcript = parse(write(transcript))[0]
    if not transcript.deals:
        nothing = Games(1, transcript.rules, one_deal=transcript.one_deal)
        return Replay(transcript, nothing, np.zeros(0, np.int64), nothing.records[:0])
    return _Replayer(transcript).run()


class _Replayer:
    """Plays one transcript.

    Args:
        told: The game, as it was read; it has a deal.
    """

    def __init__(self, told: Transcript) -> None:
        """Begins the game."""
        self.told = told
        self.scribe = Scribe(told.rules)
        self.games = begin_game(told)
        self.record = self.games.records[0].copy()
        self.actions: list[int] = []
        self.history = History()
        # What the last move brought about and no line has told yet.
        self.pending: list[Line] = []

    def run(self) -> Replay:
        """Plays the game to the end of what is told."""
        told = self.told
        scores = self._scores()
        usual = usual_scores(told.rules, int(self.record["dealer"]))
        for index, deal in enumerate(told.deals):
            self._play_deal(index, deal)
        if self.scribe.last.keyword not in ENDS:
            self.scribe.write(Line(Keyword.UNFINISHED, scores=self._scores()))
        filled = replace(
            told,
            scores=() if scores == usual else scores,
            deals=self.scribe.deals,
            line=0,
            places={},
        )
        return Replay(filled, self.games, np.array(self.actions, np.int64), self.history.records)

    # ---- where the game stands ----

    @property
    def phase(self) -> int:
        """What the rule book asks for, of `crib_env.game_record.Phase`."""
        return int(self.record["phase"])

    @property
    def turn(self) -> int:
        """The seat to act."""
        return int(self.record["turn"])

    def _scores(self) -> tuple[int, ...]:
        """Returns the score of each side."""
        return tuple(self.record["scores"][: self.told.rules.sides].tolist())

    def _fitting(self, seat: int) -> list[int]:
        """Returns the cards of a seat that do not take the count past 31."""
        fits = int(CARDS_UP_TO[THIRTY_ONE - int(self.record["count"])])
        return list(cards_in(int(self.record["hands"][seat]) & fits))

    def _awaits_deal(self, number: int) -> bool:
        """Says whether the cards of this deal are to be told next."""
        return self.phase == DISCARD and int(self.record["deal_number"]) + 1 == number

    def _asked(self) -> str:
        """Returns what the rule book asks for, as an error tells it."""
        if self.phase == OVER:
            return "nothing, the game is over"
        if self.scribe.last.keyword == Keyword.BOARD:
            return "the next deal"
        if self.phase == PLAY:
            return f"'play {self.turn}' with one of {cards_text(self._fitting(self.turn))}"
        word = {DISCARD: "throw", CLAIM: "claim", CALL: "call"}[self.phase]
        return f"'{word} {self.turn}'"

    def _unexpected(self, line: Line) -> NotationError:
        """Returns the error for a line that tells what does not happen here."""
        count = int(self.record["count"])
        if line.keyword == Keyword.GO and line.seat is not None and count:
            fitting = self._fitting(line.seat)
            if fitting:
                return _error(
                    line, f"at a count of {count}, seat {line.seat} can play {cards_text(fitting)}"
                )
        told = [repr(_short(one)) for one in self.pending[:1]]
        return _error(line, f"allowed here is {' or '.join([*told, self._asked()])}")

    def _keep(self, action: int) -> None:
        """Keeps the record that a move has led to."""
        self.record = self.history.keep(self.games.records)
        self.actions.append(action)

    def _apply(self, action: int) -> Line:
        """Applies a move, and returns the line that tells it; what it brought about is pending."""
        before = self.record
        self.games.apply([action])
        self._keep(action)
        move, *self.pending = self.scribe.tell(before, action, self.record)
        return move

    # ---- deals ----

    def _play_deal(self, index: int, deal: Deal) -> None:
        """Plays one deal, as far as it is told."""
        number = (self.told.deals[0].number or 1) + index
        if index:
            self._claim_right(lambda: self._awaits_deal(number))
            if not self._awaits_deal(number):
                raise NotationError(deal.line, f"deal {number}: allowed here is {self._asked()}")
        if deal.number not in (None, number):
            raise NotationError(deal.line, f"deal {deal.number}: allowed is {number}")
        dealer = int(self.record["dealer"])
        if deal.dealer not in (None, dealer):
            raise NotationError(deal.line, f"dealer {deal.dealer}: allowed is {dealer}")
        cards = ToldCards(deal, dealer, self.told.rules)
        begun = {line.keyword for line in deal.lines} - {*DEALING, Keyword.UNFINISHED}
        if not cards.complete and not begun and index + 1 == len(self.told.deals):
            # The text ends before all cards are dealt: there is nothing to play yet.
            dealt = tuple(line for line in deal.lines if line.keyword in DEALING)
            self.scribe.begin_untold(Deal(number, dealer, dealt))
            for line in deal.lines[len(dealt) :]:
                self._break_off(line)
            return
        cards.check_complete()
        own = self.told.lane is not None and self.told.lane.seed is not None
        starter_known = cards.starter is not None or (own and is_own(self.games, cards))
        lay_cards(self.games, cards)
        self._keep(NO_CARD)
        self.pending = self.scribe.begin_deal(self.record)
        for line in cards.lines:
            if line.keyword == Keyword.THROW:
                self._throw(line, starter_known)
            elif line.keyword in (Keyword.FORFEIT, Keyword.UNFINISHED):
                self._break_off(line)
            elif not starter_known and line.keyword not in DEALING:
                raise _error(line, "the starter is not told: allowed before it is 'starter'")
            elif line.keyword in DECISIONS:
                self._decide(line)
            else:
                self._follow(line)

    def _break_off(self, line: Line) -> None:
        """Ends a game that the rule book has not ended."""
        if self.phase == OVER or line.seat not in (None, self.turn):
            raise self._unexpected(line)
        end = replace(line, scores=self._scores(), number=0)
        _compare(line, end)
        self.scribe.write(end)

    # ---- moves ----

    def _throw(self, line: Line, starter_known: bool) -> None:
        """Throws the cards of a line.

        The last throw turns the starter: where that is not told, it is written down but not made.
        """
        if self.phase != DISCARD or self.turn != line.seat:
            raise self._unexpected(line)
        for index, card in enumerate(line.cards):
            last = self.turn == self.record["dealer"] and index + 1 == self.told.rules.num_discards
            if last and not starter_known:
                self.scribe.write_throw(replace(line, number=0))
                return
            self._apply(card)

    def _decide(self, line: Line) -> None:
        """Plays a card, claims or calls."""
        if line.keyword == Keyword.PLAY:
            while self.phase in CLAIMING and self.record["counting"] in COUNTED_IN_PLAY:
                self._say_right()
            self._check_play(line)
            action = line.cards[0]
        else:
            phase = CLAIM if line.keyword == Keyword.CLAIM else CALL
            if self.phase != phase or self.turn != line.seat:
                error = self._unexpected(line)
                if phase == CALL and self.phase == CLAIM:
                    self._say_right()
                while self.phase == CALL and (phase == CLAIM or self.turn != line.seat):
                    self._say_right()
                if self.phase != phase or self.turn != line.seat:
                    raise error
            action = CLAIM_ACTION + int(line.claimed or 0)
        _compare(line, self._apply(action))

    def _check_play(self, line: Line) -> None:
        """Raises NotationError unless a card may be laid now."""
        if self.phase != PLAY or self.turn != line.seat:
            raise self._unexpected(line)
        [card] = line.cards
        fitting = self._fitting(self.turn)
        if card not in fitting:
            held = int(self.record["hands"][self.turn]) >> card & 1
            count = int(self.record["count"]) + pips_total([card])
            why = f"the count would be {count}" if held else f"seat {line.seat} does not hold it"
            raise _error(line, f"{why}: allowed are {cards_text(fitting)}")

    def _say_right(self) -> None:
        """Makes a claim or call that is not told: the claim is right, and nobody calls."""
        points = int(self.record["true_points"]) if self.phase == CLAIM else 0
        self._apply(CLAIM_ACTION + points)

    def _claim_right(self, enough: Callable[[], bool]) -> None:
        """Makes claims and calls that are not told, until it is enough."""
        while self.phase in CLAIMING and not enough():
            self._say_right()

    # ---- what follows from moves ----

    def _follow(self, line: Line) -> None:
        """Holds a line that is no decision against what the last move brought about."""
        place = self._place(line)
        if place is None:
            error = self._unexpected(line)
            self._claim_right(lambda: self._place(line) is not None)
            place = self._place(line)
            if place is None:
                raise error
        _compare(line, self.pending[place])
        del self.pending[: place + 1]

    def _place(self, line: Line) -> int | None:
        """Returns which of the pending lines a line tells, None for none of them."""
        for index, one in enumerate(self.pending):
            if one.keyword == line.keyword and one.seat == line.seat:
                return index
        return None


def _compare(told: Line, true: Line) -> None:
    """Holds what a line tells against what is true.

    Raises:
        NotationError: If a number, a card or a word differs.
    """
    for column in COLUMNS[told.keyword]:
        said, is_so = getattr(told, column), getattr(true, column)
        if said is None or said == () or said == "" or said == is_so:
            continue
        if column == "cards" and sorted(said) == sorted(is_so):
            continue
        # What is not written is 0 points pegged, and worth what is pegged.
        if column == "points" and not said and not is_so:
            continue
        if column == "worth" and is_so is None and said == (true.points or 0):
            continue
        raise _error(told, f"{column}: allowed here is {_short(true)!r}")


def _short(line: Line) -> str:
    """Returns a line as text, without the blanks of its columns."""
    return " ".join(line_text(line).split())


def _error(line: Line, reason: str) -> NotationError:
    """Returns the error that names a line."""
    return NotationError(line.number, f"{_short(line)!r}: {reason}")
