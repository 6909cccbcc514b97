"""A match of several games: its rules, who deals next, and the score of it.

Plain Python around the rule book: a `Match` is told how each game ended, by whoever has played it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np

from crib_env.checks import is_whole, named
from crib_env.dealing import cut_cards, lowest_cut
from crib_env.game_record import MAX_PLAYERS, NO_CUT, TIED
from crib_env.luck import WORD, check_seed
from crib_env.rules import (
    CARDS_DEALT,
    Rules,
    RulesLike,
    loser_deals,
    rules_of,
    scheme_of,
    skunk_level,
)

NextDealer: TypeAlias = Literal["alternate", "loser", "cut"]
NEXT_DEALERS = ("alternate", "loser", "cut")

LENGTHS = ("games", "best_of", "race_to")


def cuts_for_deal(seed: int, game_number: int = 0, players: int = 2) -> tuple[tuple[int, ...], ...]:
    """Returns the cards that are cut for the deal of a game (R2), round by round.

    Where the lowest is cut by several seats, all cut again: the last round is the one that decides,
    and whoever has the lowest card of it deals. `Games` cuts the same cards, of the lanes' seeds.

    Args:
        seed: The lane's seed (`lane_seed`), 0 to 2**64 - 1.
        game_number: Which game of the lane, 0 the first.
        players: How many seats cut, 2 to 4.

    Returns:
        For each round the cards by seat.

    Raises:
        ValueError: If an argument is out of range.
    """
    seed = check_seed(seed)
    _check_whole("game_number", game_number, 0, np.iinfo(np.int32).max)
    _check_whole("players", players, min(CARDS_DEALT), max(CARDS_DEALT))
    game_number, players = int(game_number), int(players)
    rounds: list[tuple[int, ...]] = []
    attempt = 0
    while True:
        cards = int(cut_cards(seed & WORD, seed >> 32, game_number, attempt, players))
        attempt += 1
        if cards == NO_CUT:
            continue
        rounds.append(tuple(cards >> 6 * seat & 63 for seat in range(players)))
        if lowest_cut(cards, players) != TIED:
            return tuple(rounds)


def _check_whole(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Raises ValueError unless *value* is a whole number in its range."""
    if not (is_whole(value) and low <= value and (high is None or value <= high)):
        allowed = f"{low} or more" if high is None else f"{low} to {high}"
        raise ValueError(f"{name}={named(value)}: allowed is a whole number, {allowed}")


@dataclass(frozen=True)
class MatchRules:
    """The rules of a match: how long it is, what a game counts, and who deals next.

    Just one of *games*, *best_of* and *race_to* is told.

    Raises:
        ValueError: If a value is not among those allowed, naming the field, the value and those.
    """

    games: int | None = None
    """So many games, all of them played. Most match points win the match; of equal ones most games
    won, then the spread."""
    best_of: int | None = None
    """Most games won of so many, over as soon as nobody can catch up; an even number may be
    drawn."""
    race_to: int | None = None
    """The first side with so many match points wins."""
    match_points: str | tuple[int, int, int, int] = "acc"
    """What the winner of a game scores (R29): a scheme by name, or (win, skunk, double, triple). Of
    three sides each loser pays by its own skunk; the winner takes it all."""
    next_dealer: NextDealer = "alternate"
    """Who deals the next game first (R3): ``"alternate"``, the seat at the left of who dealt the
    last one first; ``"loser"``; or ``"cut"``, a new cut."""
    first_dealer: int | Literal["cut"] = "cut"
    """Who deals the first game first: a seat, or ``"cut"``."""

    def __post_init__(self) -> None:
        """Checks every field."""
        told = {name: getattr(self, name) for name in LENGTHS if getattr(self, name) is not None}
        if len(told) != 1:
            given = ", ".join(f"{name}={named(value)}" for name, value in told.items()) or "none"
            raise ValueError(f"length of a match: {given}: allowed is one of {', '.join(LENGTHS)}")
        for name, value in told.items():
            _check_whole(f"MatchRules.{name}", value, 1)
        try:
            win = scheme_of(self.match_points)[0]
        except ValueError as error:
            raise ValueError(f"MatchRules.{error}") from None
        if self.race_to is not None and win == 0:
            raise ValueError(
                f"MatchRules.match_points={named(self.match_points)} with race_to={self.race_to}: "
                "allowed are schemes in which every win counts"
            )
        next_dealer: Any = self.next_dealer  # an array would compare entry by entry
        if not isinstance(next_dealer, str) or next_dealer not in NEXT_DEALERS:
            allowed = ", ".join(map(repr, NEXT_DEALERS))
            raise ValueError(f"MatchRules.next_dealer={named(next_dealer)}: allowed are {allowed}")
        self._check_first_dealer(MAX_PLAYERS)

    def _check_first_dealer(self, players: int) -> None:
        """Raises ValueError unless the first dealer is ``"cut"`` or one of so many seats."""
        seat: Any = self.first_dealer
        cut = isinstance(seat, str) and seat == "cut"
        if not cut and not (is_whole(seat) and 0 <= seat < players):
            raise ValueError(
                f"MatchRules.first_dealer={named(seat)}: allowed are 'cut' and a seat from 0 to "
                f"{players - 1}"
            )

    @property
    def scheme(self) -> tuple[int, int, int, int]:
        """The match points of a win, a skunk, a double and a triple skunk."""
        return scheme_of(self.match_points)

    def max_games(self, sides: int) -> int:
        """Returns how many games a match of so many sides can take at most."""
        if self.race_to is None:
            return int(self.games or self.best_of or 0)
        # Every side stands a win short of the end.
        wins = -(-self.race_to // ((sides - 1) * self.scheme[0]))
        return sides * (wins - 1) + 1


@dataclass(frozen=True)
class Standing:
    """One side's columns of a match; a skunk stands in the column of its own level alone (R28)."""

    won: int = 0
    """Games won."""
    lost: int = 0
    """Games lost."""
    skunks_given: int = 0
    """Losers that it skunked, of three sides two in a game at most."""
    double_skunks_given: int = 0
    """Losers that it skunked doubly."""
    triple_skunks_given: int = 0
    """Losers that it skunked triply."""
    skunks_taken: int = 0
    """Games in which it was skunked."""
    double_skunks_taken: int = 0
    """Games in which it was skunked doubly."""
    triple_skunks_taken: int = 0
    """Games in which it was skunked triply."""
    match_points: int = 0
    """Match points scored (R29); a loser scores none."""
    spread: int = 0
    """Final scores minus those of each other side, summed over sides and games."""

    def __add__(self, other: Standing) -> Standing:
        """Returns the columns of both taken together."""
        return Standing(*map(sum, zip(astuple(self), astuple(other), strict=True)))


COLUMNS = tuple(field.name for field in fields(Standing))
WON, LOST = COLUMNS.index("won"), COLUMNS.index("lost")
GIVEN, TAKEN = COLUMNS.index("skunks_given"), COLUMNS.index("skunks_taken")
POINTS, SPREAD = COLUMNS.index("match_points"), COLUMNS.index("spread")


@dataclass(frozen=True)
class GameResult:
    """How a game of a match ended."""

    first_dealer: int
    """The seat that dealt first."""
    scores: tuple[int, ...]
    """The final score of each side."""
    winner: int
    """The side that won."""


class Match:
    """The score of a match while it goes on, and who deals the next game.

    With a *seed* it knows every cut: it then names the dealers of the games that the lane of that
    seed plays, ``Games(1, rules, seed=[seed], first_dealer=match_rules.next_dealer)``, where the
    first game is cut for. Without one the cut is made elsewhere, and told to `record`.

    Args:
        match_rules: The rules of the match.
        rules: The rules of its games.
        seed: The seed of the lane that plays them, 0 to 2**64 - 1; None where the cut is told.

    Raises:
        ValueError: If the first dealer is no seat under these rules, or the seed out of range.
    """

    def __init__(
        self, match_rules: MatchRules, rules: RulesLike = None, seed: int | None = None
    ) -> None:
        """Begins a match without a game."""
        self.match_rules = match_rules
        self.rules: Rules = rules_of(rules)
        match_rules._check_first_dealer(self.rules.players)
        self._seed = None if seed is None else check_seed(seed)
        self._scheme = match_rules.scheme
        self._results: list[GameResult] = []
        self._columns = [[0] * len(COLUMNS) for _ in range(self.rules.sides)]
        self._find_dealer()

    @property
    def results(self) -> tuple[GameResult, ...]:
        """The games that have ended, in order."""
        return tuple(self._results)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The columns of each side."""
        return tuple(Standing(*columns) for columns in self._columns)

    @property
    def dealer(self) -> int | None:
        """The seat that deals the next game first.

        None where it is cut for and the match has no seed to cut by, and once the match is over.
        """
        return self._dealer

    @property
    def cuts(self) -> tuple[tuple[int, ...], ...]:
        """The cut for the next game's deal, as `cuts_for_deal` returns it; () where none is."""
        return self._cuts

    @property
    def leaders(self) -> tuple[int, ...]:
        """The side that is ahead; several where nothing tells them apart, all before a game."""
        ranks = [self._rank(side) for side in range(self.rules.sides)]
        return tuple(side for side, rank in enumerate(ranks) if rank == max(ranks))

    @property
    def over(self) -> bool:
        """Whether no game is to come."""
        rules, played = self.match_rules, len(self._results)
        if rules.race_to is not None:
            return max(columns[POINTS] for columns in self._columns) >= rules.race_to
        if rules.games is not None:
            return played >= rules.games
        assert rules.best_of is not None
        *_, second, first = sorted(columns[WON] for columns in self._columns)
        return first > second + rules.best_of - played or played >= rules.best_of

    @property
    def winner(self) -> int | None:
        """The side that has won the match; None before, and where it is drawn."""
        leaders = self.leaders
        return leaders[0] if self.over and len(leaders) == 1 else None

    def record(self, scores: Sequence[int], first_dealer: int | None = None) -> None:
        """Takes down how a game ended.

        Args:
            scores: The final score of each side; the winner's is the target (R27).
            first_dealer: The seat that dealt first; to be told where `dealer` is None.

        Raises:
            ValueError: If the match is over, no game ends so, or another seat was to deal; the
                match is unchanged.
        """
        if self.over:
            raise ValueError("match: it is over, no game is to come")
        given = self._checked_scores(scores)
        seat = self._checked_dealer(first_dealer)
        winner = given.index(self.rules.target)
        self._results.append(GameResult(seat, given, winner))
        total, points = sum(given), 0
        for side, columns in enumerate(self._columns):
            columns[SPREAD] += self.rules.sides * given[side] - total
            if side == winner:
                columns[WON] += 1
                continue
            columns[LOST] += 1
            level = skunk_level(given[side], self.rules.target, self.rules.triple_skunk)
            points += self._scheme[level]
            if level:
                columns[TAKEN + level - 1] += 1
                self._columns[winner][GIVEN + level - 1] += 1
        self._columns[winner][POINTS] += points
        self._find_dealer()

    def text(self, names: Sequence[str] | None = None) -> str:
        """Returns the columns of all sides as a table, a line a column.

        Args:
            names: The sides' names; by default their numbers.

        Raises:
            ValueError: If there is not one name a side.
        """
        sides = self.rules.sides
        heads = [f"side {side}" for side in range(sides)] if names is None else list(names)
        if len(heads) != sides:
            raise ValueError(f"names {named(heads)}: allowed is one for each of {sides} sides")
        rows = [("", *heads)]
        for place, name in enumerate(COLUMNS):
            values = [columns[place] for columns in self._columns]
            rows.append((name.replace("_", " "), *map(str, values)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            )
            for row in rows
        )

    def _rank(self, side: int) -> tuple[int, ...]:
        """Returns what the sides are ranked by, the first number first."""
        columns = self._columns[side]
        if self.match_rules.best_of is not None:
            return (columns[WON],)
        if self.match_rules.race_to is not None:
            return (columns[POINTS],)
        return (columns[POINTS], columns[WON], columns[SPREAD])

    def _find_dealer(self) -> None:
        """Sets who deals the next game first, and the cut that says so."""
        rules, results = self.match_rules, self._results
        self._cuts: tuple[tuple[int, ...], ...] = ()
        self._dealer: int | None = None
        if self.over:
            return
        if not results and rules.first_dealer != "cut":
            self._dealer = int(rules.first_dealer)
        elif results and rules.next_dealer == "alternate":
            self._dealer = (results[-1].first_dealer + 1) % self.rules.players
        elif results and rules.next_dealer == "loser":
            last = results[-1]
            self._dealer = loser_deals(
                last.scores, self.rules.players, self.rules.sides, last.first_dealer
            )
        elif self._seed is not None:
            self._cuts = cuts_for_deal(self._seed, len(results), self.rules.players)
            ranks = [card // 4 for card in self._cuts[-1]]
            self._dealer = ranks.index(min(ranks))

    def _checked_scores(self, scores: Sequence[int]) -> tuple[int, ...]:
        """Returns the scores of a game that is over.

        Raises:
            ValueError: If they are not.
        """
        sides, target = self.rules.sides, self.rules.target
        given = tuple(scores)
        whole = all(isinstance(one, (int, np.integer)) for one in given)
        if not (
            whole
            and len(given) == sides
            and given.count(target) == 1
            and all(0 <= one <= target for one in given)
        ):
            raise ValueError(
                f"scores={named(scores)}: allowed are {sides} whole numbers, one {target} and the "
                f"others 0 to {target - 1}"
            )
        return tuple(map(int, given))

    def _checked_dealer(self, seat: int | None) -> int:
        """Returns who dealt a game first.

        Raises:
            ValueError: If it is not told and not known, or was another's turn.
        """
        if seat is None:
            if self._dealer is None:
                raise ValueError("first_dealer: it was cut for: allowed is the seat that dealt")
            return self._dealer
        _check_whole("first_dealer", seat, 0, self.rules.players - 1)
        if self._dealer is not None and seat != self._dealer:
            raise ValueError(f"first_dealer={seat}: it was the turn of seat {self._dealer}")
        return int(seat)
