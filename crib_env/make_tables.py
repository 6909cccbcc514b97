"""Makes the tables of `crib_env/data` anew.

    python -m crib_env.make_tables hands    points of ranks in the show; exact, seconds
    python -m crib_env.make_tables cribs    expected cribs by pair thrown; about ten minutes
    python -m crib_env.make_tables win_probability    chances by score; under four minutes

Each file is written whole or not at all. The kernels here run on tables passed to them, not on the
ones they are about to replace.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.bots import expected_discard, random_card, starter_total
from crib_env.cards import ALL_CARDS, CARDS_OF_SUIT, NUM_CARDS, NUM_RANKS, NUM_SUITS, bit_of
from crib_env.kernel import bit_count, kernel, lowest_bit
from crib_env.luck import philox
from crib_env.make_win_probability import make_win_probability
from crib_env.scoring import fifteens, pairs, runs
from crib_env.tables import CRIB_SCALE

Array = npt.NDArray[Any]
DATA = Path(__file__).parent / "data"

DEALS = 20_000_000  # in each iteration, always the same: what moves is the throws, not the luck
FINAL_DEALS = 200_000_000  # the rarest pair is thrown 31,556 times: a standard error below 0.02
SETTLED = 0.015  # points: no entry moves more between iterations
MOST_ITERATIONS = 20


@kernel
def fill_points(size: int, out: Array) -> None:
    """Writes fifteens, pairs and runs of every *size* ranks, digits to the base 13. Changes *out*.

    Ranks that stand there five times are no cards and score 0.
    """
    for index in range(len(out)):
        cards = 0
        rest = index
        possible = True
        for _ in range(size):
            rank = rest % NUM_RANKS
            rest //= NUM_RANKS
            suit = bit_count(cards & (15 << (4 * rank)))
            if suit == NUM_SUITS:
                possible = False
                break
            cards |= bit_of(4 * rank + suit)
        if possible:
            out[index] = fifteens(cards) + pairs(cards) + runs(cards)


@kernel
def play_deals(
    own: Array, other: Array, deals: int, seed: int, totals: Array, counts: Array
) -> None:
    """Deals to two players who throw by *own* and *other*, and adds up what the crib is worth.

    What is thrown tells of the hand that it is thrown from: four and five go to the other's crib
    from hands that hold no three or six, and meet them there. So whole deals are played, not a pair
    with a pack that lacks nothing else.

    Args:
        own: Expected crib by pair thrown to one's own crib, (13, 13) int64.
        other: The same to the other's crib.
        deals: How many deals.
        seed: Their luck.
        totals: (2, 13, 13) int64, by dealer and pone, then the ranks thrown, lower first: points
            summed over the 40 cards that may be turned. Changed.
        counts: (2, 13, 13) int64, how many were thrown. Changed.
    """
    for deal in range(deals):
        pack = ALL_CARDS
        drawn = 0
        first = 0
        for block in range(3):
            words = philox(deal, block, 0, seed, 0, 0)
            for word in words:
                card = bit_of(random_card(pack, word))
                pack ^= card
                drawn += 1
                if drawn <= 6:
                    first |= card
        second = ALL_CARDS & ~pack & ~first
        thrown = expected_discard(first, 0, own, 1), expected_discard(second, 0, other, -1)
        points = crib_over_starters(thrown[0] | thrown[1], pack)
        for role in range(2):
            low = lowest_bit(thrown[role]) >> 2
            high = lowest_bit(thrown[role] & (thrown[role] - 1)) >> 2
            totals[role, low, high] += points
            counts[role, low, high] += 1


@kernel
def crib_over_starters(crib: int, pack: int) -> int:
    """Returns the crib's points summed over every starter of *pack*; flushes need the starter."""
    total = starter_total(crib, pack)
    for suit in range(NUM_SUITS):
        if crib & CARDS_OF_SUIT[suit] == crib:
            # starter_total counts four for a flush of a hand, which a crib has only with the fifth.
            total -= 4 * (bit_count(pack) - bit_count(pack & CARDS_OF_SUIT[suit]))
    return total


def crib_tables(own: Array, other: Array, deals: int, seed: int) -> tuple[Array, Array]:
    """Returns expected cribs by pair thrown, own and other's, (13, 13) int64 in 1/CRIB_SCALE.

    Args:
        own: The table by which the dealer throws.
        other: The table by which pone throws.
        deals: How many deals are played.
        seed: Their luck.
    """
    totals = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    counts = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    play_deals(own, other, deals, seed, totals, counts)
    upper = np.triu_indices(NUM_RANKS)
    print(f"{deals} deals, the rarest pair thrown {counts[:, *upper].min()} times", flush=True)
    if counts[:, *upper].min() == 0:
        raise RuntimeError(f"a pair is never thrown in {deals} deals: play more")
    starters = NUM_CARDS - 12
    below = np.tril_indices(NUM_RANKS, -1)
    counts[:, *below] = 1  # pairs are entered lower rank first
    tables = np.rint(CRIB_SCALE * totals / (counts * starters)).astype(np.int64)
    own, other = (np.triu(table) + np.triu(table, 1).T for table in tables)
    return own, other


def make_cribs() -> tuple[Array, Array]:
    """Returns the expected own and other's crib, both players throwing by the tables themselves.

    Starts without knowledge of the crib and iterates until no entry moves by SETTLED points, then
    plays more deals, not seen before.
    """
    own = np.zeros((NUM_RANKS, NUM_RANKS), np.int64)
    other = np.zeros((NUM_RANKS, NUM_RANKS), np.int64)
    for iteration in range(MOST_ITERATIONS):
        before = own, other
        own, other = crib_tables(own, other, DEALS, 1)
        moved = max(abs(own - before[0]).max(), abs(other - before[1]).max()) / CRIB_SCALE
        print(f"iteration {iteration}: largest move {moved:.3f} points", flush=True)
        if moved < SETTLED:
            break
    else:
        raise RuntimeError(f"the tables have not settled in {MOST_ITERATIONS} iterations")
    return crib_tables(own, other, FINAL_DEALS, 2)


def make_hands() -> tuple[Array, Array]:
    """Returns the points of every five and of every four ranks, (13**5,) and (13**4,) int8."""
    five = np.zeros(NUM_RANKS**5, np.int8)
    four = np.zeros(NUM_RANKS**4, np.int8)
    fill_points(5, five)
    fill_points(4, four)
    return five, four


def save(name: str, **tables: Array) -> None:
    """Writes tables to ``data/NAME.npz``, whole or not at all."""
    path = DATA / f"{name}.npz"
    partial = path.with_suffix(".partial.npz")
    np.savez_compressed(partial, allow_pickle=False, **tables)
    os.replace(partial, path)
    print(f"wrote {path.name}")


def main(arguments: list[str]) -> int:
    """Makes the tables named on the command line; returns the exit status."""
    if arguments == ["hands"]:
        five, four = make_hands()
        save("hands", points_of_five=five, points_of_four=four)
    elif arguments == ["cribs"]:
        own, other = make_cribs()
        save("cribs", own=own.astype(np.int32), other=other.astype(np.int32))
    elif arguments == ["win_probability"]:
        save("win_probability", **make_win_probability())
    else:
        print(
            f"make_tables {' '.join(arguments)}: allowed is one of: hands, cribs, win_probability",
            file=sys.stderr,
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
