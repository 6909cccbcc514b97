"""Faults that evaluations elsewhere have had, each with a test that it is none of ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents import make
from crib_env import Rules, lane_seed
from crib_env.rules import PRESETS
from eval import sets
from eval.engine import WORKER_DIED
from eval.match import main, play_match
from eval.match_report import match_text
from eval.play import play_games
from eval.provenance import ROOT
from eval.selfplay import play_itself
from eval.sprt import Hypotheses, SequentialTest
from eval.stats import Estimate, decimals, game_rate, pair_rate, score_bounds, set_rate
from tests.sequences import chances, simulated

SHORT = Rules(target=31)

SCRIPT = """\
from agents import make
from eval.engine import LocalEngine
from eval.match import play_match

def main():
    with LocalEngine(2) as engine:
        print(play_match(make("expert"), make("greedy"), 40, seed=3, engine=engine).a.wins)

{start}
"""


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in a folder that is not the checkout."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("start", ['if __name__ == "__main__":\n    main()', "main()"])
def test_e023_a_script_with_workers_runs_with_a_main_guard_and_says_so_without(
    start: str, tmp_path: Path
) -> None:
    # All workers are started by spawn, on every system.
    (tmp_path / "script.py").write_text(SCRIPT.format(start=start))
    done = run_in(tmp_path, "script.py")
    if "__name__" in start:
        assert int(done.stdout) == play_match(make("expert"), make("greedy"), 40, 3).a.wins
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode != 0
        assert done.stderr.splitlines()[-1] == f"eval.engine.EngineError: {WORKER_DIED}"


def test_e023_the_command_line_plays_in_spawned_workers(tmp_path: Path) -> None:
    flags = "expert noisy:0.2:all:greedy --games 60 --seed 4"
    apart = run_in(
        tmp_path, "-m", "eval.match", *flags.split(), "--workers", "2", "--json", "x.json"
    )
    assert (apart.returncode, apart.stderr) == (0, "")
    found: dict[str, Any] = json.loads((tmp_path / "x.json").read_text())
    alone = play_match(make("expert"), make("noisy:0.2:all:greedy"), 60, 4).to_json()
    assert {key: found[key] for key in alone} | {"seconds": 0} == alone | {"seconds": 0}


@pytest.fixture(scope="module")
def matches_of_equals() -> npt.NDArray[np.int64]:
    """Returns what 1,000 matches of 50 pairs between equal players gave, (1000, 3) counts of pairs.

    Both play at random, each with luck of its own, so that pairs do not split of themselves.
    """
    equal = make("random", SHORT), make("noisy:1:all:random", SHORT)
    won = play_match(*equal, 100_000, 5, SHORT).results["winner"] == 0
    counts = np.eye(3, dtype=np.int64)[sets.outcomes(won, 2)].reshape(1000, 50, 3).sum(axis=1)
    return np.asarray(counts)


def test_e025_the_interval_over_pairs_holds_one_half_as_often_as_it_says(
    matches_of_equals: npt.NDArray[np.int64],
) -> None:
    bounds = score_bounds(matches_of_equals)
    assert 0.93 <= ((bounds[:, 0] <= 0.5) & (bounds[:, 1] >= 0.5)).mean() <= 0.97
    # It is the interval that a match states.
    first = pair_rate(*matches_of_equals[0].tolist())
    assert first.ci95 == pytest.approx(bounds[0].tolist())


def test_e025_games_of_a_pair_taken_for_independent_would_be_wrong() -> None:
    # As expert plays against itself with some of its pegging at random: luck cancels in a pair.
    given = chances("expert v noisy:0.3:pegging:expert", 0.5)
    counts = np.random.default_rng(2).multinomial(500, given, 1000)
    wins = counts @ np.arange(3)
    right, wrong = score_bounds(counts), score_bounds(np.stack([1000 - wins, wins], axis=1))
    held = [((b[:, 0] <= 0.5) & (b[:, 1] >= 0.5)).mean() for b in (right, wrong)]
    assert 0.93 <= held[0] <= 0.97
    assert held[1] > 0.99


def test_e026_stopping_early_finds_a_better_player_among_equals_no_oftener_than_it_says() -> None:
    near = Hypotheses(0.50, 0.52, alpha=0.05, beta=0.05)
    seen = "expert v noisy:0.3:pegging:expert"
    # 1,000 tests: 5 % have a standard error of 0.7 %. The torture test of the test has 10,000.
    assert simulated(near, chances(seen, 0.50), 1000, 3)[0] <= 0.05 + 2 * 0.007
    assert simulated(near, chances(seen, 0.52), 1000, 4)[0] >= 0.95 - 2 * 0.007


def test_e028_a_gate_of_equal_players_opens_no_oftener_than_documented() -> None:
    # docs/evaluation.md: a challenger passes if the test finds H1, equals in at most 5 %.
    generator = np.random.default_rng(1)
    given = chances("expert v noisy:0.3:pegging:expert", 0.50)
    passed = 0
    for _ in range(500):
        test = SequentialTest(Hypotheses(0.50, 0.55))
        while not test.verdict:
            test.take(generator.choice(3, 60, p=given))
        passed += test.verdict == "H1"
    assert passed / 500 <= 0.05


def test_e028_a_match_names_the_better_of_equals_no_oftener_than_documented(
    matches_of_equals: npt.NDArray[np.int64],
) -> None:
    bounds = score_bounds(matches_of_equals)[:500]
    # One end of a 95 % interval: 2.5 %, with a standard error of 0.7 % in 500.
    assert (bounds[:, 0] > 0.5).mean() <= 0.05


def test_e029_none_or_all_won_is_no_crash_and_stays_inside() -> None:
    with pytest.raises(ValueError, match="at least one set"):
        game_rate(0, 0)
    with pytest.raises(ValueError, match="allowed is an even number from 2"):
        play_match(make("random"), make("random"), 0)
    for rate in (game_rate(0, 50), game_rate(50, 50), pair_rate(25, 0, 0), pair_rate(0, 0, 25)):
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        assert 0 < rate.high - rate.low < 0.2
    assert set_rate([0, 0, 0, 17]).high == 1
    test = SequentialTest(Hypotheses(0.5, 0.6))
    test.take(np.full(50, 2))
    assert (test.verdict, np.isfinite(test.llr)) == ("H1", True)
    won_all = play_match(make("expert"), make("random"), 50, 2)
    assert won_all.a.wins == 50
    json.dumps(won_all.to_json(), allow_nan=False)
    assert "A (expert) wins more than half" in match_text(won_all)


@pytest.mark.parametrize("variant", ["six_card", "five_card", "three_player", "four_player"])
def test_e032_first_deals_split_exactly_even(variant: str) -> None:
    rules = PRESETS[variant]
    agent = make("expert", rules)
    result = play_match(agent, agent, 100 * rules.sides, 2, rules)
    dealt = result.results["first_dealer"] % rules.sides == 0
    assert (sets.outcomes(dealt, rules.sides) == 1).all()
    assert result.a.win_rate.low < result.chance < result.a.win_rate.high


def test_e034_dealing_first_is_worth_what_it_is_and_alternating_takes_it_out() -> None:
    fixed = play_itself(make("expert"), 20_000, 1).first_dealer_win_rate
    assert 0.54 <= fixed.value <= 0.58
    assert fixed.low > 0.53
    # Without pairs: cards of its own for each game, the deal alternating; 100 matches of 200.
    seeds = np.array([lane_seed(9, game) for game in range(20_000)], np.uint64)
    seats = np.tile([[0, 1], [1, 0]], (10_000, 1))
    won = play_games([make("expert")] * 2, seats, seeds)["winner"] == 0
    whole = sets.rate(won, 1)
    assert whole.low <= 0.5 <= whole.high
    assert whole.error < 0.01
    rates = [sets.rate(match, 1) for match in won.reshape(100, 200)]
    assert 90 <= sum(rate.low <= 0.5 <= rate.high for rate in rates) <= 100


@pytest.mark.parametrize("variant", ["six_card", "three_player", "four_player"])
def test_e035_wins_and_losses_are_the_games_played(variant: str) -> None:
    rules = PRESETS[variant]
    result = play_match(make("expert", rules), make("greedy", rules), 300, 4, rules)
    assert result.a.wins + result.b.wins == result.games == len(result.results) == 300
    assert result.a.wins == (result.results["winner"] == 0).sum()
    assert result.a.win_rate.value == pytest.approx(result.a.wins / 300)
    assert result.b.win_rate.value == pytest.approx(result.b.wins / 300)


def test_e037_every_estimate_has_its_interval_which_shrinks_with_the_root_of_the_games(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few, many = (play_match(make("expert"), make("greedy"), games, 6) for games in (500, 8000))
    for name in few.estimates:
        if name in ("a_win_rate", "a_skunk_rate", "mean_margin"):
            assert 3 <= few.estimates[name].error / many.estimates[name].error <= 5.3
    assert main("expert greedy --games 200".split()) == 0  # noqa: SIM905  # as it is typed
    shown = capsys.readouterr().out
    for row in ("win rate", "wins by a skunk or more", "dealer: pegging", "doubles"):
        line = next(line for line in shown.splitlines() if row in line)
        assert len(re.findall(r"[\d.]+ \[[\d.]+, [\d.]+\]", line)) == 2


def test_e037_no_winner_is_named_while_the_interval_covers_none() -> None:
    for games in (2, 10, 60, 400):
        result = play_match(make("expert"), make("greedy"), games, 8)
        named = "wins more than half" in match_text(result)
        assert named == (not result.a.win_rate.low <= 0.5 <= result.a.win_rate.high)
        assert named or "do not tell" in match_text(result)


@pytest.mark.parametrize("games", [2, 40, 1000, 20_000])
def test_e038_no_more_digits_are_shown_than_the_error_leaves(games: int) -> None:
    result = play_match(make("expert"), make("greedy"), games, 1)
    for estimate in (*result.estimates.values(), result.deals_per_game):
        value = str(estimate).split()[0]
        places = len(value.partition(".")[2])
        # The last digit shown stands where the error's first does, or before it.
        assert 10.0**-places >= 0.99 * 10 ** np.floor(np.log10(estimate.error)) or places == 0
    assert decimals(0.004) == 3
    assert str(Estimate(0.66712, 0.6621, 0.6719)) == "0.667 [0.662, 0.672]"
