"""One episode of an environment: at which scores it begins, and what it pays.

A record of `EPISODE` stands beside each game of an environment. Rewards are the agent's, as of its
own decisions: each step pays for all that happened since the decision before. Knows no batch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from crib_env.dealing import side_of
from crib_env.game_record import OVER, Game
from crib_env.kernel import kernel
from crib_env.luck import STREAM_SCORES, philox
from crib_env.rules import MAX_TARGET, skunk_level
from crib_env.tables import DEAL_STARTS, WIN_PROBABILITY


class Reward(IntEnum):
    """What is paid for; the option's value is the lower-case name."""

    WIN = 0
    POINTS = 1
    MATCH_POINTS = 2
    WIN_PROBABILITY = 3


class Shaping(IntEnum):
    """The potential whose change is added to `Reward.WIN`."""

    NONE = 0
    POINTS = 1
    WIN_PROBABILITY = 2


class Start(IntEnum):
    """Where the scores of an episode begin."""

    ZERO = 0
    GIVEN = 1
    PLAY = 2
    UNIFORM = 3


# Why an episode takes no action: it has ended or not yet reached the agent's first decision, or an
# opponent has raised in it.
ENDED, VOID = 1, 2

START_ZERO, START_GIVEN, START_UNIFORM = int(Start.ZERO), int(Start.GIVEN), int(Start.UNIFORM)
WIN, POINTS, MATCH_POINTS = int(Reward.WIN), int(Reward.POINTS), int(Reward.MATCH_POINTS)
SHAPING_NONE, SHAPING_POINTS = int(Shaping.NONE), int(Shaping.POINTS)

EPISODE = np.dtype(
    [
        # What was paid up to: the state at the agent's last decision.
        ("win_probability", np.float64),
        ("potential", np.float64),
        # The options, copied here so that lanes are alike whoever runs them.
        ("gamma", np.float64),
        ("match_points", np.int16, (4,)),  # by skunk level
        ("lead", np.int16),  # on all other sides, summed
        ("worst_lead", np.int16),  # what a forfeit brings the lead to
        ("member", np.int16),  # which opponent of the pool
        ("scores", np.int8, (4,)),  # under Start.GIVEN: the agent's, then those at its left
        ("reward", np.int8),
        ("shaping", np.int8),
        ("start", np.int8),
        ("triple_skunk", np.int8),
        ("bot", np.int8),  # the opponent's number as a house player, or OUTSIDE
        ("over", np.int8),  # 0 while the agent is to act, or ENDED, or VOID
    ],
    align=True,
)


class Episode(Protocol):
    """The fields of `EPISODE` as mypy and editors see them; a test compares the two lists."""

    win_probability: float
    potential: float
    gamma: float
    match_points: Any
    lead: int
    worst_lead: int
    member: int
    scores: Any
    reward: int
    shaping: int
    start: int
    triple_skunk: int
    bot: int
    over: int


TWO_TO_32 = 4294967296.0

level_of = kernel(skunk_level)

# The share of deals that start at a pair of scores or one before it, dealer's score first.
STARTS_UP_TO = np.cumsum(DEAL_STARTS)
STARTS_UP_TO[-1] = 1.0  # no rounding leaves a draw without scores


@kernel
def draw_scores(game: Game, episode: Episode, player: int) -> None:
    """Sets the scores at which an episode begins, drawn by the lane's luck. Changes *game*."""
    if episode.start == START_ZERO:
        return
    own = side_of(game, player)
    if episode.start == START_GIVEN:
        for side in range(game.sides):
            game.scores[side] = episode.scores[(side - own) % int(game.sides)]
        return
    target = int(game.target)
    draws = 0
    while True:
        words = philox(draws, 0, game.game_number, STREAM_SCORES, game.seed[0], game.seed[1])
        draws += 1
        if episode.start == START_UNIFORM:
            for side in range(game.sides):
                game.scores[side] = (words[side] * target) >> 32
            return
        place = np.searchsorted(STARTS_UP_TO, words[0] / TWO_TO_32, side="right")
        dealers, others = place // MAX_TARGET, place % MAX_TARGET
        # A shorter game is the beginning of a longer one: up to its target deals start alike often.
        if dealers < target and others < target:
            for side in range(game.sides):
                dealing = side == side_of(game, game.dealer)
                game.scores[side] = dealers if dealing else others
            return


@kernel
def best_other(game: Game, player: int) -> int:
    """Returns the best score of the sides that are not *player*'s."""
    own = side_of(game, player)
    best = 0
    for side in range(game.sides):
        if side != own:
            best = max(best, int(game.scores[side]))
    return best


@kernel
def lead_of(game: Game, player: int) -> int:
    """Returns by how much *player*'s side leads each of the others, summed, in points."""
    own = side_of(game, player)
    lead = 0
    for side in range(game.sides):
        lead += int(game.scores[own]) - int(game.scores[side])
    return lead


@kernel
def win_probability_of(game: Game, player: int) -> float:
    """Returns how likely *player* wins by the scores and who deals, as at the start of a deal.

    1 or 0 once the game is won; after a game of one deal, as at the start of the next. For two
    sides. A shorter game is the end of a longer one: the table is by points still to go.
    """
    own = side_of(game, player)
    if game.winner >= 0:
        return 1.0 if game.winner == own else 0.0
    dealer = side_of(game, game.dealer)
    if game.phase == OVER:
        dealer = 1 - dealer
    gone = MAX_TARGET - int(game.target)
    wins = WIN_PROBABILITY[gone + int(game.scores[dealer]), gone + int(game.scores[1 - dealer])]
    return float(wins) if dealer == own else 1.0 - float(wins)


@kernel
def potential_of(game: Game, episode: Episode, player: int) -> float:
    """Returns the shaping potential, from -1 to 1; 0 at the end and without shaping."""
    if game.phase == OVER or episode.shaping == SHAPING_NONE:
        return 0.0
    if episode.shaping == SHAPING_POINTS:
        return lead_of(game, player) / (int(game.target) * (int(game.sides) - 1))
    return 2.0 * win_probability_of(game, player) - 1.0


@kernel
def set_out(game: Game, episode: Episode, player: int) -> None:
    """Marks the agent's first decision as where rewards are counted from. Changes *episode*."""
    episode.over = 0
    episode.lead = lead_of(game, player)
    # The worst: one side pegs out, every other comes to within a point of it, and its own stands.
    others = int(game.sides) - 1
    own = int(game.scores[side_of(game, player)])
    episode.worst_lead = others * (own - int(game.target)) + others - 1
    if game.sides == 2:
        episode.win_probability = win_probability_of(game, player)
    episode.potential = potential_of(game, episode, player)


@kernel
def settle(game: Game, episode: Episode, player: int) -> float:
    """Returns the reward for all that happened since the agent's last decision.

    Changes *episode*: its next reward is counted from here, and it is over if the game is.
    """
    over = game.phase == OVER
    reward = 0.0
    if episode.reward == POINTS:
        lead = lead_of(game, player)
        reward = (lead - episode.lead) / (int(game.sides) - 1)
        episode.lead = lead
    elif episode.reward == WIN:
        if over:
            # What the losers pay is what the winner takes: half each, with three.
            lost = -1.0 / (int(game.sides) - 1)
            reward = 1.0 if game.winner == side_of(game, player) else lost
    elif episode.reward == MATCH_POINTS:
        if over:
            reward = float(match_points_of(game, episode, player))
    else:
        probability = win_probability_of(game, player)
        reward = 2.0 * (probability - episode.win_probability)
        episode.win_probability = probability
    if episode.shaping != SHAPING_NONE:
        potential = potential_of(game, episode, player)
        reward += episode.gamma * potential - episode.potential
        episode.potential = potential
    if over:
        episode.over = ENDED
    return reward


@kernel
def match_points_of(game: Game, episode: Episode, player: int) -> int:
    """Returns the match points of a game that is won (R29): a loser pays by its own (R40).

    The winner takes what all losers pay.
    """
    own = side_of(game, player)
    total = 0
    for side in range(game.sides):
        if side != game.winner:
            level = level_of(int(game.scores[side]), int(game.target), int(episode.triple_skunk))
            points = int(episode.match_points[level])
            if side == own:
                return -points
            total += points
    return total


@kernel
def forfeit(game: Game, episode: Episode) -> float:
    """Returns the reward that brings an episode's total to the worst result of its scheme.

    Changes *episode*, which is over.
    """
    episode.over = ENDED
    others = int(game.sides) - 1
    if episode.reward == POINTS:
        return (episode.worst_lead - episode.lead) / others
    if episode.reward == WIN:
        return -1.0 / others - episode.potential
    if episode.reward == MATCH_POINTS:
        return -float(episode.match_points[3 if episode.triple_skunk else 2])
    return -2.0 * episode.win_probability
