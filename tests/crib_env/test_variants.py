"""The rules of the five-card game, of three and of four players, R31 to R40."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from crib_env.batch import Games
from crib_env.bots import Bot
from crib_env.cards import card_text, cards_in, parse_card, parse_cards
from crib_env.dealing import lowest_cut
from crib_env.game_record import TIED, Phase, Role, Source
from crib_env.position import Position
from crib_env.rules import PRESETS, Rules
from tests.referee import cut_for_deal, score_hand

pytestmark = pytest.mark.nojit

THREE, FOUR, FIVE = PRESETS["three_player"], PRESETS["four_player"], PRESETS["five_card"]


def dealt(
    rules: Rules, kept: Sequence[str], thrown: Sequence[str], starter: str, dealer: int = 0
) -> Games:
    """Returns a game where these are kept and thrown by seat, the starter just turned."""
    games = Games(1, rules)
    cards = [parse_cards(f"{hand} {throw}") for hand, throw in zip(kept, thrown, strict=True)]
    discards = [parse_cards(throw) for throw in thrown]
    turned = parse_card(starter)
    games.set_position(0, Position(dealer=dealer, hands=cards, discards=discards, starter=turned))
    return games


def lay(games: Games, text: str) -> list[int]:
    """Lays cards and returns who laid them."""
    seats = []
    for card in parse_cards(text):
        seats.append(int(games.turn[0]))
        games.apply([card])
    return seats


def phase(games: Games) -> Phase:
    """Returns what is asked for."""
    return Phase(int(games.records["phase"][0]))


# ---- five cards ----


def test_r31_five_are_dealt_and_two_thrown() -> None:
    games = Games(20, FIVE)
    assert (np.bitwise_count(games.records["hands"][:, :2]) == 5).all()
    for _ in range(4):
        games.apply(games.action_masks().argmax(axis=1))
    assert (np.bitwise_count(games.records["hands"][:, :2]) == 3).all()
    assert (np.bitwise_count(games.records["crib"]) == 4).all()
    assert (games.records["num_plays"] == 0).all()
    thrown = games.records["discards"][:, 0] | games.records["discards"][:, 1]
    assert (games.records["crib"] == thrown).all()


def test_r32_pone_of_the_first_deal_starts_with_three() -> None:
    for dealer in (0, 1):
        games = Games(1, FIVE, first_dealer=dealer)
        expected = [3, 3]
        expected[dealer] = 0
        assert games.scores[0].tolist() == expected
        # Once a game: the next deal begins with what has been pegged.
        before = 0
        while games.records["deal_number"][0] == 0:
            before = int(games.scores.sum())
            games.apply(games.action_masks().argmax(axis=1))
        pegged = int(games.points.sum())
        assert int(games.scores.sum()) == 3 + pegged >= before
    assert FIVE.target == 61


@pytest.mark.parametrize("target", [1, 3])
def test_r32_a_target_that_pone_starts_at_is_refused(target: int) -> None:
    with pytest.raises(ValueError, match=f"Rules.target={target}: allowed is 4 to 121"):
        Rules(cards_dealt=5, target=target)
    assert Rules(cards_dealt=5, target=4).target == 4


def test_r33_the_play_has_one_count() -> None:
    # 10, 20, 30: nobody has an ace, so the last card pegs 1 and the show is next, with three
    # cards still held: they count there. A starter of the first suit: no flush.
    games = dealt(FIVE, ["KC QC 9C", "JD TD 8D"], ["2H 3H", "4S 6S"], "7H", dealer=0)
    assert lay(games, "JD KC TD") == [1, 0, 1]
    # Shown at once; the next deal is dealt. Pone, seat 1, pegged the last card.
    assert (games.records["deal_number"][0], phase(games)) == (1, Phase.DISCARD)
    points = games.points[0]
    assert points[1, Source.PEGGING, Role.PONE] == 1
    # 7 and 8 and a flush of three; 9-8 is of two hands: nothing else.
    assert points[1, Source.HAND, Role.PONE] == 2 + 3
    assert points[0, Source.HAND, Role.DEALER] == 3


def test_r33_thirty_one_ends_the_play() -> None:
    games = dealt(FIVE, ["KC AC 9C", "JD TD 8S"], ["2H 3H", "4S 6S"], "7H", dealer=0)
    lay(games, "JD KC TD AC")
    assert games.records["deal_number"][0] == 1
    assert games.points[0, 0, Source.PEGGING, Role.DEALER] == 2


@pytest.mark.parametrize(
    ("hand", "starter", "flush"),
    [("2C 4C 9C", "KC", 4), ("2C 4C 9C", "KD", 3), ("2C 4C 9D", "KC", 0)],
)
def test_r34_a_flush_is_three_or_four(hand: str, starter: str, flush: int) -> None:
    games = dealt(FIVE, ["AD 3D 7S", hand], ["2H 3H", "4S 6S"], starter, dealer=0)
    expected = sum(score_hand(parse_cards(hand), parse_card(starter), False).values())
    assert score_hand(parse_cards(hand), parse_card(starter), False)["flush"] == flush
    assert games.records["worth"][0, 1] == expected


# ---- three players ----


def test_r35_the_pack_gives_the_crib_a_card_that_nobody_sees() -> None:
    games = Games(200, THREE, seed=1)
    assert (np.bitwise_count(games.records["hands"][:, :3]) == 5).all()
    from_pack = games.records["crib"].copy()
    assert (np.bitwise_count(from_pack) == 1).all()
    for _ in range(3):
        games.apply(games.action_masks().argmax(axis=1))
    assert (np.bitwise_count(games.records["crib"]) == 4).all()
    assert (games.records["crib"] & from_pack == from_pack).all()
    # D005: another card of the pack in its place, and no seat sees a difference.
    other = games.copy()
    for record in other.records:
        used = int(record["crib"]) | 1 << int(record["starter"])
        for seat in range(3):
            used |= int(record["hands"][seat])
        spare = next(card for card in range(52) if not used >> card & 1)
        own = int(record["crib"]) & ~sum(int(record["discards"][seat]) for seat in range(3))
        record["crib"] = int(record["crib"]) & ~own | 1 << spare
    assert (other.records["crib"] != games.records["crib"]).all()
    for seat in range(3):
        assert (games.observe(seat) == other.observe(seat)).all()
        assert (games.action_masks(seat) == other.action_masks(seat)).all()


def test_r35_each_plays_for_itself() -> None:
    games = Games(50, THREE, seed=2)
    games.play_bots([Bot.EXPERT] * 3)
    assert games.scores.shape == (50, 3)
    assert set(games.winner.tolist()) == {0, 1, 2}
    assert (games.points.sum(axis=(2, 3)) == games.scores).all()


# ---- four players ----


def test_r36_partners_share_a_score() -> None:
    games = Games(50, FOUR, seed=3)
    assert (np.bitwise_count(games.records["hands"]) == 5).all()
    assert (games.records["crib"] == 0).all()
    games.play_bots([Bot.EXPERT] * 4)
    pegged = games.points.sum(axis=(2, 3))
    assert games.scores.shape == (50, 2)
    assert (pegged[:, 0] + pegged[:, 2] == games.scores[:, 0]).all()
    assert (pegged[:, 1] + pegged[:, 3] == games.scores[:, 1]).all()


def test_r36_heels_and_crib_are_the_dealers_sides() -> None:
    kept = ["AC AD 2C 2D", "3C 3D 4C 4D", "6C 6D 7C 7D", "8C 8D 9C 9D"]
    games = dealt(FOUR, kept, ["5S", "5H", "5D", "TH"], "JS", dealer=2)
    assert games.scores[0].tolist() == [2, 0]
    assert games.points[0, 2, Source.HIS_HEELS, Role.DEALER] == 2
    # Three fives, a ten and the jack: 2 + 6 * 2 (fifteens) + 6 (pairs).
    assert games.records["worth"][0, 4] == 20


# ---- to the left ----


@pytest.mark.parametrize("rules", [THREE, FOUR])
def test_r37_everything_goes_to_the_left_and_the_dealer_is_last(rules: Rules) -> None:
    for dealer in range(rules.players):
        games = Games(1, rules, seed=dealer, first_dealer=dealer)
        order = [(dealer + 1 + step) % rules.players for step in range(rules.players)]
        thrown = []
        for _ in range(rules.players):
            thrown.append(int(games.turn[0]))
            games.apply(games.action_masks().argmax(axis=1))
        assert thrown == order
        assert games.turn[0] == order[0]
        while games.records["deal_number"][0] == 0:
            games.apply(games.action_masks().argmax(axis=1))
        assert games.records["dealer"][0] == order[0]


def test_r37_hands_are_counted_from_the_dealers_left_and_the_crib_last() -> None:
    # All within reach of the target: the first to count has won, with better hands uncounted.
    for first in range(3):
        dealer = (first - 1) % 3
        kept = ["KC QC 8C 8D", "KD QD 6C 6D", "KH QH 4C 4D"]
        games = dealt(THREE, kept, ["2H", "2S", "TS"], "AS", dealer=dealer)
        while games.records["num_plays"][0] < 11:
            games.apply(games.action_masks().argmax(axis=1))
        games.records["scores"][0, :3] = 119
        last = int(games.turn[0])
        games.apply(games.action_masks().argmax(axis=1))
        assert games.over[0]
        # The last card pegged 1 for its player, to 120 at the most; then the first hand of 2 wins.
        assert games.scores[0, last] >= 120
        if games.winner[0] != last or games.points[0, first, Source.HAND].sum():
            assert games.winner[0] == first


@pytest.mark.parametrize("rules", [THREE, FOUR])
def test_r38_after_a_go_the_others_play_on(rules: Rules) -> None:
    # Seat 0 deals. 10, 20, 30 (three players), then an ace each from who has one; who has none
    # is passed over. With four players the fourth lays no ten: 29 and an ace after it.
    kept = ["KC QC JC TC", "KD QD AD 9C", "KH QH JH AH", "9D 9H 9S 4S"][: rules.players]
    thrown = ["2C", "2D", "2H", "2S"][: rules.players]
    games = dealt(rules, kept, thrown, "3S", dealer=0)
    if rules is THREE:
        assert lay(games, "KD KH KC AD") == [1, 2, 0, 1]  # 31: two points, a restart
        assert games.points[0, 1, Source.PEGGING].sum() == 2
        assert games.turn[0] == 2
        assert lay(games, "QH QC QD") == [2, 0, 1]
        assert lay(games, "AH") == [2]  # 31 again
        assert games.turn[0] == 0
    else:
        assert lay(games, "KD KH 9D") == [1, 2, 3]  # 29: seat 0 says go, seat 1 plays on
        assert lay(games, "AD AH") == [1, 2]  # 30, 31 and a pair, after a pair of kings
        assert games.points[0, 2, Source.PEGGING].sum() == 6
        assert games.turn[0] == 3


def test_r38_who_laid_the_last_card_plays_on_when_all_others_have_said_go() -> None:
    kept = ["KC QC JC TC", "KD QD JD 9C", "KH QH JH TH", "9D 9H 9S 2S"]
    games = dealt(FOUR, kept, ["2C", "2D", "2H", "3S"], "3H", dealer=0)
    assert lay(games, "KD KH 9D 2S") == [1, 2, 3, 3]  # 29: nobody else has a 2 or an ace
    assert games.points[0, 3, Source.PEGGING].sum() == 2  # 31
    assert games.turn[0] == 0


def test_r38_the_last_card_takes_the_point_and_the_next_with_cards_leads() -> None:
    kept = ["KC QC JC TC", "KD QD JD 9C", "8H QH JH 9H"]
    games = dealt(THREE, kept, ["2C", "2D", "2H"], "3S", dealer=0)
    assert lay(games, "KD 8H KC") == [1, 2, 0]  # 28: nobody has a card of 3 or less
    assert games.points[0, 0, Source.PEGGING].sum() == 1
    assert games.turn[0] == 1


# ---- cut, skunks ----


def test_r39_the_lowest_card_deals_and_ties_cut_again() -> None:
    for rules in (THREE, FOUR):
        games = Games(3_000, rules, first_dealer="cut", seed=4)
        seats = np.bincount(games.records["dealer"], minlength=rules.players)
        expected = len(games) / rules.players
        assert (abs(seats - expected) < 5 * np.sqrt(expected)).all()
    for text in (
        "4C 4D KS",
        "3C 4D 4S",
        "KC 4D 4S 4H",
        "KC QD 2S TH",
        "5C 5D 2S 2H",
        "9C 5D 5H 2H",
    ):
        cards = parse_cards(text)
        packed = sum(card << 6 * seat for seat, card in enumerate(cards))
        lowest = cut_for_deal(cards)
        assert lowest_cut(packed, len(cards)) == (TIED if lowest is None else lowest)


def test_r40_the_lines_hold_for_each_loser() -> None:
    assert [THREE.skunk_level(score) for score in (95, 90, 60)] == [0, 1, 2]
    games = Games(300, THREE, seed=5)
    games.play_bots([Bot.EXPERT, Bot.RANDOM, Bot.EXPERT])
    levels = THREE.skunk_level(games.scores)
    assert isinstance(levels, np.ndarray)
    alone = [[THREE.skunk_level(score) for score in scores] for scores in games.scores.tolist()]
    assert levels.tolist() == alone
    losers = games.winner[:, None] != np.arange(3)
    # In one game one loser may be skunked and the other not.
    per_game = [set(row[lost].tolist()) for row, lost in zip(levels, losers, strict=True)]
    assert {0, 1} in per_game


def test_the_starter_and_every_card_are_of_one_pack() -> None:
    for rules in (THREE, FOUR, FIVE):
        games = Games(100, rules, seed=6)
        for record in games.records:
            cards = [card_text(card) for card in cards_in(record["crib"])]
            for seat in range(rules.players):
                cards += [card_text(card) for card in cards_in(record["hands"][seat])]
            cards.append(card_text(int(record["starter"])))
            number = rules.players * rules.cards_dealt + rules.crib_from_pack + 1
            assert len(set(cards)) == len(cards) == number
