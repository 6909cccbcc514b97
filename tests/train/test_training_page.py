"""docs/training.md says what the code does: its tables, its flags, its files."""

import dataclasses
import re
import shlex
from pathlib import Path

import pytest

from docs.training_tables import field_meanings, updated
from train.__main__ import Arguments, ResumeArguments
from train.config import TrainConfig
from train.metrics import EVALUATION_METRICS, METRICS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code() -> None:
    assert updated(PAGE) == PAGE, "run: python -m docs.training_tables"


def test_every_field_has_a_docstring_and_stands_on_the_page() -> None:
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    assert list(field_meanings()) == names
    for name in names:
        assert f"| `{name}` |" in PAGE


def test_every_metric_stands_on_the_page() -> None:
    for name in METRICS:
        assert f"| `{name}` |" in PAGE
    for name in EVALUATION_METRICS:
        assert f"| `evaluation/OPPONENT/{name}` |" in PAGE


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="metrics"):
        updated(PAGE.replace("<!-- metrics table -->", ""))


def commands() -> list[list[str]]:
    """Returns the words of each command of the page, without its comment."""
    blocks = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def test_its_commands_name_flags_and_files_that_there_are() -> None:
    flags = {
        "--" + field.name.replace("_", "-")
        for kind in (TrainConfig, Arguments, ResumeArguments)
        for field in dataclasses.fields(kind)
    } | {"--help"}
    mine = [words for words in commands() if words[:3] == ["python", "-m", "train"]]
    assert len(mine) >= 5
    for words in mine:
        assert {word for word in words if word.startswith("--")} <= flags, words
        for word in words:
            if word.startswith("configs/"):
                assert (ROOT / word).is_file(), word


def test_every_configuration_and_the_targets_of_its_links_exist() -> None:
    for path in (ROOT / "configs").iterdir():
        assert f"configs/{path.name}" in PAGE
    headings = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    for target in re.findall(r"\]\(#(.*?)\)", PAGE):
        assert target in headings, target
