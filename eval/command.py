"""What the command lines that play games have in common: flags, refusals, how a result is kept.

A command line says which flags it has (`Options`), checks them and says what is to be played
(`Work`); `run` does the rest, the same for all. Exit statuses: 0, 1 if it could not be finished or
its result could be shown but not written, 2 if it was refused, 130 if interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import tyro
from rich.console import Console, RenderableType

from crib_env.batch import IllegalActionError
from crib_env.luck import check_seed
from crib_env.rules import Rules
from eval.engine import EngineError
from eval.play import AgentError, limit_threads
from eval.provenance import check_writable, keep_json, origin
from eval.rules_flag import RulesFlag, RulesRefused


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The flag of every command line that has a result."""

    json: Path | None = None
    """Write the result to this file."""


@dataclass(frozen=True, kw_only=True)
class Options(Kept):
    """The flags of a command line that says which games are played."""

    seed: int = 0
    """The seed of all cards, and of the luck of players that draw."""
    mode: Literal["greedy", "sample"] = "greedy"
    """How networks choose: the most probable action, or one drawn."""


@dataclass(frozen=True, kw_only=True)
class RulesOptions(Options):
    """The flags of a command line that plays by any rules."""

    rules: RulesFlag = Rules()  # noqa: RUF009  # frozen
    """What is played: six_card, short, five_card, three_player or four_player, and after a comma
    what differs, as in five_card,target=31."""
    target: int | None = None
    """The score that wins a game, if not that of the rules."""

    def game_rules(self) -> Rules:
        """Returns the rules of all games.

        Raises:
            ValueError: If they do not allow the target.
        """
        return self.rules if self.target is None else replace(self.rules, target=self.target)


@dataclass(frozen=True)
class Report:
    """What a command line shows and keeps."""

    shown: Iterable[RenderableType]
    """What is printed, in order."""
    json: Mapping[str, Any]
    """What is written, without where it comes from."""


@dataclass(frozen=True)
class Work:
    """What is to be done, all of it checked."""

    play: Callable[[], Report]
    """Does it."""
    asked: str
    """What it may be too much of, as in "games=100"."""


class Unfinished(Exception):  # noqa: N818  # not an error of the program but of what is around it
    """Why work could not be finished, in one line."""


AnyOptions = TypeVar("AnyOptions", bound=Kept)


def run(
    program: str,
    kind: type[AnyOptions],
    prepare: Callable[[AnyOptions], Work],
    arguments: Sequence[str] | None = None,
) -> int:
    """Runs a command line and returns its exit status.

    Args:
        program: What ``python -m`` runs.
        kind: Its flags.
        prepare: Checks them, before any work: it raises ValueError, OSError or `RulesRefused` with
            one line that says what is refused and what is allowed.
        arguments: The command line; by default this process's own.
    """
    limit_threads()
    arguments = sys.argv[1:] if arguments is None else list(arguments)

    def said(line: object, status: int) -> int:
        print(f"{program}: {line}", file=sys.stderr)
        return status

    try:
        options = tyro.cli(kind, prog=f"python -m {program}", args=arguments)
        if isinstance(options, Options):
            check_seed(options.seed)
        if options.json:
            check_writable(options.json)
        work = prepare(options)
    except (ValueError, OSError, RulesRefused) as error:
        return said(error, 2)
    try:
        report = work.play()
    except KeyboardInterrupt:
        return said("interrupted, nothing written", 130)
    except MemoryError:
        return said(f"{work.asked}: more than memory holds", 2)
    except (Unfinished, AgentError, IllegalActionError, EngineError) as error:
        return said(error, 1)
    # Names and intervals hold brackets, which are no markup.
    console = Console(markup=False, highlight=False)
    for shown in report.shown:
        console.print(shown)
    if options.json:
        return keep_json(options.json, {**report.json, **origin(program, arguments)}, program)
    return 0
