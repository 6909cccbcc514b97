"""Who plays against the agent: a house player, a policy, or a pool that each game draws from."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from crib_env.bots import BOTS
from crib_env.checks import is_number, named
from crib_env.loops import OUTSIDE
from crib_env.policy import Policy, bot_number

Opponent: TypeAlias = str | Policy
Pool: TypeAlias = Mapping[Any, float] | Iterable[tuple[Opponent, float]]


class Member(NamedTuple):
    """One opponent of a pool."""

    name: str
    bot: int  # its number as a house player, or OUTSIDE
    policy: Policy | None  # None for a house player
    share_up_to: float  # the upper end of its share of [0, 1]; infinite for the last


def pool_of(opponent: Any) -> tuple[Member, ...]:
    """Returns the members of a pool, or the one opponent there is.

    Raises:
        ValueError: If the opponent is not allowed, or a weight is no number above 0.
    """
    if isinstance(opponent, str) or callable(opponent):
        return (_member(opponent, math.inf),)
    pairs = list(opponent.items() if isinstance(opponent, Mapping) else _pairs(opponent))
    if not pairs:
        raise ValueError(f"opponent={named(opponent)}: a pool needs a member")
    ends = list(accumulate(_weight(weight, opponent) for _, weight in pairs))
    if not math.isfinite(ends[-1]):
        raise ValueError(f"opponent={named(opponent)}: a pool may weigh no more than a float holds")
    # The last end is made infinite, so that no rounding leaves a draw without a member.
    shares = [end / ends[-1] for end in ends[:-1]] + [math.inf]
    return tuple(_member(one, share) for (one, _), share in zip(pairs, shares, strict=True))


def _member(opponent: Any, share_up_to: float) -> Member:
    """Returns an opponent as a member of a pool.

    Raises:
        ValueError: If it is neither a house player's name nor a policy.
    """
    if isinstance(opponent, str) and opponent in BOTS:
        return Member(opponent, bot_number(opponent), None, share_up_to)
    if callable(opponent) and not isinstance(opponent, type):
        name = getattr(opponent, "name", getattr(opponent, "__name__", type(opponent).__name__))
        return Member(str(name), OUTSIDE, opponent, share_up_to)
    raise ValueError(_refusal(opponent))


def _weight(weight: Any, opponent: Any) -> float:
    """Returns a weight of a pool as a float, also where it is a fraction.

    Raises:
        ValueError: If it is no finite number above 0.
    """
    number = math.nan
    if is_number(weight):
        with contextlib.suppress(OverflowError):
            number = float(weight)
    if not 0 < number < math.inf:
        raise ValueError(
            f"opponent={named(opponent)}: weight {named(weight)}: allowed is a number above 0"
        )
    return number


def _pairs(opponent: Any) -> list[tuple[Any, Any]]:
    """Returns a pool given as pairs of (opponent, weight).

    Raises:
        ValueError: If it is not made of pairs.
    """
    try:
        return [(member, weight) for member, weight in opponent]
    except (TypeError, ValueError):
        raise ValueError(_refusal(opponent)) from None


def _refusal(opponent: Any) -> str:
    """Returns the line that refuses an opponent."""
    allowed = ", ".join(map(repr, BOTS))
    return (
        f"opponent={named(opponent)}: allowed are {allowed}, a Policy, and a pool of those: "
        "a mapping to weights, or pairs of (opponent, weight)"
    )
