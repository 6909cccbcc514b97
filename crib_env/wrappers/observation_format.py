"""`ObservationFormat`: the forms an observation can be given in, its spaces and its named slices.

Knows arrays and spaces, and no environment. Axes: (F,) an observation, (N, F) many, (N, A) masks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from crib_env.checks import named
from crib_env.derived import derived_inputs, derived_layout
from crib_env.observation import Field, fields_in_order, observation_high
from crib_env.observation import layout as observation_layout
from crib_env.rules import Rules

DTYPES = ("float32", "uint8")
FORMS = ("vector", "flat", "dict")
MASK_DTYPES = ("int8", "bool")

DType: TypeAlias = Literal["float32", "uint8"]
Form: TypeAlias = Literal["vector", "flat", "dict"]
MaskDType: TypeAlias = Literal["int8", "bool"]
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class ObservationFormat:
    """A form of the observation: what it is made of, and how.

    Raises:
        ValueError: If an option has no such value, or has no effect beside the others, in one line.
    """

    dtype: DType = "float32"
    """``"float32"``: from 0 to 1, each entry divided by its highest value. ``"uint8"``: as is."""
    form: Form = "vector"
    """``"vector"``: the observation. ``"flat"``: the observation and after it the mask, in one
    array. ``"dict"``: the observation and the mask under a key each."""
    observation_key: str = "observation"
    """The observation's key in the form ``"dict"``."""
    mask_key: str = "action_mask"
    """The mask's key in the form ``"dict"``."""
    mask_dtype: MaskDType = "int8"
    """The mask's type in the form ``"dict"``: ``"int8"`` or ``"bool"``."""
    derived: bool = False
    """Whether the derived inputs follow the observation (`crib_env.derived`)."""
    rules: Rules = field(default_factory=Rules)
    """The rules of the games observed."""

    def __post_init__(self) -> None:
        """Checks every option."""
        for name, value, allowed in (
            ("dtype", self.dtype, DTYPES),
            ("form", self.form, FORMS),
            ("mask_dtype", self.mask_dtype, MASK_DTYPES),
            ("derived", self.derived, (True, False)),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name}={named(value)}: allowed are {', '.join(map(repr, allowed))}"
                )
        for name in ("observation_key", "mask_key"):
            key = getattr(self, name)
            if not isinstance(key, str) or not key:
                raise ValueError(f"{name}={named(key)}: allowed is a str that is not empty")
        if self.observation_key == self.mask_key:
            raise ValueError(f"mask_key={self.mask_key!r}: it is the observation_key already")
        if self.derived and self.dtype != "float32":
            raise ValueError(f"derived=True: derived inputs are float32, not dtype={self.dtype!r}")
        if self.form != "dict":
            for name in ("observation_key", "mask_key", "mask_dtype"):
                value = getattr(self, name)
                if value != getattr(ObservationFormat, name):
                    raise ValueError(
                        f"{name}={named(value)}: it says something with form='dict' alone, "
                        f"not with form={self.form!r}"
                    )

    @cached_property
    def layout(self) -> dict[str, Field]:
        """The named slices of the array, in order; in the form ``"dict"``, of the observation.

        Those of the observation stand first, where they always stand; then the derived inputs,
        then the action mask, each where it is part of the array.
        """
        fields = list(observation_layout(self.rules).values())
        if self.derived:
            fields += derived_layout(self.rules).values()
        if self.form == "flat":
            size = self.rules.num_actions
            fields.append(Field("action_mask", 0, size, 1, "1 for each legal card, by card"))
        scaled = self.dtype == "float32"
        return fields_in_order(
            [
                (one.name, one.stop - one.start, 1 if scaled else one.high, one.meaning)
                for one in fields
            ]
        )

    @cached_property
    def space(self) -> spaces.Space[Any]:
        """The space of one observation in this format."""
        fields = self.layout.values()
        high = np.concatenate([np.full(one.stop - one.start, one.high) for one in fields])
        vector = spaces.Box(0, high.astype(self.dtype), dtype=np.dtype(self.dtype).type)
        if self.form != "dict":
            return vector
        mask = spaces.Box(0, 1, (self.rules.num_actions,), np.dtype(self.mask_dtype).type)
        return spaces.Dict({self.observation_key: vector, self.mask_key: mask})

    @cached_property
    def _high(self) -> npt.NDArray[np.float32]:
        """The highest value of each entry of an unformatted observation, (F,)."""
        return observation_high(self.rules).astype(np.float32)

    def apply(
        self, observations: npt.NDArray[np.uint8], masks: npt.NDArray[np.int8]
    ) -> Array | dict[str, Array]:
        """Returns observations in this format, as new arrays: one, or a batch of them.

        Args:
            observations: (F,) or (N, F) uint8 (`crib_env.observation.layout`).
            masks: Their action masks, (A,) or (N, A) int8.
        """
        scaled = self.dtype == "float32"
        parts: list[Array] = [observations / self._high if scaled else observations]
        if self.derived:
            derived = derived_inputs(np.atleast_2d(observations), self.rules)
            parts.append(derived if observations.ndim == 2 else derived[0])
        if self.form == "flat":
            parts.append(masks.astype(self.dtype))
        vector = np.concatenate(parts, axis=-1)
        if self.form != "dict":
            return vector
        return {self.observation_key: vector, self.mask_key: masks.astype(self.mask_dtype)}


def checked_rules(env: Any, rules: Any, space: spaces.Space[Any]) -> Rules:
    """Returns the rules of an environment to be wrapped.

    Args:
        env: The environment, for the message.
        rules: What it gives as its rules, None if it has none.
        space: The space of one of its observations.

    Raises:
        ValueError: If it is no environment of cribbage, or a wrapper has changed its observations.
    """
    if not isinstance(rules, Rules):
        raise ValueError(f"{env}: FormatObservation takes the environments of crib_env alone")
    vector = space.spaces.get("observation") if isinstance(space, spaces.Dict) else space
    if not (
        isinstance(vector, spaces.Box)
        and vector.dtype == np.uint8
        and np.array_equal(vector.high, observation_high(rules))
    ):
        raise ValueError(
            f"{env}: FormatObservation takes the observations of crib_env as they are, and these "
            "have been changed: put it inside the wrapper that does"
        )
    return rules


def plain_vector(observation: Any) -> npt.NDArray[np.uint8]:
    """Returns the vector of an unformatted observation of either form, or of a batch of them."""
    vector: npt.NDArray[np.uint8] = (
        observation["observation"] if isinstance(observation, dict) else observation
    )
    return vector
