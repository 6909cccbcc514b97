"""Two agents against each other: the same cards played twice with the seats exchanged.

``python -m eval.match A B --games N --seed S [--json FILE]``; docs/evaluation.md says what the
figures mean.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.table import Table

from agents.agent import Agent, make
from crib_env.game_record import Role, Source
from crib_env.loops import OUTSIDE
from crib_env.luck import check_seed
from crib_env.records import lane_seeds
from crib_env.rules import Rules
from eval.play import LANES, OnProgress, limit_threads, play_games, progress_bar
from eval.provenance import check_writable, keep_json, origin
from eval.stats import Estimate, mean_estimate, pair_rate

Array = npt.NDArray[Any]

# What each role can peg points for; a pone has no heels and no crib.
SOURCES = {
    Role.DEALER: (Source.HIS_HEELS, Source.PEGGING, Source.HAND, Source.CRIB),
    Role.PONE: (Source.PEGGING, Source.HAND),
}

HOUSE = "house"  # the mode of a player that has none to choose

Points = Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class FirstDeal:
    """What one agent reached in the games in which it had one role in the first deal."""

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
    """Share of games won."""
    skunk_rate: Estimate
    """Share of games won by a skunk or more (the loser 31 points or more short of the target)."""
    double_skunk_rate: Estimate
    """Share of games won by a double skunk or more (61 points or more short)."""
    as_first_dealer: FirstDeal
    """The half of the games in which it dealt first."""
    as_first_pone: FirstDeal
    """The half of the games in which the other dealt first."""
    points: Points
    """Points pegged a game by role ("dealer", "pone") and source ("his_heels", ...)."""


@dataclass(frozen=True)
class MatchResult:
    """What a match gave. All intervals are over pairs of games."""

    a: Side
    """The first agent."""
    b: Side
    """The second agent."""
    games: int
    """Games played, twice the number of pairs."""
    seed: int
    """The seed; lane_seed(seed, i) dealt both games of pair i."""
    rules: Rules
    """The rules of all games."""
    mean_margin: Estimate
    """A's final score minus B's, points a game."""
    deals_per_game: Estimate
    """Deals a game, the last counted however short."""
    seconds: float = field(compare=False)
    """How long the games and their statistics took."""
    results: Array = field(compare=False, repr=False)
    """(games,) records of `eval.play.result_type`; A is agent 0, games 2i and 2i + 1 are pair i."""

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
            "first_deal": {"a": _first_deals_json(a), "b": _first_deals_json(b)},
            "points": {"a": _points_json(a.points), "b": _points_json(b.points)},
            "seconds": round(self.seconds, 3),
        }


def check_games(games: int) -> None:
    """Refuses a number of games that cannot be played in pairs.

    Raises:
        ValueError: If it is odd or below 2.
    """
    if games < 2 or games % 2:
        raise ValueError(f"games={games}: allowed is an even number from 2, as games come in pairs")


def play_match(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    rules: Rules | None = None,
    lanes: int = LANES,
    on_progress: OnProgress | None = None,
) -> MatchResult:
    """Plays a match in pairs of games: the same cards, A dealing first in one and B in the other.

    Cards belong to roles: in deal d of the second game each has the cards that the other had in
    deal d of the first. The luck of a player that draws belongs to roles too, so an agent against
    itself splits every pair exactly.

    Args:
        a: The first agent.
        b: The second agent.
        games: How many games, an even number.
        seed: Pair i is dealt by lane_seed(seed, i), whoever plays: matches share their cards.
        rules: The rules of all games.
        lanes: How many games are played at a time; no result depends on it.
        on_progress: Told now and then how many more games have ended.

    Raises:
        ValueError: If *games* is odd or below 2, or the seed is out of range.
    """
    check_games(games)
    games, seed = int(games), check_seed(seed)
    rules = rules or Rules()
    pairs = games // 2
    seeds = np.repeat(lane_seeds(seed, pairs), 2)
    seats = np.tile(np.array([[0, 1], [1, 0]], np.int8), (pairs, 1))
    start = time.perf_counter()
    results = play_games([a, b], seats, seeds, rules, lanes, on_progress)
    scores = results["scores"].astype(np.int64)
    most = float(rules.target)
    result = MatchResult(
        a=_side(a, 0, results, rules),
        b=_side(b, 1, results, rules),
        games=games,
        seed=seed,
        rules=rules,
        mean_margin=_pair_mean(scores[:, 0] - scores[:, 1], -most, most),
        deals_per_game=_pair_mean(results["deals"], 1, rules.max_deals),
        seconds=0,
        results=results,
    )
    return replace(result, seconds=time.perf_counter() - start)


def _side(agent: Agent, number: int, results: Array, rules: Rules) -> Side:
    """Returns one agent's part of a match from the games' results."""
    won = results["winner"] == number
    level = rules.skunk_level(results["scores"].min(axis=1))
    dealt = results["first_dealer"] == number
    return Side(
        name=agent.name,
        mode=agent.mode if agent.bot == OUTSIDE else HOUSE,
        wins=int(won.sum()),
        win_rate=_pair_rate(won),
        skunk_rate=_pair_rate(won & (level >= 1)),
        double_skunk_rate=_pair_rate(won & (level >= 2)),
        as_first_dealer=_first_deal(won[dealt], level[dealt]),
        as_first_pone=_first_deal(won[~dealt], level[~dealt]),
        points={
            role.name.lower(): {
                source.name.lower(): _pair_mean(
                    results["points"][:, number, source, role], 0, rules.target
                )
                for source in sources
            }
            for role, sources in SOURCES.items()
        },
    )


def _pair_rate(happened: Array) -> Estimate:
    """Returns the rate at which something happened, (games,) bool, pairs side by side."""
    none, one, both = np.bincount(happened.reshape(-1, 2).sum(axis=1), minlength=3)
    return pair_rate(int(none), int(one), int(both))


def _pair_mean(values: Array, low: float, high: float) -> Estimate:
    """Returns the mean of a number a game, (games,), pairs side by side; it lies in [low, high]."""
    means = values.reshape(-1, 2).mean(axis=1)
    variance = float(means.var(ddof=1)) if len(means) > 1 else 0.0
    return mean_estimate(len(means), float(means.mean()), variance, low, high)


def _first_deal(won: Array, level: Array) -> FirstDeal:
    """Returns the rates of the games with one first dealer, of which each pair has just one."""
    skunks = int((won & (level >= 1)).sum())
    wins, games = int(won.sum()), len(won)
    return FirstDeal(pair_rate(games - wins, 0, wins), pair_rate(games - skunks, 0, skunks))


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


def _points_json(points: Points) -> dict[str, Any]:
    """Returns points a game by role and source, for JSON."""
    return {
        role: {source: estimate.value for source, estimate in sources.items()}
        for role, sources in points.items()
    }


def match_table(result: MatchResult) -> Table:
    """Returns a match as a table, a column for each agent, an interval beside each figure."""
    a, b = result.a, result.b
    table = Table()
    table.add_column(f"{result.games:,} games, seed {result.seed}")
    table.add_column(f"A: {a.name} ({a.mode})", justify="right")
    table.add_column(f"B: {b.name} ({b.mode})", justify="right")

    def row(label: str, of_a: object, of_b: object) -> None:
        table.add_row(label, str(of_a), str(of_b))

    row("wins", f"{a.wins:,}", f"{b.wins:,}")
    row("win rate", a.win_rate, b.win_rate)
    row("  as first dealer", a.as_first_dealer.win_rate, b.as_first_dealer.win_rate)
    row("  as first pone", a.as_first_pone.win_rate, b.as_first_pone.win_rate)
    row("wins by a skunk or more", a.skunk_rate, b.skunk_rate)
    row("  as first dealer", a.as_first_dealer.skunk_rate, b.as_first_dealer.skunk_rate)
    row("  as first pone", a.as_first_pone.skunk_rate, b.as_first_pone.skunk_rate)
    row("wins by a double skunk", a.double_skunk_rate, b.double_skunk_rate)
    table.add_section()
    table.add_row("points pegged a game")
    for role, sources in a.points.items():
        for source, points in sources.items():
            row(f"  {role}: {source.replace('_', ' ')}", points, b.points[role][source])
    return table


def match_text(result: MatchResult) -> str:
    """Returns what a match shows beside its table, and what it does not, in words."""
    a, b, rate = result.a, result.b, result.a.win_rate
    if rate.low > 0.5:
        shown = f"A ({a.name}) wins more than half of its games against B ({b.name})."
    elif rate.high < 0.5:
        shown = f"B ({b.name}) wins more than half of its games against A ({a.name})."
    else:
        shown = "These games do not tell who is stronger: the interval holds 0.5."
    return (
        f"margin A - B {result.mean_margin} points a game; {result.deals_per_game} deals a game\n"
        f"[low, high] are 95 % intervals over {result.games // 2:,} pairs; "
        f"{result.seconds:.1f} seconds\n{shown}"
    )


@dataclass(frozen=True)
class Options:
    """Plays two agents against each other, the same cards twice with the seats exchanged."""

    a: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="A")]
    """First agent: random, greedy, expert, careless or checkpoint:PATH."""
    b: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="B")]
    """Second agent."""
    games: int = 10_000
    """How many games, an even number."""
    seed: int = 0
    """The seed of all cards, and of the luck of players that draw."""
    json: Path | None = None
    """Write the result to this file."""
    mode: Literal["greedy", "sample"] = "greedy"
    """How networks choose: the most probable action, or one drawn."""
    b_mode: Literal["greedy", "sample"] | None = None
    """How B chooses, if not as A."""
    target: int = 121
    """The score that wins a game."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0, 1 if the result could be shown but not written, 2 if refused, 130 if interrupted.
    """
    limit_threads()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = tyro.cli(Options, prog="python -m eval.match", args=arguments)
    try:
        check_games(options.games)
        rules = Rules(target=options.target)
        check_seed(options.seed)
        if options.json:
            check_writable(options.json)
        a = make(options.a, rules, options.mode)
        b = make(options.b, rules, options.b_mode or options.mode)
    except (ValueError, OSError) as error:
        print(f"eval.match: {error}", file=sys.stderr)
        return 2
    try:
        with progress_bar(f"{a.name} v {b.name}", options.games) as on_progress:
            result = play_match(a, b, options.games, options.seed, rules, on_progress=on_progress)
    except KeyboardInterrupt:
        print("eval.match: interrupted, nothing written", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"eval.match: games={options.games}: more than memory holds", file=sys.stderr)
        return 2
    # Names and intervals hold brackets, which are no markup.
    console = Console(markup=False, highlight=False)
    console.print(match_table(result))
    console.print(match_text(result))
    if options.json:
        about = origin("eval.match", arguments)
        return keep_json(options.json, result.to_json() | about, "eval.match")
    return 0


if __name__ == "__main__":
    sys.exit(main())
