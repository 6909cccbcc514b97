"""What happened, told: every point in one event, both pegs right, and nobody told too much."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.cards import parse_card, parse_cards
from crib_env.events import Event, What
from crib_env.game_record import Phase, Source
from crib_env.kernel import as_records
from crib_env.loops import bot_actions
from crib_env.narrator import Narrator, points_of
from crib_env.rules import Rules
from tests.tabletop import DEALER, PONE, Table, after_cut, dealt, random_actions

SOURCES = {
    What.HIS_HEELS: Source.HIS_HEELS,
    What.LAY: Source.PEGGING,
    What.GO: Source.PEGGING,
    What.LAST_CARD: Source.PEGGING,
    What.HAND: Source.HAND,
    What.CRIB: Source.CRIB,
}
# The published sample deal; the dealer throws TH KH, pone 2H 3H.
SAMPLE = [parse_cards("7C 8C 9C QC 2H 3H"), parse_cards("4D 5C 5H 6S TH KH")]


def told(table: Table, cards: str, names: tuple[str, str] = ("pone", "dealer")) -> Narrator:
    """Returns a narrator who has seen these cards thrown or laid from the table's position on."""
    narrator = Narrator(table.games.rules, names)
    narrator.begin(table.games.records[0])
    for card in parse_cards(cards):
        before = table.games.records[0].copy()
        table.games.apply([card])
        narrator.tell(before, card, table.games.records[0])
    return narrator


@cache  # several tests look at the same games and change nothing
def played(
    number: int, bots: tuple[Bot, Bot], seed: int, rules: Rules | None = None, skip: int = 0
) -> tuple[Games, list[Narrator]]:
    """Returns games played by house players to their ends, and who has told them.

    Args:
        number: How many games.
        bots: Who plays them.
        seed: The luck of the batch.
        rules: The rules.
        skip: How many decisions are made before the narrators begin.
    """
    games = Games(number, rules, seed=seed)
    narrators = [Narrator(games.rules) for _ in range(number)]
    step = 0
    while not games.over.all():
        if step == skip:
            for record, narrator in zip(games.records, narrators, strict=True):
                narrator.begin(record)
        lanes = np.flatnonzero(~games.over)
        choices = [chosen(games, bot) for bot in bots]
        actions = np.where(games.turn == 0, choices[0], choices[1])[lanes]
        before = games.records.copy()
        games.apply(actions, lanes)
        if step >= skip:
            for lane, action in zip(lanes, actions, strict=True):
                narrators[lane].tell(before[lane], int(action), games.records[lane])
        step += 1
    return games, narrators


def chosen(games: Games, bot: Bot) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Returns the card a house player chooses in each game, 0 where it is over."""
    luck = games.luck()
    words = np.stack([luck & np.uint64(0xFFFFFFFF), luck >> np.uint64(32)], axis=1)
    actions = np.zeros(len(games), np.int64)
    bot_actions(as_records(games.records), int(bot), words.astype(np.uint32), actions)
    return actions


def pegged(events: list[Event], seat: int, source: Source) -> int:
    """Returns the points of a seat's events from one source."""
    return sum(
        event.points for event in events if event.seat == seat and SOURCES.get(event.what) == source
    )


# ---- whole games ----


@pytest.mark.parametrize("bots", [(a, b) for a in Bot for b in Bot if a <= b])
def test_the_points_told_are_those_of_the_record(bots: tuple[Bot, Bot]) -> None:
    games, narrators = played(50, bots, seed=10)
    for record, narrator in zip(games.records, narrators, strict=True):
        for seat in (0, 1):
            for source in Source:
                points = pegged(narrator.events, seat, source)
                assert points == record["points"][seat, source].sum()
            points = sum(event.points for event in narrator.events if event.seat == seat)
            assert points == record["scores"][seat]
        assert narrator.front == record["scores"][:2].tolist()
        ends = [event for event in narrator.events if event.what == What.END]
        assert ends == narrator.events[-1:]
        assert ends[0].seat == record["winner"]


@pytest.mark.parametrize("target", [1, 5, 31, 61])
def test_points_are_told_as_the_target_cuts_them_off(target: int) -> None:
    games, narrators = played(40, (Bot.RANDOM, Bot.EXPERT), 11, Rules(target=target))
    cut = 0
    for record, narrator in zip(games.records, narrators, strict=True):
        for seat in (0, 1):
            points = sum(event.points for event in narrator.events if event.seat == seat)
            assert points == record["scores"][seat]
        *others, last = [event for event in narrator.events if event.points]
        for event in others:
            assert event.points == points_of(event.parts)
        assert last.points <= points_of(last.parts)
        assert last.words.endswith("enough") == (last.points < points_of(last.parts))
        cut += last.points < points_of(last.parts)
    assert cut > 5


@pytest.mark.parametrize("skip", [1, 3, 7, 30])
def test_it_begins_at_any_position(skip: int) -> None:
    games, narrators = played(20, (Bot.GREEDY, Bot.EXPERT), seed=12, skip=skip)
    _, whole = played(20, (Bot.GREEDY, Bot.EXPERT), seed=12)
    for record, narrator, other in zip(games.records, narrators, whole, strict=True):
        assert narrator.front == record["scores"][:2].tolist()
        assert narrator.events == other.events[-len(narrator.events) :]
        # A side that has pegged once since then has both pegs where they belong.
        for side in (0, 1):
            if any(event.points and event.seat == side for event in narrator.events):
                assert narrator.back[side] == other.back[side]


def test_the_back_peg_stands_where_the_front_peg_stood_before() -> None:
    games, narrators = played(20, (Bot.GREEDY, Bot.EXPERT), seed=12)
    for record, narrator in zip(games.records, narrators, strict=True):
        for seat in (0, 1):
            points = [event.points for event in narrator.events if event.seat == seat]
            last = [number for number in points if number][-1]
            assert narrator.back[seat] == record["scores"][seat] - last


def test_pegs_of_which_nothing_is_known_are_told_so() -> None:
    narrator = Narrator(Rules())
    assert (narrator.front, narrator.back) == ([0, 0], [0, 0])
    narrator.begin(after_cut(scores=(60, 0)).games.records[0])
    assert narrator.front == [60, 0]
    assert narrator.back == [None, 0]


def test_a_deal_is_told_in_the_order_it_is_played() -> None:
    _, narrators = played(20, (Bot.GREEDY, Bot.EXPERT), seed=12)
    for narrator in narrators:
        whats = [event.what for event in narrator.events]
        assert whats[0] == What.DEAL
        deals = [index for index, what in enumerate(whats) if what == What.DEAL]
        for start, stop in pairwise(deals):
            deal = whats[start + 1 : stop]
            assert deal[:5] == [What.THROW] * 4 + [What.STARTER]
            assert deal.count(What.LAY) == 8
            assert deal[-3:] == [What.HAND, What.HAND, What.CRIB]


# ---- words ----


def test_the_sample_deal_is_told_in_words() -> None:
    narrator = told(dealt(SAMPLE, parse_card("JD")), "2H 3H TH KH 7C 4D 8C 5C 5H 9C 6S QC")
    assert narrator.lines(PONE) == [
        "dealer deals",
        "pone throws 2H 3H",
        "dealer throws two cards",
        "the starter is JD",
        "dealer: his heels, two",
        "pone lays 7C: seven",
        "dealer lays 4D: eleven",
        "pone lays 8C: nineteen",
        "dealer lays 5C: twenty-four",
        "pone says go",
        "dealer lays 5H: twenty-nine, a pair is two",
        "dealer: go for one",
        "pone lays 9C: nine",
        "dealer lays 6S: fifteen two",
        "pone lays QC: twenty-five",
        "pone: last card for one",
        "pone shows 7C 8C 9C QC with JD: fifteen two, a run of three is five, and a flush of four "
        "is nine",
        "dealer shows 4D 5C 5H 6S with JD: fifteen two, fifteen four, fifteen six, fifteen eight, "
        "and a double run of three is sixteen",
        "dealer turns the crib 2H 3H TH KH with JD: fifteen two, fifteen four, fifteen six",
        "pone deals",
    ]
    assert narrator.front == [10, 29]


def test_thirty_one_is_said_and_no_last_card_on_top() -> None:
    table = after_cut(["KC 8D 2C 2D", "QC 3D 2H 2S"], "7C")
    narrator = told(table, "KC QC 8D 3D")
    assert narrator.lines(None) == [
        "pone lays KC: ten",
        "dealer lays QC: twenty",
        "pone lays 8D: twenty-eight",
        "dealer lays 3D: thirty-one for two",
    ]


def test_a_go_is_said_once_in_a_count() -> None:
    table = after_cut(["KC 9D 9C JD", "8C AD AH 2S"], "7C")
    narrator = told(table, "KC 8C 9D AD AH 2S")
    assert narrator.lines(None) == [
        "pone lays KC: ten",
        "dealer lays 8C: eighteen",
        "pone lays 9D: twenty-seven",
        "dealer lays AD: twenty-eight",
        "pone says go",
        "dealer lays AH: twenty-nine, a pair is two",
        "dealer lays 2S: thirty-one for two",
    ]


def test_it_is_a_go_while_anybody_holds_a_card() -> None:
    # Pone has laid its last card; the dealer holds a king that does not fit.
    table = after_cut(["9C 9D 4S 6H", "KC KD KH KS"], "7C")
    lines = told(table, "9C KC 9D KD 4S KH 6H KS").lines(None)
    assert lines[7:13] == [
        "dealer lays KH: twenty-four",
        "pone lays 6H: thirty",
        "dealer says go",
        "pone: go for one",
        "dealer lays KS: ten",
        "dealer: last card for one",
    ]


def test_the_last_card_of_all_is_no_go() -> None:
    table = after_cut(["KC KD 9C 9D", "QC QD 8H 8S"], "7C")
    lines = told(table, "KC QC KD QD 9C 8H 9D 8S").lines(None)
    assert lines[3:5] == ["dealer says go", "pone: go for one"]
    # Dealer's go: pone still holds a card. In the end nobody does, and nobody says go.
    assert lines[8:12] == [
        "pone says go",
        "dealer: go for one",
        "pone lays 9D: nine",
        "dealer lays 8S: seventeen",
    ]
    assert lines[12] == "dealer: last card for one"


@pytest.mark.parametrize(
    ("scores", "target", "words"),
    [
        ((120, 110), 121, "121 to 110"),
        ((120, 91), 121, "121 to 91"),
        ((120, 90), 121, "121 to 90, a skunk"),
        ((120, 60), 121, "121 to 60, a double skunk"),
        ((120, 30), 121, "121 to 30, a triple skunk"),
        ((60, 30), 61, "61 to 30, a skunk"),
        ((30, 0), 31, "31 to 0, a skunk"),
        ((29, 0), 30, "30 to 0"),
    ],
)
def test_the_end_is_told_with_its_skunk(scores: tuple[int, int], target: int, words: str) -> None:
    rules = Rules(target=target, triple_skunk=True)
    table = after_cut(["9C 4D", "2C"], "KC", scores=scores, rules=rules)
    lines = told(table, "9C 2C 4D", ("ann", "bob")).lines(None)
    assert lines[-2:] == ["ann lays 4D: fifteen two, one is enough", f"ann wins: {words}"]


def test_a_hand_that_is_not_counted_is_not_shown() -> None:
    # Pone is out by its hand: neither the dealer's nor the crib is told.
    table = after_cut(["5C 5D 5H JS", "QC QD 8H 8S"], "5S", scores=(100, 60))
    narrator = told(table, "JS QC 5C 5D QD 5H 8H 8S")
    assert [event.what for event in narrator.events if event.what in (What.HAND, What.CRIB)] == [
        What.HAND
    ]
    assert narrator.lines(None)[-1].startswith("pone wins: 121 to 64, a skunk")


def test_his_heels_may_win() -> None:
    table = dealt(SAMPLE, parse_card("JD"), scores=(50, 120))
    narrator = told(table, "2H 3H TH KH")
    assert narrator.lines(PONE)[-2:] == [
        "dealer: his heels, two, one is enough",
        "dealer wins: 121 to 50, a double skunk",
    ]
    assert narrator.back == [None, 120]


def test_a_forfeit_is_told() -> None:
    narrator = told(after_cut(), "")
    narrator.forfeit(PONE)
    assert narrator.lines(DEALER) == ["pone forfeits the game"]


def test_clear_forgets_the_lines_and_not_the_pegs() -> None:
    narrator = told(after_cut(["9C", "6H"], "KC"), "9C 6H")
    assert narrator.lines(None)[-1] == "dealer lays 6H: fifteen two"
    narrator.clear()
    assert narrator.events == []
    assert (narrator.front, narrator.back) == ([0, 2], [0, 0])


# ---- what a seat is told ----


def test_a_throw_is_named_to_its_own_seat_alone() -> None:
    narrator = told(dealt(SAMPLE, parse_card("JD")), "2H 3H TH")
    assert narrator.lines(PONE)[1:] == ["pone throws 2H 3H", "dealer throws a card"]
    assert narrator.lines(DEALER)[1:] == ["pone throws two cards", "dealer throws TH"]
    assert narrator.lines(None)[1:] == ["pone throws 2H 3H", "dealer throws TH"]


@pytest.mark.parametrize("seat", [0, 1])
def test_hidden_cards_change_no_word(seat: int) -> None:
    # Wherever a decision looks the same to a seat with other cards hidden, it is told the same.
    games = Games(30, seed=15)
    rng = np.random.default_rng(16)
    alike = 0
    while not games.over.all():
        games = games.copy(np.flatnonzero(~games.over))
        other = games.copy()
        other.redeal_hidden(seat, seed=17)
        actions = random_actions(games.action_masks(), rng)
        # A throw of the other seat is another card; a card laid must be the same.
        masks = other.action_masks()
        hidden = (games.records["phase"] == Phase.DISCARD) & (games.turn != seat)
        others = np.where(hidden, random_actions(masks, rng), actions)
        both = masks[np.arange(len(games)), others] == 1
        others = np.where(both, others, masks.argmax(axis=1))
        before = games.records.copy(), other.records.copy()
        games.apply(actions)
        other.apply(others)
        same = both & (games.observe(seat) == other.observe(seat)).all(axis=1)
        # The show opens hands and crib for all, other ones where the hidden cards are others.
        same &= games.records["held"].any(axis=1)
        same &= games.records["deal_number"] == before[0]["deal_number"]
        for lane in np.flatnonzero(same):
            lines = []
            for records, action, after in zip(
                before, (actions, others), (games.records, other.records), strict=True
            ):
                narrator = Narrator(games.rules)
                narrator.begin(records[lane])
                narrator.tell(records[lane], int(action[lane]), after[lane])
                lines.append(narrator.lines(seat))
            assert lines[0] == lines[1]
            alike += 1
    assert alike > 500


# ---- the narrator itself ----


def test_a_copy_or_a_pickle_goes_on_by_itself() -> None:
    table = after_cut(["9C 4D", "6H"], "KC")
    narrator = told(table, "9C 6H")
    twins = [copy.deepcopy(narrator), pickle.loads(pickle.dumps(narrator))]
    before = table.games.records[0].copy()
    table.lay("4D")
    for twin in twins:
        assert twin.lines(None) == narrator.lines(None)
        assert twin.front == narrator.front
        twin.tell(before, parse_card("4D"), table.games.records[0])
        assert len(twin.events) == len(narrator.events) + 1


def test_tell_returns_what_it_keeps() -> None:
    table = dealt(SAMPLE, parse_card("JD"))
    narrator = Narrator(Rules())
    kept = narrator.begin(table.games.records[0])
    for card in parse_cards("2H 3H TH KH 7C"):
        before = table.games.records[0].copy()
        table.games.apply([card])
        kept += narrator.tell(before, card, table.games.records[0])
    assert kept == narrator.events


@pytest.mark.parametrize("names", [(), ("ann",), ("ann", "bob", "cat")])
def test_each_seat_has_one_name(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=f"{len(names)} names: allowed are 2, one a seat"):
        Narrator(Rules(), names)
