"""How fast OpenSpiel's cribbage plays random games: the yardstick of our speed.

`random_games` drives `pyspiel` from Python, `bot_games` leaves all choices to its C++. See
`openspiel` for what it is and plays.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyspiel

from eval.openspiel import GAMES, PASS

_CHANCE: Final = -1  # What current_player() says where a card is to be dealt or cut.


@dataclass(frozen=True)
class Speed:
    """What was played in how long.

    Attributes:
        games: Whole games.
        seconds: The time they took.
        decisions: Discards (of two cards at once) and cards laid, also those without a choice.
        passes: Times a player had to say go; many of them are owed to `pyspiel` alone, which asks
            again and again, even a player without cards.
        chance_nodes: Cards dealt and starters cut.
    """

    games: int
    seconds: float
    decisions: int
    passes: int
    chance_nodes: int

    @property
    def games_per_second(self) -> float:
        """Whole games in a second."""
        return self.games / self.seconds

    @property
    def decisions_per_second(self) -> float:
        """Discards and plays in a second; passes and chance nodes are not among them."""
        return self.decisions / self.seconds


def _decks(seed: int) -> Iterator[list[int]]:
    """Yields thirteen different cards in random order, for ever: two hands and the starter."""
    rng = np.random.default_rng(seed)
    packs = np.tile(np.arange(52, dtype=np.int8), (1000, 1))
    while True:
        deals: list[list[int]] = rng.permuted(packs, axis=1)[:, :13].tolist()
        yield from deals


def random_games(seconds: float, seed: int) -> Speed:
    """Plays random games of `pyspiel` from Python, as fast as can be, for about `seconds`.

    Players choose uniformly among the legal actions. The cards of a deal are drawn beforehand,
    which is the same as drawing each chance outcome uniformly, since each is equally likely; and
    the number of legal actions alone tells what kind of node follows: 0 the end of the game, 1..4 a
    card or a pass, 52 the next deal. So each step is one call for the legal actions and one to
    apply an action, and a chance node only the latter.

    Other ways were measured beside this one, in games a second, as the slowest and the fastest of
    eight turns on one core of a busy two-core machine (Intel Xeon, all slow down together):

    * 2800 to 4700: this one.
    * 2700 to 4100: a partial Fisher-Yates shuffle in Python in place of the decks from NumPy.
    * 2500 to 4200: the indices of the discards drawn in NumPy too.
    * 2400 to 4000: `random.sample` for each deal.
    * 1600 to 2800: an index into `legal_actions()` at chance nodes also.
    * 380 to 620: `chance_outcomes()`, `random.choices` and `random.choice`, as usually written.

    No faster than the second were: discards found without asking for the legal ones, methods bound
    to the class once in place of each state, and comparing the list with [PASS]. With all
    choices known beforehand, `apply_action` alone made 6800 to 9600.

    Args:
        seconds: After this long no new game is begun.
        seed: The seed of the cards and of the choices.
    """
    uniform = random.Random(seed).random
    next_deck = _decks(seed).__next__
    new_state = GAMES[2].new_initial_state
    clock = time.perf_counter
    games = deals = plays = passes = 0
    start = clock()
    end = start + seconds
    while clock() < end:
        state = new_state()
        apply = state.apply_action
        legal_actions = state.legal_actions
        number = 52
        while number:
            deals += 1
            deck = next_deck()
            starter = deck.pop()
            for card in deck:
                apply(card)
            apply(legal_actions()[int(uniform() * 15)])
            apply(legal_actions()[int(uniform() * 15)])
            apply(starter)
            while True:
                legal = legal_actions()
                number = len(legal)
                if number == 1:
                    action = legal[0]
                    if action == PASS:
                        passes += 1
                    else:
                        plays += 1
                    apply(action)
                elif 1 < number < 5:
                    plays += 1
                    apply(legal[int(uniform() * number)])
                else:
                    break
        games += 1
    return Speed(games, clock() - start, plays + 2 * deals, passes, 13 * deals)


def bot_games(seconds: float, seed: int) -> Speed:
    """Plays random games of `pyspiel` inside its C++, with no Python between two moves.

    This is the most that a program can get out of it which needs no part in the choices. The
    figures of `random_games` are those of a program that makes every choice itself. In turns on one
    machine this made about 1.7 times as many games.

    Args:
        seconds: How long to play. Counting the moves afterwards comes on top, and is not timed.
        seed: The seed of the cards and of the choices.
    """
    bots = [pyspiel.make_uniform_random_bot(player, seed + player) for player in (0, 1)]
    play_out = pyspiel.evaluate_bots
    new_state = GAMES[2].new_initial_state
    clock = time.perf_counter
    games = decisions = passes = chance_nodes = 0
    elapsed = 0.0
    while elapsed < seconds:
        start = clock()
        states = []
        for number in range(games, games + 100):
            state = new_state()
            play_out(state, bots, seed + number)
            states.append(state)
        elapsed += clock() - start
        games += len(states)
        for state in states:
            for move in state.full_history():
                if move.player == _CHANCE:
                    chance_nodes += 1
                elif move.action == PASS:
                    passes += 1
                else:
                    decisions += 1
    return Speed(games, elapsed, decisions, passes, chance_nodes)
