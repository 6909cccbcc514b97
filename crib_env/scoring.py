"""What cards are worth: fifteens, pairs, runs, flush and nobs in the show; pegging in the play.

Knows no game and no state. Points are what a player pegs; sets of cards are 52 bits (cards.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crib_env.cards import (
    CARDS_OF_RANK,
    CARDS_OF_SUIT,
    JACK,
    NUM_RANKS,
    pips_of,
    pips_of_rank,
    suit_of,
)
from crib_env.kernel import bit_count, kernel, lowest_bit

FIFTEEN = 15
THIRTY_ONE = 31

# Fifteens, pairs and runs of five and of four ranks, in any order, addressed as digits to the base
# 13. Made from the functions below by `python -m crib_env.make_tables hands`; tested anew.
with np.load(Path(__file__).parent / "data" / "hands.npz") as _tables:
    POINTS_OF_FIVE = _tables["points_of_five"]
    POINTS_OF_FOUR = _tables["points_of_four"]

# The same, of four and of three ranks, summed over all 52 cards that may join them; ranks that
# cannot be there five times count 0.
TOTALS_OF_FOUR = 4 * POINTS_OF_FIVE.reshape(-1, NUM_RANKS).sum(axis=1, dtype=np.int16)
TOTALS_OF_THREE = 4 * POINTS_OF_FOUR.reshape(-1, NUM_RANKS).sum(axis=1, dtype=np.int16)


@kernel
def fifteens(cards: int) -> int:
    """Returns 2 points for every set of these cards that sums to 15 pips (R20)."""
    points = 0
    subset = cards
    while subset:
        pips = 0
        rest = subset
        while rest:
            pips += pips_of(lowest_bit(rest))
            rest &= rest - 1
        if pips == FIFTEEN:
            points += 2
        subset = (subset - 1) & cards
    return points


@kernel
def pairs(cards: int) -> int:
    """Returns 2 points for every two of these cards of one rank: 2, 6 or 12 for a rank (R21)."""
    points = 0
    for rank in range(NUM_RANKS):
        same = bit_count(cards & CARDS_OF_RANK[rank])
        points += same * (same - 1)
    return points


@kernel
def runs(cards: int) -> int:
    """Returns the points of every distinct longest run of three ranks or more, aces low (R22)."""
    points = 0
    length = 0
    ways = 1
    for rank in range(NUM_RANKS + 1):
        same = bit_count(cards & CARDS_OF_RANK[rank]) if rank < NUM_RANKS else 0
        if same:
            length += 1
            ways *= same
        else:
            if length >= 3:
                points += length * ways
            length = 0
            ways = 1
    return points


@kernel
def flush(hand: int, starter: int, is_crib: bool) -> int:
    """Returns a card's point for each card of a flush: the hand's own, or with the starter (R23).

    In the crib a flush counts only with the starter (R24).
    """
    suit = suit_of(lowest_bit(hand))
    if hand & ~CARDS_OF_SUIT[suit]:
        return 0
    size = bit_count(hand)
    if suit_of(starter) == suit:
        return size + 1
    return 0 if is_crib else size


@kernel
def nobs(hand: int, starter: int) -> int:
    """Returns 1 for the jack of the starter's suit in the hand or crib (R25)."""
    return (hand >> (4 * JACK + suit_of(starter))) & 1


@kernel
def ranks_index(cards: int) -> int:
    """Returns the ranks of a set as digits to the base 13, lowest card first."""
    index = 0
    while cards:
        index = index * NUM_RANKS + (lowest_bit(cards) >> 2)
        cards &= cards - 1
    return index


@kernel
def hand_score(hand: int, starter: int, is_crib: bool) -> int:
    """Returns the points of a hand of three cards (R34) or four, or a crib, in the show.

    Args:
        hand: The cards kept, or thrown to the crib, without the starter, as a set.
        starter: The card turned, not in *hand*.
        is_crib: Whether a flush needs the starter.
    """
    index = ranks_index(hand) * NUM_RANKS + (int(starter) >> 2)
    ranks = POINTS_OF_FIVE[index] if bit_count(hand) == 4 else POINTS_OF_FOUR[index]
    return int(ranks) + flush(hand, starter, is_crib) + nobs(hand, starter)


@kernel
def kept_score(kept: int) -> int:
    """Returns the points of the three or four cards kept among themselves, before the cut (R23)."""
    if bit_count(kept) == 4:
        points = int(POINTS_OF_FOUR[ranks_index(kept)])
    else:
        points = fifteens(kept) + pairs(kept) + runs(kept)
    suit = suit_of(lowest_bit(kept))
    if kept & ~CARDS_OF_SUIT[suit] == 0:
        points += bit_count(kept)
    return points


@kernel
def pegging_score(pile: int, size: int, count: int) -> int:
    """Returns what the last card of a pile pegs: 15, 31, pairs and the longest run.

    All that it makes adds up (R12, R15, R16, R17, R18).

    The point for a go or the last card is not the card's, and is not counted here.

    Args:
        pile: The ranks laid since the count last began, four bits each, the last card lowest.
        size: How many cards the pile holds, at least 1.
        count: The sum of their pips.
    """
    points = 2 if count in (FIFTEEN, THIRTY_ONE) else 0
    # Cards of one rank laid last without a gap: 2, 6 or 12. Sums instead of branches, since no
    # processor can foresee what will be laid.
    first, second, third, fourth = pile & 15, (pile >> 4) & 15, (pile >> 8) & 15, (pile >> 12) & 15
    pair = int(first == second) & int(size >= 2)
    royal = pair & int(first == third) & int(size >= 3)
    double_royal = royal & int(first == fourth) & int(size >= 4)
    points += 2 * pair + 4 * royal + 6 * double_royal
    # Most piles hold no run: the last three cards must differ and lie close enough together.
    lowest = min(first, second, third)
    highest = max(first, second, third)
    if size < 3 or highest - lowest >= size or first in (second, third) or second == third:
        return points
    return points + pegging_run(pile, size)


@kernel
def pegging_run(pile: int, size: int) -> int:
    """Returns the longest run formed by the last cards of a pile, in any order; 0 if there is none.

    A repeated rank ends the search.
    """
    seen = 0
    lowest = highest = pile & 15
    run = 0
    for length in range(1, size + 1):
        rank = (pile >> (4 * (length - 1))) & 15
        if (seen >> rank) & 1:
            break
        seen |= 1 << rank
        lowest = min(lowest, rank)
        highest = max(highest, rank)
        if length >= 3 and highest - lowest == length - 1:
            run = length
    return run


@kernel
def reply_score(pile: int, size: int, count: int, rank: int) -> int:
    """Returns what a card of *rank* would peg on this pile, -1 if it would pass 31."""
    after = count + pips_of_rank(rank)
    if after > THIRTY_ONE:
        return -1
    return pegging_score((pile << 4) | rank, size + 1, after)
