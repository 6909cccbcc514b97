"""What `Rules` allows and refuses, the lines of the skunks, and the points of a match."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.batch import Games
from crib_env.kernel import COMPILED
from crib_env.rules import MATCH_POINTS, PRESETS, Rules, loser_deals, rules_of
from tests.referee import skunk_level

pytestmark = pytest.mark.nojit

LEVELS = ["plain win", "skunk", "double skunk", "triple skunk"]
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "flow.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def of_kind(*kinds: str) -> list[Any]:
    """Returns the cases of some kinds, as parameters with their ids."""
    return [pytest.param(case, id=case["id"]) for case in CASES if case["input"]["kind"] in kinds]


# ---- the loser deals ----

# Scores by side, the number of players, and who deals next where seat 0, 1, ... dealt first.
LOSERS = [
    ((121, 120), 2, (1, 1)),
    ((120, 121), 2, (0, 0)),
    ((121, 90, 89), 3, (2, 2, 2)),
    ((90, 121, 91), 3, (0, 0, 0)),
    ((121, 90, 90), 3, (1, 2, 1)),
    ((90, 90, 121), 3, (1, 0, 0)),
    ((90, 121, 90), 3, (2, 2, 0)),
    ((121, 7), 4, (1, 3, 3, 1)),
    ((7, 121), 4, (2, 2, 0, 0)),
]


@pytest.mark.parametrize(("scores", "players", "dealers"), LOSERS)
def test_r3_the_loser_is_who_has_fewest_points_and_the_first_to_the_left_of_those_alike(
    scores: tuple[int, ...], players: int, dealers: tuple[int, ...]
) -> None:
    for first, dealer in enumerate(dealers):
        assert loser_deals(scores, players, len(scores), first) == dealer


# ---- skunks and match points ----


@pytest.mark.parametrize(
    ("loser", "level"), [(120, 0), (91, 0), (90, 1), (61, 1), (60, 2), (31, 2), (30, 2), (0, 2)]
)
def test_r28_skunk_lines_of_121(loser: int, level: int) -> None:
    assert Rules().skunk_level(loser) == level


@pytest.mark.parametrize(("loser", "level"), [(31, 2), (30, 3), (0, 3), (60, 2), (91, 0)])
def test_r28_triple_skunk_is_an_option(loser: int, level: int) -> None:
    assert Rules(triple_skunk=True).skunk_level(loser) == level


@pytest.mark.parametrize(
    ("target", "level"), [(30, 0), (31, 1), (60, 1), (61, 2), (90, 2), (91, 3), (121, 3)]
)
def test_r28_a_line_at_or_below_zero_does_not_exist(target: int, level: int) -> None:
    assert Rules(target=target, triple_skunk=True).skunk_level(0) == level


@pytest.mark.parametrize("target", [1, 30, 31, 61, 91, 121])
def test_r28_skunks_equal_the_plain_rule_book(target: int) -> None:
    for triple in (False, True):
        rules = Rules(target=target, triple_skunk=triple)
        expected = [skunk_level(score, target, triple) for score in range(target)]
        assert [rules.skunk_level(score) for score in range(target)] == expected
        assert rules.skunk_level(np.arange(target)).tolist() == expected


@pytest.mark.parametrize(
    "case", [case for case in of_kind("skunk") if "loser_score" in case.values[0]["input"]]
)
def test_r28_skunk_cases(case: dict[str, Any]) -> None:
    given_, expected = case["input"], case["expected"]
    level = Rules(target=given_["target"]).skunk_level(given_["loser_score"])
    assert LEVELS[level] == expected["result"]


@pytest.mark.parametrize(
    ("scheme", "points"),
    [
        ("acc", (2, 3, 3, 3)),
        ("long", (3, 4, 4, 4)),
        ("home", (1, 2, 2, 2)),
        ("free", (1, 2, 3, 3)),
        ("free_triple", (1, 2, 3, 4)),
        ("doubles", (1, 2, 4, 4)),
        ((5, 6, 7, 8), (5, 6, 7, 8)),
    ],
)
def test_r29_match_points_of_each_scheme(scheme: Any, points: tuple[int, ...]) -> None:
    rules = Rules(triple_skunk=True)
    assert tuple(rules.match_points(loser, scheme) for loser in (95, 80, 40, 20)) == points


def test_r29_acc_is_the_default_scheme() -> None:
    assert [Rules().match_points(loser) for loser in (95, 80, 40)] == [2, 3, 3]


@pytest.mark.parametrize("case", of_kind("match_points"))
def test_r29_match_point_cases(case: dict[str, Any]) -> None:
    given_, expected = case["input"], case["expected"]
    rules = Rules()
    if "loser_scores" in given_:
        points = [rules.match_points(score, given_["scheme"]) for score in given_["loser_scores"]]
        assert points == expected["winner_points"]
        assert set(expected["loser_points"]) == {0}
    else:
        points, won = [0, 0], [0, 0]
        for scores in given_["games"]:
            winner = scores.index(121)
            points[winner] += rules.match_points(scores[1 - winner], given_["scheme"])
            won[winner] += 1
        spread = sum(first - second for first, second in given_["games"])
        assert points == expected["game_points"]
        assert won == expected["games_won"]
        assert [spread, -spread] == expected["spread"]


def test_an_unknown_scheme_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'hom'.*home"):
        Rules().match_points(95, "hom")


def test_all_schemes_are_four_numbers_that_do_not_fall() -> None:
    for points in MATCH_POINTS.values():
        assert len(points) == 4
        assert list(points) == sorted(points)


# ---- what is refused ----


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().target = 61  # type: ignore[misc]  # that is the test


@pytest.mark.parametrize("players", [-1, 0, 1, 5, 6])
def test_numbers_of_players_not_offered_are_refused(players: int) -> None:
    with pytest.raises(ValueError, match=rf"^Rules.players={players}: allowed is 2 to 4$"):
        Rules(players=players)


@pytest.mark.parametrize(
    ("players", "dealt", "message"),
    [
        (2, 4, "Rules.cards_dealt=4: allowed is 5 to 6 with 2 players"),
        (2, 7, "Rules.cards_dealt=7: allowed is 5 to 6 with 2 players"),
        (3, 6, "Rules.cards_dealt=6: allowed is 5 with 3 players"),
        (4, 6, "Rules.cards_dealt=6: allowed is 5 with 4 players"),
        (4, 4, "Rules.cards_dealt=4: allowed is 5 with 4 players"),
    ],
)
def test_numbers_of_cards_not_offered_are_refused(players: int, dealt: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Rules(players=players, cards_dealt=dealt)


NAMES = [field.name for field in fields(Rules)]

anything = st.one_of(
    st.integers(),
    st.integers(-1, 7),
    st.sampled_from(["none", "show", "full"]),
    st.floats(allow_nan=True),
    st.text(max_size=5),
    st.none(),
    st.booleans(),
)


@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(st.sampled_from(NAMES), anything, st.sampled_from(list(PRESETS.values())))
def test_impossible_rules_are_refused_in_one_line_that_names_field_and_value(
    field: str, value: Any, rules: Rules
) -> None:
    told = {name: getattr(rules, name) for name in NAMES} | {field: value}
    if field == "players" and value in (3, 4):
        told["cards_dealt"] = 5
    two = rules.players == 2
    allowed = {
        "players": type(value) is int and 2 <= value <= 4,
        "cards_dealt": type(value) is int and (value == 5 or (value == 6 and two)),
        "target": type(value) is int and (4 if rules.is_five_card else 1) <= value <= 121,
        "triple_skunk": isinstance(value, bool),
        "muggins": value in ("none", "show", "full"),
        "muggins_penalty": isinstance(value, bool),
    }
    if allowed[field]:
        assert getattr(Rules(**told), field) == value
    else:
        with pytest.raises(ValueError, match="allowed") as refused:
            Rules(**told)
        assert f"Rules.{field}={value!r}" in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("target", range(1, 122))
def test_every_target_is_allowed(target: int) -> None:
    games = Games(1, Rules(target=target), seed=target)
    assert games.records["target"][0] == target


# ---- the variants by name ----


@pytest.mark.parametrize(
    ("name", "players", "sides", "dealt", "kept", "from_pack", "target"),
    [
        ("six_card", 2, 2, 6, 4, 0, 121),
        ("short", 2, 2, 6, 4, 0, 61),
        ("five_card", 2, 2, 5, 3, 0, 61),
        ("three_player", 3, 3, 5, 4, 1, 121),
        ("four_player", 4, 2, 5, 4, 0, 121),
    ],
)
def test_what_the_variants_are(
    name: str, players: int, sides: int, dealt: int, kept: int, from_pack: int, target: int
) -> None:
    rules = PRESETS[name]
    assert (rules.players, rules.sides, rules.target) == (players, sides, target)
    assert (rules.cards_dealt, rules.num_kept) == (dealt, kept)
    assert rules.num_discards == dealt - kept
    assert rules.crib_from_pack == from_pack == 4 - players * (dealt - kept)
    assert rules.is_five_card == (name == "five_card")
    assert rules.has_win_probability == (name in ("six_card", "short"))
    assert (rules.triple_skunk, rules.muggins) == (False, "none")


def test_the_default_is_six_cards_to_121() -> None:
    assert Rules() == PRESETS["six_card"] == rules_of(None)


@pytest.mark.parametrize("name", PRESETS)
def test_rules_are_told_as_such_by_name_or_as_fields(name: str) -> None:
    rules = PRESETS[name]
    assert rules_of(name) == rules_of(rules) == rules_of(asdict(rules)) == rules
    assert Games(1, name).rules == rules


def test_fields_left_out_are_the_default() -> None:
    assert rules_of({}) == Rules()
    assert rules_of({"target": 31}) == Rules(target=31)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("sixcard", "rules='sixcard': allowed are a crib_env.Rules, 'six_card', 'short', "),
        (6, "rules=6: allowed are a crib_env.Rules, 'six_card', 'short', 'five_card', "),
        ({"targett": 61}, "rules={'targett': 61}: allowed are players, cards_dealt, target, "),
        ({"target": 0}, "Rules.target=0: allowed is 1 to 121"),
        ({"cards_dealt": 5, "target": 3}, "Rules.target=3: allowed is 4 to 121"),
        ({"players": 3}, "Rules.cards_dealt=6: allowed is 5 with 3 players"),
    ],
)
def test_rules_that_there_are_not_are_refused_in_one_line(told: Any, message: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refused:
        rules_of(told)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(not COMPILED, reason="plays whole games of every variant")
@pytest.mark.parametrize("name", PRESETS)
def test_no_game_has_more_deals_than_its_bound(name: str) -> None:
    games = Games(500, name, seed=9)
    games.play_bots(np.zeros(games.rules.players, int))
    assert games.over.all()
    assert games.records["deal_number"].max() < games.rules.max_deals


def test_options_hold_over_games() -> None:
    # D034: no option falls back to its default when a lane goes on.
    rules = Rules(target=61, triple_skunk=True)
    games = Games(2, rules, seed=8, first_dealer=1)
    for _ in range(10):
        games.play_bots([0, 0])
        assert games.scores.max(axis=1).tolist() == [61, 61]
        games.next_game()
        assert games.rules == rules
        assert games.records["target"].tolist() == [61, 61]
        assert games.records["dealer"].tolist() == [1, 1]
