"""One torch thread for all tests of this folder: on two busy cores two are many times slower."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.runs import config_file, start


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Sets torch's threads, and puts them back."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run that was never stopped; no test may change it."""
    place = tmp_path_factory.mktemp("whole")
    assert start(config_file(place), place / "run") == 0
    return place / "run"
