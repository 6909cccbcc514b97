"""Intervals from sets drawn again: against another implementation, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from eval.bootstrap import bootstrapped, gap
from eval.stats import Estimate, mean_estimate, set_rate


@pytest.mark.parametrize("kind", ["normal", "skewed", "few"])
def test_the_interval_is_that_of_another_implementation(kind: str) -> None:
    generator = np.random.default_rng(2)
    values = {
        "normal": np.round(generator.normal(3, 20, 400) * 2) / 2,
        "skewed": np.round(generator.exponential(8, 80) * 2) / 2,
        "few": generator.choice([0, 0.5, 1], 60, p=[0.85, 0.1, 0.05]),
    }[kind]
    found = bootstrapped(values, 1)
    assert found is not None
    expected = scipy.stats.bootstrap((values,), np.mean, n_resamples=20_000, rng=3)
    low, high = expected.confidence_interval
    assert found.value == pytest.approx(values.mean())
    width = high - low
    # Both draw: 5,000 resamples leave an end uncertain by about 1 % of the width.
    assert found.low == pytest.approx(low, abs=0.05 * width)
    assert found.high == pytest.approx(high, abs=0.05 * width)


def test_it_depends_on_the_seed_and_on_no_order() -> None:
    values = np.random.default_rng(5).integers(-40, 50, 300) / 2
    one = bootstrapped(values, 7)
    assert one == bootstrapped(values[::-1], 7)
    assert one != bootstrapped(values, 8)


@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_of_equal_sets_it_makes_nothing(value: float) -> None:
    assert bootstrapped(np.full(50, value), 1) is None
    assert bootstrapped(np.full(1, value), 1) is None


@pytest.mark.parametrize("ones", [1, 49])
def test_near_an_end_it_stays_inside(ones: int) -> None:
    found = bootstrapped(np.repeat([0.0, 1.0], [50 - ones, ones]), 1)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_it_agrees_with_the_other_intervals_over_many_sets() -> None:
    generator = np.random.default_rng(6)
    shares = generator.choice([0, 0.5, 1], 4000, p=[0.03, 0.63, 0.34])
    margins = generator.integers(-60, 80, 4000) / 2
    rate = set_rate(np.bincount((2 * shares).astype(int)).tolist())
    mean = mean_estimate(4000, float(margins.mean()), float(margins.var(ddof=1)), -121, 121)
    for values, other in ((shares, rate), (margins, mean)):
        found = bootstrapped(values, 1)
        assert found is not None
        assert gap(found, other) < 0.05


def test_the_gap_is_the_greater_distance_as_a_share_of_the_wider() -> None:
    assert gap(Estimate(0, -1, 1), Estimate(0, -1.5, 1.5)) == pytest.approx(0.5 / 3)
    assert gap(Estimate(0, -1, 1), Estimate(0, -1, 1)) == 0
    assert gap(Estimate(0, 0, 0), Estimate(0, 0, 0)) == 0


def coverage(chances: list[float], sets: int, matches: int) -> float:
    """Share of simulated matches whose interval holds the true rate."""
    shares = np.arange(len(chances)) / (len(chances) - 1)
    rate = float(np.dot(chances, shares))
    held = 0
    for number, counts in enumerate(np.random.default_rng(9).multinomial(sets, chances, matches)):
        found = bootstrapped(np.repeat(shares, counts), number)
        held += found is not None and found.low <= rate <= found.high
    return held / matches


# None, one and both games of a pair won: near equals, expert against greedy, and near either end.
CELLS = [[0.02, 0.84, 0.14], [0.03, 0.63, 0.34], [0.9801, 0.0198, 0.0001], [0.0, 0.02, 0.98]]


@pytest.mark.parametrize("chances", CELLS)
def test_coverage(chances: list[float]) -> None:
    # 300 matches: 95 % have a standard error of 1.3 %.
    assert 0.91 <= coverage(chances, 2000, 300) <= 0.985


@pytest.mark.torture
@pytest.mark.parametrize("chances", CELLS)
def test_coverage_in_full(chances: list[float]) -> None:
    share = coverage(chances, 2000, 5000)
    print(f"\npairs {chances}: bootstrap, 2,000 pairs, 5,000 matches: {share:.4f}")
    assert 0.935 <= share <= 0.965
