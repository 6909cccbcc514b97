"""One update: ratios of 1 at first, annealing, what is learned, and where its luck comes from."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from agents import Agent, make
from agents.checkpoint import CheckpointError
from agents.network import MaskedCategorical
from agents.neural_agent import NetworkPolicy
from crib_env.batch import Games
from crib_env.cards import card_set, parse_card, parse_cards
from crib_env.position import Position
from crib_env.rules import Rules
from eval.match import play_match
from eval.stats import Estimate
from tests.learners import assert_same_tensors, small_config, tensors_of
from train.config import TrainConfig
from train.ppo import (
    Learner,
    anneal,
    new_learner,
    normalised,
    precision_of,
    restore,
    save,
    train_step,
    update,
)
from train.rollout import Rollout, play_deals

PRECISIONS = ("float32", "bfloat16", "auto")


def rollout_of(learner: Learner) -> Rollout:
    """Returns what a learner would learn from next. Changes its games."""
    config = learner.config
    return play_deals(
        learner.games, learner.network, 1, config.points_scale, config.gae_lambda, learner.dtype
    )


def steps(learner: Learner, number: int) -> list[dict[str, float]]:
    """Returns the metrics of so many updates. Changes *learner*."""
    return [train_step(learner) for _ in range(number)]


# ---- the mask is there both times: E017 ----


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("games", [16, 100, 500])
def test_the_first_minibatch_has_ratio_1_for_all_and_no_divergence(
    precision: str, games: int
) -> None:
    # One minibatch of all decisions: the means over minibatches are those of the first.
    config = small_config(
        precision=precision,
        games=games,
        epochs=1,
        minibatch=games * 12,
        hidden_size=64,
        learning_rate=1e-2,
        total_decisions=10**9,
    )
    learner = new_learner(config)
    for metrics in steps(learner, 4):
        assert metrics["policy/first_ratio_error"] < 1e-5
        assert abs(metrics["policy/kl"]) < 1e-6
        assert metrics["policy/clip_fraction"] == 0


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_small_first_minibatch_has_ratio_1_too_and_later_ones_have_not(precision: str) -> None:
    config = small_config(precision=precision, games=100, minibatch=90, total_decisions=10**9)
    learner = new_learner(config)
    for metrics in steps(learner, 4):
        assert metrics["policy/first_ratio_error"] < 1e-5
        assert metrics["policy/kl"] > 1e-8


def test_a_mask_that_is_left_out_of_the_update_would_be_noticed() -> None:
    learner = new_learner(small_config(precision="float32"))
    rollout = rollout_of(learner)
    unmasked = dataclasses.replace(rollout, action_masks=torch.ones_like(rollout.action_masks))
    assert update(learner, unmasked, 1e-3, 0.0)["policy/first_ratio_error"] > 0.5


# ---- one update ----


def test_every_decision_is_learned_from_once_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = new_learner(small_config(epochs=3, minibatch=100, precision="float32"))
    rollout = rollout_of(learner)
    # The last entry of each decision's features is made its number.
    numbers = torch.arange(float(len(rollout)))
    numbered = dataclasses.replace(rollout, features=torch.cat(
        [rollout.features[:, :-1], numbers[:, None]], dim=1))  # fmt: skip
    seen: list[Tensor] = []
    logits = learner.network.logits

    def watched(features: Tensor) -> Tensor:
        seen.append(features[:, -1].clone())
        return logits(features)

    monkeypatch.setattr(learner.network, "logits", watched)
    update(learner, numbered, 1e-4, 0.0)
    assert [len(rows) for rows in seen] == [100, 100, 100, 84] * 3
    orders = torch.cat(seen).view(3, -1)
    for order in orders:
        assert torch.equal(order.sort().values, numbers)
    assert not torch.equal(orders[0], orders[1])


def test_an_update_makes_good_actions_likelier_and_bad_ones_less_so() -> None:
    config = small_config(games=200, epochs=1, minibatch=10**6, precision="float32")
    learner = new_learner(config)
    rollout = rollout_of(learner)
    update(learner, rollout, 1e-4, 0.0)
    with torch.no_grad():
        logits = learner.network.logits(rollout.features)
        after = MaskedCategorical(logits, rollout.action_masks).log_prob(rollout.actions)
    moved = after - rollout.log_probs
    advantages = normalised(rollout.advantages)
    assert float((moved * advantages).mean()) > 0


def test_an_update_brings_the_critic_nearer_to_the_returns() -> None:
    config = small_config(games=200, epochs=4, minibatch=200, precision="float32")
    learner = new_learner(config)
    rollout = rollout_of(learner)
    update(learner, rollout, 1e-3, 0.0)
    with torch.no_grad():
        values = learner.network.values(rollout.features, rollout.privileged)
    before = float((rollout.values - rollout.returns).square().mean())
    assert float((values - rollout.returns).square().mean()) < 0.9 * before


def test_the_weight_of_the_entropy_keeps_the_policy_undecided() -> None:
    entropies = []
    for weight in (0.0, 10.0):
        config = small_config(
            entropy=weight, final_entropy=weight, learning_rate=3e-3, total_decisions=10**9
        )
        learner = new_learner(config)
        entropies.append(steps(learner, 15)[-1]["policy/entropy"])
    assert entropies[0] < entropies[1] - 0.05


def test_advantages_are_brought_to_mean_0_and_deviation_1() -> None:
    advantages = normalised(torch.tensor([1.0, 2.0, 3.0, 10.0]))
    assert float(advantages.mean()) == pytest.approx(0, abs=1e-6)
    assert float(advantages.square().mean()) == pytest.approx(1, abs=1e-6)
    assert torch.equal(normalised(torch.full((5,), 3.0)), torch.zeros(5))
    assert torch.equal(normalised(torch.ones(1)), torch.zeros(1))


def test_metrics_are_finite_numbers_and_the_weights_stay_float32() -> None:
    for precision in PRECISIONS:
        learner = new_learner(small_config(precision=precision))
        for metrics in steps(learner, 2):
            assert all(isinstance(value, float) for value in metrics.values())
            assert np.isfinite(list(metrics.values())).all()
        assert {tensor.dtype for tensor in tensors_of(learner).values()} == {torch.float32}


def test_precision_is_as_configured_and_auto_is_one_of_both() -> None:
    assert precision_of(TrainConfig(precision="float32")) == "float32"
    assert precision_of(TrainConfig(precision="bfloat16")) == "bfloat16"
    assert precision_of(TrainConfig(precision="auto")) in ("float32", "bfloat16")


# ---- annealing, over decisions ----


def test_learning_rate_and_entropy_go_linearly_from_start_to_end_over_the_decisions() -> None:
    config = small_config(
        total_decisions=2_500,
        learning_rate=1e-2,
        final_learning_rate=1e-4,
        entropy=0.5,
        final_entropy=0.1,
    )
    learner = new_learner(config)
    while not learner.done:
        passed = learner.decisions / config.total_decisions
        metrics = train_step(learner)
        assert metrics["schedule/learning_rate"] == pytest.approx(1e-2 + (1e-4 - 1e-2) * passed)
        assert metrics["schedule/entropy_weight"] == pytest.approx(0.5 + (0.1 - 0.5) * passed)
        (group,) = learner.optimizer.param_groups
        assert group["lr"] == metrics["schedule/learning_rate"]
    assert learner.decisions >= 2_500
    # Beyond the end nothing goes on falling.
    last = train_step(learner)
    assert last["schedule/learning_rate"] == pytest.approx(1e-4)
    assert last["schedule/entropy_weight"] == pytest.approx(0.1)


def test_annealing_knows_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    config = small_config()
    usual = new_learner(config)
    expected = steps(usual, 3)
    ticks = iter(range(0, 10**9, 1_000_000))
    monkeypatch.setattr("train.ppo.time.perf_counter", lambda: float(next(ticks)))
    slow = new_learner(config)
    for metrics, told in zip(steps(slow, 3), expected, strict=True):
        assert metrics["speed/decisions_per_s"] < 1
        for name in ("schedule/learning_rate", "schedule/entropy_weight", "loss/policy"):
            assert metrics[name] == told[name]
    assert_same_tensors(tensors_of(usual), tensors_of(slow))


def test_anneal_is_its_start_its_middle_and_its_end() -> None:
    assert [anneal(3.0, 1.0, left) for left in (1.0, 0.5, 0.0)] == [3.0, 2.0, 1.0]


# ---- going on ----


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_learner_restored_goes_on_as_if_it_had_never_stopped(precision: str) -> None:
    config = small_config(precision=precision, rules=Rules(target=31))
    learner = new_learner(config)
    steps(learner, 3)
    restored = restore(save(learner), config)
    assert_same_tensors(tensors_of(restored), tensors_of(learner))
    expected, found = steps(learner, 3), steps(restored, 3)
    for told, metrics in zip(expected, found, strict=True):
        del told["speed/decisions_per_s"], metrics["speed/decisions_per_s"]
        assert metrics == told
    assert_same_tensors(tensors_of(restored), tensors_of(learner))
    assert restored.games.records.tobytes() == learner.games.records.tobytes()
    assert (restored.decisions, restored.updates) == (learner.decisions, learner.updates)


def test_what_is_saved_does_not_change_while_the_learner_goes_on() -> None:
    learner = new_learner(small_config())
    train_step(learner)
    saved = save(learner)
    before = {name: tensor.clone() for name, tensor in saved.tensors.items()}
    train_step(learner)
    train_step(restore(saved, learner.config))
    assert_same_tensors(saved.tensors, before)


# ---- luck: the seed's alone (D041) ----


def global_states() -> tuple[Any, ...]:
    """Returns the states of all global generators, comparable."""
    of_numpy: Any = np.random.get_state()  # noqa: NPY002  # the one that must not be touched
    kind, keys, *rest = of_numpy
    return random.getstate(), (kind, keys.tobytes(), *rest), torch.get_rng_state().tolist()


def test_training_leaves_the_global_generators_alone_and_does_not_depend_on_them() -> None:
    config = small_config(seed=5)
    found = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # what others might do
        torch.manual_seed(seed)
        before = global_states()
        learner = new_learner(config)
        steps(learner, 2)
        restored = restore(save(learner), config)
        steps(restored, 1)
        policy = NetworkPolicy(learner.network, Rules(), "sample")
        play_match(Agent("network", policy), make("random"), 20)
        assert global_states() == before
        found.append(tensors_of(restored))
    assert_same_tensors(*found)


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    runs = []
    for seed in (3, 3, 4, 2**64 - 1):
        learner = new_learner(small_config(seed=seed))
        metrics = steps(learner, 2)
        runs.append((metrics[-1]["loss/policy"], tensors_of(learner), learner.games.records.copy()))
    assert_same_tensors(runs[0][1], runs[1][1])
    assert runs[0][2].tobytes() == runs[1][2].tobytes()
    assert len({run[0] for run in runs}) == 3


def test_weights_and_minibatches_do_not_depend_on_how_many_threads_there_were() -> None:
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(tensors_of(new_learner(small_config(hidden_size=64))))
        assert torch.get_num_threads() == 1
    assert_same_tensors(*found)


# ---- it learns ----

# Pone keeps 5H 5D 5S JC for 29 points, the dealer 7H 7D 8S 8C for 12; both throw the rest.
HANDS = [parse_cards("5H 5D 5S JC 2D KH"), parse_cards("7H 7D 8S 8C QS KD")]
KNOWN = Position(dealer=1, scores=(0, 0), hands=HANDS, starter=parse_card("5C"))
BEST = [card_set(parse_cards(text)) for text in ("2D KH", "QS KD")]


def laid_out(games: int, seed: int) -> Games:
    """Returns games that all stand at the known deal; their players' luck differs."""
    games_at = Games(games, seed=seed)
    for lane in range(games):
        games_at.set_position(lane, KNOWN)
    return games_at


def best_throws(learner: Learner, mode: str) -> list[float]:
    """Returns how often each seat throws its best pair in the known deal."""
    policy = NetworkPolicy(learner.network, Rules(), mode)
    games = laid_out(300, seed=0)
    for _ in range(4):
        games.apply(policy(games.observe(), games.action_masks(), games.luck()))
    return [float((games.records["discards"][:, seat] == BEST[seat]).mean()) for seat in (0, 1)]


def test_it_learns_the_known_best_throws_of_both_seats() -> None:
    config = TrainConfig(
        hidden_size=32,
        games=64,
        minibatch=256,
        learning_rate=3e-3,
        entropy=0.01,
        precision="float32",
        total_decisions=40 * 64 * 12,
    )
    learner = new_learner(config)
    # There are 15 pairs a seat.
    assert max(best_throws(learner, "sample")) < 0.2
    while not learner.done:
        learner.games = laid_out(config.games, seed=1 + learner.updates)
        train_step(learner)
    assert best_throws(learner, "greedy") == [1, 1]
    assert min(best_throws(learner, "sample")) > 0.8


def test_seconds_of_self_play_beat_random_clearly() -> None:
    config = TrainConfig(
        hidden_size=64, games=512, minibatch=1024, learning_rate=3e-3, total_decisions=60_000
    )
    learner = new_learner(config)

    def wins() -> Estimate:
        agent = Agent("network", NetworkPolicy(learner.network, Rules()))
        return play_match(agent, make("random"), 600, seed=1).a.win_rate

    assert wins().high < 0.65
    while not learner.done:
        train_step(learner)
    assert wins().low > 0.7


@pytest.mark.parametrize(
    ("name", "value"),
    [("target", 31), ("players", 4), ("phase", 1), ("dealer", 9), ("turn", -3), ("num_plays", 99)],
)
def test_games_that_kernels_must_not_be_given_are_refused_by_the_field(
    name: str, value: int
) -> None:
    learner = new_learner(small_config())
    train_step(learner)
    checkpoint = save(learner)
    records = checkpoint.tensors["games"].numpy().view(learner.games.records.dtype)
    records[name] = value
    with pytest.raises(CheckpointError, match=name):
        restore(checkpoint, learner.config)
