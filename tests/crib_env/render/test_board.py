"""The board: every hole has a place of its own, in groups of five, whatever the target."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env.render.board import HEIGHT, HOLE, WIDTH, board_picture, hole, start_hole_behind

Place = tuple[float, float]


def apart(one: Place, other: Place) -> float:
    """Returns how far two holes are apart, in units."""
    return float(np.hypot(one[0] - other[0], one[1] - other[1]))


@pytest.mark.parametrize("target", [1, 30, 31, 60, 61, 120, 121])
@pytest.mark.parametrize("sides", [2, 3])
def test_holes_lie_on_the_board_and_not_on_each_other(sides: int, target: int) -> None:
    places = [
        hole(number, side, sides, target) for number in range(target) for side in range(sides)
    ]
    places += [start_hole_behind(side, sides) for side in range(sides)]
    places.append(hole(target, 0, sides, target))
    for index, place in enumerate(places):
        assert HOLE < place[0] < WIDTH - HOLE
        assert HOLE < place[1] < HEIGHT - HOLE
        for other in places[:index]:
            assert apart(place, other) > 2 * HOLE


@pytest.mark.parametrize("target", [1, 45, 121])
def test_the_target_is_one_hole_for_all(target: int) -> None:
    assert hole(target, 0, 2, target) == hole(target, 1, 2, target)
    assert hole(target - 1, 0, 2, target) != hole(target - 1, 1, 2, target)


def test_a_street_has_six_groups_of_five() -> None:
    steps = [apart(hole(n, 0, 2, 121), hole(n + 1, 0, 2, 121)) for n in range(1, 30)]
    wide = [number for number, step in enumerate(steps, 1) if step > min(steps) + 1]
    assert wide == [5, 10, 15, 20, 25]


def test_each_street_begins_where_the_one_before_ends() -> None:
    for last in (30, 60, 90):
        one, other = hole(last, 0, 2, 121), hole(last + 1, 0, 2, 121)
        assert one[1] == other[1]
        assert one[0] != other[0]


def test_a_track_is_outside_in_one_turn_and_inside_in_the_next() -> None:
    def turn(last: int, side: int) -> float:
        return apart(hole(last, side, 2, 121), hole(last + 1, side, 2, 121))

    assert turn(30, 0) > turn(30, 1)
    assert turn(60, 0) < turn(60, 1)
    assert turn(90, 0) > turn(90, 1)


@pytest.mark.parametrize("scale", [1 / 3, 1.0, 2.0])
def test_the_board_is_as_large_as_asked_for(scale: float) -> None:
    assert board_picture(scale, 2, 121, (91, 61)).size == (
        round(WIDTH * scale),
        round(HEIGHT * scale),
    )


def test_skunk_lines_are_drawn_where_they_are() -> None:
    bare = np.array(board_picture(1.0, 2, 121, ())).astype(int)
    lined = np.array(board_picture(1.0, 2, 121, (91,))).astype(int)
    rows, columns = np.nonzero((bare != lined).any(axis=2))
    x, y = hole(91, 0, 2, 121)
    # Across its street, above hole 91, with its name in the gap at the left.
    assert y - 12 < rows.min() < y - 5
    assert columns.max() < x + 40
    assert columns.min() > x - 45
    assert rows.max() < y + 40
