"""PPO self-play, top to bottom: play whole deals, estimate advantages, update, write down.

Schulman et al., "Proximal policy optimization algorithms", arXiv 1707.06347. One network plays all
seats. Its critic sees all hands, in training only (as in Yang et al., "PerfectDou", NeurIPS 2022).
The return of a decision is what its seat gains on the others until the end of the deal, in points.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.checkpoint import Checkpoint, CheckpointError, check_keys, check_tensors, fields_of
from agents.network import MaskedCategorical, NetworkConfig, PolicyValueNet
from crib_env import Games, Phase, Rules, lane_seed
from crib_env.game_record import RECORD
from crib_env.records import check_records
from train.config import TrainConfig
from train.rollout import Rollout, autocast, play_deals
from train.soundness import (
    DivergedError,
    check_learned,
    check_metrics,
    check_rollout,
    largest_return,
)

# What the run's one seed is split into; each is a lane of it, so that none is another's.
SEED_GAMES, SEED_WEIGHTS, SEED_MINIBATCHES, SEED_EVALUATION, SEED_REPORT = range(5)

# What Adam keeps for each parameter.
ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")

PRECISIONS = ("float32", "bfloat16")

# What torch.compile puts into the names of a module's parameters, anywhere.
COMPILED = "_orig_mod."


@dataclass
class Learner:
    """A network that learns, and the games it is in. What `save` takes is all there is to it."""

    config: TrainConfig
    network: PolicyValueNet
    optimizer: torch.optim.Adam
    games: Games
    decisions: int = 0
    updates: int = 0
    precision: str = "float32"

    @property
    def done(self) -> bool:
        """Whether all decisions have been learned from."""
        return self.decisions >= self.config.total_decisions

    @property
    def dtype(self) -> torch.dtype:
        """The arithmetic of the network in training; weights are float32 always."""
        return torch.bfloat16 if self.precision == "bfloat16" else torch.float32


def new_learner(config: TrainConfig) -> Learner:
    """Returns a learner with random weights, all from the configuration's seed.

    Sets torch's threads as configured: already the weights depend on them, bit by bit.
    """
    torch.set_num_threads(config.threads)
    # torch draws weights from its global generator: put that back as it was.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(lane_seed(config.seed, SEED_WEIGHTS))
        network = PolicyValueNet(
            NetworkConfig(config.hidden_size, config.hidden_layers), config.rules
        )
    optimizer = torch.optim.Adam(
        network.parameters(), lr=config.learning_rate, eps=1e-5, fused=True
    )
    games = Games(config.games, config.rules, lane_seed(config.seed, SEED_GAMES))
    return Learner(config, network, optimizer, games, precision=precision_of(config))


def precision_of(config: TrainConfig) -> str:
    """Returns the arithmetic that the configuration asks for on this CPU."""
    if config.precision != "auto":
        return config.precision
    # torch says so by names of its own alone; where it drops them, the answer is no.
    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    native = any(getattr(torch.cpu, name, lambda: False)() for name in asked)
    return "bfloat16" if native else "float32"


def train_step(learner: Learner) -> dict[str, float]:
    """Plays, learns once from what was played, and returns the metrics. Changes *learner*.

    Raises:
        FloatingPointError: If a number that was played by, learned from or learned is not finite or
            beyond reason; *learner* is spoilt then.
    """
    config = learner.config
    began = time.perf_counter()
    # What overflows is told by the check, in its one line.
    with np.errstate(over="ignore", invalid="ignore"):
        rollout = play_deals(
            learner.games,
            learner.network,
            config.deals_per_update,
            config.points_scale,
            config.gae_lambda,
            learner.dtype,
        )
    check_rollout(rollout, largest_return(config.rules.target, config.points_scale))
    left = max(0.0, 1 - learner.decisions / config.total_decisions)
    learning_rate = anneal(config.learning_rate, config.final_learning_rate, left)
    entropy_weight = anneal(config.entropy, config.final_entropy, left)
    metrics = update(learner, rollout, learning_rate, entropy_weight)
    check_metrics(metrics)
    check_learned(_learned(learner))
    learner.decisions += len(rollout)
    learner.updates += 1
    seconds = time.perf_counter() - began
    return metrics | {
        "policy/entropy": rollout.entropy,
        "schedule/learning_rate": learning_rate,
        "schedule/entropy_weight": entropy_weight,
        "games/ended": float(rollout.games_ended),
        "speed/decisions_per_s": len(rollout) / seconds,
    }


def anneal(start: float, end: float, left: float) -> float:
    """Returns the value between *start* and *end* when the share *left* of the run is to come."""
    return end + (start - end) * left


def update(
    learner: Learner, rollout: Rollout, learning_rate: float, entropy_weight: float
) -> dict[str, float]:
    """Learns from a rollout in several passes of minibatches. Changes *learner*'s network.

    Returns:
        The metrics of the update (`train.metrics.METRICS`).

    Raises:
        FloatingPointError: If a gradient or logit is not finite; no step was made with it.
    """
    config, network, optimizer = learner.config, learner.network, learner.optimizer
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    size = len(rollout)
    scaled = normalised(rollout.advantages)
    returns = rollout.returns
    # Minibatches are a function of (seed, update): nothing to carry over when a run is resumed.
    key = np.array([lane_seed(config.seed, SEED_MINIBATCHES), learner.updates], np.uint64)
    shuffler = np.random.Generator(np.random.Philox(key=key))
    sums: dict[str, Tensor] = {}
    steps = 0
    first_ratio_error = 0.0
    for _ in range(config.epochs):
        order = torch.from_numpy(shuffler.permutation(size))
        for start in range(0, size, config.minibatch):
            rows = order[start : start + config.minibatch]
            with autocast(learner.dtype):
                features = rollout.features[rows]
                logits = network.logits(features)
                values = network.values(features, rollout.privileged[rows])
            distribution = MaskedCategorical(logits, rollout.action_masks[rows])
            log_ratio = distribution.log_prob(rollout.actions[rows]) - rollout.log_probs[rows]
            ratio = log_ratio.exp()
            clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
            gain = torch.minimum(ratio * scaled[rows], clipped * scaled[rows])
            policy_loss = -gain.mean()
            value_loss = 0.5 * (values - returns[rows]).square().mean()
            entropy = distribution.entropy().mean()
            loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), config.max_grad_norm)
            if not math.isfinite(norm):
                raise DivergedError(f"policy/grad_norm is {float(norm)}")
            optimizer.step()
            if steps == 0:
                first_ratio_error = float((ratio.detach() - 1).abs().max())
            steps += 1
            for name, value in (
                ("loss/policy", policy_loss),
                ("loss/value", value_loss),
                ("policy/kl", (ratio - 1 - log_ratio).mean()),
                ("policy/clip_fraction", ((ratio - 1).abs() > config.clip).float().mean()),
                ("policy/grad_norm", norm),
            ):
                sums[name] = sums.get(name, torch.zeros(())) + value.detach()
    metrics = {name: float(total) / steps for name, total in sums.items()}
    metrics["policy/first_ratio_error"] = first_ratio_error
    spread = returns.var(correction=0)
    metrics["value/explained_variance"] = float(
        1 - rollout.advantages.var(correction=0) / spread.clamp_min(1e-12)
    )
    return metrics


def normalised(advantages: Tensor) -> Tensor:
    """Returns advantages with mean 0 and standard deviation 1, (B,)."""
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)


def save(learner: Learner) -> Checkpoint:
    """Returns a copy of all that is needed to go on bit by bit from here, or to play."""
    tensors = _learned(learner)
    tensors["games"] = torch.from_numpy(learner.games.records.view(np.uint8))
    config = learner.config
    return Checkpoint(
        decisions=learner.decisions,
        config=config.as_dict(),
        rules=asdict(config.rules),
        network=asdict(learner.network.config),
        # Wherever they were: a checkpoint is of no device.
        tensors={name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()},
        state={"updates": learner.updates, "precision": learner.precision},
    )


def _learned(learner: Learner) -> dict[str, Tensor]:
    """Returns the weights and Adam's moments by the names that checkpoints have, not copied."""
    tensors = {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    for name, parameter in learner.network.named_parameters():
        for key, value in learner.optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    return {name.replace(COMPILED, ""): tensor for name, tensor in tensors.items()}


def restore(checkpoint: Checkpoint, config: TrainConfig) -> Learner:
    """Returns the learner that a checkpoint was taken of.

    Args:
        checkpoint: What `save` returned.
        config: The configuration of the run.

    Raises:
        CheckpointError: If a tensor or counter is missing, unknown or of another shape, naming it.
    """
    check_keys(config.as_dict(), checkpoint.config, "the header's config")
    check_keys(("updates", "precision"), checkpoint.state, "the header's state")
    fields_of(Rules, checkpoint.rules, "the header's rules")
    fields_of(NetworkConfig, checkpoint.network, "the header's network")
    updates, precision = checkpoint.state["updates"], checkpoint.state["precision"]
    for name, number in (("decisions", checkpoint.decisions), ("updates", updates)):
        if type(number) is not int or number < 0:
            raise CheckpointError(f"the header's {name} = {number!r}: allowed is 0 or more")
    if precision not in PRECISIONS:
        raise CheckpointError(
            f"the header's precision = {precision!r}: allowed are {', '.join(PRECISIONS)}"
        )
    learner = new_learner(config)
    learner.decisions, learner.updates = checkpoint.decisions, updates
    learner.precision = precision
    check_tensors(_tensors_like(learner), checkpoint.tensors)
    learner.network.load_state_dict(checkpoint.part("network"))
    moments = checkpoint.part("optimizer")
    for name, parameter in learner.network.named_parameters():
        learner.optimizer.state[parameter] = {
            key: moments[f"{name}.{key}"].clone() for key in ADAM_STATE if learner.updates
        }
    records = checkpoint.tensors["games"].numpy().view(RECORD)
    _check_records(records, learner.games.records)
    learner.games.records[:] = records
    return learner


def _check_records(records: npt.NDArray[Any], like: npt.NDArray[Any]) -> None:
    """Refuses games that kernels, which check nothing, must not be given.

    Raises:
        CheckpointError: Naming the field.
    """
    try:
        check_records(records, like)
    except ValueError as error:
        raise CheckpointError(f"the checkpoint's {error}") from None
    fresh = (records["phase"] == Phase.DISCARD) & (records["discards"] == 0).all(axis=1)
    if not fresh.all():
        raise CheckpointError("the checkpoint's games do not begin a deal")


def _tensors_like(learner: Learner) -> dict[str, Tensor]:
    """Returns tensors of the names, shapes and types that `save` gives for this learner."""
    tensors = {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    for name, parameter in learner.network.named_parameters():
        # Adam has no moments before its first step.
        for key in ADAM_STATE if learner.updates else ():
            like = torch.zeros(()) if key == "step" else parameter
            tensors[f"optimizer.{name}.{key}"] = like
    tensors["games"] = torch.from_numpy(learner.games.records.view(np.uint8))
    return tensors
