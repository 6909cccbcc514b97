"""Two agents against each other: the same cards played again with the seats exchanged.

``python -m eval.match A B --games N --seed S [--rules RULES] [--json FILE]``, with ``--sprt`` until
the games have decided; docs/evaluation.md says what the figures mean. Games come in sets with the
same cards, a game for each side that there is: A plays one side and B every other, and in each game
of a set A's is another. With two players, or four as partners, a set is a pair; with three A sits
at each seat in turn, and B at two.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from agents.agent import Agent, make
from crib_env.luck import check_seed
from crib_env.notation.archive import Archive
from crib_env.rules import RulesLike, rules_of
from eval.command import Report, RulesOptions, Unfinished, Work, run
from eval.engine import Engine, LocalEngine, check_workers, play_sets, seated
from eval.match_report import match_table, match_text
from eval.match_result import MatchResult, measured
from eval.match_sprt import MOST_GAMES, play_test, sprt_text
from eval.play import OnProgress, OnTranscript, keeper_of, progress_bar, result_type, state_line
from eval.sets import check_games
from eval.sprt import Hypotheses

GAMES = 10_000  # of a match, unless it is told


def play_match(
    a: Agent,
    b: Agent,
    games: int,
    seed: int = 0,
    rules: RulesLike = None,
    engine: Engine | None = None,
    sizes: int | Iterable[int] | None = None,
    on_progress: OnProgress | None = None,
    on_transcript: OnTranscript | None = None,
) -> MatchResult:
    """Plays a match in sets of games with the same cards: A each side in turn, B all others.

    Cards belong to roles: in deal d of the second game of a pair each has the cards that the other
    had in deal d of the first. The luck of a player that draws belongs to roles too, so an agent
    against itself splits every set exactly.

    Args:
        a: The first agent.
        b: The second agent.
        games: How many games: an even number, with three players a multiple of three.
        seed: Set i is dealt by lane_seed(seed, i), whoever plays: matches share their cards.
        rules: The rules of all games.
        engine: Who plays the games; by default this process, with the agents as they are.
        sizes: How many sets are played at a time (`eval.engine.blocks_of`); no result depends on
            it.
        on_progress: Told now and then how many more games have ended.
        on_transcript: Given each game written down, as `eval.play.play_games` gives it; without an
            engine.

    Raises:
        ValueError: If *games* is none of whole sets, or the seed is out of range.
        EngineError: If the engine cannot play.
        AgentError: If an agent raises.
        IllegalActionError: If an agent chooses an action that the rules do not allow.
    """
    rules = rules_of(rules)
    check_games(games, rules)
    games, seed = int(games), check_seed(seed)
    start = time.perf_counter()
    results = np.zeros(games, result_type(rules))
    ended = 0
    for records in play_sets(
        seated(a, b, rules), rules, seed, games // rules.sides, engine, sizes, on_transcript
    ):
        results[ended : ended + len(records)] = records
        ended += len(records)
        if on_progress is not None:
            on_progress(len(records))
    return measured(a, b, seed, rules, results, start)


@dataclass(frozen=True)
class Options(RulesOptions):
    """Plays two agents against each other, the same cards again with the seats exchanged."""

    a: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="A")]
    """First agent: random, greedy, expert, careless, checkpoint:PATH or noisy:SHARE:WHERE:AGENT."""
    b: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="B")]
    """Second agent."""
    games: int | None = None
    """How many games: an even number, 10,000 unless told; with three players a multiple of three,
    9,999. With --sprt the most there may be, 1,200,000 unless told."""
    record: Path | None = None
    """Write every game down (docs/notation.md): each as a file of this folder or, where the path
    has a suffix, as in games.crib, all added to this file."""
    b_mode: Literal["greedy", "sample"] | None = None
    """How B chooses, if not as A."""
    workers: int = 1
    """How many processes play; no result depends on it. 1 is this one alone, the quickest for house
    players. For networks as many as there are cores."""
    sprt: Annotated[tuple[float, float] | None, tyro.conf.arg(metavar="H0 H1")] = None
    """Play until the games decide which of two shares of the games A wins, as in --sprt 0.50 0.52,
    and no longer."""
    alpha: float = 0.05
    """With --sprt, how often H1 may be found where H0 is true."""
    beta: float = 0.05
    """With --sprt, how often H0 may be found where H1 is true."""


def prepare(options: Options) -> Work:
    """Checks a command line and returns what it asks for.

    Raises:
        ValueError: If a value is not allowed.
    """
    rules = options.game_rules()
    told = MOST_GAMES if options.sprt else GAMES
    games = told - told % rules.sides if options.games is None else options.games
    check_games(games, rules)
    check_workers(options.workers)
    hypotheses = Hypotheses(*options.sprt, options.alpha, options.beta) if options.sprt else None
    if options.record and (options.workers > 1 or hypotheses):
        with_what = "--sprt" if hypotheses else f"--workers {options.workers}"
        raise ValueError(f"--record with {with_what}: games are written down by --workers 1 alone")
    archive = Archive(options.record) if options.record else None
    a = make(options.a, rules, options.mode)
    b = make(options.b, rules, options.b_mode or options.mode)
    title = f"{a.name} v {b.name}"
    keep = keeper_of(archive, f"{title}, seed {options.seed}")

    def play() -> Report:
        with ExitStack() as opened:
            engine = opened.enter_context(LocalEngine(options.workers))
            # Alone, this process plays the agents that have been made and checked.
            used = engine if options.workers > 1 else None
            if hypotheses:
                say = opened.enter_context(state_line())
                verdict = play_test(a, b, hypotheses, games, options.seed, rules, used, say)
                return Report([sprt_text(verdict)], verdict.to_json())
            on_progress = opened.enter_context(progress_bar(title, games))
            try:
                result = play_match(
                    a,
                    b,
                    games,
                    options.seed,
                    rules,
                    used,
                    on_progress=on_progress,
                    on_transcript=keep,
                )
            except OSError as error:
                if not options.record:
                    raise
                raise Unfinished(f"{options.record}: not written: {error.strerror}") from None
        return Report([match_table(result), match_text(result)], result.to_json())

    return Work(play, f"games={games}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status (`eval.command`)."""
    return run("eval.match", Options, prepare, arguments)


if __name__ == "__main__":
    sys.exit(main())
