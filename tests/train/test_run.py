"""Runs: stopped, killed and gone on with they are the run that was never stopped, bit for bit."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]  # ships no py.typed
    EventAccumulator,
)

import train.__main__
import train.run
from agents.checkpoint import (
    checkpoint_path,
    checkpoints_in,
    load_checkpoint,
    save_checkpoint,
)
from eval.match import MatchResult
from tests.learners import assert_same_tensors
from train.__main__ import main
from train.config import load_config
from train.metrics import MEASURED
from train.ppo import Learner, train_step
from train.run import Stop, free_folder

ROOT = Path(__file__).parents[2]

# 16 games of 12 decisions: 192 an update, less where games end. To 31 they end all the time.
SETTINGS = """
seed = 3
target = 31
total_decisions = 4_000
hidden_size = 8
games = 16
minibatch = 64
epochs = 2
checkpoint_every = 700
keep_checkpoints = 2
evaluate_every = 1_500
evaluate_games = 4
final_games = 6
opponents = ["random", "expert"]
"""


def config_file(folder: Path, **changes: object) -> Path:
    """Returns a configuration file with these settings."""
    lines = [line for line in SETTINGS.strip().splitlines() if line.split(" = ")[0] not in changes]
    lines += [f"{name} = {json.dumps(value)}" for name, value in changes.items()]
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def start(config: Path, folder: Path, *flags: str) -> int:
    """Returns the exit status of a new run."""
    return main([str(config), "--folder", str(folder), *flags])


def in_new_process(*words: str) -> subprocess.Popen[str]:
    """Starts ``python -m train`` in a process of its own, with a shell's usual signals."""
    return subprocess.Popen(
        [sys.executable, "-m", "train", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Returns exit status, standard output and standard error of a process once it has ended."""
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows of metrics.jsonl, all of them whole."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def unmeasured(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows without what depends on the machine and the hour."""
    return [
        {name: value for name, value in row.items() if name not in MEASURED}
        for row in rows_of(folder)
    ]


def wait_for_rows(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    """Waits until a run has written that many rows."""
    path = folder / "metrics.jsonl"
    until = time.monotonic() + 300  # a minute of it, where the kernels must be compiled first
    while not path.exists() or path.read_text().count("\n") < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)


def results_of(folder: Path) -> dict[str, Any]:
    """Returns results.json without the seconds it took and the run's own path."""
    text = (folder / "results.json").read_text().replace(str(folder), "RUN")
    results: dict[str, Any] = json.loads(text)
    for match in results["matches"]:
        del match["seconds"]
    return results


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Returns every file of a folder by name: bytes, and when it was changed."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def curves_of(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Returns what TensorBoard shows of a run: (step, value) by curve."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def assert_curves_are_the_rows(folder: Path) -> None:
    """Fails unless TensorBoard shows just the rows of metrics.jsonl, each step once, in order."""
    rows = rows_of(folder)
    curves = curves_of(folder)
    names = {name for row in rows for name in row} - {"decisions"}
    assert curves.keys() == names
    for name, curve in curves.items():
        expected = [(row["decisions"], row[name]) for row in rows if name in row]
        steps = [step for step, _ in curve]
        assert all(a < b for a, b in pairwise(steps)), (name, steps)
        assert steps == [step for step, _ in expected], name
        assert [value for _, value in curve] == pytest.approx(
            [value for _, value in expected], rel=1e-6
        ), name


def assert_same_run(folder: Path, whole: Path) -> None:
    """Fails unless a run is another bit by bit: weights, moments, games, rows, results."""
    newest, expected = checkpoints_in(folder)[0], checkpoints_in(whole)[0]
    assert newest.name == expected.name
    assert_same_tensors(load_checkpoint(newest).tensors, load_checkpoint(expected).tensors)
    assert newest.read_bytes() == expected.read_bytes()
    assert unmeasured(folder) == unmeasured(whole)
    if (whole / "results.json").exists():
        assert results_of(folder) == results_of(whole)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run that was never stopped."""
    place = tmp_path_factory.mktemp("whole")
    assert start(config_file(place), place / "run") == 0
    return place / "run"


# ---- going on: E001, E002, E007, E008 ----


def test_a_run_stopped_halfway_and_resumed_in_a_new_process_is_the_run_never_stopped(
    whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder, "--stop-after", "2000") == 0
    said = capfd.readouterr().err
    stopped = rows_of(folder)[-1]["decisions"]
    assert 2000 <= stopped < 2200
    assert f"stopped after {stopped:,} of 4,000 decisions" in said
    assert f"python -m train --resume {folder}" in said
    assert load_checkpoint(folder).decisions == stopped
    status, out, err = finish(in_new_process("--resume", str(folder)))
    assert status == 0, err
    assert f"run: {folder}, from {stopped:,} decisions on" in err
    assert "against" in out
    assert_same_run(folder, whole)
    assert_curves_are_the_rows(folder)


LONG = {
    "total_decisions": 9_000,
    "checkpoint_every": 10**9,
    "evaluate_every": 0,
    "final_games": 0,
}


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run of more updates, without checkpoints on the way."""
    place = tmp_path_factory.mktemp("long")
    assert start(config_file(place, **LONG), place / "run") == 0
    return place / "run"


def next_second() -> None:
    """Waits: TensorBoard reads a run's files in the order of the seconds they were begun in."""
    time.sleep(1.1 - time.time() % 1)


@pytest.mark.parametrize("stops", [[3_000], pytest.param([0, 3_000], marks=pytest.mark.torture)])
def test_a_run_killed_after_a_checkpoint_has_no_step_twice_and_none_missing(
    stops: list[int], long: Path, tmp_path: Path
) -> None:
    config, folder = config_file(tmp_path, **LONG), tmp_path / "run"
    for stop in stops:
        words = ["--resume", str(folder)] if folder.exists() else [str(config)]
        words += [] if folder.exists() else ["--folder", str(folder)]
        if stop:
            assert main([*words, "--stop-after", str(stop)]) == 0
            next_second()
            words = ["--resume", str(folder)]
        written = len(rows_of(folder)) if folder.exists() else 0
        process = in_new_process(*words)
        wait_for_rows(folder, written + 5, process)
        process.send_signal(signal.SIGKILL)
        assert finish(process)[0] == -signal.SIGKILL
        saved = load_checkpoint(folder).decisions
        whole_rows = (folder / "metrics.jsonl").read_text().splitlines()[:-1]
        assert json.loads(whole_rows[-1])["decisions"] > saved >= stop
        next_second()
    assert main(["--resume", str(folder)]) == 0
    assert_same_run(folder, long)
    assert_curves_are_the_rows(folder)


def test_a_run_broken_off_before_its_first_update_was_saved_begins_again_with_no_step_twice(
    long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, folder = config_file(tmp_path, **LONG), tmp_path / "run"

    def breaks_off(learner: Learner) -> dict[str, float]:
        if learner.updates == 8:
            raise KeyboardInterrupt
        return train_step(learner)

    with monkeypatch.context() as patched:
        patched.setattr(train.run, "train_step", breaks_off)
        assert start(config, folder) == 130
    assert len(rows_of(folder)) == 8
    assert load_checkpoint(folder).decisions == 0
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"decisions": 17')  # cut short
    next_second()
    assert main(["--resume", str(folder)]) == 0
    assert_same_run(folder, long)
    assert_curves_are_the_rows(folder)


def test_the_curves_of_a_run_never_stopped_are_its_rows(whole: Path) -> None:
    rows = rows_of(whole)
    assert len(rows) > 15
    assert rows[-1]["decisions"] >= 4_000 > rows[-2]["decisions"]
    assert_curves_are_the_rows(whole)


def test_a_damaged_newest_checkpoint_is_passed_over_and_the_run_is_still_the_same(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder, "--stop-after", "3000") == 0
    newest, older = checkpoints_in(folder)
    newest.write_bytes(newest.read_bytes()[:-1])
    assert main(["--resume", str(folder), "--stop-after", "1"]) == 0
    # It stands where the older one was, and what lies ahead of it is gone.
    assert checkpoints_in(folder) == [older]
    assert main(["--resume", str(folder)]) == 0
    assert_same_run(folder, whole)
    assert_curves_are_the_rows(folder)


def test_resuming_with_a_stop_that_is_reached_already_learns_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder, "--stop-after", "500") == 0
    before = load_checkpoint(folder)
    rows = rows_of(folder)
    assert main(["--resume", str(folder), "--stop-after", "500"]) == 0
    assert load_checkpoint(folder).decisions == before.decisions
    assert_same_tensors(load_checkpoint(folder).tensors, before.tensors)
    assert rows_of(folder) == rows


def test_resuming_a_finished_run_prints_its_table_again_and_changes_nothing(
    whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = contents(whole)
    results = results_of(whole)
    assert main(["--resume", str(whole)]) == 0
    out = capfd.readouterr().out
    for word in ("random", "expert", "wins", "skunks", "as dealer", "as pone", "margin"):
        assert word in out
    after = contents(whole)
    for path in (*checkpoints_in(whole), whole / "metrics.jsonl", whole / "config.toml"):
        assert after[path.name][0] == before[path.name][0]
    assert results_of(whole) == results


# ---- stopping by hand ----


def test_ctrl_c_saves_says_how_to_go_on_and_ends_with_130(tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    config = config_file(tmp_path, total_decisions=10**8, evaluate_every=0, checkpoint_every=10**9)
    process = in_new_process(str(config), "--folder", str(folder))
    wait_for_rows(folder, 3, process)
    process.send_signal(signal.SIGINT)
    status, _, err = finish(process)
    assert status == 130
    assert "Traceback" not in err
    last = rows_of(folder)[-1]["decisions"]
    assert load_checkpoint(folder).decisions == last
    assert f"stopped after {last:,} of 100,000,000 decisions" in err
    (command,) = re.findall(r"to go on: (.*)", err)
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "train"]
    assert main([*words[3:], "--stop-after", str(last + 1)]) == 0
    assert rows_of(folder)[-1]["decisions"] > last


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_acts_as_ever(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    acted = []
    before = signal.signal(number, lambda *_: acted.append(True))
    mine = signal.getsignal(number)
    try:
        stop = Stop()
        with stop.listening():
            assert not stop.asked
            signal.raise_signal(number)
            assert stop.asked
            assert not acted
            signal.raise_signal(number)
            assert acted
        assert signal.getsignal(number) is mine
    finally:
        signal.signal(number, before)


def test_a_second_ctrl_c_ends_at_once_and_still_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(learner: object) -> dict[str, float]:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("went on")

    monkeypatch.setattr(train.run, "train_step", interrupted)
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder) == 130
    assert f"to go on: python -m train --resume {folder}" in capfd.readouterr().err
    assert load_checkpoint(folder).decisions == 0


def test_ctrl_c_before_anything_is_learned_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(config: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train.run, "new_learner", interrupted)
    assert start(config_file(tmp_path), tmp_path / "run") == 130
    assert len(capfd.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_ctrl_c_during_the_last_matches_says_how_to_get_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: object, **options: object) -> MatchResult:
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    config = config_file(tmp_path, total_decisions=400, evaluate_every=0)
    with monkeypatch.context() as patched:
        patched.setattr(train.run, "play_match", interrupted)
        assert start(config, folder) == 130
    assert f"to go on: python -m train --resume {folder}" in capfd.readouterr().err
    assert not (folder / "results.json").exists()
    assert main(["--resume", str(folder)]) == 0
    assert (folder / "results.json").exists()


def test_a_full_disk_ends_the_run_in_one_line_with_status_1_and_it_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    config = config_file(tmp_path, total_decisions=1_000, evaluate_every=0, final_games=0)

    def full(path: Path, checkpoint: Any) -> None:
        if checkpoint.decisions > 600:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        save_checkpoint(path, checkpoint)

    with monkeypatch.context() as patched:
        patched.setattr(train.run, "save_checkpoint", full)
        assert start(config, folder) == 1
    last = capfd.readouterr().err.splitlines()[-1]
    assert os.strerror(errno.ENOSPC) in last
    assert f"--resume {folder}" in last
    assert main(["--resume", str(folder)]) == 0
    uninterrupted = tmp_path / "uninterrupted"
    assert start(config, uninterrupted) == 0
    assert_same_run(folder, uninterrupted)


# ---- refused ----


def test_a_folder_that_exists_is_refused_and_nothing_in_it_changes(
    whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = contents(whole)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    for taken in (whole, tmp_path / "file", tmp_path / "empty"):
        assert start(config_file(tmp_path), taken) == 2
        (line,) = capfd.readouterr().err.splitlines()
        assert str(taken) in line
        assert "--folder" in line
        assert "--resume" in line
    assert contents(whole) == before
    assert (tmp_path / "file").read_text() == "mine"
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_folder_below_a_file_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    assert start(config_file(tmp_path), tmp_path / "file" / "run") == 2
    assert str(tmp_path / "file") in capfd.readouterr().err


def test_resuming_what_has_no_checkpoint_is_refused_in_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "none", tmp_path / "empty", tmp_path / "file"):
        assert main(["--resume", str(folder)]) == 2
        (line,) = capfd.readouterr().err.splitlines()
        assert str(folder) in line
    assert list((tmp_path / "empty").iterdir()) == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("flags", [["--games", "5"], ["--resum", "x"], ["--stop-after", "0"]])
def test_flags_that_resuming_does_not_know_are_refused_with_status_2(
    whole: Path, flags: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    before = contents(whole)
    try:
        status = main(["--resume", str(whole), *flags])
    except SystemExit as error:
        status = int(error.code or 0)
    assert status == 2
    said = capfd.readouterr()
    assert flags[0].strip("-").replace("-", "_") in (said.err + said.out).replace("-", "_")
    assert contents(whole) == before


# ---- what a run leaves ----


def test_a_runs_folder_holds_what_made_it_and_what_came_of_it(whole: Path) -> None:
    names = {path.name for path in whole.iterdir()}
    events = {name for name in names if name.startswith("events.out.tfevents.")}
    assert events
    assert names - events == {
        "config.toml",
        "run.json",
        "metrics.jsonl",
        "results.json",
        *(path.name for path in checkpoints_in(whole)),
    }
    about = json.loads((whole / "run.json").read_text())
    assert about.keys() == {"command", "commit", "version", "cpu", "torch", "precision", "seed"}
    assert about["seed"] == 3
    assert about["command"].startswith("python -m train ")
    assert about["precision"] in ("float32", "bfloat16")


def test_the_effective_configuration_is_there_flags_included_and_loads_to_the_same(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    flags = [
        "--seed",
        "9",
        "--learning-rate",
        "5e-4",
        "--opponents",
        "random",
        "--final-games",
        "0",
    ]
    assert start(config_file(tmp_path), folder, *flags, "--stop-after", "1") == 0
    config = load_config(folder / "config.toml")
    assert (config.seed, config.learning_rate, config.opponents) == (9, 5e-4, ("random",))
    assert (config.target, config.total_decisions, config.final_games) == (31, 4_000, 0)
    assert load_checkpoint(folder).config == config.as_dict()
    # By its own configuration it is the same run again.
    again = tmp_path / "again"
    assert start(folder / "config.toml", again, "--stop-after", "1") == 0
    assert_same_run(again, folder)


def test_no_more_checkpoints_are_kept_than_asked_for_and_those_are_the_newest(
    whole: Path, tmp_path: Path
) -> None:
    kept = checkpoints_in(whole)
    last = rows_of(whole)[-1]["decisions"]
    assert len(kept) == 2
    assert kept[0] == checkpoint_path(whole, last)
    assert load_checkpoint(kept[1]).decisions < last
    for keep in (1, 4):
        config = config_file(
            tmp_path, keep_checkpoints=keep, total_decisions=1_500, checkpoint_every=300,
            evaluate_every=0, final_games=0,
        )  # fmt: skip
        folder = tmp_path / str(keep)
        assert start(config, folder) == 0
        assert len(checkpoints_in(folder)) == keep
        assert load_checkpoint(folder).decisions >= 1_500


def test_results_hold_a_match_against_each_opponent(whole: Path) -> None:
    results = json.loads((whole / "results.json").read_text())
    assert results.keys() == {"decisions", "matches"}
    assert results["decisions"] == rows_of(whole)[-1]["decisions"]
    assert [match["b"] for match in results["matches"]] == ["random", "expert"]
    named = "a b games a_win_rate ci95 a_skunk_rate b_skunk_rate a_double_skunk_rate"
    named += " b_double_skunk_rate mean_margin margin_ci95 deals_per_game seconds"
    for match in results["matches"]:
        assert match.keys() >= set(named.split())
        assert match["a"] == f"checkpoint:{whole}"
        assert match["games"] == 6
        assert match["a_mode"] == "greedy"
        assert match["rules"]["target"] == 31


def test_the_table_has_a_column_for_each_opponent_and_an_interval_for_each_figure(
    whole: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["--resume", str(whole)]) == 0
    lines = capfd.readouterr().out.splitlines()
    (head,) = [line for line in lines if line.startswith("against")]
    assert head.split() == ["against", "random", "expert"]
    wins = next(line for line in lines if line.startswith("wins"))
    assert len(re.findall(r"\d\.\d+ \[\d\.\d+, \d\.\d+\]", wins)) == 2


def test_without_last_matches_the_agents_name_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = config_file(tmp_path, total_decisions=200, final_games=0, evaluate_every=0)
    assert start(config, tmp_path / "run") == 0
    assert f"checkpoint:{tmp_path / 'run'}" in capfd.readouterr().out
    assert not (tmp_path / "run" / "results.json").exists()


def test_matches_on_the_way_are_on_the_curves_when_they_were_due(whole: Path) -> None:
    due = [row for row in unmeasured(whole) if any("evaluation/" in name for name in row)]
    steps = [0, *(row["decisions"] for row in rows_of(whole))]
    crossed = [step for last, step in pairwise(steps) if step // 1_500 > last // 1_500]
    assert [row["decisions"] for row in due] == crossed
    assert len(due) == 2


def test_a_run_without_a_name_gets_one_that_is_free(tmp_path: Path) -> None:
    assert free_folder(tmp_path, "smoke-seed1") == tmp_path / "smoke-seed1"
    (tmp_path / "smoke-seed1").mkdir()
    assert free_folder(tmp_path, "smoke-seed1") == tmp_path / "smoke-seed1-2"
    (tmp_path / "smoke-seed1-2").write_text("")
    assert free_folder(tmp_path, "smoke-seed1") == tmp_path / "smoke-seed1-3"


def test_a_run_without_a_folder_named_goes_to_runs_by_its_configuration_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_file(tmp_path, total_decisions=100, final_games=0, evaluate_every=0)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert main([str(config), "--seed", "8"]) == 0
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"tiny-seed8", "tiny-seed8-2"}
    assert_same_run(tmp_path / "runs" / "tiny-seed8", tmp_path / "runs" / "tiny-seed8-2")


def test_a_run_that_diverges_stops_with_one_line_and_leaves_whole_checkpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    arguments = ["configs/smoke.toml", "--folder", str(folder), "--learning-rate", "1e30"]
    assert main([*arguments, "--precision", "float32"]) == 1
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert "learning_rate" in line
    assert str(folder) in line
    load_checkpoint(folder)
    for row in (folder / "metrics.jsonl").read_text().splitlines():
        assert "Infinity" not in row
        assert "NaN" not in row
