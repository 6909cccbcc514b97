"""The loops over games, compiled: the only place where a rule meets a batch.

Axes: (N,) games, (M,) lanes of them, (M, F) observations, (M, A) action masks. Nothing is checked
here: `batch.Games` and `lanes.Lanes` do that, and own the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from crib_env.bots import bot_choice, bot_move
from crib_env.cards import NO_CARD
from crib_env.dealing import side_of, start_game
from crib_env.episode import (
    ENDED,
    SHAPING_NONE,
    TWO_TO_32,
    Episode,
    best_other,
    draw_scores,
    forfeit,
    set_out,
    settle,
)
from crib_env.game import apply, is_legal, luck_of
from crib_env.game_record import OVER, Game
from crib_env.kernel import kernel
from crib_env.luck import STREAM_OPPONENTS, philox
from crib_env.observation import observe, observe_privileged, recall, write_mask
from crib_env.redeal import lay_cards, lay_out, redeal_hidden, reseed

Array = npt.NDArray[Any]

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
        if not is_legal(games[lanes[index]], int(actions[index])):
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
    """Writes what a house player chooses in each lane, with luck given; 0 if it is over.

    Changes *out*.
    """
    for lane in range(len(games)):
        game = games[lane]
        if game.phase == OVER:
            out[lane] = 0
        else:
            out[lane] = bot_choice(bot, game, int(luck[lane, 0]), int(luck[lane, 1]))


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
        action: An action, or NO_CARD to go on without one.
        player: The seat that the house player does not hold.
        bot: The house player's number at the other seats, OUTSIDE for none.
    """
    if action != NO_CARD:
        if not is_legal(game, action):
            return ILLEGAL
        apply(game, action)
    if bot != OUTSIDE:
        while game.phase != OVER and game.turn != player:
            bot_move(bot, game)
    return NOBODY if game.phase == OVER else int(game.turn)


@kernel
def step_lane(
    game: Game, episode: Episode, action: int, player: int, observation: Array, mask: Array
) -> tuple[int, float]:
    """Does all that one step of an environment needs in one lane.

    Where an opponent from outside is to act, or the action is not legal, nothing but *game* is
    written. Otherwise changes *episode*, *observation* (F,) uint8 and *mask* (A,) int8, which
    become what *player* then sees.

    Returns:
        What `answer` returns, and the reward: 0 where this is the episode's first decision.
    """
    turn = answer(game, action, player, int(episode.bot))
    if turn == ILLEGAL or (turn != player and turn != NOBODY):
        return turn, 0.0
    reward = 0.0
    if episode.over:
        set_out(game, episode, player)
    else:
        reward = settle(game, episode, player)
    observe(game, player, observation)
    write_mask(game, player, mask)
    return turn, reward


@kernel
def step_one(
    games: Array, episodes: Array, action: int, player: int, observation: Array, mask: Array
) -> tuple[int, float, int, int, int]:
    """Does `step_lane` in lane 0, in one call that costs little.

    Returns:
        What `step_lane` returns, the score of *player*'s side, the best score of the other sides,
        and the dealer.
    """
    game = games[0]
    turn, reward = step_lane(game, episodes[0], action, player, observation, mask)
    own = int(game.scores[side_of(game, player)])
    return turn, reward, own, best_other(game, player), int(game.dealer)


@kernel
def step_all(
    games: Array,
    episodes: Array,
    lanes: Array,
    actions: Array,
    player: int,
    observations: Array,
    masks: Array,
    rewards: Array,
    turns: Array,
) -> None:
    """Does `step_lane` in each of *lanes*. Changes all arrays but *lanes* and *actions*.

    Args:
        games: (N,) records.
        episodes: (N,) of `EPISODE`.
        lanes: (M,) which of them.
        actions: (M,) one each, or NO_CARD to go on without one.
        player: The agent's seat.
        observations: (N, F) uint8, what *player* then sees.
        masks: (N, A) int8, what it may choose.
        rewards: (N,) float64.
        turns: (N,) int64, what `answer` returns.
    """
    for index in range(len(lanes)):
        lane = lanes[index]
        turn, reward = step_lane(
            games[lane],
            episodes[lane],
            int(actions[index]),
            player,
            observations[lane],
            masks[lane],
        )
        turns[lane] = turn
        rewards[lane] = reward


@kernel
def refuse_all(
    games: Array,
    episodes: Array,
    lanes: Array,
    player: int,
    observations: Array,
    masks: Array,
    rewards: Array,
) -> None:
    """Forfeits the game of each of *lanes*, which stays as it is. Changes what `step_all` does."""
    for lane in lanes:
        rewards[lane] = forfeit(games[lane], episodes[lane])
        observe(games[lane], player, observations[lane])
        masks[lane, :] = 1


@kernel
def begin_all(
    games: Array,
    episodes: Array,
    lanes: Array,
    player: int,
    shares: Array,
    bots: Array,
) -> None:
    """Begins the next game of each of *lanes*, and an episode. Changes *games* and *episodes*.

    Args:
        games: (N,) records.
        episodes: (N,) of `EPISODE`.
        lanes: (M,) which of them.
        player: The agent's seat.
        shares: (members,) float64, the upper ends of the opponents' shares of [0, 1].
        bots: (members,) int64, their numbers as house players.
    """
    for lane in lanes:
        game = games[lane]
        episode = episodes[lane]
        game.game_number += 1
        start_game(game)
        draw_scores(game, episode, player)
        words = philox(0, 0, game.game_number, STREAM_OPPONENTS, game.seed[0], game.seed[1])
        member = 0
        while member + 1 < len(shares) and words[0] >= shares[member] * TWO_TO_32:
            member += 1
        episode.member = member
        episode.bot = bots[member]
        episode.over = ENDED


@kernel
def scores_all(games: Array, player: int, facts: Array) -> None:
    """Writes *player*'s score, the best other, and whether it deals, (N, 3) int64, into *facts*."""
    for lane in range(len(games)):
        game = games[lane]
        own = int(game.scores[side_of(game, player)])
        facts[lane, 0] = own
        facts[lane, 1] = best_other(game, player)
        facts[lane, 2] = game.dealer == player


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
def reseed_all(games: Array, lanes: Array, seeds: Array) -> None:
    """Gives each of *lanes* the luck of another seed, (M, 2) uint32. Changes *games*."""
    for index in range(len(lanes)):
        reseed(games[lanes[index]], int(seeds[index, 0]), int(seeds[index, 1]))


@kernel
def lay_out_one(games: Array, hands: Array, starter: int, dealer: int, scores: Array) -> None:
    """Does `redeal.lay_out` in lane 0. Changes *games*."""
    lay_out(games[0], hands, starter, dealer, scores)


@kernel
def see_one(games: Array, player: int, observation: Array, mask: Array) -> None:
    """Writes what *player* sees in lane 0, (F,) uint8, and may choose, (A,) int8. Changes both."""
    observe(games[0], player, observation)
    write_mask(games[0], player, mask)


@kernel
def step_seats(
    games: Array, episodes: Array, action: int, rewards: Array, masks: Array, facts: Array
) -> int:
    """Does one step in lane 0, where each seat is an agent's: applies an action, pays every seat.

    A seat is paid at once, whoever moved. With shaping, whose discount runs from one decision of a
    seat to its next, it is paid when it is to act or the game is over.

    Args:
        games: (1,) records; changed.
        episodes: (players,) of `EPISODE`, one a seat; changed. Those that are over begin here.
        action: An action of the seat to act, or NO_CARD to go on without one.
        rewards: (players,) float64; changed, as are those below.
        masks: (players, A) int8, what each seat may choose.
        facts: (players, 3) int64: the score of the seat's side, the best of the others, whether it
            deals.

    Returns:
        ILLEGAL, with nothing changed, if the action is not legal; else the seat to act, or NOBODY.
    """
    game = games[0]
    turn = answer(game, action, 0, OUTSIDE)
    if turn == ILLEGAL:
        return turn
    for seat in range(int(game.players)):
        episode = episodes[seat]
        rewards[seat] = 0.0
        if episode.over:
            set_out(game, episode, seat)
        elif turn == seat or game.phase == OVER or episode.shaping == SHAPING_NONE:
            rewards[seat] = settle(game, episode, seat)
        write_mask(game, seat, masks[seat])
        facts[seat, 0] = game.scores[side_of(game, seat)]
        facts[seat, 1] = best_other(game, seat)
        facts[seat, 2] = game.dealer == seat
    return turn


@kernel
def forfeit_seats(games: Array, episodes: Array, player: int, rewards: Array) -> None:
    """Ends the episodes of lane 0: *player*'s side forfeits, and the others share what it pays.

    The game stays as it is. Changes *episodes* and *rewards*, (players,) float64.
    """
    game = games[0]
    own = side_of(game, player)
    paid = 0.0
    others = 0
    for seat in range(int(game.players)):
        if side_of(game, seat) == own:
            # What shaping has paid in advance is each seat's own affair: it is given back.
            paid += episodes[seat].potential
            rewards[seat] = forfeit(game, episodes[seat])
            paid += rewards[seat]
        else:
            others += 1
    for seat in range(int(game.players)):
        if side_of(game, seat) != own:
            rewards[seat] = -paid / others - episodes[seat].potential
            episodes[seat].over = ENDED


@kernel
def lay_cards_one(games: Array, hands: Array, from_pack: int, starter: int) -> None:
    """Does `redeal.lay_cards` in lane 0. Changes *games*."""
    lay_cards(games[0], hands, from_pack, starter)
