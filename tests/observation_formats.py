"""Every form of the observation, and what it should be, told once more for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.derived import derived_inputs
from crib_env.observation import observation_high
from crib_env.rules import Rules

Array = npt.NDArray[Any]

# Options of `ObservationFormat`: every form, and every option at least once.
FORMATS: dict[str, dict[str, Any]] = {
    "vector": {},
    "vector of bytes": {"dtype": "uint8"},
    "vector and derived": {"derived": True},
    "flat": {"form": "flat"},
    "flat of bytes": {"form": "flat", "dtype": "uint8"},
    "flat and derived": {"form": "flat", "derived": True},
    "dict": {"form": "dict"},
    "dict of bytes": {"form": "dict", "dtype": "uint8", "observation_key": "observations"},
    "dict and derived": {
        "form": "dict",
        "observation_key": "obs",
        "mask_key": "mask",
        "mask_dtype": "bool",
        "derived": True,
    },
}

every_format = pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
every_base = pytest.mark.parametrize("base", ["vector", "dict"])


def expected(options: dict[str, Any], vector: Array, mask: Array, rules: Rules) -> Any:
    """Returns what one observation, (F,) uint8 and its mask (A,) int8, should become."""
    if options.get("dtype") == "uint8":
        parts: list[Array] = [vector]
    else:
        parts = [vector.astype(np.float32) / observation_high(rules)]
    if options.get("derived"):
        parts += list(derived_inputs(vector[None], rules))
    if options.get("form") == "flat":
        parts += [mask.astype(parts[0].dtype)]
    if options.get("form") == "dict":
        return {
            options.get("observation_key", "observation"): np.concatenate(parts),
            options.get("mask_key", "action_mask"): mask.astype(options.get("mask_dtype", "int8")),
        }
    return np.concatenate(parts)


def plain(observation: Any) -> Array:
    """Returns the vector of an observation of the environment's own, of either form."""
    vector: Array = observation["observation"] if isinstance(observation, dict) else observation
    return vector


def row_of(observations: Any, row: int) -> Any:
    """Returns one row of stacked observations of any form."""
    if isinstance(observations, dict):
        return {key: value[row] for key, value in observations.items()}
    return observations[row]
