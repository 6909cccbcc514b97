"""`CribbageEnv`: the Gymnasium environment, one seat against somebody who plays the other.

It is a batch of one: every rule, mask and observation comes from `loops.py`. What stands here is
Gymnasium's side alone: options, rewards, the end of an episode, and what an illegal action costs.
"""

from __future__ import annotations

import logging
import math
import operator
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from numbers import Real
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from crib_env.batch import Games, IllegalActionError
from crib_env.bots import BOTS
from crib_env.cards import NO_CARD
from crib_env.kernel import as_records
from crib_env.loops import ILLEGAL, NOBODY, OUTSIDE, next_all, step_one
from crib_env.luck import NUM_SEEDS, STREAM_OPPONENTS, check_seed, philox
from crib_env.observation import observation_high
from crib_env.policy import Policy, bot_number, checked_actions
from crib_env.rules import Rules

AGENT = 0
OPPONENT = 1

# The first dealer of an episode, as `Games` takes it.
FIRST_DEALERS: dict[str, Literal["alternate", "cut"] | int] = {
    "alternate": "alternate",
    "agent": AGENT,
    "opponent": OPPONENT,
    "cut": "cut",
}
REWARDS = ("win", "points")
ILLEGALS = ("forfeit", "raise")
OBSERVATIONS = ("vector", "dict")

Observation: TypeAlias = npt.NDArray[np.uint8] | dict[str, npt.NDArray[Any]]
Opponent: TypeAlias = str | Policy
Pool: TypeAlias = Mapping[Any, float] | Iterable[tuple[Opponent, float]]
Member: TypeAlias = tuple[str, int, Policy | None]
Step: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]

_LANE = np.zeros(1, np.int64)
_LOGGER = logging.getLogger("crib_env")


class CribbageEnv(gymnasium.Env[Observation, np.int64]):
    """Two-player cribbage, one game to 121 an episode, against an opponent of your choice.

    ## Description

    The agent holds seat 0 of a game of six-card cribbage, the opponent seat 1. The opponent
    replies inside `step`: each call takes one card of the agent and comes back when the agent has
    to choose again, or when the game is over. "Go" is never an action, the rules see to it, as
    they see to the cut, the show and the next deal.

    ## Action Space

    `Discrete(52)`: an action is a card, 4 * rank + suit (A = 0 .. K = 12; C D H S). Before the
    cut it goes to the crib, and two steps in a row throw the two cards; after it, it is laid on
    the table. Few cards are legal at a time: see *Information* for the mask.

    ## Observation Space

    ``observation="vector"``: `Box(0, high, (362,), uint8)`, all that the seat may remember of
    this deal. Its named slices are `crib_env.observation.layout(rules)`; docs/environment.md has
    the table.

    ``observation="dict"``: `Dict` of that vector under ``"observation"`` and of the action mask,
    int8 of shape (52,), under ``"action_mask"``.

    ## Rewards

    ``reward="win"``: +1 for a game won and -1 for one lost, at its end, otherwise 0.

    ``reward="points"``: the points that the agent has pegged since its last decision minus those
    of the opponent, no score passing the target. An episode sums to the difference of the final
    scores. Points pegged before the agent's first decision would be paid by the first step, since
    `reset` can pay none; the rules of two players peg none there.

    ## Starting State

    A game at 0-0, its cards a pure function of (lane seed, number of the game, number of the
    deal). ``reset(seed=s)`` begins the first game of the lane with seed *s*, ``reset()`` the
    lane's next, also when the game before was broken off. So the episodes after
    ``reset(seed=lane_seed(S, i))`` are the games of lane i of ``Games(n, seed=S)``. Where no seed
    was ever given, one is drawn from `np_random`.

    ## Episode End

    Terminated when a score reaches the target, or by an illegal action (``illegal="forfeit"``).
    Never truncated: each deal pegs at least one point, so a game ends within `Rules.max_deals`
    deals of at most six steps each. After the end, `step` raises `ResetNeeded`.

    An illegal action, also a number outside 0..51, never changes the game:

    - ``illegal="forfeit"``: the episode ends with the worst total that the scheme knows, whatever
      was paid before: -1 with ``reward="win"``, minus the target with ``reward="points"``. One line
      goes to the logger ``"crib_env"``.
    - ``illegal="raise"``: `IllegalActionError` names the card and the position; the game may go on.

    ## Information

    | key | when | value |
    |---|---|---|
    | `action_mask` | always | int8 (52,), 1 = legal; all 1 once the episode is over |
    | `agent_score`, `opponent_score` | always | int, points |
    | `is_dealer` | always | bool, whether the agent deals this deal |
    | `opponent` | reset, end | str, the opponent's name |
    | `won` | end | bool |
    | `skunk_level` | end | int: 0 none (also a forfeit), 1 skunk, 2 double, 3 triple skunk |
    | `illegal_action` | forfeit | str: the action, those allowed, and what the agent sees |

    `action_masks()` returns the mask as bool, as sb3-contrib asks for it.

    ## Arguments

    See *Args*. In `gymnasium.make` they are keywords: ``gymnasium.make("crib_env/Cribbage-v0",
    opponent="greedy", reward="points")``.

    A pickle or deep copy, also in mid-play, holds the lane's seed: it goes on with the same
    cards. ``env.unwrapped.games.redeal_hidden(0, seed)`` then deals anew all that the agent
    cannot know.

    ## Version History

    - v0: the first.

    Args:
        opponent: A house player by name (``"random"``, ``"greedy"``, ``"expert"``), any `Policy`,
            or a pool: a mapping of those to weights, or pairs of (opponent, weight). From a pool,
            each game draws its opponent by the lane's own luck.
        reward: ``"win"`` or ``"points"``.
        rules: The rules of the game; by default `Rules()`.
        first_dealer: Who deals first: ``"alternate"`` cuts for the lane's first game and alternates
            from game to game, ``"cut"`` cuts for each game, ``"agent"`` and ``"opponent"`` are
            that seat in every game.
        illegal: What an illegal action does: ``"forfeit"`` or ``"raise"``.
        observation: ``"vector"`` or ``"dict"``.
        render_mode: None, the only one there is.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  Gymnasium declares it so

    def __init__(
        self,
        opponent: Opponent | Pool = "expert",
        reward: Literal["win", "points"] = "win",
        rules: Rules | Mapping[str, Any] | None = None,
        first_dealer: Literal["alternate", "agent", "opponent", "cut"] = "alternate",
        illegal: Literal["forfeit", "raise"] = "forfeit",
        observation: Literal["vector", "dict"] = "vector",
        render_mode: None = None,
    ) -> None:
        """Checks the options; the first game begins with `reset`."""
        if isinstance(rules, Mapping):
            rules = Rules(**rules)  # as an environment's specification holds them in JSON
        if not (rules is None or isinstance(rules, Rules)):
            raise ValueError(f"rules={rules!r}: allowed is a crib_env.Rules")
        for name, value, allowed in (
            ("reward", reward, REWARDS),
            ("first_dealer", first_dealer, tuple(FIRST_DEALERS)),
            ("illegal", illegal, ILLEGALS),
            ("observation", observation, OBSERVATIONS),
        ):
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: allowed are {', '.join(map(repr, allowed))}")
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: allowed is None")
        self.rules = rules or Rules()
        self.first_dealer = first_dealer
        self.reward = reward
        self.illegal = illegal
        self.render_mode = render_mode
        self._pool, self._shares = _pool_of(opponent)
        self._points = reward == "points"
        self._dict = observation == "dict"
        self._size = len(observation_high(self.rules))
        self._num_actions = self.rules.num_actions
        vector = spaces.Box(0, observation_high(self.rules), dtype=np.uint8)
        mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
        self.observation_space: spaces.Space[Any] = (
            spaces.Dict({"observation": vector, "action_mask": mask}) if self._dict else vector
        )
        self.action_space = spaces.Discrete(self._num_actions)
        self._games: Games | None = None
        self._over = True
        self._net = 0  # net points already paid for in this episode
        self._name, self._bot, self._policy = self._pool[0]

    @property
    def games(self) -> Games:
        """The batch of one behind this environment, for tests and search; it shows both hands.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        if self._games is None:
            raise ResetNeeded("there is no game yet: call env.reset() first")
        return self._games

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the next game of the lane, or the first of another lane.

        Args:
            seed: The seed of the lane to begin, 0 to 2**64 - 1; None goes on with the present one.
            options: Not used.

        Returns:
            The observation and the info of the agent's first decision.

        Raises:
            ValueError: If the seed is out of range.
        """
        if seed is not None:
            seed = check_seed(seed)
        super().reset(seed=seed)
        if seed is None and self._games is None:
            seed = int(self.np_random.integers(NUM_SEEDS, dtype=np.uint64))
        if seed is not None:
            self._games = Games(1, self.rules, [seed], FIRST_DEALERS[self.first_dealer])
            self._bind()
        else:
            next_all(self._records, _LANE)
        if self._shares:
            self._draw_opponent()
        self._net = 0
        self._over = False
        observation, info, _ = self._advance(NO_CARD)
        info["opponent"] = self._name
        return observation, info

    def step(self, action: Any) -> Step:
        """Throws or lays one card of the agent; the opponent replies until the agent is to act.

        Args:
            action: A card, any kind of int (also of NumPy, also a 0-d array).

        Returns:
            The observation, the reward, whether the episode has terminated, False, and the info.

        Raises:
            ResetNeeded: If the episode is over, or none has begun.
            IllegalActionError: If the action is illegal under ``illegal="raise"`` (nothing has
                changed), or if a `Policy` opponent chooses an illegal action (the episode is void).
            TypeError: If the action is no whole number.
        """
        if self._over:
            raise ResetNeeded("the episode is over: call env.reset() before the next env.step()")
        card = action if type(action) is int else _whole(action)
        if not 0 <= card < self._num_actions:
            return self._refuse(card)
        observation, info, turn = self._advance(card)
        if turn == ILLEGAL:
            return self._refuse(card)
        reward = 0.0
        if self._points:
            net = info["agent_score"] - info["opponent_score"]
            reward = float(net - self._net)
            self._net = net
        if turn != NOBODY:
            return observation, reward, False, False, info
        self._over = True
        won = info["agent_score"] == self.rules.target
        if not self._points:
            reward = 1.0 if won else -1.0
        loser = min(info["agent_score"], info["opponent_score"])
        info |= {"opponent": self._name, "won": won, "skunk_level": self.rules.skunk_level(loser)}
        return observation, reward, True, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns which cards are legal, (52,) bool; all True once the episode is over.

        The name and the type are those that sb3-contrib asks for; of a wrapped environment,
        ``env.get_wrapper_attr("action_masks")()``.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        mask = self.games.action_masks(AGENT)[0]
        return np.ones_like(mask, np.bool_) if self._over else mask.astype(np.bool_)

    def _advance(self, action: int) -> tuple[Observation, dict[str, Any], int]:
        """Applies an action that is a card, or NO_CARD, and plays on until the agent is to act.

        Returns:
            The observation, the info, and the turn as `loops.answer` tells it.
        """
        observation = np.empty(self._size, np.uint8)
        mask = np.empty(self._num_actions, np.int8)
        turn, own, others, dealer = step_one(
            self._records, action, AGENT, self._bot, observation, mask
        )
        while turn > AGENT:
            turn, own, others, dealer = step_one(
                self._records, self._policy_action(turn), AGENT, OUTSIDE, observation, mask
            )
        info = {
            "action_mask": mask,
            "agent_score": own,
            "opponent_score": others,
            "is_dealer": dealer == AGENT,
        }
        if self._dict:
            return {"observation": observation, "action_mask": mask.copy()}, info, turn
        return observation, info, turn

    def _policy_action(self, seat: int) -> int:
        """Returns the legal action that the opponent, a `Policy`, chooses for its seat.

        Raises:
            IllegalActionError: If it chooses another one; the episode is void.
            ValueError: If it chooses no whole number; the episode is void.
        """
        games = self.games
        masks = games.action_masks(seat)
        assert self._policy is not None
        # Should the policy raise, or Ctrl-C stop it, the episode is over: it is the opponent's
        # turn, and the next step must not play the opponent's cards.
        self._over = True
        # A copy of the mask: what the policy writes there does not make an action legal.
        chosen = self._policy(games.observe(seat), masks.copy(), games.luck())
        action = int(checked_actions(chosen, 1, self._name)[0])
        if not (0 <= action < self._num_actions and masks[0, action]):
            raise IllegalActionError(f"opponent {self._name}: {games.illegal_text(0, action)}")
        self._over = False
        return action

    def _refuse(self, action: int) -> Step:
        """Answers an illegal action: raises, or forfeits the game, which stays as it is.

        Raises:
            IllegalActionError: Under ``illegal="raise"``.
        """
        text = self.games.illegal_text(0, action, player=AGENT)
        if self.illegal == "raise":
            raise IllegalActionError(text)
        _LOGGER.warning("forfeit by %s", text)
        # Nothing to apply, nobody to reply: this only shows the agent where the game stands.
        observation, info, _ = self._advance(NO_CARD)
        info["action_mask"][:] = 1
        if isinstance(observation, dict):
            observation["action_mask"][:] = 1
        self._over = True
        info |= {"opponent": self._name, "won": False, "skunk_level": 0, "illegal_action": text}
        # The total of the episode becomes the worst there is, whatever was paid before.
        worst = self.rules.target if self._points else 1
        return observation, float(-worst - self._net), True, False, info

    def _draw_opponent(self) -> None:
        """Draws this game's opponent from the pool, by the lane's own luck."""
        record = self.games.records[0]
        low, high = (int(word) for word in record["seed"])
        word = philox(0, 0, int(record["game_number"]), STREAM_OPPONENTS, low, high)[0]
        index = bisect_right(self._shares, word / 2**32)
        self._name, self._bot, self._policy = self._pool[index]

    def _bind(self) -> None:
        """Sets what follows from the games: a view that costs kernels least."""
        self._records = as_records(self.games.records)

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a pickle or a deep copy holds: the view would come apart from the games."""
        return {name: value for name, value in vars(self).items() if name != "_records"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the environment; its game goes on with the same cards."""
        vars(self).update(state)
        if self._games is not None:
            self._bind()


def _whole(action: Any) -> int:
    """Returns an action as an int.

    Raises:
        TypeError: If it is no whole number.
    """
    try:
        return operator.index(action)
    except TypeError:
        raise TypeError(f"action {action!r}: an action is a card, an int from 0 to 51") from None


def _member(opponent: Any) -> Member:
    """Returns an opponent's name, its number as a house player or OUTSIDE, and itself or None.

    Raises:
        ValueError: If it is neither a house player's name nor a policy.
    """
    if isinstance(opponent, str) and opponent in BOTS:
        return opponent, bot_number(opponent), None
    if callable(opponent) and not isinstance(opponent, type):
        name = getattr(opponent, "name", getattr(opponent, "__name__", type(opponent).__name__))
        return str(name), OUTSIDE, opponent
    raise ValueError(_opponent_text(opponent))


def _opponent_text(opponent: Any) -> str:
    """Returns the line that refuses an opponent."""
    allowed = ", ".join(map(repr, BOTS))
    return (
        f"opponent={opponent!r}: allowed are {allowed}, a Policy, and a pool of those: "
        "a mapping to weights, or pairs of (opponent, weight)"
    )


def _pool_of(opponent: Any) -> tuple[list[Member], list[float]]:
    """Returns the members of a pool, and for two or more the upper ends of their shares of [0, 1].

    Raises:
        ValueError: If the opponent is not allowed, or a weight is no number above 0.
    """
    if isinstance(opponent, str) or callable(opponent):
        return [_member(opponent)], []
    pairs = list(opponent.items() if isinstance(opponent, Mapping) else _pairs(opponent))
    if not pairs:
        raise ValueError(f"opponent={opponent!r}: a pool needs a member")
    for _, weight in pairs:
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (number and math.isfinite(weight) and weight > 0):
            raise ValueError(
                f"opponent={opponent!r}: weight {weight!r}: allowed is a number above 0"
            )
    ends = list(accumulate(weight for _, weight in pairs))
    # The last end is made infinite, so that no rounding leaves a draw without a member.
    shares = [end / ends[-1] for end in ends[:-1]] + [math.inf]
    return [_member(member) for member, _ in pairs], shares if len(pairs) > 1 else []


def _pairs(opponent: Any) -> list[tuple[Any, Any]]:
    """Returns a pool given as pairs of (opponent, weight).

    Raises:
        ValueError: If it is not made of pairs.
    """
    try:
        return [(member, weight) for member, weight in opponent]
    except (TypeError, ValueError):
        raise ValueError(_opponent_text(opponent)) from None
