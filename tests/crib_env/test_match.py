"""Matches of several games: the cut, who deals next, when a match is over, and the columns."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import FrozenInstanceError, asdict
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crib_env
from crib_env import Games, Match, MatchRules, Rules, Standing, card_text, cuts_for_deal, lane_seed
from crib_env.game_record import Phase
from crib_env.luck import STREAM_CUT, philox
from crib_env.match import NEXT_DEALERS, NextDealer
from crib_env.rules import MATCH_POINTS, PRESETS
from tests import referee
from tests.crib_env.test_rules import LEVELS, LOSERS

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "flow.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
RULES_OF = {2: Rules(), 3: PRESETS["three_player"], 4: PRESETS["four_player"]}


def of_kind(kind: str) -> list[Any]:
    """Returns the cases of a kind, as parameters with their ids."""
    return [pytest.param(case, id=case["id"]) for case in CASES if case["input"]["kind"] == kind]


def after(match: Match, games: Iterable[Sequence[int]]) -> Match:
    """Tells a match how games have ended."""
    for scores in games:
        match.record(scores)
    return match


def of_two(*games: Sequence[int], rules: Rules | None = None, **match_rules: Any) -> Match:
    """Returns a match of two players after these games; seat 0 dealt the first."""
    return after(Match(MatchRules(first_dealer=0, **match_rules), rules), games)


# ---- the cut for deal ----


def decoded(seed: int, game_number: int, attempt: int, players: int) -> list[int]:
    """Returns what the seats cut: six bits name a card or none, five tries for each seat."""
    words = philox(attempt, 0, game_number, STREAM_CUT, seed & 0xFFFFFFFF, seed >> 32)
    cut: list[int] = []
    for word in words[:players]:
        named = [int(word) >> 6 * place & 63 for place in range(5)]
        cut += [card for card in named if card < 52 and card not in cut][:1]
    return cut


@pytest.mark.parametrize("players", [2, 3, 4])
def test_r2_the_lowest_of_the_last_round_deals_and_every_round_before_was_tied(
    players: int,
) -> None:
    ties = 0
    for seed in range(150):
        rounds = cuts_for_deal(seed, 2, players)
        drawn = (decoded(seed, 2, attempt, players) for attempt in count())
        full = (cards for cards in drawn if len(cards) == players)
        for cards, last in zip(rounds, [False] * (len(rounds) - 1) + [True], strict=True):
            assert list(cards) == next(full)
            assert len(set(cards)) == players
            assert (referee.cut_for_deal(cards) is not None) == last
        ties += len(rounds) > 1
    assert ties > 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_r2_games_cut_the_same_cards(players: int) -> None:
    games = Games(40, RULES_OF[players], seed=9, first_dealer="cut")
    for number in range(3):
        for lane, dealer in enumerate(games.records["dealer"].tolist()):
            cards = cuts_for_deal(lane_seed(9, lane), number, players)[-1]
            assert dealer == referee.cut_for_deal(cards)
        games.next_game(np.arange(40))


@pytest.mark.parametrize("case", of_kind("cut_for_deal"))
def test_r2_cases_of_the_cut(case: dict[str, Any]) -> None:
    ranks = [card[0] for card in case["input"]["cuts"].values()]
    for seed in range(50_000):
        first = decoded(seed, 0, 0, len(ranks))
        if [card_text(card)[0] for card in first] == ranks:
            break
    rounds = cuts_for_deal(seed, 0, len(ranks))
    assert [card_text(card)[0] for card in rounds[0]] == ranks
    if case["expected"]["first_dealer"] == "recut":
        assert len(rounds) > 1
    else:
        assert len(rounds) == 1
        games = Games(1, RULES_OF[len(ranks)], seed=[seed])
        assert games.records["dealer"][0] == case["expected"]["first_dealer"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((-1,), "seed -1"),
        ((1 << 64,), "seed 18446744073709551616"),
        ((0, -1), "game_number=-1: allowed is a whole number, 0 to"),
        ((0, 0, 5), "players=5: allowed is a whole number, 2 to 4"),
        ((0, 0, 1), "players=1"),
        ((0, True), "game_number=True"),
    ],
)
def test_a_cut_that_cannot_be_is_refused(arguments: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as refused:
        cuts_for_deal(*arguments)
    assert "\n" not in str(refused.value)


# ---- who deals next ----


@pytest.mark.parametrize("next_dealer", NEXT_DEALERS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_r3_a_match_names_the_dealers_of_the_lane_that_plays_it(
    players: int, next_dealer: NextDealer
) -> None:
    rules = Rules(players=players, cards_dealt=RULES_OF[players].cards_dealt, target=15)
    lanes = 5
    games = Games(lanes, rules, seed=4, first_dealer=next_dealer)
    match_rules = MatchRules(games=8, next_dealer=next_dealer)
    matches = [Match(match_rules, rules, lane_seed(4, lane)) for lane in range(lanes)]
    dealers = set()
    for number in range(8):
        for lane, match in enumerate(matches):
            assert match.dealer == games.records["dealer"][lane]
            cut_for = number == 0 or next_dealer == "cut"
            seed = lane_seed(4, lane)
            assert match.cuts == (cuts_for_deal(seed, number, players) if cut_for else ())
            dealers.add(match.dealer)
        games.play_bots([0] * players)
        for lane, match in enumerate(matches):
            match.record(games.scores[lane].tolist())
            assert match.results[-1].winner == games.winner[lane]
        games.next_game()
    assert dealers == set(range(players))
    assert all(match.dealer is None and match.over for match in matches)


@pytest.mark.parametrize(("scores", "players", "dealers"), LOSERS)
def test_r3_the_loser_deals_the_next_game_of_a_lane_and_of_a_match(
    scores: tuple[int, ...], players: int, dealers: tuple[int, ...]
) -> None:
    for first, dealer in enumerate(dealers):
        match_rules = MatchRules(games=2, next_dealer="loser", first_dealer=first)
        match = after(Match(match_rules, RULES_OF[players]), [scores])
        assert match.dealer == dealer
        lanes = (Games(1, match.rules, seed=seed, first_dealer="loser") for seed in count())
        games = next(games for games in lanes if games.records["dealer"][0] == first)
        games.records["scores"][0, : len(scores)] = scores
        games.records["winner"] = scores.index(121)
        games.records["phase"] = Phase.OVER
        games.next_game()
        assert games.records["dealer"][0] == dealer


def test_r3_the_first_dealer_may_be_a_seat() -> None:
    for seat in range(3):
        match = Match(MatchRules(games=4, first_dealer=seat), "three_player")
        dealers = []
        while not match.over:
            dealers.append(match.dealer)
            match.record((121, 100, 100))
        assert dealers == [(seat + number) % 3 for number in range(4)]


def test_r3_a_cut_that_is_made_at_a_table_is_told() -> None:
    match = Match(MatchRules(games=4, next_dealer="cut"))
    for seat in (1, 1, 0, 1):
        assert (match.dealer, match.cuts) == (None, ())
        with pytest.raises(ValueError, match="first_dealer: it was cut for"):
            match.record((121, 100))
        match.record((121, 100), first_dealer=seat)
    assert [result.first_dealer for result in match.results] == [1, 1, 0, 1]
    match = Match(MatchRules(games=2))
    match.record((121, 100), 1)
    assert match.dealer == 0


def test_r3_a_match_refuses_a_game_that_another_dealt() -> None:
    match = of_two(games=3)
    with pytest.raises(ValueError, match="first_dealer=1: it was the turn of seat 0"):
        match.record((121, 100), first_dealer=1)
    assert match.results == ()
    match.record((121, 100), first_dealer=0)
    assert match.dealer == 1


# ---- skunks and match points ----


@pytest.mark.parametrize(
    "case", [case for case in of_kind("skunk") if "loser_score" in case.values[0]["input"]]
)
def test_r28_skunk_cases(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    rules = Rules(target=given["target"])
    scores = (given["loser_score"], given["winner_score"])
    loser, winner = of_two(scores, games=1, rules=rules).standings
    level = LEVELS.index(expected["result"])
    taken = (loser.skunks_taken, loser.double_skunks_taken, loser.triple_skunks_taken)
    sent = (winner.skunks_given, winner.double_skunks_given, winner.triple_skunks_given)
    assert taken == sent == tuple(int(level == one) for one in (1, 2, 3))
    assert (loser.won, loser.lost, winner.won, winner.lost) == (0, 1, 1, 0)


def test_r28_a_skunk_stands_in_the_column_of_its_level_alone() -> None:
    match = of_two(
        (121, 91), (121, 90), (121, 61), (121, 60), (121, 30), (20, 121),
        games=6, match_points="free_triple", rules=Rules(triple_skunk=True),
    )  # fmt: skip
    first, second = match.standings
    assert (first.skunks_given, first.double_skunks_given, first.triple_skunks_given) == (2, 1, 1)
    assert (second.skunks_taken, second.double_skunks_taken, second.triple_skunks_taken) == (
        2,
        1,
        1,
    )
    assert (second.triple_skunks_given, first.triple_skunks_taken) == (1, 1)
    assert (first.match_points, second.match_points) == (1 + 2 + 2 + 3 + 4, 4)


@pytest.mark.parametrize("case", of_kind("match_points"))
def test_r29_match_point_cases(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "loser_scores" in given:
        for score, points in zip(given["loser_scores"], expected["winner_points"], strict=True):
            match = of_two((score, 121), games=1, match_points=given["scheme"])
            assert [one.match_points for one in match.standings] == [0, points]
    else:
        match = of_two(*given["games"], games=len(given["games"]), match_points=given["scheme"])
        assert [one.match_points for one in match.standings] == expected["game_points"]
        assert [one.won for one in match.standings] == expected["games_won"]
        assert [one.spread for one in match.standings] == expected["spread"]
        assert match.winner == 0


@pytest.mark.parametrize("scheme", [*MATCH_POINTS, (5, 6, 7, 8), [0, 0, 9, 9]])
def test_r29_every_scheme_and_the_users_own(scheme: Any) -> None:
    rules = Rules(triple_skunk=True)
    points = tuple(MATCH_POINTS[scheme] if isinstance(scheme, str) else scheme)
    for loser, one in zip((95, 80, 40, 20), points, strict=True):
        match = of_two((121, loser), games=1, match_points=scheme, rules=rules)
        assert match.standings[0].match_points == one


def test_r40_each_loser_pays_by_its_own_skunk() -> None:
    match = after(
        Match(MatchRules(games=3, first_dealer=0), "three_player"),
        [(121, 90, 91), (60, 121, 90), (110, 115, 121)],
    )
    first, second, third = match.standings
    assert [one.match_points for one in match.standings] == [3 + 2, 3 + 3, 2 + 2]
    assert (first.skunks_given, second.skunks_given, second.double_skunks_given) == (1, 1, 1)
    assert (first.double_skunks_taken, second.skunks_taken, third.skunks_taken) == (1, 1, 1)
    assert [(one.won, one.lost) for one in match.standings] == [(1, 2)] * 3
    assert first.spread == (31 + 30) + (-61 - 30) + (-5 - 11)
    assert sum(one.spread for one in match.standings) == 0


# ---- when a match is over, and who has won it ----


def winners(match_rules: MatchRules, text: str) -> tuple[int, int | None, tuple[int, ...]]:
    """Plays games won by these sides until the match is over; returns their number and the result.

    Args:
        match_rules: The rules; seat 0 deals first.
        text: The winner of each game in order.
    """
    rules = RULES_OF[3 if "2" in text else 2]
    match = Match(match_rules, rules)
    for side in map(int, text):
        assert match.winner is None
        match.record([121 if one == side else 100 for one in range(rules.sides)])
        if match.over:
            break
    assert match.over
    return len(match.results), match.winner, match.leaders


@pytest.mark.parametrize(
    ("best_of", "games", "result"),
    [
        (1, "1", (1, 1, (1,))),
        (3, "001", (2, 0, (0,))),
        (3, "0110", (3, 1, (1,))),
        (5, "00100", (4, 0, (0,))),
        (4, "0001", (3, 0, (0,))),
        (4, "0101", (4, None, (0, 1))),
        (4, "0011", (4, None, (0, 1))),
        (2, "01", (2, None, (0, 1))),
        (2, "11", (2, 1, (1,))),
        # Of three sides: two ahead of both, with one game to come.
        (5, "02001", (4, 0, (0,))),
        (3, "012", (3, None, (0, 1, 2))),
        (5, "00112", (5, None, (0, 1))),
        (5, "01022", (5, None, (0, 2))),
    ],
)
def test_best_of_is_over_once_nobody_can_catch_up(best_of: int, games: str, result: Any) -> None:
    assert winners(MatchRules(best_of=best_of, first_dealer=0), games) == result


def test_best_of_counts_games_and_no_match_points() -> None:
    match = of_two((121, 10), (100, 121), (100, 121), best_of=3)
    assert match.winner == 1
    assert match.standings[0].spread > 0


@pytest.mark.parametrize(
    ("race_to", "games", "result"),
    [
        (4, "0101", (3, 0, (0,))),
        (3, "0111", (3, 1, (1,))),
        (1, "1", (1, 1, (1,))),
        # Of three sides two pay.
        (9, "20212", (5, 2, (2,))),
    ],
)
def test_a_race_is_over_with_the_first_who_has_the_points(
    race_to: int, games: str, result: Any
) -> None:
    assert winners(MatchRules(race_to=race_to, first_dealer=0), games) == result


def test_skunks_shorten_a_race() -> None:
    match = of_two((121, 80), (119, 121), (121, 80), race_to=6)
    assert (match.over, match.winner) == (True, 0)
    assert not of_two((121, 80), (119, 121), (121, 100), race_to=6).over


@pytest.mark.parametrize(
    ("games", "leaders"),
    [
        ([(121, 100), (121, 100), (100, 121)], (0,)),
        # More match points with fewer games, more games with the same points, then the spread.
        ([(121, 10), (100, 121), (121, 10), (100, 121), (100, 121)], (1,)),
        ([(121, 10), (121, 10), (101, 121)], (0,)),
        ([(121, 90), (101, 121)], (0,)),
        ([(121, 101), (102, 121)], (0,)),
        ([(121, 102), (101, 121)], (1,)),
        ([(121, 101), (101, 121)], (0, 1)),
    ],
)
def test_so_many_games_go_by_match_points_then_games_then_spread(
    games: list[tuple[int, int]], leaders: tuple[int, ...]
) -> None:
    match = of_two(*games, games=len(games), match_points=(2, 3, 3, 3))
    assert match.leaders == leaders
    assert match.winner == (leaders[0] if len(leaders) == 1 else None)


def test_with_equal_match_points_more_games_won_win() -> None:
    # Two wins of 2 against a skunk of 4, whose spread is greater.
    match = of_two((100, 121), (100, 121), (121, 10), games=3, match_points=(2, 4, 4, 4))
    assert [one.match_points for one in match.standings] == [4, 4]
    assert match.standings[0].spread > 0
    assert match.winner == 1


def test_so_many_games_are_all_played() -> None:
    match = of_two(*[(121, 10)] * 6, games=7)
    assert not match.over
    assert match.leaders == (0,)
    assert match.winner is None


def test_before_a_game_nobody_is_ahead() -> None:
    assert Match(MatchRules(games=2), "three_player").leaders == (0, 1, 2)


@pytest.mark.parametrize(
    ("match_rules", "sides", "most"),
    [
        (MatchRules(games=7), 2, 7),
        (MatchRules(best_of=5), 2, 5),
        (MatchRules(race_to=21), 2, 21),
        (MatchRules(race_to=20), 2, 19),
        (MatchRules(race_to=3, match_points="home"), 2, 5),
        (MatchRules(race_to=21), 3, 16),
        (MatchRules(race_to=1), 3, 1),
    ],
)
def test_max_games_is_the_longest_that_a_match_can_be(
    match_rules: MatchRules, sides: int, most: int
) -> None:
    assert match_rules.max_games(sides) == most
    match = Match(match_rules, RULES_OF[sides], seed=1)
    while not match.over:
        side = len(match.results) % sides
        match.record([121 if one == side else 120 for one in range(sides)])
    assert len(match.results) <= most
    if match_rules.best_of is None:
        assert len(match.results) == most


# ---- the columns ----


@pytest.mark.parametrize("players", [2, 3, 4])
def test_columns_are_what_the_games_say(players: int) -> None:
    rng = random.Random(players)
    rules = Rules(players=players, cards_dealt=RULES_OF[players].cards_dealt, triple_skunk=True)
    sides = rules.sides
    match = Match(MatchRules(games=60, match_points=(1, 2, 4, 7)), rules, seed=3)
    expected = [dict.fromkeys(asdict(Standing()), 0) for _ in range(sides)]
    prefixes = ["", "skunks", "double_skunks", "triple_skunks"]
    for _ in range(60):
        winner = rng.randrange(sides)
        scores = [121 if side == winner else rng.randrange(121) for side in range(sides)]
        match.record(scores)
        for side, own in enumerate(expected):
            own["won" if side == winner else "lost"] += 1
            own["spread"] += sum(scores[side] - other for other in scores)
            if side == winner:
                continue
            level = referee.skunk_level(scores[side], 121, triple=True)
            expected[winner]["match_points"] += (1, 2, 4, 7)[level]
            if level:
                own[f"{prefixes[level]}_taken"] += 1
                expected[winner][f"{prefixes[level]}_given"] += 1
    assert [asdict(standing) for standing in match.standings] == expected


def test_standings_add_up() -> None:
    one, other = Standing(1, 2, match_points=3, spread=-4), Standing(5, 6, 7, spread=8)
    assert one + other == Standing(6, 8, 7, match_points=3, spread=4)


def test_the_text_has_a_line_a_column_and_a_name_a_side() -> None:
    match = of_two((121, 89), (95, 121), games=2)
    lines = match.text(["North", "South"]).splitlines()
    assert lines[0].split() == ["North", "South"]
    assert [line[: line.index("  ")] for line in lines[1:]] == [
        name.replace("_", " ") for name in asdict(Standing())
    ]
    assert lines[-1].split() == ["spread", "6", "-6"]
    assert len({len(line) for line in lines}) == 1
    assert match.text().splitlines()[0].split("  ")[-1] == "side 1"
    with pytest.raises(ValueError, match=r"names .*: allowed is one for each of 2 sides"):
        match.text(["North"])


# ---- what is refused ----


def test_rules_of_a_match_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        MatchRules(games=3).games = 5  # type: ignore[misc]  # that is the test


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "length of a match: none: allowed is one of games, best_of, race_to"),
        ({"games": 3, "best_of": 5}, "length of a match: games=3, best_of=5"),
        ({"games": 0}, "MatchRules.games=0: allowed is a whole number, 1 or more"),
        ({"best_of": -1}, "MatchRules.best_of=-1"),
        ({"race_to": 2.5}, "MatchRules.race_to=2.5"),
        ({"games": True}, "MatchRules.games=True"),
        ({"games": "3"}, "MatchRules.games='3'"),
        ({"games": 3, "match_points": "hom"}, "MatchRules.match_points='hom': .*'home'"),
        ({"games": 3, "match_points": (1, 2, 3)}, "MatchRules.match_points="),
        ({"games": 3, "match_points": (3, 2, 3, 3)}, "four whole numbers that do not fall"),
        ({"games": 3, "match_points": (-1, 2, 3, 3)}, "MatchRules.match_points="),
        ({"games": 3, "match_points": (1, 2, 3, 3.5)}, "MatchRules.match_points="),
        ({"games": 3, "match_points": (False, 2, 3, 3)}, "MatchRules.match_points="),
        ({"games": 3, "match_points": None}, "MatchRules.match_points=None"),
        ({"race_to": 3, "match_points": (0, 1, 2, 3)}, "race_to=3: allowed are schemes"),
        ({"games": 3, "next_dealer": "winner"}, "MatchRules.next_dealer='winner'.*'loser'"),
        ({"games": 3, "next_dealer": np.zeros(2)}, "MatchRules.next_dealer="),
        ({"games": 3, "first_dealer": 4}, "MatchRules.first_dealer=4: .*0 to 3"),
        ({"games": 3, "first_dealer": "alternate"}, "MatchRules.first_dealer='alternate'"),
        ({"games": 3, "first_dealer": True}, "MatchRules.first_dealer=True"),
        ({"games": 3, "first_dealer": np.timedelta64(1)}, "MatchRules.first_dealer=np.timedelta64"),
        ({"games": np.timedelta64(3)}, "MatchRules.games=np.timedelta64"),
        (
            {"games": 3, "next_dealer": "loser" * 99},
            r"MatchRules.next_dealer='loser.*\.\.\.: allow",
        ),
        ({"games": 3, "first_dealer": np.zeros((3, 3))}, "MatchRules.first_dealer=array"),
    ],
)
def test_rules_that_cannot_be_are_refused_in_one_line(fields: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as refused:
        MatchRules(**fields)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_the_first_dealer_is_a_seat_of_the_game() -> None:
    with pytest.raises(ValueError, match=r"MatchRules.first_dealer=3: .*0 to 1"):
        Match(MatchRules(games=3, first_dealer=3))
    Match(MatchRules(games=3, first_dealer=3), "four_player")


@pytest.mark.parametrize(
    "scores",
    [(121,), (121, 100, 100), (121, 121), (120, 100), (121, -1), (121, 122), (121, 99.5), "ab"],
)
def test_scores_that_no_game_ends_with_are_refused(scores: Any) -> None:
    match = of_two(games=3)
    with pytest.raises(ValueError, match=r"scores=.*: allowed are 2 whole numbers, one 121") as no:
        match.record(scores)
    assert "\n" not in str(no.value)
    assert (match.results, match.dealer) == ((), 0)
    assert match.standings == (Standing(), Standing())


def test_a_match_that_is_over_takes_no_game() -> None:
    match = of_two((121, 100), games=1)
    with pytest.raises(ValueError, match="match: it is over"):
        match.record((121, 100))
    assert len(match.results) == 1


def test_a_seed_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="seed -1"):
        Match(MatchRules(games=1), seed=-1)


def test_the_names_are_public() -> None:
    for name in ("Match", "MatchRules", "Standing", "cuts_for_deal"):
        assert name in crib_env.__all__


def test_neighbouring_games_are_cut_for_apart() -> None:
    cuts = [cuts_for_deal(7, number)[0] for number in range(50)]
    assert sum(one == other for one, other in pairwise(cuts)) < 5
