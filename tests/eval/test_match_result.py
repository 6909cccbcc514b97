"""What a match says beyond wins and margins: match points, triple skunks, pairs, the bootstrap."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agents import make
from crib_env import Match, MatchRules, Rules
from crib_env.rules import MATCH_POINTS, PRESETS
from eval import sets
from eval.bootstrap import ALLOWED_GAP, bootstrapped
from eval.match import play_match
from eval.match_report import match_table, match_text
from eval.match_result import MatchResult
from tests.shown import text_of

VARIANTS = ["six_card", "five_card", "three_player", "four_player"]
TRIPLE = Rules(triple_skunk=True)


@pytest.fixture(scope="module")
def played() -> MatchResult:
    """Returns a match between unequal players, in which a triple skunk is one."""
    return play_match(make("expert", TRIPLE), make("random", TRIPLE), 2000, 1, TRIPLE)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("triple", [False, True])
def test_match_points_are_those_of_a_match(variant: str, triple: bool) -> None:
    rules = replace(PRESETS[variant], triple_skunk=triple)
    size = rules.sides
    result = play_match(make("greedy", rules), make("random", rules), 60 * size, 4, rules)
    for scheme in MATCH_POINTS:
        match = Match(
            MatchRules(games=len(result.results), match_points=scheme, first_dealer=0), rules
        )
        for scores in result.results["scores"].tolist():
            match.record(scores)
        points = [standing.match_points for standing in match.standings]
        a, b = result.a.match_points[scheme], result.b.match_points[scheme]
        assert a.value * result.games == pytest.approx(points[0])
        assert b.value * result.games == pytest.approx(sum(points[1:]) / (size - 1))
        margin = result.match_points_margin[scheme]
        assert margin.value == pytest.approx(a.value - b.value)
        for one in (a, b, margin):
            assert one.low <= one.value <= one.high


def test_intervals_of_match_points_are_over_pairs(played: MatchResult) -> None:
    won = played.results["winner"] == 0
    losing = played.results["scores"].min(axis=1)
    points = np.array(MATCH_POINTS["free_triple"])[
        (losing < 91).astype(int) + (losing < 61) + (losing < 31)
    ]
    assert played.a.match_points["free_triple"] == sets.mean(points * won, 2, 0, 4)
    assert played.match_points_margin["free_triple"] == sets.mean(
        np.where(won, points, -points), 2, -4, 4
    )


def test_a_triple_skunk_is_one_by_the_rules(played: MatchResult) -> None:
    losing, won = played.results["scores"].min(axis=1), played.results["winner"] == 0
    assert played.a.triple_skunk_rate is not None
    assert played.a.triple_skunk_rate.value == (won & (losing < 31)).mean() > 0
    assert "wins by a triple skunk" in text_of(match_table(played))
    plain = play_match(make("expert"), make("random"), 100, 1)
    assert plain.a.triple_skunk_rate is plain.b.triple_skunk_rate is None
    assert plain.to_json()["a_triple_skunk_rate"] is None
    assert "triple skunk" not in text_of(match_table(plain))


def test_an_agent_against_itself_has_no_match_points_to_spare() -> None:
    result = play_match(make("expert"), make("expert"), 400, 2)
    for scheme, margin in result.match_points_margin.items():
        assert margin.value == 0
        assert result.a.match_points[scheme] == result.b.match_points[scheme]
    for worth in result.pairing.values():
        assert worth is not None
        assert worth.value == 0
    assert set(result.bootstrap.values()) > {None}
    assert result.bootstrap["a_win_rate"] is None
    assert "as all sets went alike" in match_text(result)


def test_what_pairs_are_worth() -> None:
    result = play_match(make("expert"), make("greedy"), 10_000, 1)
    wins, margin = result.pairing["wins"], result.pairing["margin"]
    assert wins is not None
    assert margin is not None
    # The table of docs/evaluation.md has these of more games.
    assert wins.high <= 0.65
    assert margin.high <= 0.40
    noisy = play_match(make("expert"), make("noisy:0.3:pegging:expert"), 10_000, 1)
    wins, margin = noisy.pairing["wins"], noisy.pairing["margin"]
    assert wins is not None
    assert margin is not None
    assert wins.high <= 0.35
    assert margin.high <= 0.15
    said = match_text(noisy)
    assert f"games needed for each single game: wins {wins}; margin {margin}" in said


def test_the_bootstrap_is_over_the_same_sets(played: MatchResult) -> None:
    margins = played.results["scores"][:, 0].astype(int) - played.results["scores"][:, 1]
    found = bootstrapped(margins[0::2] + margins[1::2], played.seed)
    assert found is not None
    of_match = played.bootstrap["mean_margin"]
    assert of_match is not None
    assert of_match.ci95 == pytest.approx([end / 2 for end in found.ci95])
    assert set(played.bootstrap) == set(played.estimates)
    for name, estimate in played.estimates.items():
        interval, gap = played.bootstrap[name], played.gap(name)
        assert (interval is None) == (gap is None)
        if interval is not None:
            assert interval.value == pytest.approx(estimate.value)


def test_the_bootstrap_stands_by_the_intervals_or_says_that_sets_are_too_few() -> None:
    many = play_match(make("expert"), make("greedy"), 4000, 1)
    assert max(many.gap("a_win_rate") or 0, many.gap("mean_margin") or 0) <= ALLOWED_GAP
    assert "bootstrap: the intervals of wins and margin are within" in match_text(many)
    few = play_match(make("expert"), make("random"), 8, 1)
    assert "too few sets to be sure of either" in match_text(few)


def test_json_has_all_of_it(played: MatchResult) -> None:
    result = json.loads(json.dumps(played.to_json(), allow_nan=False))
    assert set(result["match_points"]) == set(MATCH_POINTS)
    for points in result["match_points"].values():
        assert points["margin"] == pytest.approx(points["a"] - points["b"])
        for name in ("a", "b", "margin"):
            low, high = points[f"{name}_ci95"]
            assert low <= points[name] <= high
    low, high = result["a_triple_skunk_ci95"]
    assert low <= result["a_triple_skunk_rate"] <= high
    assert result["pairing"]["margin"]["ci95"][0] < result["pairing"]["margin"]["value"]
    assert result["bootstrap"]["mean_margin"]["gap"] == played.gap("mean_margin")
    # A rate without a game to its name leaves the bootstrap nothing.
    assert result["bootstrap"]["b_triple_skunk_rate"] == {"ci95": None, "gap": None}


def test_games_that_all_go_alike_leave_pairs_nothing_to_be_worth() -> None:
    rules = Rules(target=1)
    result = play_match(make("random", rules), make("random", rules), 2, 1, rules)
    assert result.to_json()["pairing"]["margin"] == {"value": None, "ci95": None}
    assert "as all games went alike" in match_text(result)
