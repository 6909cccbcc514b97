"""The environments with every variant and muggins mode: checkers, whole games, vectors alike."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from crib_env import BotPolicy, IllegalActionError
from crib_env.bots import BOTS
from crib_env.luck import lane_seed
from crib_env.options import Options
from crib_env.rules import MUGGINS_MODES, PRESETS, Rules, RulesLike

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"
KINDS = [
    pytest.param(replace(PRESETS[name], muggins=muggins), id=f"{name}-{muggins}")
    for name, muggins in product(PRESETS, MUGGINS_MODES)
]
every_kind = pytest.mark.parametrize("rules", KINDS)


@every_kind
@pytest.mark.parametrize("env_id", [GAME, DEAL])
def test_the_checker_of_gymnasium_finds_nothing(env_id: str, rules: Rules) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(env_id, rules=rules, opponent="expert", disable_env_checker=True)
        check_env(env.unwrapped, skip_render_check=True)


def legal(mask: Any, rng: np.random.Generator) -> int:
    """Returns a legal action; low claims, so that games of full muggins end."""
    actions = np.flatnonzero(mask)
    return int(rng.choice(actions[:4] if actions[0] >= 52 else actions))


@every_kind
@pytest.mark.parametrize("opponent", ["random", "careless" if "careless" in BOTS else "greedy"])
def test_a_game_goes_to_its_end_and_pays_one_side(rules: Rules, opponent: str) -> None:
    rng = np.random.default_rng(1)
    env = gymnasium.make(GAME, rules=rules, opponent=opponent)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            assert env.observation_space.contains(observation)
            assert info["action_mask"].shape == (rules.num_actions,)
            observation, reward, over, _, info = env.step(legal(info["action_mask"], rng))
            total += float(reward)
        assert total in (1.0, -1.0 / (rules.sides - 1))
        assert rules.target in (info["agent_score"], info["opponent_score"])


@every_kind
def test_a_lane_of_a_vector_is_the_single_environment_of_its_seed(rules: Rules) -> None:
    rng = np.random.default_rng(2)
    envs: Any = gymnasium.make_vec(GAME, num_envs=3, rules=rules, opponent="expert")
    single = gymnasium.make(GAME, rules=rules, opponent="expert")
    views, infos = envs.reset(seed=9)
    view, info = single.reset(seed=lane_seed(9, 2))
    for _ in range(60):
        assert views[2].tobytes() == view.tobytes()
        assert infos["action_mask"][2].tobytes() == info["action_mask"].tobytes()
        actions = np.array([legal(mask, rng) for mask in infos["action_mask"]])
        views, rewards, ended, _, infos = envs.step(actions)
        view, reward, over, _, info = single.step(int(actions[2]))
        assert rewards[2] == reward
        assert ended[2] == over
        if over:
            break


@pytest.mark.parametrize("name", PRESETS)
def test_rules_are_told_by_name_by_fields_or_as_such(name: str) -> None:
    told: list[RulesLike] = [name, asdict(PRESETS[name]), PRESETS[name]]
    spaces = [gymnasium.make(GAME, rules=rules).observation_space for rules in told]
    assert spaces[0] == spaces[1] == spaces[2]
    checked = [Options(rules=rules).checked_rules for rules in told]
    assert checked == [PRESETS[name]] * 3


@pytest.mark.parametrize("rules", ["sixcard", 6, {"player": 2}, ["six_card"]])
def test_rules_that_there_are_not_are_refused_in_one_line(rules: Any) -> None:
    with pytest.raises(ValueError, match=r"rules=") as refused:
        gymnasium.make(GAME, rules=rules)
    assert "\n" not in str(refused.value)


def test_a_claim_is_refused_where_a_card_is_asked_for() -> None:
    env = gymnasium.make(GAME, rules=Rules(muggins="full"), illegal="raise")
    env.reset(seed=3)
    with pytest.raises(IllegalActionError, match=r"illegal action 60 \(8 points\)"):
        env.step(60)
    plain = gymnasium.make(GAME, illegal="raise")
    plain.reset(seed=3)
    with pytest.raises(IllegalActionError, match=r"illegal action 60 \(no card\)"):
        plain.step(60)


@pytest.mark.parametrize("name", PRESETS)
def test_a_policy_as_opponent_holds_every_other_seat(name: str) -> None:
    # What it draws depends on the decision alone, so it plays as the house player of its name does.
    games = []
    for opponent in ("random", BotPolicy("random", PRESETS[name])):
        rng = np.random.default_rng(4)
        env = gymnasium.make(GAME, rules=name, opponent=opponent)
        observation, info = env.reset(seed=5)
        trace, over = [observation.tobytes()], False
        while not over:
            observation, _, over, _, info = env.step(legal(info["action_mask"], rng))
            trace.append(observation.tobytes())
        games.append(trace)
    assert games[0] == games[1]


@pytest.mark.parametrize("dealer", [0, 1])
def test_a_five_card_position_without_scores_gives_pone_its_three(dealer: int) -> None:
    for seed in range(4):
        env = gymnasium.make(GAME, rules="five_card", opponent="greedy")
        _, info = env.reset(seed=seed, options={"dealer": dealer})
        assert info["agent_score"] == (0 if dealer == 0 else 3)
        assert info["opponent_score"] == (3 if dealer == 0 else 0)
