"""Cards dealt anew in a game: what a seat cannot know, a position, the luck of another seed.

Knows no batch. What is dealt here is as likely as the rules make it, and nothing else of the game
changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crib_env.bots import random_card
from crib_env.cards import ALL_CARDS, CARDS_UP_TO, NO_CARD, bit_of
from crib_env.dealing import clear_deal, deal, draw_luck, start_game
from crib_env.game import add_worth, count_worth
from crib_env.game_record import DISCARD, PLAY, Game
from crib_env.kernel import bit_count, kernel
from crib_env.luck import STREAM_POSITION, STREAM_REDEAL, STREAM_RESEED, philox
from crib_env.observation import shown_crib, shown_hand, unseen_by
from crib_env.scoring import THIRTY_ONE

Array = np.ndarray[Any, np.dtype[Any]]

UNKNOWN = -1  # in place of a hand
NO_SEAT = -1


@kernel
def redeal_hidden(game: Game, player: int, key0: int, key1: int) -> None:
    """Deals other hands, throws, and an unturned starter anew from what *player* has not seen.

    A seat that has said go keeps to cards that would not have fitted, and one that is to lay a card
    has one that fits: otherwise the turn would have passed. Changes *game*.
    """
    pack = unseen_by(game, player)
    turned = game.phase != DISCARD
    if turned:
        add_worth(game, -1)
    from_pack = game.crib
    for seat in range(game.players):
        from_pack &= ~game.discards[seat]
    num_from_pack = bit_count(int(from_pack))
    draws = 0
    # Hands first: what a go has ruled out concerns them alone, so every deal stays alike likely.
    # With one other seat the cards ruled out are left out of the draw; with more, that would favour
    # some deals, so all hands are drawn again until nothing that is known rules them out.
    apart = game.players > 2
    fits = False
    while not fits:
        fits = True
        rest = pack
        for seat in range(game.players):
            if seat == player or shown_hand(game, seat):
                continue
            ruled_out = int(CARDS_UP_TO[game.lacks[seat]])
            hand = 0
            for _ in range(game.held[seat]):
                allowed = rest & ~hand if apart else rest & ~hand & ~ruled_out
                words = philox(draws, game.deal_number, game.game_number, STREAM_REDEAL, key0, key1)
                hand |= bit_of(random_card(allowed, words[0]))
                draws += 1
            if hand & ruled_out:
                fits = False
            must_fit = game.phase == PLAY and seat == game.turn
            if must_fit and not hand & CARDS_UP_TO[THIRTY_ONE - game.count]:
                fits = False
            game.hands[seat] = hand
            rest ^= hand
    # Of a crib that lies open it is hidden only who threw which card.
    open_crib = shown_crib(game) & ~int(game.discards[player])
    pack = open_crib if open_crib else rest
    game.crib = 0
    for seat in range(game.players):
        if seat != player:
            thrown = 0
            for _ in range(bit_count(int(game.discards[seat]))):
                words = philox(draws, game.deal_number, game.game_number, STREAM_REDEAL, key0, key1)
                card = bit_of(random_card(pack, words[0]))
                draws += 1
                thrown |= card
                pack ^= card
            game.discards[seat] = thrown
        if bit_count(int(game.discards[seat])) == game.num_discards:
            game.crib |= game.discards[seat]
    for _ in range(num_from_pack):
        words = philox(draws, game.deal_number, game.game_number, STREAM_REDEAL, key0, key1)
        card = bit_of(random_card(pack, words[0]))
        draws += 1
        game.crib |= card
        pack ^= card
    if turned:
        count_worth(game)
        add_worth(game, 1)
    elif game.starter != NO_CARD:
        words = philox(draws, game.deal_number, game.game_number, STREAM_REDEAL, key0, key1)
        game.starter = random_card(pack, words[0])
    game.seed[0] = key0
    game.seed[1] = key1
    draw_luck(game)


@kernel
def lay_out(game: Game, hands: Array, starter: int, dealer: int, scores: Array) -> None:
    """Begins a deal of a game with these cards and scores. Changes *game*.

    Args:
        game: The record; its seed and its number among the lane's games stay.
        hands: (MAX_PLAYERS,) int64, the cards dealt to each seat, or UNKNOWN: drawn. Where no
            seat's are known, the cards are the lane's own.
        starter: The starter, or NO_CARD: drawn.
        dealer: The seat that deals, or NO_SEAT: whose turn it is in this game of the lane.
        scores: (MAX_PLAYERS,) int64, by side.
    """
    start_game(game)
    if dealer != NO_SEAT:
        game.dealer = dealer
        deal(game)
    for side in range(game.sides):
        game.scores[side] = scores[side]
    for player in range(game.players):
        if hands[player] != UNKNOWN:
            lay_cards(game, hands, UNKNOWN, starter)
            return


@kernel
def lay_cards(game: Game, hands: Array, from_pack: int, starter: int) -> None:
    """Deals these cards in a deal that has just been dealt, in place of its own. Changes *game*.

    Scores, totals, the dealer and the number of the deal stay.

    Args:
        game: The record, nothing of its deal thrown yet.
        hands: (MAX_PLAYERS,) int64, the cards dealt to each seat, or UNKNOWN: drawn.
        from_pack: The cards that the pack adds to the crib, a set, or UNKNOWN: drawn.
        starter: The starter, or NO_CARD: drawn.
    """
    clear_deal(game)
    pack = ALL_CARDS
    for player in range(game.players):
        if hands[player] != UNKNOWN:
            pack &= ~int(hands[player])
    if from_pack != UNKNOWN:
        pack &= ~from_pack
    draws = 0
    if starter == NO_CARD:
        starter = draw_one(game, pack, draws)
        draws += 1
    game.starter = starter
    pack &= ~bit_of(starter)
    for player in range(game.players):
        hand = int(hands[player])
        if hand == UNKNOWN:
            hand = 0
            for _ in range(game.cards_dealt):
                hand |= bit_of(draw_one(game, pack & ~hand, draws))
                draws += 1
        game.hands[player] = hand
        pack &= ~hand
    if from_pack != UNKNOWN:
        game.crib = from_pack
    else:
        for _ in range(game.crib_from_pack):
            card = bit_of(draw_one(game, pack, draws))
            game.crib |= card
            pack ^= card
            draws += 1
    draw_luck(game)


@kernel
def draw_one(game: Game, pack: int, number: int) -> int:
    """Returns a card of *pack*, by the lane's luck for positions."""
    words = philox(number, 0, game.game_number, STREAM_POSITION, game.seed[0], game.seed[1])
    return random_card(pack, words[0])


@kernel
def reseed(game: Game, key0: int, key1: int) -> None:
    """Gives a game the luck of another lane seed: all cards to come and the players' own luck.

    What has been dealt stays; a starter not yet turned is drawn anew. Changes *game*.
    """
    game.seed[0] = key0
    game.seed[1] = key1
    draw_luck(game)
    if game.phase == DISCARD:
        pack = ALL_CARDS & ~int(game.crib)
        for player in range(game.players):
            pack &= ~(int(game.hands[player]) | int(game.discards[player]))
        words = philox(0, game.deal_number, game.game_number, STREAM_RESEED, key0, key1)
        game.starter = random_card(pack, words[0])
