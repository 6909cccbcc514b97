"""The wrappers: every form on every environment, held against what the environment itself gives."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, TransformObservation
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.vec_env import DummyVecEnv

import crib_env
from crib_env import Rules
from crib_env.derived import derived_layout, derived_size
from crib_env.observation import layout, observation_size
from crib_env.wrappers import FormatObservation, ObservationFormat
from tests.observation_formats import (
    FORMATS,
    Array,
    every_base,
    every_format,
    expected,
    row_of,
)
from tests.sameness import assert_same

ID = "crib_env/Cribbage-v0"
SIZE = observation_size(Rules())
ACTIONS = Rules().num_actions


def bare(base: str = "vector", **options: Any) -> gymnasium.Env[Any, Any]:
    """Returns the environment without a wrapper of ours."""
    return gymnasium.make(ID, opponent="random", observation=base, **options)


def made(options: dict[str, Any], base: str = "vector") -> FormatObservation:
    """Returns a wrapped environment."""
    return FormatObservation(bare(base), **options)


def draw(mask: Array, rng: np.random.Generator) -> int:
    """Returns a random legal card."""
    return int(rng.choice(np.flatnonzero(mask)))


# --- One environment -----------------------------------------------------------------------------


@every_base
@every_format
def test_a_whole_game_is_given_as_asked_for(options: dict[str, Any], base: str) -> None:
    env, plain_env = made(options, base), bare()
    rng = np.random.default_rng(1)
    observation, info = env.reset(seed=2)
    vector, plain_info = plain_env.reset(seed=2)
    over = False
    while True:
        assert_same(observation, expected(options, vector, plain_info["action_mask"], Rules()))
        assert env.observation_space.contains(observation)
        assert_same(info["action_mask"], plain_info["action_mask"])
        assert info.keys() == plain_info.keys()
        if over:
            break
        action = draw(info["action_mask"], rng)
        observation, reward, over, truncated, info = env.step(action)
        vector, *others, plain_info = plain_env.step(action)
        assert [reward, over, truncated] == others


@every_format
def test_what_is_given_is_the_users_to_keep(options: dict[str, Any]) -> None:
    env = made(options, "dict")
    observation, info = env.reset(seed=3)
    kept = copy.deepcopy((observation, info["action_mask"]))
    env.step(draw(info["action_mask"], np.random.default_rng(3)))
    env.reset()
    assert_same(observation, kept[0])
    if isinstance(observation, dict):
        for part in observation.values():
            part[:] = 0
    assert_same(info["action_mask"], kept[1])


@every_base
@every_format
# The checker would rather have the bare environment, and the wrapper is what is to be checked.
@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
def test_gymnasiums_check_env_passes_without_a_warning(options: dict[str, Any], base: str) -> None:
    check_env(made(options, base))


@every_format
def test_sb3s_check_env_passes_without_a_warning(options: dict[str, Any]) -> None:
    sb3_check_env(made(options))


@every_format
def test_action_masks_stay_within_reach(options: dict[str, Any]) -> None:
    env = made(options)
    _, info = env.reset(seed=4)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, info["action_mask"])


@every_format
def test_sb3s_vectors_reach_the_masks_as_sb3_contrib_asks_for_them(options: dict[str, Any]) -> None:
    envs = DummyVecEnv([lambda: made(options)] * 2)
    envs.reset()
    masks = envs.env_method("action_masks")
    assert [mask.sum() for mask in masks] == [6, 6]
    envs.step(np.argmax(masks, axis=1))
    assert [mask.sum() for mask in envs.env_method("action_masks")] == [5, 5]


@every_format
def test_the_specification_makes_it_anew_also_from_json(options: dict[str, Any]) -> None:
    env = made(options)
    assert env.spec is not None
    for spec in (env.spec, EnvSpec.from_json(env.spec.to_json())):
        again = gymnasium.make(spec)
        assert isinstance(again, FormatObservation)
        assert again.observation_space == env.observation_space
        assert_same(again.reset(seed=5)[0], env.reset(seed=5)[0])


@every_format
def test_a_pickle_and_a_copy_in_mid_game_go_on_alike(options: dict[str, Any]) -> None:
    env = made(options)
    _, info = env.reset(seed=6)
    action = draw(info["action_mask"], np.random.default_rng(6))
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    observation = env.step(action)[0]
    for twin in twins:
        assert_same(twin.step(action)[0], observation)


def test_scores_are_scaled_by_the_target_of_the_rules() -> None:
    env = FormatObservation(bare(rules=Rules(target=31)))
    observation, info = env.reset(seed=7)
    over = False
    while not over:
        observation, _, over, _, info = env.step(
            draw(info["action_mask"], np.random.default_rng(7))
        )
    scores = observation[env.layout["scores"].slice]
    points = np.array([info["agent_score"], info["opponent_score"]], np.float32)
    assert scores.max() == 1
    assert np.array_equal(scores, points / np.float32(31))


def test_defaults_are_the_scaled_vector_with_nothing_derived() -> None:
    env = made({})
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (SIZE,), np.float32)
    assert env.format == ObservationFormat("float32", "vector", derived=False)


def test_bytes_keep_the_space_of_the_environment() -> None:
    assert made({"dtype": "uint8"}).observation_space == bare().observation_space
    assert (
        made({"dtype": "uint8", "form": "dict"}).observation_space == bare("dict").observation_space
    )


# --- The named slices ----------------------------------------------------------------------------


@every_format
def test_slices_follow_each_other_and_their_highest_is_that_of_the_space(
    options: dict[str, Any],
) -> None:
    env = made(options)
    space: Any = env.observation_space
    if options.get("form") == "dict":
        space = space[options.get("observation_key", "observation")]
    end = 0
    for name, field in env.layout.items():
        assert (field.name, field.start) == (name, end)
        assert (space.high[field.slice] == field.high).all()
        end = field.stop
    assert space.shape == (end,)


def test_d053_observation_derived_and_mask_stand_where_the_page_says() -> None:
    names = [*layout(Rules()), *derived_layout(Rules())]
    env = made({"form": "flat", "derived": True})
    assert list(env.layout) == [*names, "action_mask"]
    for name, field in layout(Rules()).items():
        assert env.layout[name].slice == field.slice
    for name, field in derived_layout(Rules()).items():
        assert env.layout[name].slice == slice(SIZE + field.start, SIZE + field.stop)
    end = SIZE + derived_size(Rules()) + ACTIONS
    assert env.layout["action_mask"].slice == slice(end - ACTIONS, end)
    assert list(made({"derived": True}).layout) == names


# --- D053: other wrappers, and learners ----------------------------------------------------------


def test_d053_gymnasium_flattens_both_dicts_and_the_mask_keeps_its_place() -> None:
    for env in (bare("dict"), made({"form": "dict"})):
        flat = FlattenObservation(env)
        rng = np.random.default_rng(8)
        observation, info = flat.reset(seed=8)
        over = False
        while not over:
            # Gymnasium sorts the keys of a dict: "action_mask" comes first.
            assert np.array_equal(observation[:ACTIONS], info["action_mask"])
            assert flat.observation_space.contains(observation)
            observation, _, over, _, info = flat.step(draw(info["action_mask"], rng))
        assert np.array_equal(observation[:ACTIONS], info["action_mask"])


@every_format
def test_d053_stacked_frames_hold_the_observations_in_order(options: dict[str, Any]) -> None:
    stacked, env = FrameStackObservation(made(options), 3), made(options)
    rng = np.random.default_rng(9)
    frames, info = stacked.reset(seed=9)
    last = [env.reset(seed=9)[0]] * 3
    for _ in range(8):
        assert stacked.observation_space.contains(frames)
        for place, frame in enumerate(last):
            assert_same(row_of(frames, place), frame)
        action = draw(info["action_mask"], rng)
        frames, _, _, _, info = stacked.step(action)
        last = [*last[1:], env.step(action)[0]]


LEARNERS: dict[str, Callable[[], gymnasium.Env[Any, Any]]] = {
    "dict of the environment": lambda: bare("dict"),
    "dict": lambda: made({"form": "dict", "derived": True}),
    "dict for Tianshou": lambda: made(FORMATS["dict and derived"]),
    "vector": lambda: made({}),
    "flat": lambda: made({"form": "flat", "derived": True}),
    "flattened dict": lambda: FlattenObservation(bare("dict")),
    "stacked vectors": lambda: FlattenObservation(FrameStackObservation(made({}), 2)),
    "stacked dicts": lambda: FrameStackObservation(made({"form": "dict"}), 2),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_d053_sb3_learns_a_few_steps(name: str) -> None:
    env = LEARNERS[name]()
    policy = (
        "MultiInputPolicy"
        if isinstance(env.observation_space, gymnasium.spaces.Dict)
        else "MlpPolicy"
    )
    model = PPO(policy, env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(128)
    assert model.num_timesteps == 128
    changed = [
        not old.equal(new) for old, new in zip(before, model.policy.parameters(), strict=True)
    ]
    assert any(changed)
    # What it has learned from is what the environment gave, the mask under its key.
    buffer = model.rollout_buffer.observations
    if isinstance(buffer, dict):
        (mask_key,) = {"mask", "action_mask"} & buffer.keys()
        assert set(np.unique(buffer[mask_key])) == {0, 1}
        assert (buffer[mask_key].reshape(-1, ACTIONS).sum(axis=1) >= 1).all()


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype": "float64"}, "dtype='float64': allowed are 'float32', 'uint8'"),
        ({"form": "image"}, "form='image': allowed are 'vector', 'flat', 'dict'"),
        ({"form": "dict", "mask_dtype": "float32"}, "mask_dtype='float32': allowed are 'int8'"),
        ({"derived": "throws"}, "derived='throws': allowed are True, False"),
        ({"form": "dict", "mask_key": ""}, "mask_key='': allowed is a str that is not empty"),
        ({"form": "dict", "observation_key": 3}, "observation_key=3: allowed is a str"),
        ({"form": "dict", "mask_key": "observation"}, "it is the observation_key already"),
        ({"derived": True, "dtype": "uint8"}, "derived inputs are float32, not dtype='uint8'"),
        ({"form": "flat", "mask_dtype": "bool"}, "mask_dtype='bool': it says something with"),
        ({"mask_key": "mask"}, "mask_key='mask': it says something with form='dict' alone"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        made(options)
    assert "\n" not in str(caught.value)


def test_another_environment_is_refused_in_one_line() -> None:
    said = r"CartPole-v1.*: FormatObservation takes the environments of crib_env alone$"
    with pytest.raises(ValueError, match=said) as caught:
        FormatObservation(gymnasium.make("CartPole-v1"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changed",
    [
        lambda: FrameStackObservation(bare(), 2),
        lambda: FlattenObservation(bare("dict")),
        lambda: made({}),
        lambda: made({"form": "dict"}, "dict"),
        lambda: made({"form": "flat", "dtype": "uint8"}),
        lambda: TransformObservation(
            bare(), lambda vector: 2 * vector, gymnasium.spaces.Box(0, 255, (SIZE,), np.uint8)
        ),
    ],
    ids=["stacked", "flattened", "formatted", "formatted dict", "formatted flat", "doubled"],
)
def test_observations_that_a_wrapper_has_changed_are_refused_in_one_line(changed: Any) -> None:
    with pytest.raises(ValueError, match="have been changed: put it inside") as caught:
        FormatObservation(changed())
    assert "\n" not in str(caught.value)


# --- A format without an environment -------------------------------------------------------------


@every_format
def test_a_format_takes_one_observation_and_batches_alike(options: dict[str, Any]) -> None:
    games = crib_env.Games(5, seed=14)
    rows, masks = games.observe(), games.action_masks()
    form = ObservationFormat(**options)
    batch = form.apply(rows, masks)
    for lane in range(5):
        assert_same(row_of(batch, lane), form.apply(rows[lane], masks[lane]))
        assert_same(row_of(batch, lane), expected(options, rows[lane], masks[lane], Rules()))
