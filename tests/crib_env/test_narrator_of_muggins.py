"""Claims and calls in words: what is said, and that nothing tells what was missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crib_env.batch import Games
from crib_env.cards import parse_card
from crib_env.events import What
from crib_env.game_record import Phase
from crib_env.narrator import Narrator
from crib_env.rules import Rules
from tests.crib_env.test_narrator_of_variants import (
    ABCD,
    FOUR,
    KEPT,
    THROWN,
    go_on,
    say,
    told,
)
from tests.tabletop import PONE, after_cut

SHOW, FULL = Rules(muggins="show"), Rules(muggins="full")

SHOWN = ("6C 7D 7S 8H", "KH QD 8S 2D")  # with 8C: 24 and 2, and a crib of 4
CRIB = "KS TD 4H AS"


def at_the_show(rules: Rules = SHOW, scores: tuple[int, int] = (10, 20)) -> tuple[Games, Narrator]:
    """Returns a table where pone is to claim a hand of 24, and who tells what follows."""
    table = after_cut(SHOWN, "8C", crib=CRIB, rules=rules).lay_all()
    table.games.records["scores"][0, :2] = scores
    narrator = Narrator(rules, ("pone", "dealer"))
    narrator.begin(table.games.records[0])
    return table.games, narrator


@pytest.mark.parametrize("claim", range(25))
def test_no_claim_of_what_is_there_or_less_tells_how_much_was_missed(claim: int) -> None:
    # A hand of 24: what is told is the claim alone, and the calls ask for nothing.
    table = after_cut(("6C 7D 7S 8H", "KH QD 8S 2D"), "8C", rules=SHOW)
    table.lay_all()
    narrator = Narrator(SHOW, ("pone", "dealer"))
    narrator.begin(table.games.records[0])
    said = f"pone claims {claim or 'nothing'} for its hand"
    assert say(table.games, narrator, claim) == [said]
    assert narrator.events[-1].parts == ()


def test_a_card_is_told_with_its_count_alone_where_its_points_are_claimed() -> None:
    hands = ["7C 2D 3D 4D", "8H QC QD QS"]
    games, narrator = told(FULL, ("pone", "dealer"), hands, ["KC KD", "KH KS"], "JC", "", dealer=1)
    assert go_on(games, narrator, parse_card("7C")) == ["pone lays 7C: seven"]
    say(games, narrator, 0, 0)
    assert go_on(games, narrator, parse_card("8H")) == ["dealer lays 8H: fifteen"]
    assert [event.parts for event in narrator.events if event.what == What.LAY] == [(), ()]


def test_a_whole_show_is_claimed_and_called() -> None:
    games, narrator = at_the_show()
    assert say(games, narrator, 20) == ["pone claims 20 for its hand"]
    assert say(games, narrator, 5) == [
        "dealer calls muggins for 5: not so many were missed",
        "dealer shows 2D 8S QD KH with 8C",
    ]
    assert say(games, narrator, 0) == ["dealer claims nothing for its hand"]
    assert say(games, narrator, 2) == [
        "pone calls muggins for 2",
        "dealer turns the crib AS 4H TD KS with 8C",
    ]
    assert say(games, narrator, 7) == [
        "dealer claims 7 for the crib: only four are there",
        "pone pegs 3 claimed too many",
    ]
    assert say(games, narrator, 0) == ["pone calls nothing", "pone deals"]
    assert [(count.points, count.called) for count in narrator.counts] == [
        (20, ()),
        (0, ((PONE, 2),)),
        (4, ((PONE, 3),)),
    ]
    assert narrator.front == games.scores[0].tolist() == [35, 24]


def test_a_claim_too_high_pegs_nothing_for_others_without_the_penalty() -> None:
    games, narrator = at_the_show(replace(SHOW, muggins_penalty=False))
    said = ["pone claims 25 for its hand: only twenty-four are there"]
    assert say(games, narrator, 25) == said
    assert narrator.front == [34, 20]


@pytest.mark.parametrize(
    ("scores", "numbers", "lines"),
    [
        (
            (100, 20),
            [24],
            ["pone claims 24 for its hand: twenty-one are enough", "pone wins: 121 to 20, "
             "a double skunk"],
        ),
        (
            (10, 118),
            [20, 4],
            ["dealer calls muggins for 4: three are enough", "dealer wins: 121 to 30, "
             "a double skunk"],
        ),
        (
            (10, 120),
            [31],
            ["pone claims 31 for its hand: only twenty-four are there",
             "dealer pegs 7 claimed too many: one is enough",
             "dealer wins: 121 to 34, a double skunk"],
        ),
    ],
)  # fmt: skip
def test_the_target_cuts_claims_and_calls_off(
    scores: tuple[int, int], numbers: list[int], lines: list[str]
) -> None:
    games, narrator = at_the_show(scores=scores)
    assert say(games, narrator, *numbers)[-len(lines) :] == lines
    assert narrator.front == games.scores[0].tolist()


@pytest.mark.parametrize(("claim", "told"), [(0, "nothing"), (3, "3")])
def test_a_hand_worth_nothing_may_be_claimed(claim: int, told: str) -> None:
    table = after_cut(("2C 4D 6H 8S", "KH QD 8H 2D"), "TC", crib=CRIB, rules=SHOW).lay_all()
    narrator = Narrator(SHOW, ("pone", "dealer"))
    narrator.begin(table.games.records[0])
    said = say(table.games, narrator, claim)
    assert said[0] == f"pone claims {told} for its hand" + (": nothing is there" if claim else "")


def test_each_card_and_go_is_claimed_in_full_muggins() -> None:
    hands = ["KC 5D 9C 9D", "QC 6D 8H 8S"]
    games, narrator = told(
        FULL, ("pone", "dealer"), hands, ["2C 3C", "2S 3S"], "7C", "KC", dealer=1
    )
    lines = say(games, narrator, 0, 0)
    lines += go_on(games, narrator, parse_card("QC"))
    lines += say(games, narrator, 0, 0)
    lines += go_on(games, narrator, parse_card("9C"))
    lines += say(games, narrator, 1, 0)
    lines += say(games, narrator, 0, 1)
    assert lines == [
        "pone claims nothing for the card",
        "dealer calls nothing",
        "dealer lays QC: twenty",
        "dealer claims nothing for the card",
        "pone calls nothing",
        "pone lays 9C: twenty-nine",
        "pone claims 1 for the card: nothing is there",
        "dealer pegs 1 claimed too many",
        "dealer calls nothing",
        "dealer says go",
        "pone claims nothing for the go",
        "dealer calls muggins for 1",
    ]
    assert (narrator.front, narrator.back) == ([0, 2], [0, 1])


def test_the_last_card_is_claimed_as_such() -> None:
    games = Games(1, replace(FOUR, muggins="full"), seed=1, first_dealer=0)
    narrator = Narrator(games.rules, ABCD)
    narrator.begin(games.records[0])
    while games.records["shown"][0] == 0:
        go_on(games, narrator, int(games.action_masks()[0].argmax()))  # claims and calls nothing
    lines = narrator.lines(None)
    assert sum(" lays " in line for line in lines) == 16
    assert sum(line.endswith("for the last card") for line in lines) == 1
    assert lines[-4].endswith("claims nothing for the last card")
    assert lines[-1].startswith("bob shows ")


@pytest.mark.parametrize(("players", "asked"), [(3, "cat ann"), (4, "cat ann")])
def test_every_seat_of_another_side_is_told_to_call(players: int, asked: str) -> None:
    rules = Rules(players=players, cards_dealt=5, muggins="show")
    hands = [*KEPT, "AC AD AH 2H"][:players]
    games, narrator = told(rules, ABCD[:players], hands, [*THROWN, "9S"][:players], "7S", "")
    while games.records["phase"][0] == Phase.PLAY:
        go_on(games, narrator, int(games.action_masks()[0].argmax()))
    narrator.clear()
    lines = say(games, narrator, 0, 1, 0)
    left, other = asked.split()
    assert lines[:3] == [
        "bob claims nothing for its hand",
        f"{left} calls muggins for 1",
        f"{other} calls nothing",
    ]
    assert lines[3].startswith("cat shows")
    assert [(count.seat, count.points, count.called) for count in narrator.counts] == [
        (1, 0, ((2, 1),)),
        (2, None, ()),
    ]
