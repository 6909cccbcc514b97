"""What it is that two results of an environment are the same."""

from typing import Any

import numpy as np


def assert_same(left: Any, right: Any) -> None:
    """Asserts that two results are equal to the last byte, types and shapes included."""
    assert type(left) is type(right)
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, tuple):
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        if left.dtype == object:
            for one, other in zip(left, right, strict=True):
                assert_same(one, other)
        elif left.dtype.names:  # what pads a record differs from copy to copy
            assert (left == right).all()
        else:
            assert left.tobytes() == right.tobytes()
    else:
        assert left == right
