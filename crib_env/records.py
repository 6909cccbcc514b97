"""Arrays of records: made, seeded, and checked where they come from outside.

Axes: (N,) games.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from crib_env.cards import ALL_CARDS, CARDS_UP_TO, NO_CARD, NUM_CARDS
from crib_env.checks import is_whole, named
from crib_env.game_record import (
    A_CRIB,
    A_HAND,
    ALTERNATE,
    CALL,
    CLAIM,
    CUT,
    DISCARD,
    LOSER,
    MAX_PLAYS,
    NOTHING,
    NUM_CLAIMS,
    OVER,
    PLAY,
    RECORD,
)
from crib_env.loops import fill_lane_seeds
from crib_env.luck import STREAM_LANES, WORD, check_seed
from crib_env.rules import MUGGINS_MODES, Rules
from crib_env.scoring import THIRTY_ONE

Array = npt.NDArray[Any]
MOST_LANES = np.iinfo(np.int32).max  # far more than any memory holds
MOST_IN_SHOW = 29  # points of a hand or crib
FirstDealer = Literal["alternate", "cut", "loser"] | int
FIRST_DEALER_CODES = {"alternate": ALTERNATE, "cut": CUT, "loser": LOSER}


def new_records(n: int, rules: Rules) -> Array:
    """Returns *n* blank records that carry the rules, (N,) of `RECORD`."""
    records = np.zeros(n, RECORD)
    records["players"] = rules.players
    records["sides"] = rules.sides
    records["cards_dealt"] = rules.cards_dealt
    records["num_discards"] = rules.num_discards
    records["crib_from_pack"] = rules.crib_from_pack
    records["muggins"] = MUGGINS_MODES.index(rules.muggins)
    records["muggins_penalty"] = rules.muggins_penalty
    records["target"] = rules.target
    records["first_dealer"] = ALTERNATE
    records["winner"] = -1
    records["starter"] = NO_CARD
    return records


def first_dealer_code(first_dealer: FirstDealer, rules: Rules) -> int:
    """Returns the record's code for a first dealer.

    Raises:
        ValueError: If it is no seat, ``"alternate"``, ``"cut"`` or ``"loser"``.
    """
    if isinstance(first_dealer, str) and first_dealer in FIRST_DEALER_CODES:
        return FIRST_DEALER_CODES[first_dealer]
    seat: Any = first_dealer
    if is_whole(seat) and 0 <= seat < rules.players:
        return int(seat)
    raise ValueError(
        f"first_dealer={named(first_dealer)}: allowed are 'alternate', 'cut', 'loser' and a seat "
        f"from 0 to {rules.players - 1}"
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
    """Refuses records that kernels, which check nothing, must not be given: some never come back.

    Args:
        records: (N,) of `RECORD`, from outside.
        like: Records that carry the rules.

    Raises:
        ValueError: Naming the field.
    """
    for name in (
        "players",
        "sides",
        "cards_dealt",
        "num_discards",
        "crib_from_pack",
        "target",
        "muggins",
        "muggins_penalty",
    ):
        if (records[name] != like[name][0]).any():
            raise ValueError(f"games: another {name!r} than {like[name][0]}")
    players = int(like["players"][0])
    for name, low, high in (
        ("game_number", 0, np.iinfo(np.int32).max - 1),
        ("deal_number", 0, np.iinfo(np.int32).max - 1),
        ("first_dealer", LOSER, players - 1),
        ("first_cut", 0, 2 * players - 1),
        ("phase", 0, CALL if like["muggins"][0] else OVER),
        ("dealer", 0, players - 1),
        ("turn", 0, players - 1),
        ("starter", NO_CARD, NUM_CARDS - 1),
        ("num_plays", 0, MAX_PLAYS),
        ("plays", NO_CARD, NUM_CARDS - 1),
        ("play_seats", -1, players - 1),
        ("count", 0, THIRTY_ONE),
        ("pile_size", 0, MAX_PLAYS),
        ("lacks", 0, THIRTY_ONE),
        ("gone", 0, (1 << players) - 1),
        ("winner", -1, int(like["sides"][0]) - 1),
        ("worth", 0, MOST_IN_SHOW),
        ("counting", NOTHING, A_CRIB if like["muggins"][0] else NOTHING),
        ("owner", -1, players - 1),
        ("true_points", 0, MOST_IN_SHOW),
        ("claimed", -1, NUM_CLAIMS - 1),
        ("missed", 0, MOST_IN_SHOW),
        ("called", -1, NUM_CLAIMS - 1),
        ("shown", 0, players + 1),
        ("scores", 0, int(like["target"][0])),
        ("hands", 0, ALL_CARDS),
        ("discards", 0, ALL_CARDS),
        ("crib", 0, ALL_CARDS),
    ):
        if not (records[name].min() >= low and records[name].max() <= high):
            raise ValueError(f"games: {name!r} out of range: allowed is {low} to {high}")
    _check_cards(records, like[0])
    _check_turns(records, like[0])


def _check_cards(records: Array, like: Any) -> None:
    """Refuses records whose cards are not those of one pack, dealt, thrown and laid by the rules.

    Args:
        records: (N,) of `RECORD`, each field in its range.
        like: One record that carries the rules.

    Raises:
        ValueError: Naming the field.
    """
    seats = np.arange(int(like["players"]))
    hands, discards = records["hands"][:, seats], records["discards"][:, seats]
    num_held = np.bitwise_count(hands).astype(np.int64)
    num_thrown = np.bitwise_count(discards).astype(np.int64)
    laid = np.arange(MAX_PLAYS) < records["num_plays"][:, None]
    laid_by = laid[:, None, :] & (records["play_seats"][:, None, :] == seats[:, None])
    plays, starters = (records[name].astype(np.int64) for name in ("plays", "starter"))
    plays = np.where(laid & (plays >= 0), 1 << plays.clip(0), 0)
    starters = np.where(starters >= 0, 1 << starters.clip(0), 0)
    sets = np.concatenate([hands, discards, plays, starters[:, None]], axis=1)
    num_cards = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
    all_thrown = num_thrown == like["num_discards"]
    crib = np.bitwise_or.reduce(np.where(all_thrown, discards, 0), axis=1)
    from_pack = records["crib"] & ~crib
    sets = np.concatenate([sets, from_pack[:, None]], axis=1)
    num_cards += np.bitwise_count(from_pack)
    _refuse_lanes("plays", (plays > 0).sum(axis=1) != records["num_plays"])
    _refuse_lanes("starter", (records["phase"] != DISCARD) & (starters == 0))
    _refuse_lanes("hands", num_cards != np.bitwise_count(np.bitwise_or.reduce(sets, axis=1)))
    dealt = num_held + num_thrown + laid_by.sum(axis=2)
    _refuse_lanes("hands", (dealt != like["cards_dealt"]).any(axis=1))
    _refuse_lanes("held", (records["held"][:, seats] != num_held).any(axis=1))
    _refuse_lanes("discards", (num_thrown > like["num_discards"]).any(axis=1))
    wrong = np.bitwise_count(from_pack) != like["crib_from_pack"]
    _refuse_lanes("crib", wrong | (crib & ~records["crib"] != 0))
    _refuse_lanes("phase", (records["phase"] == DISCARD) == all_thrown.all(axis=1))
    _refuse_lanes("num_plays", (records["phase"] == DISCARD) & (records["num_plays"] > 0))
    # The dealer's left throws first, the dealer last.
    order = (records["dealer"][:, None] + 1 + seats) % len(seats)
    in_order = np.take_along_axis(num_thrown, order, axis=1)
    early = (in_order[:, 1:] > 0) & (in_order[:, :-1] < like["num_discards"])
    _refuse_lanes("discards", early.any(axis=1))
    place = (in_order < like["num_discards"]).argmax(axis=1)
    asked = np.take_along_axis(order, place[:, None], axis=1)[:, 0]
    _refuse_lanes("turn", (records["phase"] == DISCARD) & (records["turn"] != asked))


def _check_turns(records: Array, like: Any) -> None:
    """Refuses records whose count, turn or end do not follow from their cards and scores.

    Args:
        records: (N,) of `RECORD`, their cards checked.
        like: One record that carries the rules.

    Raises:
        ValueError: Naming the field.
    """
    seats = np.arange(int(like["players"]))
    lanes = np.arange(len(records))
    hands = records["hands"][:, seats]
    plays = records["plays"].astype(np.int64)
    last = records["num_plays"].astype(np.int64)[:, None]
    place = np.arange(MAX_PLAYS)
    in_pile = (place < last) & (place >= last - records["pile_size"][:, None])
    pips = np.where(in_pile, np.minimum(plays // 4 + 1, 10), 0).sum(axis=1)
    pile = np.zeros(len(records), np.int64)
    for index in place:
        ranks = plays[:, index] // 4
        pile = np.where(in_pile[:, index], (pile << 4) | ranks, pile)
    _refuse_lanes("pile_size", records["pile_size"] > records["num_plays"])
    _refuse_lanes("count", records["count"] != pips)
    _refuse_lanes("pile", records["pile"] != pile)
    lacked = CARDS_UP_TO[records["lacks"][:, seats]]
    _refuse_lanes("lacks", (hands & lacked != 0).any(axis=1))
    fits = CARDS_UP_TO[THIRTY_ONE - records["count"]]
    cannot = hands[lanes, records["turn"]] & fits == 0
    _refuse_lanes("turn", (records["phase"] == PLAY) & cannot)
    at_target = records["scores"][:, : int(like["sides"])] == like["target"]
    won = records["winner"] >= 0
    wrong = np.where(won, ~at_target[lanes, records["winner"]], at_target.any(axis=1))
    _refuse_lanes("winner", wrong)
    five_card = like["players"] == 2 and like["cards_dealt"] == 5
    played_out = (records["one_deal"] == 1) & (five_card | ~hands.any(axis=1))
    over = records["phase"] == OVER
    _refuse_lanes("phase", (over & ~won & ~played_out) | (won & ~over))
    _check_claims(records, like)


def _check_claims(records: Array, like: Any) -> None:
    """Refuses records whose claim or calls are of another seat or time.

    Args:
        records: (N,) of `RECORD`, each field in its range.
        like: One record that carries the rules.

    Raises:
        ValueError: Naming the field.
    """
    phase, owner, turn = records["phase"], records["owner"], records["turn"]
    claiming = (phase == CLAIM) | (phase == CALL)
    counting = records["counting"] != NOTHING
    _refuse_lanes("counting", (claiming & ~counting) | (counting & ~claiming & (phase != OVER)))
    _refuse_lanes("owner", counting != (owner >= 0))
    _refuse_lanes("claimed", (phase == CLAIM) & (records["claimed"] >= 0))
    _refuse_lanes("claimed", (phase == CALL) & (records["claimed"] < 0))
    partners = turn % like["sides"] == owner % like["sides"]
    _refuse_lanes("turn", ((phase == CLAIM) & (turn != owner)) | ((phase == CALL) & partners))
    in_show = records["counting"] >= A_HAND
    _refuse_lanes(
        "shown", (like["muggins"] > 0) & (phase != OVER) & (in_show != (records["shown"] > 0))
    )


def _refuse_lanes(name: str, wrong: Array) -> None:
    """Raises ValueError, naming a field, if anything is wrong in a lane; *wrong* is (N,) bool."""
    if wrong.any():
        raise ValueError(f"games: {name!r} of lane {int(wrong.argmax())}: no game comes to this")


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
