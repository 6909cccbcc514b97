"""`History`: the records of one game, move by move."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.game_record import RECORD

_BYTES = RECORD.itemsize


class History:
    """Keeps copies of a record, at a fraction of what copying a NumPy record costs."""

    def __init__(self) -> None:
        """Keeps nothing yet."""
        self._kept = np.empty(256, RECORD)
        self._size = 0

    def keep(self, records: npt.NDArray[Any]) -> Any:
        """Keeps the record of lane 0, and returns the copy."""
        if self._size == len(self._kept):
            self._kept = np.concatenate([self._kept, np.empty_like(self._kept)])
        rows = self._kept.view(np.uint8).reshape(-1, _BYTES)
        rows[self._size] = records.view(np.uint8).reshape(-1, _BYTES)[0]
        self._size += 1
        return self._kept[self._size - 1]

    @property
    def records(self) -> npt.NDArray[Any]:
        """All that was kept, (M,) of `crib_env.game_record.RECORD`."""
        return self._kept[: self._size].copy()
