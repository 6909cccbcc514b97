"""`LanesOwner`: what all environments have beyond Gymnasium, copies and saved states.

Single and vector environments inherit it; it works on their `Lanes`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from crib_env.batch import Games
from crib_env.lanes import Lanes, Sight, Witness
from crib_env.luck import NUM_SEEDS, check_seed
from crib_env.options import AGENT
from crib_env.records import lane_seeds
from crib_env.rules import Rules

_Owner = TypeVar("_Owner", bound="LanesOwner")


class LanesOwner:
    """Copies and saved states of the lanes of an environment."""

    np_random: Any
    spec: Any
    _lanes: Lanes

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return self._lanes.options.checked_rules

    @property
    def games(self) -> Games:
        """The batch behind this environment, for tests and search; it shows every hand.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        if not self._lanes.begun.any():
            raise ResetNeeded("there is no game yet: call env.reset() first")
        return self._lanes.games

    def _seeds(self, seeds: Sequence[int | None]) -> list[int | None]:
        """Returns lane seeds, checked; drawn from `np_random` for lanes that never had one.

        Raises:
            ValueError: If one is out of range.
        """
        checked = [None if seed is None else check_seed(seed) for seed in seeds]
        return [
            int(self.np_random.integers(NUM_SEEDS, dtype=np.uint64))
            if seed is None and not self._lanes.begun[lane]
            else seed
            for lane, seed in enumerate(checked)
        ]

    def _begin(
        self,
        lanes: npt.NDArray[np.int64],
        seeds: Sequence[int | None],
        options: Mapping[str, Any] | None,
        sight: Sight,
    ) -> None:
        """Begins episodes as `Lanes.reset` does, with seeds of all lanes, (N,).

        Raises:
            ValueError: If a seed is out of range, or the options are no position to begin in. As
                where an opponent raises, nothing is changed then, `np_random` included.
        """
        stream = None if self._lanes.begun.all() else self.np_random.bit_generator.state
        try:
            drawn = self._seeds(seeds)
            self._lanes.reset(lanes, [drawn[lane] for lane in lanes], options, sight)
        except BaseException:
            if stream is not None:
                self.np_random.bit_generator.state = stream
            raise

    def clone(self: _Owner, seed: int | None = None) -> _Owner:
        """Returns an independent copy that stands where this one does.

        Opponents that are policies are shared, not copied.

        Args:
            seed: None copies the random stream too: the copy goes on with the same cards and the
                same luck of the players, as a pickle or a deep copy does. A seed, 0 to 2**64 - 1,
                gives the copy another stream: what has been dealt stays, hidden or not, all that is
                to come is new. See `redeal_hidden` for what the agent does not know.
        """
        if seed is not None:
            seed = check_seed(seed)
        # The specification holds the opponents again; like the options it is shared.
        twin = copy.deepcopy(self, {id(self.spec): self.spec} if self.spec else {})
        if seed is not None:
            twin._lanes.games.reseed(lane_seeds(seed, len(twin._lanes)))
        return twin

    def state_dict(self, random_stream: bool = True) -> dict[str, Any]:
        """Returns where this environment stands, to be set by `load_state_dict`.

        Args:
            random_stream: Whether the lanes' seeds, the players' luck, a starter not yet turned and
                `np_random` are part of it. Without them, whoever loads it goes on with cards of its
                own.

        Returns:
            NumPy arrays, and numbers, texts, lists and mappings of those.
        """
        state = self._lanes.state(random_stream)
        if random_stream:
            state["np_random"] = self.np_random.bit_generator.state
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Sets this environment to what `state_dict` of one with the same options returned.

        Raises:
            ValueError: If it is not of such an environment, naming what differs; nothing changes.
        """
        self._lanes.check_state(state)
        stream = state["np_random"]
        if stream is not None:
            try:
                copy.deepcopy(self.np_random).bit_generator.state = stream
            except (KeyError, OverflowError, TypeError, ValueError) as error:
                raise ValueError(f"state: np_random: {error}") from None
        words = self._lanes.games.records["seed"].astype(np.uint64)
        seeds = (words[:, 0] | words[:, 1] << np.uint64(32)).tolist()
        if not state["random_stream"]:
            drawn = self._seeds([None] * len(seeds))
            seeds = [seeds[lane] if seed is None else seed for lane, seed in enumerate(drawn)]
        self._lanes.load(state, seeds)
        if stream is not None:
            self.np_random.bit_generator.state = stream
        self._stands_elsewhere()

    def redeal_hidden(self, seed: int, seat: int = AGENT) -> None:
        """Deals anew, in place, all that a seat cannot know: hands, throws, starter, cards to come.

        Every deal that fits what the seat has seen is alike likely (`Games.redeal_hidden`). On a
        `clone`, it gives search a world that knows no more than the seat does.

        Args:
            seed: The luck of it, another for each redeal.
            seat: Whose knowledge stays; by default the agent's.

        Raises:
            ResetNeeded: Before the first `reset`.
            ValueError: If the seed or the seat is out of range.
        """
        self.games.redeal_hidden(seat, seed)
        self._stands_elsewhere()

    def watch(self, name: str, witness: Witness | None) -> None:
        """Has somebody told of every decision from now on, the opponents' too.

        House players then are asked one decision at a time, which takes longer; the games are the
        same. Copies and pickles of this environment are not watched.

        Args:
            name: What for; a second witness by one name takes the place of the first.
            witness: Who is told; None for nobody any more.
        """
        self._lanes.witnesses.pop(name, None)
        if witness is not None:
            self._lanes.witnesses[name] = witness

    def opponent_name(self, lane: int = 0) -> str:
        """Returns the name of the opponent in a lane."""
        return self._lanes.member_name(lane)

    def _stands_elsewhere(self) -> None:
        """Is called where the games have been set by other means than a step."""
