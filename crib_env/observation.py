"""What a seat may know, as a vector of uint8: its named slices, once, and the way there and back.

`observe` writes it, `recall` rebuilds from it the record as the seat knows it, so nothing that a
seat may remember is lost and nothing that it may not is there. Knows no batch and no reward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crib_env.cards import (
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    bit_of,
    pips_of,
    rank_of,
    suit_of,
)
from crib_env.dealing import clear_count, clear_deal, left_of
from crib_env.game import is_claiming, kept_by, legal
from crib_env.game_record import (
    A_CARD,
    A_GO,
    A_HAND,
    CLAIM,
    DISCARD,
    MAX_PLAYERS,
    NOTHING,
    NUM_CLAIMS,
    OVER,
    Counting,
    Game,
    Phase,
)
from crib_env.kernel import apart, kernel, lowest_bit
from crib_env.rules import Rules
from crib_env.scoring import THIRTY_ONE, hand_score, pegging_score

OBSERVATION_VERSION = 1
NUM_PHASES = 3
NUM_PHASES_MUGGINS = len(Phase)
NUM_COUNTED = len(Counting) - 1
NUM_COUNTS = 31  # a decision is taken at a count of 0 to 30

Array = np.ndarray[Any, np.dtype[Any]]


class Field(NamedTuple):
    """A named slice of the observation."""

    name: str
    start: int
    stop: int
    high: int
    meaning: str

    @property
    def slice(self) -> slice:
        """Where the field stands in the vector."""
        return slice(self.start, self.stop)


def play_width(rules: Rules) -> int:
    """Returns how many entries describe a card laid: rank, suit, seat, whether in the pile."""
    return NUM_RANKS + NUM_SUITS + rules.players + 1


def fields_in_order(rows: list[tuple[str, int, int, str]]) -> dict[str, Field]:
    """Returns fields that follow each other, from (name, size, high, meaning)."""
    fields = {}
    start = 0
    for name, size, high, meaning in rows:
        fields[name] = Field(name, start, start + size, high, meaning)
        start += size
    return fields


def layout(rules: Rules) -> dict[str, Field]:
    """Returns the named slices of the observation, in order.

    Seats are relative: 0 is the seat that observes, 1 the seat at its left. Sides likewise.
    """
    plays = rules.players * rules.num_kept
    muggins = rules.muggins != "none"
    rows = [
        ("hand", NUM_CARDS, 1, "1 for each card held now, by card"),
        (
            "discards",
            NUM_CARDS,
            1,
            "1 for each card that this seat has thrown to the crib, by card",
        ),
        ("starter", NUM_CARDS, 1, "1 for the starter, by card; all 0 before it is turned"),
        (
            "plays",
            plays * play_width(rules),
            1,
            f"the cards laid in this deal, the last first, {play_width(rules)} entries each: "
            f"rank ({NUM_RANKS}), suit ({NUM_SUITS}), relative seat ({rules.players}), "
            "1 if in this count",
        ),
        ("count", NUM_COUNTS, 1, "the count, one-hot 0 to 30; all 0 at 31"),
        ("gone", rules.players, 1, "1 for each relative seat that said go in this count"),
        ("dealer", rules.players, 1, "the dealer's relative seat, one-hot"),
        (
            "turn",
            rules.players,
            1,
            "the relative seat to act, one-hot; all 0 once the game is over",
        ),
        (
            "phase",
            NUM_PHASES_MUGGINS if muggins else NUM_PHASES,
            1,
            "one-hot: discard, play, over" + ", claim, call" * muggins,
        ),
        ("held", rules.players, rules.cards_dealt, "how many cards each relative seat holds"),
        (
            "lacks",
            rules.players,
            THIRTY_ONE - 1,
            "each relative seat has shown by go that it holds no card of so many pips or fewer",
        ),
        ("scores", rules.sides, rules.target, "the score of each relative side, in points"),
    ]
    if muggins:
        rows += [
            ("counting", NUM_COUNTED, 1, "what is claimed, one-hot: a card, a go, a hand, a crib"),
            ("owner", rules.players, 1, "the relative seat that claims it, one-hot"),
            ("claimed", 1, NUM_CLAIMS - 1, "the claim, in points; 0 before it is made"),
            (
                "called",
                rules.players,
                NUM_CLAIMS,
                "1 more than each relative seat has called, in points; 0 before it has",
            ),
            (
                "shown_hands",
                rules.players * NUM_CARDS,
                1,
                "1 for each card of each relative seat's hand that lies open in the show, by card",
            ),
            ("shown_crib", NUM_CARDS, 1, "1 for each card of the crib once it lies open, by card"),
        ]
    return fields_in_order(rows)


def observation_size(rules: Rules) -> int:
    """Returns the length of the observation vector."""
    return max(field.stop for field in layout(rules).values())


def observation_high(rules: Rules) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Returns the highest value of each entry, (F,) uint8; the lowest is 0."""
    high = np.ones(observation_size(rules), np.uint8)
    for field in layout(rules).values():
        high[field.slice] = field.high
    return high


def privileged_layout(rules: Rules) -> dict[str, Field]:
    """Returns the named slices of the privileged view: what the observation must not hold."""
    others = rules.players - 1
    rows = [
        ("other_hands", others * NUM_CARDS, 1, "the cards each other seat holds now, by card"),
        ("other_discards", others * NUM_CARDS, 1, "the cards each other seat has thrown, by card"),
        ("next_starter", NUM_CARDS, 1, "the starter, by card, also before it is turned"),
        (
            "worth",
            rules.players + 1,
            29,
            "points in the show by relative seat, then the crib; 0 before the cut",
        ),
    ]
    return fields_in_order(rows)


def privileged_size(rules: Rules) -> int:
    """Returns the length of the privileged view."""
    return privileged_layout(rules)["worth"].stop


@kernel
def relative(game: Game, seat: int, player: int) -> int:
    """Returns *seat* as *player* counts: itself 0, its left 1."""
    steps = int(seat) - int(player)
    return steps + int(game.players) if steps < 0 else steps


@kernel
def relative_side(game: Game, side: int, player: int) -> int:
    """Returns *side* as *player* counts: its own 0."""
    steps = int(side) - int(player) % int(game.sides)
    return steps + int(game.sides) if steps < 0 else steps


@kernel
def write_cards(cards: int, out: Array, start: int) -> None:
    """Sets entry *start* + card to 1 for each card of a set. Changes *out*."""
    while cards:
        out[start + lowest_bit(cards)] = 1
        cards &= cards - 1


@kernel
def read_cards(out: Array, start: int) -> int:
    """Returns the set of cards whose entries from *start* on are not 0."""
    cards = 0
    for card in range(NUM_CARDS):
        if out[start + card]:
            cards |= bit_of(card)
    return cards


@kernel
def num_phases_of(game: Game) -> int:
    """Returns how many entries the phase has in the observation of a game."""
    return NUM_PHASES_MUGGINS if game.muggins else NUM_PHASES


@kernel
def shown_hand(game: Game, player: int) -> int:
    """Returns the hand of *player* if it lies open in a show that is claimed, else no cards."""
    place = int(player) - int(game.dealer) - 1
    if place < 0:
        place += int(game.players)
    return kept_by(game, player) if game.muggins and place < game.shown else 0


@kernel
def shown_crib(game: Game) -> int:
    """Returns the crib if it lies open in a show that is claimed, else no cards."""
    return int(game.crib) if game.muggins and game.shown > game.players else 0


@kernel
def observe(game: Game, player: int, out: Array) -> None:
    """Writes what *player* may know into *out*, (F,) uint8 (`layout`). Changes *out*."""
    # Fields are a byte; indices are whole numbers, also uncompiled.
    players = int(game.players)
    out[:] = 0
    write_cards(int(game.hands[player]), out, 0)
    write_cards(int(game.discards[player]), out, NUM_CARDS)
    at = 3 * NUM_CARDS
    if game.phase != DISCARD and game.starter != NO_CARD:
        out[2 * NUM_CARDS + int(game.starter)] = 1
    slots = players * (int(game.cards_dealt) - int(game.num_discards))
    width = NUM_RANKS + NUM_SUITS + players + 1
    for back in range(game.num_plays):
        index = game.num_plays - 1 - back
        slot = at + back * width
        card = int(game.plays[index])
        out[slot + rank_of(card)] = 1
        out[slot + NUM_RANKS + suit_of(card)] = 1
        out[slot + NUM_RANKS + NUM_SUITS + relative(game, game.play_seats[index], player)] = 1
        if back < game.pile_size:
            out[slot + width - 1] = 1
    at += slots * width
    if game.count < NUM_COUNTS:
        out[at + int(game.count)] = 1
    at += NUM_COUNTS
    phases = num_phases_of(game)
    for seat in range(players):
        place = relative(game, seat, player)
        if (game.gone >> seat) & 1:
            out[at + place] = 1
        out[at + 3 * players + phases + place] = game.held[seat]
        out[at + 4 * players + phases + place] = game.lacks[seat]
    at += players
    out[at + relative(game, game.dealer, player)] = 1
    at += players
    if game.phase != OVER:
        out[at + relative(game, game.turn, player)] = 1
    at += players
    out[at + int(game.phase)] = 1
    at += phases + 2 * players
    for side in range(game.sides):
        out[at + relative_side(game, side, player)] = game.scores[side]
    if game.muggins:
        observe_claim(game, player, out, at + int(game.sides))


@apart
def observe_claim(game: Game, player: int, out: Array, at: int) -> None:
    """Writes what is claimed and what lies open into *out* from *at* on. Changes *out*."""
    players = int(game.players)
    if game.counting != NOTHING:
        out[at + int(game.counting) - 1] = 1
        out[at + NUM_COUNTED + relative(game, game.owner, player)] = 1
    at += NUM_COUNTED + players
    out[at] = max(int(game.claimed), 0)
    at += 1
    for seat in range(players):
        place = relative(game, seat, player)
        out[at + place] = int(game.called[seat]) + 1
        write_cards(shown_hand(game, seat), out, at + players + place * NUM_CARDS)
    write_cards(shown_crib(game), out, at + players + players * NUM_CARDS)


@kernel
def observe_privileged(game: Game, player: int, out: Array) -> None:
    """Writes what *player* must not know into *out*, (P,) uint8 (`privileged_layout`).

    For critics in training: it is no part of the observation and has another length, so that a
    policy cannot be given it by mistake. Changes *out*.
    """
    out[:] = 0
    players = int(game.players)
    others = players - 1
    at = 2 * others * NUM_CARDS
    for step in range(1, players):
        seat = (player + step) % players
        write_cards(int(game.hands[seat]), out, (step - 1) * NUM_CARDS)
        write_cards(int(game.discards[seat]), out, (others + step - 1) * NUM_CARDS)
    out[at + int(game.starter)] = 1
    at += NUM_CARDS
    for seat in range(players):
        out[at + relative(game, seat, player)] = game.worth[seat]
    out[at + players] = game.worth[MAX_PLAYERS]


@kernel
def write_mask(game: Game, player: int, out: Array) -> None:
    """Writes 1 for each action that *player* may choose, (A,) int8; all 1 if it is not to act.

    All ones, also once the game is over, so that nothing ever divides by an empty mask. Changes
    *out*.
    """
    if is_claiming(game) and player == game.turn:
        out[:NUM_CARDS] = 0
        out[NUM_CARDS:] = 1
        return
    cards = legal(game, player)
    if cards == 0:
        out[:] = 1
        return
    out[:] = 0
    write_cards(cards, out, 0)


@kernel
def recall(observation: Array, game: Game) -> None:
    """Rebuilds from an observation the record as that seat knows it, as seat 0. Changes *game*.

    The rules must stand in *game* already. What the seat does not know is left empty: other hands
    and discards, the crib but for its own throw, the starter before it is turned.
    """
    players = int(game.players)
    at = 3 * NUM_CARDS
    slots = players * (int(game.cards_dealt) - int(game.num_discards))
    width = NUM_RANKS + NUM_SUITS + players + 1
    tail = at + slots * width + NUM_COUNTS
    game.winner = -1
    for seat in range(players):
        if observation[tail + players + seat]:
            game.dealer = seat
    clear_deal(game)
    game.hands[0] = read_cards(observation, 0)
    game.discards[0] = read_cards(observation, NUM_CARDS)
    game.crib = game.discards[0]
    starter = read_cards(observation, 2 * NUM_CARDS)
    if starter:
        game.starter = lowest_bit(starter)
    # Slots tell the last card first; the record holds them in the order laid.
    laid = 0
    while laid < slots and np.any(observation[at + laid * width : at + (laid + 1) * width]):
        laid += 1
    clear_count(game)
    for index in range(laid):
        slot = at + (laid - 1 - index) * width
        card = 0
        for rank in range(NUM_RANKS):
            if observation[slot + rank]:
                card += 4 * rank
        for suit in range(NUM_SUITS):
            if observation[slot + NUM_RANKS + suit]:
                card += suit
        for seat in range(players):
            if observation[slot + NUM_RANKS + NUM_SUITS + seat]:
                game.play_seats[index] = seat
        game.plays[index] = card
        if observation[slot + width - 1]:
            game.pile = (int(game.pile) << 4) | rank_of(card)
            game.pile_size += 1
            game.count += pips_of(card)
    game.num_plays = laid
    phases = num_phases_of(game)
    for seat in range(players):
        if observation[tail + seat]:
            game.gone |= 1 << seat
        if observation[tail + 2 * players + seat]:
            game.turn = seat
        game.held[seat] = observation[tail + 3 * players + phases + seat]
        game.lacks[seat] = observation[tail + 4 * players + phases + seat]
    for phase in range(phases):
        if observation[tail + 3 * players + phase]:
            game.phase = phase
    tail += 5 * players + phases
    for side in range(game.sides):
        game.scores[side] = observation[tail + side]
        if game.phase == OVER and game.scores[side] == game.target:
            game.winner = side
    if game.muggins:
        recall_claim(observation, game, tail + int(game.sides))


@apart
def recall_claim(observation: Array, game: Game, at: int) -> None:
    """Rebuilds what is claimed and what lies open, the rest of the record standing.

    What is truly there is counted anew, from cards that lie open to all. Changes *game*.
    """
    players = int(game.players)
    for counting in range(NUM_COUNTED):
        if observation[at + counting]:
            game.counting = counting + 1
    at += NUM_COUNTED
    for seat in range(players):
        if observation[at + seat]:
            game.owner = seat
    claimed = int(observation[at + players])
    at += players + 1
    # The crib is shown last, after all hands; a hand, by its place from the dealer's left.
    crib = read_cards(observation, at + players + players * NUM_CARDS)
    for seat in range(players):
        game.called[seat] = int(observation[at + seat]) - 1
        hand = read_cards(observation, at + players + seat * NUM_CARDS)
        if hand:
            game.shown += 1
            for index in range(game.num_plays):
                hand &= ~bit_of(game.plays[index])
            game.hands[seat] = hand
    if crib:
        game.shown = players + 1
        game.crib = crib
        if players == 2:
            game.discards[1] = crib & ~int(game.discards[0])
    if game.counting == NOTHING:
        return
    if game.counting == A_CARD:
        points = pegging_score(int(game.pile), int(game.pile_size), int(game.count))
    elif game.counting == A_GO:
        points = 1
    elif game.counting == A_HAND:
        points = hand_score(kept_by(game, game.owner), game.starter, False)
    else:
        points = hand_score(int(game.crib), game.starter, True)
    game.true_points = points
    if game.phase == CLAIM:
        return
    game.claimed = claimed
    missed = max(points - claimed, 0)
    caller = left_of(game, game.owner)
    while caller != game.owner:
        if 0 <= game.called[caller] <= missed:
            missed -= int(game.called[caller])
        caller = left_of(game, caller)
    game.missed = missed


@kernel
def unseen_by(game: Game, player: int) -> int:
    """Returns the set of cards that *player* has not seen: other hands, the crib's, the pack."""
    seen = int(game.hands[player]) | int(game.discards[player])
    for index in range(game.num_plays):
        seen |= bit_of(game.plays[index])
    if game.phase != DISCARD and game.starter != NO_CARD:
        seen |= bit_of(game.starter)
    if game.muggins:
        seen |= shown_crib(game)
        for seat in range(game.players):
            seen |= shown_hand(game, seat)
    return ((1 << NUM_CARDS) - 1) & ~seen
