"""The table as a picture, for ``render_mode="rgb_array"``: what one seat sees, drawn with Pillow.

Nothing is shown in a window or written to a file. Whoever imports this needs Pillow, which comes
with the extra ``crib-env[render]``; nothing else in the library does. Lengths are in units of a
table of 960 x 540.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.cards import NO_CARD
from crib_env.game_record import Phase
from crib_env.narrator import Narrator, Story, What
from crib_env.render import board
from crib_env.render.sprites import (
    Colour,
    Image,
    ImageDraw,
    card_margin,
    card_picture,
    chip,
    fitted,
    mixed,
    peg,
    text_length,
    text_mask,
)
from crib_env.render.view import View, view_of

WIDTH, HEIGHT = 960, 540
SMALLEST = (320, 180)

FELT: Colour = (52, 104, 88)
FELT_EDGE: Colour = (28, 64, 56)
PANEL: Colour = (22, 48, 43)
TEXT: Colour = (238, 236, 226)
SOFT: Colour = (168, 190, 178)
GOLD: Colour = (242, 202, 110)
SIDES: tuple[Colour, ...] = ((46, 110, 196), (208, 66, 56), (64, 150, 84))  # pegs, by relative side

BOARD_AT = (14, 12)
PANEL_BOX = (712, 12, 948, 528)
PANEL_INSET = 14
MIDDLE = 461  # the middle of the felt between board and panel
PEG = 5  # radius

LEFT_COLUMN = 282  # the middle of the pack and the crib
COUNT_MIDDLE = 378
PLAYS_LEFT, PLAYS_RIGHT = 420, 702
SHOW_LEFT = 372

STORY_SIZE = 13.5  # of the letters
STORY_LINE = 18
STORY_GAP = 4
STORY_INDENT = 12
CHIP = 16  # height of a card in a line


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
    table = Table(view_of(record, player, narrator, open_hands), width, height)
    table.draw_board()
    table.draw_hands()
    table.draw_pack_and_crib()
    if table.view.shown:
        table.draw_show()
    elif table.view.phase != Phase.DISCARD:
        table.draw_plays()
    table.draw_panel()
    return np.array(table.picture)


@lru_cache(maxsize=8)
def background(width: int, height: int) -> Image.Image:
    """Returns the felt, lighter in the middle (mode RGB)."""
    across = np.linspace(-1, 1, width)[None, :]
    down = np.linspace(-1, 1, height)[:, None]
    share = np.clip((across**2 + down**2) / 2, 0, 1)[..., None]
    colours = np.array(FELT) + share * (np.array(FELT_EDGE) - np.array(FELT))
    return Image.fromarray(colours.round().astype(np.uint8))


class Table:
    """A picture of a table, being drawn.

    Args:
        view: What is to be seen.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
    """

    def __init__(self, view: View, width: int, height: int) -> None:
        """Begins with the bare felt."""
        self.view = view
        self.scale = min(width / WIDTH, height / HEIGHT)
        self.left = (width - WIDTH * self.scale) / 2
        self.top = (height - HEIGHT * self.scale) / 2
        self.picture = background(width, height).copy()
        self.pen = ImageDraw.Draw(self.picture)

    # ---- the pieces, in units ----

    def at(self, x: float, y: float) -> tuple[int, int]:
        """Returns the pixel of a point."""
        return round(self.left + x * self.scale), round(self.top + y * self.scale)

    def px(self, length: float) -> int:
        """Returns a length in whole pixels, at least 1."""
        return max(1, round(length * self.scale))

    def paste(self, sprite: Image.Image, corner: tuple[int, int]) -> None:
        """Lays a picture with transparent parts on the table."""
        self.picture.paste(sprite, corner, sprite)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        colour: Colour = TEXT,
        *,
        align: float = 0.0,
        width: float = WIDTH,
    ) -> float:
        """Writes a line, shortened to *width*; returns how long it is.

        Args:
            x: Where it begins, where *align* is 0; ends, where it is 1.
            y: Half the height of the letters.
            words: The line.
            size: Of the letters.
            colour: Of the letters.
            align: Which share of the line lies left of *x*.
            width: How long it may be.
        """
        words = fitted(words, self.px(size), width * self.scale)
        long = text_length(words, self.px(size))
        left, middle = self.at(x, y)
        self.write((left - round(align * long), middle), words, self.px(size), colour)
        return long / self.scale

    def write(self, start: tuple[int, int], words: str, size: int, colour: Colour) -> None:
        """Writes words from a point on; all in pixels."""
        mask, left, top = text_mask(words, size)
        self.picture.paste(colour, (start[0] + left, start[1] + top), mask)

    def box(self, box: tuple[float, float, float, float], radius: float, colour: Colour) -> None:
        """Draws a filled box with round corners: left, top, right, bottom."""
        edges = (*self.at(box[0], box[1]), *self.at(box[2], box[3]))
        self.pen.rounded_rectangle(edges, self.px(radius), colour)

    def card(self, card: int, x: float, y: float, width: float) -> None:
        """Lays a card, its top left corner at a point."""
        self.card_at(card, self.at(x, y), self.px(width))

    def card_at(self, card: int, corner: tuple[int, int], width: int) -> None:
        """Lays a card; all in pixels."""
        margin = card_margin(width)
        self.paste(card_picture(card, width), (corner[0] - margin, corner[1] - margin))

    def row(
        self, cards: tuple[int, ...], middle: float, y: float, width: float, step: float
    ) -> None:
        """Lays cards in a row around *middle*, *step* from card to card."""
        left = self.at(middle - ((len(cards) - 1) * step + width) / 2, 0)[0]
        for index, card in enumerate(cards):
            corner = (left + index * self.px(step), self.at(0, y)[1])
            self.card_at(card, corner, self.px(width))

    def peg(self, side: int, x: float, y: float, radius: float = PEG) -> None:
        """Puts a peg of a side at a point."""
        sprite = peg(SIDES[side], self.px(radius))
        left, top = self.at(x, y)
        self.paste(sprite, (left - sprite.width // 2, top - sprite.height // 2))

    # ---- the parts of the table ----

    def draw_board(self) -> None:
        """Draws the board and both pegs of each side."""
        view = self.view
        self.paste(
            board.board_picture(self.scale, view.sides, view.target, view.skunk_lines),
            self.at(*BOARD_AT),
        )
        for side in range(view.sides):
            front, back = view.scores[side], view.back_pegs[side]
            if back is not None:
                place = (
                    board.hole(back, side, view.sides, view.target)
                    if front
                    else board.start_hole_behind(side, view.sides)
                )
                self.peg(side, BOARD_AT[0] + place[0], BOARD_AT[1] + place[1])
            x, y = board.hole(front, side, view.sides, view.target)
            self.peg(side, BOARD_AT[0] + x, BOARD_AT[1] + y)

    def draw_hands(self) -> None:
        """Draws the viewer's hand below and the others' above."""
        others = tuple(card for hand in self.view.hands[1:] for card in hand)
        self.row(others, MIDDLE, 20, 54, min(60, 400 / max(1, len(others))))
        self.text(MIDDLE, 107, " and ".join(self.view.names[1:]), 12, SOFT, align=0.5, width=240)
        self.row(self.view.hands[0], MIDDLE, 424, 74, 79)
        self.text(MIDDLE, 413, self.view.names[0], 12, SOFT, align=0.5, width=240)

    def draw_pack_and_crib(self) -> None:
        """Draws the starter, or the pack before it is turned, and the crib at its dealer's side."""
        view = self.view
        self.card(view.starter, LEFT_COLUMN - 29, 220, 58)
        turned = view.phase != Phase.DISCARD
        self.text(LEFT_COLUMN, 312, "starter" if turned else "pack", 12, SOFT, align=0.5)
        top = 326 if view.dealer == 0 else 118
        if view.crib:
            self.row(view.crib, LEFT_COLUMN, top, 44, 26)
            self.text(LEFT_COLUMN, top + 73, "crib", 12, SOFT, align=0.5)

    def draw_plays(self) -> None:
        """Draws the cards laid, those of this count apart from earlier ones, and the count."""
        view = self.view
        first = len(view.plays) - view.pile_size
        for index, (card, seat) in enumerate(view.plays[:first]):
            left = PLAYS_LEFT + index * 41
            self.card(card, left, 122, 38)
            self.bar(seat, left, 180, 38)
        step = min(46, (PLAYS_RIGHT - PLAYS_LEFT - 64) / max(1, view.pile_size - 1))
        for index, (card, seat) in enumerate(view.plays[first:]):
            # Each player's cards lie a little nearer to that player.
            x, y = PLAYS_LEFT + index * step, 240 if seat == 0 else 220
            self.card(card, x, y, 64)
            self.bar(seat, x, y + 95 if seat == 0 else y - 7, step - 3)
        across, down = self.at(COUNT_MIDDLE, 270)
        radius = self.px(31)
        ring = (across - radius, down - radius, across + radius, down + radius)
        self.pen.ellipse(ring, PANEL, mixed(FELT, TEXT, 0.35), self.px(2))
        self.text(COUNT_MIDDLE, 270, str(view.count), 34, TEXT, align=0.5)
        self.text(COUNT_MIDDLE, 312, "count", 12, SOFT, align=0.5)

    def bar(self, seat: int, x: float, y: float, width: float) -> None:
        """Draws a short bar that says whose card it belongs to."""
        self.box((x, y, x + width, y + 3), 1, SIDES[seat % self.view.sides])

    def draw_show(self) -> None:
        """Draws the hands and the crib that have just been counted, each with its points."""
        high = 94
        top = 262 - high * len(self.view.shown) / 2
        for index, story in enumerate(self.view.shown):
            y = top + index * high
            self.text(SHOW_LEFT, y + 9, story.lead, 13, SOFT, width=230)
            for place, card in enumerate(story.cards):
                self.card(card, SHOW_LEFT + 48 * place, y + 20, 45)
            self.card(story.starter, SHOW_LEFT + 48 * len(story.cards) + 14, y + 20, 45)
            self.text(PLAYS_RIGHT - 8, y + 52, f"{story.points}", 32, GOLD, align=1)

    def draw_panel(self) -> None:
        """Draws the scores, who is to do what, and what has happened."""
        view = self.view
        left, top, right, bottom = PANEL_BOX
        self.box(PANEL_BOX, 12, PANEL)
        left, right = left + PANEL_INSET, right - PANEL_INSET
        y = top + 10.0
        for side in range(view.sides - 1, -1, -1):
            if view.turn is not None and view.turn % view.sides == side:
                self.box((left - 8, y, right + 8, y + 42), 8, mixed(PANEL, FELT, 0.75))
            self.peg(side, left + 6, y + 21, 6)
            name = " and ".join(view.names[side :: view.sides])
            long = self.text(left + 20, y + 21, name, 17, width=106)
            if view.dealer % view.sides == side:
                self.dealer_button(left + 20 + long + 15, y + 21)
            self.text(right, y + 21, str(view.scores[side]), 32, TEXT, align=1)
            y += 46
        y += 6
        if view.result:
            self.box((left - 4, y, right + 4, y + 54), 8, GOLD)
            middle = (left + right) / 2
            self.text(middle, y + 18, self.status(18, right - left), 18, PANEL, align=0.5)
            self.text(middle, y + 39, view.result, 14, PANEL, align=0.5, width=right - left)
            y += 64
        else:
            self.text(left, y + 10, self.status(15, right - left), 15, GOLD)
            about = f"deal {view.deal_number}, to {view.target}"
            self.text(left, y + 30, about, 12, SOFT, width=right - left)
            y += 46
        self.pen.line((*self.at(left, y), *self.at(right, y)), mixed(PANEL, SOFT, 0.4), self.px(1))
        self.draw_stories(y + 8, bottom - 8)

    def status(self, size: float, width: float) -> str:
        """Returns who is to do what, a long name shortened."""
        room = width * self.scale - text_length(f" {self.view.what}", self.px(size))
        return f"{fitted(self.view.who, self.px(size), room)} {self.view.what}"

    def dealer_button(self, x: float, y: float) -> None:
        """Draws the dealer's button."""
        middle = self.at(x, y)
        radius = self.px(8)
        edges = (middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius)
        self.pen.ellipse(edges, TEXT)
        self.text(x, y, "D", 11, PANEL, align=0.5)

    def draw_stories(self, top: float, bottom: float) -> None:
        """Writes what has happened, the last at the bottom; what does not fit falls off the top."""
        size = self.px(STORY_SIZE)
        space = round(text_length(" ", size))
        left = PANEL_BOX[0] + PANEL_INSET
        wide = (PANEL_BOX[2] - PANEL_INSET - left - STORY_INDENT) * self.scale
        blocks = [
            (story, wrapped(story, size, wide, self.px(CHIP)))
            for story in self.view.stories
            if story.what not in (What.END, What.FORFEIT)  # which stand above
        ]
        room = bottom - top
        while blocks and sum(block_height(rows) for _, rows in blocks) > room:
            blocks.pop(0)
        y = top
        for story, rows in blocks:
            self.peg(story.seat % self.view.sides, left + 3, y + STORY_LINE / 2, 2.5)
            colour = GOLD if story.points else TEXT
            for row in rows:
                x = self.at(left + STORY_INDENT, 0)[0]
                middle = self.at(0, y + STORY_LINE / 2)[1]
                for piece in row:
                    if isinstance(piece, str):
                        self.write((x, middle), piece, size, colour)
                        x += round(text_length(piece, size)) + space
                    else:
                        sprite = chip(piece, self.px(CHIP))
                        self.paste(sprite, (x, middle - sprite.height // 2))
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
