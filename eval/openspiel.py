"""OpenSpiel's cribbage as a witness of our rules.

`Witness` plays a game of two, three or four players in `pyspiel` card by card beside an engine of
ours, so that points, legal plays and the player to act can be compared after every play. How fast
`pyspiel` plays is measured in `openspiel_speed`.

`pyspiel` (2.0.2 was read and run) is a witness of the play, also of who lays and who leads next
among three and four, and of the sums at the show. It is never an authority on who won:

* Four cards of one suit in the crib score 4 there although the starter is of another suit. The
  witness takes these points back and goes on in a fresh `pyspiel` game, because the old one, four
  points too high, might end too soon.
* The show is never cut short at 121: all hands and the crib are added before the end is looked at,
  so scores overshoot, and several sides may pass 121. A last card that reaches 121 by a 31, a go or
  as the last card is no end either: the show is still added. And hands are counted in the order of
  the players, not from the dealer's left. So of a deal that ends a game the witness has `pyspiel`
  count each hand by itself, and adds them in the order of the rules: `counted_in_order`.
* The winner there is the player with the lower number of those at 121 or more, whoever came first.
* The rest of our rules is absent: no other target, no five-card game, no skunks, no muggins, no cut
  for deal.

Nothing else differed: in the play of three and four players no fault was found. Partners have one
score there as here, told for each of them.

Cards: ours are 4 * rank + suit, those of `pyspiel` 13 * suit + rank, with the same order of ranks
(ace to king) and suits (clubs, diamonds, hearts, spades).
"""

import random
from collections.abc import Sequence
from typing import Any, Final, Protocol

import pyspiel

PASS: Final = 2756  # A go, in `pyspiel` an action of its own.

# pyspiel is a compiled module without type hints, so what it makes is Any.
# Without its bonus for the winner, returns() is the score at every moment, also after the end.
GAMES: Final[dict[int, Any]] = {
    players: pyspiel.load_game("cribbage", {"players": players, "winner_bonus_reward": 0.0})
    for players in (2, 3, 4)
}
_TARGET: Final = 121  # Of every game there.


class _State(Protocol):
    """What is used here of a `pyspiel` game state."""

    def apply_action(self, action: int, /) -> None: ...
    def current_player(self) -> int: ...
    def is_terminal(self) -> bool: ...
    def legal_actions(self) -> list[int]: ...
    def returns(self) -> list[float]: ...


def _new_state(players: int) -> _State:
    """Returns a game of `pyspiel` before its first deal; its player 0 is the dealer."""
    state: _State = GAMES[players].new_initial_state()
    return state


def to_pyspiel(card: int) -> int:
    """Returns what `pyspiel` calls our card."""
    return card % 4 * 13 + card // 4


def from_pyspiel(action: int) -> int:
    """Returns our number of a card of `pyspiel`."""
    return action % 13 * 4 + action // 13


def discard_action(cards: Sequence[int]) -> int:
    """Returns the action of `pyspiel` that throws one or two of our cards.

    Of two, the lower comes first, by rank and then by suit, which is the order of our numbers. The
    other order is another action there, which is not legal but taken all the same.
    """
    if len(cards) == 1:
        return to_pyspiel(cards[0])
    first, second = sorted(cards)
    return 52 + 52 * to_pyspiel(first) + to_pyspiel(second)


class Witness:
    """One game in `pyspiel`, driven in lock-step with a game of ours. Player 0 deals first.

    For each deal call `deal`, then `discard` once for each player in any order, then `play` for
    each card laid. A go is never told: `pyspiel` wants it as an action, also from a player whose
    hand is empty, and `play` adds every one that is forced as soon as it is. So after our n-th play
    all that follows from it is counted there too: the go or last card and, after the last card of
    the deal, the show. Heels are counted after the last discard.

    Args:
        players: 2, 3, or 4 in partnership, seats 0 and 2 against 1 and 3.

    Attributes:
        crib_flushes: How many times the flush of four in the crib had to be taken back.
    """

    def __init__(self, players: int = 2) -> None:
        self.crib_flushes = 0
        self._players = players
        self._sides = 3 if players == 3 else 2
        self._state = _new_state(players)
        # A fresh pyspiel game starts with no points and with its player 0 as dealer. These make up
        # for it after a crib flush: our player p is there (p - turned) % players.
        self._base = [0] * self._sides
        self._turned = 0
        self._dealer = 0
        self._deal_due = True
        self._starter = -1
        self._kept: list[list[int]] = []
        self._crib: list[int] = []
        self._thrown: dict[int, tuple[int, ...]] = {}
        self._to_lay = 0
        self._legal: list[int] = []  # Cards only; empty when nobody is to lay a card.
        # Who laid the last card, and the points before it: nobody yet.
        self._last_player = -1
        self._before_last: tuple[int, ...] = ()

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
        return self._ours(self._state.current_player()) if self._legal else None

    def _ours(self, seat: int) -> int:
        """Returns our player of a seat of `pyspiel`."""
        return (seat + self._turned) % self._players

    def scores(self) -> tuple[int, ...]:
        """Returns the points of each side, without the crib flushes that do not count.

        Raises:
            RuntimeError: If `pyspiel` has partners with different points.
        """
        points = [0] * self._players
        for seat, one in enumerate(self._state.returns()):
            points[self._ours(seat)] = int(one)
        sides = points[: self._sides]
        if points != [sides[player % self._sides] for player in range(self._players)]:
            raise RuntimeError(f"pyspiel has players 0 to {self._players - 1} with {points} points")
        return tuple(base + one for base, one in zip(self._base, sides, strict=True))

    def legal_plays(self) -> set[int]:
        """Returns the cards that `player_to_act` may lay; none when nobody is to lay one."""
        return {from_pyspiel(action) for action in self._legal}

    def deal(self, hands: Sequence[Sequence[int]], pack: Sequence[int], starter: int) -> None:
        """Deals, and keeps the starter for after the discards.

        Args:
            hands: Each player's cards: six of two players, five of more.
            pack: What the pack adds to the crib: one card with three players, else none.
            starter: The card to be cut.

        Raises:
            ValueError: If no deal is due, or these are not so many different cards.
        """
        if not self._deal_due or self.over:
            raise ValueError("no deal is due")
        size = 6 if self._players == 2 else 5
        if [len(hand) for hand in hands] != [size] * self._players:
            raise ValueError(f"{size} cards for each of {self._players} players, not {hands}")
        if len(pack) != (1 if self._players == 3 else 0):
            raise ValueError(f"from the pack to the crib of {self._players} players: not {pack}")
        every = [*pack, starter, *(card for hand in hands for card in hand)]
        if len(set(every) & set(range(52))) != len(every):
            raise ValueError(f"a deal is {len(every)} different cards of 0..51")
        # pyspiel fills the hand of its player 0, then that of the next, and last the crib.
        for seat in range(self._players):
            for card in hands[self._ours(seat)]:
                self._state.apply_action(to_pyspiel(card))
        for card in pack:
            self._state.apply_action(to_pyspiel(card))
        self._kept = [list(hand) for hand in hands]
        self._crib = list(pack)
        self._starter = starter
        self._thrown = {}
        self._deal_due = False

    def discard(self, player: int, cards: Sequence[int]) -> None:
        """Throws cards into the crib; the last call of a deal also cuts the starter.

        Args:
            player: Who throws.
            cards: Two cards of two players, one of more.

        Raises:
            ValueError: If this player is not to discard, or cannot throw these cards.
        """
        if self._deal_due or player not in range(self._players) or player in self._thrown:
            raise ValueError(f"player {player} is not to discard")
        number = 2 if self._players == 2 else 1
        if len(cards) != number or len(set(cards) & set(self._kept[player])) != number:
            raise ValueError(f"player {player} cannot throw {cards}")
        self._thrown[player] = tuple(cards)
        self._crib += cards
        for card in cards:
            self._kept[player].remove(card)
        if len(self._thrown) < self._players:
            return
        # pyspiel asks its player 0 first, whoever deals; we ask the dealer's left.
        for seat in range(self._players):
            self._state.apply_action(discard_action(self._thrown[self._ours(seat)]))
        self._state.apply_action(to_pyspiel(self._starter))
        self._to_lay = 4 * self._players
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
        self._last_player, self._before_last = self._ours(state.current_player()), self.scores()
        state.apply_action(to_pyspiel(card))
        self._to_lay -= 1
        legal = state.legal_actions()
        while legal == [PASS]:
            state.apply_action(PASS)
            legal = state.legal_actions()
        if self._to_lay:
            self._legal = legal
            return
        # All cards are laid. What may be legal now is the next deal, which is no play.
        self._legal = []
        self._deal_due = True
        self._dealer = (self._dealer + 1) % self._players
        if self._crib_flush() and self._shown():
            self._take_back_crib_flush()

    def counted_in_order(self) -> tuple[int, ...]:
        """Returns `scores` with nothing counted after one of them has reached 121, and none above.

        After the last card of a deal, what `pyspiel` has added at once is taken apart: what that
        card has pegged, the hands from the dealer's left, the crib. What it pegged is what remains
        when `pyspiel` has counted each hand by itself.

        Raises:
            RuntimeError: If what `pyspiel` has added is not the sum of what it counts.
        """
        total = self.scores()
        if not (self._deal_due and self._before_last and self._shown()):
            return tuple(min(one, _TARGET) for one in total)
        # The deal has been passed already.
        first = self._dealer
        seats = [(first + step) % self._players for step in range(self._players)]
        shown = [(seat, hand_points(self._kept[seat], self._starter)) for seat in seats]
        crib = hand_points(self._crib, self._starter) - 4 * self._crib_flush()
        shown.append((seats[-1], crib))
        pegged = [one - before for one, before in zip(total, self._before_last, strict=True)]
        for seat, points in shown:
            pegged[seat % self._sides] -= points
        last_side = self._last_player % self._sides
        if any(pegged[:last_side] + pegged[last_side + 1 :]) or pegged[last_side] < 0:
            raise RuntimeError(f"pyspiel counts {shown} apart, from {self._before_last} to {total}")
        scores = list(self._before_last)
        for seat, points in ((self._last_player, pegged[last_side]), *shown):
            side = seat % self._sides
            scores[side] = min(scores[side] + points, _TARGET)
            if scores[side] == _TARGET:
                break
        return tuple(scores)

    def _crib_flush(self) -> bool:
        """Says whether the crib holds four cards of one suit and the starter is of another."""
        suits = {card % 4 for card in self._crib}
        return len(suits) == 1 and self._starter % 4 not in suits

    def _shown(self) -> bool:
        """Says whether the hands and the crib have been counted after the last card.

        They have not, if that card won by a fifteen, a pair or a run. They have, if it won by a 31
        or as the last card, so the scores alone do not tell; but after a show the state stands
        before the next deal, even when the game is over.
        """
        return not self.over or "Phase: Card" in str(self._state)

    def _take_back_crib_flush(self) -> None:
        """Takes 4 points from the player who dealt, and goes on in a fresh `pyspiel` game."""
        self.crib_flushes += 1
        self._base = list(self.scores())
        # The deal has been passed already.
        self._base[(self._dealer - 1) % self._players % self._sides] -= 4
        self._state = _new_state(self._players)
        self._turned = self._dealer


def hand_points(cards: Sequence[int], starter: int) -> int:
    """Returns what `pyspiel` counts for four of our cards and a starter, as a hand.

    They are pone's in a deal of two players whose last card the dealer lays, so that pone pegs
    nothing with it: deals are tried until one ends so.
    """
    rest = sorted(set(range(52)) - {*cards, starter})
    rng = random.Random(0)
    while True:
        others = rng.sample(rest, 8)
        witness = Witness()
        witness.deal((others[:6], (*cards, *others[6:])), (), starter)
        witness.discard(0, others[:2])
        witness.discard(1, others[6:])
        before, player = 0, None
        while witness.player_to_act is not None:
            before, player = witness.scores()[1], witness.player_to_act
            witness.play(min(witness.legal_plays()))
        if player == 0:
            return witness.scores()[1] - before
