"""What episodes pay: each scheme sums to its definition, worked out here from the information."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest

from crib_env import Games, Rules, parse_cards
from crib_env.episode import EPISODE, Episode, set_out, settle
from crib_env.kernel import as_records
from crib_env.options import Options
from crib_env.rules import MATCH_POINTS, PRESETS
from crib_env.tables import WIN_PROBABILITY
from tests.tabletop import random_actions

GAME, DEAL = "crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"
NO_SUCH_CARD = 52
TARGET = 121

Array = npt.NDArray[Any]
Facts = dict[str, Any]


def chance(own: int, other: int, deals: bool, target: int = TARGET) -> float:
    """Returns the probability of winning at the start of a deal, from the table."""
    if max(own, other) == target:
        return float(own == target)
    gone = TARGET - target
    if deals:
        return float(WIN_PROBABILITY[gone + own, gone + other])
    return 1 - float(WIN_PROBABILITY[gone + other, gone + own])


def facts_of(infos: Facts, lane: Any) -> Facts:
    """Returns what the information tells of one lane."""
    return {name: infos[name][lane] for name in infos if f"_{name}" in infos}


def episodes(
    env_id: str, number: int, illegal: float = 0.0, **options: Any
) -> list[tuple[float, Facts, Facts]]:
    """Plays episodes with random legal cards: the total, what stood at reset, and at the end."""
    lanes = min(number, 512)
    envs: Any = gymnasium.make_vec(env_id, num_envs=lanes, opponent="greedy", **options)
    rng = np.random.default_rng(number)
    _, infos = envs.reset(seed=11)
    starts = [facts_of(infos, lane) for lane in range(lanes)]
    totals = np.zeros(lanes)
    played: list[tuple[float, Facts, Facts]] = []
    logging.disable(logging.WARNING)
    begins = np.zeros(lanes, np.bool_)
    while len(played) < number:
        noise = rng.random((lanes, 52)) * infos["action_mask"]
        actions = noise.argmax(axis=1)
        actions[rng.random(lanes) < illegal] = NO_SUCH_CARD
        _, rewards, over, _, infos = envs.step(actions)
        for lane in np.flatnonzero(begins):
            starts[lane] = facts_of(infos, lane)
            assert rewards[lane] == 0
            totals[lane] = 0
        totals += rewards
        for lane in np.flatnonzero(over):
            played.append((float(totals[lane]), starts[lane], facts_of(infos, lane)))
        begins = over
    logging.disable(logging.NOTSET)
    return played[:number]


def lead(facts: Facts) -> int:
    return int(facts["agent_score"] - facts["opponent_score"])


def chance_at(facts: Facts) -> float:
    return chance(facts["agent_score"], facts["opponent_score"], bool(facts["is_dealer"]))


def won(start: Facts, end: Facts) -> float:
    return 1.0 if end["won"] else -1.0


def match_points(start: Facts, end: Facts) -> float:
    loser = min(end["agent_score"], end["opponent_score"])
    level = int(loser < 91) + int(loser < 61)
    return MATCH_POINTS["acc"][level] * won(start, end)


DEFINITIONS: dict[str, tuple[dict[str, Any], Callable[[Facts, Facts], float], float]] = {
    "win": ({"reward": "win"}, won, 0.0),
    "points": ({"reward": "points"}, lambda start, end: lead(end), 0.0),
    "match points": ({"reward": "match_points"}, match_points, 0.0),
    "win probability": (
        {"reward": "win_probability"},
        lambda start, end: 2 * (float(end["won"]) - chance_at(start)),
        1e-6,
    ),
    "shaped by points": (
        {"reward": "win", "shaping": "points"},
        lambda start, end: won(start, end),  # the lead is 0 at the start
        1e-9,
    ),
    "shaped by win probability": (
        {"reward": "win", "shaping": "win_probability"},
        lambda start, end: won(start, end) - (2 * chance_at(start) - 1),
        1e-9,
    ),
}


@pytest.mark.parametrize("scheme", DEFINITIONS)
def test_ten_thousand_games_sum_to_the_definition_of_their_scheme(scheme: str) -> None:
    options, definition, tolerance = DEFINITIONS[scheme]
    results = episodes(GAME, 10_000, **options)
    assert len({bool(end["won"]) for _, _, end in results}) == 2
    for total, start, end in results:
        assert abs(total - definition(start, end)) <= tolerance


def deal_points(start: Facts, end: Facts) -> float:
    return lead(end) - lead(start)


def deal_chance(start: Facts, end: Facts) -> float:
    after = chance(end["agent_score"], end["opponent_score"], not start["is_dealer"])
    return 2 * (after - chance_at(start))


@pytest.mark.parametrize("scores", ["play", "uniform", (110, 115)], ids=str)
@pytest.mark.parametrize(
    ("reward", "definition"), [("points", deal_points), ("win_probability", deal_chance)]
)
def test_ten_thousand_deals_sum_to_the_definition_of_their_scheme(
    scores: Any, reward: str, definition: Callable[[Facts, Facts], float]
) -> None:
    results = episodes(DEAL, 10_000, reward=reward, scores=scores)
    for total, start, end in results:
        assert abs(total - definition(start, end)) <= 1e-6
        assert end["is_dealer"] == start["is_dealer"]
    assert {int(start["is_dealer"]) for _, start, _ in results} == {0, 1}


WORST: dict[str, tuple[str, dict[str, Any], Callable[[Facts], float]]] = {
    "win": (GAME, {"reward": "win"}, lambda start: -1),
    "points": (GAME, {"reward": "points"}, lambda start: -TARGET),
    "match points": (GAME, {"reward": "match_points"}, lambda start: -3),
    "doubles": (GAME, {"reward": "match_points", "match_points": "doubles"}, lambda start: -4),
    "own scheme": (
        GAME,
        {"reward": "match_points", "match_points": (1, 2, 3, 9)},
        lambda start: -3,
    ),
    "triple": (
        GAME,
        {
            "reward": "match_points",
            "match_points": (1, 2, 3, 9),
            "rules": Rules(triple_skunk=True),
        },
        lambda start: -9,
    ),
    "win probability": (
        GAME,
        {"reward": "win_probability"},
        lambda start: -2 * chance_at(start),
    ),
    "shaped": (
        GAME,
        {"reward": "win", "shaping": "win_probability"},
        lambda start: -2 * chance_at(start),
    ),
    "deal of points": (
        DEAL,
        {"reward": "points"},
        lambda start: start["opponent_score"] - TARGET,
    ),
    "deal of win probability": (
        DEAL,
        {"reward": "win_probability"},
        lambda start: -2 * chance_at(start),
    ),
}


@pytest.mark.parametrize("scheme", WORST)
def test_a_forfeit_brings_the_total_to_the_worst_result(scheme: str) -> None:
    env_id, options, worst = WORST[scheme]
    illegal = 0.02 if env_id == GAME else 0.2
    forfeited = 0
    for total, start, end in episodes(env_id, 2_000, illegal, **options):
        if end.get("illegal_action"):
            forfeited += 1
            assert abs(total - worst(start)) <= 1e-6
            assert not end["won"]
        # No result is worse, or better than the worst is bad.
        assert total >= worst(start) - 1e-6
    assert 200 < forfeited < 2_000


def test_a_schemes_match_points_are_zero_sum() -> None:
    # The same games seen from the other seat: the cards belong to roles, greedy plays both.
    totals = []
    for first_dealer in ("agent", "opponent"):
        env = gymnasium.make(
            GAME,
            opponent="greedy",
            reward="match_points",
            match_points="free_triple",
            rules=Rules(triple_skunk=True),
            first_dealer=first_dealer,
        )
        totals.append(play_greedy(env, 200))
    assert totals[0] == [-total for total in totals[1]]
    assert {abs(total) for total in totals[0]} >= {1, 2}


@pytest.mark.parametrize(
    ("reward", "shaping"),
    [("win", None), ("win", "points"), ("points", None), ("match_points", None)],
)
@pytest.mark.parametrize("name", ["five_card", "three_player", "four_player"])
def test_what_the_sides_are_paid_sums_to_zero(name: str, reward: str, shaping: str | None) -> None:
    rules = replace(PRESETS[name], target=31)
    totals, winners, _ = paid(rules, reward=reward, shaping=shaping)
    # Partners are paid alike; each side counts once.
    assert np.allclose(totals[:, : rules.sides].sum(axis=1), 0)
    assert np.allclose(totals, totals[:, np.arange(rules.players) % rules.sides])
    if reward == "win" and not shaping:
        lost = -1 / (rules.sides - 1)
        expected = np.where(winners[:, None] == np.arange(rules.players) % rules.sides, 1, lost)
        assert np.allclose(totals, expected)


def test_r40_each_loser_pays_by_its_own_line_and_the_winner_takes_all() -> None:
    totals, winners, scores = paid(PRESETS["three_player"], reward="match_points")
    assert {2, 3} <= set(-totals[totals < 0].astype(int))
    for total, winner, score in zip(totals, winners, scores, strict=True):
        pays = [0 if side == winner else 3 if score[side] <= 90 else 2 for side in range(3)]
        expected = [-points for points in pays]
        expected[winner] = sum(pays)
        assert total.tolist() == expected


def paid(rules: Rules, **options: Any) -> tuple[Array, Array, Array]:
    """Plays games of greedy against random; returns what each seat was paid in all, and results.

    Returns:
        (N, players) totals of rewards, (N,) winners, (N, sides) scores.
    """
    chosen = Options(rules=rules, **options)
    games = Games(40, rules, seed=5)
    seats = range(rules.players)
    stakes = [as_records(chosen.episodes(len(games))) for _ in seats]
    records = as_records(games.records)
    for seat in seats:
        for lane in range(len(games)):
            set_out(records[lane], stakes[seat][lane], seat)
    totals = np.zeros((len(games), rules.players))
    rng = np.random.default_rng(5)
    step = 0
    while not games.over.all():
        step += 1
        lanes = np.flatnonzero(~games.over)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        due = lanes if step % 10 == 0 else lanes[games.over[lanes]]
        for seat in seats:
            for lane in due:
                totals[lane, seat] += settle(records[lane], stakes[seat][lane], seat)
    return totals, games.winner, games.scores


def play_greedy(env: gymnasium.Env[Any, Any], games: int) -> list[float]:
    """Plays greedy on the agent's seat too; returns each game's total."""
    from crib_env import BotPolicy

    policy = BotPolicy("greedy")
    totals = []
    for game in range(games):
        observation, info = env.reset(seed=game)
        total, over = 0.0, False
        while not over:
            luck = env.get_wrapper_attr("games").luck()
            action = policy(observation[None], info["action_mask"][None], luck)[0]
            observation, reward, over, _, info = env.step(action)
            total += float(reward)
        totals.append(total)
    return totals


def test_points_are_paid_as_they_are_pegged_in_win_probability_too() -> None:
    # Each step pays the change of the probability by scores and dealer, not all at the deal's end.
    env = gymnasium.make(GAME, reward="win_probability", opponent="greedy")
    _, info = env.reset(seed=3)
    before = chance_at(info)
    paid = 0
    over = False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        after = float(info["won"]) if over else chance_at(info)
        assert abs(float(reward) - 2 * (after - before)) < 1e-12
        paid += float(reward) != 0
        before = after
    assert paid > 20


def test_discounted_shaping_is_that_of_each_decision() -> None:
    gamma = 0.9
    env = gymnasium.make(GAME, shaping="points", shaping_gamma=gamma, opponent="greedy")
    _, info = env.reset(seed=3)
    before, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        after = 0.0 if over else lead(info) / TARGET
        base = (1.0 if info["won"] else -1.0) if over else 0.0
        assert abs(float(reward) - (base + gamma * after - before)) < 1e-12
        before = after


@pytest.mark.parametrize("plays", ["", "QC"])
def test_rewards_count_from_the_position_that_reset_returns(plays: str) -> None:
    # After QC the opponent is to act: greedy takes the fifteen before the agent's first decision.
    hands = (parse_cards("7C 8C 9C QC 2H 3H"), parse_cards("4D 5C 5H 6S TH KH"))
    position = {"dealer": 1, "scores": (60, 90), "hands": hands, "starter": "2D"}
    if plays:
        position |= {"discards": ("2H 3H", "TH KH"), "plays": plays}
    env = gymnasium.make(DEAL, reward="points", opponent="greedy")
    _, info = env.reset(seed=1, options=position)
    assert (info["agent_score"], info["opponent_score"]) == (60, 92 if plays else 90)
    start = lead(info)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        total += float(reward)
    assert total == lead(info) - start


def test_a_deal_leaves_its_table_as_it_ended() -> None:
    env = gymnasium.make(DEAL, opponent="expert", scores=(0, 0))
    _, info = env.reset(seed=5)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    games: Games = env.get_wrapper_attr("games")
    assert games.over.all()
    assert games.winner.tolist() == [-1]
    assert games.records["num_plays"][0] == 8
    assert games.records["deal_number"][0] == 0
    assert "won" not in info
    assert info["action_mask"].all()


def test_the_cards_of_deals_are_those_of_the_games_of_the_lane() -> None:
    deals = gymnasium.make(DEAL, opponent="random")
    games = gymnasium.make(GAME, opponent="random")
    for seed in (8, None, None):
        left, right = deals.reset(seed=seed)[1], games.reset(seed=seed)[1]
        assert (left["action_mask"] == right["action_mask"]).all()
        assert left["is_dealer"] == right["is_dealer"]


@pytest.mark.nojit
def test_the_fields_of_an_episode_are_those_that_type_checkers_see() -> None:
    assert list(Episode.__annotations__) == list(EPISODE.names or ())


@pytest.mark.nojit
def test_an_episode_has_no_byte_that_no_field_writes() -> None:
    fields: Any = EPISODE.fields
    assert sum(kind.itemsize for kind, *_ in fields.values()) == EPISODE.itemsize
