"""The rules by their numbers in docs/rules.md, each told by positions that fit on a table.

Every test runs compiled and uncompiled. The rules of the show stand in test_scoring.py, the lines
of the skunks and the match points in test_rules.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from crib_env.batch import Games, IllegalActionError
from crib_env.cards import card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Role, Source
from crib_env.luck import STREAM_CUT, philox
from crib_env.position import Position
from crib_env.rules import Rules, RulesLike
from tests.tabletop import DEALER, PONE, Table, after_cut, dealt, pegging_points

pytestmark = pytest.mark.nojit


# ---- the cut for deal, the deal ----


def cut_cards(seed: int, game_number: int, attempt: int, players: int = 2) -> list[str]:
    """Returns what each seat cuts: six bits name a card or none, five tries for each seat."""
    words = philox(attempt, 0, game_number, STREAM_CUT, seed & 0xFFFFFFFF, seed >> 32)
    cut: list[str] = []
    for word in words[:players]:
        named = [int(word) >> 6 * place & 63 for place in range(5)]
        cards = [card_text(card) for card in named if card < 52]
        cut += [card for card in cards if card not in cut][:1]
    return cut


def first_dealer(seed: int, rules: RulesLike = None) -> int:
    """Returns who deals first in the first game of a lane."""
    return int(Games(1, rules, seed=[seed], first_dealer="cut").records["dealer"][0])


def seed_that_cuts(*ranks: str) -> int:
    """Returns a seed whose first cut has these ranks, by seat."""
    for seed in range(20_000):
        if [card[0] for card in cut_cards(seed, 0, 0, len(ranks))] == list(ranks):
            return seed
    raise AssertionError(f"no seed cuts {' and '.join(ranks)}")


@pytest.mark.parametrize(
    ("first", "second", "dealer"),
    [("A", "K", 0), ("K", "A", 1), ("2", "A", 1), ("9", "T", 0), ("T", "9", 1), ("K", "Q", 1)],
)
def test_r2_lower_card_deals_ace_low(first: str, second: str, dealer: int) -> None:
    assert first_dealer(seed_that_cuts(first, second)) == dealer


def test_r2_equal_ranks_cut_again() -> None:
    dealers = set()
    for seed in range(400):
        cut = cut_cards(seed, 0, 0)
        if len(cut) == 2 and cut[0][0] == cut[1][0]:
            again = cut_cards(seed, 0, 1)
            if len(again) == 2 and again[0][0] != again[1][0]:
                lower = "A23456789TJQK".index(again[1][0]) < "A23456789TJQK".index(again[0][0])
                assert first_dealer(seed) == int(lower), f"seed {seed}: {cut}, then {again}"
                dealers.add(first_dealer(seed))
    assert dealers == {0, 1}


def play_deal(games: Games) -> None:
    """Plays one deal of a lane by the lowest cards."""
    deal = int(games.records["deal_number"][0])
    while games.records["deal_number"][0] == deal and not games.over[0]:
        games.apply([int(np.argmax(games.action_masks()[0]))])


def test_r3_deal_alternates() -> None:
    games = Games(1, seed=4, first_dealer=0)
    dealers = []
    for _ in range(5):
        dealers.append(int(games.records["dealer"][0]))
        play_deal(games)
    assert dealers == [0, 1, 0, 1, 0]


def first_dealers(games: Games, number: int) -> list[int]:
    """Returns who deals first in that many games of a lane."""
    dealers = []
    for _ in range(number):
        dealers.append(int(games.records["dealer"][0]))
        games.next_game([0])
    return dealers


def test_r3_first_deal_alternates_from_game_to_game() -> None:
    assert first_dealers(Games(1, seed=[5]), 4) in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_r3_first_deal_may_stay_with_a_seat() -> None:
    assert first_dealers(Games(1, seed=[5], first_dealer=1), 3) == [1, 1, 1]


def test_r3_first_deal_may_be_cut_for_in_every_game() -> None:
    dealers = first_dealers(Games(1, seed=[5], first_dealer="cut"), 40)
    changes = sum(one != other for one, other in pairwise(dealers))
    assert 10 < changes < 30, dealers


def ended(games: Games, scores: Sequence[int]) -> None:
    """Ends the game of lane 0 at these scores, the side at the target being the winner."""
    games.records["scores"][0, : len(scores)] = scores
    games.records["winner"][0] = list(scores).index(games.rules.target)
    games.records["phase"][0] = Phase.OVER


def test_r3_the_loser_may_deal_the_next_game() -> None:
    games = Games(1, seed=4, first_dealer="loser")
    for loser in (0, 0, 1, 0, 1, 1, 1, 0):
        ended(games, (120, 121) if loser == 0 else (121, 120))
        games.next_game()
        assert games.records["dealer"][0] == loser


def test_r3_where_the_loser_deals_the_first_game_is_cut_for() -> None:
    for seed in range(30):
        dealer = Games(1, seed=[seed], first_dealer="loser").records["dealer"][0]
        assert dealer == first_dealer(seed)


def test_r3_after_a_game_that_nobody_lost_the_deal_is_cut_for() -> None:
    games = Games(1, seed=[5], first_dealer="loser")
    assert first_dealers(games, 40) == first_dealers(Games(1, seed=[5], first_dealer="cut"), 40)


def test_r3_a_position_leaves_the_deal_with_the_loser() -> None:
    games, scores = Games(1, seed=[5], first_dealer="loser"), [(121, 60), (60, 121)]
    for number in range(6):
        ended(games, scores[number % 2])
        loser = 1 - number % 2
        games.next_game()
        games.set_position(0, Position(scores=(100, 100)))
        assert games.records["dealer"][0] == loser
        # Nor does it matter how the game went that a position takes the place of.
        ended(games, scores[number % 2])
        games.set_position(0, Position(scores=(3, 4)))
        assert games.records["dealer"][0] == loser


def test_r4_each_is_dealt_six_cards_of_one_pack() -> None:
    for seed in range(20):
        record = Games(1, seed=seed).records[0]
        hands = [list(cards_in(record["hands"][seat])) for seat in (0, 1)]
        assert [len(hand) for hand in hands] == [6, 6]
        assert len({*hands[0], *hands[1], int(record["starter"])}) == 13


def test_r4_cards_belong_to_roles() -> None:
    one, other = (Games(1, seed=6, first_dealer=seat).records[0] for seat in (0, 1))
    assert one["hands"][0] == other["hands"][1]
    assert one["hands"][1] == other["hands"][0]
    assert one["starter"] == other["starter"]


# ---- the discards, the starter ----


def six_each() -> Table:
    """Returns a table with twelve cards dealt and nothing thrown."""
    hands = [parse_cards("AC 2C 3C 4C 5C 6C"), parse_cards("7D 8D 9D TD QD KD")]
    return dealt(hands, parse_card("KS"))


def test_r5_pone_throws_two_then_the_dealer_two() -> None:
    table = six_each()
    order = []
    for card in parse_cards("AC 2C 7D 8D"):
        order.append(table.turn)
        table.games.apply([card])
    assert order == [PONE, PONE, DEALER, DEALER]
    assert table.phase == Phase.PLAY
    crib = [card_text(card) for card in cards_in(table.games.records["crib"][0])]
    assert crib == ["AC", "2C", "7D", "8D"]
    assert table.hand(PONE) == {"3C", "4C", "5C", "6C"}


def test_r5_the_dealer_sees_nothing_of_what_pone_threw() -> None:
    one, other = six_each().lay("AC 2C"), six_each().lay("5C 6C")
    assert one.games.observe(DEALER).tobytes() == other.games.observe(DEALER).tobytes()


def test_r5_only_cards_held_may_be_thrown() -> None:
    table = six_each()
    assert table.allowed() == {"AC", "2C", "3C", "4C", "5C", "6C"}
    for card in ("7D", "KS", "JH"):
        with pytest.raises(IllegalActionError, match=card):
            table.lay(card)


def test_r6_order_of_two_discards_leaves_the_same_state() -> None:
    one, other = six_each().lay("AC 2C 7D 8D"), six_each().lay("2C AC 8D 7D")
    assert one.games.records.tobytes() == other.games.records.tobytes()


def test_r6_a_discard_cannot_be_taken_back() -> None:
    table = six_each().lay("AC")
    assert table.allowed() == {"2C", "3C", "4C", "5C", "6C"}
    with pytest.raises(IllegalActionError, match="AC"):
        table.lay("AC")


def test_r7_his_heels_pegs_two_for_the_dealer_at_once() -> None:
    table = after_cut(starter="JC", scores=(10, 20))
    assert table.scores == (10, 22)
    assert table.points_as(DEALER, Source.HIS_HEELS, Role.DEALER) == 2
    assert (table.phase, table.turn) == (Phase.PLAY, PONE)


@pytest.mark.parametrize("starter", ["TC", "QC", "AD", "KS"])
def test_r7_no_other_card_is_his_heels(starter: str) -> None:
    assert after_cut(starter=starter).scores == (0, 0)


def test_r7_his_heels_can_win() -> None:
    table = after_cut(starter="JH", scores=(120, 119))
    assert table.scores == (120, 121)
    assert (table.phase, table.winner) == (Phase.OVER, DEALER)


def test_r7_heels_follow_the_deal() -> None:
    assert after_cut(starter="JD", deals=0).scores == (2, 0)


# ---- the play ----


def test_r1_cards_count_their_pips() -> None:
    # A and the numbers count themselves, pictures ten.
    table = after_cut(["AC 9C TC KC", "2D 3D QD JD"])
    counts = []
    for card in ["AC", "2D", "9C", "JD"]:
        counts.append(table.lay(card).count)
    assert counts == [1, 3, 12, 22]


def test_r1_ace_is_low() -> None:
    assert pegging_points("QC KC AC") == 0
    assert pegging_points("AC 3C 2C") == 3


def test_r8_pone_leads() -> None:
    assert after_cut().turn == PONE
    assert after_cut(deals=0).turn == 1


def test_r8_turns_alternate_while_both_can_play() -> None:
    table = after_cut(["2C 4C 6C 8C", "3D 5D 9D KD"])
    order = []
    for card in ["2C", "3D", "4C", "5D", "6C"]:
        order.append(table.turn)
        table.lay(card)
    assert order == [PONE, DEALER, PONE, DEALER, PONE]


def test_r9_no_card_may_pass_31() -> None:
    table = after_cut(["KC QC 2C AC", "KD JD TD 9D"]).lay("KC KD")
    assert table.lay("2C").count == 22
    assert table.allowed() == {"9D"}
    with pytest.raises(IllegalActionError, match="JD"):
        table.lay("JD")
    assert table.lay("9D").count == 0  # 31 ends the count


def test_r9_who_can_play_must_play() -> None:
    # At 21 a ten-card makes 31: it may be laid, and nobody may say go instead.
    table = after_cut(["KC AC 2C 3C", "KD QD JD TD"]).lay("KC KD AC")
    assert table.turn == DEALER
    assert table.allowed() == {"QD", "JD", "TD"}
    assert table.gone == set()


def test_r10_after_a_go_the_other_plays_on_while_a_card_fits() -> None:
    table = after_cut(["KC AC 2C 3C", "KD QD JD TD"]).lay("KC KD 2C")
    # 22: the dealer, with tens alone, says go; pone must lay both of the cards that fit.
    assert (table.turn, table.gone) == (PONE, {DEALER})
    assert table.allowed() == {"AC", "3C"}
    table.lay("3C")
    assert (table.turn, table.count, table.gone) == (PONE, 25, {DEALER})
    assert table.scores == (0, 2)  # the dealer's pair; no go is pegged yet
    table.lay("AC")
    assert table.scores[PONE] == 3 + 1  # run of three, then go: pone has no more cards


def test_r10_a_player_without_cards_says_nothing() -> None:
    table = after_cut(["KC QC 2C AC", "KD 9D 8D 7D"]).lay("KC KD 2C 9D QC 8D AC")
    assert table.hand(PONE) == set()
    assert (table.turn, table.gone) == (DEALER, set())


def test_r11_go_pegs_one_for_the_last_card() -> None:
    table = after_cut(["KC QC 9C 8C", "KD QD 7D 6D"]).lay("KC QD QC")
    # 30: nobody can play. The queens are a pair, 2, and the go is 1.
    assert table.scores == (3, 0)
    assert (table.count, table.turn) == (0, DEALER)


def test_r11_last_card_pegs_one_and_not_two() -> None:
    table = after_cut(["KC QC 4C 2C", "KD 8D 6D 3D"], crib="AS AH 9S 9H", starter="TS")
    table.lay("KC KD 4C 6D")  # 10, 20 pair, 24, 30 and go to the dealer
    assert table.scores == (0, 3)
    table.lay("QC 8D 2C 3D")  # 10, 18, 20, 23: the last card, and no run
    assert table.points(DEALER, Source.PEGGING) == 4
    assert table.points(PONE, Source.PEGGING) == 0


def test_r11_go_is_pegged_once_where_both_are_stuck() -> None:
    # The dealer says go at 29, and pone, who cannot go on either, pegs one and no more.
    table = after_cut(["KC 9C QC 8C", "TD 7D 6D 5D"]).lay("KC TD 9C")
    assert table.points(PONE, Source.PEGGING) == 1
    assert table.points(DEALER, Source.PEGGING) == 0


def test_r11_no_go_on_top_of_31() -> None:
    table = after_cut(["KC AC 9C 8C", "KD QD 7D 6D"]).lay("KC KD AC QD")
    assert table.scores == (0, 4)  # pair 2, thirty-one 2
    assert table.count == 0


def test_r11_no_last_card_on_top_of_31() -> None:
    table = after_cut(["KC QC TC 7C", "8D 3S 9D 5D"], starter="2S")
    table.lay("KC 8D QC 3S")  # 31 for 2 to the dealer
    assert table.scores == (0, 2)
    table.lay("TC 9D 7C 5D")  # the eighth card of the deal makes 31: 2 and not 3
    assert table.points(DEALER, Source.PEGGING) == 4
    assert table.points(PONE, Source.PEGGING) == 0


def test_r12_31_pegs_two() -> None:
    assert pegging_points("KC QD JH AS") == 2
    assert pegging_points("KC QD JH") == 3  # a run, at 30
    assert pegging_points("KC 9D QH AS") == 0


def test_r13_who_did_not_lay_the_last_card_leads() -> None:
    # Pone lays the last card of the first count, so the dealer leads, and not pone.
    table = after_cut(["KC QC 9C 8C", "KD QD 7D 6D"]).lay("KC QD QC")
    assert (table.count, table.turn) == (0, DEALER)
    # The dealer lays the last card of this one, so pone leads.
    table = after_cut(["KC AC 9C 8C", "KD QD 7D 6D"]).lay("KC KD AC QD")
    assert (table.count, table.turn) == (0, PONE)


def test_r13_after_an_own_go_the_same_player_leads() -> None:
    # The dealer says go at 22, pone goes on to 28 and is stuck: the dealer, who said go, leads.
    table = after_cut(["KC 2C 6C 9C", "KD QD JD TD"]).lay("KC KD 2C 6C")
    assert (table.count, table.turn, table.gone) == (0, DEALER, set())


def test_r13_the_only_player_with_cards_leads() -> None:
    table = after_cut(["AC AD 2C 3C", "KD QD JD TD"]).lay("AC KD 2C QD 3C AD")
    # 27; pone is out of cards, the dealer's do not fit: go to pone, and the dealer leads.
    assert table.hand(PONE) == set()
    assert (table.count, table.turn) == (0, DEALER)
    table.lay("JD TD")
    assert table.phase == Phase.DISCARD  # shown, and dealt again


def test_r13_who_laid_the_last_card_leads_if_the_other_has_none() -> None:
    table = after_cut(["KC 7C 4C 2C", "KD QD TS JH"], starter="3S")
    table.lay("KC TS 2C 4C")  # 26 and a go to pone
    table.lay("KD 7C QD")  # 27: pone is out of cards, the jack does not fit
    assert table.hand(PONE) == set()
    assert (table.count, table.turn) == (0, DEALER)
    assert table.points(DEALER, Source.PEGGING) == 1
    assert table.lay("JH").points(DEALER, Source.PEGGING) == 2


def test_r13_31_restarts_the_count() -> None:
    table = after_cut(["KC AC 9C 8C", "KD QD 7D 6D"]).lay("KC KD AC QD")
    assert table.count == 0
    assert table.allowed() == {"9C", "8C"}


def test_r14_no_pair_reaches_over_a_restart() -> None:
    table = after_cut(["KC QC 9C 8C", "KD QD 7D 6D"]).lay("KC KD QC")
    before = table.scores
    table.lay("QD")  # the first card of a new count, after a queen
    assert table.scores == before


def test_r14_no_run_reaches_over_a_restart() -> None:
    table = after_cut(["KC QC 9C 8C", "TD 7D 6D AS"]).lay("KC TD QC AS")  # 31
    before = table.scores
    table.lay("9C 7D 8C")  # 9, 16, 24: a run of these three, and no longer one
    assert table.scores == (before[0] + 3, before[1])
    table = after_cut(["AC QC JC 8C", "9D KD 7D 6D"]).lay("AC 9D QC KD")  # 30 and go
    before = table.scores
    table.lay("JC")  # a run with Q and K, had the count gone on
    assert table.scores == before


def test_r14_a_go_does_not_break_a_pair() -> None:
    table = after_cut(["KC 5C 2C 2D", "QD JD TD 9D"]).lay("KC QD 5C")
    assert (table.turn, table.gone) == (PONE, {DEALER})
    before = table.scores
    table.lay("2C 2D")  # 27, 29: a pair over nothing but a go, then the go itself
    assert table.scores == (before[0] + 2 + 1, before[1])


def test_r15_fifteen_pegs_two() -> None:
    assert pegging_points("KC 5D") == 2
    assert pegging_points("7C 8D") == 2
    assert pegging_points("9C 5D AH") == 2
    assert pegging_points("KC 4D") == 0
    assert pegging_points("KC 5D AH") == 0  # only the card that makes it


@pytest.mark.parametrize(
    ("pile", "points"), [("9C 9D", 2), ("4C 4D 4H", 6), ("2C 2D 2H 2S", 12), ("KC QD", 0)]
)
def test_r16_pairs_peg_2_6_and_12(pile: str, points: int) -> None:
    assert pegging_points(pile) == points


def test_r16_a_gap_breaks_a_pair() -> None:
    assert pegging_points("4C QD 4S") == 0
    assert pegging_points("4C QD 4S 4H") == 2


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        ("2C 3D 4H", 3),
        ("4C 2D 3H", 3),
        ("AC 3D 2H 4S", 4),
        ("2C 5D 3H 6S 4C", 5),
        ("AC 2D 3H 4S 5C 6D", 6),
        ("AC 2D 3H 4S 5C 6D 7H", 7),
        ("2C 3D", 0),
        ("2C 3D 5H", 0),
        ("4C 5D 6H 7S 8C", 5),
    ],
)
def test_r17_run_pegs_a_point_a_card_in_any_order(pile: str, points: int) -> None:
    assert pegging_points(pile) == points


def test_r17_only_cards_laid_last_make_a_run() -> None:
    assert pegging_points("3C 4D QH 5S") == 0
    assert pegging_points("KC 2D 4H 3S") == 3
    assert pegging_points("KC 2D 3H 5S") == 0  # a gap


def test_r17_a_repeated_rank_breaks_a_run() -> None:
    assert pegging_points("6C 7D 7S 8H") == 0
    assert pegging_points("7S 6C 7D 8H") == 3
    assert pegging_points("3H 4D 5S 6C 3D 4C 5H") == 4


def test_r17_the_longest_run_alone_counts() -> None:
    assert pegging_points("2C 3D 4H 5S") == 4


def test_r18_all_that_one_card_makes_adds_up() -> None:
    assert pegging_points("4H 6D 5S") == 5  # fifteen and a run of three
    assert pegging_points("7H 9D 8S 7C") == 5  # thirty-one and a run of three
    assert pegging_points("5C 5D 5H") == 8  # fifteen and a pair royal


def test_r18_double_pair_royal_with_31_is_the_greatest_card() -> None:
    assert pegging_points("3C 7C 7D 7H 7S") == 14


def test_r18_a_flush_counts_nothing_in_the_play() -> None:
    assert pegging_points("2C 4C 6C 8C") == 0
    assert pegging_points("2C 4C 6C 8C TC") == 0


# ---- the show ----


def at_show(scores: tuple[int, int], target: int = 121) -> Table:
    """Returns a table with all but the last card laid; after it seats 0 and 1 have *scores*.

    Pone's hand is worth 6 (6D 6S TH 9C with 7H), the dealer's 20 (7D 7S 8C 8D) and the crib 6
    (KS KD 2C 3C). The dealer lays the last card, for one point.
    """
    order = ["TH", "8C", "9C", "8D", "6D", "7S", "6S", "7D"]
    hands = ["6D 6S TH 9C", "7D 7S 8C 8D"]
    rules = Rules(target=target)
    pegged = after_cut(hands, "7H", crib="KS KD 2C 3C").lay(" ".join(order[:-1])).scores
    start = (scores[0] - pegged[0], scores[1] - pegged[1] - 1)  # the last card's point
    assert min(start) >= 0
    table = after_cut(hands, "7H", crib="KS KD 2C 3C", scores=start, rules=rules)
    return table.lay(" ".join(order[:-1]))


def test_r19_pone_then_dealer_then_crib() -> None:
    table = at_show((50, 50)).lay("7D")
    assert table.scores == (56, 76)
    assert table.points_as(PONE, Source.HAND, Role.PONE) == 6
    assert table.points_as(DEALER, Source.HAND, Role.DEALER) == 20
    assert table.points_as(DEALER, Source.CRIB, Role.DEALER) == 6


def test_r19_pone_counts_first() -> None:
    table = at_show((115, 120)).lay("7D")
    assert table.scores == (121, 120)
    assert table.winner == PONE
    assert table.points(DEALER, Source.HAND) == 0


def test_r19_dealer_counts_the_hand_before_the_crib() -> None:
    table = at_show((50, 101)).lay("7D")
    assert table.winner == DEALER
    assert table.points(DEALER, Source.HAND) == 20
    assert table.points(DEALER, Source.CRIB) == 0


def test_r19_the_crib_is_the_dealers() -> None:
    table = at_show((50, 95)).lay("7D")
    assert table.scores == (56, 121)
    assert table.points(DEALER, Source.CRIB) == 6


def test_r19_hands_count_with_cards_already_laid() -> None:
    table = after_cut(["5C 5D 5H JS", "2D 4H 8S QC"], "5S", crib="AC AD 3C 3D").lay_all()
    assert table.points(PONE, Source.HAND) == 29


def test_r24_a_crib_of_four_hearts_is_no_flush() -> None:
    hands = ["7C 8C 9C QC", "4D 5C 5H 6S"]  # the published sample deal
    table = after_cut(hands, "JD", crib="2H 3H TH KH").lay_all()
    assert table.scores[DEALER] - table.points(DEALER, Source.PEGGING) == 2 + 16 + 6
    assert table.points(PONE, Source.HAND) == 9
    assert table.points(DEALER, Source.CRIB) == 6


# ---- the end ----


def test_r26_a_card_that_reaches_the_target_ends_the_game() -> None:
    table = after_cut(["7D 2C 3S KH", "8H 9C QD KD"], "4S", scores=(100, 119)).lay("7D 8H")
    assert (table.phase, table.winner) == (Phase.OVER, DEALER)
    assert table.scores == (100, 121)
    assert table.points(PONE, Source.HAND) + table.points(DEALER, Source.HAND) == 0


def test_r26_a_go_that_reaches_the_target_ends_the_game() -> None:
    table = after_cut(["KC QC 9C 8C", "KD JD 7D 6D"], scores=(120, 118)).lay("KC JD QC")
    assert (table.phase, table.winner) == (Phase.OVER, PONE)
    assert table.num_plays == 3


def test_r26_a_last_card_that_reaches_the_target_ends_the_game_before_the_show() -> None:
    table = at_show((120, 121)).lay("7D")
    assert table.winner == DEALER
    assert table.scores == (120, 121)
    assert table.points(PONE, Source.HAND) == 0


def test_r26_nothing_is_counted_after_the_target_is_reached() -> None:
    # Pone is out with the hand; the dealer's 20 and the crib's 6 are lost.
    table = at_show((119, 100)).lay("7D")
    assert table.scores == (121, 100)
    assert table.points(DEALER, Source.HAND) + table.points(DEALER, Source.CRIB) == 0


def test_r26_nobody_acts_once_the_game_is_over() -> None:
    table = at_show((119, 100)).lay("7D")
    before = table.games.records.tobytes()
    for card in range(52):
        with pytest.raises(IllegalActionError, match="over"):
            table.games.apply([card])
    assert table.games.records.tobytes() == before


def test_r27_no_exact_finish_is_needed() -> None:
    table = at_show((119, 60)).lay("7D")  # 6 points from 119
    assert table.scores == (121, 60)
    assert table.points(PONE, Source.HAND) == 2  # as many as were pegged


def test_r27_from_120_any_point_wins() -> None:
    for source, table in (
        (Source.HIS_HEELS, after_cut(starter="JC", scores=(0, 120))),
        (Source.PEGGING, after_cut(["KC QC 9C 8C", "KD JD 7D 6D"], scores=(120, 0))),
        (Source.HAND, at_show((120, 100))),
    ):
        if source == Source.PEGGING:
            table.lay("KC JD QC")  # a run of J, Q, K
        elif source == Source.HAND:
            table.lay("7D")
        assert table.phase == Phase.OVER
        assert max(table.scores) == 121
        assert table.points(table.winner, source) == 1


@pytest.mark.parametrize("target", [61, 100, 121])
def test_r30_any_target_wins(target: int) -> None:
    table = at_show((target - 1, target - 10), target).lay("7D")
    assert table.winner == PONE
    assert table.scores == (target, target - 10)


def test_r30_a_game_to_one_ends_with_the_first_point() -> None:
    table = after_cut(["7D 2C 3S KH", "8H 9C QD KD"], "4S", rules=Rules(target=1))
    assert table.lay("7D").phase == Phase.PLAY
    assert table.lay("8H").scores == (0, 1)
    assert table.phase == Phase.OVER
