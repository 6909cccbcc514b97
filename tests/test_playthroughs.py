"""The golden playthroughs: valid, complete, and what the engine and its players still play."""

from __future__ import annotations

from pathlib import Path

import pytest

from crib_env.notation import Transcript, parse, replay, write
from tests.make_playthroughs import FOLDER, PLAYTHROUGHS, played
from tests.written_games import judged

PATHS = sorted(FOLDER.glob("*.txt"))


def told_in(path: Path) -> Transcript:
    """Returns the game of a file."""
    [told] = parse(path.read_text(encoding="utf-8"))
    return told


def test_there_is_a_file_for_each_playthrough() -> None:
    assert [path.stem for path in PATHS] == sorted(PLAYTHROUGHS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_playthrough_is_a_complete_game_of_its_kind(path: Path) -> None:
    told, wanted = told_in(path), PLAYTHROUGHS[path.stem]
    assert write(replay(told).transcript) == path.read_text(encoding="utf-8")
    assert (told.rules, told.names, told.notes) == (wanted.rules, wanted.names, (wanted.note,))
    assert wanted.holds(list(told.deals[-1].lines))
    assert judged(told).phase == "over"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_playthrough_is_what_the_engine_plays_from_its_seed(path: Path) -> None:
    told = told_in(path)
    assert told.lane is not None
    assert told.lane.seed is not None
    [again] = played(told.rules, told.names, [told.lane.seed], told.notes)
    assert write(again) == path.read_text(encoding="utf-8"), (
        "the game has changed: if it should have, run: python -m tests.make_playthroughs"
    )
