"""Strategies of hypothesis: all rules there are, and values of every kind that nobody asked for."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from crib_env.rules import CARDS_DEALT, FIVE_CARD_START, MUGGINS_MODES, PRESETS, Rules

# One draw of luck, the same games in every run.
SETTINGS: dict[str, Any] = {"deadline": None, "derandomize": True, "database": None}

INT_DTYPES = [f"{order}{kind}" for order in "<>" for kind in ("i1", "i2", "i4", "i8", "u1", "u8")]


class Many:
    """Writes itself in two lines, as networks do."""

    def __repr__(self) -> str:
        return "Many(\n  lines)"


_ODD: list[Any] = [
    Decimal("sNaN"),
    Fraction(1, 3),
    np.str_("show"),
    np.array(["alternate"]),
    np.array([None]),
    np.array({}, object),
    ...,
    object(),
    Rules(),
    Rules,
    len,
    Many(),
    "x" * 10_000,
]
_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | arrays.from_dtype(np.dtype("?"))
    | st.sampled_from(INT_DTYPES).flatmap(lambda name: arrays.from_dtype(np.dtype(name)))
    | st.sampled_from(["f2", "f8", "c16", "m8[s]", "M8[s]"]).flatmap(
        lambda name: arrays.from_dtype(np.dtype(name))
    )
    | st.sampled_from(_ODD)
    # Built, since a strategy writes what it samples from, and Python does not write this.
    | st.builds(pow, st.just(10), st.just(5000))
)
_dtypes: list[np.dtype[Any]] = [
    np.dtype(name) for name in ("?", "i1", ">i4", "u8", "f8", "m8[s]", "U3", "i4,f8")
]
_arrays: st.SearchStrategy[Any] = st.sampled_from(_dtypes).flatmap(
    lambda dtype: arrays.arrays(
        dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    )
)
_rows = st.lists(_scalars, max_size=4)
anything: st.SearchStrategy[Any] = (
    _scalars
    | _arrays
    | _rows
    | _rows.map(tuple)
    | st.lists(_rows, max_size=2)
    | st.dictionaries(st.text(max_size=5) | st.integers(), _scalars, max_size=3)
    | st.sets(st.integers(), max_size=3)
)


def whole(low: int, high: int) -> st.SearchStrategy[Any]:
    """Returns whole numbers of that range, as Python's ints and as all of NumPy's kinds."""
    return st.integers(low, high) | st.builds(
        lambda name, value: np.dtype(name).type(value),
        st.sampled_from(INT_DTYPES),
        st.integers(max(low, 0), high),
    )


# What each field of `Rules` may be with some rules, and a little more.
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "players": whole(2, 4) | whole(1, 5),
    "cards_dealt": whole(5, 6) | whole(4, 7),
    "target": whole(4, 121) | whole(-1, 123),
    "triple_skunk": st.booleans(),
    "muggins": st.sampled_from(MUGGINS_MODES),
    "muggins_penalty": st.booleans(),
}


@st.composite
def mostly(draw: st.DrawFn, likely: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """Draws some likely values by name; half of the time anything stands for one of them."""
    told: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=likely))
    if draw(st.booleans()):
        told[draw(st.sampled_from(sorted(likely)))] = draw(anything)
    return told


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Draws rules, all that there are."""
    players = draw(st.sampled_from(sorted(CARDS_DEALT)))
    cards_dealt = draw(st.sampled_from(CARDS_DEALT[players]))
    least = FIVE_CARD_START + 1 if (players, cards_dealt) == (2, 5) else 1
    return Rules(
        players=players,
        cards_dealt=cards_dealt,
        target=draw(st.integers(least, least + 9) | st.integers(least, 121)),
        triple_skunk=draw(st.booleans()),
        muggins=draw(st.sampled_from(MUGGINS_MODES)),
        muggins_penalty=draw(st.booleans()),
    )


@st.composite
def rules_told(draw: st.DrawFn) -> Any:
    """Draws what may be told for rules: fields and objects, names, and anything."""
    kinds = (
        any_rules(),
        mostly(LIKELY),
        any_rules().map(asdict),
        st.none() | st.sampled_from(sorted(PRESETS)),
        anything,
    )
    return draw(kinds[draw(st.integers(0, len(kinds) - 1))])


def check_line(error: BaseException) -> str:
    """Requires that an error is told in one line of some length, and returns it."""
    text = str(error)
    assert 0 < len(text) < 800, text
    assert len(text.splitlines()) == 1, text
    return text
