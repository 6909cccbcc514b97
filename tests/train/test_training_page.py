"""docs/training.md says what the code does: its tables, its flags, its files."""

import dataclasses
import re
import shlex
from pathlib import Path

import pytest

from docs.training_tables import field_meanings, updated
from tests.runs import curves_of, rows_of
from train.__main__ import Arguments, ResumeArguments
from train.config import TrainConfig

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code() -> None:
    assert updated(PAGE) == PAGE, "run: python -m docs.training_tables"


def test_every_field_has_a_docstring_and_stands_on_the_page() -> None:
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    assert list(field_meanings()) == names
    for name in names:
        assert f"| `{name}` |" in PAGE


def test_the_page_has_each_name_that_a_run_writes_and_no_other(whole: Path) -> None:
    begin, end = "<!-- metrics table -->", "<!-- end of metrics table -->"
    names = re.findall(r"^\| `(.*?)` \|", PAGE.split(begin)[1].split(end)[0], re.MULTILINE)
    assert len(names) == len(set(names))
    opponents = ("random", "expert")
    told = {name.replace("OPPONENT", one) for name in names for one in opponents}
    written = {name for row in rows_of(whole) for name in row} - {"decisions"}
    assert written == {name for name in told if not name.startswith("outcome/")}
    assert curves_of(whole).keys() == told


def test_every_file_of_a_run_stands_on_the_page(whole: Path) -> None:
    for path in whole.iterdir():
        name = re.sub(r"\d{10,}", "*", path.name).replace("checkpoint-*", "checkpoint-DECISIONS")
        assert f"| `{name}` |" in PAGE, path.name


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="metrics"):
        updated(PAGE.replace("<!-- metrics table -->", ""))


def test_every_message_of_the_page_is_one_of_the_code() -> None:
    section = PAGE.split("## When something goes wrong")[1].split("\n## ")[0]
    messages = [
        text
        for row in re.findall(r"^\| (`.*?) \| [\d, ]*\|", section, re.MULTILINE)
        for text in re.findall(r"`(.*?)`", row)
    ]
    assert len(messages) > 15
    sources = [*(ROOT / "train").glob("*.py"), ROOT / "agents" / "checkpoint.py"]
    # Texts that go on in the next line are one; what is filled in is what stands in braces.
    code = re.sub(r'"\n\s*f?"', "", "\n".join(path.read_text() for path in sources))
    code = re.sub(r"\{[^{}]*\}", "{}", code)
    for message in messages:
        text = re.sub(r"\b[A-Z]+\b|config\.toml|No space left on device", "{}", message)
        for part in re.split(r"\{\}|; ", text):
            assert part.strip(" :") in code, (message, part)


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
    for path in (ROOT / "configs").glob("*.toml"):
        assert f"configs/{path.name}" in PAGE
    headings = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    for target in re.findall(r"\]\(#(.*?)\)", PAGE):
        assert target in headings, target
