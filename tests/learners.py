"""Small networks and learners for the tests, and what tells whether two of them are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.network import NetworkConfig, PolicyValueNet
from crib_env.batch import Games
from crib_env.rules import Rules
from tests.tabletop import random_actions
from train.config import TrainConfig
from train.ppo import Learner


def small_config(**changes: Any) -> TrainConfig:
    """Returns the configuration of a run of a second."""
    values: dict[str, Any] = {
        "hidden_size": 16,
        "games": 32,
        "minibatch": 128,
        "epochs": 2,
        "total_decisions": 3_000,
        "checkpoint_every": 1_000,
        "evaluate_every": 0,
        "evaluate_games": 20,
        "final_games": 0,
        "opponents": ("random",),
    }
    return TrainConfig(**values | changes)


def decided_network(seed: int, scale: float = 1.0, rules: Rules | None = None) -> PolicyValueNet:
    """Returns a network with random weights, so large that it is sure of some of its actions."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = PolicyValueNet(NetworkConfig(hidden_size=16), rules or Rules())
        with torch.no_grad():
            for parameter in network.actor.parameters():
                size = parameter.shape[-1] if parameter.dim() == 2 else 16
                parameter.normal_(0, scale ** (1 / 3) / size**0.5 * 2)
    return network.eval()


def midway(n: int, seed: int, steps: int = 60, rules: Rules | None = None) -> Games:
    """Returns games, none of them over, after up to that many random actions in each lane."""
    games = Games(n, rules, seed=seed)
    rng = np.random.default_rng(seed)
    left = rng.integers(0, steps + 1, n)
    for _ in range(steps):
        lanes = np.flatnonzero(left > 0)
        if len(lanes):
            games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        games.next_game()
        left -= 1
    return games


def tensors_of(learner: Learner) -> dict[str, Tensor]:
    """Returns all tensors that a learner has learned: weights and moments, by name."""
    tensors = {f"network.{name}": value for name, value in learner.network.state_dict().items()}
    for name, parameter in learner.network.named_parameters():
        for key, value in learner.optimizer.state[parameter].items():
            tensors[f"optimizer.{name}.{key}"] = value
    return {name: value.clone() for name, value in tensors.items()}


def assert_same_tensors(first: dict[str, Tensor], second: dict[str, Tensor]) -> None:
    """Fails, naming a tensor, unless both are equal bit for bit."""
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert tensor.dtype == second[name].dtype, name
        assert torch.equal(tensor, second[name]), name


def luck_grid(n: int) -> npt.NDArray[np.uint64]:
    """Returns luck spread evenly: n numbers, one from the middle of each n-th, (n,) uint64."""
    return np.array([(2 * i + 1) * 2**63 // n for i in range(n)], np.uint64)
