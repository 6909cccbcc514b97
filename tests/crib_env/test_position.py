"""`Position`: what a table tells is set as told, and what no table can tell is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.batch import Games
from crib_env.cards import card_set, cards_in, parse_card, parse_cards
from crib_env.game import Phase
from crib_env.position import Position
from crib_env.rules import Rules
from tests.tabletop import DEALER, PONE, after_cut, random_actions

PONE_SIX, DEALER_SIX = parse_cards("7C 8C 9C QC 2H 3H"), parse_cards("4D 5C 5H 6S TH KH")
HANDS = (PONE_SIX, DEALER_SIX)
THROWN = (parse_cards("2H 3H"), parse_cards("TH KH"))
JACK = parse_card("JD")
SAMPLE = Position(DEALER, (0, 0), HANDS, THROWN, JACK, parse_cards("QC 5H"))


def test_a_position_is_set_as_told() -> None:
    games = Games(3, seed=1)
    others = games.records[[0, 2]].copy()
    games.set_position(1, replace(SAMPLE, scores=(40, 50)))
    record = games.records[1]
    assert record["phase"] == Phase.PLAY
    assert (record["dealer"], record["turn"]) == (DEALER, PONE)
    assert record["scores"][:2].tolist() == [40, 50 + 2 + 2]  # his heels, fifteen
    assert record["hands"][PONE] == card_set(parse_cards("7C 8C 9C"))
    assert record["hands"][DEALER] == card_set(parse_cards("4D 5C 6S"))
    assert record["crib"] == card_set(parse_cards("2H 3H TH KH"))
    assert (record["starter"], record["count"]) == (JACK, 15)
    assert games.records[[0, 2]].tobytes() == others.tobytes()


def test_the_seed_of_a_lane_outlives_a_position() -> None:
    games = Games(1, seed=2)
    seed = games.records["seed"].copy()
    games.set_position(0, SAMPLE)
    assert np.array_equal(games.records["seed"], seed)


def test_a_position_may_stop_between_two_discards() -> None:
    games = Games(1)
    games.set_position(0, Position(DEALER, (0, 0), HANDS, ([PONE_SIX[0]], []), JACK))
    assert games.turn.tolist() == [PONE]
    assert games.action_masks()[0].sum() == 5


def test_an_unnamed_starter_comes_from_the_pack_by_the_lanes_luck() -> None:
    games = Games(2_000, seed=3)
    position = Position(DEALER, (0, 0), HANDS)
    starters = set()
    for lane in range(400):
        games.set_position(lane, position)
        starters.add(int(games.records["starter"][lane]))
        games.set_position(lane, position)
        assert int(games.records["starter"][lane]) in starters
    assert not starters & {*PONE_SIX, *DEALER_SIX}
    assert len(starters) > 35


def test_a_position_of_any_game_is_set_again_as_it_was() -> None:
    # Every state that random games reach, told as a table would tell it.
    rng = np.random.default_rng(4)
    games, again = Games(20, seed=4), Games(20, seed=4)
    told = [Position(0, (0, 0), ())] * 20
    for _ in range(150):
        actions = [0] * 20
        for lane in np.flatnonzero(~games.over):
            record = games.records[lane]
            if record["phase"] == Phase.DISCARD and record["held"][:2].sum() == 12:
                hands = [list(cards_in(record["hands"][seat])) for seat in (0, 1)]
                dealer, starter = int(record["dealer"]), int(record["starter"])
                scores = record["scores"][:2].tolist()
                told[lane] = Position(dealer, scores, hands, ([], []), starter)
            again.set_position(int(lane), told[lane])
            for player in (0, 1):
                for read in ("observe", "privileged", "action_masks"):
                    rows = [getattr(those, read)(player, [lane]) for those in (games, again)]
                    assert np.array_equal(*rows)
            actions[lane] = int(random_actions(games.action_masks(lanes=[lane]), rng)[0])
            if record["phase"] == Phase.DISCARD:
                thrown = [list(cards) for cards in told[lane].discards]
                thrown[record["turn"]].append(actions[lane])
                told[lane] = replace(told[lane], discards=thrown)
            else:
                told[lane] = replace(told[lane], plays=[*told[lane].plays, actions[lane]])
        running = np.flatnonzero(~games.over)
        games.apply(np.array(actions)[running], running)


# ---- what is refused ----

IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "dealer": ({"dealer": 2}, "dealer 2"),
    "dealer below": ({"dealer": -1}, "dealer -1"),
    "dealer that is no number": ({"dealer": 0.5}, "0.5"),
    "score at the target": ({"scores": (121, 0)}, "score 121"),
    "score below zero": ({"scores": (0, -1)}, "score -1"),
    "score that is no whole number": ({"scores": (1.5, 0)}, "1.5"),
    "one score": ({"scores": (0,)}, "1 scores"),
    "one hand": ({"hands": (PONE_SIX,)}, "1 hands"),
    "five cards": ({"hands": (PONE_SIX[:5], DEALER_SIX)}, "5 cards"),
    "card twice": ({"hands": (PONE_SIX, [*DEALER_SIX[:5], PONE_SIX[0]])}, "7C"),
    "starter held": ({"starter": PONE_SIX[0]}, "7C"),
    "card out of the pack": ({"hands": (PONE_SIX, [*DEALER_SIX[:5], 52])}, "52"),
    "starter out of the pack": ({"starter": -1}, "-1"),
    "throw that was not dealt": ({"discards": (parse_cards("2H 4H"), THROWN[1])}, "4H"),
    "three thrown": ({"discards": (PONE_SIX[:3], THROWN[1])}, "7C 8C 9C"),
    "one card thrown twice": ({"discards": (parse_cards("2H") * 2, THROWN[1])}, "2H 2H"),
    "dealer before pone": ({"discards": ([], THROWN[1]), "plays": ()}, "seat 1"),
    "discards of one seat": ({"discards": (THROWN[0],)}, "1 seats"),
    "plays before the throws": ({"discards": ()}, "before"),
    "play of a card thrown": ({"plays": parse_cards("2H")}, "2H"),
    "play out of turn": ({"plays": parse_cards("5H")}, "5H"),
    "play of a foreign card": ({"plays": parse_cards("AS")}, "AS"),
    "play out of the pack": ({"plays": [60]}, "60"),
    "play past 31": ({"plays": parse_cards("8C 4D 9C 5C 6S")}, "6S"),
    "card played twice": ({"plays": parse_cards("QC 5H") + parse_cards("QC")}, "QC"),
    "whole deal laid": ({"plays": parse_cards("QC 5H 7C 5C 4D 8C 6S 9C")}, "over"),
    "plays after the end": ({"scores": (0, 119), "plays": parse_cards("QC")}, "over"),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_position_is_refused_in_one_line_and_changes_nothing(what: str) -> None:
    changes, named = IMPOSSIBLE[what]
    games = Games(3, seed=5)
    before = games.records.tobytes()
    with pytest.raises(ValueError, match=r"^position: ") as refused:
        games.set_position(1, replace(SAMPLE, **changes))
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)
    assert games.records.tobytes() == before


def test_the_lane_of_a_refused_position_is_not_called_another() -> None:
    games = Games(3, seed=5)
    with pytest.raises(ValueError, match="position") as refused:
        games.set_position(1, replace(SAMPLE, plays=parse_cards("AS")))
    assert "lane 0" not in str(refused.value)


@pytest.mark.parametrize("lane", [3, -1])
def test_a_position_needs_a_lane_that_is_there(lane: int) -> None:
    games = Games(3, seed=5)
    with pytest.raises((ValueError, IndexError)):
        games.set_position(lane, SAMPLE)


def refusal(games: Games, position: Position) -> str:
    """Sets lane 1 to a position; returns the line that says why not, or nothing."""
    try:
        games.set_position(1, position)
    except ValueError as refused:
        message = str(refused)
    else:
        return ""
    assert message.startswith("position: ")
    assert "\n" not in message
    return message


cards = st.integers(-1, 53)


@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(
    dealer=st.integers(-1, 2),
    scores=st.lists(st.integers(-2, 125), max_size=3),
    hands=st.lists(st.lists(cards, min_size=5, max_size=7), max_size=3),
    discards=st.lists(st.lists(cards, max_size=3), max_size=3),
    starter=st.one_of(st.none(), cards),
    plays=st.lists(cards, max_size=3),
)
def test_any_position_is_set_whole_or_refused_whole(
    dealer: int,
    scores: list[int],
    hands: list[list[int]],
    discards: list[list[int]],
    starter: int | None,
    plays: list[int],
) -> None:
    games = Games(2, seed=6)
    before = games.records.tobytes()
    position = Position(dealer, scores, hands, discards, starter, plays)
    if refusal(games, position):
        assert games.records.tobytes() == before


@settings(deadline=None, derandomize=True, database=None, max_examples=200)
@given(st.randoms(use_true_random=False), st.integers(0, 8), st.sampled_from([31, 61, 121]))
def test_a_deal_that_is_nearly_right_is_set_whole_or_refused_whole(
    rng: random.Random, num_plays: int, target: int
) -> None:
    pack = rng.sample(range(52), 13)
    hands = [pack[:6], pack[6:12]]
    dealer = rng.randrange(2)
    discards = [rng.sample(hand, rng.choice([2, 2, 2, 1, 0])) for hand in hands]
    kept = [
        card
        for hand, thrown in zip(hands, discards, strict=True)
        for card in hand
        if card not in thrown
    ]
    plays = rng.sample(kept, min(num_plays, len(kept)))
    position = Position(
        dealer, [rng.randrange(target) for _ in (0, 1)], hands, discards, pack[12], plays
    )
    games = Games(2, Rules(target=target), seed=7)
    before = games.records.tobytes()
    if refusal(games, position):
        assert games.records.tobytes() == before
        return
    record = games.records[1]
    assert [int(card) for card in record["plays"][: record["num_plays"]]] == plays
    for seat in (0, 1):
        held = set(hands[seat]) - set(discards[seat]) - set(plays)
        assert record["hands"][seat] == card_set(held)


def test_a_table_fills_in_cards_that_score_nothing_unasked() -> None:
    # The tests' own table: a filled-in starter must not peg his heels.
    assert after_cut().scores == (0, 0)
