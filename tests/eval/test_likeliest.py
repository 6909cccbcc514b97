"""The likeliest distribution with a given mean; `test_stats` and `test_sprt` hold its uses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.likeliest import costs, shares_from, tilts, variances

COUNTS = st.lists(st.integers(0, 5000), min_size=2, max_size=5).filter(any)
RATES = st.floats(1e-6, 1 - 1e-6)


@given(COUNTS, RATES)
def test_the_tilt_makes_the_mean_right_or_stands_at_an_end(counts: list[int], rate: float) -> None:
    away = shares_from([rate], len(counts) - 1)
    tilt = tilts(np.array([counts]), away)
    weights = 1 + tilt[:, None] * away
    assert (weights > 0).all()
    chances = np.array(counts) / sum(counts) / weights[0]
    # What has not been seen may be needed to have such a mean: then an end gets what is left.
    left = 1 - chances.sum()
    end = away[0, 0] if tilt[0] > 0 else away[0, -1]
    assert left >= -1e-6
    assert float(chances @ away[0] + left * end) == pytest.approx(0, abs=1e-6)


@given(COUNTS, st.lists(RATES, min_size=2, max_size=6))
def test_cases_side_by_side_are_the_cases_alone(counts: list[int], rates: list[float]) -> None:
    together = costs(np.array([counts] * len(rates)), rates)
    alone = [costs(np.array([counts]), [rate])[0] for rate in rates]
    assert together == pytest.approx(alone, rel=1e-6, abs=1e-6)
    assert (together >= -1e-6).all()


def test_the_mean_itself_costs_nothing() -> None:
    counts = np.array([[30, 50, 20]])
    assert costs(counts, [0.45])[0] == pytest.approx(0, abs=1e-12)
    assert costs(counts, [0.5])[0] > 0 < costs(counts, [0.4])[0]
    shares = np.array([0, 0.5, 1])
    spread = (counts[0] @ (shares - 0.45) ** 2) / 100
    assert variances(counts, [0.45])[0] == pytest.approx(spread)
