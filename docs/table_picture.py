"""Draws ``docs/images/table.png`` anew: ``python docs/table_picture.py``.

A deal of expert against expert, just after the show.
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
from PIL import Image

import crib_env
from crib_env.env import CribbageEnv

SEED = 3
STEPS = 6  # one deal


def main() -> None:
    """Plays the deal and writes the picture."""
    env = gymnasium.make("crib_env/Cribbage-v0", render_mode="rgb_array").unwrapped
    assert isinstance(env, CribbageEnv)
    expert = crib_env.BotPolicy("expert")
    observation, info = env.reset(seed=SEED)
    for _ in range(STEPS):
        chosen = expert(observation[None], info["action_mask"][None], env.games.luck())  # type: ignore[call-overload, index]  # a vector
        observation, _, _, _, info = env.step(chosen[0])
    folder = Path(__file__).parent / "images"
    Image.fromarray(env.render()).quantize(256).save(folder / "table.png", optimize=True)


if __name__ == "__main__":
    main()
