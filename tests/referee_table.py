"""A table for the tests of the plain rule book: positions from cards written as text.

Like the rule book it imports nothing of the project that it helps to judge.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from tests.referee import (
    CLAIM,
    JACK,
    RANKS,
    SUITS,
    VARIANTS,
    Referee,
    name,
    pegging_parts,
    pegging_points,
    rank,
    value,
)

Case = dict[str, Any]
SHOW_SOURCES = ("hand", "crib")
VARIANT_OF = {2: "six-card", 3: "three-player", 4: "four-player"}


def card_of(text: str) -> int:
    """Returns the card with this name, such as 5H."""
    return 4 * RANKS.index(text[0]) + SUITS.index(text[1])


def cards_of(text: str | Sequence[str]) -> list[int]:
    """Returns the cards of a list of names, or of one string with blanks between the names."""
    return [card_of(word) for word in (text.split() if isinstance(text, str) else text)]


def names_of(cards: Sequence[int] | set[int]) -> set[str]:
    """Returns the names of the cards."""
    return set(map(name, cards))


def after_discards(
    case: Case,
    hands: Sequence[Sequence[int]] | None = None,
    crib: Sequence[int] | None = None,
    muggins: str = "none",
    penalty: bool = True,
) -> Referee:
    """Deals so that the players of a case keep these hands, and throws the rest.

    What the case leaves open (hands, crib, starter, scores, target) is filled with the lowest
    cards that are left, a starter that is no jack, no points and 121. The crib lists what is
    thrown from the dealer's left, then the card from the pack with three players.
    """
    variant = case.get("variant", VARIANT_OF[case.get("players", 2)])
    players, cards_dealt = VARIANTS[variant]
    referee = Referee(
        case.get("target", 121),
        case["dealer"],
        list(case.get("scores", [])),
        players=players,
        cards_dealt=cards_dealt,
        muggins=muggins,
        penalty=penalty,
    )
    starter = card_of(case["starter"]) if "starter" in case else None
    known = {card for hand in hands or [] for card in hand} | {starter, *(crib or [])}
    spare = [card for card in range(52) if card not in known]
    if starter is None:
        starter = next(card for card in reversed(spare) if rank(card) != JACK)
    size, each = referee.kept, referee.cards_dealt - referee.kept
    kept = hands or [spare[size * seat : size * (seat + 1)] for seat in range(players)]
    thrown = crib or spare[size * players : size * players + 4]

    order = referee.leftwards(referee.dealer)
    throws = [list(thrown[each * turn : each * (turn + 1)]) for turn in range(players)]
    dealt = [[*kept[seat], *throw] for seat, throw in zip(order, throws, strict=True)]
    referee.deal(*dealt, *thrown[each * players :], starter)
    for throw in throws:
        for card in throw:
            referee.act(card)
    return referee


# ---- the play ----


@dataclass
class Laid:
    """One card laid, with what followed from it before the next card.

    Attributes:
        player: Who laid it.
        card: Its name.
        count: The count with it.
        parts: What the card pegs, by name.
        award: 1 if its player pegged a go or a last card after it, else 0.
        reason: "go" or "last", or nothing.
    """

    player: int
    card: str
    count: int
    parts: dict[str, int]
    award: int
    reason: str

    @property
    def why(self) -> str:
        """What the card pegs, as the cases write it."""
        return "+".join(f"{part} {points}" for part, points in self.parts.items())


def pegged(referee: Referee, player: int, source: str = "pegging") -> int:
    """Returns what a player has pegged so far, in the play or from another source."""
    return sum(
        points
        for (seat, pegged_from, _), points in referee.points.items()
        if seat == player and pegged_from == source
    )


def play(referee: Referee, order: Sequence[int]) -> list[Laid]:
    """Lays the cards in this order and notes each of them."""
    laid = []
    for card in order:
        player, pile = referee.turn, [*referee.pile, card]
        room = referee.target - referee.scores[referee.side(player)]
        before = pegged(referee, player)
        referee.act(card)
        award = pegged(referee, player) - before - min(pegging_points(pile), room)
        assert award in (0, 1)
        is_last = len(referee.plays) == referee.players * referee.kept
        reason = ("last" if is_last else "go") if award else ""
        count = sum(map(value, pile))
        laid.append(Laid(player, name(card), count, pegging_parts(pile), award, reason))
    return laid


def how_won(laid: Laid) -> str:
    """Returns what the winning card, or the go after it, pegged."""
    return laid.reason or laid.why


# ---- the show, and claims ----


def shown(referee: Referee) -> list[tuple[int, int, str]]:
    """Returns (player, points, source) of the hands and cribs that pegged, in the order counted."""
    return [
        (player, points, source)
        for (player, source, _), points in referee.points.items()
        if source in SHOW_SOURCES
    ]


def say(referee: Referee, *points: int) -> None:
    """Claims or calls these points, one after the other."""
    for number in points:
        assert referee.phase in ("claim", "call")
        referee.act(CLAIM + number)


def refused(referee: Referee, action: int) -> bool:
    """Says whether the referee refuses an action, names it, and stays as it was."""
    before = deepcopy(referee)
    with pytest.raises(ValueError, match=name(action)):
        referee.act(action)
    return referee == before
