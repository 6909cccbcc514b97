"""Scores in words: the parts sum to the score of the rule book, and are said as at a table."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from crib_env.cards import card_set, cards_in, parse_card, parse_cards
from crib_env.explain import (
    Kind,
    Part,
    explain,
    explain_play,
    number_word,
    say,
    say_play,
)
from crib_env.scoring import hand_score, pegging_score
from tests.crib_env.test_scoring import SCORE_CASES, Case
from tests.referee import score_hand

NAMES = {
    Kind.FIFTEEN: "fifteens",
    Kind.PAIR: "pairs",
    Kind.PAIR_ROYAL: "pairs",
    Kind.DOUBLE_PAIR_ROYAL: "pairs",
    Kind.RUN: "runs",
    Kind.FLUSH: "flush",
    Kind.NOBS: "nobs",
}
ALLOWED = "allowed are 4 cards, or 3 of the five-card game"
STACKS: list[Case] = [
    case
    for line in (Path(__file__).parents[1] / "cases" / "pegging.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    if (case := json.loads(line))["input"]["kind"] == "stack"
]


def by_name(parts: list[Part]) -> dict[str, int]:
    """Returns the points by what the referee calls them."""
    points = dict.fromkeys(("fifteens", "pairs", "runs", "flush", "nobs"), 0)
    for part in parts:
        points[NAMES[part.kind]] += part.points
    return points


def hands_of_all_ranks() -> Iterator[tuple[list[int], int]]:
    """Yields a hand and a starter, any one of the five, for each choice of five ranks."""
    for ranks in combinations_with_replacement(range(13), 5):
        if max(Counter(ranks).values()) == 5:
            continue
        cards = [4 * rank + ranks[:index].count(rank) for index, rank in enumerate(ranks)]
        starter = cards.pop(sum(ranks) % 5)
        yield cards, starter


def is_sequence(cards: tuple[int, ...]) -> bool:
    """Says whether cards are of consecutive ranks."""
    ranks = sorted(card // 4 for card in cards)
    return ranks == list(range(ranks[0], ranks[0] + len(ranks)))


# ---- the show ----


def test_the_parts_of_any_hand_sum_to_its_score() -> None:
    rng = random.Random(1)
    for number in range(6_000):
        *hand, starter = rng.sample(range(52), 5)
        is_crib = rng.random() < 0.5
        parts = explain(hand, starter, is_crib)
        assert sum(part.points for part in parts) == hand_score(card_set(hand), starter, is_crib)
        if number % 10 == 0:  # the witness is slow
            assert by_name(parts) == score_hand(hand, starter, is_crib)


def test_the_parts_of_a_hand_of_any_ranks_sum_to_its_score() -> None:
    for hand, starter in hands_of_all_ranks():
        points = sum(part.points for part in explain(hand, starter))
        assert points == hand_score(card_set(hand), starter, False)


def test_the_parts_of_any_hand_of_three_sum_to_its_score() -> None:
    # Flushes are frequent: three of a suit, with each kind of starter.
    rng = random.Random(6)
    for number in range(3_000):
        pack = range(number % 4, 52, 4) if number % 2 else range(52)
        hand = rng.sample(pack, 3)
        starter = rng.choice([card for card in range(52) if card not in hand])
        parts = explain(hand, starter)
        assert sum(part.points for part in parts) == hand_score(card_set(hand), starter, False)
        if number % 10 < 2:  # the witness is slow
            assert by_name(parts) == score_hand(hand, starter, False)


def test_the_parts_of_flushes_sum_to_their_scores() -> None:
    # Rare among random hands: four of a suit, with each kind of starter.
    rng = random.Random(2)
    for _ in range(500):
        suit = rng.randrange(4)
        hand = rng.sample(range(suit, 52, 4), 4)
        starter = rng.choice([card for card in range(52) if card not in hand])
        for is_crib in (False, True):
            parts = explain(hand, starter, is_crib)
            assert by_name(parts) == score_hand(hand, starter, is_crib)


@pytest.mark.parametrize("case", SCORE_CASES, ids=lambda case: case["id"])
def test_checked_cases_have_the_parts_told(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    parts = explain(" ".join(given["hand"]), given["starter"], given["crib"])
    assert sum(part.points for part in parts) == expected["points"]
    if "parts" in expected:
        assert by_name(parts) == expected["parts"]


def test_each_part_names_the_cards_that_make_it() -> None:
    rng = random.Random(3)
    for _ in range(2_000):
        *hand, starter = rng.sample(range(52), 5)
        for kind, cards, points in explain(hand, starter):
            assert set(cards) <= {*hand, starter}
            assert len(set(cards)) == len(cards)
            if kind == Kind.FIFTEEN:
                assert (sum(min(card // 4 + 1, 10) for card in cards), points) == (15, 2)
            elif kind == Kind.RUN:
                assert is_sequence(cards)
                assert points == len(cards)
            elif kind == Kind.FLUSH:
                assert len({card % 4 for card in cards}) == 1
                assert points == len(cards)
            elif kind == Kind.NOBS:
                assert cards == (40 + starter % 4,)
            else:
                assert len({card // 4 for card in cards}) == 1
                assert {2: Kind.PAIR, 3: Kind.PAIR_ROYAL, 4: Kind.DOUBLE_PAIR_ROYAL}[
                    len(cards)
                ] == kind


def test_parts_come_in_the_order_players_count_them() -> None:
    order = [NAMES[part.kind] for part in explain("TH JH QD QH", "KH")]
    assert order == ["pairs", "runs", "runs", "nobs"]
    order = [NAMES[part.kind] for part in explain("5H JH QH KH", "5C")]
    assert order == [*["fifteens"] * 6, "pairs", "runs", "flush"]


def test_cards_are_ints_of_any_kind_or_text() -> None:
    text = explain("5H 5D 5S JC", "5C")
    ints = [parse_card(word) for word in ("5H", "5D", "5S", "JC")]
    assert explain(ints, parse_card("5C")) == text
    assert explain(np.array(ints, np.int8), cast(int, np.int64(parse_card("5C")))) == text
    assert explain(cards_in(card_set(ints)), parse_card("5C")) == text


@pytest.mark.parametrize(
    ("hand", "starter", "is_crib", "words"),
    [
        (
            "5H 5D 5S JC",
            "5C",
            False,
            "fifteen two, fifteen four, fifteen six, fifteen eight, fifteen ten, fifteen twelve, "
            "fifteen fourteen, fifteen sixteen, double pair royal is twenty-eight, and one for "
            "nobs is twenty-nine",
        ),
        ("2C 4D 6C JS", "8H", False, "nothing"),
        ("7C 8D QC QD", "2H", False, "fifteen two, and a pair is four"),
        ("7C 8D 8C QD", "2H", False, "fifteen two, fifteen four, and a pair is six"),
        ("KC 5D 2H TS", "9C", False, "fifteen two, fifteen four"),
        ("2C 2D 7H TS", "9C", False, "a pair is two"),
        ("2C 2D 2H 7S", "QC", False, "pair royal is six"),
        ("2C 2D 2H 2S", "QC", False, "double pair royal is twelve"),
        ("2C 2D TH TS", "9C", False, "a pair is two, and another pair is four"),
        ("JD QC KC 3S", "8H", False, "run of three"),
        ("AC 2C 3D 9D", "KC", False, "fifteen two, fifteen four, and a run of three is seven"),
        ("8S 8C 9D TH", "AC", False, "a double run of three is eight"),
        ("TS JH QD QC", "KS", False, "a double run of four is ten"),
        ("9S 9C 9D TH", "JC", False, "a triple run of three is fifteen"),
        ("9S 9C TD TH", "JC", False, "a double double run of three is sixteen"),
        (
            "7C 8C 9C QC",
            "JD",
            False,
            "fifteen two, a run of three is five, and a flush of four is nine",
        ),
        ("2C 4C 6C 8C", "TD", False, "flush of four"),
        ("2C 4C 6C 8C", "TC", True, "flush of five"),
        ("2C 4C 6C 8C", "TD", True, "nothing"),
        ("2C 4D 6C JS", "8S", False, "one for nobs"),
        # Three cards, of the five-card game.
        ("2C 4C 8C", "TD", False, "flush of three"),
        ("2C 4C 8C", "TC", False, "flush of four"),
        ("2C 4C 8S", "TC", False, "nothing"),
        ("5H 7H 9H", "KH", False, "fifteen two, and a flush of four is six"),
        (
            "6C 7D 8S",
            "8H",
            False,
            "fifteen two, fifteen four, and a double run of three is twelve",
        ),
        (
            "5C 5D 5H",
            "5S",
            False,
            "fifteen two, fifteen four, fifteen six, fifteen eight, and double pair royal is "
            "twenty",
        ),
        ("JC 4D 8S", "KC", False, "one for nobs"),
    ],
)
def test_a_hand_is_said_as_at_a_table(hand: str, starter: str, is_crib: bool, words: str) -> None:
    assert say(explain(hand, starter, is_crib)) == words


def test_what_is_said_ends_in_the_score() -> None:
    rng = random.Random(4)
    for _ in range(3_000):
        *hand, starter = rng.sample(range(52), 5)
        points = hand_score(card_set(hand), starter, False)
        words = say(explain(hand, starter))
        alone = {"nothing": 0, "run of three": 3, "run of four": 4, "run of five": 5}
        alone |= {"flush of four": 4, "flush of five": 5, "one for nobs": 1}
        assert alone.get(words, points) == points
        if words not in alone:
            assert words.split()[-1] == number_word(points)


@pytest.mark.parametrize(
    ("hand", "starter", "message"),
    [
        ("5H 5D", "5C", f"hand 5H 5D: {ALLOWED}, not 2"),
        ("5H 5D 5S JC KC", "5C", f"hand 5H 5D 5S JC KC: {ALLOWED}, not 5"),
        ("", "5C", f"hand none: {ALLOWED}, not 0"),
        ("5H 5D 5S JC", "5C 6C", "starter 5C 6C: allowed is 1 card, not 2"),
        ("5H 5D 5S JC", "", "starter none: allowed is 1 card, not 0"),
        ("5H 5D 5S JC", "5H", "card 5H is both the starter and in the hand"),
        ("5H 5D 5S 5H", "5C", "card 5H stands twice in '5H 5D 5S 5H'"),
        ("5H 5D 5S 1H", "5C", "card '1H': a card is a rank of A23456789TJQK"),
        ([1, 2, 3, 52], 0, "hand: card 52: a card is an int from 0 to 51"),
        ([1, 2, 3, -1], 0, "hand: card -1: a card is an int from 0 to 51"),
        ([1, 2, 3, 3], 0, "hand: card AS is there twice"),
        ([1, 2, 3, 4.0], 0, "hand: card 4.0: a card is an int from 0 to 51"),
        ([1, 2, 3, True], 0, "hand: card True: a card is an int from 0 to 51"),
        ([1, 2, 3, np.timedelta64(4)], 0, "hand: card np.timedelta64(4): a card is an int"),
        ([1, 2, 3, "5H" * 999], 0, "hand: card '5H5H"),
        ([1, 2, 3, 4], 99, "starter: card 99: a card is an int from 0 to 51"),
    ],
)
def test_what_is_no_hand_is_refused_in_one_line(
    hand: str | list[int], starter: str | int, message: str
) -> None:
    with pytest.raises(ValueError, match="card") as raised:
        explain(hand, starter)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400


def test_a_crib_is_of_four_cards_in_every_variant() -> None:
    with pytest.raises(ValueError, match=r"^crib 5H 5D 5S: allowed are 4 cards, not 3$"):
        explain("5H 5D 5S", "5C", is_crib=True)


# ---- the play ----


def pegged(cards: list[int]) -> int:
    """Returns what the rule book pegs for the last card of a pile."""
    ranks = 0
    for card in cards:
        ranks = ranks << 4 | card // 4
    return int(pegging_score(ranks, len(cards), sum(min(card // 4 + 1, 10) for card in cards)))


def test_the_parts_of_any_pile_sum_to_what_its_last_card_pegs() -> None:
    rng = random.Random(5)
    scored = 0
    for _ in range(5_000):
        # Few ranks, so that pairs and runs are frequent.
        low = rng.randrange(10)
        pack = rng.sample(range(4 * low, min(4 * low + rng.choice((8, 16, 24)), 52)), 8)
        pile: list[int] = []
        for card in pack:
            pile.append(card)
            if sum(min(card // 4 + 1, 10) for card in pile) > 31:
                break
            points = sum(part.points for part in explain_play(pile))
            assert points == pegged(pile)
            scored += points > 0
    assert scored > 3_000


@pytest.mark.parametrize("case", STACKS, ids=lambda case: case["id"])
def test_checked_piles_peg_what_is_told(case: Case) -> None:
    cards = parse_cards(" ".join(case["input"]["cards"]))
    for size, points in enumerate(case["expected"]["points"], 1):
        assert sum(part.points for part in explain_play(cards[:size])) == points


@pytest.mark.parametrize(
    ("pile", "words"),
    [
        ("7C", "seven"),
        ("7C 8D", "fifteen two"),
        ("7C 8D 9H", "twenty-four, run of three"),
        ("KC QD AC TS", "thirty-one for two"),
        ("7C 7D", "fourteen, a pair is two"),
        ("7C 7D 7H", "twenty-one, pair royal is six"),
        ("7C 7D 7H 7S", "twenty-eight, double pair royal is twelve"),
        ("4C 5C 6D", "fifteen two, and a run of three is five"),
        ("5C 5D 5H", "fifteen two, and pair royal is eight"),
        ("7H 9D 8S 7C", "thirty-one for two, and a run of three is five"),
        ("7C 8H 8D 8S", "thirty-one for two, and pair royal is eight"),
        ("3H 4D 5S 6C 3D 4C 5H", "thirty, run of four"),
    ],
)
def test_a_card_is_laid_with_the_words_of_a_table(pile: str, words: str) -> None:
    assert say_play(pile) == words


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(Kind.HIS_HEELS, (40,), 2), "his heels, two"),
        (Part(Kind.GO, (40,), 1), "go for one"),
        (Part(Kind.LAST_CARD, (40,), 1), "last card for one"),
    ],
)
def test_heels_go_and_last_card_are_said_in_one_way(part: Part, words: str) -> None:
    assert say([part]) == words


@pytest.mark.parametrize(
    ("pile", "message"),
    [
        ("", "pile none: allowed are cards that count 1 to 31, not 0"),
        ("KC QC JC 2H", "pile KC QC JC 2H: allowed are cards that count 1 to 31, not 32"),
        ("KC KC", "card KC stands twice in 'KC KC'"),
    ],
)
def test_what_is_no_pile_is_refused_in_one_line(pile: str, message: str) -> None:
    for explained in (explain_play, say_play):
        with pytest.raises(ValueError, match="card") as raised:
            explained(pile)
        assert str(raised.value) == message


def test_numbers_have_words() -> None:
    words = [number_word(number) for number in (0, 9, 13, 20, 21, 29, 31, 99)]
    assert " ".join(words) == (
        "zero nine thirteen twenty twenty-one twenty-nine thirty-one ninety-nine"
    )
    for number in (-1, 100):
        with pytest.raises(ValueError, match=f"number {number}: words are there for 0 to 99"):
            number_word(number)
