"""What a refused call leaves, and states that come from elsewhere: nothing is changed by halves."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from crib_env import IllegalActionError

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"

# His heels end the game before the agent has laid a card.
OVER_AT_ONCE: dict[str, Any] = {
    "dealer": 1,
    "scores": (120, 119),
    "hands": ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH"),
    "discards": ("2H 3H", "TH KH"),
    "starter": "JD",
}


class Moody:
    """A policy that plays its first legal cards until it is told to do something else."""

    name = "moody"

    def __init__(self) -> None:
        self.mood: Any = None

    def __call__(self, observations: Any, action_masks: Any, luck: Any) -> Any:
        if isinstance(self.mood, BaseException):
            raise self.mood
        return action_masks.argmin(axis=1) if self.mood else action_masks.argmax(axis=1)


def bare(env_id: str, **options: Any) -> Any:
    return gymnasium.make(env_id, **options).unwrapped


def first_cards(env: Any) -> Any:
    return env.action_masks().argmax(axis=-1)


def played(env_id: str, steps: int, **options: Any) -> Any:
    """Returns a single environment after some steps."""
    env = bare(env_id, **options)
    env.reset(seed=3)
    for _ in range(steps):
        env.step(int(first_cards(env)))
    return env


def ended_vector(mode: AutoresetMode) -> Any:
    """Returns a vector in which a lane has been lost, another forfeited, and the others go on."""
    envs: Any = gymnasium.make_vec(DEAL, num_envs=8, autoreset_mode=mode, opponent="greedy")
    envs.reset(seed=1, options={"scores": (60, 110)})
    for _ in range(3):
        envs.step(first_cards(envs))
    actions = first_cards(envs)
    actions[5] = 52
    assert envs.step(actions)[2].tolist() == [lane in (5, 7) for lane in range(8)]
    return envs


# ---- calls that are refused ----


@pytest.mark.parametrize("mood", [RuntimeError("a fault"), KeyboardInterrupt(), "cheat"])
def test_a_reset_in_which_an_opponent_raises_changes_nothing(mood: Any) -> None:
    error = IllegalActionError if mood == "cheat" else type(mood)
    policy = Moody()
    env = played(GAME, 4, opponent=policy, first_dealer="agent", render_mode="ansi")
    envs: Any = gymnasium.make_vec(GAME, num_envs=4, opponent=policy, first_dealer="agent")
    envs.reset(seed=1)
    before = pickle.dumps(env.state_dict()), env.render(), pickle.dumps(envs.state_dict())
    policy.mood = mood
    with pytest.raises(error):
        env.reset()
    with pytest.raises(error):
        envs.reset(options={"reset_mask": np.array([False, True, True, False])})
    after = pickle.dumps(env.state_dict()), env.render(), pickle.dumps(envs.state_dict())
    assert after == before
    policy.mood = None
    env.step(int(first_cards(env)))
    envs.step(first_cards(envs))


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_refused_position_leaves_the_pegs_and_the_words_of_the_game_before(mode: str) -> None:
    env = played(GAME, 20, render_mode=mode)
    before = env.render()
    with pytest.raises(ValueError, match="over before the agent"):
        env.reset(options=OVER_AT_ONCE)
    assert np.array_equal(env.render(), before)
    _, _, _, _, info = env.step(int(first_cards(env)))
    # The narrator follows the game before, not the one that was refused.
    assert env._view.narrator.front == [info["agent_score"], info["opponent_score"]]


def test_a_refused_call_before_the_first_game_draws_no_luck() -> None:
    single: Any = bare(GAME)
    many: Any = gymnasium.make_vec(GAME, num_envs=3)
    for env in (single, many):
        before = env.np_random.bit_generator.state
        for options in ({"scores": (500, 0)}, OVER_AT_ONCE):
            with pytest.raises(ValueError, match="position"):
                env.reset(options=options)
        with pytest.raises(ValueError, match="state"):
            env.load_state_dict({})
        assert env.np_random.bit_generator.state == before


def test_a_seed_may_be_numpys() -> None:
    env, other = bare(GAME), bare(GAME)
    seeds: list[Any] = [np.int64(3), np.uint64(2**64 - 1), np.uint8(3)]
    for seed in seeds:
        assert np.array_equal(env.reset(seed=seed)[0], other.reset(seed=int(seed))[0])


@pytest.mark.parametrize("options", [5, [1], "dealer"])
def test_options_of_reset_are_a_mapping(options: Any) -> None:
    for env in (bare(GAME), gymnasium.make_vec(GAME, num_envs=2)):
        with pytest.raises(ValueError, match=r"options=.*: allowed is a mapping"):
            env.reset(options=options)


# ---- states ----


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_a_loaded_vector_knows_which_lanes_have_ended(mode: AutoresetMode) -> None:
    envs = ended_vector(mode)
    other: Any = gymnasium.make_vec(DEAL, num_envs=8, autoreset_mode=mode, opponent="greedy")
    other.reset(seed=2)
    other.load_state_dict(envs.state_dict())
    for twin in (other, envs.clone()):
        original = envs.clone()
        if mode == AutoresetMode.DISABLED:
            for one in (twin, original):
                with pytest.raises(ResetNeeded, match="reset_mask"):
                    one.step(first_cards(one))
                one.reset(options={"reset_mask": one._lanes.ended})
        actions = first_cards(original)
        for seen, expected in zip(twin.step(actions)[:3], original.step(actions)[:3], strict=True):
            assert np.array_equal(seen, expected)


def test_a_vector_forgets_that_lanes_have_ended_with_the_state_it_leaves() -> None:
    envs = ended_vector(AutoresetMode.NEXT_STEP)
    fresh: Any = gymnasium.make_vec(DEAL, num_envs=8, opponent="greedy")
    fresh.reset(seed=5)
    envs.load_state_dict(fresh.state_dict())
    actions = first_cards(fresh)
    assert np.array_equal(envs.step(actions)[0], fresh.step(actions)[0])


def test_a_single_environment_that_has_ended_goes_on_as_a_vector_of_one() -> None:
    env = bare(DEAL)
    env.reset(seed=4)
    over = False
    while not over:
        over = env.step(int(first_cards(env)))[2]
    envs: Any = gymnasium.make_vec(DEAL, num_envs=1)
    envs.load_state_dict(env.state_dict())
    observations, rewards, _, _, _ = envs.step(np.zeros(1, np.int64))
    assert rewards.tolist() == [0.0]
    assert np.array_equal(observations[0], env.reset()[0])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("np_random", {"bit_generator": "MT19937"}),
        ("np_random", {}),
        ("np_random", 5),
        ("random_stream", "yes"),
        ("random_stream", None),
        ("format", np.zeros(2)),
        ("games", [1, 2]),
        ("episodes", None),
        ("begun", [True]),
        ("over", 3),
        ("win_probability", np.nan),
        ("potential", 7.0),
        ("triple_skunk", 100),
        ("first_dealer", 0),
        ("one_deal", 1),
        ("lacks", 16),
        ("turn", 1),
    ],
)
def test_a_state_is_loaded_whole_or_not_at_all(name: str, value: Any) -> None:
    env = played(GAME, 1)
    state = copy.deepcopy(env.state_dict())
    if name in state:
        state[name] = value
    else:
        records = state["games"] if name in state["games"].dtype.names else state["episodes"]
        records[name] = value
    before = pickle.dumps(env.state_dict())
    with pytest.raises(ValueError, match=r"^(state|games): ") as refused:
        env.load_state_dict(state)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)
    assert pickle.dumps(env.state_dict()) == before


def test_a_starter_is_missing_only_from_a_state_without_its_stream() -> None:
    env = played(GAME, 1)
    state = env.state_dict(random_stream=False)
    env.load_state_dict(state)
    state["random_stream"] = True
    with pytest.raises(ValueError, match="starter"):
        env.load_state_dict(state)


@pytest.mark.parametrize("state", [None, 5, "state"])
def test_a_state_is_a_mapping(state: Any) -> None:
    with pytest.raises(ValueError, match=r"^state: a "):
        bare(GAME).load_state_dict(state)
