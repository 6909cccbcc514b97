"""The cribbage board as a picture: four streets of thirty holes, a snake from start to game hole.

Lengths are in units of a table 540 units high; *scale* is pixels a unit. Sides are relative: the
first has the track that is outside at the start. Hole 0 is where a side's pegs start.
"""

from __future__ import annotations

from functools import lru_cache
from math import sin

from crib_env.render.sprites import SUPERSAMPLE, Colour, Image, ImageDraw, font, mixed

WIDTH = 192
HEIGHT = 516
STREETS = 4
STREET_HOLES = 30
GROUP = 5  # holes between two gaps

PITCH = 14.0  # from hole to hole
GAP = 4.0  # more between two groups
FIRST = 470.0  # from the top to the lowest holes of a street
START = 490.0  # to the start hole that lies nearer
GAME_GAP = 22.0  # from hole 120 to the game hole below it
BAND = 16.5  # half the width of a street
TRACKS = {2: (-9.5, 9.5), 3: (-11.0, 0.0, 11.0)}  # from the middle of the first street, by sides
HOLE = 2.6  # radius
GAME_HOLE = 4.8
TURN = 23.0  # how far a turn reaches beyond the streets that it joins

WOOD: Colour = (196, 155, 106)
WOOD_DARK: Colour = (180, 138, 92)
BAND_WOOD: Colour = (226, 196, 150)
INK: Colour = (98, 68, 42)
FAINT: Colour = (204, 172, 128)
SKUNK: Colour = (136, 40, 32)
GOLD: Colour = (214, 168, 58)
SKUNK_NAMES = ("skunk", "double skunk", "triple skunk")


def street_middle(street: int) -> float:
    """Returns how far the middle of a street is from the left, in units."""
    return WIDTH / STREETS * (street + 0.5)


def hole(number: int, side: int, sides: int, target: int) -> tuple[float, float]:
    """Returns where a hole is, from the board's top left corner, in units.

    Args:
        number: 0, where the pegs start, to 120; or the target, which is one hole for all sides.
        side: Whose.
        sides: How many sides there are, 2 or 3.
        target: The score that wins.
    """
    street, place = divmod(max(number, 1) - 1, STREET_HOLES)
    if number > STREETS * STREET_HOLES:
        street, place = STREETS - 1, STREET_HOLES
    goes_down = street % 2 == 1
    if number == 0:
        height = START
    elif place == STREET_HOLES:
        height = FIRST + GAME_GAP
    else:
        up = STREET_HOLES - 1 - place if goes_down else place
        height = FIRST - up * PITCH - up // GROUP * GAP
    # A track that is outside in one turn is inside in the next.
    track = 0.0 if number == target else TRACKS[sides][side]
    return street_middle(street) + (-track if goes_down else track), height


def start_hole_behind(side: int, sides: int) -> tuple[float, float]:
    """Returns where the back peg waits until the first points, as `hole`."""
    x, y = hole(0, side, sides, 1)
    return x, y + PITCH


@lru_cache(maxsize=8)
def board_picture(
    scale: float, sides: int, target: int, skunk_lines: tuple[int, ...]
) -> Image.Image:
    """Returns the board without pegs (mode RGBA).

    Args:
        scale: Pixels a unit.
        sides: How many tracks it has, 2 or 3.
        target: The score that wins; holes beyond it are faint.
        skunk_lines: Below which scores a loser is skunked, once, twice and so on.
    """
    big = scale * SUPERSAMPLE
    size = (round(WIDTH * scale) * SUPERSAMPLE, round(HEIGHT * scale) * SUPERSAMPLE)
    picture = Image.new("RGBA", size, (0, 0, 0, 0))
    shape = Image.new("L", size, 0)
    corner = round(10 * big)
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, size[0] - 1, size[1] - 1), corner, fill=255)
    picture.paste(_wood(size), (0, 0), shape)
    draw = ImageDraw.Draw(picture)
    _draw_bands(draw, big)
    for number in range(1, STREETS * STREET_HOLES + 1):
        for side in range(sides):
            if number != target:
                _disc(
                    draw,
                    big,
                    hole(number, side, sides, target),
                    HOLE,
                    INK if number < target else FAINT,
                )
        if number % 10 == 0 and sides == 2 and number < target:
            x, y = hole(number, 0, sides, number)
            draw.text((x * big, y * big), str(number), INK, font(round(7.5 * big)), "mm")
    for side in range(sides):
        _disc(draw, big, hole(0, side, sides, target), HOLE, INK)
        _disc(draw, big, start_hole_behind(side, sides), HOLE, INK)
    _disc(draw, big, hole(target, 0, sides, target), GAME_HOLE + 1.6, GOLD)
    _disc(draw, big, hole(target, 0, sides, target), GAME_HOLE, INK)
    for name, line in zip(SKUNK_NAMES, skunk_lines, strict=False):
        _draw_skunk_line(picture, big, name, line)
    return picture.reduce(SUPERSAMPLE)


def _wood(size: tuple[int, int]) -> Image.Image:
    """Returns wood with a quiet grain that runs along the streets (mode RGB)."""
    columns = [
        mixed(WOOD, WOOD_DARK, 0.5 + 0.3 * sin(x / size[0] * 61) + 0.2 * sin(x / size[0] * 173))
        for x in range(size[0])
    ]
    channels = bytes(channel for column in columns for channel in column)
    line = Image.frombytes("RGB", (size[0], 1), channels)
    return line.resize(size)


def _draw_bands(draw: ImageDraw.ImageDraw, big: float) -> None:
    """Draws the streets and the turns that join them. Changes what *draw* draws on."""
    top, bottom = FIRST - hole_span(), FIRST
    for street in range(STREETS):
        x = street_middle(street)
        # The first street begins at the start holes, the last ends at the game hole.
        is_end = street in (0, STREETS - 1)
        box = (x - BAND, top - 8, x + BAND, START + PITCH + 9 if is_end else bottom + 8)
        draw.rounded_rectangle([edge * big for edge in box], BAND * big if is_end else 0, BAND_WOOD)
        if is_end:
            draw.rectangle(
                [edge * big for edge in (x - BAND, top - 8, x + BAND, bottom)], BAND_WOOD
            )
    reach = WIDTH / STREETS / 2
    for street in range(STREETS - 1):
        x = street_middle(street) + reach
        y = bottom + 8 if street % 2 else top - 8
        for wide, high, colour in (
            (reach + BAND, TURN, BAND_WOOD),
            (reach - BAND, TURN * 0.3, WOOD),
        ):
            box = (x - wide, y - high, x + wide, y + high)
            ends = (0, 180) if street % 2 else (180, 360)
            draw.pieslice([edge * big for edge in box], *ends, fill=colour)


def hole_span() -> float:
    """Returns how far the ends of a street are apart, in units."""
    return (STREET_HOLES - 1) * PITCH + (STREET_HOLES - 1) // GROUP * GAP


def _disc(
    draw: ImageDraw.ImageDraw,
    big: float,
    middle: tuple[float, float],
    radius: float,
    colour: Colour,
) -> None:
    """Draws a disc. Changes what *draw* draws on."""
    x, y = middle
    draw.ellipse(
        [edge * big for edge in (x - radius, y - radius, x + radius, y + radius)], fill=colour
    )


def _draw_skunk_line(picture: Image.Image, big: float, name: str, line: int) -> None:
    """Draws the line before hole *line* and its name beside the street. Changes *picture*."""
    street = min((line - 1) // STREET_HOLES, STREETS - 1)
    goes_down = street % 2 == 1
    x, y = hole(line, 0, 2, line)
    first_of_group = (line - 1) % GROUP == 0
    away = (PITCH + (GAP if first_of_group else 0)) / 2
    y += -away if goes_down else away
    draw = ImageDraw.Draw(picture)
    box = (x - BAND, y - 0.7, x + BAND, y + 0.7)
    draw.rectangle([edge * big for edge in box], SKUNK)
    letters = font(round(8.5 * big))
    left, top, right, bottom = letters.getbbox(name, anchor="ls")
    label = Image.new("L", (round(right - left) + 2, round(bottom - top) + 2), 0)
    ImageDraw.Draw(label).text((1 - left, 1 - top), name, 255, letters, "ls")
    label = label.transpose(Image.Transpose.ROTATE_90)
    # In the gap beside the street, from the line onwards.
    gap = x + WIDTH / STREETS / 2 * (1 if street == 0 else -1)
    corner = (
        round(gap * big - label.width / 2),
        round(y * big if goes_down else y * big - label.height),
    )
    picture.paste(SKUNK, corner, label)
