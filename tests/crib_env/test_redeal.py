"""`Games.redeal_hidden`: what search deals anew is possible, fair, and knows nothing to come."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from crib_env.batch import Games
from crib_env.cards import CARDS_UP_TO, NO_CARD, card_set, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase
from crib_env.kernel import as_records
from crib_env.loops import lay_cards_one
from crib_env.position import Position
from crib_env.redeal import UNKNOWN
from crib_env.rules import PRESETS
from tests.referee import score_hand
from tests.tabletop import DEALER, PONE, random_actions

LEVEL = 1e-4  # the chance below which a count is called uneven; seeds are fixed

# Pone holds one card more than the dealer has left; the dealer has said go at 25 and at 29.
HANDS = [parse_cards("KC 9C 6D AD 2H 3H"), parse_cards("7S TS QD JH 8S 8H")]
THROWN = [parse_cards("2H 3H"), parse_cards("8S 8H")]
STARTER = parse_card("4C")


def states(n: int, seed: int, steps: int) -> Games:
    """Returns games of *n* lanes after up to so many random actions each."""
    games = Games(n, seed=seed)
    rng = np.random.default_rng(seed)
    left = rng.integers(0, steps, n)
    for _ in range(steps):
        lanes = np.flatnonzero((left > 0) & ~games.over)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        left -= 1
    return games


@pytest.fixture(scope="module")
def redealt() -> tuple[Games, Games, int]:
    """Random states, the same redealt for seat 0, and that seat."""
    games = states(3_000, seed=100, steps=120)
    new = games.copy()
    new.redeal_hidden(0, seed=101)
    return games, new, 0


def test_a_redeal_changes_nothing_that_the_seat_knows(redealt: tuple[Games, Games, int]) -> None:
    games, new, seat = redealt
    assert np.array_equal(games.observe(seat), new.observe(seat))
    assert np.array_equal(games.action_masks(seat), new.action_masks(seat))
    for name in ("scores", "points", "plays", "deal_number", "game_number", "held", "count"):
        assert np.array_equal(games.records[name], new.records[name])


def test_a_redeal_gives_each_card_to_one_place(redealt: tuple[Games, Games, int]) -> None:
    _, new, _ = redealt
    for record in new.records:
        places = [
            *cards_in(record["hands"][0]),
            *cards_in(record["hands"][1]),
            *cards_in(record["discards"][0]),
            *cards_in(record["discards"][1]),
            *(int(card) for card in record["plays"][: record["num_plays"]]),
            int(record["starter"]),
        ]
        assert len(places) == len(set(places)) == 13


def test_a_redeal_respects_what_a_go_has_shown(redealt: tuple[Games, Games, int]) -> None:
    _, new, _ = redealt
    shown = 0
    for record in new.records:
        least = int(record["lacks"][1])
        shown += least > 0
        assert all(min(card // 4 + 1, 10) > least for card in cards_in(record["hands"][1]))
    assert shown > 200


def test_a_seat_that_is_to_play_can_play_after_a_redeal_for_the_other(
    redealt: tuple[Games, Games, int],
) -> None:
    # That it is asked tells all that a card of it fits.
    games, new, seat = redealt
    waits = (games.turn != seat) & (games.records["phase"] == Phase.PLAY)
    held = new.records["hands"][waits, 1]
    fitting = CARDS_UP_TO[31 - new.records["count"][waits]]
    assert waits.sum() > 300
    assert ((held & fitting) != 0).all()


def test_a_redeal_counts_hands_and_crib_anew(redealt: tuple[Games, Games, int]) -> None:
    _, new, _ = redealt
    counted = 0
    for record in new.records[:600]:
        if record["phase"] == Phase.DISCARD:
            continue
        counted += 1
        starter = int(record["starter"])
        crib = record["discards"][0] | record["discards"][1]
        assert record["crib"] == crib
        assert record["worth"][4] == sum(score_hand(cards_in(crib), starter, True).values())
        for seat in (0, 1):
            laid = [
                int(card)
                for card, by in zip(record["plays"], record["play_seats"], strict=True)
                if by == seat
            ]
            kept = [*cards_in(record["hands"][seat]), *laid]
            assert record["worth"][seat] == sum(score_hand(kept, starter, False).values())
    assert counted > 100


def test_games_go_on_by_the_rules_after_a_redeal(redealt: tuple[Games, Games, int]) -> None:
    new = redealt[1].copy()
    rng = np.random.default_rng(102)
    while not new.over.all():
        lanes = np.flatnonzero(~new.over)
        new.apply(random_actions(new.action_masks(lanes=lanes), rng), lanes)
    assert new.scores.max(axis=1).tolist() == [121] * len(new)


def next_deals(games: Games) -> list[tuple[int, ...]]:
    """Returns the hands and the starter of the deal that follows in each lane."""
    played = games.copy()
    rng = np.random.default_rng(103)
    deal = played.records["deal_number"].copy()
    while True:
        lanes = np.flatnonzero((played.records["deal_number"] == deal) & ~played.over)
        if not len(lanes):
            break
        played.apply(random_actions(played.action_masks(lanes=lanes), rng), lanes)
    records = played.records
    return [(*sorted(record["hands"][:2].tolist()), int(record["starter"])) for record in records]


@pytest.mark.parametrize("seed", [0, 100, 101])
def test_cards_to_come_are_new_after_a_redeal_whatever_its_seed(seed: int) -> None:
    # Also where it is the seed of the games themselves: a search must not know what comes.
    games = Games(300, seed=seed)
    new = games.copy()
    new.redeal_hidden(0, seed=seed)
    shared = set(next_deals(games)) & set(next_deals(new))
    assert not shared


def test_lanes_copied_from_one_game_are_redealt_each_in_its_own_way() -> None:
    games = Games(1, seed=104).copy([0] * 500)
    games.redeal_hidden(0, seed=105)
    assert len(set(games.records["hands"][:, 1].tolist())) == 500
    assert len(set(next_deals(games))) == 500


def test_a_redeal_is_the_same_for_the_same_seed() -> None:
    one, other = states(50, 106, 60), states(50, 106, 60)
    one.redeal_hidden(1, seed=107)
    other.redeal_hidden(1, seed=107)
    assert one.records.tobytes() == other.records.tobytes()
    other.redeal_hidden(1, seed=108)
    assert one.records.tobytes() != other.records.tobytes()


def test_a_redeal_of_some_lanes_leaves_the_others() -> None:
    games = states(40, 109, 60)
    before = games.records.copy()
    games.redeal_hidden(0, seed=110, lanes=[3, 5])
    others = [lane for lane in range(40) if lane not in (3, 5)]
    assert games.records[others].tobytes() == before[others].tobytes()


# ---- every deal that fits is alike likely ----


def end_position(n: int, plays: str) -> Games:
    """Returns *n* lanes of one late position, its hidden cards redealt for pone."""
    games = Games(1)
    games.set_position(0, Position(DEALER, (0, 0), HANDS, THROWN, STARTER, parse_cards(plays)))
    games = games.copy([0] * n)
    games.redeal_hidden(PONE, seed=111)
    return games


def chi_square(observed: dict[int, int], expected: dict[int, Fraction], n: int) -> float:
    """Returns the chance of counts as uneven as these or more."""
    assert set(observed) <= set(expected)
    assert sum(expected.values()) == 1
    statistic = sum(
        (observed.get(cell, 0) - float(n * share)) ** 2 / float(n * share)
        for cell, share in expected.items()
    )
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def unseen(plays: str) -> list[int]:
    """Returns the cards that pone has not seen."""
    seen = {*HANDS[PONE], STARTER, *parse_cards(plays)}
    return [card for card in range(52) if card not in seen]


def counts(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[int, int]:
    """Returns how often each value comes."""
    found, number = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), number.tolist(), strict=True))


# 10, 17, 26: the dealer, who has only tens left, says go, and at 26 pone plays on.
AFTER_GO = "KC 7S 9C"


def test_hands_are_alike_likely_among_those_that_a_go_leaves() -> None:
    # The other holds three cards of more than five pips each: enumerated one by one.
    n = 300_000
    games = end_position(n, AFTER_GO)
    fitting = [card for card in unseen(AFTER_GO) if min(card // 4 + 1, 10) > 5]
    hands = [card_set(hand) for hand in combinations(fitting, 3)]
    expected = {hand: Fraction(1, len(hands)) for hand in hands}
    observed = counts(games.records["hands"][:, DEALER])
    assert len(hands) > 1_000
    assert chi_square(observed, expected, n) > LEVEL


def test_throws_are_alike_likely_whatever_the_hand() -> None:
    # Given the hand, every pair of the rest is alike likely: low cards, which no hand can hold
    # after the go, are thrown more often. By number of low cards thrown, and of sevens held.
    n = 300_000
    games = end_position(n, AFTER_GO)
    rest = unseen(AFTER_GO)
    low = card_set(card for card in rest if min(card // 4 + 1, 10) <= 5)
    sevens = card_set(card for card in rest if card // 4 == 6)
    held = np.bitwise_count(games.records["hands"][:, DEALER] & sevens)
    thrown_low = np.bitwise_count(games.records["discards"][:, DEALER] & low)
    thrown_sevens = np.bitwise_count(games.records["discards"][:, DEALER] & sevens)
    cells = (held.astype(np.int64) * 3 + thrown_low) * 3 + thrown_sevens
    num_low, num_sevens, num_rest = low.bit_count(), sevens.bit_count(), len(rest)
    others = num_rest - num_low - num_sevens
    expected: dict[int, Fraction] = {}
    for a in range(4):
        hand = Fraction(comb(num_sevens, a) * comb(others, 3 - a), comb(num_sevens + others, 3))
        for b in range(3):
            for c in range(3 - b):
                pair = Fraction(
                    comb(num_low, b) * comb(num_sevens - a, c) * comb(others - (3 - a), 2 - b - c),
                    comb(num_rest - 3, 2),
                )
                if hand * pair:
                    expected[(a * 3 + b) * 3 + c] = hand * pair
    assert chi_square(counts(cells), expected, n) > LEVEL


def test_a_last_card_is_alike_likely_among_those_that_fit() -> None:
    # The other holds one card: with the two thrown, a small end position enumerated whole.
    n = 300_000
    plays = "KC 7S 9C AD TS 6D QD"
    games = end_position(n, plays)
    left = unseen(plays)
    least = int(games.records["lacks"][0, DEALER])
    fitting = [card for card in left if min(card // 4 + 1, 10) > least]
    expected = {1 << card: Fraction(1, len(fitting)) for card in fitting}
    assert chi_square(counts(games.records["hands"][:, DEALER]), expected, n) > LEVEL


def test_before_the_cut_hand_and_starter_are_alike_likely() -> None:
    n = 200_000
    games = Games(1)
    games.set_position(0, Position(DEALER, (0, 0), HANDS, (), STARTER))
    games = games.copy([0] * n)
    games.redeal_hidden(PONE, seed=112)
    left = [card for card in range(52) if card not in HANDS[PONE]]
    starters = {card: Fraction(1, 46) for card in left}
    assert chi_square(counts(games.records["starter"].astype(np.int64)), starters, n) > LEVEL
    # The lowest card of six and how often: from its hypergeometric chance.
    hands = games.records["hands"][:, DEALER]
    lowest = {
        1 << card: Fraction(comb(45 - place, 5), comb(46, 6)) for place, card in enumerate(left)
    }
    lowest = {card: share for card, share in lowest.items() if share}
    many = {card: share for card, share in lowest.items() if share * n >= 5}
    few = 1 - sum(many.values(), Fraction(0))
    observed = counts(hands & -hands)
    pooled = {card: observed.get(card, 0) for card in many}
    pooled[0] = n - sum(pooled.values())
    assert chi_square(pooled, {**many, 0: few}, n) > LEVEL


# ---- cards laid out in a running game ----


@pytest.mark.parametrize("name", ["six_card", "three_player"])
def test_cards_are_laid_out_in_a_deal_of_a_running_game(name: str) -> None:
    games = Games(1, PRESETS[name], seed=5)
    while not games.records["deal_number"][0]:
        games.apply([int(games.action_masks()[0].argmax())])
    before = games.copy()
    other = Games(1, PRESETS[name], seed=6)
    hands, crib = other.records["hands"][0].copy(), int(other.records["crib"][0])
    lay_cards_one(as_records(games.records), hands, crib, int(other.records["starter"][0]))
    for field in ("hands", "crib", "starter"):
        assert np.array_equal(games.records[field], other.records[field]), field
    for field in games.records.dtype.names or ():
        if field not in ("hands", "crib", "starter"):
            assert np.array_equal(games.records[field], before.records[field]), field


def test_what_is_not_known_of_cards_laid_out_is_drawn() -> None:
    games = Games(1, PRESETS["three_player"], seed=5)
    hands = np.full(4, UNKNOWN, np.int64)
    hands[1] = card_set(parse_cards("5H 5D 5S 5C JC"))
    lay_cards_one(as_records(games.records), hands, UNKNOWN, NO_CARD)
    record = games.records[0]
    assert record["hands"][1] == hands[1]
    cards = [card for seat in range(3) for card in cards_in(record["hands"][seat])]
    cards += [*cards_in(record["crib"]), int(record["starter"])]
    assert len(set(cards)) == 3 * 5 + 2
