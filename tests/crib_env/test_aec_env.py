"""The AEC environment as PettingZoo's users meet it: agents, masks, seeds, positions, the end.

Needs numpy, numba, gymnasium, pettingzoo and pytest alone, as all test_aec_*.py but the faults
do: they also run against the installed wheel and the oldest PettingZoo.
"""

import copy
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo.utils import turn_based_aec_to_parallel

from crib_env import CribbageEnv, Games, Phase, Position, Rules, lane_seed
from crib_env.aec_env import env as make_env
from crib_env.aec_env import raw_env
from crib_env.cards import cards_in
from crib_env.observation import layout, observation_size, privileged_layout
from tests.open_seats import (
    KINDS,
    POSITION,
    SCHEMES,
    TABLE_SCHEMES,
    Lowest,
    choose,
    core,
    every_form,
    every_kind,
    options_of,
    play_out,
    vector_of,
)
from tests.sameness import assert_same


def legal_by_the_rules(games: Games) -> set[int]:
    """Returns what the seat to act may choose, worked out here from the record."""
    game = games.records[0]
    if game["phase"] in (Phase.CLAIM, Phase.CALL):
        return set(range(52, 84))
    hand = cards_in(game["hands"][game["turn"]])
    if game["phase"] == Phase.DISCARD:
        return set(hand)
    return {card for card in hand if min(card // 4 + 1, 10) + game["count"] <= 31}


# ---- agents, spaces, observations, masks ----


@pytest.mark.parametrize(
    ("name", "players"), [("short", 2), ("three_player", 3), ("four_player", 4)]
)
def test_agents_are_the_seats(name: str, players: int) -> None:
    env = make_env(rules=name)
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]
    assert env.max_num_agents == players
    env.reset(seed=0)
    assert env.agents == env.possible_agents
    for agent in env.agents:
        assert env.terminations[agent] is False
        assert env.truncations[agent] is False
        assert env.rewards[agent] == 0


@every_kind
def test_spaces_are_those_of_the_rules(rules: Rules) -> None:
    env, plain = make_env(rules=rules), make_env(rules=rules, observation="vector")
    size = 52 if rules.muggins == "none" else 84
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) == spaces.Discrete(size)
        space = env.observation_space(agent)
        assert space["action_mask"] == spaces.Box(0, 1, (size,), np.int8)
        assert space["observation"] == plain.observation_space(agent)
        assert space["observation"].shape == (observation_size(rules),)
        assert space["observation"].dtype == np.uint8
    # Two agents that draw from spaces of their own do not draw the same.
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == rules.players


@every_kind
@every_form
def test_every_agent_sees_its_seat_and_only_who_is_to_act_has_a_mask(
    rules: Rules, observation: Any
) -> None:
    env = make_env(rules=rules, observation=observation)
    rng = np.random.default_rng(5)
    env.reset(seed=5)
    for acting in env.agent_iter(400):
        games = env.games
        over = env.terminations[acting]
        if not over:
            assert acting == f"player_{games.turn[0]}"
        legal = legal_by_the_rules(games)
        for seat, agent in enumerate(env.agents):
            seen, info = env.observe(agent), env.infos[agent]
            assert env.observation_space(agent).contains(seen)
            seat = int(agent[-1])
            assert np.array_equal(vector_of(seen), games.observe(seat)[0])
            mask = info["action_mask"]
            assert mask.dtype == np.int8
            if observation == "dict":
                assert np.array_equal(seen["action_mask"], mask)
            if agent == acting and not over:
                assert set(np.flatnonzero(mask).tolist()) == legal
            else:
                assert mask.all()
            side = seat % rules.sides
            scores = games.scores[0].tolist()
            assert info["agent_score"] == scores.pop(side)
            assert info["opponent_score"] == max(scores)
            assert info["is_dealer"] is bool(games.records["dealer"][0] == seat)
        env.step(None if over else choose(env, rng))


def test_what_is_returned_is_the_users_own() -> None:
    env = make_env()
    env.reset(seed=1)
    agent = env.agent_selection
    seen = env.observe(agent)
    before = vector_of(seen).copy(), seen["action_mask"].copy()
    for array in (*seen.values(), env.infos[agent]["action_mask"]):
        array[:] = 0
    assert np.array_equal(vector_of(env.observe(agent)), before[0])
    assert np.array_equal(env.observe(agent)["action_mask"], before[1])
    kept = env.observe(agent)
    env.step(int(kept["action_mask"].argmax()))
    assert np.array_equal(vector_of(kept), before[0])


@every_kind
def test_the_state_is_what_player_0_knows_and_what_it_does_not(rules: Rules) -> None:
    env = make_env(rules=rules)
    env.reset(seed=2)
    play = np.random.default_rng(2)
    for _ in range(20):
        env.step(choose(env, play))
    state, size = env.state(), observation_size(rules)
    assert env.state_space.contains(state)
    assert np.array_equal(state[:size], env.games.observe(0)[0])
    assert np.array_equal(state[:52], state[layout(rules)["hand"].slice])
    others = state[size:][privileged_layout(rules)["other_hands"].slice].reshape(-1, 52)
    for seat, cards in enumerate(others, start=1):
        held = cards_in(env.games.records["hands"][0, seat])
        assert set(np.flatnonzero(cards).tolist()) == set(held)


def test_an_agent_that_is_none_is_refused() -> None:
    env = make_env()
    env.reset(seed=0)
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match=r"^agent 'player_2': allowed are player_0, player_1$"):
            ask("player_2")
        for agent in (0, None, [1]):
            with pytest.raises(ValueError, match=r"^agent .*: allowed are player_0, player_1$"):
                ask(agent)


# ---- the same games as CribbageEnv ----


SAME: dict[str, dict[str, Any]] = {
    **SCHEMES,
    **TABLE_SCHEMES,
    "five cards": {"rules": "five_card", "reward": "points"},
    "short, cut for": {"rules": "short", "reward": "points", "first_dealer": "cut"},
}


@pytest.mark.parametrize("options", SAME.values(), ids=SAME.keys())
def test_player_0_meets_the_games_and_rewards_of_cribbage_env(options: dict[str, Any]) -> None:
    single = CribbageEnv(opponent=Lowest(), **options)
    env = make_env(observation="vector", **options)
    rng = np.random.default_rng(8)
    for seed in (lane_seed(8, 0), None, 5, None):
        seen, info = single.reset(seed=seed)
        env.reset(seed=seed)
        over, reward, first = False, 0.0, True
        for agent in env.agent_iter():
            there, paid, terminated, _, told = env.last()
            action = None if terminated else int(told["action_mask"].argmax())
            if agent == "player_0":
                assert np.array_equal(there, vector_of(seen))
                assert terminated == over
                # What comes before the first decision is no reward of a step.
                assert first or paid == pytest.approx(reward, abs=1e-12)
                shared = told.keys() & info.keys()
                assert shared >= {"action_mask", "agent_score", "opponent_score", "is_dealer"}
                for key in shared:
                    assert np.array_equal(told[key], info[key])
                if not over:
                    action = int(rng.choice(np.flatnonzero(info["action_mask"])))
                    seen, reward, over, _, info = single.step(action)
                first = False
            env.step(action)
        assert over
        assert {"won", "skunk_level"} <= info.keys()


@every_kind
def test_the_games_are_those_of_the_lane(rules: Rules) -> None:
    env = make_env(rules=rules)
    games = Games(1, rules, seed=[lane_seed(3, 7)])
    for number in range(3):
        env.reset(seed=lane_seed(3, 7) if number == 0 else None)
        assert_same(env.games.records, games.records)
        games.next_game([0])


def test_without_a_seed_every_environment_has_its_own_lane() -> None:
    seeds = set()
    for _ in range(3):
        env = raw_env()
        env.reset()
        seeds.add(tuple(env.games.records["seed"][0].tolist()))
        assert env.games.records["game_number"][0] == 0
        env.reset()
        assert env.games.records["game_number"][0] == 1
    assert len(seeds) == 3


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1"])
def test_a_bad_seed_is_refused_and_the_game_goes_on(seed: Any) -> None:
    env = raw_env()
    env.reset(seed=3)
    env.step(choose(env))
    before = env.games.records.copy()
    with pytest.raises(ValueError, match=r"seed"):
        env.reset(seed=seed)
    assert_same(env.games.records, before)
    play_out(env)


@pytest.mark.parametrize("seat", [0, 2])
def test_the_first_dealer_may_be_a_seat(seat: int) -> None:
    env = make_env(rules="three_player", first_dealer=seat)
    for seed in range(5):
        env.reset(seed=seed)
        assert env.games.records["dealer"][0] == seat


# ---- positions ----


def test_a_game_begins_in_a_position() -> None:
    env = make_env(reward="points")
    env.reset(seed=1, options={**POSITION, "scores": (100, 90), "plays": "QC 5H"})
    assert env.agent_selection == "player_0"
    # The fifteen was pegged before the game began for the agents.
    assert env.infos["player_0"]["opponent_score"] == 92
    assert set(env.rewards.values()) == {0}
    assert env.last()[1] == 0
    given = Position(scores=(100, 90), plays="QC 5H", **POSITION)
    assert env.games.position(0).plays == given.plays


@every_kind
def test_reset_takes_what_position_returns(rules: Rules) -> None:
    env = make_env(rules=rules)
    env.reset(seed=4)
    for _ in range(rules.players * rules.num_discards + 1):
        env.step(choose(env))
    while env.games.records["counting"][0]:  # a claim under way is told by no position
        env.step(52)
    position = env.games.position(0)
    other = make_env(rules=rules)
    other.reset(seed=4, options=options_of(position))
    assert other.agent_selection == env.agent_selection
    for agent in env.agents:
        assert np.array_equal(vector_of(env.observe(agent)), vector_of(other.observe(agent)))


@pytest.mark.parametrize("dealer", [0, 1])
def test_pone_of_five_cards_has_its_start_whoever_a_position_has_deal(dealer: int) -> None:
    for seed in range(4):
        env = make_env(rules="five_card")
        env.reset(seed=seed, options={"dealer": dealer})
        assert env.games.scores[0, 1 - dealer] == 3
        assert env.games.scores[0, dealer] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hands": ("7C 8C 9C QC 2H 3H", "7C 5C 5H 6S TH KH")}, "position: card 7C is there twice"),
        ({"dealer": 2}, "position: dealer 2: allowed is 0 to 1"),
        (
            {"score": (1, 2)},
            "options: unknown 'score': allowed are dealer, scores, hands, discards",
        ),
        ([1], r"options=\[1\]: allowed is a mapping of dealer"),
        (
            {**POSITION, "starter": "JD", "scores": (0, 119)},
            "position: the game is over before anybody has to choose",
        ),
    ],
)
def test_a_position_that_cannot_be_is_refused_and_the_game_goes_on(options: Any, said: str) -> None:
    env = make_env()
    env.reset(seed=3)
    env.step(choose(env))
    before = copy.deepcopy(env)
    with pytest.raises(ValueError, match=f"^{said}"):
        env.reset(seed=1, options=options)
    assert_same(env.games.records, before.games.records)
    assert env.agent_selection == before.agent_selection
    assert play_out(env) == play_out(before)


# ---- the end, and what comes after ----


@every_kind
def test_all_agents_leave_together_and_reset_begins_anew(rules: Rules) -> None:
    env = make_env(rules=rules)
    for seed in (9, None):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            env.step(choose(env))
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        left = list(env.possible_agents)
        for agent in env.agent_iter():
            assert agent == left[0]
            assert env.agents == left
            with pytest.raises(ValueError, match="None"):
                core(env).step(0)
            env.step(None)
            left.pop(0)
            for told in (env.rewards, env.terminations, env.truncations, env.infos):
                assert list(told) == left
        assert not left
        with pytest.raises(ResetNeeded, match=r"^the game is over: call env\.reset\(\) before"):
            core(env).step(None)


def test_before_the_first_reset_there_is_no_game() -> None:
    env = raw_env(render_mode="ansi")
    assert env.agents == []
    for ask in (lambda: env.games, lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(ResetNeeded, match="there is no game yet"):
            ask()
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        make_env().step(0)


def test_pettingzoos_parallel_wrapper_plays_whole_games() -> None:
    for rules in KINDS.values():
        env: Any = turn_based_aec_to_parallel(make_env(rules=rules, reward="points"))
        env.reset(seed=2)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            # Of all that are given an action, the wrapper takes the one of who is to act.
            actions = dict.fromkeys(env.agents, choose(env.aec_env))
            _, rewards, _, _, _ = env.step(actions)
            for agent, reward in rewards.items():
                totals[agent] += reward
        direct = make_env(rules=rules, reward="points")
        direct.reset(seed=2)
        assert totals == pytest.approx(play_out(direct))
