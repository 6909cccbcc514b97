"""Kills runs with signal 9 and goes on with them: at any moment, or before any file operation.

A program of its own, as it forks: imports and the loading of kernels are paid for once.

    python -m tests.killing CONFIG PLACE KILLS EVERY

It kills runs so many times at random moments, a run before each EVERY-th operation on its files,
and a run in the middle of each EVERY-th of its writes.
Each run is a folder of PLACE, gone on with until it is finished. What was done is printed as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.disk import Disk
from train.__main__ import main

CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.truncate")


def forked(words: list[str], errors: Path, before: Callable[[], None] = lambda: None) -> int:
    """Returns the process of a child that trains, its standard error going to a file."""
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
        before()
        status = main(words)
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Returns the exit status of a child, negative: the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def words_for(config: Path, folder: Path) -> list[str]:
    """Returns the command line that begins a run or goes on with it."""
    if (folder / "config.toml").exists():
        return ["--resume", str(folder)]
    # Killed before there was anything to go on with: the line that --resume prints says so.
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    return [str(config), "--folder", str(folder)]


def state(folder: Path) -> str:
    """Returns where a run was killed, as its folder tells."""
    if not (folder / "config.toml").exists():
        return "before its configuration was written"
    names = {path.name for path in folder.iterdir()}
    if any(name.endswith(".partial") for name in names):
        return "while a file was written"
    if not any(name.startswith("checkpoint-") for name in names):
        return "before the first checkpoint"
    last = max(name for name in names if name.startswith("checkpoint-"))
    if "results.json" in names:
        return "after its results were written"
    # Where a run ends stands in its configuration; it may learn a little more.
    total = next(
        int(line.split(" = ")[1])
        for line in (folder / "config.toml").read_text().splitlines()
        if line.startswith("total_decisions")
    )
    decisions = int(last.removeprefix("checkpoint-").removesuffix(".safetensors"))
    return "in its last matches" if decisions >= total else "while it learned"


def finished(config: Path, folder: Path, errors: Path) -> None:
    """Goes on with a run to its end."""
    status = ended(forked(words_for(config, folder), errors))
    assert status == 0, errors.read_text()


def moments(config: Path, place: Path, kills: int) -> list[dict[str, Any]]:
    """Kills runs at random moments, so many times, and finishes them all."""
    luck = random.Random(9)
    errors = place / "errors"
    began = time.monotonic()
    finished(config, place / "whole", errors)
    usual = time.monotonic() - began
    done: list[dict[str, Any]] = []
    number = 0
    while len(done) < kills:
        number += 1
        folder = place / f"moments-{number}"
        status = -signal.SIGKILL
        while status and len(done) < kills:
            child = forked(words_for(config, folder), errors)
            time.sleep(luck.uniform(0, usual))
            os.kill(child, signal.SIGKILL)
            status = ended(child)
            assert status in (0, -signal.SIGKILL), errors.read_text()
            if status:
                done.append({"folder": str(folder), "killed": state(folder)})
        finished(config, folder, errors)
    return done


def points(
    config: Path, place: Path, kind: str, kill: Callable[[int, Path], None], every: int
) -> list[dict[str, Any]]:
    """Kills a run at every so many-th point of a kind, and finishes it each time.

    Args:
        config: Of the runs.
        place: Where their folders are.
        kind: Names the folders.
        kill: Makes this process kill itself at the point of that number on that folder.
        every: 1: at all of them.
    """
    errors = place / "errors"
    done: list[dict[str, Any]] = []
    number = every // 2
    while True:
        folder = place / f"{kind}-{number}"
        status = ended(forked(words_for(config, folder), errors, partial(kill, number, folder)))
        assert status in (0, -signal.SIGKILL), errors.read_text()
        if status == 0:
            return done
        done.append({"folder": str(folder), "killed": state(folder)})
        finished(config, folder, errors)
        number += every


def die() -> None:
    """Kills this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_before(number: int, folder: Path) -> None:
    """Makes this process kill itself before the operation of that number on a folder's files."""
    left = number

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        changes = event in CHANGES
        if event == "open":
            changes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if changes and str(arguments[0]).startswith(str(folder)):
            if left == 0:
                die()
            left -= 1

    sys.addaudithook(watch)


def kill_within(number: int, folder: Path) -> None:
    """Makes this process kill itself when half of the write of that number has been done."""
    Disk(folder, number, die).mount(pytest.MonkeyPatch())


if __name__ == "__main__":
    torch.set_num_threads(1)
    config, place = Path(sys.argv[1]), Path(sys.argv[2])
    with contextlib.redirect_stdout(sys.stderr):
        assert main(words_for(config, place / "first")) == 0
    kills, every = int(sys.argv[3]), int(sys.argv[4])
    found = {
        "moments": moments(config, place, kills),
        "operations": points(config, place, "operation", kill_before, every),
        "writes": points(config, place, "write", kill_within, every),
    }
    print(json.dumps(found))
