"""`make`: agents by their names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import make
from agents.checkpoint import CheckpointError, checkpoint_path, save_checkpoint
from agents.neural_agent import NetworkPolicy
from crib_env.bots import BOTS, Bot
from crib_env.loops import OUTSIDE
from crib_env.rules import Rules
from tests.learners import midway, small_config
from train.ppo import Learner, new_learner, save, train_step

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def learner() -> Learner:
    """Returns a learner after an update."""
    learner = new_learner(small_config(rules=Rules(target=61)))
    train_step(learner)
    return learner


@pytest.mark.parametrize("name", BOTS)
def test_a_house_player_has_its_number_and_plays_in_the_loops(name: str) -> None:
    agent = make(name)
    assert agent.name == name
    assert agent.bot == Bot[name.upper()]


@pytest.mark.parametrize("as_folder", [True, False], ids=["folder", "file"])
@pytest.mark.parametrize("mode", ["greedy", "sample"])
def test_a_checkpoint_plays_what_its_network_plays(
    learner: Learner, tmp_path: Path, as_folder: bool, mode: str
) -> None:
    path = checkpoint_path(tmp_path, learner.decisions)
    save_checkpoint(path, save(learner))
    name = f"checkpoint:{tmp_path if as_folder else path}"
    agent = make(name, Rules(target=61), mode)
    assert (agent.name, agent.mode, agent.bot) == (name, mode, OUTSIDE)
    games = midway(300, seed=1, rules=Rules(target=61))
    seen = games.observe(), games.action_masks(), games.luck()
    expected = NetworkPolicy(learner.network, Rules(target=61), mode)(*seen)
    np.testing.assert_array_equal(agent.policy(*seen), expected)


# E005: how inputs are scaled comes with the rules that the checkpoint carries.
def test_a_checkpoint_reads_scores_by_the_target_it_was_trained_for(
    learner: Learner, tmp_path: Path
) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 1), save(learner))
    policy = make(f"checkpoint:{tmp_path}", Rules(target=31)).policy
    assert isinstance(policy, NetworkPolicy)
    assert torch.equal(policy.network.observation_scale, learner.network.observation_scale)


def test_a_checkpoint_is_refused_where_scores_pass_those_it_was_trained_on(
    learner: Learner, tmp_path: Path
) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 1), save(learner))
    with pytest.raises(ValueError, match=r"target=61.*target=121"):
        make(f"checkpoint:{tmp_path}", Rules(target=121))


def test_making_an_agent_leaves_torchs_generator_as_it_was(
    learner: Learner, tmp_path: Path
) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 1), save(learner))
    before = torch.get_rng_state()
    make(f"checkpoint:{tmp_path}", Rules(target=61))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["exprt", "", "Expert", "checkpoint", "/some/path"])
def test_an_unknown_name_is_refused_with_those_allowed(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"random, greedy, expert, careless, checkpoint:PATH and noisy"
    ):
        make(name)


def test_an_unknown_mode_is_refused_with_those_allowed() -> None:
    with pytest.raises(ValueError, match=r"'gredy': allowed are greedy, sample"):
        make("expert", mode="gredy")


def test_a_checkpoint_that_is_not_there_is_refused_by_its_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(CheckpointError, match=str(path)):
            make(f"checkpoint:{path}")


def test_house_players_are_made_without_torch() -> None:
    code = "import sys, agents; agents.make('expert'); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
