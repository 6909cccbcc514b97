"""The AEC environment's options, copies and pictures."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from crib_env import Rules
from crib_env.aec_env import env as make_env
from crib_env.cards import parse_card
from tests.open_seats import POSITION, choose, every_kind, every_maker, play_out

# ---- options, copies, pictures ----
from tests.sameness import assert_same


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reward": "score"}, "reward='score': allowed are 'win', 'points', 'match_points'"),
        ({"rules": "six"}, "rules='six': allowed are"),
        (
            {"first_dealer": "agent"},
            "first_dealer='agent': allowed are 'alternate', 'cut', 'loser' and",
        ),
        (
            {"first_dealer": 2},
            "first_dealer=2: allowed are 'alternate', 'cut', 'loser' and a seat from 0 to",
        ),
        ({"illegal": "ignore"}, "illegal='ignore': allowed are 'forfeit', 'raise'"),
        ({"observation": "image"}, "observation='image': allowed are 'vector', 'dict'"),
        ({"match_points": "acc", "reward": "match"}, "reward='match'"),
        ({"shaping": "points", "reward": "points"}, "shaping='points' with reward='points'"),
        ({"render_mode": "window"}, "render_mode='window': allowed are None, 'ansi', 'human'"),
        (
            {"rules": "three_player", "reward": "win_probability"},
            "reward='win_probability': allowed with two players",
        ),
    ],
)
@every_maker
def test_a_bad_option_is_refused_in_one_line(make: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}") as caught:
        make(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@every_maker
@every_kind
def test_a_copy_in_mid_play_goes_on_with_the_same_cards(
    rules: Rules, make: Any, duplicate: Any
) -> None:
    env = make(rules=rules, reward="points")
    duplicate(env)  # before the first reset too
    env.reset(seed=5)
    for _ in range(10):
        env.step(choose(env, np.random.default_rng(5)))
    twin = duplicate(env)
    before = twin.games.records.copy()
    own = play_out(env, np.random.default_rng(6))
    assert_same(twin.games.records, before)
    assert play_out(twin, np.random.default_rng(6)) == own
    for one in (env, twin):
        one.reset()
    assert play_out(env) == play_out(twin)


def test_human_prints_the_table_at_each_reset_and_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = make_env(render_mode="human")
    drawn = make_env(render_mode="ansi")
    for one in (env, drawn):
        one.reset(seed=1, options=POSITION)
    assert capsys.readouterr().out == drawn.render() + "\n"
    for _ in range(4):
        action = choose(env)
        for one in (env, drawn):
            one.step(action)
        assert capsys.readouterr().out == drawn.render() + "\n"
    assert env.render() is None


def test_the_table_shows_the_hand_of_player_0_and_what_the_last_step_did() -> None:
    closed = make_env(render_mode="ansi", first_dealer=1)
    opened = make_env(render_mode="ansi", first_dealer=1, render_open_hands=True)
    for env in (closed, opened):
        env.reset(seed=1, options=POSITION)
        env.step(parse_card("7C"))
        assert "player_0 lays 7C" in env.render()
        env.step(parse_card("4D"))
        assert "player_1 lays 4D" in env.render()
        assert "player_0 lays 7C" not in env.render()
        assert "8C" in env.render()
    assert "6S" not in closed.render()
    assert "6S" in opened.render()


def test_the_table_tells_of_a_forfeit() -> None:
    env = make_env(render_mode="ansi")
    env.reset(seed=1, options=POSITION)
    env.step(parse_card("KD"))
    assert "player_0 forfeits" in env.render()


def test_rendering_changes_no_game() -> None:
    totals = []
    for mode in (None, "ansi"):
        env = make_env(render_mode=mode, reward="points")
        env.reset(seed=3)
        totals.append(play_out(env))
    assert totals[0] == totals[1]


def test_render_without_a_render_mode_warns() -> None:
    env = make_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render"):
        assert env.render() is None
    env.close()
