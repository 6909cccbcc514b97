"""The command line: what is refused, in one line and with nothing changed, and what is held."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import train.__main__
import train.run
from agents.checkpoint import checkpoint_path, checkpoints_in, load_checkpoint
from tests.runs import (
    assert_same_run,
    config_file,
    contents,
    start,
)
from train.__main__ import main
from train.ppo import Learner, train_step
from train.run import InUseError, free_folder, holding


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


# ---- one process a folder ----


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """Returns the folder of a run that was stopped."""
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder, "--stop-after", "600") == 0
    return folder


def test_a_folder_in_which_another_process_trains_is_refused_and_left_alone(
    stopped: Path, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    with holding(stopped):
        before = contents(stopped)
        assert main(["--resume", str(stopped)]) == 2
        (line,) = capfd.readouterr().err.splitlines()
        assert line == f"train: {stopped}: another process trains in it"
        assert contents(stopped) == before
        # Whoever only plays its checkpoint may.
        assert load_checkpoint(stopped).decisions >= 600
    # It ends with the process that held it, killed or not: `tests.killing` goes on at once.
    assert main(["--resume", str(stopped)]) == 0
    assert_same_run(stopped, whole)


def test_a_run_holds_its_folder_while_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    held = []

    def watched(learner: Learner) -> dict[str, float]:
        with pytest.raises(InUseError), holding(folder):
            pass
        held.append(learner.decisions)
        return train_step(learner)

    monkeypatch.setattr(train.run, "train_step", watched)
    assert start(config_file(tmp_path), folder, "--stop-after", "300") == 0
    assert main(["--resume", str(folder), "--stop-after", "500"]) == 0
    assert len(held) == 3


def test_a_file_system_without_locks_is_no_reason_not_to_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(place: int, how: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", unknown)
    config = config_file(tmp_path, total_decisions=100, evaluate_every=0, final_games=0)
    assert start(config, tmp_path / "run") == 0


def test_a_name_that_another_process_takes_first_is_no_reason_not_to_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_file(tmp_path, total_decisions=100, evaluate_every=0, final_games=0)
    monkeypatch.chdir(tmp_path)

    def just_taken(parent: Path, name: str) -> Path:
        folder = free_folder(parent, name)
        if not (parent / name).exists():
            folder.mkdir(parents=True)
        return folder

    monkeypatch.setattr(train.__main__, "free_folder", just_taken)
    assert main([str(config)]) == 0
    assert checkpoints_in(tmp_path / "runs" / "tiny-seed3-2")


def test_a_link_to_nowhere_in_place_of_runs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").symlink_to("nowhere/at/all")
    assert main([str(config_file(tmp_path))]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "runs" in line


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_what_memory_does_not_hold_is_refused_in_one_line(
    dry: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    config = config_file(tmp_path)
    assert start(config, tmp_path / "run", "--games", "2000000000", *dry) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "more than memory holds" in line

    def too_large(*arguments: object) -> None:
        torch.empty(2**60)

    monkeypatch.setattr("train.ppo.PolicyValueNet", too_large)
    assert start(config, tmp_path / "run", *dry) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "more than memory holds" in line
    assert not (tmp_path / "run").exists()


def test_an_error_that_is_none_of_the_users_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(config: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(train.run, "new_learner", faulty)
    with pytest.raises(RuntimeError, match="a fault"):
        start(config_file(tmp_path), tmp_path / "run")


# ---- a configuration that was edited while the run was stopped ----


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("learning_rate = 0.001", "learning_rate = 0.5", "learning_rate = 0.5"),
        ("total_decisions = 4000", "total_decisions = 8000", "total_decisions = 8000"),
        ("seed = 3\n", "", "seed = 1"),
        ("seed = 3", "seeed = 3", "seeed"),
        ("seed = 3", "seed = ", "TOML"),
    ],
)
def test_an_edited_configuration_is_refused_by_the_field(
    old: str, new: str, named: str, stopped: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (stopped / "config.toml").read_text()
    assert old in text
    (stopped / "config.toml").write_text(text.replace(old, new))
    before = contents(stopped)
    capfd.readouterr()
    assert main(["--resume", str(stopped)]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert str(stopped / "config.toml") in line
    assert named in line
    assert contents(stopped) == before


def test_a_configuration_that_is_gone_is_not_needed_nor_are_its_comments_heeded(
    stopped: Path, whole: Path
) -> None:
    path = stopped / "config.toml"
    path.write_text("# mine\n" + path.read_text())
    assert main(["--resume", str(stopped), "--stop-after", "900"]) == 0
    path.unlink()
    assert main(["--resume", str(stopped)]) == 0
    assert_same_run(stopped, whole)


def test_a_checkpoint_of_another_run_is_refused(
    stopped: Path, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert start(config_file(tmp_path, hidden_size=4), other, "--stop-after", "900") == 0
    shutil.copy(checkpoints_in(other)[0], checkpoint_path(stopped, 10**9))
    capfd.readouterr()
    assert main(["--resume", str(stopped)]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "hidden_size" in line
    checkpoint_path(stopped, 10**9).unlink()
    assert main(["--resume", str(stopped)]) == 0
    assert_same_run(stopped, whole)
