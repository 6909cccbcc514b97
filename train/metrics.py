"""What a run writes down: every metric by name, in metrics.jsonl and in TensorBoard.

The x axis of every curve is the number of decisions learned from, never time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from agents.checkpoint import write_whole
from train.config import TrainConfig
from train.events import EventFile, next_path


class Metric(NamedTuple):
    """What a metric is, for the page on training."""

    meaning: str
    """How it is computed, in one line."""
    healthy: str
    """What it does in a run that learns; figures are those of configs/quickstart.toml."""


METRICS = {
    "loss/policy": Metric(
        "clipped surrogate loss of the policy, mean over the update's gradient steps",
        "a little below 0, and nearer to it as the steps get smaller; it says nothing of strength",
    ),
    "loss/value": Metric(
        "half the mean squared error of the critic, in returns",
        "falls at once, from 0.11 to 0.07, then slowly to 0.05: the rest is luck to come",
    ),
    "policy/kl": Metric(
        "mean KL divergence of the new from the old policy, estimated by (r - 1) - log r",
        "at most 0.01, to 0 at the end; beyond 0.05 steps are too large",
    ),
    "policy/clip_fraction": Metric(
        "share of decisions whose probability ratio left the clip range",
        "at most 0.12, to 0 at the end; beyond 0.3 steps are too large",
    ),
    "policy/grad_norm": Metric(
        "mean norm of the gradient before it is scaled down",
        "0.1 to 0.25; near max_grad_norm for long means that it is always scaled down",
    ),
    "policy/first_ratio_error": Metric(
        "largest |ratio - 1| in the first minibatch",
        "0 up to rounding; else what was played is not what is learned from: a fault, no setting",
    ),
    "value/explained_variance": Metric(
        "1 - var(return - value) / var(return), of values when it played",
        "0.6 after two updates, 0.85 at the end, as the critic sees both hands",
    ),
    "policy/entropy": Metric(
        "mean entropy of the policy over legal actions, in nats, when it played",
        "falls from 1.05 (all legal cards alike) to 0.35, over the whole run; not all at once",
    ),
    "schedule/learning_rate": Metric(
        "Adam's step size in this update",
        "a straight line from learning_rate to final_learning_rate",
    ),
    "schedule/entropy_weight": Metric(
        "weight of the entropy in this update",
        "a straight line from entropy to final_entropy",
    ),
    "games/ended": Metric(
        "games of self-play that ended in this update",
        "none for some deals, as all begin at once, then about a ninth of all games a deal",
    ),
    "speed/decisions_per_s": Metric(
        "decisions learned from a second, playing and updating; no evaluation",
        "even; half of it means that another process is on the core",
    ),
}
"""Each metric of an update."""

EVALUATION_METRICS = {
    "win_rate": Metric(
        "share of games won against the house player, with three players against two of them",
        "rises; 1,000 games have an interval of 0.03 to either side",
    ),
    "win_rate_as_dealer": Metric(
        "the same in games that the network dealt first",
        "above the next, as the first deal is an advantage",
    ),
    "win_rate_as_pone": Metric(
        "the same in games that the house player dealt first",
        "rises with the first",
    ),
    "skunk_rate": Metric(
        "share of games won by a skunk or more",
        "rises; against random to 0.7",
    ),
    "skunk_rate_as_dealer": Metric(
        "the same in games that the network dealt first",
        "rises",
    ),
    "skunk_rate_as_pone": Metric(
        "the same in games that the house player dealt first",
        "rises",
    ),
    "skunked_rate": Metric(
        "share of games lost by a skunk or more",
        "falls",
    ),
    "margin": Metric(
        "mean margin in points",
        "rises, and shows progress before the rates do",
    ),
}
"""Each metric of a match, logged as ``evaluation/OPPONENT/NAME``."""

OUTCOMES = ("win_rate", "skunk_rate", "margin")
"""Those of the last matches that TensorBoard has, each as ``outcome/OPPONENT/NAME``."""

# What depends on the machine and the hour, and not on the seed.
MEASURED = ("speed/decisions_per_s",)


def outcome_names(config: TrainConfig) -> list[str]:
    """Returns the curves that say what came of a run; none where there are no last matches."""
    opponents = config.opponents if config.final_games else ()
    return [f"outcome/{opponent}/{name}" for opponent in opponents for name in OUTCOMES]


class MetricsLog:
    """Appends metrics to ``metrics.jsonl``, a row a step, and to a new event file of TensorBoard.

    Args:
        folder: The run's folder.
        decisions: Where a resumed run goes on: what was written after it is taken out, so that no
            step stands there twice. 0 for a new run.

    Raises:
        OSError: If a file cannot be written, a full disk included, by all methods, naming it.
    """

    def __init__(self, folder: Path, decisions: int = 0) -> None:
        """Opens both logs."""
        self.path = folder / "metrics.jsonl"
        if self.path.exists():
            rows = self.path.read_text(errors="replace").splitlines()
            kept = "".join(row + "\n" for row in rows if 0 <= _step_of(row) <= decisions)
            write_whole(self.path, kept.encode())
        self._events_path = next_path(folder)
        with ExitStack() as opened:
            with _named(self.path):
                self._file = open(self.path, "a")  # noqa: SIM115  # closed by close()
            opened.callback(_close, self._file, self.path)
            with _named(self._events_path):
                self._events_file = open(self._events_path, "xb")  # noqa: SIM115  # the same
                opened.callback(_close, self._events_file, self._events_path)
                # TensorBoard skips what earlier processes logged from this step on; a run that
                # has learned nothing is described again.
                self._events = EventFile(self._events_file, decisions + 1 if decisions else 0)
                self._events_file.flush()
            self._closing = opened.pop_all()

    def __enter__(self) -> MetricsLog:
        """Returns itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes both logs."""
        self.close()

    def describe(self, config: TrainConfig) -> None:
        """Writes the configuration to TensorBoard: as a text, and as hyper-parameters."""
        with _named(self._events_path):
            self._events.text("config", "```toml\n" + config.as_toml() + "```")
            self._events.hyper_parameters(hyper_parameters(config), outcome_names(config))
            self._events_file.flush()

    def write(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """Appends one row."""
        with _named(self.path):
            self._file.write(json.dumps({"decisions": decisions, **metrics}) + "\n")
            self._file.flush()
        with _named(self._events_path):
            self._events.scalars(decisions, metrics)
            self._events_file.flush()

    def flush(self) -> None:
        """Hands all that was written to the disk."""
        with _named(self.path):
            os.fsync(self._file.fileno())
        with _named(self._events_path):
            os.fsync(self._events_file.fileno())

    def close(self) -> None:
        """Closes both logs."""
        self._closing.close()


def _close(file: IO[Any], path: Path) -> None:
    """Closes a file; an error names it."""
    with _named(path):
        file.close()


def hyper_parameters(config: TrainConfig) -> dict[str, float | str]:
    """Returns a configuration as HParams knows it: by name, numbers and texts."""
    values: dict[str, float | str] = {}
    for name, value in config.as_dict().items():
        values[name] = ", ".join(value) if isinstance(value, list) else value
    # HParams has no whole numbers, and a seed of 64 bits is no fraction.
    return values | {"seed": str(config.seed)}


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Makes an error of a write name its file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"not written: {error.strerror}", str(path)) from None


def _step_of(line: str) -> int:
    """Returns the step of a row; -1 for one cut short."""
    try:
        return int(json.loads(line)["decisions"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return -1
