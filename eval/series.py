"""Matches of several games between agents, many at once: who wins the matches, and by what.

``python -m eval.series A B --best-of 5 --matches 1200``. Matches come in sets with the same cards,
the seats exchanged; docs/evaluation.md says what the figures mean.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.table import Table

from agents.agent import Agent, make
from crib_env.batch import Games
from crib_env.luck import check_seed
from crib_env.match import COLUMNS, Match, MatchRules, NextDealer, Standing
from crib_env.records import lane_seeds
from crib_env.rules import PRESETS, Rules
from eval import sets
from eval.command import Options as PlayOptions
from eval.command import Report, Work, run
from eval.play import LANES, OnProgress, play_out, progress_bar
from eval.rules_flag import RulesFlag, rules_text
from eval.stats import Estimate

Array = npt.NDArray[Any]

LOST, DRAWN, WON = -1, 0, 1  # how a match ended for a side

# The rules where none are named, by the number of agents.
BY_AGENTS = {2: "six_card", 3: "three_player", 4: "four_player"}


@dataclass(frozen=True)
class SeriesSide:
    """What one side, an agent or two partners, reached in all matches."""

    names: tuple[str, ...]
    """The agents' names, one a seat."""
    modes: tuple[str, ...]
    """``"greedy"`` or ``"sample"``; ``"house"`` for a house player, which has one mode."""
    matches_won: int
    """Matches won."""
    matches_drawn: int
    """Matches in which it was ahead when they ended, with another side."""
    matches_lost: int
    """Matches that another side won or drew without it."""
    win_rate: Estimate
    """Share of matches won."""
    draw_rate: Estimate
    """Share of matches drawn."""
    loss_rate: Estimate
    """Share of matches lost."""
    standing: Standing
    """The columns of all its matches, added up."""


@dataclass(frozen=True)
class SeriesResult:
    """What many matches gave. All intervals are over sets of matches with the same cards."""

    sides: tuple[SeriesSide, ...]
    """The sides, the first agent's first."""
    matches: int
    """Matches played."""
    seed: int
    """The seed; lane_seed(seed, i) dealt all matches of set i."""
    match_rules: MatchRules
    """The rules of the matches."""
    rules: Rules
    """The rules of all games."""
    games: int
    """Games played in all matches."""
    games_per_match: Estimate
    """Games a match."""
    seconds: float = field(compare=False)
    """How long the matches and their statistics took."""
    results: Array = field(compare=False, repr=False)
    """(matches,) records of `result_type`; a set's matches stand side by side."""

    def to_json(self) -> dict[str, Any]:
        """Returns the figures under the keys that docs/evaluation.md lists."""
        return {
            "sides": [_side_json(side) for side in self.sides],
            "matches": self.matches,
            "games": self.games,
            "games_per_match": self.games_per_match.value,
            "games_per_match_ci95": self.games_per_match.ci95,
            "seed": self.seed,
            "match_rules": asdict(self.match_rules),
            "rules": asdict(self.rules),
            "seconds": round(self.seconds, 3),
        }


def result_type(sides: int) -> np.dtype[Any]:
    """Returns the record of one match's result; its arrays are by side, the first agent's first."""
    return np.dtype(
        [
            ("outcome", np.int8, (sides,)),  # WON, DRAWN or LOST
            ("games", np.int32),
            ("columns", np.int64, (sides, len(COLUMNS))),  # of `Standing`
        ]
    )


def play_series(
    agents: Sequence[Agent],
    match_rules: MatchRules,
    matches: int,
    seed: int = 0,
    rules: Rules | None = None,
    lanes: int = LANES,
    on_progress: OnProgress | None = None,
) -> SeriesResult:
    """Plays matches in sets, one for each side: the same cards and cuts, every side at each seat.

    A match is what one lane of `Games` plays, game after game, with its seed. The next match of its
    set moves all agents to the next seat: what an agent is dealt and cuts in one match, another is
    dealt and cuts in the next, as long as the same roles deal.

    Args:
        agents: Who plays, one a seat. With four the first and the third are partners.
        match_rules: The rules of the matches.
        matches: How many, a multiple of the number of sides.
        seed: Set i is dealt by lane_seed(seed, i), whoever plays.
        rules: The rules of all games.
        lanes: How many matches are played at a time; no result depends on it.
        on_progress: Told now and then how many more matches have ended.

    Raises:
        ValueError: If the number of agents or matches does not fit, or the seed is out of range.
    """
    rules = rules or Rules()
    check_matches(matches, rules)
    if len(agents) != rules.players:
        raise ValueError(f"{len(agents)} agents: allowed is one for each of {rules.players} seats")
    matches, seed = int(matches), check_seed(seed)
    start = time.perf_counter()
    seeds = np.repeat(lane_seeds(seed, matches // rules.sides), rules.sides)
    results = np.zeros(matches, result_type(rules.sides))
    for first in range(0, matches, lanes):
        part = slice(first, min(first + lanes, matches))
        # By how many seats the agents have moved on.
        moved = np.arange(part.start, part.stop) % rules.sides
        _play_part(
            agents, match_rules, rules, seeds[part], moved, results[part], on_progress or _quiet
        )
    sides = tuple(_side(agents, side, results) for side in range(rules.sides))
    least, most = match_rules.games or 1, match_rules.max_games(rules.sides)
    return SeriesResult(
        sides=sides,
        matches=matches,
        seed=seed,
        match_rules=match_rules,
        rules=rules,
        games=int(results["games"].sum()),
        games_per_match=sets.mean(results["games"], rules.sides, least, most),
        seconds=time.perf_counter() - start,
        results=results,
    )


def check_matches(matches: int, rules: Rules) -> None:
    """Refuses a number of matches that cannot be played in sets.

    Raises:
        ValueError: If it is below 1, or no multiple of the number of sides.
    """
    if matches < 1 or matches % rules.sides:
        raise ValueError(
            f"matches={matches}: allowed is a multiple of {rules.sides}, as each side sits once at "
            "every seat"
        )


def _quiet(ended: int) -> None:
    """Needs no progress."""


def _play_part(
    agents: Sequence[Agent],
    match_rules: MatchRules,
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    moved: Array,
    results: Array,
    on_progress: OnProgress,
) -> None:
    """Plays one match for each seed to its end, all of them side by side. Changes *results*.

    Args:
        agents: Who plays.
        match_rules: The rules of the matches.
        rules: The rules of the games.
        seeds: (M,) lane seeds.
        moved: (M,) by how many seats the agents have moved on: at seat s sits agent s + moved.
        results: (M,) records of `result_type`.
        on_progress: Told how many more matches have ended.
    """
    matches = [Match(match_rules, rules, int(seed)) for seed in seeds]
    seats, sides = np.arange(rules.players), np.arange(rules.sides)
    # Cards belong to roles, so seats may be named from who deals first: then it is always seat 0.
    games = Games(len(seeds), rules, seeds, first_dealer=0)
    lanes = np.arange(len(seeds))
    dealers = np.zeros(len(seeds), np.int64)
    while True:
        dealers[lanes] = np.array([matches[lane].dealer for lane in lanes], np.int64)
        play_out(games, agents, (seats + (dealers + moved)[:, None]) % rules.players, _quiet)
        scores = games.scores
        for lane in lanes:
            matches[lane].record(scores[lane, (sides - dealers[lane]) % rules.sides].tolist())
        still_on = np.array([lane for lane in lanes if not matches[lane].over], np.int64)
        if len(still_on) < len(lanes):
            on_progress(len(lanes) - len(still_on))
        lanes = still_on
        if not len(lanes):
            break
        games.next_game(lanes)
    for index, match in enumerate(matches):
        _collect(match, int(moved[index]), results[index])


def _collect(match: Match, moved: int, result: Any) -> None:
    """Writes the result of a match that is over. Changes *result*, a record of `result_type`."""
    result["games"] = len(match.results)
    leaders = match.leaders
    for side, standing in enumerate(match.standings):
        place = (side + moved) % match.rules.sides
        outcome = LOST if side not in leaders else WON if len(leaders) == 1 else DRAWN
        result["outcome"][place] = outcome
        result["columns"][place] = [getattr(standing, name) for name in COLUMNS]


def _side(agents: Sequence[Agent], number: int, results: Array) -> SeriesSide:
    """Returns one side's part of the matches from their results."""
    sides = results["outcome"].shape[1]
    theirs = agents[number::sides]
    won, drawn, lost = (results["outcome"][:, number] == one for one in (WON, DRAWN, LOST))
    return SeriesSide(
        names=tuple(agent.name for agent in theirs),
        modes=tuple(agent.shown_mode for agent in theirs),
        matches_won=int(won.sum()),
        matches_drawn=int(drawn.sum()),
        matches_lost=int(lost.sum()),
        win_rate=sets.rate(won, sides),
        draw_rate=sets.rate(drawn, sides),
        loss_rate=sets.rate(lost, sides),
        standing=Standing(*results["columns"][:, number].sum(axis=0).tolist()),
    )


def _side_json(side: SeriesSide) -> dict[str, Any]:
    """Returns the figures of one side, for JSON."""
    result: dict[str, Any] = {"agents": list(side.names), "modes": list(side.modes)}
    for name in ("won", "drawn", "lost"):
        result[f"matches_{name}"] = getattr(side, f"matches_{name}")
    for name in ("win", "draw", "loss"):
        estimate: Estimate = getattr(side, f"{name}_rate")
        result[f"{name}_rate"] = estimate.value
        result[f"{name}_ci95"] = estimate.ci95
    return result | asdict(side.standing)


def series_table(result: SeriesResult) -> Table:
    """Returns matches as a table, a column for each side."""
    table = Table()
    table.add_column(f"{result.matches:,} matches, seed {result.seed}")
    for number, side in enumerate(result.sides):
        letters = "ABCD"[number :: len(result.sides)][: len(side.names)]
        who = ", ".join(f"{n} ({m})" for n, m in zip(side.names, side.modes, strict=True))
        table.add_column(f"{'+'.join(letters)}: {who}", justify="right")
    for name, rate in (("won", "win"), ("drawn", "draw"), ("lost", "loss")):
        counts = (f"{getattr(side, f'matches_{name}'):,}" for side in result.sides)
        table.add_row(f"matches {name}", *counts)
        table.add_row("  share", *(str(getattr(side, f"{rate}_rate")) for side in result.sides))
    table.add_section()
    table.add_row("in all matches")
    for name in COLUMNS:
        values = (f"{getattr(side.standing, name):,}" for side in result.sides)
        table.add_row(f"  {name.replace('_', ' ')}", *values)
    return table


@dataclass(frozen=True)
class Options(PlayOptions):
    """Plays matches of several games between agents, the same cards once with each at every seat.

    Tell just one of --best-of, --race-to and --games.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="A B [C [D]]")]
    """Agents, one a seat: random, greedy, expert, careless, checkpoint:PATH or
    noisy:SHARE:WHERE:AGENT. In a game of four A and C are partners, and two agents play for both
    seats of a side."""
    best_of: int | None = None
    """Most games won of so many; over as soon as nobody can catch up."""
    race_to: int | None = None
    """The first with so many match points wins."""
    games: int | None = None
    """So many games, all played; most match points win."""
    match_points: str = "acc"
    """What a game counts: a scheme by name, or win, skunk, double, triple as in 1,2,3,4."""
    next_dealer: NextDealer = "alternate"
    """Who deals the next game first; the first is cut for."""
    rules: RulesFlag | None = None
    """The rules of the games: six_card, short, five_card, three_player or four_player, and after a
    comma what differs, as in short,muggins=show; if not told, those that go with so many agents."""
    matches: int = 1200
    """How many matches, a multiple of the number of sides."""


def game_rules(options: Options) -> Rules:
    """Returns the rules of the games.

    Raises:
        ValueError: If there are none for so many agents.
    """
    number, told = len(options.agents), " ".join(options.agents)
    if options.rules is None:
        if number not in BY_AGENTS:
            raise ValueError(f"{number} agents {told!r}: allowed are 2 to 4")
        return PRESETS[BY_AGENTS[number]]
    rules = options.rules
    if number not in (rules.players, rules.sides):
        allowed = " or ".join(map(str, sorted({rules.sides, rules.players})))
        raise ValueError(
            f"{number} agents {told!r} with rules {rules_text(rules)!r}: allowed are {allowed}"
        )
    return rules


def scheme_from(text: str) -> str | tuple[int, ...]:
    """Returns a scheme of match points from the command line, four numbers as such."""
    numbers = text.split(",")
    if len(numbers) == 4 and all(number.strip().isdecimal() for number in numbers):
        return tuple(map(int, numbers))
    return text


def prepare(options: Options) -> Work:
    """Checks a command line and returns what it asks for.

    Raises:
        ValueError: If a value is not allowed.
    """
    rules = game_rules(options)
    scheme: Any = scheme_from(options.match_points)
    match_rules = MatchRules(
        games=options.games,
        best_of=options.best_of,
        race_to=options.race_to,
        match_points=scheme,
        next_dealer=options.next_dealer,
    )
    check_matches(options.matches, rules)
    named = {name: make(name, rules, options.mode) for name in dict.fromkeys(options.agents)}
    # Partners of one name sit opposite.
    names = options.agents * (rules.players // len(options.agents))
    agents = [named[name] for name in names]

    def play() -> Report:
        with progress_bar(" v ".join(options.agents), options.matches) as on_progress:
            result = play_series(
                agents, match_rules, options.matches, options.seed, rules, on_progress=on_progress
            )
        number = result.matches // len(result.sides)
        words = (
            f"{result.games_per_match} games a match; [low, high] are 95 % intervals over "
            f"{number:,} sets of {len(result.sides)} matches; {result.seconds:.1f} seconds"
        )
        return Report([series_table(result), words], result.to_json())

    return Work(play, f"matches={options.matches}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status (`eval.command`)."""
    return run("eval.series", Options, prepare, arguments)


if __name__ == "__main__":
    sys.exit(main())
