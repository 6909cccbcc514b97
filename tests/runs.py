"""Runs of a second for the tests, and what tells whether two of them are the same."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]  # ships no py.typed
    EventAccumulator,
)

from agents.checkpoint import checkpoints_in, load_checkpoint
from tests.learners import assert_same_tensors
from train.__main__ import main
from train.metrics import MEASURED

ROOT = Path(__file__).parents[1]

# 16 games of 12 decisions: 192 an update, less where games end. To 31 they end all the time.
SETTINGS = """
seed = 3
rules = "target=31"
total_decisions = 4_000
hidden_size = 8
games = 16
minibatch = 64
epochs = 2
checkpoint_every = 700
keep_checkpoints = 2
evaluate_every = 1_500
evaluate_games = 4
final_games = 6
opponents = ["random", "expert"]
"""


def config_file(folder: Path, **changes: object) -> Path:
    """Returns a configuration file with these settings."""
    lines = [line for line in SETTINGS.strip().splitlines() if line.split(" = ")[0] not in changes]
    lines += [f"{name} = {json.dumps(value)}" for name, value in changes.items()]
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def start(config: Path, folder: Path, *flags: str) -> int:
    """Returns the exit status of a new run."""
    return main([str(config), "--folder", str(folder), *flags])


def in_new_process(*words: str) -> subprocess.Popen[str]:
    """Starts ``python -m train`` in a process of its own, with a shell's usual signals."""
    return subprocess.Popen(
        [sys.executable, "-m", "train", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Returns exit status, standard output and standard error of a process once it has ended."""
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows of metrics.jsonl, all of them whole."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def unmeasured(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows without what depends on the machine and the hour."""
    return [
        {name: value for name, value in row.items() if name not in MEASURED}
        for row in rows_of(folder)
    ]


def wait_for_rows(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    """Waits until a run has written that many rows."""
    path = folder / "metrics.jsonl"
    until = time.monotonic() + 300  # a minute of it, where the kernels must be compiled first
    while not path.exists() or path.read_text().count("\n") < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)


def results_of(folder: Path) -> dict[str, Any]:
    """Returns results.json without the seconds it took and the run's own path."""
    text = (folder / "results.json").read_text().replace(str(folder), "RUN")
    results: dict[str, Any] = json.loads(text)
    for match in results["matches"]:
        del match["seconds"]
    return results


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Returns every file of a folder by name: bytes, and when it was changed."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def curves_of(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Returns what TensorBoard shows of a run: (step, value) by curve."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def assert_curves_are_the_rows(folder: Path) -> None:
    """Fails unless TensorBoard shows just the rows of metrics.jsonl, each step once, in order.

    And, apart from them, what came of the run: one point a curve, at its last step.
    """
    rows = rows_of(folder)
    curves = curves_of(folder)
    outcomes = [name for name in curves if name.startswith("outcome/")]
    if (folder / "results.json").exists():
        assert len(outcomes) == 3 * len(results_of(folder)["matches"])
    for name in outcomes:
        ((step, _),) = curves.pop(name)
        assert step == rows[-1]["decisions"]
    names = {name for row in rows for name in row} - {"decisions"}
    assert curves.keys() == names
    for name, curve in curves.items():
        expected = [(row["decisions"], row[name]) for row in rows if name in row]
        steps = [step for step, _ in curve]
        assert all(a < b for a, b in pairwise(steps)), (name, steps)
        assert steps == [step for step, _ in expected], name
        assert [value for _, value in curve] == pytest.approx(
            [value for _, value in expected], rel=1e-6
        ), name


def assert_same_run(folder: Path, whole: Path) -> None:
    """Fails unless a run is another bit by bit: weights, moments, games, rows, results."""
    newest, expected = checkpoints_in(folder)[0], checkpoints_in(whole)[0]
    assert newest.name == expected.name
    assert_same_tensors(load_checkpoint(newest).tensors, load_checkpoint(expected).tensors)
    assert newest.read_bytes() == expected.read_bytes()
    assert unmeasured(folder) == unmeasured(whole)
    if (whole / "results.json").exists():
        assert results_of(folder) == results_of(whole)
