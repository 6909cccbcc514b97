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
from crib_env.cards import card_set, card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase
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
                thrown = [list(told[lane].thrown(seat)) for seat in (0, 1)]
                thrown[record["turn"]].append(actions[lane])
                told[lane] = replace(told[lane], discards=thrown)
            else:
                told[lane] = replace(told[lane], plays=[*told[lane].plays, actions[lane]])
        running = np.flatnonzero(~games.over)
        games.apply(np.array(actions)[running], running)


def random_states(n: int, seed: int) -> Games:
    """Returns games that have come by random play to states of all kinds, none over."""
    rng = np.random.default_rng(seed)
    games = Games(n, seed=seed)
    steps = rng.integers(0, 90, n)
    for step in range(90):
        lanes = np.flatnonzero(steps > step)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        games.next_game()
    return games


def facts(games: Games) -> list[Any]:
    """Returns all that concerns the present deal, both seats and the cards nobody sees."""
    seen = [games.observe(0), games.observe(1), games.privileged(0), games.privileged(1)]
    return [*seen, games.action_masks(), games.turn, games.over, games.scores]


def set_again(n: int, seed: int) -> None:
    """Reads back *n* states, sets them in other games, and plays both on to the deal's end."""
    games = random_states(n, seed)
    again = Games(n, seed=seed + 1)
    for lane in range(n):
        position = games.position(lane)
        again.set_position(lane, position)
        assert again.position(lane) == position
    rng = np.random.default_rng(seed)
    deals = games.records["deal_number"].copy()
    lanes = np.arange(n)
    while len(lanes):
        for one, other in zip(facts(games.copy(lanes)), facts(again.copy(lanes)), strict=True):
            assert np.array_equal(one, other)
        actions = random_actions(games.action_masks(lanes=lanes), rng)
        for played in (games, again):
            played.apply(actions, lanes)
        assert np.array_equal(games.scores[lanes], again.scores[lanes])
        assert np.array_equal(games.over[lanes], again.over[lanes])
        going = ~games.over[lanes] & (games.records["deal_number"][lanes] == deals[lanes])
        lanes = lanes[going]


def test_a_position_read_back_and_played_on_is_the_one_reached_by_play() -> None:
    set_again(1_000, 8)


@pytest.mark.torture
def test_ten_thousand_positions_read_back_and_played_on_are_those_reached_by_play() -> None:
    set_again(10_000, 9)


def test_the_position_of_a_game_that_is_over_is_not_told() -> None:
    games = Games(1)
    games.play_bots([1, 1])
    with pytest.raises(ValueError, match="position of lane 0: the game is over"):
        games.position(0)


def test_cards_may_be_told_as_text() -> None:
    text = Position(
        DEALER,
        (0, 0),
        ("7C 8C 9C QC 2H 3H", "4D 5C 5H 6S TH KH"),
        ("2H 3H", "TH KH"),
        "JD",
        "QC 5H",
    )
    assert text == replace(
        SAMPLE, hands=tuple(map(tuple, HANDS)), discards=tuple(map(tuple, THROWN))
    )
    with pytest.raises(ValueError, match=r"^position: card '1H'"):
        Position(hands=("1H", "2H"))


def test_what_is_not_told_is_the_lanes_own() -> None:
    games, own = Games(2, seed=9), Games(2, seed=9)
    games.set_position(0, Position())
    assert games.records.tobytes() == own.records.tobytes()
    dealer = 1 - int(own.records["dealer"][1])
    games.set_position(1, Position(dealer=dealer, scores=(7, 8)))
    assert games.scores[1].tolist() == [7, 8]
    # The cards belong to roles.
    assert games.records["hands"][1, :2].tolist() == own.records["hands"][1, 1::-1].tolist()
    assert games.records["starter"][1] == own.records["starter"][1]


def test_a_hand_that_is_not_told_is_drawn_from_the_rest_of_the_pack() -> None:
    games = Games(3_000, seed=10)
    counts = np.zeros(52, int)
    for lane in range(3_000):
        games.set_position(lane, Position(1, (0, 0), (PONE_SIX, None), starter=JACK))
        for card in cards_in(games.records["hands"][lane, 1]):
            counts[card] += 1
    assert not counts[[*PONE_SIX, JACK]].any()
    drawn = np.delete(counts, [*PONE_SIX, JACK])
    wanted = 3_000 * 6 / 45
    assert abs(drawn - wanted).max() < 5 * np.sqrt(wanted)
    assert games.records["hands"][:, 0].tolist() == [card_set(PONE_SIX)] * 3_000


# ---- what is refused ----

IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "dealer": ({"dealer": 2}, "dealer 2"),
    "dealer below": ({"dealer": -1}, "dealer -1"),
    "dealer that is no number": ({"dealer": 0.5}, "0.5"),
    "score at the target": ({"scores": (121, 0)}, "score 121"),
    "score below zero": ({"scores": (0, -1)}, "score -1"),
    "score that is no whole number": ({"scores": (1.5, 0)}, "1.5"),
    "score that is a duration": ({"scores": (np.timedelta64(1), 0)}, "np.timedelta64(1)"),
    "scores that are endless": ({"scores": {*range(9_999)}}, "scores {0, 1"),
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
    "throws of a hand not told": ({"hands": (None, DEALER_SIX)}, "seat 0"),
    "plays of a hand not told": (
        {"hands": (PONE_SIX, None), "discards": (THROWN[0], ())},
        "seat 1",
    ),
    "throws with no hands": ({"hands": None, "plays": (), "starter": None}, "seat 0"),
    "a starter with no hands": ({"hands": None, "plays": (), "discards": ()}, "starter"),
    "throws with no dealer": ({"dealer": None}, "dealer"),
    "hands of one seat as text": ({"hands": "7C 8C 9C QC 2H 3H"}, "hands '7C"),
    "hands that are no row": ({"hands": 5}, "hands 5"),
    "hands by name": ({"hands": {0: PONE_SIX, 1: DEALER_SIX}}, "hands {"),
    "scores without an order": ({"scores": {3, 9}}, "scores {"),
    "scores that are no row": ({"scores": 7}, "scores 7"),
    "discards that are no row": ({"discards": None}, "discards None"),
    "a hand that is no row": ({"hands": (7, DEALER_SIX)}, "cards 7"),
    "plays that are no row": ({"plays": None}, "cards None"),
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
    assert len(str(refused.value)) < 400
    assert games.records.tobytes() == before


def test_the_lane_of_a_refused_position_is_not_called_another() -> None:
    games = Games(3, seed=5)
    with pytest.raises(ValueError, match="position") as refused:
        games.set_position(1, replace(SAMPLE, plays=parse_cards("AS")))
    assert "lane 0" not in str(refused.value)


@pytest.mark.parametrize("lane", [3, -1])
def test_a_position_needs_a_lane_that_is_there(lane: int) -> None:
    games = Games(3, seed=5)
    for refused in (
        lambda: games.set_position(lane, SAMPLE),
        lambda: games.position(lane),
        lambda: games.text(lane),
    ):
        with pytest.raises(ValueError, match="allowed is 0 to 2"):
            refused()


def test_a_position_is_a_position() -> None:
    with pytest.raises(ValueError, match=r"allowed is a crib_env\.Position"):
        Games(1).set_position(0, {"dealer": 0})  # type: ignore[arg-type]  # that is the point


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


def spoilt(position: Position, rng: random.Random) -> tuple[Position, str]:
    """Returns a position with one thing made impossible, and what the refusal must name."""
    hands = [list(hand) for hand in position.hands_known if hand is not None]
    thrown = [list(position.thrown(seat)) for seat in (0, 1)]
    plays: list[int] = list(position.plays)  # type: ignore[arg-type]  # as cards
    seat = rng.randrange(2)
    dealt = hands[0] + hands[1]
    assert position.starter is not None
    free = [card for card in range(52) if card not in [*dealt, position.starter]]
    stranger = rng.choice(free)
    kinds = ["dealer", "score", "short", "twice", "starter", "no card", "stranger", "dealt"]
    kind = rng.choice(kinds)
    if kind == "dealer":
        wrong = rng.choice([-1, 2, 7])
        return replace(position, dealer=wrong), f"dealer {wrong}"
    if kind == "score":
        scores = list(position.scores or ())
        scores[seat] = rng.choice([-1, 121, 500])
        return replace(position, scores=scores), f"score {scores[seat]}"
    if kind == "short":
        card = rng.choice([card for card in hands[seat] if card not in thrown[seat]])
        hands[seat].remove(card)
        return replace(position, hands=hands), "5 cards"
    if kind == "twice":
        card = rng.choice(hands[1 - seat])
        hands[seat][hands[seat].index(rng.choice(hands[seat]))] = card
        return replace(position, hands=hands), card_text(card)
    if kind == "starter":
        card = rng.choice(dealt)
        return replace(position, starter=card), card_text(card)
    if kind == "no card":
        hands[seat][rng.randrange(6)] = 52
        return replace(position, hands=hands), "52"
    if kind == "stranger":
        # Thrown or laid, a card that nobody was dealt.
        if plays or len(thrown[0]) == len(thrown[1]) == 2:
            return replace(position, plays=[*plays, stranger]), card_text(stranger)
        thrown[1 - int(position.dealer or 0)] = [stranger]
        return replace(position, discards=thrown), card_text(stranger)
    if plays:
        return replace(position, plays=[*plays, plays[0]]), card_text(plays[0])
    return replace(position, plays=[hands[seat][0]], discards=((), ())), "before"


def refuse_spoilt(n: int, seed: int) -> None:
    """Spoils *n* positions reached by play, and asserts that each is refused by name."""
    rng = random.Random(seed)
    states = random_states(n, seed)
    games = Games(2, seed=seed)
    before = games.records.tobytes()
    for lane in range(n):
        position, named = spoilt(states.position(lane), rng)
        assert named in refusal(games, position)
        assert games.records.tobytes() == before


def test_what_is_spoilt_in_a_position_is_refused_by_name() -> None:
    refuse_spoilt(1_000, 11)


@pytest.mark.torture
def test_ten_thousand_spoilt_positions_are_refused_by_name() -> None:
    refuse_spoilt(10_000, 12)


def test_a_table_fills_in_cards_that_score_nothing_unasked() -> None:
    # The tests' own table: a filled-in starter must not peg his heels.
    assert after_cut().scores == (0, 0)
