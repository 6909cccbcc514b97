"""What plays: the `Policy` protocol, and the house players as policies.

A policy is always batched and sees nothing but its own seat's observation, its mask and its luck.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crib_env.bots import BOTS, Bot
from crib_env.checks import is_array_of_whole, named
from crib_env.kernel import as_records
from crib_env.loops import bot_actions, recall_all
from crib_env.luck import WORD
from crib_env.observation import observation_size
from crib_env.records import new_records
from crib_env.rules import RulesLike, rules_of


class Policy(Protocol):
    """Chooses one action for each of N positions.

    What it chooses in one row depends on that row alone, its luck included: never on the other
    rows, their number or their order.
    """

    def __call__(
        self,
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        """Returns the actions, (N,) int64.

        Args:
            observations: (N, F) uint8 (`crib_env.observation.layout`).
            action_masks: (N, A) int8, 1 = legal, at least one in every row.
            luck: (N,) uint64 random bits, for a policy that draws.
        """
        ...


def checked_actions(actions: Any, n: int, name: str) -> npt.NDArray[np.int64]:
    """Returns what a policy has chosen as (N,) int64.

    Args:
        actions: What the policy returned.
        n: How many positions it was asked for.
        name: The policy's name, for the message.

    Raises:
        ValueError: If it is anything but *n* whole numbers.
    """
    chosen = np.asarray(actions)
    if chosen.shape != (n,) or not is_array_of_whole(chosen):
        raise ValueError(
            f"policy {name}: chose {chosen.dtype} of shape {chosen.shape}: allowed are ints "
            f"of shape ({n},)"
        )
    return chosen.astype(np.int64)


class BotPolicy:
    """A house player as a policy: plays from the observation what it plays in the compiled loops.

    Args:
        name: ``"random"``, ``"greedy"``, ``"expert"`` or ``"careless"``.
        rules: The rules of the games that it is shown: a `Rules`, a name of `PRESETS`, or a mapping
            of fields.

    Raises:
        ValueError: If there is no house player of that name.
    """

    def __init__(self, name: str, rules: RulesLike = None) -> None:
        """Looks the player up."""
        self.bot = bot_number(name)
        self.name = name
        self.rules = rules_of(rules)
        self._size = observation_size(self.rules)

    def __call__(
        self,
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        """Returns the house player's cards, (N,) int64; 0 where the game is over (see `Policy`).

        Raises:
            ValueError: If the observations are not of the length that this player's rules give.
        """
        if observations.ndim != 2 or observations.shape[1] != self._size:
            raise ValueError(
                f"observations of shape {observations.shape}: allowed is (N, {self._size})"
            )
        # A copy: strided or read-only arrays would have kernels compiled anew for them.
        observations = np.array(observations, np.uint8, order="C")
        games: npt.NDArray[Any] = as_records(new_records(len(observations), self.rules))
        recall_all(observations, games)
        words = np.stack([luck & np.uint64(WORD), luck >> np.uint64(32)], axis=1).astype(np.uint32)
        actions = np.zeros(len(observations), np.int64)
        bot_actions(games, self.bot, words, actions)
        return actions


def bot_number(name: str) -> int:
    """Returns the number of a house player.

    Raises:
        ValueError: If there is none of that name.
    """
    if name not in BOTS:
        raise ValueError(f"house player {named(name)}: allowed are {', '.join(BOTS)}")
    return int(Bot[name.upper()])
