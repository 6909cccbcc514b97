"""What a run writes down: every metric by name, in metrics.jsonl and in TensorBoard.

The x axis of every curve is the number of decisions learned from, never time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

METRICS = {
    "loss/policy": "clipped surrogate loss of the policy, mean over the update's gradient steps",
    "loss/value": "half the mean squared error of the critic, in returns",
    "policy/entropy": "mean entropy of the policy over legal actions, in nats, when it played",
    "policy/kl": "mean KL divergence of the new from the old policy, estimated by (r - 1) - log r",
    "policy/clip_fraction": "share of decisions whose probability ratio left the clip range",
    "policy/first_ratio_error": "largest |ratio - 1| in the first minibatch; 0 up to rounding",
    "value/explained_variance": "1 - var(return - value) / var(return), of values when it played",
    "policy/grad_norm": "mean norm of the gradient before it is scaled down",
    "schedule/learning_rate": "Adam's step size in this update",
    "schedule/entropy_weight": "weight of the entropy in this update",
    "games/ended": "games of self-play that ended in this update",
    "speed/decisions_per_s": "decisions learned from a second, playing and updating; no evaluation",
}
"""Each metric of an update, and what it means."""

EVALUATION_METRICS = {
    "win_rate": "share of games won against the house player",
    "win_rate_as_dealer": "the same in games that the network dealt first",
    "win_rate_as_pone": "the same in games that the house player dealt first",
    "skunk_rate": "share of games won by a skunk or more",
    "skunk_rate_as_dealer": "the same in games that the network dealt first",
    "skunk_rate_as_pone": "the same in games that the house player dealt first",
    "skunked_rate": "share of games lost by a skunk or more",
    "margin": "mean margin in points",
}
"""Each metric of a match, logged as ``evaluation/OPPONENT/NAME``."""

# What depends on the machine and the hour, and not on the seed.
MEASURED = ("speed/decisions_per_s",)


class MetricsLog:
    """Appends metrics to ``metrics.jsonl``, a row a step, and to TensorBoard.

    Args:
        folder: The run's folder.
        decisions: Where a resumed run goes on: what was written after it is taken out, so that no
            step stands there twice. 0 for a new run.
    """

    def __init__(self, folder: Path, decisions: int = 0) -> None:
        """Opens both logs."""
        self.path = folder / "metrics.jsonl"
        if self.path.exists():
            rows = [
                line for line in self.path.read_text().splitlines() if _step_of(line) <= decisions
            ]
            partial = self.path.with_suffix(".partial")
            partial.write_text("".join(row + "\n" for row in rows if _step_of(row) >= 0))
            os.replace(partial, self.path)
        # TensorBoard skips what earlier processes logged from this step on.
        self._file = open(self.path, "a")  # noqa: SIM115  # closed by close()
        self._writer = SummaryWriter(str(folder), purge_step=decisions + 1, max_queue=100)

    def write(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """Appends one row."""
        self._file.write(json.dumps({"decisions": decisions, **metrics}) + "\n")
        self._file.flush()
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, decisions)

    def text(self, name: str, text: str) -> None:
        """Adds a text to TensorBoard."""
        self._writer.add_text(name, text)

    def flush(self) -> None:
        """Hands all that was written to the operating system."""
        self._file.flush()
        self._writer.flush()

    def close(self) -> None:
        """Closes both logs."""
        self._file.close()
        self._writer.close()


def _step_of(line: str) -> int:
    """Returns the step of a row; -1 for one cut short."""
    try:
        return int(json.loads(line)["decisions"])
    except (ValueError, KeyError, TypeError):
        return -1
