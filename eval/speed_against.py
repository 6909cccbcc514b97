"""Whether a change has made the kernel slower: this checkout against an earlier commit.

``python -m eval.speed_against COMMIT [--json FILE]``. Each side is a process of its own that plays
whole random two-player games inside the compiled loop; they run in turns, a short slice each, so
that a busy machine slows both down alike. The ratio is the median over the rounds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import tyro

from eval.provenance import ROOT, check_writable, keep_json, origin

LANES = 4096

# Asks only what every commit since the first has: games are played for as many
# seconds as each line of input says, and how many a second is the answer.
WORKER = f"""\
import sys, time
from crib_env import Games
games = Games({LANES}, seed=1)
games.play_bots([0, 0])
games.next_game()
print("ready", flush=True)
for line in sys.stdin:
    seconds, played, start = float(line), 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        games.play_bots([0, 0])
        games.next_game()
        played += len(games)
    print(played / elapsed, flush=True)
"""


@dataclass(frozen=True)
class Options:
    """The command line."""

    commit: Annotated[str, tyro.conf.Positional]
    """The commit to compare with, as git names it."""
    seconds: float = 1.0
    """Length of a slice."""
    rounds: int = 15
    """Slices of each side."""
    json: Path | None = None
    """A file for the result."""


class Side:
    """A process that plays with the sources of one folder.

    Args:
        folder: The checkout.
    """

    def __init__(self, folder: Path) -> None:
        """Starts the process and waits until its kernels are compiled."""
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def _answer(self) -> str:
        """Returns the next line that the process writes.

        Raises:
            RuntimeError: If it has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"the games of {self._process.args!r} ended")
        return line

    def games_per_second(self, seconds: float) -> float:
        """Plays for so many seconds."""
        assert self._process.stdin is not None
        print(seconds, file=self._process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


def check_out(commit: str, folder: Path) -> str:
    """Writes the files of a commit into *folder*; returns its whole name.

    Raises:
        ValueError: If git knows no such commit.
    """
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise ValueError(f"commit {commit!r}: allowed is one of this repository")
    name = found.stdout.strip()
    archive = subprocess.run([*git, "archive", name], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return name


def compare(commit: str, seconds: float, rounds: int) -> dict[str, Any]:
    """Returns the games a second of both sides, medians, and of their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        name = check_out(commit, Path(folder))
        sides: list[Side] = []
        try:
            sides += [Side(Path(folder))]
            sides += [Side(ROOT)]
            speeds = []
            for number in range(rounds):
                # Who goes first changes from round to round.
                order = sides if number % 2 else sides[::-1]
                measured = [side.games_per_second(seconds) for side in order]
                speeds.append(measured if number % 2 else measured[::-1])
        finally:
            for side in sides:
                side.close()
    before, now = zip(*speeds, strict=True)
    return {
        "against": name,
        "games_per_s_before": median(before),
        "games_per_s_now": median(now),
        "now_over_before": median(new / old for old, new in speeds),
        "rounds": rounds,
        "slice_s": seconds,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0, 1 if the result could be shown but not written, 2 if refused, 130 if interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = tyro.cli(Options, prog="python -m eval.speed_against", args=arguments)
    try:
        if not 0 < options.seconds < float("inf") or options.rounds < 1:
            raise ValueError(
                f"seconds={options.seconds}, rounds={options.rounds}: "
                "allowed are a time above 0 and 1 round or more"
            )
        if options.json:
            check_writable(options.json)
        result = compare(options.commit, options.seconds, options.rounds)
    except ValueError as error:
        print(f"eval.speed_against: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("eval.speed_against: interrupted, nothing written", file=sys.stderr)
        return 130
    print(
        f"{result['now_over_before']:.3f} times the games a second of {result['against'][:7]}: "
        f"{result['games_per_s_now']:,.0f} now, {result['games_per_s_before']:,.0f} then"
    )
    result |= origin("eval.speed_against", arguments)
    return keep_json(options.json, result, "eval.speed_against") if options.json else 0


if __name__ == "__main__":
    sys.exit(main())
