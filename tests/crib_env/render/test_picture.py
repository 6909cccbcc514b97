"""The picture of the table: its form, what it shows, and that hidden cards change no pixel."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.cards import parse_card
from crib_env.events import Story, What
from crib_env.game_record import Phase
from crib_env.render.board import hole, start_hole_behind
from crib_env.render.canvas import PANEL, SIDES
from crib_env.render.panel import CHIP, PANEL_BOX, STORY_SIZE, wrapped
from crib_env.render.picture import table_picture
from crib_env.render.sprites import chip, text_length
from crib_env.rules import Rules
from tests.crib_env.render.test_view import PHASES_AND_SEATS, told_states
from tests.crib_env.test_honesty import permuted
from tests.crib_env.test_narrator import SAMPLE, told
from tests.tabletop import PONE, Table, after_cut, dealt

Frame = npt.NDArray[np.uint8]
LONG_NAMES = ("checkpoint:runs/quickstart-seed2/last", "a policy of quite a long name indeed")


def picture(table: Table, cards: str, player: int = PONE, **options: object) -> Frame:
    """Returns the picture after these cards."""
    return table_picture(table.games.records[0], player, told(table, cards), **options)  # type: ignore[arg-type]


def peg_at(frame: Frame, side: int, place: tuple[float, float]) -> bool:
    """Says whether a peg of a relative side stands in a hole of the board."""
    x, y = round(14 + place[0]), round(12 + place[1])
    around = frame[y - 1 : y + 3, x - 1 : x + 3].astype(int)
    return bool((np.abs(around - np.array(SIDES[side])).max(axis=2) < 12).any())


# ---- what is hidden ----


@pytest.mark.parametrize(("phase", "seat"), PHASES_AND_SEATS)
def test_hidden_cards_change_no_pixel(phase: Phase, seat: int) -> None:
    rng = np.random.default_rng(40)
    for games, narrator in told_states()[phase][:8]:
        frame = table_picture(games.records[0], seat, narrator)
        redealt = games.copy()
        redealt.redeal_hidden(seat, seed=41)
        for other in (redealt, permuted(games, seat, rng)):
            assert table_picture(other.records[0], seat, narrator).tobytes() == frame.tobytes()
        if phase != Phase.OVER:
            opened = table_picture(games.records[0], seat, narrator, open_hands=True)
            assert opened.tobytes() != frame.tobytes()
            other_opened = table_picture(redealt.records[0], seat, narrator, open_hands=True)
            assert other_opened.tobytes() != opened.tobytes()


# ---- its form ----


def test_it_is_an_array_of_its_own() -> None:
    table = after_cut()
    frame = picture(table, "")
    assert frame.shape == (540, 960, 3)
    assert frame.dtype == np.uint8
    assert frame.flags.writeable
    before = frame.copy()
    frame[:] = 0
    assert picture(after_cut(), "").tobytes() == before.tobytes()


@pytest.mark.parametrize("size", [(320, 180), (960, 540), (1280, 720), (500, 800), (1400, 400)])
def test_it_has_the_size_asked_for(size: tuple[int, int]) -> None:
    frame = picture(after_cut(), "", size=size)
    assert frame.shape == (size[1], size[0], 3)


@pytest.mark.parametrize("size", [(319, 180), (320, 179), (0, 0)])
def test_a_size_too_small_to_read_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"size {size[0]} x {size[1]}: allowed is 320 x 180"):
        picture(after_cut(), "", size=size)


@pytest.mark.parametrize("target", [1, 2, 30, 31, 61, 90, 120, 121])
def test_any_target_can_be_drawn(target: int) -> None:
    table = after_cut(["9C 4D", "2C"], "KC", scores=(target - 1, 0), rules=Rules(target=target))
    frame = picture(table, "9C 2C 4D")
    assert peg_at(frame, 0, hole(target, 0, 2, target))
    assert peg_at(frame, 1, hole(0, 1, 2, target))


def test_pillow_is_imported_for_a_picture_alone() -> None:
    code = (
        "import sys, crib_env, crib_env.render.text, crib_env.narrator\n"
        "assert 'PIL' not in sys.modules\n"
        "import crib_env.render.picture\n"
        "assert 'PIL' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- what is shown ----


def test_both_pegs_of_each_side_stand_in_their_holes() -> None:
    frame = picture(after_cut(["9C 4D", "6H 2C"], "KC", scores=(0, 57)), "9C 6H")
    assert peg_at(frame, 0, hole(0, 0, 2, 121))
    assert peg_at(frame, 0, start_hole_behind(0, 2))
    assert peg_at(frame, 1, hole(59, 1, 2, 121))
    assert peg_at(frame, 1, hole(57, 1, 2, 121))
    for number in (56, 58, 60):
        assert not peg_at(frame, 1, hole(number, 1, 2, 121))
    # Nothing is known before 57: one peg alone.
    frame = picture(after_cut(scores=(0, 57)), "")
    assert [number for number in range(122) if peg_at(frame, 1, hole(number, 1, 2, 121))] == [57]


def test_the_viewer_sits_below_whatever_the_seat() -> None:
    mirrored = []
    for seat in (0, 1):
        hands = ["9C 4D 4H 4S", "6H 2C 2D 2H"] if seat == 0 else ["6H 2C 2D 2H", "9C 4D 4H 4S"]
        table = after_cut(hands, "KC", crib="7C 7D 7H 7S", deals=1 - seat)
        names = ("me", "you") if seat == 0 else ("you", "me")
        narrator = told(table, "9C 6H", names)
        mirrored.append(table_picture(table.games.records[0], seat, narrator))
    assert mirrored[0].tobytes() == mirrored[1].tobytes()


@pytest.mark.parametrize(
    ("cards", "box"),
    [
        ("9C", (420, 215, 500, 345)),  # the pile
        ("9C 6H", (345, 238, 412, 304)),  # the count
        ("9C 6H", (718, 20, 942, 112)),  # the scores
        ("9C 6H", (712, 165, 948, 528)),  # the words
        ("9C", (222, 420, 702, 530)),  # the hand
    ],
)
def test_a_card_laid_changes_the_parts_of_the_picture(
    cards: str, box: tuple[int, int, int, int]
) -> None:
    left, top, right, bottom = box
    hands = ["9C 4D", "6H 2C"]
    before = picture(after_cut(hands, "KC"), "")[top:bottom, left:right]
    after = picture(after_cut(hands, "KC"), cards)[top:bottom, left:right]
    assert (before != after).any()


def test_words_stay_inside_their_panel_whatever_the_names() -> None:
    table = dealt(SAMPLE, parse_card("JD"))
    cards = "2H 3H TH KH 7C 4D 8C 5C 5H 9C 6S QC"
    narrator = told(table, cards, LONG_NAMES)
    assert sum(len(line) for line in narrator.lines(None)) > 1_000
    frame = table_picture(table.games.records[0], PONE, narrator)
    _, top, right, bottom = PANEL_BOX
    for strip in (
        frame[top + 20 : bottom - 20, right - 5 : right - 1],
        frame[bottom - 7 : bottom - 1, 730:930],
    ):
        assert (strip == np.array(PANEL)).all()


def test_the_last_words_are_those_that_are_kept() -> None:
    # With more lines than fit, the last is still there: another last line changes the picture.
    table = dealt(SAMPLE, parse_card("JD"))
    narrator = told(table, "2H 3H TH KH 7C 4D 8C 5C 5H 9C 6S QC")
    narrator.events = narrator.events * 3
    frame = table_picture(table.games.records[0], PONE, narrator)
    narrator.events[0] = narrator.events[0]._replace(seat=0)
    assert table_picture(table.games.records[0], PONE, narrator).tobytes() == frame.tobytes()
    narrator.events[-1] = narrator.events[-1]._replace(what=What.SAYS_GO)
    assert table_picture(table.games.records[0], PONE, narrator).tobytes() != frame.tobytes()


def test_lines_are_wrapped_between_words_and_cards() -> None:
    size = round(STORY_SIZE)
    story = Story(
        What.HAND, 0, 9, "agent shows", (1, 2, 3, 4), 5, "fifteen two, and a run of three"
    )
    rows = wrapped(story, size, 180, CHIP)
    assert [piece for row in rows for piece in row] == [
        *("agent", "shows", 1, 2, 3, 4, "with", 5),
        *["fifteen", "two,", "and", "a", "run", "of", "three"],
    ]
    for row in rows:
        long = sum(
            text_length(piece, size) if isinstance(piece, str) else chip(piece, CHIP).width
            for piece in row
        )
        assert long + (len(row) - 1) * text_length(" ", size) <= 180
    assert len(rows) > 1
