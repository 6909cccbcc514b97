"""Games in which every seat is played through PettingZoo's interface, for the tests."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.aec_env import env as make_env
from crib_env.aec_env import raw_env
from crib_env.game_record import CLAIM_ACTION, Phase
from crib_env.position import Position
from crib_env.rules import PRESETS, Rules

KINDS: dict[str, Rules] = {
    **PRESETS,
    "muggins": replace(PRESETS["six_card"], muggins="full"),
    "three_player_muggins": replace(PRESETS["three_player"], muggins="show"),
    "four_player_muggins": replace(PRESETS["four_player"], muggins="full"),
}
every_kind = pytest.mark.parametrize("rules", KINDS.values(), ids=KINDS.keys())
every_form = pytest.mark.parametrize("observation", ["dict", "vector"])
every_maker = pytest.mark.parametrize("make", [raw_env, make_env])

# The rewards that rules of two sides or more know, with the options that make them.
SCHEMES: dict[str, dict[str, Any]] = {
    "win": {},
    "points": {"reward": "points"},
    "match points": {"reward": "match_points", "match_points": "free"},
    "shaped": {"shaping": "points", "shaping_gamma": 0.9},
}
TABLE_SCHEMES: dict[str, dict[str, Any]] = {
    "win probability": {"reward": "win_probability"},
    "shaped by win probability": {"shaping": "win_probability", "shaping_gamma": 0.97},
}
every_scheme = pytest.mark.parametrize("options", SCHEMES.values(), ids=SCHEMES.keys())

# Pone leads, and pegs nothing with it.
POSITION: dict[str, Any] = {
    "dealer": 1,
    "hands": ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH"),
    "discards": ("2H 3H", "TH KH"),
    "starter": "AD",
}


class Lowest:
    """A policy that takes its lowest legal card."""

    name = "lowest"

    def __call__(
        self, observations: Any, action_masks: npt.NDArray[np.int8], luck: Any
    ) -> npt.NDArray[np.int64]:
        return np.asarray(action_masks.argmax(axis=1), np.int64)


def snapshot(env: Any) -> Any:
    """Returns all that anybody is shown, a copy."""
    observed = {agent: env.observe(agent) for agent in env.possible_agents}
    infos = {agent: dict(info) for agent, info in env.infos.items()}
    return env.agent_selection, observed, dict(env.rewards), dict(env.terminations), infos


def core(env: Any) -> raw_env:
    """Returns the environment inside its wrappers."""
    inner = env.unwrapped
    assert isinstance(inner, raw_env)
    return inner


def options_of(position: Position) -> dict[str, Any]:
    """Returns a position as the options of `reset`."""
    return {field.name: getattr(position, field.name) for field in fields(position)}


def choose(env: Any, rng: np.random.Generator | None = None) -> int:
    """Returns a legal action of the agent to act: any, or without luck the lowest card.

    Claims and calls are right, with luck every other one: were all of them low or high, a game
    would take thousands of deals, or end in its first.
    """
    game = env.games.records[0]
    if game["phase"] in (Phase.CLAIM, Phase.CALL) and (rng is None or rng.random() < 0.5):
        right = game["true_points"] if game["phase"] == Phase.CLAIM else game["missed"]
        return CLAIM_ACTION + int(right)
    legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
    return int(legal[0] if rng is None else rng.choice(legal))


def vector_of(observation: Any) -> npt.NDArray[np.uint8]:
    """Returns the vector of an observation of either form."""
    vector: npt.NDArray[np.uint8] = (
        observation["observation"] if isinstance(observation, dict) else observation
    )
    return vector


def illegal_card(env: Any) -> int:
    """Returns a card that the agent to act may not choose."""
    return int(env.infos[env.agent_selection]["action_mask"].argmin())


def play_out(env: Any, rng: np.random.Generator | None = None) -> dict[str, float]:
    """Plays the game to its end and until all have left; returns what `last` has paid each agent.

    Args:
        env: After a reset.
        rng: The luck of `choose`.
    """
    totals: dict[str, float] = defaultdict(float)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        assert type(reward) is float
        assert not truncated
        totals[agent] += reward
        env.step(None if terminated else choose(env, rng))
    assert not env.agents
    assert totals.keys() == set(env.possible_agents)
    return dict(totals)
