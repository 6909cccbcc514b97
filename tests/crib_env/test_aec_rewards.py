"""What the AEC environment pays to whom and when, and what an illegal action costs."""

import copy
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from crib_env import IllegalActionError, Rules
from crib_env.aec_env import env as make_env
from crib_env.aec_env import raw_env
from crib_env.rules import MATCH_POINTS
from tests.open_seats import choose, every_kind, every_scheme, illegal_card, play_out

# ---- rewards ----
from tests.sameness import assert_same


@every_kind
def test_points_are_paid_to_every_agent_as_they_are_pegged(rules: Rules) -> None:
    env = make_env(rules=rules, reward="points")
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    others = rules.sides - 1
    while not any(env.terminations.values()):
        before = env.games.scores[0].astype(int)
        env.step(choose(env, rng))
        gained = env.games.scores[0].astype(int) - before
        for seat, agent in enumerate(env.agents):
            own = gained[seat % rules.sides]
            assert env.rewards[agent] == (own * (others + 1) - gained.sum()) / others
        assert sum(env.rewards.values()) == pytest.approx(0)


@every_kind
@every_scheme
def test_an_agent_is_paid_once_for_what_others_moves_brought(
    rules: Rules, options: dict[str, Any]
) -> None:
    env = make_env(rules=rules, **options)
    rng = np.random.default_rng(6)
    env.reset(seed=6)
    owed = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        _, paid, terminated, _, _ = env.last()
        assert paid == pytest.approx(owed.pop(agent))
        env.step(None if terminated else choose(env, rng))
        if not terminated:
            owed[agent] = 0.0
        for one, reward in env.rewards.items():
            owed[one] += reward
    assert not owed


@every_kind
def test_a_game_pays_its_result(rules: Rules) -> None:
    for seed in range(4):
        results = {}
        for reward in ("win", "points", "match_points"):
            env = make_env(rules=rules, reward=reward)
            env.reset(seed=seed)
            start = env.games.scores[0].astype(int)
            results[reward] = play_out(env, np.random.default_rng(seed))
        scores = env.games.scores[0].astype(int)
        winner = int(env.games.winner[0])
        losers = [side for side in range(rules.sides) if side != winner]
        costs = {side: MATCH_POINTS["acc"][rules.skunk_level(scores[side])] for side in losers}
        gained = scores - start
        for seat, agent in enumerate(env.possible_agents):
            side = seat % rules.sides
            won = side == winner
            assert results["win"][agent] == (1 if won else -1 / len(losers))
            paid = sum(costs.values()) if won else -costs[side]
            assert results["match_points"][agent] == paid
            net = (gained[side] * rules.sides - gained.sum()) / len(losers)
            assert results["points"][agent] == pytest.approx(net)


@every_kind
def test_the_end_tells_who_won_and_by_how_much(rules: Rules) -> None:
    env = make_env(rules=rules)
    rng = np.random.default_rng(4)
    for seed in range(6):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            for info in env.infos.values():
                assert "won" not in info
            env.step(choose(env, rng))
        scores = env.games.scores[0].tolist()
        for agent, info in env.infos.items():
            side = int(agent[-1]) % rules.sides
            assert info["won"] is bool(side == env.games.winner[0])
            loser = min(scores) if info["won"] else scores[side]
            assert info["skunk_level"] == rules.skunk_level(loser)


@every_kind
def test_a_game_broken_off_is_owed_nothing_in_the_next(rules: Rules) -> None:
    env = make_env(rules=rules, reward="points")
    env.reset(seed=2)
    while env.games.records["deal_number"][0] == 0:
        env.step(choose(env))
    env.reset()
    assert set(env.rewards.values()) == {0}
    assert env.last()[1] == 0
    start = env.games.scores[0].astype(int)
    totals = play_out(env, np.random.default_rng(2))
    gained = env.games.scores[0].astype(int) - start
    net = (gained * rules.sides - gained.sum()) / (rules.sides - 1)
    for seat, agent in enumerate(env.possible_agents):
        assert totals[agent] == pytest.approx(net[seat % rules.sides])


def test_shaping_with_gamma_1_leaves_the_result_less_what_it_began_with() -> None:
    # Five cards: pone begins with 3 of 61.
    env = make_env(rules="five_card", shaping="points")
    env.reset(seed=0)
    dealer = f"player_{env.games.records['dealer'][0]}"
    totals = play_out(env)
    for seat, agent in enumerate(env.possible_agents):
        result = 1 if env.games.winner[0] == seat else -1
        began = (-3 if agent == dealer else 3) / 61
        assert totals[agent] == pytest.approx(result - began)


# ---- illegal actions ----


@every_kind
def test_an_illegal_action_raises_in_raw_env_and_changes_nothing(rules: Rules) -> None:
    env = raw_env(rules=rules)
    env.reset(seed=1)
    before = copy.deepcopy(env)
    for action in (illegal_card(env), -1, rules.num_actions, 10**30):
        with pytest.raises(IllegalActionError, match=f"^illegal action {action} .*: allowed: "):
            env.step(action)
    assert_same(env.games.records, before.games.records)
    assert play_out(env) == play_out(before)


@pytest.mark.parametrize("action", [1.0, "5H", None, True, [3]])
def test_what_is_no_whole_number_is_an_error(action: Any) -> None:
    env = raw_env()
    env.reset(seed=1)
    with pytest.raises(TypeError, match="allowed is an int from 0 to 51"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16, np.asarray])
def test_any_kind_of_int_is_an_action(kind: Any) -> None:
    env = raw_env()
    env.reset(seed=1)
    card = choose(env)
    env.step(kind(card))
    assert env.games.records["discards"][0].sum() == 1 << card


def test_an_action_outside_the_space_is_an_error_of_the_program() -> None:
    env = make_env()
    env.reset(seed=1)
    for action in (-1, 52, 1.0):
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(action)


# What a forfeit brings the offender's total to: at once, and however the game went before.
WORST: dict[str, Any] = {
    "win": lambda rules: -1 / (rules.sides - 1),
    "points": lambda rules: None,
    "match_points": lambda rules: -3,
}


@every_kind
@pytest.mark.parametrize("reward", WORST)
@pytest.mark.parametrize("steps", [0, 1, 9, 40])
def test_a_forfeit_pays_the_worst_and_what_it_costs_goes_to_the_others(
    rules: Rules, reward: Any, steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    env = make_env(rules=rules, reward=reward)
    env.reset(seed=7)
    start = env.games.scores[0].astype(int)
    rng = np.random.default_rng(7)
    totals = dict.fromkeys(env.agents, 0.0)
    for _ in range(steps):
        env.step(choose(env, rng))
        for agent, paid in env.rewards.items():
            totals[agent] += paid
    game = env.games.records.copy()
    offender = env.agent_selection
    env.step(illegal_card(env))
    for agent, paid in env.rewards.items():
        totals[agent] += paid
    assert_same(env.games.records, game)
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert sum(totals.values()) == pytest.approx(0, abs=1e-9)
    worst = WORST[reward](rules)
    if reward == "points":
        # As if one other side had pegged out, the rest come to within a point of it, and the own
        # had pegged nothing.
        others = rules.sides - 1
        side = int(offender[-1]) % rules.sides
        own = start[side]
        lead = (own - rules.target) + (others - 1) * (own - rules.target + 1)
        worst = (lead - (start[side] * rules.sides - start.sum())) / others
    losing = {f"player_{seat}" for seat in range(rules.players)}
    losing = {agent for agent in losing if (int(agent[-1]) - int(offender[-1])) % rules.sides == 0}
    for agent in env.agents:
        info = env.infos[agent]
        assert env.observe(agent)["action_mask"].all()
        assert info["action_mask"].all()
        assert info["skunk_level"] == 0
        assert info["won"] is (agent not in losing and rules.sides == 2)
        assert ("illegal_action" in info) is (agent == offender)
        if agent in losing:
            assert totals[agent] == pytest.approx(worst)
    assert env.infos[offender]["illegal_action"] in caplog.text
    assert f"forfeit by {offender}: illegal action" in caplog.text


def test_a_forfeit_gives_back_what_shaping_has_paid() -> None:
    env = make_env(rules="five_card", shaping="points")
    env.reset(seed=0)
    began = {
        agent: (info["agent_score"] - info["opponent_score"]) / 61
        for agent, info in env.infos.items()
    }
    assert set(began.values()) == {3 / 61, -3 / 61}
    totals = dict.fromkeys(env.agents, 0.0)
    rng = np.random.default_rng(3)
    for step in range(60):
        legal = choose(env, rng)
        offender = env.agent_selection
        env.step(illegal_card(env) if step == 59 else legal)
        for agent, paid in env.rewards.items():
            totals[agent] += paid
    for agent in env.agents:
        result = -1 if agent == offender else 1
        assert totals[agent] == pytest.approx(result - began[agent])


def test_the_text_of_a_forfeit_tells_no_more_than_the_offender_knows() -> None:
    env = make_env(rules="three_player", first_dealer=0)
    env.reset(seed=1)
    env.step(illegal_card(env))
    text = env.infos["player_1"]["illegal_action"]
    assert "seat 0 holds 5 unseen" in text
    assert "seat 2 holds 5 unseen" in text
    assert "seat 1 holds 5 unseen" not in text


def test_pettingzoos_own_wrapper_for_illegal_actions_works_too() -> None:
    env = TerminateIllegalWrapper(raw_env(), illegal_reward=-1)
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(illegal_card(env))
    assert env.rewards[offender] == -1
    for _ in range(2):
        assert env.last()[2]
        env.step(None)
    assert not env.agents
