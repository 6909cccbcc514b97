"""``--dry-run``: the configuration in force, the sizes of the run, a time, and no file."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from pathlib import Path

import pytest

import train.dry_run
from agents.checkpoint import checkpoints_in
from crib_env.game_record import RECORD
from crib_env.rules import Rules
from tests.learners import small_config
from tests.runs import config_file, contents, rows_of, start
from train.__main__ import main
from train.config import TrainConfig, config_from
from train.dry_run import plan_of, spoken
from train.ppo import Learner, new_learner


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a measurement take no time: 1,000 decisions a second, 2 seconds a batch of matches."""

    def updates(learner: Learner) -> tuple[float, int, int]:
        decisions = 3 * 12 * len(learner.games) - 6
        return decisions / 1_000, decisions, 3

    monkeypatch.setattr(train.dry_run, "_measured_updates", updates)
    monkeypatch.setattr(train.dry_run, "_measured_matches", lambda learner: 2.0)


def test_it_prints_the_configuration_in_force_as_toml_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = config_file(tmp_path, evaluate_games=2, final_games=2)
    before = contents(tmp_path)
    flags = ["--learning-rate", "5e-4", "--opponents", "random", "--games", "8"]
    assert main([str(config), "--dry-run", *flags]) == 0
    said = capfd.readouterr()
    assert said.err == ""
    # The whole is TOML, so that it can be kept as a configuration.
    shown = config_from(tomllib.loads(said.out), "dry run")
    assert (shown.learning_rate, shown.opponents, shown.games) == (5e-4, ("random",), 8)
    assert (shown.rules.target, shown.seed) == (31, 3)
    for words in (
        r"nothing was written; the run's folder would be runs/tiny-seed3",
        r"weights: [\d,]+ of the actor, [\d,]+ of the critic",
        r"updates: about [\d,]+, of about [\d,]+ decisions in [\d,]+ gradient steps",
        r"checkpoints: [\d.]+ MB each",
        r"estimated time: \d+ s",
        r"This is an estimate",
    ):
        assert re.search(words, said.out), words
    assert contents(tmp_path) == before


def test_its_sizes_are_those_of_the_run(tmp_path: Path) -> None:
    config = small_config(
        games=40, deals_per_update=2, epochs=3, minibatch=100, rules=Rules(target=31)
    )
    plan = plan_of(dataclasses.replace(config, opponents=()))
    folder = tmp_path / "run"
    changes = config.as_dict() | {"opponents": [], "keep_checkpoints": 99}
    assert start(config_file(tmp_path, **changes), folder) == 0
    rows = rows_of(folder)
    assert plan.updates == pytest.approx(len(rows), rel=0.1)
    per_update = rows[-1]["decisions"] / len(rows)
    assert plan.decisions_per_update == pytest.approx(per_update, rel=0.05)
    assert plan.gradient_steps == 3 * math.ceil(per_update / 100)
    # But for the digits of the number of decisions.
    size = checkpoints_in(folder)[0].stat().st_size
    assert plan.checkpoint_bytes == pytest.approx(size, abs=16)
    network = new_learner(config).network
    weights = sum(parameter.numel() for parameter in network.parameters())
    assert plan.actor_weights + plan.critic_weights == weights


def test_many_games_are_measured_by_fewer_and_the_sizes_are_still_right(timed: None) -> None:
    few = plan_of(small_config(games=1_024, minibatch=512))
    many = plan_of(small_config(games=4_096, minibatch=512))
    assert many.decisions_per_update == pytest.approx(4 * few.decisions_per_update)
    more = 3_072 * RECORD.itemsize
    assert many.checkpoint_bytes == pytest.approx(few.checkpoint_bytes + more, abs=16)


def test_so_many_games_are_measured_that_they_fill_a_minibatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = []

    def updates(learner: Learner) -> tuple[float, int, int]:
        measured.append(len(learner.games))
        return 1.0, 100, 1

    monkeypatch.setattr(train.dry_run, "_measured_updates", updates)
    for games, minibatch in ((4_096, 24_000), (100, 24_000), (4_096, 100)):
        plan_of(small_config(games=games, minibatch=minibatch))
    assert measured == [2_000, 100, 1_024]


def test_the_time_is_that_of_all_decisions_all_evaluations_and_the_last_matches(
    timed: None,
) -> None:
    config = small_config(
        total_decisions=30_000, evaluate_every=8_000, evaluate_games=1_000, final_games=20_000
    )
    plan = plan_of(config)
    assert plan.learning_seconds == pytest.approx(30)
    # At 8,000, 16,000, 24,000 and the end; a match of 1,024 games asks for one batch each time.
    assert (plan.evaluations, plan.evaluation_seconds) == (4, 8)
    assert plan.report_seconds == 2 * math.ceil(20_000 / 1_024)
    assert plan.seconds == pytest.approx(30 + 8 + 40)
    plan = plan_of(dataclasses.replace(config, evaluate_every=10_000))
    assert plan.evaluations == 3
    plan = plan_of(dataclasses.replace(config, evaluate_every=0, final_games=0))
    assert plan.seconds == pytest.approx(30)


def test_durations_are_told_in_the_units_that_matter() -> None:
    assert [spoken(seconds) for seconds in (0.2, 59.4, 61, 599, 601, 3_599, 3_601, 90_000)] == [
        "0 s", "59 s", "1 min 1 s", "9 min 59 s", "10 min", "1 h 0 min", "1 h 0 min", "25 h 0 min",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "status", "named"),
    [
        (["--games", "0"], 2, "games = 0"),
        (["--folder", "taken"], 2, "taken is there already"),
        (["--learning-rate", "1e30", "--precision", "float32"], 1, "would diverge"),
    ],
)
def test_what_a_run_would_refuse_it_refuses(
    flags: list[str],
    status: int,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    assert main([str(config_file(tmp_path)), "--dry-run", *flags]) == status
    said = capfd.readouterr()
    (line,) = said.err.splitlines()
    assert named in line
    assert said.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.toml", "taken"}


def test_the_defaults_have_a_plan(timed: None) -> None:
    plan = plan_of(TrainConfig())
    assert plan.updates == pytest.approx(6_000_000 / 49_152, rel=0.01)
    assert plan.evaluations == 3
