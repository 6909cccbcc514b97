"""What a match shows: a table of its figures, and what they say in words."""

from __future__ import annotations

from rich.table import Table

from eval.bootstrap import ALLOWED_GAP
from eval.match_result import MatchResult
from eval.stats import Estimate


def match_table(result: MatchResult) -> Table:
    """Returns a match as a table, a column for each agent, an interval beside each figure."""
    a, b = result.a, result.b
    table = Table()
    table.add_column(f"{result.games:,} games, seed {result.seed}")
    table.add_column(f"A: {a.name} ({a.mode})", justify="right")
    table.add_column(f"B: {b.name} ({b.mode})", justify="right")

    def row(label: str, of_a: object, of_b: object) -> None:
        table.add_row(label, str(of_a), str(of_b))

    row("wins", f"{a.wins:,}", f"{b.wins:,}")
    row("win rate", a.win_rate, b.win_rate)
    row("  as first dealer", a.as_first_dealer.win_rate, b.as_first_dealer.win_rate)
    row("  as first pone", a.as_first_pone.win_rate, b.as_first_pone.win_rate)
    row("wins by a skunk or more", a.skunk_rate, b.skunk_rate)
    row("  as first dealer", a.as_first_dealer.skunk_rate, b.as_first_dealer.skunk_rate)
    row("  as first pone", a.as_first_pone.skunk_rate, b.as_first_pone.skunk_rate)
    row("wins by a double skunk", a.double_skunk_rate, b.double_skunk_rate)
    if result.rules.triple_skunk:
        row("wins by a triple skunk", a.triple_skunk_rate, b.triple_skunk_rate)
    table.add_section()
    table.add_row("match points a game")
    for scheme, points in a.match_points.items():
        row(f"  {scheme.replace('_', ' ')}", points, b.match_points[scheme])
    table.add_section()
    table.add_row("points pegged a game")
    for role, sources in a.points.items():
        for source, points in sources.items():
            row(f"  {role}: {source.replace('_', ' ')}", points, b.points[role][source])
    return table


def match_text(result: MatchResult) -> str:
    """Returns what a match shows beside its table, and what it does not, in words."""
    a, b, rate = result.a, result.b, result.a.win_rate
    three = result.rules.sides == 3
    if rate.low > result.chance:
        share = "a third" if three else "half"
        shown = f"A ({a.name}) wins more than {share} of its games against B ({b.name})."
    elif rate.high < result.chance:
        share = "two thirds" if three else "half"
        shown = f"B ({b.name}) wins more than {share} of its games against A ({a.name})."
    else:
        chance = "1/3" if three else "0.5"
        shown = f"These games do not tell who is stronger: the interval holds {chance}."
    if three:
        low, high = 100 * rate.low, 100 * rate.high
        first = f"A is first in {100 * rate.value:.1f} % [{low:.1f}, {high:.1f}]"
        shown = f"{first} of the games, chance {100 * result.chance:.1f} %\n{shown}"
    sets = "sets of three games" if three else "pairs"
    schemes = ", ".join(
        f"{scheme.replace('_', ' ')} {margin}"
        for scheme, margin in result.match_points_margin.items()
    )
    return (
        f"margin A - B {result.mean_margin} points a game; {result.deals_per_game} deals a game\n"
        f"match points A - B a game: {schemes}\n"
        f"{_pairing_text(result)}\n{_bootstrap_text(result)}\n"
        f"[low, high] are 95 % intervals over {result.games // result.rules.sides:,} {sets}; "
        f"{result.seconds:.1f} seconds\n{shown}"
    )


def _pairing_text(result: MatchResult) -> str:
    """Returns what playing the same cards again was worth."""

    def worth(estimate: Estimate | None) -> str:
        return "nothing to tell, as all games went alike" if estimate is None else str(estimate)

    wins, margin = result.pairing["wins"], result.pairing["margin"]
    return f"games needed for each single game: wins {worth(wins)}; margin {worth(margin)}"


def _bootstrap_text(result: MatchResult) -> str:
    """Returns whether the intervals of the win rate and of the margin stand the bootstrap."""
    gaps = [gap for gap in map(result.gap, ("a_win_rate", "mean_margin")) if gap is not None]
    if not gaps:
        return "bootstrap: nothing to draw from, as all sets went alike"
    apart = f"{100 * max(gaps):.0f} % of their width"
    if max(gaps) <= ALLOWED_GAP:
        return f"bootstrap: the intervals of wins and margin are within {apart} of its own"
    return (
        f"bootstrap: its intervals of wins and margin are {apart} apart from these: too few sets "
        "to be sure of either"
    )
