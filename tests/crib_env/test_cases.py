"""The checked cases of play and flow, of every variant, played through `Games` from positions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crib_env.batch import Games, IllegalActionError
from crib_env.cards import card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Source
from crib_env.rules import PRESETS, Rules
from tests.crib_env.test_game import cut_cards, first_dealer, seed_that_cuts
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


# Elsewhere: test_muggins.py; the points of a match and skunks without a game, in test_rules.py.
ELSEWHERE = {
    *("C068", "C073"),
    *("C041", "C043", "C045"),
    *("C031", "C032", "C033", "C034", "C035", "C036", "C047"),
}
CASES = [case for case in ALL_CASES if case["id"] not in ELSEWHERE]

VARIANT_OF = {2: "six-card", 3: "three-player", 4: "four-player"}
# Two throws to a crib that is worth nothing with the starter 2C of C081.
WORTHLESS = "4H 6S TD KS"


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
    dealer = shown_by(table)
    counted = [
        *((seat, table.points(seat, Source.HAND), "hand") for seat in table.leftwards(dealer)),
        (dealer, table.points(dealer, Source.CRIB), "crib"),
    ]
    return [entry for entry in counted if entry[1]]


def shown_by(table: Table) -> int:
    """Returns who dealt the deal that was shown; the deal has passed unless the game is over."""
    return table.dealer if table.phase == Phase.OVER else (table.dealer - 1) % table.rules.players


def by_side(table: Table, *sources: Source) -> list[int]:
    """Returns what each side has pegged for these things."""
    sides, players = table.rules.sides, table.rules.players
    return [
        sum(
            table.points(seat, source) for source in sources for seat in range(side, players, sides)
        )
        for side in range(sides)
    ]


def last_play(rules: Rules) -> int:
    """Returns the number of the play after which nobody holds a card."""
    return rules.players * rules.num_kept


# ---- one check for each kind of case ----


def check_stack(given: Case, expected: Case) -> None:
    cards = given["cards"]
    piles = [cards[:size] for size in range(1, len(cards) + 1)]
    assert [pegging_points(" ".join(pile)) for pile in piles] == expected["points"]
    parts = [pegging_parts(parse_cards(" ".join(pile))) for pile in piles]
    assert [sum(part.values()) for part in parts] == expected["points"]


def check_deal(given: Case, expected: Case) -> None:
    if "hands" not in given:
        check_sizes(given, expected)
        return
    hands = [" ".join(hand) for hand in given["hands"]]
    table = after_cut(hands, deals=given["dealer"], rules=rules_of(given))
    seats = range(table.rules.players)
    pile: list[str] = []
    unplayed = [set(hand) for hand in given["hands"]]
    awards, gos = [], []
    for number, (card, entry) in enumerate(
        zip(given["order"], expected["plays"], strict=True), start=1
    ):
        gone = table.gone
        pile.append(card)
        player, pegged = lay(table, card)
        unplayed[player] -= {card}
        assert player == entry["player"], number
        award = without_award(pegged, pile, table.rules.target)
        assert pegged - award == entry["points"], number
        if award:
            reason = "last" if number == last_play(table.rules) else "go"
            awards.append({"after": number, "player": player, "points": 1, "reason": reason})
        if table.count:
            assert table.count == entry["count"], number
            gos += [
                {"after": number, "player": seat, "count": table.count}
                for seat in table.leftwards(player)
                if seat in table.gone - gone
            ]
        else:
            assert sum(min(parse_card(one) // 4 + 1, 10) for one in pile) == entry["count"]
            pile = []
    assert awards == expected["awards"]
    assert gos == expected.get("gos", [])
    assert [table.points(seat, Source.PEGGING) for seat in seats] == expected["totals"]
    assert by_side(table, Source.PEGGING) == expected.get(
        "side_totals", by_side(table, Source.PEGGING)
    )
    assert unplayed == [set(hand) for hand in expected.get("unplayed", [[]] * len(unplayed))]
    assert table.phase == Phase.DISCARD  # shown, and dealt again


def check_sizes(given: Case, expected: Case) -> None:
    """Checks how many cards are dealt and thrown, and that nobody sees what the pack gives."""
    players = given["players"]
    if "error" in expected:
        for number in players:
            with pytest.raises(ValueError, match=rf"players={number}\b"):
                Rules(players=number)
        return
    rules = rules_of(given)
    games = Games(1, rules, seed=[49])
    record = games.records[0]
    hands = record["hands"][:players]
    auto_crib = int(record["crib"])
    assert np.bitwise_count(hands).tolist() == [expected["hand"]] * players
    assert auto_crib.bit_count() == expected["auto_crib"]
    dealt_cards = int(np.bitwise_or.reduce(hands)) | auto_crib
    assert 52 - dealt_cards.bit_count() == expected["undealt_before_starter"]
    if "partners" in expected:
        sides = [list(range(side, players, rules.sides)) for side in range(rules.sides)]
        assert sides == expected["partners"]
    for discards in range(players):
        assert record["turn"] == (record["dealer"] + 1 + discards) % players
        for _ in range(expected["discard_each"]):
            games.apply(games.action_masks().argmax(axis=1))
    assert record["phase"] == Phase.PLAY
    assert np.bitwise_count(hands).tolist() == [expected["kept"]] * players
    assert int(record["crib"]).bit_count() == expected["crib"]
    if expected.get("auto_crib_hidden"):
        while record["deal_number"] == 0:
            # Another card of the pack in its place: nobody sees a difference.
            other = games.copy()
            free = next(
                card
                for card in range(52)
                if not (dealt_cards >> card) & 1 and card != record["starter"]
            )
            other.records["crib"][0] ^= auto_crib | 1 << free
            for seat in range(players):
                assert np.array_equal(games.observe(seat), other.observe(seat))
            games.apply(games.action_masks().argmax(axis=1))


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
    variant = given.get("variant", VARIANT_OF[given.get("players", 2)])
    preset = PRESETS[variant.replace("-", "_")]
    return replace(preset, target=given.get("target", preset.target))


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
        before = given["scores"][seat % table.rules.sides]
        pegged = min(expected["points"], given["target"] - before)
        assert table.points(seat, Source.HIS_HEELS) == pegged
    if "scores_capped" in expected:
        assert list(table.scores) == expected["scores_capped"]


def check_play_phase(given: Case, expected: Case) -> None:
    won = expected["winner"] is not None
    table = after_cut(
        given["hands"],
        given["starter"],
        crib="" if won else WORTHLESS,
        deals=given["dealer"],
        scores=given["scores"],
        rules=rules_of(given),
    )
    pile: list[str] = []
    how = ""
    for card in given["order"].split():
        pile.append(card)
        room = given["target"] - table.scores[table.turn % table.rules.sides]
        _, pegged = lay(table, card)
        if without_award(pegged, pile, room):
            how = "last" if table.num_plays == last_play(table.rules) else "go"
        else:
            how = "+".join(
                f"{part} {points}"
                for part, points in pegging_parts(parse_cards(" ".join(pile))).items()
            )
        if table.count == 0:
            pile = []
    if not won:
        # The show of hands that are worth nothing has followed, and the next deal.
        assert (table.winner, table.deal_number, shown(table)) == (-1, 1, [])
        assert list(table.scores) == expected["scores_capped"]
        return
    assert table.winner == expected["winner"]
    assert list(table.scores) == expected["scores_capped"]
    assert table.num_plays == expected["cards_played"]
    assert how == expected["won_by"]
    assert bool(shown(table)) == expected.get("show_counted", False)


def show_with(given: Case, hands: Sequence[str], crib: str) -> tuple[Table, list[int]]:
    """Plays a deal so that the scores of the case stand when the show begins."""
    scores, deals, rules = list(given["scores"]), given["dealer"], rules_of(given)
    open_ended = replace(rules, target=121)
    table = after_cut(hands, given["starter"], deals=deals, crib=crib, rules=open_ended).lay_all()
    pegged = by_side(table, Source.PEGGING)
    start = [score - points for score, points in zip(scores, pegged, strict=True)]
    table = after_cut(
        hands, given["starter"], deals=deals, crib=crib, scores=start, rules=rules
    ).lay_all()
    assert by_side(table, Source.PEGGING) == pegged
    return table, scores


def check_show_phase(given: Case, expected: Case) -> None:
    table, scores = show_with(given, given["hands"], given["crib"])
    assert table.winner == expected["winner"]
    if "scores_capped" in expected:
        assert list(table.scores) == expected["scores_capped"]
    counted = []
    for one in expected["counted"]:
        side = one["player"] % table.rules.sides
        points = min(one["points"], given["target"] - scores[side])
        scores[side] += points
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
        events.append((player, award, "last" if number == last_play(table.rules) else "go"))
        if table.count == 0:
            pile = []
    events = [event for event in events if event[1]] + shown(table)
    assert events == [tuple(event) for event in expected["events"]]
    assert list(table.scores) == expected["scores"]
    assert table.winner == (-1 if expected["winner"] is None else expected["winner"])
    assert table.dealer == table.leftwards(given["dealer"])[0]


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
    players = len(given["cuts"])
    rules = rules_of({"players": players})
    seed = seed_that_cuts(*(given["cuts"][str(seat)][0] for seat in range(players)))
    if expected["first_dealer"] != "recut":
        assert first_dealer(seed, rules) == expected["first_dealer"]
        return
    again = ["A23456789TJQK".index(card[0]) for card in cut_cards(seed, 0, 1, players)]
    assert again.count(min(again)) == 1  # the first such seed's second cut is no tie
    assert first_dealer(seed, rules) == again.index(min(again))


def check_dealer_rotation(given: Case, expected: Case) -> None:
    games = Games(1, rules_of(given), seed=[64], first_dealer=given["first_dealer"])
    dealers: list[int] = []
    while len(dealers) < given["deals"]:
        if games.records["deal_number"][0] == len(dealers):
            dealers.append(int(games.records["dealer"][0]))
        games.apply(games.action_masks().argmax(axis=1))
    assert dealers == expected["dealers"]


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
    "dealer_rotation": check_dealer_rotation,
    "first_to_play": check_first_to_play,
    "after_game_over": check_after_game_over,
}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: Case) -> None:
    CHECKS[case["input"]["kind"]](case["input"], case["expected"])


def test_every_check_has_a_case() -> None:
    assert {case["input"]["kind"] for case in CASES} == set(CHECKS)


def test_cases_left_out_are_of_muggins_or_in_test_rules() -> None:
    left_out = [case for case in ALL_CASES if case["id"] in ELSEWHERE]
    for case in left_out:
        given = case["input"]
        assert given["kind"] in ("muggins", "match_points") or "loser_score" in given, case["id"]
    assert len(left_out) == len(ELSEWHERE)
    assert len(CASES) + len(left_out) == len(ALL_CASES) == 88


def test_every_variant_has_cases() -> None:
    told = [case["input"] for case in CASES if not isinstance(case["input"].get("players"), list)]
    assert set(PRESETS.values()) == set(map(rules_of, told))


def test_games_start_where_the_cases_start() -> None:
    # The cases' scores stand before his heels and plays, as those of a position do.
    games = Games(1)
    assert games.scores.tolist() == [[0, 0]]
