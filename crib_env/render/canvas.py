"""What a picture of the table is drawn on: felt, and the pieces that lie on it.

Lengths are in units of a table of 960 x 540, whatever the size of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crib_env.render.sprites import (
    Colour,
    Image,
    ImageDraw,
    card_margin,
    card_picture,
    fitted,
    mixed,
    peg,
    text_length,
    text_mask,
)

WIDTH, HEIGHT = 960, 540

FELT: Colour = (52, 104, 88)
FELT_EDGE: Colour = (28, 64, 56)
PANEL: Colour = (22, 48, 43)
TEXT: Colour = (238, 236, 226)
SOFT: Colour = (168, 190, 178)
GOLD: Colour = (242, 202, 110)
SIDES: tuple[Colour, ...] = ((46, 110, 196), (208, 66, 56), (64, 150, 84))  # pegs, by relative side

PEG = 5  # radius


@lru_cache(maxsize=8)
def background(width: int, height: int) -> Image.Image:
    """Returns the felt, lighter in the middle (mode RGB)."""
    across = np.linspace(-1, 1, width)[None, :]
    down = np.linspace(-1, 1, height)[:, None]
    share = np.clip((across**2 + down**2) / 2, 0, 1)[..., None]
    colours = np.array(FELT) + share * (np.array(FELT_EDGE) - np.array(FELT))
    return Image.fromarray(colours.round().astype(np.uint8))


class Canvas:
    """A picture being drawn.

    Args:
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        """Begins with the bare felt."""
        self.scale = min(width / WIDTH, height / HEIGHT)
        self.left = (width - WIDTH * self.scale) / 2
        self.top = (height - HEIGHT * self.scale) / 2
        self.picture = background(width, height).copy()
        self.pen = ImageDraw.Draw(self.picture)

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

    def count(self, count: int, x: float, y: float, *, label_beside: bool = False) -> None:
        """Draws the count in a ring around a point, its label below or at the left."""
        across, down = self.at(x, y)
        radius = self.px(31)
        ring = (across - radius, down - radius, across + radius, down + radius)
        self.pen.ellipse(ring, PANEL, mixed(FELT, TEXT, 0.35), self.px(2))
        self.text(x, y, str(count), 34, TEXT, align=0.5)
        if label_beside:
            self.text(x - 40, y, "count", 12, SOFT, align=1)
        else:
            self.text(x, y + 42, "count", 12, SOFT, align=0.5)

    def dealer_button(self, x: float, y: float) -> None:
        """Draws the dealer's button around a point."""
        middle = self.at(x, y)
        radius = self.px(8)
        edges = (middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius)
        self.pen.ellipse(edges, TEXT)
        self.text(x, y, "D", 11, PANEL, align=0.5)

    def called(self, called: Sequence[tuple[int, int]], right: float, y: float) -> None:
        """Writes what others have pegged for a hand, each (side, points), up to *right*."""
        for side, points in reversed(called):
            right -= self.text(right, y, str(points), 14, GOLD, align=1) + 7
            self.peg(side, right, y, 4)
            right -= 12
