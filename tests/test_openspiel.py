"""Holds our games against OpenSpiel's cribbage, in lock-step, and checks the witness itself.

`lock_step` takes any engine that answers to `Engine`. The import of `eval.openspiel` needs
`pyspiel` and shall fail without it: a witness that is skipped is none.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, Protocol

import pytest

from eval.openspiel import Witness, discard_action, from_pyspiel, hand_points, to_pyspiel
from tests.referee import RANKS, SUITS, score_hand
from tests.referee_games import new_game

VARIANTS = {2: "six-card", 3: "three-player", 4: "four-player"}
GAMES = {2: 300, 3: 200, 4: 200}

by_players = pytest.mark.parametrize("players", VARIANTS)


class Cards(NamedTuple):
    """What a deal is made of."""

    hands: Sequence[Sequence[int]]
    """The cards of each player."""
    pack: Sequence[int]
    """What the pack adds to the crib: one card with three players, else none."""
    starter: int
    """The card to be cut."""


class Engine(Protocol):
    """One game to 121 in which player 0 deals first: what is put to the test.

    An engine is used from its first deal to its end and then thrown away. A card is
    4 * rank + suit.
    """

    @property
    def players(self) -> int:
        """How many play: 2, 3, or 4 in partnership."""

    @property
    def dealer(self) -> int:
        """The dealer of this deal; once its show is over, the dealer of the next."""

    @property
    def over(self) -> bool:
        """Whether a side has reached 121."""

    @property
    def player_to_act(self) -> int:
        """The player to lay a card; asked only while cards are laid."""

    def deal(self) -> Cards:
        """Begins a deal.

        Where the cards come from is the engine's business. One that has dealt already, as soon as
        the last show was over, only tells what it dealt.
        """

    def discard(self, player: int, cards: Sequence[int]) -> None:
        """Throws two cards of two players, one of more; called from the dealer's left."""

    def play(self, card: int) -> None:
        """Lays a card for `player_to_act` and does all that follows before the next choice."""

    def legal_plays(self) -> set[int]:
        """Returns the cards that `player_to_act` may lay; asked only while cards are laid."""

    def scores(self) -> tuple[int, ...]:
        """Returns the points of each side, nobody's above 121."""


class RefereeEngine:
    """The plain rule book as an engine; each deal is what `draw` returns."""

    def __init__(self, players: int, draw: Callable[[], Cards]) -> None:
        self._draw = draw
        self._referee = new_game(VARIANTS[players], dealer=0)

    @property
    def players(self) -> int:
        return self._referee.players

    @property
    def dealer(self) -> int:
        return self._referee.dealer

    @property
    def over(self) -> bool:
        return self._referee.phase == "over"

    @property
    def player_to_act(self) -> int:
        return self._referee.turn

    def deal(self) -> Cards:
        cards = self._draw()
        hands = [cards.hands[seat] for seat in self._referee.leftwards(self.dealer)]
        self._referee.deal(*hands, *cards.pack, cards.starter)
        return cards

    def discard(self, player: int, cards: Sequence[int]) -> None:
        for card in cards:
            assert player == self._referee.turn
            self._referee.act(card)

    def play(self, card: int) -> None:
        self._referee.act(card)

    def legal_plays(self) -> set[int]:
        return self._referee.legal()

    def scores(self) -> tuple[int, ...]:
        return tuple(self._referee.scores)


@dataclass(frozen=True)
class Compared:
    """What a game in lock-step went through.

    Attributes:
        deals: The hands dealt, also the last.
        plays: The cards laid.
        crib_flushes: How often the witness took back a flush of four in the crib.
        end: What the game ended in: "heels", "play", or the "show" with the last card before it.
        uncut: Whether `pyspiel` had counted on after 121.
    """

    deals: int
    plays: int
    crib_flushes: int
    end: str
    uncut: bool


Throw = Callable[[random.Random, Sequence[int], int], Sequence[int]]


def lock_step(
    engine: Engine, rng: random.Random, label: str, throw: Throw = random.Random.sample
) -> Compared:
    """Plays one random game in an engine and in the witness, and compares them at every step.

    Compared are the points after the cut and after every card laid (with go, last card and show,
    where they follow from it), the legal plays, the player to act and the dealer; and, once the
    engine's game is over, the points at which it ended. Only these are told from all that `pyspiel`
    counts by the witness, which knows in which order to count.

    Args:
        engine: A new game.
        rng: Where the discards and the cards to lay are drawn from.
        label: What to call the game in the message of a failure.
        throw: Chooses so many cards of a hand to throw; by default any.

    Returns:
        What the game went through.
    """
    players = engine.players
    witness = Witness(players)
    to_lay = 4 * players
    plays = 0
    deals = 0
    while True:
        deals += 1
        where = f"{label}, deal {deals}"
        assert not witness.over, f"{where}: pyspiel has ended"
        assert engine.dealer == witness.dealer, where
        left = engine.dealer + 1
        hands, pack, starter = engine.deal()
        witness.deal(hands, pack, starter)
        for player in [(left + step) % players for step in range(players)]:
            cards = throw(rng, hands[player], 2 if players == 2 else 1)
            engine.discard(player, cards)
            witness.discard(player, cards)
        where += f": hands {hands}, pack {pack}, starter {starter}"

        laid: list[int] = []
        while not engine.over and len(laid) < to_lay:
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
    assert engine.scores() == witness.counted_in_order(), where
    assert engine.scores().count(121) == 1, where
    end = "heels" if not laid else "play" if len(laid) < to_lay else "show"
    uncut = sum(min(points, 121) for points in witness.scores()) > sum(engine.scores())
    return Compared(deals, plays, witness.crib_flushes, end, uncut)


def cards_of(text: str) -> list[int]:
    return [4 * RANKS.index(name[0]) + SUITS.index(name[1]) for name in text.split()]


def drawn_from(cards: Sequence[int], players: int, rng: random.Random) -> Callable[[], Cards]:
    """Returns what deals *cards*, shuffled."""
    size, singles = (6 if players == 2 else 5), (2 if players == 3 else 1)

    def draw() -> Cards:
        dealt = rng.sample(cards, players * size + singles)
        hands = [dealt[size * player : size * (player + 1)] for player in range(players)]
        *pack, starter = dealt[players * size :]
        return Cards(hands, pack, starter)

    return draw


@by_players
def test_referee_agrees_with_openspiel_card_by_card(players: int) -> None:
    ends: Counter[str] = Counter()
    crib_flushes = uncut = 0
    for seed in range(GAMES[players]):
        rng = random.Random(seed)
        engine = RefereeEngine(players, drawn_from(range(52), players, rng))
        compared = lock_step(engine, rng, f"game {seed} of {players}")
        ends[compared.end] += 1
        crib_flushes += compared.crib_flushes
        uncut += compared.uncut
    # The comparison is worth little unless the games met what is treated apart.
    assert set(ends) == {"heels", "play", "show"}
    assert crib_flushes > 0
    assert uncut > 0


@by_players
def test_referee_agrees_with_openspiel_on_cards_of_few_ranks(players: int) -> None:
    # Double pairs royal and long runs, of which random cards bring too few.
    num_ranks = players + 2
    for seed in range(GAMES[players] // 3):
        rng = random.Random(seed)
        first = rng.randrange(14 - num_ranks)
        cards = range(4 * first, 4 * (first + num_ranks))
        engine = RefereeEngine(players, drawn_from(cards, players, rng))
        lock_step(engine, rng, f"game {seed} of {players}, ranks from {RANKS[first]}")


HEARTS = [card for card in range(52) if SUITS[card % 4] == "H"]
OTHERS = [card for card in range(52) if SUITS[card % 4] != "H"]


def crib_of_hearts(players: int, rng: random.Random) -> Cards:
    """Returns a deal in which `first_cards` throws four hearts, and a starter of another suit."""
    hearts, others = rng.sample(HEARTS, 13), rng.sample(OTHERS, 39)
    hands = []
    for _ in range(players):
        thrown = [hearts.pop() for _ in range(2 if players == 2 else 1)]
        hands.append(thrown + [others.pop() for _ in range(4)])
    return Cards(hands, [hearts.pop()] if players == 3 else [], others.pop())


def first_cards(rng: random.Random, hand: Sequence[int], number: int) -> Sequence[int]:
    """Throws the cards dealt first, which are any where they were dealt at random."""
    return hand[:number]


@by_players
def test_referee_agrees_with_openspiel_where_cribs_are_flushes_of_four(players: int) -> None:
    def draws(rng: random.Random, first: int) -> Iterator[Cards]:
        mixed = drawn_from(range(52), players, rng)
        for deal in count(1):
            yield mixed() if deal < first else crib_of_hearts(players, rng)

    # Here the last card of such a deal wins by what it pegs, and pyspiel shows nothing.
    not_shown = {2: 445, 3: 581, 4: 868}[players]
    for seed in (*range(GAMES[players]), not_shown):
        rng = random.Random(seed)
        # In many games the first of these deals is the one in which pyspiel ends its game, with
        # or without the four points and with or without a show. After it the game is a new one.
        first = rng.randint(8, 14) if players < 4 else rng.randint(4, 8)
        engine = RefereeEngine(players, draws(rng, first).__next__)
        compared = lock_step(engine, rng, f"game {seed} of {players}", first_cards)
        # The last crib is not counted if the game ends before.
        assert compared.crib_flushes >= compared.deals - first
        if seed == not_shown:
            assert compared.end == "show", "this game has changed: look for another seed"
            assert compared.crib_flushes == compared.deals - first


def test_openspiel_counts_hands_as_the_plain_rule_book_does() -> None:
    rng = random.Random(1)
    for number in range(300):
        # Of few ranks and suits, there is something to count.
        *hand, starter = rng.sample(range(0, 52, 1 + number % 3), 5)
        assert hand_points(hand, starter) == sum(score_hand(hand, starter, is_crib=False).values())
    assert hand_points(cards_of("5C 5D 5H JS"), *cards_of("5S")) == 29


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
    witness.deal((dealer, pone), (), *cards_of("JD"))
    assert witness.player_to_act is None
    witness.discard(1, cards_of("2H 3H"))
    witness.discard(0, cards_of("TH KH"))
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
    assert witness.counted_in_order() == witness.scores()


def test_witness_knows_who_lays_and_leads_among_four() -> None:
    witness = Witness(4)
    hands = "KC KD KH 2C AC", "QC QD QH 3C AD", "TC TD TH 4C AH", "8C 8D 8H 5C AS"
    witness.deal([cards_of(hand) for hand in hands], (), *cards_of("9S"))
    for player, hand in enumerate(hands):
        witness.discard(player, cards_of(hand)[4:])
    # The dealer's left leads. What a player pegs is its side's: 0 and 2 against 1 and 3.
    for name, player, scores in (
        ("QC", 1, (0, 0)),
        ("TC", 2, (0, 0)),
        ("8C", 3, (0, 0)),
        ("2C", 0, (1, 0)),  # 30, and go.
        ("QD", 1, (1, 0)),
        ("TD", 2, (1, 0)),
        ("8D", 3, (1, 0)),
        ("3C", 1, (1, 2)),  # 31, past player 0, who has only kings; the next leads.
        ("TH", 2, (1, 2)),
        ("8H", 3, (1, 2)),
        ("KC", 0, (2, 2)),  # 28, and go.
        ("QH", 1, (2, 2)),
        ("4C", 2, (2, 2)),
        ("5C", 3, (2, 2)),
        ("KD", 0, (3, 2)),  # 29, and go; nobody else has a card to lead.
    ):
        assert witness.player_to_act == player
        witness.play(*cards_of(name))
        assert witness.scores() == scores
    assert witness.player_to_act == 0
    assert witness.legal_plays() == set(cards_of("KH"))
    witness.play(*cards_of("KH"))
    # 1 for the last card; each hand counts 6, and the crib 12.
    assert witness.scores() == witness.counted_in_order() == (3 + 1 + 6 + 6 + 12, 2 + 6 + 6)
    assert witness.dealer == 1


@pytest.mark.parametrize(
    ("players", "dealer"), [(players, dealer) for players in VARIANTS for dealer in range(players)]
)
def test_witness_takes_back_the_crib_flush_of_four(players: int, dealer: int) -> None:
    rng = random.Random(players + 10 * dealer)
    witness, referee = Witness(players), new_game(VARIANTS[players], dealer=0)
    mixed = drawn_from(range(52), players, rng)
    # After the flush two more deals show that the witness still knows who is who.
    for number in range(dealer + 3):
        flush = number == dealer
        hands, pack, starter = crib_of_hearts(players, rng) if flush else mixed()
        witness.deal(hands, pack, starter)
        referee.deal(*(hands[seat] for seat in referee.leftwards(number % players)), *pack, starter)
        assert witness.dealer == referee.dealer == number % players
        for player in referee.leftwards(referee.dealer):
            cards = first_cards(rng, hands[player], 2 if players == 2 else 1)
            witness.discard(player, cards)
            for card in cards:
                referee.act(card)
        while not referee.needs_deal:
            assert witness.player_to_act == referee.turn
            assert witness.legal_plays() == referee.legal()
            card = min(referee.legal())
            witness.play(card)
            referee.act(card)
            assert witness.scores() == tuple(referee.scores)
        assert witness.counted_in_order() == tuple(referee.scores)
        assert witness.crib_flushes == (number >= dealer)


def test_witness_refuses_what_is_not_legal() -> None:
    witness = Witness()
    hands = cards_of("KC QC AC TC 9C 8C"), cards_of("KD 5D JD TD 9D 8D")
    with pytest.raises(ValueError, match="13 different"):
        witness.deal(hands, (), starter=hands[0][0])
    with pytest.raises(ValueError, match="6 cards"):
        witness.deal((hands[0], hands[1][:5]), (), *cards_of("AS"))
    with pytest.raises(ValueError, match="pack"):
        witness.deal(hands, cards_of("2S"), *cards_of("AS"))
    witness.deal(hands, (), *cards_of("AS"))
    with pytest.raises(ValueError, match="no deal"):
        witness.deal(hands, (), *cards_of("AS"))
    for wrong in ("9C", "9C 9C", "9C 8C TC", "9C 8D"):
        with pytest.raises(ValueError, match="cannot throw"):
            witness.discard(0, cards_of(wrong))
    witness.discard(0, cards_of("9C 8C"))
    with pytest.raises(ValueError, match="player 0"):
        witness.discard(0, cards_of("KC QC"))
    witness.discard(1, cards_of("8D 9D"))
    for name in ("KD", "KC", "5D"):
        witness.play(*cards_of(name))
    # At a count of 25 the ace is all that fits, but pyspiel would take the queen from us.
    assert witness.legal_plays() == set(cards_of("AC"))
    with pytest.raises(ValueError, match="not legal"):
        witness.play(*cards_of("QC"))


@pytest.mark.parametrize(("players", "pack"), [(3, 0), (4, 1)])
def test_the_pack_adds_a_card_to_the_crib_of_three_alone(players: int, pack: int) -> None:
    hands, _, starter = drawn_from(range(51), players, random.Random(1))()
    with pytest.raises(ValueError, match="from the pack"):
        Witness(players).deal(hands, [51] * pack, starter)
