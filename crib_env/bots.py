"""The house players, as kernels that play inside the loops: random, greedy, expert, careless.

Each uses only what its seat may know: of *game* they read the seat's own hand and discards, the
starter once turned, and what lies open. A test plays them on records rebuilt from the observation.
`expert` is the yardstick of every result: a change in its choices is a new player with a new name.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from crib_env.cards import (
    ALL_CARDS,
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
from crib_env.dealing import side_of
from crib_env.game import apply, is_claiming, legal, luck_of
from crib_env.game_record import CLAIM, CLAIM_ACTION, DISCARD, NUM_CLAIMS, Game
from crib_env.kernel import bit_count, kernel, lowest_bit
from crib_env.observation import unseen_by
from crib_env.scoring import (
    POINTS_OF_FIVE,
    POINTS_OF_FOUR,
    TOTALS_OF_FOUR,
    TOTALS_OF_THREE,
    kept_score,
    pegging_score,
    ranks_index,
    reply_score,
)
from crib_env.tables import CRIB_SCALE, CRIBS

Array = np.ndarray[Any, np.dtype[Any]]


class Bot(IntEnum):
    """The house players by number; their names are the lower-case names."""

    RANDOM = 0
    GREEDY = 1
    EXPERT = 2
    CARELESS = 3  # expert's cards; what sets it apart is how it counts with muggins


BOTS = tuple(bot.name.lower() for bot in Bot)

RANDOM, GREEDY, EXPERT = int(Bot.RANDOM), int(Bot.GREEDY), int(Bot.EXPERT)
CARELESS = int(Bot.CARELESS)

CARELESS_RATE = 0.2  # the share of its counts in which careless errs
TWO_TO_32 = 4294967296.0

HAND_STEPS = 5  # a hand holds at most six cards

# CHOOSE[n, k]: how many sets of k cards there are among n.
CHOOSE = np.zeros((NUM_CARDS + 1, 7), np.int64)
CHOOSE[:, 0] = 1
for _n in range(1, NUM_CARDS + 1):
    for _k in range(1, 7):
        CHOOSE[_n, _k] = CHOOSE[_n - 1, _k - 1] + CHOOSE[_n - 1, _k]


@kernel
def bot_action(bot: int, game: Game) -> int:
    """Returns what a house player chooses for the player to act."""
    low, high = 0, 0
    if bot == RANDOM or is_claiming(game):
        low, high = luck_of(game, int(game.turn))
    return bot_choice(bot, game, low, high)


@kernel
def bot_choice(bot: int, game: Game, low: int, high: int) -> int:
    """Returns what a house player chooses for the player to act, with luck given.

    Args:
        bot: The player's number.
        game: The record, or what the seat knows of it.
        low: 32 random bits.
        high: 32 more.
    """
    player = int(game.turn)
    if is_claiming(game):
        return CLAIM_ACTION + number_said(bot, game, low, high)
    if bot == RANDOM:
        return random_card(legal(game, player), low)
    if game.phase == DISCARD:
        return lowest_bit(discard_of(bot, game, player) & ~int(game.discards[player]))
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
    rest = discard_of(bot, game, player) & ~int(game.discards[player])
    while rest:
        apply(game, lowest_bit(rest))
        rest &= rest - 1


@kernel
def counted(game: Game) -> int:
    """Returns the right claim or call: what is there, or was missed."""
    return int(game.true_points) if game.phase == CLAIM else int(game.missed)


@kernel
def number_said(bot: int, game: Game, low: int, high: int) -> int:
    """Returns what a house player claims or calls, 0 to 31.

    What is counted lies open to all: a seat that claims or calls may know what is there. All but
    random and careless say it. Random says any number. Careless errs in a fifth of its counts
    (`CARELESS_RATE`): half of these too low by 1 to 3 points, as far as there are any, half too
    high by 1 or 2; and it lets a fifth of what others miss go by.

    Args:
        bot: The player's number.
        game: The record, or what the seat knows of it.
        low: 32 random bits: whether to err, or which number.
        high: 32 more: how.
    """
    if bot == RANDOM:
        return (low * NUM_CLAIMS) >> 32
    right = counted(game)
    if bot != CARELESS or low >= CARELESS_RATE * TWO_TO_32:
        return right
    if game.phase != CLAIM:
        return 0
    error = (high * 6) >> 32
    if error < 3:
        return max(right - 1 - error, 0)
    return right + 1 + error % 2


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
def first_throw(cards: int, size: int) -> int:
    """Returns the first set of *size* cards, 1 or 2, of a set: the lowest."""
    first = cards & -cards
    if size == 1:
        return first
    rest = cards ^ first
    return first | (rest & -rest)


@kernel
def next_throw(cards: int, throw: int) -> int:
    """Returns the set of as many cards that follows *throw* in card order, 0 after the last."""
    low = throw & -throw
    high = throw ^ low
    # The higher card moves on; after its last place, the lower does, with the next above it.
    above = cards & ~(2 * (high if high else low) - 1)
    if above:
        return (low if high else 0) | (above & -above)
    if high == 0:
        return 0
    above = cards & ~(2 * low - 1)
    low = above & -above
    above ^= low
    return low | (above & -above) if above else 0


@kernel
def greedy_discard(hand: int, thrown: int, size: int) -> int:
    """Returns the cards to throw so that those kept score most among themselves before the cut.

    Ties: the throw that comes first in card order, lowest cards first.

    Args:
        hand: The cards held now.
        thrown: The cards thrown before in this deal, which belong to the throw.
        size: How many cards a throw has, 1 or 2.
    """
    cards = hand | thrown
    best = -1
    best_throw = 0
    throw = first_throw(cards, size)
    while throw:
        if thrown & ~throw == 0:
            points = kept_score(cards ^ throw)
            if points > best:
                best = points
                best_throw = throw
        throw = next_throw(cards, throw)
    return best_throw


@kernel
def expected_discard(hand: int, thrown: int, size: int, crib_table: Array, sign: int) -> int:
    """Returns the throw that leaves the most points, in expectation over the starters.

    The hand's points are exact, the crib's are those of the table. Whole numbers throughout, so
    that ties are ties on every machine. Ties: the throw that comes first in card order, lowest
    cards first.

    Args:
        hand: The cards held now.
        thrown: The cards thrown before in this deal, which belong to the throw.
        size: How many cards a throw has, 1 or 2.
        crib_table: Expected crib by the ranks thrown, (13, 13) int64, in 1/CRIB_SCALE points; a
            throw of one card stands on the diagonal.
        sign: 1 for the crib of one's own side, -1 for another's.
    """
    cards = hand | thrown
    best = -(1 << 60)
    best_throw = 0
    throw = first_throw(cards, size)
    while throw:
        if thrown & ~throw == 0:
            value = throw_value(cards, throw, crib_table, sign)
            if value > best:
                best = value
                best_throw = throw
        throw = next_throw(cards, throw)
    return best_throw


@kernel
def discard_of(bot: int, game: Game, player: int) -> int:
    """Returns what greedy, expert or careless throws in all, cards thrown before included."""
    hand, thrown = int(game.hands[player]), int(game.discards[player])
    size = int(game.num_discards)
    if bot == GREEDY:
        return greedy_discard(hand, thrown, size)
    own = side_of(game, player) == side_of(game, game.dealer)
    table = crib_table_of(int(game.players), int(game.cards_dealt), own)
    return expected_discard(hand, thrown, size, table, 1 if own else -1)


@kernel
def crib_table_of(players: int, cards_dealt: int, own: bool) -> Array:
    """Returns the expected cribs of a variant, (13, 13) int64, one's own side's or another's."""
    variant = players - 1
    if players == 2 and cards_dealt == 6:
        variant = 0
    cribs: Array = CRIBS[variant, 0 if own else 1]
    return cribs


@kernel
def throw_value(cards: int, throw: int, crib_table: Array, sign: int) -> int:
    """Returns what a throw leaves: the exact expected hand plus *sign* times the crib.

    In whole numbers: points times CRIB_SCALE times the number of starters, 46 or 47.

    Args:
        cards: The cards dealt, as a set.
        throw: The one or two of them that are thrown.
        crib_table: See `expected_discard`.
        sign: 1 for the crib of one's own side, -1 for another's.
    """
    unseen = ((1 << NUM_CARDS) - 1) & ~cards
    low = rank_of(lowest_bit(throw))
    rest = throw & (throw - 1)
    high = rank_of(lowest_bit(rest)) if rest else low
    crib = sign * int(crib_table[low, high])
    return CRIB_SCALE * starter_total(cards ^ throw, unseen) + bit_count(unseen) * crib


@kernel
def starter_total(kept: int, unseen: int) -> int:
    """Returns the points of three or four kept cards, summed over every starter of *unseen*.

    By ranks: what all 52 cards would make with them, less what those seen would, which are fewer.
    """
    size = bit_count(kept)
    index = ranks_index(kept)
    total = int(TOTALS_OF_FOUR[index]) if size == 4 else int(TOTALS_OF_THREE[index])
    seen = ALL_CARDS & ~unseen
    while seen:
        place = index * NUM_RANKS + rank_of(lowest_bit(seen))
        total -= int(POINTS_OF_FIVE[place]) if size == 4 else int(POINTS_OF_FOUR[place])
        seen &= seen - 1
    for suit in range(NUM_SUITS):
        in_suit = bit_count(unseen & CARDS_OF_SUIT[suit])
        if kept & CARDS_OF_SUIT[suit] == kept:
            total += size * bit_count(unseen) + in_suit
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
    With three or four players the reply is that of the next seat that still holds cards; a
    partner's counts for one's own side.
    """
    other = player
    held = 0
    sign = -1
    for _ in range(game.players - 1):
        other = other + 1 if other + 1 < game.players else 0
        if game.held[other] and not (game.gone >> other) & 1:
            held = int(game.held[other])
            sign = 1 if side_of(game, other) == side_of(game, player) else -1
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
                value += sign * best_reply_total(pile, size, count, unseen, held)
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
