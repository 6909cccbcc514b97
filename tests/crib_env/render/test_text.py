"""The table as text: what it looks like, and that hidden cards change no letter of it."""

from __future__ import annotations

import re

import pytest

from crib_env.cards import parse_card
from crib_env.game_record import Phase
from crib_env.render.text import table_text
from crib_env.rules import Rules
from tests.crib_env.render.test_view import PHASES_AND_SEATS, told_states
from tests.crib_env.test_narrator import SAMPLE, told
from tests.tabletop import DEALER, PONE, after_cut, dealt

TABLE = """\
deal 1, dealer deals, to 121

dealer         7   (5)  ..oO..........................|..............|...............
pone          60   (-)  .............................O|..............|...............

dealer       -
crib         ## ## ## ##
starter      JD
laid before  7C 4D 8C 5C 5H
pile         9C 6S
count        15
pone         QC

- pone lays 9C: nine
- dealer lays 6S: fifteen two
pone to lay a card
"""


def test_the_table_reads_so() -> None:
    table = dealt(SAMPLE, parse_card("JD"), scores=(60, 0))
    narrator = told(table, "2H 3H TH KH 7C 4D 8C 5C 5H 9C 6S")
    narrator.events = narrator.events[-2:]
    assert table_text(table.games.records[0], PONE, narrator) == TABLE


@pytest.mark.parametrize(("phase", "seat"), PHASES_AND_SEATS)
def test_hidden_cards_change_no_letter(phase: Phase, seat: int) -> None:
    for games, narrator in told_states()[phase]:
        redealt = games.copy()
        redealt.redeal_hidden(seat, seed=30)
        text = table_text(games.records[0], seat, narrator)
        assert table_text(redealt.records[0], seat, narrator) == text
        if phase != Phase.OVER:
            opened = table_text(games.records[0], seat, narrator, open_hands=True)
            assert opened != text
            assert table_text(redealt.records[0], seat, narrator, open_hands=True) != opened


def test_colour_adds_nothing_but_colour() -> None:
    for games, narrator in told_states()[Phase.PLAY]:
        plain = table_text(games.records[0], 0, narrator)
        coloured = table_text(games.records[0], 0, narrator, colour=True)
        assert "\x1b" not in plain
        assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
        assert len(re.findall(r"\x1b\[31m..\x1b\[0m", coloured)) == len(
            re.findall(r"\b[A2-9TJQK][DH]\b", plain)
        )


def test_the_end_is_said_in_the_last_line() -> None:
    table = after_cut(["9C 4D", "2C"], "KC", scores=(120, 90))
    narrator = told(table, "9C 2C 4D", ("ann", "bob"))
    lines = table_text(table.games.records[0], DEALER, narrator).splitlines()
    assert lines[2].split()[:3] == ["ann", "121", "(120)"]
    assert lines[2].endswith(".oO")
    assert lines[-1] == "ann wins: 121 to 90, a skunk"


@pytest.mark.parametrize("target", [1, 2, 30, 31, 61, 120])
def test_a_track_ends_at_the_target(target: int) -> None:
    table = after_cut(["9C 4D", "2C"], "KC", scores=(target - 1, 0), rules=Rules(target=target))
    narrator = told(table, "9C 2C 4D")
    lines = table_text(table.games.records[0], PONE, narrator).splitlines()
    for line, front in zip(lines[2:4], (0, 60), strict=True):
        track = line.split()[-1]
        assert len(track) == 61
        assert track.index("O") == front
