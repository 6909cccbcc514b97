"""What counts as a number, and how errors name values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from crib_env.checks import are_whole_numbers, is_array_of_whole, is_number, is_whole, named

WHOLE = [0, -3, 10**30, np.int8(2), np.uint64(2**64 - 1)]
NUMBERS = [*WHOLE, 0.5, float("nan"), np.float32(1), Fraction(1, 2)]
OTHERS = [True, np.bool_(True), np.timedelta64(2), Decimal(2), 1j, "2", None, [2], np.array(2)]


@pytest.mark.parametrize("value", [*NUMBERS, *OTHERS], ids=repr)
def test_numbers_are_told_from_bools_durations_and_the_rest(value: Any) -> None:
    number = any(value is one for one in NUMBERS)
    whole = any(value is one for one in WHOLE)
    assert is_number(value) == number
    assert is_whole(value) == whole
    assert are_whole_numbers((1, value), 2) == are_whole_numbers([value, 1], 2) == whole
    assert not are_whole_numbers((1, value), 3)


def test_a_row_is_a_tuple_or_a_list() -> None:
    assert not are_whole_numbers(np.array([1, 2]), 2)
    assert not are_whole_numbers(2, 2)


@pytest.mark.parametrize(
    ("dtype", "whole"), [("i1", True), (">u8", True), ("?", False), ("m8", False), ("f4", False)]
)
def test_arrays_of_whole_numbers_are_told_by_their_type(dtype: str, whole: bool) -> None:
    assert is_array_of_whole(np.zeros(1, dtype)) == whole


class Many:
    """Writes itself in two lines, as networks do."""

    def __repr__(self) -> str:
        return "Many(\n  lines)"


class Mute:
    """Does not write itself."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (61, "61"),
        ("a\nb  c", r"'a\nb  c'"),
        (np.zeros((2, 2)), "array([[0., 0.], [0., 0.]])"),
        (Many(), "Many( lines)"),
        (Mute(), "<Mute that cannot be written>"),
        (10**5000, "<int that cannot be written>"),
        ("x" * 1000, "'" + "x" * 196 + "..."),
    ],
    ids=["int", "text", "array", "many lines", "mute", "huge", "long"],
)
def test_a_value_is_named_in_one_line_that_is_not_too_long(value: Any, text: str) -> None:
    assert named(value) == text
