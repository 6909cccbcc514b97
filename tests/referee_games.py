"""Random games of every variant in the plain rule book, to hold against itself and the engine.

Like the rule book it imports nothing of the project that it helps to judge.
"""

import random
from collections.abc import Callable, Iterator
from itertools import product

from tests.referee import CLAIM, MAX_CLAIM, MUGGINS, VARIANTS, Referee, starting_scores

# (variant, muggins, penalty); without muggins the penalty is nothing.
KINDS = [
    (variant, muggins, penalty)
    for variant, muggins, penalty in product(VARIANTS, MUGGINS, (True, False))
    if muggins != "none" or penalty
]


def new_game(
    variant: str, dealer: int, muggins: str = "none", penalty: bool = True, target: int = 121
) -> Referee:
    """Returns a game that waits for its first deal."""
    players, cards_dealt = VARIANTS[variant]
    return Referee(
        target,
        dealer,
        starting_scores(dealer, players, cards_dealt),
        players=players,
        cards_dealt=cards_dealt,
        muggins=muggins,
        penalty=penalty,
    )


def shuffled(referee: Referee, rng: random.Random) -> list[list[int] | int]:
    """Returns the cards of a deal from a shuffled pack, as `Referee.deal` takes them."""
    number, size = referee.players, referee.cards_dealt
    pack = rng.sample(range(52), 52)
    hands = [pack[size * seat : size * (seat + 1)] for seat in range(number)]
    singles = 2 if number == 3 else 1
    return [*hands, *pack[size * number : size * number + singles]]


def choose(referee: Referee, rng: random.Random) -> int:
    """Returns a random legal action; claims and calls are often right and often near.

    Were they drawn evenly, nearly every claim would be too high and nearly every call refused.
    """
    if referee.phase in ("discard", "play"):
        return rng.choice(sorted(referee.legal()))
    right = referee.worth if referee.phase == "claim" else referee.missed
    luck = rng.random()
    if luck < 0.6:
        return CLAIM + right
    if luck > 0.95:
        return CLAIM + rng.randint(0, MAX_CLAIM)
    points = right + rng.randint(-3, 3)
    return CLAIM + min(max(points, 0), MAX_CLAIM)


def play_out(
    referee: Referee, rng: random.Random, deal: Callable[[], None] | None = None
) -> Iterator[int | None]:
    """Plays a game to its end, with a stop after each deal and each action.

    Args:
        referee: The game, at any point; the same object moves on between the stops.
        rng: The luck of the choices, and of the cards unless *deal* deals them.
        deal: Called whenever a deal is due; it must deal. So whoever compares an engine that deals
            for itself hands over here the cards that the engine has dealt.

    Yields:
        None after a deal, the action after an action.
    """
    while referee.phase != "over":
        if referee.needs_deal:
            if deal is None:
                referee.deal(*shuffled(referee, rng))
            else:
                deal()
            yield None
        action = choose(referee, rng)
        referee.act(action)
        yield action
