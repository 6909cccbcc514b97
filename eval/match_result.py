"""What a match gave: its figures, from the records of its games, and their form in JSON.

docs/evaluation.md says what each figure means. All intervals are over sets of games.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crib_env.game_record import Role, Source
from crib_env.rules import MATCH_POINTS, Rules
from eval import sets
from eval.bootstrap import bootstrapped, gap
from eval.stats import Estimate

Array = npt.NDArray[Any]

Points = Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class FirstDeal:
    """What one agent reached in the games in which it had one role in the first deal.

    It deals if one of its seats does.
    """

    win_rate: Estimate
    """Share of these games that it won."""
    skunk_rate: Estimate
    """Share of these games that it won by a skunk or more."""


@dataclass(frozen=True)
class Side:
    """One agent's part of a match. Rates are shares of all games, unless it says otherwise."""

    name: str
    """The agent's name."""
    mode: str
    """``"greedy"`` or ``"sample"``; ``"house"`` for a house player, which has one mode."""
    wins: int
    """Games won."""
    win_rate: Estimate
    """Share of games won, by whichever of its seats."""
    skunk_rate: Estimate
    """Share of games won by a skunk or more (the loser 31 points or more short of the target).

    With three players the loser is a seat of the other agent's: of B's two the one further behind.
    """
    double_skunk_rate: Estimate
    """Share of games won by a double skunk or more (61 points or more short)."""
    triple_skunk_rate: Estimate | None
    """Share of games won by a triple skunk (91 points or more short); None where the rules have
    none."""
    as_first_dealer: FirstDeal
    """The games in which it dealt first."""
    as_first_pone: FirstDeal
    """The games in which the other dealt first."""
    points: Points
    """Points pegged a game by role ("dealer", "pone") and source ("his_heels", ...), a score."""
    match_points: Mapping[str, Estimate]
    """Match points a game by scheme (`crib_env.rules.MATCH_POINTS`), a score."""


@dataclass(frozen=True)
class MatchResult:
    """What a match gave. All intervals are over sets of games."""

    a: Side
    """The first agent."""
    b: Side
    """The second agent."""
    games: int
    """Games played, whole sets."""
    seed: int
    """The seed; lane_seed(seed, i) dealt all games of set i."""
    rules: Rules
    """The rules of all games."""
    mean_margin: Estimate
    """A's final score minus B's, or minus the mean of B's two, points a game."""
    match_points_margin: Mapping[str, Estimate]
    """A's match points minus B's, or minus the mean of B's two, a game, by scheme."""
    deals_per_game: Estimate
    """Deals a game, the last counted however short."""
    pairing: Mapping[str, Estimate | None]
    """"wins" and "margin": games that sets need for each that independent games need, for the same
    interval; None where the games do not vary."""
    bootstrap: Mapping[str, Estimate | None]
    """Figures by their JSON key with the interval of `eval.bootstrap`; None where all sets are
    equal, of which it can make nothing."""
    seconds: float = field(compare=False)
    """How long the games and their statistics took."""
    results: Array = field(compare=False, repr=False)
    """(games,) records of `eval.play.result_type`, sets side by side: with two, games 2i and 2i + 1
    are pair i. A is agent 0 and, of four, also agent 2."""

    @property
    def chance(self) -> float:
        """The share of games that A wins if it is as strong as B."""
        return 1 / self.rules.sides

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The figures that the bootstrap checks, by their JSON key."""
        a, b = self.a, self.b
        figures = {
            "a_win_rate": a.win_rate,
            "a_skunk_rate": a.skunk_rate,
            "b_skunk_rate": b.skunk_rate,
            "a_double_skunk_rate": a.double_skunk_rate,
            "b_double_skunk_rate": b.double_skunk_rate,
            "a_triple_skunk_rate": a.triple_skunk_rate,
            "b_triple_skunk_rate": b.triple_skunk_rate,
            "mean_margin": self.mean_margin,
        }
        return {name: figure for name, figure in figures.items() if figure is not None}

    def gap(self, name: str) -> float | None:
        """Returns how far a figure's two intervals lie apart (`eval.bootstrap.gap`).

        Args:
            name: A key of `estimates`.

        Returns:
            None where the bootstrap can make nothing of it.
        """
        resampled = self.bootstrap[name]
        return None if resampled is None else gap(self.estimates[name], resampled)

    def to_json(self) -> dict[str, Any]:
        """Returns the figures under the keys that docs/evaluation.md lists."""
        a, b = self.a, self.b
        return {
            "a": a.name,
            "b": b.name,
            "games": self.games,
            "a_win_rate": a.win_rate.value,
            "ci95": a.win_rate.ci95,
            "a_skunk_rate": a.skunk_rate.value,
            "b_skunk_rate": b.skunk_rate.value,
            "a_double_skunk_rate": a.double_skunk_rate.value,
            "b_double_skunk_rate": b.double_skunk_rate.value,
            "a_triple_skunk_rate": _value(a.triple_skunk_rate),
            "b_triple_skunk_rate": _value(b.triple_skunk_rate),
            "mean_margin": self.mean_margin.value,
            "margin_ci95": self.mean_margin.ci95,
            "deals_per_game": self.deals_per_game.value,
            "deals_ci95": self.deals_per_game.ci95,
            "a_wins": a.wins,
            "b_wins": b.wins,
            "a_mode": a.mode,
            "b_mode": b.mode,
            "seed": self.seed,
            "rules": asdict(self.rules),
            "a_skunk_ci95": a.skunk_rate.ci95,
            "b_skunk_ci95": b.skunk_rate.ci95,
            "a_double_skunk_ci95": a.double_skunk_rate.ci95,
            "b_double_skunk_ci95": b.double_skunk_rate.ci95,
            "a_triple_skunk_ci95": _ci95(a.triple_skunk_rate),
            "b_triple_skunk_ci95": _ci95(b.triple_skunk_rate),
            "first_deal": {"a": _first_deals_json(a), "b": _first_deals_json(b)},
            "points": {"a": _points_json(a.points), "b": _points_json(b.points)},
            "match_points": {
                scheme: {
                    "a": a.match_points[scheme].value,
                    "a_ci95": a.match_points[scheme].ci95,
                    "b": b.match_points[scheme].value,
                    "b_ci95": b.match_points[scheme].ci95,
                    "margin": margin.value,
                    "margin_ci95": margin.ci95,
                }
                for scheme, margin in self.match_points_margin.items()
            },
            "pairing": {
                name: {"value": _value(worth), "ci95": _ci95(worth)}
                for name, worth in self.pairing.items()
            },
            "bootstrap": {
                name: {"ci95": _ci95(interval), "gap": self.gap(name)}
                for name, interval in self.bootstrap.items()
            },
            "seconds": round(self.seconds, 3),
        }


class Named(Protocol):
    """What figures say of a player: an `Agent`, or one known from a ledger."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def shown_mode(self) -> str:
        """``"greedy"``, ``"sample"`` or ``"house"``."""
        ...


def measured(
    a: Named, b: Named, seed: int, rules: Rules, results: Array, start: float
) -> MatchResult:
    """Returns what a match gave.

    Args:
        a: The first agent.
        b: The second agent.
        seed: The match's seed; that of the bootstrap's resamples too.
        rules: The rules of all games.
        results: (games,) records of `eval.play.result_type`, whole sets, side by side.
        start: When the first game began, by time.perf_counter.
    """
    size, most = rules.sides, float(rules.target)
    scores = results["scores"].astype(np.int64)
    margin = scores[:, 0] - scores[:, 1:].mean(axis=1)
    won, level = results["winner"] == 0, _levels(results, rules)
    taken = {scheme: _match_points(results, rules, scheme) for scheme in MATCH_POINTS}
    # What is drawn again to check the intervals.
    values: dict[str, Array] = {"a_win_rate": won, "mean_margin": margin}
    for number, name in enumerate(("skunk", "double_skunk", "triple_skunk"), 1):
        if number < 3 or rules.triple_skunk:
            values[f"a_{name}_rate"] = won & (level >= number)
            values[f"b_{name}_rate"] = ~won & (level >= number)
    result = MatchResult(
        a=_side(a, True, results, level, taken, rules),
        b=_side(b, False, results, level, taken, rules),
        games=len(results),
        seed=seed,
        rules=rules,
        mean_margin=sets.mean(margin, size, -most, most),
        match_points_margin={
            scheme: _mean_points(points * np.where(won, 1, -1 / (size - 1)), scheme, rules)
            for scheme, points in taken.items()
        },
        deals_per_game=sets.mean(results["deals"], size, 1, most_deals(results["deals"], rules)),
        pairing={"wins": sets.pairing(won, size), "margin": sets.pairing(margin, size)},
        bootstrap={
            name: _over_games(bootstrapped(sets.totals(value, size), seed), size)
            for name, value in values.items()
        },
        seconds=0,
        results=results,
    )
    return replace(result, seconds=time.perf_counter() - start)


def _levels(results: Array, rules: Rules) -> Array:
    """Returns how far the loser of each game was skunked, (G,); of B's two the one further behind.

    Args:
        results: (G,) records of `eval.play.result_type`.
        rules: The rules of all games.
    """
    scores = results["scores"]
    beaten = np.where(results["winner"] == 0, scores[:, 1:].min(axis=1), scores[:, 0])
    return np.asarray(rules.skunk_level(beaten))


def _match_points(results: Array, rules: Rules, scheme: str) -> Array:
    """Returns the match points that the winner of each game scores, (G,); each loser pays (R29)."""
    points = np.array(MATCH_POINTS[scheme])[rules.skunk_level(results["scores"])]
    points[np.arange(len(points)), results["winner"]] = 0
    return np.asarray(points.sum(axis=1))


def _mean_points(points: Array, scheme: str, rules: Rules) -> Estimate:
    """Returns the mean of match points a game, (G,), below 0 where they are lost."""
    most = float(max(MATCH_POINTS[scheme]) * (rules.sides - 1))
    return sets.mean(points, rules.sides, -most if points.min() < 0 else 0, most)


def _side(
    agent: Named, is_a: bool, results: Array, level: Array, taken: Mapping[str, Array], rules: Rules
) -> Side:
    """Returns one agent's part of a match.

    Args:
        agent: A or B.
        is_a: Which.
        results: (G,) records of `eval.play.result_type`.
        level: (G,) of `_levels`.
        taken: (G,) by scheme, of `_match_points`.
        rules: The rules of all games.
    """
    size = rules.sides
    won = (results["winner"] == 0) == is_a
    dealt = (results["first_dealer"] % size == 0) == is_a
    places = np.flatnonzero((np.arange(rules.players) % size == 0) == is_a)
    held = 1 if is_a else size - 1
    return Side(
        name=agent.name,
        mode=agent.shown_mode,
        wins=int(won.sum()),
        win_rate=sets.rate(won, size),
        skunk_rate=sets.rate(won & (level >= 1), size),
        double_skunk_rate=sets.rate(won & (level >= 2), size),
        triple_skunk_rate=sets.rate(won & (level >= 3), size) if rules.triple_skunk else None,
        as_first_dealer=_first_deal(won[dealt], level[dealt], held),
        as_first_pone=_first_deal(won[~dealt], level[~dealt], size - held),
        points={
            role.name.lower(): {
                source.name.lower(): sets.mean(
                    results["points"][:, places, source, role].sum(axis=1) / held,
                    size,
                    0,
                    rules.target,
                )
                for source in sources
            }
            for role, sources in sources_by_role(rules).items()
        },
        match_points={
            scheme: _mean_points(points * won / held, scheme, rules)
            for scheme, points in taken.items()
        },
    )


def most_deals(deals: Array, rules: Rules) -> float:
    """Returns a bound on the deals of a game, (games,); with muggins a deal may peg nothing."""
    return max(rules.max_deals, int(deals.max()))


def sources_by_role(rules: Rules) -> dict[Role, tuple[Source, ...]]:
    """Returns what each role can peg points for; a pone has no heels and no crib."""
    called = (Source.MUGGINS,) if rules.muggins != "none" else ()
    return {
        Role.DEALER: (Source.HIS_HEELS, Source.PEGGING, Source.HAND, Source.CRIB, *called),
        Role.PONE: (Source.PEGGING, Source.HAND, *called),
    }


def _first_deal(won: Array, level: Array, size: int) -> FirstDeal:
    """Returns the rates of the games with one first dealer, of which each set has *size*."""
    return FirstDeal(sets.rate(won, size), sets.rate(won & (level >= 1), size))


def _first_deals_json(side: Side) -> dict[str, Any]:
    """Returns the rates of one agent by its role in the first deal, for JSON."""
    return {
        role: {
            "win_rate": first.win_rate.value,
            "ci95": first.win_rate.ci95,
            "skunk_rate": first.skunk_rate.value,
            "skunk_ci95": first.skunk_rate.ci95,
        }
        for role, first in (("dealer", side.as_first_dealer), ("pone", side.as_first_pone))
    }


def _over_games(total: Estimate | None, size: int) -> Estimate | None:
    """Returns the mean a game, given that of the totals of sets."""
    if total is None:
        return None
    return Estimate(total.value / size, total.low / size, total.high / size)


def _value(estimate: Estimate | None) -> float | None:
    """Returns a figure for JSON, null where there is none."""
    return None if estimate is None else estimate.value


def _ci95(estimate: Estimate | None) -> list[float] | None:
    """Returns an interval for JSON, null where there is none."""
    return None if estimate is None else estimate.ci95


def _points_json(points: Points) -> dict[str, Any]:
    """Returns points a game by role and source, for JSON."""
    return {
        role: {source: estimate.value for source, estimate in sources.items()}
        for role, sources in points.items()
    }
