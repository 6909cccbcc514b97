"""``--dry-run``: what a run would be, how large, and about how long it would take.

Nothing is written. The time is measured: a few updates of the very configuration, with fewer games
side by side where there are many, and a match against each opponent.
"""

from __future__ import annotations

import dataclasses
import errno
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

from agents.checkpoint import serialized
from agents.neural_agent import BATCH
from crib_env.game_record import RECORD
from train.config import TrainConfig
from train.matches import match
from train.ppo import SEED_EVALUATION, Learner, new_learner, save, train_step

# Enough that what an update costs apart from its decisions does not count.
GAMES = 1024
# How long updates are measured, in seconds, and how many at most.
SECONDS = 2.0
UPDATES = 10


@dataclass(frozen=True)
class Plan:
    """The sizes of a run, and about how long it takes."""

    actor_weights: int
    critic_weights: int
    precision: str
    """Arithmetic of the networks in training."""
    decisions_per_update: float
    """As measured with random weights: fewer than the most there can be, as games end."""
    gradient_steps: int
    """Of an update."""
    updates: int
    checkpoint_bytes: int
    evaluations: int
    """How often the network is measured on the way."""
    learning_seconds: float
    evaluation_seconds: float
    report_seconds: float
    """For the last matches."""
    measured_seconds: float
    """How long it took to find this out."""

    @property
    def seconds(self) -> float:
        """About how long the run takes."""
        return self.learning_seconds + self.evaluation_seconds + self.report_seconds


def dry_run(config: TrainConfig, folder: Path) -> None:
    """Prints what a run would be, as TOML: the configuration in force, the rest in comments.

    Raises:
        FileExistsError: If the folder is there already, as `start_run`.
        FloatingPointError: If it diverges within the first updates.
    """
    if folder.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    plan = plan_of(config)
    print(config.as_toml(), end="")
    print(f"# dry run: nothing was written; the run's folder would be {folder}")
    for line in lines(plan, config):
        print(f"# {line}")


def lines(plan: Plan, config: TrainConfig) -> list[str]:
    """Returns a plan in words."""
    rate = config.total_decisions / plan.learning_seconds
    kept = f"the newest {config.keep_checkpoints} kept"
    return [
        f"weights: {plan.actor_weights:,} of the actor, {plan.critic_weights:,} of the critic",
        f"arithmetic: {plan.precision}, {config.threads} thread{'s' * (config.threads > 1)}",
        f"updates: about {plan.updates:,}, of about {plan.decisions_per_update:,.0f} decisions "
        f"in {plan.gradient_steps:,} gradient steps",
        f"checkpoints: {plan.checkpoint_bytes / 1e6:,.1f} MB each, {kept}",
        f"estimated time: {spoken(plan.seconds)}",
        f"  {spoken(plan.learning_seconds)} to play and learn, {rate:,.0f} decisions a second",
        f"  {spoken(plan.evaluation_seconds)} for {plan.evaluations:,} evaluations on the way",
        f"  {spoken(plan.report_seconds)} for the last matches",
        f"This is an estimate, from {plan.measured_seconds:.0f} s of the same work on this machine "
        "just now.",
    ]


def plan_of(config: TrainConfig) -> Plan:
    """Measures and returns the plan of a run.

    Raises:
        MemoryError: If its games are more than memory holds; RuntimeError: if its networks are.
        FloatingPointError: If it diverges within the first updates.
    """
    began = time.perf_counter()
    # Whole and at once: so memory refuses what it would refuse the run.
    new_learner(config)
    # Games enough to fill a minibatch, so that gradient steps have their true size.
    fills = math.ceil(config.minibatch / config.rules.players / config.rules.cards_dealt)
    games = min(config.games, max(GAMES, fills))
    learner = new_learner(dataclasses.replace(config, games=games, deals_per_update=1))
    seconds, decisions, updates = _measured_updates(learner)
    per_update = decisions / updates / games * config.games * config.deals_per_update
    by_match = _measured_matches(learner)
    evaluations = 0
    if config.evaluate_every:
        ends_on_one = config.total_decisions % config.evaluate_every == 0
        evaluations = config.total_decisions // config.evaluate_every + (not ends_on_one)
    network = learner.network
    return Plan(
        actor_weights=sum(parameter.numel() for parameter in network.actor.parameters()),
        critic_weights=sum(parameter.numel() for parameter in network.critic.parameters()),
        precision=learner.precision,
        decisions_per_update=per_update,
        gradient_steps=config.epochs * math.ceil(per_update / config.minibatch),
        updates=math.ceil(config.total_decisions / per_update),
        checkpoint_bytes=len(serialized(save(learner))) + (config.games - games) * RECORD.itemsize,
        evaluations=evaluations,
        learning_seconds=config.total_decisions * seconds / decisions,
        evaluation_seconds=evaluations * by_match * _batches(config.evaluate_games),
        report_seconds=by_match * _batches(config.final_games),
        measured_seconds=time.perf_counter() - began,
    )


def _measured_updates(learner: Learner) -> tuple[float, int, int]:
    """Returns the seconds, decisions and number of updates that were measured."""
    # What only the first update costs: the compiler, the moments, the first touch of memory.
    train_step(learner)
    before, updates = learner.decisions, 0
    began = time.perf_counter()
    while not updates or (time.perf_counter() - began < SECONDS and updates < UPDATES):
        train_step(learner)
        updates += 1
    return time.perf_counter() - began, learner.decisions - before, updates


def _measured_matches(learner: Learner) -> float:
    """Returns how long a batch of games against each opponent takes together, in seconds."""
    config = learner.config
    most = max(config.evaluate_games if config.evaluate_every else 0, config.final_games)
    if not most:
        return 0.0
    # Whole sets, and no more than the network is asked for at once.
    games = min(most, BATCH - BATCH % config.rules.sides)
    return sum(
        match(learner, opponent, games, SEED_EVALUATION, "network").seconds
        for opponent in config.opponents
    )


def _batches(games: int) -> int:
    """Returns in how many batches the network is asked at each step of a match of *games*."""
    return math.ceil(games / BATCH)


def spoken(seconds: float) -> str:
    """Returns a duration in the two units that matter."""
    whole, minutes = round(seconds), round(seconds / 60)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
