"""`Standings`: what games by the same rules on the same cards say of their players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np
from rich.table import Table

from crib_env.rules import Rules
from eval import sets
from eval.ledger import Ledger, Pairing, Player
from eval.match_result import MatchResult, measured
from eval.ratings import rated
from eval.stats import Estimate

ANCHOR = "greedy"  # who is rated 0 where nobody is named


@dataclass(frozen=True)
class Standing:
    """What one player reached against all others that it met."""

    player: Player
    """Who."""
    rating: Estimate | None
    """In points of Elo, relative to the anchor; None where no games connect the two."""
    games: int
    """Games played."""
    wins: int
    """Games won."""
    skunks_given: int
    """Games won by a skunk or more."""
    skunks_taken: int
    """Games lost by a skunk or more."""

    def to_json(self) -> dict[str, Any]:
        """Returns the figures under the keys that docs/evaluation.md lists."""
        return {
            **asdict(self.player),
            "rating": None if self.rating is None else self.rating.value,
            "rating_ci95": None if self.rating is None else self.rating.ci95,
            "games": self.games,
            "wins": self.wins,
            "losses": self.games - self.wins,
            "skunks_given": self.skunks_given,
            "skunks_taken": self.skunks_taken,
        }


@dataclass(frozen=True)
class Standings:
    """Players who met by the same rules on the same cards, the highest rated first."""

    rules: Rules
    """The rules of all games."""
    seed: int
    """Set i of every pairing was dealt by lane_seed(seed, i)."""
    anchor: str
    """The label of the player to whom ratings are relative."""
    anchor_rating: float
    """The rating it was given."""
    players: Sequence[Standing]
    """By rating; who has none comes last."""
    pairings: Sequence[MatchResult]
    """What each pairing gave, in the ledger's order; its sides are named by their labels."""

    def result(self, one: str, other: str) -> tuple[MatchResult, bool] | None:
        """Returns what a pairing gave and whether *one* is its A; None if the two never met."""
        for result in self.pairings:
            if {result.a.name, result.b.name} == {one, other}:
                return result, result.a.name == one
        return None

    def to_json(self) -> dict[str, Any]:
        """Returns the figures under the keys that docs/evaluation.md lists; no times."""
        pairings = [result.to_json() for result in self.pairings]
        for one in pairings:
            del one["seconds"]
        return {
            "rules": asdict(self.rules),
            "seed": self.seed,
            "anchor": self.anchor,
            "anchor_rating": self.anchor_rating,
            "players": [standing.to_json() for standing in self.players],
            "pairings": pairings,
        }


def standings(
    ledger: Ledger,
    pairings: Sequence[Pairing],
    anchor: str | None = None,
    rating: float = 0.0,
    games: int | None = None,
) -> Standings:
    """Returns what pairings of the same rules and seed gave.

    Args:
        ledger: Where their games are.
        pairings: The pairings, one or more; those without games do not count.
        anchor: The label of the player whose rating is given: by default greedy if it is among
            them, else the first in the alphabet.
        rating: Its rating.
        games: Of each pairing the first so many games alone; by default all.

    Raises:
        ValueError: If the anchor is not among them, or no game has been played.
    """
    rules, seed = pairings[0].rules, pairings[0].seed
    results, met, labels = [], [], sorted({p.label for one in pairings for p in (one.a, one.b)})
    if anchor is None:
        anchor = ANCHOR if ANCHOR in labels else labels[0]
    if anchor not in labels:
        raise ValueError(f"anchor {anchor!r}: allowed are {', '.join(labels)}")
    totals = {label: np.zeros(4, np.int64) for label in labels}
    for pairing in pairings:
        numbers, records = ledger.games(pairing)
        if games is not None:
            kept = numbers < games // 2
            numbers, records = numbers[kept], records[np.repeat(kept, 2)]
        if not len(records):
            continue
        result = measured(pairing.a, pairing.b, seed, rules, records, 0.0)
        results.append(result)
        won = sets.outcomes(records["winner"] == 0, rules.sides)
        a, b = labels.index(pairing.a.label), labels.index(pairing.b.label)
        met.append((a, b, numbers, won))
        skunks = [round(side.skunk_rate.value * result.games) for side in (result.a, result.b)]
        totals[pairing.a.label] += [result.games, result.a.wins, skunks[0], skunks[1]]
        totals[pairing.b.label] += [result.games, result.b.wins, skunks[1], skunks[0]]
    if not results:
        raise ValueError("no game has been played")
    found = rated(met, len(labels), labels.index(anchor), rating, seed)
    players = {p.label: p for one in pairings for p in (one.a, one.b)}
    rows = [
        Standing(players[label], found[i], *map(int, totals[label]))
        for i, label in enumerate(labels)
    ]
    rows.sort(key=lambda row: -np.inf if row.rating is None else row.rating.value, reverse=True)
    return Standings(rules, seed, anchor, rating, rows, results)


def groups(ledger: Ledger) -> list[list[Pairing]]:
    """Returns a ledger's pairings, those of the same rules and seed together."""

    def key(pairing: Pairing) -> tuple[str, int]:
        return repr(pairing.rules), pairing.seed

    return [list(group) for _, group in groupby(sorted(ledger.pairings(), key=key), key)]


def tables(standings: Standings) -> list[Table | str]:
    """Returns the standings as tables and words: the ladder, who beats whom, who skunks whom."""
    ladder = Table(title="Ratings")
    for column in ("player", "rating", "games", "wins", "skunks given", "taken"):
        ladder.add_column(column, justify="left" if column == "player" else "right")
    for row in standings.players:
        ladder.add_row(
            row.player.label,
            "never met the anchor" if row.rating is None else rating_text(row.rating),
            f"{row.games:,}",
            f"{row.wins:,}",
            f"{row.skunks_given:,}",
            f"{row.skunks_taken:,}",
        )
    return [
        ladder,
        _matrix(standings, "Share of games that the row wins against the column", False),
        _matrix(standings, "Share of games that the row wins by a skunk or more", True),
        f"Ratings are points of Elo relative to {standings.anchor} = "
        f"{standings.anchor_rating:g} (Bradley-Terry; the odds of 200 points are 3 to 1), from "
        "these games alone. [low, high] are 95 % intervals, over pairs with the same cards.",
        unclear_text(standings),
    ]


def rating_text(rating: Estimate) -> str:
    """Returns a rating as results show it; the anchor's has no error."""
    return f"{rating.value:.0f}" if rating.low == rating.high else str(rating)


def unclear_text(standings: Standings) -> str:
    """Returns which pairings do not tell who is stronger, in words."""
    unclear = [
        f"{one.a.name} and {one.b.name}"
        for one in standings.pairings
        if one.a.win_rate.low <= one.chance <= one.a.win_rate.high
    ]
    if not unclear:
        return "In every pairing one player is the stronger: no interval holds one half."
    return f"Not told apart, as the interval holds one half: {'; '.join(unclear)}."


def _matrix(standings: Standings, title: str, skunks: bool) -> Table:
    """Returns a table of one figure of every pairing, row against column."""
    labels = [row.player.label for row in standings.players]
    table = Table(title=title)
    table.add_column("")
    for label in labels:
        table.add_column(label, justify="right")
    for one in labels:
        cells = []
        for other in labels:
            found = standings.result(one, other)
            if found is None:
                cells.append("")
                continue
            side = found[0].a if found[1] else found[0].b
            cells.append(str(side.skunk_rate if skunks else side.win_rate))
        table.add_row(one, *cells)
    return table
