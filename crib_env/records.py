"""Arrays of records: made, seeded, and checked where they come from outside.

Axes: (N,) games.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from crib_env.cards import ALL_CARDS, NO_CARD, NUM_CARDS
from crib_env.game import ALTERNATE, CUT, MAX_PLAYS, OVER, RECORD
from crib_env.loops import fill_lane_seeds
from crib_env.luck import STREAM_LANES, WORD, check_seed
from crib_env.rules import Rules
from crib_env.scoring import THIRTY_ONE

Array = npt.NDArray[Any]
FirstDealer = Literal["alternate", "cut"] | int


def new_records(n: int, rules: Rules) -> Array:
    """Returns *n* blank records that carry the rules, (N,) of `RECORD`."""
    records = np.zeros(n, RECORD)
    records["players"] = rules.players
    records["sides"] = rules.sides
    records["cards_dealt"] = rules.cards_dealt
    records["num_discards"] = rules.num_discards
    records["crib_from_pack"] = rules.crib_from_pack
    records["target"] = rules.target
    records["first_dealer"] = ALTERNATE
    records["winner"] = -1
    records["starter"] = NO_CARD
    return records


def first_dealer_code(first_dealer: FirstDealer, rules: Rules) -> int:
    """Returns the record's code for a first dealer.

    Raises:
        ValueError: If it is no seat, ``"alternate"`` or ``"cut"``.
    """
    if first_dealer == "alternate":
        return ALTERNATE
    if first_dealer == "cut":
        return CUT
    if (
        isinstance(first_dealer, (int, np.integer))  # type: ignore[redundant-expr]  # of users
        and first_dealer is not True
        and 0 <= first_dealer < rules.players
    ):
        return int(first_dealer)
    raise ValueError(
        f"first_dealer={first_dealer!r}: allowed are 'alternate', 'cut' and a seat from 0 to "
        f"{rules.players - 1}"
    )


def lane_seeds(seed: int, n: int) -> npt.NDArray[np.uint64]:
    """Returns the seeds of the *n* lanes of a batch with one seed, (N,) uint64 (`lane_seed`)."""
    seed = check_seed(seed)
    words = np.empty((n, 2), np.uint32)
    fill_lane_seeds(seed & WORD, seed >> 32, STREAM_LANES, words)
    return (
        words.view(np.uint64)[:, 0]
        if np.little_endian
        else words[:, ::-1].copy().view(np.uint64)[:, 0]
    )


def seed_words(seeds: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Returns lane seeds as low and high words, (N, 2) uint32."""
    seeds = np.asarray(seeds, np.uint64)
    words = np.stack([seeds & np.uint64(WORD), seeds >> np.uint64(32)], axis=1)
    return words.astype(np.uint32)


def check_records(records: Array, like: Array) -> None:
    """Refuses records that kernels, which check nothing, must not be given.

    Args:
        records: (N,) of `RECORD`, from outside.
        like: Records that carry the rules.

    Raises:
        ValueError: Naming the field.
    """
    for name in ("players", "sides", "cards_dealt", "num_discards", "crib_from_pack", "target"):
        if (records[name] != like[name][0]).any():
            raise ValueError(f"games: another {name!r} than {like[name][0]}")
    players = int(like["players"][0])
    for name, low, high in (
        ("first_dealer", CUT, players - 1),
        ("first_cut", 0, players - 1),
        ("phase", 0, OVER),
        ("dealer", 0, players - 1),
        ("turn", 0, players - 1),
        ("starter", NO_CARD, NUM_CARDS - 1),
        ("num_plays", 0, MAX_PLAYS),
        ("plays", NO_CARD, NUM_CARDS - 1),
        ("play_seats", -1, players - 1),
        ("count", 0, THIRTY_ONE),
        ("pile_size", 0, MAX_PLAYS),
        ("lacks", 0, THIRTY_ONE),
        ("scores", 0, int(like["target"][0])),
        ("hands", 0, ALL_CARDS),
        ("discards", 0, ALL_CARDS),
        ("crib", 0, ALL_CARDS),
    ):
        if not (records[name].min() >= low and records[name].max() <= high):
            raise ValueError(f"games: {name!r} out of range: allowed is {low} to {high}")


def checked_out(out: Array | None, shape: tuple[int, int], dtype: type) -> Array:
    """Returns the array to write into, a new one by default.

    Raises:
        ValueError: If it has another shape or type: compiled loops would write beside it.
    """
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"out {out.dtype} of shape {out.shape}: allowed is {np.dtype(dtype)} of {shape}"
        )
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out: allowed is a contiguous array that can be written to")
    return out
