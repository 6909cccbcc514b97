"""`CribbageVectorEnv` and `CribbageDealVectorEnv`: many lanes in one call.

All lanes are stepped by compiled loops, opponents included; a policy that is an opponent is asked
once for all lanes in which it is to act. Lane i equals the single environment with that lane's
seed, step by step. Axes: (N,) lanes, (N, F) observations, (N, A) action masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.batch import IllegalActionError
from crib_env.cards import NO_CARD
from crib_env.checks import is_array_of_whole, is_whole, named
from crib_env.lanes import Lanes, Sight
from crib_env.lanes_owner import LanesOwner
from crib_env.loops import ILLEGAL, NOBODY, first_illegal, scores_all
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
from crib_env.records import MOST_LANES, lane_seeds
from crib_env.rules import RulesLike

Array = npt.NDArray[Any]
Observations: TypeAlias = npt.NDArray[np.uint8] | dict[str, npt.NDArray[Any]]
Seeds: TypeAlias = int | Sequence[int | None] | None

NO_LANES = np.zeros(0, np.int64)


class CribbageVectorEnv(LanesOwner, VectorEnv[Observations, npt.NDArray[np.int64], Array]):
    """`CribbageEnv` in N lanes at once: ``gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=N)``.

    Actions are (N,) ints. Observations, rewards (float64), ends and information are stacked as
    Gymnasium's own vector environments stack them: ``infos["action_mask"]`` is (N, A) int8.

    ## Starting State

    ``reset(seed=S)`` gives lane i the seed ``lane_seed(S, i)``, a hash: two batches share no lane.
    A list gives each lane its seed, None for one that goes on with its next game. ``options`` are
    those of `CribbageEnv.reset`, for every lane alike.

    ## Episode End

    ``autoreset_mode`` is in the metadata, and as Gymnasium defines it:

    - ``NEXT_STEP``: the step after an end ignores the lane's action, begins its next game, and pays
      0.
    - ``SAME_STEP``: the step that ends an episode also begins the next. What was last seen is in
      ``infos["final_obs"]`` and ``infos["final_info"]``.
    - ``DISABLED``: lanes that have ended must be reset with
      ``reset(options={"reset_mask": mask})``, a bool array (N,), before the next step.

    Args:
        num_envs: How many lanes, 1 or more.
        opponent: See `CribbageEnv`, as for the others.
        reward: See `CribbageEnv`.
        rules: See `CribbageEnv`.
        first_dealer: See `CribbageEnv`.
        illegal: ``"forfeit"`` ends the episode of that lane; ``"raise"`` raises before any lane has
            changed.
        observation: See `CribbageEnv`.
        match_points: See `CribbageEnv`.
        shaping: See `CribbageEnv`.
        shaping_gamma: See `CribbageEnv`.
        autoreset_mode: A `gymnasium.vector.AutoresetMode`, or its value.
        render_mode: None: single environments draw.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  Gymnasium declares it so
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponent | Pool = "expert",
        reward: RewardName = "win",
        rules: RulesLike = None,
        first_dealer: FirstDealerName = "alternate",
        illegal: Literal["forfeit", "raise"] = "forfeit",
        observation: Literal["vector", "dict"] = "vector",
        match_points: MatchPoints = "acc",
        shaping: ShapingName = None,
        shaping_gamma: float = 1.0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
    ) -> None:
        """Checks the options; the first games begin with `reset`."""
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
        self._set_up(num_envs, options, autoreset_mode, render_mode)

    def _set_up(
        self,
        num_envs: int,
        options: Options,
        autoreset_mode: AutoresetMode | str,
        render_mode: Any,
    ) -> None:
        """Sets all that follows from the options.

        Raises:
            ValueError: If the number of lanes or a mode is not allowed.
        """
        if not (is_whole(num_envs) and 1 <= num_envs <= MOST_LANES):
            raise ValueError(
                f"num_envs={named(num_envs)}: allowed is a whole number, 1 to {MOST_LANES}"
            )
        if render_mode is not None:
            raise ValueError(
                f"render_mode={named(render_mode)}: allowed is None; single environments draw"
            )
        try:
            mode = AutoresetMode(autoreset_mode)
        except (TypeError, ValueError):  # an array of records compares with nothing
            allowed = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ValueError(
                f"autoreset_mode={named(autoreset_mode)}: allowed are {allowed}"
            ) from None
        self.num_envs = int(num_envs)
        self.options = options
        self.render_mode = None
        self.autoreset_mode = mode
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.single_observation_space = options.observation_space
        self.single_action_space = options.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._lanes = Lanes(self.num_envs, options)

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in every lane, or in those of ``options["reset_mask"]``.

        Args:
            seed: One seed, from which lane i takes `lane_seed(seed, i)`; or one a lane, None for
                lanes that go on; or None: all do.
            options: See `CribbageEnv.reset`; and ``"reset_mask"``, (N,) bool, at least one True.

        Returns:
            The observations and the information. Lanes that are not reset show what they showed,
            and have no information: `action_masks` has the masks of all.

        Raises:
            ValueError: If a seed, the mask or a position is not allowed; nothing is changed, as it
                is not if an opponent raises.
            TypeError: If the mask is no boolean array.
            ResetNeeded: If the mask leaves out a lane that no game has begun in.
        """
        fields: Any = options
        mask = self._reset_mask(None)
        if isinstance(options, Mapping):
            fields = dict(options)
            mask = self._reset_mask(fields.pop("reset_mask", None))
        seeds = self._seeds_of(seed)
        if not (mask | self._lanes.begun).all():
            raise ResetNeeded("a lane has no game yet: call envs.reset() first")
        which = np.flatnonzero(mask)
        sight = self._lanes.blank()
        self._begin(which, seeds, fields, sight)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        others = np.flatnonzero(~mask)
        sight.observations[others] = self._lanes.games.observe(AGENT, others)
        sight.masks[others] = self.action_masks()[others]
        infos: dict[str, Any] = {}
        self._add_facts(infos, sight.masks, mask)
        self._add_opponents(infos, mask)
        return self._observations(sight), infos

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Observations, Array, Array, Array, dict[str, Any]]:
        """Takes one card of the agent in every lane; the opponents reply until it is to act.

        Args:
            actions: (N,) ints, a card each; not looked at where a lane is reset by this step.

        Returns:
            The observations, rewards (N,) float64, terminated (N,) bool, truncated (N,) bool, all
            False, and the information.

        Raises:
            ResetNeeded: If no episode has begun, or a lane that has ended was not reset.
            IllegalActionError: If an action is illegal under ``illegal="raise"`` (nothing has
                changed), or if a `Policy` opponent chooses an illegal action (all episodes are
                void).
            TypeError: If the actions are no whole numbers.
            ValueError: If they are not (N,).
        """
        size = self._lanes.games.num_actions
        try:
            chosen = np.asarray(actions)
        except ValueError:
            raise ValueError(
                f"actions {named(actions)}: allowed is an array of shape ({self.num_envs},)"
            ) from None
        if not is_array_of_whole(chosen):
            raise TypeError(f"actions {chosen.dtype}: allowed are ints from 0 to {size - 1}")
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions of shape {chosen.shape}: allowed is ({self.num_envs},)")
        lanes, starting = self._lanes, NO_LANES
        before = lanes.ended
        if lanes.void.any():
            raise ResetNeeded("an episode is void or none has begun: call envs.reset() first")
        if before.any():
            if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
                raise ResetNeeded(
                    'lanes have ended: call envs.reset(options={"reset_mask": ended}) before step()'
                )
            starting = np.flatnonzero(before)
        # No action: illegal, and never taken for the NO_CARD that goes on without one.
        actions = np.where((chosen < 0) | (chosen >= size), size, chosen).astype(np.int64)
        if self.options.illegal == "raise":
            playing = np.flatnonzero(~before)
            bad = first_illegal(lanes.game_view, playing, actions[playing])
            if bad >= 0:
                lane = int(playing[bad])
                raise IllegalActionError(
                    lanes.games.illegal_text(lane, int(chosen[lane]), player=AGENT)
                )
        if len(starting):
            lanes.begin(starting)
            actions[starting] = NO_CARD
        sight = lanes.blank()
        lanes.advance(lanes.all, actions, sight)
        texts: dict[int, str] = {}
        refused = np.flatnonzero(sight.turns == ILLEGAL)
        if len(refused):
            said = lanes.refuse(refused, chosen[refused], sight)
            texts = dict(zip(refused.tolist(), said, strict=True))
        ended = (sight.turns == NOBODY) | (sight.turns == ILLEGAL)
        infos: dict[str, Any] = {}
        truncated = np.zeros(self.num_envs, np.bool_)
        everywhere = np.ones(self.num_envs, np.bool_)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            rewards = sight.rewards.copy()
            self._add_finals(infos, sight, ended, texts)
            starting = np.flatnonzero(ended)
            lanes.begin(starting)
            lanes.advance(starting, np.full(len(starting), NO_CARD), sight)
            self._add_facts(infos, sight.masks, everywhere)
            self._add_opponents(infos, ended)
            return self._observations(sight), rewards, ended, truncated, infos
        self._add_facts(infos, sight.masks, everywhere)
        told = ended.copy()
        told[starting] = True
        if told.any():
            self._add_opponents(infos, told)
        if ended.any():
            self._add_end(infos, ended, texts)
        return self._observations(sight), sight.rewards, ended, truncated, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns which actions are legal in each lane, (N, A) bool; all True where it is over.

        Raises:
            ResetNeeded: Before the first `reset`.
        """
        masks = self.games.action_masks(AGENT)
        masks[self._lanes.episodes["over"] != 0] = 1
        return masks.astype(np.bool_)

    def _seeds_of(self, seed: Any) -> Sequence[int | None]:
        """Returns the seed of each lane, None for one that goes on.

        Raises:
            ValueError: If it is neither one seed nor a row of one a lane.
        """
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            seeds: list[int | None] = lane_seeds(cast(int, seed), self.num_envs).tolist()
            return seeds
        row = isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str)
        if not row or np.ndim(seed) != 1:
            raise ValueError(
                f"seed {named(seed)}: allowed is one seed, or a row of {self.num_envs}"
            )
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds: allowed is one seed, or {self.num_envs}")
        return list(seed)

    def _reset_mask(self, mask: Any) -> npt.NDArray[np.bool_]:
        """Returns which lanes are to be reset, (N,) bool.

        Raises:
            TypeError: If the mask is no boolean array.
            ValueError: If it has another shape, or names no lane.
        """
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            kind = getattr(mask, "dtype", type(mask).__name__)
            raise TypeError(f"reset_mask of {kind}: allowed is an array of bool")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask of shape {mask.shape}: allowed is ({self.num_envs},)")
        if not mask.any():
            raise ValueError("reset_mask names no lane: allowed is at least one True")
        return mask

    def _observations(self, sight: Sight) -> Observations:
        """Returns the observations in the form asked for."""
        if self.options.observation == "vector":
            return sight.observations
        return {"observation": sight.observations, "action_mask": sight.masks.copy()}

    def _add_facts(
        self, infos: dict[str, Any], masks: npt.NDArray[np.int8], where: npt.NDArray[np.bool_]
    ) -> None:
        """Adds what every step tells, of the lanes of *where*. Changes *infos*."""
        facts = np.empty((self.num_envs, 3), np.int64)
        scores_all(self._lanes.game_view, AGENT, facts)
        _add(infos, "action_mask", masks, where)
        _add(infos, "agent_score", facts[:, 0], where)
        _add(infos, "opponent_score", facts[:, 1], where)
        _add(infos, "is_dealer", facts[:, 2] == 1, where)

    def _add_opponents(self, infos: dict[str, Any], where: npt.NDArray[np.bool_]) -> None:
        """Adds the names of the opponents in the lanes of *where*. Changes *infos*."""
        names = np.array([member.name for member in self.options.members], dtype=object)
        opponents = np.full(self.num_envs, None, dtype=object)
        opponents[where] = names[self._lanes.episodes["member"][where]]
        infos["opponent"], infos["_opponent"] = opponents, where.copy()

    def _add_end(
        self, infos: dict[str, Any], ended: npt.NDArray[np.bool_], texts: Mapping[int, str]
    ) -> None:
        """Adds what the end of an episode tells. Changes *infos*.

        Args:
            infos: The information.
            ended: (N,) bool, where an episode has ended.
            texts: By lane, what was tried where it was forfeited.
        """
        winner = self._lanes.games.winner
        forfeited = np.zeros(self.num_envs, np.bool_)
        forfeited[list(texts)] = True
        # A single deal may end without the game being won.
        known = ended & ((winner >= 0) | forfeited)
        if known.any():
            won = (winner == AGENT) & ~forfeited
            scores = self._lanes.games.scores
            losers = np.where(won, scores[:, 1:].min(axis=1), scores[:, AGENT])
            levels = np.where(forfeited, 0, self.rules.skunk_level(losers))
            _add(infos, "won", won, known)
            _add(infos, "skunk_level", levels, known)
        if texts:
            said = np.full(self.num_envs, None, dtype=object)
            for lane, text in texts.items():
                said[lane] = text
            infos["illegal_action"], infos["_illegal_action"] = said, forfeited

    def _add_finals(
        self,
        infos: dict[str, Any],
        sight: Sight,
        ended: npt.NDArray[np.bool_],
        texts: Mapping[int, str],
    ) -> None:
        """Adds what was last seen of the episodes that have ended. Changes *infos*."""
        finals = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(ended):
            vector, mask = sight.observations[lane].copy(), sight.masks[lane].copy()
            is_dict = self.options.observation == "dict"
            finals[lane] = {"observation": vector, "action_mask": mask} if is_dict else vector
        final_info: dict[str, Any] = {}
        # A copy: the next episode's masks are written where these stand.
        self._add_facts(final_info, sight.masks.copy(), ended)
        self._add_opponents(final_info, ended)
        self._add_end(final_info, ended, texts)
        infos["final_obs"], infos["_final_obs"] = finals, ended.copy()
        infos["final_info"], infos["_final_info"] = final_info, ended.copy()


def _add(infos: dict[str, Any], name: str, values: Array, where: npt.NDArray[np.bool_]) -> None:
    """Adds values of the lanes of *where*, 0 elsewhere, as Gymnasium stacks them."""
    if not where.all():
        rows = where.reshape((-1,) + (1,) * (values.ndim - 1))
        values = np.where(rows, values, values.dtype.type(0))
    infos[name] = values
    infos[f"_{name}"] = where.copy()


class CribbageDealVectorEnv(CribbageVectorEnv):
    """`CribbageDealEnv` in N lanes at once, made by ``make_vec("crib_env/CribbageDeal-v0")``.

    Args:
        num_envs: How many lanes, 1 or more.
        opponent: See `CribbageDealEnv`, as for the others.
        reward: See `CribbageDealEnv`.
        rules: See `CribbageDealEnv`.
        first_dealer: See `CribbageDealEnv`.
        illegal: See `CribbageVectorEnv`.
        observation: See `CribbageDealEnv`.
        scores: See `CribbageDealEnv`.
        autoreset_mode: See `CribbageVectorEnv`.
        render_mode: None: single environments draw.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponent | Pool = "expert",
        reward: Literal["points", "win_probability"] = "points",
        rules: RulesLike = None,
        first_dealer: FirstDealerName = "alternate",
        illegal: Literal["forfeit", "raise"] = "forfeit",
        observation: Literal["vector", "dict"] = "vector",
        scores: Scores | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
    ) -> None:
        """Checks the options; the first deals begin with `reset`."""
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
        self._set_up(num_envs, options, autoreset_mode, render_mode)
