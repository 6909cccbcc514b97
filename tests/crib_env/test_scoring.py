"""The show: its rules by their numbers, every hand there is, and the published averages."""

from __future__ import annotations

import json
import random
import time
from itertools import permutations
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from crib_env.bots import starter_total
from crib_env.cards import card_set, parse_card, parse_cards
from crib_env.kernel import COMPILED
from crib_env.make_tables import make_hands
from crib_env.scoring import (
    POINTS_OF_FIVE,
    POINTS_OF_FOUR,
    fifteens,
    flush,
    hand_score,
    kept_score,
    nobs,
    pairs,
    pegging_score,
    ranks_index,
    reply_score,
    runs,
)
from tests.referee import pegging_points as referee_pegging
from tests.referee import score_hand
from tests.tabletop import after_cut, show_points

Case = dict[str, Any]

CASES: list[Case] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "show.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
SCORE_CASES = [case for case in CASES if case["input"]["kind"] == "score"]

compiled_only = pytest.mark.skipif(not COMPILED, reason="millions of hands need compiled kernels")


# ---- the rules of the show, by number ----


def five(hand: str, starter: str) -> int:
    """Returns a hand and the starter as one set."""
    return card_set(parse_cards(f"{hand} {starter}"))


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("KC 5D 2H 3S", "7C", 2 * 3),  # K-5, K-2-3, 7-5-3
        ("8C 7D 2H 4S", "QC", 2),
        ("9C 5D AH 2S", "KC", 2 * 2),  # K-5, 9-5-A
        ("4C 4D 4H 3S", "QC", 2),  # 4-4-4-3
        ("AC 2D 3H 4S", "5C", 2),  # all five cards
        ("KC QD JH 9S", "8C", 0),
    ],
)
def test_r20_every_set_of_cards_that_makes_15_scores_two(
    hand: str, starter: str, points: int
) -> None:
    cards = five(hand, starter)
    assert fifteens(cards) == points
    assert show_points(hand, starter) == points + pairs(cards) + runs(cards)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("2C 2D 6H QS", "KC", 2),
        ("2C 2D 6H 6S", "KC", 4),
        ("2C 2D 2H QS", "KC", 6),
        ("2C 2D 2H 2S", "QC", 12),
    ],
)
def test_r21_every_pair_scores_two(hand: str, starter: str, points: int) -> None:
    assert pairs(five(hand, starter)) == points
    assert show_points(hand, starter) == points


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("AC 2D 3H KS", "9C", 3),
        ("9C TD JH QS", "KC", 5),
        ("9C TD JH JS", "QC", 8),
        ("9C 9D TH TS", "JC", 12),
        ("9C 9D 9H TS", "JC", 9),
        ("AC 2D 4H 6S", "QC", 0),
    ],
)
def test_r22_every_longest_run_scores_its_length(hand: str, starter: str, points: int) -> None:
    cards = five(hand, starter)
    assert runs(cards) == points
    assert show_points(hand, starter) == points + fifteens(cards) + pairs(cards)


@pytest.mark.nojit
def test_r22_ace_is_low_in_a_run() -> None:
    assert show_points("QC KD AH 7S", "9C") == 0
    assert runs(card_set(parse_cards("QC KD AH 2S"))) == 0


@pytest.mark.nojit
def test_r23_four_of_a_suit_in_the_hand_score_four() -> None:
    assert show_points("2H 6H 8H QH", "4S") == 4


@pytest.mark.nojit
def test_r23_five_of_a_suit_score_five() -> None:
    assert show_points("2H 6H 8H QH", "4H") == 5


@pytest.mark.nojit
def test_r23_three_and_the_starter_are_no_flush() -> None:
    assert show_points("2H 6H 8H QS", "4H") == 0


@pytest.mark.nojit
def test_r24_crib_flush_needs_all_five() -> None:
    assert show_points("2H 6H 8H QH", "4S", is_crib=True) == 0
    assert show_points("2H 6H 8H QH", "4H", is_crib=True) == 5


@pytest.mark.nojit
def test_r25_jack_of_the_starters_suit_scores_one() -> None:
    assert show_points("JH 2C 6D 8S", "QH") == 1
    assert show_points("JS 2C 6D 8S", "QH") == 0
    assert show_points("JH 2C 6D 8S", "QH", is_crib=True) == 1


@pytest.mark.nojit
def test_r25_a_jack_that_is_turned_is_no_nobs() -> None:
    assert show_points("2H 4C 6D 8S", "JS") == 0
    assert show_points("2C 4C 6C 8C", "JC", is_crib=True) == 5


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("4D 5C 5H 6S", "JD", 16),
        ("7C 8C 9C QC", "JD", 9),
        ("6C 7D 7S 8H", "8C", 24),
        ("5C 5D 5H JS", "5S", 29),
        ("4C 5D 6H 6S", "5C", 24),
        ("5C 5H TS JD", "4S", 10),
        ("9S TD JD 6C", "6D", 10),
    ],
)
def test_worked_examples_come_out(hand: str, starter: str, points: int) -> None:
    assert show_points(hand, starter) == points


@pytest.mark.nojit
def test_worked_crib_comes_out() -> None:
    assert show_points("TH KH 2H 3H", "JD", is_crib=True) == 6


# ---- checked cases ----


@pytest.mark.nojit
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in SCORE_CASES])
def test_show_case_scores_its_parts(case: Case) -> None:
    given, parts = case["input"], case["expected"]["parts"]
    hand, starter = card_set(parse_cards(" ".join(given["hand"]))), parse_card(given["starter"])
    five = hand | 1 << starter
    assert fifteens(five) == parts["fifteens"]
    assert pairs(five) == parts["pairs"]
    assert runs(five) == parts["runs"]
    assert flush(hand, starter, given["crib"]) == parts["flush"]
    assert nobs(hand, starter) == parts["nobs"]
    assert hand_score(hand, starter, given["crib"]) == case["expected"]["points"]


@pytest.mark.nojit
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in SCORE_CASES])
def test_show_case_is_counted_so_in_a_game(case: Case) -> None:
    # D052: through the game and not only through the scorer.
    given = case["input"]
    hand = " ".join(given["hand"])
    if given["crib"]:
        table = after_cut(starter=given["starter"], crib=hand)
        worth = table.games.records["worth"][0, 4]
    else:
        rules = given["variant"].replace("-", "_")
        table = after_cut([hand, ""], given["starter"], rules=rules)
        worth = table.games.records["worth"][0, 0]
    assert worth == case["expected"]["points"]


def test_all_show_cases_are_used_or_left_out_by_name() -> None:
    others = {case["id"] for case in CASES} - {case["id"] for case in SCORE_CASES}
    assert others == {
        *{"A113", "A115"},  # properties: the two tests that follow, and every hand there is
        *{"A118", "A120"},  # a card twice: refused by parse_cards and by Position
    }


@pytest.mark.nojit
@pytest.mark.parametrize("case", [case for case in CASES if case["input"]["kind"] == "invalid"])
def test_a_hand_with_a_card_twice_is_refused(case: Case) -> None:
    with pytest.raises(ValueError, match="twice"):
        show_points(" ".join(case["input"]["hand"]), case["input"]["starter"])


# ---- every hand there is ----

# Published (hands) and enumerated elsewhere (cribs): points, hands, cribs; the rest is 0.
HISTOGRAM = {
    0: (1_009_008, 1_022_208),
    1: (99_792, 99_792),
    2: (2_813_796, 2_839_800),
    3: (505_008, 508_908),
    4: (2_855_676, 2_868_960),
    5: (697_508, 703_496),
    6: (1_800_268, 1_787_176),
    7: (751_324, 755_320),
    8: (1_137_236, 1_118_336),
    9: (361_224, 358_368),
    10: (388_740, 378_240),
    11: (51_680, 43_880),
    12: (317_340, 310_956),
    13: (19_656, 16_548),
    14: (90_100, 88_132),
    15: (9_168, 9_072),
    16: (58_248, 57_288),
    17: (11_196, 11_196),
    18: (2_708, 2_264),
    20: (8_068, 7_828),
    21: (2_496, 2_472),
    22: (444, 444),
    23: (356, 356),
    24: (3_680, 3_680),
    28: (76, 76),
    29: (4, 4),
}
NUM_HANDS = 12_994_800


@numba.njit
def count_all(is_crib: bool, counts: np.ndarray[Any, Any]) -> None:
    """Counts the points of all four cards with each starter, (30,)."""
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    hand = 1 << a | 1 << b | 1 << c | 1 << d
                    for starter in range(52):
                        if not hand >> starter & 1:
                            counts[hand_score(hand, starter, is_crib)] += 1


@pytest.fixture(scope="module")
def histograms() -> tuple[list[int], list[int], float]:
    """The points of all hands, of all cribs, and the processor's seconds for both."""
    counts = np.zeros((2, 30), np.int64)
    count_all.compile("void(boolean, int64[::1])")
    start = time.process_time()
    count_all(False, counts[0])
    count_all(True, counts[1])
    return counts[0].tolist(), counts[1].tolist(), time.process_time() - start


@compiled_only
def test_all_hands_score_as_published(histograms: tuple[list[int], list[int], float]) -> None:
    hands = histograms[0]
    assert {points: n for points, n in enumerate(hands) if n} == {
        points: both[0] for points, both in HISTOGRAM.items()
    }
    assert sum(hands) == NUM_HANDS
    mean = sum(points * n for points, n in enumerate(hands)) / NUM_HANDS
    assert round(mean, 6) == 4.769152


@compiled_only
def test_all_cribs_score_as_published(histograms: tuple[list[int], list[int], float]) -> None:
    cribs = histograms[1]
    assert {points: n for points, n in enumerate(cribs) if n} == {
        points: both[1] for points, both in HISTOGRAM.items()
    }
    mean = sum(points * n for points, n in enumerate(cribs)) / NUM_HANDS
    assert round(mean, 6) == 4.734819


@compiled_only
def test_no_hand_scores_19_25_26_or_27(histograms: tuple[list[int], list[int], float]) -> None:
    for counts in histograms[:2]:
        assert [points for points, n in enumerate(counts) if not n] == [19, 25, 26, 27]


@compiled_only
def test_all_hands_and_cribs_are_counted_in_five_seconds(
    histograms: tuple[list[int], list[int], float],
) -> None:
    assert histograms[2] < 5


# Of all deals of six cards only one of each class is looked at, since renaming suits changes no
# score: the cards of each suit are 13 bits, and a class is four of them in falling order.


@numba.njit
def best_of_deal(cards: np.ndarray[Any, Any], deal: int) -> tuple[int, bool]:
    """Returns the best keep's points over all 46 starters, and whether some keep can score 29."""
    unseen = ((1 << 52) - 1) & ~deal
    most = 0
    possible_29 = False
    for i in range(6):
        for j in range(i + 1, 6):
            kept = deal & ~(1 << cards[i]) & ~(1 << cards[j])
            most = max(most, starter_total(kept, unseen))
            # A 29 needs 28 from ranks alone, which few keeps can reach: only those are counted out.
            index = ranks_index(kept) * 13
            for rank in range(13):
                if POINTS_OF_FIVE[index + rank] == 28:
                    for suit in range(4):
                        starter = 4 * rank + suit
                        if unseen >> starter & 1 and hand_score(kept, starter, False) == 29:
                            possible_29 = True
    return most, possible_29


@numba.njit
def all_deals(masks: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Returns classes, deals, best keeps summed, lowest, highest, and deals that can make 29."""
    classes = deals = total = highest = twenty_nines = 0
    lowest = 1 << 60
    cards = np.zeros(6, np.int64)
    suits = np.zeros(4, np.int64)
    number = len(masks)
    for a in range(number):
        for b in range(a + 1):
            if sizes[a] + sizes[b] > 6:
                continue
            for c in range(b + 1):
                left = 6 - sizes[a] - sizes[b] - sizes[c]
                if left < 0:
                    continue
                for d in range(c + 1):
                    if sizes[d] != left:
                        continue
                    suits[0], suits[1], suits[2], suits[3] = masks[a], masks[b], masks[c], masks[d]
                    deal = 0
                    size = 0
                    for suit in range(4):
                        for rank in range(13):
                            if suits[suit] >> rank & 1:
                                cards[size] = 4 * rank + suit
                                deal |= 1 << (4 * rank + suit)
                                size += 1
                    # How many deals the class has: the ways to hand four masks to four suits.
                    ways = 24
                    same = 1
                    for suit in range(1, 4):
                        same = same + 1 if suits[suit] == suits[suit - 1] else 1
                        ways //= same
                    most, possible_29 = best_of_deal(cards, deal)
                    classes += 1
                    deals += ways
                    total += ways * most
                    lowest = min(lowest, most)
                    highest = max(highest, most)
                    twenty_nines += ways * possible_29
    return classes, deals, total, lowest, highest, twenty_nines


@compiled_only
def test_best_keep_of_all_deals_is_as_published() -> None:
    # By size, so that the innermost loop meets few masks that do not fit.
    masks = sorted((mask for mask in range(8192) if mask.bit_count() <= 6), key=int.bit_count)
    sizes = [mask.bit_count() for mask in masks]
    classes, deals, total, lowest, highest, twenty_nines = all_deals(
        np.array(masks, np.int64), np.array(sizes, np.int64)
    )
    assert classes == 962_988
    assert deals == 20_358_520
    assert round(total / deals / 46, 5) == 8.29394
    assert round(lowest / 46, 3) == 2.130
    assert round(highest / 46, 3) == 22.783
    assert twenty_nines == 4_324


# ---- tables, and what must be true of any score ----


@compiled_only
def test_tables_of_ranks_are_those_that_the_command_makes() -> None:
    five, four = make_hands()
    assert np.array_equal(five, POINTS_OF_FIVE)
    assert np.array_equal(four, POINTS_OF_FOUR)


@pytest.mark.nojit
def test_score_equals_the_plain_rule_book() -> None:
    rng = random.Random(11)
    for _ in range(500):
        *hand, starter = rng.sample(range(52), 5)
        for is_crib in (False, True):
            points = sum(score_hand(hand, starter, is_crib).values())
            assert hand_score(card_set(hand), starter, is_crib) == points


@pytest.mark.nojit
def test_hands_of_three_score_as_the_plain_rule_book_says() -> None:
    rng = random.Random(12)
    for _ in range(200):
        *hand, starter = rng.sample(range(52), 4)
        points = sum(score_hand(hand, starter, False).values())
        assert hand_score(card_set(hand), starter, False) == points


@pytest.mark.nojit
def test_renaming_suits_changes_no_score() -> None:
    rng = random.Random(13)
    for _ in range(100):
        *hand, starter = rng.sample(range(52), 5)
        for is_crib in (False, True):
            points = hand_score(card_set(hand), starter, is_crib)
            for suits in permutations(range(4)):
                renamed = [card // 4 * 4 + suits[card % 4] for card in hand]
                turned = starter // 4 * 4 + suits[starter % 4]
                assert hand_score(card_set(renamed), turned, is_crib) == points


@pytest.mark.nojit
def test_five_cards_with_a_five_score_two_or_more() -> None:
    rng = random.Random(14)
    for _ in range(2_000):
        *hand, starter = rng.sample(range(52), 5)
        if any(card // 4 == 4 for card in [*hand, starter]):
            assert hand_score(card_set(hand), starter, False) >= 2


@pytest.mark.nojit
def test_kept_score_is_the_hand_without_a_starter() -> None:
    rng = random.Random(15)
    for _ in range(300):
        kept = rng.sample(range(52), 4)
        cards = card_set(kept)
        same_suit = len({card % 4 for card in kept}) == 1
        assert kept_score(cards) == fifteens(cards) + pairs(cards) + runs(cards) + 4 * same_suit


@pytest.mark.nojit
def test_pegging_score_equals_the_plain_rule_book_on_all_short_piles() -> None:
    # Suits do not matter; every pile of up to three ranks, and many longer ones.
    piles: list[tuple[int, ...]] = [
        tuple(4 * rank + suit for suit, rank in enumerate(ranks))
        for size in (1, 2, 3)
        for ranks in np.ndindex(*[13] * size)
    ]
    rng = random.Random(16)
    for _ in range(4_000):
        low = rng.randrange(9)  # four ranks, so that pairs and runs come often
        cards = rng.sample(range(4 * low, 4 * low + 16), 8)
        piles.append(tuple(cards[: rng.randint(3, 8)]))
    for pile in piles:
        count = sum(min(card // 4 + 1, 10) for card in pile)
        if count <= 31:
            ranks_laid = 0
            for card in pile:
                ranks_laid = ranks_laid << 4 | card // 4
            assert pegging_score(ranks_laid, len(pile), count) == referee_pegging(pile), pile


@pytest.mark.nojit
def test_reply_score_is_the_card_laid_on_top() -> None:
    pile, size, count = 0x9C, 2, 20  # T K
    assert reply_score(pile, size, count, 11) == 0  # Q at 30: no run without the jack
    assert reply_score(pile, size, count, 12) == 2  # a pair of kings
    assert reply_score(pile, size, 22, 12) == -1  # would pass 31
