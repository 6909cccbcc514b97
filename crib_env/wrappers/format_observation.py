"""`FormatObservation` for one environment."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from crib_env.observation import Field
from crib_env.wrappers.observation_format import (
    DType,
    Form,
    MaskDType,
    ObservationFormat,
    checked_rules,
    plain_vector,
)


class FormatObservation(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Gives the observation in the form that a library asks for; all else stays as it is.

    It takes the environment made with ``observation="vector"`` or ``"dict"``, which give the same.
    The action mask of a form that holds one is that of `info`, which stays untouched, as
    `action_masks` stays reachable. Its twin for vector environments is
    `crib_env.wrappers.vector.FormatObservation`.

    Args:
        env: An environment of crib_env, under any wrappers that leave its observations as they are.
        dtype: ``"float32"``, each entry divided by its highest value and so from 0 to 1, or
            ``"uint8"``, as the environment gives it.
        form: ``"vector"`` for the observation alone; ``"flat"`` for the observation followed by
            the mask in one array; ``"dict"`` for both under a key each.
        observation_key: The observation's key in the form ``"dict"``.
        mask_key: The mask's key in the form ``"dict"``.
        mask_dtype: The mask's type in the form ``"dict"``, ``"int8"`` or ``"bool"``.
        derived: Whether the derived inputs follow the observation (`crib_env.derived`).

    Raises:
        ValueError: If an option has no such value or no effect, if the environment is not one of
            crib_env, or if a wrapper has changed its observations; in one line.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        dtype: DType = "float32",
        form: Form = "vector",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        mask_dtype: MaskDType = "int8",
        derived: bool = False,
    ) -> None:
        """Checks the options and the environment."""
        options: dict[str, Any] = {
            "dtype": dtype,
            "form": form,
            "observation_key": observation_key,
            "mask_key": mask_key,
            "mask_dtype": mask_dtype,
            "derived": derived,
        }
        RecordConstructorArgs.__init__(self, **options)
        gymnasium.Wrapper.__init__(self, env)
        rules = checked_rules(env, getattr(env.unwrapped, "rules", None), env.observation_space)
        self.format = ObservationFormat(**options, rules=rules)
        self.observation_space = self.format.space

    @property
    def layout(self) -> dict[str, Field]:
        """The named slices of the observation (`ObservationFormat.layout`)."""
        return self.format.layout

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environment and returns its observation in this format, and its info."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.format.apply(plain_vector(observation), info["action_mask"]), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps the environment and returns what it does, its observation in this format."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        formatted = self.format.apply(plain_vector(observation), info["action_mask"])
        return formatted, reward, terminated, truncated, info
