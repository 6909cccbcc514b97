"""Runs: stopped, killed and gone on with they are the run that was never stopped, bit for bit."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import train.__main__
import train.matches
import train.run
from agents.checkpoint import (
    checkpoint_path,
    checkpoints_in,
    load_checkpoint,
)
from crib_env.rules import PRESETS
from eval.match_result import MatchResult
from tests.learners import assert_same_tensors
from tests.runs import (
    assert_curves_are_the_rows,
    assert_same_run,
    config_file,
    contents,
    finish,
    in_new_process,
    results_of,
    rows_of,
    start,
    unmeasured,
    wait_for_rows,
)
from train.__main__ import main
from train.config import load_config
from train.ppo import Learner, train_step
from train.run import Stop, free_folder

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


# Its quick sibling, without processes of its own, is in test_kills.py.
@pytest.mark.torture
@pytest.mark.parametrize("stops", [[3_000], [0, 3_000]])
def test_a_run_killed_after_a_checkpoint_has_no_step_twice_and_none_missing(
    stops: list[int], long: Path, tmp_path: Path
) -> None:
    config, folder = config_file(tmp_path, **LONG), tmp_path / "run"
    for stop in stops:
        words = ["--resume", str(folder)] if folder.exists() else [str(config)]
        words += [] if folder.exists() else ["--folder", str(folder)]
        if stop:
            assert main([*words, "--stop-after", str(stop)]) == 0
            words = ["--resume", str(folder)]
        written = len(rows_of(folder)) if folder.exists() else 0
        process = in_new_process(*words)
        wait_for_rows(folder, written + 5, process)
        process.send_signal(signal.SIGKILL)
        assert finish(process)[0] == -signal.SIGKILL
        saved = load_checkpoint(folder).decisions
        whole_rows = (folder / "metrics.jsonl").read_text().splitlines()[:-1]
        assert json.loads(whole_rows[-1])["decisions"] > saved >= stop
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


def test_resuming_a_finished_run_says_so_prints_its_table_and_writes_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def played(*arguments: object, **options: object) -> MatchResult:
        raise AssertionError("a match was played again")

    before = contents(whole)
    with monkeypatch.context() as patched:
        patched.setattr(train.matches, "play_match", played)
        assert main(["--resume", str(whole)]) == 0
    said = capfd.readouterr()
    assert f"run: {whole}, trained to its end" in said.err
    for word in ("random", "expert", "wins", "skunks", "as dealer", "as pone", "margin"):
        assert word in said.out
    assert contents(whole) == before


@pytest.mark.parametrize("damage", ["gone", "cut", "of another run", "of other matches", "[]"])
def test_results_that_are_not_the_runs_are_played_and_written_again(
    damage: str, whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    text = (folder / "results.json").read_text()
    broken = {
        "cut": text[: len(text) // 2],
        "of another run": text.replace('"decisions": ', '"decisions": 1'),
        "of other matches": text.replace('"games": 6', '"games": 8'),
        "[]": "[]",
    }
    if damage == "gone":
        (folder / "results.json").unlink()
    else:
        (folder / "results.json").write_text(broken[damage])
    assert main(["--resume", str(folder)]) == 0
    assert results_of(folder) == results_of(whole)
    assert_curves_are_the_rows(folder)


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
        patched.setattr(train.matches, "play_match", interrupted)
        assert start(config, folder) == 130
    assert f"to go on: python -m train --resume {folder}" in capfd.readouterr().err
    assert not (folder / "results.json").exists()
    assert main(["--resume", str(folder)]) == 0
    assert (folder / "results.json").exists()


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
    assert (config.rules.target, config.total_decisions, config.final_games) == (31, 4_000, 0)
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
    # The last point is on the curve too.
    assert [row["decisions"] for row in due] == [*crossed, steps[-1]]
    assert len(due) == 3


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


VARIANTS = ["five_card", "three_player", "four_player"]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_trains_and_a_run_stopped_halfway_is_the_run_never_stopped(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(config_file(tmp_path)), "--rules", f"{name},target=31"]
    whole = Path("runs") / f"tiny-{name},target=31-seed3"
    assert main(words) == 0
    assert load_config(whole / "config.toml").rules == replace(PRESETS[name], target=31)
    assert main([*words, "--folder", "stopped", "--stop-after", "2000"]) == 0
    assert main(["--resume", "stopped"]) == 0
    assert_same_run(Path("stopped"), whole)
    assert_curves_are_the_rows(whole)
    matches = results_of(whole)["matches"]
    assert [match["b"] for match in matches] == ["random", "expert"]
    assert all(match["rules"]["players"] == PRESETS[name].players for match in matches)


def test_matches_of_three_players_are_made_up_to_whole_sets(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = config_file(
        tmp_path, rules="three_player", total_decisions=300, evaluate_games=2, final_games=4
    )
    folder = tmp_path / "run"
    for words in ([str(config), "--folder", str(folder)], ["--resume", str(folder)]):
        assert main(words) == 0
        said = capfd.readouterr().out
        assert "6 games against each (two of each, chance is 1/3)" in said
        assert "interval over sets of three games" in said
    assert [match["games"] for match in results_of(folder)["matches"]] == [6, 6]
    (rate,) = {row["evaluation/random/win_rate"] for row in rows_of(folder)[-1:]}
    assert rate * 3 == pytest.approx(round(rate * 3))


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
