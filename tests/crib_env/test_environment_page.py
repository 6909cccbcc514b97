"""docs/environment.md and wrappers.md say what the code does: tables, numbers, examples."""

import dataclasses
import doctest
import inspect
import re
import runpy
from dataclasses import fields
from pathlib import Path

import gymnasium
import pytest

import crib_env
from crib_env import (
    CribbageDealEnv,
    CribbageDealVectorEnv,
    CribbageEnv,
    CribbageVectorEnv,
    Position,
    Rules,
    aec_env,
    wrappers,
)
from crib_env.aec_env import raw_env
from crib_env.observation import OBSERVATION_VERSION, observation_size
from crib_env.rules import MATCH_POINTS, PRESETS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "environment.md").read_text(encoding="utf-8")
VARIANTS_PAGE = (DOCS / "variants.md").read_text(encoding="utf-8")
WRAPPERS_PAGE = (DOCS / "wrappers.md").read_text(encoding="utf-8")
DOCSTRING = inspect.getdoc(CribbageEnv) or ""


def section(title: str, page: str = PAGE) -> str:
    """Returns what stands under a heading of a page, up to the next of any level."""
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def first_column(table: str) -> list[str]:
    """Returns the names in backticks of the first column of a table."""
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


every_page = pytest.mark.parametrize(
    ("name", "page"),
    [("environment.md", PAGE), ("variants.md", VARIANTS_PAGE), ("wrappers.md", WRAPPERS_PAGE)],
)


@every_page
def test_the_tables_are_those_of_the_code(name: str, page: str) -> None:
    updated = runpy.run_path(str(DOCS / "environment_tables.py"))["updated"]
    assert updated(page, name) == page, "run: python docs/environment_tables.py"


@every_page
def test_the_examples_run(name: str, page: str) -> None:
    examples = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    assert ">>>" in examples
    test = doctest.DocTestParser().get_doctest(examples, {}, f"docs/{name}", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_page_and_docstring_name_the_size_of_the_observation() -> None:
    box = f"Box(0, high, ({observation_size(Rules())},), uint8)"
    assert box in PAGE
    assert box in DOCSTRING
    assert f"version {OBSERVATION_VERSION} of its kind" in PAGE


ENVIRONMENTS: list[type] = [
    CribbageEnv,
    CribbageDealEnv,
    CribbageVectorEnv,
    CribbageDealVectorEnv,
]


def test_page_names_every_argument_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section("Arguments"), re.MULTILINE))
    named = set()
    for environment in ENVIRONMENTS:
        for name, parameter in inspect.signature(environment).parameters.items():
            named.add(name)
            default = getattr(parameter.default, "value", parameter.default)
            shown = repr(default).replace("'", '"')
            assert f"`{shown}`" in rows[name]
    assert named == set(rows)


def test_page_names_every_scheme_of_match_points() -> None:
    rows = re.findall(
        r'^\| `"(\w+)"` \| (\d) \| (\d) \| (\d) \| (\d) \|', section("Rewards"), re.MULTILINE
    )
    assert {name: tuple(map(int, points)) for name, *points in rows} == MATCH_POINTS


def test_page_names_every_option_of_reset() -> None:
    assert first_column(section("Positions")) == [field.name for field in fields(Position)]


@pytest.mark.parametrize("wrapper", [wrappers.FormatObservation, wrappers.vector.FormatObservation])
def test_page_names_every_option_of_the_wrappers_with_its_default(wrapper: type) -> None:
    table = section("Options", WRAPPERS_PAGE)
    parameters = dict(inspect.signature(wrapper).parameters)
    del parameters["env"]
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \|", table, re.MULTILINE)
    assert rows == [
        (name, repr(parameter.default).replace("'", '"')) for name, parameter in parameters.items()
    ]


def test_every_line_for_a_library_makes_a_wrapper() -> None:
    lines = re.findall(
        r"`((?:vector\.)?FormatObservation\(.*?\))`", section("What to write", WRAPPERS_PAGE)
    )
    assert len(lines) == 9
    env = gymnasium.make("crib_env/Cribbage-v0")
    envs = gymnasium.make_vec("crib_env/Cribbage-v0", num_envs=2)
    names = {
        "FormatObservation": wrappers.FormatObservation,
        "vector": wrappers.vector,
        "env": env,
        "envs": envs,
    }
    for line in lines:
        eval(line, names).reset(seed=0)


@pytest.mark.parametrize("text", [section("Information"), DOCSTRING], ids=["page", "docstring"])
def test_page_and_docstring_name_every_key_of_info(text: str) -> None:
    keys = set()
    for env_id in ("crib_env/Cribbage-v0", "crib_env/CribbageDeal-v0"):
        env = gymnasium.make(env_id, opponent="random")
        _, info = env.reset(seed=0)
        keys |= set(info)
        over = False
        while not over:
            _, _, over, _, info = env.step(info["action_mask"].argmax())
            keys |= set(info)
        env.reset()
        keys |= set(env.step(52)[4])
    assert set(first_column(text)) == keys


@pytest.mark.parametrize("name", ["Cribbage-v0", "CribbageDeal-v0"])
def test_page_names_the_version(name: str) -> None:
    assert f"`{name}` (crib_env {crib_env.__version__})" in section("Version history")


def test_the_page_of_the_variants_lists_every_field_and_preset() -> None:
    listed = first_column(section("Rules by name", VARIANTS_PAGE))
    fields = [field.name for field in dataclasses.fields(Rules)]
    assert [name for name in listed if name in fields] == fields
    rows = re.findall(
        r"^\| `\"(\w+)\"` \| (\d) \| (\d), .*? \| (\d+) \|", VARIANTS_PAGE, re.MULTILINE
    )
    told = {
        name: Rules(int(players), int(dealt), int(target)) for name, players, dealt, target in rows
    }
    assert told == PRESETS
    defaults = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", VARIANTS_PAGE, re.MULTILINE))
    for field in dataclasses.fields(Rules):
        assert defaults[field.name] == repr(field.default).replace("'", '"')


def test_page_names_every_option_of_the_aec_environment_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \|", section("PettingZoo"), re.MULTILINE)
    options = {name: one.default for name, one in inspect.signature(raw_env).parameters.items()}
    options["illegal"] = inspect.signature(aec_env.env).parameters["illegal"].default
    assert rows == [(name, repr(value).replace("'", '"')) for name, value in options.items()]
