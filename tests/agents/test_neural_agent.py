"""A network as a policy: the best pair, never an illegal card, nothing but its own row, honest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.agent import Agent, make
from agents.network import MaskedCategorical, NetworkConfig, PolicyValueNet
from agents.neural_agent import BATCH, NetworkPolicy
from crib_env.batch import Games
from crib_env.cards import NUM_CARDS
from crib_env.game_record import Phase
from crib_env.observation import privileged_size
from crib_env.rules import PRESETS, Rules
from eval.match import play_match
from eval.rules_flag import rules_text
from tests.learners import decided_network, luck_grid, midway

MODES = ("greedy", "sample")


def untrained(seed: int = 1) -> PolicyValueNet:
    """Returns a network as training begins with it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return PolicyValueNet(NetworkConfig(hidden_size=16), Rules())


NETWORKS = {
    "decided": decided_network(2),
    "sure": decided_network(2, 300),
    "untrained": untrained(),
}
every_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())


def chosen(policy: NetworkPolicy, games: Games) -> np.ndarray:
    """Returns what the seat to act in each lane chooses."""
    return policy(games.observe(), games.action_masks(), games.luck())


def pairs_by_probability(policy: NetworkPolicy, games: Games) -> list[dict[frozenset[int], float]]:
    """Returns for each lane the probability of each pair, found by throwing in the engine.

    For every card of the hand: the probability that it is thrown first, times those of the
    second throw in the position that follows.
    """
    first = policy.probabilities(games.observe(), games.action_masks())
    found: list[dict[frozenset[int], float]] = [{} for _ in range(len(games))]
    hands = [np.flatnonzero(mask) for mask in games.action_masks()]
    for place in range(games.rules.cards_dealt):
        after = games.copy()
        thrown = np.array([hand[place] for hand in hands])
        after.apply(thrown)
        second = policy.probabilities(after.observe(), after.action_masks())
        for lane, hand in enumerate(hands):
            for other in hand:
                if other != thrown[lane]:
                    pair = frozenset((int(thrown[lane]), int(other)))
                    product = float(first[lane, thrown[lane]]) * float(second[lane, other])
                    found[lane][pair] = found[lane].get(pair, 0.0) + product
    return found


def before_a_throw(n: int, seed: int, rules: Rules | None = None) -> Games:
    """Returns games in which a seat is to throw the first of its two cards, dealers among them."""
    games = Games(n, rules, seed=seed)
    policy = NetworkPolicy(decided_network(9, rules=rules), games.rules)
    for _ in range(2):
        later = np.arange(0, n, 2)
        seen = games.observe(lanes=later), games.action_masks(lanes=later), games.luck(later)
        games.apply(policy(*seen), later)
    assert (games.records["phase"] == Phase.DISCARD).all()
    assert set(games.records["held"][np.arange(n), games.turn]) == {games.rules.cards_dealt}
    return games


# ---- throws: the best pair ----


@every_network
def test_the_two_throws_are_the_pair_of_highest_joint_probability(network: PolicyValueNet) -> None:
    games = before_a_throw(400, seed=1)
    policy = NetworkPolicy(network, Rules())
    probabilities = pairs_by_probability(policy, games)
    first = chosen(policy, games)
    games.apply(first)
    second = chosen(policy, games)
    for lane in range(400):
        pair = frozenset((int(first[lane]), int(second[lane])))
        best = max(probabilities[lane].values())
        assert probabilities[lane][pair] >= best * (1 - 1e-5)
        assert first[lane] < second[lane], "the lower card of the pair is thrown first"
    assert sum(probabilities[0].values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "rules", [PRESETS["five_card"], Rules(muggins="show"), Rules(muggins="full")], ids=rules_text
)
@pytest.mark.parametrize("scale", [1, 300], ids=["decided", "sure"])
def test_in_every_variant_of_two_players_the_best_pair_is_thrown(rules: Rules, scale: int) -> None:
    games = before_a_throw(200, 1, rules)
    policy = NetworkPolicy(decided_network(2, scale, rules), rules)
    probabilities = pairs_by_probability(policy, games)
    first = chosen(policy, games)
    games.apply(first)
    second = chosen(policy, games)
    for lane in range(200):
        pair = frozenset((int(first[lane]), int(second[lane])))
        assert probabilities[lane][pair] >= max(probabilities[lane].values()) * (1 - 1e-5)


@pytest.mark.parametrize(
    "rules",
    [PRESETS["three_player"], PRESETS["four_player"], Rules(4, 5, muggins="show")],
    ids=rules_text,
)
def test_where_one_card_is_thrown_every_choice_is_the_most_probable(rules: Rules) -> None:
    games = midway(600, 2, rules=rules)
    policy = NetworkPolicy(decided_network(2, rules=rules), rules)
    probabilities = policy.probabilities(games.observe(), games.action_masks())
    assert (games.records["phase"] == Phase.DISCARD).sum() > 50
    np.testing.assert_array_equal(chosen(policy, games), probabilities.argmax(axis=1))


def test_the_best_pair_is_not_always_the_best_first_card_with_its_best_second() -> None:
    games = before_a_throw(400, seed=1)
    policy = NetworkPolicy(NETWORKS["decided"], Rules())
    best_first = policy.probabilities(games.observe(), games.action_masks()).argmax(axis=1)
    pairs = pairs_by_probability(policy, games)
    without = [
        lane
        for lane in range(400)
        if best_first[lane] not in max(pairs[lane], key=pairs[lane].get)  # type: ignore[arg-type]  # a number for each pair
    ]
    assert without, "no hand tells the two rules apart: the test above shows nothing"


@every_network
def test_after_any_first_throw_the_second_is_the_best_that_goes_with_it(
    network: PolicyValueNet,
) -> None:
    games = before_a_throw(100, seed=3)
    policy = NetworkPolicy(network, Rules())
    probabilities = pairs_by_probability(policy, games)
    hands = [np.flatnonzero(mask) for mask in games.action_masks()]
    for place in range(6):
        after = games.copy()
        thrown = np.array([hand[place] for hand in hands])
        after.apply(thrown)
        second = chosen(policy, after)
        for lane in range(100):
            with_it = {p: q for p, q in probabilities[lane].items() if int(thrown[lane]) in p}
            pair = frozenset((int(thrown[lane]), int(second[lane])))
            # What is as good as impossible is all alike.
            assert with_it[pair] >= max(with_it.values()) * (1 - 1e-5) - 1e-29


def test_a_pair_of_no_probability_at_all_is_still_a_legal_pair() -> None:
    network = untrained()
    with torch.no_grad():
        # So sure of the lowest card that all else underflows to 0.
        for parameter in network.actor.parameters():
            parameter.zero_()
        list(network.actor.parameters())[-1].copy_(
            -1e5 * torch.arange(float(list(network.actor.parameters())[-1].numel()))
        )
    games = before_a_throw(100, seed=4)
    policy = NetworkPolicy(network, Rules())
    hands = [np.flatnonzero(mask) for mask in games.action_masks()]
    for place in range(6):
        after = games.copy()
        after.apply(np.array([hand[place] for hand in hands]))
        after.apply(chosen(policy, after))  # which refuses what is illegal
    games.apply(chosen(policy, games))


@every_network
def test_a_card_is_played_by_its_own_probability(network: PolicyValueNet) -> None:
    games = midway(1_000, seed=5)
    lanes = np.flatnonzero(games.records["phase"] == Phase.PLAY)
    games = games.copy(lanes)
    policy = NetworkPolicy(network, Rules())
    probabilities = policy.probabilities(games.observe(), games.action_masks())
    np.testing.assert_array_equal(chosen(policy, games), probabilities.argmax(axis=1))


# ---- never illegal ----


@every_network
@pytest.mark.parametrize("mode", MODES)
def test_no_card_of_500_games_is_illegal(network: PolicyValueNet, mode: str) -> None:
    # The engine refuses illegal cards and `play_match` lets its error through.
    agent = Agent("network", NetworkPolicy(network, Rules(), mode), mode=mode)
    result = play_match(agent, make("random"), 500, seed=6)
    assert result.games == 500


VARIANTS = [
    *(replace(PRESETS[name], target=31) for name in ("five_card", "three_player", "four_player")),
    Rules(target=31, muggins="show"),
    Rules(players=3, cards_dealt=5, target=31, muggins="full"),
]
every_variant = pytest.mark.parametrize("rules", VARIANTS, ids=rules_text)


@every_variant
@pytest.mark.parametrize("mode", MODES)
def test_no_action_is_illegal_in_any_variant(rules: Rules, mode: str) -> None:
    network = decided_network(2, rules=rules)
    agent = Agent("network", NetworkPolicy(network, rules, mode), mode=mode)
    result = play_match(agent, make("random", rules), 30, 6, rules)
    assert result.games == 30


def test_probabilities_are_those_of_the_masked_distribution() -> None:
    games = midway(700, seed=7)
    network = NETWORKS["decided"]
    observations, masks = games.observe(), games.action_masks()
    with torch.no_grad():
        logits = network.logits(network.features(torch.from_numpy(observations)))
    expected = MaskedCategorical(logits, torch.from_numpy(masks)).probs.numpy()
    found = NetworkPolicy(network, Rules()).probabilities(observations, masks)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (found[masks == 0] == 0).all()


# ---- a row depends on itself alone ----


@pytest.mark.parametrize("mode", MODES)
def test_a_row_is_answered_alike_alone_among_1025_and_in_any_order(mode: str) -> None:
    games = midway(BATCH + 1, seed=8)
    policy = NetworkPolicy(NETWORKS["decided"], Rules(), mode)
    observations, masks, luck = games.observe(), games.action_masks(), games.luck()
    actions = policy(observations, masks, luck)
    probabilities = policy.probabilities(observations, masks)
    order = np.random.default_rng(8).permutation(BATCH + 1)
    np.testing.assert_array_equal(
        policy.probabilities(observations[order], masks[order]), probabilities[order]
    )
    np.testing.assert_array_equal(
        policy(observations[order], masks[order], luck[order]), actions[order]
    )
    alone = [slice(int(row), int(row) + 1) for row in order[:60]]
    for part in [slice(BATCH, BATCH + 1), slice(5, 12), slice(1, BATCH), *alone]:
        np.testing.assert_array_equal(
            policy.probabilities(observations[part], masks[part]), probabilities[part]
        )
        np.testing.assert_array_equal(
            policy(observations[part], masks[part], luck[part]), actions[part]
        )


def test_no_rows_give_no_actions() -> None:
    games = midway(3, seed=9)
    for mode in MODES:
        policy = NetworkPolicy(NETWORKS["decided"], Rules(), mode)
        empty = policy(games.observe()[:0], games.action_masks()[:0], games.luck()[:0])
        assert empty.shape == (0,)
        assert empty.dtype == np.int64


@pytest.mark.parametrize("mode", MODES)
def test_a_match_does_not_depend_on_how_many_games_are_played_at_a_time(mode: str) -> None:
    agent = Agent("network", NetworkPolicy(NETWORKS["decided"], Rules(), mode), mode=mode)
    at_once, in_parts = (
        play_match(agent, make("greedy"), 24, seed=10, sizes=sizes) for sizes in (12, 5)
    )
    assert at_once.results.tobytes() == in_parts.results.tobytes()


def test_playing_changes_nothing_in_the_network() -> None:
    network = decided_network(11)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    play_match(Agent("network", NetworkPolicy(network, Rules())), make("random"), 20)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_a_pair_that_is_kept_for_its_second_throw_changes_nothing() -> None:
    games = Games(200, seed=21)
    policy = NetworkPolicy(NETWORKS["decided"], Rules())
    for _ in range(4):
        seen = games.observe(), games.action_masks(), games.luck()
        actions = policy(*seen)
        assert np.array_equal(actions, NetworkPolicy(NETWORKS["decided"], Rules())(*seen))
        games.apply(actions)
    assert not policy._pairs

    # Another card thrown first than the policy would: its pair is of no use.
    games = Games(200, seed=22)
    policy(games.observe(), games.action_masks(), games.luck())
    games.apply(51 - games.action_masks()[:, ::-1].argmax(axis=1))
    seen = games.observe(), games.action_masks(), games.luck()
    assert np.array_equal(policy(*seen), NetworkPolicy(NETWORKS["decided"], Rules())(*seen))


def test_pairs_left_by_half_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.neural_agent.MOST_PAIRS", 50)
    policy = NetworkPolicy(NETWORKS["decided"], Rules())
    for seed in range(6):
        games = Games(20, seed=seed)
        policy(games.observe(), games.action_masks(), games.luck())
        assert len(policy._pairs) <= 70
    assert len(policy._pairs) < 120


# ---- drawing ----


def test_sample_mode_draws_by_the_probabilities() -> None:
    games = midway(4, seed=12)
    policy = NetworkPolicy(NETWORKS["decided"], Rules(), "sample")
    n = 5_000
    for lane in range(4):
        observations = np.repeat(games.observe(lanes=[lane]), n, axis=0)
        masks = np.repeat(games.action_masks(lanes=[lane]), n, axis=0)
        actions = policy(observations, masks, luck_grid(n))
        counts = np.bincount(actions, minlength=NUM_CARDS)
        expected = n * policy.probabilities(observations[:1], masks[:1])[0].astype(np.float64)
        assert np.abs(counts - expected).max() < 1.1


def test_greedy_mode_does_not_look_at_its_luck() -> None:
    games = midway(500, seed=13)
    policy = NetworkPolicy(NETWORKS["decided"], Rules())
    observations, masks = games.observe(), games.action_masks()
    first, second = (policy(observations, masks, luck_grid(500)[order]) for order in (
        slice(None), slice(None, None, -1)))  # fmt: skip
    np.testing.assert_array_equal(first, second)


# ---- honesty ----


@every_network
@pytest.mark.parametrize("mode", MODES)
def test_what_a_seat_cannot_know_changes_none_of_its_choices(
    network: PolicyValueNet, mode: str
) -> None:
    games = midway(600, seed=14)
    assert set(games.records["phase"]) == {Phase.DISCARD, Phase.PLAY}
    policy = NetworkPolicy(network, Rules(), mode)
    luck = games.luck()
    honest = policy(games.observe(), games.action_masks(), luck)
    for seed in range(3):
        other = games.copy()
        other.redeal_hidden(games.turn, seed)
        assert (other.records != games.records).mean() > 0.99
        again = policy(other.observe(), other.action_masks(), luck)
        np.testing.assert_array_equal(again, honest)


@every_variant
@pytest.mark.parametrize("mode", MODES)
def test_what_a_seat_cannot_know_changes_none_of_its_choices_in_any_variant(
    rules: Rules, mode: str
) -> None:
    games = midway(400, 14, rules=rules)
    policy = NetworkPolicy(decided_network(2, rules=rules), rules, mode)
    luck = games.luck()
    honest = policy(games.observe(), games.action_masks(), luck)
    for seed in range(2):
        other = games.copy()
        other.redeal_hidden(games.turn, seed)
        assert (other.records != games.records).mean() > 0.9
        again = policy(other.observe(), other.action_masks(), luck)
        np.testing.assert_array_equal(again, honest)


@pytest.mark.parametrize("mode", ["greedy", "sample"])
@pytest.mark.parametrize("layer", [0, 2, 4])
def test_a_network_with_a_nan_plays_no_card_at_all(mode: str, layer: int) -> None:
    network = decided_network(1)
    games = midway(20, seed=1)
    policy = NetworkPolicy(network, Rules(), mode)
    chosen(policy, games)
    with torch.no_grad():
        network.actor.get_parameter(f"{layer}.bias")[0] = torch.nan
    with pytest.raises(FloatingPointError, match="NaN"):
        chosen(policy, games)


def test_the_privileged_view_is_refused_by_its_shape() -> None:
    games = midway(5, seed=15)
    policy = NetworkPolicy(NETWORKS["decided"], Rules())
    observations, privileged = games.observe(), games.privileged()
    masks, luck = games.action_masks(), games.luck()
    for view in (
        privileged,
        np.concatenate([observations, privileged], axis=1),
        np.concatenate([privileged, observations], axis=1),
        observations[0],
    ):
        with pytest.raises(ValueError, match=r"allowed is \(N, \d+\)"):
            policy(view, masks, luck)
    assert privileged.shape[1] == privileged_size(Rules()) != games.observation_size
