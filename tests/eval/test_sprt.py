"""The sequential test: its bounds, its errors, and how many games it saves."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy.optimize

from eval.sprt import WIDER, Hypotheses, SequentialTest, evidence
from tests.sequences import chances, fixed_sets, simulated

NEAR = Hypotheses(0.50, 0.52)


def test_sets_of_one_game_are_walds_test() -> None:
    wins, losses = 61, 43
    llr, information = evidence(np.array([[losses, wins]]), NEAR)
    expected = wins * math.log(0.52 / 0.50) + losses * math.log(0.48 / 0.50)
    assert llr[0] == pytest.approx(expected)
    assert information[0] == pytest.approx(104 * 0.02**2 / 0.25, rel=0.01)


@pytest.mark.parametrize("counts", [(40, 300, 60), (0, 30, 5), (3, 9, 4, 2), (0, 1, 0, 0)])
def test_the_ratio_is_that_of_the_likeliest_distributions(counts: tuple[int, ...]) -> None:
    # By its definition, with an optimiser of another's.
    shares = np.arange(len(counts)) / (len(counts) - 1)

    def best(rate: float) -> float:
        found = scipy.optimize.minimize(
            lambda p: -float(np.dot(counts, np.log(p))),
            np.full(len(counts), 1 / len(counts)),
            method="SLSQP",
            bounds=[(1e-12, 1)] * len(counts),
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: np.dot(p, shares) - rate},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        return -float(found.fun)

    llr, _ = evidence(np.array([counts]), NEAR)
    assert llr[0] == pytest.approx(best(0.52) - best(0.50), abs=1e-4)


@pytest.mark.parametrize("counts", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 10**6), (0, 10**6, 0)])
def test_counts_at_the_ends_are_finite_and_the_first_set_says_little(
    counts: tuple[int, ...],
) -> None:
    llr, information = evidence(np.array([counts]), NEAR)
    assert math.isfinite(llr[0])
    assert math.isfinite(information[0])
    if sum(counts) == 1:
        assert abs(llr[0]) <= 0.05
    # All won, n times: n log(p1 / p0), whatever lies between.
    if counts[-1]:
        assert llr[0] == pytest.approx(counts[-1] * math.log(0.52 / 0.50), rel=1e-6)


def test_the_bounds_begin_wider_than_walds_and_close_in_to_nothing() -> None:
    lower, upper = NEAR.bounds()
    assert (float(lower), float(upper)) == pytest.approx(
        (-WIDER * math.log(19), WIDER * math.log(19))
    )
    lower, upper = NEAR.bounds([0, 10, 1e9])
    assert (np.diff(lower) > 0).all()
    assert (np.diff(upper) < 0).all()
    assert lower[-1] == upper[-1] == 0
    uneven = Hypotheses(0.5, 0.52, alpha=0.01, beta=0.1)
    lower, upper = uneven.bounds()
    assert float(lower) == pytest.approx(WIDER * math.log(0.1 / 0.99))
    assert float(upper) == pytest.approx(WIDER * math.log(0.9 / 0.01))


@pytest.mark.parametrize("rate", [0.49, 0.51, 0.53])
def test_where_it_stops_depends_on_the_sets_alone(rate: float) -> None:
    won = np.random.default_rng(3).choice(3, 4000, p=chances("expert v greedy", rate))
    ended = []
    for size in (4000, 1, 37):
        test = SequentialTest(NEAR)
        taken = [test.take(won[first : first + size]) for first in range(0, 4000, size)]
        assert sum(taken) == test.sets
        assert np.array_equal(test.counts, np.bincount(won[: test.sets], minlength=3))
        assert test.wins == won[: test.sets].sum()
        ended.append((test.verdict, test.sets, test.llr, test.lower, test.upper))
    assert len(set(ended)) == 1
    assert ended[0][0] in ("H0", "H1")
    # It is the first crossing, and nothing is taken after it.
    llr, information = evidence(np.eye(3, dtype=np.int64)[won].cumsum(axis=0), NEAR)
    lower, upper = NEAR.bounds(information)
    assert np.flatnonzero((llr <= lower) | (llr >= upper))[0] + 1 == ended[0][1]
    assert test.take(won) == 0


def test_h1_may_be_the_lower_rate() -> None:
    won = np.random.default_rng(4).choice(3, 4000, p=chances("expert v greedy", 0.33))
    up, down = SequentialTest(Hypotheses(0.40, 0.50)), SequentialTest(Hypotheses(0.50, 0.40))
    assert up.take(won) == down.take(won)
    assert (up.verdict, down.verdict) == ("H0", "H1")
    assert up.llr == pytest.approx(-down.llr)


def test_a_test_begins_undecided() -> None:
    test = SequentialTest(NEAR, 3)
    assert (test.verdict, test.sets, test.wins, test.win_rate) == (None, 0, 0, 0)
    assert test.take(np.zeros(0, np.int64)) == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.5, 0.5), "two different rates"),
        ((0.0, 0.5), "sprt 0.0 0.5"),
        ((0.5, 1.0), "above 0 and below 1"),
        ((0.5, math.nan), "sprt 0.5 nan"),
        ((0.5, 0.52, 0.0), "alpha=0.0: allowed is more than 0"),
        ((0.5, 0.52, 0.05, 0.5), "beta=0.5"),
    ],
)
def test_what_is_no_test_is_refused(values: tuple[float, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Hypotheses(*values)


# Far rates, which few sets decide, up to either end.
FAR = [
    (0.50, 0.70, "expert v greedy"),
    (0.30, 0.70, "expert v greedy"),
    (0.50, 0.70, "expert v noisy:0.1:pegging:expert"),
    (0.90, 0.98, "expert v greedy"),
    (0.01, 0.05, "expert v greedy"),
    (0.10, 0.40, "expert v greedy, three_player"),
]


@pytest.mark.parametrize(("rate0", "rate1", "seen"), FAR)
def test_errors_of_tests_that_few_sets_decide(rate0: float, rate1: float, seen: str) -> None:
    hypotheses = Hypotheses(rate0, rate1)
    for rate, wrong in ((rate0, 0.0), (rate1, 1.0)):
        share, _ = simulated(hypotheses, chances(seen, rate), 2000, 1)
        assert abs(share - wrong) <= 0.06  # 2,000: 5 % have a standard error of 0.5 %


TESTS = [
    ("expert v greedy", 0.50, 0.52),
    ("expert v greedy", 0.64, 0.66),
    ("expert v noisy:0.3:pegging:expert", 0.50, 0.52),
    ("expert v noisy:0.1:pegging:expert", 0.50, 0.51),
    ("expert v greedy, three_player", 1 / 3, 1 / 3 + 0.02),
]


@pytest.mark.torture
@pytest.mark.parametrize(("seen", "rate0", "rate1"), TESTS)
def test_errors_and_games_in_full(seen: str, rate0: float, rate1: float) -> None:
    hypotheses = Hypotheses(rate0, rate1)
    apart = rate1 - rate0
    deviates = 2 * NormalDist().inv_cdf(0.95)
    print(f"\n{seen}, H0 {rate0:.4g}, H1 {rate1:.4g}, alpha = beta = 0.05, 10,000 simulations")
    for name, rate in (
        ("beyond H0", rate0 - apart),
        ("H0", rate0),
        ("half way", rate0 + apart / 2),
        ("H1", rate1),
        ("beyond H1", rate1 + apart),
    ):
        given = chances(seen, rate)
        found, taken = simulated(hypotheses, given, 10_000, 7)
        share = taken / fixed_sets(given, hypotheses, deviates)
        print(
            f"  {name}: finds H1 in {found:.4f}, {taken:.0f} sets, {share:.3f} of the fixed test's"
        )
        assert share <= 0.85
        if name in ("H0", "H1"):
            assert share <= 0.55
        if "H0" in name:
            assert found <= 0.055
        if "H1" in name:
            assert found >= 0.945
