"""Holds our games against OpenSpiel's cribbage, in lock-step, and checks the witness itself.

`lock_step` takes any engine that answers to `Engine`. The import of `eval.openspiel` needs
`pyspiel` and shall fail without it: a witness that is skipped is none.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Protocol

import pytest

from eval.openspiel import (
    Speed,
    Witness,
    bot_games,
    discard_action,
    from_pyspiel,
    random_games,
    to_pyspiel,
)
from tests.referee import RANKS, SUITS, Referee

GAMES = 300


class Engine(Protocol):
    """One game of two players to 121 in which player 0 deals first: what is put to the test.

    An engine is used from its first deal to its end and then thrown away. A card is
    4 * rank + suit.
    """

    @property
    def dealer(self) -> int:
        """The dealer of this deal; once its show is over, the dealer of the next."""

    @property
    def over(self) -> bool:
        """Whether a player has reached 121."""

    @property
    def player_to_act(self) -> int:
        """The player to lay a card; asked only while cards are laid."""

    def deal(self) -> tuple[Sequence[int], Sequence[int], int]:
        """Begins a deal: the cards of player 0, those of player 1, and the starter to be cut.

        Where the cards come from is the engine's business. One that has dealt already, as soon as
        the last show was over, only tells what it dealt.
        """

    def discard(self, player: int, pair: tuple[int, int]) -> None:
        """Throws two cards; called for pone and then for the dealer."""

    def play(self, card: int) -> None:
        """Lays a card for `player_to_act` and does all that follows before the next choice."""

    def legal_plays(self) -> set[int]:
        """Returns the cards that `player_to_act` may lay; asked only while cards are laid."""

    def scores(self) -> tuple[int, int]:
        """Returns the points of players 0 and 1, nobody's above 121."""


class RefereeEngine:
    """The plain rule book as an engine; each deal is thirteen cards that `draw` returns."""

    def __init__(self, draw: Callable[[], Sequence[int]]) -> None:
        self._draw = draw
        self._referee = Referee(target=121, dealer=0)

    @property
    def dealer(self) -> int:
        return self._referee.dealer

    @property
    def over(self) -> bool:
        return self._referee.phase == "over"

    @property
    def player_to_act(self) -> int:
        return self._referee.turn

    def deal(self) -> tuple[Sequence[int], Sequence[int], int]:
        cards = self._draw()
        hands, starter = (cards[:6], cards[6:12]), cards[12]
        self._referee.deal(hands[self._referee.pone], hands[self.dealer], starter)
        return hands[0], hands[1], starter

    def discard(self, player: int, pair: tuple[int, int]) -> None:
        assert player == self._referee.turn
        for card in pair:
            self._referee.act(card)

    def play(self, card: int) -> None:
        self._referee.act(card)

    def legal_plays(self) -> set[int]:
        return self._referee.legal()

    def scores(self) -> tuple[int, int]:
        first, second = self._referee.scores
        return first, second


@dataclass(frozen=True)
class Compared:
    """What a game in lock-step went through.

    Attributes:
        deals: The hands dealt, also the last.
        plays: The cards laid.
        crib_flushes: How often the witness took back a flush of four in the crib.
        end: What the game ended in: "heels", "play", or the "show" with the last card before it.
    """

    deals: int
    plays: int
    crib_flushes: int
    end: str


def lock_step(engine: Engine, rng: random.Random, label: str) -> Compared:
    """Plays one random game in an engine and in the witness, and compares them at every step.

    Compared are, until the engine's game is over, the points after the cut and after every card
    laid (with go, last card and show, where they follow from it), the legal plays, the player to
    act and the dealer. Heels or a card that end the game while cards are left must leave the same
    points, up to 121. Of a game that ends with the last card or in the show, the witness can only
    say that the winner has 121 and that the loser has no more than all hands and the crib bring.

    Args:
        engine: A new game.
        rng: Where the discards and the cards to lay are drawn from.
        label: What to call the game in the message of a failure.

    Returns:
        What the game went through.
    """
    witness = Witness()
    plays = 0
    deals = 0
    while True:
        deals += 1
        where = f"{label}, deal {deals}"
        assert not witness.over, f"{where}: pyspiel has ended"
        assert engine.dealer == witness.dealer, where
        dealer = engine.dealer
        *hands, starter = engine.deal()
        witness.deal(hands[0], hands[1], starter)
        for player in (1 - dealer, dealer):
            first, second = rng.sample(hands[player], 2)
            engine.discard(player, (first, second))
            witness.discard(player, (first, second))
        where += f": hands {hands}, starter {starter}"

        laid: list[int] = []
        while not engine.over and len(laid) < 8:
            assert engine.scores() == witness.scores(), f"{where}, laid {laid}"
            assert engine.player_to_act == witness.player_to_act, f"{where}, laid {laid}"
            legal = engine.legal_plays()
            assert legal == witness.legal_plays(), f"{where}, laid {laid}"
            card = rng.choice(sorted(legal))
            laid.append(card)
            engine.play(card)
            witness.play(card)
        plays += len(laid)

        if engine.over:
            break
        assert engine.scores() == witness.scores(), f"{where}, laid {laid}, after the show"

    where += f", laid {laid}, over"
    scores, witnessed = engine.scores(), witness.scores()
    assert max(scores) == 121, where
    assert min(scores) < 121, where
    winner = scores.index(121)
    if len(laid) < 8:
        assert scores == (min(witnessed[0], 121), min(witnessed[1], 121)), where
    else:
        assert witnessed[winner] >= 121, where
        assert witnessed[1 - winner] >= scores[1 - winner], where
    end = "heels" if not laid else "play" if len(laid) < 8 else "show"
    return Compared(deals, plays, witness.crib_flushes, end)


def cards_of(text: str) -> list[int]:
    return [4 * RANKS.index(name[0]) + SUITS.index(name[1]) for name in text.split()]


def pair_of(text: str) -> tuple[int, int]:
    first, second = cards_of(text)
    return first, second


def test_referee_agrees_with_openspiel_card_by_card() -> None:
    ends: Counter[str] = Counter()
    crib_flushes = 0
    for seed in range(GAMES):
        rng = random.Random(seed)
        engine = RefereeEngine(partial(rng.sample, range(52), 13))
        compared = lock_step(engine, rng, f"game {seed}")
        ends[compared.end] += 1
        crib_flushes += compared.crib_flushes
    # The comparison is worth little unless the games met what is treated apart.
    assert set(ends) == {"heels", "play", "show"}
    assert crib_flushes > 0


def test_referee_agrees_with_openspiel_on_cards_of_four_ranks() -> None:
    # Double pairs royal and long runs, of which random cards bring too few.
    for seed in range(GAMES // 3):
        rng = random.Random(seed)
        ranks = rng.randrange(10)
        engine = RefereeEngine(partial(rng.sample, range(4 * ranks, 4 * ranks + 16), 13))
        lock_step(engine, rng, f"game {seed}, ranks from {RANKS[ranks]}")


def test_referee_agrees_with_openspiel_where_cribs_are_flushes_of_four() -> None:
    hearts = [card for card in range(52) if SUITS[card % 4] == "H"]
    others = [card for card in range(52) if SUITS[card % 4] != "H"]

    def draws(rng: random.Random, first: int) -> Iterator[list[int]]:
        for deal in count(1):
            if deal < first:
                yield rng.sample(range(52), 13)
            else:
                yield [*rng.sample(hearts, 12), rng.choice(others)]

    not_shown = 1126  # Here the eighth card of such a deal wins by what it pegs.
    for seed in (*range(GAMES), not_shown):
        rng = random.Random(seed)
        # In many games the first of these deals is the one in which pyspiel ends its game, with
        # or without the four points and with or without a show. After it the game is a new one.
        first = rng.randint(8, 14)
        compared = lock_step(RefereeEngine(draws(rng, first).__next__), rng, f"game {seed}")
        # The last crib is not counted if the game ends before.
        assert compared.crib_flushes >= compared.deals - first
        if seed == not_shown:
            assert compared.end == "show", "this game has changed: look for another seed"
            assert compared.crib_flushes == compared.deals - first


def test_cards_are_translated_there_and_back() -> None:
    assert [from_pyspiel(to_pyspiel(card)) for card in range(52)] == list(range(52))
    # pyspiel has clubs, diamonds, hearts, spades, each from ace to king.
    assert [to_pyspiel(card) for card in cards_of("AC KC AD JH KS")] == [0, 12, 13, 36, 51]


def test_a_discard_is_one_action_in_whatever_order_its_cards_are_named() -> None:
    # By rank first: 2S (40) stands before 3C (2).
    assert discard_action(cards_of("2S 3C")) == 52 + 52 * 40 + 2
    assert discard_action(cards_of("3C 2S")) == 52 + 52 * 40 + 2


def test_witness_counts_the_published_sample_deal() -> None:
    witness = Witness()
    dealer, pone = cards_of("4D 5C 5H 6S TH KH"), cards_of("7C 8C 9C QC 2H 3H")
    witness.deal(dealer, pone, *cards_of("JD"))
    assert witness.player_to_act is None
    witness.discard(1, pair_of("2H 3H"))
    witness.discard(0, pair_of("TH KH"))
    assert witness.scores() == (2, 0)  # His heels.
    assert witness.player_to_act == 1

    # QC 5H fifteen; 7C, count 22; 5C, count 27: pone cannot play on; 4D makes 31.
    for name, player, scores in (
        ("QC", 1, (2, 0)),
        ("5H", 0, (4, 0)),
        ("7C", 1, (4, 0)),
        ("5C", 0, (4, 0)),
        ("4D", 0, (6, 0)),
        ("8C", 1, (6, 0)),
        ("6S", 0, (6, 0)),
    ):
        assert witness.player_to_act == player
        witness.play(*cards_of(name))
        assert witness.scores() == scores
    # The last card, 9C: 23, no run with 8 and 6 alone, 1 for the last card; then the show.
    assert witness.legal_plays() == set(cards_of("9C"))
    witness.play(*cards_of("9C"))
    assert witness.scores() == (6 + 16 + 6, 1 + 9)
    assert witness.player_to_act is None
    assert witness.dealer == 1
    assert not witness.over


@pytest.mark.parametrize("dealer", [0, 1])
def test_witness_takes_back_the_crib_flush_of_four(dealer: int) -> None:
    witness, referee = Witness(), Referee(target=121, dealer=0)
    # Each throws the last two.
    four_hearts = "2C 4D 6S 8C AH 3H", "2D 4S 6C 8D 5H 7H", "KS"
    mixed = "2C 4D 6S 8C AH 3H", "2D 4S 6C 8D 5C 7H", "KS"
    # After the flush two more deals show that the witness still knows who is who.
    for cards in (*[mixed] * dealer, four_hearts, mixed, mixed):
        *hands, starter = map(cards_of, cards)
        witness.deal(hands[0], hands[1], *starter)
        referee.deal(hands[referee.pone], hands[referee.dealer], *starter)
        assert witness.dealer == referee.dealer
        for player in (referee.pone, referee.dealer):
            pair = (hands[player][4], hands[player][5])
            witness.discard(player, pair)
            for card in pair:
                referee.act(card)
        while not referee.needs_deal:
            assert witness.player_to_act == referee.turn
            assert witness.legal_plays() == referee.legal()
            card = min(referee.legal())
            witness.play(card)
            referee.act(card)
            assert list(witness.scores()) == referee.scores
    assert witness.crib_flushes == 1


def test_witness_refuses_what_is_not_legal() -> None:
    witness = Witness()
    hands = cards_of("KC QC AC TC 9C 8C"), cards_of("KD 5D JD TD 9D 8D")
    with pytest.raises(ValueError, match="thirteen"):
        witness.deal(*hands, starter=hands[0][0])
    witness.deal(*hands, *cards_of("AS"))
    with pytest.raises(ValueError, match="no deal"):
        witness.deal(*hands, *cards_of("AS"))
    witness.discard(0, pair_of("9C 8C"))
    with pytest.raises(ValueError, match="player 0"):
        witness.discard(0, pair_of("KC QC"))
    witness.discard(1, pair_of("8D 9D"))
    for name in ("KD", "KC", "5D"):
        witness.play(*cards_of(name))
    # At a count of 25 the ace is all that fits, but pyspiel would take the queen from us.
    assert witness.legal_plays() == set(cards_of("AC"))
    with pytest.raises(ValueError, match="not legal"):
        witness.play(*cards_of("QC"))


@pytest.mark.parametrize("play_random", [random_games, bot_games])
def test_random_games_count_what_they_play(
    play_random: Callable[[float, int], Speed],
) -> None:
    speed = play_random(0.2, 1)
    assert speed.games > 0
    assert speed.seconds >= 0.2
    # Two hands of six and a starter for each deal, also for the one that ends the game.
    deals, rest = divmod(speed.chance_nodes, 13)
    assert rest == 0
    # Random players need about 12.5 deals of 10 decisions; the last deal may be cut short.
    assert 10 < deals / speed.games < 15
    assert 10 * (deals - speed.games) < speed.decisions <= 10 * deals
    assert 2 * deals < speed.passes < 8 * deals
