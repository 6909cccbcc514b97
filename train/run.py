"""One training run: its folder, its logs and checkpoints, its matches, and how it stops.

A run's folder holds ``config.toml`` (resolved), ``run.json`` (commit, versions, command),
``metrics.jsonl`` and TensorBoard's events, the newest checkpoints, and at the end ``results.json``.
"""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from agents import Agent, make
from agents.checkpoint import (
    Checkpoint,
    CheckpointError,
    checkpoint_path,
    checkpoints_in,
    load_checkpoint,
    save_checkpoint,
)
from agents.neural_agent import NetworkPolicy
from crib_env import lane_seed
from eval.match import MatchResult, play_match
from eval.play import OnProgress, progress_bar
from eval.provenance import origin, write_json
from train.config import TrainConfig, config_from
from train.metrics import MetricsLog
from train.ppo import SEED_EVALUATION, SEED_REPORT, Learner, new_learner, restore, save, train_step


class Stop:
    """Set by Ctrl-C or a termination signal: the run ends after the update that it is in."""

    def __init__(self) -> None:
        """Is not set."""
        self.asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes the signals over; a second one ends the run at once, as it would have."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def ask(number: int, frame: FrameType | None) -> None:
            self.asked = True
            # A run started in the background may have been told to ignore Ctrl-C: not the second.
            after = before[signal.Signals(number)]
            if after in (signal.SIG_IGN, None):
                is_interrupt = number == signal.SIGINT
                after = signal.default_int_handler if is_interrupt else signal.SIG_DFL
            signal.signal(number, after)
            # Not print: the signal may come while another print is under way.
            os.write(2, b"\nstopping after this update; once more stops at once\n")

        for number in before:
            signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def start_run(config: TrainConfig, folder: Path, arguments: list[str]) -> Learner:
    """Makes a run's folder and a new learner.

    Raises:
        FileExistsError: If the folder is there already.
    """
    # The folder last, so that nothing is left if the network or the games cannot be made.
    if folder.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    learner = new_learner(config)
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(config.as_toml())
    about: dict[str, Any] = origin("train", arguments)
    about |= {"torch": torch.__version__, "precision": learner.precision, "seed": config.seed}
    write_json(folder / "run.json", about)
    return learner


def resume_run(folder: Path) -> Learner:
    """Returns the learner of a run's newest whole checkpoint.

    Raises:
        CheckpointError: If the folder has none that can be gone on from, in one line.
        ConfigError: If its configuration is not of this version.
    """
    checkpoint: Checkpoint = load_checkpoint(folder)
    try:
        return restore(checkpoint, config_from(checkpoint.config, str(folder)))
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from None


def resume_command(folder: Path) -> str:
    """Returns the command that goes on with a run."""
    return shlex.join(["python", "-m", "train", "--resume", str(folder)])


def free_folder(parent: Path, name: str) -> Path:
    """Returns ``parent/name``, or with the first number behind it that is free."""
    folder = parent / name
    number = 1
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder


def run(learner: Learner, folder: Path, stop_after: int | None = None) -> bool:
    """Trains to the end, or until stopped, and prints the last table. Changes *learner*.

    Args:
        learner: New, or resumed from *folder*.
        folder: The run's folder.
        stop_after: Stops after the update that reaches so many decisions, as Ctrl-C would.

    Returns:
        Whether the run is finished.
    """
    config = learner.config
    stop = Stop()
    stop.asked = stop_after is not None and learner.decisions >= stop_after
    log = MetricsLog(folder, learner.decisions)
    try:
        with stop.listening(), _progress(learner) as advance:
            if not checkpoints_in(folder):
                log.text("config", "```toml\n" + config.as_toml() + "```")
                _keep(learner, folder)
            while not learner.done and not stop.asked:
                before = learner.decisions
                metrics = train_step(learner)
                if _crossed(before, learner.decisions, config.evaluate_every) and not learner.done:
                    metrics |= _evaluate(learner)
                log.write(learner.decisions, metrics)
                advance(learner.decisions, metrics)
                if _crossed(before, learner.decisions, config.checkpoint_every) or learner.done:
                    # The logs first: no checkpoint is ahead of its curves.
                    log.flush()
                    _keep(learner, folder)
                stop.asked |= stop_after is not None and learner.decisions >= stop_after
        if not learner.done:
            log.flush()
            _keep(learner, folder)
    finally:
        log.close()
    if not learner.done:
        print(
            f"stopped after {learner.decisions:,} of {config.total_decisions:,} decisions; "
            f"to go on: {resume_command(folder)}",
            file=sys.stderr,
        )
        return False
    _report(learner, folder)
    return True


def _crossed(before: int, after: int, every: int) -> bool:
    """Returns whether a multiple of *every* lies after *before* and not after *after*."""
    return every > 0 and after // every > before // every


def _keep(learner: Learner, folder: Path) -> None:
    """Writes a checkpoint and removes the oldest beyond those to keep.

    Also those beyond the decisions learned from, left by a run that was resumed from before them.
    """
    newest = checkpoint_path(folder, learner.decisions)
    save_checkpoint(newest, save(learner))
    kept = [path for path in checkpoints_in(folder) if path <= newest]
    kept = kept[: learner.config.keep_checkpoints]
    for path in checkpoints_in(folder):
        if path not in kept:
            path.unlink()


def _agent(learner: Learner, name: str) -> Agent:
    """Returns the learner's network as an agent."""
    config = learner.config
    policy = NetworkPolicy(learner.network, config.rules, config.evaluation_mode)
    return Agent(name, policy, mode=config.evaluation_mode)


def _match(
    learner: Learner,
    opponent: str,
    games: int,
    stream: int,
    name: str,
    on_progress: OnProgress | None = None,
) -> MatchResult:
    """Plays the network against a house player, on cards that training never deals."""
    rules = learner.config.rules
    seed = lane_seed(learner.config.seed, stream)
    agent = _agent(learner, name)
    return play_match(agent, make(opponent, rules), games, seed, rules, on_progress=on_progress)


def _evaluate(learner: Learner) -> dict[str, float]:
    """Returns the metrics of a match against each house player, on the same cards each time."""
    metrics: dict[str, float] = {}
    for opponent in learner.config.opponents:
        result = _match(
            learner, opponent, learner.config.evaluate_games, SEED_EVALUATION, "network"
        )
        for name, value in _evaluation_metrics(result).items():
            metrics[f"evaluation/{opponent}/{name}"] = value
    return metrics


def _evaluation_metrics(result: MatchResult) -> dict[str, float]:
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


def _report(learner: Learner, folder: Path) -> None:
    """Plays the last matches, prints their table and writes ``results.json``."""
    config = learner.config
    if not config.final_games or not config.opponents:
        print(f"trained; the agent is checkpoint:{folder}")
        return
    name = f"checkpoint:{folder}"
    results = {}
    for opponent in config.opponents:
        with progress_bar(f"against {opponent}", config.final_games) as on_progress:
            results[opponent] = _match(
                learner, opponent, config.final_games, SEED_REPORT, name, on_progress
            )
    matches = [result.to_json() for result in results.values()]
    write_json(folder / "results.json", {"decisions": learner.decisions, "matches": matches})
    print(f"{name}, {config.evaluation_mode} mode, {config.final_games:,} games against each:")
    Console(soft_wrap=True).print(report_table(results))
    print("[low, high]: 95 % interval over pairs of games with the same cards; docs/evaluation.md")


def report_table(results: Mapping[str, MatchResult]) -> Table:
    """Returns the last table: a column for each opponent, all figures the network's."""
    table = Table(box=None, pad_edge=False)
    table.add_column("against")
    for opponent in results:
        table.add_column(opponent, justify="right")
    sides = [result.a for result in results.values()]
    rows = [
        ("wins", [side.win_rate for side in sides]),
        ("  as dealer", [side.as_first_dealer.win_rate for side in sides]),
        ("  as pone", [side.as_first_pone.win_rate for side in sides]),
        ("skunks", [side.skunk_rate for side in sides]),
        ("  as dealer", [side.as_first_dealer.skunk_rate for side in sides]),
        ("  as pone", [side.as_first_pone.skunk_rate for side in sides]),
        ("skunked", [result.b.skunk_rate for result in results.values()]),
        ("margin", [result.mean_margin for result in results.values()]),
    ]
    for label, cells in rows:
        table.add_row(label, *(str(cell) for cell in cells))
    return table


@contextmanager
def _progress(learner: Learner) -> Iterator[Any]:
    """Shows a bar with the time left on a terminal, or a line now and then elsewhere.

    Yields:
        What to call with (decisions, metrics) after each update.
    """
    console = Console(stderr=True)
    total = learner.config.total_decisions
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, TextColumn("{task.fields[now]}"), console=console) as bar:
            task = bar.add_task("decisions", total=total, completed=learner.decisions, now="")

            def advance(decisions: int, metrics: dict[str, float]) -> None:
                bar.update(task, completed=min(decisions, total), now=_now(metrics))

            yield advance
        return

    said = learner.decisions * 10 // total

    def say(decisions: int, metrics: dict[str, float]) -> None:
        nonlocal said
        if decisions * 10 // total > said:
            said = decisions * 10 // total
            line = f"{decisions:,} of {total:,} decisions, {_now(metrics)}"
            console.print(line, highlight=False, soft_wrap=True)

    yield say


def _now(metrics: dict[str, float]) -> str:
    """Returns the few figures that a progress line has room for."""
    text = f"{metrics['speed/decisions_per_s']:,.0f}/s, entropy {metrics['policy/entropy']:.2f}"
    for name, value in metrics.items():
        if name.endswith("/win_rate"):
            text += f", {name.split('/')[1]} {value:.1%}"
    return text
