"""What a decision brought about, as lines of a transcript: from the records before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crib_env.cards import CARDS_UP_TO, cards_in
from crib_env.events import Play
from crib_env.explain import explain, explain_play, pips_total, say
from crib_env.game_record import (
    A_CARD,
    A_CRIB,
    A_GO,
    CALL,
    CLAIM,
    CLAIM_ACTION,
    CRIB,
    DISCARD,
    HAND,
    HIS_HEELS,
    MUGGINS,
    OVER,
    PEGGING,
    PLAY,
    Counting,
)
from crib_env.narrator import SOURCES, play_of, points_of
from crib_env.notation.transcript import Deal, Keyword, Line
from crib_env.rules import Rules
from crib_env.scoring import THIRTY_ONE

SKUNKS = ("", "skunk", "double skunk", "triple skunk")
HEELS_WORDS = "his heels, two"
GO_WORDS = "go for one"
LAST_CARD_WORDS = "last card for one"


class Step(NamedTuple):
    """One decision."""

    before: Any
    """A copy of the record before, its game not over."""
    action: int
    """What the seat to act chose."""
    after: Any
    """The record after that one decision."""
    gained: npt.NDArray[np.int64]
    """What was pegged, by seat and source, (MAX_PLAYERS, sources)."""


class Scribe:
    """Writes down a game, decision by decision, as deals with all their lines.

    Args:
        rules: The rules of the game.
    """

    def __init__(self, rules: Rules) -> None:
        """Has written nothing yet."""
        self.rules = rules
        self._deals: list[tuple[Deal, list[Line]]] = []

    @property
    def deals(self) -> tuple[Deal, ...]:
        """What has been written."""
        return tuple(replace(deal, lines=tuple(lines)) for deal, lines in self._deals)

    def begin_deal(self, record: Any) -> list[Line]:
        """Begins a deal in which nothing has been thrown yet, and returns its first lines."""
        dealer = int(record["dealer"])
        lines = [
            Line(Keyword.DEALT, seat, tuple(cards_in(record["hands"][seat])))
            for seat in self._leftwards(dealer)
        ]
        if self.rules.crib_from_pack:
            lines.append(Line(Keyword.PACK, cards=tuple(cards_in(record["crib"]))))
        self._deals.append((Deal(int(record["deal_number"]) + 1, dealer), lines.copy()))
        return lines

    def tell(self, before: Any, action: int, after: Any) -> list[Line]:
        """Returns what one decision of the deal brought about, and writes it; the decision first.

        A second card thrown in a row joins the first, whose line it takes the place of.

        Args:
            before: A copy of the record before, its game not over.
            action: What the seat to act chose.
            after: The record after that one decision.
        """
        gained = (after["points"] - before["points"]).sum(axis=2, dtype=np.int64)
        step = Step(before, action, after, gained)
        written = self._deals[-1][1]
        phase = int(before["phase"])
        if phase == DISCARD:
            lines = self._thrown(step)
            if written[-1].keyword == Keyword.THROW and written[-1].seat == lines[0].seat:
                lines[0] = replace(lines[0], cards=written.pop().cards + lines[0].cards)
        elif phase == PLAY:
            lines = self._laid(step)
        else:
            lines = self._claimed(step) if phase == CLAIM else self._called(step)
            if after["phase"] != CALL and after["winner"] < 0:
                if before["counting"] == A_CARD:
                    lines += self._turn_passed(step, play_of(before))
                else:
                    lines += self._shown(step, [])
        lines += self._ending(step)
        written += lines
        return lines

    def begin_untold(self, deal: Deal) -> None:
        """Begins a deal of which not all cards are known, with the lines that tell some."""
        self._deals.append((deal, list(deal.lines)))

    def write(self, line: Line) -> None:
        """Writes a line that no decision has brought about: how what is told of the game ends."""
        self._deals[-1][1].append(line)

    def write_throw(self, line: Line) -> None:
        """Writes a throw that is not made, since the starter that it turns is not known."""
        written = self._deals[-1][1]
        if written[-1].keyword == Keyword.THROW and written[-1].seat == line.seat:
            written.pop()
        written.append(line)

    @property
    def last(self) -> Line:
        """The line written last; one of no deal where nothing has been written in it."""
        lines = self._deals[-1][1]
        return lines[-1] if lines else Line(Keyword.DEALT)

    def _leftwards(self, seat: int) -> list[int]:
        """Returns all seats in turn from the left of this one, which comes last."""
        players = self.rules.players
        return [(seat + step) % players for step in range(1, players + 1)]

    def _scores(self, record: Any) -> list[int]:
        """Returns the score of each side."""
        return [int(score) for score in record["scores"][: self.rules.sides]]

    def _thrown(self, step: Step) -> list[Line]:
        """Returns a throw, and after the last one the starter and his heels (R5, R7)."""
        before = step.before
        lines = [Line(Keyword.THROW, int(before["turn"]), (step.action,))]
        if step.after["phase"] == DISCARD:
            return lines
        lines.append(Line(Keyword.STARTER, cards=(int(before["starter"]),)))
        dealer = int(before["dealer"])
        points = int(step.gained[dealer, HIS_HEELS])
        if points:
            lines.append(Line(Keyword.HEELS, dealer, points=points, words=HEELS_WORDS))
        return lines

    def _laid(self, step: Step) -> list[Line]:
        """Returns a card laid, and where it need not be claimed what follows (R8 to R13)."""
        before, after = step.before, step.after
        seat = int(before["turn"])
        play = play_of(before, step.action)
        parts = explain_play(play.pile)
        worth = points_of(parts)
        words = say(parts) if parts else ""
        line = Line(Keyword.PLAY, seat, (step.action,), pips_total(play.pile), words=words)
        if after["phase"] == CLAIM and after["counting"] == A_CARD:
            return [replace(line, worth=worth or None)]
        room = self.rules.target - self._scores(before)[seat % self.rules.sides]
        points = min(worth, room)
        line = replace(line, points=points or None, worth=_if_other(worth, points))
        if points == room:
            return [line]
        last_point = int(step.gained[seat, PEGGING]) - points
        return [line, *self._turn_passed(step, play, last_point)]

    def _turn_passed(self, step: Step, play: Play, last_point: int = 0) -> list[Line]:
        """Returns who says go after a card, the point for the last card, and what follows.

        Args:
            step: The decision after which the turn has passed.
            play: How the play stood after the card was laid.
            last_point: What the last card pegs by itself, where it need not be claimed.
        """
        before, after = step.before, step.after
        seat = play.laid[-1][1]
        count = pips_total(play.pile)
        fits = int(CARDS_UP_TO[THIRTY_ONE - count])
        lines = []
        for other in self._leftwards(seat)[:-1]:
            held = play.hands[other]
            if held & fits:
                break
            if held and count < THIRTY_ONE and not int(before["gone"]) >> other & 1:
                lines.append(Line(Keyword.GO, other))
        words = GO_WORDS if any(play.hands) else LAST_CARD_WORDS
        if after["phase"] == CLAIM and after["counting"] == A_GO:
            return [*lines, Line(Keyword.LAST, seat, worth=1, words=words)]
        if last_point:
            lines.append(Line(Keyword.LAST, seat, points=last_point, words=words))
        return self._shown(step, lines)

    def _shown(self, step: Step, lines: list[Line]) -> list[Line]:
        """Returns lines of the play, followed by what is shown next if it is over (R19, R26)."""
        before, after = step.before, step.after
        if after["phase"] == CLAIM:
            owner, worth = int(after["owner"]), int(after["true_points"])
            is_crib = after["counting"] == A_CRIB
            return [*lines, replace(self._counted(after, owner, is_crib), worth=worth)]
        gained = step.gained
        counted = gained[:, [HAND, CRIB]].any()
        passed = after["deal_number"] != before["deal_number"]
        played_out = after["phase"] == OVER and after["winner"] < 0
        if before["phase"] != PLAY or not (passed or played_out or counted):
            return lines
        scores = self._scores(before)
        for seat in range(self.rules.players):
            scores[seat % self.rules.sides] += int(gained[seat, PEGGING])
        for seat, is_crib in self._show_order(int(before["dealer"])):
            points = int(gained[seat, CRIB if is_crib else HAND])
            worth = int(before["worth"][-1 if is_crib else seat])
            line = self._counted(before, seat, is_crib)
            lines.append(replace(line, points=points, worth=_if_other(worth, points)))
            scores[seat % self.rules.sides] += points
            if self.rules.target in scores:
                break
        return lines

    def _show_order(self, dealer: int) -> Iterator[tuple[int, bool]]:
        """Yields what is counted in the show, in order: whose, and whether it is the crib."""
        for seat in self._leftwards(dealer):
            yield seat, False
        yield dealer, True

    def _counted(self, record: Any, seat: int, is_crib: bool) -> Line:
        """Returns a hand or the crib with its cards and parts in words."""
        if is_crib:
            cards = tuple(cards_in(record["crib"]))
        else:
            play = play_of(record)
            own = [card for card, by in play.laid if by == seat]
            cards = tuple(sorted([*own, *cards_in(play.hands[seat])]))
        words = say(explain(cards, int(record["starter"]), is_crib))
        return Line(Keyword.CRIB if is_crib else Keyword.HAND, seat, cards, words=words)

    def _claimed(self, step: Step) -> list[Line]:
        """Returns a claim, and its excess if somebody pegs that (R41, R43)."""
        before = step.before
        owner, said = int(before["owner"]), step.action - CLAIM_ACTION
        source = SOURCES[Counting(int(before["counting"]))]
        lines = [Line(Keyword.CLAIM, owner, claimed=said, points=int(step.gained[owner, source]))]
        for seat in np.flatnonzero(step.gained[:, MUGGINS]).tolist():
            points = int(step.gained[seat, MUGGINS])
            lines.append(Line(Keyword.EXCESS, seat, points=points))
        return lines

    def _called(self, step: Step) -> list[Line]:
        """Returns a call, with what it pegs unless nothing was called (R42)."""
        seat, said = int(step.before["turn"]), step.action - CLAIM_ACTION
        points = int(step.gained[seat, MUGGINS]) if said else None
        return [Line(Keyword.CALL, seat, claimed=said, points=points)]

    def _ending(self, step: Step) -> list[Line]:
        """Returns the end of a deal or of the game, if this is one."""
        after = step.after
        scores = tuple(self._scores(after))
        winner = int(after["winner"])
        if winner >= 0:
            words = skunks(self.rules, winner, scores)
            return [Line(Keyword.WON, winner, scores=scores, words=words)]
        if after["phase"] == OVER:
            return [Line(Keyword.OVER, scores=scores)]
        if after["deal_number"] != step.before["deal_number"]:
            return [Line(Keyword.BOARD, scores=scores)]
        return []


def skunks(rules: Rules, winner: int, scores: tuple[int, ...]) -> str:
    """Returns which sides are skunked: ``"skunk 0, double skunk 1"``; "" for none."""
    levels = {side: rules.skunk_level(score) for side, score in enumerate(scores) if side != winner}
    return ", ".join(f"{SKUNKS[level]} {side}" for side, level in levels.items() if level)


def _if_other(worth: int, points: int) -> int | None:
    """Returns what something counts, None where that is what it has pegged."""
    return None if worth == points else worth
