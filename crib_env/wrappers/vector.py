"""The wrappers for a vector environment. Axes: (N,) its lanes, (N, A) their masks."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from crib_env.observation import Field
from crib_env.wrappers.observation_format import (
    DType,
    Form,
    MaskDType,
    ObservationFormat,
    checked_rules,
    plain_vector,
)
from crib_env.wrappers.record_transcripts import watcher_of


class FormatObservation(VectorWrapper):
    """Gives the observations of a vector environment in the form that a library asks for.

    The options are those of `crib_env.wrappers.FormatObservation`, and each lane's observation is
    what that gives. It takes any vector of environments of crib_env, with every way to reset a lane
    that has ended; where the last observation of an episode stands in ``infos["final_obs"]``, it
    is given in the same form, and the rest of the infos stays as it is.

    Args:
        env: A vector of environments of crib_env, whose observations no wrapper has changed.
        dtype: See `crib_env.wrappers.FormatObservation`, as for the rest.
        form: The form.
        observation_key: The observation's key in the form ``"dict"``.
        mask_key: The mask's key in the form ``"dict"``.
        mask_dtype: The mask's type in the form ``"dict"``.
        derived: Whether the derived inputs follow the observation.

    Raises:
        ValueError: As for one environment.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        dtype: DType = "float32",
        form: Form = "vector",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        mask_dtype: MaskDType = "int8",
        derived: bool = False,
    ) -> None:
        """Checks the options and the environments."""
        super().__init__(env)
        rules = checked_rules(env, _rules_of(env.unwrapped), env.single_observation_space)
        self.format = ObservationFormat(
            dtype, form, observation_key, mask_key, mask_dtype, derived, rules
        )
        self.single_observation_space = self.format.space
        self.observation_space = batch_space(self.format.space, env.num_envs)
        # The present mask of each lane: infos may hold some lanes alone, those that were reset.
        self._masks = np.ones((env.num_envs, rules.num_actions), np.int8)

    @property
    def layout(self) -> dict[str, Field]:
        """The named slices of each observation (`ObservationFormat.layout`)."""
        return self.format.layout

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environments and returns their observations in this format, and the infos."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._formatted(observations, infos), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps the environments and returns what they do, all observations in this format."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        formatted = self._formatted(observations, infos)
        if "final_obs" in infos:
            infos = infos | {"final_obs": self._final(infos)}
        return formatted, rewards, terminations, truncations, infos

    def _formatted(self, observations: Any, infos: dict[str, Any]) -> Any:
        """Returns the present observations in this format, and notes the masks that infos hold."""
        lanes = infos["_action_mask"]
        self._masks[lanes] = infos["action_mask"][lanes]
        return self.format.apply(plain_vector(observations), self._masks)

    def _final(self, infos: dict[str, Any]) -> Any:
        """Returns the last observations of the episodes that have ended, in this format.

        As they came: one an object, None in the lanes that go on, or all lanes stacked.
        """
        final, masks = infos["final_obs"], infos["final_info"]["action_mask"]
        if not (isinstance(final, np.ndarray) and final.dtype == object):
            return self.format.apply(plain_vector(final), masks)
        formatted: npt.NDArray[Any] = np.full(self.num_envs, None, object)
        for lane in np.flatnonzero(infos["_final_obs"]):
            formatted[lane] = self.format.apply(plain_vector(final[lane]), masks[lane])
        return formatted


class RecordTranscripts(VectorWrapper):
    """Keeps every finished game of a vector environment as a transcript; changes nothing else.

    All is as in `crib_env.wrappers.RecordTranscripts`. It takes the vector environments of crib_env
    itself; in one that holds environments side by side, wrap each of those.

    Args:
        env: A vector environment of crib_env, under any wrappers.
        path: See `crib_env.wrappers.RecordTranscripts`.
        with_seed: See `crib_env.wrappers.RecordTranscripts`.

    Raises:
        ValueError: As for one environment.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        path: str | os.PathLike[str],
        with_seed: bool = True,
    ) -> None:
        """Begins to watch the environment."""
        super().__init__(env)
        self._watcher = watcher_of(env.unwrapped, path, with_seed)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environments."""
        with self._watcher.unless_it_raises():
            begun = self.env.reset(seed=seed, options=options)
        self._watcher.save()
        return begun

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps the environments, and keeps the games that have ended (`RecordTranscripts`)."""
        stepped = self.env.step(actions)
        self._watcher.save()
        return stepped

    def close(self, **kwargs: Any) -> None:
        """Keeps what is left, and closes the environments."""
        self._watcher.save()
        super().close(**kwargs)


def _rules_of(env: Any) -> Any:
    """Returns the rules of a bare vector environment, None if it has none.

    They are its own, or else those of the environments that it holds side by side.
    """
    if hasattr(env, "rules") or not hasattr(env, "get_attr"):
        return getattr(env, "rules", None)
    try:
        return env.get_attr("rules")[0]
    except AttributeError:
        return None
