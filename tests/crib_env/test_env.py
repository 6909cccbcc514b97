"""`CribbageEnv` as its users meet it; D001 and the like are faults reported of other software.

Needs numpy, numba, gymnasium and pytest alone: it also runs against the installed wheel.
"""

import copy
import hashlib
import logging
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import crib_env
from crib_env import (
    OUTSIDE,
    Bot,
    BotPolicy,
    CribbageEnv,
    Games,
    IllegalActionError,
    Position,
    Rules,
    lane_seed,
    parse_card,
    parse_cards,
)
from crib_env.cards import cards_in
from crib_env.observation import layout, observation_high
from crib_env.options import AGENT, OPPONENT
from tests.sameness import assert_same

ID = "crib_env/Cribbage-v0"
NO_SUCH_CARD = 52
STEPS_A_DEAL = 6

Array = npt.NDArray[Any]
Transcript = list[tuple[bytes, bytes, float, bool]]


class KthCard:
    """A policy that plays the k-th of its legal cards, or for k = -1 the last."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.name = f"card {k}"

    def __call__(self, observations: Array, action_masks: Array, luck: Array) -> Array:
        assert observations.dtype == np.uint8
        assert action_masks.dtype == np.int8
        assert luck.shape == (len(observations),)
        assert luck.dtype == np.uint64
        return np.array([np.flatnonzero(mask)[self.k] for mask in action_masks], np.int64)


class Cheat:
    """A policy that plays a card which it does not hold."""

    def __call__(self, observations: Array, action_masks: Array, luck: Array) -> Array:
        return np.array([np.flatnonzero(mask == 0)[0] for mask in action_masks], np.int64)


def core(env: gymnasium.Env[Any, Any]) -> CribbageEnv:
    """Returns the environment inside the wrappers of `gymnasium.make`."""
    inner = env.unwrapped
    assert isinstance(inner, CribbageEnv)
    return inner


def legal_cards(env: CribbageEnv) -> list[int]:
    """Returns the agent's legal cards by the rules, worked out here from the record."""
    game = env.games.records[0]
    assert game["turn"] == AGENT
    hand = list(cards_in(game["hands"][AGENT]))
    if game["phase"] == crib_env.Phase.DISCARD:
        return hand
    return [card for card in hand if min(card // 4 + 1, 10) + game["count"] <= 31]


def draw(mask: Array, rng: np.random.Generator) -> int:
    """Returns a random legal card."""
    return int(rng.choice(np.flatnonzero(mask)))


def vector_of(observation: Any) -> Array:
    """Returns the vector of an observation of either form."""
    vector: Array = observation["observation"] if isinstance(observation, dict) else observation
    return vector


def episode(
    env: gymnasium.Env[Any, Any], rng: np.random.Generator, seed: int | None = None
) -> tuple[Transcript, float, dict[str, Any]]:
    """Plays a whole game with random legal cards; returns it, its total and the last info."""
    observation, info = env.reset(seed=seed)
    transcript = [(vector_of(observation).tobytes(), info["action_mask"].tobytes(), 0.0, False)]
    total = 0.0
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(draw(info["action_mask"], rng))
        assert not truncated
        total += float(reward)
        transcript.append(
            (
                vector_of(observation).tobytes(),
                info["action_mask"].tobytes(),
                float(reward),
                terminated,
            )
        )
    return transcript, total, info


def deal_of(env: gymnasium.Env[Any, Any]) -> tuple[int, ...]:
    """Returns the cards of the present deal, before anybody has thrown one."""
    game = core(env).games.records[0]
    everything = [
        int(game["hands"][seat]) | int(game["discards"][seat]) for seat in (AGENT, OPPONENT)
    ]
    return (*everything, int(game["starter"]))


def look(env: CribbageEnv) -> tuple[Any, ...]:
    """Returns what the agent sees now, info included, without touching *env*.

    A copy of the environment forfeits its game, which shows the position as it stands.
    """
    twin = copy.deepcopy(env)
    logging.disable(logging.WARNING)  # of thousands of forfeits that are nobody's mistake
    try:
        return twin.step(NO_SUCH_CARD)
    finally:
        logging.disable(logging.NOTSET)


# --- Gymnasium's own demands ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "opponent",
    ["random", "greedy", "expert", KthCard(0), {"expert": 1.0, "random": 2.0}],
    ids=["random", "greedy", "expert", "policy", "pool"],
)
def test_check_env_passes_without_a_warning_against_anybody(opponent: Any) -> None:
    # tests/crib_env/test_checkers.py has every id, reward, observation form and render mode.
    check_env(gymnasium.make(ID, opponent=opponent).unwrapped, skip_render_check=True)


def test_make_applies_the_documented_defaults() -> None:
    env = core(gymnasium.make(ID))
    assert env.rules == Rules(target=121)
    options = env.options
    assert (options.reward, options.first_dealer, options.illegal) == (
        "win",
        "alternate",
        "forfeit",
    )
    assert env.render_mode is None
    _, info = env.reset(seed=0)
    assert info["opponent"] == "expert"
    assert isinstance(env.observation_space, gymnasium.spaces.Box)


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_every_observation_lies_in_the_space_and_is_the_users_to_keep(observation: str) -> None:
    env = gymnasium.make(ID, observation=observation, opponent="random")
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(5):
        seen, info = env.reset(seed=int(rng.integers(1 << 30)))
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            kept.append((seen, copy.deepcopy(seen)))
            kept.append((info, copy.deepcopy(info)))
            seen, _, over, _, info = env.step(draw(info["action_mask"], rng))
        assert env.observation_space.contains(seen)
    for given, then in kept:
        assert_same(given, then)


def test_the_space_is_tight_and_its_size_is_the_layouts() -> None:
    rules = Rules(target=61)
    space = core(gymnasium.make(ID, rules=rules)).observation_space
    assert isinstance(space, gymnasium.spaces.Box)
    assert space.dtype == np.uint8
    assert np.array_equal(space.high, observation_high(rules))
    assert space.high[layout(rules)["scores"].slice].tolist() == [61, 61]
    assert not space.low.any()


def test_the_dict_holds_the_vector_and_the_mask() -> None:
    vector = gymnasium.make(ID, opponent="random")
    both = gymnasium.make(ID, opponent="random", observation="dict")
    rng = np.random.default_rng(2)
    seen, info = vector.reset(seed=3)
    pair, pair_info = both.reset(seed=3)
    over = False
    while not over:
        assert set(pair) == {"observation", "action_mask"}
        assert_same(pair["observation"], seen)
        assert_same(pair["action_mask"], info["action_mask"])
        assert_same(pair_info, info)
        assert not np.shares_memory(pair["action_mask"], pair_info["action_mask"])
        card = draw(info["action_mask"], rng)
        seen, _, over, _, info = vector.step(card)
        pair, _, _, _, pair_info = both.step(card)
    assert pair["action_mask"].all()


def test_gymnasiums_vector_environment_stacks_masks_and_plays_the_lanes() -> None:
    seeds = [lane_seed(4, lane) for lane in range(4)]
    envs: Any = gymnasium.make_vec(ID, num_envs=4, vectorization_mode="sync", opponent="random")
    singles = [gymnasium.make(ID, opponent="random") for _ in seeds]
    observations, infos = envs.reset(seed=seeds)
    for row, (env, seed) in enumerate(zip(singles, seeds, strict=True)):
        assert_same(observations[row], env.reset(seed=seed)[0])
    for _ in range(30):
        assert infos["action_mask"].shape == (4, 52)
        assert infos["action_mask"].dtype == np.int8
        actions = infos["action_mask"].argmax(axis=1)
        observations, _, terminated, _, infos = envs.step(actions)
        assert not terminated.any()
        for row, env in enumerate(singles):
            assert_same(observations[row], env.step(actions[row])[0])


# --- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"opponent": "grandmaster"}, "opponent='grandmaster': allowed are 'random', 'greedy'"),
        ({"opponent": 3}, "opponent=3: allowed are"),
        ({"opponent": {}}, "opponent={}: a pool needs a member"),
        ({"opponent": ["expert", "random"]}, "pairs of"),
        ({"opponent": {"expert": 0}}, "weight 0: allowed is a number above 0"),
        ({"opponent": [("expert", float("nan"))]}, "weight nan: allowed is a number above 0"),
        ({"opponent": [("expert", "much")]}, "weight 'much': allowed is a number above 0"),
        ({"opponent": {"expert": True}}, "weight True: allowed is a number above 0"),
        ({"opponent": {"expert": 10**400}}, "allowed is a number above 0"),
        ({"opponent": [("expert", 1e308), ("random", 1e308)]}, "a pool may weigh"),
        ({"opponent": np.zeros((9, 9))}, "allowed are"),
        ({"opponent": {"novice": 1}}, "opponent='novice': allowed are"),
        ({"reward": "score"}, "reward='score': allowed are 'win', 'points'"),
        ({"first_dealer": 0}, "first_dealer=0: allowed are 'alternate', 'agent'"),
        ({"illegal": "ignore"}, "illegal='ignore': allowed are 'forfeit', 'raise'"),
        ({"observation": "image"}, "observation='image': allowed are 'vector', 'dict'"),
        ({"rules": 61}, "rules=61: allowed are a crib_env.Rules"),
        ({"rules": {"goal": 61}}, "rules={'goal': 61}: allowed are players, cards_dealt, target"),
        ({"match_points": (False, 1, 2, 3)}, "match_points=(False, 1, 2, 3): allowed are"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"allowed|pool") as caught:
        gymnasium.make(ID, **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_render_mode_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode='svg': allowed are None, 'ansi', 'human'"):
        CribbageEnv(render_mode="svg")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="render_open_hands=1: allowed are True and False"):
        CribbageEnv(render_open_hands=1)  # type: ignore[arg-type]


def test_a_bad_seed_is_refused() -> None:
    env = gymnasium.make(ID)
    with pytest.raises(ValueError, match="seed -1: a seed is a whole number from 0"):
        env.reset(seed=-1)


@pytest.mark.parametrize(
    ("first_dealer", "dealers"),
    [("agent", [1, 1, 1, 1, 1, 1]), ("opponent", [0, 0, 0, 0, 0, 0])],
)
def test_the_first_dealer_may_be_a_seat(first_dealer: str, dealers: list[int]) -> None:
    env = gymnasium.make(ID, first_dealer=first_dealer)
    assert [env.reset()[1]["is_dealer"] for _ in range(6)] == dealers


def test_the_first_dealer_alternates_or_is_cut_for() -> None:
    for first_dealer in ("alternate", "cut"):
        env = gymnasium.make(ID, first_dealer=first_dealer)
        starts, changes = set(), 0
        for seed in range(40):
            first = env.reset(seed=seed)[1]["is_dealer"]
            starts.add(first)
            changes += env.reset()[1]["is_dealer"] != first
        assert starts == {True, False}
        assert changes == 40 if first_dealer == "alternate" else 8 < changes < 32


def test_the_loser_may_deal_the_next_episode() -> None:
    env = gymnasium.make(ID, first_dealer="loser", rules={"target": 31}, opponent="random")
    envs: Any = gymnasium.make_vec(
        ID, num_envs=2, first_dealer="loser", rules={"target": 31}, opponent="random"
    )
    _, info = env.reset(seed=3)
    _, infos = envs.reset(seed=[3, 4])
    results = set()
    for _ in range(8):
        over = False
        while not over:
            assert infos["is_dealer"][0] == info["is_dealer"]
            actions = infos["action_mask"].argmax(axis=1)
            _, _, over, _, info = env.step(actions[0])
            _, _, overs, _, infos = envs.step(actions)
        assert overs[0]
        lost = not info["won"]
        results.add(lost)
        _, info = env.reset()
        # The other lane goes on; a step begins the next episode of this one.
        _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert infos["is_dealer"][0] == info["is_dealer"] == lost
    assert results == {True, False}


def test_d034_every_option_outlives_reset_with_a_seed() -> None:
    env = gymnasium.make(
        ID,
        opponent={"greedy": 1.0, "random": 1.0},
        reward="points",
        rules=Rules(target=61, triple_skunk=True),
        first_dealer="opponent",
        illegal="raise",
        observation="dict",
    )
    rng = np.random.default_rng(5)
    env.reset(seed=1)
    opponents = set()
    for game in range(10):
        _, info = env.reset(seed=1 if game == 5 else None)
        opponents.add(info["opponent"])
        assert not info["is_dealer"]
        with pytest.raises(IllegalActionError):
            env.step(NO_SUCH_CARD)
        total = 0.0
        over = False
        while not over:
            seen, reward, over, _, info = env.step(draw(info["action_mask"], rng))
            total += float(reward)
        assert set(seen) == {"observation", "action_mask"}
        assert max(info["agent_score"], info["opponent_score"]) == 61
        assert total == info["agent_score"] - info["opponent_score"]
    assert opponents == {"greedy", "random"}


# --- Actions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32, np.array], ids=str)
def test_any_kind_of_int_is_an_action(kind: Any) -> None:
    env, plain = (gymnasium.make(ID, opponent="random") for _ in range(2))
    env.reset(seed=6)
    _, info = plain.reset(seed=6)
    for _ in range(20):
        card = int(info["action_mask"].argmax())
        result = plain.step(card)
        assert_same(env.step(kind(card)), result)
        info = result[4]


@pytest.mark.parametrize(
    "action",
    [5.0, "5H", None, True, np.array([5]), np.float32(5)],
    ids=["5.0", "5H", "None", "True", "[5]", "f"],
)
def test_what_is_no_whole_number_is_an_error(action: Any) -> None:
    env = gymnasium.make(ID)
    env.reset(seed=0)
    before = core(env).games.records.tobytes()
    with pytest.raises(TypeError, match="allowed is an int from 0 to 51"):
        env.step(action)
    assert core(env).games.records.tobytes() == before


def test_d020_the_mask_is_that_of_the_agents_legal_cards() -> None:
    wrapped = gymnasium.make(ID, opponent="greedy", observation="dict")
    env = core(wrapped)
    rng = np.random.default_rng(7)
    for seed in range(30):
        seen, info = wrapped.reset(seed=seed)
        over = False
        while not over:
            expected = np.zeros(52, np.int8)
            expected[legal_cards(env)] = 1
            assert_same(info["action_mask"], expected)
            assert_same(seen["action_mask"], expected)
            assert_same(env.action_masks(), expected.astype(np.bool_))
            seen, _, over, _, info = wrapped.step(draw(info["action_mask"], rng))
        assert_same(info["action_mask"], np.ones(52, np.int8))
        assert_same(seen["action_mask"], np.ones(52, np.int8))
        assert_same(env.action_masks(), np.ones(52, np.bool_))


def test_action_masks_are_found_behind_the_wrappers() -> None:
    env = gymnasium.make(ID)
    with pytest.raises(ResetNeeded):
        env.get_wrapper_attr("action_masks")()
    _, info = env.reset(seed=0)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, info["action_mask"])
    info["action_mask"][:] = 0
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), mask)


def test_d023_200000_masked_samples_are_legal_and_d049_every_game_ends() -> None:
    env = gymnasium.make(ID, opponent="random")
    space = env.action_space
    space.seed(8)
    rules = Rules()
    steps = samples = 0
    _, info = env.reset(seed=8)
    while samples < 200_000:
        mask = info["action_mask"]
        card = int(space.sample(mask))
        assert mask[card] == 1
        _, _, over, truncated, info = env.step(card)
        assert not truncated
        assert "illegal_action" not in info
        samples += 1
        steps += 1
        assert steps <= rules.max_deals * STEPS_A_DEAL
        if over:
            _, info = env.reset()
            steps = 0


def test_d049_a_step_limit_truncates_and_never_terminates() -> None:
    # D044: each of several truncated games in a row has all its steps.
    env = gymnasium.make(ID, opponent="random", max_episode_steps=5)
    for seed in (0, None, None, 7):
        _, info = env.reset(seed=seed)
        assert core(env).games.records["num_plays"].tolist() == [0]
        for step in range(1, 6):
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            assert (terminated, truncated) == (False, step == 5)


def test_d044_counters_are_zero_after_reset() -> None:
    env = CribbageEnv(opponent="greedy")
    rng = np.random.default_rng(44)
    for steps in (0, 3, 40, 7):
        _, info = env.reset()
        record = env.games.records[0]
        for name in ("deal_number", "num_plays", "count", "pile_size", "gone", "points"):
            assert not np.any(record[name])
        assert not np.any(record["scores"])
        for _ in range(steps):
            info = env.step(draw(info["action_mask"], rng))[4]


# --- Rewards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponent", ["random", "expert"])
def test_win_pays_one_at_the_end_over_500_games(opponent: str) -> None:
    env = gymnasium.make(ID, opponent=opponent)
    rng = np.random.default_rng(9)
    results: Counter[tuple[float, int]] = Counter()
    for _ in range(500):
        transcript, total, info = episode(env, rng)
        assert [reward for *_, reward, _ in transcript[:-1]] == [0.0] * (len(transcript) - 1)
        assert total == (1.0 if info["won"] else -1.0)
        assert info["won"] == (info["agent_score"] == 121)
        loser = min(info["agent_score"], info["opponent_score"])
        assert max(info["agent_score"], info["opponent_score"]) == 121
        assert info["skunk_level"] == (loser < 91) + (loser < 61)
        results[total, info["skunk_level"]] += 1
    assert len(results) > 2


@pytest.mark.parametrize("opponent", ["random", "expert", KthCard(-1)], ids=["r", "e", "policy"])
def test_points_pays_the_net_points_over_500_games(opponent: Any) -> None:
    env = gymnasium.make(ID, opponent=opponent, reward="points", rules=Rules(target=61))
    rng = np.random.default_rng(10)
    for _ in range(500):
        _, info = env.reset()
        assert (info["agent_score"], info["opponent_score"]) == (0, 0)
        total = 0.0
        over = False
        while not over:
            before = info["agent_score"] - info["opponent_score"]
            _, reward, over, _, info = env.step(draw(info["action_mask"], rng))
            assert isinstance(reward, float)
            assert reward == info["agent_score"] - info["opponent_score"] - before
            assert 0 <= min(info["agent_score"], info["opponent_score"]) <= 61
            total += reward
        game = core(env).games
        pegged = game.points[0].sum(axis=(1, 2))
        assert total == pegged[AGENT] - pegged[OPPONENT]


# --- Illegal actions -----------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_d029_an_illegal_action_forfeits_and_changes_nothing(
    reward: str, observation: str, caplog: pytest.LogCaptureFixture
) -> None:
    env = gymnasium.make(ID, opponent="greedy", reward=reward, observation=observation)
    rng = np.random.default_rng(12)
    worst = -121.0 if reward == "points" else -1.0
    ahead = behind = 0
    for game in range(80):
        seen, info = env.reset(seed=12 if game == 0 else None)
        total = 0.0
        for _ in range(game % 40):
            seen, paid, over, _, info = env.step(draw(info["action_mask"], rng))
            total += float(paid)
            assert not over
        ahead += total > 0
        behind += total < 0
        mask = info["action_mask"]
        wrong = int(rng.choice([*np.flatnonzero(mask == 0), -1, 52, 1 << 70]))
        state = core(env).games.records.tobytes()
        caplog.clear()
        after, paid, terminated, truncated, info = env.step(wrong)

        assert core(env).games.records.tobytes() == state
        assert_same(vector_of(after), vector_of(seen))
        assert total + float(paid) == worst
        assert (terminated, truncated) == (True, False)
        assert info["action_mask"].all()
        assert core(env).action_masks().all()
        assert observation == "vector" or after["action_mask"].all()
        assert info["won"] is False
        assert info["skunk_level"] == 0
        assert info["illegal_action"].startswith(f"illegal action {wrong} (")
        assert [record.name for record in caplog.records] == ["crib_env"]
        assert caplog.records[0].levelno == logging.WARNING
        assert info["illegal_action"] in caplog.messages[0]
        assert "\n" not in caplog.messages[0]
        with pytest.raises(ResetNeeded, match="the episode is over"):
            env.step(int(mask.argmax()))
    if reward == "points":
        assert ahead > 5
        assert behind > 5


def test_the_game_after_a_forfeit_is_as_if_there_had_been_none() -> None:
    env, other = (gymnasium.make(ID, opponent="greedy") for _ in range(2))
    env.reset(seed=13)
    env.step(NO_SUCH_CARD)
    other.reset(seed=13)
    assert_same(episode(env, np.random.default_rng(0)), episode(other, np.random.default_rng(0)))


def test_d029_raise_names_card_and_position_and_the_game_goes_on() -> None:
    env = gymnasium.make(ID, opponent="greedy", illegal="raise", first_dealer="opponent")
    twin = gymnasium.make(ID, opponent="greedy", first_dealer="opponent")
    rng = np.random.default_rng(14)
    _, info = env.reset(seed=15)
    twin.reset(seed=15)
    over = False
    while not over:
        wrong = int(rng.choice(np.flatnonzero(info["action_mask"] == 0)))
        state = core(env).games.records.tobytes()
        with pytest.raises(IllegalActionError) as caught:
            env.step(wrong)
        text = str(caught.value)
        assert text.startswith(f"illegal action {wrong} ({crib_env.card_text(wrong)}): allowed: ")
        assert "seat 0 to act" in text
        assert "\n" not in text
        assert core(env).games.records.tobytes() == state
        with pytest.raises(IllegalActionError, match=r"illegal action -1 \(no card\)"):
            env.step(-1)
        card = draw(info["action_mask"], rng)
        result = env.step(card)
        assert_same(result, twin.step(card))
        over, info = result[2], result[4]


def test_the_text_of_an_illegal_action_in_full() -> None:
    env = CribbageEnv()
    env.reset(seed=0)
    env.games.set_position(
        0,
        Position(
            dealer=1,
            scores=(33, 47),
            hands=(parse_cards("5H 6C JD KS 2D 3D"), parse_cards("TC TD QS 9H 8H 4H")),
            discards=(parse_cards("2D 3D"), parse_cards("9H 8H")),
            starter=parse_card("AS"),
            plays=parse_cards("KS TC"),
        ),
    )
    _, _, _, _, info = env.step(parse_card("KS"))
    assert info["illegal_action"] == (
        "illegal action 51 (KS): allowed: 5H 6C JD; deal 1, dealer seat 1, score 33-47, play, "
        "seat 0 to act, count 20, seat 0 holds 5H 6C JD, seat 1 holds 3 unseen"
    )


def test_step_before_reset_and_after_the_end_is_one_clear_error() -> None:
    env = CribbageEnv("random")
    with pytest.raises(ResetNeeded, match=r"call env\.reset\(\)"):
        env.step(0)
    with pytest.raises(ResetNeeded, match=r"call env\.reset\(\)"):
        _ = env.games
    episode(env, np.random.default_rng(0))
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(0)


# --- Seeds and lanes -----------------------------------------------------------------------------


@pytest.mark.parametrize("opponent", [Bot.RANDOM, Bot.GREEDY, Bot.EXPERT])
def test_an_environment_is_the_lane_of_a_batch(opponent: Bot) -> None:
    batch = Games(8, seed=16)
    policy = BotPolicy("random")
    envs = [gymnasium.make(ID, opponent=opponent.name.lower()) for _ in range(8)]
    current = [env.reset(seed=lane_seed(16, lane)) for lane, env in enumerate(envs)]
    for _ in range(2):
        batch.play_bots([OUTSIDE, opponent])
        playing = np.arange(8)
        while len(playing):
            seen = batch.observe(AGENT, playing)
            masks = batch.action_masks(AGENT, playing)
            for row, lane in enumerate(playing):
                assert_same(seen[row], current[lane][0])
                assert_same(masks[row], current[lane][1]["action_mask"])
            actions = policy(seen, masks, batch.luck(playing))
            batch.apply(actions, playing)
            batch.play_bots([OUTSIDE, opponent], playing)
            for row, lane in enumerate(playing):
                observation, _, over, _, info = envs[lane].step(actions[row])
                assert over == batch.over[lane]
                assert (info["agent_score"], info["opponent_score"]) == tuple(batch.scores[lane])
                current[lane] = (observation, info)
            playing = playing[~batch.over[playing]]
        batch.next_game()
        current = [env.reset() for env in envs]


@pytest.mark.parametrize("name", ["random", "greedy", "expert"])
def test_a_house_player_as_a_policy_plays_the_same_games(name: str) -> None:
    house = gymnasium.make(ID, opponent=name, reward="points")
    policy = gymnasium.make(ID, opponent=BotPolicy(name), reward="points")
    for seed in range(3):
        rng, again = (np.random.default_rng(seed) for _ in range(2))
        assert_same(episode(house, rng, seed), episode(policy, again, seed))


def test_d035_the_second_and_later_resets_repeat_too() -> None:
    games = []
    for _ in range(2):
        env = gymnasium.make(ID, opponent="random")
        rng = np.random.default_rng(17)
        games.append([episode(env, rng, seed=5), *(episode(env, rng) for _ in range(4))])
    assert_same(tuple(games[0]), tuple(games[1]))
    assert len({game[0][0] for game in games[0]}) == 5


def test_a_game_broken_off_is_followed_by_the_lanes_next() -> None:
    played, broken = (gymnasium.make(ID, opponent="random") for _ in range(2))
    episode(played, np.random.default_rng(0), seed=29)
    _, info = broken.reset(seed=29)
    for _ in range(9):
        _, _, _, _, info = broken.step(int(info["action_mask"].argmax()))
    assert_same(broken.reset(), played.reset())


def test_d038_eight_environments_from_lane_seeds_differ_pairwise_and_repeat() -> None:
    def first_deals(seed: int) -> list[tuple[int, ...]]:
        envs = [gymnasium.make(ID, first_dealer="agent") for _ in range(8)]
        for lane, env in enumerate(envs):
            env.reset(seed=lane_seed(seed, lane))
        return [deal_of(env) for env in envs]

    assert len(set(first_deals(1))) == 8
    assert first_deals(1) == first_deals(1)
    assert not set(first_deals(1)) & set(first_deals(2))

    envs = gymnasium.make_vec(ID, num_envs=8, vectorization_mode="sync")
    observations, _ = envs.reset(seed=1)
    assert len({row.tobytes() for row in observations}) == 8
    assert_same(envs.reset(seed=1)[0], observations)


def test_d040_a_thousand_episodes_are_a_thousand_deals() -> None:
    env = gymnasium.make(ID, first_dealer="agent")
    env.reset(seed=18)
    deals = {deal_of(env)}
    for _ in range(999):
        env.reset()
        deals.add(deal_of(env))
    assert len(deals) == 1000


def test_d041_global_generators_neither_change_nor_matter() -> None:
    env = gymnasium.make(ID, opponent="random")
    policy_rng = np.random.default_rng(19)
    env.reset(seed=20)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  it is the legacy generator that is watched
    before = (random.getstate(), pickle.dumps(np.random.get_state()))  # noqa: NPY002  likewise
    games = [episode(env, policy_rng)[0] for _ in range(100)]
    after = (random.getstate(), pickle.dumps(np.random.get_state()))  # noqa: NPY002  likewise
    assert after == before

    policy_rng = np.random.default_rng(19)
    env.reset(seed=20)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002  likewise
    assert [episode(env, policy_rng)[0] for _ in range(100)] == games


def test_without_a_seed_every_environment_has_its_own_lane() -> None:
    envs = [gymnasium.make(ID, first_dealer="agent") for _ in range(2)]
    for env in envs:
        env.reset()
    assert deal_of(envs[0]) != deal_of(envs[1])


DIGEST = """
import gymnasium, hashlib, crib_env
env = gymnasium.make("crib_env/Cribbage-v0", opponent={"expert": 1, "random": 1}, reward="points")
digest = hashlib.sha256()
for seed in (21, None, None, 22):
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        digest.update(observation.tobytes() + info["action_mask"].tobytes())
        observation, reward, over, _, info = env.step(info["action_mask"].argmax())
        digest.update(repr(reward).encode())
    digest.update(repr((info["opponent"], info["agent_score"])).encode())
"""


def test_another_process_plays_the_same_games() -> None:
    here: dict[str, Any] = {"hashlib": hashlib}
    exec(DIGEST, here)
    home = str(Path(crib_env.__file__).parent.parent)
    there = subprocess.run(
        [sys.executable, "-c", f"{DIGEST}\nprint(digest.hexdigest())"],
        env={**os.environ, "PYTHONPATH": home, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == here["digest"].hexdigest()


@pytest.mark.parametrize("copied", ["pickle", "deepcopy"])
@pytest.mark.parametrize("opponent", ["random", BotPolicy("greedy"), {"expert": 1, "random": 1}])
def test_d037_a_copy_in_mid_play_has_the_same_view_and_the_same_cards_to_come(
    copied: str, opponent: Any
) -> None:
    env = core(gymnasium.make(ID, opponent=opponent, reward="points"))
    rng = np.random.default_rng(23)
    _, info = env.reset(seed=24)
    for _ in range(27):
        _, _, _, _, info = env.step(draw(info["action_mask"], rng))
    twin = pickle.loads(pickle.dumps(env)) if copied == "pickle" else copy.deepcopy(env)
    assert_same(look(twin), look(env))
    assert_same(twin.action_masks(), env.action_masks())
    over = False
    while not over:
        card = draw(info["action_mask"], rng)
        result = env.step(card)
        assert_same(twin.step(card), result)
        assert_same(twin.games.records, env.games.records)
        over, info = result[2], result[4]
    again = np.random.default_rng(0)
    assert_same(episode(env, np.random.default_rng(0)), episode(twin, again))


def test_d037_a_copy_redealt_keeps_the_view_and_has_other_cards_to_come() -> None:
    env = CribbageEnv("greedy")
    env.reset(seed=25)
    twin = copy.deepcopy(env)
    twin.games.redeal_hidden(AGENT, seed=1)
    assert_same(look(twin), look(env))
    assert deal_of(twin) != deal_of(env)
    twin.reset()
    env.reset()
    assert deal_of(twin) != deal_of(env)


def test_an_environment_never_reset_can_be_copied() -> None:
    env = pickle.loads(pickle.dumps(CribbageEnv("random")))
    episode(env, np.random.default_rng(0))


# --- Opponents -----------------------------------------------------------------------------------


def test_a_pool_draws_by_weight_and_names_whom_it_drew() -> None:
    pool = [("expert", 1), (KthCard(0), 2.0), (KthCard(-1), 5)]
    env = gymnasium.make(ID, opponent=pool)
    drawn = []
    _, info = env.reset(seed=26)
    for _ in range(2000):
        _, info = env.reset()
        drawn.append(info["opponent"])
    counts = Counter(drawn)
    assert counts.keys() == {"expert", "card 0", "card -1"}
    expected = {"expert": 250, "card 0": 500, "card -1": 1250}
    chi_square = sum((counts[name] - mean) ** 2 / mean for name, mean in expected.items())
    assert chi_square < 13.8  # 2 degrees of freedom, p = 0.001; the seed is fixed

    again = gymnasium.make(ID, opponent=pool)
    again.reset(seed=26)
    assert [again.reset()[1]["opponent"] for _ in range(2000)] == drawn


@pytest.mark.parametrize("weight", [Fraction(1, 3), np.float32(0.5), 2])
def test_a_weight_may_be_any_real_number(weight: Any) -> None:
    env = gymnasium.make(ID, opponent=[("random", weight), ("greedy", weight)])
    same = gymnasium.make(ID, opponent={"random": 1.0, "greedy": 1.0})
    for seed in range(30):
        assert env.reset(seed=seed)[1]["opponent"] == same.reset(seed=seed)[1]["opponent"]


def test_the_opponent_drawn_is_the_one_who_plays_and_costs_no_cards() -> None:
    pool = gymnasium.make(ID, opponent={"random": 1, "greedy": 1, "expert": 1}, reward="points")
    names = set()
    for seed in range(12):
        played = episode(pool, np.random.default_rng(seed), seed)
        name = played[2]["opponent"]
        names.add(name)
        alone = gymnasium.make(ID, opponent=name, reward="points")
        assert_same(episode(alone, np.random.default_rng(seed), seed), played)
    assert names == {"random", "greedy", "expert"}


def test_a_policy_that_plays_an_illegal_card_is_named_and_voids_the_episode() -> None:
    env = CribbageEnv(Cheat(), first_dealer="agent")
    with pytest.raises(IllegalActionError, match="opponent Cheat: illegal action"):
        env.reset(seed=0)
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_a_function_is_a_policy() -> None:
    def first_card(observations: Array, action_masks: Array, luck: Array) -> Array:
        cards: Array = action_masks.argmax(axis=1)
        return cards

    env = gymnasium.make(ID, opponent=first_card)
    _, _, info = episode(env, np.random.default_rng(0), seed=0)
    assert info["opponent"] == "first_card"


# --- Honesty -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opponent", "states"), [("greedy", 2000), (KthCard(0), 500)], ids=["house", "policy"]
)
def test_d001_hidden_cards_change_no_byte_of_observation_mask_or_info(
    opponent: Any, states: int
) -> None:
    env = CribbageEnv(opponent, reward="points", rules=Rules(target=41), observation="dict")
    rng = np.random.default_rng(27)
    _, info = env.reset(seed=28)
    phases: Counter[Any] = Counter()
    for state in range(states):
        game = env.games.records[0]
        other = copy.deepcopy(env)
        other.games.redeal_hidden(AGENT, seed=state)
        assert_same(look(other), look(env))
        phases[int(game["phase"])] += 1
        # One card further on, where no opponent has shown or hidden anything in between.
        held, deal = int(game["held"][OPPONENT]), int(game["deal_number"])
        card = draw(info["action_mask"], rng)
        result = env.step(card)
        result_of_other = other.step(card)
        records = [one.games.records[0] for one in (env, other)]
        if all(r["held"][OPPONENT] == held and r["deal_number"] == deal for r in records):
            shown = [r["phase"] == crib_env.Phase.OVER and r["num_plays"] == 8 for r in records]
            if not any(shown) and records[0]["phase"] == records[1]["phase"]:
                assert_same(result_of_other, result)
                phases["next", int(records[0]["phase"])] += 1
        info = env.reset()[1] if result[2] else result[4]
    assert phases[crib_env.Phase.DISCARD] > states / 5
    assert phases[crib_env.Phase.PLAY] > states / 2
    assert phases["next", crib_env.Phase.DISCARD] > states / 10
    assert phases["next", crib_env.Phase.PLAY] > 0
    assert phases["next", crib_env.Phase.OVER] > 0


def test_d002_public_facts_do_change_the_observation() -> None:
    def view(**changed: Any) -> bytes:
        facts: dict[str, Any] = {
            "dealer": 1,
            "scores": (33, 47),
            "hands": (parse_cards("5H 6C JD KS 2D 3D"), parse_cards("TC TD QS 9H 8H 4H")),
            "discards": (parse_cards("2D 3D"), parse_cards("9H 8H")),
            "starter": parse_card("AS"),
            "plays": parse_cards("KS TC"),
        }
        env = CribbageEnv()
        env.reset(seed=0)
        env.games.set_position(0, Position(**{**facts, **changed}))
        return vector_of(look(env)[0]).tobytes()

    hands = (parse_cards("5H 6C JD KS 2D 3D"), parse_cards("TC TD 4H 9H 8H QS"))
    hidden = {view(), view(hands=hands, discards=(parse_cards("2D 3D"), parse_cards("QS 8H")))}
    assert len(hidden) == 1
    public = [
        view(),
        view(scores=(34, 47)),
        view(scores=(33, 48)),
        view(starter=parse_card("AH")),
        view(plays=()),
        view(plays=parse_cards("KS TD")),
        view(plays=parse_cards("JD TC")),
        view(plays=parse_cards("KS TC 5H 4H")),
        view(dealer=0, plays=parse_cards("TC")),
        view(dealer=0, plays=parse_cards("TC KS TD")),
        view(discards=(parse_cards("2D 5H"), parse_cards("9H 8H"))),
        view(discards=(), plays=()),
    ]
    assert len(set(public)) == len(public)


def test_d011_what_an_opponent_tried_and_how_often_shows_nowhere() -> None:
    # A policy that looks at its cards thrice, and one that is asked once, throw the same cards.
    class Hesitant(KthCard):
        def __call__(self, observations: Array, action_masks: Array, luck: Array) -> Array:
            for k in (0, 1):
                KthCard(k)(observations, action_masks, luck)
            return super().__call__(observations, action_masks, luck)

    views = []
    for opponent in (KthCard(-1), Hesitant(-1)):
        env = CribbageEnv(opponent, first_dealer="agent", observation="dict")
        views.append([env.reset(seed=4), look(env), env.step(legal_cards(env)[0]), look(env)])
    for left, right in zip(*views, strict=True):
        assert_same(left, right)


def test_d004_who_throws_second_sees_nothing_of_what_was_thrown_first() -> None:
    for seed in range(50):
        views = []
        for k in (0, 1, -1):
            policy = KthCard(k)
            policy.name = "same"
            env = CribbageEnv(policy, first_dealer="agent", observation="dict")
            views.append((env.reset(seed=seed), look(env), env.step(legal_cards(env)[0])))
            assert env.games.records["held"][0, OPPONENT] == 4
        assert_same(views[1], views[0])
        assert_same(views[2], views[0])


def test_an_opponent_that_raises_ends_the_episode_so_that_nobody_plays_its_cards() -> None:
    def broken(observations: Any, action_masks: Any, luck: Any) -> Any:
        raise RuntimeError("the opponent has a fault")

    env = CribbageEnv(opponent=broken, first_dealer="opponent")
    _, info = env.reset(seed=3)
    first, second = info["action_mask"].nonzero()[0][:2]
    env.step(first)
    with pytest.raises(RuntimeError, match="fault"):
        env.step(second)
    held = env.games.records["hands"][0].copy()
    assert env.action_masks().all()
    for card in range(52):
        with pytest.raises(ResetNeeded):
            env.step(card)
    assert (env.games.records["hands"][0] == held).all()


def test_a_policy_that_writes_into_its_mask_makes_no_action_legal() -> None:
    def forger(observations: Any, action_masks: Any, luck: Any) -> Any:
        action_masks[:] = 1
        return np.array([51])

    env = CribbageEnv(opponent=forger, first_dealer="agent")
    # The first lane in which the opponent does not hold card 51, which it may throw.
    seed = next(s for s in range(9) if not Games(1, seed=[s], first_dealer=0).action_masks()[0, 51])
    with pytest.raises(IllegalActionError, match="forger"):
        env.reset(seed=seed)
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("chosen", [None, [], 0, [0.5], [[3]], [float("nan")]])
def test_a_policy_that_chooses_no_card_is_named(chosen: Any) -> None:
    def broken(observations: Any, action_masks: Any, luck: Any) -> Any:
        return chosen

    env = CribbageEnv(opponent=broken, first_dealer="agent")
    with pytest.raises(ValueError, match="policy broken: chose"):
        env.reset(seed=1)


def test_the_class_of_a_policy_is_no_opponent() -> None:
    with pytest.raises(ValueError, match="opponent="):
        CribbageEnv(opponent=BotPolicy)  # type: ignore[arg-type]  # that is the point


def test_a_specification_in_json_makes_the_same_environment() -> None:
    env = gymnasium.make("crib_env/Cribbage-v0", rules=Rules(target=61))
    assert env.spec is not None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.get_wrapper_attr("rules") == Rules(target=61)
