"""Engines: the same records whoever plays, and nothing left behind however it ends."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from agents import agent as agents_by_name
from agents.agent import Agent, make
from agents.checkpoint import Checkpoint, checkpoint_path, save_checkpoint
from agents.network import NetworkConfig, PolicyValueNet
from crib_env import Rules, lane_seed
from crib_env.batch import IllegalActionError
from crib_env.rules import PRESETS
from eval.engine import (
    WORKER_DIED,
    AgentSpec,
    Block,
    EngineError,
    LocalEngine,
    blocks_of,
    play_block,
    play_sets,
    specs_of,
)
from eval.match import main, play_match
from eval.play import AgentError, play_games
from eval.provenance import ROOT

SHORT = Rules(target=31)
HOUSE = (AgentSpec("expert"), AgentSpec("random"))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the name of a small network with random weights that plays to 31."""
    path = tmp_path_factory.mktemp("run") / "x.safetensors"
    saved(path, 1)
    return f"checkpoint:{path}"


def saved(path: Path, seed: int) -> None:
    """Writes a checkpoint of a small network with random weights."""
    shape = NetworkConfig(16, 1)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        weights = PolicyValueNet(shape, SHORT).state_dict()
    tensors = {f"network.{name}": tensor for name, tensor in weights.items()}
    save_checkpoint(path, Checkpoint(0, {}, asdict(SHORT), asdict(shape), tensors))


def records(engine: LocalEngine, blocks: Iterator[Block]) -> bytes:
    """Returns all records that an engine gives, checking that they come in order."""
    with engine:
        played = list(engine.play(blocks))
    assert [number for number, _ in played] == list(range(len(played)))
    return b"".join(rows.tobytes() for _, rows in played)


def test_a_block_is_sets_of_games_as_a_match_has_them() -> None:
    rules = PRESETS["three_player"]
    block = Block((AgentSpec("expert"), AgentSpec("greedy"), AgentSpec("random")), rules, 7, 3, 4)
    agents = [make(spec.name, rules) for spec in block.agents]
    seeds = np.repeat(np.array([lane_seed(7, i) for i in range(3, 7)], np.uint64), 3)
    seats = [[0, 1, 2], [2, 0, 1], [1, 2, 0]] * 4
    expected = play_games(agents, seats, seeds, rules)
    assert np.array_equal(play_block(block), expected)
    assert block.games == len(expected) == 12


@pytest.mark.parametrize("sizes", [None, 1, 7, [1, 2, 3, 100]])
def test_blocks_are_all_sets_once_and_in_order(sizes: Any) -> None:
    blocks = list(blocks_of(HOUSE, SHORT, 3, 50, sizes))
    covered = [block.first_set + i for block in blocks for i in range(block.sets)]
    assert covered == list(range(50))


def test_blocks_that_end_too_soon_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to 5: allowed is 50 or more"):
        list(blocks_of(HOUSE, SHORT, 3, 50, [2, 3]))


def test_a_short_match_has_something_to_do_for_every_worker() -> None:
    assert len(list(blocks_of(HOUSE, SHORT, 0, 1000))) == 8
    assert len(list(blocks_of(HOUSE, SHORT, 0, 64))) == 1


def test_records_of_a_network_depend_on_no_number_of_workers_and_on_no_size_of_block(
    checkpoint: str,
) -> None:
    agents = AgentSpec(checkpoint), AgentSpec("expert")
    alone = records(LocalEngine(), blocks_of(agents, SHORT, 5, 30))
    for workers, size in ((1, 7), (2, 7), (4, 11)):
        assert records(LocalEngine(workers), blocks_of(agents, SHORT, 5, 30, size)) == alone


def test_a_match_is_the_same_with_workers_to_the_last_figure(checkpoint: str) -> None:
    a, b = make(checkpoint, SHORT, "sample"), make("noisy:0.5:all:greedy", SHORT)
    alone = play_match(a, b, 60, 3, SHORT)
    with LocalEngine(2) as engine:
        apart = play_match(a, b, 60, 3, SHORT, engine, sizes=4)
        # The processes stay for the next one.
        again = play_match(b, a, 60, 3, SHORT, engine, sizes=7)
    assert np.array_equal(alone.results, apart.results)
    assert alone == apart
    assert again.a.wins == alone.b.wins


def test_workers_play_the_checkpoint_that_was_the_newest_when_they_were_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (checkpoint_path(tmp_path, decisions) for decisions in (10, 20))
    saved(first, 1)
    agents = [make(f"checkpoint:{tmp_path}", SHORT, mode) for mode in ("sample", "greedy")]
    looked_up: list[str] = []
    pinned = agents_by_name.pinned

    def watched(name: str) -> str:
        looked_up.append(name)
        found = pinned(name)
        saved(second, 2)
        return found

    monkeypatch.setattr("eval.engine.pinned", watched)
    assert specs_of(agents) == [
        AgentSpec(f"checkpoint:{first}", "sample"),
        AgentSpec(f"checkpoint:{first}", "greedy"),
    ]
    assert looked_up == [f"checkpoint:{tmp_path}"]
    noisy = make(f"noisy:0.1:all:checkpoint:{tmp_path}", SHORT)
    assert specs_of([noisy]) == [AgentSpec(f"noisy:0.1:all:checkpoint:{second}")]
    house = make("noisy:0.1:all:expert"), make("expert")
    assert specs_of(house) == [AgentSpec("noisy:0.1:all:expert"), AgentSpec("expert")]


def test_what_is_played_for_nothing_is_little_and_ends_at_once() -> None:
    taken = count()

    def endless() -> Iterator[Block]:
        for number in taken:
            yield Block(HOUSE, SHORT, 0, number, 1)

    with LocalEngine(2) as engine:
        played = engine.play(endless())
        assert [next(played)[0] for _ in range(3)] == [0, 1, 2]
        start = time.monotonic()
    assert time.monotonic() - start < 5
    assert next(taken) < 10


@pytest.mark.parametrize("workers", [0, -1])
def test_fewer_workers_than_one_are_refused(workers: int) -> None:
    with pytest.raises(ValueError, match=f"workers={workers}: allowed is 1 or more"):
        LocalEngine(workers)


def test_agents_as_they_are_play_in_this_process() -> None:
    with pytest.raises(ValueError, match="workers=2: allowed is 1 with agents as they are"):
        LocalEngine(2, [make("expert")] * 2)
    with pytest.raises(ValueError, match="on_transcript with an engine"):
        list(play_sets([make("expert")] * 2, SHORT, 0, 1, LocalEngine(), None, print))


# ---- what goes wrong ----


class Broken:
    """Raises what it is told at its first decision."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(
        self,
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        raise self.error


def test_an_agent_that_raises_is_named_in_one_line() -> None:
    broken = Agent("broken", Broken(KeyError("two\nlines")))
    with pytest.raises(AgentError, match=r"^agent broken: KeyError: 'two\\nlines'$"):
        play_match(broken, make("random"), 2)
    for error in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            play_match(Agent("broken", Broken(error)), make("random"), 2)


def test_errors_reach_this_process_as_they_are() -> None:
    for error in (AgentError("a"), IllegalActionError("b"), EngineError("c")):
        received = pickle.loads(pickle.dumps(error))
        assert (type(received), str(received)) == (type(error), str(error))


def test_an_agent_that_cannot_be_made_in_a_worker_is_named_too(checkpoint: str) -> None:
    # It is made for a target of 31: there it is asked about another game than it knows.
    agents = AgentSpec(checkpoint), AgentSpec("random")
    with LocalEngine(2) as engine, pytest.raises(EngineError, match=r"^in a worker process: .*31"):
        list(engine.play(blocks_of(agents, Rules(target=61), 0, 2)))


@pytest.mark.parametrize(
    "error",
    [AgentError("agent x: it raised"), IllegalActionError("agent x: illegal"), EngineError("died")],
)
def test_the_command_line_says_it_in_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("eval.match.play_match", play)
    assert main(["expert", "greedy", "--games", "2"]) == 1
    assert capsys.readouterr().err == f"eval.match: {error}\n"


def children(process: int) -> list[int]:
    """Returns the processes that a process has started and that are no helpers of Python's."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "stat").read_text().rpartition(")")[2].split()
            line = (path / "cmdline").read_text()
        except OSError:
            continue
        if int(words[1]) == process and words[0] != "Z" and "resource_tracker" not in line:
            found.append(int(path.name))
    return found


def started(arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Starts a long match with two workers; returns it and them, once they play."""
    command = [sys.executable, "-m", "eval.match", *arguments.split(), "--workers", "2"]
    match = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        workers = children(match.pid)
        if len(workers) == 2:
            time.sleep(1)
            return match, workers
        time.sleep(0.05)
    match.kill()
    raise AssertionError("no workers")


def gone(workers: list[int]) -> bool:
    """Whether processes end within a few seconds."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
            return True
        time.sleep(0.05)
    return False


LONG = "expert greedy --games 40000000"

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes by Linux's /proc"
)


@needs_proc
def test_ctrl_c_ends_all_processes_at_once_and_is_said_in_one_line() -> None:
    match, workers = started(LONG)
    start = time.monotonic()
    # As a terminal does it: to all of them.
    os.killpg(match.pid, signal.SIGINT)
    said = match.communicate(timeout=60)
    assert time.monotonic() - start < 10
    assert said == ("", "eval.match: interrupted, nothing written\n")
    assert match.returncode == 130
    assert gone(workers)


@needs_proc
def test_a_worker_that_dies_is_said_in_one_line() -> None:
    match, workers = started(LONG)
    os.kill(workers[0], signal.SIGKILL)
    said = match.communicate(timeout=60)
    assert said == ("", f"eval.match: {WORKER_DIED}\n")
    assert match.returncode == 1
    assert gone(workers)


@needs_proc
def test_workers_end_with_a_process_that_is_killed() -> None:
    match, workers = started(LONG)
    match.kill()
    match.communicate(timeout=60)
    assert gone(workers)
