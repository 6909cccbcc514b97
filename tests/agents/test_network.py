"""The masked categorical distribution, drawing from it, and what actor and critic read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from agents.network import MaskedCategorical, NetworkConfig, PolicyValueNet, draw, luck_fraction
from crib_env.cards import NUM_CARDS
from crib_env.game_record import CLAIM_ACTION, NUM_CLAIMS, Phase
from crib_env.rules import PRESETS, Rules
from eval.rules_flag import rules_text
from tests.learners import luck_grid, midway

ALMOST_ONE = 1 - 2.0**-53


def some_legal(rows: int, generator: torch.Generator, counts: Tensor | None = None) -> Tensor:
    """Returns random masks, (rows, 52) bool, with so many legal actions in each row."""
    if counts is None:
        counts = torch.randint(1, 7, (rows,), generator=generator)
    places = torch.rand(rows, NUM_CARDS, generator=generator).argsort(dim=1).argsort(dim=1)
    return places < counts[:, None]


def are_legal(actions: Tensor, legal: Tensor) -> bool:
    """Returns whether every action is legal in its row."""
    return bool(legal.gather(1, actions[:, None]).all())


def lucks(*values: float) -> Tensor:
    """Returns luck as `draw` takes it."""
    return torch.tensor(values, dtype=torch.float64)


# ---- no illegal action, ever: E019, E020 ----


@pytest.mark.parametrize(
    "choices", [300_000, pytest.param(5_000_000, marks=pytest.mark.torture)], ids=str
)
def test_no_choice_is_illegal_though_all_legal_logits_are_near_minus_1e9(choices: int) -> None:
    generator = torch.Generator().manual_seed(19)
    rows = 10_000
    for _ in range(choices // rows):
        legal = some_legal(rows, generator)
        tempting = torch.rand(rows, 1, generator=generator).round() * 1e9
        near = -1e9 + 1000 * torch.randn(rows, NUM_CARDS, generator=generator)
        distribution = MaskedCategorical(torch.where(legal, near, tempting), legal)
        luck = torch.rand(rows, dtype=torch.float64, generator=generator)
        assert are_legal(distribution.sample(luck), legal)
        assert are_legal(distribution.mode(), legal)


@given(
    arrays(np.float32, (4, NUM_CARDS), elements=st.floats(width=32, allow_nan=False)),
    arrays(np.bool_, (4, NUM_CARDS)),
    st.integers(0, NUM_CARDS - 1),
)
@settings(max_examples=100, deadline=None)
def test_illegal_actions_have_probability_exactly_0_and_legal_ones_sum_to_1(
    logits: np.ndarray, legal: np.ndarray, always: int
) -> None:
    legal[:, always] = True
    distribution = MaskedCategorical(torch.from_numpy(logits), torch.from_numpy(legal))
    probs = distribution.probs.numpy()
    assert (probs[~legal] == 0).all()
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-6)
    assert np.isfinite(distribution.log_probs.numpy()[legal]).all()
    assert np.isfinite(distribution.entropy().numpy()).all()
    for luck in (0.0, 0.5, ALMOST_ONE):
        assert are_legal(distribution.sample(lucks(*[luck] * 4)), torch.from_numpy(legal))
    assert are_legal(distribution.mode(), torch.from_numpy(legal))


def test_a_logit_of_zero_is_a_logit_like_any_other() -> None:
    legal = torch.zeros(1, NUM_CARDS, dtype=torch.int8)
    legal[0, [3, 17, 40]] = 1
    probs = MaskedCategorical(torch.zeros(1, NUM_CARDS), legal).probs[0]
    assert probs[[3, 17, 40]].tolist() == pytest.approx([1 / 3] * 3)
    assert probs.count_nonzero() == 3


# ---- any scale, any number of legal actions: D022 ----


def test_ten_thousand_batches_of_any_scale_and_number_of_legal_actions_stay_finite() -> None:
    generator = torch.Generator().manual_seed(22)
    counts = torch.arange(1, NUM_CARDS + 1)
    masks = [some_legal(NUM_CARDS, generator, counts) for _ in range(50)]
    for batch in range(10_000):
        scale = 10 ** (6 * batch / 9_999 - 2)
        logits = scale * torch.randn(NUM_CARDS, NUM_CARDS, generator=generator)
        legal = masks[batch % len(masks)]
        distribution = MaskedCategorical(logits, legal)
        actions = distribution.sample(
            torch.rand(NUM_CARDS, dtype=torch.float64, generator=generator)
        )
        assert are_legal(actions, legal), (batch, scale)
        assert distribution.log_prob(actions).isfinite().all(), (batch, scale)
        assert distribution.entropy().isfinite().all(), (batch, scale)
        assert ((distribution.probs.sum(dim=1) - 1).abs() < 1e-5).all(), (batch, scale)


def test_a_logit_that_is_nan_is_refused_and_an_infinite_one_is_only_very_sure() -> None:
    masks = torch.ones(3, 52)
    for action in (0, 51):
        logits = torch.zeros(3, 52)
        logits[1, action] = torch.nan
        with pytest.raises(FloatingPointError, match="NaN"):
            MaskedCategorical(logits, masks)
        logits[1, action] = torch.inf
        assert MaskedCategorical(logits, masks).mode().tolist() == [0, action, 0]
        logits[1, action] = -torch.inf
        assert MaskedCategorical(logits, masks).probs[1, action] == 0


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e4, 1e9, 1e30])
def test_gradients_are_finite_at_every_number_of_legal_actions(scale: float) -> None:
    generator = torch.Generator().manual_seed(23)
    legal = some_legal(NUM_CARDS, generator, torch.arange(1, NUM_CARDS + 1))
    logits = (scale * torch.randn(NUM_CARDS, NUM_CARDS, generator=generator)).requires_grad_()
    distribution = MaskedCategorical(logits, legal)
    actions = distribution.mode()
    (distribution.entropy().sum() + distribution.log_prob(actions).sum()).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert (logits.grad[~legal] == 0).all()


def test_one_legal_card_has_entropy_0_log_probability_0_and_no_gradient() -> None:
    legal = torch.eye(NUM_CARDS)
    logits = torch.linspace(-1e4, 1e4, NUM_CARDS).repeat(NUM_CARDS, 1).requires_grad_()
    distribution = MaskedCategorical(logits, legal)
    cards = torch.arange(NUM_CARDS)
    assert torch.equal(distribution.mode(), cards)
    assert torch.equal(distribution.log_prob(cards), torch.zeros(NUM_CARDS))
    assert torch.equal(distribution.entropy().abs(), torch.zeros(NUM_CARDS))
    (distribution.entropy().sum() + distribution.log_prob(cards).sum()).backward()
    assert logits.grad is not None
    assert torch.equal(logits.grad, torch.zeros_like(logits))


def test_it_is_the_softmax_over_the_legal_actions_with_its_entropy_and_gradients() -> None:
    generator = torch.Generator().manual_seed(24)
    legal = some_legal(200, generator, torch.randint(1, NUM_CARDS + 1, (200,), generator=generator))
    logits = torch.randn(200, NUM_CARDS, generator=generator, dtype=torch.float64)
    weight = torch.randn(200, generator=generator, dtype=torch.float64)
    ours, theirs = logits.float().requires_grad_(), logits.clone().requires_grad_()
    distribution = MaskedCategorical(ours, legal)
    actions = distribution.mode()
    (weight * (distribution.log_prob(actions) + distribution.entropy())).sum().backward()
    expected_entropy, expected_log_prob = [], []
    for row in range(200):
        # The reference knows no mask: it sees the legal logits alone.
        log_probs = theirs[row][legal[row]].log_softmax(dim=0)
        place = int(legal[row][: int(actions[row])].sum())
        expected_log_prob.append(log_probs[place])
        expected_entropy.append(-(log_probs.exp() * log_probs).sum())
    log_prob, entropy = torch.stack(expected_log_prob), torch.stack(expected_entropy)
    (weight * (log_prob + entropy)).sum().backward()
    torch.testing.assert_close(distribution.log_prob(actions).double(), log_prob, atol=1e-5, rtol=0)
    torch.testing.assert_close(distribution.entropy().double(), entropy, atol=1e-5, rtol=0)
    assert ours.grad is not None
    assert theirs.grad is not None
    torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=1e-5, rtol=0)


def test_the_mode_of_equal_logits_is_the_lowest_legal_card() -> None:
    legal = torch.zeros(2, NUM_CARDS, dtype=torch.bool)
    legal[0, [7, 30, 51]] = True
    legal[1, [50, 51]] = True
    assert MaskedCategorical(torch.zeros(2, NUM_CARDS), legal).mode().tolist() == [7, 50]


# ---- drawing ----


@pytest.mark.parametrize(
    ("probs", "lowest", "highest"),
    [
        ([0.0, 0.0, 0.25, 0.75, 0.0], 2, 3),
        ([0.5, 0.0, 0.0, 0.0, 0.5], 0, 4),
        ([0.0, 0.0, 0.0, 0.0, 1.0], 4, 4),
        ([1.0, 0.0, 0.0, 0.0, 0.0], 0, 0),
        (
            [0.0, 1e-45, 1.0, 1e-45, 0.0],
            1,
            2,
        ),  # 1e-45: the least float32; 1 + it is 1 also in float64
        ([0.0, 0.4999, 0.0, 0.4999, 0.0], 1, 3),  # sums to less than 1
        ([0.0, 0.5001, 0.0, 0.5001, 0.0], 1, 3),  # and to more
    ],
)
def test_the_least_and_the_most_luck_draw_the_ends_that_have_a_chance(
    probs: list[float], lowest: int, highest: int
) -> None:
    drawn = draw(torch.tensor([probs, probs]), lucks(0.0, ALMOST_ONE))
    assert drawn.tolist() == [lowest, highest]


def test_all_luck_but_none_beyond_a_cards_share_draws_that_card() -> None:
    probs = torch.tensor([[0.0, 0.25, 0.0, 0.5, 0.25]] * 5)
    below, at = 0.25 - 2.0**-54, 0.25
    drawn = draw(probs, lucks(below, at, 0.75 - 2.0**-53, 0.75, 0.0))
    assert drawn.tolist() == [1, 3, 3, 4, 1]


@pytest.mark.parametrize("temperature", [0.1, 1.0, 10.0])
def test_evenly_spread_luck_draws_each_card_by_its_probability(temperature: float) -> None:
    generator = torch.Generator().manual_seed(25)
    legal = some_legal(1, generator, torch.tensor([20]))
    logits = torch.randn(1, NUM_CARDS, generator=generator) / temperature
    distribution = MaskedCategorical(logits, legal)
    n = 100_000
    luck = luck_fraction(luck_grid(n))
    drawn = draw(distribution.probs.expand(n, -1), luck)
    counts = torch.bincount(drawn, minlength=NUM_CARDS)
    # An interval of length p holds p * n points of the grid, up to one; 0.1 for float32 sums.
    assert ((counts - n * distribution.probs[0].double()).abs() < 1.1).all()


def test_a_draw_depends_on_its_own_row_alone() -> None:
    generator = torch.Generator().manual_seed(26)
    distribution = MaskedCategorical(
        torch.randn(500, NUM_CARDS, generator=generator), some_legal(500, generator)
    )
    luck = torch.rand(500, dtype=torch.float64, generator=generator)
    drawn = distribution.sample(luck)
    order = torch.randperm(500, generator=generator)
    assert torch.equal(draw(distribution.probs[order], luck[order]), drawn[order])
    alone = [int(draw(distribution.probs[[i]], luck[[i]])) for i in range(500)]
    assert alone == drawn.tolist()


def test_luck_becomes_a_fraction_from_0_to_just_below_1() -> None:
    luck = np.array([0, 2**11 - 1, 2**11, 2**63, 2**64 - 1], np.uint64)
    fractions = luck_fraction(luck)
    assert fractions.dtype == torch.float64
    assert fractions.tolist() == [0.0, 0.0, 2.0**-53, 0.5, ALMOST_ONE]


# ---- actor and critic ----


def network(rules: Rules | None = None, **shape: int) -> PolicyValueNet:
    """Returns a small network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return PolicyValueNet(NetworkConfig(**shape), rules or Rules())


VARIANTS = [
    *(PRESETS[name] for name in ("six_card", "five_card", "three_player", "four_player")),
    Rules(muggins="show"),
    Rules(players=3, cards_dealt=5, muggins="full"),
]
every_variant = pytest.mark.parametrize("rules", VARIANTS, ids=rules_text)


@every_variant
def test_everything_that_is_read_lies_between_0_and_1(rules: Rules) -> None:
    games = midway(2_000, seed=1, rules=rules)
    net = network(rules, hidden_size=4)
    for read in (
        net.features(torch.from_numpy(games.observe())),
        net.privileged_features(torch.from_numpy(games.privileged())),
    ):
        assert read.min() == 0
        assert read.max() <= 1 + 1e-6
        assert read.dtype == torch.float32


@every_variant
def test_different_observations_are_read_differently(rules: Rules) -> None:
    observations = np.unique(midway(1_000, seed=2, rules=rules).observe(), axis=0)
    features = network(rules, hidden_size=4).features(torch.from_numpy(observations))
    assert len(features.unique(dim=0)) == len(observations)


@every_variant
def test_there_is_a_logit_for_each_action_and_each_is_its_own(rules: Rules) -> None:
    games = midway(64, seed=6, rules=rules)
    net = network(rules, hidden_size=8)
    logits = net.logits(net.features(torch.from_numpy(games.observe())))
    assert logits.shape == (64, rules.num_actions)
    assert len(logits.unique(dim=1).T) == rules.num_actions


def test_training_the_critic_leaves_the_actor_alone_and_the_other_way_round() -> None:
    games = midway(64, seed=3)
    net = network(hidden_size=8)
    features = net.features(torch.from_numpy(games.observe()))
    privileged = net.privileged_features(torch.from_numpy(games.privileged()))
    net.logits(features).sum().backward()
    of_actor = {name for name, weight in net.named_parameters() if weight.grad is not None}
    net.zero_grad(set_to_none=True)
    net.values(features, privileged).sum().backward()
    of_critic = {name for name, weight in net.named_parameters() if weight.grad is not None}
    assert of_actor
    assert of_critic
    assert not of_actor & of_critic
    assert of_actor | of_critic == {name for name, _ in net.named_parameters()}


@pytest.mark.parametrize("muggins", ["show", "full"])
@pytest.mark.parametrize("name", ["six_card", "three_player", "four_player"])
def test_with_muggins_it_is_told_what_is_there_to_claim_or_was_missed(
    name: str, muggins: str
) -> None:
    rules = replace(PRESETS[name], muggins=muggins)
    games = midway(1_000, seed=7, rules=rules)
    features = network(rules, hidden_size=4).features(torch.from_numpy(games.observe()))
    told = features[:, -NUM_CLAIMS:].numpy()
    phase, there, missed = (games.records[one] for one in ("phase", "true_points", "missed"))
    claims, calls = phase == Phase.CLAIM, phase == Phase.CALL
    assert min(claims.sum(), calls.sum()) > 20
    assert (missed[calls] > 0).sum() > 3
    assert (told.argmax(axis=1)[claims] == there[claims]).all()
    assert (told.argmax(axis=1)[calls] == missed[calls]).all()
    assert (told.sum(axis=1) == (claims | calls)).all()


def test_the_logit_of_what_is_there_has_a_part_of_its_own() -> None:
    rules = Rules(muggins="show")
    games = midway(300, seed=8, rules=rules)
    games = games.copy(games.records["phase"] == Phase.CLAIM)
    net = network(rules, hidden_size=8)
    features = net.features(torch.from_numpy(games.observe()))
    before = net.logits(features)
    with torch.no_grad():
        net.get_parameter("actor.4.bias")[-1] += 5
    gained = net.logits(features) - before
    right = torch.from_numpy(games.records["true_points"].astype(np.int64)) + CLAIM_ACTION
    expected = 5 * torch.nn.functional.one_hot(right, rules.num_actions).float()
    torch.testing.assert_close(gained, expected)


@every_variant
def test_the_critic_sees_every_other_hand(rules: Rules) -> None:
    games = midway(64, seed=4, rules=rules)
    net = network(rules, hidden_size=8)
    features = net.features(torch.from_numpy(games.observe()))
    privileged = net.privileged_features(torch.from_numpy(games.privileged())).requires_grad_()
    net.values(features, privileged).sum().backward()
    assert privileged.grad is not None
    for other in range(rules.players - 1):
        hand = slice(other * NUM_CARDS, (other + 1) * NUM_CARDS)
        assert (privileged.grad[:, hand] != 0).any()


@every_variant
def test_an_untrained_actor_is_nearly_undecided(rules: Rules) -> None:
    games = midway(500, seed=5, rules=rules)
    net = network(rules)
    features = net.features(torch.from_numpy(games.observe()))
    masks = torch.from_numpy(games.action_masks())
    entropy = MaskedCategorical(net.logits(features), masks).entropy()
    torch.testing.assert_close(entropy, masks.sum(dim=1).float().log(), atol=0.05, rtol=0)
