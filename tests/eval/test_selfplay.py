"""An agent against itself: the published figures, and what they are made of."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.agent import make
from crib_env import Games
from crib_env.bots import BOTS
from crib_env.rules import PRESETS, Rules
from eval.match import play_match
from eval.play import play_games
from eval.selfplay import SelfPlay, main, play_itself
from eval.stats import Estimate


@pytest.fixture(scope="module")
def expert() -> SelfPlay:
    return play_itself(make("expert"), 20_000, seed=1)


# What 100,000 games must show; fewer must be compatible with it.
FIGURES = {
    "first_dealer_win_rate": (0.555, 0.57),
    "skunk_rate": (0.12, 0.135),
    "deals_per_game": (8.9, 9.3),
    "dealer_hand": (7.9, 8.1),
    "pone_hand": (8.05, 8.25),
    "crib": (4.7, 4.9),
    "dealer_pegging": (3.1, 3.4),
    "pone_pegging": (1.95, 2.2),
    "his_heels": (0.15, 0.158),  # 2/13 a deal
}


@pytest.mark.parametrize("name", FIGURES)
def test_expert_against_itself(expert: SelfPlay, name: str) -> None:
    low, high = FIGURES[name]
    measured: Estimate = getattr(expert, name)
    assert measured.low <= high
    assert measured.high >= low


def test_dealing_first_is_worth_five_points_in_a_hundred(expert: SelfPlay) -> None:
    # So a match without exchanged first deals would be off by as much; one with them is not.
    assert 0.54 < expert.first_dealer_win_rate.low < expert.first_dealer_win_rate.high < 0.58
    assert play_match(make("expert"), make("expert"), 1000).a.win_rate.value == 0.5


def test_figures_are_what_the_games_say() -> None:
    games = Games(50, seed=6, first_dealer=0)
    games.play_bots((2, 2))
    result = play_itself(make("expert"), 50, seed=6, lanes=8)
    records = games.records
    deals = int((records["deal_number"] + 1).sum())
    assert result.first_dealer_win_rate.value == (games.winner == 0).mean()
    assert result.deals_per_game.value == deals / 50
    assert result.skunk_rate.value == (games.scores.min(axis=1) < 91).mean()
    worth = records["worth_totals"].sum(axis=(0, 1))
    for name, total in zip(("dealer_hand", "pone_hand", "crib"), worth, strict=True):
        assert getattr(result, name).value == pytest.approx(total / deals)
    pegged = games.points.sum(axis=(0, 1))
    assert result.dealer_pegging.value == pytest.approx(pegged[1, 0] / deals)
    assert result.pone_pegging.value == pytest.approx(pegged[1, 1] / deals)
    assert result.his_heels.value == pytest.approx(pegged[0, 0] / deals)


@pytest.mark.parametrize("name", ["five_card", "three_player", "four_player"])
def test_figures_of_variants_are_what_the_games_say(name: str) -> None:
    rules = PRESETS[name]
    games = Games(60, rules, seed=6, first_dealer=0)
    games.play_bots([1] * rules.players)
    result = play_itself(make("greedy", rules), 60, seed=6, rules=name, lanes=8)
    records, scores = games.records, games.scores.astype(int)
    deals = int((records["deal_number"] + 1).sum())
    pones = rules.players - 1
    assert result.rules == rules
    assert result.first_dealer_win_rate.value == pytest.approx((games.winner == 0).mean())
    margin = scores[:, 0] - scores[:, 1:].mean(axis=1)
    assert result.first_dealer_margin.value == pytest.approx(margin.mean())
    assert result.skunk_rate.value == (scores.min(axis=1) < rules.target - 30).mean()
    worth = records["worth_totals"].sum(axis=(0, 1))
    assert result.dealer_hand.value == pytest.approx(worth[0] / deals)
    assert result.pone_hand.value == pytest.approx(worth[1] / deals / pones)
    assert result.crib.value == pytest.approx(worth[2] / deals)
    pegged = games.points.sum(axis=(0, 1))
    assert result.dealer_pegging.value == pytest.approx(pegged[1, 0] / deals)
    assert result.pone_pegging.value == pytest.approx(pegged[1, 1] / deals / pones)


def test_one_game_is_enough_to_measure() -> None:
    for estimate in play_itself(make("random"), 1).estimates().values():
        assert estimate.low <= estimate.value <= estimate.high


def test_seats_are_told_by_agent() -> None:
    agents = [make("expert"), make("random")]
    seeds = np.array([5, 5], np.uint64)
    results = play_games(agents, [[0, 1], [1, 0]], seeds)
    assert results["first_dealer"].tolist() == [0, 1]
    games = Games(1, seed=[5], first_dealer=0)
    games.play_bots((0, 2))  # random deals first
    assert results["scores"][1].tolist() == games.scores[0, ::-1].tolist()
    assert np.array_equal(results["points"][1], games.points[0, ::-1])
    assert results["winner"][1] == 1 - games.winner[0]


@pytest.mark.parametrize("name", ["three_player", "four_player"])
def test_seats_of_variants_are_told_by_agent_and_scores_by_its_side(name: str) -> None:
    rules = PRESETS[name]
    bots = [2, 0, 1, 0][: rules.players]
    agents = [make(BOTS[bot], rules) for bot in bots]
    order = np.roll(np.arange(rules.players), 1)
    results = play_games(agents, order, np.array([5, 6], np.uint64), rules)
    games = Games(2, rules, seed=[5, 6], first_dealer=0)
    games.play_bots([bots[place] for place in order])
    # Whom `order` puts at seat s is agent s - 1: so agent 0 sits at seat 1.
    assert results["first_dealer"].tolist() == [rules.players - 1] * 2
    assert np.array_equal(results["scores"], np.roll(games.scores, -1, axis=1))
    assert np.array_equal(results["winner"], (games.winner - 1) % rules.sides)
    assert np.array_equal(results["points"], np.roll(games.points, -1, axis=1))


@pytest.mark.parametrize(
    ("count", "seats", "said"),
    [
        (2, [0, 0], "each of 2 agents once"),
        (2, [1, 0], "each of 2 agents once a game, at 3 seats"),
        (3, [0, 1, 1], "each of 3 agents once"),
        (4, [0, 1, 2, 3], "at 3 seats"),
        (4, [0, 2, 1, 3], "partners"),
        (4, [0, 3, 1, 2], "partners"),
    ],
)
def test_seats_must_seat_everybody_and_partners_opposite(
    count: int, seats: list[int], said: str
) -> None:
    rules = {"each of 2 agents once": Rules(), "partners": PRESETS["four_player"]}
    with pytest.raises(ValueError, match=said):
        play_games(
            [make("expert")] * count,
            seats,
            np.zeros(1, np.uint64),
            rules.get(said, PRESETS["three_player"]),
        )


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "selfplay.json"
    assert main(["greedy", "--games", "100", "--seed", "3", "--json", str(path)]) == 0
    result: dict[str, Any] = json.loads(path.read_text())
    assert result["agent"] == "greedy"
    assert result["games"] == 100
    for name in FIGURES:
        low, high = result[f"{name}_ci95"]
        assert low <= result[name] <= high
    assert "pone hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags",
    ["--games 0", "--games -5", "--seed -1", "--target 0", "--rules foursome", "--rules target=0"],
)
def test_what_is_refused_is_one_line_and_writes_nothing(
    flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "selfplay.json"
    assert main(["expert", *flags.split(), "--json", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not path.exists()
