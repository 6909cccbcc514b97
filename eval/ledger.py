"""`Ledger`: the games of tournaments in one SQLite file, which anyone can query.

A block of games is written by one transaction, whole or not at all, and a game that is there
already stays as it is: whoever is killed goes on where it was, and processes that write to one file
lose nothing and add nothing twice. docs/evaluation.md has the tables and sample queries.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.agent import CHECKPOINT, NOISY, noisy_parts
from crib_env.game_record import Role, Source
from crib_env.rules import Rules
from eval.engine import AgentSpec
from eval.match_result import sources_by_role
from eval.play import result_type

Array = npt.NDArray[Any]

APPLICATION = 0x63726962  # "crib", in the head of the file: what wrote it
VERSION = 1
PATIENCE = 60.0  # seconds that a writer waits for others

SIDES = ("a", "b")
# Points pegged, by side, role and source; those that rules do not have are 0.
POINTS = [
    (side, role, source)
    for side in range(2)
    for role, sources in sources_by_role(Rules(muggins="full")).items()
    for source in sources
]


def points_column(side: int, role: Role, source: Source) -> str:
    """Returns the name of the column of points pegged, as in ``a_dealer_his_heels``."""
    return f"{SIDES[side]}_{role.name.lower()}_{source.name.lower()}"


COLUMNS = [
    "first_dealer",
    "winner",
    "deals",
    "a_score",
    "b_score",
    *(points_column(*points) for points in POINTS),
]

SCHEMA = f"""
CREATE TABLE players (
    id INTEGER PRIMARY KEY,
    label TEXT NOT NULL UNIQUE,      -- its name in tournaments
    agent TEXT NOT NULL,             -- what agents.make makes it of
    mode TEXT NOT NULL,              -- greedy, sample or house
    weights TEXT NOT NULL            -- SHA-256 of its checkpoint, empty where it has none
);
CREATE TABLE pairings (
    id INTEGER PRIMARY KEY,
    a INTEGER NOT NULL REFERENCES players,
    b INTEGER NOT NULL REFERENCES players,
    rules TEXT NOT NULL,             -- JSON
    seed TEXT NOT NULL,              -- set i is dealt by lane_seed(seed, i)
    UNIQUE (a, b, rules, seed)
);
CREATE TABLE games (
    pairing INTEGER NOT NULL REFERENCES pairings,
    game INTEGER NOT NULL,           -- games 2i and 2i + 1 are set i: the same cards
    {", ".join(f"{name} INTEGER NOT NULL" for name in COLUMNS)},
    PRIMARY KEY (pairing, game)
) WITHOUT ROWID;
CREATE TABLE runs (                  -- what played into this file
    command TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    version TEXT NOT NULL,
    cpu TEXT NOT NULL,
    UNIQUE (command, "commit", version, cpu)
);
CREATE VIEW results AS              -- a game a row, with names
    SELECT a.label AS a, b.label AS b, CASE winner WHEN 0 THEN a.label ELSE b.label END AS won,
        CASE first_dealer WHEN 0 THEN a.label ELSE b.label END AS dealt_first,
        game, a_score, b_score, deals, rules, seed
    FROM games JOIN pairings ON pairings.id = pairing
    JOIN players AS a ON a.id = pairings.a JOIN players AS b ON b.id = pairings.b;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


@dataclass(frozen=True)
class Player:
    """Who plays, as a ledger knows it."""

    label: str
    """Its name in tournaments."""
    agent: str
    """What `agents.make` makes it of."""
    mode: str
    """``"greedy"``, ``"sample"`` or ``"house"``."""
    weights: str
    """SHA-256 of its checkpoint in hexadecimal, empty where it has none."""

    @property
    def name(self) -> str:
        """Its label, as results name an agent."""
        return self.label

    @property
    def shown_mode(self) -> str:
        """Its mode, as results state it."""
        return self.mode


@dataclass(frozen=True)
class Pairing:
    """Two players who meet by some rules on some cards; A's label comes first in the alphabet."""

    number: int
    """Its id in the ledger."""
    a: Player
    """Agent 0 of the records."""
    b: Player
    """Agent 1 of the records."""
    rules: Rules
    """The rules of all games."""
    seed: int
    """Set i is dealt by lane_seed(seed, i)."""


def weights_of(agent: str) -> str:
    """Returns the SHA-256 of the checkpoint of an agent's pinned name, empty if it has none.

    Raises:
        OSError: If the file cannot be read.
    """
    if agent.startswith(NOISY):
        return weights_of(noisy_parts(agent)[2])
    if agent.startswith(CHECKPOINT):
        return hashlib.sha256(Path(agent.removeprefix(CHECKPOINT)).read_bytes()).hexdigest()
    return ""


class Ledger:
    """The games of tournaments in one file. A context manager.

    Args:
        path: The file; made if it is not there.
        made: Whether it may be made.

    Raises:
        ValueError: If it is no ledger, or cannot be opened.
    """

    def __init__(self, path: Path, made: bool = True) -> None:
        """Opens the file."""
        self.path = path
        if not made and not path.is_file():
            raise ValueError(f"{path}: there is no such file")
        if not path.resolve().parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.resolve().parent}")
        try:
            # Transactions are begun and ended here alone.
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                self._check_schema(made)
        except (sqlite3.Error, OSError) as error:
            raise ValueError(f"{path}: no ledger of games: {error}") from None

    def _check_schema(self, made: bool) -> None:
        """Makes the tables of a new file, or looks whether they are ours.

        Raises:
            ValueError: If they are not.
        """
        [found] = self._file.execute("PRAGMA application_id").fetchone()
        [version] = self._file.execute("PRAGMA user_version").fetchone()
        [tables] = self._file.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if made and not tables:
            for statement in SCHEMA.split(";\n"):
                self._file.execute(statement)
        elif found != APPLICATION:
            raise ValueError(f"{self.path}: no ledger of games")
        elif version != VERSION:
            raise ValueError(f"{self.path}: version {version}: allowed is {VERSION}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Has all that is written within take place at once, or not at all.

        Raises:
            OSError: If it cannot be written.
        """
        try:
            self._file.execute("BEGIN IMMEDIATE")
            yield
            self._file.execute("COMMIT")
        except BaseException as error:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise OSError(0, str(error)) from None
            raise

    def player(self, label: str, spec: AgentSpec, mode: str) -> Player:
        """Returns a player, written down if it is new.

        Args:
            label: Its name in tournaments.
            spec: What it is made of, pinned (`eval.engine.specs_of`).
            mode: As results state it.

        Raises:
            ValueError: If another played under this label.
            OSError: If its checkpoint cannot be read.
        """
        new = Player(label, spec.name, mode, weights_of(spec.name))
        with self._transaction():
            self._file.execute(
                "INSERT OR IGNORE INTO players (label, agent, mode, weights) VALUES (?, ?, ?, ?)",
                (new.label, new.agent, new.mode, new.weights),
            )
        known = self.players()[label]
        # A checkpoint may have moved: its weights say who it is.
        same = known.weights == new.weights and (new.weights or known.agent == new.agent)
        if not same or known.mode != mode:
            raise ValueError(
                f"player {label!r}: {self.path} holds games of another of that label "
                f"({known.agent}, {known.mode}): give this one a label of its own"
            )
        return known

    def note_run(self, origin: Mapping[str, str]) -> None:
        """Writes down what is about to play (`eval.provenance.origin`), once."""
        with self._transaction():
            self._file.execute(
                "INSERT OR IGNORE INTO runs VALUES (:command, :commit, :version, :cpu)", origin
            )

    def runs(self) -> list[dict[str, str]]:
        """Returns what has played into this file, as `eval.provenance.origin` tells it."""
        rows = self._file.execute('SELECT command, "commit", version, cpu FROM runs ORDER BY rowid')
        return [
            dict(zip(("command", "commit", "version", "cpu"), row, strict=True)) for row in rows
        ]

    def players(self) -> dict[str, Player]:
        """Returns all players by label, in the order in which they came."""
        rows = self._file.execute("SELECT label, agent, mode, weights FROM players ORDER BY id")
        return {row[0]: Player(*row) for row in rows}

    def pairing(self, one: Player, other: Player, rules: Rules, seed: int) -> Pairing:
        """Returns the pairing of two players, in whichever order, written down if it is new."""
        a, b = sorted((one, other), key=lambda player: player.label)
        key = (a.label, b.label, json.dumps(asdict(rules)), str(seed))
        where = "a.label = ? AND b.label = ? AND rules = ? AND seed = ?"
        with self._transaction():
            self._file.execute(
                "INSERT OR IGNORE INTO pairings (a, b, rules, seed) SELECT a.id, b.id, ?3, ?4 "
                "FROM players AS a, players AS b WHERE a.label = ?1 AND b.label = ?2",
                key,
            )
        [found] = self._pairings(f"WHERE {where}", key)
        return found

    def pairings(self) -> list[Pairing]:
        """Returns all pairings, in the order in which they came."""
        return self._pairings("ORDER BY pairings.id", ())

    def _pairings(self, which: str, values: tuple[str, ...]) -> list[Pairing]:
        """Returns the pairings that a clause of SQL chooses."""
        players = self.players()
        rows = self._file.execute(
            "SELECT pairings.id, a.label, b.label, rules, seed FROM pairings "
            "JOIN players AS a ON a.id = pairings.a JOIN players AS b ON b.id = pairings.b "
            + which,
            values,
        )
        return [
            Pairing(number, players[a], players[b], Rules(**json.loads(rules)), int(seed))
            for number, a, b, rules, seed in rows
        ]

    def missing(self, pairing: Pairing, sets: int) -> list[range]:
        """Returns the stretches of a pairing's sets 0 to *sets* - 1 that have not been played."""
        played = np.zeros(sets + 2, bool)
        played[[0, -1]] = True
        rows = self._file.execute(
            "SELECT game FROM games WHERE pairing = ? AND game % 2 = 0 AND game < ?",
            (pairing.number, 2 * sets),
        )
        numbers = np.fromiter((row[0] for row in rows), np.int64)
        played[1 + numbers // 2] = True
        edges = np.flatnonzero(np.diff(played.astype(np.int8)))
        return [range(*stretch) for stretch in edges.reshape(-1, 2).tolist()]

    def add(self, pairing: Pairing, first_set: int, records: Array) -> None:
        """Writes sets of games, whole; those that are there already stay as they are.

        Args:
            pairing: Whose games.
            first_set: The number of the first set.
            records: (G,) of `eval.play.result_type`, the games of a set side by side.

        Raises:
            OSError: If they cannot be written; then none of them is.
        """
        columns = [records[name] for name in ("first_dealer", "winner", "deals")]
        columns[0] = columns[0] % 2
        columns += [records["scores"][:, side] for side in range(2)]
        columns += [
            # Of four the partners' points together.
            records["points"][:, side::2, source, role].sum(axis=1)
            for side, role, source in POINTS
        ]
        rows = np.stack(columns, axis=1).tolist()
        numbers = range(2 * first_set, 2 * first_set + len(rows))
        marks = ", ".join("?" * (2 + len(COLUMNS)))
        with self._transaction():
            self._file.executemany(
                f"INSERT OR IGNORE INTO games VALUES ({marks})",
                ((pairing.number, game, *row) for game, row in zip(numbers, rows, strict=True)),
            )

    def games(self, pairing: Pairing) -> tuple[Array, Array]:
        """Returns all sets of a pairing.

        Returns:
            Their numbers, (S,) int64, in order, and their games' records, (2S,), of
            `eval.play.result_type`: A's points stand with agent 0, B's with agent 1, also where
            partners pegged them; ``worth`` is 0, which a ledger does not keep.
        """
        rows = self._file.execute(
            f"SELECT game, {', '.join(COLUMNS)} FROM games WHERE pairing = ? ORDER BY game",
            (pairing.number,),
        ).fetchall()
        table = np.array(rows, np.int64).reshape(-1, 1 + len(COLUMNS))
        records = np.zeros(len(table), result_type(pairing.rules))
        for place, name in enumerate(("first_dealer", "winner", "deals"), 1):
            records[name] = table[:, place]
        records["scores"] = table[:, 4:6]
        for place, (side, role, source) in enumerate(POINTS, 6):
            records["points"][:, side, source, role] = table[:, place]
        return table[::2, 0] // 2, records

    def __enter__(self) -> Ledger:
        """Returns the ledger."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the file; the last who does leaves one file alone."""
        self._file.close()
