"""How long matches take, from the start of the command to its result: part of `eval.speed`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from crib_env.rules import Rules

EXPERT_GAMES = 100_000
NETWORK_GAMES = 20_000
WORKERS = 2


def measure_matches(
    run: Callable[[Sequence[str]], float],
    expert_games: int = EXPERT_GAMES,
    network_games: int = NETWORK_GAMES,
) -> dict[str, float]:
    """Measures matches of the house player and of a network of the default size, in seconds.

    Args:
        run: Runs a command and returns how long it took, in seconds.
        expert_games: How many games expert plays against itself, in one process.
        network_games: How many games a network with random weights plays against expert, by
            WORKERS processes of one thread.

    Returns:
        ``match_expert_s`` and ``match_network_s``, statistics and start included.
    """
    match = [sys.executable, "-m", "eval.match"]
    expert = run([*match, "expert", "expert", "--games", str(expert_games)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.safetensors"
        _save_network(path)
        agents = [f"checkpoint:{path}", "expert"]
        flags = ["--games", str(network_games), "--workers", str(WORKERS)]
        network = run([*match, *agents, *flags])
    return {"match_expert_s": expert, "match_network_s": network}


def _save_network(path: Path) -> None:
    """Writes a checkpoint of a network of the default size, 2 x 256, with random weights."""
    # Nothing else that is measured needs torch in this process.
    import torch

    from agents.checkpoint import Checkpoint, save_checkpoint
    from agents.network import NetworkConfig, PolicyValueNet

    shape, rules = NetworkConfig(), Rules()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        weights = PolicyValueNet(shape, rules).state_dict()
    tensors = {f"network.{name}": tensor for name, tensor in weights.items()}
    save_checkpoint(path, Checkpoint(0, {}, asdict(rules), asdict(shape), tensors))
