"""Environments keep every finished game as a transcript, and play as without."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import crib_env
from crib_env import Games, aec_env, lane_seed
from crib_env.cards import card_set
from crib_env.notation import Keyword, Transcript, parse, replay
from crib_env.wrappers import (
    FormatObservation,
    RecordTranscripts,
    record_transcripts,
    vector,
)
from tests.sameness import assert_same

SHORT = {"target": 25}
AGAINST: dict[str, dict[str, Any]] = {
    "expert": {"opponent": "expert"},
    "random": {"opponent": "random"},
    "pool": {"opponent": {"random": 1, "greedy": 1}},
    "muggins": {"opponent": "greedy", "rules": {"target": 25, "muggins": "full"}},
    "dict": {"observation": "dict"},
    "points": {"reward": "points"},
}


class Lowest:
    """A policy that takes its lowest legal action."""

    name = "lowest\ncard"

    def __call__(self, observations: Any, action_masks: Any, luck: Any) -> Any:
        return action_masks.argmax(axis=1)


def make(name: str = "crib_env/Cribbage-v0", **options: Any) -> gymnasium.Env[Any, Any]:
    """Returns an environment of short games."""
    return gymnasium.make(name, **{"rules": SHORT} | options)


def play(env: gymnasium.Env[Any, Any], episodes: int, seed: int = 3) -> list[Any]:
    """Plays the highest legal action, and returns all that comes back."""
    seen: list[Any] = [env.reset(seed=seed)]
    for episode in range(episodes):
        if episode:
            seen.append(env.reset())
        over = False
        while not over:
            mask = seen[-1][-1]["action_mask"]
            seen.append(env.step(int(np.flatnonzero(mask)[-1])))
            over = seen[-1][2]
    return seen


def kept(path: Path) -> list[Transcript]:
    """Returns the games of a folder, in order, each checked."""
    games = []
    for file in sorted(path.iterdir()):
        [told] = parse(file.read_text(encoding="utf-8"))
        assert replay(told).transcript == told
        games.append(told)
    return games


@pytest.mark.parametrize("kind", AGAINST)
def test_episodes_are_the_same_with_a_recorder_and_each_is_kept(kind: str, tmp_path: Path) -> None:
    plain = play(make(**AGAINST[kind]), 5)
    env = RecordTranscripts(make(**AGAINST[kind]), tmp_path)
    assert_same(tuple(map(tuple, play(env, 5))), tuple(map(tuple, plain)))
    games = kept(tmp_path)
    assert len(games) == 5
    ends = [info for *_, info in plain if "won" in info]
    for number, (told, info) in enumerate(zip(games, ends, strict=True)):
        assert told.lane is not None
        assert (told.lane.seed, told.lane.game) == (3, number)
        assert told.names == ("agent", info["opponent"])
        won = told.deals[-1].lines[-1]
        assert won.keyword == Keyword.WON
        assert (won.seat == 0) == info["won"]
        assert won.scores == (info["agent_score"], info["opponent_score"])


def test_the_transcript_of_a_seed_is_that_of_the_lane(tmp_path: Path) -> None:
    play(RecordTranscripts(make(opponent="expert"), tmp_path), 1, seed=9)
    [told] = kept(tmp_path)
    games = Games(1, SHORT, [9])
    hands = [line.cards for line in told.deals[0].lines if line.keyword == Keyword.DEALT]
    assert card_set(hands[0]) == games.records["hands"][0][games.turn[0]]


def test_a_seed_may_be_kept_secret(tmp_path: Path) -> None:
    play(RecordTranscripts(make(), tmp_path, with_seed=False), 1)
    [told] = kept(tmp_path)
    assert told.lane is not None
    assert told.lane.seed is None


def test_a_forfeited_game_is_kept_and_one_broken_off_is_not(tmp_path: Path) -> None:
    env = RecordTranscripts(make(), tmp_path)
    env.reset(seed=1)
    env.reset()
    _, info = env.reset()
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    legal = int(np.flatnonzero(info["action_mask"])[0])
    env.step(legal)
    assert env.step(illegal)[2]
    [told] = kept(tmp_path)
    end = told.deals[-1].lines[-1]
    assert (end.keyword, end.seat) == (Keyword.FORFEIT, 0)
    assert told.lane is not None
    assert told.lane.game == 2


def test_a_policy_is_named_in_one_line(tmp_path: Path) -> None:
    play(RecordTranscripts(make(opponent=Lowest()), tmp_path), 1)
    [told] = kept(tmp_path)
    assert told.names == ("agent", "lowest card")


def test_single_deals_are_kept(tmp_path: Path) -> None:
    env = RecordTranscripts(make("crib_env/CribbageDeal-v0", rules=None, scores=(50, 60)), tmp_path)
    play(env, 4)
    games = kept(tmp_path)
    assert len(games) == 4
    for told in games:
        assert told.one_deal
        assert told.scores == (50, 60)
        assert len(told.deals) == 1
        assert told.deals[0].lines[-1].keyword == Keyword.OVER


def test_an_episode_that_begins_in_mid_deal_is_told_from_its_deal(tmp_path: Path) -> None:
    env = RecordTranscripts(make(rules=None), tmp_path)
    position = {
        "dealer": 1,
        "scores": (112, 115),
        "hands": ("2H 3H 7C 8C 9C QC", "4D 5C 5H 6S TH KH"),
        "discards": ("2H 3H", "TH KH"),
        "starter": "TD",
        "plays": "QC 5H",
    }
    _, info = env.reset(seed=0, options=position)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    [told] = kept(tmp_path)
    assert told.scores == (112, 115)
    assert told.deals[0].lines[5].cards == (44,)


# In the last, the opponent pegs out with its last card before the agent has to choose.
REFUSED: list[dict[str, Any]] = [
    {"scores": (99, 99)},
    {"dealer": 7},
    {
        "dealer": 1,
        "scores": (3, 24),
        "hands": ("AH AS 2D 4D QD KC", "3H 5C 5D 7S 8C 9D"),
        "discards": ("AH AS", "5C 5D"),
        "starter": "TD",
        "plays": "KC 9D QD 2D 8C 4D 7S",
    },
]


@pytest.mark.parametrize("position", REFUSED)
def test_a_reset_that_is_refused_leaves_the_game_to_be_recorded(
    position: dict[str, Any], tmp_path: Path
) -> None:
    env = RecordTranscripts(make(), tmp_path)
    _, info = env.reset(seed=5)
    _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    with pytest.raises(ValueError, match="position"):
        env.reset(options=position)
    while not over:
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    [told] = kept(tmp_path)
    assert told.lane is not None
    assert (told.lane.seed, told.lane.game) == (5, 0)
    assert told.deals[0].number == 1
    assert told.scores == ()


def test_it_goes_with_render_modes_and_other_wrappers(tmp_path: Path) -> None:
    env = RecordTranscripts(FormatObservation(make(render_mode="ansi")), tmp_path)
    plain = FormatObservation(make(render_mode="ansi"))
    assert_same(tuple(map(tuple, play(env, 2))), tuple(map(tuple, play(plain, 2))))
    assert env.render() == plain.render()
    assert len(kept(tmp_path)) == 2


def test_a_game_that_was_loaded_is_told_from_there_on(tmp_path: Path) -> None:
    source, env = make(), RecordTranscripts(make(), tmp_path)
    _, info = source.reset(seed=8)
    while not info["agent_score"]:
        _, _, _, _, info = source.step(int(np.flatnonzero(info["action_mask"])[0]))
    env.reset(seed=1)
    env.get_wrapper_attr("load_state_dict")(source.get_wrapper_attr("state_dict")())
    over = False
    while not over:
        mask = env.get_wrapper_attr("action_masks")()
        _, _, over, _, info = env.step(int(np.flatnonzero(mask)[0]))
    [told] = kept(tmp_path)
    assert told.lane is not None
    assert told.lane.seed == 8


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_play_on_and_keep_nothing(twin: Any, tmp_path: Path) -> None:
    env = RecordTranscripts(make(), tmp_path)
    env.reset(seed=2)
    other = twin(env)
    play(other, 1)
    assert kept(tmp_path) == []
    play(env, 1)
    assert len(kept(tmp_path)) == 1


def test_a_disk_that_is_full_raises_and_the_game_is_kept_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = RecordTranscripts(make(), tmp_path)
    monkeypatch.setattr("os.fsync", lambda file: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        play(env, 1)
    monkeypatch.undo()
    assert kept(tmp_path) == []
    env.reset()
    assert len(kept(tmp_path)) == 1


def test_only_environments_of_crib_env_are_taken(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="environments of crib_env alone"):
        RecordTranscripts(gymnasium.make("CartPole-v1"), tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        RecordTranscripts(make(), tmp_path / "none" / "games.crib")


# ---- vector environments ----


def play_lanes(envs: Any, steps: int, mode: AutoresetMode) -> list[Any]:
    """Plays the highest legal actions, and returns all that comes back."""
    seen: list[Any] = [envs.reset(seed=4)]
    masks = seen[0][1]["action_mask"]
    for _ in range(steps):
        actions = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        seen.append(envs.step(actions))
        ended, infos = seen[-1][2], seen[-1][-1]
        masks = infos["action_mask"].copy()
        if mode is AutoresetMode.DISABLED and ended.any():
            seen.append(envs.reset(options={"reset_mask": ended}))
            masks[ended] = seen[-1][1]["action_mask"][ended]
    return seen


@pytest.mark.parametrize("mode", AutoresetMode)
def test_lanes_are_the_same_with_a_recorder_and_all_their_games_are_kept(
    mode: AutoresetMode, tmp_path: Path
) -> None:
    options: dict[str, Any] = {
        "num_envs": 5,
        "rules": SHORT,
        "opponent": "random",
        "autoreset_mode": mode,
    }
    plain = play_lanes(crib_env.CribbageVectorEnv(**options), 120, mode)
    envs = vector.RecordTranscripts(crib_env.CribbageVectorEnv(**options), tmp_path / "all.crib")
    assert_same(tuple(map(tuple, play_lanes(envs, 120, mode))), tuple(map(tuple, plain)))
    games = parse((tmp_path / "all.crib").read_text(encoding="utf-8"))
    assert len(games) == sum(int(step[2].sum()) for step in plain if len(step) == 5)
    assert len(games) > 15
    for lane in range(5):
        own = [one for one in games if one.lane and one.lane.seed == lane_seed(4, lane)]
        assert [one.lane.game for one in own if one.lane] == list(range(len(own)))
    for told in games:
        assert replay(told).transcript == told


@pytest.mark.parametrize("mode", AutoresetMode)
def test_forfeits_of_lanes_are_kept(mode: AutoresetMode, tmp_path: Path) -> None:
    envs = vector.RecordTranscripts(
        crib_env.CribbageVectorEnv(num_envs=3, rules=SHORT, autoreset_mode=mode), tmp_path
    )
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = 99
    envs.step(actions)
    [told] = kept(tmp_path)
    assert told.lane is not None
    assert told.lane.seed == lane_seed(0, 1)
    assert told.deals[-1].lines[-1].keyword == Keyword.FORFEIT


def test_environments_side_by_side_are_wrapped_each(tmp_path: Path) -> None:
    def wrapped() -> gymnasium.Env[Any, Any]:
        return RecordTranscripts(make(), tmp_path)

    envs = gymnasium.vector.SyncVectorEnv([wrapped, wrapped])
    play_lanes(envs, 60, AutoresetMode.NEXT_STEP)
    assert len(kept(tmp_path)) >= 2
    with pytest.raises(ValueError, match="environments of crib_env alone"):
        vector.RecordTranscripts(envs, tmp_path)


# ---- PettingZoo ----


def play_table(env: Any, seed: int, games: int) -> list[Any]:
    """Plays random legal actions of all agents, always the same, and returns all rewards."""
    luck = np.random.default_rng(seed)
    paid = []
    for number in range(games):
        env.reset(seed=seed if not number else None)
        for agent in env.agent_iter():
            _, reward, over, _, info = env.last()
            paid.append(reward)
            legal = np.flatnonzero(info["action_mask"])
            env.step(None if over else int(luck.choice(legal)))
            assert agent in env.possible_agents
    return paid


@pytest.mark.parametrize("maker", [aec_env.env, aec_env.raw_env])
@pytest.mark.parametrize(
    "rules", [SHORT, {"players": 3, "cards_dealt": 5, "target": 31, "muggins": "full"}]
)
def test_games_of_pettingzoo_are_kept_and_stay_the_same(
    maker: Any, rules: dict[str, Any], tmp_path: Path
) -> None:
    env = record_transcripts(maker(rules=rules), tmp_path)
    assert play_table(env, 6, 3) == play_table(maker(rules=rules), 6, 3)
    games = kept(tmp_path)
    assert [one.lane.game for one in games if one.lane] == [0, 1, 2]
    for told in games:
        assert told.names == tuple(env.possible_agents)
        assert told.deals[-1].lines[-1].keyword == Keyword.WON


def test_a_forfeit_of_any_agent_of_pettingzoo_is_kept(tmp_path: Path) -> None:
    env = record_transcripts(aec_env.env(), tmp_path)
    env.reset(seed=1)
    for _ in range(3):
        env.step(int(env.last()[-1]["action_mask"].argmax()))
    seat = env.possible_agents.index(env.agent_selection)
    env.step(int(env.last()[-1]["action_mask"].argmin()))
    [told] = kept(tmp_path)
    end = told.deals[-1].lines[-1]
    assert (end.keyword, end.seat) == (Keyword.FORFEIT, seat)
    twin = pickle.loads(pickle.dumps(env))
    play_table(twin, 2, 1)
    assert len(kept(tmp_path)) == 1


def test_record_transcripts_takes_pettingzoo_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"environments of crib_env\.aec_env"):
        record_transcripts(make(), tmp_path)
