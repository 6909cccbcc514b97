"""PettingZoo's own tests in every variant, its registry, and where PettingZoo is missing."""

import importlib
import subprocess
import sys
from typing import Any

import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel

from crib_env import Rules
from crib_env.aec_env import env as make_env
from crib_env.rules import PRESETS
from tests.open_seats import (
    KINDS,
    SCHEMES,
    TABLE_SCHEMES,
    every_form,
    every_kind,
    every_maker,
    play_out,
)

ID = "crib_env/Cribbage-v0"
HAS_REGISTRY = hasattr(pettingzoo, "register")  # since 1.27


def checker(name: str) -> Any:
    """Returns a module of PettingZoo's tests, which its package hides behind a function."""
    return importlib.import_module(f"pettingzoo.test.{name}")


# ---- PettingZoo's own tests: their warnings are errors ----


@pytest.fixture
def _known_for_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    # PettingZoo warns of any observation that is a Dict, but for those of its own games that it
    # lists by name. There is no other way to be known to it than to stand in its lists.
    tests = checker("api_test")
    for names in ("env_obs_dicts", "env_obs_space"):
        monkeypatch.setattr(tests, names, [*getattr(tests, names), "cribbage_v0"])


@every_kind
@every_maker
@pytest.mark.usefixtures("_known_for_a_dict")
def test_api_test_passes_in_every_variant(make: Any, rules: Rules) -> None:
    api_test(make(rules=rules))


@every_kind
@every_maker
def test_api_test_passes_with_a_vector_as_it_stands(make: Any, rules: Rules) -> None:
    api_test(make(rules=rules, observation="vector"))


@pytest.mark.parametrize("options", [*SCHEMES.values(), *TABLE_SCHEMES.values()])
@pytest.mark.usefixtures("_known_for_a_dict")
def test_api_test_passes_with_every_reward(options: dict[str, Any]) -> None:
    api_test(make_env(**options))


@every_kind
@every_form
def test_seed_test_passes(rules: Rules, observation: Any) -> None:
    seed_test(lambda: make_env(rules=rules, observation=observation))


@every_kind
@every_form
def test_render_test_passes(rules: Rules, observation: Any) -> None:
    render_test(
        lambda render_mode: make_env(rules=rules, observation=observation, render_mode=render_mode),
        {"ansi": lambda text: "player_0" in text},
    )


@every_kind
def test_the_tests_of_the_state_pass(rules: Rules) -> None:
    tests = checker("state_test")
    env = make_env(rules=rules)
    tests.test_state_space(env)
    tests.test_state(env, 50)
    tests.test_parallel_env(turn_based_aec_to_parallel(env))


# ---- PettingZoo's registry, and where PettingZoo is missing ----


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not HAS_REGISTRY, reason="PettingZoo has a registry since 1.27")
def test_pettingzoo_makes_it_by_its_id() -> None:
    env: Any = pettingzoo.make("aec", ID, rules="three_player", reward="points")
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert str(env) == "cribbage_v0"
    env.reset(seed=1)
    direct = make_env(rules="three_player", reward="points")
    direct.reset(seed=1)
    assert play_out(env) == play_out(direct)
    assert pettingzoo.spec("aec", "crib_env/Cribbage").id == ID


def test_crib_env_imports_no_pettingzoo_by_itself() -> None:
    done = run(
        "import sys, crib_env, crib_env.env\n"
        "assert 'pettingzoo' not in sys.modules\n"
        "import crib_env.aec_env\n"
        "assert 'pettingzoo' in sys.modules\n"
    )
    assert done.returncode == 0, done.stderr


def test_without_pettingzoo_one_line_says_how_to_get_it() -> None:
    done = run(
        "import sys\n"
        "sys.modules['pettingzoo'] = None\n"
        "import crib_env\n"
        "try:\n"
        "    import crib_env.aec_env\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error, error.name)\n"
    )
    said = 'crib_env.aec_env needs PettingZoo: pip install "crib-env[pettingzoo]" pettingzoo\n'
    assert done.stdout == said, done.stderr


def test_every_preset_is_among_the_kinds_tested() -> None:
    assert PRESETS.keys() <= KINDS.keys()
