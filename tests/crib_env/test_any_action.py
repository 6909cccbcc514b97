"""Any action at any moment of any rules: legal ones go on, others are refused and change nothing.

`Games.apply` and the environments are given whole numbers of every kind, near what is legal and far
from it, and things that are no action at all.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.batch import Games, IllegalActionError
from crib_env.env import CribbageEnv
from crib_env.luck import NUM_SEEDS
from crib_env.rules import Rules
from crib_env.vector_env import CribbageVectorEnv
from tests.anything import INT_DTYPES, SETTINGS, any_rules, anything, check_line
from tests.crib_env.test_any_rules import random_moment

LANES = 3

seeds = st.integers(0, NUM_SEEDS - 1)


def legal_sets(masks: npt.NDArray[Any]) -> list[set[int]]:
    """Returns the legal actions of each lane."""
    return [set(np.flatnonzero(mask).tolist()) for mask in masks]


@st.composite
def one_action(draw: st.DrawFn, legal: set[int]) -> Any:
    """Draws a legal action, a number near those there are or far from them, or anything at all."""
    kind = draw(st.integers(0, 3))
    if kind == 3:
        return draw(anything)
    if kind == 2:
        number = draw(st.integers(-2, 90) | st.integers())
    else:
        number = draw(st.sampled_from(sorted(legal or {0})))
    fitting = [np.dtype(name) for name in INT_DTYPES if number in span(name)]
    if not fitting or draw(st.booleans()):
        return number
    scalar: Any = draw(st.sampled_from(fitting)).type(number)
    return np.array(scalar) if draw(st.booleans()) else scalar


@st.composite
def a_row(draw: st.DrawFn, legal: list[set[int]]) -> Any:
    """Draws an action for each lane as a list, a tuple or an array; or anything at all."""
    kind = draw(st.integers(0, 4))
    if kind == 4:
        return draw(anything)
    if kind == 3:
        return [draw(one_action(options)) for options in legal]
    row = [draw(st.sampled_from(sorted(options or {0}))) for options in legal]
    if kind == 2:
        # One of them is another number.
        row[draw(st.integers(0, len(row) - 1))] = draw(st.integers(-2, 90) | st.integers())
    fitting = [name for name in INT_DTYPES if all(number in span(name) for number in row)]
    if not fitting or draw(st.booleans()):
        return draw(st.sampled_from([list, tuple]))(row)
    array = np.array(row, draw(st.sampled_from(fitting)))
    # As a view with steps, and read-only, too.
    array = np.repeat(array, 2)[::2] if draw(st.booleans()) else array
    array.flags.writeable = draw(st.booleans())
    return array


def span(dtype: str) -> range:
    """Returns the numbers that a kind of integer holds."""
    limits = np.iinfo(np.dtype(dtype))
    return range(limits.min, limits.max + 1)


def read(actions: Any, size: int) -> list[int] | None:
    """Returns actions as Python's ints; None for what is no row of *size* whole numbers."""
    array = as_array(actions)
    if array is None or array.dtype.kind not in "iu" or np.atleast_1d(array).shape != (size,):
        return None
    return [int(number) for number in np.atleast_1d(array)]


def as_array(actions: Any) -> npt.NDArray[Any] | None:
    """Returns actions as NumPy reads them; None for what it does not read."""
    try:
        return np.asarray(actions)
    except ValueError:
        return None


# ---- Games ----


@settings(**SETTINGS, max_examples=400)
@given(any_rules(), seeds, st.integers(0, 80), st.integers(1, LANES), st.data())
def test_games_apply_what_is_legal_and_refuse_all_else(
    rules: Rules, seed: int, steps: int, lanes: int, data: st.DataObject
) -> None:
    games = Games(lanes, rules, seed)
    random_moment(games, np.random.default_rng(seed), steps)
    legal = legal_sets(games.action_masks())
    for lane in np.flatnonzero(games.over).tolist():
        legal[lane] = set()
    actions = data.draw(a_row(legal))
    before = games.records.copy(), games.records.tobytes()
    numbers = read(actions, lanes)
    if numbers is not None and all(map(operator.contains, legal, numbers)):
        games.apply(actions)
        # The same as one by one, as Python's ints.
        for lane, number in enumerate(numbers):
            single = Games(lanes, rules, seed)
            single.records[:] = before[0]
            single.apply([number], [lane])
            assert single.records[lane] == games.records[lane]
        return
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the line is looked at below
        games.apply(actions)
    assert games.records.tobytes() == before[1]
    line = check_line(refused.value)
    assert isinstance(refused.value, IllegalActionError) == (numbers is not None)
    if numbers is not None:
        bad = next(lane for lane in range(lanes) if numbers[lane] not in legal[lane])
        assert line.startswith("illegal action ")
        assert "allowed: " in line
        assert (f" in lane {bad}:" in line) == (lanes > 1)
    # Refused in one lane, the others are not touched: all of them can still go on.
    games.apply([min(options) for options in legal if options], np.flatnonzero(~games.over))


# ---- one environment ----


@settings(**SETTINGS, max_examples=400)
@given(
    any_rules(),
    seeds,
    st.integers(0, 60),
    st.sampled_from(["raise", "forfeit"]),
    st.data(),
)
def test_an_environment_takes_what_is_legal_and_refuses_all_else(
    rules: Rules, seed: int, steps: int, illegal: Any, data: st.DataObject
) -> None:
    env = CribbageEnv(opponent="random", rules=rules, illegal=illegal)
    _, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        _, _, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        if over:
            _, info = env.reset()
    [legal] = legal_sets(info["action_mask"][None])
    action = data.draw(one_action(legal))
    kept = bytes_of(env)
    try:
        number = None if isinstance(action, bool) else operator.index(action)
    except TypeError:
        number = None

    if number is None:
        with pytest.raises(TypeError) as untold:
            env.step(action)
        line = check_line(untold.value)
        assert f"allowed is an int from 0 to {rules.num_actions - 1}" in line
        unchanged(env, kept)
    elif number in legal:
        twin = env.clone()
        result, expected = env.step(action), twin.step(number)
        assert result[1:3] == expected[1:3]
        assert "illegal_action" not in result[4]
        assert (env.games.records == twin.games.records).all()
        assert bytes_of(env) != kept
    elif illegal == "raise":
        with pytest.raises(IllegalActionError, match="allowed: ") as refused:
            env.step(action)
        check_line(refused.value)
        unchanged(env, kept)
    else:
        seen, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(seen)
        assert terminated
        assert not truncated
        assert reward == worst(rules)
        assert info["won"] is False
        assert check_line(ValueError(info["illegal_action"])).startswith("illegal action ")
        assert bytes_of(env)[0] == kept[0]
        with pytest.raises(ResetNeeded):
            env.step(min(legal))
        env.reset()


def worst(rules: Rules) -> float:
    """Returns what a game lost pays: the loss of 1 is borne by all losers together."""
    return -1 / (rules.sides - 1)


def bytes_of(env: CribbageEnv | CribbageVectorEnv) -> tuple[bytes, bytes]:
    """Returns games and episodes as they lie in memory."""
    return env.games.records.tobytes(), env._lanes.episodes.tobytes()


def unchanged(env: CribbageEnv, kept: tuple[bytes, bytes]) -> None:
    """Requires that games and episodes are byte for byte what they were, and that they go on."""
    assert bytes_of(env) == kept
    *_, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert "illegal_action" not in info


# ---- many lanes ----


@settings(**SETTINGS, max_examples=400)
@given(
    any_rules(),
    seeds,
    st.integers(0, 60),
    st.sampled_from(["raise", "forfeit"]),
    st.sampled_from(["NextStep", "Disabled"]),
    st.data(),
)
def test_a_vector_takes_what_is_legal_and_refuses_all_else(
    rules: Rules, seed: int, steps: int, illegal: Any, mode: str, data: st.DataObject
) -> None:
    envs = CribbageVectorEnv(
        LANES, opponent="random", rules=rules, illegal=illegal, autoreset_mode=mode
    )
    _, info = envs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        choice = [rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]]
        _, _, over, _, info = envs.step(choice)
        if over.any():
            _, info = envs.reset()
    legal = legal_sets(info["action_mask"])
    actions = data.draw(a_row(legal))
    before, kept = envs.games.records.copy(), bytes_of(envs)
    numbers = read(actions, LANES)

    if numbers is None:
        with pytest.raises((TypeError, ValueError)) as untold:
            envs.step(actions)
        assert "allowed" in check_line(untold.value)
        unchanged_lanes(envs, kept, legal)
        return
    bad = [lane for lane in range(LANES) if numbers[lane] not in legal[lane]]
    if bad and illegal == "raise":
        with pytest.raises(IllegalActionError, match="allowed: ") as refused:
            envs.step(actions)
        assert f" in lane {bad[0]}:" in check_line(refused.value)
        unchanged_lanes(envs, kept, legal)
        return
    # A twin whose lanes all go on tells what the others do.
    twin = envs.clone()
    good = [min(legal[lane]) if lane in bad else numbers[lane] for lane in range(LANES)]
    seen, rewards, over, _, info = envs.step(actions)
    _, twin_rewards, twin_over, _, _ = twin.step(good)
    assert envs.observation_space.contains(seen)
    for lane in range(LANES):
        record = envs.games.records[lane]
        if lane in bad:
            assert record == before[lane]
            assert over[lane]
            assert rewards[lane] == worst(rules)
            assert check_line(ValueError(info["illegal_action"][lane])).startswith("illegal action")
        else:
            assert record == twin.games.records[lane]
            assert (over[lane], rewards[lane]) == (twin_over[lane], twin_rewards[lane])
    # What stands for an action where a lane has ended is not looked at, however far from one.
    if mode == "NextStep" and over.any():
        chosen = np.array([min(one) for one in legal_sets(info["action_mask"])])
        chosen[over] = data.draw(st.integers(-(2**63), 2**63 - 1))
        assert "illegal_action" not in envs.step(chosen)[4]


def unchanged_lanes(
    envs: CribbageVectorEnv, kept: tuple[bytes, bytes], legal: list[set[int]]
) -> None:
    """Requires that games and episodes are byte for byte what they were, and that they go on."""
    assert bytes_of(envs) == kept
    assert "illegal_action" not in envs.step([min(options) for options in legal])[4]
