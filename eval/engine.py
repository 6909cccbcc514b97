"""Who plays the games of an evaluation: this process, several, or whatever has the same protocol.

The unit of work is a `Block`: sets of games, told in plain data, so that it can be sent anywhere
and gives the same records wherever it is played. What is made of them never depends on how many
play, as an `Engine` gives the records back in the order of the blocks.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from agents.agent import MODES, Agent, make, pinned
from crib_env.luck import lane_seed
from crib_env.rules import Rules
from eval.play import LANES, OnTranscript, play_games

Array = npt.NDArray[Any]

# The most sets of a block: enough that a network is asked for a thousand positions at once (it
# evaluates no fewer, `agents.neural_agent.BATCH`), few enough that workers end together. A short
# match has smaller ones, so that all workers have something to do.
BLOCK_SETS = 1024
LEAST_SETS = 64
BLOCKS = 8  # that a match has at least, if it is not too short for them

# Blocks a worker has before it: it never waits for the next, and few are played for nothing when
# whoever asked has seen enough.
AHEAD = 2

# Agents that a process keeps between blocks.
KEPT = 64


class EngineError(Exception):
    """Games that could not be played for a reason of the machinery's, in one line."""


@dataclass(frozen=True)
class AgentSpec:
    """An agent in plain data: what `agents.make` needs."""

    name: str
    """Its name, of which any process makes the same agent."""
    mode: str = MODES[0]
    """How a network chooses: ``"greedy"`` or ``"sample"``."""


def specs_of(agents: Sequence[Agent]) -> list[AgentSpec]:
    """Returns the plain data of agents that `agents.make` can make.

    A folder of checkpoints stands for its newest file as it is now, looked up once: a run may go on
    meanwhile, and all processes shall load the same.
    """
    names = {name: pinned(name) for name in dict.fromkeys(agent.name for agent in agents)}
    return [
        AgentSpec(names[agent.name], agent.mode if agent.mode in MODES else MODES[0])
        for agent in agents
    ]


@dataclass(frozen=True)
class Block:
    """Some sets of games between agents, in plain data.

    Set i is dealt by lane_seed(seed, i), whoever plays. It has a game for each side that there is,
    with the same cards: at seat s of game g sits agent s - g, counted round the table, and seat 0
    deals first.
    """

    agents: tuple[AgentSpec, ...]
    """Who plays, one a place; the same one may hold several. Of four the first and the third are
    partners."""
    rules: Rules
    """The rules of all games."""
    seed: int
    """The seed of all cards, and of the luck of players that draw."""
    first_set: int
    """The number of the block's first set."""
    sets: int
    """How many sets, 1 or more."""

    @property
    def games(self) -> int:
        """How many games it has."""
        return self.sets * self.rules.sides


def blocks_of(
    agents: Sequence[AgentSpec],
    rules: Rules,
    seed: int,
    sets: int,
    sizes: int | Iterable[int] | None = None,
) -> Iterator[Block]:
    """Yields the blocks of a number of sets from set 0 on, in order.

    Args:
        agents: Who plays, one a place.
        rules: The rules of all games.
        seed: Set i is dealt by lane_seed(seed, i).
        sets: How many sets.
        sizes: How many of them a block has, or each block in turn; no result depends on it. By
            default what suits so many sets.

    Raises:
        ValueError: If the blocks end before the sets do.
    """
    if sizes is None:
        sizes = min(BLOCK_SETS, max(LEAST_SETS, -(-sets // BLOCKS)))
    first = 0
    for size in repeat(sizes) if isinstance(sizes, int) else sizes:
        if first >= sets:
            return
        yield Block(tuple(agents), rules, seed, first, min(size, sets - first))
        first += size
    if first < sets:
        raise ValueError(f"sizes: they add up to {first}: allowed is {sets} or more")


def play_block(
    block: Block, agents: Sequence[Agent] | None = None, on_transcript: OnTranscript | None = None
) -> Array:
    """Plays a block in this process.

    Args:
        block: What to play.
        agents: The block's agents, one a place; by default they are made.
        on_transcript: Given the number of each game, counted from set 0, and the game written down.

    Returns:
        (G,) records of `eval.play.result_type`, the games of a set side by side.

    Raises:
        ValueError: If an agent cannot be made.
        AgentError: If an agent raises.
        IllegalActionError: If an agent chooses an action that the rules do not allow.
    """
    if agents is None:
        made = {spec: make(spec.name, block.rules, spec.mode) for spec in block.agents}
        agents = [made[spec] for spec in block.agents]
    size = block.rules.sides
    numbers = range(block.first_set, block.first_set + block.sets)
    seeds = np.array([lane_seed(block.seed, number) for number in numbers], np.uint64)
    order = np.arange(block.rules.players, dtype=np.int8)
    seats = np.tile(np.stack([np.roll(order, game) for game in range(size)]), (block.sets, 1))
    told = on_transcript and _counted_from(block.first_set * size, on_transcript)
    return play_games(agents, seats, np.repeat(seeds, size), block.rules, LANES, None, told)


def _counted_from(first: int, on_transcript: OnTranscript) -> OnTranscript:
    """Returns what tells the number of a game counted from set 0."""
    return lambda number, transcript: on_transcript(first + number, transcript)


class Engine(Protocol):
    """Plays blocks. A context manager: what it has started ends with it."""

    def play(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Array]]:
        """Yields the number of each block, 0 the first, and its records, in the blocks' order.

        Blocks are taken as they are needed, so they may go on for ever: who has seen enough closes
        the iterator.

        Raises:
            EngineError: If a block cannot be played.
        """
        ...

    def __enter__(self) -> Self:
        """Returns the engine, ready to play."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends all that it has started, at once, whatever it is at."""
        ...


class LocalEngine:
    """Plays blocks on this machine: in this process, or in several of its own.

    The processes are started by spawn, everywhere alike, each with one thread. They end when this
    one does, even if it is killed. A script that uses them needs a main guard.

    Args:
        workers: How many processes; 1 is this one itself.
        agents: Agents as they are, one a place, in place of those that the blocks name. For agents
            without a name of which they could be made; they play in this process.
        on_transcript: Given each game written down, as `play_block` gives it; in this process.

    Raises:
        ValueError: If *workers* is below 1, or above 1 for what is done in this process.
    """

    def __init__(
        self,
        workers: int = 1,
        agents: Sequence[Agent] | None = None,
        on_transcript: OnTranscript | None = None,
    ) -> None:
        """Starts nothing yet."""
        check_workers(workers)
        if workers > 1 and (agents is not None or on_transcript is not None):
            raise ValueError(
                f"workers={workers}: allowed is 1 with agents as they are, and with games to be "
                "written down"
            )
        self.workers = workers
        self._agents = agents
        self._on_transcript = on_transcript
        self._made = lru_cache(KEPT)(_make)
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def play(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Array]]:
        """Yields the number and the records of each block, in order (`Engine.play`).

        Raises:
            EngineError: If a worker dies, or an agent cannot be made there.
        """
        if self.workers > 1:
            yield from self._play_apart(blocks)
            return
        for number, block in enumerate(blocks):
            agents = self._agents or [self._made(spec, block.rules) for spec in block.agents]
            yield number, play_block(block, agents, self._on_transcript)

    def _play_apart(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Array]]:
        """Plays blocks in the processes, always a few ahead of what has been asked for."""
        waiting: deque[Future[Array]] = deque()
        number = 0
        try:
            for block in blocks:
                waiting.append(self._submit(block))
                if len(waiting) > AHEAD * self.workers:
                    yield number, _records(waiting.popleft())
                    number += 1
            while waiting:
                yield number, _records(waiting.popleft())
                number += 1
        finally:
            for future in waiting:
                future.cancel()

    def _submit(self, block: Block) -> Future[Array]:
        """Gives a block to the processes.

        Raises:
            EngineError: If one has died.
        """
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            their_end, self._lifeline = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.workers, context, _begin_worker, (their_end,))
        try:
            # The first few blocks start a process each.
            with _interrupts_ignored():
                return self._pool.submit(_play_in_worker, block)
        except BrokenProcessPool:
            raise EngineError(WORKER_DIED) from None

    def __enter__(self) -> LocalEngine:
        """Returns the engine."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the processes at once; what they are at is thrown away."""
        if self._lifeline is not None:
            self._lifeline.close()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool = self._lifeline = None


def seated(a: Agent, b: Agent, rules: Rules) -> list[Agent]:
    """Returns who plays, one a place: A the first side, B all others."""
    return [b if place % rules.sides else a for place in range(rules.players)]


def play_sets(
    agents: Sequence[Agent],
    rules: Rules,
    seed: int,
    sets: int,
    engine: Engine | None = None,
    sizes: int | Iterable[int] | None = None,
    on_transcript: OnTranscript | None = None,
) -> Generator[Array, None, None]:
    """Yields the records of sets of games, block by block, in order (`Block`).

    Args:
        agents: Who plays, one a place; with an engine, of names that `agents.make` knows.
        rules: The rules of all games.
        seed: Set i is dealt by lane_seed(seed, i).
        sets: How many sets.
        engine: Plays them; by default this process, with the agents as they are.
        sizes: See `blocks_of`.
        on_transcript: Given the number of each game and the game written down; without an engine.

    Raises:
        ValueError: If there is an engine and *on_transcript*, or an agent cannot be made.
        EngineError: If the engine cannot play them.
        AgentError: If an agent raises.
        IllegalActionError: If an agent chooses an action that the rules do not allow.
    """
    if engine is None:
        engine = LocalEngine(1, agents, on_transcript)
        specs = [AgentSpec(agent.name, agent.mode) for agent in agents]
    elif on_transcript is not None:
        raise ValueError("on_transcript with an engine: allowed is one of them")
    else:
        specs = specs_of(agents)
    for _, records in engine.play(blocks_of(specs, rules, seed, sets, sizes)):
        yield records


def check_workers(workers: int) -> None:
    """Refuses a number of workers below 1.

    Raises:
        ValueError: If it is.
    """
    if workers < 1:
        raise ValueError(f"workers={workers}: allowed is 1 or more")


WORKER_DIED = (
    "a worker process died: killed, out of memory, or started by a script without "
    'if __name__ == "__main__":'
)


def _records(future: Future[Array]) -> Array:
    """Returns what a process has played.

    Raises:
        EngineError: If it died, or an agent cannot be made there.
    """
    try:
        return future.result()
    except BrokenProcessPool:
        raise EngineError(WORKER_DIED) from None


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Has the processes that are started within ignore Ctrl-C from birth: this one ends them.

    An ignored signal stays so in a child. Only the main thread may set signals; the processes of
    another thread are interrupted until they have begun.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _make(spec: AgentSpec, rules: Rules) -> Agent:
    """Returns the agent that a block names."""
    return make(spec.name, rules, spec.mode)


# What a worker keeps between blocks.
_made_here = lru_cache(KEPT)(_make)


def _begin_worker(lifeline: Connection) -> None:
    """Prepares a worker: one thread, deaf to Ctrl-C, ending when whoever started it does.

    Args:
        lifeline: The near end of a pipe that says nothing: it ends with the process that holds the
            other end, however that ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)

    def end_with_it() -> None:
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()


def _play_in_worker(block: Block) -> Array:
    """Plays a block in a worker.

    Raises:
        EngineError: If an agent cannot be made.
    """
    try:
        agents = [_made_here(spec, block.rules) for spec in block.agents]
    except (ValueError, OSError) as error:
        raise EngineError(f"in a worker process: {error}") from None
    return play_block(block, agents)
