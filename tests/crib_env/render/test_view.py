"""The table from one seat: all that lies open, and no card that the seat cannot know."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

from crib_env.batch import Games
from crib_env.cards import NO_CARD, cards_in, parse_card, parse_cards
from crib_env.events import What
from crib_env.game_record import Phase
from crib_env.narrator import Narrator
from crib_env.render.view import View, view_of
from crib_env.rules import Rules
from tests.crib_env.test_honesty import permuted
from tests.crib_env.test_narrator import SAMPLE, told
from tests.tabletop import DEALER, PONE, after_cut, dealt, random_actions

State = tuple[Games, Narrator]

PHASES = (Phase.DISCARD, Phase.PLAY, Phase.OVER)  # test_every_table.py has those of muggins
PHASES_AND_SEATS = [(phase, seat) for phase in PHASES for seat in (0, 1)]


@cache
def told_states() -> dict[Phase, list[State]]:
    """Returns random states by phase, each with its narrator: games of all stages and ends."""
    rng = np.random.default_rng(20)
    states: dict[Phase, list[State]] = {phase: [] for phase in PHASES}
    for seed in range(30):
        games = Games(1, seed=seed)
        narrator = Narrator(games.rules)
        narrator.begin(games.records[0])
        step = 0
        while not games.over[0]:
            if games.turn[0] == 0:
                narrator.clear()
            action = random_actions(games.action_masks(), rng)
            before = games.records[0].copy()
            games.apply(action)
            narrator.tell(before, int(action[0]), games.records[0])
            step += 1
            if games.over[0] or step % 37 == 0:
                phase = Phase(int(games.records["phase"][0]))
                states[phase].append((games.copy(), copy.deepcopy(narrator)))
    return states


def seen(table: Games, narrator: Narrator, player: int, open_hands: bool = False) -> View:
    """Returns a view of a game of one lane."""
    return view_of(table.records[0], player, narrator, open_hands)


# ---- what is hidden ----


@pytest.mark.parametrize(("phase", "seat"), PHASES_AND_SEATS)
def test_hidden_cards_change_nothing_that_a_seat_is_shown(phase: Phase, seat: int) -> None:
    rng = np.random.default_rng(21)
    assert len(told_states()[phase]) > 10
    for games, narrator in told_states()[phase]:
        view = seen(games, narrator, seat)
        redealt = games.copy()
        redealt.redeal_hidden(seat, seed=22)
        assert seen(redealt, narrator, seat) == view
        assert seen(permuted(games, seat, rng), narrator, seat) == view


@pytest.mark.parametrize(("phase", "seat"), PHASES_AND_SEATS)
def test_open_hands_show_every_card(phase: Phase, seat: int) -> None:
    for games, narrator in told_states()[phase]:
        record = games.records[0]
        view = seen(games, narrator, seat, open_hands=True)
        assert [set(hand) for hand in view.hands] == [
            set(cards_in(record["hands"][one])) for one in (seat, 1 - seat)
        ]
        thrown = int(record["discards"][0] | record["discards"][1])
        assert set(view.crib) == set(cards_in(thrown))
        assert view.starter == record["starter"]
        hidden = [*view.hands[1], *view.crib, *([view.starter] if phase == Phase.DISCARD else [])]
        assert NO_CARD not in hidden
        shown = seen(games, narrator, seat)
        if phase != Phase.OVER:
            assert NO_CARD in (*shown.hands[1], *shown.crib, shown.starter)


@pytest.mark.parametrize("seat", [0, 1])
def test_no_throw_of_another_is_named(seat: int) -> None:
    named = 0
    for games, narrator in [*told_states()[Phase.DISCARD], *told_states()[Phase.PLAY]]:
        thrown = [event for event in narrator.events if event.what == What.THROW]
        secret = {card for event in thrown if event.seat != seat for card in event.cards}
        stories = seen(games, narrator, seat).stories
        told_throws = [story for story in stories if story.what == What.THROW]
        assert not secret & {card for story in told_throws for card in story.cards}
        opened = seen(games, narrator, seat, open_hands=True).stories
        named += len(secret)
        assert secret <= {card for story in opened for card in story.cards}
    assert named > 5


def test_a_crib_lies_open_only_once_it_has_been_counted() -> None:
    opened = 0
    for games, narrator in told_states()[Phase.OVER]:
        counted = any(event.what == What.CRIB for event in narrator.events)
        opened += counted
        crib = seen(games, narrator, 0).crib
        if counted:
            assert crib == tuple(cards_in(games.records["crib"][0]))
        elif games.records["num_plays"][0] or len(crib):
            assert set(crib) == {NO_CARD}
    assert 0 < opened < len(told_states()[Phase.OVER])


# ---- what is shown ----


def test_a_show_is_shown_until_the_next_starter_is_turned() -> None:
    table = dealt(SAMPLE, parse_card("JD"))
    narrator = told(table, "2H 3H TH KH 7C 4D 8C 5C 5H 9C 6S QC")
    view = seen(table.games, narrator, PONE)
    assert [(story.seat, story.points) for story in view.shown] == [(0, 9), (1, 16), (1, 6)]
    while table.phase == Phase.DISCARD:
        assert len(seen(table.games, narrator, PONE).shown) == 3
        before = table.games.records[0].copy()
        card = int(np.argmax(table.games.action_masks()[0]))
        table.games.apply([card])
        narrator.tell(before, card, table.games.records[0])
    assert seen(table.games, narrator, PONE).shown == ()


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("phase", PHASES)
def test_public_facts_are_those_of_the_record(phase: Phase, seat: int) -> None:
    for games, narrator in told_states()[phase]:
        record = games.records[0]
        view = seen(games, narrator, seat)
        assert view.hands[0] == tuple(cards_in(record["hands"][seat]))
        assert len(view.hands[1]) == record["held"][1 - seat]
        assert view.scores == (record["scores"][seat], record["scores"][1 - seat])
        assert view.back_pegs == (narrator.back[seat], narrator.back[1 - seat])
        assert view.dealer == (record["dealer"] + seat) % 2
        assert view.names == (narrator.names[seat], narrator.names[1 - seat])
        assert (view.phase, view.deal_number) == (phase, record["deal_number"] + 1)
        laid = int(record["num_plays"])
        assert [card for card, _ in view.plays] == record["plays"][:laid].tolist()
        assert [(by + seat) % 2 for _, by in view.plays] == record["play_seats"][:laid].tolist()
        assert (view.pile_size, view.count) == (record["pile_size"], record["count"])
        num_thrown = int(record["discards"][0]).bit_count() + int(record["discards"][1]).bit_count()
        assert len(view.crib) == num_thrown
        if phase == Phase.OVER:
            assert view.turn is None
            assert (view.who, view.what) == (narrator.names[record["winner"]], "wins")
        else:
            assert view.turn == (record["turn"] + seat) % 2
            assert view.who == narrator.names[record["turn"]]
        if phase != Phase.DISCARD:
            assert view.starter == record["starter"]


def test_it_says_who_is_to_do_what() -> None:
    asked = []
    table = dealt(SAMPLE, parse_card("JD"))
    narrator = told(table, "")
    for card in [None, *parse_cards("2H 3H TH KH")]:
        if card is not None:
            before = table.games.records[0].copy()
            table.games.apply([card])
            narrator.tell(before, card, table.games.records[0])
        view = seen(table.games, narrator, DEALER)
        asked.append(f"{view.who} {view.what}")
    assert asked == [
        "pone to throw two cards",
        "pone to throw a card",
        "dealer to throw two cards",
        "dealer to throw a card",
        "pone to lay a card",
    ]


def test_the_end_is_said_with_scores_and_skunk() -> None:
    table = after_cut(["9C 4D", "2C"], "KC", scores=(120, 90))
    narrator = told(table, "9C 2C 4D")
    for seat in (PONE, DEALER):
        view = seen(table.games, narrator, seat)
        assert (view.who, view.what, view.result) == ("pone", "wins", "121 to 90, a skunk")
    # Also where the narrator begins only now.
    narrator.begin(table.games.records[0])
    assert seen(table.games, narrator, DEALER).result == "121 to 90, a skunk"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_single_deal_that_nobody_has_won_is_over_without_a_winner(seat: int) -> None:
    rng = np.random.default_rng(23)
    games = Games(1, seed=1, one_deal=True)
    narrator = Narrator(games.rules, ("ann", "bob"))
    narrator.begin(games.records[0])
    while not games.over[0]:
        action = random_actions(games.action_masks(), rng)
        before = games.records[0].copy()
        games.apply(action)
        narrator.tell(before, int(action[0]), games.records[0])
    view = seen(games, narrator, seat)
    ann, bob = games.scores[0]
    said = ("the deal", "is over", f"ann {ann}, bob {bob}")
    assert (view.who, view.what, view.result) == said
    assert view.turn is None
    assert What.END not in [event.what for event in narrator.events]
    assert not any("win" in line for line in narrator.lines(seat))


def test_a_forfeit_is_said_and_nobody_is_to_act() -> None:
    table = after_cut()
    narrator = told(table, "")
    narrator.forfeit(PONE)
    view = seen(table.games, narrator, DEALER)
    assert (view.who, view.what, view.turn, view.result) == ("pone", "forfeits", None, "")


@pytest.mark.parametrize(
    ("rules", "lines"),
    [
        (Rules(), (91, 61)),
        (Rules(triple_skunk=True), (91, 61, 31)),
        (Rules(target=61), (31, 1)),
        (Rules(target=60), (30,)),
        (Rules(target=30), ()),
        (Rules(target=1), ()),
    ],
)
def test_skunk_lines_follow_the_target(rules: Rules, lines: tuple[int, ...]) -> None:
    games = Games(1, rules)
    narrator = Narrator(rules)
    narrator.begin(games.records[0])
    assert seen(games, narrator, 0).skunk_lines == lines


def test_stories_count_seats_as_the_viewer_does() -> None:
    table = after_cut(["9C 4D", "2C"], "KC")
    narrator = told(table, "9C 2C")
    assert [story.seat for story in seen(table.games, narrator, PONE).stories] == [0, 1]
    assert [story.seat for story in seen(table.games, narrator, DEALER).stories] == [1, 0]


@pytest.mark.parametrize("player", [-1, 2])
def test_a_seat_that_is_not_there_is_refused(player: int) -> None:
    table = after_cut()
    with pytest.raises(ValueError, match=f"player {player}: allowed is 0 to 1"):
        seen(table.games, told(table, ""), player)
