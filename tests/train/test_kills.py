"""kill -9 at any moment, start-up and last table included: the run ends as if it had never been."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runs import (
    ROOT,
    assert_curves_are_the_rows,
    assert_same_run,
    config_file,
    contents,
    rows_of,
    start,
)
from train.__main__ import main

# Of the time of such a run, matches take about as much as learning.
SHORT = {
    "total_decisions": 900,
    "checkpoint_every": 300,
    "evaluate_every": 500,
    "evaluate_games": 2,
    "final_games": 10,
    "opponents": ["expert"],
}


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run of that kind that was never killed."""
    place = tmp_path_factory.mktemp("short")
    assert start(config_file(place, **SHORT), place / "run") == 0
    return place / "run"


@pytest.mark.parametrize(
    ("kills", "every"),
    [(1, 24), pytest.param(30, 1, marks=pytest.mark.torture)],
    ids=["sample", "all"],
)
def test_a_run_killed_at_any_moment_operation_or_write_is_the_run_never_killed(
    kills: int, every: int, short: Path, tmp_path: Path
) -> None:
    config = config_file(tmp_path, **SHORT)
    words = [str(config), str(tmp_path), str(kills), str(every)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in (tmp_path / "errors").read_text()
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    assert len(found["moments"]) == kills
    assert found["operations"]
    assert found["writes"]
    for folder in {Path(one["folder"]) for kind in found.values() for one in kind}:
        assert_same_run(folder, short)
        assert_curves_are_the_rows(folder)
    if every == 1:
        where = {kind: {one["killed"] for one in done} for kind, done in found.items()}
        assert where["moments"] >= {"while it learned", "in its last matches"}
        assert len(found["writes"]) > 15
        assert where["operations"] == {
            "before its configuration was written",
            "before the first checkpoint",
            "while a file was written",
            "while it learned",
            "in its last matches",
            "after its results were written",
        }


def test_a_run_killed_before_its_first_checkpoint_begins_again_with_its_own_configuration(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"

    def killed_here(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("train.run._keep", killed_here)
        # By flags: they stand in no file but the run's own.
        changes = SHORT | {"total_decisions": 50}
        flags = ["--total-decisions", "900"]
        assert start(config_file(tmp_path, **changes), folder, *flags) == 130
    assert not list(folder.glob("checkpoint-*"))
    capfd.readouterr()
    assert main(["--resume", str(folder)]) == 0
    assert f"run: {folder}, from the beginning" in capfd.readouterr().err
    assert_same_run(folder, short)
    assert_curves_are_the_rows(folder)


def test_a_run_killed_before_its_configuration_was_written_says_what_to_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    before = contents(tmp_path / "run")
    assert main(["--resume", str(tmp_path / "run")]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "no checkpoint" in line
    assert "begin anew" in line
    assert contents(tmp_path / "run") == before


def test_a_run_whose_checkpoints_are_gone_is_not_begun_again_over_its_curves(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path), folder, "--stop-after", "600") == 0
    for path in folder.glob("checkpoint-*"):
        path.unlink()
    before = contents(folder)
    rows = rows_of(folder)
    capfd.readouterr()
    assert main(["--resume", str(folder)]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "its checkpoints are gone" in line
    assert f"python -m train {folder / 'config.toml'}" in line
    assert contents(folder) == before
    assert rows_of(folder) == rows
