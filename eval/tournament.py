"""A tournament: who is how strong, from pairings of any agents on common cards.

``python -m eval.tournament CONFIG [--json FILE] [--html FILE]``. The games are kept in a ledger
(`eval.ledger`), and only those that are not there yet are played: a tournament that was stopped
goes on when it is started again, and a player, or games, that are added play only what is new.
docs/evaluation.md says what a configuration holds and what the figures mean.
"""

from __future__ import annotations

import difflib
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents.agent import MODES, Agent, make
from crib_env.checks import is_number, is_whole, named
from crib_env.luck import check_seed
from crib_env.rules import Rules, rules_of
from eval.command import Kept, Report, Unfinished, Work, run
from eval.engine import BLOCK_SETS, AgentSpec, Block, LocalEngine, check_workers, specs_of
from eval.ledger import Ledger, Pairing, Player
from eval.play import progress_bar
from eval.provenance import check_writable, origin
from eval.report.writing import write_report
from eval.rules_flag import rules_from_text
from eval.sets import check_games
from eval.standings import standings, tables

FORMATS = ("round_robin", "gauntlet")


@dataclass(frozen=True)
class Entrant:
    """A player of a tournament, as its configuration names it."""

    agent: str
    """What `agents.make` makes it of."""
    label: str
    """Its name in the tournament; by default the agent's."""
    mode: str = MODES[0]
    """How a network chooses."""


@dataclass(frozen=True)
class TournamentConfig:
    """All that a tournament depends on. A TOML file holds what differs from these defaults."""

    players: tuple[Entrant, ...]
    """Who plays: names, or tables of agent, label and mode."""
    database: Path
    """The file with the games, seen from the working directory; made if it is not there."""
    format: str = FORMATS[0]
    """round_robin: each against each; gauntlet: each of `heroes` against all who are none."""
    heroes: tuple[str, ...] = ()
    """Labels of those whom a gauntlet is about."""
    games: int = 10_000
    """Games of each pairing; even, as they come in pairs with the same cards."""
    seed: int = 0
    """Set i of every pairing is dealt by lane_seed(seed, i): all play the same cards."""
    rules: Rules = Rules()  # noqa: RUF009  # frozen
    """What is played, by two or by two sides: as for eval.match."""
    anchor: str = ""
    """The label of the player whose rating is given; by default greedy, or the first by label."""
    anchor_rating: float = 0.0
    """Its rating."""

    def pairs(self) -> list[tuple[int, int]]:
        """Returns who meets whom, as places in `players`."""
        labels = [player.label for player in self.players]
        return [
            (a, b)
            for a, b in combinations(range(len(labels)), 2)
            if self.format == "round_robin"
            or (labels[a] in self.heroes) != (labels[b] in self.heroes)
        ]


def load_tournament(path: Path) -> TournamentConfig:
    """Returns the configuration of a TOML file.

    Raises:
        ValueError: If it cannot be read or used, in one line that names the key.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: no TOML: {error}") from None
    try:
        return tournament_from(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def tournament_from(values: Mapping[str, Any]) -> TournamentConfig:
    """Returns the configuration with these values, by name of their field.

    Raises:
        ValueError: If one is unknown, missing or impossible.
    """
    _check_names("key", values, [field.name for field in fields(TournamentConfig)])
    for name in ("players", "database"):
        if name not in values:
            raise ValueError(f"no {name}: they have no default")
    given = dict(values)
    given["players"] = _entrants(values["players"])
    given["database"] = Path(_text("database", values["database"]))
    given["heroes"] = tuple(_list("heroes", values.get("heroes", [])))
    rules = values.get("rules", "six_card")
    given["rules"] = rules_from_text(rules) if isinstance(rules, str) else rules_of(rules)
    config = TournamentConfig(**given)
    _check(config)
    return config


def _check(config: TournamentConfig) -> None:
    """Refuses impossible values.

    Raises:
        ValueError: Naming the field, the value and what is allowed.
    """
    labels = [player.label for player in config.players]
    if config.format not in FORMATS:
        raise ValueError(f"format={named(config.format)}: allowed are {', '.join(FORMATS)}")
    if (config.format == "gauntlet") != bool(config.heroes):
        raise ValueError("heroes: a gauntlet needs them, a round robin has none")
    for name in config.heroes:
        if name not in labels:
            raise ValueError(f"heroes: {named(name)}: allowed are {', '.join(labels)}")
    if not config.pairs():
        raise ValueError(f"players: {', '.join(labels)}: nobody has anybody to play against")
    if config.rules.sides != 2:
        raise ValueError("rules: allowed are those of two sides; three are for eval.match")
    if not is_whole(config.games):
        raise ValueError(f"games={named(config.games)}: allowed is a whole number")
    check_games(config.games, config.rules)
    check_seed(config.seed)
    if config.anchor not in ("", *labels):
        raise ValueError(f"anchor={named(config.anchor)}: allowed are {', '.join(labels)}")
    if not is_number(config.anchor_rating) or abs(config.anchor_rating) > 1e6:
        raise ValueError(f"anchor_rating={named(config.anchor_rating)}: allowed is a number")


def _entrants(values: Any) -> tuple[Entrant, ...]:
    """Returns the players of a configuration.

    Raises:
        ValueError: If they cannot be, or two have one label.
    """
    if not isinstance(values, list) or len(values) < 2:
        raise ValueError(f"players={named(values)}: allowed is a list of two or more")
    entrants = []
    for value in values:
        table = {"agent": value} if isinstance(value, str) else value
        if not isinstance(table, Mapping) or "agent" not in table:
            raise ValueError(f"players: {named(value)}: allowed is a name, or a table with agent")
        _check_names("key of a player", table, ["agent", "label", "mode"])
        texts = {name: _text(f"players: {name}", text) for name, text in table.items()}
        if texts.get("mode", MODES[0]) not in MODES:
            raise ValueError(
                f"players: mode={named(texts['mode'])}: allowed are {', '.join(MODES)}"
            )
        entrants.append(Entrant(**{"label": texts["agent"], **texts}))
    labels = [entrant.label for entrant in entrants]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"players: {named(label)} is there twice: give each a label of its own"
            )
    return tuple(entrants)


def _check_names(what: str, values: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Refuses a name that there is not.

    Raises:
        ValueError: With the one that was likely meant.
    """
    for name in values:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f": allowed are {', '.join(allowed)}"
            raise ValueError(f"unknown {what} {named(name)}{hint}")


def _text(name: str, value: Any) -> str:
    """Returns a value that is a text.

    Raises:
        ValueError: If it is none.
    """
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}={named(value)}: allowed is a text")
    return value


def _list(name: str, value: Any) -> list[str]:
    """Returns a value that is a list of texts.

    Raises:
        ValueError: If it is none.
    """
    if not isinstance(value, list):
        raise ValueError(f"{name}={named(value)}: allowed is a list of texts")
    return [_text(name, one) for one in value]


def enter(
    ledger: Ledger, config: TournamentConfig, agents: Sequence[Agent]
) -> tuple[list[Pairing], dict[str, AgentSpec]]:
    """Writes down who plays.

    Args:
        ledger: Where.
        config: The tournament.
        agents: Its players, made.

    Returns:
        The pairings, and by label what an engine is to make. Both name the same weights: a folder
        of checkpoints is looked into once, as its run may go on meanwhile.

    Raises:
        ValueError: If one is another than the ledger knows by its label.
        OSError: If a checkpoint cannot be read.
    """
    players: list[Player] = []
    specs: dict[str, AgentSpec] = {}
    for one, agent, spec in zip(config.players, agents, specs_of(agents), strict=True):
        players.append(ledger.player(one.label, spec, agent.shown_mode))
        specs[one.label] = spec
    pairings = [
        ledger.pairing(players[a], players[b], config.rules, config.seed) for a, b in config.pairs()
    ]
    return pairings, specs


def play_missing(
    ledger: Ledger,
    pairings: Sequence[Pairing],
    games: int,
    specs: Mapping[str, AgentSpec],
    engine: Any,
    on_progress: Any = lambda games: None,
) -> None:
    """Plays the games of pairings that their ledger does not hold yet, and writes them there.

    Args:
        ledger: Holds the games.
        pairings: The pairings, of two sides each.
        games: Of each pairing.
        specs: Players by label, as the engine is to make them.
        engine: Plays the blocks (`eval.engine.Engine`).
        on_progress: Told how many more games there are.

    Raises:
        OSError: If games cannot be written; all before are.
    """
    asked: list[tuple[Pairing, Block]] = []

    def blocks() -> Iterator[Block]:
        for pairing in pairings:
            seated = (specs[pairing.a.label], specs[pairing.b.label]) * (pairing.rules.players // 2)
            for stretch in ledger.missing(pairing, games // 2):
                for first in range(stretch.start, stretch.stop, BLOCK_SETS):
                    size = min(BLOCK_SETS, stretch.stop - first)
                    block = Block(seated, pairing.rules, pairing.seed, first, size)
                    asked.append((pairing, block))
                    yield block

    for number, records in engine.play(blocks()):
        pairing, block = asked[number]
        ledger.add(pairing, block.first_set, records)
        on_progress(block.games)


@dataclass(frozen=True, kw_only=True)
class Arguments(Kept):
    """Plays a tournament, or what is left of it, and shows its tables."""

    config: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CONFIG")]
    """The tournament: a TOML file (docs/evaluation.md)."""
    html: Path | None = None
    """Write a report of these games to this file, and the same in Markdown beside it
    (`eval.report`)."""
    workers: int = 1
    """How many processes play; no result depends on it."""


def prepare(options: Arguments) -> Work:
    """Checks a command line and returns what it asks for.

    Raises:
        ValueError: If a value is not allowed.
    """
    config = load_tournament(options.config)
    check_workers(options.workers)
    if options.html:
        check_writable(options.html)
    agents = [make(one.agent, config.rules, one.mode) for one in config.players]
    ledger = Ledger(config.database)
    pairings, specs = enter(ledger, config, agents)

    def play() -> Report:
        left = sum(
            2 * len(stretch)
            for one in pairings
            for stretch in ledger.missing(one, config.games // 2)
        )
        with (
            ledger,
            LocalEngine(options.workers) as engine,
            progress_bar(f"{len(pairings)} pairings", left) as on_progress,
        ):
            try:
                ledger.note_run(origin("eval.tournament", [str(options.config)]))
                play_missing(ledger, pairings, config.games, specs, engine, on_progress)
            except OSError as error:
                reason = error.strerror or error
                raise Unfinished(f"{config.database}: not written: {reason}") from None
            found = standings(
                ledger, pairings, config.anchor or None, config.anchor_rating, config.games
            )
        if options.html:
            try:
                write_report(config.database, options.html, options.html.with_suffix(".md"))
            except OSError as error:
                reason = error.strerror or error
                raise Unfinished(f"{options.html}: not written: {reason}") from None
        return Report(tables(found), found.to_json())

    return Work(play, f"games={config.games}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status (`eval.command`)."""
    return run("eval.tournament", Arguments, prepare, arguments)


if __name__ == "__main__":
    sys.exit(main())
