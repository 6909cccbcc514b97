"""Makes the table of win probabilities by score at the start of a deal.

    python -m crib_env.make_tables win_probability    under four minutes on one core

`expert` plays both seats. It never looks at the score, so a whole deal can be played once, at 0-0,
and counted for every score: what matters is who reaches which number of points first. That depends
on the order in which the points of a deal are pegged, and only the rule book knows it. A table of
what both peg in a deal, pone winning where both get there, is right at 0-0 and wrong by 0.92 where
the dealer has 120 points and pone 117.

What is counted is exact for the deals that were played, so the error is theirs alone: the table is
that of a game whose deals are drawn from the deals played here. Axes: (B,) batches of deals, (122,
122) points of a deal, dealer's then pone's, (121, 121) scores, dealer's then pone's.
"""

from __future__ import annotations

from math import fsum, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.bots import EXPERT, bot_move
from crib_env.dealing import left_of, start_game
from crib_env.game_record import RECORD
from crib_env.kernel import as_records, kernel
from crib_env.rules import MAX_TARGET

Array = npt.NDArray[Any]

BATCHES = 20  # the spread of their tables is the standard error
DEALS = 250_000  # in each batch at first; doubled until the table has settled
SETTLED = 0.0001  # no cell has a greater standard error
MOST_DOUBLINGS = 8
SEED = 1


@kernel
def count_deals(
    games: Array, lane: int, deals: int, scratch: Array, reached: Array, totals: Array
) -> None:
    """Lets expert play whole deals against itself and counts who reached what, and when.

    Every deal is the first of a game of its own, from 0-0. No deal can end one: a player pegs at
    most 14 and a go with each of four cards, two hands of 29 and two for his heels, 120 in all.

    Args:
        games: (N,) records of two players to 121, each at the start of a game; changed.
        lane: Which of them deals; left at the start of the game after the last that was played.
        deals: How many deals.
        scratch: (2,) records to work with; changed.
        reached: (122, 122) int64; at [a, q], in how many deals the dealer reached *a* points when
            pone had *q*. Changed.
        totals: (122, 122) int64; at [d, p], in how many deals the two pegged *d* and *p* points.
            Changed.
    """
    game = games[lane]
    for _ in range(deals):
        dealer = int(game.dealer)
        pone = left_of(game, dealer)
        while game.deal_number == 0:
            dealer_before, pone_before = int(game.scores[dealer]), int(game.scores[pone])
            scratch[0] = game
            bot_move(EXPERT, game)
            both = game.scores[dealer] != dealer_before and game.scores[pone] != pone_before
            for points in range(dealer_before + 1, game.scores[dealer] + 1):
                pone_then = pone_before
                if both:
                    # The last card and the show are one move. Who pegs first is asked of the rule
                    # book: the move is made again in a game that the dealer wins with this point.
                    scratch[1] = scratch[0]
                    again = scratch[1]
                    again.scores[dealer] = again.target - (points - dealer_before)
                    bot_move(EXPERT, again)
                    pone_then = int(again.scores[pone])
                reached[points, pone_then] += 1
        totals[game.scores[dealer], game.scores[pone]] += 1
        game.game_number += 1
        start_game(game)


@kernel
def fill_win_probability(won: Array, totals: Array, deals: int, table: Array) -> None:
    """Works out the table from the end of the game backwards. Changes *table*, (121, 121) float64.

    The dealer wins in this deal, or it ends with neither at the target and the other deals:
    P(x, y) = W(x, y) + sum over d, p of N(d, p) (1 - P(y + p, x + d)), x + d and y + p below 121.
    Each term has more points on the board than x + y, since every deal pegs some.

    Args:
        won: (122, 122) int64; at [a, b], in how many deals the dealer reached *a* points before
            pone reached *b*.
        totals: (122, 122) int64, what both pegged in the deals, as `count_deals` counts; [0, 0] is
            0.
        deals: How many deals.
        table: By the dealer's and pone's score.
    """
    target = len(table)
    for board in range(2 * target - 2, -1, -1):
        for dealer in range(max(0, board - target + 1), min(board, target - 1) + 1):
            pone = board - dealer
            value = float(won[target - dealer, target - pone])
            for first in range(target - dealer):
                for second in range(target - pone):
                    count = totals[first, second]
                    if count:
                        value += count * (1.0 - table[pone + second, dealer + first])
            table[dealer, pone] = value / deals


@kernel
def fill_deal_starts(totals: Array, deals: int, table: Array) -> None:
    """Works out how many deals of a game from 0-0 start at each score. Changes *table*.

    Args:
        totals: (122, 122) int64, what both pegged in the deals, as `count_deals` counts; [0, 0] is
            0.
        deals: How many deals.
        table: (121, 121) float64, zeros; becomes deals a game, by the dealer's and pone's score.
    """
    target = len(table)
    table[0, 0] = 1.0
    for board in range(2 * target - 1):
        for dealer in range(max(0, board - target + 1), min(board, target - 1) + 1):
            pone = board - dealer
            for first in range(target - dealer):
                for second in range(target - pone):
                    count = totals[first, second]
                    if count:
                        here = table[dealer, pone]
                        table[pone + second, dealer + first] += here * count / deals


def win_probability(reached: Array, totals: Array) -> Array:
    """Returns how often the dealer of a deal wins the game, (121, 121) float64, by both scores.

    Args:
        reached: What `count_deals` counts, (122, 122) int64.
        totals: The same.

    Raises:
        ValueError: If a deal pegged nothing: no rules of cribbage allow that (R11).
    """
    if totals[0, 0]:
        raise ValueError(f"{totals[0, 0]} deals without a point: allowed is none")
    # Who needs b points more has not won before the dealer's last one while at b - 1 or fewer.
    won = np.zeros_like(reached)
    won[:, 1:] = np.cumsum(reached, axis=1)[:, :-1]
    table = np.zeros((MAX_TARGET, MAX_TARGET))
    fill_win_probability(won, totals, int(totals.sum()), table)
    return table


def deal_starts(totals: Array) -> Array:
    """Returns the share of deals that start at each score, (121, 121) float64, in games from 0-0.

    Args:
        totals: What `count_deals` counts, (122, 122) int64.
    """
    table = np.zeros((MAX_TARGET, MAX_TARGET))
    fill_deal_starts(totals, int(totals.sum()), table)
    # A sum that does not depend on the order of adding: the same file on every machine.
    return table / fsum(table.ravel())


def standard_error(reached: Array, totals: Array) -> Array:
    """Returns the standard error of each cell of the table of all batches, (121, 121) float64.

    Args:
        reached: What `count_deals` counts, (B, 122, 122) int64.
        totals: The same.
    """
    tables = [win_probability(*batch) for batch in zip(reached, totals, strict=True)]
    spread: Array = np.std(tables, axis=0, ddof=1) / sqrt(len(tables))
    return spread


def make_win_probability(
    deals: int = DEALS, settled: float = SETTLED, seed: int = SEED
) -> dict[str, Array]:
    """Returns the tables of ``data/win_probability.npz`` by name.

    Plays `BATCHES` batches of deals, and as many again as were played before, until no cell of the
    table has a standard error above *settled*.

    Args:
        deals: How many deals there are in a batch at first.
        settled: The greatest standard error allowed.
        seed: Lane i of its games deals batch i.

    Raises:
        RuntimeError: If the table has not settled after MOST_DOUBLINGS doublings.
    """
    games = as_records(Games(BATCHES, seed=seed, first_dealer=0).records)
    scratch = as_records(np.zeros(2, RECORD))
    points = BATCHES, MAX_TARGET + 1, MAX_TARGET + 1
    reached, totals = np.zeros(points, np.int64), np.zeros(points, np.int64)
    for _ in range(MOST_DOUBLINGS + 1):
        for lane in range(BATCHES):
            count_deals(games, lane, deals, scratch, reached[lane], totals[lane])
        table = win_probability(reached.sum(axis=0), totals.sum(axis=0))
        error = standard_error(reached, totals)
        played = int(totals.sum())
        print(
            f"{played} deals: first dealer wins {table[0, 0]:.5f}, greatest standard error "
            f"{error.max():.6f}",
            flush=True,
        )
        if error.max() <= settled:
            return {
                "win_probability": table,
                "standard_error": error.astype(np.float32),
                "deal_starts": deal_starts(totals.sum(axis=0)),
                "deals": np.array(played),
            }
        deals = played // BATCHES
    raise RuntimeError(f"the table has not settled after {MOST_DOUBLINGS} doublings")
