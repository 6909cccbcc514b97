"""One training run: its folder, its logs and checkpoints, and how it stops.

A run's folder holds ``run.json`` (commit, versions, command), ``config.toml`` (resolved),
``metrics.jsonl`` and TensorBoard's events, the newest checkpoints, and at the end ``results.json``.
What is not appended to is written whole or not at all, so that a run can be killed at any moment.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from agents.checkpoint import (
    PARTIAL,
    Checkpoint,
    CheckpointError,
    checkpoint_path,
    checkpoints_in,
    load_checkpoint,
    save_checkpoint,
    write_whole,
)
from eval.provenance import origin
from train.config import ConfigError, TrainConfig, config_from, load_config
from train.matches import evaluate, report
from train.metrics import MetricsLog
from train.ppo import Learner, new_learner, restore, save, train_step
from train.progress import progress, tell

if sys.platform != "win32":
    import fcntl

CONFIG = "config.toml"


class InUseError(OSError):
    """A run's folder in which another process trains."""


class Stop:
    """Set by Ctrl-C or a termination signal: the run ends after the update that it is in."""

    def __init__(self) -> None:
        """Is not set."""
        self.asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes the signals over; a second one ends the run at once, as it would have."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def ask(number: int, frame: FrameType | None) -> None:
            self.asked = True
            # A run started in the background may have been told to ignore Ctrl-C: not the second.
            after = before[signal.Signals(number)]
            if after in (signal.SIG_IGN, None):
                is_interrupt = number == signal.SIGINT
                after = signal.default_int_handler if is_interrupt else signal.SIG_DFL
            signal.signal(number, after)
            # Not print: the signal may come while another print is under way. A terminal that is
            # gone is no reason not to stop in order.
            with contextlib.suppress(OSError):
                os.write(2, b"\nstopping after this update; once more stops at once\n")

        for number in before:
            signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Holds a run's folder, so that no two processes train in it; reading it stays free.

    The lock is the kernel's and leaves no file: it ends with the process, however that ends.

    Raises:
        InUseError: If another process holds it.
    """
    if sys.platform == "win32":
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUseError(f"{folder}: another process trains in it") from None
        except OSError:
            pass  # a file system that knows no locks
        yield
    finally:
        os.close(place)


def start_run(config: TrainConfig, folder: Path, arguments: list[str]) -> Learner:
    """Makes a run's folder and a new learner. Leaves nothing if it cannot.

    Raises:
        FileExistsError: If the folder is there already.
        OSError: If it cannot be made or written.
    """
    # The folder last, so that nothing is left if the network or the games cannot be made.
    if folder.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    learner = new_learner(config)
    about: dict[str, Any] = origin("train", arguments)
    about |= {"torch": torch.__version__, "precision": learner.precision, "seed": config.seed}
    folder.mkdir(parents=True)
    try:
        write_whole(folder / "run.json", (json.dumps(about, indent=2) + "\n").encode())
        # Last: from here on the run can be gone on with.
        write_whole(folder / CONFIG, config.as_toml().encode())
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return learner


def resume_run(folder: Path) -> Learner:
    """Returns the learner of a run's newest whole checkpoint, or a new one if it has none yet.

    Raises:
        CheckpointError: If the folder has none that can be gone on from, in one line.
        ConfigError: If its configuration is not of this version, or was changed since it began.
    """
    if not checkpoints_in(folder):
        return _begin_again(folder)
    checkpoint: Checkpoint = load_checkpoint(folder)
    try:
        config = config_from(checkpoint.config, str(folder))
        _check_unchanged(folder, config)
        return restore(checkpoint, config)
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from None


def _begin_again(folder: Path) -> Learner:
    """Returns a new learner of a run that was killed before its first checkpoint was written.

    Raises:
        CheckpointError: If it was killed before its configuration was, or its checkpoints are gone.
        ConfigError: If its configuration is none.
    """
    if not (folder / CONFIG).exists():
        raise CheckpointError(
            f"{folder}: no checkpoint and no {CONFIG} there, so nothing to go on with: "
            "begin anew with another --folder"
        )
    rows = folder / "metrics.jsonl"
    # Not before the first checkpoint is a row written.
    if rows.exists() and rows.stat().st_size:
        raise CheckpointError(
            f"{folder}: it has learned, but its checkpoints are gone; to begin anew: "
            + shlex.join(["python", "-m", "train", str(folder / CONFIG)])
        )
    return new_learner(load_config(folder / CONFIG))


def _check_unchanged(folder: Path, config: TrainConfig) -> None:
    """Refuses a configuration that was edited while the run was stopped: it would not be heeded.

    Args:
        folder: The run's folder.
        config: The configuration of its checkpoint.

    Raises:
        ConfigError: Naming the first field.
    """
    path = folder / CONFIG
    if not path.exists():
        return
    edited, kept = load_config(path).as_dict(), config.as_dict()
    for name, value in kept.items():
        if edited[name] != value:
            raise ConfigError(
                f"{path}: {name} = {json.dumps(edited[name])}, but its checkpoint was made with "
                f"{json.dumps(value)}: put it back, or begin a run of its own with it"
            )


def resume_command(folder: Path) -> str:
    """Returns the command that goes on with a run."""
    return shlex.join(["python", "-m", "train", "--resume", str(folder)])


def free_folder(parent: Path, name: str) -> Path:
    """Returns ``parent/name``, or with the first number behind it that is free."""
    folder = parent / name
    number = 1
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder


def run(learner: Learner, folder: Path, stop_after: int | None = None) -> bool:
    """Trains to the end, or until stopped, and prints the last table. Changes *learner*.

    Args:
        learner: New, or resumed from *folder*.
        folder: The run's folder, held by this process.
        stop_after: Stops after the update that reaches so many decisions, as Ctrl-C would.

    Returns:
        Whether the run is finished.

    Raises:
        FloatingPointError: If it diverged; its checkpoints are whole and good.
        OSError: If a file cannot be written; its checkpoints are whole.
    """
    for stray in folder.glob(f".*{PARTIAL}"):
        stray.unlink()
    if not learner.done:
        _train(learner, folder, stop_after)
    if not learner.done:
        tell(
            f"stopped after {learner.decisions:,} of {learner.config.total_decisions:,} decisions; "
            f"to go on: {resume_command(folder)}"
        )
        return False
    report(learner, folder)
    return True


def _train(learner: Learner, folder: Path, stop_after: int | None) -> None:
    """Trains to the end, or until stopped, and writes down what comes of it."""
    config = learner.config
    end = stop_after or config.total_decisions
    stop = Stop()
    with (
        MetricsLog(folder, learner.decisions) as log,
        stop.listening(),
        progress(learner.decisions, config.total_decisions) as advance,
    ):
        if not learner.decisions:
            log.describe(config)
        if not checkpoints_in(folder):
            log.flush()
            _keep(learner, folder)
        while not learner.done and not stop.asked and learner.decisions < end:
            before = learner.decisions
            metrics = train_step(learner)
            if _due(learner, before, config.evaluate_every):
                metrics |= evaluate(learner)
            log.write(learner.decisions, metrics)
            advance(learner.decisions, metrics)
            if _due(learner, before, config.checkpoint_every):
                # The logs first: no checkpoint is ahead of its curves.
                log.flush()
                _keep(learner, folder)
        if not learner.done:
            log.flush()
            _keep(learner, folder)


def _due(learner: Learner, before: int, every: int) -> bool:
    """Returns whether what is done *every* so many decisions, and at the end, is to be done now.

    Args:
        learner: After an update.
        before: Its decisions before that.
        every: 0: never.
    """
    if every == 0:
        return False
    return learner.done or learner.decisions // every > before // every


def _keep(learner: Learner, folder: Path) -> None:
    """Writes a checkpoint and removes the oldest beyond those to keep.

    Also those beyond the decisions learned from, left by a run that was resumed from before them.
    """
    newest = checkpoint_path(folder, learner.decisions)
    save_checkpoint(newest, save(learner))
    paths = checkpoints_in(folder)
    kept = paths[paths.index(newest) :][: learner.config.keep_checkpoints]
    for path in paths:
        if path not in kept:
            path.unlink()
