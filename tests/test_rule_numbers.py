"""Every rule of docs/rules.md has a test that bears its number; only such rules are cited."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]


def rules() -> dict[int, str]:
    """Returns the rows of docs/rules.md by number."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| R(\d+) \| .*$", text, flags=re.MULTILINE)
    assert len(rows) == len(set(rows)), "a number stands twice"
    return {
        int(match[1]): match[0]
        for match in re.finditer(r"^\| R(\d+) \| .*$", text, flags=re.MULTILINE)
    }


def files_by_rule() -> dict[int, set[str]]:
    """Returns the names of the files that hold a test of each rule."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        for match in re.finditer(r"^def test_r(\d+)_", path.read_text("utf-8"), re.MULTILINE):
            found[int(match[1])].add(path.stem)
    return found


def citations() -> dict[int, set[str]]:
    """Returns which files of crib_env cite each rule, in brackets: (R5), (R5, R9), (R15 to R18)."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in (ROOT / "crib_env").glob("*.py"):
        for bracket in re.findall(r"\((R\d+(?:(?:, | to | and )R\d+)*)\)", path.read_text("utf-8")):
            numbers = [int(number) for number in re.findall(r"\d+", bracket)]
            if " to " in bracket:
                assert len(numbers) == 2, f"{path.name}: {bracket}"
                numbers = list(range(numbers[0], numbers[1] + 1))
            for number in numbers:
                found[number].add(path.name)
    return found


def test_rules_are_numbered_without_a_gap() -> None:
    assert sorted(rules()) == list(range(1, len(rules()) + 1))


def test_every_rule_has_a_test_that_bears_its_number() -> None:
    assert set(rules()) - set(files_by_rule()) == set()


def test_every_numbered_test_has_its_rule() -> None:
    assert set(files_by_rule()) - set(rules()) == set()


def test_each_rule_names_the_files_of_its_tests() -> None:
    for number, row in rules().items():
        named = set(re.findall(r"test_\w+", row.split("|")[-2]))
        assert named == files_by_rule()[number], f"R{number}"


def test_every_rule_that_the_code_cites_exists() -> None:
    cited = citations()
    assert cited, "no citation found: has their form changed?"
    assert {number: files for number, files in cited.items() if number not in rules()} == {}


def test_the_code_cites_every_rule() -> None:
    # So that whoever reads a rule finds the lines that hold it.
    assert set(rules()) - set(citations()) == set()


def test_no_citation_is_written_in_another_form() -> None:
    for path in (ROOT / "crib_env").glob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"\(R: |\bR\d+ ?- ?R?\d", text), path.name
