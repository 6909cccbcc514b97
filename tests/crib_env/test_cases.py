"""The checked cases of play and flow, played through `Games` from positions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from crib_env.batch import Games, IllegalActionError
from crib_env.cards import card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Source
from crib_env.rules import Rules
from tests.crib_env.test_game import first_dealer, seed_that_cuts
from tests.crib_env.test_rules import LEVELS
from tests.referee import pegging_parts
from tests.tabletop import Table, after_cut, dealt, pegging_points

pytestmark = pytest.mark.nojit

Case = dict[str, Any]

ALL_CASES: list[Case] = [
    json.loads(line)
    for name in ("pegging", "flow")
    for line in (Path(__file__).parents[1] / "cases" / f"{name}.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def is_offered(case: Case) -> bool:
    """Says whether a case is about what `Rules` offers: two players, six cards, no muggins.

    Left out are the other variants, more players and the claims of muggins. Numbers of players that
    are refused, the points of a match and skunks without a game are in test_rules.py.
    """
    given = case["input"]
    return (
        given.get("variant", "six-card") == "six-card"
        and given.get("players", 2) == 2
        and len(given.get("cuts", "01")) == 2
        and given["kind"] != "muggins"
        and given["kind"] != "match_points"
        and not (given["kind"] == "skunk" and "loser_score" in given)
    )


CASES = [case for case in ALL_CASES if is_offered(case)]


# ---- what a card laid brings ----


def lay(table: Table, card: str) -> tuple[int, int]:
    """Lays a card; returns who laid it and what it brought, go or last card included."""
    player = table.turn
    before = table.points(player, Source.PEGGING)
    table.lay(card)
    return player, table.points(player, Source.PEGGING) - before


def without_award(pegged: int, pile: Sequence[str], room: int) -> int:
    """Returns what is left of the points of a card once its own are taken: the go or last card."""
    own = min(pegging_points(" ".join(pile)), room)
    assert pegged - own in (0, 1)
    return pegged - own


def shown(table: Table) -> list[tuple[int, int, str]]:
    """Returns (seat, points, what) of all that was counted in the show, in the order counted."""
    pone = 1 - shown_by(table)
    counted = [
        (pone, table.points(pone, Source.HAND), "hand"),
        (1 - pone, table.points(1 - pone, Source.HAND), "hand"),
        (1 - pone, table.points(1 - pone, Source.CRIB), "crib"),
    ]
    return [entry for entry in counted if entry[1]]


def shown_by(table: Table) -> int:
    """Returns who dealt the deal that was shown; the deal has passed unless the game is over."""
    return table.dealer if table.phase == Phase.OVER else 1 - table.dealer


# ---- one check for each kind of case ----


def check_stack(given: Case, expected: Case) -> None:
    cards = given["cards"]
    piles = [cards[:size] for size in range(1, len(cards) + 1)]
    assert [pegging_points(" ".join(pile)) for pile in piles] == expected["points"]
    parts = [pegging_parts(parse_cards(" ".join(pile))) for pile in piles]
    assert [sum(part.values()) for part in parts] == expected["points"]


def check_deal(given: Case, expected: Case) -> None:
    table = after_cut([" ".join(hand) for hand in given["hands"]], deals=given["dealer"])
    pile: list[str] = []
    awards, gos = [], []
    for number, (card, entry) in enumerate(
        zip(given["order"], expected["plays"], strict=True), start=1
    ):
        gone = table.gone
        pile.append(card)
        player, pegged = lay(table, card)
        assert player == entry["player"], number
        award = without_award(pegged, pile, 121)
        assert pegged - award == entry["points"], number
        if award:
            reason = "last" if number == 8 else "go"
            awards.append({"after": number, "player": player, "points": 1, "reason": reason})
        if table.count:
            assert table.count == entry["count"], number
            said = {"after": number, "player": 1 - player, "count": table.count}
            gos += [said] if table.gone > gone else []
        else:
            assert sum(min(parse_card(one) // 4 + 1, 10) for one in pile) == entry["count"]
            pile = []
    assert awards == expected["awards"]
    assert gos == expected.get("gos", [])
    totals = [table.points(seat, Source.PEGGING) for seat in (0, 1)]
    assert totals == expected["totals"]
    assert table.phase == Phase.DISCARD  # shown, and dealt again


def bring_about(hand: list[int], count: int, played: list[int]) -> Table:
    """Returns a table where seat 0 is to act with this hand at this count.

    How it came about is left open by the cases: deals are tried until one comes to it.
    """
    rng = random.Random(17)
    spare = [card for card in range(52) if card not in hand and card // 4 != 10]
    for _ in range(5_000):
        cards = rng.sample([card for card in spare if card not in played], 8 - len(hand))
        before, others = cards[: 4 - len(hand)], cards[4 - len(hand) :]
        if played:
            before[: len(before)], others[: len(played) // 2] = played[::2], played[1::2]
        hands = [" ".join(map(card_text, part)) for part in (hand + before, others)]
        table = after_cut(hands, "JD", deals=1 if played else rng.randrange(2))
        while table.phase == Phase.PLAY and table.deal_number == 0:
            held = set(cards_in(table.games.records["hands"][0, 0]))
            if table.turn == 0 and held == set(hand):
                if table.count == count:
                    return table
                break
            allowed = [parse_card(card) for card in table.allowed()]
            wanted = [card for card in allowed if card in (before if table.turn == 0 else others)]
            if not wanted:
                break
            named = [card for card in wanted if card in played]
            table.games.apply([rng.choice(sorted(named or wanted))])
    raise AssertionError(f"no way to a count of {count} found")


def check_legal(given: Case, expected: Case) -> None:
    hand = parse_cards(" ".join(given["hand"]))
    if "then" in expected:
        # At 31 nobody is asked: the count is 0 again and the other leads.
        table = after_cut(["KC AS AC 9C", "KD QD 7D 6D"]).lay("KC KD AC")
        assert table.lay("QD").turn == 0
        assert table.count == 0
        return
    played = parse_cards(" ".join(given.get("played", [])))
    # B092 tells of a go before, which no deal brings with three of four cards left: without it the
    # same cards are legal.
    table = bring_about(hand, given["count"], played)
    assert table.turn == 0
    if "legal" in expected:
        assert table.allowed() == set(expected["legal"])
        for card in {card_text(card) for card in hand} - set(expected["legal"]):
            with pytest.raises(IllegalActionError, match=card):
                table.lay(card)
    if "go" in expected:
        # Go is no action: it is said for those, and only those, who cannot play.
        assert 0 not in table.gone
        assert not expected["go"]
    if "error" in expected:
        with pytest.raises(IllegalActionError, match=given["try_card"]):
            table.lay(given["try_card"])


def rules_of(given: Case) -> Rules:
    """Returns the rules of a case."""
    return Rules(target=given.get("target", 121))


def check_starter(given: Case, expected: Case) -> None:
    table = after_cut(
        starter=given["starter"],
        deals=given["dealer"],
        scores=given["scores"],
        rules=rules_of(given),
    )
    winner = expected["winner"]
    assert table.winner == (-1 if winner is None else winner)
    if "heels_to" in expected:
        seat = expected["heels_to"]
        pegged = min(expected["points"], given["target"] - given["scores"][seat])
        assert table.points(seat, Source.HIS_HEELS) == pegged
    if "scores_capped" in expected:
        assert list(table.scores) == expected["scores_capped"]


def check_play_phase(given: Case, expected: Case) -> None:
    table = after_cut(
        given["hands"],
        given["starter"],
        deals=given["dealer"],
        scores=given["scores"],
        rules=rules_of(given),
    )
    pile: list[str] = []
    how = ""
    for card in given["order"].split():
        pile.append(card)
        room = given["target"] - table.scores[table.turn]
        _, pegged = lay(table, card)
        if without_award(pegged, pile, room):
            how = "last" if table.num_plays == 8 else "go"
        else:
            how = "+".join(
                f"{part} {points}"
                for part, points in pegging_parts(parse_cards(" ".join(pile))).items()
            )
        if table.count == 0:
            pile = []
    assert table.winner == expected["winner"]
    assert list(table.scores) == expected["scores_capped"]
    assert table.num_plays == expected["cards_played"]
    assert how == expected["won_by"]
    assert bool(shown(table)) == expected["show_counted"]


def show_with(given: Case, hands: Sequence[str], crib: str) -> tuple[Table, list[int]]:
    """Plays a deal so that the scores of the case stand when the show begins."""
    scores, deals = list(given["scores"]), given["dealer"]
    pegged = [0, 0]
    table = after_cut(hands, given["starter"], deals=deals, crib=crib).lay_all()
    pegged = [table.points(seat, Source.PEGGING) for seat in (0, 1)]
    start = [score - points for score, points in zip(scores, pegged, strict=True)]
    table = after_cut(
        hands, given["starter"], deals=deals, crib=crib, scores=start, rules=rules_of(given)
    ).lay_all()
    assert [table.points(seat, Source.PEGGING) for seat in (0, 1)] == pegged
    return table, scores


def check_show_phase(given: Case, expected: Case) -> None:
    table, scores = show_with(given, given["hands"], given["crib"])
    assert table.winner == expected["winner"]
    if "scores_capped" in expected:
        assert list(table.scores) == expected["scores_capped"]
    counted = []
    for one in expected["counted"]:
        points = min(one["points"], given["target"] - scores[one["player"]])
        scores[one["player"]] += points
        counted.append((one["player"], points, one["what"]))
    assert shown(table) == counted


def check_show_phase_exact(given: Case, expected: Case) -> None:
    hands = ["", given["pone_hand"]] if given["dealer"] == 0 else [given["pone_hand"], ""]
    table, _ = show_with(given, hands, "")
    assert table.winner == expected["winner"]
    assert table.scores[expected["winner"]] == 121


def check_full_deal(given: Case, expected: Case) -> None:
    table = after_cut(
        given["hands"],
        given["starter"],
        crib=given["crib"],
        deals=given["dealer"],
        scores=given["scores"],
        rules=rules_of(given),
    )
    events: list[tuple[int, int, str]] = []
    pile: list[str] = []
    for number, card in enumerate(given["order"].split(), start=1):
        pile.append(card)
        player, pegged = lay(table, card)
        award = without_award(pegged, pile, 121)
        events.append((player, pegged - award, f"play {card}"))
        events.append((player, award, "last" if number == 8 else "go"))
        if table.count == 0:
            pile = []
    events = [event for event in events if event[1]] + shown(table)
    assert events == [tuple(event) for event in expected["events"]]
    assert list(table.scores) == expected["scores"]
    assert table.winner == (-1 if expected["winner"] is None else expected["winner"])
    assert table.dealer == 1 - given["dealer"]


def check_game(given: Case, expected: Case) -> None:
    # "every deal: dealer A B C D (discards E F), pone ... (discards ...), starter S, play ..."
    words = given["deal"].replace("(", "").replace(")", "").replace(",", "").split()
    cards = [word for word in words if len(word) == 2 and word[0] in "A23456789TJQK"]
    dealer_cards, pone_cards, starter, order = cards[:6], cards[6:12], cards[12], cards[13:]
    assert len(order) == 8
    scores: list[int] = [0, 0]
    deals = given["first_dealer"]
    after_each_deal = []
    while True:
        kept = {deals: dealer_cards[:4], 1 - deals: pone_cards[:4]}
        table = after_cut(
            [" ".join(kept[seat]) for seat in (0, 1)],
            starter,
            crib=" ".join(pone_cards[4:] + dealer_cards[4:]),
            deals=deals,
            scores=scores,
            rules=rules_of(given),
        )
        for card in order:
            table.lay(card)
            if table.phase == Phase.OVER:
                break
        if table.phase == Phase.OVER:
            break
        assert table.dealer == 1 - deals  # the deal alternates
        deals, scores = table.dealer, list(table.scores)
        after_each_deal.append(scores)
    assert after_each_deal == expected["after_each_deal"]
    assert list(table.scores) == [min(score, given["target"]) for score in expected["final"]]
    assert table.winner == expected["winner"]
    assert expected["won_by"] == "pair on the second card of deal 9"
    assert (len(after_each_deal), table.num_plays) == (8, 2)


def check_skunk(given: Case, expected: Case) -> None:
    table, _ = show_with(given, given["hands"], given["crib"])
    assert table.winner == expected["winner"]
    loser = table.scores[1 - expected["winner"]]
    assert loser == expected["loser_final"]
    assert LEVELS[rules_of(given).skunk_level(loser)] == expected["result"]


def check_discard(given: Case, expected: Case) -> None:
    hand = parse_cards(given["hand"])
    others = [card for card in range(52) if card not in hand]
    states = {}
    for thrown in permutations(hand, 2):
        table = dealt([hand, others[:6]], others[6])
        for card in thrown:
            table.games.apply([card])
        states[" ".join(map(card_text, thrown))] = table.games.records.tobytes()
    same = states[" ".join(given["a"])] == states[" ".join(given["b"])]
    assert same == expected["same_state"]
    assert len(set(states.values())) == expected["distinct_actions"]


def check_cut_for_deal(given: Case, expected: Case) -> None:
    first, second = given["cuts"]["0"][0], given["cuts"]["1"][0]
    assert first_dealer(seed_that_cuts(first, second)) == expected["first_dealer"]


def check_first_to_play(given: Case, expected: Case) -> None:
    table = after_cut(deals=given["dealer"])
    assert (table.phase, table.turn) == (Phase.PLAY, expected["first_lead"])
    rng = random.Random(2)
    leads = 0
    for _ in range(40):
        cards = rng.sample([card for card in range(52) if card // 4 != 10], 8)
        hands = [" ".join(map(card_text, part)) for part in (cards[:4], cards[4:])]
        table = after_cut(hands, "JD", deals=given["dealer"])
        while table.deal_number == 0:
            last = table.turn
            table.lay(rng.choice(sorted(table.allowed())))
            if table.count == 0 and table.deal_number == 0:
                leads += 1
                assert table.turn == (1 - last if table.hand(1 - last) else last)
    assert leads > 40


def check_after_game_over(given: Case, expected: Case) -> None:
    assert given["event"] == "step after a win"
    table = after_cut(starter="JC", scores=(119, 119))
    assert (table.phase, table.winner) == (Phase.OVER, 1)
    before = table.games.records.tobytes()
    for card in range(52):
        with pytest.raises(IllegalActionError):
            table.games.apply([card])
    assert expected["error_or_noop"]
    assert (table.games.records.tobytes() == before) == expected["scores_unchanged"]


CHECKS: dict[str, Callable[[Case, Case], None]] = {
    "stack": check_stack,
    "deal": check_deal,
    "legal": check_legal,
    "starter": check_starter,
    "play_phase": check_play_phase,
    "show_phase": check_show_phase,
    "show_phase_exact": check_show_phase_exact,
    "full_deal": check_full_deal,
    "game": check_game,
    "skunk": check_skunk,
    "discard": check_discard,
    "cut_for_deal": check_cut_for_deal,
    "first_to_play": check_first_to_play,
    "after_game_over": check_after_game_over,
}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: Case) -> None:
    CHECKS[case["input"]["kind"]](case["input"], case["expected"])


def test_every_check_has_a_case() -> None:
    assert {case["input"]["kind"] for case in CASES} == set(CHECKS)


def test_cases_left_out_are_about_what_is_not_offered_or_are_in_test_rules() -> None:
    left_out = [case for case in ALL_CASES if not is_offered(case)]
    for case in left_out:
        given = case["input"]
        reasons = [
            given.get("variant", "six-card") != "six-card",
            given.get("players", 2) != 2,
            len(given.get("cuts", "01")) > 2,
            given["kind"] in ("muggins", "match_points", "skunk"),
        ]
        assert any(reasons), case["id"]
    assert len(CASES) + len(left_out) == len(ALL_CASES) == 88


def test_games_start_where_the_cases_start() -> None:
    # The cases' scores stand before his heels and plays, as those of a position do.
    games = Games(1)
    assert games.scores.tolist() == [[0, 0]]
