"""Self-play into arrays: whole deals, every decision once, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from agents.network import MaskedCategorical, NetworkConfig, PolicyValueNet, luck_fraction
from crib_env import episode
from crib_env.batch import Games
from crib_env.game_record import Phase
from crib_env.kernel import as_records
from crib_env.rules import PRESETS, Rules
from eval.rules_flag import rules_text
from tests.learners import decided_network, midway
from train.rollout import Rollout, play_deals, summed_leads

SCALE = 10.0


# Whole games end now and then in a deal, short ones all the time.
VARIANTS = [
    Rules(),
    Rules(target=15),
    PRESETS["five_card"],
    PRESETS["three_player"],
    Rules(players=3, cards_dealt=5, target=15),
    PRESETS["four_player"],
    Rules(players=4, cards_dealt=5, target=15),
    Rules(muggins="show"),
    Rules(players=3, cards_dealt=5, target=41, muggins="full"),
]
every_variant = pytest.mark.parametrize("rules", VARIANTS, ids=rules_text)


def network(rules: Rules | None = None) -> PolicyValueNet:
    """Returns a network whose actor has some preferences."""
    return decided_network(3, rules=rules)


def without_critic(monkeypatch: pytest.MonkeyPatch, rules: Rules | None = None) -> PolicyValueNet:
    """Returns a network that expects nothing."""
    net = network(rules)
    monkeypatch.setattr(net, "values", lambda features, privileged: torch.zeros(len(features)))
    return net


def played(
    games: Games,
    net: PolicyValueNet,
    deals: int = 1,
    gae_lambda: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Rollout:
    """Returns a rollout. Changes *games*."""
    return play_deals(games, net, deals, SCALE, gae_lambda, dtype)


@dataclass
class Replay:
    """What the engine says of a rollout's actions, a row a decision."""

    games: Games
    """The games after them."""
    observations: npt.NDArray[np.uint8]
    privileged: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.int8]
    seats: npt.NDArray[np.int64]
    luck: npt.NDArray[np.uint64]
    net_points: npt.NDArray[np.float64]
    """What the seat's side gains on the mean of the others from its decision to the deal's end."""
    ended: int
    """How many games ended."""


def lead_of(scores: npt.NDArray[np.int16], seats: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Returns each lane's lead of a seat's side on the mean of the other sides, in points."""
    lanes, sides = np.arange(len(scores)), scores.shape[1]
    others = [scores[lanes, (seats + step) % sides] for step in range(1, sides)]
    lead: npt.NDArray[np.float64] = scores[lanes, seats % sides] - np.mean(others, axis=0)
    return lead


def replay(before: Games, rollout: Rollout, deals: int = 1) -> Replay:
    """Plays a rollout's actions again from where its games stood; fails if any is left over."""
    games = before.copy()
    actions = rollout.actions.numpy()
    used = 0
    rows: dict[str, list[npt.NDArray[Any]]] = {
        name: [] for name in ("observations", "privileged", "masks", "seats", "luck", "net")
    }
    ended = 0
    for _ in range(deals):
        deal = games.records["deal_number"].copy()
        lanes = np.arange(len(games))
        steps = []
        while len(lanes):
            rows["observations"].append(games.observe(lanes=lanes))
            rows["privileged"].append(games.privileged(lanes=lanes))
            rows["masks"].append(games.action_masks(lanes=lanes))
            rows["luck"].append(games.luck(lanes))
            seats = games.turn[lanes].astype(np.int64)
            rows["seats"].append(seats)
            steps.append((lanes, seats, lead_of(games.scores[lanes], seats)))
            games.apply(actions[used : used + len(lanes)], lanes)
            used += len(lanes)
            lanes = lanes[~games.over[lanes] & (games.records["deal_number"][lanes] == deal[lanes])]
        for lanes, seats, lead in steps:
            rows["net"].append(lead_of(games.scores[lanes], seats) - lead)
        ended += int(games.over.sum())
        games.next_game()
    assert used == len(actions), "decisions are left over"
    joined = {name: np.concatenate(parts) for name, parts in rows.items()}
    return Replay(
        games=games,
        observations=joined["observations"],
        privileged=joined["privileged"],
        masks=joined["masks"],
        seats=joined["seats"],
        luck=joined["luck"],
        net_points=joined["net"],
        ended=ended,
    )


def stand_at_the_beginning_of_a_deal(games: Games) -> bool:
    """Returns whether no card has been thrown or laid in any game, and none is over."""
    records, rules = games.records, games.rules
    return bool(
        (records["phase"] == Phase.DISCARD).all()
        and (records["held"][:, : rules.players] == rules.cards_dealt).all()
        and (records["num_plays"] == 0).all()
        and (records["discards"] == 0).all()
    )


@pytest.mark.parametrize("deals", [1, 3])
@every_variant
def test_games_stand_at_the_beginning_of_a_deal_before_and_after(deals: int, rules: Rules) -> None:
    games = Games(60, rules, seed=1)
    numbers = games.records["game_number"] * 1000 + games.records["deal_number"]
    rollout = played(games, network(rules), deals)
    assert stand_at_the_beginning_of_a_deal(games)
    assert rollout.deals == deals * 60
    after = games.records["game_number"] * 1000 + games.records["deal_number"]
    assert (after > numbers).all()
    if rules.target == 121 and rules.muggins == "none":
        assert (games.records["deal_number"] == deals).all()


@pytest.mark.parametrize("deals", [1, 4])
@every_variant
def test_every_decision_is_there_once_and_the_games_are_those_of_the_engine(
    deals: int, rules: Rules
) -> None:
    games = Games(50, rules, seed=2)
    before = games.copy()
    rollout = played(games, network(rules), deals)
    again = replay(before, rollout, deals)
    assert again.games.records.tobytes() == games.records.tobytes()
    assert again.ended == rollout.games_ended
    for tensor in (
        rollout.features,
        rollout.privileged,
        rollout.action_masks,
        rollout.log_probs,
        rollout.values,
        rollout.advantages,
        rollout.returns,
    ):
        assert len(tensor) == len(rollout)
    if rules.target == 121 and rules.muggins == "none":
        # Every card dealt is thrown or laid: the five-card game alone leaves some.
        assert len(rollout) == deals * 50 * rules.players * rules.cards_dealt


@every_variant
def test_what_was_seen_and_allowed_is_what_the_engine_shows_the_seat_to_act(rules: Rules) -> None:
    games = Games(50, rules, seed=3)
    before = games.copy()
    net = network(rules)
    rollout = played(games, net)
    again = replay(before, rollout)
    np.testing.assert_array_equal(rollout.action_masks.numpy(), again.masks)
    features = net.features(torch.from_numpy(again.observations))
    torch.testing.assert_close(rollout.features, features)
    privileged = net.privileged_features(torch.from_numpy(again.privileged))
    torch.testing.assert_close(rollout.privileged, privileged)


def test_actions_are_drawn_by_the_games_own_luck_and_kept_with_their_log_probabilities() -> None:
    games = Games(50, seed=4)
    before = games.copy()
    net = network()
    rollout = played(games, net)
    again = replay(before, rollout)
    with torch.no_grad():
        logits = net.logits(rollout.features)
        values = net.values(rollout.features, rollout.privileged)
    distribution = MaskedCategorical(logits, rollout.action_masks)
    assert torch.equal(distribution.sample(luck_fraction(again.luck)), rollout.actions)
    log_probs = distribution.log_prob(rollout.actions)
    torch.testing.assert_close(rollout.log_probs, log_probs, atol=1e-5, rtol=0)
    torch.testing.assert_close(rollout.values, values, atol=1e-5, rtol=0)
    assert rollout.entropy == pytest.approx(float(distribution.entropy().mean()), abs=1e-5)


@every_variant
@pytest.mark.parametrize("deals", [1, 3])
def test_returns_with_lambda_1_and_no_value_are_the_net_points_to_the_end_of_the_deal(
    rules: Rules, deals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = Games(80, rules, seed=5)
    before = games.copy()
    rollout = played(games, without_critic(monkeypatch, rules), deals)
    again = replay(before, rollout, deals)
    expected = torch.from_numpy(again.net_points / SCALE).float()
    torch.testing.assert_close(rollout.returns, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(rollout.advantages, expected, atol=1e-5, rtol=0)
    assert (again.net_points > 0).any()
    assert (again.net_points < 0).any()


@pytest.mark.parametrize("name", ["six_card", "three_player", "four_player"])
def test_the_first_decision_of_a_deal_has_the_whole_deals_gain(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = Games(80, name, seed=6)
    scores = games.scores
    pone = games.turn.astype(np.int64)
    rollout = played(games, without_critic(monkeypatch, games.rules))
    expected = lead_of(games.scores - scores, pone) / SCALE
    np.testing.assert_allclose(rollout.returns[:80].numpy(), expected, atol=1e-5)


@every_variant
def test_leads_are_those_that_environments_pay_for_and_all_add_up_to_0(rules: Rules) -> None:
    # As compiled for an environment's reward "points": two texts, one number.
    games = midway(200, seed=12, rules=rules)
    leads = summed_leads(games)
    assert leads.shape == (200, rules.players)
    assert (leads != 0).any()
    assert (leads.sum(axis=1) == 0).all()
    seats = range(rules.players)
    for lane, game in enumerate(as_records(games.records)):
        assert leads[lane].tolist() == [episode.lead_of(game, seat) for seat in seats]


def test_a_game_that_ends_goes_on_with_the_first_deal_of_its_next() -> None:
    games = Games(200, Rules(target=12), seed=7)
    before = games.copy()
    rollout = played(games, network())
    ended = games.records["game_number"] > before.records["game_number"]
    assert 20 < ended.sum() == rollout.games_ended < 200
    assert (games.records["deal_number"][ended] == 0).all()
    assert (games.scores[ended] == 0).all()
    assert (games.records["deal_number"][~ended] == 1).all()
    # The same first deal as when the game before was played by others.
    fresh = before.copy()
    fresh.play_bots([0, 0])
    fresh.next_game()
    for name in ("hands", "starter", "dealer"):
        np.testing.assert_array_equal(games.records[name][ended], fresh.records[name][ended])


def test_a_deal_cut_short_by_the_end_of_the_game_has_no_decisions_after_it() -> None:
    games = Games(200, Rules(target=3), seed=8)
    rollout = played(games, network())
    assert rollout.games_ended > 150
    assert len(rollout) < 200 * 12


def test_arithmetic_in_bfloat16_keeps_what_is_learned_from_in_float32() -> None:
    rollout = played(Games(30, seed=9), network(), dtype=torch.bfloat16)
    for tensor in (rollout.log_probs, rollout.values, rollout.advantages):
        assert tensor.dtype == torch.float32
        assert tensor.isfinite().all()


def test_lanes_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    games = Games(30, seed=10)
    some = games.copy([4, 17, 29])
    net = without_critic(monkeypatch)
    played(games, net)
    played(some, net)
    assert some.records.tobytes() == games.records[[4, 17, 29]].tobytes()


def test_the_critic_is_shown_what_no_actor_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        net = PolicyValueNet(NetworkConfig(hidden_size=8), Rules())
    seen: list[Tensor] = []
    logits = net.logits

    def watched(features: Tensor) -> Tensor:
        seen.append(features)
        return logits(features)

    games = Games(20, seed=11)
    before = games.copy()
    with monkeypatch.context() as patched:
        patched.setattr(net, "logits", watched)
        rollout = played(games, net)
    again = replay(before, rollout)
    # What the actor read is a function of the observation alone.
    features = net.features(torch.from_numpy(again.observations))
    torch.testing.assert_close(torch.cat(seen), features)
