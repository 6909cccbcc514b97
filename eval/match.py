"""Two agents against each other: the same cards played again with the seats exchanged.

``python -m eval.match A B --games N --seed S [--rules RULES] [--json FILE]``; docs/evaluation.md
says what the figures mean. Games come in sets with the same cards, a game for each side that there
is: A plays one side and B every other, and in each game of a set A's is another. With two players,
or four as partners, a set is a pair; with three A sits at each seat in turn, and B at two.
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
from crib_env.notation.archive import Archive
from crib_env.records import lane_seeds
from crib_env.rules import Rules, RulesLike, rules_of
from eval.play import (
    LANES,
    OnProgress,
    OnTranscript,
    keeper_of,
    limit_threads,
    play_games,
    progress_bar,
)
from eval.provenance import check_writable, keep_json, origin
from eval.rules_flag import RulesFlag, RulesRefused
from eval.stats import Estimate, mean_estimate, pair_rate, set_rate

Array = npt.NDArray[Any]

GAMES = 10_000  # of a match, unless it is told

HOUSE = "house"  # the mode of a player that has none to choose

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
    as_first_dealer: FirstDeal
    """The games in which it dealt first."""
    as_first_pone: FirstDeal
    """The games in which the other dealt first."""
    points: Points
    """Points pegged a game by role ("dealer", "pone") and source ("his_heels", ...), a score."""


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
    deals_per_game: Estimate
    """Deals a game, the last counted however short."""
    seconds: float = field(compare=False)
    """How long the games and their statistics took."""
    results: Array = field(compare=False, repr=False)
    """(games,) records of `eval.play.result_type`, sets side by side: with two, games 2i and 2i + 1
    are pair i. A is agent 0 and, of four, also agent 2."""

    @property
    def chance(self) -> float:
        """The share of games that A wins if it is as strong as B."""
        return 1 / self.rules.sides

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


def check_games(games: int, rules: Rules) -> None:
    """Refuses a number of games that cannot be played in sets.

    Raises:
        ValueError: If it is none of whole sets.
    """
    size = rules.sides
    if games < size or games % size:
        if size == 2:
            allowed = "an even number from 2, as games come in pairs"
        else:
            allowed = f"a multiple of {size}, as games come in sets of {size}"
        raise ValueError(f"games={games}: allowed is {allowed}")


def play_match(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    rules: RulesLike = None,
    lanes: int = LANES,
    on_progress: OnProgress | None = None,
    on_transcript: OnTranscript | None = None,
) -> MatchResult:
    """Plays a match in sets of games with the same cards: A each side in turn, B all others.

    Cards belong to roles: in deal d of the second game of a pair each has the cards that the other
    had in deal d of the first. The luck of a player that draws belongs to roles too, so an agent
    against itself splits every set exactly.

    Args:
        a: The first agent.
        b: The second agent.
        games: How many games: an even number, with three players a multiple of three.
        seed: Set i is dealt by lane_seed(seed, i), whoever plays: matches share their cards.
        rules: The rules of all games.
        lanes: How many games are played at a time; no result depends on it.
        on_progress: Told now and then how many more games have ended.
        on_transcript: Given each game written down, as `eval.play.play_games` gives it.

    Raises:
        ValueError: If *games* is none of whole sets, or the seed is out of range.
    """
    rules = rules_of(rules)
    check_games(games, rules)
    games, seed = int(games), check_seed(seed)
    size = rules.sides
    seeds = np.repeat(lane_seeds(seed, games // size), size)
    order = np.arange(rules.players, dtype=np.int8)
    seats = np.tile(np.stack([np.roll(order, game) for game in range(size)]), (games // size, 1))
    agents = [b if place % size else a for place in range(rules.players)]
    start = time.perf_counter()
    results = play_games(agents, seats, seeds, rules, lanes, on_progress, on_transcript)
    scores = results["scores"].astype(np.int64)
    most = float(rules.target)
    margin = scores[:, 0] - scores[:, 1:].mean(axis=1)
    result = MatchResult(
        a=_side(a, True, results, rules),
        b=_side(b, False, results, rules),
        games=games,
        seed=seed,
        rules=rules,
        mean_margin=_set_mean(margin, size, -most, most),
        deals_per_game=_set_mean(results["deals"], size, 1, most_deals(results["deals"], rules)),
        seconds=0,
        results=results,
    )
    return replace(result, seconds=time.perf_counter() - start)


def _side(agent: Agent, is_a: bool, results: Array, rules: Rules) -> Side:
    """Returns one agent's part of a match from the games' results."""
    size = rules.sides
    scores = results["scores"]
    won = (results["winner"] == 0) == is_a
    level = rules.skunk_level(scores[:, 1:].min(axis=1) if is_a else scores[:, 0])
    dealt = (results["first_dealer"] % size == 0) == is_a
    places = np.flatnonzero((np.arange(rules.players) % size == 0) == is_a)
    held = 1 if is_a else size - 1
    return Side(
        name=agent.name,
        mode=agent.mode if agent.bot == OUTSIDE else HOUSE,
        wins=int(won.sum()),
        win_rate=_set_rate(won, size),
        skunk_rate=_set_rate(won & (level >= 1), size),
        double_skunk_rate=_set_rate(won & (level >= 2), size),
        as_first_dealer=_first_deal(won[dealt], level[dealt], held),
        as_first_pone=_first_deal(won[~dealt], level[~dealt], size - held),
        points={
            role.name.lower(): {
                source.name.lower(): _set_mean(
                    results["points"][:, places, source, role].sum(axis=1) / held,
                    size,
                    0,
                    rules.target,
                )
                for source in sources
            }
            for role, sources in sources_by_role(rules).items()
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


def _set_rate(happened: Array, size: int) -> Estimate:
    """Returns the rate of what happened, (games,) bool, the *size* games of a set in turn."""
    counts = np.bincount(happened.reshape(-1, size).sum(axis=1), minlength=size + 1).tolist()
    if size == 1:
        return pair_rate(counts[0], 0, counts[1])
    return pair_rate(*counts) if size == 2 else set_rate(counts)


def _set_mean(values: Array, size: int, low: float, high: float) -> Estimate:
    """Returns the mean of a number a game, (games,), *size* games of a set in turn.

    It lies in [low, high].
    """
    means = values.reshape(-1, size).mean(axis=1)
    variance = float(means.var(ddof=1)) if len(means) > 1 else 0.0
    return mean_estimate(len(means), float(means.mean()), variance, low, high)


def _first_deal(won: Array, level: Array, size: int) -> FirstDeal:
    """Returns the rates of the games with one first dealer, of which each set has *size*."""
    return FirstDeal(_set_rate(won, size), _set_rate(won & (level >= 1), size))


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
    three = result.rules.sides == 3
    if rate.low > result.chance:
        share = "a third" if three else "half"
        shown = f"A ({a.name}) wins more than {share} of its games against B ({b.name})."
    elif rate.high < result.chance:
        share = "two thirds" if three else "half"
        shown = f"B ({b.name}) wins more than {share} of its games against A ({a.name})."
    else:
        chance = "1/3" if three else "0.5"
        shown = f"These games do not tell who is stronger: the interval holds {chance}."
    if three:
        low, high = 100 * rate.low, 100 * rate.high
        first = f"A is first in {100 * rate.value:.1f} % [{low:.1f}, {high:.1f}]"
        shown = f"{first} of the games, chance {100 * result.chance:.1f} %\n{shown}"
    sets = "sets of three games" if three else "pairs"
    return (
        f"margin A - B {result.mean_margin} points a game; {result.deals_per_game} deals a game\n"
        f"[low, high] are 95 % intervals over {result.games // result.rules.sides:,} {sets}; "
        f"{result.seconds:.1f} seconds\n{shown}"
    )


@dataclass(frozen=True)
class Options:
    """Plays two agents against each other, the same cards again with the seats exchanged."""

    a: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="A")]
    """First agent: random, greedy, expert, careless or checkpoint:PATH."""
    b: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="B")]
    """Second agent."""
    games: int | None = None
    """How many games: an even number, 10,000 unless told; with three players a multiple of three,
    9,999."""
    seed: int = 0
    """The seed of all cards, and of the luck of players that draw."""
    json: Path | None = None
    """Write the result to this file."""
    record: Path | None = None
    """Write every game down (docs/notation.md): each as a file of this folder or, where the path
    has a suffix, as in games.crib, all added to this file."""
    mode: Literal["greedy", "sample"] = "greedy"
    """How networks choose: the most probable action, or one drawn."""
    b_mode: Literal["greedy", "sample"] | None = None
    """How B chooses, if not as A."""
    rules: RulesFlag = Rules()  # noqa: RUF009  # frozen
    """What is played: six_card, short, five_card, three_player or four_player, and after a comma
    what differs, as in five_card,target=31."""
    target: int | None = None
    """The score that wins a game, if not that of the rules."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0, 1 if the result could be shown but not written, 2 if refused, 130 if interrupted.
    """
    limit_threads()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = tyro.cli(Options, prog="python -m eval.match", args=arguments)
        rules = options.rules
        if options.target is not None:
            rules = replace(rules, target=options.target)
        games = GAMES - GAMES % rules.sides if options.games is None else options.games
        check_games(games, rules)
        check_seed(options.seed)
        if options.json:
            check_writable(options.json)
        archive = Archive(options.record) if options.record else None
        a = make(options.a, rules, options.mode)
        b = make(options.b, rules, options.b_mode or options.mode)
    except (ValueError, OSError, RulesRefused) as error:
        print(f"eval.match: {error}", file=sys.stderr)
        return 2
    try:
        with progress_bar(f"{a.name} v {b.name}", games) as on_progress:
            result = play_match(
                a,
                b,
                games,
                options.seed,
                rules,
                on_progress=on_progress,
                on_transcript=keeper_of(archive, f"{a.name} v {b.name}, seed {options.seed}"),
            )
    except KeyboardInterrupt:
        print("eval.match: interrupted, nothing written", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"eval.match: {options.record}: not written: {error.strerror}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"eval.match: games={games}: more than memory holds", file=sys.stderr)
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
