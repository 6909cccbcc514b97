"""The panel beside the table: the scores, who is to do what, and what has happened.

Lengths are in units of a table of 960 x 540 (`canvas.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.cards import NO_CARD
from crib_env.events import Story, What
from crib_env.render.canvas import FELT, GOLD, PANEL, SOFT, TEXT, Canvas
from crib_env.render.sprites import chip, fitted, mixed, text_length
from crib_env.render.view import View

PANEL_BOX = (712, 12, 948, 528)
PANEL_INSET = 14

RESULT_SIZE = 14.0  # of the letters, as are the others
RESULT_LINE = 18
STORY_SIZE = 13.5
STORY_LINE = 18
STORY_GAP = 4
STORY_INDENT = 12
CHIP = 16  # height of a card in a line


def draw_panel(canvas: Canvas, view: View) -> None:
    """Draws the scores, who is to do what, and what has happened."""
    left, top, right, bottom = PANEL_BOX
    canvas.box(PANEL_BOX, 12, PANEL)
    left, right = left + PANEL_INSET, right - PANEL_INSET
    y = top + 10.0
    for side in range(view.sides - 1, -1, -1):
        draw_side(canvas, view, side, y)
        y += 46
    y += 6
    if view.result:
        # One line, unless the names and scores of three or four need more.
        room = (right - left) * canvas.scale
        rows = in_rows(view.result.split(), canvas.px(RESULT_SIZE), room, canvas.px(CHIP))
        lines = [" ".join(map(str, row)) for row in rows]
        high = 36 + RESULT_LINE * len(lines)
        canvas.box((left - 4, y, right + 4, y + high), 8, GOLD)
        middle = (left + right) / 2
        canvas.text(middle, y + 18, status(canvas, view, 18, right - left), 18, PANEL, align=0.5)
        for number, line in enumerate(lines):
            at = y + 39 + RESULT_LINE * number
            canvas.text(middle, at, line, RESULT_SIZE, PANEL, align=0.5, width=right - left)
        y += high + 10
    else:
        canvas.text(left, y + 10, status(canvas, view, 15, right - left), 15, GOLD)
        about = f"deal {view.deal_number}, to {view.target}"
        canvas.text(left, y + 30, about, 12, SOFT, width=right - left)
        y += 46
    ends = (*canvas.at(left, y), *canvas.at(right, y))
    canvas.pen.line(ends, mixed(PANEL, SOFT, 0.4), canvas.px(1))
    draw_stories(canvas, view, y + 8, bottom - 8)


def draw_side(canvas: Canvas, view: View, side: int, y: float) -> None:
    """Draws a side's peg, names and score from *y* down, and the dealer's button beside its name.

    Partners stand one below the other.
    """
    left, right = PANEL_BOX[0] + PANEL_INSET, PANEL_BOX[2] - PANEL_INSET
    if view.turn is not None and view.turn % view.sides == side:
        canvas.box((left - 8, y, right + 8, y + 42), 8, mixed(PANEL, FELT, 0.75))
    canvas.peg(side, left + 6, y + 21, 6)
    seats = range(len(view.names))[side :: view.sides]
    size, step = (17.0, 0.0) if len(seats) == 1 else (14.0, 18.0)
    for number, seat in enumerate(seats):
        middle = y + 21 + step * (number - (len(seats) - 1) / 2)
        long = canvas.text(left + 20, middle, view.names[seat], size, width=106)
        if view.dealer == seat:
            canvas.dealer_button(left + 20 + long + 15, middle)
    canvas.text(right, y + 21, str(view.scores[side]), 32, TEXT, align=1)


def status(canvas: Canvas, view: View, size: float, width: float) -> str:
    """Returns who is to do what, a long name shortened."""
    room = width * canvas.scale - text_length(f" {view.what}", canvas.px(size))
    return f"{fitted(view.who, canvas.px(size), room)} {view.what}"


def draw_stories(canvas: Canvas, view: View, top: float, bottom: float) -> None:
    """Writes what has happened, the last at the bottom; what does not fit falls off the top."""
    size = canvas.px(STORY_SIZE)
    space = round(text_length(" ", size))
    left = PANEL_BOX[0] + PANEL_INSET
    wide = (PANEL_BOX[2] - PANEL_INSET - left - STORY_INDENT) * canvas.scale
    blocks = [
        (story, wrapped(story, size, wide, canvas.px(CHIP)))
        for story in view.stories
        if story.what not in (What.END, What.FORFEIT)  # which stand above
    ]
    room = bottom - top
    while blocks and sum(block_height(rows) for _, rows in blocks) > room:
        blocks.pop(0)
    y = top
    for story, rows in blocks:
        canvas.peg(story.seat % view.sides, left + 3, y + STORY_LINE / 2, 2.5)
        colour = GOLD if story.points else TEXT
        for row in rows:
            x = canvas.at(left + STORY_INDENT, 0)[0]
            middle = canvas.at(0, y + STORY_LINE / 2)[1]
            for piece in row:
                if isinstance(piece, str):
                    canvas.write((x, middle), piece, size, colour)
                    x += round(text_length(piece, size)) + space
                else:
                    sprite = chip(piece, canvas.px(CHIP))
                    canvas.paste(sprite, (x, middle - sprite.height // 2))
                    x += sprite.width + space
            y += STORY_LINE
        y += STORY_GAP


def block_height(rows: list[list[str | int]]) -> float:
    """Returns how much room the rows of a story take, in units."""
    return len(rows) * STORY_LINE + STORY_GAP


def wrapped(story: Story, size: int, width: float, chip_height: int) -> list[list[str | int]]:
    """Returns a story as rows of words and cards that are no wider than *width* pixels.

    Args:
        story: The story.
        size: Of the letters, in pixels.
        width: How wide a row may be, in pixels.
        chip_height: How high a card in a row is, in pixels.
    """
    pieces: list[str | int] = [*story.lead.split(), *story.cards]
    if story.starter != NO_CARD:
        pieces += ["with", story.starter]
    if story.words:
        if isinstance(pieces[-1], str):
            pieces[-1] += ":"
        pieces += story.words.split()
    return in_rows(pieces, size, width, chip_height)


def in_rows(
    pieces: Sequence[str | int], size: int, width: float, chip_height: int
) -> list[list[str | int]]:
    """Returns words and cards in rows no wider than *width* pixels; see `wrapped`."""
    rows: list[list[str | int]] = [[]]
    used = 0.0
    for piece in pieces:
        if isinstance(piece, str):
            piece = fitted(piece, size, width)
            long = text_length(piece, size)
        else:
            long = float(chip(piece, chip_height).width)
        if rows[-1] and used + long > width:
            rows.append([])
            used = 0.0
        rows[-1].append(piece)
        used += long + text_length(" ", size)
    return rows
