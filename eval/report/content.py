"""What a report says: sections of words, tables and pictures, made of a ledger alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from eval.ledger import Ledger
from eval.match_result import MatchResult, Side, sources_by_role
from eval.report import plots
from eval.rules_flag import rules_text
from eval.standings import Standings, groups, rating_text, standings, unclear_text
from eval.stats import Estimate, game_rate

MOST_DEALS = 13  # longer games are put together


@dataclass(frozen=True)
class TableOf:
    """A table: the first row names the columns, the first column the rows."""

    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A picture: an SVG element, and what it shows in words."""

    svg: str
    words: str


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it, in order: words, tables, pictures."""

    title: str
    parts: Sequence[str | TableOf | Picture]


def sections(path: Path) -> list[Section]:
    """Returns a report of a ledger's games, the same for the same games.

    Raises:
        ValueError: If it is no ledger, or holds no game.
    """
    with Ledger(path, made=False) as ledger:
        found = [standings(ledger, group) for group in groups(ledger)]
        runs = ledger.runs()
    if not found:
        raise ValueError(f"{path}: no game has been played")
    result = [_how_to_read()]
    for one in found:
        where = f" ({rules_text(one.rules)}, seed {one.seed})" if len(found) > 1 else ""
        result += [
            Section(section.title + where, section.parts)
            for section in (
                _ladder(one),
                _payoff(one),
                _skunks(one),
                _points(one),
                _margins(one),
                _positions(one),
                _unclear(one),
            )
        ]
    kept = [[run[name] for name in ("command", "commit", "version", "cpu")] for run in runs]
    played = "; ".join(
        f"{rules_text(one.rules)}, seed {one.seed}: "
        f"{sum(result.games for result in one.pairings):,} games"
        for one in found
    )
    commands = TableOf([["command", "commit", "version", "cpu"], *kept])
    words = f"{played}. The commands below played them; this page is made of the file alone."
    return [*result, Section("Where it comes from", [words, commands])]


def _how_to_read() -> Section:
    """Returns what must be known to read the rest."""
    return Section(
        "How to read this page",
        [
            "Games are played in pairs with the same cards, the seats exchanged, and all pairings "
            "play the same cards. [low, high] behind a number is its 95 % interval, over pairs: "
            "what lies within is in keeping with these games. Cribbage is mostly luck: between "
            "near equals a point a game is worth about 1.7 % of the wins.",
        ],
    )


def _ladder(found: Standings) -> Section:
    """Returns the ratings."""
    rated = [(row.player.label, row.rating) for row in found.players if row.rating is not None]
    rows = [["player", "mode", "rating", "games", "wins", "skunks given", "skunks taken"]]
    rows += [
        [
            row.player.label,
            row.player.mode,
            "never met the anchor" if row.rating is None else rating_text(row.rating),
            *(f"{n:,}" for n in (row.games, row.wins, row.skunks_given, row.skunks_taken)),
        ]
        for row in found.players
    ]
    words = (
        f"Points of Elo relative to {found.anchor} = {found.anchor_rating:g}: 200 points are odds "
        "of 3 to 1. Bradley-Terry, from these games alone."
    )
    picture = Picture(plots.ladder(rated), "Ratings with their intervals, the highest on top.")
    return Section("Ladder", [words, picture, TableOf(rows)])


def _labels(found: Standings) -> list[str]:
    """Returns the players' labels, the highest rated first."""
    return [row.player.label for row in found.players]


def _sides(found: Standings, one: str, other: str) -> tuple[Side, Side, MatchResult] | None:
    """Returns what *one* and *other* reached against each other, None if they never met."""
    met = found.result(one, other)
    if met is None:
        return None
    result, first = met
    return (result.a, result.b, result) if first else (result.b, result.a, result)


def _matrix(found: Standings, skunks: bool) -> TableOf:
    """Returns a rate of each row against each column."""
    labels = _labels(found)
    rows = [["", *labels]]
    for one in labels:
        row = [one]
        for other in labels:
            sides = _sides(found, one, other)
            rate = sides and (sides[0].skunk_rate if skunks else sides[0].win_rate)
            row.append(str(rate) if rate else "")
        rows.append(row)
    return TableOf(rows)


def _payoff(found: Standings) -> Section:
    """Returns who beats whom how often."""
    labels = _labels(found)
    rates = np.full((len(labels), len(labels)), np.nan)
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            sides = _sides(found, one, other)
            if sides:
                rates[i, j] = sides[0].win_rate.value
    picture = Picture(plots.payoff(labels, rates), "Share of games the row wins; darker is more.")
    words = "The share of the games that the row wins against the column."
    return Section("Who beats whom", [words, picture, _matrix(found, False)])


def _skunks(found: Standings) -> Section:
    """Returns who skunks whom how often."""
    rows = [
        (row.player.label, row.skunks_given / row.games, row.skunks_taken / row.games)
        for row in found.players
        if row.games
    ]
    picture = Picture(plots.skunks(rows), "Skunks given and taken, share of a player's games.")
    words = (
        "The share of the games that the row wins against the column by a skunk or more "
        f"(31 points or more short of {found.rules.target})."
    )
    return Section("Skunks", [words, picture, _matrix(found, True)])


def _points(found: Standings) -> Section:
    """Returns where each player's points come from."""
    names = [
        (role, source)
        for role, sources in sources_by_role(found.rules).items()
        for source in sources
    ]
    head = [
        f"{role.name.lower()}: {source.name.lower().replace('_', ' ')}" for role, source in names
    ]
    values = {}
    for label in _labels(found):
        met = [s for other in _labels(found) if (s := _sides(found, label, other))]
        games = sum(result.games for _, _, result in met)
        values[label] = [
            sum(
                side.points[role.name.lower()][source.name.lower()].value * result.games
                for side, _, result in met
            )
            / games
            for role, source in names
        ]
    rows = [["", *head], *([label, *(f"{v:.1f}" for v in row)] for label, row in values.items())]
    picture = Picture(plots.points(head, values), "Points a game by role and source.")
    words = (
        "Points pegged a game, over all games of a player. What the target cut off is not counted, "
        "so the last hand of a game often brings less than it is worth."
    )
    return Section("Where the points come from", [words, picture, TableOf(rows)])


def _margins(found: Standings) -> Section:
    """Returns by how much games are won."""
    margins = []
    rows = [["", "margin", "middle half of the games", "won by a skunk", "lost by a skunk"]]
    for result in found.pairings:
        margin = result.results["scores"][:, 0].astype(int) - result.results["scores"][:, 1]
        name = f"{result.a.name} v {result.b.name}"
        margins.append((name, margin))
        low, high = np.percentile(margin, [25, 75])
        rows.append(
            [
                name,
                str(result.mean_margin),
                f"{low:+.0f} to {high:+.0f}",
                str(result.a.skunk_rate),
                str(result.b.skunk_rate),
            ]
        )
    picture = Picture(plots.margins(margins), "Final score of the first less that of the second.")
    return Section(
        "Margins",
        [
            "The final score of the player named first less that of the other.",
            picture,
            TableOf(rows),
        ],
    )


def _positions(found: Standings) -> Section:
    """Returns how much dealing first is worth, by who meets and by the length of a game."""
    rows = [["", "dealt first", "was pone first"]]
    bars: list[tuple[str, Estimate, Estimate]] = []
    for result in found.pairings:
        for side, other in ((result.a, result.b), (result.b, result.a)):
            name = f"{side.name} v {other.name}"
            dealer, pone = side.as_first_dealer.win_rate, side.as_first_pone.win_rate
            bars.append((name, dealer, pone))
            rows.append([name, str(dealer), str(pone)])
    lengths = [["deals", "games", "first dealer wins"]]
    deals = np.concatenate([one.results["deals"] for one in found.pairings])
    won = np.concatenate(
        [one.results["winner"] == one.results["first_dealer"] % 2 for one in found.pairings]
    )
    for number in np.unique(np.minimum(deals, MOST_DEALS)).tolist():
        these = np.minimum(deals, MOST_DEALS) == number
        more = " or more" if number == MOST_DEALS else ""
        rate = game_rate(int(won[these].sum()), int(these.sum()))
        lengths.append([f"{number}{more}", f"{int(these.sum()):,}", str(rate)])
    picture = Picture(plots.positions(bars), "Share of games won, by who dealt first.")
    return Section(
        "The first deal",
        [
            "The share of the games that the player named first wins, where it dealt first and "
            "where it did not.",
            picture,
            TableOf(rows),
            "Over all pairings, by how many deals the game took, the last counted however short. "
            "Who deals last is decided by that number, so it goes up and down (intervals over "
            "games).",
            TableOf(lengths),
        ],
    )


def _unclear(found: Standings) -> Section:
    """Returns what these games do not show."""
    rated = [row for row in found.players if row.rating is not None]
    close = [
        f"{above.player.label} and {below.player.label}"
        for above, below in pairwise(rated)
        if above.rating and below.rating and above.rating.low <= below.rating.high
    ]
    neighbours = (
        f"Neighbours on the ladder whose intervals overlap: {'; '.join(close)}. Their order is not "
        "shown by these games."
        if close
        else "No neighbours on the ladder have intervals that overlap."
    )
    return Section("What is not significant", [unclear_text(found), neighbours])
