"""Any values for rules and options: valid ones play, all others are refused in one line."""

from __future__ import annotations

from collections import UserDict
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crib_env.batch import Games
from crib_env.bots import BOTS
from crib_env.checks import is_whole, named
from crib_env.game_record import Phase
from crib_env.luck import NUM_SEEDS
from crib_env.options import Options
from crib_env.records import MOST_LANES
from crib_env.rules import PRESETS, Rules, rules_of
from crib_env.vector_env import CribbageVectorEnv
from tests import referee
from tests.anything import LIKELY, SETTINGS, any_rules, check_line, mostly, rules_told
from tests.referee_games import new_game

FIELDS = [field.name for field in fields(Rules)]
VARIANTS = {sizes: name for name, sizes in referee.VARIANTS.items()}


def random_moment(games: Games, rng: np.random.Generator, steps: int) -> None:
    """Plays that many random actions in every lane that goes on."""
    for _ in range(steps):
        lanes = np.flatnonzero(~games.over)
        if not len(lanes):
            return
        masks = games.action_masks(lanes=lanes)
        games.apply([rng.choice(np.flatnonzero(mask)) for mask in masks], lanes)


# ---- Rules and rules_of ----


def check_refusal(error: ValueError, told: dict[str, Any]) -> None:
    """Requires that a refusal names a field, its value, and what is allowed."""
    line = check_line(error)
    values = asdict(Rules()) | told
    assert any(line.startswith(f"Rules.{name}={named(values[name])}: allowed") for name in FIELDS)


def check_rules(rules: Rules, told: dict[str, Any]) -> None:
    """Requires that rules are those told, whatever kind of numbers told them."""
    for name, value in asdict(rules).items():
        assert value == (asdict(Rules()) | told)[name]
        assert isinstance(value, str) or type(value) in (int, bool)
    assert rules == Rules(**asdict(rules))
    assert hash(rules) == hash(Rules(**asdict(rules)))
    assert (rules.players, rules.cards_dealt) in VARIANTS
    for score in (0, rules.target - 1):
        level = referee.skunk_level(score, rules.target, rules.triple_skunk)
        assert rules.skunk_level(score) == level
    assert rules.max_deals > rules.target


@settings(**SETTINGS, max_examples=1500)
@given(mostly(LIKELY))
@example({"target": np.uint8(20), "triple_skunk": True})  # 20 - 30 is 246 in such numbers
@example({"target": np.timedelta64(61)})  # to NumPy a signed integer
@example({"players": np.zeros((3, 3))})  # written in three lines
def test_any_fields_make_rules_or_are_refused_in_a_line_that_names_one(
    told: dict[str, Any],
) -> None:
    try:
        rules = Rules(**told)
    except ValueError as refused:
        check_refusal(refused, told)
    else:
        check_rules(rules, told)


@settings(**SETTINGS, max_examples=500)
@given(rules_told(), st.sampled_from([dict, UserDict, MappingProxyType]))
def test_anything_told_for_rules_is_read_or_refused_in_one_line(told: Any, kind: Any) -> None:
    try:
        rules = rules_of(kind(told) if isinstance(told, dict) else told)
    except ValueError as refused:
        line = check_line(refused)
        assert ": allowed " in line
        assert line.startswith(("rules=", "Rules."))
        if line.startswith("Rules."):
            check_refusal(refused, told)
    else:
        if told is None:
            assert rules == Rules()
        elif isinstance(told, dict):
            check_rules(rules, told)
        else:
            assert rules is told or rules is PRESETS[told]


@settings(**SETTINGS, max_examples=100)
@given(any_rules())
def test_the_drawn_rules_are_those_of_the_plain_rule_book(rules: Rules) -> None:
    # It refuses what is no variant.
    game = new_game(
        VARIANTS[rules.players, rules.cards_dealt], 0, rules.muggins, rules.muggins_penalty
    )
    assert (game.sides, game.kept) == (rules.sides, rules.num_kept)


# ---- every rules play ----


@settings(**SETTINGS, max_examples=150)
@given(any_rules(), st.integers(0, NUM_SEEDS - 1), st.integers(0, 60), st.data())
def test_games_of_any_rules_end_with_one_winner(
    rules: Rules, seed: int, steps: int, data: st.DataObject
) -> None:
    games = Games(3, rules, seed)
    random_moment(games, np.random.default_rng(seed), steps)
    bots = st.integers(0, len(BOTS) - 1)
    games.play_bots(data.draw(st.lists(bots, min_size=rules.players, max_size=rules.players)))
    assert games.over.all()
    reached = games.scores == rules.target
    assert (reached.sum(axis=1) == 1).all()
    assert np.array_equal(reached.argmax(axis=1), games.winner)
    # What was pegged is the score, but for what pone of the first five-card deal starts with.
    pegged = games.points.sum(axis=(2, 3))
    sides = np.zeros_like(games.scores)
    for seat in range(rules.players):
        sides[:, seat % rules.sides] += pegged[:, seat]
    ahead = games.scores - sides
    if not rules.is_five_card:
        assert not ahead.any()
    else:
        assert np.array_equal(np.sort(ahead, axis=1), [[0, 3]] * 3)


@settings(**SETTINGS, max_examples=150)
@given(any_rules(), st.integers(0, NUM_SEEDS - 1), st.integers(0, 120), st.booleans())
def test_spaces_contain_what_every_seat_observes_at_any_moment(
    rules: Rules, seed: int, steps: int, one_deal: bool
) -> None:
    games = Games(2, rules, seed, one_deal=one_deal)
    random_moment(games, np.random.default_rng(seed), steps)
    vectors = Options(rules=rules).observation_space
    pairs = Options(rules=rules, observation="dict").observation_space
    for seat in range(rules.players):
        for vector, mask in zip(games.observe(seat), games.action_masks(seat), strict=True):
            assert vectors.contains(vector)
            assert pairs.contains({"observation": vector, "action_mask": mask})


@settings(**SETTINGS, max_examples=60)
@given(
    any_rules(),
    st.integers(0, NUM_SEEDS - 1),
    st.sampled_from(["crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"]),
    st.sampled_from(["vector", "dict"]),
    st.sampled_from(list(BOTS)),
)
def test_an_episode_of_any_rules_ends_and_keeps_to_its_spaces(
    rules: Rules, seed: int, name: str, observation: str, opponent: str
) -> None:
    # Gymnasium's own checker warns of what is not in its space; warnings are errors here.
    env = gymnasium.make(name, rules=rules, observation=observation, opponent=opponent)
    rng = np.random.default_rng(seed)
    seen, info = env.reset(seed=seed)
    assert env.observation_space.contains(seen)
    terminated, steps = False, 0
    while not terminated:
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        assert env.action_space.contains(action)
        seen, _, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(seen)
        assert not truncated
        steps += 1
        # Under "full" random claims may be too low without a call.
        assert steps < 100 * rules.max_deals
    assert "illegal_action" not in info
    env.close()


# ---- Games ----

GAMES: dict[str, st.SearchStrategy[Any]] = {
    "n": st.integers(-1, 4),
    "rules": rules_told(),
    "seed": st.integers(0, NUM_SEEDS - 1) | st.lists(st.integers(0, 9), max_size=3),
    "first_dealer": st.sampled_from(["alternate", "cut", "loser", 0, 1, 2, 3, 4, "dealer"]),
    "one_deal": st.booleans(),
}


@settings(**SETTINGS, max_examples=1000)
@given(mostly(GAMES))
@example({"n": 2**63})
@example({"n": np.timedelta64(1)})
@example({"seed": [[1], [1, 2]]})
def test_games_begin_or_are_refused_in_one_line_that_names_what_is_wrong(
    told: dict[str, Any],
) -> None:
    told = {"n": 2} | told
    assume(not fills_memory(told["n"]))
    try:
        games = Games(**told)
    except ValueError as refused:
        line = check_line(refused)
        assert any(word in line for word in ("allowed", "a seed is", "give one seed")), line
        assert line.startswith((*(f"{name}=" for name in GAMES), "Rules.", "seed ")) or (
            " lane seeds for " in line
        )
    else:
        assert len(games) == told["n"]
        assert not (games.over | (games.records["phase"] != Phase.DISCARD)).any()


# ---- environments ----

OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "rules": rules_told(),
    "opponent": st.sampled_from([*BOTS]) | st.dictionaries(st.sampled_from([*BOTS]), st.floats()),
    "reward": st.sampled_from(["win", "points", "match_points", "win_probability"]),
    "first_dealer": st.sampled_from(["alternate", "agent", "opponent", "cut"]),
    "illegal": st.sampled_from(["forfeit", "raise"]),
    "observation": st.sampled_from(["vector", "dict"]),
    "match_points": st.sampled_from(["acc", "home", (1, 2, 3, 4), [1, 1, 1, 40_000]]),
    "shaping": st.sampled_from([None, "points", "win_probability"]),
    "shaping_gamma": st.floats(0, 1),
    "render_open_hands": st.booleans(),
}
WORDS = (*OPTIONS, "Rules.")


@settings(**SETTINGS, max_examples=500)
@given(
    mostly(OPTIONS),
    st.integers(0, NUM_SEEDS - 1),
)
def test_any_options_make_an_environment_or_are_refused_in_a_line_that_names_one(
    told: dict[str, Any], seed: int
) -> None:
    try:
        env = gymnasium.make("crib_env/Cribbage-v0", **told)
    except ValueError as refused:
        line = check_line(refused)
        assert line.startswith(WORDS), line
        assert any(word in line for word in ("allowed", "a pool needs", "a pool may")), line
        return
    seen, info = env.reset(seed=seed)
    assert env.observation_space.contains(seen)
    seen, *_ = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert env.observation_space.contains(seen)
    env.close()


@settings(**SETTINGS, max_examples=300)
@given(
    mostly(
        {
            "num_envs": st.integers(-1, 4),
            "rules": rules_told(),
            "autoreset_mode": st.sampled_from(["NextStep", "SameStep", "Disabled"]),
            "render_mode": st.none(),
        }
    )
)
@example({"num_envs": 2**63})
@example({"autoreset_mode": np.zeros(1, "i4,f8")})  # compares with nothing
def test_any_options_of_vectors_make_one_or_are_refused_in_a_line_that_names_one(
    told: dict[str, Any],
) -> None:
    assume(not fills_memory(told.get("num_envs")))
    try:
        envs = CribbageVectorEnv(**told)
    except ValueError as refused:
        line = check_line(refused)
        assert line.startswith((*told, "Rules.")), line
        assert "allowed" in line
        return
    seen, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(seen)
    envs.close()


def fills_memory(n: Any) -> bool:
    """Says whether so many lanes are allowed, but more than a test should ask for."""
    return is_whole(n) and 4 < n <= MOST_LANES
