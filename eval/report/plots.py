"""The pictures of a report, as SVG, by matplotlib: in greys and hatches, with their numbers.

The same figures give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from eval.stats import Estimate

Array = npt.NDArray[Any]

WIDTH = 6.2  # inches
ROW = 0.42  # inches of a bar with its label
GREYS = ("#222222", "#555555", "#888888", "#aaaaaa", "#cccccc", "#eeeeee")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
BIN = 10  # points of margin

STYLE: Any = {
    "svg.hashsalt": "crib_env",
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
}


def _figure(rows: float) -> tuple[Figure, Any]:
    """Returns a figure as high as its rows need, and its axes."""
    figure = Figure(figsize=(WIDTH, 1.0 + ROW * rows), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure) -> str:
    """Returns a figure as an SVG element that is as wide as its place."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r' width="[^"]*pt"| height="[^"]*pt"', "", svg, count=2)


def ladder(rated: Sequence[tuple[str, Estimate]]) -> str:
    """Draws ratings with their intervals, the first on top."""
    with mpl.rc_context(STYLE):
        figure, axes = _figure(len(rated))
        places = range(len(rated))[::-1]
        values = [rating.value for _, rating in rated]
        arms = [
            [rating.value - rating.low for _, rating in rated],
            [rating.high - rating.value for _, rating in rated],
        ]
        axes.errorbar(values, places, xerr=arms, fmt="o", color="black", capsize=4, markersize=5)
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                f"{value:.0f}", (value, place), (0, 7), textcoords="offset points", ha="center"
            )
        axes.set_yticks(places, [label for label, _ in rated])
        axes.set_ylim(-0.6, len(rated) - 0.2)
        axes.set_xlabel("rating, points of Elo")
        axes.grid(axis="x", color="#dddddd")
        axes.margins(x=0.1)
        return _svg(figure)


def payoff(labels: Sequence[str], rates: Array) -> str:
    """Draws a share for each row against each column, (P, P), NaN where they never met."""
    with mpl.rc_context(STYLE):
        figure, axes = _figure(1.4 * len(labels))
        axes.imshow(rates, cmap="Greys", vmin=0, vmax=1, aspect="auto")
        for (i, j), rate in np.ndenumerate(rates):
            if np.isfinite(rate):
                color = "white" if rate > 0.55 else "black"
                axes.text(j, i, f"{rate:.3f}", ha="center", va="center", color=color)
        axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
        axes.set_yticks(range(len(labels)), labels)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("against")
        return _svg(figure)


def _pairs(
    rows: Sequence[tuple[str, float, float]],
    names: tuple[str, str],
    label: str,
    arms: Sequence[tuple[Estimate, Estimate]] | None = None,
) -> str:
    """Draws two bars for each row, the second hatched, with their numbers."""
    with mpl.rc_context(STYLE):
        figure, axes = _figure(1.6 * len(rows) + 1)
        places = np.arange(len(rows))[::-1]
        for k, (name, hatch, grey) in enumerate(
            zip(names, HATCHES[:2], (GREYS[1], GREYS[5]), strict=True)
        ):
            values = [row[1 + k] for row in rows]
            xerr = None
            if arms is not None:
                both = [pair[k] for pair in arms]
                xerr = [[e.value - e.low for e in both], [e.high - e.value for e in both]]
            bars = axes.barh(
                places + 0.2 - 0.4 * k,
                values,
                0.38,
                label=name,
                color=grey,
                edgecolor="black",
                hatch=hatch,
                xerr=xerr,
                capsize=2,
            )
            axes.bar_label(bars, [f"{value:.3f}" for value in values], padding=6)
        axes.set_yticks(places, [row[0] for row in rows])
        axes.set_xlabel(label)
        axes.margins(x=0.15)
        figure.legend(loc="outside upper right", ncols=2, frameon=False)
        return _svg(figure)


def skunks(rows: Sequence[tuple[str, float, float]]) -> str:
    """Draws the share of each player's games with a skunk given, and taken."""
    return _pairs(rows, ("given", "taken"), "share of the games")


def positions(rows: Sequence[tuple[str, Estimate, Estimate]]) -> str:
    """Draws the share of games won as first dealer and as first pone, with intervals."""
    values = [(name, dealer.value, pone.value) for name, dealer, pone in rows]
    arms = [(dealer, pone) for _, dealer, pone in rows]
    return _pairs(values, ("dealt first", "was pone first"), "share of the games won", arms)


def points(names: Sequence[str], values: Mapping[str, Sequence[float]]) -> str:
    """Draws the points a game of each player by role and source, one above the other."""
    with mpl.rc_context(STYLE):
        figure, axes = _figure(1.2 * len(values) + 2)
        places = np.arange(len(values))[::-1]
        table = np.array(list(values.values()))
        left = np.zeros(len(values))
        for k, name in enumerate(names):
            axes.barh(
                places,
                table[:, k],
                0.7,
                left,
                label=name,
                color=GREYS[(2 * k + 1) % len(GREYS)],
                edgecolor="black",
                hatch=HATCHES[k % len(HATCHES)],
            )
            for place, value, start in zip(places, table[:, k], left, strict=True):
                if value >= 5:
                    axes.text(
                        start + value / 2,
                        place,
                        f"{value:.0f}",
                        ha="center",
                        va="center",
                        bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"},
                    )
            left += table[:, k]
        axes.set_yticks(places, list(values))
        axes.set_xlabel("points a game")
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
        return _svg(figure)


def margins(rows: Sequence[tuple[str, Array]]) -> str:
    """Draws how often games end with each margin, a small picture for each pairing."""
    with mpl.rc_context(STYLE):
        columns = min(2, len(rows))
        lines = -(-len(rows) // columns)
        figure = Figure(figsize=(WIDTH, 0.6 + 1.7 * lines), layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, squeeze=False)
        most = max(int(np.abs(margin).max()) for _, margin in rows)
        end = BIN * (most // BIN + 1)
        edges = np.arange(-end, end + 1, BIN)
        for axes, (name, margin) in zip(grid.flat, rows, strict=False):
            shares = 100 * np.histogram(margin, edges)[0] / len(margin)
            axes.stairs(shares, edges, fill=True, facecolor=GREYS[3], edgecolor="black")
            axes.axvline(0, color="black", linewidth=0.8)
            axes.axvline(margin.mean(), color="black", linestyle="--", linewidth=1)
            axes.set_title(f"{name}, mean {margin.mean():+.1f}", fontsize=10)
            axes.set_ylabel("% of games")
        for axes in grid.flat[len(rows) :]:
            axes.set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel("margin, points")
        return _svg(figure)
