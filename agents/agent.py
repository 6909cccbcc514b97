"""`Agent`, and `make`, which finds one by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agents.noisy import PLACES, NoisyPolicy
from crib_env.bots import BOTS
from crib_env.loops import OUTSIDE
from crib_env.policy import BotPolicy, Policy, bot_number
from crib_env.rules import RulesLike, rules_of

CHECKPOINT = "checkpoint:"
NOISY = "noisy:"
MODES = ("greedy", "sample")
HOUSE = "house"  # what results say in place of a mode of a player that has none to choose


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

    @property
    def shown_mode(self) -> str:
        """The mode as results state it: ``"house"`` for a house player, which has one."""
        return self.mode if self.bot == OUTSIDE else HOUSE


def make(name: str, rules: RulesLike = None, mode: str = "greedy") -> Agent:
    """Returns the agent of that name.

    Args:
        name: A house player (``"random"``, ``"greedy"``, ``"expert"``, ``"careless"``) or
            ``"checkpoint:PATH"``, where PATH is a checkpoint or the folder of a training run, whose
            newest is taken; or ``"noisy:SHARE:WHERE:AGENT"``, which plays as AGENT does but for a
            share of its decisions, taken at random, as in ``"noisy:0.3:pegging:expert"``
            (`agents.noisy`).
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
    if name.startswith(NOISY):
        share, where, inner = noisy_parts(name)
        played = make(inner, rules, mode)
        policy = NoisyPolicy(played.policy, rules, share, where)
        return Agent(name, policy, mode=played.shown_mode)
    raise ValueError(
        f"agent {name!r}: allowed are {', '.join(BOTS)}, checkpoint:PATH and "
        "noisy:SHARE:WHERE:AGENT"
    )


def noisy_parts(name: str) -> tuple[float, str, str]:
    """Returns the share, the place and the agent that a name ``"noisy:SHARE:WHERE:AGENT"`` has.

    Raises:
        ValueError: If it is not of that form.
    """
    parts = name.removeprefix(NOISY).split(":", 2)
    try:
        share = float(parts[0])
    except ValueError:
        share = -1.0
    if len(parts) < 3 or not 0 <= share <= 1 or parts[1] not in PLACES:
        raise ValueError(
            f"agent {name!r}: allowed is noisy:SHARE:WHERE:AGENT with a share from 0 to 1 and "
            f"{' or '.join(PLACES)}, as in noisy:0.3:pegging:expert"
        )
    return share, parts[1], parts[2]


def pinned(name: str) -> str:
    """Returns the name with a run's folder replaced by its newest checkpoint as it is now.

    For those who make an agent several times while its run may go on.

    Raises:
        ValueError: If the folder has no checkpoint that can be used.
    """
    if name.startswith(NOISY):
        inner = noisy_parts(name)[2]
        return name.removesuffix(inner) + pinned(inner)
    if not name.startswith(CHECKPOINT):
        return name
    from agents.checkpoint import newest_whole  # torch, as above

    return f"{CHECKPOINT}{newest_whole(Path(name.removeprefix(CHECKPOINT)))}"
