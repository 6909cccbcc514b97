"""The speed report: what it counts, and its keys. How fast it is, is no test's business."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crib_env import Games
from crib_env.bots import RANDOM
from crib_env.loops import bot_actions
from eval import speed
from eval.speed_match import measure_matches

KEYS = [
    "kernel_games_per_s",
    "kernel_decisions_per_s",
    "batch_decisions_per_s",
    "single_steps_per_s",
    "vector_steps_per_s",
    "vector_over_sync_vector",
    "train_decisions_per_s",
    "pyspiel_games_per_s",
    "pyspiel_decisions_per_s",
    "match_expert_s",
    "match_network_s",
    "first_compile_s",
    "warm_import_s",
    "cpu",
    "command",
    "commit",
]


def test_kernel_decisions_are_counted_one_by_one() -> None:
    played = speed.kernel_games(Games(16, seed=4), 0.01)
    games = Games(16, seed=4)
    throws = plays = 0
    for number in range(played.games // 16):
        if number:
            games.next_game()
        while not (over := games.over).all():
            lanes = np.flatnonzero(~over)
            luck = games.luck(lanes)
            words = np.stack([luck, luck >> np.uint64(32)], axis=1).astype(np.uint32)
            actions = np.zeros(len(lanes), np.int64)
            bot_actions(games.records[lanes], RANDOM, words, actions)
            throwing = games.records["phase"][lanes] == 0
            throws += int(throwing.sum())
            plays += int((~throwing).sum())
            games.apply(actions, lanes)
    assert (played.throws, played.plays) == (throws, plays)
    assert played.openspiel_share == (throws / 2 + plays) / (throws + plays)


def test_steps_that_only_begin_an_episode_count_for_nothing() -> None:
    class Ended:
        """A vector whose lanes end in every other step, and begin in between."""

        num_envs = 3

        def __init__(self) -> None:
            self.steps = 0

        def reset(self) -> tuple[None, dict[str, Any]]:
            return None, {}

        def step(self, actions: Any) -> tuple[None, None, Any, None, dict[str, Any]]:
            self.steps += 1
            time.sleep(0.001)
            return None, None, np.full(3, self.steps % 2 == 1), None, {}

    envs: Any = Ended()
    start = time.perf_counter()
    speed_seen = speed.vector_steps(envs, lambda infos: np.zeros(3, np.int64), 0.05)
    # Half the steps count: three lanes a millisecond at most, halved.
    assert 0 < speed_seen <= 3 * ((envs.steps + 1) // 2) / (0.001 * envs.steps)
    assert time.perf_counter() - start >= 0.05


def test_loops_have_figures_above_zero() -> None:
    measured = speed.measure_loops(0.02, 2)
    assert all(math.isfinite(value) and value > 0 for value in measured.values())
    ratio = measured["kernel_games_per_s"] / measured["pyspiel_games_per_s"]
    # The median of two ratios is their mean, the ratio of medians is not: near it, at a wide berth.
    assert measured["kernel_over_pyspiel_games"] == pytest.approx(ratio, rel=0.9)


def test_json_keys_and_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "measure_training", lambda decisions: 12345.0)
    monkeypatch.setattr(
        speed, "measure_start", lambda times: {"first_compile_s": 1.0, "warm_import_s": 0.5}
    )
    monkeypatch.setattr(
        speed, "measure_matches", lambda run: {"match_expert_s": 5.0, "match_network_s": 9.0}
    )
    path = tmp_path / "speed.json"
    command = f"--seconds 0.02 --rounds 1 --json {path}"
    assert speed.main(command.split()) == 0
    result: dict[str, Any] = json.loads(path.read_text())
    assert set(KEYS) <= set(result)
    for key in KEYS:
        assert isinstance(result[key], str if key in ("cpu", "command", "commit") else float)
    assert result["command"] == f"python -m eval.speed {command}"
    assert "kernel_games_per_s" in capsys.readouterr().out


def test_what_is_left_out_is_null(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    flags = f"--seconds 0.02 --rounds 1 --train-decisions 0 --no-matches --no-start --json {path}"
    assert speed.main(flags.split()) == 0
    result = json.loads(path.read_text())
    left_out = [key for key, value in result.items() if value is None]
    assert left_out == [
        "train_decisions_per_s",
        "match_expert_s",
        "match_network_s",
        "first_compile_s",
        "warm_first_use_s",
        "warm_import_s",
    ]


@pytest.mark.parametrize("flags", ["--seconds 0", "--rounds 0", "--seconds -1", "--seconds inf"])
def test_what_is_refused_is_one_line(flags: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert speed.main(flags.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failing_process_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "FIRST_USE", "raise SystemExit('no such thing')")
    with pytest.raises(RuntimeError, match="no such thing"):
        speed.measure_start(1)


@pytest.mark.torture
def test_processes_are_timed() -> None:
    start = speed.measure_start(1)
    assert start["warm_import_s"] <= start["warm_first_use_s"] * 1.5
    assert start["warm_first_use_s"] < start["first_compile_s"]


@pytest.mark.torture
def test_matches_are_timed() -> None:
    # Start and all: on two quiet cores the first takes 3.3 s, the second 19 s.
    found = measure_matches(speed._run)
    assert found["match_expert_s"] < 12
    assert found["match_network_s"] > 0


def test_matches_are_played_by_the_command_line() -> None:
    commands: list[list[str]] = []

    def run(command: Sequence[str]) -> float:
        commands.append(list(command[3:]))
        name = command[3]
        if name.startswith("checkpoint:"):
            assert Path(name.removeprefix("checkpoint:")).is_file()
        return float(len(commands))

    assert measure_matches(run, 10, 4) == {"match_expert_s": 1, "match_network_s": 2}
    assert commands[0] == ["expert", "expert", "--games", "10"]
    assert commands[1][1:] == ["expert", "--games", "4", "--workers", "2"]


@pytest.mark.torture
def test_training_is_timed() -> None:
    assert speed.measure_training(120_000) > 0
    with pytest.raises(RuntimeError, match="too few"):
        speed.measure_training(1)


@pytest.mark.parametrize(
    ("value", "shown"), [(73685.3, "73,700"), (1.04981, "1.05"), (29.2, "29.2")]
)
def test_three_digits_are_shown(value: float, shown: str) -> None:
    assert speed._figure(value) == shown
