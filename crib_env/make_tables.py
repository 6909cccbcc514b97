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
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import fifteens, pairs, runs
from crib_env.tables import CRIB_SCALE, CRIB_VARIANTS

Array = npt.NDArray[Any]
DATA = Path(__file__).parent / "data"

# Six cards, two players. The deals of an iteration are always the same: what moves is the throws,
# not the luck. In the last count, on other deals, the rarest pair is thrown 31,556 times: a
# standard error below 0.02.
DEALS = 20_000_000
FINAL_DEALS = 200_000_000
SETTLED = 0.015  # points: no entry moves more between iterations
MOST_ITERATIONS = 20

# The other variants: deals of an iteration, each time others. The table is the mean over the
# iterations after the first ones, which are still on their way.
AVERAGED_DEALS = {"five_card": 4_000_000, "three_player": 1_000_000, "four_player": 1_000_000}
ITERATIONS = 30
FIRST_ITERATIONS = 10
CHECK_DEALS = 5_000_000  # on which the error that remains is measured


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
    players: int,
    cards_dealt: int,
    cribs: Array,
    deals: int,
    seed: int,
    totals: Array,
    counts: Array,
) -> None:
    """Deals to players who throw by *cribs*, and adds up what the crib is worth.

    What is thrown tells of the hand that it is thrown from: four and five go to the other's crib
    from hands that hold no three or six, and meet them there. So whole deals are played, not a pair
    with a pack that lacks nothing else.

    Args:
        players: How many players; the first is the dealer, with four the third its partner.
        cards_dealt: How many cards each is dealt.
        cribs: Expected crib by cards thrown to that of one's own side and to another's,
            (2, 13, 13) int64.
        deals: How many deals.
        seed: Their luck.
        totals: (2, 13, 13) int64, by whose crib, then the ranks thrown, lower first: points summed
            over the cards that may be turned. Changed.
        counts: (2, 13, 13) int64, how many were thrown. Changed.
    """
    size = 2 if players == 2 else 1
    throws = np.zeros(4, np.int64)
    for deal in range(deals):
        pack = ALL_CARDS
        drawn = 0
        hand = 0
        crib = 0
        seat = 0
        block = 0
        while seat < players or bit_count(crib) < 4:
            words = philox(deal, block, 0, seed, 0, 0)
            block += 1
            for word in words:
                if seat == players and bit_count(crib) == 4:
                    break
                card = bit_of(random_card(pack, word))
                pack ^= card
                if seat == players:
                    crib |= card  # from the pack, with three players
                    continue
                hand |= card
                drawn += 1
                if drawn == cards_dealt:
                    own = seat % 2 == 0 and (players == 4 or seat == 0)
                    sign = 1 if own else -1
                    throws[seat] = expected_discard(hand, 0, size, cribs[0 if own else 1], sign)
                    crib |= throws[seat]
                    seat += 1
                    hand = 0
                    drawn = 0
        points = crib_over_starters(crib, pack)
        for player in range(players):
            own = player % 2 == 0 and (players == 4 or player == 0)
            low = lowest_bit(throws[player]) >> 2
            rest = throws[player] & (throws[player] - 1)
            high = lowest_bit(rest) >> 2 if rest else low
            totals[0 if own else 1, low, high] += points
            counts[0 if own else 1, low, high] += 1


@kernel
def crib_over_starters(crib: int, pack: int) -> int:
    """Returns the crib's points summed over every starter of *pack*; flushes need the starter."""
    total = starter_total(crib, pack)
    for suit in range(NUM_SUITS):
        if crib & CARDS_OF_SUIT[suit] == crib:
            # starter_total counts four for a flush of a hand, which a crib has only with the fifth.
            total -= 4 * (bit_count(pack) - bit_count(pack & CARDS_OF_SUIT[suit]))
    return total


def crib_tables(rules: Rules, cribs: Array, deals: int, seed: int) -> tuple[Array, Array]:
    """Returns expected cribs by cards thrown, own and another's, and how often those are thrown.

    Both (2, 13, 13) int64: in 1/CRIB_SCALE points, and counts, of pairs with the lower rank first.

    Args:
        rules: Of the variant.
        cribs: The tables by which the players throw, of the same form.
        deals: How many deals are played.
        seed: Their luck.
    """
    totals = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    counts = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    play_deals(rules.players, rules.cards_dealt, cribs, deals, seed, totals, counts)
    places = np.triu_indices(NUM_RANKS) if rules.num_discards == 2 else np.diag_indices(NUM_RANKS)
    rarest = min(side[places].min() for side in counts)
    print(f"{deals} deals, the rarest thrown {rarest} times", flush=True)
    if rarest == 0:
        raise RuntimeError(f"a throw is never made in {deals} deals: play more")
    starters = NUM_CARDS - rules.players * rules.cards_dealt - rules.crib_from_pack
    tables = np.zeros_like(totals)
    for side in range(2):
        means = totals[side][places] / (counts[side][places] * starters)
        tables[side][places] = np.rint(CRIB_SCALE * means).astype(np.int64)
        # Pairs are entered lower rank first, and read either way.
        tables[side] = np.triu(tables[side]) + np.triu(tables[side], 1).T
    return tables, counts


def make_cribs(variant: str) -> Array:
    """Returns the expected own and other cribs of a variant, all throwing by the tables themselves.

    (2, 13, 13) int64 in 1/CRIB_SCALE points.
    """
    return settled_cribs() if variant == "six_card" else averaged_cribs(variant)


def settled_cribs() -> Array:
    """Returns the tables of six cards (see `make_cribs`).

    Starts without knowledge of the crib and iterates until no entry moves by SETTLED points, then
    plays more deals, not seen before.
    """
    rules = PRESETS["six_card"]
    cribs = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    for iteration in range(MOST_ITERATIONS):
        before = cribs
        cribs, _ = crib_tables(rules, cribs, DEALS, 1)
        moved = abs(cribs - before).max() / CRIB_SCALE
        print(f"iteration {iteration}: largest move {moved:.3f} points", flush=True)
        if moved < SETTLED:
            break
    else:
        raise RuntimeError(f"the tables have not settled in {MOST_ITERATIONS} iterations")
    return crib_tables(rules, cribs, FINAL_DEALS, 2)[0]


def averaged_cribs(variant: str) -> Array:
    """Returns the tables of a variant whose iteration does not settle (see `make_cribs`).

    With three players and four, throws answer each other to and fro. Half a step at a time calms
    that; what stays is a flutter of some hundredths of a point, since many hands at once stand on
    the brink between two throws (a hand's worth comes in whole 47ths). So the table is the mean of
    those by which the players threw, as in fictitious play (Brown, 1951).
    """
    rules = PRESETS[variant]
    cribs = np.zeros((2, NUM_RANKS, NUM_RANKS), np.int64)
    cribs, _ = crib_tables(rules, cribs, AVERAGED_DEALS[variant], 1)
    thrown_by = []
    for iteration in range(ITERATIONS):
        thrown_by.append(cribs)
        measured, _ = crib_tables(rules, cribs, AVERAGED_DEALS[variant], iteration + 2)
        cribs = (cribs + measured) // 2
    cribs = np.asarray(np.rint(np.mean(thrown_by[FIRST_ITERATIONS:], axis=0)), np.int64)
    largest, mean = crib_error(rules, cribs, CHECK_DEALS, ITERATIONS + 2)
    print(f"{variant}: off by {largest:.3f} points at most, {mean:.3f} in the mean", flush=True)
    return cribs


def crib_error(rules: Rules, cribs: Array, deals: int, seed: int) -> tuple[float, float]:
    """Returns how far off the tables are from what the crib is worth to those who throw by them.

    In points: the largest error of a throw that is made in one deal of a hundred or more, and the
    root of the mean square over all throws made.
    """
    measured, counts = crib_tables(rules, cribs, deals, seed)
    off = abs(measured - cribs) / CRIB_SCALE
    return off[counts >= deals / 100].max(), float(np.sqrt(np.average(off**2, weights=counts)))


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
        save("cribs", **{name: make_cribs(name).astype(np.int32) for name in CRIB_VARIANTS})
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
