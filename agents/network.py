"""The policy-value network, and the one masked categorical distribution.

Axes: (B,) positions, (B, F) observations, (B, P) privileged views, (B, A) actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from crib_env.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from crib_env.derived import derived_inputs, derived_layout
from crib_env.game_record import NUM_CLAIMS, Phase
from crib_env.observation import (
    layout,
    observation_high,
    observation_size,
    privileged_layout,
    privileged_size,
)
from crib_env.rules import Rules


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a `PolicyValueNet`."""

    hidden_size: int = 256
    """Units of each hidden layer."""
    hidden_layers: int = 2
    """Hidden layers of the actor, and of the critic."""


class PolicyValueNet(nn.Module):
    """An actor that sees its own seat's observation, and a critic that sees all hands as well.

    They share nothing, so the actor can be used without what only training knows.

    =============  ========  =========================================================
    input          shape     meaning
    =============  ========  =========================================================
    observations   (B, F)    uint8, `crib_env.observation.layout`
    privileged     (B, P)    uint8, `crib_env.observation.privileged_layout`; critic
    logits         (B, A)    float32, before masking
    values         (B,)      float32, expected return of the seat that observes
    =============  ========  =========================================================
    """

    observation_scale: Tensor
    privileged_scale: Tensor

    def __init__(self, config: NetworkConfig, rules: Rules) -> None:
        """Makes the network with weights from torch's global generator."""
        super().__init__()
        self.config = config
        self.hand = layout(rules)["hand"].slice
        # Inputs are brought to 0..1; not learned, and made anew from the rules at loading.
        high = torch.from_numpy(observation_high(rules)).float()
        self.register_buffer("observation_scale", 1 / high, persistent=False)
        high = torch.ones(privileged_size(rules))
        for field in privileged_layout(rules).values():
            high[field.slice] = field.high
        self.register_buffer("privileged_scale", 1 / high, persistent=False)
        # With muggins a network is told what there is to count, which lies open: see `features`.
        self.rules = rules
        phase = layout(rules)["phase"]
        self.claiming = slice(phase.start + Phase.CLAIM, phase.stop)
        self.counts = derived_layout(rules).get("counts")
        size = observation_size(rules) + NUM_RANKS * NUM_SUITS
        size += NUM_CLAIMS if self.counts else 0
        outputs = NUM_RANKS + rules.num_actions + (1 if self.counts else 0)
        self.actor = _layers(size, config, outputs, 0.01)
        self.critic = _layers(size + privileged_size(rules), config, 1, 1.0)

    def features(self, observations: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """Returns what the actor reads of observations, (B, F') of *dtype*, each entry 0 to 1.

        The observation, scaled, and for each rank whether the hand holds at least 1, 2, 3, 4 of it.
        Nothing is learned here: training does it once for all passes over a rollout.
        """
        hand = observations[:, self.hand].view(-1, NUM_RANKS, NUM_SUITS)
        counts = hand.sum(dim=2, keepdim=True, dtype=torch.uint8)
        steps = torch.arange(NUM_SUITS, device=observations.device, dtype=torch.uint8)
        at_least = (counts > steps).flatten(1)
        read = [(observations * self.observation_scale).to(dtype), at_least.to(dtype)]
        if self.counts:
            read.append(self._counts(observations).to(dtype))
        return torch.cat(read, dim=1)

    def _counts(self, observations: Tensor) -> Tensor:
        """Returns 1 for the points that are there to be claimed or called, (B, 32) float32.

        All 0 where neither is asked for.
        """
        assert self.counts is not None
        out = torch.zeros(len(observations), NUM_CLAIMS)
        rows = (observations[:, self.claiming] > 0).any(dim=1)
        derived = derived_inputs(observations[rows].numpy(), self.rules)
        out[rows] = torch.from_numpy(derived[:, self.counts.slice])
        return out

    def privileged_features(self, privileged: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """Returns what the critic alone reads, (B, P) of *dtype*, each entry 0 to 1."""
        return (privileged * self.privileged_scale).to(dtype)

    def logits(self, features: Tensor) -> Tensor:
        """Returns the actor's logits before masking, (B, A) float32.

        Args:
            features: (B, F') of `features`.
        """
        out = self.actor(features).float()
        # A card's logit is its rank's plus its own, since suits seldom matter.
        ranks, cards, others = out.split(
            [NUM_RANKS, NUM_CARDS, out.shape[1] - NUM_RANKS - NUM_CARDS], dim=1
        )
        by_card = (cards.view(-1, NUM_RANKS, NUM_SUITS) + ranks.unsqueeze(2)).flatten(1)
        if not self.counts:
            return by_card
        # A claim's logit is its own, plus one for just what is there, whichever number that is.
        claims, right = others.split([NUM_CLAIMS, 1], dim=1)
        return torch.cat([by_card, claims + right * features[:, -NUM_CLAIMS:]], dim=1)

    def values(self, features: Tensor, privileged_features: Tensor) -> Tensor:
        """Returns the critic's values, (B,) float32.

        Args:
            features: (B, F') of `features`.
            privileged_features: (B, P) of `privileged_features`.
        """
        out: Tensor = self.critic(torch.cat([features, privileged_features], dim=1))
        return out.squeeze(1).float()


def _layers(inputs: int, config: NetworkConfig, outputs: int, last_gain: float) -> nn.Sequential:
    """Returns a stack of linear layers with ReLU between, orthogonal weights and zero biases."""
    modules: list[nn.Module] = []
    size = inputs
    for _ in range(config.hidden_layers):
        modules += [_linear(size, config.hidden_size, 2**0.5), nn.ReLU()]
        size = config.hidden_size
    return nn.Sequential(*modules, _linear(size, outputs, last_gain))


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """Returns a linear layer with orthogonal weights."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class MaskedCategorical:
    """A categorical distribution over the legal actions.

    Illegal actions have probability 0 exactly, whatever the logits; with one legal action the
    entropy is 0 and finite, and so are all gradients.

    Args:
        logits: (B, A) float32.
        masks: (B, A), not 0 = legal, at least one in every row.

    Raises:
        FloatingPointError: If a logit is NaN: whatever was chosen by it would be no choice.
    """

    def __init__(self, logits: Tensor, masks: Tensor) -> None:
        """Normalises the logits over the legal actions."""
        if logits.isnan().any():
            raise FloatingPointError("a logit of the network is NaN")
        self.legal = masks.bool()
        # The lowest finite float, not minus infinity: that times probability 0 would be NaN.
        lowest = torch.finfo(torch.float32).min
        masked = torch.where(self.legal, logits.float().clamp(-1e30, 1e30), lowest)
        self.log_probs = torch.log_softmax(masked, dim=1)
        # Not the exponential of these: it is ten times slower where most of them underflow.
        self.probs = torch.where(self.legal, torch.softmax(masked, dim=1), 0.0)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Returns the log-probability of each row's action, (B,)."""
        return self.log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)

    def entropy(self) -> Tensor:
        """Returns the entropy of each row in nats, (B,)."""
        return -(self.probs * torch.where(self.legal, self.log_probs, 0.0)).sum(dim=1)

    def mode(self) -> Tensor:
        """Returns the most probable legal action of each row, (B,); ties: the lowest."""
        return torch.where(self.legal, self.log_probs, -torch.inf).argmax(dim=1)

    def sample(self, luck: Tensor) -> Tensor:
        """Returns a drawn action of each row, (B,): the inverse of the distribution at its luck.

        Args:
            luck: (B,) float64 in [0, 1). A row's draw depends on its own luck and logits alone.
        """
        return draw(self.probs, luck)


def draw(probs: Tensor, luck: Tensor) -> Tensor:
    """Returns an action drawn from each row, (B,) int64; never one of probability 0.

    Args:
        probs: (B, A) float32, each row summing to about 1.
        luck: (B,) float64 in [0, 1).
    """
    cumulative = probs.double().cumsum(dim=1)
    threshold = (luck * cumulative[:, -1]).unsqueeze(1)
    drawn = (cumulative <= threshold).sum(dim=1)
    # Rounding can carry the threshold to the very end: then it is the last action with a chance.
    places = torch.arange(probs.shape[1], device=probs.device)
    return torch.minimum(drawn, torch.where(probs > 0, places, 0).amax(dim=1))


def luck_fraction(luck: Any) -> Tensor:
    """Returns luck as a fraction, (B,) float64 in [0, 1).

    Args:
        luck: (B,) uint64 array of random bits; the highest 53 are used.
    """
    return torch.from_numpy((luck >> 11).astype("float64") * 2.0**-53)
