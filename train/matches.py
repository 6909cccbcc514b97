"""The matches of a run: on the way, for the curves, and the last ones, for the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agents import Agent, make
from agents.checkpoint import write_whole
from agents.neural_agent import NetworkPolicy
from crib_env import Rules, lane_seed
from eval.match import play_match
from eval.match_result import MatchResult
from eval.play import OnProgress, progress_bar
from eval.stats import Estimate
from train.events import OUTCOME, outcome
from train.metrics import OUTCOMES
from train.ppo import SEED_EVALUATION, SEED_REPORT, Learner

RESULTS = "results.json"


def match(
    learner: Learner,
    opponent: str,
    games: int,
    stream: int,
    name: str,
    on_progress: OnProgress | None = None,
) -> MatchResult:
    """Plays the network against a house player, on cards that training never deals.

    Args:
        learner: Its network plays, in the configuration's mode.
        opponent: The house player.
        games: How many games, made up to whole sets (`eval.match`).
        stream: ``SEED_EVALUATION`` or ``SEED_REPORT``: whose cards.
        name: The network's name in the result.
        on_progress: See `play_match`.
    """
    config = learner.config
    policy = NetworkPolicy(learner.network, config.rules, config.evaluation_mode)
    agent = Agent(name, policy, mode=config.evaluation_mode)
    rules, seed = config.rules, lane_seed(config.seed, stream)
    games = whole_sets(games, rules)
    return play_match(agent, make(opponent, rules), games, seed, rules, on_progress=on_progress)


def whole_sets(games: int, rules: Rules) -> int:
    """Returns the least number of games from *games* on that makes whole sets."""
    return games + -games % rules.sides


def evaluate(learner: Learner) -> dict[str, float]:
    """Returns the metrics of a match against each house player, on the same cards each time."""
    metrics: dict[str, float] = {}
    for opponent in learner.config.opponents:
        result = match(learner, opponent, learner.config.evaluate_games, SEED_EVALUATION, "network")
        for name, value in match_metrics(result).items():
            metrics[f"evaluation/{opponent}/{name}"] = value
    return metrics


def match_metrics(result: MatchResult) -> dict[str, float]:
    """Returns the metrics of a match (`train.metrics.EVALUATION_METRICS`)."""
    a, b = result.a, result.b
    return {
        "win_rate": a.win_rate.value,
        "win_rate_as_dealer": a.as_first_dealer.win_rate.value,
        "win_rate_as_pone": a.as_first_pone.win_rate.value,
        "skunk_rate": a.skunk_rate.value,
        "skunk_rate_as_dealer": a.as_first_dealer.skunk_rate.value,
        "skunk_rate_as_pone": a.as_first_pone.skunk_rate.value,
        "skunked_rate": b.skunk_rate.value,
        "margin": result.mean_margin.value,
    }


def report(learner: Learner, folder: Path) -> None:
    """Prints the table of the last matches; plays and writes them where that is still to be done.

    Whatever interrupts it can be made up for by calling it again: ``results.json`` is written last,
    and each file whole or not at all.

    Raises:
        OSError: If a file cannot be written.
    """
    config = learner.config
    name = f"checkpoint:{folder}"
    if not config.final_games or not config.opponents:
        if not (folder / OUTCOME).exists():
            write_whole(folder / OUTCOME, outcome(learner.decisions, {}))
        print(f"trained; the agent is {name}")
        return
    games = whole_sets(config.final_games, config.rules)
    table = _table_of(learner, folder, games)
    if table is None:
        results = []
        for opponent in config.opponents:
            with progress_bar(f"against {opponent}", games) as on_progress:
                results.append(match(learner, opponent, games, SEED_REPORT, name, on_progress))
        matches = [result.to_json() for result in results]
        reached = {
            f"outcome/{result.b.name}/{metric}": match_metrics(result)[metric]
            for result in results
            for metric in OUTCOMES
        }
        write_whole(folder / OUTCOME, outcome(learner.decisions, reached))
        kept = {"decisions": learner.decisions, "matches": matches}
        text = json.dumps(kept, indent=2, allow_nan=False) + "\n"
        write_whole(folder / RESULTS, text.encode())
        table = report_table(matches)
    three = config.rules.sides == 3
    against = " (two of each, chance is 1/3)" if three else ""
    print(f"{name}, {config.evaluation_mode} mode, {games:,} games against each{against}:")
    Console(soft_wrap=True).print(table)
    sets = "sets of three" if three else "pairs of"
    print(f"[low, high]: 95 % interval over {sets} games with the same cards; docs/evaluation.md")


def _table_of(learner: Learner, folder: Path, games: int) -> Table | None:
    """Returns the table of a run's ``results.json``, None where that is not there or another's.

    Args:
        learner: At the end of its run.
        folder: The run's folder.
        games: Of each match.
    """
    config = learner.config
    try:
        kept = json.loads((folder / RESULTS).read_text())
        matches = [one for one in kept["matches"] if one["games"] == games]
        same = kept["decisions"] == learner.decisions
        if not same or [one["b"] for one in matches] != list(config.opponents):
            return None
        return report_table(matches)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def report_table(matches: Sequence[Mapping[str, Any]]) -> Table:
    """Returns the last table: a column for each opponent, all figures the network's.

    Args:
        matches: As `MatchResult.to_json` gives them, the network being A.
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("against")
    for one in matches:
        table.add_column(one["b"], justify="right")
    firsts = [one["first_deal"]["a"] for one in matches]
    rows = [
        ("wins", [(one["a_win_rate"], one["ci95"]) for one in matches]),
        ("  as dealer", [(one["dealer"]["win_rate"], one["dealer"]["ci95"]) for one in firsts]),
        ("  as pone", [(one["pone"]["win_rate"], one["pone"]["ci95"]) for one in firsts]),
        ("skunks", [(one["a_skunk_rate"], one["a_skunk_ci95"]) for one in matches]),
        ("  as dealer", [(o["dealer"]["skunk_rate"], o["dealer"]["skunk_ci95"]) for o in firsts]),
        ("  as pone", [(one["pone"]["skunk_rate"], one["pone"]["skunk_ci95"]) for one in firsts]),
        ("skunked", [(one["b_skunk_rate"], one["b_skunk_ci95"]) for one in matches]),
        ("margin", [(one["mean_margin"], one["margin_ci95"]) for one in matches]),
    ]
    for label, cells in rows:
        table.add_row(label, *(str(Estimate(value, *interval)) for value, interval in cells))
    return table
