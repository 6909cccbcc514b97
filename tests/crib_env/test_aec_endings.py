"""How games end in the AEC environment: faults reported of other software, D014 and the like.

Where it applies, they are tried on the Gymnasium environments too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils import turn_based_aec_to_parallel

from crib_env import CribbageEnv, Games, Role, Rules, Source
from crib_env.aec_env import env as make_env
from crib_env.aec_env import raw_env
from crib_env.cards import parse_cards
from crib_env.rules import PRESETS
from tests.open_seats import (
    Lowest,
    choose,
    core,
    every_kind,
    illegal_card,
    options_of,
    play_out,
    snapshot,
)
from tests.sameness import assert_same
from tests.tabletop import after_cut, show_points

Case = dict[str, Any]


# ---- D014, D019, D032, D046: how a game ends ----

# Pone, seat 0, holds 7C 8C 9C QC and the dealer 4D 5C 5H 6S. Each laying its lowest: 7C 4D 8C 5C 5H
# (a pair, then go: 3 for the dealer), 9C 6S (fifteen: 2) QC (last card: 1 for pone).
HANDS: dict[str, Any] = {"dealer": 1, "hands": ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH")}
THROWN: dict[str, Any] = {"discards": ("2H 3H", "TH KH"), "starter": "AD"}
PONES = show_points("7C 8C 9C QC", "AD")
DEALERS = show_points("4D 5C 5H 6S", "AD")
# What ends the game, by whom, and from which scores.
ENDINGS: dict[str, tuple[Source, int, dict[str, Any]]] = {
    "his heels": (
        Source.HIS_HEELS,
        1,
        {**HANDS, "discards": ("2H 3H", "TH"), "starter": "JD", "scores": (120, 119)},
    ),
    "a card": (Source.PEGGING, 1, {**HANDS, **THROWN, "scores": (120, 119)}),
    "a go": (Source.PEGGING, 1, {**HANDS, **THROWN, "scores": (60, 118)}),
    "the last card": (Source.PEGGING, 0, {**HANDS, **THROWN, "scores": (120, 0)}),
    "pone's hand": (Source.HAND, 0, {**HANDS, **THROWN, "scores": (120 - PONES, 115)}),
    "the dealer's hand": (Source.HAND, 1, {**HANDS, **THROWN, "scores": (90, 115)}),
    "the crib": (Source.CRIB, 1, {**HANDS, **THROWN, "scores": (20, 115 - DEALERS)}),
}
every_ending = pytest.mark.parametrize(
    ("source", "winner", "options"), ENDINGS.values(), ids=ENDINGS.keys()
)


def lowest_to_the_end(env: Any) -> Any:
    """Plays on until the game is over; returns the points pegged before the last step."""
    points = env.games.points[0]
    while not any(env.terminations.values()):
        points = env.games.points[0]
        env.step(choose(env))
    return points


@every_ending
@pytest.mark.parametrize("reward", ["win", "points", "match_points", "win_probability"])
def test_d014_last_pays_winner_and_loser_the_result_however_a_game_ends(
    source: Source, winner: int, options: dict[str, Any], reward: Any
) -> None:
    env = make_env(reward=reward)
    env.reset(seed=1, options=options)
    before = env.games.scores[0].astype(int)
    started = core(env)._episodes["win_probability"].copy()
    pegged = lowest_to_the_end(env)
    gained = env.games.points[0] - pegged
    # Nothing after what won is counted, so that this was the last that was pegged for.
    assert gained[winner].sum(axis=1).nonzero()[0].max() == source
    assert env.games.winner[0] == winner
    env.reset(seed=1, options=options)
    totals = play_out(env)
    after = env.games.scores[0].astype(int)
    net = int((after - before)[0] - (after - before)[1])
    worth = {2: 3, 1: 3, 0: 2}[env.games.rules.skunk_level(after.min())]
    for seat, agent in enumerate(env.possible_agents):
        sign = 1 if seat == winner else -1
        expected = {
            "win": sign,
            "points": net if seat == 0 else -net,
            "match_points": sign * worth,
            "win_probability": 2 * ((seat == winner) - started[seat]),
        }
        assert totals[agent] == pytest.approx(expected[reward])


@every_ending
@pytest.mark.parametrize("reward", ["win", "points", "match_points", "win_probability"])
def test_d014_the_gymnasium_environment_pays_the_same_result(
    source: Source, winner: int, options: dict[str, Any], reward: Any
) -> None:
    single = CribbageEnv(opponent=Lowest(), reward=reward)
    env = make_env(reward=reward)
    if source == Source.HIS_HEELS:
        # There the agent's own throw comes first, or the game would be over before it.
        options = {**options, "discards": ("2H", "")}
    _, info = single.reset(seed=1, options=options)
    total, over = 0.0, False
    while not over:
        _, paid, over, _, info = single.step(int(info["action_mask"].argmax()))
        total += float(paid)
    env.reset(seed=1, options=options)
    assert play_out(env)["player_0"] == pytest.approx(total)
    assert info["won"] is (winner == 0)


# By rules: cards enough for every seat; the dealer is the last seat, the one at its left leads.
SEATED = {
    "six_card": ("7C 8C 9C QC 2H 3H", "8D 5C 5H 6S TH KH"),
    "five_card": ("7C 9C QC 2H 3H", "8D 5C 5H TH KH"),
    "three_player": ("7C 9C QC TC 2H", "8D 5C 5H 6S TH", "4D 6D 9D QD 3H"),
    "four_player": ("7C 9C QC TC 2H", "8D 5C 5H 6S TH", "4D 6D 9D QD 3H", "AS 2S 9S QS AH"),
}


def before_the_last_throw(name: str) -> dict[str, Any]:
    """Returns a position in which the dealer's last throw turns a jack, and so wins."""
    rules = PRESETS[name]
    hands = SEATED[name]
    size = rules.num_discards
    thrown = [" ".join(hand.split()[-size:]) for hand in hands]
    thrown[-1] = " ".join(thrown[-1].split()[1:])
    scores = [0] * rules.sides
    scores[(rules.players - 1) % rules.sides] = rules.target - 2
    return {
        "dealer": rules.players - 1,
        "hands": hands,
        "discards": thrown,
        "starter": "JS",
        "scores": scores,
    }


def before_the_fifteen(name: str) -> dict[str, Any]:
    """Returns a position in which the second seat pegs fifteen on the first card, and so wins."""
    rules = PRESETS[name]
    position = before_the_last_throw(name)
    size = rules.num_discards
    scores = [0] * rules.sides
    scores[1] = rules.target - 2
    return {
        **position,
        "discards": [" ".join(hand.split()[-size:]) for hand in SEATED[name]],
        "starter": "KS",
        "scores": scores,
    }


def ends_early(env: Any, options: dict[str, Any], actions: list[int]) -> None:
    """Plays these last actions, and through the end."""
    env.reset(seed=1, options=options)
    for action in actions:
        assert not any(env.terminations.values())
        env.step(action)
    assert all(env.terminations.values())
    assert sum(env.rewards.values()) == pytest.approx(0)
    seen = []
    for agent in env.agent_iter():
        _, reward, terminated, _, info = env.last()
        assert terminated
        assert reward == (1 if info["won"] else -1 / (core(env).rules.sides - 1))
        seen.append(agent)
        env.step(None)
    assert seen == env.possible_agents
    env.reset(seed=2)
    fresh = make_env(rules=core(env).rules)
    fresh.reset(seed=2)
    assert_same(snapshot(env), snapshot(fresh))


@pytest.mark.parametrize("name", SEATED)
@pytest.mark.parametrize("make", [raw_env, make_env])
def test_d019_a_game_that_ends_before_everybody_has_had_a_turn_closes_cleanly(
    make: Any, name: str
) -> None:
    options = before_the_last_throw(name)
    last = parse_cards(SEATED[name][-1])[-PRESETS[name].num_discards]
    ends_early(make(rules=name), options, [last])
    ends_early(make(rules=name), before_the_fifteen(name), parse_cards("7C 8D"))


@pytest.mark.parametrize("name", SEATED)
def test_d019_pettingzoos_wrappers_survive_it(name: str) -> None:
    for options in (before_the_last_throw(name), before_the_fifteen(name)):
        parallel: Any = turn_based_aec_to_parallel(make_env(rules=name))
        parallel.reset(seed=1, options=options)
        totals = dict.fromkeys(parallel.possible_agents, 0.0)
        while parallel.agents:
            action = choose(parallel.aec_env)
            _, rewards, over, _, _ = parallel.step(dict.fromkeys(parallel.agents, action))
            for agent, reward in rewards.items():
                totals[agent] += reward
        assert all(over.values())
        direct = make_env(rules=name)
        direct.reset(seed=1, options=options)
        assert play_out(direct) == totals
        if not hasattr(pettingzoo, "register"):  # many games in a row: PettingZoo since 1.27
            continue
        many: Any = pettingzoo.utils.wrappers.MultiEpisodeEnv(make_env(rules=name), 3)
        many.reset(seed=1, options=options)
        played = 0
        for _ in many.agent_iter():
            over = many.last()[2]
            played += over
            many.step(None if over else choose(many))
        assert played == 3 * len(many.possible_agents)


@pytest.mark.parametrize("name", SEATED)
def test_d019_the_gymnasium_environments_survive_it(name: str) -> None:
    # The agent, seat 0, throws; the dealer then turns a jack, and nobody ever lays a card.
    rules = PRESETS[name]
    thrown = parse_cards(SEATED[name][0])[-rules.num_discards :]
    options = {**before_the_last_throw(name), "discards": ()}
    single = CribbageEnv(opponent=Lowest(), rules=rules)
    many: Any = gymnasium.make_vec(
        "crib_env/Cribbage-v0", num_envs=3, opponent=Lowest(), rules=rules
    )
    single.reset(seed=1, options=options)
    many.reset(seed=1, options=options)
    for card in thrown:
        _, reward, over, _, info = single.step(card)
        _, rewards, ended, _, _ = many.step(np.full(3, card))
    lost = -1 / (rules.sides - 1)
    assert (reward, over, info["won"]) == (lost, True, False)
    assert rewards.tolist() == [lost] * 3
    assert ended.all()
    single.reset(seed=1)


@every_kind
@pytest.mark.parametrize("forfeited", [False, True])
def test_d032_last_observe_and_infos_answer_for_all_at_the_end_and_observe_after_it(
    rules: Rules, forfeited: bool
) -> None:
    env = make_env(rules=rules)
    env.reset(seed=32)
    rng = np.random.default_rng(32)
    while not any(env.terminations.values()):
        late = forfeited and env.games.records["deal_number"][0] > 0
        env.step(illegal_card(env) if late else choose(env, rng))
    for agent in env.agent_iter():
        for one in env.agents:
            assert {"action_mask", "agent_score", "won", "skunk_level"} <= env.infos[one].keys()
        for one in env.possible_agents:
            assert env.observation_space(one).contains(env.observe(one))
            assert env.observe(one)["action_mask"].all()
        seen, reward, terminated, truncated, info = env.last()
        assert_same(seen, env.observe(agent))
        assert (type(reward), terminated, truncated) == (float, True, False)
        assert info is env.infos[agent]
        env.step(None)
    for one in env.possible_agents:
        assert env.observation_space(one).contains(env.observe(one))
    assert env.infos == env.rewards == {}
    assert env.state().dtype == np.uint8


def test_d032_the_gymnasium_environment_answers_after_the_end() -> None:
    env = CribbageEnv(opponent=Lowest())
    _, info = env.reset(seed=32)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert {"action_mask", "agent_score", "won", "skunk_level"} <= info.keys()
    assert env.action_masks().all()


@every_kind
def test_d046_whoever_has_left_is_in_no_dictionary_and_nobody_leaves_earlier(rules: Rules) -> None:
    env = make_env(rules=rules)
    env.reset(seed=46)
    rng = np.random.default_rng(46)
    gone: list[str] = []
    for agent in env.agent_iter():
        assert agent not in gone
        for told in (env.rewards, env.terminations, env.truncations, env.infos):
            assert list(told) == env.agents
        assert [*gone, *env.agents] == env.possible_agents
        terminated = env.last()[2]
        assert terminated or not gone
        env.step(None if terminated else choose(env, rng))
        if terminated:
            gone.append(agent)
    assert gone == env.possible_agents


# ---- D052: the show, through the environments ----


def cases(name: str) -> list[Case]:
    """Returns the checked cases of a file."""
    text = (Path(__file__).parents[1] / "cases" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


SHOWS = [
    case
    for case in cases("flow")
    if case["input"]["kind"] == "show_phase"
    # The card that the pack adds to a crib of three players is told by no position.
    and case["input"]["players"] in (2, 4)
    and case["input"].get("muggins", "none") == "none"
]
CRIB_FLUSHES = [
    case
    for case in cases("show")
    if case["input"]["kind"] == "score"
    and case["input"]["crib"]
    and len({card[1] for card in case["input"]["hand"]}) == 1
]


def through_pettingzoo(rules: Rules, options: dict[str, Any]) -> Games:
    """Returns the games after a deal in which each lays its lowest card."""
    env = make_env(rules=rules, reward="points")
    env.reset(seed=1, options=options)
    while not any(env.terminations.values()) and not env.games.records["deal_number"][0]:
        env.step(choose(env))
    return core(env).games


def through_gymnasium(rules: Rules, options: dict[str, Any]) -> Games:
    """Returns the games after a deal in which each lays its lowest card."""
    env = CribbageEnv(opponent=Lowest(), rules=rules)
    _, info = env.reset(seed=1, options=options)
    over = False
    while not over and not env.games.records["deal_number"][0]:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    return env.games


INTERFACES = {"pettingzoo": through_pettingzoo, "gymnasium": through_gymnasium}


def position_before(given: Case, rules: Rules, play: Any) -> dict[str, Any]:
    """Returns the position after the cut from which the show begins at the scores of a case."""
    players, crib = rules.players, given["crib"].split()
    size = rules.num_discards
    order = [(given["dealer"] + 1 + place) % players for place in range(players)]
    thrown = {seat: crib[size * place : size * (place + 1)] for place, seat in enumerate(order)}
    options = {
        "dealer": given["dealer"],
        "hands": [" ".join([hand, *thrown[seat]]) for seat, hand in enumerate(given["hands"])],
        "discards": [" ".join(thrown[seat]) for seat in range(players)],
        "starter": given["starter"],
        "scores": [0] * rules.sides,
    }
    pegged = play(Rules(players=players, cards_dealt=rules.cards_dealt), options).points[0]
    scores = list(given["scores"])
    for seat in range(players):
        scores[seat % rules.sides] -= int(pegged[seat, Source.PEGGING].sum())
    return {**options, "scores": scores}


@pytest.mark.parametrize(
    ("case", "interface"),
    [
        pytest.param(case, interface, id=f"{case['id']}-{interface}")
        for case in SHOWS
        for interface in INTERFACES
    ],
)
def test_d052_the_show_stops_at_the_first_to_reach_the_target(case: Case, interface: str) -> None:
    given, expected, play = case["input"], case["expected"], INTERFACES[interface]
    rules = Rules(
        players=given["players"],
        cards_dealt=6 if given["players"] == 2 else 5,
        target=given["target"],
    )
    games = play(rules, position_before(given, rules, play))
    assert games.winner[0] == expected["winner"]
    if "scores_capped" in expected:
        assert games.scores[0].tolist() == expected["scores_capped"]
    # What was counted, each up to the target, is as in the case, and nothing else was.
    scores = list(given["scores"])
    counted: dict[tuple[int, str], int] = defaultdict(int)
    for one in expected["counted"]:
        side = one["player"] % rules.sides
        points = min(one["points"], given["target"] - scores[side])
        scores[side] += points
        counted[one["player"], one["what"]] += points
    points = games.points[0].sum(axis=2)
    for seat in range(rules.players):
        assert points[seat, Source.HAND] == counted[seat, "hand"]
        assert points[seat, Source.CRIB] == counted[seat, "crib"]


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CRIB_FLUSHES])
def test_d052_a_crib_of_one_suit_counts_by_the_rule_for_cribs(case: Case, interface: str) -> None:
    given = case["input"]
    table = after_cut(starter=given["starter"], crib=" ".join(given["hand"]))
    options = options_of(table.games.position(0))
    games = INTERFACES[interface](Rules(), options)
    assert games.points[0, 1, Source.CRIB, Role.DEALER] == case["expected"]["points"]


def test_d052_there_are_such_cases() -> None:
    assert {case["input"]["players"] for case in SHOWS} == {2, 4}
    suited = [
        len({card[1] for card in [*case["input"]["hand"], case["input"]["starter"]]})
        for case in CRIB_FLUSHES
    ]
    assert set(suited) == {1, 2}
