"""Intervals against published values, known limits, and simulated matches."""

import math

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from eval.stats import (
    Estimate,
    Z,
    decimals,
    game_rate,
    mean_estimate,
    pair_rate,
    ratio_estimate,
    score_bounds,
    set_rate,
)

COUNTS = st.integers(0, 3000)


def difference(estimate: Estimate) -> tuple[float, float]:
    """An interval as the difference of two proportions, which is how it is published."""
    return 2 * estimate.low - 1, 2 * estimate.high - 1


def test_pair_rate_gives_the_published_interval() -> None:
    # Fagerland, Lydersen, Laake (2014), table V: 7 and 1 discordant among 21 pairs.
    low, high = difference(pair_rate(7, 13, 1))
    assert (round(low, 3), round(high, 3)) == (-0.517, -0.026)


@given(COUNTS, COUNTS, COUNTS)
def test_pair_rate_ends_where_the_score_test_stops_rejecting(
    none: int, one: int, both: int
) -> None:
    n = none + one + both
    if n == 0:
        return

    def score(d: float) -> float:
        # The most likely share of pairs with none, given D: by its definition, a golden search.
        low, high = max(0.0, -d), (1 - d) / 2

        def likelihood(q: float) -> float:
            parts = zip((none, one, both), (q, 1 - 2 * q - d, q + d), strict=True)
            return sum(k * math.log(max(p, 1e-300)) for k, p in parts if k)

        for _ in range(200):
            left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if likelihood(left) < likelihood(right):
                low = left
            else:
                high = right
        q = (low + high) / 2
        return (both - none - n * d) / math.sqrt(n * (2 * q + d - d * d))

    for end, expected in zip(difference(pair_rate(none, one, both)), (Z, -Z), strict=True):
        if abs(end) < 1 - 1e-9:
            assert score(end) == pytest.approx(expected, rel=1e-3)


@given(COUNTS, COUNTS, COUNTS)
def test_pair_rate_stays_inside_and_is_symmetric(none: int, one: int, both: int) -> None:
    if none + one + both == 0:
        return
    estimate, mirrored = pair_rate(none, one, both), pair_rate(both, one, none)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high
    assert mirrored.low == pytest.approx(1 - estimate.high, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - estimate.low, abs=1e-9)


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 50), (7, 10), (50, 50)])
def test_game_rate_is_wilsons(wins: int, games: int) -> None:
    estimate = game_rate(wins, games)
    wilson = scipy.stats.binomtest(wins, games).proportion_ci(method="wilson")
    assert estimate.value == wins / games
    assert estimate.low == pytest.approx(wilson.low, abs=1e-9)
    assert estimate.high == pytest.approx(wilson.high, abs=1e-9)


def test_pairs_that_never_split_are_worth_one_game_each() -> None:
    assert pair_rate(30, 0, 70) == game_rate(70, 100)


def test_pairs_that_all_split_leave_a_width() -> None:
    estimate = pair_rate(0, 50, 0)
    assert estimate.value == 0.5
    assert estimate.high - 0.5 == pytest.approx(Z * Z / (50 + Z * Z) / 2)


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_one_pair_says_little(counts: tuple[int, int, int]) -> None:
    estimate = pair_rate(*counts)
    assert estimate.high - estimate.low > 0.7


@pytest.mark.parametrize("counts", [(0, 0, 0), (-1, 2, 0), (1, -1, 5)])
def test_pair_rate_refuses_what_is_no_count(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least one set"):
        pair_rate(*counts)


@given(COUNTS, COUNTS, COUNTS)
def test_the_rate_over_sets_of_two_is_that_over_pairs(none: int, one: int, both: int) -> None:
    if none + one + both == 0:
        return
    assert same(set_rate([none, one, both]), pair_rate(none, one, both))


def same(one: Estimate, other: Estimate) -> bool:
    """Whether two estimates agree but for rounding."""
    return one.ci95 == pytest.approx(other.ci95, abs=1e-9) and one.value == pytest.approx(
        other.value
    )


@given(st.lists(COUNTS, min_size=2, max_size=5).filter(any))
def test_set_rate_stays_inside_and_is_symmetric(counts: list[int]) -> None:
    estimate, mirrored = set_rate(counts), set_rate(counts[::-1])
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high
    assert mirrored.low == pytest.approx(1 - estimate.high, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - estimate.low, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(("wins", "sets"), [(0, 1), (1, 1), (0, 50), (7, 10), (50, 50)])
def test_sets_whose_games_go_alike_are_worth_one_game_each(size: int, wins: int, sets: int) -> None:
    counts = [sets - wins, *[0] * (size - 1), wins]
    assert same(set_rate(counts), game_rate(wins, sets))


@pytest.mark.parametrize("counts", [[5, 40, 30, 25], [0, 40, 2, 0], [0, 0, 3, 97], [1, 0, 0, 0]])
def test_set_rate_ends_where_the_score_test_stops_rejecting(counts: list[int]) -> None:
    # The likeliest distribution of a given mean: by its definition, with an optimiser of another's.
    n, shares = sum(counts), np.arange(4) / 3

    def rejected_by(rate: float) -> float:
        found = scipy.optimize.minimize(
            lambda p: -float(np.dot(counts, np.log(p))),
            np.full(4, 0.25),
            method="SLSQP",
            bounds=[(1e-12, 1)] * 4,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: np.dot(p, shares) - rate},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        variance = float(np.dot(found.x, (shares - rate) ** 2))
        return abs(float(np.dot(counts, shares)) / n - rate) / math.sqrt(variance / n)

    for end in set_rate(counts).ci95:
        if 0 < end < 1:
            assert rejected_by(end) == pytest.approx(Z, rel=1e-3)


@pytest.mark.parametrize("counts", [[0, 0, 0, 0], [-1, 2, 0, 0], [1, -1, 5, 1]])
def test_set_rate_refuses_what_is_no_count(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="at least one set"):
        set_rate(counts)


# How often none, one, two and all three games of a set are won: as one seat of three wins among
# equals, where just one game of most sets is won, and nearer to either end.
SETS = [
    (0.10, 0.80, 0.10, 0.00),
    (0.30, 0.42, 0.24, 0.04),
    (0.97, 0.02, 0.01, 0.00),
    (0.02, 0.05, 0.13, 0.80),
    (0.60, 0.00, 0.00, 0.40),
]


def held(counts: npt.NDArray[np.int64], rate: float) -> float:
    """Share of matches, (M, k + 1) counts of sets, whose interval holds the true rate."""
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    bounds = score_bounds(distinct)
    assert (bounds >= 0).all()
    assert (bounds <= 1).all()
    inside = (bounds[:, 0] <= rate) & (rate <= bounds[:, 1])
    return float(times[inside].sum() / len(counts))


@pytest.mark.parametrize("chances", SETS)
def test_coverage_over_sets_of_three(chances: tuple[float, ...]) -> None:
    drawn = np.random.default_rng(4).multinomial(700, chances, 1000)
    assert 0.93 <= held(drawn, np.dot(chances, np.arange(4)) / 3) <= 0.975


def pairs_of(rate: float, correlation: float) -> list[float]:
    """How often none, one and both games of a pair are won."""
    spread = correlation * rate * (1 - rate)
    both, none = rate * rate + spread, (1 - rate) ** 2 + spread
    return [none, 1 - none - both, both]


def simulated(rate: float, correlation: float, pairs: int, matches: int) -> npt.NDArray[np.int64]:
    """What matches of pairs of correlated games give, (M, 3)."""
    chances = pairs_of(rate, correlation)
    drawn: npt.NDArray[np.int64] = np.random.default_rng(1).multinomial(pairs, chances, matches)
    return drawn


# Rates from one end to the other, with correlations as duplicate games have them (below 0) and as
# one-sided pairs might (above). -0.4 is expert against greedy, -0.84 against itself with a tenth of
# its pegging at random; below, no correlation can be stronger than the rate leaves room for.
CELLS = [
    (0.01, 0.0),
    (0.01, 0.3),
    (0.05, -0.05),
    (0.1, -0.1),
    (0.25, -0.3),
    (0.35, -0.45),
    (0.5, -0.9),
    (0.5, -0.84),
    (0.5, -0.4),
    (0.5, 0.0),
    (0.5, 0.5),
    (0.56, -0.7),
    (0.67, -0.4),
    (0.9, -0.1),
    (0.99, 0.0),
    (0.99, -0.01),
]


@pytest.mark.parametrize(("rate", "correlation"), CELLS)
def test_coverage_over_pairs(rate: float, correlation: float) -> None:
    # 1,000 matches: 95 % have a standard error of 0.7 %.
    assert 0.93 <= held(simulated(rate, correlation, 2000, 1000), rate) <= 0.975


@pytest.mark.torture
@pytest.mark.parametrize(("rate", "correlation"), CELLS)
def test_coverage_over_pairs_in_full(rate: float, correlation: float) -> None:
    share = held(simulated(rate, correlation, 2000, 20_000), rate)
    print(f"\nrate {rate}, correlation {correlation}: 2,000 pairs, 20,000 matches: {share:.4f}")
    assert 0.94 <= share <= 0.96


@pytest.mark.torture
@pytest.mark.parametrize("chances", SETS)
def test_coverage_over_sets_of_three_in_full(chances: tuple[float, ...]) -> None:
    drawn = np.random.default_rng(5).multinomial(2000, chances, 20_000)
    share = held(drawn, np.dot(chances, np.arange(4)) / 3)
    print(f"\nsets {chances}: 2,000 sets, 20,000 matches: {share:.4f}")
    assert 0.94 <= share <= 0.96


def test_counting_games_in_place_of_pairs_would_be_wrong() -> None:
    # The fault that pairs are for: at a correlation of +0.5 intervals over games are too short.
    counts = simulated(0.5, 0.5, 2000, 1000)
    wins = counts @ np.arange(3)
    assert held(np.stack([4000 - wins, wins], axis=1), 0.5) < 0.9


def test_the_interval_shrinks_with_the_root_of_the_games() -> None:
    few, many = pair_rate(25, 50, 25), pair_rate(2500, 5000, 2500)
    assert many.error == pytest.approx(few.error / 10, rel=0.02)


def test_mean_estimate_is_students() -> None:
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    estimate = mean_estimate(6, values.mean(), values.var(ddof=1), -121, 121)
    expected = scipy.stats.t.interval(0.95, 5, values.mean(), scipy.stats.sem(values))
    assert estimate.ci95 == pytest.approx(list(expected), rel=1e-3)


def test_mean_estimate_without_variance() -> None:
    # All pairs equal, one pair, or a mean at the end of its range: no crash, never a bound outside.
    assert mean_estimate(50, 0.5, 0, 0, 1).ci95 == pytest.approx(pair_rate(0, 50, 0).ci95)
    one = mean_estimate(1, 10, 0, -121, 121)
    assert -121 <= one.low < 10 < one.high <= 121
    assert mean_estimate(9, 121, 0, -121, 121).high == 121
    assert mean_estimate(2, 100, 1800, -121, 121).ci95 == [-121, 121]


@pytest.mark.parametrize("arguments", [(0, 0, 0), (5, 122, 1), (5, 0, -1)])
def test_mean_estimate_refuses(arguments: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match="allowed is a mean"):
        mean_estimate(*arguments, -121, 121)


def test_coverage_of_means() -> None:
    rng = np.random.default_rng(2)
    values = rng.exponential(10, (2000, 200))
    held = 0
    for row in values:
        estimate = mean_estimate(200, row.mean(), row.var(ddof=1), 0, 1e9)
        held += estimate.low <= 10 <= estimate.high
    assert 0.93 <= held / 2000 <= 0.965


def test_coverage_of_ratios() -> None:
    rng = np.random.default_rng(3)
    deals = rng.integers(5, 14, (2000, 300))
    points = deals * rng.normal(8, 1, deals.shape)
    held = 0
    for y, x in zip(points, deals, strict=True):
        ratio = y.sum() / x.sum()
        estimate = ratio_estimate(300, ratio, (y - ratio * x).var(ddof=1), x.mean(), 0, 29)
        held += estimate.low <= 8 <= estimate.high
    assert 0.935 <= held / 2000 <= 0.965


@pytest.mark.parametrize(
    ("error", "places"),
    [(12, 0), (1, 0), (0.9, 1), (0.1, 1), (0.04, 2), (0.0096, 3), (1e-9, 6), (0, 6)],
)
def test_decimals(error: float, places: int) -> None:
    assert decimals(error) == places


def test_no_more_digits_than_the_error_leaves() -> None:
    assert str(Estimate(0.66712, 0.6621, 0.6719)) == "0.667 [0.662, 0.672]"
    assert str(Estimate(8.4291, 7.8, 8.9)) == "8.4 [7.8, 8.9]"
    assert str(Estimate(31.4, 12.2, 50.6)) == "31 [12, 51]"
