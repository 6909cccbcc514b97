"""Draws ``docs/images/table.png`` and ``four_players.png`` anew: ``python docs/table_picture.py``.

Expert against expert: a deal of two just after its show, and one of four in its play.
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
from PIL import Image

import crib_env
from crib_env.env import CribbageEnv
from crib_env.rules import PRESETS

# By the name of the picture: the rules, the seed, and how many steps the agent has taken.
PICTURES = {"table": ("six_card", 3, 6), "four_players": ("four_player", 3, 3)}


def draw(name: str, rules: str, seed: int, steps: int) -> None:
    """Plays so many steps and writes the picture."""
    env = gymnasium.make("crib_env/Cribbage-v0", rules=rules, render_mode="rgb_array").unwrapped
    assert isinstance(env, CribbageEnv)
    expert = crib_env.BotPolicy("expert", PRESETS[rules])
    observation, info = env.reset(seed=seed)
    for _ in range(steps):
        chosen = expert(observation[None], info["action_mask"][None], env.games.luck())  # type: ignore[call-overload, index]  # a vector
        observation, _, _, _, info = env.step(chosen[0])
    folder = Path(__file__).parent / "images"
    Image.fromarray(env.render()).quantize(256).save(folder / f"{name}.png", optimize=True)


def main() -> None:
    """Draws all pictures."""
    for name, options in PICTURES.items():
        draw(name, *options)


if __name__ == "__main__":
    main()
