"""Checkpoint files for the tests, read and written without `agents.checkpoint`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
import torch
from safetensors.torch import save_file
from torch import Tensor

from agents.checkpoint import (
    Checkpoint,
    CheckpointError,
    checksum,
)


def tiny(decisions: int = 7) -> Checkpoint:
    """Returns a checkpoint of a few hundred bytes, which no network can be made of."""
    return Checkpoint(
        decisions=decisions,
        config={"seed": 2**64 - 1, "learning_rate": 1e-3, "opponents": ["random"]},
        rules={"target": 121},
        network={"hidden_size": 4},
        tensors={
            "network.weight": torch.full((2, 3), float(decisions)),
            "games": torch.arange(5, dtype=torch.uint8),
        },
        state={"updates": 3},
    )


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Returns the header and the tensors of a file, by safetensors alone."""
    with safetensors.safe_open(path, framework="pt") as opened:
        header = json.loads(opened.metadata()["crib_env"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # no mapping
    return header, tensors


def write(path: Path, header: object, tensors: dict[str, Tensor]) -> None:
    """Writes a file as `save_checkpoint` does, with whatever header; its checksum is right."""
    if isinstance(header, dict) and "crc32" in header:
        header = header | {"crc32": checksum(header, tensors)}
    save_file(tensors, path, metadata={"crib_env": json.dumps(header)})


def refusal(load: Callable[[], object]) -> str:
    """Returns the one line with which something refuses to load."""
    with pytest.raises(CheckpointError) as caught:
        load()
    text = str(caught.value)
    assert text
    assert "\n" not in text
    return text
