"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[int, Mapping[str, float]], None]


@contextmanager
def progress(decisions: int, total: int) -> Iterator[Advance]:
    """Shows on standard error how far a run is.

    Args:
        decisions: Where it begins.
        total: Where it ends.

    Yields:
        What to call with (decisions, metrics) after each update.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, TextColumn("{task.fields[now]}"), console=console) as bar:
            task = bar.add_task("decisions", total=total, completed=decisions, now="")

            def advance(decisions: int, metrics: Mapping[str, float]) -> None:
                bar.update(task, completed=min(decisions, total), now=_now(metrics))

            yield advance
        return

    said = decisions * 10 // total

    def say(decisions: int, metrics: Mapping[str, float]) -> None:
        nonlocal said
        if decisions * 10 // total > said:
            said = decisions * 10 // total
            tell(f"{decisions:,} of {total:,} decisions, {_now(metrics)}")

    yield say


def tell(text: str) -> None:
    """Prints a line on standard error; where that is closed or full, nothing else is lost by it."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _now(metrics: Mapping[str, float]) -> str:
    """Returns the few figures that a progress line has room for."""
    text = f"{metrics['speed/decisions_per_s']:,.0f}/s, entropy {metrics['policy/entropy']:.2f}"
    for name, value in metrics.items():
        if name.endswith("/win_rate"):
            text += f", {name.split('/')[1]} {value:.1%}"
    return text
