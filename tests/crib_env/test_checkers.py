"""The checkers of Gymnasium and of stable-baselines3, on every id, reward and observation form.

pytest makes their warnings errors; what they say through Gymnasium's own logger is a warning too.
"""

import logging
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check
from stable_baselines3.common.env_checker import check_env as sb3_check

import crib_env

assert crib_env.__version__  # its import registers the ids
GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"

SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "win": (GAME, {"reward": "win"}),
    "points": (GAME, {"reward": "points"}),
    "match points": (GAME, {"reward": "match_points"}),
    "win probability": (GAME, {"reward": "win_probability"}),
    "shaped by points": (GAME, {"shaping": "points"}),
    "shaped by win probability": (GAME, {"shaping": "win_probability"}),
    "deal, points": (DEAL, {"reward": "points"}),
    "deal, win probability": (DEAL, {"reward": "win_probability"}),
}


@pytest.fixture(autouse=True)
def _no_forfeits_on_the_log() -> Iterator[None]:
    # Both checkers step with actions of their own, which are mostly illegal.
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_gymnasiums_check_env_passes_without_a_warning(scheme: str, observation: str) -> None:
    env_id, options = SCHEMES[scheme]
    gymnasium_check(gymnasium.make(env_id, observation=observation, **options).unwrapped)


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sb3s_check_env_passes_without_a_warning(scheme: str, observation: str) -> None:
    env_id, options = SCHEMES[scheme]
    sb3_check(gymnasium.make(env_id, observation=observation, **options).unwrapped)


@pytest.mark.parametrize("env_id", [GAME, DEAL])
@pytest.mark.parametrize("render_mode", ["ansi", "human", "rgb_array"])
def test_the_checkers_pass_with_pictures(env_id: str, render_mode: str) -> None:
    env = gymnasium.make(env_id, render_mode=render_mode).unwrapped
    gymnasium_check(env)
    sb3_check(env)
