"""What checks of users' values share: what a number is, and how an error names a value."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

MOST_TEXT = 200  # characters of a value in an error


def is_whole(value: Any) -> bool:
    """Returns whether a value is a whole number: Python's, NumPy's, never a bool or a duration."""
    # A timedelta64 is one of NumPy's signed integers.
    return isinstance(value, Integral) and not isinstance(value, (bool, np.timedelta64))


def are_whole_numbers(values: Any, size: int) -> TypeGuard[Sequence[int]]:
    """Returns whether *values* are a tuple or list of *size* whole numbers."""
    row = isinstance(values, (tuple, list)) and len(values) == size
    return row and all(is_whole(one) for one in values)


def is_number(value: Any) -> bool:
    """Returns whether a value is a real number, whole or not, never a bool or a duration."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.timedelta64))


def is_array_of_whole(array: npt.NDArray[Any]) -> bool:
    """Returns whether an array holds whole numbers, never bools or durations."""
    return array.dtype.kind in "iu"


def named(value: Any) -> str:
    """Returns a value as an error names it: its repr, in one line that is not too long.

    What has no repr, as a whole number of thousands of digits has none, is named by its type.
    """
    try:
        text = repr(value)
    except Exception:  # whatever a foreign __repr__ raises
        text = f"<{type(value).__name__} that cannot be written>"
    text = " ".join(line.strip() for line in text.splitlines())
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."


def whole_action(action: Any, num_actions: int) -> int:
    """Returns an action as an int.

    Raises:
        TypeError: If it is no whole number.
    """
    try:
        if isinstance(action, bool):
            raise TypeError
        return operator.index(action)
    except TypeError:
        raise TypeError(
            f"action {named(action)}: allowed is an int from 0 to {num_actions - 1}"
        ) from None
