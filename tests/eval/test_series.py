"""Matches of several games between agents: what they are made of, and the command line."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.agent import Agent, make
from crib_env import BotPolicy, Games, Match, MatchRules, Rules, Standing, lane_seed
from crib_env.match import COLUMNS, NEXT_DEALERS, NextDealer
from crib_env.rules import PRESETS
from eval.series import DRAWN, LOST, WON, SeriesResult, main, play_series, scheme_from

SHORT = Rules(target=31)
TO_31 = {
    2: SHORT,
    3: Rules(players=3, cards_dealt=5, target=31),
    4: Rules(players=4, cards_dealt=5, target=31),
}


def series(agents: str, match_rules: MatchRules, matches: int, **options: Any) -> SeriesResult:
    """Plays matches to 31 between house players."""
    names = agents.split()
    named = {name: make(name, TO_31[len(names)]) for name in names}
    rules = options.pop("rules", TO_31[len(names)])
    return play_series(
        [named[name] for name in names], match_rules, matches, rules=rules, **options
    )


BOTS = {2: "greedy random", 3: "greedy random expert", 4: "greedy random expert random"}
NUMBERS = {"random": 0, "greedy": 1, "expert": 2}


@pytest.mark.parametrize("next_dealer", NEXT_DEALERS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_match_is_the_games_of_its_lane(players: int, next_dealer: NextDealer) -> None:
    rules, names = TO_31[players], BOTS[players].split()
    sides, match_rules = rules.sides, MatchRules(race_to=6, next_dealer=next_dealer)
    result = series(BOTS[players], match_rules, 4 * sides, seed=8)
    for number, played in enumerate(result.results):
        seed, moved = lane_seed(8, number // sides), number % sides
        games = Games(1, rules, seed=[seed], first_dealer=next_dealer)
        match = Match(match_rules, rules, seed)
        sitting = [NUMBERS[names[(seat + moved) % players]] for seat in range(players)]
        while True:
            games.play_bots(sitting)
            match.record(games.scores[0].tolist())
            if match.over:
                break
            games.next_game()
        assert played["games"] == len(match.results)
        for side, standing in enumerate(match.standings):
            place = (side + moved) % sides
            assert played["columns"][place].tolist() == list(asdict(standing).values())
            assert played["outcome"][place] == (WON if match.winner == side else LOST)


def outside(name: str, rules: Rules) -> Agent:
    """A house player that is asked for each move, as a network is."""
    return Agent(name, BotPolicy(name, rules))


@pytest.mark.parametrize("agents", ["greedy random", "greedy random expert"])
def test_results_do_not_depend_on_how_many_play_at_a_time(agents: str) -> None:
    match_rules = MatchRules(best_of=4, next_dealer="loser")
    one, other = (series(agents, match_rules, 12, seed=5, lanes=lanes) for lanes in (8192, 5))
    assert np.array_equal(one.results, other.results)
    assert one == other
    assert one.to_json() | {"seconds": 0} == other.to_json() | {"seconds": 0}


def test_a_player_asked_from_outside_plays_the_same() -> None:
    match_rules = MatchRules(best_of=3, next_dealer="cut")
    one = series("expert random", match_rules, 6, seed=2)
    agents = [outside("expert", SHORT), make("random", SHORT)]
    other = play_series(agents, match_rules, 6, seed=2, rules=SHORT)
    assert np.array_equal(one.results, other.results)


def test_a_longer_series_begins_with_a_shorter_one() -> None:
    short, long = (series("greedy random", MatchRules(games=3), n, seed=1) for n in (10, 20))
    assert np.array_equal(short.results, long.results[:10])
    other = series("greedy random", MatchRules(games=3), 10, seed=2)
    assert not np.array_equal(short.results, other.results)


@pytest.mark.parametrize("next_dealer", NEXT_DEALERS)
def test_an_agent_against_itself_splits_every_set_exactly(next_dealer: NextDealer) -> None:
    for agents, sides in (("random random", 2), ("greedy greedy greedy", 3)):
        match_rules = MatchRules(best_of=4, next_dealer=next_dealer)
        result = series(agents, match_rules, 20 * sides, seed=3)
        for name in ("outcome", "columns"):
            sets = result.results[name].reshape(20, sides, sides, -1)
            for moved in range(1, sides):
                assert np.array_equal(np.roll(sets[:, 0], moved, axis=1), sets[:, moved])
        assert len({side.win_rate.value for side in result.sides}) == 1


def test_figures_are_what_the_matches_say() -> None:
    result = series("expert greedy random", MatchRules(best_of=4), 60, seed=4)
    outcome = result.results["outcome"]
    assert {WON, DRAWN, LOST} == set(outcome.ravel().tolist())
    for number, side in enumerate(result.sides):
        for name, rate, code in (
            ("won", side.win_rate, WON),
            ("drawn", side.draw_rate, DRAWN),
            ("lost", side.loss_rate, LOST),
        ):
            times = int((outcome[:, number] == code).sum())
            assert getattr(side, f"matches_{name}") == times
            assert rate.value == pytest.approx(times / 60)
            assert rate.low <= rate.value <= rate.high
        assert list(asdict(side.standing).values()) == (
            result.results["columns"][:, number].sum(axis=0).tolist()
        )
    assert result.games == result.results["games"].sum()
    assert result.games_per_match.value == pytest.approx(result.games / 60)
    assert sum(side.standing.won for side in result.sides) == result.games
    assert sum(side.standing.spread for side in result.sides) == 0
    # A match has one winner, or two or three who share it.
    won = (outcome == WON).sum(axis=1)
    assert np.array_equal(won == 1, (outcome == DRAWN).sum(axis=1) == 0)
    assert ((outcome == DRAWN).sum(axis=1)[won == 0] >= 2).all()


def test_partners_sit_opposite_and_share_a_column() -> None:
    result = series("expert random greedy random", MatchRules(games=5), 40, seed=6)
    assert [side.names for side in result.sides] == [("expert", "greedy"), ("random", "random")]
    assert result.sides[0].win_rate.low > 0.5


def test_fixed_games_have_no_interval_of_their_number() -> None:
    assert series("random random", MatchRules(games=3), 4).games_per_match.ci95 == [3, 3]


def test_a_set_of_one_match_is_enough_to_measure() -> None:
    for agents, matches in (("random greedy", 2), ("random greedy expert", 3)):
        for side in series(agents, MatchRules(best_of=2), matches).sides:
            for rate in (side.win_rate, side.draw_rate, side.loss_rate):
                assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_who_deals_first_may_be_a_seat() -> None:
    match_rules = MatchRules(games=1, first_dealer=1)
    result = series("greedy random", match_rules, 4, seed=7)
    for number, played in enumerate(result.results):
        seed, moved = lane_seed(7, number // 2), number % 2
        games = Games(1, SHORT, seed=[seed], first_dealer=1)
        games.play_bots([0, 1] if moved else [1, 0])
        spread = games.scores[0, moved] - games.scores[0, 1 - moved]
        assert played["columns"][0, COLUMNS.index("spread")] == spread


@pytest.mark.parametrize(
    ("agents", "matches", "text"),
    [
        ("random", 2, "1 agents: allowed is one for each of 2 seats"),
        ("random random random", 2, "3 agents: allowed is one for each of 2 seats"),
        ("random random", 3, "matches=3: allowed is a multiple of 2"),
        ("random random", 0, "matches=0"),
        ("random random", -2, "matches=-2"),
    ],
)
def test_what_cannot_be_played_is_refused(agents: str, matches: int, text: str) -> None:
    players = [make(name, SHORT) for name in agents.split()]
    with pytest.raises(ValueError, match=text):
        play_series(players, MatchRules(games=1), matches, rules=SHORT)


# ---- the command line ----


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "series.json"
    flags = "--best-of 3 --rules short --next-dealer loser --matches 20 --seed 3"
    assert main(["expert", "greedy", *flags.split(), "--json", str(path)]) == 0
    result: dict[str, Any] = json.loads(path.read_text())
    assert (result["matches"], result["seed"]) == (20, 3)
    assert result["rules"] == asdict(PRESETS["short"])
    assert result["match_rules"]["best_of"] == 3
    assert result["match_rules"]["next_dealer"] == "loser"
    assert [side["agents"] for side in result["sides"]] == [["expert"], ["greedy"]]
    for side in result["sides"]:
        assert side["modes"] == ["house"]
        assert side["matches_won"] + side["matches_drawn"] + side["matches_lost"] == 20
        assert set(asdict(Standing())) < set(side)
        for name in ("win", "draw", "loss"):
            low, high = side[f"{name}_ci95"]
            assert low <= side[f"{name}_rate"] <= high
    assert result["command"].startswith("python -m eval.series expert greedy --best-of 3")
    shown = capsys.readouterr().out
    for words in ("matches won", "matches drawn", "double skunks taken", "match points", "spread"):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "players", "names"),
    [
        ("random greedy", 2, [["random"], ["greedy"]]),
        ("random greedy random", 3, [["random"], ["greedy"], ["random"]]),
        ("random greedy greedy random", 4, [["random", "greedy"], ["greedy", "random"]]),
        ("random greedy --rules four_player", 4, [["random", "random"], ["greedy", "greedy"]]),
    ],
)
def test_the_number_of_agents_says_what_is_played(
    arguments: str, players: int, names: list[list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "series.json"
    flags = f"{arguments} --race-to 3 --match-points 1,2,3,4 --matches 6 --json {path}"
    assert main(flags.split()) == 0
    result = json.loads(path.read_text())
    assert result["rules"]["players"] == players
    assert [side["agents"] for side in result["sides"]] == names
    assert result["match_rules"]["match_points"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "scheme"),
    [("acc", "acc"), ("1,2,3,4", (1, 2, 3, 4)), ("1,2,3", "1,2,3"), ("a,b,c,d", "a,b,c,d")],
)
def test_match_points_are_a_name_or_four_numbers(text: str, scheme: Any) -> None:
    assert scheme_from(text) == scheme


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("random --games 1", "1 agents 'random'"),
        ("random random random random random --games 1", "5 agents"),
        ("random random random --games 1 --rules short", "with rules 'short': allowed are 2"),
        ("random random random --games 1 --rules four_player", "allowed are 2 or 4"),
        ("random random --games 1 --rules long", "rules 'long': allowed are six_card"),
        ("random random --games 1 --rules short,target=500", "target=500"),
        ("random random", "length of a match: none"),
        ("random random --games 1 --best-of 3", "games=1, best_of=3"),
        ("random random --games 0", "MatchRules.games=0"),
        ("random random --games 1 --match-points 1,2,3", "match_points='1,2,3'"),
        ("random random --games 1 --match-points 4,3,2,1", "match_points=(4, 3, 2, 1)"),
        ("random random --games 1 --matches 3", "matches=3"),
        ("random random --games 1 --seed -1", "seed -1"),
        ("random nobody --games 1", "agent 'nobody'"),
    ],
)
def test_what_is_refused_is_one_line_and_writes_nothing(
    arguments: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "series.json"
    assert main([*arguments.split(), "--json", str(path)]) == 2
    refused = capsys.readouterr().err
    assert refused.startswith("eval.series: ")
    assert refused.count("\n") == 1
    assert text in refused
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_refused_before_any_game(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["random", "random", "--games", "1", "--json", "/nowhere/a.json"]) == 2
    assert "there is no folder" in capsys.readouterr().err
