"""A plain rule book for cribbage: the witness against the fast engine.

It plays with two players and six cards, two and five, three players, and four in partnership, with
or without muggins. Everything here is written the most obvious way, for reading and not for speed.
It imports nothing of the project, so that a fault in the engine cannot hide in shared code.

A card is an int 0..51, 4 * rank + suit, with ranks A=0 .. K=12 and suits C D H S = 0..3. An action
is a card, or 52 + k for a claim or a call of k points, 0..31.

Where the rules leave room, this side is taken:

- Seats are asked for their discards one after the other from the dealer's left, the dealer last.
- Points are booked to a seat: heels and the crib to the dealer, in partnership as well. Whoever
  does not deal is booked as pone, the dealer's partner too.
- Whoever lays a card is the last to be asked for the next one, after all the others.
- Five cards: once the count is at 31 or nobody can play, the show follows. Cards not laid stay in
  the hand and count there. Pone starts with 3 whatever the target; a target that these 3 reach is
  refused.
- Muggins `show`: after a claim every seat of another side is asked, from the owner's left, also
  where nothing was missed. What one takes the next cannot take. A call above what is still missed
  pegs nothing and costs nothing, and lessens nothing.
- Muggins `full`: what a card pegs is one claim, also where it pegs nothing. Then the calls, then
  the turn passes. The go or last card is a claim of its own, of 1, of the player of the last card.
- The excess of a claim too high is pegged by the seat at the owner's left, which is always of
  another side, after the owner's points and before the calls. It may win the game.
- Points called and points of the excess are booked as `muggins`, to the seat that pegs them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile

RANKS = "A23456789TJQK"
SUITS = "CDHS"
JACK = RANKS.index("J")

# (players, cards dealt to each) of every variant.
VARIANTS = {
    "six-card": (2, 6),
    "five-card": (2, 5),
    "three-player": (3, 5),
    "four-player": (4, 5),
}
MUGGINS = ("none", "show", "full")

CLAIM = 52  # The action that claims or calls no points; the next one claims or calls 1.
MAX_CLAIM = 31

# Where the points of each thing that is counted are booked.
SOURCES = {"card": "pegging", "go": "pegging", "hand": "hand", "crib": "crib"}


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


def starting_scores(dealer: int, players: int = 2, cards_dealt: int = 6) -> list[int]:
    """Returns the scores by side at the first deal: with five cards for two, pone has 3."""
    scores = [0] * (3 if players == 3 else 2)
    if (players, cards_dealt) == VARIANTS["five-card"]:
        scores[1 - dealer] = 3
    return scores


def cut_for_deal(cuts: Sequence[int]) -> int | None:
    """Returns the seat whose cut card is the lowest, or None if all must cut again."""
    ranks = [rank(card) for card in cuts]
    lowest = min(ranks)
    return ranks.index(lowest) if ranks.count(lowest) == 1 else None


@dataclass
class Referee:
    """One game, from the first deal to the last peg.

    Seats are 0..players-1, the left of a seat is the next one. With four players seats 0 and 2 are
    side 0 and seats 1 and 3 side 1; otherwise every seat is a side of its own.

    Attributes:
        target: The score that wins; no score goes above it.
        dealer: The seat that deals; moves left as soon as a show is over.
        scores: The score of each side; zeros unless given.
        dealt: The cards dealt to each seat.
        hands: The cards each seat holds now.
        discards: The cards each seat has thrown.
        pack_card: The card that goes from the pack to the crib with three players, else -1.
        starter: The card that is turned after the discards; -1 before the first deal.
        plays: (seat, card) in the order laid in this deal.
        pile: The cards laid since the count last stood at 0.
        count: The sum of the pile.
        phase: "discard", "play", "claim", "call" or "over".
        turn: The seat to act; without meaning when the game is over.
        winner: The side that reached the target.
        points: What was really pegged in this game by (seat, source, role); a source is heels,
            pegging, hand, crib or muggins, a role dealer or pone.
        needs_deal: Whether `deal` must be called before anybody can act.
        to_count: (seat, "hand" or "crib") of what the show has still to count.
        what: What is counted now, or was last: "card", "go", "hand" or "crib".
        owner: The seat that counts it.
        worth: What it truly counts.
        missed: What of it has been claimed too little and not been called yet.
        callers: The seats that are asked for a call after the one whose turn it is.
        players: 2, 3 or 4.
        cards_dealt: How many cards each is dealt: 6 or 5 for two players, else 5.
        muggins: "none", "show" or "full": what must be claimed.
        penalty: Whether the excess of a claim too high is pegged by the next player.
    """

    target: int
    dealer: int
    scores: list[int] = field(default_factory=list)
    dealt: list[set[int]] = field(default_factory=list)
    hands: list[set[int]] = field(default_factory=list)
    discards: list[set[int]] = field(default_factory=list)
    pack_card: int = -1
    starter: int = -1
    plays: list[tuple[int, int]] = field(default_factory=list)
    pile: list[int] = field(default_factory=list)
    count: int = 0
    phase: str = "discard"
    turn: int = 0
    winner: int | None = None
    points: dict[tuple[int, str, str], int] = field(default_factory=Counter)
    needs_deal: bool = True
    to_count: list[tuple[int, str]] = field(default_factory=list)
    what: str = ""
    owner: int = 0
    worth: int = 0
    missed: int = 0
    callers: list[int] = field(default_factory=list)
    players: int = field(default=2, kw_only=True)
    cards_dealt: int = field(default=6, kw_only=True)
    muggins: str = field(default="none", kw_only=True)
    penalty: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        """Fills what was not given.

        Raises:
            ValueError: If there is no such variant or muggins, or the scores are not one below the
                target for each side.
        """
        if (self.players, self.cards_dealt) not in VARIANTS.values():
            raise ValueError(f"no game for {self.players} players and {self.cards_dealt} cards")
        if self.muggins not in MUGGINS:
            raise ValueError(f"muggins is one of {MUGGINS}, not {self.muggins!r}")
        self.scores = self.scores or [0] * self.sides
        if len(self.scores) != self.sides or not all(0 <= s < self.target for s in self.scores):
            raise ValueError(f"scores {self.scores}: {self.sides} of 0 to {self.target - 1}")
        for cards_by_seat in (self.dealt, self.hands, self.discards):
            if not cards_by_seat:
                cards_by_seat += [set() for _ in range(self.players)]

    @property
    def sides(self) -> int:
        """How many scores there are."""
        return 3 if self.players == 3 else 2

    @property
    def kept(self) -> int:
        """How many cards each seat keeps: those that make a crib of four are thrown."""
        return 3 if (self.players, self.cards_dealt) == VARIANTS["five-card"] else 4

    @property
    def pone(self) -> int:
        """The seat at the dealer's left, who leads and counts first."""
        return self.leftwards(self.dealer)[0]

    @property
    def crib(self) -> set[int]:
        """The cards thrown so far, and the one from the pack with three players."""
        return set().union(*self.discards, {self.pack_card} - {-1})

    def side(self, seat: int) -> int:
        """Returns the side for which a seat pegs."""
        return seat % self.sides

    def leftwards(self, seat: int) -> list[int]:
        """Returns all seats in turn from the left of this one, which comes last."""
        return [(seat + step) % self.players for step in range(1, self.players + 1)]

    def opponents(self, seat: int) -> list[int]:
        """Returns the seats of the other sides, in turn from the left of this one."""
        return [other for other in self.leftwards(seat) if self.side(other) != self.side(seat)]

    def deal(self, *cards: Iterable[int] | int) -> None:
        """Deals to each seat and fixes the card that the cut will turn.

        Args:
            cards: The hand of each seat from the dealer's left, the dealer's last; with three
                players the card from the pack to the crib; the starter.

        Raises:
            ValueError: If no deal is due, or these are not so many different cards.
        """
        hands = [list(part) for part in cards if not isinstance(part, int)]
        single = [part for part in cards if isinstance(part, int)]
        if not self.needs_deal:
            raise ValueError(f"no deal is due in the {self.phase} phase")
        if [len(hand) for hand in hands] != [self.cards_dealt] * self.players:
            raise ValueError(f"{self.cards_dealt} cards for {self.players} players, not {hands}")
        if len(single) != (2 if self.players == 3 else 1):
            raise ValueError(f"cards from the pack with {self.players} players: not {single}")
        every = [*single, *(card for hand in hands for card in hand)]
        if len(set(every) & set(range(52))) != len(every):
            raise ValueError(f"a deal is {len(every)} different cards of 0..51, not {every}")
        for seat, hand in zip(self.leftwards(self.dealer), hands, strict=True):
            self.dealt[seat], self.hands[seat], self.discards[seat] = set(hand), set(hand), set()
        self.pack_card = single[0] if self.players == 3 else -1
        self.starter = single[-1]
        self.plays, self.pile, self.count = [], [], 0
        self.phase, self.turn, self.needs_deal = "discard", self.pone, False

    def legal(self) -> set[int]:
        """Returns the actions that the seat to act may choose; none when nobody is to act."""
        if self.phase == "over" or self.needs_deal:
            return set()
        if self.phase in ("claim", "call"):
            return set(range(CLAIM, CLAIM + MAX_CLAIM + 1))
        if self.phase == "discard":
            return set(self.hands[self.turn])
        return self._fitting(self.turn)

    def act(self, action: int) -> None:
        """Throws or lays a card, claims or calls, then does all that follows unasked.

        Raises:
            ValueError: If the action may not be chosen; nothing has changed then.
        """
        if action not in self.legal():
            choices = " ".join(map(name, sorted(self.legal()))) or "none"
            raise ValueError(
                f"action {action} ({name(action)}) is not legal for player {self.turn}:"
                f" phase {self.phase}, count {self.count}, legal {choices}"
            )
        if self.phase == "discard":
            self._throw(action)
        elif self.phase == "play":
            self._lay(action)
        elif self.phase == "claim":
            self._claim(action - CLAIM)
        else:
            self._call(action - CLAIM)

    def show(self) -> None:
        """Counts the hands from the dealer's left, then the crib, then passes the deal."""
        self.to_count = [(seat, "hand") for seat in self.leftwards(self.dealer)]
        self.to_count.append((self.dealer, "crib"))
        self._show_next()

    def _throw(self, card: int) -> None:
        """Puts a card into the crib; after the dealer's last one comes the cut."""
        self.hands[self.turn].remove(card)
        self.discards[self.turn].add(card)
        if len(self.hands[self.turn]) > self.kept:
            return
        if self.turn != self.dealer:
            self.turn = self.leftwards(self.turn)[0]
            return
        self.phase, self.turn = "play", self.pone
        if rank(self.starter) == JACK:
            self._peg(self.dealer, 2, "heels")

    def _lay(self, card: int) -> None:
        """Lays a card, which is counted before the turn passes."""
        self.hands[self.turn].remove(card)
        self.plays.append((self.turn, card))
        self.pile.append(card)
        self.count += value(card)
        self._count("card", self.turn, pegging_points(self.pile))

    def _pass_turn(self) -> None:
        """Finds out who lays the next card after that of `owner`, or ends the count."""
        # Who can play must play. A go passes the turn on, at last back to the same player.
        for seat in self.leftwards(self.owner):
            if self._fitting(seat):
                self.phase, self.turn = "play", seat
                return
        if self.count < 31:  # Go and last card are one single point, never on top of a 31.
            self._count("go", self.owner, 1)
        else:
            self._restart()

    def _restart(self) -> None:
        """Sets the count back to 0: the next lead after the last card of `owner`, or the show."""
        self.pile, self.count = [], 0
        holders = [seat for seat in self.leftwards(self.owner) if self.hands[seat]]
        plays_once = (self.players, self.cards_dealt) == VARIANTS["five-card"]
        if holders and not plays_once:
            self.phase, self.turn = "play", holders[0]
        else:
            self.show()

    def _show_next(self) -> None:
        """Counts the next hand or the crib; after the crib the deal passes."""
        if not self.to_count:
            self.dealer = self.pone
            self.phase, self.turn, self.needs_deal = "discard", self.pone, True
            return
        seat, what = self.to_count.pop(0)
        cards = self.crib if what == "crib" else self.dealt[seat] - self.discards[seat]
        parts = score_hand(cards, self.starter, is_crib=what == "crib")
        self._count(what, seat, sum(parts.values()))

    def _count(self, what: str, owner: int, worth: int) -> None:
        """Counts one thing: asks its owner for a claim, or pegs it without muggins."""
        self.what, self.owner, self.worth, self.missed = what, owner, worth, 0
        if self.muggins == "full" or (self.muggins == "show" and what in ("hand", "crib")):
            self.phase, self.turn = "claim", owner
        else:
            self._peg(owner, worth, SOURCES[what])
            self._go_on()

    def _claim(self, points: int) -> None:
        """Pegs what is claimed, but no more than is there; then the others are asked."""
        self.callers = self.opponents(self.owner)
        self.missed = max(self.worth - points, 0)
        self._peg(self.owner, min(points, self.worth), SOURCES[self.what])
        if self.penalty and points > self.worth:
            self._peg(self.callers[0], points - self.worth, "muggins")
        self._ask_next_caller()

    def _call(self, points: int) -> None:
        """Pegs what is called, if so much was missed."""
        if points <= self.missed:
            self._peg(self.turn, points, "muggins")
            self.missed -= points
        self._ask_next_caller()

    def _ask_next_caller(self) -> None:
        """Asks the next seat for a call; after the last one the game goes on."""
        if self.phase == "over":
            return
        if self.callers:
            self.phase, self.turn = "call", self.callers.pop(0)
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Does what comes after the thing that has been counted."""
        if self.phase == "over":
            return
        if self.what == "card":
            self._pass_turn()
        elif self.what == "go":
            self._restart()
        else:
            self._show_next()

    def _fitting(self, seat: int) -> set[int]:
        """Returns the cards of a seat that do not take the count past 31."""
        return {card for card in self.hands[seat] if self.count + value(card) <= 31}

    def _peg(self, seat: int, points: int, source: str) -> None:
        """Moves a side's peg; the game ends the moment it reaches the target."""
        if self.phase == "over" or points == 0:
            return
        side = self.side(seat)
        pegged = min(points, self.target - self.scores[side])
        self.scores[side] += pegged
        role = "dealer" if seat == self.dealer else "pone"
        self.points[seat, source, role] = self.points.get((seat, source, role), 0) + pegged
        if self.scores[side] == self.target:
            self.phase, self.winner = "over", side
