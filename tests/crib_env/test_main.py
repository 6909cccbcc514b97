"""``python -m crib_env``: what it prints, and what it refuses."""

import subprocess
import sys

import pytest

from crib_env.__main__ import main

# The published deal of docs/rules.md.
DEALERS_HAND = """\
  2  fifteen              5C JD
  2  fifteen              5H JD
  2  fifteen              4D 5C 6S
  2  fifteen              4D 5H 6S
  2  pair                 5C 5H
  3  run                  4D 5C 6S
  3  run                  4D 5H 6S
 16  fifteen two, fifteen four, fifteen six, fifteen eight, and a double run of three is sixteen
"""

ALLOWED = "allowed are 4 cards, or 3 of the five-card game"


def test_a_hand_is_counted_part_by_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "4D", "5C", "5H", "6S", "JD"]) == 0
    assert capsys.readouterr().out == DEALERS_HAND


def test_cards_may_be_one_text_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "4d 5c 5h 6s jd"]) == 0
    assert capsys.readouterr().out == DEALERS_HAND


def test_a_hand_of_the_five_card_game_has_three_cards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "5H", "7H", "9H", "KH"]) == 0
    assert capsys.readouterr().out == (
        "  2  fifteen              5H KH\n"
        "  4  flush                5H 7H 9H KH\n"
        "  6  fifteen two, and a flush of four is six\n"
    )


def test_a_crib_needs_the_starter_for_a_flush(capsys: pytest.CaptureFixture[str]) -> None:
    cards = ["TH", "KH", "2H", "3H", "JD"]
    totals = []
    for words in (cards, [*cards, "--crib"]):
        assert main(["score", *words]) == 0
        totals.append(capsys.readouterr().out.splitlines()[-1].split()[0])
    assert totals == ["10", "6"]


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        ("5H 5D 5C", f"hand 5H 5D: {ALLOWED}, not 2"),
        ("5H 5D 5S 5C --crib", "crib 5H 5D 5S: allowed are 4 cards, not 3"),
        ("5H 5D 5S JC 5C 4C", f"hand 5H 5D 5S JC 5C: {ALLOWED}, not 5"),
        ("5H 5H 5S JC 5C", "card 5H stands twice"),
        ("5H 5D 5S JC 5H", "5H"),
        ("1H 2D 3S 4C 5D", "card '1H': a card is a rank of"),
        ("5H", f"hand none: {ALLOWED}, not 0"),
    ],
)
def test_cards_that_are_no_hand_are_refused_in_one_line(
    cards: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *cards.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("score: ")
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_it_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "crib_env", "score", "4D", "5C", "5H", "6S", "JD"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == DEALERS_HAND
