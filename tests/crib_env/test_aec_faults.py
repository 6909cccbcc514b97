"""Faults reported of other software, D005 and the like, tried on the AEC environment.

Where it applies, they are tried on the Gymnasium environments too. How games end:
test_aec_endings.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from crib_env import CribbageEnv, IllegalActionError, Phase, Rules
from crib_env.aec_env import env as make_env
from crib_env.aec_env import raw_env
from crib_env.cards import cards_in
from crib_env.rules import PRESETS
from tests.open_seats import (
    Lowest,
    choose,
    every_kind,
    illegal_card,
    options_of,
    snapshot,
    vector_of,
)
from tests.sameness import assert_same

# ---- D005, D010, D013: who sees what ----


def test_d005_the_card_that_the_pack_adds_to_the_crib_shows_nowhere_before_it_is_counted() -> None:
    rng = np.random.default_rng(1)
    for seed in range(20):
        left, right = (make_env(rules="three_player") for _ in range(2))
        for env in (left, right):
            env.reset(seed=seed)
        game, other = (env.games.records[0] for env in (left, right))
        taken = set(cards_in(game["crib"])) | {int(game["starter"])}
        for seat in range(3):
            taken |= set(cards_in(game["hands"][seat]))
        other["crib"] = 1 << int(rng.choice([card for card in range(52) if card not in taken]))
        while game["deal_number"] == 0:
            assert game["crib"] != other["crib"]
            assert_same(snapshot(left), snapshot(right))
            action = choose(left, rng)
            for env in (left, right):
                env.step(action)
            if game["deal_number"] == 0:
                assert_same(left.rewards, right.rewards)


def test_d005_in_the_gymnasium_environment_as_well() -> None:
    rng = np.random.default_rng(5)
    for seed in range(10):
        left, right = (CribbageEnv(opponent=Lowest(), rules="three_player") for _ in range(2))
        (seen, info), (there, told) = left.reset(seed=seed), right.reset(seed=seed)
        game, other = (env.games.records[0] for env in (left, right))
        taken = set(cards_in(game["crib"])) | {int(game["starter"])}
        for seat in range(3):
            taken |= set(cards_in(game["hands"][seat])) | set(cards_in(game["discards"][seat]))
        from_pack = int(game["crib"])
        for seat in range(3):
            from_pack &= ~int(game["discards"][seat])
        spare = [card for card in range(52) if card not in taken]
        other["crib"] = int(game["crib"]) ^ from_pack | 1 << int(rng.choice(spare))
        while game["deal_number"] == 0:
            assert game["crib"] != other["crib"]
            assert_same((seen, info), (there, told))
            card = int(rng.choice(np.flatnonzero(info["action_mask"])))
            seen, _, _, _, info = left.step(card)
            there, _, _, _, told = right.step(card)


def rotated(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Returns a position with every seat moved one to the left."""
    sides = 3 if players == 3 else 2
    moved = dict(options)
    moved["dealer"] = (options["dealer"] + 1) % players
    for name, size in (("hands", players), ("discards", players), ("scores", sides)):
        row = list(options[name])
        moved[name] = row[-1:] + row[:-1]
        assert len(row) in (size, 0)
    return moved


@pytest.mark.parametrize("name", ["six_card", "five_card", "three_player", "four_player"])
def test_d010_a_table_seen_from_the_next_seat_is_the_same_table(name: str) -> None:
    rules = PRESETS[name]
    rng = np.random.default_rng(10)
    for seed in range(10):
        env = raw_env(rules=rules)
        env.reset(seed=seed, options={"scores": rng.integers(0, 40, rules.sides).tolist()})
        for _ in range(int(rng.integers(rules.players * rules.num_discards + 6))):
            env.step(choose(env, rng))
        if env.games.records["deal_number"][0]:
            continue
        options = options_of(env.games.position(0))
        here, there = raw_env(rules=rules, reward="points"), raw_env(rules=rules, reward="points")
        here.reset(seed=seed, options=options)
        there.reset(seed=seed, options=rotated(options, rules.players))
        if rules.crib_from_pack:
            there.games.records["crib"] = here.games.records["crib"]
        for _ in range(8):
            if here.games.records["deal_number"][0]:
                break
            for seat in range(rules.players):
                left = f"player_{(seat + 1) % rules.players}"
                assert_same(there.observe(left), here.observe(f"player_{seat}"))
                assert_same(there.infos[left], here.infos[f"player_{seat}"])
                assert there.rewards[left] == pytest.approx(here.rewards[f"player_{seat}"])
            action = choose(here, rng)
            here.step(action)
            there.step(action)


@every_kind
@pytest.mark.parametrize(
    "make",
    [raw_env, make_env, lambda rules: TerminateIllegalWrapper(raw_env(rules=rules), -1)],
    ids=["raw_env", "env", "PettingZoo's wrapper"],
)
def test_d013_what_others_are_shown_does_not_change_what_is_legal(make: Any, rules: Rules) -> None:
    env = make(rules=rules)
    rng = np.random.default_rng(13)
    env.reset(seed=13)
    for _ in range(60):
        if any(env.terminations.values()):
            break
        for seat, agent in enumerate(env.agents):
            own = vector_of(env.observe(agent))
            assert set(np.flatnonzero(own[:52]).tolist()) == set(
                cards_in(env.games.records["hands"][0, seat])
            )
        env.step(choose(env, rng))
    assert "illegal_action" not in str(env.infos)
    env.reset(seed=13)
    # A card of the next agent's, who has just been shown that it holds it.
    acting = env.agents.index(env.agent_selection)
    following = (acting + 1) % rules.players
    [card, *_] = cards_in(env.games.records["hands"][0, following])
    env.observe(env.agents[following])
    if make is raw_env:
        with pytest.raises(IllegalActionError):
            env.step(card)
    else:
        env.step(card)
        assert all(env.terminations.values())
        assert env.rewards[env.possible_agents[acting]] < 0


def test_d013_in_the_gymnasium_environment_the_others_cards_stay_illegal() -> None:
    env = CribbageEnv(opponent=Lowest(), illegal="raise")
    _, info = env.reset(seed=13)
    for card in cards_in(env.games.records["hands"][0, 1]):
        env.games.observe(1)
        assert not info["action_mask"][card]
        with pytest.raises(IllegalActionError):
            env.step(card)
    env.step(int(info["action_mask"].argmax()))


# ---- D031: the game after an illegal ending ----


def transcript(env: Any, seed: int) -> list[Any]:
    """Returns all that is shown in a game."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    rows = [snapshot(env)]
    for _ in env.agent_iter():
        over = env.last()[2]
        env.step(None if over else choose(env, rng))
        if env.agents:
            rows.append((env.last()[1], *snapshot(env)))
    return rows


@every_kind
@pytest.mark.parametrize("left", [0, 1, None], ids=["nobody left", "one left", "all left"])
@pytest.mark.parametrize("steps", [0, 3, 15])
def test_d031_the_game_after_a_forfeit_is_that_of_a_fresh_environment(
    rules: Rules, left: int | None, steps: int
) -> None:
    env = make_env(rules=rules)
    env.reset(seed=7)
    for _ in range(steps):
        env.step(choose(env))
    env.step(illegal_card(env))
    for _ in range(rules.players if left is None else left):
        assert env.last()[2]
        env.step(None)
    for one, other in zip(transcript(env, 31), transcript(make_env(rules=rules), 31), strict=True):
        assert_same(one, other)
    # And where no seed is given, the lane goes on.
    fresh = make_env(rules=rules)
    fresh.reset(seed=31)
    for one in (env, fresh):
        one.reset()
    assert_same(snapshot(env), snapshot(fresh))


def test_d031_the_game_after_a_forfeit_in_the_gymnasium_environment() -> None:
    used, fresh = CribbageEnv(opponent=Lowest()), CribbageEnv(opponent=Lowest())
    used.reset(seed=7)
    assert used.step(52)[2]
    (seen, info), (there, told) = used.reset(seed=31), fresh.reset(seed=31)
    over = False
    while not over:
        assert_same((seen, info), (there, told))
        card = int(info["action_mask"].argmax())
        seen, _, over, _, info = used.step(card)
        there, _, _, _, told = fresh.step(card)
    assert_same((seen, info), (there, told))


# ---- D056: go ----


@every_kind
def test_d056_nobody_says_go_who_can_lay_a_card(rules: Rules) -> None:
    env = raw_env(rules=rules)
    rng = np.random.default_rng(56)
    asked = []
    for seed in range(3):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            game = env.games.records[0]
            mask = env.infos[env.agent_selection]["action_mask"]
            if game["phase"] == Phase.PLAY:
                room = 31 - int(game["count"])
                for seat in range(rules.players):
                    held = list(cards_in(game["hands"][seat]))
                    fitting = [card for card in held if min(card // 4 + 1, 10) <= room]
                    # Whoever has said go holds no card that fits, and is not asked.
                    if game["gone"] >> seat & 1:
                        assert not fitting
                    if seat == game["turn"]:
                        assert np.flatnonzero(mask).tolist() == sorted(fitting) != []
                        asked.append(len(held) - len(fitting))
                # There is no action but those cards: go is not to be said.
                for action in np.flatnonzero(mask == 0):
                    with pytest.raises(IllegalActionError):
                        env.step(int(action))
            env.step(choose(env, rng))
    assert 0 in asked
    assert max(asked) > 0


@pytest.mark.parametrize("name", PRESETS)
def test_d056_in_the_gymnasium_environment_as_well(name: str) -> None:
    env = CribbageEnv(opponent="random", rules=name, illegal="raise")
    rng = np.random.default_rng(56)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            game = env.games.records[0]
            fitting = [
                card
                for card in cards_in(game["hands"][0])
                if game["phase"] == Phase.DISCARD or min(card // 4 + 1, 10) + game["count"] <= 31
            ]
            assert np.flatnonzero(info["action_mask"]).tolist() == sorted(fitting) != []
            for action in np.flatnonzero(info["action_mask"] == 0):
                with pytest.raises(IllegalActionError):
                    env.step(int(action))
            _, _, over, _, info = env.step(int(rng.choice(fitting)))
