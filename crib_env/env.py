"""`CribbageEnv` and `CribbageDealEnv`: one seat against somebody who plays the other.

Both are one lane of `lanes.Lanes`: every rule, mask, observation and reward comes from there. What
stands here is Gymnasium's side alone: options, steps, information and pictures.
"""

from __future__ import annotations

import copy
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from crib_env.checks import whole_action
from crib_env.lanes import Lanes
from crib_env.lanes_owner import LanesOwner
from crib_env.loops import ILLEGAL, NOBODY, first_illegal, step_one
from crib_env.luck import check_seed
from crib_env.opponents import Opponent, Pool
from crib_env.options import (
    AGENT,
    FirstDealerName,
    MatchPoints,
    Options,
    RewardName,
    Scores,
    ShapingName,
)
from crib_env.render.table_view import RENDER_MODES, TableView
from crib_env.rules import RulesLike

Observation: TypeAlias = npt.NDArray[np.uint8] | dict[str, npt.NDArray[Any]]
Step: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]
RenderMode: TypeAlias = Literal["ansi", "human", "rgb_array"] | None

_LANE = np.zeros(1, np.int64)


class CribbageEnv(LanesOwner, gymnasium.Env[Observation, np.int64]):
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
    int8 of shape (A,), under ``"action_mask"``.

    ## Rewards

    ``reward="win"``: +1 for a game won and -1 for one lost, at its end, otherwise 0.

    ``reward="points"``: the points that the agent has pegged since its last decision minus those
    of the opponent, no score passing the target. An episode sums to the change of the lead.

    ``reward="match_points"``: at the end, what the game counts in a match by the scheme of
    ``match_points``, a skunk more than a plain win; negative for a loss.

    ``reward="win_probability"``: twice the change of the probability of winning since the agent's
    last decision, by the scores and who deals. An episode sums to 2 (won - p), where p is that
    probability at its beginning.

    ``shaping`` adds gamma * Phi(s') - Phi(s) to ``reward="win"``, s and s' the states of the
    agent's decisions and Phi(end) = 0. ``"points"``: Phi is the lead over the target;
    ``"win_probability"``: Phi is twice the probability of winning less 1.

    Rewards count from the state that `reset` returns.

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
      was paid before; docs/environment.md says which. One line goes to the logger ``"crib_env"``.
    - ``illegal="raise"``: `IllegalActionError` names the card and the position; the game may go on.

    ## Information

    | key | when | value |
    |---|---|---|
    | `action_mask` | always | int8 (A,), 1 = legal; all 1 once the episode is over |
    | `agent_score`, `opponent_score` | always | int, points; of several opponents the best |
    | `is_dealer` | always | bool, whether the agent deals this deal |
    | `opponent` | reset, end | str, the opponent's name |
    | `won` | end | bool |
    | `skunk_level` | end | int: 0 none (also a forfeit), 1 skunk, 2 double, 3 triple skunk |
    | `illegal_action` | forfeit | str: the action, those allowed, and what the agent sees |

    `action_masks()` returns the mask as bool, as sb3-contrib asks for it.

    ## Arguments

    See *Args*. In `gymnasium.make` they are keywords: ``gymnasium.make("crib_env/Cribbage-v0",
    opponent="greedy", reward="points")``.

    `clone`, `state_dict` and `load_state_dict` copy and save a game in mid-play, with its random
    stream or without; a pickle or deep copy holds the stream and goes on with the same cards.
    `redeal_hidden` deals anew all that the agent cannot know.

    ## Version History

    - v0: the first.

    Args:
        opponent: A house player by name (``"random"``, ``"greedy"``, ``"expert"``,
            ``"careless"``), any `Policy`, or a pool: a mapping of those to weights, or pairs of
            (opponent, weight). From a pool, each game draws its opponent by the lane's own luck.
        reward: ``"win"``, ``"points"``, ``"match_points"`` or ``"win_probability"``.
        rules: The rules of the game: a `Rules`, a name of `PRESETS`, or a mapping of fields; by
            default `Rules()`.
        first_dealer: Who deals first: ``"alternate"`` cuts for the lane's first game and alternates
            from game to game, ``"cut"`` cuts for each game, ``"loser"`` has the loser of the game
            before deal, ``"agent"`` and ``"opponent"`` are that seat in every game, the opponent
            the one at the agent's left.
        illegal: What an illegal action does: ``"forfeit"`` or ``"raise"``.
        observation: ``"vector"`` or ``"dict"``.
        match_points: For ``reward="match_points"``: a name of `crib_env.rules.MATCH_POINTS`, or
            the points of (win, skunk, double skunk, triple skunk).
        shaping: None, ``"points"`` or ``"win_probability"``, with ``reward="win"`` only.
        shaping_gamma: Gamma of the shaping, 0 to 1: the discount of whoever learns.
        render_mode: None, ``"ansi"``, ``"human"`` or ``"rgb_array"``.
        render_open_hands: Whether pictures show the cards that the agent cannot see.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  Gymnasium declares it so

    def __init__(
        self,
        opponent: Opponent | Pool = "expert",
        reward: RewardName = "win",
        rules: RulesLike = None,
        first_dealer: FirstDealerName = "alternate",
        illegal: Literal["forfeit", "raise"] = "forfeit",
        observation: Literal["vector", "dict"] = "vector",
        match_points: MatchPoints = "acc",
        shaping: ShapingName = None,
        shaping_gamma: float = 1.0,
        render_mode: RenderMode = None,
        render_open_hands: bool = False,
    ) -> None:
        """Checks the options; the first game begins with `reset`."""
        options = Options(
            opponent=opponent,
            reward=reward,
            rules=rules,
            first_dealer=first_dealer,
            illegal=illegal,
            observation=observation,
            match_points=match_points,
            shaping=shaping,
            shaping_gamma=shaping_gamma,
        )
        self._set_up(options, render_mode, render_open_hands)

    def _set_up(self, options: Options, render_mode: str | None, open_hands: bool) -> None:
        """Sets all that follows from the options.

        Raises:
            ValueError: If the render mode or *open_hands* is not allowed.
        """
        self._view = TableView.of(render_mode, open_hands, options.checked_rules)
        self.render_mode = render_mode
        self.options = options
        self.observation_space = options.observation_space
        self.action_space = options.action_space
        self._lanes = Lanes(1, options)
        self._bind()

    def _bind(self) -> None:
        """Sets what follows from the lane: views that cost kernels least."""
        lanes = self._lanes
        self._game_view, self._episode_view = lanes.game_view, lanes.episode_view
        self._over = lanes.episodes["over"]
        self._size, self._num_actions = lanes.games.observation_size, lanes.games.num_actions
        self._dict = self.options.observation == "dict"
        self._target = self.options.checked_rules.target
        if self._view is not None:
            lanes.witnesses["view"] = self._tell_view

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the next game of the lane, or the first of another lane.

        Args:
            seed: The seed of the lane to begin, 0 to 2**64 - 1; None goes on with the present one.
            options: Where to begin, as the fields of a `crib_env.Position`: ``dealer``, ``scores``,
                ``hands``, ``discards``, ``starter``, ``plays``; seat 0 is the agent's. What is left
                out is as it would have been. The opponent then plays until the agent is to act.

        Returns:
            The observation and the info of the agent's first decision.

        Raises:
            ValueError: If the seed is out of range, or the position impossible, in one line; the
                game before goes on, as it does if an opponent raises.
        """
        sight = self._lanes.blank()
        view = copy.deepcopy(self._view)
        try:
            self._begin(_LANE, [seed], options, sight)
        except BaseException:
            self._view = view  # which knows nothing of the game that was broken off
            self._bind()
            raise
        super().reset(seed=None if seed is None else check_seed(seed))
        info = self._info(sight.masks[0]) | {"opponent": self._lanes.member_name(0)}
        self._show()
        return self._observation(sight.observations[0], sight.masks[0]), info

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
        if self._over[0]:
            raise ResetNeeded("the episode is over: call env.reset() before the next env.step()")
        card = action if type(action) is int else whole_action(action, self._num_actions)
        if not 0 <= card < self._num_actions:
            return self._refuse(card)
        if self._lanes.witnesses:
            return self._step_witnessed(card)
        observation = np.empty(self._size, np.uint8)
        mask = np.empty(self._num_actions, np.int8)
        turn, reward, own, others, dealer = step_one(
            self._game_view, self._episode_view, card, AGENT, observation, mask
        )
        while turn > AGENT:
            card = int(self._lanes.ask(_LANE)[0])
            turn, reward, own, others, dealer = step_one(
                self._game_view, self._episode_view, card, AGENT, observation, mask
            )
        if turn == ILLEGAL:
            return self._refuse(card)
        info = {
            "action_mask": mask,
            "agent_score": own,
            "opponent_score": others,
            "is_dealer": dealer == AGENT,
        }
        over = turn == NOBODY
        if over:
            self._add_end(info)
        if self._dict:
            return self._observation(observation, mask), reward, over, False, info
        return observation, reward, over, False, info

    def _step_witnessed(self, card: int) -> Step:
        """Does what `step` does, one decision at a time, each told to the witnesses."""
        actions = np.array([card])
        if first_illegal(self._game_view, _LANE, actions) >= 0:
            return self._refuse(card)  # before the view forgets what it shows
        if self._view is not None:
            self._view.next_step()
        sight = self._lanes.blank()
        self._lanes.advance(_LANE, actions, sight)
        over = bool(sight.turns[0] == NOBODY)
        info = self._info(sight.masks[0])
        if over:
            self._add_end(info)
        self._show()
        observation = self._observation(sight.observations[0], sight.masks[0])
        return observation, float(sight.rewards[0]), over, False, info

    def _refuse(self, card: int) -> Step:
        """Answers an illegal action: raises, or forfeits the game, which stays as it is.

        Raises:
            IllegalActionError: Under ``illegal="raise"``.
        """
        sight = self._lanes.blank()
        [text] = self._lanes.refuse(_LANE, np.array([card], dtype=object), sight)
        info = self._info(sight.masks[0])
        info |= {"opponent": self._lanes.member_name(0), "won": False, "skunk_level": 0}
        info["illegal_action"] = text
        if self._view is not None:
            self._view.next_step()
            self._view.forfeit()
        self._show()
        observation = self._observation(sight.observations[0], sight.masks[0])
        return observation, float(sight.rewards[0]), True, False, info

    def _observation(
        self, vector: npt.NDArray[np.uint8], mask: npt.NDArray[np.int8]
    ) -> Observation:
        """Returns the observation in the form asked for."""
        return {"observation": vector, "action_mask": mask.copy()} if self._dict else vector

    def _info(self, mask: npt.NDArray[np.int8]) -> dict[str, Any]:
        """Returns the information that every step has."""
        own, *others = self._lanes.games.scores[0].tolist()
        is_dealer = bool(self._lanes.games.records["dealer"][0] == AGENT)
        return {
            "action_mask": mask,
            "agent_score": own,
            "opponent_score": max(others),
            "is_dealer": is_dealer,
        }

    def _add_end(self, info: dict[str, Any]) -> None:
        """Adds to the information what an episode's end has. Changes *info*."""
        info["opponent"] = self._lanes.member_name(0)
        own, *others = self._lanes.games.scores[0].tolist()
        if self._target in (own, *others):
            info["won"] = own == self._target
            info["skunk_level"] = self.rules.skunk_level(min(others) if info["won"] else own)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns which actions are legal, (A,) bool; all True once the episode is over.

        The name and the type are those that sb3-contrib asks for; of a wrapped environment,
        ``env.get_wrapper_attr("action_masks")()``.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        mask = self.games.action_masks(AGENT)[0]
        return np.ones_like(mask, np.bool_) if self._over[0] else mask.astype(np.bool_)

    def render(self) -> Any:
        """Returns the table as the agent's seat sees it, in the form of the render mode.

        ``"ansi"``: a str. ``"rgb_array"``: (540, 960, 3) uint8. ``"human"``: None; each reset and
        step prints the table by itself.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        if self._view is None:
            gymnasium.logger.warn(
                "render() without a render mode shows nothing: "
                f'gymnasium.make("{self.spec.id if self.spec else "..."}", render_mode="ansi")'
            )
            return None
        return self._view.render(self.games.records[0])

    def _show(self) -> None:
        """Prints the table if the render mode is ``"human"``."""
        if self._view is not None:
            self._view.show(self.games.records[0])

    def _tell_view(self, lanes: Any, before: Any, actions: Any, after: Any) -> None:
        """Tells the view of a decision (`lanes.Witness`); of a forfeit, `_refuse` does."""
        if self._view is not None and actions[0] != ILLEGAL:
            self._view.witness(before, actions, after)

    def _stands_elsewhere(self) -> None:
        """Lets the view begin where the game stands now."""
        if self._view is not None:
            self._view.begin(self.games.records[0])

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a pickle or a deep copy holds: views would come apart from the lane."""
        views = ("_game_view", "_episode_view", "_over")
        return {name: value for name, value in vars(self).items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the environment; its game goes on with the same cards."""
        vars(self).update(state)
        self._bind()


class CribbageDealEnv(CribbageEnv):
    """One deal of two-player cribbage an episode, at scores given or drawn.

    All is as in `CribbageEnv` but for what follows.

    ## Rewards

    ``reward="points"``: the net points of the deal, paid as pegged, no score passing the target.

    ``reward="win_probability"``: twice the change of the probability that the agent wins the game,
    from scores and dealer at the start of this deal to those of the next.

    ## Starting State

    Two hands of six are dealt. ``scores="play"`` draws the scores as deals start in whole games of
    expert, ``scores="uniform"`` draws each from 0 to the target less 1, a pair gives them. They are
    drawn by the lane's own luck, as the cards are.

    ## Episode End

    After the crib is counted, or when a score reaches the target. `won` and `skunk_level` are in
    the information only if the game is won.

    ## Version History

    - v0: the first.

    Args:
        opponent: See `CribbageEnv`.
        reward: ``"points"`` or ``"win_probability"``.
        rules: See `CribbageEnv`.
        first_dealer: Who deals: ``"alternate"`` cuts for the lane's first deal and alternates from
            episode to episode; the others as in `CribbageEnv`.
        illegal: See `CribbageEnv`.
        observation: See `CribbageEnv`.
        scores: ``"play"``, ``"uniform"``, or one a side, the agent's first; by default ``"play"``,
            or ``"uniform"`` with rules whose deals' starts are not known.
        render_mode: See `CribbageEnv`.
        render_open_hands: See `CribbageEnv`.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    def __init__(
        self,
        opponent: Opponent | Pool = "expert",
        reward: Literal["points", "win_probability"] = "points",
        rules: RulesLike = None,
        first_dealer: FirstDealerName = "alternate",
        illegal: Literal["forfeit", "raise"] = "forfeit",
        observation: Literal["vector", "dict"] = "vector",
        scores: Scores | None = None,
        render_mode: RenderMode = None,
        render_open_hands: bool = False,
    ) -> None:
        """Checks the options; the first deal begins with `reset`."""
        options = Options(
            opponent=opponent,
            reward=reward,
            rules=rules,
            first_dealer=first_dealer,
            illegal=illegal,
            observation=observation,
            one_deal=True,
            scores=scores,
        )
        self._set_up(options, render_mode, render_open_hands)
