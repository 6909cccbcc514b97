"""`Archive`: where finished games are kept, one file a game or all in one, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from crib_env.notation.transcript import ENDS, HEADING, Transcript
from crib_env.notation.writer import write

try:
    import fcntl
except ImportError:  # not on Windows, where one process alone may write to a file
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".crib"
_TAIL = 1_000  # bytes that hold the last line of a file
_END_WORDS = [keyword.encode() for keyword in ENDS]


class Archive:
    """Keeps transcripts in a folder, or adds them to a file.

    In a folder each game is a file of its own, ``game-000001.crib`` and so on; numbers that are
    taken are passed over, so several processes may share a folder. A file comes into its place
    whole, by one rename.

    A file grows by a game at a time, which a lock guards against other processes that add to it.
    If the disk is full the file is as it was. A process that is killed while it writes may leave
    part of a game: nothing more is added to such a file.

    Args:
        path: A folder, made if it is not there; or with a suffix, as in ``games.crib``, a file.

    Raises:
        ValueError: If the path cannot be that.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Makes the folder, and looks whether the file can be added to."""
        self.path = Path(path)
        self.is_folder = self.path.is_dir() or not self.path.suffix
        try:
            if self.is_folder:
                self.path.mkdir(parents=True, exist_ok=True)
            elif not self.path.parent.is_dir():
                raise ValueError(f"{self.path}: there is no folder {self.path.parent}")
            elif self.path.exists() and not self.path.is_file():
                raise ValueError(f"{self.path}: allowed is a folder or a file")
            elif self.path.exists():
                with self.path.open("rb") as file:
                    _lock(file, alone=False)
                    self._check_end(file)
        except OSError as error:
            raise ValueError(f"{self.path}: cannot be written to: {error.strerror}") from None
        self._next = 1

    def keep(self, transcript: Transcript, name: str | None = None) -> Path:
        """Keeps one game, and returns the file that it is in.

        Args:
            transcript: The game.
            name: In a folder, the name of its file without the suffix; None takes the next number.

        Raises:
            OSError: If it could not be written, or a file of that name is there; nothing changes.
            ValueError: If the file ends in part of a game.
        """
        text = write(transcript).encode()
        if not self.is_folder:
            self._append(text)
            return self.path
        scratch = self.path / f".{os.getpid()}-{id(self)}{SUFFIX}.part"
        try:
            with scratch.open("wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            for target in self._targets(name):
                # A link, since it never takes the place of another file; a rename would.
                with contextlib.suppress(FileExistsError):
                    os.link(scratch, target)
                    return target
            raise FileExistsError(f"{self.path / f'{name}{SUFFIX}'} is there already")
        finally:
            scratch.unlink(missing_ok=True)

    def _targets(self, name: str | None) -> Iterator[Path]:
        """Yields the files that a game may become, in order."""
        if name is not None:
            yield self.path / f"{name}{SUFFIX}"
            return
        for number in itertools.count(self._next):
            self._next = number + 1
            yield self.path / f"game-{number:06d}{SUFFIX}"

    def _append(self, text: bytes) -> None:
        """Adds a game to the file."""
        with self.path.open("ab+", buffering=0) as file:
            _lock(file, alone=True)
            size = self._check_end(file)
            text = (b"\n" if size else b"") + text
            try:
                if os.write(file.fileno(), text) != len(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(size)
                raise

    def _check_end(self, file: BinaryIO) -> int:
        """Returns the size of a file to which a game can be added.

        Raises:
            ValueError: If its last game has no end.
        """
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        words = tail.rstrip().rsplit(b"\n", 1)[-1].split()
        if size and not (tail.endswith(b"\n") and words and words[0] in _END_WORDS):
            raise ValueError(
                f"{self.path}: its last line ends no game: allowed is a file of games that begin "
                f"with {HEADING!r} and end with {', '.join(ENDS)}"
            )
        return size


def _lock(file: BinaryIO, alone: bool) -> None:
    """Waits until no other process writes to the file (or, if *alone*, looks at it); until closed.

    Whoever looks at a file that another adds to would see the first part of a game.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
