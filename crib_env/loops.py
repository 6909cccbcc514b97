"""The loops over games, compiled: the only place where a rule meets a batch.

Axes: (N,) games, (M,) lanes of them, (M, F) observations, (M, A) action masks. Nothing is checked
here: `batch.Games` and the environments do that, and own the arrays.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy.typing as npt

from crib_env.bots import RANDOM, bot_action, bot_move, random_card
from crib_env.cards import CARDS_UP_TO, NO_CARD, NUM_CARDS, bit_of
from crib_env.game import (
    DISCARD,
    OVER,
    PLAY,
    Game,
    add_worth,
    apply,
    clear_deal,
    count_worth,
    draw_luck,
    legal,
    luck_of,
    side_of,
    start_game,
)
from crib_env.kernel import bit_count, kernel
from crib_env.luck import STREAM_POSITION, STREAM_REDEAL, philox
from crib_env.observation import (
    observe,
    observe_privileged,
    recall,
    unseen_by,
    write_mask,
)
from crib_env.scoring import THIRTY_ONE

Array = npt.NDArray[Any]
FirstDealer = Literal["alternate", "cut"] | int

OUTSIDE = -1  # a seat that no house player holds
NOBODY = -1  # whose turn it is once the game is over
ILLEGAL = -2  # in place of a turn: the action was not legal


@kernel
def fill_lane_seeds(low: int, high: int, stream: int, seeds: Array) -> None:
    """Writes seeds of lanes hashed from one seed into *seeds*, (N, 2) uint32 (`luck.lane_seed`)."""
    for lane in range(len(seeds)):
        words = philox(lane, 0, 0, stream, low, high)
        seeds[lane, 0] = words[0]
        seeds[lane, 1] = words[1]


@kernel
def start_all(games: Array, lanes: Array) -> None:
    """Starts the game of each of *lanes* anew, as its `game_number` says. Changes *games*."""
    for lane in lanes:
        start_game(games[lane])


@kernel
def next_all(games: Array, lanes: Array) -> None:
    """Goes on to the next game in each of *lanes*. Changes *games*."""
    for lane in lanes:
        games[lane].game_number += 1
        start_game(games[lane])


@kernel
def first_illegal(games: Array, lanes: Array, actions: Array) -> int:
    """Returns the index of the first action that is not legal in its lane, -1 if all are."""
    for index in range(len(lanes)):
        game = games[lanes[index]]
        action = actions[index]
        if (
            action < 0
            or action >= NUM_CARDS
            or not (legal(game, int(game.turn)) >> int(action)) & 1
        ):
            return index
    return -1


@kernel
def apply_all(games: Array, lanes: Array, actions: Array) -> None:
    """Applies one legal action in each of *lanes*. Changes *games*."""
    for index in range(len(lanes)):
        apply(games[lanes[index]], int(actions[index]))


@kernel
def observe_all(games: Array, lanes: Array, players: Array, out: Array) -> None:
    """Writes one observation for each of *lanes*, (M, F). Changes *out*."""
    for index in range(len(lanes)):
        observe(games[lanes[index]], int(players[index]), out[index])


@kernel
def privileged_all(games: Array, lanes: Array, players: Array, out: Array) -> None:
    """Writes one privileged view for each of *lanes*, (M, P). Changes *out*."""
    for index in range(len(lanes)):
        observe_privileged(games[lanes[index]], int(players[index]), out[index])


@kernel
def masks_all(games: Array, lanes: Array, players: Array, out: Array) -> None:
    """Writes one action mask for each of *lanes*, (M, A). Changes *out*."""
    for index in range(len(lanes)):
        write_mask(games[lanes[index]], int(players[index]), out[index])


@kernel
def luck_all(games: Array, lanes: Array, out: Array) -> None:
    """Writes the luck of each of *lanes*' player to act, as low and high word. Changes *out*."""
    for index in range(len(lanes)):
        game = games[lanes[index]]
        low, high = luck_of(game, int(game.turn))
        out[index, 0] = low
        out[index, 1] = high


@kernel
def recall_all(observations: Array, games: Array) -> None:
    """Rebuilds records, the rules standing in them, from observations (N, F). Changes *games*."""
    for lane in range(len(games)):
        recall(observations[lane], games[lane])


@kernel
def bot_actions(games: Array, bot: int, luck: Array, out: Array) -> None:
    """Writes the card that a house player chooses in each lane, with luck given; 0 if it is over.

    Changes *out*.
    """
    for lane in range(len(games)):
        game = games[lane]
        if game.phase == OVER:
            out[lane] = 0
        elif bot == RANDOM:
            out[lane] = random_card(legal(game, int(game.turn)), int(luck[lane, 0]))
        else:
            out[lane] = bot_action(bot, game)


@kernel
def play_bots(games: Array, lanes: Array, seats: Array) -> None:
    """Lets house players play on until another's turn, or the end, in each of *lanes*.

    Args:
        games: (N,) records; changed.
        lanes: (M,) which of them.
        seats: (N, players) the house player's number at each seat, OUTSIDE for others.
    """
    for lane in lanes:
        game = games[lane]
        while game.phase != OVER and seats[lane, game.turn] != OUTSIDE:
            bot_move(int(seats[lane, game.turn]), game)


@kernel
def answer(game: Game, action: int, player: int, bot: int) -> int:
    """Applies an action of the seat to act and lets a house player reply for the others.

    Returns ILLEGAL, with nothing changed, if the action is not legal; else the seat to act, which
    is *player* unless *bot* is OUTSIDE, or NOBODY once the game is over. Changes *game*.

    Args:
        game: The record.
        action: A card, or NO_CARD to go on without one.
        player: The seat that the house player does not hold.
        bot: The house player's number at the other seats, OUTSIDE for none.
    """
    if action != NO_CARD:
        if not (legal(game, int(game.turn)) >> action) & 1:
            return ILLEGAL
        apply(game, action)
    if bot != OUTSIDE:
        while game.phase != OVER and game.turn != player:
            bot_move(bot, game)
    return NOBODY if game.phase == OVER else int(game.turn)


@kernel
def step_one(
    games: Array, action: int, player: int, bot: int, observation: Array, mask: Array
) -> tuple[int, int, int, int]:
    """Does all that one step of an environment of one lane needs, in one call.

    Changes lane 0 of *games*, *observation* (F,) uint8 and *mask* (A,) int8, which become what
    *player* then sees. The caller knows *action* to be a card or NO_CARD (see `answer`).

    Returns:
        What `answer` returns, the score of *player*'s side, the best score of the other sides, and
        the dealer.
    """
    game = games[0]
    turn = answer(game, action, player, bot)
    observe(game, player, observation)
    write_mask(game, player, mask)
    own = side_of(game, player)
    others = 0
    for side in range(game.sides):
        if side != own:
            others = max(others, int(game.scores[side]))
    return turn, int(game.scores[own]), others, int(game.dealer)


@kernel
def redeal_all(games: Array, lanes: Array, players: Array, seeds: Array) -> None:
    """Redeals what each player cannot know, all deals alike likely that fit what it has seen.

    Args:
        games: (N,) records; changed.
        lanes: (M,) which of them.
        players: (M,) whose knowledge stays.
        seeds: (M, 2) uint32; becomes the lane's seed, so that cards to come are new as well.
    """
    for index in range(len(lanes)):
        redeal_hidden(
            games[lanes[index]], int(players[index]), int(seeds[index, 0]), int(seeds[index, 1])
        )


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
    game.crib = 0
    # Hands first: what a go has ruled out concerns them alone, so every deal stays alike likely.
    for seat in range(game.players):
        if seat != player:
            must_fit = game.phase == PLAY and seat == game.turn
            hand = 0
            while hand == 0:
                for _ in range(game.held[seat]):
                    allowed = pack & ~hand & ~CARDS_UP_TO[game.lacks[seat]]
                    words = philox(
                        draws, game.deal_number, game.game_number, STREAM_REDEAL, key0, key1
                    )
                    hand |= bit_of(random_card(allowed, words[0]))
                    draws += 1
                if game.held[seat] == 0:
                    break
                if must_fit and not hand & CARDS_UP_TO[THIRTY_ONE - game.count]:
                    hand = 0
            game.hands[seat] = hand
            pack ^= hand
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
def lay_out(
    games: Array, lane: int, hands: Array, starter: int, dealer: int, scores: Array
) -> None:
    """Begins a deal of a game with these cards and scores. Changes *games*."""
    game = games[lane]
    start_game(game)
    game.dealer = dealer
    clear_deal(game)
    dealt = 0
    for player in range(game.players):
        game.hands[player] = hands[player]
        dealt |= hands[player]
    for side in range(game.sides):
        game.scores[side] = scores[side]
    pack = ((1 << NUM_CARDS) - 1) & ~dealt
    block = 0
    if starter == NO_CARD:
        words = philox(block, 0, game.game_number, STREAM_POSITION, game.seed[0], game.seed[1])
        starter = random_card(pack, words[0])
        block += 1
    game.starter = starter
    pack &= ~bit_of(starter)
    for _ in range(game.crib_from_pack):
        words = philox(block, 0, game.game_number, STREAM_POSITION, game.seed[0], game.seed[1])
        card = bit_of(random_card(pack, words[0]))
        game.crib |= card
        pack ^= card
        block += 1
    draw_luck(game)
