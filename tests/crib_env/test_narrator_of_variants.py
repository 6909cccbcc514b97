"""What happened, told in every variant and muggins mode: each point once, and never too much."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from crib_env.batch import Games
from crib_env.cards import parse_card, parse_cards
from crib_env.events import Event, What
from crib_env.game_record import CLAIM_ACTION, Phase, Source
from crib_env.narrator import Narrator
from crib_env.position import Position
from crib_env.render.table_view import NAMES
from crib_env.rules import PRESETS, Rules
from tests.crib_env.test_every_variant import KINDS, choices, every_kind, permuted

State = tuple[Games, Narrator]

THREE, FOUR, FIVE = PRESETS["three_player"], PRESETS["four_player"], PRESETS["five_card"]
ABC = ("ann", "bob", "cat")
ABCD = (*ABC, "dan")


@cache  # several tests look at the same games and change nothing
def told_games(rules: Rules, number: int = 4) -> tuple[list[Games], list[Narrator], list[State]]:
    """Returns games played to their ends, who has told them all, and moments on the way.

    The narrator of a moment was cleared whenever seat 0 was to act, as that of an environment is.
    """
    rng = np.random.default_rng(30)
    ended, narrators, moments = [], [], []
    for seed in range(number):
        games = Games(1, rules, seed=seed)
        teller, clearing = (Narrator(rules, NAMES[rules.players]) for _ in range(2))
        for narrator in (teller, clearing):
            narrator.begin(games.records[0])
        while not games.over[0]:
            if games.turn[0] == 0:
                clearing.clear()
            action = choices(games, rng)
            before = games.records[0].copy()
            games.apply(action)
            for narrator in (teller, clearing):
                narrator.tell(before, int(action[0]), games.records[0])
            if games.over[0] or rng.random() < 0.15:
                moments.append((games.copy(), copy.deepcopy(clearing)))
        ended.append(games)
        narrators.append(teller)
    return ended, narrators, moments


def told(
    rules: Rules,
    names: tuple[str, ...],
    hands: list[str],
    thrown: list[str],
    starter: str,
    cards: str,
    *,
    dealer: int = 0,
    scores: tuple[int, ...] | None = None,
) -> tuple[Games, Narrator]:
    """Returns a game where these cards were laid after the cut, and its narrator.

    Args:
        rules: The rules.
        names: What the seats are called.
        hands: What each seat keeps.
        thrown: What each seat has thrown.
        starter: The starter.
        cards: The cards laid, in order.
        dealer: The seat that deals.
        scores: By side.
    """
    games = Games(1, rules)
    dealt = [parse_cards(f"{hand} {throw}") for hand, throw in zip(hands, thrown, strict=True)]
    discards = [parse_cards(throw) for throw in thrown]
    games.set_position(0, Position(dealer, scores, dealt, discards, parse_card(starter)))
    narrator = Narrator(rules, names)
    narrator.begin(games.records[0])
    go_on(games, narrator, *parse_cards(cards))
    return games, narrator


def go_on(games: Games, narrator: Narrator, *actions: int) -> list[str]:
    """Applies actions and returns what is told of them to everybody."""
    first = len(narrator.events)
    for action in actions:
        before = games.records[0].copy()
        games.apply([action])
        narrator.tell(before, action, games.records[0])
    return [narrator.story(event, None).text() for event in narrator.events[first:]]


def say(games: Games, narrator: Narrator, *numbers: int) -> list[str]:
    """Claims and calls these points, in turn; returns what is told."""
    return go_on(games, narrator, *(CLAIM_ACTION + number for number in numbers))


# ---- whole games ----


def sources(events: list[Event]) -> dict[tuple[int, Source], int]:
    """Returns what was told by seat and source; that of a claim is what was turned or laid last."""
    by_what = {
        What.HIS_HEELS: Source.HIS_HEELS,
        What.LAY: Source.PEGGING,
        What.GO: Source.PEGGING,
        What.LAST_CARD: Source.PEGGING,
        What.HAND: Source.HAND,
        What.CRIB: Source.CRIB,
        What.EXCESS: Source.MUGGINS,
        What.CALL: Source.MUGGINS,
    }
    told: dict[tuple[int, Source], int] = {}
    latest = Source.PEGGING
    for event in events:
        if event.what in (What.LAY, What.HAND, What.CRIB):
            latest = by_what[event.what]
        if event.points and event.what != What.START:
            source = latest if event.what == What.CLAIM else by_what[event.what]
            told[event.seat, source] = told.get((event.seat, source), 0) + event.points
    return told


@every_kind
def test_the_points_told_are_those_of_the_record(rules: Rules) -> None:
    ended, narrators, _ = told_games(rules)
    for games, narrator in zip(ended, narrators, strict=True):
        record = games.records[0]
        pegged = {
            (seat, source): int(record["points"][seat, source].sum())
            for seat in range(rules.players)
            for source in Source
        }
        assert sources(narrator.events) == {key: points for key, points in pegged.items() if points}
        assert narrator.front == record["scores"][: rules.sides].tolist()
        ends = [event for event in narrator.events if event.what == What.END]
        assert ends == narrator.events[-1:]
        assert ends[0].seat == record["winner"]


@every_kind
def test_both_pegs_of_a_side_stand_where_they_stood(rules: Rules) -> None:
    _, narrators, _ = told_games(rules)
    for narrator in narrators:
        for side in range(rules.sides):
            pegged = [
                event.points
                for event in narrator.events
                if event.points and event.seat % rules.sides == side
            ]
            assert sum(pegged) == narrator.front[side]
            assert narrator.back[side] == (narrator.front[side] - pegged[-1] if pegged else 0)


@every_kind
def test_what_is_claimed_and_called_follows_what_is_counted(rules: Rules) -> None:
    _, narrators, _ = told_games(rules)
    callers = {2: 1, 3: 2, 4: 2}[rules.players]
    full = rules.muggins == "full"
    claimed = {What.HAND, What.CRIB} | ({What.LAY} if full else set())
    for narrator in narrators:
        whats = [event.what for event in narrator.events]
        claims = [index for index, what in enumerate(whats) if what == What.CLAIM]
        if rules.muggins == "none":
            assert not claims
            assert not {What.CALL, What.EXCESS} & set(whats)
            continue
        assert len(claims) > 5
        # A go is claimed too: then nothing is laid or turned up right before the claim.
        counted = [whats[index - 1] for index in claims]
        assert counted.count(What.HAND) == whats.count(What.HAND)
        assert counted.count(What.CRIB) == whats.count(What.CRIB)
        assert counted.count(What.LAY) == (whats.count(What.LAY) if full else 0)
        assert (set(counted) <= claimed) == (not full)
        assert not full or not {What.GO, What.LAST_CARD} & set(whats)
        for index in claims[:-1]:
            after = [what for what in whats[index + 1 :] if what != What.EXCESS]
            assert after[:callers] == [What.CALL] * callers
            assert after[callers] != What.CALL


# ---- what a seat is told ----


@pytest.mark.parametrize("rules", KINDS)
def test_hidden_cards_change_no_word(rules: Rules) -> None:
    # Wherever a decision looks the same to a seat with other cards hidden, it is told the same.
    rng = np.random.default_rng(16)
    games = Games(10, rules, seed=15)
    alike = step = 0
    while not games.over.all() and step < 300:
        step += 1
        games = games.copy(np.flatnonzero(~games.over))
        seat = step % rules.players
        other = permuted(games, seat, rng)
        actions = choices(games, rng)
        # A throw of another seat is another card; all else that is done must be the same.
        masks = other.action_masks()
        hidden = (games.records["phase"] == Phase.DISCARD) & (games.turn != seat)
        thrown = np.array([int(rng.choice(np.flatnonzero(mask))) for mask in masks])
        others = np.where(hidden, thrown, actions)
        both = masks[np.arange(len(games)), others] == 1
        others = np.where(both, others, masks.argmax(axis=1))
        before = games.records.copy(), other.records.copy()
        games.apply(actions)
        other.apply(others)
        same = both & (games.observe(seat) == other.observe(seat)).all(axis=1)
        # A show opens hands and crib for all, other ones where the hidden cards are others.
        same &= games.records["deal_number"] == before[0]["deal_number"]
        same &= (games.records["phase"] != Phase.OVER) | games.records["held"].any(axis=1)
        same &= (games.records["phase"] != Phase.OVER) | (not rules.is_five_card)
        for lane in np.flatnonzero(same):
            lines = []
            for records, action, after in zip(
                before, (actions, others), (games.records, other.records), strict=True
            ):
                narrator = Narrator(rules, NAMES[rules.players])
                narrator.begin(records[lane])
                narrator.tell(records[lane], int(action[lane]), after[lane])
                lines.append((narrator.lines(seat), narrator.counts))
            assert lines[0] == lines[1]
            alike += 1
    assert alike > 100


# ---- three players, four, and five cards ----

KEPT = ["4D 9H TD JD", "6C 8H KC KH", "6D QC 2S 3S"]
THROWN = ["5C", "5H", "7H"]


def test_three_players_are_told_from_the_dealers_left() -> None:
    games, narrator = told(THREE, ABC, KEPT, THROWN, "7S", "KC QC TD KH 2S 9H 6C 3S JD 8H 6D 4D")
    crib = set(parse_cards("5C 5H 7H"))
    [turned] = [event for event in narrator.events if event.what == What.CRIB]
    assert crib < set(turned.cards)
    assert narrator.lines(None)[:22] == [
        "bob lays KC: ten",
        "cat lays QC: twenty",
        "ann lays TD: thirty",
        "bob says go",
        "cat says go",
        "ann: go for one",
        "bob lays KH: ten",
        "cat lays 2S: twelve",
        "ann lays 9H: twenty-one",
        "bob lays 6C: twenty-seven",
        "cat lays 3S: thirty",
        "ann says go",
        "bob says go",
        "cat: go for one",
        "ann lays JD: ten",
        "bob lays 8H: eighteen",
        "cat lays 6D: twenty-four",
        "ann lays 4D: twenty-eight",
        "ann: last card for one",
        "bob shows 6C 8H KC KH with 7S: fifteen two, a pair is four, and a run of three is seven",
        "cat shows 2S 3S 6D QC with 7S: fifteen two, fifteen four",
        "ann shows 4D 9H TD JD with 7S: run of three",
    ]
    assert narrator.lines(None)[-1] == "bob deals"
    assert narrator.front == games.scores[0].tolist()


def test_a_throw_is_named_to_its_own_seat_alone() -> None:
    games = Games(1, FOUR, first_dealer=0)
    narrator = Narrator(FOUR, ABCD)
    narrator.begin(games.records[0])
    thrown = []
    for _ in range(4):
        thrown.append(int(games.action_masks()[0].argmax()))
        go_on(games, narrator, thrown[-1])
    for seat in range(4):
        for story in narrator.stories(seat)[1:5]:
            own = story.seat == seat
            assert story.cards == ((thrown[seat - 1],) if own else ())
            assert story.lead == f"{ABCD[story.seat]} throws{'' if own else ' a card'}"


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((120, 100, 91), "121 to 100 and 91"),
        ((120, 90, 100), "121 to 90 and 100, a skunk for bob"),
        ((120, 100, 60), "121 to 100 and 60, a double skunk for cat"),
        ((120, 90, 30), "121 to 90 and 30, a skunk for bob and a triple skunk for cat"),
    ],
)
def test_of_three_it_is_said_who_is_skunked(scores: tuple[int, ...], words: str) -> None:
    rules = replace(THREE, triple_skunk=True)
    _, narrator = told(rules, ABC, KEPT, THROWN, "7S", "KC QC TD", scores=scores)
    assert narrator.lines(None)[-1] == f"ann wins: {words}"


def test_partners_win_together() -> None:
    hands = [*KEPT, "AC AD AH 2H"]
    thrown = [*THROWN, "9S"]
    _, narrator = told(FOUR, ABCD, hands, thrown, "7S", "KC QC AC TD", scores=(119, 60))
    assert narrator.lines(None)[-2:] == [
        "ann lays TD: thirty-one for two",
        "ann and cat win: 121 to 60, a double skunk",
    ]
    _, narrator = told(FOUR, ABCD, hands, thrown, "7S", "KC QC AC TD", scores=(10, 60))
    assert narrator.outcome(-1) == ("the deal", "is over", "ann and cat 12, bob and dan 60")


@pytest.mark.parametrize("dealer", [0, 1])
def test_what_pone_of_five_cards_starts_with_is_told_once(dealer: int) -> None:
    games = Games(1, FIVE, first_dealer=dealer)
    names = ("ann", "bob")
    narrator = Narrator(FIVE, names)
    narrator.begin(games.records[0])
    pone = 1 - dealer
    said = [f"{names[dealer]} deals", f"{names[pone]}: three to start with"]
    assert narrator.lines(None) == said
    assert (narrator.front[pone], narrator.back[pone]) == (3, 0)
    assert (narrator.front[dealer], narrator.back[dealer]) == (0, 0)
    # Not where the game has gone on, nor in other rules.
    later = games.records[0].copy()
    later["scores"][pone] = 4
    narrator.begin(later)
    assert narrator.lines(None) == said[:1]
    six = Games(1, first_dealer=dealer).records[0]
    six["scores"][pone] = 3
    narrator = Narrator(Rules(), names)
    narrator.begin(six)
    assert narrator.lines(None) == said[:1]


def test_cards_of_five_that_are_never_laid_are_shown_all_the_same() -> None:
    _, narrator = told(
        FIVE, ("ann", "bob"), ["KC QC 9C", "JD TD 8D"], ["2H 3H", "4S 6S"], "7H", "JD KC TD"
    )
    assert narrator.lines(None) == [
        "bob lays JD: ten",
        "ann lays KC: twenty",
        "bob lays TD: thirty",
        "ann says go",
        "bob: go for one",
        "bob shows 8D TD JD with 7H: fifteen two, and a flush of three is five",
        "ann shows 9C QC KC with 7H: flush of three",
        "ann turns the crib 2H 3H 4S 6S with 7H: fifteen two, fifteen four, and a run of three is "
        "seven",
        "bob deals",
    ]


# ---- the narrator itself ----


@every_kind
def test_it_begins_at_any_moment(rules: Rules) -> None:
    rng = np.random.default_rng(31)
    for games, narrator in told_games(rules)[2]:
        if games.over[0]:
            continue
        late = Narrator(rules, narrator.names)
        late.begin(games.records[0])
        twin, played = copy.deepcopy(narrator), games.copy()
        assert late.front == narrator.front
        assert [count[:4] for count in late.counts] == (
            [count[:4] for count in narrator.counts] if played.records["counting"][0] else []
        )
        for _ in range(3):
            if played.over[0]:
                break
            action = choices(played, rng)
            before = played.records[0].copy()
            played.apply(action)
            told = [one.tell(before, int(action[0]), played.records[0]) for one in (late, twin)]
            assert told[0] == told[1]


@every_kind
def test_clear_keeps_a_show_that_goes_on_and_no_other(rules: Rules) -> None:
    kept = 0
    for games, narrator in told_games(rules)[2]:
        cleared = copy.deepcopy(narrator)
        cleared.clear()
        record = games.records[0]
        if record["phase"] in (Phase.CLAIM, Phase.CALL):
            assert cleared.counts == narrator.counts
            assert len(cleared.counts) == record["shown"]
            kept += len(cleared.counts)
        else:
            assert cleared.counts == []
    assert (kept > 0) == (rules.muggins != "none")


@pytest.mark.parametrize("rules", [THREE, FOUR])
def test_each_seat_has_one_name(rules: Rules) -> None:
    with pytest.raises(ValueError, match=f"2 names: allowed are {rules.players}, one a seat"):
        Narrator(rules)
