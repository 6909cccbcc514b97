"""``python -m train CONFIG [flags]`` and ``python -m train --resume RUN``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agents.checkpoint import CheckpointError
from train.config import ConfigError, TrainConfig, load_config
from train.run import free_folder, resume_command, resume_run, run, start_run
from train.soundness import DivergedError

USAGE = """\
usage: python -m train CONFIG [flags]   train by a file of configs/, flags overriding it
       python -m train --resume RUN     go on with a run that was stopped
       python -m train CONFIG --help    all flags"""


@dataclass(frozen=True)
class Arguments:
    """Trains a network by self-play and measures it against the house players."""

    config: Annotated[TrainConfig, tyro.conf.arg(name="")]
    """What the run depends on."""
    folder: Path | None = None
    """The run's folder, which must be new; by default a free name under runs/."""
    stop_after: int | None = None
    """Stop and save after so many decisions, as Ctrl-C does."""


@dataclass(frozen=True)
class ResumeArguments:
    """Goes on with a run that was stopped, by its own configuration."""

    resume: Path
    """The run's folder."""
    stop_after: int | None = None
    """Stop and save after so many decisions, as Ctrl-C does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0 if finished or stopped by ``--stop-after``, 1 if a file could not be written or the run
    diverged, 2 if refused, 130 if stopped by hand.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words in (["-h"], ["--help"]):
        print(USAGE, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    try:
        if words[0].startswith("-"):
            options = tyro.cli(ResumeArguments, prog="python -m train", args=words)
            folder, stop_after = options.resume, _checked(options.stop_after)
            if not folder.is_dir():
                raise CheckpointError(f"{folder}: there is no such run")
            learner = resume_run(folder)
        else:
            config = load_config(Path(words[0]))
            chosen = tyro.cli(
                Arguments,
                default=Arguments(config),
                prog=f"python -m train {words[0]}",
                args=words[1:],
            )
            # tyro builds the fields one by one: make the whole anew so that all checks are made.
            config, stop_after = dataclasses.replace(chosen.config), _checked(chosen.stop_after)
            folder = chosen.folder or free_folder(
                Path("runs"), f"{Path(words[0]).stem}-seed{config.seed}"
            )
            learner = start_run(config, folder, words)
    except FileExistsError as error:
        print(
            f"train: {error.filename} is there already; name a new --folder, or --resume it",
            file=sys.stderr,
        )
        return 2
    except (ConfigError, CheckpointError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("train: games or hidden_size: more than memory holds", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train: interrupted, nothing learned yet", file=sys.stderr)
        return 130
    at = f", from {learner.decisions:,} decisions on" if learner.decisions else ""
    print(f"run: {folder}{at}", file=sys.stderr)
    try:
        finished = run(learner, folder, stop_after)
    except KeyboardInterrupt:
        print(f"train: interrupted; to go on: {resume_command(folder)}", file=sys.stderr)
        return 130
    except DivergedError as error:
        print(
            f"train: {error}: try a smaller learning_rate; the checkpoints in {folder} are whole",
            file=sys.stderr,
        )
        return 1
    except MemoryError:
        print("train: games, minibatch or hidden_size: more than memory holds", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"train: {error}; to go on: {resume_command(folder)}", file=sys.stderr)
        return 1
    as_told = stop_after is not None and learner.decisions >= stop_after
    return 0 if finished or as_told else 130


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
