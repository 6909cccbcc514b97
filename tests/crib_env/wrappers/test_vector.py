"""`wrappers.vector.FormatObservation`: each lane is given as one environment would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from crib_env import Rules
from crib_env.observation import observation_size
from crib_env.wrappers import FormatObservation as FormatOne
from crib_env.wrappers.vector import FormatObservation
from tests.observation_formats import (
    Array,
    every_base,
    every_format,
    expected,
    plain,
    row_of,
)
from tests.sameness import assert_same

ID = "crib_env/Cribbage-v0"
RULES = Rules(target=21)  # short games: every lane ends within a few deals
NUM_ENVS = 4
OVER = np.ones(RULES.num_actions, np.int8)  # the mask once an episode is over


def vector_of(mode: str, base: str = "vector", **options: Any) -> Any:
    """Returns Gymnasium's own vector of environments, one after the other."""
    return gymnasium.make_vec(
        ID,
        num_envs=NUM_ENVS,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        opponent="random",
        observation=base,
        rules=RULES,
        **options,
    )


def native_of(mode: str, base: str) -> Any:
    """Returns the native vector environment."""
    return gymnasium.make_vec(
        ID,
        num_envs=NUM_ENVS,
        autoreset_mode=mode,
        opponent="random",
        observation=base,
        rules=RULES,
    )


class Stacking(SyncVectorEnv):
    """A vector of environments with the rules its own, and the last observations stacked."""

    rules = RULES

    def step(self, actions: Any) -> Any:
        """Steps, and stacks ``infos["final_obs"]``: rows of 0 in the lanes that go on."""
        *results, infos = super().step(actions)
        if "final_obs" in infos:
            rows = np.zeros((NUM_ENVS, observation_size(RULES)), np.uint8)
            for lane in np.flatnonzero(infos["_final_obs"]):
                rows[lane] = plain(infos["final_obs"][lane])
            masks = infos["final_info"]["action_mask"]
            as_dict = isinstance(self.single_observation_space, gymnasium.spaces.Dict)
            infos["final_obs"] = {"observation": rows, "action_mask": masks} if as_dict else rows
        return *results, infos


def stacking_of(base: str = "vector") -> Any:
    """Returns such a vector, a lane that has ended beginning anew in the same step."""

    def one() -> gymnasium.Env[Any, Any]:
        return gymnasium.make(ID, opponent="random", observation=base, rules=RULES)

    return Stacking([one] * NUM_ENVS, autoreset_mode="SameStep")


KINDS: dict[str, Callable[[str], Any]] = {
    "next step": lambda base: vector_of("NextStep", base),
    "same step": lambda base: vector_of("SameStep", base),
    "same step, stacked": stacking_of,
    "disabled": lambda base: vector_of("Disabled", base),
    "native, next step": lambda base: native_of("NextStep", base),
    "native, same step": lambda base: native_of("SameStep", base),
    "native, disabled": lambda base: native_of("Disabled", base),
}


def actions_of(masks: Array) -> Array:
    """Returns the highest legal card of each lane."""
    return np.asarray(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))


def assert_lanes(options: dict[str, Any], formatted: Any, observations: Any, masks: Array) -> None:
    """Asserts that every lane of *formatted* is what its observation and mask should become."""
    for lane in range(NUM_ENVS):
        vector = plain(row_of(observations, lane))
        assert_same(row_of(formatted, lane), expected(options, vector, masks[lane], RULES))


@every_base
@every_format
@pytest.mark.parametrize("kind", KINDS)
def test_every_lane_is_given_as_one_environment_is(
    kind: str, options: dict[str, Any], base: str
) -> None:
    envs, bare = FormatObservation(KINDS[kind](base), **options), KINDS[kind](base)
    formatted, infos = envs.reset(seed=1)
    observations, bare_infos = bare.reset(seed=1)
    masks = bare_infos["action_mask"].copy()
    ends = 0
    while ends < NUM_ENVS:
        assert envs.observation_space.contains(formatted)
        assert_lanes(options, formatted, observations, masks)
        actions = actions_of(masks)
        formatted, *results, infos = envs.step(actions)
        observations, *bare_results, bare_infos = bare.step(actions)
        assert np.array_equal(results, bare_results)
        assert infos.keys() == bare_infos.keys()
        masks = bare_infos["action_mask"].copy()
        over = bare_results[1]
        ends += over.sum()
        if "disabled" in kind and over.any():
            assert_lanes(options, formatted, observations, masks)
            # Its infos hold the masks of the lanes that were reset, and 0 for those that were not.
            formatted, infos = envs.reset(options={"reset_mask": over})
            observations, bare_infos = bare.reset(options={"reset_mask": over})
            masks[over] = bare_infos["action_mask"][over]


@every_base
@every_format
def test_the_last_observations_are_given_in_the_same_form(
    options: dict[str, Any], base: str
) -> None:
    objects, stacking = vector_of("SameStep", base), stacking_of(base)
    wrapped = [
        FormatObservation(envs, **options) for envs in (vector_of("SameStep", base), stacking)
    ]
    infos = objects.reset(seed=2)[1]
    for envs in wrapped:
        envs.reset(seed=2)
    ends = 0
    while ends < NUM_ENVS:
        actions = actions_of(infos["action_mask"])
        *_, over, _, infos = objects.step(actions)
        finals: list[Any] = [envs.step(actions)[-1].get("final_obs") for envs in wrapped]
        if not over.any():
            assert finals == [None, None]
            continue
        for lane in range(NUM_ENVS):
            if over[lane]:
                last = expected(options, plain(infos["final_obs"][lane]), OVER, RULES)
                assert_same(finals[0][lane], last)
                assert_same(row_of(finals[1], lane), last)
                assert wrapped[0].single_observation_space.contains(finals[0][lane])
            else:
                assert finals[0][lane] is None
        ends += over.sum()


def test_the_last_observation_of_a_truncated_lane_keeps_its_own_mask() -> None:
    envs = FormatObservation(vector_of("SameStep", max_episode_steps=3), form="flat")
    infos = envs.reset(seed=3)[1]
    for _ in range(3):
        _, _, _, truncated, infos = envs.step(actions_of(infos["action_mask"]))
    assert truncated.all()
    for lane in range(NUM_ENVS):
        mask = infos["final_obs"][lane][envs.layout["action_mask"].slice]
        assert np.array_equal(mask, infos["final_info"]["action_mask"][lane])
        assert 1 <= mask.sum() <= 4


def test_what_the_environment_has_given_is_not_written_to() -> None:
    class Noting(gymnasium.vector.VectorWrapper):
        def step(self, actions: Any) -> Any:
            self.given = super().step(actions)
            return self.given

    noting = Noting(vector_of("SameStep"))
    envs = FormatObservation(noting, derived=True)
    infos = envs.reset(seed=4)[1]
    while "final_obs" not in infos:
        *_, infos = envs.step(actions_of(infos["action_mask"]))
    lane = int(infos["_final_obs"].argmax())
    assert noting.given[0].dtype == np.uint8
    assert noting.given[-1]["final_obs"][lane].dtype == np.uint8
    assert infos["final_obs"][lane].dtype == np.float32
    for key in infos.keys() - {"final_obs"}:
        assert infos[key] is noting.given[-1][key]


@every_format
def test_observations_and_infos_are_the_users_to_keep(options: dict[str, Any]) -> None:
    envs = FormatObservation(vector_of("NextStep"), **options)
    formatted, infos = envs.reset(seed=5)
    rows = [row_of(formatted, lane) for lane in range(NUM_ENVS)]
    copies = [
        {k: v.copy() for k, v in row.items()} if isinstance(row, dict) else row.copy()
        for row in rows
    ]
    envs.step(actions_of(infos["action_mask"]))
    for row, then in zip(rows, copies, strict=True):
        assert_same(row, then)


@every_format
def test_slices_are_those_of_one_environment(options: dict[str, Any]) -> None:
    one = FormatOne(gymnasium.make(ID, rules=RULES), **options)
    envs = FormatObservation(vector_of("NextStep"), **options)
    assert envs.layout == one.layout
    assert envs.single_observation_space == one.observation_space


def test_environments_in_other_processes_are_wrapped_too() -> None:
    envs: Any = gymnasium.make_vec(
        ID, num_envs=2, vectorization_mode="async", opponent="random", rules=RULES
    )
    try:
        formatted, infos = FormatObservation(envs, form="flat").reset(seed=6)
        for lane in range(2):
            one = FormatOne(gymnasium.make(ID, opponent="random", rules=RULES), form="flat")
            assert_same(formatted[lane], one.reset(seed=6 + lane)[0])
        assert infos["action_mask"].shape == (2, RULES.num_actions)
    finally:
        envs.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"form": "image"}, "form='image': allowed are 'vector', 'flat', 'dict'"),
        ({"mask_key": "mask"}, "mask_key='mask': it says something with form='dict' alone"),
    ],
)
def test_a_bad_option_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FormatObservation(vector_of("NextStep"), **options)


@pytest.mark.parametrize(
    ("name", "wrapped", "said"),
    [
        ("CartPole-v1", [], "takes the environments of crib_env alone$"),
        (ID, [FormatOne], "have been changed: put it inside the wrapper that does$"),
    ],
    ids=["another", "formatted"],
)
def test_other_environments_are_refused_in_one_line(
    name: str, wrapped: list[Any], said: str
) -> None:
    envs: Any = gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync", wrappers=wrapped)
    with pytest.raises(ValueError, match=said) as caught:
        FormatObservation(envs)
    assert "\n" not in str(caught.value)


@every_format
def test_one_environments_wrapper_may_stand_inside_a_vector(options: dict[str, Any]) -> None:
    inside: Any = gymnasium.make_vec(
        ID,
        num_envs=2,
        vectorization_mode="sync",
        wrappers=[lambda env: FormatOne(env, **options)],
        opponent="random",
        rules=RULES,
    )
    outside: Any = gymnasium.make_vec(
        ID, num_envs=2, vectorization_mode="sync", opponent="random", rules=RULES
    )
    assert_same(inside.reset(seed=7)[0], FormatObservation(outside, **options).reset(seed=7)[0])
