"""`RecordTranscripts` for one environment, and `record_transcripts` for one of PettingZoo."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from crib_env.lanes_owner import LanesOwner
from crib_env.notation.archive import Archive
from crib_env.notation.watching import Watcher


class RecordTranscripts(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Keeps every finished game as a transcript (docs/notation.md); changes nothing else.

    A game is finished when somebody has won it, a single deal is over, or the agent has forfeited
    it. One that is broken off by `reset` is not kept. Copies and pickles of the environment keep
    nothing. Its twin for vector environments is `crib_env.wrappers.vector.RecordTranscripts`.

    House players are asked one decision at a time while games are recorded, and each game is
    written to disk: steps take longer, and are the same.

    Args:
        env: An environment of crib_env, under any wrappers.
        path: A folder, where each game becomes a file, or with a suffix, as in ``games.crib``, a
            file to add them to (`notation.archive.Archive`).
        with_seed: Whether transcripts tell the lane's seed, by which its cards can be dealt again.

    Raises:
        ValueError: If it is no environment of crib_env, or the path cannot be written to.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], path: str | os.PathLike[str], with_seed: bool = True
    ) -> None:
        """Begins to watch the environment."""
        RecordConstructorArgs.__init__(self, path=path, with_seed=with_seed)
        super().__init__(env)
        self._watcher = watcher_of(env.unwrapped, path, with_seed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environment."""
        with self._watcher.unless_it_raises():
            begun = self.env.reset(seed=seed, options=options)
        self._watcher.save()
        return begun

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps the environment, and keeps the game if this was its end.

        Raises:
            OSError: If a game could not be written; the step is done, and the game is written with
                a later one.
        """
        stepped = self.env.step(action)
        self._watcher.save()
        return stepped

    def close(self) -> None:
        """Keeps what is left, and closes the environment."""
        self._watcher.save()
        super().close()


def record_transcripts(env: Any, path: str | os.PathLike[str], with_seed: bool = True) -> Any:
    """Has every finished game of a PettingZoo environment kept as a transcript.

    Games are kept as `RecordTranscripts` keeps them, as soon as they are over.

    Args:
        env: An environment of `crib_env.aec_env`, in its wrappers or without.
        path: See `RecordTranscripts`.
        with_seed: See `RecordTranscripts`.

    Returns:
        The environment.

    Raises:
        ValueError: If it is no such environment, or the path cannot be written to.
    """
    inner = env.unwrapped
    if not hasattr(inner, "watch") or not hasattr(inner, "possible_agents"):
        raise ValueError(f"{env}: record_transcripts takes the environments of crib_env.aec_env")
    names = partial(_agents, tuple(inner.possible_agents))
    watcher = Watcher(inner.rules, Archive(path), names, with_seed, at_once=True)
    inner.watch("transcripts", watcher)
    return env


def watcher_of(env: Any, path: str | os.PathLike[str], with_seed: bool) -> Watcher:
    """Returns who keeps the games of a bare environment, and has it told of every decision.

    Raises:
        ValueError: If it is no environment of crib_env, or the path cannot be written to.
    """
    if not isinstance(env, LanesOwner):
        raise ValueError(f"{env}: RecordTranscripts takes the environments of crib_env alone")
    watcher = Watcher(env.rules, Archive(path), partial(_names, env), with_seed)
    env.watch("transcripts", watcher)
    return watcher


def _names(env: LanesOwner, lane: int) -> tuple[str, ...]:
    """Returns what the seats of a lane are called."""
    return ("agent", *[env.opponent_name(lane)] * (env.rules.players - 1))


def _agents(names: tuple[str, ...], lane: int) -> tuple[str, ...]:
    """Returns what the seats of a lane are called, where all lanes are alike."""
    return names
