"""A plain rule book for two-player, six-card cribbage: the witness against the fast engine.

Everything here is written the most obvious way, for reading and not for speed. It imports nothing
of the project, so that a fault in the engine cannot hide in shared code.

A card is an int 0..51, 4 * rank + suit, with ranks A=0 .. K=12 and suits C D H S = 0..3.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile

RANKS = "A23456789TJQK"
SUITS = "CDHS"
JACK = RANKS.index("J")


def rank(card: int) -> int:
    """Returns 0 for an ace up to 12 for a king."""
    return card // 4


def suit(card: int) -> int:
    """Returns 0..3 for clubs, diamonds, hearts, spades."""
    return card % 4


def value(card: int) -> int:
    """Returns what the card counts: an ace 1, a ten or a court card 10."""
    return min(rank(card) + 1, 10)


def name(card: int) -> str:
    """Returns the card in words, such as 5H, or the bare number if there is no such card."""
    return RANKS[rank(card)] + SUITS[suit(card)] if 0 <= card < 52 else str(card)


def is_run(cards: Sequence[int]) -> bool:
    """Says whether three or more cards are in sequence, whatever their order; the ace is low."""
    ranks = sorted(rank(card) for card in cards)
    return len(ranks) >= 3 and ranks == list(range(ranks[0], ranks[0] + len(ranks)))


def score_hand(hand: Iterable[int], starter: int, is_crib: bool) -> dict[str, int]:
    """Counts a hand or a crib at the show.

    Args:
        hand: The cards kept, or the cards in the crib.
        starter: The card turned.
        is_crib: Whether this is the crib, where four cards of a suit are no flush.

    Returns:
        The points for fifteens, pairs, runs, flush and nobs.

    Raises:
        ValueError: If a card comes twice.
    """
    held = list(hand)
    cards = [*held, starter]
    if len(set(cards)) < len(cards):
        raise ValueError(f"duplicate card in {' '.join(map(name, cards))}")

    groups = [group for size in range(2, len(cards) + 1) for group in combinations(cards, size)]
    fifteens = 2 * sum(sum(map(value, group)) == 15 for group in groups)
    pairs = 2 * sum(rank(one) == rank(two) for one, two in combinations(cards, 2))

    # Only the longest runs count: a run of four is not two runs of three besides.
    run_lengths = [len(group) for group in groups if is_run(group)]
    longest = max(run_lengths, default=0)
    runs = longest * run_lengths.count(longest)

    flush = 0
    if len({suit(card) for card in cards}) == 1:
        flush = len(cards)
    elif len({suit(card) for card in held}) == 1 and not is_crib:
        flush = len(held)

    nobs = sum(rank(card) == JACK and suit(card) == suit(starter) for card in held)
    return {"fifteens": fifteens, "pairs": pairs, "runs": runs, "flush": flush, "nobs": nobs}


def pegging_parts(pile: Sequence[int]) -> dict[str, int]:
    """Names what the last card of the pile pegs, and for how much; the go is not in it."""
    parts: dict[str, int] = {}
    count = sum(map(value, pile))
    if count == 15:
        parts["fifteen"] = 2
    if count == 31:
        parts["thirty-one"] = 2

    # Cards of the last card's rank, laid without a gap: every two of them are a pair.
    same = len(list(takewhile(lambda card: rank(card) == rank(pile[-1]), reversed(pile))))
    if same >= 2:
        parts[{2: "pair", 3: "pair royal", 4: "double pair royal"}[same]] = same * (same - 1)

    # The longest run made by the cards laid last.
    length = max((n for n in range(3, len(pile) + 1) if is_run(pile[-n:])), default=0)
    if length:
        parts[f"run of {length}"] = length
    return parts


def pegging_points(pile: Sequence[int]) -> int:
    """Returns the points that the last card of the pile pegs; the go is not in it."""
    return sum(pegging_parts(pile).values())


def skunk_level(loser_score: int, target: int, triple: bool = False) -> int:
    """Returns 0 for a plain win, 1 for a skunk, 2 for a double and 3 for a triple skunk."""
    lines = [target - 30, target - 60, target - 90]
    # No score lies below a line at or under zero, so such a line does not exist.
    return sum(loser_score < line for line in (lines if triple else lines[:2]))


@dataclass
class Referee:
    """One game, from the first deal to the last peg. Seats are 0 and 1.

    Attributes:
        target: The score that wins; nobody's score goes above it.
        dealer: The player who deals; switched as soon as a show is over.
        scores: The score of each player.
        dealt: The six cards dealt to each player.
        hands: The cards each player holds now.
        discards: The cards each player has thrown; together they are the crib.
        starter: The card that is turned after the discards; -1 before the first deal.
        plays: (player, card) in the order laid in this deal.
        pile: The cards laid since the count last stood at 0.
        count: The sum of the pile.
        phase: "discard", "play" or "over".
        turn: The player to act; without meaning when the game is over.
        winner: The player who reached the target.
        points: What was really pegged in this game by (player, source, role); a source is heels,
            pegging, hand or crib, a role dealer or pone.
        needs_deal: Whether `deal` must be called before anybody can act.
    """

    target: int
    dealer: int
    scores: list[int] = field(default_factory=lambda: [0, 0])
    dealt: list[set[int]] = field(default_factory=lambda: [set(), set()])
    hands: list[set[int]] = field(default_factory=lambda: [set(), set()])
    discards: list[set[int]] = field(default_factory=lambda: [set(), set()])
    starter: int = -1
    plays: list[tuple[int, int]] = field(default_factory=list)
    pile: list[int] = field(default_factory=list)
    count: int = 0
    phase: str = "discard"
    turn: int = 0
    winner: int | None = None
    points: dict[tuple[int, str, str], int] = field(default_factory=Counter)
    needs_deal: bool = True

    @property
    def pone(self) -> int:
        """The player who does not deal."""
        return 1 - self.dealer

    def deal(self, pone_cards: Iterable[int], dealer_cards: Iterable[int], starter: int) -> None:
        """Deals six cards to each player and fixes the card that the cut will turn.

        Raises:
            ValueError: If no deal is due, or these are not thirteen different cards.
        """
        pone_hand, dealer_hand = list(pone_cards), list(dealer_cards)
        if not self.needs_deal:
            raise ValueError(f"no deal is due in the {self.phase} phase")
        if len(pone_hand) != 6 or len(dealer_hand) != 6:
            raise ValueError(f"six cards each, not {len(pone_hand)} and {len(dealer_hand)}")
        if len({*pone_hand, *dealer_hand, starter} & set(range(52))) != 13:
            raise ValueError("a deal is thirteen different cards of 0..51")
        for player, cards in ((self.pone, pone_hand), (self.dealer, dealer_hand)):
            self.dealt[player] = set(cards)
            self.hands[player] = set(cards)
            self.discards[player] = set()
        self.starter = starter
        self.plays, self.pile, self.count = [], [], 0
        self.phase, self.turn, self.needs_deal = "discard", self.pone, False

    def legal(self) -> set[int]:
        """Returns the cards that the player to act may choose; none when nobody is to act."""
        if self.phase == "over":
            return set()
        if self.phase == "discard":
            return set(self.hands[self.turn])
        return self._fitting(self.turn)

    def act(self, card: int) -> None:
        """Throws or lays one card, then does all that follows before the next choice.

        Raises:
            ValueError: If the card may not be chosen; nothing has changed then.
        """
        if card not in self.legal():
            choices = " ".join(map(name, sorted(self.legal()))) or "none"
            raise ValueError(
                f"card {card} ({name(card)}) is not legal for player {self.turn}:"
                f" phase {self.phase}, count {self.count}, legal cards {choices}"
            )
        self.hands[self.turn].remove(card)
        if self.phase == "discard":
            self._throw(card)
        else:
            self._lay(card)

    def show(self) -> None:
        """Counts pone's hand, the dealer's hand and the crib, then passes the deal."""
        kept = [self.dealt[player] - self.discards[player] for player in (0, 1)]
        for player, cards, source in (
            (self.pone, kept[self.pone], "hand"),
            (self.dealer, kept[self.dealer], "hand"),
            (self.dealer, self.discards[0] | self.discards[1], "crib"),
        ):
            parts = score_hand(cards, self.starter, is_crib=source == "crib")
            self._peg(player, sum(parts.values()), source)
        if self.phase != "over":
            self.dealer = self.pone
            self.phase, self.turn, self.needs_deal = "discard", self.pone, True

    def _throw(self, card: int) -> None:
        """Puts a card into the crib; pone throws two, then the dealer two, then the cut."""
        self.discards[self.turn].add(card)
        if len(self.discards[self.turn]) < 2:
            return
        if self.turn == self.pone:
            self.turn = self.dealer
            return
        self.phase, self.turn = "play", self.pone
        if rank(self.starter) == JACK:
            self._peg(self.dealer, 2, "heels")

    def _lay(self, card: int) -> None:
        """Lays a card, pegs for it and finds out who goes on."""
        player, other = self.turn, 1 - self.turn
        self.plays.append((player, card))
        self.pile.append(card)
        self.count += value(card)
        self._peg(player, pegging_points(self.pile), "pegging")
        if self.phase == "over":
            return

        # Who can play must play. A go passes the turn back as long as a card fits.
        if self._fitting(other):
            self.turn = other
        elif not self._fitting(player):
            self._close_count(player, other)

    def _close_count(self, player: int, other: int) -> None:
        """Ends the count after the last card of `player`: go, then the next lead or the show."""
        if self.count < 31:  # Go and last card are one single point, never on top of a 31.
            self._peg(player, 1, "pegging")
            if self.phase == "over":
                return
        self.pile, self.count = [], 0
        if self.hands[other]:
            self.turn = other
        elif not self.hands[player]:
            self.show()

    def _fitting(self, player: int) -> set[int]:
        """Returns the cards of a player that do not take the count past 31."""
        return {card for card in self.hands[player] if self.count + value(card) <= 31}

    def _peg(self, player: int, points: int, source: str) -> None:
        """Moves a player's peg; the game ends the moment it reaches the target."""
        if self.phase == "over" or points == 0:
            return
        pegged = min(points, self.target - self.scores[player])
        self.scores[player] += pegged
        role = "dealer" if player == self.dealer else "pone"
        self.points[player, source, role] = self.points.get((player, source, role), 0) + pegged
        if self.scores[player] == self.target:
            self.phase, self.winner = "over", player
