"""NaN and 1e30 wherever they come in: the run stops in one line, no checkpoint has them (E040)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import train.ppo
import train.run
from agents.checkpoint import checkpoints_in, load_checkpoint
from tests.learners import assert_same_tensors, small_config
from tests.runs import config_file, rows_of, start
from train.__main__ import main
from train.ppo import Learner, new_learner, save, train_step, update
from train.rollout import Rollout, play_deals
from train.soundness import DivergedError, check_rollout, largest_return

BAD = (math.nan, math.inf, -math.inf, 1e30, -1e30)
TENSORS = ("features", "privileged", "log_probs", "values", "advantages")


def poisoned(rollout: Rollout, name: str, value: float) -> Rollout:
    """Returns a rollout with one bad number in one of its tensors."""
    tensor = getattr(rollout, name).clone()
    tensor.view(-1)[len(tensor) // 2] = value
    return dataclasses.replace(rollout, **{name: tensor})


def rollout_of(learner: Learner) -> Rollout:
    """Returns what a learner would learn from next. Changes its games."""
    return play_deals(learner.games, learner.network, 1, 10.0, 0.9, learner.dtype)


def assert_sound(learner: Learner) -> None:
    """Fails unless all weights and moments are finite and of the size of weights."""
    for name, tensor in save(learner).tensors.items():
        assert tensor.abs().max() < 1e6, name


# ---- what is learned from ----


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_rollout_as_it_is_played_is_sound_and_far_from_what_is_refused(precision: str) -> None:
    learner = new_learner(small_config(precision=precision))
    for _ in range(3):
        rollout = rollout_of(learner)
        check_rollout(rollout, largest_return(121, 10.0) / 100)
        update(learner, rollout, 1e-2, 0.0)


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("value", BAD)
def test_a_rollout_with_one_bad_number_is_refused_by_its_tensor(name: str, value: float) -> None:
    learner = new_learner(small_config())
    rollout = poisoned(rollout_of(learner), name, value)
    with pytest.raises(DivergedError, match=f"{name} hold"):
        check_rollout(rollout, largest_return(121, 10.0))


@pytest.mark.parametrize("name", TENSORS)
def test_nothing_is_learned_from_a_rollout_with_a_bad_number(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = new_learner(small_config())
    before = save(learner).tensors
    monkeypatch.setattr(train.ppo, "play_deals", lambda *a: poisoned(play_deals(*a), name, 1e30))
    with pytest.raises(DivergedError, match=f"{name} hold 1.*e\\+30"):
        train_step(learner)
    after = save(learner).tensors
    assert_same_tensors(after, before | {"games": after["games"]})


def test_what_no_feature_and_no_probability_can_be_is_refused_though_it_is_small() -> None:
    learner = new_learner(small_config())
    for name, value in (("features", 1.5), ("privileged", -0.5), ("log_probs", 0.5)):
        with pytest.raises(DivergedError, match=name):
            check_rollout(poisoned(rollout_of(learner), name, value), largest_return(121, 10.0))


def test_values_are_measured_by_the_scale_of_the_points() -> None:
    assert largest_return(121, 10.0) == 12_100
    assert largest_return(121, 1e-3) == 121_000_000
    # An untrained critic is off by about 1 however small a point is.
    assert largest_return(121, 1e9) == 1_000


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("value", [math.nan, 1e30])
def test_a_bad_number_that_were_not_seen_in_the_rollout_would_not_reach_the_weights(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad(*arguments: Any) -> Rollout:
        return poisoned(play_deals(*arguments), name, value)

    learner = new_learner(small_config(precision="float32"))
    monkeypatch.setattr(train.ppo, "check_rollout", lambda rollout, largest: None)
    monkeypatch.setattr(train.ppo, "play_deals", bad)
    # 1e30 in a feature may be learned from without harm: it is one clipped gradient among many.
    try:
        train_step(learner)
    except FloatingPointError:
        pass
    else:
        assert value == 1e30
    assert_sound(learner)


# ---- gradients and weights ----


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
@pytest.mark.parametrize("last", [False, True], ids=["first minibatch", "last minibatch"])
def test_a_gradient_with_a_bad_number_makes_no_step(value: float, last: bool) -> None:
    learner = new_learner(small_config(epochs=1, minibatch=100, precision="float32"))
    rollout = rollout_of(learner)
    left = math.ceil(len(rollout) / 100) if last else 1

    def spoil(gradient: Tensor) -> Tensor:
        nonlocal left
        left -= 1
        return gradient.index_fill(0, torch.tensor(0), value) if left == 0 else gradient

    next(iter(learner.network.critic.parameters())).register_hook(spoil)
    with pytest.raises(DivergedError, match="grad_norm"):
        update(learner, rollout, 1e-3, 0.0)
    assert left == 0
    assert_sound(learner)


def breaks_weights(value: float) -> Callable[[Learner], dict[str, float]]:
    """Returns an update whose very last step spoils one weight of the third, and no metric."""

    def spoilt(learner: Learner, *arguments: Any) -> dict[str, float]:
        metrics = update(learner, *arguments)
        if learner.updates == 2:
            with torch.no_grad():
                next(iter(learner.network.critic.parameters()))[0, 0] = value
        return metrics

    return spoilt


@pytest.mark.parametrize("value", [math.nan, -1e30])
def test_a_weight_spoilt_by_the_last_minibatch_is_seen_before_anything_is_written(
    value: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    # A checkpoint is due after every update.
    config = config_file(tmp_path, checkpoint_every=1, keep_checkpoints=9, evaluate_every=0)
    with monkeypatch.context() as patched:
        patched.setattr(train.ppo, "update", breaks_weights(value))
        assert start(config, folder) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert "critic.0.weight" in line
    assert f"{value:g}" in line
    assert "learning_rate" in line
    assert str(folder) in line
    # Those of the two updates before, and the first.
    assert len(checkpoints_in(folder)) == 3
    assert len(rows_of(folder)) == 2
    for path in checkpoints_in(folder):
        assert all(tensor.isfinite().all() for tensor in load_checkpoint(path).tensors.values())
    assert main(["--resume", str(folder), "--stop-after", "600"]) == 0


def test_points_so_small_that_returns_overflow_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_file(tmp_path, points_scale=1e-300)
    assert start(config, tmp_path / "run") == 1
    _, line = capsys.readouterr().err.splitlines()
    assert "advantages hold" in line


@pytest.mark.parametrize("name", ["features", "values", "actor"])
def test_a_run_that_meets_a_bad_number_stops_in_one_line_with_status_1(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"

    def step(learner: Learner) -> dict[str, float]:
        if learner.updates < 2:
            return train_step(learner)
        with monkeypatch.context() as patched:
            if name == "actor":  # between two updates
                with torch.no_grad():
                    next(iter(learner.network.actor.parameters()))[0, 0] = math.nan
            else:
                patched.setattr(
                    train.ppo, "play_deals", lambda *a: poisoned(play_deals(*a), name, math.nan)
                )
            return train_step(learner)

    with monkeypatch.context() as patched:
        patched.setattr(train.run, "train_step", step)
        assert start(config_file(tmp_path, checkpoint_every=1, evaluate_every=0), folder) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    line = said.splitlines()[-1]
    assert line.startswith("train: diverged after ")
    assert "nan" in line.lower()
    assert load_checkpoint(folder).state["updates"] == 2
