"""How fast it is: the kernel, batches, single steps, training, and OpenSpiel beside them.

``python -m eval.speed [--json FILE]``; docs/evaluation.md says what each key means. All that is
compared runs in turns, a short slice each for several rounds, in one process and on one thread, so
that a busy machine slows all of it down alike; reported are medians over the rounds, also of the
ratios, each taken within a round.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import tyro
from gymnasium.vector import VectorEnv
from rich.console import Console
from rich.table import Table

from crib_env.batch import Games
from crib_env.bots import RANDOM
from crib_env.kernel import as_records
from crib_env.loops import bot_actions
from eval.provenance import ROOT, check_writable, keep_json, origin
from eval.speed_match import measure_matches

LANES = 4096
SYNC_COPIES = 64
LARGEST = (1 << 64) - 1

# What a user meets first: a batch and an environment, with every house player.
FIRST_USE = """\
import gymnasium, crib_env
games = crib_env.Games(2)
games.observe(), games.luck()
games.apply(games.action_masks().argmax(axis=1))
games.play_bots((0, 1)), games.next_game(), games.play_bots((2, 2))
environment = gymnasium.make("crib_env/Cribbage-v0", opponent="expert")
_, info = environment.reset(seed=1)
environment.step(int(info["action_mask"].argmax()))
"""


@dataclass(frozen=True)
class Slice:
    """What the kernel played in how long."""

    games: int
    """Whole games."""
    throws: int
    """Cards thrown to a crib, one decision each."""
    plays: int
    """Cards laid, one decision each."""
    seconds: float
    """How long it took."""

    @property
    def openspiel_share(self) -> float:
        """Decisions as OpenSpiel has them for each of ours: there one action throws both cards."""
        return (self.throws / 2 + self.plays) / (self.throws + self.plays)


def kernel_games(games: Games, seconds: float) -> Slice:
    """Plays whole random games inside the compiled loop. Changes *games*, which are at a start."""
    players, num_discards = games.rules.players, games.rules.num_discards
    num_games = throws = plays = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        games.play_bots([RANDOM] * players)
        num_games += len(games)
        # Every deal but a game's last is laid out whole.
        whole = int(games.records["deal_number"].sum())
        throws += players * num_discards * (whole + len(games))
        plays += players * games.rules.num_kept * whole + int(games.records["num_plays"].sum())
        games.next_game()
    return Slice(num_games, throws, plays, elapsed)


def batch_decisions(games: Games, seconds: float) -> float:
    """Returns decisions a second with an observation and a mask written at each. Changes *games*.

    Each round of the loop is what a learner does without its network: observe, mask, choose (here a
    random legal card), apply, and go on to the next game where one has ended.
    """
    uniform = np.random.Generator(np.random.SFC64(0))
    observations = np.empty((len(games), games.observation_size), np.uint8)
    masks = np.empty((len(games), games.num_actions), np.int8)
    actions = np.empty(len(games), np.int64)
    records = as_records(games.records)
    decisions = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        games.observe(out=observations)
        games.action_masks(out=masks)
        luck = uniform.integers(LARGEST, size=len(games), dtype=np.uint64, endpoint=True)
        bot_actions(records, RANDOM, luck.view(np.uint32).reshape(-1, 2), actions)
        games.apply(actions)
        games.next_game()
        decisions += len(games)
    return decisions / elapsed


def single_steps(environment: gymnasium.Env[Any, Any], seconds: float) -> tuple[float, float]:
    """Plays random legal actions in one environment.

    Returns:
        Steps a second in `step` alone, and in the whole loop: `reset` and the choice included.
    """
    uniform = random.Random(0).random
    clock = time.perf_counter
    steps = 0
    inside = 0.0
    start = clock()
    while clock() - start < seconds:
        _, info = environment.reset()
        over = False
        while not over:
            legal = info["action_mask"].nonzero()[0]
            action = int(legal[int(uniform() * len(legal))])
            before = clock()
            _, _, over, _, info = environment.step(action)
            inside += clock() - before
            steps += 1
    return steps / inside, steps / (clock() - start)


def vector_steps(
    environments: VectorEnv[Any, Any, Any],
    choose: Callable[[dict[str, Any]], npt.NDArray[np.int64]],
    seconds: float,
) -> float:
    """Returns the agent's steps a second in `step` alone, by random legal actions.

    The steps that only begin an episode count for nothing, the time that they take counts.

    Args:
        environments: With the autoreset mode NEXT_STEP.
        choose: Returns the actions, (N,) int64, from the information.
        seconds: How long to go on.
    """
    clock = time.perf_counter
    _, infos = environments.reset()
    begins = np.zeros(environments.num_envs, np.bool_)
    steps = 0
    inside = 0.0
    start = clock()
    while clock() - start < seconds:
        actions = choose(infos)
        before = clock()
        _, _, terminated, _, infos = environments.step(actions)
        inside += clock() - before
        steps += int((~begins).sum())
        begins = terminated
    return steps / inside


def native_chooser(
    environments: Any, seed: int
) -> Callable[[dict[str, Any]], npt.NDArray[np.int64]]:
    """Returns what chooses random legal cards for all lanes of a native vector environment."""
    uniform = np.random.Generator(np.random.SFC64(seed))
    n = environments.num_envs
    actions = np.empty(n, np.int64)

    def choose(infos: dict[str, Any]) -> npt.NDArray[np.int64]:
        luck = uniform.integers(LARGEST, size=n, dtype=np.uint64, endpoint=True)
        records = as_records(environments.games.records)
        bot_actions(records, RANDOM, luck.view(np.uint32).reshape(-1, 2), actions)
        return actions

    return choose


def mask_chooser(seed: int) -> Callable[[dict[str, Any]], npt.NDArray[np.int64]]:
    """Returns what chooses random legal cards from stacked masks."""
    uniform = np.random.Generator(np.random.SFC64(seed))

    def choose(infos: dict[str, Any]) -> npt.NDArray[np.int64]:
        masks = infos["action_mask"]
        return np.asarray((uniform.random(masks.shape) * masks).argmax(axis=1))

    return choose


def measure_loops(
    seconds: float, rounds: int, say: Callable[[str], None] = lambda line: None
) -> dict[str, float]:
    """Measures all that runs in this process, in turns.

    Args:
        seconds: How long a slice is.
        rounds: How many slices of each.
        say: Told what is going on.

    Returns:
        Medians over the rounds, by key.
    """
    # OpenSpiel is a tool of development: import it where it is wanted.
    from eval.openspiel_speed import bot_games, random_games

    whole, batch = Games(LANES, seed=1), Games(LANES, seed=2)
    environment = gymnasium.make("crib_env/Cribbage-v0", opponent="random")
    environment.reset(seed=3)
    name = "crib_env/Cribbage-v0"
    native = gymnasium.make_vec(name, num_envs=LANES, opponent="expert")
    sync = gymnasium.make_vec(
        name, num_envs=SYNC_COPIES, vectorization_mode="sync", opponent="expert"
    )
    choosers = native_chooser(native, 4), mask_chooser(5)
    # Each is run once before it counts: code is loaded from the cache at the first call.
    kernel_games(whole, 0.01)
    batch_decisions(batch, 0.01)
    single_steps(environment, 0.01)
    for vector, choose in ((native, choosers[0]), (sync, choosers[1])):
        vector.reset(seed=6)
        vector_steps(vector, choose, 0.01)
    measured: dict[str, list[float]] = {}
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        kernel = kernel_games(whole, seconds)
        spiel = random_games(seconds, seed=number)
        batched = batch_decisions(batch, seconds)
        spiel_bots = bot_games(seconds, seed=number)
        step, loop = single_steps(environment, seconds)
        vector_step = vector_steps(native, choosers[0], seconds)
        sync_step = vector_steps(sync, choosers[1], seconds)
        games_per_s = kernel.games / kernel.seconds
        for name, value in {
            "kernel_games_per_s": games_per_s,
            "kernel_decisions_per_s": (kernel.throws + kernel.plays) / kernel.seconds,
            "batch_decisions_per_s": batched,
            "single_steps_per_s": step,
            "single_loop_steps_per_s": loop,
            "vector_steps_per_s": vector_step,
            "sync_vector_steps_per_s": sync_step,
            "vector_over_sync_vector": vector_step / sync_step,
            "pyspiel_games_per_s": spiel.games_per_second,
            "pyspiel_decisions_per_s": spiel.decisions_per_second,
            "pyspiel_passes_per_s": spiel.passes / spiel.seconds,
            "pyspiel_bot_games_per_s": spiel_bots.games_per_second,
            "kernel_over_pyspiel_games": games_per_s / spiel.games_per_second,
            "kernel_over_pyspiel_bot_games": games_per_s / spiel_bots.games_per_second,
            # Like with like: both play random games, of which this many decisions are OpenSpiel's.
            "batch_over_pyspiel_decisions": (
                batched * kernel.openspiel_share / spiel.decisions_per_second
            ),
        }.items():
            measured.setdefault(name, []).append(value)
    for opened in (environment, native, sync):
        opened.close()
    return {name: median(values) for name, values in measured.items()}


def measure_start(times: int) -> dict[str, float]:
    """Measures how long a new process takes, from its start to its end, in seconds.

    Args:
        times: How often the warm ones are repeated; the median counts.

    Returns:
        ``first_compile_s``: first use with an empty cache; ``warm_first_use_s``: the same once
        more; ``warm_import_s``: ``import crib_env`` alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        cold = _run([sys.executable, "-c", FIRST_USE], folder)
        warm = [_run([sys.executable, "-c", FIRST_USE], folder) for _ in range(times)]
        plain = [_run([sys.executable, "-c", "import crib_env"], folder) for _ in range(times)]
    return {
        "first_compile_s": cold,
        "warm_first_use_s": median(warm),
        "warm_import_s": median(plain),
    }


def _run(command: Sequence[str], cache: str | None = None) -> float:
    """Runs a command in this checkout and returns how long it took, in seconds.

    Args:
        command: The command.
        cache: A folder for compiled code; None is the usual one.

    Raises:
        RuntimeError: If it fails, with what it said.
    """
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{command}: exit status {done.returncode}: {done.stderr.strip()}")
    return seconds


def measure_training(decisions: int) -> float:
    """Returns how many decisions a second training learns from, updates included.

    Training stands above evaluation, so this runs its command line, with the quickstart's settings
    but no matches, and reads what it logged: the median over its updates, the first left out.

    Args:
        decisions: How many to train for.

    Raises:
        RuntimeError: If training fails, or made too few updates to tell.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "train", "configs/quickstart.toml", "--folder", str(run)]
        _run([*command, "--evaluate-every", "0", "--stop-after", str(decisions)])
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    speeds = [float(json.loads(line)["speed/decisions_per_s"]) for line in lines][1:]
    if not speeds:
        raise RuntimeError(f"training: {decisions} decisions are too few for two updates")
    return median(speeds)


@dataclass(frozen=True)
class Options:
    """Measures how fast this machine plays, steps, trains, compiles and imports."""

    json: Path | None = None
    """Write the result to this file."""
    seconds: float = 1.0
    """How long a slice of each loop is."""
    rounds: int = 5
    """How many slices of each loop there are."""
    train_decisions: int = 300_000
    """Decisions to train for; 0 leaves training out."""
    matches: bool = True
    """Measure two matches too (`eval.speed_match`)."""
    start: bool = True
    """Measure compiling and importing too."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0, 1 if the result could be shown but not written, 2 if refused, 130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = tyro.cli(Options, prog="python -m eval.speed", args=arguments)
    try:
        if not 0 < options.seconds < float("inf") or options.rounds < 1:
            raise ValueError(
                f"seconds={options.seconds}, rounds={options.rounds}: "
                "allowed are a time above 0 and 1 round or more"
            )
        if options.json:
            check_writable(options.json)
    except ValueError as error:
        print(f"eval.speed: {error}", file=sys.stderr)
        return 2
    try:
        result = _measure(options)
    except KeyboardInterrupt:
        print("eval.speed: interrupted, nothing written", file=sys.stderr)
        return 130
    result |= origin("eval.speed", arguments)
    table = Table("", "median")
    table.columns[1].justify = "right"
    for name, value in result.items():
        table.add_row(name, _figure(value) if isinstance(value, float) else str(value))
    Console(markup=False, highlight=False).print(table)
    return keep_json(options.json, result, "eval.speed") if options.json else 0


def _measure(options: Options) -> dict[str, Any]:
    """Returns all that was asked for, by key; None for what was left out."""

    def say(line: str) -> None:
        print(f"eval.speed: {line}", file=sys.stderr, flush=True)

    loops = measure_loops(options.seconds, options.rounds, say)
    training: dict[str, float | None] = {"train_decisions_per_s": None}
    if options.train_decisions:
        say("training")
        training["train_decisions_per_s"] = measure_training(options.train_decisions)
    matches: dict[str, float] | dict[str, None]
    if options.matches:
        say("matches")
        matches = measure_matches(_run)
    else:
        matches = dict.fromkeys(("match_expert_s", "match_network_s"))
    start: dict[str, float] | dict[str, None]
    if options.start:
        say("compiling anew, then importing")
        start = measure_start(options.rounds)
    else:
        start = dict.fromkeys(("first_compile_s", "warm_first_use_s", "warm_import_s"))
    return {
        **loops,
        **training,
        **matches,
        **start,
        "rounds": options.rounds,
        "slice_s": options.seconds,
    }


def _figure(value: float) -> str:
    """Returns a speed with three digits that count, which is more than a busy machine repeats."""
    if value >= 1000:
        digits = len(str(int(value)))
        return f"{round(value, 3 - digits):,.0f}"
    return f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
