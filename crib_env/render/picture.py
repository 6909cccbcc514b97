"""The table as a picture, for ``render_mode="rgb_array"``: what one seat sees, drawn with Pillow.

Nothing is shown in a window or written to a file. Whoever imports this needs Pillow, which comes
with the extra ``crib-env[render]``; nothing else in the library does. Lengths are in units of a
table of 960 x 540.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.narrator import Narrator
from crib_env.render import around, board, facing
from crib_env.render.canvas import HEIGHT, WIDTH, Canvas
from crib_env.render.panel import draw_panel
from crib_env.render.view import View, view_of

SMALLEST = (320, 180)
BOARD_AT = (14, 12)


def table_picture(
    record: Any,
    player: int,
    narrator: Narrator,
    *,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    open_hands: bool = False,
) -> npt.NDArray[np.uint8]:
    """Returns the table as a seat sees it, (height, width, 3) uint8.

    Args:
        record: One record of `crib_env.game_record.RECORD`, as the narrator was last told it.
        player: The seat that looks.
        narrator: Who followed the game.
        size: Width and height in pixels, from 320 x 180 on; the table keeps its shape.
        open_hands: Whether all cards lie open.

    Raises:
        ValueError: If there is no such seat, or the size is too small.
    """
    width, height = size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        raise ValueError(f"size {width} x {height}: allowed is 320 x 180 pixels or more")
    view = view_of(record, player, narrator, open_hands)
    canvas = Canvas(width, height)
    draw_board(canvas, view)
    if len(view.names) == 2:
        facing.draw_table(canvas, view)
    else:
        around.draw_table(canvas, view)
    draw_panel(canvas, view)
    return np.array(canvas.picture)


def draw_board(canvas: Canvas, view: View) -> None:
    """Draws the board and both pegs of each side."""
    canvas.paste(
        board.board_picture(canvas.scale, view.sides, view.target, view.skunk_lines),
        canvas.at(*BOARD_AT),
    )
    for side in range(view.sides):
        front, back = view.scores[side], view.back_pegs[side]
        if back is not None:
            place = (
                board.hole(back, side, view.sides, view.target)
                if front
                else board.start_hole_behind(side, view.sides)
            )
            canvas.peg(side, BOARD_AT[0] + place[0], BOARD_AT[1] + place[1])
        x, y = board.hole(front, side, view.sides, view.target)
        canvas.peg(side, BOARD_AT[0] + x, BOARD_AT[1] + y)
