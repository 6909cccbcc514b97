"""`Games` against the plain rule book: random games in both, compared after every action."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from crib_env.batch import Games
from crib_env.cards import cards_in
from crib_env.game_record import Counting, Phase, Role, Source
from crib_env.rules import PRESETS, Rules
from tests.referee import MUGGINS, Referee, score_hand
from tests.referee_games import choose

GAMES = 10_000
QUICK = 1_500
LANES = 500

PHASES = {
    "discard": Phase.DISCARD,
    "play": Phase.PLAY,
    "over": Phase.OVER,
    "claim": Phase.CLAIM,
    "call": Phase.CALL,
}
COUNTED = {"card": Counting.CARD, "go": Counting.GO, "hand": Counting.HAND, "crib": Counting.CRIB}
SOURCES = ("heels", "pegging", "hand", "crib", "muggins")

SIX_CARD = Rules()

NONE = -1  # where nothing is claimed

Fields = tuple[Any, ...]


def engine_fields(games: Games) -> list[Fields]:
    """Returns what the referee knows as well, of each lane."""
    records, players = games.records, games.rules.players
    turn = np.where(games.over, -1, records["turn"])
    masks = games.action_masks()
    masks[games.over] = 0
    legal = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
    claiming = ~games.over & (records["counting"] > 0)
    columns = [
        records["phase"],
        turn,
        records["winner"],
        records["dealer"],
        games.scores,
        records["hands"][:, :players],
        records["discards"][:, :players],
        records["starter"],
        records["count"],
        records["num_plays"],
        records["plays"],
        records["play_seats"],
        records["pile_size"],
        records["held"][:, :players],
        games.points.reshape(len(games), -1),
        *(
            np.where(claiming, records[name], NONE)
            for name in ("counting", "owner", "true_points", "missed")
        ),
    ]
    return list(zip(*(column.tolist() for column in columns), legal, strict=True))


def bits(cards: set[int]) -> int:
    """Returns a set of cards as 52 bits."""
    return sum(1 << card for card in cards)


def referee_fields(referee: Referee) -> Fields:
    """Returns the same of the plain rule book."""
    number = len(referee.plays)
    over = referee.phase == "over"
    return (
        PHASES[referee.phase],
        -1 if over else referee.turn,
        -1 if referee.winner is None else referee.winner,
        referee.dealer,
        referee.scores,
        [bits(hand) for hand in referee.hands],
        [bits(thrown) for thrown in referee.discards],
        referee.starter,
        referee.count,
        number,
        [card for _, card in referee.plays] + [-1] * (16 - number),
        [seat for seat, _ in referee.plays] + [-1] * (16 - number),
        len(referee.pile),
        [len(hand) for hand in referee.hands],
        [
            referee.points.get(key, 0)  # the order of Games.points
            for key in product(range(referee.players), SOURCES, ("dealer", "pone"))
        ],
        *(
            (COUNTED[referee.what], referee.owner, referee.worth, referee.missed)
            if referee.phase in ("claim", "call")
            else (NONE,) * 4
        ),
        tuple(sorted(referee.legal())),
    )


def dealt(games: Games, lane: int) -> list[list[int]]:
    """Returns the hands of a lane's new deal by seat."""
    hands = games.records["hands"][lane]
    return [list(cards_in(hands[seat])) for seat in range(games.rules.players)]


def deal_from(referee: Referee, games: Games, lane: int) -> None:
    """Deals in the plain rule book what the engine has dealt in a lane."""
    record, hands = games.records[lane], dealt(games, lane)
    left = referee.dealer + 1
    cards: list[list[int] | int] = [hands[(left + step) % len(hands)] for step in range(len(hands))]
    referee.deal(*cards, *cards_in(record["crib"]), int(record["starter"]))


def started(
    number: int, seed: int, rng: random.Random, rules: Rules
) -> tuple[Games, list[Referee]]:
    """Returns that many games in both, half of them started within 21 points of the target."""
    games = Games(number, rules, seed=seed)
    referees = []
    for lane in range(number):
        if lane % 2:
            least = max(0, rules.target - 21)
            near = [rng.randint(least, rules.target - 1) for _ in range(rules.sides)]
            games.records["scores"][lane, : rules.sides] = near
        referee = Referee(
            rules.target,
            int(games.records["dealer"][lane]),
            games.scores[lane].tolist(),
            players=rules.players,
            cards_dealt=rules.cards_dealt,
            muggins=rules.muggins,
            penalty=rules.muggins_penalty,
        )
        deal_from(referee, games, lane)
        referees.append(referee)
    return games, referees


def compare(games: Games, referees: list[Referee], lanes: list[int], laid: list[list[int]]) -> None:
    """Requires that both are alike in each of *lanes*."""
    for lane, fields in zip(lanes, engine_fields(games.copy(lanes)), strict=True):
        expected = referee_fields(referees[lane])
        if fields != expected:
            wrong = [pair for pair in zip(fields, expected, strict=True) if pair[0] != pair[1]]
            told = " ".join(map(str, laid[lane]))
            raise AssertionError(f"engine and referee: {wrong}; {games.text(lane)}; laid {told}")


def play(number: int, seed: int, rules: Rules = SIX_CARD) -> int:
    """Plays that many random games in both; returns how many actions were compared."""
    rng = random.Random(seed)
    games, referees = started(number, seed, rng, rules)
    lanes = list(range(number))
    laid: list[list[int]] = [[] for _ in lanes]
    compare(games, referees, lanes, laid)
    compared = 0
    while lanes:
        actions = [choose(referees[lane], rng) for lane in lanes]
        games.apply(actions, lanes)
        for lane, action in zip(lanes, actions, strict=True):
            laid[lane].append(action)
            referees[lane].act(action)
            if referees[lane].needs_deal and referees[lane].phase != "over":
                laid[lane].clear()
                deal_from(referees[lane], games, lane)
        compare(games, referees, lanes, laid)
        compared += len(lanes)
        lanes = [lane for lane in lanes if referees[lane].phase != "over"]
    return compared


@pytest.mark.parametrize("part", range(QUICK // LANES))
def test_random_games_equal_the_plain_rule_book_after_every_action(part: int) -> None:
    assert play(LANES, seed=200 + part) > 30 * LANES


@pytest.mark.torture
@pytest.mark.parametrize("part", range(QUICK // LANES, GAMES // LANES))
def test_ten_thousand_random_games_equal_the_plain_rule_book(part: int) -> None:
    assert play(LANES, seed=200 + part) > 30 * LANES


MODES = [
    (muggins, penalty)
    for muggins, penalty in product(MUGGINS, (True, False))
    if muggins != "none" or penalty
]


@pytest.mark.parametrize(("muggins", "penalty"), MODES[1:])
@pytest.mark.parametrize("name", PRESETS)
def test_muggins_in_every_variant_equals_the_plain_rule_book_after_every_action(
    name: str, muggins: str, penalty: bool
) -> None:
    rules = replace(PRESETS[name], muggins=muggins, muggins_penalty=penalty)
    assert play(60, seed=450, rules=rules) > 20 * 60


@pytest.mark.torture
@pytest.mark.parametrize(("muggins", "penalty"), MODES[1:])
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", PRESETS)
def test_a_thousand_games_with_muggins_equal_the_plain_rule_book(
    name: str, part: int, muggins: str, penalty: bool
) -> None:
    rules = replace(PRESETS[name], muggins=muggins, muggins_penalty=penalty)
    assert play(500, seed=460 + part, rules=rules) > 20 * 500


@pytest.mark.parametrize("name", PRESETS)
def test_every_variant_equals_the_plain_rule_book_after_every_action(name: str) -> None:
    assert play(300, seed=400, rules=PRESETS[name]) > 20 * 300


@pytest.mark.torture
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("name", PRESETS)
def test_five_thousand_games_of_every_variant_equal_the_plain_rule_book(
    name: str, part: int
) -> None:
    assert play(500, seed=401 + part, rules=PRESETS[name]) > 20 * 500


@pytest.mark.parametrize("target", [1, 2, 5, 31, 61, 100])
def test_games_to_other_targets_equal_the_plain_rule_book(target: int) -> None:
    for rules in PRESETS.values():
        if not (rules.is_five_card and target < 4):
            play(20, seed=target, rules=replace(rules, target=target))


def test_worth_totals_are_of_all_hands_and_cribs_whether_counted_or_not() -> None:
    rng = random.Random(301)
    games = Games(60, seed=301)
    totals = np.zeros((60, 2, 3), np.int64)
    while not games.over.all():
        lanes = np.flatnonzero(~games.over)
        before = games.records["phase"].copy()
        masks = games.action_masks()
        games.apply([rng.choice(np.flatnonzero(masks[lane]).tolist()) for lane in lanes], lanes)
        for lane in lanes:
            record = games.records[lane]
            if before[lane] == Phase.DISCARD and record["phase"] != Phase.DISCARD:
                # Just turned: his heels may have ended the game, hands and crib are worth the same.
                dealer, starter = int(record["dealer"]), int(record["starter"])
                for seat in (0, 1):
                    kept = [card for card in range(52) if record["hands"][seat] >> card & 1]
                    role = Role.DEALER if seat == dealer else Role.PONE
                    totals[lane, seat, role] += sum(score_hand(kept, starter, False).values())
                thrown = record["discards"][0] | record["discards"][1]
                crib = [card for card in range(52) if thrown >> card & 1]
                totals[lane, dealer, 2] += sum(score_hand(crib, starter, True).values())
    assert np.array_equal(games.records["worth_totals"][:, :2], totals)
    # What was really pegged is never more.
    for source, column in ((Source.HAND, slice(0, 2)), (Source.CRIB, slice(2, 3))):
        pegged = games.points[:, :, source].sum(axis=2)
        assert (pegged <= totals[:, :, column].sum(axis=2)).all()
