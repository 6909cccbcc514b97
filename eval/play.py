"""Plays many games between agents, one row of results a game: the loop under every measurement.

Axes: (G,) games, (M,) lanes of a chunk, by agent where a row has one entry a player. What a game
gives depends on its seed and on who sits where: never on the games beside it or their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from agents.agent import Agent
from crib_env.batch import Games, IllegalActionError
from crib_env.game_record import Role, Source
from crib_env.loops import OUTSIDE
from crib_env.notation import Transcript
from crib_env.notation.archive import Archive
from crib_env.notation.recorded_games import RecordedGames
from crib_env.notation.transcript import plain_text
from crib_env.rules import Rules, RulesLike, rules_of

Array = npt.NDArray[Any]
OnProgress = Callable[[int], None]
OnTranscript = Callable[[int, Transcript], None]


class AgentError(Exception):
    """What an agent raised when it was asked for its actions, in one line with its name."""


# Enough that a network is asked for thousands of positions at once, and that what a batch costs
# apart from its games does not count; few enough that the records stay small (a few megabytes).
LANES = 8192


def result_type(rules: Rules) -> np.dtype[Any]:
    """Returns the record of one game's result; its arrays are by agent, not by seat.

    Where partners share a score, agents 0 and 2 are side 0, and agents 1 and 3 are side 1.
    """
    players, sides = rules.players, rules.sides
    return np.dtype(
        [
            ("first_dealer", np.int8),  # the agent that dealt first
            ("winner", np.int8),  # the agent, or the side, that won
            ("deals", np.int16),  # the last counted too, however short
            ("scores", np.int16, (sides,)),  # by agent, or by side
            ("points", np.int16, (players, len(Source), len(Role))),  # pegged
            # Points of hands as dealer, hands as pone, and cribs, all of them, counted or not.
            ("worth", np.int16, (players, 3)),
        ]
    )


def play_games(
    agents: Sequence[Agent],
    seats: npt.ArrayLike,
    seeds: npt.NDArray[np.uint64],
    rules: RulesLike = None,
    lanes: int = LANES,
    on_progress: OnProgress | None = None,
    on_transcript: OnTranscript | None = None,
) -> Array:
    """Plays one game for each seed; seat 0 deals first in all of them.

    House players move inside the compiled loop; any other agent is asked once for all the games of
    a chunk in which it is to act.

    Args:
        agents: Who plays, one a seat; one agent may hold several places.
        seats: (G, players) or (players,) ints: which of *agents* sits at each seat. Of four agents
            the first and the third are partners, who sit opposite.
        seeds: (G,) lane seeds: they give the cards, and by role the luck of who draws.
        rules: The rules of all games.
        lanes: How many games are played at a time; no result depends on it.
        on_progress: Told now and then how many more games have ended.
        on_transcript: Given the number of each game and the game written down, in order; None
            where games are not to be written down, which takes several times as long.

    Returns:
        (G,) records of `result_type`.

    Raises:
        ValueError: If not each agent has one seat, or partners do not sit opposite.
        IllegalActionError: If an agent chooses an action that the rules do not allow, naming it.
        AgentError: If an agent raises anything else.
    """
    rules = rules_of(rules)
    total = len(seeds)
    given = np.asarray(seats, np.int8)
    shapes = {given.shape[-1:], (len(agents),), (rules.players,)}
    if len(shapes) > 1 or not (np.sort(given) == np.arange(rules.players)).all():
        raise ValueError(
            f"seats: allowed is each of {len(agents)} agents once a game, at {rules.players} seats"
        )
    sitting = np.broadcast_to(given, (total, rules.players))
    side = sitting % rules.sides
    if not np.array_equal(side, np.roll(side, rules.sides, axis=1)):
        raise ValueError("seats: allowed are partners, agents 0 and 2, 1 and 3, at opposite seats")
    results = np.zeros(total, result_type(rules))
    for start in range(0, total, lanes):
        part = slice(start, min(start + lanes, total))
        kind = Games if on_transcript is None else RecordedGames
        games = kind(part.stop - start, rules, seeds[part], first_dealer=0)
        play_out(games, agents, sitting[part], on_progress or (lambda ended: None))
        _collect(games, sitting[part], results[part])
        if on_transcript is not None:
            assert isinstance(games, RecordedGames)
            for lane, row in enumerate(sitting[part]):
                names = [agents[place].name for place in row]
                on_transcript(start + lane, games.transcript(lane, names))
    return results


def play_out(
    games: Games, agents: Sequence[Agent], seats: npt.NDArray[np.int8], on_progress: OnProgress
) -> None:
    """Plays every game of a batch to its end. Changes *games*.

    Raises:
        IllegalActionError: If an agent chooses an action that the rules do not allow, naming it.
        AgentError: If an agent raises anything else.
    """
    # The same policy at two places is asked for both at once.
    policies = [agent.policy for agent in agents]
    asked = np.array([next(i for i, p in enumerate(policies) if p is q) for q in policies])
    askers = asked[seats]
    bots = np.array([agent.bot for agent in agents], np.int8)[seats]
    any_bot = bool((bots != OUTSIDE).any())
    lanes = np.arange(len(games))
    while True:
        if any_bot:
            games.play_bots(bots, lanes)
        still_on = lanes[~games.over[lanes]]
        if len(still_on) < len(lanes):
            on_progress(len(lanes) - len(still_on))
        lanes = still_on
        if not len(lanes):
            return
        asker = askers[lanes, games.turn[lanes]]
        for number in np.unique(asker):
            agent = agents[number]
            theirs = lanes[asker == number]
            try:
                actions = agent.policy(
                    games.observe(lanes=theirs),
                    games.action_masks(lanes=theirs),
                    games.luck(theirs),
                )
                games.apply(actions, theirs)
            except IllegalActionError as error:
                raise IllegalActionError(f"agent {agent.name}: {error}") from None
            except MemoryError:
                raise
            except Exception as error:
                raise AgentError(f"agent {agent.name}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    """Returns an error as a line that says what it is."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _collect(games: Games, seats: npt.NDArray[np.int8], results: Array) -> None:
    """Writes the results of a batch that has been played out. Changes *results*."""
    seat_of = np.argsort(seats, axis=1)
    lanes = np.arange(len(games))[:, None]
    sides = games.rules.sides
    results["first_dealer"] = seats[:, 0]
    # Side 0 of the engine is that of seat 0: here sides are told by who sits there.
    results["winner"] = seats[lanes[:, 0], games.winner] % sides
    results["deals"] = games.records["deal_number"] + 1
    results["scores"] = games.scores[lanes, seat_of[:, :sides] % sides]
    results["points"] = games.points[lanes, seat_of]
    results["worth"] = games.records["worth_totals"][lanes, seat_of]


def keeper_of(archive: Archive | None, title: str) -> OnTranscript | None:
    """Returns what puts every game of a match into an archive, None where there is none.

    Args:
        archive: Where games are to go.
        title: What the match is; each transcript notes it, and the number of its game.
    """
    if archive is None:
        return None

    def keep(number: int, transcript: Transcript) -> None:
        note = plain_text(f"{title}, game {number + 1}")
        archive.keep(replace(transcript, notes=(*transcript.notes, note)))

    return keep


def limit_threads() -> None:
    """Makes torch, if it is loaded later, use one thread unless OMP_NUM_THREADS says otherwise.

    For programs that play matches: two threads on two busy cores are many times slower than one.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@contextmanager
def progress_bar(title: str, games: int) -> Iterator[OnProgress]:
    """Shows a progress bar on standard error while games are played, if that is a terminal.

    Yields:
        What `play_games` takes as *on_progress*.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda ended: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=games)

        def advance(ended: int) -> None:
            bar.advance(task, ended)

        yield advance


@contextmanager
def state_line() -> Iterator[Callable[[str], None]]:
    """Shows one line on standard error that says how things stand, if that is a terminal.

    Yields:
        What changes the line.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=None)
        yield lambda line: shown.update(task, description=line)
