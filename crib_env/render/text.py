"""The table as text, for ``render_mode="ansi"``: what one seat sees, in some twenty lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crib_env.cards import NO_CARD, card_text
from crib_env.events import Count, What
from crib_env.narrator import CLAIMING, Narrator
from crib_env.render.view import View, view_of

BACK = "##"
TRACK = 61  # characters of a side's track, of two holes each where the target is 121

RED = "\x1b[31m"
BOLD = "\x1b[1m"
RESET = "\x1b[0m"


def table_text(
    record: Any,
    player: int,
    narrator: Narrator,
    *,
    open_hands: bool = False,
    colour: bool = False,
) -> str:
    """Returns the table as a seat sees it, as lines of text.

    On the board, ``O`` is the front peg, ``o`` the back peg and ``|`` a skunk line. ``##`` is the
    back of a card.

    Args:
        record: One record of `crib_env.game_record.RECORD`, as the narrator was last told it.
        player: The seat that looks.
        narrator: Who followed the game.
        open_hands: Whether all cards lie open.
        colour: Whether red suits and the status are set off by ANSI codes.

    Raises:
        ValueError: If there is no such seat.
    """
    view = view_of(record, player, narrator, open_hands)
    word = coloured_card if colour else plain_card
    sides = [" and ".join(view.names[side :: view.sides]) for side in range(view.sides)]
    width = max(len(name) for name in (*sides, *view.names, "laid before"))
    first = len(view.plays) - view.pile_size
    rows = [seat_row(view, seat, word) for seat in range(len(view.names) - 1, 0, -1)]
    rows += [
        ("crib", cards_row(view.crib, word)),
        ("starter", cards_row([view.starter], word)),
        ("laid before", cards_row([card for card, _ in view.plays[:first]], word)),
        ("pile", cards_row([card for card, _ in view.plays[first:]], word)),
        ("count", str(view.count)),
        seat_row(view, 0, word),
    ]
    if view.phase in CLAIMING:
        rows += [("counted", counted_row(view, count, word)) for count in view.shown]
    if view.claim:
        rows.append(("claim", view.claim))
    status = f"{view.who} {view.what}" + (f": {view.result}" if view.result else "")
    lines = [
        f"deal {view.deal_number}, {view.names[view.dealer]} deals, to {view.target}",
        "",
        *(
            f"{sides[side]:<{width}}  {board_line(view, side)}"
            for side in range(view.sides - 1, -1, -1)
        ),
        "",
        *(f"{name:<{width}}  {cards}" for name, cards in rows),
        "",
        *(f"- {story.text(word)}" for story in view.stories),
        f"{BOLD}{status}{RESET}" if colour else status,
    ]
    return "\n".join(lines) + "\n"


def seat_row(view: View, seat: int, word: Callable[[int], str]) -> tuple[str, str]:
    """Returns a seat's name and what it holds; with three seats or more, also what it has laid.

    With two, the order of the pile tells enough.
    """
    held = cards_row(view.hands[seat], word)
    laid = [card for card, by in view.plays if by == seat]
    if laid and len(view.names) > 2:
        held += f"  laid {cards_row(laid, word)}"
    return view.names[seat], held


def counted_row(view: View, count: Count, word: Callable[[int], str]) -> str:
    """Returns what lies open in a show, and what was pegged for it."""
    whose = "crib" if count.what == What.CRIB else view.names[count.seat]
    row = f"{whose} {cards_row(count.cards, word)} with {word(count.starter)}"
    if count.points is not None:
        row += f": {count.points}"
    return row + "".join(f", {view.names[seat]} {points}" for seat, points in count.called)


def board_line(view: View, side: int) -> str:
    """Returns a side's score, in brackets the score before its last pegging, and its pegs."""
    score = view.scores[side]
    back = view.back_pegs[side]
    track = ["."] * TRACK
    for line in view.skunk_lines:
        track[place(line, view.target)] = "|"
    if back is not None:
        track[place(back, view.target)] = "o"
    track[place(score, view.target)] = "O"
    before = "-" if back is None else str(back)
    return f"{score:>3} {f'({before})':>5}  {''.join(track)}"


def place(score: int, target: int) -> int:
    """Returns where a score stands on a track: 0 at the first character, the target at the last."""
    return score * (TRACK - 1) // target


def cards_row(cards: Iterable[int], word: Callable[[int], str]) -> str:
    """Returns cards in a row, backs for those not known; ``"-"`` where there is none."""
    return " ".join(map(word, cards)) or "-"


def plain_card(card: int) -> str:
    """Returns a card as two letters, or its back."""
    return BACK if card == NO_CARD else card_text(card)


def coloured_card(card: int) -> str:
    """Returns a card as `plain_card` does, red where its suit is."""
    text = plain_card(card)
    return f"{RED}{text}{RESET}" if text[1] in "DH" else text
