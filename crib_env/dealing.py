"""How a game and a deal begin: who deals, the cut, the cards, a clean table.

Knows neither throws nor plays. Functions that change *game* say so. The ids in brackets are those
of docs/rules.md.
"""

from __future__ import annotations

from crib_env.cards import ALL_CARDS, NO_CARD, NUM_CARDS, bit_of, rank_of
from crib_env.game_record import (
    ALTERNATE,
    DISCARD,
    LOSER,
    MAX_PLAYERS,
    MAX_PLAYS,
    NO_CUT,
    NOTHING,
    NUM_SOURCES,
    TIED,
    Game,
)
from crib_env.kernel import bit_count, kernel, lowest_bit
from crib_env.luck import STREAM_CARDS, STREAM_CUT, STREAM_PLAYERS, philox
from crib_env.rules import FIVE_CARD_START, loser_deals

loser_deals_of = kernel(loser_deals)


@kernel
def left_of(game: Game, player: int) -> int:
    """Returns the next seat to the left (R37)."""
    left = player + 1
    return 0 if left == game.players else left


@kernel
def side_of(game: Game, player: int) -> int:
    """Returns whose score *player* pegs to: its own, or that of the partner opposite (R36)."""
    return player - game.sides if player >= game.sides else player


@kernel
def start_game(game: Game) -> None:
    """Clears the board and deals the first deal of game `game_number`. Changes *game*."""
    dealer = first_dealer_of(game)  # may go by how the game before has ended
    for player in range(MAX_PLAYERS):
        game.scores[player] = 0
        for source in range(NUM_SOURCES):
            game.points[player, source, 0] = 0
            game.points[player, source, 1] = 0
        for kind in range(3):
            game.worth_totals[player, kind] = 0
    game.winner = -1
    game.deal_number = 0
    game.dealer = dealer
    if is_five_card(game):
        game.scores[side_of(game, left_of(game, game.dealer))] = FIVE_CARD_START
    deal(game)


@kernel
def first_dealer_of(game: Game) -> int:
    """Returns the seat that deals first in game `game_number` (R3). Changes *game*: it is kept.

    The record still holds the game before or, where `game_number` has stayed, this very game, which
    then begins anew with the same dealer.
    """
    if game.first_dealer >= 0:
        return int(game.first_dealer)
    players, number = int(game.players), int(game.game_number)
    odd = number & 1
    dealer = -1
    if number > 0 and game.first_dealer == ALTERNATE:
        return (int(game.first_cut) + number) % players
    if number > 0 and game.first_dealer == LOSER:
        before = int(game.first_cut) % players
        if int(game.first_cut) // players == odd:
            return before
        if game.winner >= 0:
            dealer = loser_deals_of(game.scores, players, int(game.sides), before)
    # The first game of a lane is cut for, so that many lanes do not all begin alike, and so is one
    # after a game that nobody has lost. The cut is kept: games go on alternating where the seed is
    # changed in between.
    if dealer < 0:
        dealer = cut_for_deal(game, number)
    if game.first_dealer == ALTERNATE:
        game.first_cut = dealer
    elif game.first_dealer == LOSER:
        game.first_cut = dealer + players * odd
    return dealer


@kernel
def is_five_card(game: Game) -> bool:
    """Returns whether this is the five-card game of two, where the play has one count (R32)."""
    return game.players == 2 and game.cards_dealt == 5


@kernel
def cut_for_deal(game: Game, game_number: int) -> int:
    """Returns the seat that cuts the lowest card; equal lowest ranks cut again (R2, R39)."""
    attempt = 0
    while True:
        cards = cut_cards(
            int(game.seed[0]), int(game.seed[1]), game_number, attempt, int(game.players)
        )
        attempt += 1
        if cards != NO_CUT:
            dealer = lowest_cut(cards, int(game.players))
            if dealer != TIED:
                return dealer


@kernel
def cut_cards(key0: int, key1: int, game_number: int, attempt: int, players: int) -> int:
    """Returns the cards that the seats cut at one attempt, six bits each, seat 0's lowest.

    NO_CUT if the luck of a seat names no card: then this was no attempt, and nobody has seen one.

    Args:
        key0: The low word of the lane's seed.
        key1: Its high word.
        game_number: Which game of the lane they cut for.
        attempt: How many attempts were made before.
        players: How many seats cut.
    """
    # One cut takes at most one block: four seats, a card of six bits each from a word.
    words = philox(attempt, 0, game_number, STREAM_CUT, key0, key1)
    taken = 0
    cards = 0
    for player in range(players):
        word = words[player]
        card = NUM_CARDS
        for _ in range(5):
            if card == NUM_CARDS and word & 63 < NUM_CARDS and not (taken >> (word & 63)) & 1:
                card = word & 63
            word >>= 6
        if card == NUM_CARDS:
            return NO_CUT
        taken |= bit_of(card)
        cards |= card << (6 * player)
    return cards


@kernel
def lowest_cut(cards: int, players: int) -> int:
    """Returns the seat of the lowest of the cards that `cut_cards` returns, or TIED (R2, R39)."""
    lowest = 13
    dealer = TIED
    for player in range(players):
        rank = rank_of((cards >> (6 * player)) & 63)
        if rank == lowest:
            dealer = TIED
        elif rank < lowest:
            lowest = rank
            dealer = player
    return dealer


@kernel
def deal(game: Game) -> None:
    """Deals deal `deal_number` from the lane's own cards. Changes *game*.

    The cards are a pure function of (seed, game, deal) and belong to roles, pone first: with the
    other seat dealing, each role has the same cards (R4). The crib of three has one more, which
    nobody sees before it is counted (R35).
    """
    clear_deal(game)
    pack = ALL_CARDS
    player = game.dealer
    for place in range(game.players):
        player = left_of(game, player)
        hand = draw_cards(game, pack, int(game.cards_dealt), place)
        game.hands[player] = hand
        pack ^= hand
    if game.crib_from_pack:
        game.crib = draw_cards(game, pack, int(game.crib_from_pack), MAX_PLAYERS)
        pack ^= int(game.crib)
    game.starter = lowest_bit(draw_cards(game, pack, 1, MAX_PLAYERS + 1))
    draw_luck(game)


@kernel
def draw_cards(game: Game, pack: int, size: int, place: int) -> int:
    """Returns *size* cards of *pack*, each set of them alike likely.

    Args:
        game: Whose seed, game and deal the cards are of.
        pack: The set to draw from.
        size: How many to draw.
        place: Whom they are for: each place has luck of its own.
    """
    drawn = 0
    block = 0
    stream = STREAM_CARDS + 256 * place
    while True:
        words = philox(
            block, game.deal_number, game.game_number, stream, game.seed[0], game.seed[1]
        )
        block += 1
        for half in range(2):
            # Six bits name a card of the pack or nothing: exact, where a remainder would favour
            # some cards. One already drawn changes nothing.
            bits = words[2 * half] | (words[2 * half + 1] << 32)
            for _ in range(10):
                drawn |= (1 << (bits & 63)) & pack
                bits >>= 6
                if bit_count(drawn) == size:
                    return drawn


@kernel
def draw_luck(game: Game) -> None:
    """Draws the key of the players' luck in this deal, in a stream of its own. Changes *game*."""
    words = philox(
        0, game.deal_number, game.game_number, STREAM_PLAYERS, game.seed[0], game.seed[1]
    )
    game.luck[0] = words[0]
    game.luck[1] = words[1]


@kernel
def clear_deal(game: Game) -> None:
    """Takes all cards off the table and asks the dealer's left for a discard. Changes *game*."""
    for player in range(MAX_PLAYERS):
        game.hands[player] = 0
        game.discards[player] = 0
        game.worth[player] = 0
        game.held[player] = game.cards_dealt if player < game.players else 0
        game.lacks[player] = 0
    game.worth[MAX_PLAYERS] = 0
    game.crib = 0
    game.starter = NO_CARD
    game.num_plays = 0
    for index in range(MAX_PLAYS):
        game.plays[index] = NO_CARD
        game.play_seats[index] = -1
    clear_count(game)
    clear_claim(game)
    game.shown = 0
    game.phase = DISCARD
    game.turn = left_of(game, game.dealer)


@kernel
def clear_count(game: Game) -> None:
    """Begins a new count and a new pile (R14). Changes *game*."""
    game.count = 0
    game.pile = 0
    game.pile_size = 0
    game.gone = 0


@kernel
def clear_claim(game: Game) -> None:
    """Leaves nothing to be claimed or called. Changes *game*."""
    game.counting = NOTHING
    game.owner = -1
    game.true_points = 0
    game.claimed = -1
    game.missed = 0
    for player in range(MAX_PLAYERS):
        game.called[player] = -1
