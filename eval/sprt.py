"""A sequential test: who is better, in as few games as the games themselves allow.

``python -m eval.match A B --sprt 0.50 0.52``. Wald's sequential probability ratio test (Annals of
Mathematical Statistics 16, 1945, 117-186) of two rates at which A wins, over sets of games with the
same cards. A rate alone does not say how likely a set is, so for each of the two the likeliest
distribution of a set's share is taken that has it (`eval.likeliest`): the generalised test of
Van den Bergh, "A practical introduction to the GSPRT", by which Fishtest tests pairs of chess
games. After each set, in order, the logarithm of the ratio of the two likelihoods (LLR) is held
against two bounds, so where the test stops depends on nothing but the games.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.likeliest import costs

Array = npt.NDArray[Any]

# The bounds begin at so many times Wald's, and close in by this much of the information gathered:
# n d^2 / variance over n sets, d being what the rates differ by.
WIDER = 1.22
CLOSING = 0.1


@dataclass(frozen=True)
class Hypotheses:
    """What a test decides between, and how often it may be wrong.

    Raises:
        ValueError: If a value is not among those allowed, naming it.
    """

    rate0: float
    """H0: A wins this share of the games."""
    rate1: float
    """H1: A wins this share of the games."""
    alpha: float = 0.05
    """How often H1 may be found where H0 is true."""
    beta: float = 0.05
    """How often H0 may be found where H1 is true."""

    def __post_init__(self) -> None:
        """Checks every field."""
        if not (0 < self.rate0 < 1 and 0 < self.rate1 < 1 and self.rate0 != self.rate1):
            raise ValueError(
                f"sprt {self.rate0} {self.rate1}: allowed are two different rates above 0 and "
                "below 1"
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(
                    f"{name}={getattr(self, name)}: allowed is more than 0 and less than 0.5"
                )

    def bounds(self, information: npt.ArrayLike = 0.0) -> tuple[Array, Array]:
        """Returns the bounds of the LLR, at or beyond which H0 and H1 are accepted.

        Args:
            information: What has been gathered (`evidence`).
        """
        closed = CLOSING * np.asarray(information)
        lower = WIDER * math.log(self.beta / (1 - self.alpha)) + closed
        upper = WIDER * math.log((1 - self.beta) / self.alpha) - closed
        return np.minimum(lower, 0.0), np.maximum(upper, 0.0)


class SequentialTest:
    """The state of a test: counts of sets, and what they say.

    Args:
        hypotheses: What it decides between.
        size: The games of a set.
    """

    def __init__(self, hypotheses: Hypotheses, size: int = 2) -> None:
        """Begins without a set."""
        self.hypotheses = hypotheses
        self.counts = np.zeros(size + 1, np.int64)
        """(size + 1,) how many sets A has won none, one, ..., all games of."""
        self.llr = 0.0
        """The logarithm of how much likelier the sets are under H1 than under H0."""
        self.lower, self.upper = map(float, hypotheses.bounds())
        """The bounds that it is held against now."""

    @property
    def sets(self) -> int:
        """How many sets have been taken."""
        return int(self.counts.sum())

    @property
    def wins(self) -> int:
        """How many games of them A has won."""
        return int(self.counts @ np.arange(len(self.counts)))

    @property
    def win_rate(self) -> float:
        """The share of its games that A has won; 0 before the first."""
        return self.wins / max(1, self.sets * (len(self.counts) - 1))

    @property
    def verdict(self) -> str | None:
        """``"H0"`` or ``"H1"`` once the test has decided, None before."""
        if self.llr <= self.lower:
            return "H0"
        return "H1" if self.llr >= self.upper else None

    def take(self, won: Array) -> int:
        """Takes sets in order, up to the one that decides, and returns how many it has taken.

        Args:
            won: (S,) how many games of each set A has won. None is taken once it has decided.
        """
        if self.verdict or not len(won):
            return 0
        counts = self.counts + np.eye(len(self.counts), dtype=np.int64)[won].cumsum(axis=0)
        llr, information = evidence(counts, self.hypotheses)
        lower, upper = self.hypotheses.bounds(information)
        decided = np.flatnonzero((llr <= lower) | (llr >= upper))
        last = int(decided[0]) if len(decided) else len(won) - 1
        self.counts, self.llr = counts[last], float(llr[last])
        self.lower, self.upper = float(lower[last]), float(upper[last])
        return last + 1


def evidence(counts: Array, hypotheses: Hypotheses) -> tuple[Array, Array]:
    """Returns what sets say: the LLR, and how much they can say, each (M,) float64.

    No count is made up to smooth the first few: as the ends of what a set can give are always
    thought possible, one set says little, and for sets that all go alike this is Wald's test.

    Args:
        counts: (M, k + 1) how many sets A has won none, one, ..., all games of.
        hypotheses: H0 and H1.

    Returns:
        The logarithm of how much likelier the sets are under H1 than under H0, and the information:
        four times what the rate half way is likelier by than both, which is n d^2 / variance.
    """
    rates = hypotheses.rate0, hypotheses.rate1, (hypotheses.rate0 + hypotheses.rate1) / 2
    under0, under1, between = (costs(counts, np.full(len(counts), rate)) for rate in rates)
    return under0 - under1, np.maximum(0.0, 4 * (under0 + under1 - 2 * between))
