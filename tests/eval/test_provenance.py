"""Where numbers come from, and files that are whole or not there."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from eval import provenance


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_commit_outside_a_checkout_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path.resolve())
    assert provenance.commit() == "unknown"
    # Unpacked inside a checkout of something else, or before the first commit: unknown as well.
    git(tmp_path, "init", "--quiet")
    assert provenance.commit() == "unknown"
    (tmp_path / "inner").mkdir()
    monkeypatch.setattr(provenance, "ROOT", (tmp_path / "inner").resolve())
    assert provenance.commit() == "unknown"
    monkeypatch.setenv("PATH", "")
    assert provenance.commit() == "unknown"


def test_commit_tells_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path.resolve())
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "result.json").write_text("results are no change of the sources")
    assert provenance.commit() == head
    (tmp_path / "file").write_text("two")
    assert provenance.commit() == head + "-dirty"


def test_origin_can_be_run_again() -> None:
    origin = provenance.origin("eval.match", ["checkpoint:a b", "expert"])
    assert origin["command"] == "python -m eval.match 'checkpoint:a b' expert"
    assert origin["cpu"]
    assert set(origin) == {"command", "commit", "version", "cpu"}


def test_json_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    provenance.write_json(path, {"wins": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        provenance.write_json(path, {"wins": float("nan")})

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        provenance.write_json(path, {"wins": 2})
    assert json.loads(path.read_text()) == {"wins": 1}
    assert list(tmp_path.iterdir()) == [path]
