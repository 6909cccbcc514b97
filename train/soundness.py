"""Numbers that cannot be: seen before anything is learned from them, and before they are written.

A run that meets one stops, so that no checkpoint ever holds what came of it. What a policy plays by
is watched where it is played (`agents.network.MaskedCategorical`), what is written and read where
that is done (`agents.checkpoint.check_numbers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor

from agents.checkpoint import CheckpointError, check_numbers
from train.rollout import Rollout

# The logarithm of the smallest probability that float32 has is -103.3; none lower is ever drawn.
LEAST_LOG_PROB = -104.0
# Rounding: a log-probability may end above 0 by so much.
ROUNDING = 1e-3
# A critic that expects the points of so many games from one deal has failed.
GAMES_IN_A_DEAL = 1_000


class DivergedError(FloatingPointError):
    """A number that is not finite or beyond reason: there is nothing to go on from."""


def largest_return(target: int, points_scale: float) -> float:
    """Returns what no value, advantage or return of a deal comes near, in returns.

    Args:
        target: The score that wins a game.
        points_scale: Points that make a return of 1.
    """
    # An untrained critic is off by about 1 however small a point is.
    return GAMES_IN_A_DEAL * max(1.0, target / points_scale)


def check_rollout(rollout: Rollout, largest: float) -> None:
    """Refuses a rollout of which a single number is outside of what it can be.

    Args:
        rollout: What is to be learned from.
        largest: Of `largest_return`.

    Raises:
        DivergedError: Naming the tensor and the number.
    """
    allowed = {
        "features": (0.0, 1.0),
        "privileged": (0.0, 1.0),
        "log_probs": (LEAST_LOG_PROB, ROUNDING),
        "values": (-largest, largest),
        "advantages": (-largest, largest),
    }
    for name, (least, most) in allowed.items():
        low, high = (float(end) for end in getattr(rollout, name).aminmax())
        # NaN compares as False with everything.
        if not (least <= low and high <= most):
            found = high if low >= least else low
            raise DivergedError(f"{name} hold {found:g}: allowed is {least:g} to {most:g}")


def check_learned(tensors: Mapping[str, Tensor]) -> None:
    """Refuses weights and moments that are not finite or beyond reason.

    Raises:
        DivergedError: Naming the tensor and the number.
    """
    try:
        check_numbers(tensors)
    except CheckpointError as error:
        raise DivergedError(str(error)) from None


def check_metrics(metrics: Mapping[str, float]) -> None:
    """Refuses metrics that are no finite numbers.

    Raises:
        DivergedError: Naming the metric and the number.
    """
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise DivergedError(f"{name} is {value}")
