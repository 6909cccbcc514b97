"""The table of two players, who face each other: their cards, the pack, the crib, plays and show.

Lengths are in units of a table of 960 x 540 (`canvas.py`).
"""

from __future__ import annotations

from crib_env.events import VERBS
from crib_env.game_record import Phase
from crib_env.render.canvas import GOLD, SIDES, SOFT, Canvas
from crib_env.render.view import View

MIDDLE = 461  # the middle of the felt between board and panel
LEFT_COLUMN = 282  # the middle of the pack and the crib
COUNT_MIDDLE = 378
PLAYS_LEFT, PLAYS_RIGHT = 420, 702
SHOW_LEFT = 372


def draw_table(canvas: Canvas, view: View) -> None:
    """Draws all that lies between the board and the panel."""
    draw_hands(canvas, view)
    draw_pack_and_crib(canvas, view)
    if view.shown:
        draw_show(canvas, view)
    elif view.phase != Phase.DISCARD:
        draw_plays(canvas, view)


def draw_hands(canvas: Canvas, view: View) -> None:
    """Draws the viewer's hand below and the other's above."""
    canvas.row(view.hands[1], MIDDLE, 20, 54, 60)
    canvas.text(MIDDLE, 107, view.names[1], 12, SOFT, align=0.5, width=240)
    canvas.row(view.hands[0], MIDDLE, 424, 74, 79)
    canvas.text(MIDDLE, 413, view.names[0], 12, SOFT, align=0.5, width=240)


def draw_pack_and_crib(canvas: Canvas, view: View) -> None:
    """Draws the starter, or the pack before it is turned, and the crib at its dealer's side."""
    canvas.card(view.starter, LEFT_COLUMN - 29, 220, 58)
    turned = view.phase != Phase.DISCARD
    canvas.text(LEFT_COLUMN, 312, "starter" if turned else "pack", 12, SOFT, align=0.5)
    top = 326 if view.dealer == 0 else 118
    if view.crib:
        canvas.row(view.crib, LEFT_COLUMN, top, 44, 26)
        canvas.text(LEFT_COLUMN, top + 73, "crib", 12, SOFT, align=0.5)


def draw_plays(canvas: Canvas, view: View) -> None:
    """Draws the cards laid, those of this count apart from earlier ones, and the count."""
    first = len(view.plays) - view.pile_size
    for index, (card, seat) in enumerate(view.plays[:first]):
        left = PLAYS_LEFT + index * 41
        canvas.card(card, left, 122, 38)
        bar(canvas, seat, left, 180, 38)
    step = min(46, (PLAYS_RIGHT - PLAYS_LEFT - 64) / max(1, view.pile_size - 1))
    for index, (card, seat) in enumerate(view.plays[first:]):
        # Each player's cards lie a little nearer to that player.
        x, y = PLAYS_LEFT + index * step, 240 if seat == 0 else 220
        canvas.card(card, x, y, 64)
        bar(canvas, seat, x, y + 95 if seat == 0 else y - 7, step - 3)
    canvas.count(view.count, COUNT_MIDDLE, 270)
    if view.claim:
        canvas.text(PLAYS_LEFT, 360, view.claim, 15, GOLD, width=PLAYS_RIGHT - PLAYS_LEFT)


def bar(canvas: Canvas, seat: int, x: float, y: float, width: float) -> None:
    """Draws a short bar that says whose card it belongs to."""
    canvas.box((x, y, x + width, y + 3), 1, SIDES[seat])


def draw_show(canvas: Canvas, view: View) -> None:
    """Draws the hands and the crib that have just been counted, each with its points."""
    high = 94
    top = 262 - high * len(view.shown) / 2
    for index, count in enumerate(view.shown):
        y = top + index * high
        lead = f"{view.names[count.seat]} {VERBS[count.what]}"
        canvas.text(SHOW_LEFT, y + 9, lead, 13, SOFT, width=230)
        for place, card in enumerate(count.cards):
            canvas.card(card, SHOW_LEFT + 48 * place, y + 20, 45)
        canvas.card(count.starter, SHOW_LEFT + 48 * len(count.cards) + 14, y + 20, 45)
        points = "?" if count.points is None else str(count.points)
        canvas.text(PLAYS_RIGHT - 8, y + 52, points, 32, GOLD, align=1)
        canvas.called(count.called, PLAYS_RIGHT - 8, y + 79)
