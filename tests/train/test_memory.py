"""Many short trainings in one process leave nothing behind: memory, threads, open files (E041)."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest
import torch

from tests.runs import config_file, start
from train.__main__ import main


def measured() -> dict[str, int]:
    """Returns what this process holds: counts, and its memory in bytes."""
    gc.collect()
    objects = gc.get_objects()
    return {
        "files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "tensors": sum(issubclass(type(one), torch.Tensor) for one in objects),
        "objects": len(objects),
        "memory": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
    }


@pytest.mark.parametrize("trainings", [5, pytest.param(20, marks=pytest.mark.torture)])
def test_many_trainings_leave_no_more_behind_than_two(trainings: int, tmp_path: Path) -> None:
    config = config_file(
        tmp_path,
        total_decisions=1_200,
        games=100,
        hidden_size=64,
        minibatch=1_200,
        epochs=1,
        evaluate_every=600,
        evaluate_games=2,
        final_games=2,
        opponents=["random"],
    )
    held = []
    for number in range(trainings):
        folder = tmp_path / f"run-{number}"
        assert start(config, folder, "--stop-after", "1") == 0
        assert main(["--resume", str(folder)]) == 0
        held.append(measured())
    after_two, last = held[1], held[-1]
    for name in ("files", "threads", "tensors"):
        assert last[name] == after_two[name], name
    # Of some 400,000.
    assert abs(last["objects"] - after_two["objects"]) < 100
    # Of 500 MB; a rollout that is kept is 1 MB each time, and a tensor more.
    assert last["memory"] - after_two["memory"] < 16_000_000
