"""One agent against itself: what its games look like, and what dealing first is worth.

``python -m eval.selfplay expert --games 100000``. Every game has cards of its own. (A match of an
agent against itself, `eval.match`, would play each twice and learn nothing from the second.)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.table import Table

from agents.agent import Agent, make
from crib_env.game_record import Role, Source
from crib_env.records import lane_seeds
from crib_env.rules import Rules, RulesLike, rules_of
from eval import sets
from eval.command import Report, RulesOptions, Work, run
from eval.match_result import most_deals
from eval.play import LANES, OnProgress, play_games, progress_bar
from eval.stats import Estimate, game_rate, ratio_estimate

Array = npt.NDArray[Any]

MOST_HAND = 29  # points of the best hand, and of the best crib


@dataclass(frozen=True)
class SelfPlay:
    """What an agent's games against itself gave. Intervals are over games."""

    name: str
    """The agent's name."""
    mode: str
    """``"greedy"`` or ``"sample"``; ``"house"`` for a house player, which has one mode."""
    games: int
    """Games played, each with cards of its own."""
    seed: int
    """The seed; lane_seed(seed, i) dealt game i."""
    rules: Rules
    """The rules of all games."""
    first_dealer_win_rate: Estimate
    """Share of games won by who dealt first, or its side."""
    skunk_rate: Estimate
    """Share of games won by a skunk or more, by any side; of three, the last is the loser."""
    double_skunk_rate: Estimate
    """Share of games won by a double skunk or more, by any side."""
    first_dealer_margin: Estimate
    """First dealer's final score minus the mean of the others', points a game."""
    deals_per_game: Estimate
    """Deals a game, the last counted however short."""
    dealer_hand: Estimate
    """Points a deal of the hand that the dealer kept, counted in the show or not."""
    pone_hand: Estimate
    """Points a deal of the hand that a pone kept, counted in the show or not."""
    crib: Estimate
    """Points a deal of the crib as thrown, counted in the show or not."""
    dealer_pegging: Estimate
    """Points a deal that the dealer pegged in the play, the last deal as far as it went."""
    pone_pegging: Estimate
    """Points a deal that a pone pegged in the play, the last deal as far as it went."""
    his_heels: Estimate
    """Points a deal that the dealer pegged for the jack turned."""
    seconds: float = field(compare=False)
    """How long the games and their statistics took."""

    def estimates(self) -> dict[str, Estimate]:
        """Returns all that was measured by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Estimate)}

    def to_json(self) -> dict[str, Any]:
        """Returns every figure by name, and its interval under the same name with _ci95."""
        result: dict[str, Any] = {
            "agent": self.name,
            "mode": self.mode,
            "games": self.games,
            "seed": self.seed,
            "rules": asdict(self.rules),
        }
        for name, estimate in self.estimates().items():
            result[name] = estimate.value
            result[f"{name}_ci95"] = estimate.ci95
        return result | {"seconds": round(self.seconds, 3)}


def play_itself(
    agent: Agent,
    games: int,
    seed: int = 0,
    rules: RulesLike = None,
    lanes: int = LANES,
    on_progress: OnProgress | None = None,
) -> SelfPlay:
    """Plays an agent against itself, the first deal always that of seat 0.

    Args:
        agent: Who plays all seats.
        games: How many games, 1 or more.
        seed: Game i is dealt by lane_seed(seed, i).
        rules: The rules of all games.
        lanes: How many games are played at a time; no result depends on it.
        on_progress: Told now and then how many more games have ended.

    Raises:
        ValueError: If *games* is below 1, or the seed is out of range.
    """
    check_games(games)
    rules = rules_of(rules)
    start = time.perf_counter()
    seats, seeds = range(rules.players), lane_seeds(seed, games)
    results = play_games([agent] * len(seats), seats, seeds, rules, lanes, on_progress)
    scores = results["scores"].astype(np.int64)
    level = rules.skunk_level(scores.min(axis=1))
    margin = scores[:, 0] - scores[:, 1:].mean(axis=1)
    deals = results["deals"].astype(np.int64)
    worth = results["worth"].sum(axis=1, dtype=np.int64)
    points = results["points"].sum(axis=1, dtype=np.int64)
    # In every deal there is one dealer; all others are pones.
    pones = rules.players - 1
    most = float(rules.target)
    result = SelfPlay(
        name=agent.name,
        mode=agent.shown_mode,
        games=games,
        seed=seed,
        rules=rules,
        first_dealer_win_rate=game_rate(int((results["winner"] == 0).sum()), games),
        skunk_rate=game_rate(int((level >= 1).sum()), games),
        double_skunk_rate=game_rate(int((level >= 2).sum()), games),
        first_dealer_margin=sets.mean(margin, 1, -most, most),
        deals_per_game=sets.mean(deals, 1, 1, most_deals(deals, rules)),
        dealer_hand=_a_deal(worth[:, 0], deals, MOST_HAND),
        pone_hand=_a_deal(worth[:, 1] / pones, deals, MOST_HAND),
        crib=_a_deal(worth[:, 2], deals, MOST_HAND),
        dealer_pegging=_a_deal(points[:, Source.PEGGING, Role.DEALER], deals, most),
        pone_pegging=_a_deal(points[:, Source.PEGGING, Role.PONE] / pones, deals, most),
        his_heels=_a_deal(points[:, Source.HIS_HEELS, Role.DEALER], deals, most),
        seconds=0,
    )
    return replace(result, seconds=time.perf_counter() - start)


def check_games(games: int) -> None:
    """Refuses a number of games below 1.

    Raises:
        ValueError: If it is.
    """
    if games < 1:
        raise ValueError(f"games={games}: allowed is 1 or more")


def _a_deal(totals: Array, deals: Array, high: float) -> Estimate:
    """Returns points a deal from points and deals of each game, (games,); at most *high* a deal."""
    ratio = float(totals.sum() / deals.sum())
    residuals = sets.variance(totals - ratio * deals)
    return ratio_estimate(len(totals), ratio, residuals, float(deals.mean()), 0, high)


def selfplay_table(result: SelfPlay) -> Table:
    """Returns all that was measured as a table, an interval beside each figure."""
    table = Table()
    table.add_column(f"{result.games:,} games, seed {result.seed}")
    table.add_column(f"{result.name} ({result.mode})", justify="right")
    for name, estimate in result.estimates().items():
        table.add_row(name.replace("_", " "), str(estimate))
    return table


@dataclass(frozen=True)
class Options(RulesOptions):
    """Plays an agent against itself and says what its games look like."""

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")] = "expert"
    """The agent: random, greedy, expert, careless, checkpoint:PATH or noisy:SHARE:WHERE:AGENT."""
    games: int = 100_000
    """How many games."""


def prepare(options: Options) -> Work:
    """Checks a command line and returns what it asks for.

    Raises:
        ValueError: If a value is not allowed.
    """
    check_games(options.games)
    rules = options.game_rules()
    agent = make(options.agent, rules, options.mode)

    def play() -> Report:
        with progress_bar(f"{agent.name} itself", options.games) as on_progress:
            result = play_itself(agent, options.games, options.seed, rules, on_progress=on_progress)
        words = f"[low, high] are 95 % intervals over games; {result.seconds:.1f} seconds"
        return Report([selfplay_table(result), words], result.to_json())

    return Work(play, f"games={options.games}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status (`eval.command`)."""
    return run("eval.selfplay", Options, prepare, arguments)


if __name__ == "__main__":
    sys.exit(main())
