"""The small pictures that a table is drawn from: cards, suits, pegs and letters, kept once made.

Each is drawn at several times its size and reduced, which leaves its edges smooth. Sizes are whole
pixels. The font is the one that comes with Pillow; it has no suits, so those are drawn. This is the
one file that imports Pillow, and it says so in one line where it is missing.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, sin, tau
from typing import TypeAlias

from gymnasium.error import DependencyNotInstalled

from crib_env.cards import JACK, NO_CARD, RANKS

try:
    # Named twice, so that the modules that draw with them may take them from here.
    from PIL import Image as Image
    from PIL import ImageDraw as ImageDraw
    from PIL import ImageFilter, ImageFont
except ImportError as error:
    raise DependencyNotInstalled(
        'drawing the table needs Pillow: pip install "crib-env[render]"'
    ) from error

Colour: TypeAlias = tuple[int, int, int]

SUPERSAMPLE = 4
CARD_SHAPE = 1.4  # height over width
CARD_WHITE: Colour = (251, 249, 243)
CARD_EDGE: Colour = (188, 182, 168)
BACK_BLUE: Colour = (52, 84, 122)
BACK_LIGHT: Colour = (112, 146, 184)
RED: Colour = (196, 44, 48)
BLACK: Colour = (34, 38, 44)
SUIT_COLOURS = (BLACK, RED, RED, BLACK)  # C D H S
CLUB, DIAMOND, HEART, SPADE = range(4)

# The usual heart curve, a unit wide and about as high; upside down it is most of a spade.
HEART_OUTLINE = [
    (
        16 * sin(angle) ** 3 / 34,
        (13 * cos(angle) - 5 * cos(2 * angle) - 2 * cos(3 * angle) - cos(4 * angle)) / 32,
    )
    for angle in (step * tau / 120 for step in range(120))
]


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Returns Pillow's own font at a size in pixels."""
    loaded = ImageFont.load_default(size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded


@lru_cache(maxsize=4096)
def text_length(words: str, size: int) -> float:
    """Returns how long words are at a size of letters, in pixels."""
    return float(font(size).getlength(words))


def fitted(words: str, size: int, width: float) -> str:
    """Returns words cut off with an ellipsis where they are wider than *width*, in pixels."""
    if text_length(words, size) <= width:
        return words
    while words and text_length(words + "…", size) > width:
        words = words[:-1]
    return words + "…"


@lru_cache(maxsize=4096)
def text_mask(words: str, size: int) -> tuple[Image.Image, int, int]:
    """Returns words as a mask (mode L), and where its corner lies.

    The corner is told from the left end of the words, halfway up the letters. Kept, since games
    say the same few words all the time and letters are slow to draw.
    """
    letters = font(size)
    left, top, right, bottom = (round(edge) for edge in letters.getbbox(words, anchor="lm"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)), 0)
    ImageDraw.Draw(mask).text((-left, -top), words, 255, letters, "lm")
    return mask, left, top


@lru_cache(maxsize=256)
def suit_mask(suit: int, size: int) -> Image.Image:
    """Returns the shape of a suit as a mask (mode L) of *size* x *size* pixels."""
    big = 8 * size
    mask = Image.new("L", (big, big), 0)
    draw = ImageDraw.Draw(mask)

    def disc(x: float, y: float, radius: float) -> None:
        box = ((x - radius) * big, (y - radius) * big, (x + radius) * big, (y + radius) * big)
        draw.ellipse(box, fill=255)

    def shape(*points: tuple[float, float]) -> None:
        draw.polygon([(x * big, y * big) for x, y in points], fill=255)

    if suit == DIAMOND:
        shape((0.5, 0.02), (0.88, 0.5), (0.5, 0.98), (0.12, 0.5))
    elif suit == HEART:
        shape(*((0.5 + x, 0.45 - y) for x, y in HEART_OUTLINE))
    elif suit == SPADE:
        shape(*((0.5 + 0.94 * x, 0.42 + 0.85 * y) for x, y in HEART_OUTLINE))
        shape((0.45, 0.5), (0.55, 0.5), (0.66, 0.98), (0.34, 0.98))
    else:
        disc(0.5, 0.235, 0.215)
        disc(0.255, 0.57, 0.215)
        disc(0.745, 0.57, 0.215)
        disc(0.5, 0.48, 0.13)
        shape((0.47, 0.5), (0.53, 0.5), (0.66, 0.98), (0.34, 0.98))
    return mask.resize((size, size), Image.Resampling.BOX)


def rank_text(card: int) -> str:
    """Returns the rank as a card bears it: ``"10"`` for a ten."""
    return RANKS[card // 4].replace("T", "10")


def card_height(width: int) -> int:
    """Returns how high a card of a width is, in pixels."""
    return round(CARD_SHAPE * width)


def card_margin(width: int) -> int:
    """Returns by how much a card's picture is larger on each side, for its shadow, in pixels."""
    return max(2, width // 14)


@lru_cache(maxsize=512)
def card_picture(card: int, width: int) -> Image.Image:
    """Returns a card as it lies on the table, with its shadow around it (mode RGBA).

    Args:
        card: Which; NO_CARD for a back.
        width: The width of the card alone, in pixels (`card_margin`).
    """
    scale = SUPERSAMPLE
    margin = card_margin(width) * scale
    wide, high = width * scale, card_height(width) * scale
    radius = wide // 11
    shadow = Image.new("L", (wide + 2 * margin, high + 2 * margin), 0)
    box = (margin, margin + margin // 3, margin + wide, margin + margin // 3 + high)
    ImageDraw.Draw(shadow).rounded_rectangle(box, radius, fill=120)
    shadow = shadow.filter(ImageFilter.GaussianBlur(margin // 3))
    picture = Image.new("RGBA", shadow.size, (0, 0, 0, 0))
    picture.putalpha(shadow)
    shape = Image.new("L", (wide, high), 0)
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, wide - 1, high - 1), radius, fill=255)
    front = _back(wide, high) if card == NO_CARD else _front(card, wide, high)
    picture.paste(front, (margin, margin), shape)
    return picture.reduce(scale)


def _front(card: int, wide: int, high: int) -> Image.Image:
    """Returns the face of a card (mode RGB): its rank and suit in two corners, large in between."""
    face = Image.new("RGB", (wide, high), CARD_WHITE)
    draw = ImageDraw.Draw(face)
    draw.rounded_rectangle(
        (0, 0, wide - 1, high - 1), wide // 11, outline=CARD_EDGE, width=wide // 60
    )
    colour = SUIT_COLOURS[card % 4]
    rank = rank_text(card)
    middle = (wide // 2, high // 2)
    if card // 4 >= JACK:
        letters = font(round(wide * 0.5))
        draw.text((middle[0], high * 0.4), rank, colour, letters, "mm", stroke_width=wide // 120)
        _stamp(face, card % 4, (middle[0], round(high * 0.67)), round(wide * 0.3), colour)
    else:
        _stamp(face, card % 4, middle, round(wide * 0.46), colour)
    # One corner is drawn, the other is that corner turned round.
    corner = Image.new("RGB", (round(wide * 0.27), round(high * 0.38)), CARD_WHITE)
    letters = font(round(wide * (0.24 if len(rank) > 1 else 0.31)))
    place = (corner.width * 0.52, corner.height * 0.31)
    stroke = wide // 100
    ImageDraw.Draw(corner).text(place, rank, colour, letters, "mm", stroke_width=stroke)
    place = (round(corner.width * 0.52), round(corner.height * 0.74))
    _stamp(corner, card % 4, place, round(wide * 0.19), colour)
    inset = wide // 40
    face.paste(corner, (inset, inset))
    turned = corner.transpose(Image.Transpose.ROTATE_180)
    face.paste(turned, (wide - inset - corner.width, high - inset - corner.height))
    return face


def _stamp(
    picture: Image.Image, suit: int, middle: tuple[int, int], size: int, colour: Colour
) -> None:
    """Draws a suit around a point. Changes *picture*."""
    corner = (middle[0] - size // 2, middle[1] - size // 2)
    picture.paste(colour, corner, suit_mask(suit, size))


def _back(wide: int, high: int) -> Image.Image:
    """Returns the back of a card (mode RGB): a lattice in a white frame, the same for all."""
    back = Image.new("RGB", (wide, high), CARD_WHITE)
    draw = ImageDraw.Draw(back)
    draw.rounded_rectangle(
        (0, 0, wide - 1, high - 1), wide // 11, outline=CARD_EDGE, width=wide // 60
    )
    border = wide // 13
    lattice = Image.new("RGB", (wide - 2 * border, high - 2 * border), BACK_BLUE)
    lines = ImageDraw.Draw(lattice)
    step = wide // 7
    for start in range(-high - step, wide + step, step):
        lines.line((start, 0, start + high, high), BACK_LIGHT, max(1, wide // 80))
        lines.line((start + high, 0, start, high), BACK_LIGHT, max(1, wide // 80))
    shape = Image.new("L", lattice.size, 0)
    right, bottom = lattice.width - 1, lattice.height - 1
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, right, bottom), wide // 20, fill=255)
    back.paste(lattice, (border, border), shape)
    return back


@lru_cache(maxsize=512)
def chip(card: int, height: int) -> Image.Image:
    """Returns a card as it stands in a line of text: its rank and suit on white (mode RGBA)."""
    scale = SUPERSAMPLE
    high = height * scale
    wide = round(1.7 * height) * scale
    picture = Image.new("RGBA", (wide, high), (*CARD_WHITE, 0))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((0, 0, wide - 1, high - 1), high // 5, fill=CARD_WHITE)
    colour = SUIT_COLOURS[card % 4]
    place = (wide * 0.32, high * 0.5)
    letters = font(round(high * 0.72))
    draw.text(place, rank_text(card), colour, letters, "mm", stroke_width=high // 50)
    size = round(high * 0.56)
    picture.paste(colour, (round(wide * 0.6), (high - size) // 2), suit_mask(card % 4, size))
    return picture.reduce(scale)


@lru_cache(maxsize=64)
def peg(colour: Colour, radius: int) -> Image.Image:
    """Returns a peg seen from above, with a light on it (mode RGBA)."""
    scale = SUPERSAMPLE
    size = (2 * radius + 3) * scale
    middle = size / 2
    picture = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)

    def disc(x: float, y: float, reach: float, fill: tuple[int, ...]) -> None:
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=fill)

    full = radius * scale
    disc(middle, middle, full + scale, (*mixed(colour, (0, 0, 0), 0.55), 255))
    disc(middle, middle, full, (*colour, 255))
    light = mixed(colour, (255, 255, 255), 0.55)
    disc(middle - full * 0.25, middle - full * 0.25, full * 0.38, (*light, 255))
    return picture.reduce(scale)


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """Returns a colour between two; *share* of the other, 0 to 1."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
