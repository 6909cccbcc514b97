"""Render modes, as users of the environments meet them; D055 is a fault reported of others."""

import copy
import logging
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo

from crib_env import BotPolicy, CribbageEnv, Games, IllegalActionError, Phase
from crib_env.env import Observation
from crib_env.render.table_view import NAMES
from crib_env.rules import MUGGINS_MODES, PRESETS

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"
MODES = ("ansi", "human", "rgb_array")


def core(env: gymnasium.Env[Any, Any]) -> CribbageEnv:
    inner = env.unwrapped
    assert isinstance(inner, CribbageEnv)
    return inner


def play(env: gymnasium.Env[Any, Any], seed: int) -> list[tuple[Observation, float, bool]]:
    """Plays one episode by a fixed rule."""
    _, info = env.reset(seed=seed)
    steps = []
    over = False
    while not over:
        action = int(info["action_mask"].nonzero()[0][-1])
        observation, reward, over, _, info = env.step(action)
        steps.append((observation, float(reward), over))
    return steps


def assert_shows(env: gymnasium.Env[Any, Any], mode: str) -> Any:
    """Asserts that `render` returns what its mode says; returns that."""
    shown = env.render()
    if mode == "ansi":
        assert isinstance(shown, str)
        assert "agent" in shown
    elif mode == "human":
        assert shown is None
    else:
        assert isinstance(shown, np.ndarray)
        assert shown.shape == (540, 960, 3)
        assert shown.dtype == np.uint8
    return shown


@pytest.mark.parametrize("env_id", [GAME, DEAL])
@pytest.mark.parametrize("mode", MODES)
def test_d055_each_mode_returns_what_it_says_from_reset_to_the_end(mode: str, env_id: str) -> None:
    env = gymnasium.make(env_id, render_mode=mode)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        assert_shows(env, mode)
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert_shows(env, mode)


@pytest.mark.parametrize("muggins", MUGGINS_MODES)
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("mode", MODES)
def test_each_mode_shows_every_variant(mode: str, name: str, muggins: str) -> None:
    rules = replace(PRESETS[name], muggins=muggins)
    env = gymnasium.make(GAME, render_mode=mode, rules=rules, opponent="greedy")
    _, info = env.reset(seed=1)
    over, steps = False, 0
    # A game in text; of pictures a deal and more.
    while not over and (mode == "ansi" or steps < 30):
        assert_shows(env, mode)
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    shown = assert_shows(env, mode)
    if mode == "ansi":
        assert over
        assert " win" in shown.splitlines()[-1]
        assert all(seat in shown for seat in NAMES[rules.players])


@pytest.mark.parametrize("env_id", [GAME, DEAL])
@pytest.mark.parametrize("muggins", ["none", "full"])
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("mode", MODES)
def test_the_checker_of_gymnasium_finds_nothing_in_any_variant(
    mode: str, name: str, muggins: str, env_id: str
) -> None:
    rules = replace(PRESETS[name], muggins=muggins)
    logging.disable(logging.WARNING)  # the checker's own actions are mostly illegal
    try:
        check_env(gymnasium.make(env_id, render_mode=mode, rules=rules).unwrapped)
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "opponent", ["random", "expert", BotPolicy("greedy"), {"greedy": 1, "random": 1}]
)
def test_an_environment_with_a_render_mode_plays_the_same_games(mode: str, opponent: Any) -> None:
    plain = gymnasium.make(GAME, opponent=opponent, reward="win_probability")
    drawn = gymnasium.make(GAME, opponent=opponent, reward="win_probability", render_mode=mode)
    for seed in range(3):
        for left, right in zip(play(plain, seed), play(drawn, seed), strict=True):
            assert np.array_equal(left[0], right[0])  # type: ignore[arg-type]  # vectors
            assert left[1:] == right[1:]


def test_human_prints_the_table_at_each_reset_and_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make(GAME, render_mode="human", opponent="greedy")
    twin = gymnasium.make(GAME, render_mode="ansi", opponent="greedy")
    _, info = env.reset(seed=2)
    twin.reset(seed=2)
    assert capsys.readouterr().out == f"{twin.render()}\n"
    for _ in range(10):
        action = int(info["action_mask"].argmax())
        info = env.step(action)[4]
        twin.step(action)
        assert capsys.readouterr().out == f"{twin.render()}\n"


def test_d055_without_a_mode_render_warns_and_shows_nothing() -> None:
    env = gymnasium.make(GAME, disable_env_checker=True)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert core(env).render() is None


@pytest.mark.parametrize("mode", MODES)
def test_there_is_nothing_to_show_before_the_first_reset(mode: str) -> None:
    with pytest.raises(ResetNeeded):
        core(gymnasium.make(GAME, render_mode=mode)).render()


@pytest.mark.parametrize("env_id", [GAME, DEAL])
def test_hidden_cards_change_no_letter_and_no_pixel(env_id: str) -> None:
    env = core(gymnasium.make(env_id, render_mode="rgb_array", opponent="greedy"))
    text = core(gymnasium.make(env_id, render_mode="ansi", opponent="greedy"))
    _, info = env.reset(seed=3)
    text.reset(seed=3)
    phases = set()
    for step in range(40):
        phases.add(int(env.games.records["phase"][0]))
        frame, words = env.render(), text.render()
        for one in (env, text):
            other = one.clone()
            # Below the environment: what it has told so far stays.
            other.games.redeal_hidden(0, seed=step)
            assert np.array_equal(other.render(), frame if one is env else words)
        action = int(info["action_mask"].argmax())
        _, _, over, _, info = env.step(action)
        text.step(action)
        if over:
            _, info = env.reset()
            text.reset()
    assert phases == {Phase.DISCARD, Phase.PLAY}


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_open_hands_are_shown_only_if_asked_for(mode: str) -> None:
    closed, opened = (
        gymnasium.make(GAME, render_mode=mode, render_open_hands=asked) for asked in (False, True)
    )
    for env in (closed, opened):
        env.reset(seed=4)
    assert not np.array_equal(closed.render(), opened.render())  # type: ignore[arg-type]  # either


def test_what_was_scored_is_said_as_players_do() -> None:
    env = gymnasium.make(GAME, render_mode="ansi", opponent="greedy")
    position = {
        "dealer": 1,
        "hands": ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH"),
        "discards": ("2H 3H", "TH KH"),
        "starter": "JD",
        "plays": "QC 5H",
    }
    env.reset(seed=1, options=position)
    env.step(int(np.flatnonzero(core(env).action_masks())[0]))
    shown = env.render()
    assert isinstance(shown, str)
    assert "agent lays 7C" in shown


@pytest.mark.parametrize("illegal", ["forfeit", "raise"])
def test_an_illegal_card_is_not_told_as_laid(illegal: Any) -> None:
    env = CribbageEnv(render_mode="ansi", illegal=illegal, opponent="greedy")
    _, info = env.reset(seed=1)
    while not env.games.records["num_plays"][0]:
        info = env.step(int(info["action_mask"].argmax()))[4]
    before = env.render()
    # A card that lies on the table, one that nobody has seen, and none.
    laid = int(env.games.records["plays"][0, 0])
    for card in (laid, int(env.games.records["hands"][0, 1]).bit_length() - 1, 52):
        twin = env.clone()
        if illegal == "raise":
            with pytest.raises(IllegalActionError):
                twin.step(card)
            assert twin.render() == before
        else:
            twin.step(card)
            lines = twin.render().splitlines()
            assert [line for line in lines if line.startswith("-")] == ["- agent forfeits the game"]


def test_the_end_of_a_single_deal_names_no_winner() -> None:
    env = gymnasium.make(DEAL, render_mode="ansi", scores=(10, 20))
    play(env, seed=1)
    core_scores = core(env).games.scores[0].tolist()
    shown = env.render()
    assert isinstance(shown, str)
    status = shown.splitlines()[-1]
    assert status == "the deal is over: agent {}, opponent {}".format(*core_scores)


def test_a_forfeit_is_shown() -> None:
    env = gymnasium.make(GAME, render_mode="ansi")
    env.reset(seed=1)
    before = env.render()
    env.step(52)
    shown = env.render()
    assert isinstance(shown, str)
    assert shown != before
    assert "forfeit" in shown


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_copies_show_what_the_environment_shows(mode: str) -> None:
    env: Any = core(gymnasium.make(GAME, render_mode=mode))
    _, info = env.reset(seed=5)
    for _ in range(12):
        info = env.step(int(info["action_mask"].argmax()))[4]
    for twin in (env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert np.array_equal(twin.render(), env.render())
        twin.step(int(info["action_mask"].argmax()))
        assert not np.array_equal(twin.render(), env.render())


def test_a_loaded_state_is_shown_as_a_position_without_history() -> None:
    env: Any = core(gymnasium.make(GAME, render_mode="ansi"))
    other: Any = core(gymnasium.make(GAME, render_mode="ansi"))
    _, info = env.reset(seed=6)
    for _ in range(12):
        info = env.step(int(info["action_mask"].argmax()))[4]
    other.load_state_dict(env.state_dict())
    hand = Games.text(other.games, 0)
    assert hand == Games.text(env.games, 0)
    assert other.render().count("agent") >= 1
    other.step(int(info["action_mask"].argmax()))


def test_record_video_writes_a_film(tmp_path: Path) -> None:
    env = RecordVideo(
        gymnasium.make(DEAL, render_mode="rgb_array"),
        str(tmp_path / "films"),
        episode_trigger=lambda episode: episode == 0,
        disable_logger=True,
    )
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()  # type: ignore[no-untyped-call]  # Gymnasium leaves it without annotations
    [film] = (tmp_path / "films").glob("*.mp4")
    assert film.stat().st_size > 1_000
