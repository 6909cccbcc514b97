"""`Games`: many games at once, for self-play, search and environments.

Axes: (N,) lanes, (N, F) observations, (N, A) action masks. Both seats are open to the caller, who
decides what a player is shown: `observe` is what its seat may know, `privileged` what it may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from crib_env.bots import BOTS
from crib_env.cards import NO_CARD, NUM_CARDS, card_text, cards_in, cards_text
from crib_env.checks import is_array_of_whole, is_whole, named
from crib_env.game_record import (
    A_CARD,
    A_GO,
    CALL,
    CLAIM,
    CLAIM_ACTION,
    MAX_PLAYERS,
    NUM_CLAIMS,
    OVER,
)
from crib_env.kernel import as_records
from crib_env.loops import (
    OUTSIDE,
    apply_all,
    fill_lane_seeds,
    first_illegal,
    lay_out_one,
    luck_all,
    masks_all,
    next_all,
    observe_all,
    play_bots,
    privileged_all,
    redeal_all,
    reseed_all,
    start_all,
)
from crib_env.luck import STREAM_REDEAL, WORD, check_seed
from crib_env.observation import observation_size, privileged_size
from crib_env.position import Position, hands_array, position_text
from crib_env.records import (
    MOST_LANES,
    FirstDealer,
    checked_out,
    first_dealer_code,
    lane_seeds,
    new_records,
    seed_words,
)
from crib_env.redeal import NO_SEAT
from crib_env.rules import RulesLike, rules_of

Array = npt.NDArray[Any]


class IllegalActionError(ValueError):
    """An action that the rules do not allow in this position; nothing has been changed."""


class Games:
    """A batch of *n* games, one a lane.

    Lane i plays the games of its own seed: it equals a single game with that seed. A finished lane
    stays as it ended until `next_game` is called for it. What its properties return is the caller's
    own: a copy of what stood there.

    Args:
        n: How many lanes, 1 or more.
        rules: The rules of every lane: a `Rules`, a name of `PRESETS`, or a mapping of fields.
        seed: One seed, from which lane i takes `lane_seed(seed, i)`, or a list of *n* lane seeds.
        first_dealer: ``"alternate"`` cuts for the lane's first deal and then alternates from game
            to game, ``"cut"`` cuts for each game, ``"loser"`` leaves it to the loser of the game
            before, a seat deals first in every game.
        one_deal: Whether a game is a single deal: over after its crib, won or not.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        n: int,
        rules: RulesLike = None,
        seed: int | Sequence[int] | npt.NDArray[np.uint64] = 0,
        first_dealer: FirstDealer = "alternate",
        one_deal: bool = False,
    ) -> None:
        """Starts the first game of every lane."""
        if not (is_whole(n) and 1 <= n <= MOST_LANES):
            raise ValueError(f"n={named(n)}: allowed is a whole number of lanes, 1 to {MOST_LANES}")
        if not isinstance(one_deal, (bool, np.bool_)):
            raise ValueError(f"one_deal={named(one_deal)}: allowed are True and False")
        n = int(n)
        self.rules = rules_of(rules)
        self.records = new_records(n, self.rules)
        self.records["first_dealer"] = first_dealer_code(first_dealer, self.rules)
        self.records["one_deal"] = one_deal
        try:
            one_seed = np.ndim(seed) == 0
        except ValueError:  # rows of different lengths
            one_seed = False
        if one_seed:
            seeds = lane_seeds(cast(int, seed), n)
        else:
            given = cast(Sequence[int], seed)
            if len(given) != n:
                raise ValueError(
                    f"{len(given)} lane seeds for {n} lanes: give one seed, or one a lane"
                )
            seeds = np.array([check_seed(one) for one in given], np.uint64)
        self.records["seed"] = seed_words(seeds)
        self._bind()
        start_all(self._games, self._lanes)

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
        """Points pegged in this game by seat, `Source` and `Role`, (N, players, 5, 2) int16."""
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
        if chosen.ndim > 1 or (chosen.size and not is_array_of_whole(chosen)):
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
        """Returns a seat for each lane; by default the one to act.

        Raises:
            ValueError: If they are no seats, or neither one nor one a lane.
        """
        if players is None:
            turns = self.records["turn"] if lanes is self._lanes else self.records["turn"][lanes]
            return turns.astype(np.int64)
        given = np.asarray(players)
        if given.size and not is_array_of_whole(given):
            raise ValueError(f"players {given.dtype}: allowed are ints")
        if given.ndim > 1 or given.size not in (1, len(lanes)):
            raise ValueError(
                f"players of shape {given.shape}: allowed is one seat, or one for each of "
                f"{len(lanes)} lanes"
            )
        seats = np.broadcast_to(given.astype(np.int64), lanes.shape)
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
            actions: (M,) ints, one each: a card, or 52 + k to claim or call k.
            lanes: Which lanes, each at most once; by default all.

        Raises:
            IllegalActionError: If an action is not legal, a game over included; nothing is changed.
        """
        which = self._which(lanes)
        chosen = np.atleast_1d(np.asarray(actions))
        if chosen.shape == which.shape == (0,):
            return
        if chosen.shape != which.shape or not is_array_of_whole(chosen):
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

    def illegal_text(
        self, lane: int, action: int, player: int | None = None, name_lane: bool = True
    ) -> str:
        """Returns one line that says why an action is not legal in a lane.

        Args:
            lane: Which lane.
            action: The action.
            player: The seat to whom the line shall tell no more than it knows; by default every
                hand is open.
            name_lane: Whether to say which lane, where there is more than one.
        """
        game = self.records[lane]
        what = card_text(action) if 0 <= action < NUM_CARDS else "no card"
        if NUM_CARDS <= action < self.num_actions:
            what = f"{action - CLAIM_ACTION} points"
        if game["phase"] == OVER:
            allowed = "none, the game is over"
        else:
            if game["phase"] in (CLAIM, CALL):
                last = CLAIM_ACTION + NUM_CLAIMS - 1
                allowed = f"{CLAIM_ACTION} to {last}, 0 to {NUM_CLAIMS - 1} points"
            else:
                allowed = cards_text(np.flatnonzero(self.action_masks(lanes=[lane])[0]))
            if player is not None and player != game["turn"]:
                allowed = f"none, seat {game['turn']} is to act"
        where = f" in lane {lane}" if name_lane and len(self) > 1 else ""
        position = position_text(game, player)
        return f"illegal action {named(action)} ({what}){where}: allowed: {allowed}; {position}"

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
        if not is_array_of_whole(given):
            raise ValueError(
                f"house players {named(seats)}: allowed are numbers of crib_env.Bot, and OUTSIDE"
            )
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
        if not isinstance(position, Position):
            raise ValueError(f"position {named(position)}: allowed is a crib_env.Position")
        position.check(self.rules)
        scratch = self.copy([lane])
        scores = np.zeros(MAX_PLAYERS, np.int64)
        scores[: self.rules.sides] = position.scores or 0
        starter = NO_CARD if position.starter is None else int(position.starter)
        dealer = NO_SEAT if position.dealer is None else position.dealer
        lay_out_one(scratch._games, hands_array(position), starter, dealer, scores)
        first = int(scratch.records["turn"][0])
        throws: list[int] = []
        for step in range(self.rules.players):
            throws += position.thrown((first + step) % self.rules.players)
        for action in (*throws, *cast(tuple[int, ...], position.plays)):
            try:
                scratch.apply([action])
            except IllegalActionError as error:
                raise ValueError(f"position: {error}") from None
            scratch._claim_right()
            if scratch.records["deal_number"][0]:
                raise ValueError("position: all cards are laid; the deal is over")
        self.records[lane] = scratch.records[0]

    def _claim_right(self) -> None:
        """Has lane 0 claim what each card and go is worth, up to the next card or the show."""
        game = self.records[0]
        while game["phase"] in (CLAIM, CALL) and game["counting"] in (A_CARD, A_GO):
            said = int(game["true_points"]) if game["phase"] == CLAIM else 0
            self.apply([CLAIM_ACTION + said], [0])

    def position(self, lane: int) -> Position:
        """Returns where a lane stands in its deal, every hand open, as `set_position` sets it.

        With muggins, as if all had been claimed right in this deal: scores may be told that differ
        from those at its beginning.

        Raises:
            ValueError: If the game is over: what it was before the last points is not told by it.
                With muggins, also if a claim is under way, or if no scores at the deal's beginning
                come to the present ones.
        """
        record = self.records[self._which([lane])[0]]
        if record["phase"] == OVER:
            raise ValueError(f"position of lane {lane}: the game is over")
        if record["phase"] == CALL or record["counting"] in (A_CARD, A_GO) or record["shown"] > 1:
            raise ValueError(f"position of lane {lane}: a claim is under way")
        seats = range(self.rules.players)
        laid = record["plays"][: record["num_plays"]].tolist()
        laid_by = record["play_seats"][: record["num_plays"]].tolist()
        thrown = [list(cards_in(record["discards"][seat])) for seat in seats]
        hands = [
            sorted(
                [
                    *cards_in(record["hands"][seat]),
                    *thrown[seat],
                    *(card for card, by in zip(laid, laid_by, strict=True) if by == seat),
                ]
            )
            for seat in seats
        ]
        position = Position(
            dealer=int(record["dealer"]),
            hands=hands,
            discards=thrown,
            starter=int(record["starter"]),
            plays=laid,
        )
        # Replayed from 0 each, the deal tells what was pegged in it.
        scratch = self.copy([lane])
        scratch.set_position(0, position)
        before = self.scores[lane] - scratch.scores[0]
        if (before < 0).any():
            raise ValueError(f"position of lane {lane}: less has been pegged than was laid")
        return replace(position, scores=tuple(before.tolist()))

    def reseed(
        self, seeds: npt.NDArray[np.uint64] | Sequence[int], lanes: npt.ArrayLike | None = None
    ) -> None:
        """Gives lanes the luck of other lane seeds: cards to come, the players' own luck.

        What has been dealt stays where it is, hidden or not; a starter not yet turned is drawn
        anew. `redeal_hidden` also deals anew what one seat cannot know.

        Args:
            seeds: (M,) lane seeds, 0 to 2**64 - 1.
            lanes: Which lanes; by default all.
        """
        which = self._which(lanes)
        if len(seeds) != len(which):
            raise ValueError(f"{len(seeds)} lane seeds for {len(which)} lanes: give one a lane")
        checked = [check_seed(cast(int, seed)) for seed in seeds]
        reseed_all(self._games, which, seed_words(checked))

    def redeal_hidden(
        self, players: npt.ArrayLike, seed: int, lanes: npt.ArrayLike | None = None
    ) -> None:
        """Deals anew, in place, all that a seat cannot know: hands, throws, starter, cards to come.

        Every deal that fits what the seat has seen, go included, is alike likely. How the others
        choose is not taken into account: what they have thrown are any two of their cards.

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
        return position_text(self.records[self._which([lane])[0]])
