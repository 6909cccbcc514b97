"""`Agent`, and `make`, which finds one by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crib_env.bots import BOTS
from crib_env.loops import OUTSIDE
from crib_env.policy import BotPolicy, Policy, bot_number
from crib_env.rules import RulesLike, rules_of

CHECKPOINT = "checkpoint:"
MODES = ("greedy", "sample")


@dataclass(frozen=True)
class Agent:
    """A policy with a name."""

    name: str
    """What `make` was asked for, as it stands in results."""
    policy: Policy
    """Chooses the actions."""
    bot: int = OUTSIDE
    """The house player's number, to play inside the compiled loops; OUTSIDE for other agents."""
    mode: str = "greedy"
    """``"greedy"``: the most probable action, throws by joint probability. ``"sample"``: drawn."""


def make(name: str, rules: RulesLike = None, mode: str = "greedy") -> Agent:
    """Returns the agent of that name.

    Args:
        name: A house player (``"random"``, ``"greedy"``, ``"expert"``, ``"careless"``) or
            ``"checkpoint:PATH"``, where PATH is a checkpoint or the folder of a training run, whose
            newest is taken.
        rules: The rules of the games that it will play.
        mode: How a network chooses: ``"greedy"`` or ``"sample"``. House players have one mode.

    Raises:
        ValueError: If the name or the mode is unknown, or the checkpoint cannot be used.
    """
    rules = rules_of(rules)
    if mode not in MODES:
        raise ValueError(f"mode {mode!r}: allowed are {', '.join(MODES)}")
    if name in BOTS:
        return Agent(name, BotPolicy(name, rules), bot_number(name))
    if name.startswith(CHECKPOINT):
        # Only networks need torch, and it is slow to import.
        from agents.neural_agent import load_policy

        return Agent(name, load_policy(Path(name.removeprefix(CHECKPOINT)), rules, mode), mode=mode)
    raise ValueError(f"agent {name!r}: allowed are {', '.join(BOTS)} and checkpoint:PATH")


def pinned(name: str) -> str:
    """Returns the name with a run's folder replaced by its newest checkpoint as it is now.

    For those who make an agent several times while its run may go on.

    Raises:
        ValueError: If the folder has no checkpoint that can be used.
    """
    if not name.startswith(CHECKPOINT):
        return name
    from agents.checkpoint import newest_whole  # torch, as above

    return f"{CHECKPOINT}{newest_whole(Path(name.removeprefix(CHECKPOINT)))}"
