"""`Rules`: what may vary between games, checked once; the numbers that follow from it.

The rule book itself is `game.py`; it reads these as fields of the record, never as globals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from crib_env.checks import are_whole_numbers, is_whole, named

MAX_TARGET = 121
FIVE_CARD_START = 3  # what pone of a five-card game's first deal starts with

# How many cards a seat may be dealt, by the number of players.
CARDS_DEALT = {2: (5, 6), 3: (5,), 4: (5,)}

# What must be claimed instead of being counted for one, in the order of the record's codes.
MUGGINS_MODES = ("none", "show", "full")

# Game points of a match for (win, skunk, double skunk, triple skunk), by the name of the scheme.
MATCH_POINTS = {
    "acc": (2, 3, 3, 3),
    "long": (3, 4, 4, 4),
    "home": (1, 2, 2, 2),
    "free": (1, 2, 3, 3),
    "free_triple": (1, 2, 3, 4),
    "doubles": (1, 2, 4, 4),
}


def _whole(name: str, value: Any, low: int, high: int, where: str = "") -> int:
    """Returns *value* as an int.

    Raises:
        ValueError: If it is no whole number from *low* to *high*.
    """
    if not is_whole(value) or not low <= value <= high:
        allowed = f"{low}" if low == high else f"{low} to {high}"
        raise ValueError(f"Rules.{name}={named(value)}: allowed is {allowed}{where}")
    return int(value)


@dataclass(frozen=True)
class Rules:
    """The rules of a game; the default is two players, six cards, to 121.

    `PRESETS` has those that go by a name.

    Raises:
        ValueError: If a value is not among those allowed, naming the field, the value and those.
    """

    players: int = 2
    """How many seats play: 2, 3, or 4 in partnership, those opposite together."""
    cards_dealt: int = 6
    """How many cards each seat is dealt: 6 or, in the five-card game, 5 with two players (R31); 5
    with more."""
    target: int = 121
    """The score that wins the game: 1 to 121, in the five-card game 4 to 121 (R30)."""
    triple_skunk: bool = False
    """Whether a loser 91 or more short of the target is skunked three times over."""
    muggins: str = "none"
    """What a player must claim, and others may call what it missed: "none"; "show", hands and
    cribs; "full", also what each card and each go pegs (R41 to R45)."""
    muggins_penalty: bool = True
    """Whether the next player pegs what a claim is too high by (R43)."""

    def __post_init__(self) -> None:
        """Checks every field; makes ints of NumPy's whole numbers, of which small ones overflow."""
        players = _whole("players", self.players, min(CARDS_DEALT), max(CARDS_DEALT))
        object.__setattr__(self, "players", players)
        dealt, where = CARDS_DEALT[players], f" with {players} players"
        cards_dealt = _whole("cards_dealt", self.cards_dealt, dealt[0], dealt[-1], where)
        object.__setattr__(self, "cards_dealt", cards_dealt)
        least = FIVE_CARD_START + 1 if self.is_five_card else 1
        object.__setattr__(self, "target", _whole("target", self.target, least, MAX_TARGET))
        # Of users: a list, say, compares with no name.
        mode: Any = self.muggins
        if not isinstance(mode, str) or mode not in MUGGINS_MODES:
            allowed = ", ".join(map(repr, MUGGINS_MODES))
            raise ValueError(f"Rules.muggins={named(mode)}: allowed are {allowed}")
        for name in ("triple_skunk", "muggins_penalty"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"Rules.{name}={named(value)}: allowed are True and False")

    @property
    def is_five_card(self) -> bool:
        """Whether this is the old game of two players and five cards: one count, and no restart."""
        return self.players == 2 and self.cards_dealt == 5

    @property
    def has_win_probability(self) -> bool:
        """Whether `tables.WIN_PROBABILITY` and `DEAL_STARTS` are of these rules."""
        return self.players == 2 and not self.is_five_card

    @property
    def num_discards(self) -> int:
        """How many cards each seat throws to the crib."""
        return 2 if self.players == 2 else 1

    @property
    def num_kept(self) -> int:
        """How many cards each seat keeps for the play and the show."""
        return self.cards_dealt - self.num_discards

    @property
    def crib_from_pack(self) -> int:
        """How many cards the pack adds to the crib so that it has four."""
        return 4 - self.players * self.num_discards

    @property
    def sides(self) -> int:
        """How many scores there are: partners share one in a game of four."""
        return 3 if self.players == 3 else 2

    @property
    def num_actions(self) -> int:
        """The size of the action space: an action is a card, or with muggins one of 32 claims."""
        return 52 if self.muggins == "none" else 84

    @property
    def max_deals(self) -> int:
        """A bound on the deals of a game: each deal pegs a point or more (R11).

        Under ``muggins="full"`` only where no claim is too low without a call.
        """
        return self.sides * self.target + 1

    def skunk_level(self, loser_score: Any) -> Any:
        """Returns 0 for a plain loss, 1 for a skunk, 2 for a double and 3 for a triple skunk (R28).

        Args:
            loser_score: One score, or an integer array of them.
        """
        level = np.asarray(skunk_level(np.asarray(loser_score), self.target, self.triple_skunk))
        return level if level.ndim else int(level)

    def match_points(self, loser_score: int, scheme: str | Sequence[int] = "acc") -> int:
        """Returns what the winner of a game scores in a match (R29); the loser scores nothing.

        Args:
            loser_score: The loser's score.
            scheme: A name of `MATCH_POINTS`, or (win, skunk, double, triple).

        Raises:
            ValueError: If the scheme is unknown, or not of four whole numbers that do not fall.
        """
        return scheme_of(scheme)[self.skunk_level(loser_score)]


def skunk_level(loser_score: Any, target: int, triple_skunk: int) -> Any:
    """Returns `Rules.skunk_level`, for arrays here and compiled for one score in episode.py."""
    skunk = 1 * (loser_score < target - 30)
    double = 1 * (loser_score < target - 60)
    triple = triple_skunk * (loser_score < target - 90)
    return skunk + double + triple


def loser_deals(scores: Any, players: int, sides: int, first_dealer: int) -> int:
    """Returns the seat that deals the next game first where the loser does (R3).

    It is of the side with the fewest points; of several such seats it is the first to the left of
    who dealt the game first. Plain here, and compiled for a record in game.py.

    Args:
        scores: The scores at the end of the game, by side.
        players: How many seats play.
        sides: How many scores there are.
        first_dealer: The seat that dealt the game first.
    """
    dealer = (first_dealer + 1) % players
    for step in range(2, players + 1):
        seat = (first_dealer + step) % players
        if scores[seat % sides] < scores[dealer % sides]:
            dealer = seat
    return dealer


def scheme_of(match_points: str | Sequence[int]) -> tuple[int, int, int, int]:
    """Returns the match points of (win, skunk, double, triple) by a scheme (R29).

    Args:
        match_points: A name of `MATCH_POINTS`, or the four numbers.

    Raises:
        ValueError: If it is no such name, or not four whole numbers from 0 that do not fall.
    """
    if isinstance(match_points, str) and match_points in MATCH_POINTS:
        return MATCH_POINTS[match_points]
    if (
        are_whole_numbers(match_points, 4)
        and match_points[0] >= 0
        and list(match_points) == sorted(match_points)
    ):
        win, skunk, double, triple = map(int, match_points)
        return win, skunk, double, triple
    raise ValueError(
        f"match_points={named(match_points)}: allowed are {', '.join(map(repr, MATCH_POINTS))}, "
        "and four whole numbers that do not fall: win, skunk, double, triple"
    )


RulesLike: TypeAlias = Rules | str | Mapping[str, Any] | None

# The variants that go by a name.
PRESETS = {
    "six_card": Rules(),
    "short": Rules(target=61),
    "five_card": Rules(cards_dealt=5, target=61),
    "three_player": Rules(players=3, cards_dealt=5),
    "four_player": Rules(players=4, cards_dealt=5),
}


def rules_of(rules: RulesLike) -> Rules:
    """Returns rules however they are told: as such, by name, as a mapping of fields, or by default.

    Raises:
        ValueError: If there is no such name, or a field or value is not allowed.
    """
    if rules is None:
        return Rules()
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str) and rules in PRESETS:
        return PRESETS[rules]
    if isinstance(rules, Mapping):
        known = [field.name for field in fields(Rules)]
        if not set(rules) <= set(known):
            raise ValueError(f"rules={named(rules)}: allowed are {', '.join(known)}")
        return Rules(**rules)
    presets = ", ".join(map(repr, PRESETS))
    raise ValueError(
        f"rules={named(rules)}: allowed are a crib_env.Rules, {presets}, a mapping of fields"
    )
