"""Derived inputs: what a player can work out from its observation, worked out for a network.

Two inputs for each of the 52 cards: what the best throw with it is expected to be worth, and what
it pegs now. They are computed from a row of observations and nothing else, so nothing that its seat
may not know can be in them. No environment returns them unasked.

Axes: (N,) observations, (N, F) their entries, (N, D) derived inputs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.bots import counted, crib_table_of, first_throw, next_throw, throw_value
from crib_env.cards import NUM_CARDS, rank_of
from crib_env.dealing import side_of
from crib_env.game import is_claiming, legal
from crib_env.game_record import DISCARD, NUM_CLAIMS, Game
from crib_env.kernel import as_records, kernel, lowest_bit
from crib_env.observation import Field, fields_in_order, observation_size, recall
from crib_env.records import new_records
from crib_env.rules import Rules, RulesLike, rules_of
from crib_env.scoring import reply_score
from crib_env.tables import CRIB_SCALE

Array = npt.NDArray[Any]

# Points of a throw that become 0 and 1: no throw of any variant is worth less or more.
LEAST_THROW = -10
MOST_THROW = 30
# The most that one card pegs: the fourth of a rank for 12, at 31 for 2 more.
MOST_PEGGED = 14


def derived_layout(rules: Rules) -> dict[str, Field]:
    """Returns the named slices of the derived inputs, in order.

    The first two go by card, and are 0 for every card that the seat may not choose now.
    """
    num_starters = NUM_CARDS - rules.cards_dealt
    scaled = f"(points + {-LEAST_THROW}) / {MOST_THROW - LEAST_THROW}"
    rows: list[tuple[str, int, int, str]] = [
        (
            "throws",
            NUM_CARDS,
            1,
            "before the cut, for each card that may be thrown: the best throw with it, or the "
            "throw of it with the card thrown before, in expected points of the hand over all "
            f"{num_starters} starters, plus those of one's own crib or minus those of the "
            f"other's; {scaled}",
        ),
        (
            "pegs",
            NUM_CARDS,
            1,
            "in the play, for each card that may be laid: the points it pegs at once by 15, "
            f"31, pairs and runs, without the point for a go or the last card; "
            f"points / {MOST_PEGGED}",
        ),
    ]
    if rules.muggins != "none":
        meaning = (
            "where a claim or call is asked for: 1 for the points that are there, or were missed"
        )
        rows.append(("counts", NUM_CLAIMS, 1, meaning))
    return fields_in_order(rows)


def derived_size(rules: Rules) -> int:
    """Returns how many derived inputs there are."""
    return max(field.stop for field in derived_layout(rules).values())


def derived_inputs(
    observations: npt.NDArray[np.uint8], rules: RulesLike = None
) -> npt.NDArray[np.float32]:
    """Returns the derived inputs of observations, (N, D) float32 from 0 to 1 (`derived_layout`).

    All 0 where the seat is not to act, also once the game is over.

    Args:
        observations: (N, F) uint8, unscaled (`crib_env.observation.layout`).
        rules: The rules of the games observed, as `rules_of` takes them.

    Raises:
        ValueError: If the observations are not uint8 or not of the length that the rules give.
    """
    rules = rules_of(rules)
    size, derived = _sizes(rules)
    if observations.dtype != np.uint8 or observations.shape[1:] != (size,):
        raise ValueError(
            f"observations {observations.dtype} of shape {observations.shape}: "
            f"allowed is uint8 of shape (N, {size})"
        )
    out = np.zeros((len(observations), derived), np.float32)
    # A copy: strided or read-only arrays would have kernels compiled anew for them.
    derive_all(np.array(observations, order="C"), as_records(new_records(1, rules)), out)
    return out


@cache
def _sizes(rules: Rules) -> tuple[int, int]:
    """Returns the lengths of an observation and of its derived inputs, which each step asks for."""
    return observation_size(rules), derived_size(rules)


@kernel
def derive_all(observations: Array, games: Array, out: Array) -> None:
    """Writes the derived inputs of each row of observations (N, F) into *out*, (N, D) zeros.

    Changes *out*, and *games*, one record in which the rules stand, to recall each row in.
    """
    game = games[0]
    for row in range(len(observations)):
        recall(observations[row], game)
        if game.phase == DISCARD:
            write_throws(game, out[row, :NUM_CARDS])
        elif is_claiming(game):
            if game.turn == 0:
                out[row, 2 * NUM_CARDS + counted(game)] = 1.0
        else:
            write_pegs(game, out[row, NUM_CARDS : 2 * NUM_CARDS])


@kernel
def write_throws(game: Game, out: Array) -> None:
    """Writes for each card that seat 0 may throw the best throw with it, (52,). Changes *out*."""
    thrown = int(game.discards[0])
    legal_cards = legal(game, 0)
    cards = legal_cards | thrown
    own = side_of(game, game.dealer) == 0
    table = crib_table_of(int(game.players), int(game.cards_dealt), own)
    span = float(MOST_THROW - LEAST_THROW) * CRIB_SCALE * (NUM_CARDS - int(game.cards_dealt))
    least = float(LEAST_THROW) * CRIB_SCALE * (NUM_CARDS - int(game.cards_dealt))
    throw = first_throw(cards, int(game.num_discards)) if legal_cards else 0
    while throw:
        if thrown & ~throw == 0:
            scaled = (throw_value(cards, throw, table, 1 if own else -1) - least) / span
            rest = throw & legal_cards
            while rest:
                card = lowest_bit(rest)
                rest &= rest - 1
                out[card] = max(out[card], scaled)
        throw = next_throw(cards, throw)


@kernel
def write_pegs(game: Game, out: Array) -> None:
    """Writes for each card that seat 0 may lay what it pegs at once, (52,). Changes *out*."""
    cards = legal(game, 0)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        points = reply_score(int(game.pile), int(game.pile_size), int(game.count), rank_of(card))
        out[card] = points / MOST_PEGGED
