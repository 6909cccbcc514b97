"""A disk that is full, or a process that dies, in the middle of any write of a run."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_OPEN = io.open


def full() -> None:
    """Refuses a write as a full disk does.

    Raises:
        OSError: Always.
    """
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Disk:
    """Has room for so many writes to the files of a folder.

    Args:
        folder: Files elsewhere are on another disk.
        room: How many; of the next, only half fits in. None: is never full.
        then: Is called by a write for which there is no room.
    """

    def __init__(
        self, folder: Path, room: int | None = None, then: Callable[[], None] = full
    ) -> None:
        self.folder = folder
        self.room = room
        self.then = then
        self.writes: list[str] = []

    def open(self, path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        """Opens a file as `open` does, by writes that this disk counts."""
        if not str(path).startswith(str(self.folder)) or not set(mode) & set("wax"):
            return _OPEN(path, mode, *arguments, **options)
        buffered = io.BufferedWriter(CountedFile(self, str(path), mode.replace("b", "")))
        return buffered if "b" in mode else io.TextIOWrapper(buffered, "utf-8")

    def mount(self, patched: pytest.MonkeyPatch) -> None:
        """Makes all that opens a file use this disk, until the patch is undone."""
        patched.setattr(builtins, "open", self.open)
        patched.setattr(io, "open", self.open)


class CountedFile(io.FileIO):
    """A file on a `Disk`."""

    def __init__(self, disk: Disk, path: str, mode: str) -> None:
        super().__init__(path, mode)
        self.disk = disk
        self.place = path

    def write(self, content: Any, /) -> int:
        disk = self.disk
        done = len(disk.writes)
        disk.writes.append(Path(self.place).name)
        if disk.room is not None and done > disk.room:
            disk.then()
        size = memoryview(content).nbytes
        return super().write(memoryview(content)[: (size + 1) // 2 if done == disk.room else size])
