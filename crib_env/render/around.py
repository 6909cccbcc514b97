"""The table of three or four players: those at left and right, and the partner opposite.

The viewer sits below. A card laid has a mark of its side's colour that points to who laid it.
Lengths are in units of a table of 960 x 540 (`canvas.py`).
"""

from __future__ import annotations

from crib_env.events import What
from crib_env.game_record import Phase
from crib_env.render.canvas import GOLD, SIDES, SOFT, Canvas
from crib_env.render.view import View

MIDDLE = 461  # the middle of the felt between board and panel
LEFT_SEAT, RIGHT_SEAT = 238, 684  # the middles of the hands at the sides
LEFT_COLUMN = 315  # the middle of the pack and the crib
PLAYS_LEFT, PLAYS_RIGHT = 374, 648
OPPOSITE_TOP, FREE_TOP = 118, 80  # where the inner table begins, with somebody opposite or not

PILE_CARD, EARLIER_CARD, SHOWN_CARD = 60, 34, 38  # widths
MARK = 5  # half the width of a mark
SHOW_HIGH = 57

BELOW, LEFT, OPPOSITE, RIGHT = range(4)
# Where the seats sit, from the viewer's own to the left.
PLACES = {3: (BELOW, LEFT, RIGHT), 4: (BELOW, LEFT, OPPOSITE, RIGHT)}
# Whether a card of each place lies below or above the line of the pile.
NEARER = {BELOW: 1, LEFT: 0, OPPOSITE: -1, RIGHT: 0}
# The corners of a mark that points to each place, in halves of its width.
MARKS = {
    BELOW: ((-1, -0.7), (1, -0.7), (0, 1)),
    LEFT: ((0.7, -1), (0.7, 1), (-1, 0)),
    OPPOSITE: ((-1, 0.7), (1, 0.7), (0, -1)),
    RIGHT: ((-0.7, -1), (-0.7, 1), (1, 0)),
}


def draw_table(canvas: Canvas, view: View) -> None:
    """Draws all that lies between the board and the panel."""
    top = OPPOSITE_TOP if len(view.names) == 4 else FREE_TOP
    draw_hands(canvas, view)
    draw_pack_and_crib(canvas, view, top)
    if view.shown:
        draw_show(canvas, view, top)
    elif view.phase != Phase.DISCARD:
        draw_plays(canvas, view, top)


def place_of(view: View, seat: int) -> int:
    """Returns where a seat sits."""
    return PLACES[len(view.names)][seat]


def draw_hands(canvas: Canvas, view: View) -> None:
    """Draws each hand where its seat sits, with its name; who is to act stands out."""
    for seat, hand in enumerate(view.hands):
        place = place_of(view, seat)
        if place == BELOW:
            canvas.row(hand, MIDDLE, 424, 74, 79)
            x, y, width = MIDDLE, 413, 240
        elif place == OPPOSITE:
            canvas.row(hand, MIDDLE, 20, 54, 60)
            x, y, width = MIDDLE, 107, 240
        else:
            x = LEFT_SEAT if place == LEFT else RIGHT_SEAT
            for index, card in enumerate(hand):
                canvas.card(card, x - 22, 150 + 26 * index, 44)
            y, width = 138, 52
        colour = GOLD if seat == view.turn else SOFT
        canvas.text(x, y, view.names[seat], 12, colour, align=0.5, width=width)


def draw_pack_and_crib(canvas: Canvas, view: View, top: float) -> None:
    """Draws the starter, or the pack before it is turned, and below it the crib."""
    canvas.card(view.starter, LEFT_COLUMN - 29, top + 34, 58)
    turned = view.phase != Phase.DISCARD
    canvas.text(LEFT_COLUMN, top + 126, "starter" if turned else "pack", 12, SOFT, align=0.5)
    if view.crib:
        canvas.row(view.crib, LEFT_COLUMN, top + 148, 44, 14)
        whose = f"{view.names[view.dealer]}'s crib"
        canvas.text(LEFT_COLUMN, top + 221, whose, 12, SOFT, align=0.5, width=100)


def draw_plays(canvas: Canvas, view: View, top: float) -> None:
    """Draws the cards laid, those of this count apart from earlier ones, and the count."""
    first = len(view.plays) - view.pile_size
    middle = (PLAYS_LEFT + PLAYS_RIGHT) / 2
    # The pile lies larger, each player's cards a little nearer to that player.
    for plays, width, most_step, y, mark_below, nearer in (
        (view.plays[:first], EARLIER_CARD, EARLIER_CARD + 2, top + 6, 57, 0),
        (view.plays[first:], PILE_CARD, 46, top + 80, 102, 8),
    ):
        step = min(most_step, (PLAYS_RIGHT - PLAYS_LEFT - width) / max(1, len(plays) - 1))
        for index, (card, seat) in enumerate(plays):
            x, place = PLAYS_LEFT + index * step, place_of(view, seat)
            canvas.card(card, x, y + nearer * NEARER[place], width)
            middle_seen = x + min(step, width) / 2
            draw_mark(canvas, place, seat % view.sides, middle_seen, y + mark_below)
    if view.claim:
        canvas.text(middle, top + 202, view.claim, 15, GOLD, align=0.5, width=270)
    canvas.count(view.count, middle, top + 247, label_beside=True)


def draw_mark(canvas: Canvas, place: int, side: int, x: float, y: float) -> None:
    """Draws a mark around a point that says where the player of a card sits."""
    corners = [canvas.at(x + MARK * across, y + MARK * down) for across, down in MARKS[place]]
    canvas.pen.polygon(corners, SIDES[side])


def draw_show(canvas: Canvas, view: View, top: float) -> None:
    """Draws the hands and the crib that have just been counted, each with its points."""
    y = top + (286 - SHOW_HIGH * len(view.shown)) / 2
    for count in view.shown:
        whose = "crib" if count.what == What.CRIB else view.names[count.seat]
        canvas.text(PLAYS_LEFT, y + 26, whose, 13, SOFT, width=54)
        for place, card in enumerate(count.cards):
            canvas.card(card, PLAYS_LEFT + 58 + 27 * place, y, SHOWN_CARD)
        canvas.card(count.starter, PLAYS_LEFT + 182, y, SHOWN_CARD)
        points = "?" if count.points is None else str(count.points)
        canvas.text(PLAYS_RIGHT, y + 26, points, 26, GOLD, align=1)
        called = [(seat % view.sides, points) for seat, points in count.called]
        canvas.called(called, PLAYS_RIGHT, y + 46)
        y += SHOW_HIGH
