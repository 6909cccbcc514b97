"""The vector environments, against Gymnasium's own vector of single environments.

D043 and the like are faults reported of other software.
"""

import copy
import logging
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import crib_env
from crib_env import BotPolicy, CribbageVectorEnv, Games, IllegalActionError, Rules, lane_seed
from tests.sameness import assert_same

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
NO_SUCH_CARD = 52

Array = npt.NDArray[Any]


class LastCard:
    """A policy that plays the last of its legal cards, and counts how often it is asked."""

    name = "last card"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, observations: Array, action_masks: Array, luck: Array) -> Array:
        self.asked.append(len(observations))
        actions: Array = 51 - action_masks[:, ::-1].argmax(axis=1)
        return actions


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps thousands of forfeits that are nobody's mistake off the log."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def native(env_id: str, n: int, **options: Any) -> Any:
    return gymnasium.make_vec(env_id, num_envs=n, **options)


def stacked(env_id: str, n: int, autoreset_mode: AutoresetMode, **options: Any) -> Any:
    """Returns Gymnasium's vector of *n* single environments."""
    return gymnasium.make_vec(
        env_id,
        num_envs=n,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": autoreset_mode},
        **options,
    )


def actions_for(infos: dict[str, Any], rng: np.random.Generator, illegal: float) -> Array:
    """Returns random legal actions, now and then one that no player could take."""
    noise = rng.random(infos["action_mask"].shape) * infos["action_mask"]
    actions = noise.argmax(axis=1)
    odd = rng.random(len(actions)) < illegal
    return np.where(odd, rng.choice([-1, 0, 51, NO_SUCH_CARD, 1 << 40], len(actions)), actions)


def compare(
    env_id: str, mode: AutoresetMode, lanes: int, episodes: int, illegal: float, **options: Any
) -> None:
    """Steps both kinds of vector side by side until so many episodes have ended."""
    ours = native(env_id, lanes, autoreset_mode=mode, **options)
    theirs = stacked(env_id, lanes, mode, **options)
    rng = np.random.default_rng(lanes)
    result = ours.reset(seed=[lane_seed(5, lane) for lane in range(lanes)])
    assert_same(result, theirs.reset(seed=[lane_seed(5, lane) for lane in range(lanes)]))
    infos = result[1]
    masks = infos["action_mask"]
    ended = 0
    while ended < episodes:
        actions = actions_for({"action_mask": masks}, rng, illegal)
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        over = result[2]
        ended += int(over.sum())
        masks = result[4]["action_mask"]
        if mode is AutoresetMode.DISABLED and over.any():
            reset = ours.reset(options={"reset_mask": over})
            assert_same(reset, theirs.reset(options={"reset_mask": over}))
            masks = np.where(over[:, None], reset[1]["action_mask"], masks)


SCHEMES: dict[str, dict[str, Any]] = {
    "win": {"reward": "win"},
    "points": {"reward": "points", "observation": "dict"},
    "match points": {
        "reward": "match_points",
        "match_points": "free_triple",
        "rules": Rules(triple_skunk=True),
    },
    "probability": {"reward": "win_probability", "first_dealer": "cut"},
    "shaped by points": {
        "reward": "win",
        "shaping": "points",
        "shaping_gamma": 0.9,
        "first_dealer": "agent",
    },
    "shaped by probability": {"reward": "win", "shaping": "win_probability", "observation": "dict"},
    "pool": {"reward": "points", "opponent": [("random", 1), (LastCard(), 2), ("expert", 1)]},
    "policy": {"reward": "win_probability", "opponent": LastCard(), "rules": Rules(target=31)},
}
DEALS: dict[str, dict[str, Any]] = {
    "points": {"reward": "points"},
    "uniform": {"reward": "win_probability", "scores": "uniform", "observation": "dict"},
    "late": {"reward": "win_probability", "scores": (115, 118), "opponent": LastCard()},
    "short": {"reward": "points", "rules": Rules(target=31), "first_dealer": "opponent"},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_d043_games_in_lanes_equal_single_environments(mode: AutoresetMode, scheme: str) -> None:
    with quiet():
        compare(GAME, mode, 16, 48, 0.002, **SCHEMES[scheme])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheme", DEALS)
def test_d043_deals_in_lanes_equal_single_environments(mode: AutoresetMode, scheme: str) -> None:
    with quiet():
        compare(DEAL, mode, 16, 160, 0.01, **DEALS[scheme])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_a_vector_of_one_lane_equals_a_single_environment(
    mode: AutoresetMode, observation: str
) -> None:
    # All lanes end at once then.
    with quiet():
        compare(DEAL, mode, 1, 20, 0.02, observation=observation)


@pytest.mark.torture
@pytest.mark.parametrize("mode", MODES)
def test_d043_a_thousand_games_in_lanes_equal_single_environments(mode: AutoresetMode) -> None:
    with quiet():
        compare(GAME, mode, 64, 1_000, 0.001, reward="win", shaping="win_probability")


def test_lanes_are_those_of_a_batch_with_that_seed() -> None:
    envs = native(GAME, 5)
    observations, infos = envs.reset(seed=7)
    games = Games(5, seed=7)
    games.play_bots([crib_env.OUTSIDE, crib_env.Bot.EXPERT])
    assert (observations == games.observe(0)).all()
    assert (infos["action_mask"] == games.action_masks(0)).all()


@pytest.mark.parametrize("mode", MODES)
def test_the_autoreset_mode_is_declared(mode: AutoresetMode) -> None:
    for given in (mode, mode.value):
        envs = native(DEAL, 2, autoreset_mode=given)
        assert envs.metadata["autoreset_mode"] is mode
    assert CribbageVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.spec.id == DEAL


def test_a_policy_is_asked_once_for_all_lanes() -> None:
    policy = LastCard()
    envs = native(GAME, 64, opponent=policy, first_dealer="opponent")
    _, infos = envs.reset(seed=1)
    assert policy.asked == []
    envs.step(infos["action_mask"].argmax(axis=1))
    assert policy.asked == []
    envs.step(envs.action_masks().argmax(axis=1))
    # Two throws by all, and a card by those whose turn came again.
    assert policy.asked[:2] == [64, 64]
    assert max(policy.asked) <= 64
    assert len(policy.asked) < 10


def test_an_opponent_that_is_a_policy_plays_what_the_loops_play() -> None:
    inside = native(GAME, 32, opponent="expert", reward="points")
    outside = native(GAME, 32, opponent=BotPolicy("expert"), reward="points")
    rng = np.random.default_rng(3)
    _, infos = inside.reset(seed=3)
    outside.reset(seed=3)
    for _ in range(200):
        actions = actions_for(infos, rng, 0)
        left, right = inside.step(actions), outside.step(actions)
        for one, other in zip(left[:4], right[:4], strict=True):
            assert_same(one, other)
        infos = left[4]


def test_the_deals_scores_are_as_asked_for() -> None:
    envs = native(DEAL, 2_000, scores=(100, 90))
    infos = envs.reset(seed=1)[1]
    assert (infos["agent_score"] == 100).all()
    assert (infos["opponent_score"] == 90).all()
    infos = native(DEAL, 20_000, scores="uniform").reset(seed=1)[1]
    for name in ("agent_score", "opponent_score"):
        counts = np.bincount(infos[name], minlength=121)
        assert len(counts) == 121
        assert abs(counts - 20_000 / 121).max() < 6 * np.sqrt(20_000 / 121)
    assert abs(np.corrcoef(infos["agent_score"], infos["opponent_score"])[0, 1]) < 0.03


def test_scores_drawn_as_in_play_are_those_at_which_deals_start() -> None:
    infos = native(DEAL, 40_000).reset(seed=2)[1]
    dealers = np.where(infos["is_dealer"], infos["agent_score"], infos["opponent_score"])
    others = np.where(infos["is_dealer"], infos["opponent_score"], infos["agent_score"])
    starts = np.asarray(crib_env.tables.DEAL_STARTS)
    for drawn, shares in ((dealers, starts.sum(axis=1)), (others, starts.sum(axis=0))):
        counts = np.bincount(drawn, minlength=121)
        wanted = 40_000 * shares
        assert (abs(counts - wanted) < 6 * np.sqrt(wanted) + 3).all()


def test_a_shorter_game_starts_below_its_target() -> None:
    for target in (1, 31):
        infos = native(DEAL, 500, rules=Rules(target=target)).reset(seed=2)[1]
        assert max(infos["agent_score"].max(), infos["opponent_score"].max()) < target


# ---- what is refused ----


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"autoreset_mode": "later"}, "autoreset_mode='later': allowed are 'NextStep'"),
        ({"render_mode": "human"}, "render_mode='human': allowed is None"),
        ({"opponent": "nobody"}, "opponent='nobody': allowed are"),
        ({"reward": "money"}, "reward='money': allowed are"),
        ({"num_envs": 0}, "num_envs=0: allowed is"),
        ({"num_envs": 2.5}, "num_envs=2.5: allowed is"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    for env_id in (GAME, DEAL):
        with pytest.raises(ValueError, match="allowed") as caught:
            gymnasium.make_vec(env_id, **{"num_envs": 2, **options})
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_step_before_the_first_reset_is_refused() -> None:
    envs = native(GAME, 2)
    with pytest.raises(ResetNeeded):
        envs.step([0, 0])
    with pytest.raises(ResetNeeded):
        envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded):
        envs.action_masks()


@pytest.mark.parametrize(
    ("actions", "error"),
    [([0.5, 1], TypeError), ([0], ValueError), ([[0, 1]], ValueError), (["A", "B"], TypeError)],
)
def test_actions_of_another_kind_are_refused(actions: Any, error: type[Exception]) -> None:
    envs = native(GAME, 2)
    envs.reset(seed=0)
    before = envs.games.records.tobytes()
    with pytest.raises(error):
        envs.step(actions)
    assert envs.games.records.tobytes() == before


def test_an_illegal_action_raises_before_any_lane_has_changed() -> None:
    envs = native(GAME, 3, illegal="raise")
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(axis=1)
    actions[2] = infos["action_mask"][2].argmin()
    before = envs.games.records.tobytes()
    with pytest.raises(IllegalActionError, match="in lane 2"):
        envs.step(actions)
    assert envs.games.records.tobytes() == before


def test_lanes_that_have_ended_must_be_reset_where_nobody_does_it() -> None:
    envs = native(DEAL, 8, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = envs.reset(seed=0)
    over = np.zeros(8, np.bool_)
    while not over.any():
        _, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step(infos["action_mask"].argmax(axis=1))
    for mask, error in (
        (over.astype(int), TypeError),
        (over[:2], ValueError),
        (np.zeros(8, np.bool_), ValueError),
    ):
        with pytest.raises(error, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})
    envs.reset(options={"reset_mask": over})
    envs.step(envs.action_masks().argmax(axis=1))


def test_a_policy_that_raises_voids_every_lane() -> None:
    def broken(observations: Any, action_masks: Any, luck: Any) -> Any:
        raise RuntimeError("the opponent has a fault")

    envs = native(GAME, 4, opponent=broken, first_dealer="opponent")
    _, infos = envs.reset(seed=1)
    infos = envs.step(infos["action_mask"].argmax(axis=1))[4]
    with pytest.raises(RuntimeError, match="fault"):
        envs.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(ResetNeeded, match="void"):
        envs.step(infos["action_mask"].argmax(axis=1))


def test_seeds_of_another_number_or_kind_are_refused() -> None:
    envs = native(GAME, 3)
    unordered = {1, 2, 3}
    for seed in ([1, 2], -1, [1, 2, -3], [1, 2, 0.5], True, 1.5, "123", np.array(4), unordered):
        with pytest.raises(ValueError, match="seed"):
            envs.reset(seed=seed)


# ---- saved and copied ----


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_copy_goes_on_as_the_vector_does(mode: AutoresetMode) -> None:
    envs = native(GAME, 8, autoreset_mode=mode, reward="win_probability", opponent="greedy")
    rng = np.random.default_rng(6)
    _, infos = envs.reset(seed=6)
    for _ in range(70):
        infos = envs.step(actions_for(infos, rng, 0))[4]
    other = native(GAME, 8, autoreset_mode=mode, reward="win_probability", opponent="greedy")
    other.load_state_dict(envs.state_dict())
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs)), envs.clone(), other]
    for _ in range(100):
        actions = actions_for(infos, rng, 0)
        result = envs.step(actions)
        for twin in twins:
            assert_same(twin.step(actions), result)
        infos = result[4]


def test_none_among_the_seeds_goes_on_with_the_lanes_own_games() -> None:
    envs, fresh = native(GAME, 2), native(GAME, 2)
    envs.reset(seed=[1, 2])
    seen = envs.reset(seed=[None, 9])[0]
    fresh.reset(seed=[1, 9])
    assert (seen[1] == fresh.reset(seed=[1, 9])[0][1]).all()
    assert (seen[0] == fresh.reset()[0][0]).all()


def test_gymnasiums_wrappers_for_vectors_work() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(native(DEAL, 4, reward="points"))
    _, infos = envs.reset(seed=1)
    ended = 0
    while ended < 8:
        _, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        if over.any():
            ended += int(over.sum())
            assert infos["episode"]["l"][over].max() <= 6
            assert np.isfinite(infos["episode"]["r"][over]).all()
