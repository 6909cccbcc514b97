"""A player that now and then plays at random: another one, a little weaker by a known amount."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.game_record import PLAY
from crib_env.observation import layout
from crib_env.policy import Policy
from crib_env.rules import Rules

Words = npt.NDArray[np.uint64]

# Where chance may choose: only which card is laid in the play, or every decision.
PLACES = ("pegging", "all")


class NoisyPolicy:
    """Plays as another policy does, but for a share of its decisions, taken at random.

    At random is uniformly among what is legal. Whether and what chance chooses follows from the
    decision's own luck, so an agent of this kind against itself splits its pairs too, and no result
    depends on who plays beside it.

    Args:
        policy: Who plays otherwise. What it draws has nothing to do with what is drawn here.
        rules: The rules of the games that it is shown.
        share: How many of the decisions are taken at random, 0 to 1.
        where: One of `PLACES`.
    """

    def __init__(self, policy: Policy, rules: Rules, share: float, where: str) -> None:
        """Finds the phase in the observation."""
        self.policy = policy
        self.share = share
        self.where = where
        self._playing = layout(rules)["phase"].start + PLAY

    def __call__(
        self,
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: Words,
    ) -> npt.NDArray[np.int64]:
        """Returns the actions, (N,) int64 (`crib_env.policy.Policy`)."""
        own = hashed(luck)
        random = fraction(own) < self.share
        if self.where == "pegging":
            random &= observations[:, self._playing] > 0
        actions = random_actions(action_masks, fraction(hashed(own)))
        asked = np.flatnonzero(~random)
        if len(asked):
            actions[asked] = self.policy(observations[asked], action_masks[asked], luck[asked])
        return actions


def hashed(words: Words) -> Words:
    """Returns 64 random bits for each word of them, unlike those and unlike its neighbours'.

    The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
    generators", OOPSLA 2014).
    """
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def fraction(words: Words) -> npt.NDArray[np.float64]:
    """Returns random bits as fractions, (N,) float64 in [0, 1): the highest 53 of each word."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def random_actions(
    action_masks: npt.NDArray[np.int8], fractions: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Returns a legal action of each row, all alike likely, (N,) int64.

    Args:
        action_masks: (N, A) int8, 1 = legal, at least one in every row.
        fractions: (N,) in [0, 1), which pick the place among those that are legal, in order.
    """
    legal = action_masks.cumsum(axis=1, dtype=np.int64)
    places = (fractions * legal[:, -1]).astype(np.int64)
    return np.asarray((legal > places[:, None]).argmax(axis=1))
