"""The plain rule book with five cards, three players and four: deals worked out by hand."""

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.referee import Referee, score_hand, skunk_level, starting_scores
from tests.referee_games import choose, new_game, shuffled
from tests.referee_table import (
    after_discards,
    card_of,
    cards_of,
    names_of,
    pegged,
    play,
    say,
    shown,
)


def in_the_play(
    hands: list[str], pile: str, turn: int, dealer: int = 0, scores: tuple[int, ...] = ()
) -> Referee:
    """Returns a game of three or four where these hands are left and this pile lies."""
    laid = cards_of(pile)
    return Referee(
        121,
        dealer,
        list(scores),
        hands=[set(cards_of(hand)) for hand in hands],
        pile=laid,
        count=sum(min(card // 4 + 1, 10) for card in laid),
        phase="play",
        turn=turn,
        needs_deal=False,
        players=len(hands),
        cards_dealt=5,
    )


def counted_in_turn(referee: Referee) -> list[tuple[int, str]]:
    """Returns (seat, what) of all that the show counts; every claim and call is 0."""
    counted = []
    referee.show()
    while referee.phase != "discard":
        if referee.phase == "claim":
            counted.append((referee.owner, referee.what))
        say(referee, 0)
    return counted


# ---- all variants ----


@pytest.mark.parametrize(
    ("players", "cards_dealt"), [(1, 6), (2, 4), (2, 7), (3, 6), (4, 6), (5, 5)]
)
def test_other_numbers_of_players_and_cards_are_refused(players: int, cards_dealt: int) -> None:
    with pytest.raises(ValueError, match=f"{players} players and {cards_dealt} cards"):
        Referee(121, 0, players=players, cards_dealt=cards_dealt)


@pytest.mark.parametrize(
    ("options", "scores"),
    [
        ({}, [0, 0, 0]),
        ({}, [0]),
        ({}, [121, 0]),
        ({}, [0, -1]),
        ({"players": 3, "cards_dealt": 5}, [0, 0]),
        ({"players": 4, "cards_dealt": 5}, [0, 0, 0, 0]),
    ],
)
def test_scores_are_one_a_side_and_below_the_target(
    options: dict[str, Any], scores: list[int]
) -> None:
    with pytest.raises(ValueError, match="scores"):
        Referee(121, 0, scores, **options)


@pytest.mark.parametrize(("players", "sides"), [(2, [0, 1]), (3, [0, 1, 2]), (4, [0, 1, 0, 1])])
def test_partners_are_opposite(players: int, sides: list[int]) -> None:
    referee = after_discards({"players": players, "dealer": 0})
    assert [referee.side(seat) for seat in range(players)] == sides
    assert len(referee.scores) == len(set(sides))


@pytest.mark.parametrize(
    ("variant", "dealer", "asked"),
    [
        ("six-card", 0, [1, 1, 0, 0]),
        ("five-card", 1, [0, 0, 1, 1]),
        ("three-player", 1, [2, 0, 1]),
        ("four-player", 2, [3, 0, 1, 2]),
    ],
)
def test_discards_are_asked_from_the_dealers_left(
    variant: str, dealer: int, asked: list[int]
) -> None:
    referee = new_game(variant, dealer)
    referee.deal(*shuffled(referee, random.Random(5)))
    turns = []
    while referee.phase == "discard":
        turns.append(referee.turn)
        referee.act(min(referee.legal()))
    assert turns == asked
    assert referee.turn == asked[0]  # The same seat leads.
    assert len(referee.crib) == 4
    assert {len(hand) for hand in referee.hands} == {referee.kept}


@pytest.mark.parametrize(
    ("players", "dealer", "order"),
    [
        (2, 1, [(0, "hand"), (1, "hand"), (1, "crib")]),
        (3, 1, [(2, "hand"), (0, "hand"), (1, "hand"), (1, "crib")]),
        (4, 2, [(3, "hand"), (0, "hand"), (1, "hand"), (2, "hand"), (2, "crib")]),
    ],
)
def test_the_show_goes_left_and_then_the_deal_does(
    players: int, dealer: int, order: list[tuple[int, str]]
) -> None:
    referee = after_discards({"players": players, "dealer": dealer}, muggins="show")
    assert counted_in_turn(referee) == order
    assert referee.needs_deal
    assert referee.dealer == order[0][0]


def test_nobody_may_act_before_the_cards_are_dealt() -> None:
    for variant in ("six-card", "five-card", "three-player", "four-player"):
        referee = new_game(variant, 0)
        assert referee.legal() == set()
        with pytest.raises(ValueError, match="not legal"):
            referee.act(0)


def test_deal_refuses_other_numbers_of_cards() -> None:
    deck = list(range(52))
    deals: list[tuple[str, list[Iterable[int] | int]]] = [
        ("five-card", [deck[:6], deck[6:12], 12]),
        ("five-card", [deck[:5], deck[5:10], 10, 11]),
        ("three-player", [deck[:5], deck[5:10], deck[10:15], 15]),
        ("three-player", [deck[:5], deck[5:10], 10, 11]),
        ("three-player", [deck[:5], deck[5:10], deck[10:15], 15, 15]),
        ("four-player", [deck[:5], deck[5:10], deck[10:15], deck[15:20], 20, 21]),
        ("four-player", [deck[:5], deck[5:10], deck[10:15], deck[15:20], 19]),
    ]
    for variant, wrong in deals:
        referee = new_game(variant, 0)
        with pytest.raises(ValueError, match="cards"):
            referee.deal(*wrong)
        assert referee == new_game(variant, 0)


# ---- five cards for two ----


def test_three_cards_of_a_suit_are_a_flush_in_the_five_card_game() -> None:
    for hand, starter, is_crib, flush in (
        ("5H 7H 9H", "KC", False, 3),
        ("5H 7H 9H", "KH", False, 4),
        ("5H 7H 9C", "KH", False, 0),
        ("5H 7H 9H 2H", "KC", True, 0),
        ("5H 7H 9H 2H", "KH", True, 5),
    ):
        assert score_hand(cards_of(hand), card_of(starter), is_crib)["flush"] == flush


def test_pone_of_the_first_deal_starts_with_3_with_five_cards() -> None:
    assert [starting_scores(dealer, 2, 5) for dealer in (0, 1)] == [[0, 3], [3, 0]]
    assert starting_scores(0) == [0, 0]
    assert starting_scores(0, 3, 5) == [0, 0, 0]
    assert starting_scores(0, 4, 5) == [0, 0]
    with pytest.raises(ValueError, match="scores"):
        new_game("five-card", 0, target=3)
    assert new_game("five-card", 0, target=4).scores == [0, 3]


def test_the_3_are_given_once_in_a_game() -> None:
    rng = random.Random(6)
    referee = new_game("five-card", 0, target=500)
    for _ in range(6):
        referee.deal(*shuffled(referee, rng))
        while not referee.needs_deal:
            referee.act(choose(referee, rng))
        assert sum(referee.scores) == 3 + sum(referee.points.values())


def test_the_play_of_the_five_card_game_ends_at_31_and_what_is_left_counts_at_the_show() -> None:
    hands = [cards_of("KH AD 8C"), cards_of("QS TC 7D")]
    given = {"variant": "five-card", "dealer": 1, "starter": "6D", "target": 61}
    referee = after_discards(given, hands, cards_of("2S 2H 4C KD"))
    play(referee, cards_of("KH QS AD TC"))
    assert [names_of(hand) for hand in referee.hands] == [{"8C"}, {"7D"}]
    # 8-6-A is fifteen with the eight that was never laid. The dealer's hand counts nothing, the
    # crib its pair.
    assert referee.points == {
        (1, "pegging", "dealer"): 2,
        (0, "hand", "pone"): 2,
        (1, "crib", "dealer"): 2,
    }
    assert referee.scores == [2, 4]
    assert (referee.needs_deal, referee.dealer, referee.legal()) == (True, 0, set())


def test_in_the_five_card_game_the_other_plays_on_after_a_go_and_then_the_show_follows() -> None:
    hands = [cards_of("KH 9D 8C"), cards_of("QS AH 2C")]
    given = {"variant": "five-card", "dealer": 1, "starter": "4D", "target": 61}
    referee = after_discards(given, hands, muggins="show")
    play(referee, cards_of("KH QS 9D AH"))
    assert (pegged(referee, 0), pegged(referee, 1)) == (0, 1)
    assert (referee.phase, referee.turn, referee.what) == ("claim", 0, "hand")


# ---- three players ----


def test_with_three_the_card_from_the_pack_counts_in_the_crib() -> None:
    hands = [cards_of("2C 4D 6S 8H"), cards_of("AC 3D 6H KH"), cards_of("AD 3S 7H QH")]
    given = {"players": 3, "dealer": 0, "starter": "5S"}
    referee = after_discards(given, hands, cards_of("5C 5D 5H JS"))
    assert referee.pack_card == card_of("JS")
    assert [names_of(thrown) for thrown in referee.discards] == [{"5H"}, {"5C"}, {"5D"}]
    referee.show()
    assert shown(referee)[-1] == (0, 29, "crib")


def test_the_card_from_the_pack_changes_nothing_before_the_crib_is_counted() -> None:
    rng = random.Random(7)
    one, other = (new_game("three-player", 0, "show") for _ in range(2))
    *cards, starter = rng.sample(range(52), 18)
    hands = [cards[:5], cards[5:10], cards[10:15]]
    one.deal(*hands, cards[15], starter)
    other.deal(*hands, cards[16], starter)
    while one.what != "crib":
        assert one == replace(other, pack_card=one.pack_card)
        action = choose(one, rng)
        one.act(action)
        other.act(action)
    assert (one.owner, one.crib - other.crib) == (0, {cards[15]})


def test_a_go_of_three_is_the_point_of_the_last_card_and_the_next_at_its_left_leads() -> None:
    # At 26 nobody can lay a card: 1 for seat 1, and seat 2 leads.
    for hands, leader in (
        (["KH", "AS KD", "QC"], 2),
        (["KH", "AS KD", ""], 0),  # Seat 2 is out of cards.
        (["", "AS KD", ""], 1),  # Only the player of the last card has any.
    ):
        referee = in_the_play(hands, "TH 9C 6D", turn=1)
        referee.act(card_of("AS"))
        assert (pegged(referee, 1), sum(referee.scores)) == (1, 1)
        assert (referee.turn, referee.count, referee.pile) == (leader, 0, [])


def test_after_a_go_of_one_the_two_others_play_on() -> None:
    # At 25 seat 2 holds a queen alone and is passed over again and again.
    referee = in_the_play(["AH AD KH", "2S AC KD", "QC"], "TH 9C 6D", turn=1)
    turns = []
    for card in ("2S", "AH", "AC", "AD"):
        turns.append(referee.turn)
        referee.act(card_of(card))
    assert turns == [1, 0, 1, 0]
    # The aces: a pair 2, then a pair royal 6; 30 and nobody fits: 1.
    assert referee.scores == [7, 2, 0]
    assert (referee.turn, referee.count) == (1, 0)


def test_31_of_three_has_no_go_on_top_and_the_next_at_its_left_leads() -> None:
    referee = in_the_play(["4H KH", "2S KD", "QC"], "TH 9C 6D", turn=1)
    play(referee, cards_of("2S 4H"))
    assert referee.scores == [2, 0, 0]
    assert (referee.turn, referee.count) == (1, 0)


def test_a_game_of_three_ends_at_once() -> None:
    referee = in_the_play(["KH", "AS KD", "QC"], "TH 9C 6D", turn=1, scores=(120, 120, 120))
    referee.act(card_of("AS"))
    assert (referee.phase, referee.winner) == ("over", 1)
    assert (referee.scores, referee.legal()) == ([120, 121, 120], set())


@pytest.mark.parametrize(
    ("scores", "levels"),
    [([120, 90, 60], [1, 2]), ([120, 91, 61], [0, 1]), ([119, 0, 120], [2, 0])],
)
def test_each_loser_of_three_may_be_skunked(scores: list[int], levels: list[int]) -> None:
    given = {"players": 3, "dealer": 0, "scores": scores, "starter": "JC"}
    referee = after_discards(given)
    assert (referee.winner, referee.scores[0]) == (0, 121)
    assert [skunk_level(score, 121) for score in referee.scores[1:]] == levels


# ---- four players ----


def test_four_peg_for_their_sides_and_are_booked_by_seat() -> None:
    hands = [
        cards_of(hand) for hand in ("7C 5D QS 3C", "5H 5C 3S QC", "5S TH 6S TD", "4H JH 4C 7H")
    ]
    given = {"players": 4, "dealer": 3, "starter": "JC"}
    referee = after_discards(given, hands)
    play(referee, cards_of("7C 3S 5S 4H"))
    assert referee.points == {
        (3, "heels", "dealer"): 2,
        (2, "pegging", "pone"): 2,  # Fifteen.
        (3, "pegging", "dealer"): 3,  # A run of three.
    }
    assert referee.scores == [2, 5]


def test_a_partner_of_the_dealer_is_booked_as_pone() -> None:
    hands = [
        cards_of(hand) for hand in ("7C 8C 9H QD", "2C 4C 6H TD", "7D 8D 9S QH", "2D 4D 6S KD")
    ]
    referee = after_discards({"players": 4, "dealer": 2, "starter": "KC"}, hands)
    referee.show()
    # Each of them: seven and eight are fifteen, and a run of three.
    assert referee.points[0, "hand", "pone"] == 5
    assert referee.points[2, "hand", "dealer"] == 5


def test_a_go_of_four_passes_left_over_all_who_cannot_play() -> None:
    # At 27 seat 1 has said go; seat 3 lays an ace, and the turn comes round to seat 3 itself.
    referee = in_the_play(["KH", "QC", "JC", "AS AD"], "TH 9C 8D", turn=3)
    play(referee, cards_of("AS AD"))
    # A pair, and the go: 29.
    assert (referee.scores, pegged(referee, 3)) == ([0, 3], 3)
    assert (referee.turn, referee.count) == (0, 0)
    # With seat 0 out of cards the next at the left leads.
    referee = in_the_play(["", "QC", "JC", "AS AD"], "TH 9C 8D", turn=3)
    play(referee, cards_of("AS AD"))
    assert referee.turn == 1


def test_a_side_of_four_wins_and_loses_as_one() -> None:
    given = {"players": 4, "dealer": 2, "scores": [119, 60], "starter": "JC"}
    referee = after_discards(given)
    assert (referee.winner, referee.scores) == (0, [121, 60])
    assert skunk_level(referee.scores[1], 121) == 2
