"""`TrainConfig`: the schema of configs/*.toml, checked before any work starts."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from crib_env.bots import BOTS
from crib_env.luck import NUM_SEEDS
from crib_env.records import MOST_LANES
from crib_env.rules import Rules, rules_of
from eval.rules_flag import RulesFlag, rules_from_text, rules_text

MAX_THREADS = 1024  # torch would start them all


class ConfigError(ValueError):
    """A configuration that cannot be used, in one line that names the field."""


@dataclass(frozen=True)
class TrainConfig:
    """All that a run depends on. A TOML file holds only what differs from these defaults."""

    seed: int = 1
    """Luck of the cards, the players, the weights and the minibatches; 0 to 2**64 - 1."""
    total_decisions: int = 6_000_000
    """Decisions of all seats to learn from; learning rate and entropy are annealed over these."""
    rules: RulesFlag = Rules()  # noqa: RUF009  # frozen
    """What is played: `six_card`, `short`, `five_card`, `three_player` or `four_player`, after a
    comma what differs, as in `five_card,target=31`; in a file also a table of fields."""
    hidden_size: int = 256
    """Units of each hidden layer."""
    hidden_layers: int = 2
    """Hidden layers of the actor, and of the critic."""
    games: int = 4096
    """Games played side by side; each update learns from `deals_per_update` deals of each."""
    deals_per_update: int = 1
    """Whole deals that each game plays between updates."""
    epochs: int = 3
    """Passes over the decisions of an update."""
    minibatch: int = 4096
    """Decisions in a gradient step."""
    learning_rate: float = 1e-3
    """Adam's step size at the start."""
    final_learning_rate: float = 0.0
    """Adam's step size at the end; linear between."""
    entropy: float = 0.03
    """Weight of the policy's entropy (nats) at the start."""
    final_entropy: float = 0.0
    """Weight of the policy's entropy at the end; linear between."""
    gae_lambda: float = 0.9
    """Lambda of generalised advantage estimation over a seat's own decisions in a deal."""
    clip: float = 0.2
    """How far a probability ratio may leave 1 before its gradient is cut off."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    points_scale: float = 10.0
    """Points that make a return of 1."""
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """Arithmetic of the networks in training; auto: bfloat16 where the CPU has it natively."""
    threads: int = 1
    """Torch's threads; two on two busy cores are many times slower than one."""
    checkpoint_every: int = 2_000_000
    """Decisions between checkpoints; one is always written at the end."""
    keep_checkpoints: int = 3
    """How many of the newest checkpoints are kept."""
    evaluate_every: int = 2_000_000
    """Decisions between matches against the house players on the curve; 0: none there."""
    evaluate_games: int = 1_000
    """Games of each such match; even, and with three players made up to a multiple of three."""
    final_games: int = 20_000
    """Games of each match of the last table, likewise; 0 leaves the table out."""
    opponents: tuple[str, ...] = ("random", "greedy", "expert")
    """House players to be measured against."""
    evaluation_mode: Literal["greedy", "sample"] = "greedy"
    """How the network chooses in matches. In self-play all seats sample."""

    def __post_init__(self) -> None:
        """Refuses impossible values.

        Raises:
            ConfigError: Naming the field, the value and what is allowed.
        """
        for name, low in _LEAST.items():
            if getattr(self, name) < low:
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is {low} or more")
        for name in ("learning_rate", "points_scale", "max_grad_norm"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is a number above 0")
        for name in ("final_learning_rate", "entropy", "final_entropy", "value_weight"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is a number from 0")
        for name in ("gae_lambda", "clip"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is 0 to 1")
        if self.seed >= NUM_SEEDS:
            raise ConfigError(f"seed = {self.seed}: allowed is 0 to 2**64 - 1")
        for name, high in (("threads", MAX_THREADS), ("games", MOST_LANES)):
            if getattr(self, name) > high:
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is 1 to {high}")
        for name in ("evaluate_games", "final_games"):
            if getattr(self, name) % 2:
                raise ConfigError(f"{name} = {getattr(self, name)}: allowed is an even number")
        for name in self.opponents:
            if name not in BOTS:
                raise ConfigError(f"opponents: {name!r}: allowed are {', '.join(BOTS)}")
        if len(set(self.opponents)) < len(self.opponents):
            raise ConfigError(f"opponents: {', '.join(self.opponents)}: allowed is each once")
        for field in dataclasses.fields(self):
            choices = get_args(get_type_hints(TrainConfig)[field.name])
            if choices and isinstance(choices[0], str) and getattr(self, field.name) not in choices:
                value = getattr(self, field.name)
                raise ConfigError(f"{field.name} = {value!r}: allowed are {', '.join(choices)}")

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields by name, as JSON knows them."""
        values = dataclasses.asdict(self) | {"rules": rules_text(self.rules)}
        return json.loads(json.dumps(values))  # type: ignore[no-any-return]  # a dict

    def as_toml(self) -> str:
        """Returns the whole configuration as a TOML file that makes it again."""
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.as_dict().items())


_LEAST = {
    "seed": 0,
    "total_decisions": 1,
    "hidden_size": 1,
    "hidden_layers": 1,
    "games": 1,
    "deals_per_update": 1,
    "epochs": 1,
    "minibatch": 1,
    "threads": 1,
    "checkpoint_every": 1,
    "keep_checkpoints": 1,
    "evaluate_every": 0,
    "evaluate_games": 2,
    "final_games": 0,
}


def config_from(values: dict[str, Any], source: str) -> TrainConfig:
    """Returns the configuration with these values, each of the type that its field has.

    Args:
        values: By field name.
        source: Where they stand, for the message.

    Raises:
        ConfigError: If a name is unknown, a value of another type, or impossible.
    """
    hints = get_type_hints(TrainConfig)
    checked = {}
    for name, value in values.items():
        if name not in hints:
            near = difflib.get_close_matches(name, hints, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{source}: unknown key {name!r}{hint}")
        checked[name] = _typed(name, value, hints[name], source)
    try:
        return TrainConfig(**checked)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def _typed(name: str, value: Any, hint: Any, source: str) -> Any:
    """Returns *value* as its field's type.

    Whole numbers may stand for fractions, a text or a table for rules, nothing else for another.
    """
    if hint is Rules:
        try:
            return rules_from_text(value) if isinstance(value, str) else rules_of(value)
        except ValueError as error:
            raise ConfigError(f"{source}: {name}: {error}") from None
    kind = str if hint not in (int, float, tuple[str, ...]) else hint
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ConfigError(f"{source}: {name}: the number is too large") from None
    if kind == tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise ConfigError(f"{source}: {name} = {value!r}: allowed is a list of names")
    if not isinstance(value, kind) or isinstance(value, bool):
        wanted = {int: "a whole number", float: "a number", str: "a text"}[kind]
        raise ConfigError(f"{source}: {name} = {value!r}: allowed is {wanted}")
    return value


def load_config(path: Path) -> TrainConfig:
    """Returns the configuration of a TOML file.

    Raises:
        ConfigError: If it cannot be read, is no TOML, or `config_from` refuses it.
    """
    try:
        values = tomllib.loads(path.read_text())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: no TOML: {error}") from None
    return config_from(values, str(path))
