"""Generalised advantage estimation for seats that take turns within a deal."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def advantages_by_seat(
    gains: Array, seats: Array, values: Array, valid: Array, gae_lambda: float
) -> npt.NDArray[np.float32]:
    """Returns the advantage of each decision over its own seat's later decisions in the deal.

    A seat's reward for a decision is all that it gains on the others from then until its own next
    decision, or the end of the deal: also what others peg in between, the show included. With the
    value after the deal being 0 and no discount, per seat (Schulman et al. 2016, eq. 11 to 16):

        delta_k = reward_k + value_{k+1} - value_k
        advantage_k = delta_k + lambda * advantage_{k+1}

        step     0     1     2     3     4     ...
        seat     1     1     0     0     1     ...
        seat 0   .     .     k     k+1   .        its decisions; others' gains count against it
        seat 1   k     k+1   .     .     k+2      likewise

    Args:
        gains: (T, N, players) what each seat gained on the others by each step's action.
        seats: (T, N) who acted.
        values: (T, N) the critic's value for the seat that acted.
        valid: (T, N) bool, whether there was a decision.
        gae_lambda: Lambda, 0 to 1.

    Returns:
        (T, N) float32; 0 where there was no decision.
    """
    steps, lanes, players = gains.shape
    advantages = np.zeros((steps, lanes), np.float32)
    reward = np.zeros((players, lanes), np.float32)
    next_value = np.zeros((players, lanes), np.float32)
    next_advantage = np.zeros((players, lanes), np.float32)
    columns = np.arange(lanes)
    for step in reversed(range(steps)):
        acting = valid[step]
        reward += np.where(acting, gains[step].T, 0)
        seat = seats[step]
        delta = reward[seat, columns] + next_value[seat, columns] - values[step]
        advantage = delta + gae_lambda * next_advantage[seat, columns]
        advantages[step] = np.where(acting, advantage, 0)
        lanes_acting, seats_acting = columns[acting], seat[acting]
        reward[seats_acting, lanes_acting] = 0
        next_value[seats_acting, lanes_acting] = values[step][acting]
        next_advantage[seats_acting, lanes_acting] = advantage[acting]
    return advantages
