"""docs/notation.md says what the code does: its games, its errors, its lines, its example."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from crib_env.notation import Keyword, NotationError, parse, replay, write
from crib_env.notation.checking import summary
from crib_env.notation.heading import HEADING_WORDS
from crib_env.notation.transcript import HEADING, VERSION

PAGE = (Path(__file__).parents[3] / "docs" / "notation.md").read_text(encoding="utf-8")
TYPED, FILLED, MUGGINS = re.findall(rf"```\n({HEADING}\n.*?)```", PAGE, re.DOTALL)
ERRORS = re.findall(r"^\| `(.*?)` \| `(.*?)` \| `(.*?)` \|$", PAGE, re.MULTILINE)


def filled(text: str) -> str:
    """Returns a game with all that it leaves out."""
    return write(replay(parse(text)[0]).transcript)


def test_the_deal_typed_at_the_table_is_filled_in_as_it_says() -> None:
    assert filled(TYPED) == FILLED
    assert summary(replay(parse(TYPED)[0])).startswith(
        "unfinished, 78 to 54, 0 Anna is to throw; 1 deal; "
    )


def test_the_game_with_muggins_is_complete() -> None:
    assert filled(MUGGINS) == MUGGINS


@pytest.mark.parametrize(("before", "after", "said"), ERRORS)
def test_the_errors_are_those_of_the_table(before: str, after: str, said: str) -> None:
    assert f"{before}\n" in TYPED
    text = TYPED.replace(f"{before}\n", f"{after}\n")
    with pytest.raises(NotationError) as caught:
        filled(text)
    assert said in str(caught.value)


def test_there_is_a_row_for_each_way_to_be_wrong() -> None:
    assert len(ERRORS) > 15
    assert "'go 1': at a count of 15, seat 1 can play 7C 8C 9C" in PAGE


def test_every_line_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)\b.*?` \|", PAGE, re.MULTILINE)
    for word in (*HEADING_WORDS, *Keyword):
        assert word in rows, word


def test_the_rows_of_lines_are_lines() -> None:
    begun = f"{HEADING}\n"
    for row in re.findall(r"^\| `((?:dealt|starter|heels|play|go|last|call) .*?)` \|", PAGE, re.M):
        assert parse(f"{begun}deal 1 dealer 0\n{row}\n")
    for row in ("lane seed 7  game 0  first alternate  first_cut 1", "cut 7C 3H", "one_deal yes"):
        assert f"`{row}`" in PAGE
        assert parse(f"{begun}{row}\n")


def test_the_version_is_the_last_of_the_page() -> None:
    assert re.findall(r"^- (\d+): ", PAGE, re.MULTILINE)[-1] == str(VERSION)


def test_the_example_runs() -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(example, {}, "notation.md", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)
