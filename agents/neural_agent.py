"""A network as a policy: what a checkpoint plays."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.checkpoint import (
    Checkpoint,
    CheckpointError,
    check_tensors,
    fields_of,
    load_checkpoint,
)
from agents.network import MaskedCategorical, NetworkConfig, PolicyValueNet, draw, luck_fraction
from crib_env.cards import NO_CARD, NUM_CARDS
from crib_env.observation import layout, observation_size
from crib_env.rules import Rules

# Positions are evaluated in batches of one size, the last filled up: a matrix product may round
# otherwise at another size, and results must not depend on how many positions were asked at once.
BATCH = 1024

# Pairs that are kept at most: more than the games that are played at a time. What is asked for one
# throw of a hand alone leaves its pair behind.
MOST_PAIRS = 65_536


class NetworkPolicy:
    """Plays a network's actor, in float32.

    Args:
        network: The network; not changed.
        rules: The rules of the games that it is shown.
        mode: ``"greedy"``: the most probable card, and of the throws the most probable *set*, by
            joint probability over both orders. ``"sample"``: drawn from the probabilities by the
            luck given.

    A network that learns on needs a policy made anew: pairs thrown by half are kept.
    """

    def __init__(self, network: PolicyValueNet, rules: Rules, mode: str = "greedy") -> None:
        """Finds the places in the observation that a throw changes."""
        self.network = network
        self.mode = mode
        # By what was seen before either card was thrown: pairs of which one is still to be thrown.
        self._pairs: dict[bytes, tuple[int, int]] = {}
        self.num_discards = rules.num_discards
        self._num_actions = rules.num_actions
        fields = layout(rules)
        self._size = observation_size(rules)
        self._hand = fields["hand"].start
        self._discards = fields["discards"].start
        self._held = fields["held"].start
        self._discarding = fields["phase"].start

    def __call__(
        self,
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        """Returns the actions, (N,) int64 (`crib_env.policy.Policy`).

        Raises:
            ValueError: If the observations are of another length than this network's.
        """
        if observations.ndim != 2 or observations.shape[1] != self._size:
            raise ValueError(
                f"observations of shape {observations.shape}: allowed is (N, {self._size})"
            )
        # Where one action is legal there is nothing to ask, and a throw is asked for otherwise.
        actions: npt.NDArray[np.int64] = action_masks.argmax(axis=1).astype(np.int64)
        asked = action_masks.sum(axis=1) > 1
        if self.mode == "greedy" and self.num_discards == 2:
            throwing = np.flatnonzero(observations[:, self._discarding])
            actions[throwing] = self._throw(observations[throwing])
            asked[throwing] = False
        rows = np.flatnonzero(asked)
        probs = self.probabilities(observations[rows], action_masks[rows])
        if self.mode == "sample":
            actions[rows] = draw(torch.from_numpy(probs), luck_fraction(luck[rows])).numpy()
        else:
            actions[rows] = probs.argmax(axis=1)
        return actions

    def probabilities(
        self, observations: npt.NDArray[np.uint8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float32]:
        """Returns the probability of each action, (N, A) float32."""
        rows = [np.zeros((0, action_masks.shape[1]), np.float32)]
        for start in range(0, len(observations), BATCH):
            part = slice(start, start + BATCH)
            rows.append(self._padded(observations[part], action_masks[part]))
        return np.concatenate(rows)

    @torch.inference_mode()
    def _padded(
        self, observations: npt.NDArray[np.uint8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float32]:
        """Returns the probabilities of at most BATCH rows, evaluated as BATCH rows."""
        size = len(observations)
        padded = np.zeros((BATCH, observations.shape[1]), np.uint8)
        padded[:size] = observations
        masks = np.ones((BATCH, action_masks.shape[1]), np.int8)
        masks[:size] = action_masks
        logits = self.network.logits(self.network.features(torch.from_numpy(padded)))
        probs: Tensor = MaskedCategorical(logits, torch.from_numpy(masks)).probs
        return probs[:size].numpy()

    def _throw(self, observations: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Returns the card to throw now of the most probable pair, (M,) int64.

        The pair is found when its first card is thrown, and kept for the second. It follows from
        what was seen before either, so if it has been lost, or another card was thrown first, it is
        found again: keeping it saves time and changes nothing.
        """
        hand = observations[:, self._hand : self._hand + NUM_CARDS]
        thrown = observations[:, self._discards : self._discards + NUM_CARDS]
        before = observations.copy()
        cards = hand | thrown
        before[:, self._hand : self._hand + NUM_CARDS] = cards
        before[:, self._discards : self._discards + NUM_CARDS] = 0
        before[:, self._held] = cards.sum(axis=1)
        began = np.asarray(thrown.any(axis=1))
        throws = np.full(len(observations), NO_CARD, np.int64)
        for row in np.flatnonzero(began):
            first, second = self._pairs.pop(before[row].tobytes(), (NO_CARD, NO_CARD))
            if first != NO_CARD and thrown[row, first]:
                throws[row] = second
        rest = np.flatnonzero(throws == NO_CARD)
        pairs = self._best_pairs(before[rest], thrown[rest])
        throws[rest] = np.where(began[rest], pairs[:, 1], pairs[:, 0])
        if len(self._pairs) > MOST_PAIRS:
            self._pairs.clear()
        for row, (first, second) in zip(rest, pairs.tolist(), strict=True):
            if not began[row]:
                self._pairs[before[row].tobytes()] = first, second
        return throws

    def _best_pairs(
        self, before: npt.NDArray[np.uint8], thrown: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.int64]:
        """Returns the most probable pair of each row, (M, 2) int64, a card thrown already first.

        A pair's probability is the sum over both orders, as seen before either is thrown, so the
        second throw completes the pair that the first began.

        Args:
            before: (M, F) what was seen before either card was thrown.
            thrown: (M, 52), 1 for a card thrown already.
        """
        cards = before[:, self._hand : self._hand + NUM_CARDS]
        # One row for each hand and each of its cards thrown first.
        rows, firsts = np.nonzero(cards)
        after = before[rows]
        each = np.arange(len(rows))
        after[each, self._hand + firsts] = 0
        after[each, self._discards + firsts] = 1
        after[:, self._held] -= 1
        both = np.concatenate([before, after])
        masks = self._masks_of(both[:, self._hand : self._hand + NUM_CARDS])
        first, second = np.split(self.probabilities(both, masks)[:, :NUM_CARDS], [len(before)])
        joint = np.zeros((len(before), NUM_CARDS, NUM_CARDS), np.float32)
        # A legal pair never counts as nothing, however sure the network is of another.
        legal = after[:, self._hand : self._hand + NUM_CARDS] * np.float32(1e-30)
        joint[rows, firsts] = first[rows, firsts][:, None] * second + legal
        joint += joint.transpose(0, 2, 1).copy()
        # A card thrown already belongs to the pair.
        began = thrown.any(axis=1)
        joint[began] *= thrown[began][:, :, None]
        # Ties: the pair that comes first in card order. Its lower card is thrown first.
        best = joint.reshape(-1, NUM_CARDS * NUM_CARDS).argmax(axis=1)
        return np.stack([best // NUM_CARDS, best % NUM_CARDS], axis=1)

    def _masks_of(self, cards: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
        """Returns the masks that allow just these cards, (M, A) int8.

        Args:
            cards: (M, 52), 1 for each card.
        """
        masks = np.zeros((len(cards), self._num_actions), np.int8)
        masks[:, :NUM_CARDS] = cards
        return masks


def network_of(checkpoint: Checkpoint, rules: Rules) -> PolicyValueNet:
    """Returns the network of a checkpoint.

    Raises:
        CheckpointError: If it was trained for other rules or a lower target, or a weight is
            missing, of another shape or not known.
    """
    trained = fields_of(Rules, checkpoint.rules, "the header's rules")
    # It knows no score above its target, and of triple skunks it knows nothing.
    others = {field.name for field in fields(Rules)} - {"target", "triple_skunk"}
    same_game = all(getattr(trained, name) == getattr(rules, name) for name in others)
    if not same_game or rules.target > trained.target:
        raise CheckpointError(f"the checkpoint plays {trained}: asked for is {rules}")
    config = fields_of(NetworkConfig, checkpoint.network, "the header's network")
    # The weights drawn here are thrown away: torch's global generator shall not notice.
    with torch.random.fork_rng(devices=[]):
        network = PolicyValueNet(config, trained)
    weights = checkpoint.part("network")
    check_tensors(network.state_dict(), weights)
    network.load_state_dict(weights)
    return network.eval()


def load_policy(path: Path, rules: Rules, mode: str = "greedy") -> NetworkPolicy:
    """Returns the policy of a checkpoint file, or of the newest in a run's folder.

    Raises:
        CheckpointError: If it cannot be used, in one line.
    """
    checkpoint = load_checkpoint(path)
    try:
        return NetworkPolicy(network_of(checkpoint, rules), rules, mode)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
