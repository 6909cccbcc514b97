"""Checkpoints: one safetensors file with a JSON header, written whole or not at all.

One file holds all that one moment was: weights, optimizer moments, games in progress and counters
cannot come from different moments. A checksum over all of it tells a file that was damaged later.
Nothing is ever unpickled. A folder has one writer at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import safetensors
import torch
from safetensors.torch import save
from torch import Tensor

from crib_env.observation import OBSERVATION_VERSION

FORMAT = 3  # 2: with a checksum; 3: rules of every variant
SUFFIX = ".safetensors"
PARTIAL = ".partial"
LARGEST = 1e9  # no weight, moment or count of steps comes near: beyond it training has failed
_HEADER = "crib_env"
_CHECKSUM = "crc32"
_NAME = re.compile(r"checkpoint-(\d{12,})\.safetensors")

_log = logging.getLogger(__name__)
_Fields = TypeVar("_Fields")


class CheckpointError(ValueError):
    """A file that is no whole checkpoint of this version, with the reason in one line."""


class NotWholeError(CheckpointError):
    """A file that is cut short, damaged or poisoned, or no checkpoint at all."""


@dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on, or an agent to play."""

    decisions: int
    """How many decisions had been learned from."""
    config: dict[str, Any]
    """The resolved configuration of the run."""
    rules: dict[str, Any]
    """The fields of `crib_env.Rules`."""
    network: dict[str, Any]
    """The fields of `agents.network.NetworkConfig`."""
    tensors: dict[str, Tensor]
    """By name: ``network.*``, and for resuming ``optimizer.*`` and ``games``."""
    state: dict[str, Any] = field(default_factory=dict)
    """Counters and random states for resuming."""

    def part(self, prefix: str) -> dict[str, Tensor]:
        """Returns the tensors whose names begin with *prefix* and a dot, without it."""
        start = prefix + "."
        return {
            name.removeprefix(start): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(start)
        }


_FIELDS: dict[str, type] = {
    "decisions": int,
    "config": dict,
    "rules": dict,
    "network": dict,
    "state": dict,
}


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all, replacing what was there.

    A process that is killed while it writes leaves ``.NAME.partial``, which the next write of the
    same file takes over.

    Raises:
        OSError: If it cannot be written, a full disk included; what was there stays.
    """
    partial = path.with_name(f".{path.name}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"not written: {error.strerror}", str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint to *path*, whole or not at all, replacing what was there.

    Removes what processes that were killed while they wrote have left in the folder.

    Raises:
        CheckpointError: If a number in it cannot be, see `check_numbers`; nothing is written.
        OSError: If it cannot be written, a full disk included; what was there stays.
    """
    content = serialized(checkpoint)
    for stray in path.parent.glob(f".*{SUFFIX}{PARTIAL}"):
        stray.unlink(missing_ok=True)
    write_whole(path, content)


def serialized(checkpoint: Checkpoint) -> bytes:
    """Returns what the file of a checkpoint holds.

    Raises:
        CheckpointError: If a number in it cannot be, see `check_numbers`.
    """
    check_numbers(checkpoint.tensors)
    header: dict[str, Any] = {"format": FORMAT, "observation_version": OBSERVATION_VERSION}
    header |= {name: getattr(checkpoint, name) for name in _FIELDS}
    header[_CHECKSUM] = checksum(header, checkpoint.tensors)
    # Not safetensors' own save_file: what that leaves when it is killed has names of its choice.
    # One key, as it writes several in any order.
    return save(checkpoint.tensors, metadata={_HEADER: json.dumps(header)})


def checksum(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> int:
    """Returns the CRC-32 of a header, without that itself, and of its tensors' names and bytes."""
    rest = {name: value for name, value in header.items() if name != _CHECKSUM}
    crc = zlib.crc32(json.dumps(rest).encode())
    for name in sorted(tensors):
        raw = tensors[name].detach().cpu().reshape(-1).view(torch.uint8).numpy()
        crc = zlib.crc32(raw.tobytes(), zlib.crc32(name.encode(), crc))
    return crc


def check_numbers(tensors: Mapping[str, Tensor]) -> None:
    """Refuses what no training that goes well comes to: NaN, infinity, and numbers beyond reason.

    Raises:
        CheckpointError: Naming the tensor and the number.
    """
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or not tensor.numel():
            continue
        low, high = (float(end) for end in tensor.aminmax())
        # NaN compares as False with everything.
        if not (low >= -LARGEST and high <= LARGEST):
            found = high if low >= -LARGEST else low
            raise CheckpointError(f"tensor {name!r} holds {found:g}: allowed is up to {LARGEST:g}")


def load_checkpoint(path: Path) -> Checkpoint:
    """Returns the checkpoint in a file, or the newest whole one in the folder of a run.

    Raises:
        NotWholeError: If it is cut short, damaged, foreign, or a number in it cannot be.
        CheckpointError: If there is none, a key is missing, or it is of another format or
            observation version.
    """
    if path.is_dir():
        return _newest(path)[1]
    try:
        with safetensors.safe_open(path, framework="pt") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # no mapping
    except (safetensors.SafetensorError, OSError) as error:
        raise NotWholeError(f"{path}: no whole checkpoint: {error}") from None
    if _HEADER not in metadata:
        raise NotWholeError(f"{path}: not a checkpoint of crib_env: no {_HEADER!r} header")
    try:
        header = json.loads(metadata[_HEADER])
    except ValueError as error:
        raise NotWholeError(f"{path}: the header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise NotWholeError(f"{path}: the header holds no keys")
    for name, wanted in (("format", FORMAT), ("observation_version", OBSERVATION_VERSION)):
        if header.get(name) != wanted:
            raise CheckpointError(f"{path}: {name} {header.get(name)}: this version reads {wanted}")
    if _CHECKSUM not in header:
        raise CheckpointError(f"{path}: the header has no {_CHECKSUM!r}")
    if header[_CHECKSUM] != checksum(header, tensors):
        raise NotWholeError(f"{path}: damaged: its checksum is another")
    try:
        check_numbers(tensors)
    except CheckpointError as error:
        raise NotWholeError(f"{path}: {error}") from None
    for name, kind in _FIELDS.items():
        if name not in header:
            raise CheckpointError(f"{path}: the header has no {name!r}")
        if not isinstance(header[name], kind):
            raise CheckpointError(f"{path}: the header's {name!r} is no {kind.__name__}")
    return Checkpoint(tensors=tensors, **{name: header[name] for name in _FIELDS})


def fields_of(kind: type[_Fields], values: Mapping[str, Any], what: str) -> _Fields:
    """Returns the dataclass *kind* with just these values: no default stands in for one missing.

    Args:
        kind: A dataclass.
        values: By field name.
        what: What they are, for the message.

    Raises:
        CheckpointError: If a field is missing or unknown, naming it, or a value is impossible.
    """
    check_keys([one.name for one in dataclasses.fields(kind)], values, what)  # type: ignore[arg-type]  # a dataclass
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{what}: {error}") from None


def check_keys(wanted: Iterable[str], values: Mapping[str, Any], what: str) -> None:
    """Raises CheckpointError, naming a key, unless *values* has exactly the keys *wanted*."""
    wanted = set(wanted)
    for name in sorted(wanted - values.keys()):
        raise CheckpointError(f"{what}: no {name!r}")
    for name in sorted(values.keys() - wanted):
        raise CheckpointError(f"{what}: unknown {name!r}")


def check_tensors(like: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Raises CheckpointError unless *tensors* have the names, shapes and types of *like*."""
    check_keys(like, tensors, "the tensors")
    for name, wanted in like.items():
        found = tensors[name]
        if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
            raise CheckpointError(
                f"tensor {name!r}: {found.dtype} of shape {tuple(found.shape)}: "
                f"allowed is {wanted.dtype} of shape {tuple(wanted.shape)}"
            )


def checkpoint_path(folder: Path, decisions: int) -> Path:
    """Returns the path of a run's checkpoint after so many decisions."""
    return folder / f"checkpoint-{decisions:012d}{SUFFIX}"


def checkpoints_in(folder: Path) -> list[Path]:
    """Returns the checkpoint files of a run, newest first."""
    found = {}
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        # A folder, pipe or device of that name is none, and could not be read to its end.
        if name and path.is_file():
            found[path] = int(name[1])
    return sorted(found, key=lambda path: found[path], reverse=True)


def newest_whole(path: Path) -> Path:
    """Returns the file that `load_checkpoint` reads: the path itself, of a folder its newest.

    Raises:
        CheckpointError: See `load_checkpoint`; a file is not looked at.
    """
    return _newest(path)[0] if path.is_dir() else path


def _newest(folder: Path) -> tuple[Path, Checkpoint]:
    """Returns the newest whole checkpoint of a run; says so where it passes over one that is not.

    Raises:
        CheckpointError: If none is whole, or the newest that is whole is of another version.
    """
    paths = checkpoints_in(folder)
    for path in paths:
        try:
            return path, load_checkpoint(path)
        except NotWholeError as error:
            _log.warning("passed over %s", error)
    raise CheckpointError(f"{folder}: {'none is whole' if paths else 'no checkpoint there'}")
