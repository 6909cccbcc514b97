"""The table of every variant and muggins mode: what is seen, what is not, and where it lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.cards import NO_CARD, bit_of, cards_in, parse_card
from crib_env.events import What
from crib_env.game_record import CLAIM_ACTION, Phase
from crib_env.narrator import Narrator
from crib_env.render.board import hole, start_hole_behind
from crib_env.render.canvas import PANEL
from crib_env.render.panel import PANEL_BOX
from crib_env.render.picture import table_picture
from crib_env.render.table_view import NAMES
from crib_env.render.text import table_text
from crib_env.render.view import View, view_of
from crib_env.rules import PRESETS, Rules
from tests.crib_env.render.test_picture import LONG_NAMES, peg_at
from tests.crib_env.test_every_variant import choices, every_kind, permuted
from tests.crib_env.test_narrator_of_muggins import FULL, SHOW
from tests.crib_env.test_narrator_of_variants import (
    FOUR,
    THREE,
    go_on,
    say,
    told,
    told_games,
)

Frame = npt.NDArray[np.uint8]

# Four players who lay as many cards in one count as there can be: four aces, twos and threes.
HANDS = ["AC 2C 3C 4C", "AD 2D 3D 4D", "AH 2H 3H QH", "AS 2S 3S QS"]
THROWN = ["KC", "KD", "KH", "KS"]
LONG = "AD AH AS AC 2D 2H 2S 2C 3D 3H 3S 3C"


def seats_of(rules: Rules) -> range:
    """Returns all seats."""
    return range(rules.players)


def seen(games: Games, narrator: Narrator, seat: int, open_hands: bool = False) -> View:
    """Returns a view of a game of one lane."""
    return view_of(games.records[0], seat, narrator, open_hands)


# ---- what is hidden ----


@every_kind
def test_hidden_cards_change_no_letter_and_no_pixel(rules: Rules) -> None:
    rng = np.random.default_rng(50)
    drawn: dict[int, int] = {}
    for games, narrator in told_games(rules)[2]:
        phase = int(games.records["phase"][0])
        drawn[phase] = drawn.get(phase, 0) + 1
        for seat in seats_of(rules):
            record = games.records[0]
            redealt = games.copy()
            redealt.redeal_hidden(seat, seed=51)
            others = [permuted(games, seat, rng).records[0], redealt.records[0]]
            text = table_text(record, seat, narrator)
            view = seen(games, narrator, seat)
            for other in others:
                assert view_of(other, seat, narrator) == view
                assert table_text(other, seat, narrator) == text
            if drawn[phase] <= 3:
                frame = table_picture(record, seat, narrator)
                for other in others:
                    assert table_picture(other, seat, narrator).tobytes() == frame.tobytes()
    muggins = {Phase.CLAIM, Phase.CALL} if rules.muggins != "none" else set()
    assert set(drawn) == {Phase.DISCARD, Phase.PLAY, Phase.OVER} | muggins


@every_kind
def test_open_hands_show_every_card(rules: Rules) -> None:
    for games, narrator in told_games(rules)[2]:
        record = games.records[0]
        for seat in seats_of(rules):
            view = seen(games, narrator, seat, open_hands=True)
            hands = [record["hands"][(seat + step) % rules.players] for step in seats_of(rules)]
            assert [set(hand) for hand in view.hands] == [set(cards_in(hand)) for hand in hands]
            thrown = int(np.bitwise_or.reduce(record["discards"])) | int(record["crib"])
            assert set(view.crib) == set(cards_in(thrown))
            assert view.starter == record["starter"]
            closed = seen(games, narrator, seat)
            held = any(closed.hands[other] for other in seats_of(rules) if other)
            if record["phase"] in (Phase.DISCARD, Phase.PLAY) and held:
                assert NO_CARD in [card for hand in closed.hands[1:] for card in hand]


@every_kind
def test_no_card_is_seen_that_lies_face_down(rules: Rules) -> None:
    # Found out from the record alone: laid, one's own, turned, or opened by the show.
    for games, narrator in told_games(rules)[2]:
        record = games.records[0]
        over_by_show = record["phase"] == Phase.OVER and narrator.counts
        for seat in seats_of(rules):
            view = seen(games, narrator, seat)
            known = set(cards_in(record["hands"][seat]))
            for count in narrator.counts if record["counting"][()] or over_by_show else ():
                known |= set(count.cards)
            shown = {card for hand in view.hands for card in hand} | set(view.crib)
            assert shown - {NO_CARD} <= known


@pytest.mark.parametrize("muggins", ["none", "show", "full"])
def test_d005_the_packs_card_in_the_crib_is_seen_only_once_the_crib_is_counted(
    muggins: str,
) -> None:
    rules = replace(THREE, muggins=muggins)
    opened = hidden = 0
    for games, narrator in told_games(rules)[2]:
        record = games.records[0].copy()
        own = 0
        for seat in seats_of(rules):
            own |= int(record["discards"][seat])
        from_pack = int(record["crib"]) & ~own
        [card] = cards_in(from_pack)
        counts = narrator.counts if record["phase"] != Phase.DISCARD else []
        counted = any(count.what == What.CRIB for count in counts)
        used = own | int(np.bitwise_or.reduce(record["hands"])) | bit_of(int(record["starter"]))
        for laid in record["plays"][: record["num_plays"]]:
            used |= bit_of(int(laid))
        spare = next(one for one in range(52) if not used >> one & 1 and one != card)
        other = record.copy()
        other["crib"] = int(record["crib"]) ^ from_pack ^ bit_of(spare)
        for seat in seats_of(rules):
            view = view_of(record, seat, narrator)
            if counted:
                opened += 1
                assert card in view.crib
            else:
                hidden += 1
                assert set(view.crib) == {NO_CARD}
                assert view_of(other, seat, narrator) == view
                assert table_text(other, seat, narrator) == table_text(record, seat, narrator)
    assert hidden > 100
    assert muggins == "none" or opened > 10


@pytest.mark.parametrize("name", PRESETS)
def test_a_deal_that_is_over_lies_open(name: str) -> None:
    rules = PRESETS[name]
    rng = np.random.default_rng(54)
    games = Games(1, rules, seed=54, one_deal=True)
    narrator = Narrator(rules, NAMES[rules.players])
    narrator.begin(games.records[0])
    while not games.over[0]:
        go_on(games, narrator, int(choices(games, rng)[0]))
    for seat in seats_of(rules):
        view = seen(games, narrator, seat)
        assert view.crib == tuple(cards_in(games.records["crib"][0]))
        hands = [
            games.records["hands"][0, (seat + step) % rules.players] for step in seats_of(rules)
        ]
        assert view.hands == tuple(tuple(cards_in(hand)) for hand in hands)
        assert [count.what for count in view.shown] == [What.HAND] * rules.players + [What.CRIB]
        assert all(len(count.cards) == rules.num_kept for count in view.shown[:-1])
        assert view.what == "is over"
        drawn((games, narrator))


@every_kind
def test_what_is_truly_there_is_not_seen_before_it_is_claimed_and_called(rules: Rules) -> None:
    for games, narrator in told_games(rules)[2]:
        record = games.records[0]
        other = record.copy()
        other["true_points"] += 1
        other["missed"] += 1
        other["worth"] += 1
        for seat in seats_of(rules):
            assert view_of(other, seat, narrator) == view_of(record, seat, narrator)
        if record["phase"] == Phase.CLAIM and narrator.counts:
            assert narrator.counts[-1].points is None
            assert not [
                event for event in narrator.events if event.what == What.HAND and event.parts
            ]


# ---- what is seen ----


@every_kind
def test_public_facts_are_those_of_the_record(rules: Rules) -> None:
    for games, narrator in told_games(rules)[2]:
        record = games.records[0]
        laid = int(record["num_plays"])
        over = record["phase"] == Phase.OVER
        for seat in seats_of(rules):
            view = seen(games, narrator, seat)
            order = [(seat + step) % rules.players for step in seats_of(rules)]
            sides = [(seat + step) % rules.sides for step in range(rules.sides)]
            assert view.names == tuple(narrator.names[one] for one in order)
            assert view.hands[0] == tuple(cards_in(record["hands"][seat]))
            assert [len(hand) for hand in view.hands] == [record["held"][one] for one in order]
            assert view.scores == tuple(record["scores"][side] for side in sides)
            assert view.back_pegs == tuple(narrator.back[side] for side in sides)
            assert order[view.dealer] == record["dealer"]
            assert view.turn == (None if over else order.index(record["turn"]))
            plays = [(card, order[by]) for card, by in view.plays]
            assert plays == list(
                zip(
                    record["plays"][:laid].tolist(),
                    record["play_seats"][:laid].tolist(),
                    strict=True,
                )
            )
            assert (view.pile_size, view.count) == (record["pile_size"], record["count"])
            thrown = int(np.bitwise_count(record["discards"][: rules.players]).sum())
            assert len(view.crib) == thrown + rules.crib_from_pack


@every_kind
def test_it_says_what_is_asked_for(rules: Rules) -> None:
    asked = set()
    for games, narrator in told_games(rules)[2]:
        record = games.records[0]
        view = seen(games, narrator, 0)
        if record["phase"] == Phase.OVER:
            continue
        assert view.who == narrator.names[record["turn"]]
        owner = narrator.names[record["owner"]] if record["counting"] else ""
        what = [
            "",
            "the card",
            "the go" if record["held"].any() else "the last card",
            "its hand",
            "the crib",
        ][record["counting"]]
        assert bool(view.claim) == (record["phase"] == Phase.CALL)
        if record["phase"] == Phase.CLAIM:
            assert view.what == f"to claim for {what}"
        elif record["phase"] == Phase.CALL:
            assert view.what == "to call muggins"
            assert view.claim == f"{owner} claims {record['claimed'] or 'nothing'} for {what}"
        asked.add((int(record["phase"]), int(record["counting"])))
    assert (Phase.CLAIM, 1) in asked if rules.muggins == "full" else (Phase.CLAIM, 1) not in asked
    assert ((Phase.CALL, 3) in asked) == (rules.muggins != "none")


@every_kind
def test_each_seat_sees_the_table_from_its_own_place(rules: Rules) -> None:
    # The same game a seat further to the left: each sees what the seat at its right saw.
    rng = np.random.default_rng(52)
    names = NAMES[rules.players]
    one, other = (Games(1, rules, seed=53, first_dealer=dealer) for dealer in (0, 1))
    tellers = Narrator(rules, names), Narrator(rules, names[-1:] + names[:-1])
    for games, narrator in zip((one, other), tellers, strict=True):
        narrator.begin(games.records[0])
    for step in range(150):
        if one.over[0]:
            break
        action = int(choices(one, rng)[0])
        for games, narrator in zip((one, other), tellers, strict=True):
            before = games.records[0].copy()
            games.apply([action])
            narrator.tell(before, action, games.records[0])
        for seat in seats_of(rules):
            left = (seat + 1) % rules.players
            assert seen(one, tellers[0], seat) == seen(other, tellers[1], left)
        if step % 50 == 0:
            frames = [
                table_picture(games.records[0], seat, narrator).tobytes()
                for seat, games, narrator in ((0, one, tellers[0]), (1, other, tellers[1]))
            ]
            assert frames[0] == frames[1]


def test_a_show_that_is_claimed_stays_while_the_agent_acts_in_it() -> None:
    for games, narrator in told_games(replace(FOUR, muggins="show"))[2]:
        record = games.records[0]
        shown = seen(games, narrator, 0).shown
        if record["phase"] in (Phase.CLAIM, Phase.CALL):
            assert len(shown) == record["shown"]
            assert [count.points is None for count in shown[:-1]] == [False] * (len(shown) - 1)
            assert (shown[-1].points is None) == (record["phase"] == Phase.CLAIM)


# ---- as text ----

TABLE = """\
deal 1, agent deals, to 121

left and right      26  (23)  ...........oO.................|..............|...............
agent and partner   43  (42)  ....................oO........|..............|...............

right              -  laid AS 2S 3S QS
partner            -  laid AH 2H 3H QH
left               -  laid AD 2D 3D 4D
crib               ## ## ## ##
starter            9C
laid before        AD AH AS AC 2D 2H 2S 2C 3D 3H 3S 3C 4D QH QS 4C
pile               -
count              0
agent              -  laid AC 2C 3C 4C
counted            left AD 2D 3D 4D with 9C: 3
claim              left claims 3 for its hand

- left claims 3 for its hand
partner to call muggins
"""


def four_at_the_call() -> tuple[Games, Narrator]:
    """Returns a game of four where partner may call what left has missed of the first hand."""
    rules = replace(FOUR, muggins="show")
    games, narrator = told(rules, NAMES[4], HANDS, THROWN, "9C", LONG + " 4D QH QS 4C", dealer=0)
    narrator.clear()
    say(games, narrator, 3)
    return games, narrator


def test_the_table_of_four_reads_so() -> None:
    games, narrator = four_at_the_call()
    text = table_text(games.records[0], 0, narrator)
    assert text == TABLE


def test_with_two_players_a_seat_is_told_without_what_it_laid() -> None:
    games, narrator = told(
        SHOW, NAMES[2], ["9C 4D 2C 3C", "6H 2D 2H 2S"], ["KC KD", "KH KS"], "7C", "6H 9C"
    )
    lines = table_text(games.records[0], 0, narrator).splitlines()
    assert "opponent     ## ## ##" in lines
    assert "agent        2C 3C 4D" in lines


# ---- as a picture ----


def long_pile(names: tuple[str, ...] = NAMES[4]) -> tuple[Games, Narrator]:
    """Returns a game of four with twelve cards in the pile."""
    return told(FOUR, names, HANDS, THROWN, "9C", LONG, dealer=0)


def drawn(state: tuple[Games, Narrator], **options: object) -> Frame:
    """Returns the picture that seat 0 sees."""
    games, narrator = state
    return table_picture(games.records[0], 0, narrator, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("size", [(320, 180), (960, 540), (500, 800)])
def test_a_picture_has_the_size_asked_for(name: str, size: tuple[int, int]) -> None:
    (
        games,
        narrator,
    ) = Games(1, PRESETS[name]), Narrator(PRESETS[name], NAMES[PRESETS[name].players])
    narrator.begin(games.records[0])
    assert drawn((games, narrator), size=size).shape == (size[1], size[0], 3)


@pytest.mark.parametrize("target", [1, 31, 61, 121])
def test_three_tracks_have_a_hole_for_every_peg(target: int) -> None:
    rules = replace(THREE, target=target)
    games = Games(1, rules)
    scores = (target - 1, target // 2, 0)
    games.records["scores"][0, :3] = scores
    narrator = Narrator(rules, NAMES[3])
    narrator.begin(games.records[0])
    frame = drawn((games, narrator))
    for side, score in enumerate(scores):
        assert peg_at(frame, side, hole(score, side, 3, target))
        assert peg_at(frame, side, start_hole_behind(side, 3)) == (score == 0)
    games.records["scores"][0, 0] = target
    narrator.begin(games.records[0])
    assert peg_at(drawn((games, narrator)), 0, hole(target, 0, 3, target))


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(("seat", "other"), [(0, 2), (1, 3), (0, 1)])
def test_it_can_be_seen_who_laid_a_card(seat: int, other: int, earlier: bool) -> None:
    games, narrator = long_pile()
    if earlier:
        go_on(games, narrator, parse_card("4D"))
    index = games.records["play_seats"][0].tolist().index(seat)
    before = drawn((games, narrator))
    games.records["play_seats"][0, index] = other
    after = drawn((games, narrator))
    assert (before != after).any(axis=2).sum() > 15


def test_the_longest_pile_lies_between_the_seats() -> None:
    empty = drawn(told(FOUR, NAMES[4], HANDS, THROWN, "9C", "", dealer=0))
    fourth = told(FOUR, NAMES[4], HANDS, THROWN, "9C", LONG + " 4D QH QS", dealer=0)
    for state in (long_pile(), fourth):
        full = drawn(state)
        # A strip on either side of the pile, and those above and below it, are as they were.
        for left, top, right, bottom in ((653, 110, 660, 404), (361, 110, 371, 404)):
            box = (slice(top, bottom), slice(left, right))
            assert (full[box] == empty[box]).all()
        assert (full[118:330, 374:648] != empty[118:330, 374:648]).any()


@pytest.mark.parametrize("players", [3, 4])
def test_long_names_stay_where_they_belong(players: int) -> None:
    names = (*LONG_NAMES, "x" * 60, "W" * 40)[:players]
    rules = {3: THREE, 4: FOUR}[players]
    frames = []
    for called in (NAMES[players], names):
        games, narrator = told(
            rules, called, HANDS[:players], THROWN[:players], "9C", "AD AH", dealer=0
        )
        while not games.records["deal_number"][0]:
            go_on(games, narrator, int(games.action_masks()[0].argmax()))
        frames.append(drawn((games, narrator)))
    short, long = frames
    _, top, right, bottom = PANEL_BOX
    assert (long[top + 20 : bottom - 20, right - 5 : right - 1] == np.array(PANEL)).all()
    assert (long[bottom - 7 : bottom - 1, 730:930] == np.array(PANEL)).all()
    assert (long[:, :210] == short[:, :210]).all()
    assert (long[:, 710:712] == short[:, 710:712]).all()


def test_what_is_claimed_in_the_play_stands_under_the_pile() -> None:
    for rules, box in (
        (FULL, (420, 348, 702, 372)),
        (replace(FOUR, muggins="full"), (374, 310, 648, 330)),
    ):
        frames = []
        for claim in (None, 0, 1):
            games = Games(1, rules, seed=2, first_dealer=0)
            narrator = Narrator(rules, NAMES[rules.players])
            narrator.begin(games.records[0])
            while games.records["phase"][0] != Phase.CLAIM:
                go_on(games, narrator, int(games.action_masks()[0].argmax()))
            if claim is not None:
                go_on(games, narrator, CLAIM_ACTION + claim)
            left, top, right, bottom = box
            frames.append(drawn((games, narrator))[top:bottom, left:right])
        assert not np.array_equal(frames[0], frames[1])
        assert not np.array_equal(frames[1], frames[2])


def test_a_call_that_pegs_stands_beside_its_hand() -> None:
    frames = []
    for call in (0, 1):
        games, narrator = four_at_the_call()
        say(games, narrator, call)
        frames.append(drawn((games, narrator))[118:404, 600:655])
    assert not np.array_equal(frames[0], frames[1])


@pytest.mark.parametrize("scores", [(120, 0, 0), (120, 80, 20)])
def test_all_of_a_long_result_is_drawn(scores: tuple[int, int, int]) -> None:
    # Two losers with their skunks need several lines: the box grows downwards.
    rules = replace(THREE, triple_skunk=True)
    games, narrator = told(
        rules, NAMES[3], HANDS[:3], THROWN[:3], "9C", "AD AH AC", scores=scores, dealer=0
    )
    view = seen(games, narrator, 0)
    assert view.result.count("skunk") == 2
    frame = drawn((games, narrator)).astype(int)
    gold = (np.abs(frame[:, 724] - np.array((242, 202, 110))).max(axis=1) < 4).sum()
    assert gold > 64
