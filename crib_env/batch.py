"""`Games`: many games at once, for self-play, search and environments.

Axes: (N,) lanes, (N, F) observations, (N, A) action masks. Both seats are open to the caller, who
decides what a player is shown: `observe` is what its seat may know, `privileged` what it may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from crib_env.bots import BOTS
from crib_env.cards import NO_CARD, NUM_CARDS, card_text, cards_text
from crib_env.game import (
    ALTERNATE,
    CUT,
    MAX_PLAYERS,
    OVER,
    RECORD,
)
from crib_env.kernel import as_records
from crib_env.loops import (
    OUTSIDE,
    apply_all,
    fill_lane_seeds,
    first_illegal,
    lay_out,
    luck_all,
    masks_all,
    next_all,
    observe_all,
    play_bots,
    privileged_all,
    redeal_all,
    start_all,
)
from crib_env.luck import STREAM_LANES, STREAM_REDEAL, WORD, check_seed
from crib_env.observation import (
    observation_size,
    privileged_size,
)
from crib_env.position import Position, hands_array, position_text
from crib_env.rules import Rules

Array = npt.NDArray[Any]
FirstDealer = Literal["alternate", "cut"] | int


class IllegalActionError(ValueError):
    """An action that the rules do not allow in this position; nothing has been changed."""


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


class Games:
    """A batch of *n* games, one a lane.

    Lane i plays the games of its own seed: it equals a single game with that seed. A finished lane
    stays as it ended until `next_game` is called for it. What its properties return is the caller's
    own: a copy of what stood there.

    Args:
        n: How many lanes, 1 or more.
        rules: The rules of every lane.
        seed: One seed, from which lane i takes `lane_seed(seed, i)`, or a list of *n* lane seeds.
        first_dealer: ``"alternate"`` cuts for the lane's first deal and then alternates from game
            to game, ``"cut"`` cuts for each game, a seat deals first in every game.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        n: int,
        rules: Rules | None = None,
        seed: int | Sequence[int] | npt.NDArray[np.uint64] = 0,
        first_dealer: FirstDealer = "alternate",
    ) -> None:
        """Starts the first game of every lane."""
        whole = isinstance(n, (int, np.integer)) and n is not True  # type: ignore[redundant-expr]  # of users
        if not whole or n < 1:
            raise ValueError(f"n={n!r}: allowed is a whole number of lanes, 1 or more")
        if not (rules is None or isinstance(rules, Rules)):
            raise ValueError(f"rules={rules!r}: allowed is a crib_env.Rules")
        n = int(n)
        self.rules = rules or Rules()
        self.records = new_records(n, self.rules)
        self.records["first_dealer"] = first_dealer_code(first_dealer, self.rules)
        if np.ndim(seed) == 0:
            seeds = lane_seeds(cast(int, seed), n)
        else:
            given = cast(Sequence[int], seed)
            if len(given) != n:
                raise ValueError(
                    f"{len(given)} lane seeds for {n} lanes: give one seed, or one a lane"
                )
            seeds = np.array([check_seed(one) for one in given], np.uint64)
        self._set_seeds(seeds)
        self._bind()
        start_all(self._games, self._lanes)

    def _set_seeds(self, seeds: npt.NDArray[np.uint64]) -> None:
        """Writes lane seeds into the records."""
        self.records["seed"][:, 0] = seeds & np.uint64(WORD)
        self.records["seed"][:, 1] = seeds >> np.uint64(32)

    def _bind(self) -> None:
        """Sets what follows from the records."""
        self._games = as_records(self.records)
        self._lanes = np.arange(len(self.records))
        self.observation_size = observation_size(self.rules)
        self.privileged_size = privileged_size(self.rules)
        self.num_actions = self.rules.num_actions

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a pickle or a copy holds: views would come apart from the records."""
        return {"rules": self.rules, "records": self.records.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the games; they go on with the same cards."""
        self.rules = state["rules"]
        self.records = state["records"]
        self._bind()

    def __len__(self) -> int:
        """Returns the number of lanes."""
        return len(self.records)

    def copy(self, lanes: npt.ArrayLike | None = None) -> Games:
        """Returns an independent copy, or one of the *lanes* named, in that order, repeats allowed.

        The copy goes on with the same cards: seeds are copied too (`redeal_hidden` changes them).
        """
        copied = object.__new__(Games)
        copied.rules = self.rules
        copied.records = self.records[self._which(lanes)]
        copied._bind()
        return copied

    @property
    def turn(self) -> npt.NDArray[np.int8]:
        """The seat to act, (N,) int8; meaningless where the game is over."""
        return self.records["turn"].copy()

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Whether the game of each lane is over, (N,) bool."""
        over: npt.NDArray[np.bool_] = self.records["phase"] == OVER
        return over

    @property
    def winner(self) -> npt.NDArray[np.int8]:
        """The side that has won, -1 before, (N,) int8."""
        return self.records["winner"].copy()

    @property
    def scores(self) -> npt.NDArray[np.int16]:
        """The score of each side, (N, sides) int16, at most the target."""
        return self.records["scores"][:, : self.rules.sides].copy()

    @property
    def points(self) -> npt.NDArray[np.int16]:
        """Points pegged in this game by seat, `Source` and `Role`, (N, players, 4, 2) int16."""
        return self.records["points"][:, : self.rules.players].copy()

    def _which(self, lanes: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        """Returns lanes as indices; a boolean array picks its true ones."""
        if lanes is None:
            return self._lanes
        chosen = np.asarray(lanes)
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(self),):
                raise ValueError(f"a lane mask of shape {chosen.shape}: allowed is ({len(self)},)")
            return np.flatnonzero(chosen)
        chosen = np.atleast_1d(chosen)
        if chosen.ndim > 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
            raise ValueError(
                f"lanes {chosen.dtype} of shape {chosen.shape}: allowed are ints in one row"
            )
        chosen = chosen.astype(np.int64)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            raise ValueError(
                f"lanes {chosen.min()} to {chosen.max()}: allowed is 0 to {len(self) - 1}"
            )
        return chosen

    def _seats(
        self, players: npt.ArrayLike | None, lanes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Returns a seat for each lane; by default the one to act."""
        if players is None:
            turns = self.records["turn"] if lanes is self._lanes else self.records["turn"][lanes]
            return turns.astype(np.int64)
        seats = np.broadcast_to(np.asarray(players, np.int64), lanes.shape)
        if seats.size and not (seats.min() >= 0 and seats.max() < self.rules.players):
            raise ValueError(
                f"players {seats.min()} to {seats.max()}: allowed is 0 to {self.rules.players - 1}"
            )
        return np.ascontiguousarray(seats)

    def observe(
        self,
        players: npt.ArrayLike | None = None,
        lanes: npt.ArrayLike | None = None,
        out: npt.NDArray[np.uint8] | None = None,
    ) -> npt.NDArray[np.uint8]:
        """Returns what a seat may know in each lane, (M, F) uint8 (`observation.layout`).

        Args:
            players: The seat that observes, one or one a lane; by default the seat to act.
            lanes: Which lanes, as indices or a boolean mask; by default all.
            out: An array to write into, (M, F) uint8.
        """
        which = self._which(lanes)
        out = checked_out(out, (len(which), self.observation_size), np.uint8)
        observe_all(self._games, which, self._seats(players, which), out)
        return out

    def action_masks(
        self,
        players: npt.ArrayLike | None = None,
        lanes: npt.ArrayLike | None = None,
        out: npt.NDArray[np.int8] | None = None,
    ) -> npt.NDArray[np.int8]:
        """Returns 1 for each legal action, (M, A) int8; all 1 for a seat that is not to act.

        Args:
            players: The seat asked for, one or one a lane; by default the seat to act.
            lanes: Which lanes, as indices or a boolean mask; by default all.
            out: An array to write into, (M, A) int8.
        """
        which = self._which(lanes)
        out = checked_out(out, (len(which), self.num_actions), np.int8)
        masks_all(self._games, which, self._seats(players, which), out)
        return out

    def privileged(
        self,
        players: npt.ArrayLike | None = None,
        lanes: npt.ArrayLike | None = None,
        out: npt.NDArray[np.uint8] | None = None,
    ) -> npt.NDArray[np.uint8]:
        """Returns what a seat may *not* know, (M, P) uint8 (`observation.privileged_layout`).

        For critics in training. No policy takes it: it is of another length than an observation.
        """
        which = self._which(lanes)
        out = checked_out(out, (len(which), self.privileged_size), np.uint8)
        privileged_all(self._games, which, self._seats(players, which), out)
        return out

    def luck(self, lanes: npt.ArrayLike | None = None) -> npt.NDArray[np.uint64]:
        """Returns 64 random bits for the decision of the seat to act in each lane, (M,) uint64.

        They depend on (seed, game, deal, role, decision) alone: not on the batch, not on others.
        """
        which = self._which(lanes)
        words = np.empty((len(which), 2), np.uint32)
        luck_all(self._games, which, words)
        return words[:, 0] | words[:, 1].astype(np.uint64) << np.uint64(32)

    def apply(self, actions: npt.ArrayLike, lanes: npt.ArrayLike | None = None) -> None:
        """Applies one action of the seat to act in each lane.

        Args:
            actions: (M,) ints, a card each.
            lanes: Which lanes, each at most once; by default all.

        Raises:
            IllegalActionError: If an action is not legal, a game over included; nothing is changed.
        """
        which = self._which(lanes)
        chosen = np.atleast_1d(np.asarray(actions))
        if chosen.shape == which.shape == (0,):
            return
        if chosen.shape != which.shape or not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(
                f"actions {chosen.dtype} of shape {chosen.shape}: allowed are ints of {which.shape}"
            )
        # A copy: strided or read-only arrays would have kernels compiled anew for them.
        chosen = chosen.astype(np.int64)
        if (
            lanes is not None
            and not np.all(which[1:] > which[:-1])
            and len(np.unique(which)) < len(which)
        ):
            raise ValueError("an action for one lane twice: name each lane at most once")
        bad = first_illegal(self._games, which, chosen)
        if bad >= 0:
            raise IllegalActionError(self.illegal_text(int(which[bad]), int(chosen[bad])))
        apply_all(self._games, which, chosen)

    def illegal_text(self, lane: int, action: int, player: int | None = None) -> str:
        """Returns one line that says why an action is not legal in a lane.

        Args:
            lane: Which lane.
            action: The action.
            player: The seat to whom the line shall tell no more than it knows; by default every
                hand is open.
        """
        game = self.records[lane]
        named = card_text(action) if 0 <= action < NUM_CARDS else "no card"
        if game["phase"] == OVER:
            allowed = "none, the game is over"
        else:
            mask = self.action_masks(lanes=[lane])[0]
            allowed = cards_text(np.flatnonzero(mask))
            if player is not None and player != game["turn"]:
                allowed = f"none, seat {game['turn']} is to act"
        where = "" if len(self) == 1 else f" in lane {lane}"
        position = position_text(game, player)
        return f"illegal action {action} ({named}){where}: allowed: {allowed}; {position}"

    def next_game(self, lanes: npt.ArrayLike | None = None) -> None:
        """Goes on to the next game of each lane, with new cards and the next first dealer.

        Args:
            lanes: Which lanes; by default those whose game is over.
        """
        next_all(self._games, np.unique(self._which(self.over if lanes is None else lanes)))

    def play_bots(self, seats: npt.ArrayLike, lanes: npt.ArrayLike | None = None) -> None:
        """Lets house players act until a seat without one is to act, or the game is over.

        Args:
            seats: (players,) or (N, players) ints: `Bot` numbers, or OUTSIDE (-1) for a seat whose
                actions come from the caller.
            lanes: Which lanes; by default all.
        """
        given = np.asarray(seats)
        if not np.issubdtype(given.dtype, np.integer):
            raise ValueError(f"house players {given.dtype}: allowed are ints")
        if not (given.min() >= OUTSIDE and given.max() < len(BOTS)):
            raise ValueError(
                f"house player {given.min()} to {given.max()}: allowed is -1 to {len(BOTS) - 1}"
            )
        held = np.broadcast_to(given.astype(np.int8), (len(self), self.rules.players))
        play_bots(self._games, self._which(lanes), np.ascontiguousarray(held))

    def set_position(self, lane: int, position: Position) -> None:
        """Sets a lane to a position, replayed through the rule book; the lane's seed stays.

        Raises:
            ValueError: If the position is impossible, in one line; the lane is unchanged.
        """
        position.check(self.rules)
        scratch = self.copy([lane])
        scores = np.zeros(MAX_PLAYERS, np.int64)
        scores[: self.rules.sides] = position.scores
        starter = NO_CARD if position.starter is None else position.starter
        lay_out(scratch._games, 0, hands_array(position), starter, position.dealer, scores)
        throws = []
        for step in range(1, self.rules.players + 1):
            seat = (position.dealer + step) % self.rules.players
            throws += list(position.discards[seat]) if position.discards else []
        for action in [*throws, *position.plays]:
            try:
                scratch.apply([action])
            except IllegalActionError as error:
                raise ValueError(f"position: {error}") from None
            if scratch.records["deal_number"][0]:
                raise ValueError("position: all cards are laid; the deal is over")
        self.records[lane] = scratch.records[0]

    def redeal_hidden(
        self, players: npt.ArrayLike, seed: int, lanes: npt.ArrayLike | None = None
    ) -> None:
        """Deals anew, in place, all that a seat cannot know: hands, throws, starter, cards to come.

        Every deal that fits what the seat has seen, go included, is alike likely.

        Args:
            players: Whose knowledge stays, one seat or one a lane.
            seed: The luck of it, another for each redeal; hashed with the lane in a stream of its
                own: redealt games have other cards to come than any batch that began with this
                seed, this one included.
            lanes: Which lanes; by default all.
        """
        which = self._which(lanes)
        seed = check_seed(seed)
        words = np.empty((len(self), 2), np.uint32)
        fill_lane_seeds(seed & WORD, seed >> 32, STREAM_REDEAL, words)
        redeal_all(self._games, which, self._seats(players, which), words[which])

    def text(self, lane: int) -> str:
        """Returns one line that says where a lane's game stands, every hand open."""
        return position_text(self.records[lane])
