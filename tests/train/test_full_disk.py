"""A disk that is full at any write: one line, status 1, and once there is room the run goes on."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.checkpoint import checkpoints_in, load_checkpoint
from tests.disk import Disk
from tests.runs import (
    assert_curves_are_the_rows,
    assert_same_run,
    config_file,
    start,
)
from train.__main__ import main

SHORT = {
    "total_decisions": 500,
    "checkpoint_every": 200,
    "evaluate_every": 400,
    "evaluate_games": 2,
    "final_games": 2,
    "opponents": ["random"],
}


def used_by(disk: Disk, run: Callable[[], int]) -> int:
    """Returns the exit status of a run on a disk."""
    with pytest.MonkeyPatch.context() as patched:
        disk.mount(patched)
        return run()


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Returns the folder of a run on a disk with room, and the file of each of its writes."""
    place = tmp_path_factory.mktemp("short")
    disk = Disk(place / "run")
    config = config_file(place, **SHORT)
    assert used_by(disk, lambda: start(config, place / "run")) == 0
    return place / "run", disk.writes


def kind(name: str) -> str:
    """Returns what kind of file a name is of."""
    name = name.removeprefix(".").removesuffix(".partial")
    return name.split("-")[0] if name.startswith("checkpoint-") else name


@pytest.mark.parametrize("all_writes", [False, pytest.param(True, marks=pytest.mark.torture)])
def test_a_disk_full_at_any_write_ends_the_run_in_one_line_and_it_can_go_on(
    all_writes: bool,
    short: tuple[Path, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    whole, writes = short
    kinds = [kind(name) for name in writes]
    assert set(kinds) == {
        "run.json",
        "config.toml",
        "events.out.tfevents.0000000001",
        "checkpoint",
        "metrics.jsonl",
        "events.out.tfevents.outcome",
        "results.json",
    }
    # Else the last write to each kind of file, where most is at stake.
    chosen = range(len(writes)) if all_writes else sorted(map(last_of(kinds), set(kinds)))
    config = config_file(tmp_path, **SHORT)
    for number in chosen:
        folder = tmp_path / f"run-{number}"
        disk = Disk(folder, number)
        assert used_by(disk, lambda at=folder: start(config, at)) == 1  # type: ignore[misc]  # a default binds it now
        said = capfd.readouterr().err
        assert "Traceback" not in said
        assert "Exception ignored" not in said
        (line,) = [line for line in said.splitlines() if line.startswith("train: ")]
        assert line == said.splitlines()[-1]
        assert os.strerror(errno.ENOSPC) in line
        assert kinds[number] in line
        if kinds[number] in ("run.json", "config.toml"):
            # Nothing was begun, and nothing is left.
            assert not folder.exists()
            assert start(config, folder) == 0
        else:
            assert f"to go on: python -m train --resume {folder}" in line
            assert not list(folder.glob(".*"))
            if checkpoints_in(folder):
                load_checkpoint(checkpoints_in(folder)[0])
            assert main(["--resume", str(folder)]) == 0
        assert_same_run(folder, whole)
        assert_curves_are_the_rows(folder)


def last_of(kinds: list[str]) -> Callable[[str], int]:
    """Returns what finds the last place of a kind."""
    return lambda name: len(kinds) - 1 - kinds[::-1].index(name)


def test_a_disk_that_is_full_when_a_run_is_gone_on_with_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path, **SHORT), folder, "--stop-after", "300") == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    disk = Disk(folder, 0)
    assert used_by(disk, lambda: main(["--resume", str(folder)])) == 1
    assert "metrics.jsonl" in capfd.readouterr().err.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("room", [0, 1])
def test_a_disk_on_which_no_folder_can_be_made_is_told_of_with_status_1(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, *arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC if room == 0 else errno.EROFS, "no", str(path))

    config = config_file(tmp_path, **SHORT)
    monkeypatch.setattr(Path, "mkdir", full)
    assert start(config, tmp_path / "run") == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert str(tmp_path / "run") in line


def test_a_sync_that_fails_is_told_of_as_a_write_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    config = config_file(tmp_path, **SHORT)
    sync, left = os.fsync, 8

    def fails(place: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(place)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        assert start(config, folder) == 1
    assert os.strerror(errno.EIO) in capfd.readouterr().err.splitlines()[-1]
    assert load_checkpoint(folder).decisions == 0
    assert main(["--resume", str(folder)]) == 0
    assert load_checkpoint(folder).decisions >= 500


def test_a_progress_line_that_cannot_be_shown_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    config = config_file(tmp_path, **SHORT)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stderr", Full())
        assert start(config, tmp_path / "run") == 0
    assert load_checkpoint(tmp_path / "run").decisions >= 500
