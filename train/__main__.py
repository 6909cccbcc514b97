"""``python -m train CONFIG [flags]`` and ``python -m train --resume RUN``."""

from __future__ import annotations

import dataclasses
import errno
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agents.checkpoint import CheckpointError
from eval.rules_flag import RulesRefused, rules_text
from train.config import ConfigError, TrainConfig, load_config
from train.dry_run import dry_run
from train.ppo import Learner
from train.progress import tell
from train.run import InUseError, free_folder, holding, resume_command, resume_run, run, start_run

USAGE = """\
usage: python -m train CONFIG [flags]   train by a file of configs/, flags overriding it
       python -m train --resume RUN     go on with a run that was stopped
       python -m train CONFIG --help    all flags"""

# What a disk says that is full or broken: not the fault of what was asked for.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


@dataclass(frozen=True)
class Arguments:
    """Trains a network by self-play and measures it against the house players."""

    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    """What the run depends on."""
    folder: Path | None = None
    """The run's folder, which must be new; by default a free name under runs/."""
    stop_after: int | None = None
    """Stop and save after so many decisions, as Ctrl-C does."""
    dry_run: bool = False
    """Print the configuration in force, sizes and the estimated time, and write nothing."""


@dataclass(frozen=True)
class ResumeArguments:
    """Goes on with a run that was stopped, by its own configuration."""

    resume: Path
    """The run's folder."""
    stop_after: int | None = None
    """Stop and save after so many decisions, as Ctrl-C does."""


@dataclass(frozen=True)
class Begun:
    """A run that can be trained."""

    learner: Learner
    folder: Path
    stop_after: int | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0 if finished, stopped by ``--stop-after`` or a dry run, 1 if a file could not be written or the
    run diverged, 2 if refused, 130 if stopped by hand.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words in (["-h"], ["--help"]):
        print(USAGE, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    with ExitStack() as held:
        begun = _begin(words, held)
        return begun if isinstance(begun, int) else _train(begun)


def _begin(words: list[str], held: ExitStack) -> Begun | int:
    """Makes or finds a run, and holds its folder.

    Args:
        words: The command line.
        held: Lets the folder go when the run has ended.

    Returns:
        The run; an exit status where there is none to train.
    """
    try:
        if words[0].startswith("-"):
            options = tyro.cli(ResumeArguments, prog="python -m train", args=words)
            return _resumed(options.resume, _checked(options.stop_after), held)
        config = load_config(Path(words[0]))
        chosen = tyro.cli(
            Arguments,
            default=Arguments(config),
            prog=f"python -m train {words[0]}",
            args=words[1:],
        )
        # tyro builds the fields one by one: make the whole anew so that all checks are made.
        chosen = dataclasses.replace(
            chosen,
            config=dataclasses.replace(chosen.config),
            stop_after=_checked(chosen.stop_after),
        )
        name = Path(words[0]).stem
        if chosen.config.rules != config.rules:
            name += f"-{rules_text(chosen.config.rules)}"
        return _new(chosen, name, words, held)
    except FileExistsError as error:
        return _failed(f"{error.filename} is there already; name a new --folder, or --resume it", 2)
    except (ConfigError, RulesRefused, CheckpointError, InUseError) as error:
        return _failed(str(error), 2)
    except OSError as error:
        return _failed(str(error), 1 if error.errno in DISK else 2)
    except FloatingPointError as error:
        return _failed(f"would diverge: {error}; try a smaller learning_rate", 1)
    except (MemoryError, RuntimeError) as error:
        return _no_memory(error, 2)
    except KeyboardInterrupt:
        return _failed("interrupted before the first update", 130)


def _new(chosen: Arguments, name: str, words: list[str], held: ExitStack) -> Begun | int:
    """Returns a new run; 0 for a dry one.

    Args:
        chosen: What was asked for.
        name: What a folder that was not named is to be called, before the seed.
        words: The command line.
        held: See `_begin`.
    """
    while True:
        folder = chosen.folder or free_folder(Path("runs"), f"{name}-seed{chosen.config.seed}")
        if chosen.dry_run:
            dry_run(chosen.config, folder)
            return 0
        try:
            learner = start_run(chosen.config, folder, words)
            break
        except FileExistsError:
            # Another process may have taken the name that was free.
            if chosen.folder or not folder.exists():
                raise
    held.enter_context(holding(folder))
    tell(f"run: {folder}")
    return Begun(learner, folder, chosen.stop_after)


def _resumed(folder: Path, stop_after: int | None, held: ExitStack) -> Begun:
    """Returns a run that is gone on with."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such run")
    held.enter_context(holding(folder))
    learner = resume_run(folder)
    at = f"from {learner.decisions:,} decisions on" if learner.decisions else "from the beginning"
    at = "trained to its end" if learner.done else at
    tell(f"run: {folder}, {at}")
    return Begun(learner, folder, stop_after)


def _train(begun: Begun) -> int:
    """Trains a run and returns the exit status."""
    learner, folder = begun.learner, begun.folder
    to_go_on = f"to go on: {resume_command(folder)}"
    try:
        finished = run(learner, folder, begun.stop_after)
    except KeyboardInterrupt:
        return _failed(f"interrupted; {to_go_on}", 130)
    except FloatingPointError as error:
        return _failed(
            f"diverged after {learner.decisions:,} decisions: {error}; try a smaller "
            f"learning_rate; the checkpoints in {folder} are whole",
            1,
        )
    except (MemoryError, RuntimeError) as error:
        return _no_memory(error, 1)
    except (CheckpointError, OSError) as error:
        return _failed(f"{error}; {to_go_on}", 1)
    as_told = begun.stop_after is not None and learner.decisions >= begun.stop_after
    return 0 if finished or as_told else 130


def _no_memory(error: Exception, status: int) -> int:
    """Prints that memory does not hold a run, and returns the exit status; raises other errors."""
    # torch has no error of its own for it.
    if not isinstance(error, MemoryError) and "can't allocate memory" not in str(error):
        raise error
    return _failed("games, minibatch or hidden_size: more than memory holds", status)


def _failed(text: str, status: int) -> int:
    """Prints why there is no more to come, in one line, and returns the exit status."""
    tell(f"train: {text}")
    return status


def _checked(stop_after: int | None) -> int | None:
    """Returns *stop_after*.

    Raises:
        ConfigError: If it is not above 0.
    """
    if stop_after is not None and stop_after < 1:
        raise ConfigError(f"stop_after = {stop_after}: allowed is 1 or more")
    return stop_after


if __name__ == "__main__":
    sys.exit(main())
