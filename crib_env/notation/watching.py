"""`Watcher`: follows the lanes of an environment, and keeps every game that is finished."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.cards import NO_CARD
from crib_env.game_record import OVER
from crib_env.loops import ILLEGAL
from crib_env.notation.archive import Archive
from crib_env.notation.recording import Recorder
from crib_env.notation.transcript import Transcript
from crib_env.rules import Rules

_LOGGER = logging.getLogger("crib_env")


class Watcher:
    """A `lanes.Witness` that writes finished games down; `save` puts them into an archive.

    Args:
        rules: The rules of the games.
        archive: Where they go.
        names: What the seats of a lane are called.
        with_seed: Whether transcripts tell the seed of their lane.
        at_once: Whether games are put into the archive as soon as they are over, not by `save`.
    """

    def __init__(
        self,
        rules: Rules,
        archive: Archive,
        names: Callable[[int], tuple[str, ...]],
        with_seed: bool,
        at_once: bool = False,
    ) -> None:
        """Has seen no game."""
        self.archive = archive
        self.recorder = Recorder(rules)
        self._names = names
        self._with_seed = with_seed
        self._at_once = at_once
        self._last: dict[int, bytes] = {}
        self._finished: list[Transcript] = []

    def __call__(
        self,
        lanes: npt.NDArray[np.int64],
        before: npt.NDArray[Any],
        actions: npt.NDArray[np.int64],
        after: npt.NDArray[Any],
    ) -> None:
        """Is told of a decision in each of some lanes (`lanes.Witness`)."""
        for index, (lane, action) in enumerate(zip(lanes.tolist(), actions.tolist(), strict=True)):
            row = slice(index, index + 1)
            if action == NO_CARD:
                self.recorder.begin([lane], after[row])
            else:
                # A game that has been set elsewhere, by `load_state_dict` say, begins there.
                if self._last.get(lane) != before[row].tobytes():
                    self.recorder.begin([lane], before[row])
                if action == ILLEGAL:
                    self._finish(lane, int(before["turn"][index]))
                else:
                    self.recorder.tell([lane], [action])
            if after["phase"][index] == OVER:
                self._finish(lane)
            self._last[lane] = after[row].tobytes()
        if self._at_once:
            self.save()

    def _finish(self, lane: int, forfeited_by: int | None = None) -> None:
        """Writes a game down."""
        try:
            self._finished.append(
                self.recorder.transcript(
                    lane,
                    self._names(lane),
                    forfeited_by=forfeited_by,
                    with_seed=self._with_seed,
                )
            )
        except ValueError as error:
            _LOGGER.warning("a game is not recorded: %s", error)

    @contextmanager
    def unless_it_raises(self) -> Iterator[None]:
        """Forgets what it is told inside, should that raise: a `reset` that is refused."""
        before = self.recorder.copy(), dict(self._last), list(self._finished)
        try:
            yield
        except BaseException:
            self.recorder, self._last, self._finished = before
            raise

    def save(self) -> None:
        """Puts what has been written down into the archive.

        Raises:
            OSError: If the archive cannot be written to; what is left is put there the next time.
            ValueError: If its file ends in part of a game.
        """
        while self._finished:
            self.archive.keep(self._finished[0])
            del self._finished[0]
