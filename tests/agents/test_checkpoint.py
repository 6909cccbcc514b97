"""Checkpoints: nothing lost, nothing made up, written whole or not at all, never unpickled."""

from __future__ import annotations

import ast
import dataclasses
import errno
import json
import os
import pickle
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.checkpoint import (
    Checkpoint,
    CheckpointError,
    checkpoint_path,
    load_checkpoint,
    save_checkpoint,
)
from agents.neural_agent import load_policy
from crib_env.rules import Rules
from tests.checkpoints import read, refusal, tiny, write
from tests.learners import assert_same_tensors, small_config, tensors_of
from train.config import ConfigError
from train.ppo import Learner, new_learner, restore, save, train_step
from train.run import resume_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def learner() -> Learner:
    """Returns a learner after two updates."""
    learner = new_learner(small_config(hidden_size=4, games=8))
    train_step(learner)
    train_step(learner)
    return learner


# ---- round trip ----


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    saved = tiny()
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, saved)
    loaded = load_checkpoint(path)
    assert_same_tensors(loaded.tensors, saved.tensors)
    for name in ("decisions", "config", "rules", "network", "state"):
        assert getattr(loaded, name) == getattr(saved, name)
    assert [path.name for path in tmp_path.iterdir()] == ["one.safetensors"]


# E011: weights, moments, games and counters are one file, written whole: no mix of moments can be.
def test_weights_moments_games_and_counters_of_a_learner_survive(
    learner: Learner, tmp_path: Path
) -> None:
    save_checkpoint(tmp_path / "one.safetensors", save(learner))
    loaded = restore(load_checkpoint(tmp_path / "one.safetensors"), learner.config)
    assert_same_tensors(tensors_of(loaded), tensors_of(learner))
    assert loaded.optimizer.state_dict()["state"].keys() == set(
        range(len(list(learner.network.parameters())))
    )
    assert loaded.games.records.tobytes() == learner.games.records.tobytes()
    assert (loaded.decisions, loaded.updates, loaded.precision) == (
        learner.decisions,
        learner.updates,
        learner.precision,
    )


def test_a_learner_that_has_not_begun_can_be_saved_and_gone_on_with(tmp_path: Path) -> None:
    config = small_config(hidden_size=4, games=8)
    fresh = new_learner(config)
    save_checkpoint(checkpoint_path(tmp_path, 0), save(fresh))
    loaded = resume_run(tmp_path)
    train_step(fresh)
    train_step(loaded)
    assert_same_tensors(tensors_of(loaded), tensors_of(fresh))


def test_a_part_holds_the_names_behind_its_prefix_alone() -> None:
    tensors = {"network.a.b": torch.ones(1), "networks.c": torch.ones(1), "network": torch.ones(1)}
    assert list(Checkpoint(0, {}, {}, {}, tensors).part("network")) == ["a.b"]


# ---- a key too few, a key too many: E004 ----


def changes_of(values: dict[str, Any], where: str = "") -> list[str]:
    """Returns the dotted names of all keys of nested dictionaries."""
    names = []
    for name, value in values.items():
        names.append(where + name)
        if isinstance(value, dict):
            names += changes_of(value, where + name + ".")
    return names


def changed(values: dict[str, Any], dotted: str, new_name: str | None) -> dict[str, Any]:
    """Returns a copy of nested dictionaries without a key, or with another name for it."""
    values = json.loads(json.dumps(values))
    *folders, name = dotted.split(".")
    inner = values
    for folder in folders:
        inner = inner[folder]
    value = inner.pop(name)
    if new_name is not None:
        inner[new_name] = value
    return values


@pytest.mark.parametrize("new_name", [None, "misspelt"], ids=["deleted", "renamed"])
def test_any_header_key_deleted_or_renamed_is_refused_by_its_name(
    learner: Learner, tmp_path: Path, new_name: str | None
) -> None:
    path = checkpoint_path(tmp_path, learner.decisions)
    save_checkpoint(path, save(learner))
    header, tensors = read(path)
    keys = changes_of(header)
    assert {"format", "decisions", "config.seed", "rules.target", "state.updates"} <= set(keys)
    assert "network.hidden_size" in keys
    for key in keys:
        write(path, changed(header, key, new_name), tensors)
        # A configuration is asked for unknown keys first: it names the new one.
        in_config = key.startswith("config.") and new_name is not None
        named = new_name if in_config else key.split(".")[-1]
        with pytest.raises(ConfigError if in_config else CheckpointError) as caught:
            resume_run(tmp_path)
        assert str(named) in str(caught.value), key
        assert "\n" not in str(caught.value)
        if "." not in key or key.startswith(("rules.", "network.")):
            assert str(named) in refusal(lambda: load_policy(path, Rules())), key


@pytest.mark.parametrize("new_name", [None, "misspelt"], ids=["deleted", "renamed"])
def test_any_tensor_deleted_or_renamed_is_refused_by_its_name(
    learner: Learner, tmp_path: Path, new_name: str | None
) -> None:
    path = checkpoint_path(tmp_path, learner.decisions)
    save_checkpoint(path, save(learner))
    header, tensors = read(path)
    assert "games" in tensors
    assert any(name.startswith("optimizer.") for name in tensors)
    for name in tensors:
        fewer = {other: tensor for other, tensor in tensors.items() if other != name}
        if new_name is not None:
            fewer[f"{name}.{new_name}"] = tensors[name]
        write(path, header, fewer)
        assert repr(name) in refusal(lambda: resume_run(tmp_path)), name
        if name.startswith("network."):
            text = refusal(lambda: load_policy(path, Rules()))
            assert repr(name.removeprefix("network.")) in text


def test_a_tensor_of_another_shape_or_type_is_refused_by_its_name(
    learner: Learner, tmp_path: Path
) -> None:
    path = checkpoint_path(tmp_path, learner.decisions)
    save_checkpoint(path, save(learner))
    header, tensors = read(path)
    for place, (name, tensor) in enumerate(tensors.items()):
        other = tensor.to(torch.float64) if place % 2 else tensor.reshape(-1)[:0].clone()
        write(path, header, tensors | {name: other})
        assert repr(name) in refusal(lambda: resume_run(tmp_path)), name


def test_a_key_or_tensor_too_many_is_refused_by_its_name(learner: Learner, tmp_path: Path) -> None:
    path = checkpoint_path(tmp_path, learner.decisions)
    save_checkpoint(path, save(learner))
    header, tensors = read(path)
    write(path, header, tensors | {"optimizer.more": torch.zeros(1)})
    assert "'optimizer.more'" in refusal(lambda: resume_run(tmp_path))
    for part in ("rules", "network", "state"):
        write(path, header | {part: header[part] | {"more": 1}}, tensors)
        assert "'more'" in refusal(lambda: resume_run(tmp_path))


# ---- compiled: E043 ----


def compiled(learner: Learner, whole: bool) -> Learner:
    """Returns a learner whose network is wrapped as torch.compile does it; nothing is compiled."""
    network = new_learner(learner.config).network
    network.load_state_dict(learner.network.state_dict())
    if whole:
        wrapped: Any = torch.compile(network)
    else:
        wrapped = network
        wrapped.actor = torch.compile(network.actor)
    names = dict(wrapped.named_parameters())
    assert any("_orig_mod." in name for name in names)
    optimizer = torch.optim.Adam(names.values(), lr=1e-3, eps=1e-5)
    for name, parameter in learner.network.named_parameters():
        match = [one for one in names if one.replace("_orig_mod.", "") == name]
        optimizer.state[names[match[0]]] = learner.optimizer.state[parameter]
    return dataclasses.replace(learner, network=wrapped, optimizer=optimizer)


# torch warns of itself when its compiler is imported.
@pytest.mark.filterwarnings("ignore:.*script_method. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("whole", [True, False], ids=["the network", "a part of it"])
def test_a_compiled_network_is_saved_as_the_plain_one_is(
    whole: bool, learner: Learner, tmp_path: Path
) -> None:
    plain, wrapped = tmp_path / "plain.safetensors", tmp_path / "wrapped.safetensors"
    save_checkpoint(plain, save(learner))
    save_checkpoint(wrapped, save(compiled(learner, whole)))
    assert wrapped.read_bytes() == plain.read_bytes()
    weights = load_policy(wrapped, Rules()).network.state_dict()
    assert_same_tensors(weights, learner.network.state_dict())
    assert {tensor.device.type for tensor in weights.values()} == {"cpu"}


def test_a_file_with_the_names_of_a_compiled_network_is_refused_by_them(
    learner: Learner, tmp_path: Path
) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, save(learner))
    header, tensors = read(path)
    renamed = {
        name.replace("network.", "network._orig_mod."): tensor for name, tensor in tensors.items()
    }
    write(path, header, renamed)
    assert "'actor.0.bias'" in refusal(lambda: load_policy(path, Rules()))


# ---- whole or not at all ----


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, tiny(1))
    before = path.read_bytes()

    def fails(*arguments: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os if failing == "fsync" else Path, failing, fails)
    with pytest.raises(OSError, match=re.escape(str(path))) as caught:
        save_checkpoint(path, tiny(2))
    assert os.strerror(errno.EIO) in str(caught.value)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one.safetensors"]


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, tiny(1))
    before = path.read_bytes()
    large = Checkpoint(2, {}, {}, {}, {"network.weight": torch.zeros(100_000)})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow beyond this: writing fails halfway, as on a disk that is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(OSError, match=re.escape(str(path))):
            save_checkpoint(path, large)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one.safetensors"]


# Forks a process that saves one checkpoint after the other, and kills it at some moment.
KILLS = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from agents.checkpoint import Checkpoint, checkpoint_path, checkpoints_in
from agents.checkpoint import load_checkpoint, save_checkpoint

folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
luck = random.Random(10)

def checkpoint(decisions):
    tensors = {f"network.{i}": torch.full((200, 100), float(decisions)) for i in range(20)}
    return Checkpoint(decisions, {}, {}, {}, tensors, {"updates": decisions})

save_checkpoint(checkpoint_path(folder, 0), checkpoint(0))
strays = 0
for _ in range(rounds):
    begun = load_checkpoint(folder).decisions
    child = os.fork()
    if child == 0:
        for decisions in range(begun + 1, begun + 1_000_000):
            save_checkpoint(checkpoint_path(folder, decisions), checkpoint(decisions))
            for old in checkpoints_in(folder)[3:]:
                old.unlink()
    while load_checkpoint(folder).decisions == begun:
        time.sleep(0.001)
    time.sleep(luck.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    strays += len(list(folder.glob(".*")))
    newest = checkpoints_in(folder)[0]
    found = load_checkpoint(folder)
    assert newest == checkpoint_path(folder, found.decisions), "the newest is not whole"
    assert found.state["updates"] == found.decisions
    for name, tensor in found.tensors.items():
        assert (tensor == found.decisions).all(), "of two moments"
save_checkpoint(checkpoint_path(folder, 10**9), checkpoint(10**9))
assert not list(folder.glob(".*")), "strays are still there"
print(strays)
"""


@pytest.mark.parametrize(
    "rounds", [8, pytest.param(30, marks=pytest.mark.torture)], ids=["sample", "all"]
)
def test_kill_9_at_any_moment_leaves_the_newest_checkpoint_whole(
    rounds: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), str(rounds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    if rounds == 30:
        assert int(done.stdout) > 0, "no kill fell into a write: the test shows nothing"


# ---- nothing is unpickled: E013 ----

SINKS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}


def test_no_source_file_can_unpickle_or_run_what_it_reads() -> None:
    sources = [path for part in ("crib_env", "agents", "train", "eval") for path in
               sorted((ROOT / part).rglob("*.py"))]  # fmt: skip
    assert len(sources) > 20
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                assert not {one.name.split(".")[0] for one in node.names} & SINKS, where
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in SINKS, where
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert f"{node.value.id}.{node.attr}" not in {"torch.load", "torch.save"}, where
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), where
                assert node.value.value is False, where
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, where


def test_configurations_are_toml() -> None:
    files = [path for path in (ROOT / "configs").rglob("*") if not path.is_dir()]
    assert {path.suffix for path in files} == {".toml"}


class Touches:
    """A pickle of it makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str, int], int], tuple[str, int]]:
        return (os.open, (str(self.path), os.O_CREAT))


def test_a_pickle_in_place_of_any_file_that_is_read_runs_nothing(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    bomb = pickle.dumps(Touches(trap))
    os.close(pickle.loads(bomb))  # it would work
    trap.unlink()
    checkpoint_path(tmp_path, 5).write_bytes(bomb)
    refusal(lambda: load_checkpoint(tmp_path))
    torch.save({"network": Touches(trap)}, checkpoint_path(tmp_path, 5))
    refusal(lambda: load_checkpoint(tmp_path))
    assert not trap.exists()
