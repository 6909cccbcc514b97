"""OpenSpiel's cribbage as a witness of our rules, and as a yardstick of speed.

`Witness` plays a game in `pyspiel` card by card beside an engine of ours, so that points, legal
plays and the player to act can be compared after every play. `random_games` and `bot_games`
measure how fast `pyspiel` plays random games.

`pyspiel` (2.0.2 was read and run) is a witness of the play and of the sums at the show. It is never
an authority on who won:

* Four cards of one suit in the crib score 4 there although the starter is of another suit. The
  witness takes these points back and goes on in a fresh `pyspiel` game, because the old one, four
  points too high, might end too soon.
* The show is never cut short at 121: both hands and the crib are added before the end is looked at,
  so scores overshoot, and both players may pass 121. A last card that reaches 121 by a 31, a go or
  as the last card is no end either: the show is still added. Compare until our game is over, and no
  further.
* The winner there is the player with the lower number of those at 121 or more, whoever came first.
* Hands are counted in the order of the players, not pone first. This matters only to the winner.
* The rest of our rules is absent: no other target, no skunks, no muggins, no cut for deal.

Cards: ours are 4 * rank + suit, those of `pyspiel` 13 * suit + rank, with the same order of ranks
(ace to king) and suits (clubs, diamonds, hearts, spades).
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyspiel

PASS: Final = 2756  # A go, in `pyspiel` an action of its own.
_CHANCE: Final = -1  # What current_player() says where a card is to be dealt or cut.

# pyspiel is a compiled module without type hints, so what it makes is Any.
# Without its bonus for the winner, returns() is the score at every moment, also after the end.
_GAME: Final[Any] = pyspiel.load_game("cribbage", {"players": 2, "winner_bonus_reward": 0.0})


class _State(Protocol):
    """What is used here of a `pyspiel` game state."""

    def apply_action(self, action: int, /) -> None: ...
    def current_player(self) -> int: ...
    def is_terminal(self) -> bool: ...
    def legal_actions(self) -> list[int]: ...
    def returns(self) -> list[float]: ...


def _new_state() -> _State:
    """Returns a game of `pyspiel` before its first deal; its player 0 is the dealer."""
    state: _State = _GAME.new_initial_state()
    return state


def to_pyspiel(card: int) -> int:
    """Returns what `pyspiel` calls our card."""
    return card % 4 * 13 + card // 4


def from_pyspiel(action: int) -> int:
    """Returns our number of a card of `pyspiel`."""
    return action % 13 * 4 + action // 13


def discard_action(pair: Sequence[int]) -> int:
    """Returns the action of `pyspiel` that throws two of our cards.

    The lower card comes first, by rank and then by suit, which is the order of our numbers. The
    other order is another action there, which is not legal but taken all the same.
    """
    first, second = sorted(pair)
    return 52 + 52 * to_pyspiel(first) + to_pyspiel(second)


class Witness:
    """One game in `pyspiel`, driven in lock-step with a game of ours. Player 0 deals first.

    For each deal call `deal`, then `discard` once for each player in any order, then `play` for
    each card laid. A go is never told: `pyspiel` wants it as an action, also from a player whose
    hand is empty, and `play` adds every one that is forced as soon as it is. So after our n-th play
    all that follows from it is counted there too: the go or last card and, after the eighth card,
    the show. Heels are counted after the second discard.

    Attributes:
        crib_flushes: How many times the flush of four in the crib had to be taken back.
    """

    def __init__(self) -> None:
        self.crib_flushes = 0
        self._state = _new_state()
        # A fresh pyspiel game starts at 0 to 0 and with its player 0 as dealer. These make up for
        # it after a crib flush: our player p is there p ^ flip.
        self._base = [0, 0]
        self._flip = 0
        self._dealer = 0
        self._starter = -1
        self._pairs: dict[int, tuple[int, int]] = {}
        self._laid = 0
        self._legal: list[int] = []  # Cards only; empty when nobody is to lay a card.
        self._deal_due = True

    @property
    def dealer(self) -> int:
        """The dealer of this deal; after the show, of the next."""
        return self._dealer

    @property
    def over(self) -> bool:
        """Whether `pyspiel` has ended its game. After a crib flush it may do so too late."""
        return self._state.is_terminal()

    @property
    def player_to_act(self) -> int | None:
        """The player who must lay a card; None before the starter is cut and after the show."""
        return self._state.current_player() ^ self._flip if self._legal else None

    def scores(self) -> tuple[int, int]:
        """Returns the points of players 0 and 1, without the crib flushes that do not count."""
        points = self._state.returns()
        return (
            self._base[0] + int(points[self._flip]),
            self._base[1] + int(points[1 - self._flip]),
        )

    def legal_plays(self) -> set[int]:
        """Returns the cards that `player_to_act` may lay; none when nobody is to lay one."""
        return {from_pyspiel(action) for action in self._legal}

    def deal(
        self, player0_cards: Sequence[int], player1_cards: Sequence[int], starter: int
    ) -> None:
        """Deals six cards to each player and keeps the starter for after the discards.

        Raises:
            ValueError: If no deal is due, or these are not thirteen different cards.
        """
        if not self._deal_due or self.over:
            raise ValueError("no deal is due")
        if len(player0_cards) != 6 or len(player1_cards) != 6:
            raise ValueError(f"six cards each, not {len(player0_cards)} and {len(player1_cards)}")
        if len({*player0_cards, *player1_cards, starter} & set(range(52))) != 13:
            raise ValueError("a deal is thirteen different cards of 0..51")
        # pyspiel gives the first six cards to its player 0, the next six to its player 1.
        both = (player0_cards, player1_cards)
        for card in (*both[self._flip], *both[1 - self._flip]):
            self._state.apply_action(to_pyspiel(card))
        self._starter = starter
        self._pairs = {}
        self._laid = 0
        self._deal_due = False

    def discard(self, player: int, pair: tuple[int, int]) -> None:
        """Throws two cards into the crib; the second call of a deal also cuts the starter.

        Raises:
            ValueError: If this player is not to discard, or does not hold these cards.
        """
        if self._deal_due or player not in (0, 1) or player in self._pairs:
            raise ValueError(f"player {player} is not to discard")
        self._pairs[player] = pair
        if len(self._pairs) < 2:
            return
        # pyspiel asks its player 0 first, whoever deals; we ask pone first.
        for owner in (self._flip, 1 - self._flip):
            action = discard_action(self._pairs[owner])
            if action not in self._state.legal_actions():
                raise ValueError(f"player {owner} cannot throw {self._pairs[owner]}")
            self._state.apply_action(action)
        self._state.apply_action(to_pyspiel(self._starter))
        self._legal = self._state.legal_actions()  # None, if heels have won the game.

    def play(self, card: int) -> None:
        """Lays a card for the player to act, then every go that it forces and perhaps the show.

        Raises:
            ValueError: If the card may not be laid.
        """
        # pyspiel itself would lay a card that takes the count past 31.
        if to_pyspiel(card) not in self._legal:
            raise ValueError(f"card {card} is not legal, {sorted(self.legal_plays())} are")
        state = self._state
        state.apply_action(to_pyspiel(card))
        self._laid += 1
        legal = state.legal_actions()
        while legal == [PASS]:
            state.apply_action(PASS)
            legal = state.legal_actions()
        if self._laid < 8:
            self._legal = legal
            return
        # All cards are laid. What may be legal now is the next deal, which is no play.
        self._legal = []
        self._deal_due = True
        self._dealer = 1 - self._dealer
        if self._crib_flush() and self._shown():
            self._take_back_crib_flush()

    def _crib_flush(self) -> bool:
        """Says whether the crib holds four cards of one suit and the starter is of another."""
        suits = {card % 4 for pair in self._pairs.values() for card in pair}
        return len(suits) == 1 and self._starter % 4 not in suits

    def _shown(self) -> bool:
        """Says whether the hands and the crib have been counted after the eighth card.

        They have not, if that card won by a fifteen, a pair or a run. They have, if it won by a 31
        or as the last card, so the scores alone do not tell; but after a show the state stands
        before the next deal, even when the game is over.
        """
        return not self.over or "Phase: Card" in str(self._state)

    def _take_back_crib_flush(self) -> None:
        """Takes 4 points from the player who dealt, and goes on in a fresh `pyspiel` game."""
        self.crib_flushes += 1
        self._base = list(self.scores())
        self._base[1 - self._dealer] -= 4  # The deal has been passed already.
        self._state = _new_state()
        self._flip = self._dealer


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
    new_state = _GAME.new_initial_state
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
    new_state = _GAME.new_initial_state
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
