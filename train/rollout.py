"""Self-play into arrays: whole deals of many games, all seats played by one network.

Axes: (T, N) steps and games, (B,) the decisions among them, in step order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.network import MaskedCategorical, PolicyValueNet, luck_fraction
from crib_env import Games
from train.advantages import advantages_by_seat

# A fixed size, so that critic values are computed alike whatever the number of decisions.
VALUE_BATCH = 4096


def autocast(dtype: torch.dtype) -> torch.autocast:
    """Returns the context in which a network is evaluated in training with that arithmetic."""
    return torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16)


@dataclass(frozen=True)
class Rollout:
    """Decisions to learn from, and what came of the games that ended."""

    features: Tensor
    """(B, F') what the actor read."""
    privileged: Tensor
    """(B, P) what the critic alone read."""
    action_masks: Tensor
    """(B, A) int8."""
    actions: Tensor
    """(B,) int64."""
    log_probs: Tensor
    """(B,) float32, of the actions when they were chosen."""
    values: Tensor
    """(B,) float32, the critic's when they were chosen."""
    advantages: Tensor
    """(B,) float32, in returns, not normalised."""
    games_ended: int
    """How many games ended."""
    deals: int
    """How many deals were played."""
    entropy: float
    """Mean entropy of the policy in nats."""

    @property
    def returns(self) -> Tensor:
        """(B,) float32, what the critic is to learn."""
        return self.advantages + self.values

    def __len__(self) -> int:
        """Returns the number of decisions."""
        return len(self.actions)


def play_deals(
    games: Games,
    network: PolicyValueNet,
    deals: int,
    points_scale: float,
    gae_lambda: float,
    dtype: torch.dtype,
) -> Rollout:
    """Plays whole deals in every game and returns the decisions. Changes *games*.

    Every game stands at the beginning of a deal, before and after; one that ended goes on with its
    next game. No return reaches beyond its deal, so nothing is ever bootstrapped.

    Args:
        games: (N,) games at the beginning of a deal.
        network: Plays all seats, sampling by the games' own luck.
        deals: Deals to play in every game.
        points_scale: Points of lead, on the mean of the other sides, that make a return of 1.
        gae_lambda: See `advantages_by_seat`.
        dtype: Arithmetic of the network, float32 or bfloat16.
    """
    parts = [_play_deal(games, network, points_scale, dtype) for _ in range(deals)]
    features = torch.cat([part.features for part in parts])
    privileged = torch.cat([part.privileged for part in parts])
    values = _values(network, features, privileged, dtype)
    advantages = []
    start = 0
    for part in parts:
        grid = np.zeros(part.valid.shape, np.float32)
        size = int(part.valid.sum())
        grid[part.valid] = values[start : start + size].numpy()
        start += size
        found = advantages_by_seat(part.gains, part.seats, grid, part.valid, gae_lambda)
        advantages.append(torch.from_numpy(found[part.valid]))
    return Rollout(
        features=features,
        privileged=privileged,
        action_masks=torch.cat([part.action_masks for part in parts]),
        actions=torch.cat([part.actions for part in parts]),
        log_probs=torch.cat([part.log_probs for part in parts]),
        values=values,
        advantages=torch.cat(advantages),
        games_ended=sum(part.games_ended for part in parts),
        deals=deals * len(games),
        entropy=float(torch.cat([part.entropies for part in parts]).mean()),
    )


@dataclass(frozen=True)
class _Deal:
    """One deal of every game: (T, N) arrays, and (B,) tensors of the decisions in step order."""

    gains: npt.NDArray[np.float32]
    """(T, N, players) how each seat's lead has changed, in returns."""
    seats: npt.NDArray[np.int64]
    valid: npt.NDArray[np.bool_]
    features: Tensor
    privileged: Tensor
    action_masks: Tensor
    actions: Tensor
    log_probs: Tensor
    entropies: Tensor
    games_ended: int


@torch.no_grad()
def _play_deal(
    games: Games, network: PolicyValueNet, points_scale: float, dtype: torch.dtype
) -> _Deal:
    """Plays one deal in every game. Changes *games*."""
    lanes = np.arange(len(games))
    before = games.records["deal_number"].copy()
    lead = summed_leads(games)
    # What is summed over the other sides counts as their mean.
    scale = points_scale * (games.rules.sides - 1)
    gains, seats, valid = [], [], []
    rows: list[tuple[Tensor, ...]] = []
    while len(lanes):
        turn = games.turn[lanes].astype(np.int64)
        features = network.features(torch.from_numpy(games.observe(lanes=lanes)), dtype)
        privileged = network.privileged_features(
            torch.from_numpy(games.privileged(lanes=lanes)), dtype
        )
        masks = torch.from_numpy(games.action_masks(lanes=lanes))
        with autocast(dtype):
            logits = network.logits(features)
        distribution = MaskedCategorical(logits, masks)
        actions = distribution.sample(luck_fraction(games.luck(lanes)))
        rows.append(
            (
                features,
                privileged,
                masks,
                actions,
                distribution.log_prob(actions),
                distribution.entropy(),
            )
        )
        games.apply(actions.numpy(), lanes)
        lead, lead_before = summed_leads(games), lead
        gains.append(((lead - lead_before) / scale).astype(np.float32))
        acted = np.zeros(len(games), np.bool_)
        acted[lanes] = True
        valid.append(acted)
        seat = np.zeros(len(games), np.int64)
        seat[lanes] = turn
        seats.append(seat)
        lanes = lanes[~games.over[lanes] & (games.records["deal_number"][lanes] == before[lanes])]
    ended = int(games.over.sum())
    games.next_game()
    columns = [torch.cat(column) for column in zip(*rows, strict=True)]
    features, privileged, masks, actions, log_probs, entropies = columns
    return _Deal(
        gains=np.array(gains),
        seats=np.array(seats),
        valid=np.array(valid),
        features=features,
        privileged=privileged,
        action_masks=masks,
        actions=actions,
        log_probs=log_probs,
        entropies=entropies,
        games_ended=ended,
    )


def summed_leads(games: Games) -> npt.NDArray[np.int64]:
    """Returns by how much each seat's side leads each other side, summed, (N, players) in points.

    The same as `crib_env.episode.lead_of`, so that training learns what environments pay for: all
    seats' leads add up to 0, and partners have the same.
    """
    scores = games.scores.astype(np.int64)
    sides = games.rules.sides
    leads: npt.NDArray[np.int64] = sides * scores - scores.sum(axis=1, keepdims=True)
    return leads[:, np.arange(games.rules.players) % sides]


@torch.no_grad()
def _values(
    network: PolicyValueNet, features: Tensor, privileged: Tensor, dtype: torch.dtype
) -> Tensor:
    """Returns the critic's values, (B,) float32."""
    values = torch.empty(len(features))
    for start in range(0, len(features), VALUE_BATCH):
        part = slice(start, start + VALUE_BATCH)
        with autocast(dtype):
            values[part] = network.values(features[part], privileged[part])
    return values
