"""Games are kept whole or not at all, and no file is ever written over."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crib_env.notation import Transcript, parse, write
from crib_env.notation.archive import Archive
from crib_env.rules import Rules
from tests.disk import Disk
from tests.written_games import play_random

PLAYED = play_random(Rules(target=12), 6, 1)
GAMES = [PLAYED.transcript(lane) for lane in range(6)]


def kept(path: Path) -> list[Transcript]:
    """Returns the games of a file."""
    return parse(path.read_text(encoding="utf-8"))


def names(folder: Path) -> list[str]:
    """Returns the names of all that lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


# ---- a folder ----


def test_each_game_is_a_file_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "games"
    archive = Archive(folder)
    paths = [archive.keep(game) for game in GAMES[:3]]
    assert names(folder) == ["game-000001.crib", "game-000002.crib", "game-000003.crib"]
    assert [kept(path) for path in paths] == [[game] for game in GAMES[:3]]


def test_numbers_that_are_taken_are_passed_over(tmp_path: Path) -> None:
    first, second = Archive(tmp_path), Archive(tmp_path)
    paths = [archive.keep(game) for archive, game in zip([first, second] * 2, GAMES, strict=False)]
    paths.append(Archive(tmp_path).keep(GAMES[4]))
    assert len(set(paths)) == 5
    assert [kept(path) for path in paths] == [[game] for game in GAMES[:5]]


def test_a_game_may_have_a_name_of_its_own_once(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert archive.keep(GAMES[0], "final").name == "final.crib"
    with pytest.raises(FileExistsError):
        archive.keep(GAMES[1], "final")
    assert names(tmp_path) == ["final.crib"]
    assert kept(tmp_path / "final.crib") == [GAMES[0]]


def test_a_full_disk_leaves_nothing_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(tmp_path)
    archive.keep(GAMES[0])
    Disk(tmp_path, room=-1).mount(monkeypatch)
    with pytest.raises(OSError, match="No space left"):
        archive.keep(GAMES[1])
    monkeypatch.undo()
    assert names(tmp_path) == ["game-000001.crib"]
    archive.keep(GAMES[2])
    assert names(tmp_path) == ["game-000001.crib", "game-000002.crib"]


# ---- one file ----


def test_a_file_grows_by_a_game_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "games.crib"
    first = Archive(path)
    for game in GAMES[:2]:
        first.keep(game)
    Archive(path).keep(GAMES[2])
    assert kept(path) == GAMES[:3]
    assert path.read_text(encoding="utf-8") == write(GAMES[:3])


def test_a_file_written_by_hand_is_added_to_if_it_ends_a_game(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(write(GAMES[0]) + "\n# my comment\n", encoding="utf-8")
    with pytest.raises(ValueError, match="its last line ends no game"):
        Archive(path)
    path.write_text(write(GAMES[0]) + "\n", encoding="utf-8")
    Archive(path).keep(GAMES[1])
    assert kept(path) == GAMES[:2]


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_nothing_is_added_to_part_of_a_game(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "games.crib"
    archive = Archive(path)
    archive.keep(GAMES[0])
    torn = path.read_bytes()[:-cut]
    path.write_bytes(torn)
    for attempt in (lambda: Archive(path), lambda: archive.keep(GAMES[1])):
        with pytest.raises(ValueError, match="its last line ends no game"):
            attempt()
    assert path.read_bytes() == torn


def test_a_full_disk_leaves_a_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.crib"
    archive = Archive(path)
    archive.keep(GAMES[0])
    before = path.read_bytes()
    # A part of what is written fits, as the disk says by the number that it returns.
    write_all = os.write
    monkeypatch.setattr(os, "write", lambda file, text: write_all(file, text[:200]))
    with pytest.raises(OSError, match="No space left"):
        archive.keep(GAMES[1])
    monkeypatch.undo()
    assert path.read_bytes() == before
    archive.keep(GAMES[1])
    assert kept(path) == GAMES[:2]


ADD = """
import sys
from pathlib import Path
from crib_env.notation import parse
from crib_env.notation.archive import Archive
[game] = parse(Path(sys.argv[1]).read_text())
for _ in range(40):
    Archive(sys.argv[2]).keep(game)
"""


@pytest.mark.parametrize("target", ["all.crib", "folder"])
def test_processes_add_side_by_side(tmp_path: Path, target: str) -> None:
    path = tmp_path / target
    children = []
    for number in range(3):
        source = tmp_path / f"source{number}.txt"
        source.write_text(write(GAMES[number]), encoding="utf-8")
        command = [sys.executable, "-c", ADD, str(source), str(path)]
        children.append(subprocess.Popen(command))
    assert [child.wait() for child in children] == [0, 0, 0]
    paths = [path] if path.is_file() else sorted(path.iterdir())
    games = [game for one in paths for game in kept(one)]
    assert [games.count(game) for game in GAMES[:3]] == [40, 40, 40]
    assert len(games) == 120


def test_a_game_that_another_is_writing_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "games.crib"
    text = write(GAMES[0]).encode()
    with path.open("ab", buffering=0) as file, ThreadPoolExecutor() as pool:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(text[:100])
        archive = pool.submit(Archive, path)
        with pytest.raises(TimeoutError):
            archive.result(timeout=0.2)
        file.write(text[100:])
        fcntl.flock(file, fcntl.LOCK_UN)
        archive.result(timeout=10).keep(GAMES[1])
    assert kept(path) == GAMES[:2]


# ---- what is no place to keep games ----


def test_a_path_that_cannot_be_written_to_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    for path in (file, file / "folder", tmp_path / "no" / "games.crib"):
        with pytest.raises(ValueError, match=str(path)) as caught:
            Archive(path)
        assert "\n" not in str(caught.value)
