"""TensorBoard's event files, written here and now.

Not torch's SummaryWriter: that writes in a thread, where a full disk is noticed late and prints a
traceback, and names files by the second, so that two begun within one are read in any order.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import (  # type: ignore[import-untyped]  # ships no py.typed
    Event,
    SessionLog,
)
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]  # the same
from tensorboard.summary.writer.record_writer import (  # type: ignore[import-untyped]  # the same
    RecordWriter,
)
from torch.utils.tensorboard import summary

_NAME = "events.out.tfevents."
_NUMBER = re.compile(re.escape(_NAME) + r"(\d+)")
# TensorBoard reads files in the order of their names: letters come after numbers.
OUTCOME = f"{_NAME}outcome"


def next_path(folder: Path) -> Path:
    """Returns the path of a run's next event file, behind all that there are, by number.

    No clock is asked: files are read in the order in which they were begun, also when they were
    begun within a second, or after the clock was put back.
    """
    numbers = [0]
    for path in folder.iterdir():
        found = _NUMBER.match(path.name)
        numbers += [int(found[1])] if found else []
    return folder / f"{_NAME}{max(numbers) + 1:010d}"


class EventFile:
    """A new event file, or the bytes of one.

    Args:
        file: Is written to.
        step: What was logged from this step on by earlier files is to be passed over; None: is
            not.
    """

    def __init__(self, file: io.BufferedIOBase, step: int | None = None) -> None:
        """Writes what every event file begins with."""
        self._records = RecordWriter(file)
        self._add(Event(file_version="brain.Event:2"))
        if step is not None:
            self._add(Event(step=step, session_log=SessionLog(status=SessionLog.START)))

    def _add(self, event: Event) -> None:
        """Appends one record."""
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Appends a point of each curve."""
        for name, value in values.items():
            point = Summary(value=[Summary.Value(tag=name, simple_value=value)])
            self._add(Event(step=step, summary=point))

    def text(self, name: str, text: str) -> None:
        """Appends a text."""
        self._add(Event(summary=summary.text(name, text)))

    def hyper_parameters(self, values: Mapping[str, float | str], outcomes: list[str]) -> None:
        """Appends the run's line in the plugin HParams.

        Args:
            values: By name.
            outcomes: The curves whose last points stand in that line.
        """
        experiment, start, _ = summary.hparams(dict(values), dict.fromkeys(outcomes, 0.0))
        self._add(Event(summary=experiment))
        self._add(Event(summary=start))

    def success(self) -> None:
        """Appends for HParams that the run has ended well."""
        *_, end = summary.hparams({}, {})
        self._add(Event(summary=end))


def outcome(step: int, values: Mapping[str, float]) -> bytes:
    """Returns the content of a run's last event file: its outcome, and that it has ended well.

    Args:
        step: The decisions learned from.
        values: The outcome by curve.
    """
    content = io.BytesIO()
    events = EventFile(content)
    events.scalars(step, values)
    events.success()
    return content.getvalue()
