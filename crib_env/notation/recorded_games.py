"""`RecordedGames`: a batch of games that can be told as transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.kernel import as_records
from crib_env.loops import OUTSIDE, bot_actions, luck_all
from crib_env.notation.recording import Recorder
from crib_env.notation.transcript import Transcript


class RecordedGames(Games):
    """`Games` that keeps every move from the beginning of each lane's present game.

    House players are asked one decision at a time, which takes longer; they choose the same. Games
    that are set elsewhere, by `set_position`, `reseed` or `redeal_hidden`, are told from there on.
    Copies and pickles are plain: a copy is a `Games`, and a pickle has kept nothing.

    Args:
        args: Those of `Games`.
        kwargs: Those of `Games`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Starts the first game of every lane."""
        super().__init__(*args, **kwargs)
        self._begin(self._lanes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the games, which are told from here on."""
        super().__setstate__(state)
        self._begin(self._lanes)

    def _begin(self, lanes: npt.NDArray[np.int64]) -> None:
        """Tells games of these lanes from where they stand."""
        if not hasattr(self, "recorder"):
            self.recorder = Recorder(self.rules)
        self.recorder.begin(lanes, self.records[lanes])

    def apply(self, actions: npt.ArrayLike, lanes: npt.ArrayLike | None = None) -> None:
        """Applies one action of the seat to act in each lane (`Games.apply`), and keeps it."""
        super().apply(actions, lanes)
        self.recorder.tell(self._which(lanes), np.atleast_1d(np.asarray(actions)))

    def play_bots(self, seats: npt.ArrayLike, lanes: npt.ArrayLike | None = None) -> None:
        """Lets house players act (`Games.play_bots`), and keeps what they choose."""
        held = np.broadcast_to(np.asarray(seats), (len(self), self.rules.players))
        waiting = self._which(lanes)
        while True:
            bots = held[waiting, self.records["turn"][waiting]]
            acting = ~self.over[waiting] & (bots != OUTSIDE)
            waiting, bots = waiting[acting], bots[acting]
            if not len(waiting):
                return
            games = as_records(self.records[waiting])
            luck = np.empty((len(waiting), 2), np.uint32)
            luck_all(games, np.arange(len(waiting)), luck)
            actions = np.empty(len(waiting), np.int64)
            for bot in np.unique(bots):
                chosen = np.empty(len(waiting), np.int64)
                bot_actions(games, int(bot), luck, chosen)
                actions[bots == bot] = chosen[bots == bot]
            self.apply(actions, waiting)

    def next_game(self, lanes: npt.ArrayLike | None = None) -> None:
        """Goes on to the next game of each lane (`Games.next_game`)."""
        going_on = self._which(self.over if lanes is None else lanes)
        super().next_game(going_on)
        self._begin(np.unique(going_on))

    def set_position(self, lane: int, position: Any) -> None:
        """Sets a lane to a position (`Games.set_position`)."""
        super().set_position(lane, position)
        self._begin(self._which([lane]))

    def reseed(self, seeds: Any, lanes: npt.ArrayLike | None = None) -> None:
        """Gives lanes the luck of other lane seeds (`Games.reseed`)."""
        super().reseed(seeds, lanes)
        self._begin(self._which(lanes))

    def redeal_hidden(
        self, players: npt.ArrayLike, seed: int, lanes: npt.ArrayLike | None = None
    ) -> None:
        """Deals anew all that a seat cannot know (`Games.redeal_hidden`)."""
        super().redeal_hidden(players, seed, lanes)
        self._begin(self._which(lanes))

    def transcript(
        self, lane: int, names: Sequence[str] = (), notes: Sequence[str] = (), **options: Any
    ) -> Transcript:
        """Returns the present game of a lane as far as it has been played (`transcribe`)."""
        return self.recorder.transcript(int(self._which([lane])[0]), names, notes, **options)
