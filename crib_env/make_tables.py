"""Makes the tables of `crib_env/data` anew.

    python -m crib_env.make_tables hands    points of ranks in the show; exact, seconds
    python -m crib_env.make_tables cribs    expected cribs by pair thrown; about five minutes

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
from crib_env.kernel import bit_count, kernel
from crib_env.luck import philox
from crib_env.scoring import fifteens, pairs, runs
from crib_env.tables import CRIB_SCALE

Array = npt.NDArray[Any]
DATA = Path(__file__).parent / "data"

SAMPLES = 100_000  # deals per pair thrown and iteration: a standard error of about 0.006 points
FINAL_SAMPLES = 1_000_000  # 0.002 points
SETTLED = (
    0.04  # points: no entry moves more between iterations; about the noise of the largest of 182
)
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
def crib_total(low: int, high: int, table: Array, sign: int, samples: int, seed: int) -> int:
    """Returns the crib summed over starters and *samples* deals, one pair of ranks being thrown.

    The other's six cards come from the rest of the pack; it throws by exact expectation with
    *table* and *sign* (`bots.expected_discard`). Each sample is the sum over the 44
    cards left to turn.
    """
    total = 0
    for sample in range(samples):
        # Suits of the pair, then the other's six cards; one block is four draws.
        words = philox(sample, 0, 16 * low + high, seed, 0, 0)
        first_suit = words[0] & 3
        second_suit = words[1] & 3
        if low == high:
            second_suit = (first_suit + 1 + words[1] % 3) & 3
        pair = bit_of(4 * low + first_suit) | bit_of(4 * high + second_suit)
        pack = ALL_CARDS & ~pair
        hand = 0
        block = 1
        while bit_count(hand) < 6:
            words = philox(sample, block, 16 * low + high, seed, 0, 0)
            block += 1
            for word in words:
                if bit_count(hand) < 6:
                    card = bit_of(random_card(pack, word))
                    hand |= card
                    pack ^= card
        thrown = expected_discard(hand, 0, table, sign)
        total += crib_over_starters(pair | thrown, pack)
    return total


@kernel
def crib_over_starters(crib: int, pack: int) -> int:
    """Returns the crib's points summed over every starter of *pack*; flushes need the starter."""
    total = starter_total(crib, pack)
    for suit in range(NUM_SUITS):
        if crib & CARDS_OF_SUIT[suit] == crib:
            # starter_total counts four for a flush of a hand, which a crib has only with the fifth.
            total -= 4 * (bit_count(pack) - bit_count(pack & CARDS_OF_SUIT[suit]))
    return total


def crib_table(other_table: Array, sign: int, samples: int, seed: int) -> Array:
    """Returns the expected crib by pair thrown, (13, 13) int32 in 1/CRIB_SCALE points.

    Args:
        other_table: The table by which the other throws.
        sign: 1 if the crib is the other's, -1 if it is one's own.
        samples: Deals for each pair.
        seed: Their luck.
    """
    starters = NUM_CARDS - 8
    table = np.zeros((NUM_RANKS, NUM_RANKS), np.int32)
    for low in range(NUM_RANKS):
        for high in range(low, NUM_RANKS):
            total = crib_total(low, high, other_table, sign, samples, seed)
            table[low, high] = table[high, low] = round(CRIB_SCALE * total / (samples * starters))
    return table


def make_cribs() -> tuple[Array, Array]:
    """Returns the expected own and other's crib, both seats throwing by the tables themselves.

    Starts without knowledge of the crib and iterates until no entry moves by SETTLED points, then
    once more with more deals.
    """
    own = np.zeros((NUM_RANKS, NUM_RANKS), np.int64)
    other = np.zeros((NUM_RANKS, NUM_RANKS), np.int64)
    for iteration in range(MOST_ITERATIONS + 1):
        moved = np.inf
        last = iteration == MOST_ITERATIONS
        samples = FINAL_SAMPLES if last else SAMPLES
        before = own, other
        own = crib_table(before[1], -1, samples, 2 * iteration).astype(np.int64)
        other = crib_table(before[0], 1, samples, 2 * iteration + 1).astype(np.int64)
        moved = max(abs(own - before[0]).max(), abs(other - before[1]).max()) / CRIB_SCALE
        print(
            f"iteration {iteration}: {samples} deals a pair, largest move {moved:.3f} points",
            flush=True,
        )
        if moved < SETTLED and not last:
            own, other = (
                crib_table(other, -1, FINAL_SAMPLES, 2 * MOST_ITERATIONS).astype(np.int64),
                crib_table(own, 1, FINAL_SAMPLES, 2 * MOST_ITERATIONS + 1).astype(np.int64),
            )
            break
    return own, other


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
    else:
        print(
            f"make_tables {' '.join(arguments)}: allowed is one of: hands, cribs", file=sys.stderr
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
