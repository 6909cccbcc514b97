"""Files that are no checkpoint, whole and of this version: refused, or an older one is taken."""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import pickle
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

import agents.checkpoint
from agents.checkpoint import (
    CheckpointError,
    NotWholeError,
    checkpoint_path,
    checkpoints_in,
    load_checkpoint,
    save_checkpoint,
)
from agents.neural_agent import load_policy
from crib_env.observation import OBSERVATION_VERSION
from crib_env.rules import Rules
from tests.checkpoints import read, refusal, tiny, write
from tests.learners import assert_same_tensors, small_config, tensors_of
from train.ppo import new_learner, save, train_step
from train.run import resume_run

# ---- files that are none: one clear line ----


def test_a_file_cut_short_at_any_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, tiny())
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(NotWholeError) as caught:
            load_checkpoint(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


FOREIGN = {
    "empty": b"",
    "text": b"decisions = 5\n" * 100,
    "image": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "archive": b"PK\x03\x04" + bytes(200),
    "pickle": pickle.dumps({"network": [1.0, 2.0]}),
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_file_is_refused_in_one_line_that_names_it(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "one.safetensors"
    path.write_bytes(content)
    assert str(path) in refusal(lambda: load_checkpoint(path))


def test_safetensors_of_others_and_broken_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    tensors = {"weight": torch.zeros(3)}
    save_file(tensors, path)
    assert "crib_env" in refusal(lambda: load_checkpoint(path))
    save_file(tensors, path, metadata={"format": "pt"})
    assert "crib_env" in refusal(lambda: load_checkpoint(path))
    save_file(tensors, path, metadata={"crib_env": "{no JSON"})
    assert "JSON" in refusal(lambda: load_checkpoint(path))
    write(path, ["a", "list"], tensors)
    assert "header" in refusal(lambda: load_checkpoint(path))


def test_a_file_with_any_byte_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, tiny())
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed_byte = bytes([whole[place] ^ 1])
        path.write_bytes(whole[:place] + changed_byte + whole[place + 1 :])
        assert str(path) in refusal(lambda: load_checkpoint(path)), place


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30, -1e30])
def test_numbers_that_no_training_comes_to_are_neither_written_nor_read(
    value: float, tmp_path: Path
) -> None:
    path = checkpoint_path(tmp_path, 7)
    poisoned = tiny()
    poisoned.tensors["network.weight"][1, 1] = value
    with pytest.raises(CheckpointError, match=re.escape("'network.weight' holds")):
        save_checkpoint(path, poisoned)
    assert list(tmp_path.iterdir()) == []
    save_checkpoint(path, tiny())
    header, tensors = read(path)
    write(path, header, tensors | {"network.weight": poisoned.tensors["network.weight"]})
    text = refusal(lambda: load_checkpoint(path))
    assert str(path) in text
    assert f"{value:g}" in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", 0),
        ("format", agents.checkpoint.FORMAT + 1),
        ("format", None),
        ("observation_version", OBSERVATION_VERSION + 1),
        ("observation_version", str(OBSERVATION_VERSION)),
        ("decisions", "7"),
        ("state", [1, 2]),
        ("rules", None),
    ],
)
def test_another_version_or_a_value_of_another_type_is_refused(
    key: str, value: object, tmp_path: Path
) -> None:
    path = checkpoint_path(tmp_path, 7)
    save_checkpoint(path, tiny())
    header, tensors = read(path)
    write(path, header | {key: value}, tensors)
    for load in (lambda: load_checkpoint(path), lambda: load_checkpoint(tmp_path)):
        text = refusal(load)
        assert str(path) in text
        assert key in text


def test_a_missing_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    missing = tmp_path / "none.safetensors"
    assert str(missing) in refusal(lambda: load_checkpoint(missing))
    assert str(tmp_path) in refusal(lambda: load_checkpoint(tmp_path))


def test_another_observation_version_of_a_later_build_is_told_by_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, tiny())
    monkeypatch.setattr(agents.checkpoint, "OBSERVATION_VERSION", 99)
    text = refusal(lambda: load_checkpoint(path))
    assert f"observation_version {OBSERVATION_VERSION}" in text
    assert "99" in text


# ---- the newest of a folder: E010 ----


def test_a_folder_stands_for_its_newest_checkpoint(tmp_path: Path) -> None:
    for decisions in (5, 1_000_000, 40):
        save_checkpoint(checkpoint_path(tmp_path, decisions), tiny(decisions))
    assert load_checkpoint(tmp_path).decisions == 1_000_000
    assert [path.name for path in checkpoints_in(tmp_path)] == [
        "checkpoint-000001000000.safetensors",
        "checkpoint-000000000040.safetensors",
        "checkpoint-000000000005.safetensors",
    ]


def test_what_only_has_the_name_of_a_checkpoint_is_none(tmp_path: Path) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 5), tiny(5))
    checkpoint_path(tmp_path, 6).mkdir()
    os.mkfifo(checkpoint_path(tmp_path, 7))
    checkpoint_path(tmp_path, 8).symlink_to("/dev/zero")
    checkpoint_path(tmp_path, 9).symlink_to(checkpoint_path(tmp_path, 9))
    for name in ("checkpoint-10.safetensors", "checkpoint-000000000011.safetensors.old"):
        (tmp_path / name).write_bytes(b"")
    assert load_checkpoint(tmp_path).decisions == 5
    assert checkpoints_in(tmp_path) == [checkpoint_path(tmp_path, 5)]
    # By number, beyond the digits that names usually have.
    for decisions in (9 * 10**11, 10**12):
        later = dataclasses.replace(tiny(), decisions=decisions)
        save_checkpoint(checkpoint_path(tmp_path, decisions), later)
    assert load_checkpoint(tmp_path).decisions == 10**12


def test_one_that_is_not_whole_is_passed_over_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 5), tiny(5))
    damaged = checkpoint_path(tmp_path, 6)
    damaged.write_bytes(checkpoint_path(tmp_path, 5).read_bytes()[:100])
    with caplog.at_level(logging.WARNING):
        assert load_checkpoint(tmp_path).decisions == 5
    assert str(damaged) in caplog.text
    checkpoint_path(tmp_path, 5).unlink()
    assert str(tmp_path) in refusal(lambda: load_checkpoint(tmp_path))


def test_what_a_killed_process_left_is_ignored_and_removed_by_the_next_save(
    tmp_path: Path,
) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 5), tiny(5))
    for decisions in (5, 6):
        stray = tmp_path / f".{checkpoint_path(tmp_path, decisions).name}.partial"
        stray.write_bytes(b"half of a checkpoint")
    assert load_checkpoint(tmp_path).decisions == 5
    save_checkpoint(checkpoint_path(tmp_path, 7), tiny(7))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        checkpoint_path(tmp_path, 5).name,
        checkpoint_path(tmp_path, 7).name,
    ]


def resave(path: Path, **tensors: Tensor) -> bytes:
    """Returns what a file of the same checkpoint with other tensors holds, its checksum right."""
    header, kept = read(path)
    other = path.with_name("other.safetensors")
    write(other, header, kept | tensors)
    content = other.read_bytes()
    other.unlink()
    return content


def damaged_files(path: Path) -> dict[str, bytes]:
    """Returns contents by what is wrong with them, made of a checkpoint file."""
    whole = path.read_bytes()
    header_ends = 8 + int.from_bytes(whole[:8], "little")
    flipped = whole[: header_ends + 99] + bytes([whole[header_ends + 99] ^ 1])
    other = path.with_name("other.safetensors")
    save_file({"weight": torch.zeros(3)}, other)
    foreign = other.read_bytes()
    other.unlink()
    return FOREIGN | {
        "cut in the length": whole[:5],
        "cut in the header": whole[: header_ends // 2],
        "cut behind the header": whole[:header_ends],
        "cut in the data": whole[: (header_ends + len(whole)) // 2],
        "cut at the last byte": whole[:-1],
        "a byte too many": whole + b"x",
        "a bit that flipped": flipped + whole[len(flipped) :],
        "of another program": foreign,
        "NaN": resave(path, **{"network.actor.0.bias": torch.full((4,), math.nan)}),
    }


def test_whatever_the_newest_file_is_if_no_checkpoint_the_run_goes_on_from_the_one_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    going = new_learner(small_config(hidden_size=4, games=8))
    train_step(going)
    older = checkpoint_path(tmp_path, going.decisions)
    save_checkpoint(older, save(going))
    newest = checkpoint_path(tmp_path, going.decisions + 1)
    for what, content in damaged_files(older).items():
        newest.write_bytes(content)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            resumed = resume_run(tmp_path)
            policy = load_policy(tmp_path, Rules())
        assert_same_tensors(tensors_of(resumed), tensors_of(going))
        weights = policy.network.state_dict()
        assert_same_tensors(weights, going.network.state_dict())
        assert len(caplog.messages) == 2, what
        for message in caplog.messages:
            assert message.startswith("passed over "), what
            assert str(newest) in message
            assert "\n" not in message
        assert str(newest) in refusal(lambda: load_checkpoint(newest))
