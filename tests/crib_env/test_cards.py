"""Cards, sets of cards, and their text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.cards import (
    ALL_CARDS,
    CARDS_OF_RANK,
    CARDS_OF_SUIT,
    CARDS_UP_TO,
    bit_of,
    card_set,
    card_text,
    cards_in,
    cards_text,
    lowest_card,
    parse_card,
    parse_cards,
    pips_of,
    pips_of_rank,
    rank_of,
    suit_of,
)

pytestmark = pytest.mark.nojit

PACK = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]
sets_of_cards = st.sets(st.integers(0, 51))


def test_r1_pack_is_52_cards_from_the_ace_of_clubs_to_the_king_of_spades() -> None:
    assert [card_text(card) for card in range(52)] == PACK


def test_r1_ace_counts_one_and_pictures_ten() -> None:
    counted = {
        text: pips_of(parse_card(text)) for text in ("AC", "2D", "9H", "TS", "JC", "QD", "KH")
    }
    assert counted == {"AC": 1, "2D": 2, "9H": 9, "TS": 10, "JC": 10, "QD": 10, "KH": 10}


def test_text_and_back_is_the_same_card() -> None:
    assert [parse_card(card_text(card)) for card in range(52)] == list(range(52))


def test_rank_and_suit_make_the_card() -> None:
    for card in range(52):
        assert 4 * rank_of(card) + suit_of(card) == card
        assert pips_of_rank(rank_of(card)) == pips_of(card)
        assert bit_of(card) == 1 << card


def test_sets_by_index_hold_what_their_names_say() -> None:
    for rank in range(13):
        assert list(cards_in(CARDS_OF_RANK[rank])) == [c for c in range(52) if c // 4 == rank]
    for suit in range(4):
        assert list(cards_in(CARDS_OF_SUIT[suit])) == [c for c in range(52) if c % 4 == suit]
    for pips in range(32):
        fitting = [card for card in range(52) if pips_of(card) <= pips]
        assert list(cards_in(CARDS_UP_TO[pips])) == fitting
    assert list(cards_in(ALL_CARDS)) == list(range(52))


@settings(deadline=None, derandomize=True, database=None)
@given(sets_of_cards)
def test_a_set_holds_its_cards_in_order(cards: set[int]) -> None:
    bits = card_set(cards)
    assert list(cards_in(bits)) == sorted(cards)
    if cards:
        assert lowest_card(bits) == min(cards)


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 51), unique=True))
def test_text_of_cards_and_back_keeps_their_order(cards: list[int]) -> None:
    if cards:
        assert parse_cards(cards_text(cards)) == cards
    else:
        assert cards_text(cards) == "none"


@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(st.one_of(st.text(max_size=4), st.text("A23456789TJQKCDHS0 cdhs10", max_size=3)))
def test_what_is_no_card_is_refused_by_name(text: str) -> None:
    if text in PACK:
        assert card_text(parse_card(text)) == text
    else:
        with pytest.raises(ValueError, match="a card is a rank") as refused:
            parse_card(text)
        assert repr(text) in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["10H", "5h", "h5", "H5", "5", "", "5 H", "1H", "XX", "5HH", "AC\n"]
)
def test_near_misses_are_no_cards(text: str) -> None:
    with pytest.raises(ValueError, match="a card is a rank"):
        parse_card(text)


def test_a_card_twice_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="5H stands twice"):
        parse_cards("5H TC 5H")


@pytest.mark.parametrize("card", [-1, 52, 1000])
def test_a_number_outside_the_pack_has_no_text(card: int) -> None:
    with pytest.raises(ValueError, match=str(card)):
        card_text(card)
