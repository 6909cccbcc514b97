"""The house players, as kernels that play inside the loops: random, greedy and expert.

Each uses only what its seat may know: of *game* they read the seat's own hand and discards, the
starter once turned, and what lies open. A test plays them on records rebuilt from the observation.
`expert` is the yardstick of every result: a change in its choices is a new player with a new name.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from crib_env.cards import (
    CARDS_OF_RANK,
    CARDS_OF_SUIT,
    JACK,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    bit_of,
    pips_of_rank,
    rank_of,
)
from crib_env.game import DISCARD, Game, apply, legal, luck_of
from crib_env.kernel import bit_count, kernel, lowest_bit
from crib_env.observation import unseen_by
from crib_env.scoring import POINTS_OF_FIVE, kept_score, pegging_score, ranks_index, reply_score
from crib_env.tables import CRIB_SCALE, OTHER_CRIB, OWN_CRIB

Array = np.ndarray[Any, np.dtype[Any]]


class Bot(IntEnum):
    """The house players by number; their names are the lower-case names."""

    RANDOM = 0
    GREEDY = 1
    EXPERT = 2


BOTS = tuple(bot.name.lower() for bot in Bot)

RANDOM, GREEDY, EXPERT = int(Bot.RANDOM), int(Bot.GREEDY), int(Bot.EXPERT)

HAND_STEPS = 5  # a hand holds at most six cards

# CHOOSE[n, k]: how many sets of k cards there are among n.
CHOOSE = np.zeros((NUM_CARDS + 1, 7), np.int64)
CHOOSE[:, 0] = 1
for _n in range(1, NUM_CARDS + 1):
    for _k in range(1, 7):
        CHOOSE[_n, _k] = CHOOSE[_n - 1, _k - 1] + CHOOSE[_n - 1, _k]


@kernel
def bot_action(bot: int, game: Game) -> int:
    """Returns the card that a house player chooses for the player to act."""
    player = int(game.turn)
    if bot == RANDOM:
        return random_card(legal(game, player), luck_of(game, player)[0])
    if game.phase == DISCARD:
        thrown = int(game.discards[player])
        if bot == GREEDY:
            pair = greedy_discard(int(game.hands[player]), thrown)
        else:
            pair = expert_discard(int(game.hands[player]), thrown, player == game.dealer)
        return lowest_bit(pair & ~thrown)
    if bot == GREEDY:
        return greedy_play(game, player)
    return expert_play(game, player)


@kernel
def bot_move(bot: int, game: Game) -> None:
    """Plays a house player's move for the player to act: a card, or all its throws. Changes *game*.

    Two throws at once are the two that `bot_action` would choose one by one, found once.
    """
    if game.phase != DISCARD or bot == RANDOM:
        apply(game, bot_action(bot, game))
        return
    player = int(game.turn)
    hand, thrown = int(game.hands[player]), int(game.discards[player])
    if bot == GREEDY:
        rest = greedy_discard(hand, thrown) & ~thrown
    else:
        rest = expert_discard(hand, thrown, player == game.dealer) & ~thrown
    while rest:
        apply(game, lowest_bit(rest))
        rest &= rest - 1


@kernel
def random_card(cards: int, luck: int) -> int:
    """Returns one of a set of cards, all alike likely; *luck* is 32 random bits.

    The fraction luck / 2**32 picks the place in card order: no card's chance is off by more than
    52 / 2**32.
    """
    place = (luck * bit_count(cards)) >> 32
    # Takes away the lowest card `place` times. A hand's few steps are made without a branch, which
    # a processor could not foresee.
    for step in range(HAND_STEPS):
        cards &= cards - (1 if step < place else 0)
    for _ in range(HAND_STEPS, place):
        cards &= cards - 1
    return lowest_bit(cards)


@kernel
def greedy_discard(hand: int, thrown: int) -> int:
    """Returns the pair to throw so that the four kept score most among themselves before the cut.

    Ties: the pair that comes first in card order, lowest cards first.

    Args:
        hand: The cards held now.
        thrown: The cards thrown before in this deal, which belong to the pair.
    """
    cards = hand | thrown
    best = -1
    best_pair = 0
    firsts = cards
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        seconds = firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            pair = first | second
            if thrown & ~pair:
                continue
            points = kept_score(cards ^ pair)
            if points > best:
                best = points
                best_pair = pair
    return best_pair


@kernel
def expert_discard(hand: int, thrown: int, is_dealer: bool) -> int:
    """Returns the pair to throw that leaves the most points, in expectation over the 46 starters.

    The hand's points are exact, the crib's are those of the pair in the table of one's own or of
    the other's crib. Whole numbers throughout, so that ties are ties on every machine.
    Ties: the pair that comes first in card order, lowest cards first.

    Args:
        hand: The cards held now.
        thrown: The cards thrown before in this deal, which belong to the pair.
        is_dealer: Whose crib it is.
    """
    if is_dealer:
        return expected_discard(hand, thrown, OWN_CRIB, 1)
    return expected_discard(hand, thrown, OTHER_CRIB, -1)


@kernel
def expected_discard(hand: int, thrown: int, crib_table: Array, sign: int) -> int:
    """Returns the pair to throw by exact expected hand plus *sign* times the table's crib.

    Args:
        hand: The cards held now.
        thrown: The cards thrown before in this deal, which belong to the pair.
        crib_table: Expected crib by the ranks thrown, (13, 13) int64, in 1/CRIB_SCALE points.
        sign: 1 for one's own crib, -1 for the other's.
    """
    cards = hand | thrown
    best = -(1 << 60)
    best_pair = 0
    firsts = cards
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        seconds = firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            pair = first | second
            if thrown & ~pair:
                continue
            value = throw_value(cards, pair, crib_table, sign)
            if value > best:
                best = value
                best_pair = pair
    return best_pair


@kernel
def throw_value(cards: int, pair: int, crib_table: Array, sign: int) -> int:
    """Returns what throwing *pair* leaves: the exact expected hand plus *sign* times the crib.

    In whole numbers: points times CRIB_SCALE times the number of starters, which is 46.

    Args:
        cards: The six cards dealt, as a set.
        pair: The two of them that are thrown.
        crib_table: Expected crib by the ranks thrown, (13, 13) int64, in 1/CRIB_SCALE points.
        sign: 1 for one's own crib, -1 for the other's.
    """
    unseen = ((1 << NUM_CARDS) - 1) & ~cards
    low = rank_of(lowest_bit(pair))
    high = rank_of(lowest_bit(pair & (pair - 1)))
    crib = sign * int(crib_table[low, high])
    return CRIB_SCALE * starter_total(cards ^ pair, unseen) + bit_count(unseen) * crib


@kernel
def starter_total(kept: int, unseen: int) -> int:
    """Returns the points of four kept cards in the show, summed over every starter of *unseen*."""
    index = ranks_index(kept) * NUM_RANKS
    total = 0
    for rank in range(NUM_RANKS):
        total += bit_count(unseen & CARDS_OF_RANK[rank]) * int(POINTS_OF_FIVE[index + rank])
    for suit in range(NUM_SUITS):
        in_suit = bit_count(unseen & CARDS_OF_SUIT[suit])
        if kept & CARDS_OF_SUIT[suit] == kept:
            total += 4 * bit_count(unseen) + in_suit
        if kept & bit_of(4 * JACK + suit):
            total += in_suit
    return total


@kernel
def greedy_play(game: Game, player: int) -> int:
    """Returns the card that pegs most now (15, 31, pairs, runs). Ties: the highest card."""
    cards = legal(game, player)
    best = -1
    best_card = -1
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        points = reply_score(int(game.pile), int(game.pile_size), int(game.count), rank_of(card))
        if points >= best:
            best = points
            best_card = card
    return best_card


@kernel
def expert_play(game: Game, player: int) -> int:
    """Returns the card whose points now, less the other's expected best reply, are most.

    Any set of unseen cards is alike likely to be the other's hand; one who has said go does not
    reply. In whole numbers: points times the number of such hands. Ties: the highest card.
    With three or four players the reply is that of the next seat that still holds cards.
    """
    other = player
    held = 0
    for _ in range(game.players - 1):
        other = other + 1 if other + 1 < game.players else 0
        if game.held[other] and not (game.gone >> other) & 1:
            held = int(game.held[other])
            break
    unseen = unseen_by(game, player)
    hands = CHOOSE[bit_count(unseen), held]
    cards = legal(game, player)
    best = np.int64(-(1 << 60))
    best_card = -1
    last_rank = -1
    value = best
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if rank_of(card) != last_rank:
            last_rank = rank_of(card)
            pile = (int(game.pile) << 4) | last_rank
            size = game.pile_size + 1
            count = game.count + pips_of_rank(last_rank)
            value = pegging_score(pile, size, count) * hands
            if held:
                value -= best_reply_total(pile, size, count, unseen, held)
        if value >= best:
            best = value
            best_card = card
    return best_card


@kernel
def best_reply_total(pile: int, size: int, count: int, unseen: int, held: int) -> int:
    """Returns the best reply of *held* unseen cards, in points summed over all such hands.

    For each number of points, the hands whose best reply it is are those without a better card,
    less those without one as good either (hypergeometric counts).
    """
    cards_with = np.zeros(16, np.int64)
    for rank in range(NUM_RANKS):
        points = reply_score(pile, size, count, rank)
        if points > 0:
            cards_with[points] += bit_count(unseen & CARDS_OF_RANK[rank])
    others = bit_count(unseen)
    without_better = CHOOSE[others, held]
    total = 0
    for points in range(15, 0, -1):
        if cards_with[points]:
            others -= cards_with[points]
            without_as_good = CHOOSE[others, held]
            total += points * (without_better - without_as_good)
            without_better = without_as_good
    return total
