"""What a card is: an int 0..51, 4 * rank + suit; and a set of cards: 52 bits of an int64.

Ranks count from the ace (A = 0 .. K = 12), suits in the order C D H S. Knows no rule of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from crib_env.kernel import kernel, lowest_bit

NUM_CARDS = 52
NUM_RANKS = 13
NUM_SUITS = 4
NO_CARD = -1
JACK = 10
RANKS = "A23456789TJQK"
SUITS = "CDHS"
ALL_CARDS = (1 << NUM_CARDS) - 1

# Sets of cards that the rules ask for again and again, by index.
CARDS_OF_RANK = np.array([0b1111 << (4 * rank) for rank in range(NUM_RANKS)], np.int64)
CARDS_OF_SUIT = np.array(
    [sum(1 << (4 * rank + suit) for rank in range(NUM_RANKS)) for suit in range(NUM_SUITS)],
    np.int64,
)
# CARDS_UP_TO[k]: the cards of at most k pips, so that "which of my cards fit under 31" is one AND.
CARDS_UP_TO = np.array(
    [
        sum(0b1111 << (4 * rank) for rank in range(NUM_RANKS) if min(rank + 1, 10) <= k)
        for k in range(32)
    ],
    np.int64,
)


@kernel
def rank_of(card: int) -> int:
    """Returns the rank 0..12 of a card, A = 0 .. K = 12."""
    return int(card) >> 2


@kernel
def suit_of(card: int) -> int:
    """Returns the suit 0..3 of a card, in the order C D H S."""
    return int(card) & 3


@kernel
def pips_of_rank(rank: int) -> int:
    """Returns what a rank counts: the ace 1, pictures 10."""
    return min(int(rank) + 1, 10)


@kernel
def pips_of(card: int) -> int:
    """Returns what a card counts: the ace 1, pictures 10 (R1)."""
    return min((int(card) >> 2) + 1, 10)


@kernel
def bit_of(card: int) -> int:
    """Returns the set that holds this card alone."""
    return 1 << int(card)


@kernel
def lowest_card(cards: int) -> int:
    """Returns the lowest card of a set that is not empty."""
    return lowest_bit(cards)


def card_set(cards: Iterable[int]) -> int:
    """Returns the set of these cards as 52 bits."""
    bits = 0
    for card in cards:
        bits |= 1 << int(card)
    return bits


def cards_in(cards: int) -> Iterator[int]:
    """Yields the cards of a set in card order, lowest first."""
    cards = int(cards)
    while cards:
        card = (cards & -cards).bit_length() - 1
        yield card
        cards &= cards - 1


def card_text(card: int) -> str:
    """Returns a card as rank and suit: ``card_text(18)`` is ``"5H"``.

    Raises:
        ValueError: If *card* is not in 0..51.
    """
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card {card}: a card is an int from 0 to 51")
    return RANKS[card // 4] + SUITS[card % 4]


def cards_text(cards: Iterable[int]) -> str:
    """Returns cards in the order given, as in ``"5H TC AS"``; of nothing, ``"none"``."""
    return " ".join(card_text(int(card)) for card in cards) or "none"


def parse_card(text: str) -> int:
    """Returns the card that ``"5H"`` names.

    Raises:
        ValueError: If *text* is not a rank of A23456789TJQK and a suit of CDHS.
    """
    if len(text) != 2 or text[0] not in RANKS or text[1] not in SUITS:
        raise ValueError(
            f"card {text!r}: a card is a rank of {RANKS} and a suit of {SUITS}, as in 5H"
        )
    return 4 * RANKS.index(text[0]) + SUITS.index(text[1])


def parse_cards(text: str) -> list[int]:
    """Returns the cards of ``"5H TC AS"``, in the order written.

    Raises:
        ValueError: If a word is no card, or a card stands there twice.
    """
    cards = [parse_card(word) for word in text.split()]
    for index, card in enumerate(cards):
        if card in cards[:index]:
            raise ValueError(f"card {card_text(card)} stands twice in {text!r}")
    return cards
