"""Configurations: what is unknown, of another type or impossible is refused before work: E022."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from crib_env.luck import NUM_SEEDS
from crib_env.rules import PRESETS, Rules
from train.__main__ import main
from train.config import ConfigError, TrainConfig, config_from, load_config

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.toml"))
SMOKE = ROOT / "configs" / "smoke.toml"
FIELDS = {field.name: field.default for field in dataclasses.fields(TrainConfig)}
NAN, INFINITE = float("nan"), float("inf")

# For each field: values that no run can have, and values that one can.
IMPOSSIBLE: dict[str, list[Any]] = {
    "seed": [-1, NUM_SEEDS],
    "total_decisions": [0, -5],
    "rules": [
        "three_playr",
        "",
        "six_card,",
        "target",
        "target=0",
        "target=many",
        "players=5",
        "player=3",
        "triple_skunk=maybe",
        "five_card,target=3",
        {"players": 5},
        {"player": 3},
        {"players": 3},  # are dealt five cards
        {"target": "61"},
        {"triple_skunk": 1},
    ],
    "hidden_size": [0],
    "hidden_layers": [0],
    "games": [0, -64, 10**12],
    "deals_per_update": [0],
    "epochs": [0],
    "minibatch": [0],
    "learning_rate": [0.0, -1e-3, NAN, INFINITE],
    "final_learning_rate": [-1e-9, NAN, INFINITE],
    "entropy": [-0.1, NAN, INFINITE],
    "final_entropy": [-0.1, NAN, INFINITE],
    "gae_lambda": [-0.1, 1.1, NAN],
    "clip": [-0.1, 1.5, NAN],
    "value_weight": [-1.0, NAN, INFINITE],
    "max_grad_norm": [0.0, -1.0, NAN, INFINITE],
    "points_scale": [0.0, -10.0, NAN, INFINITE],
    "precision": ["float16", "", "AUTO"],
    "threads": [0, 10**12],
    "checkpoint_every": [0],
    "keep_checkpoints": [0],
    "evaluate_every": [-1],
    "evaluate_games": [0, 7, -2],
    "final_games": [-2, 33],
    "opponents": [["exprt"], ["random", ""], ["random", "random"]],
    "evaluation_mode": ["argmax", ""],
}
# What a file may say, and the rules that it means.
SAME_RULES: dict[Any, Rules] = {
    "six_card": Rules(),
    "target=1": Rules(target=1),
    "short": Rules(target=61),
    "three_player": Rules(players=3, cards_dealt=5),
    "four_player,target=31": Rules(players=4, cards_dealt=5, target=31),
    "players=4,cards_dealt=5": Rules(players=4, cards_dealt=5),
    "five_card,triple_skunk=true": Rules(cards_dealt=5, target=61, triple_skunk=True),
}
POSSIBLE: dict[str, list[Any]] = {
    "seed": [0, NUM_SEEDS - 1],
    "total_decisions": [1],
    "rules": list(SAME_RULES),
    "games": [1],
    "learning_rate": [1, 1e-9],  # a whole number may stand for a fraction
    "final_learning_rate": [0, 0.5],
    "entropy": [0],
    "gae_lambda": [0, 1, 0.95],
    "clip": [0, 1],
    "value_weight": [0],
    "precision": ["auto", "bfloat16", "float32"],
    "evaluate_every": [0],
    "evaluate_games": [2],
    "final_games": [0, 2],
    "opponents": [[], ["expert"], ["random", "greedy", "expert"]],
    "evaluation_mode": ["greedy", "sample"],
}


def wrong_types(default: object) -> list[Any]:
    """Returns values of other types than a field's."""
    if isinstance(default, Rules):
        return [1, True, ["short"], 0.5]
    if isinstance(default, str):
        return [1, True, ["auto"], 0.5]
    if isinstance(default, tuple):
        return ["random", [1], [["random"]], True, 3]
    if isinstance(default, int):
        return ["5", 5.0, 0.5, True, [5]]
    return ["0.5", True, [0.5]]


def refusal(values: dict[str, Any]) -> str:
    """Returns the one line with which values are refused."""
    with pytest.raises(ConfigError) as caught:
        config_from(values, "some.toml")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("some.toml: ")
    return text


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_refuses_values_of_another_type_by_its_name(name: str) -> None:
    for value in wrong_types(FIELDS[name]):
        text = refusal({name: value})
        assert name in text
        assert repr(value) in text
        assert "allowed" in text


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_refuses_impossible_values_by_its_name(name: str) -> None:
    for value in IMPOSSIBLE[name]:
        text = refusal({name: value})
        assert name in text
        assert "allowed" in text


@pytest.mark.parametrize("name", POSSIBLE)
def test_the_ends_of_what_is_possible_are_taken(name: str) -> None:
    for value in POSSIBLE[name]:
        config = config_from({name: value}, "some.toml")
        expected = tuple(value) if isinstance(value, list) else value
        expected = SAME_RULES[value] if name == "rules" else expected
        assert getattr(config, name) == expected
        assert type(getattr(config, name)) is type(FIELDS[name])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("learnin_rate", "learning_rate"),
        ("lambda", "gae_lambda"),
        ("total_decision", "total_decisions"),
        ("Seed", "seed"),
        ("keep_checkpoint", "keep_checkpoints"),
    ],
)
def test_an_unknown_key_is_refused_with_the_one_that_was_likely_meant(
    written: str, meant: str
) -> None:
    assert f"unknown key {written!r}; did you mean {meant!r}?" in refusal({written: 1})


def test_a_key_that_is_like_none_is_refused_without_a_guess() -> None:
    assert refusal({"xyz": 1}) == "some.toml: unknown key 'xyz'"


@pytest.mark.parametrize("name", FIELDS)
def test_any_letter_left_out_of_any_key_is_noticed(name: str) -> None:
    for place in range(len(name)):
        written = name[:place] + name[place + 1 :]
        assert repr(name) in refusal({written: FIELDS[name]})


def test_a_number_too_large_for_a_fraction_is_refused() -> None:
    assert "learning_rate" in refusal({"learning_rate": 10**400})


# ---- files ----


def test_a_file_that_is_no_toml_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    for content in (b"seed 5", b"seed = ", b"seed = 1\nseed = 2", b"\xff\xfe\x00"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=r"some\.toml") as caught:
            load_config(path)
        assert "\n" not in str(caught.value)
    for missing in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigError, match=str(missing)):
            load_config(missing)


def test_rules_are_a_text_or_a_table_and_are_kept_as_the_shortest_text(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    for written, rules, text in (
        ('rules = "three_player"', PRESETS["three_player"], "three_player"),
        ("rules = { players = 4, cards_dealt = 5 }", PRESETS["four_player"], "four_player"),
        ("[rules]\ncards_dealt = 5\ntarget = 31", Rules(2, 5, 31), "five_card,target=31"),
        ('rules = "triple_skunk=TRUE"', Rules(triple_skunk=True), "six_card,triple_skunk=true"),
    ):
        path.write_text(written + "\n")
        config = load_config(path)
        assert config.rules == rules
        assert config.as_dict()["rules"] == text
        assert f'rules = "{text}"\n' in config.as_toml()


def test_any_other_table_in_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("[train]\nseed = 1\n")
    with pytest.raises(ConfigError, match="unknown key 'train'"):
        load_config(path)


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("# nothing differs\n")
    assert load_config(path) == TrainConfig()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_file_of_configs_loads_and_says_what_it_is_for(path: Path) -> None:
    config = load_config(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    written = [line.split(" = ")[0] for line in text.splitlines() if " = " in line[:40]]
    for name in written:
        assert getattr(config, name) != FIELDS[name], f"{name} is the default: leave it out"


def test_the_resolved_configuration_reloads_to_the_same(tmp_path: Path) -> None:
    config = TrainConfig(
        seed=NUM_SEEDS - 1,
        learning_rate=1e-5,
        final_entropy=1 / 3,
        points_scale=1e22,
        opponents=("expert", "random"),
        precision="float32",
        rules=Rules(players=3, cards_dealt=5, target=42, triple_skunk=True),
    )
    path = tmp_path / "config.toml"
    for each in (config, TrainConfig(), TrainConfig(opponents=())):
        path.write_text(each.as_toml())
        assert load_config(path) == each
        assert set(each.as_dict()) == set(FIELDS)
        assert config_from(each.as_dict(), "checkpoint") == each


# ---- flags ----


def command(*flags: str, folder: Path) -> int:
    """Returns the exit status of a command line that must be refused."""
    try:
        return main([str(SMOKE), "--folder", str(folder), *flags])
    except SystemExit as error:
        return int(error.code or 0)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--gmaes", "64"], "--games"),
        (["--learning-rat", "1"], "--learning-rate"),
        (["--games", "many"], "--games"),
        (["--games", "6.5"], "--games"),
        (["--learning-rate", "fast"], "--learning-rate"),
        (["--precision", "half"], "--precision"),
        (["--evaluation-mode", "argmax"], "--evaluation-mode"),
        (["--stop-after", "soon"], "--stop-after"),
        (["--stop-after", "0"], "stop_after"),
        (["--games", "-5"], "games = -5"),
        (["--learning-rate", "nan"], "learning_rate = nan"),
        (["--opponents", "random", "exprt"], "'exprt'"),
        (["--evaluate-games", "7"], "evaluate_games = 7"),
        (["--rules", "target=300"], "target"),
        (["--rules", "three_playr"], "three_playr"),
        (["--target", "61"], "--target"),
        (["--seed", str(NUM_SEEDS)], "seed"),
        (["--threads", "1000000"], "threads"),
        (["surplus"], "surplus"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_wrong_flag_is_refused_by_name_with_status_2_before_a_folder_is_made(
    flags: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*flags, folder=tmp_path / "run") == 2
    said = capsys.readouterr()
    assert named in said.err + said.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_has_a_flag_that_refuses_what_the_file_refuses(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = "--" + name.replace("_", "-")
    value = IMPOSSIBLE[name][0]
    words = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    assert command(flag, *words, folder=tmp_path / "run") == 2
    said = capsys.readouterr()
    assert name in said.err or flag in said.err + said.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["gmaes = 5", "games = 'x'", "games = 0", "games ="])
def test_a_wrong_file_is_refused_in_one_line_with_status_2_before_a_folder_is_made(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.toml"
    path.write_text(content)
    assert main([str(path), "--folder", str(tmp_path / "run")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert str(path) in lines[0]
    assert not (tmp_path / "run").exists()


def test_rules_that_are_none_are_refused_in_one_line_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--rules", "three_playr", folder=tmp_path / "run") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("train: rules 'three_playr': allowed are ")
    assert all(name in line for name in PRESETS)


def test_no_arguments_show_how_to_use_it_with_status_2_and_help_with_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "python -m train CONFIG" in capsys.readouterr().err
    assert main(["--help"]) == 0
    assert "--resume RUN" in capsys.readouterr().out
