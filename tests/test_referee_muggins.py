"""The plain rule book with muggins: claims and calls worked out by hand."""

import random

import pytest

from tests.referee import CLAIM, Referee
from tests.referee_games import new_game, shuffled
from tests.referee_table import after_discards, card_of, cards_of, pegged, play, refused, say

CLAIMS = set(range(52, 84))

# With the starter 8C: 24, a pair of eights 2, and a crib of 4 (two fifteens).
STARTER = "8C"
TWENTY_FOUR, TWO, CRIB = "6C 7D 7S 8H", "KH QD 8S 2D", "KS TD 4H AS"


def at_the_show(
    scores: list[int], hands: tuple[str, ...] = (TWENTY_FOUR, TWO), penalty: bool = True
) -> Referee:
    """Returns a game in which seat 0 claims first; the last seat deals."""
    given = {
        "players": len(hands),
        "dealer": len(hands) - 1,
        "scores": scores,
        "starter": STARTER,
    }
    kept = [cards_of(hand) for hand in hands]
    referee = after_discards(given, kept, cards_of(CRIB), muggins="show", penalty=penalty)
    referee.show()
    return referee


def in_full(hands: tuple[str, str], scores: tuple[int, int] = (0, 0)) -> Referee:
    """Returns a game of full muggins, seat 1 dealing, before the first card."""
    given = {"dealer": 1, "scores": scores, "starter": STARTER}
    return after_discards(given, [cards_of(hand) for hand in hands], cards_of(CRIB), "full")


def lay(referee: Referee, card: str, *claims: int) -> None:
    """Lays a card, then claims and calls these points."""
    referee.act(card_of(card))
    say(referee, *claims)


# ---- a claim, the excess, a call ----


def test_muggins_are_none_or_show_or_full() -> None:
    with pytest.raises(ValueError, match="muggins"):
        Referee(121, 0, muggins="some")


@pytest.mark.parametrize(
    ("claim", "called", "owner", "caller"),
    [
        (24, 0, 24, 0),
        (24, 1, 24, 0),  # Nothing was missed.
        (20, 0, 20, 0),  # No call: what is missed is lost.
        (20, 4, 20, 4),
        (20, 3, 20, 3),
        (20, 5, 20, 0),  # Too high a call pegs nothing.
        (0, 24, 0, 24),
        (0, 31, 0, 0),
        (26, 0, 24, 2),  # The excess.
        (26, 2, 24, 2),
    ],
)
def test_what_owner_and_caller_peg(claim: int, called: int, owner: int, caller: int) -> None:
    referee = at_the_show([10, 20])
    assert (referee.phase, referee.turn, referee.worth) == ("claim", 0, 24)
    assert referee.legal() == CLAIMS
    say(referee, claim)
    assert (referee.phase, referee.turn) == ("call", 1)
    assert referee.legal() == CLAIMS
    assert pegged(referee, 0, "hand") == owner  # Before anything is called.
    say(referee, called)
    assert referee.scores == [10 + owner, 20 + caller]
    assert (pegged(referee, 0, "hand"), pegged(referee, 1, "muggins")) == (owner, caller)
    # The dealer's hand is next.
    assert (referee.phase, referee.turn, referee.what) == ("claim", 1, "hand")
    assert (referee.worth, referee.missed) == (2, 0)


def test_without_the_penalty_the_excess_is_nobodys() -> None:
    referee = at_the_show([10, 20], penalty=False)
    say(referee, 26)
    assert referee.scores == [34, 20]
    assert (referee.phase, referee.turn, referee.missed) == ("call", 1, 0)
    say(referee, 2)
    assert referee.scores == [34, 20]


def test_a_whole_show_with_muggins() -> None:
    referee = at_the_show([0, 0])
    say(referee, 20, 4)  # Pone's hand; all four called.
    say(referee, 2, 0)  # The dealer's hand.
    say(referee, 7, 1)  # The crib: 4 and an excess of 3.
    assert referee.points == {
        (0, "hand", "pone"): 20,
        (1, "muggins", "dealer"): 4,
        (1, "hand", "dealer"): 2,
        (1, "crib", "dealer"): 4,
        (0, "muggins", "pone"): 3,
    }
    assert referee.scores == [23, 10]
    assert (referee.needs_deal, referee.dealer, referee.phase) == (True, 0, "discard")


def test_claims_are_legal_when_asked_for_and_cards_are_not() -> None:
    referee = at_the_show([0, 0])
    for action in (card_of("6C"), 51, 84):
        assert refused(referee, action)
    say(referee, 20)
    for action in (card_of("KH"), 51, 84):
        assert refused(referee, action)
    opening = new_game("six-card", 0, "full")
    opening.deal(*shuffled(opening, random.Random(8)))
    assert refused(opening, CLAIM)


# ---- the end of the game ----


def test_the_owner_may_be_out_before_muggins_are_heard() -> None:
    referee = at_the_show([117, 120])
    say(referee, 4)
    assert (referee.phase, referee.winner, referee.legal()) == ("over", 0, set())
    assert referee.scores == [121, 120]


def test_the_owner_may_be_out_before_the_excess_is_pegged() -> None:
    referee = at_the_show([100, 120])
    say(referee, 30)
    assert (referee.winner, referee.scores) == (0, [121, 120])
    assert not pegged(referee, 1, "muggins")


def test_the_excess_may_win_the_game() -> None:
    referee = at_the_show([90, 120])
    say(referee, 25)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 1, [114, 121])
    assert pegged(referee, 1, "muggins") == 1


def test_a_call_may_win_the_game() -> None:
    # Without the call pone's 20 would not end it, and the dealer counts later.
    referee = at_the_show([90, 118])
    say(referee, 20, 4)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 1, [110, 121])
    assert pegged(referee, 1, "muggins") == 3  # Points really pegged end at the target.
    assert not pegged(referee, 1, "hand")


# ---- three and four players ----

THREE = (TWENTY_FOUR, TWO, "2C 3C 5H QH")
FOUR = (*THREE, "2H 3D 9S JD")


@pytest.mark.parametrize(
    ("calls", "pegs"),
    [
        ((3, 2), (3, 2)),
        ((3, 3), (3, 0)),  # Only 2 were left.
        ((5, 0), (5, 0)),
        ((5, 1), (5, 0)),
        ((6, 5), (0, 5)),  # Too high a call takes nothing away.
        ((0, 5), (0, 5)),
        ((0, 0), (0, 0)),
    ],
)
def test_with_three_the_second_caller_may_take_what_the_first_left(
    calls: tuple[int, int], pegs: tuple[int, int]
) -> None:
    referee = at_the_show([0, 0, 0], THREE)
    say(referee, 19)
    assert (referee.phase, referee.turn, referee.missed) == ("call", 1, 5)
    say(referee, calls[0])
    assert (referee.phase, referee.turn, referee.missed) == ("call", 2, 5 - pegs[0])
    say(referee, calls[1])
    assert referee.scores == [19, *pegs]
    assert (referee.phase, referee.turn, referee.what) == ("claim", 1, "hand")


def test_callers_are_asked_from_the_owners_left() -> None:
    referee = at_the_show([0, 0, 0], THREE)
    say(referee, 24, 0, 0)
    assert (referee.phase, referee.turn) == ("claim", 1)
    say(referee, 1)
    asked = []
    while referee.phase == "call":
        asked.append(referee.turn)
        say(referee, 0)
    assert asked == [2, 0]


def test_the_first_caller_of_three_may_win_before_the_second_is_asked() -> None:
    referee = at_the_show([0, 120, 120], THREE)
    say(referee, 23, 1)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 1, [23, 121, 120])


def test_the_excess_of_three_is_pegged_by_the_next_at_the_left_alone() -> None:
    referee = at_the_show([0, 0, 0], THREE)
    say(referee, 27)
    assert referee.scores == [24, 3, 0]
    say(referee, 0, 0, 5)  # Seat 1 claims 5 for its 2.
    assert referee.scores == [24, 5, 3]


def test_with_four_the_partner_is_not_asked_and_the_side_pegs() -> None:
    referee = at_the_show([0, 0], FOUR)
    say(referee, 19)
    asked = []
    while referee.phase == "call":
        asked.append(referee.turn)
        say(referee, 2)
    assert asked == [1, 3]
    assert referee.scores == [19, 4]
    assert (pegged(referee, 1, "muggins"), pegged(referee, 3, "muggins")) == (2, 2)
    assert (referee.phase, referee.turn) == ("claim", 1)
    say(referee, 3)  # The excess of seat 1 goes to seat 2.
    assert pegged(referee, 2, "muggins") == 1
    assert referee.turn == 2


# ---- muggins in the play ----

# Pone lays 7C, the dealer 8D: fifteen. Pone then makes a run with 9D.
PONE, DEALER = "7C 9D TS 3H", "8D 5H QC JS"


def test_with_muggins_in_the_show_the_play_is_pegged_in_full() -> None:
    given = {"dealer": 1, "starter": STARTER}
    referee = after_discards(given, [cards_of(PONE), cards_of(DEALER)], muggins="show")
    play(referee, cards_of("7C 8D 9D"))
    assert referee.scores == [3, 2]
    assert referee.phase == "play"


def test_after_each_card_its_player_claims_and_the_other_calls() -> None:
    referee = in_full((PONE, DEALER))
    referee.act(card_of("7C"))
    # The card pegs nothing, and is claimed all the same.
    assert (referee.phase, referee.turn, referee.what, referee.worth) == ("claim", 0, "card", 0)
    say(referee, 0)
    assert (referee.phase, referee.turn) == ("call", 1)
    say(referee, 0)
    assert (referee.phase, referee.turn) == ("play", 1)
    lay(referee, "8D", 2, 0)
    assert referee.scores == [0, 2]
    lay(referee, "9D", 1, 2)  # A run of three: 1 claimed, 2 called.
    assert referee.scores == [1, 4]
    assert referee.points == {
        (1, "pegging", "dealer"): 2,
        (0, "pegging", "pone"): 1,
        (1, "muggins", "dealer"): 2,
    }
    assert (referee.phase, referee.turn, referee.count) == ("play", 1, 24)


def test_all_that_a_card_makes_is_one_claim() -> None:
    # Fifteen and a run of three.
    referee = in_full(("4C 6D TS 3H", "5D 5H QC JS"))
    lay(referee, "4C", 0, 0)
    lay(referee, "5D", 0, 0)
    referee.act(card_of("6D"))
    assert referee.worth == 5
    say(referee, 5, 0)
    assert (referee.scores, referee.phase) == ([5, 0], "play")


def test_a_go_is_claimed_after_the_card_and_before_the_count_restarts() -> None:
    referee = in_full((PONE, DEALER))
    for card in ("TS", "QC", "7C"):
        lay(referee, card, 0, 0)
    # At 27 pone has 3H, which would still fit; the dealer cannot play.
    assert (referee.turn, referee.count) == (0, 27)
    lay(referee, "3H", 0)
    assert (referee.phase, referee.turn, referee.what) == ("call", 1, "card")
    say(referee, 0)
    # 30: the player of the last card claims the go, the card's claim being over.
    assert (referee.phase, referee.turn) == ("claim", 0)
    assert (referee.what, referee.worth, referee.count) == ("go", 1, 30)
    say(referee, 0)
    assert (referee.phase, referee.turn, referee.missed, referee.count) == ("call", 1, 1, 30)
    say(referee, 1)
    assert referee.points == {(1, "muggins", "dealer"): 1}
    assert (referee.phase, referee.turn, referee.count, referee.pile) == ("play", 1, 0, [])


def test_a_go_claimed_too_high_pays_the_other() -> None:
    referee = in_full((PONE, DEALER))
    for card in ("TS", "QC", "7C"):
        lay(referee, card, 0, 0)
    lay(referee, "3H", 0, 0, 3, 0)
    assert referee.points == {(0, "pegging", "pone"): 1, (1, "muggins", "dealer"): 2}


def test_31_is_in_the_claim_of_its_card_and_no_go_is_claimed() -> None:
    referee = in_full(("TS KD AC 3H", "QC 8D 5H JS"))
    for card in ("TS", "QC", "KD"):
        lay(referee, card, 0, 0)
    # 30. The dealer cannot play; the ace makes 31.
    referee.act(card_of("AC"))
    assert (referee.what, referee.worth) == ("card", 2)
    say(referee, 2, 0)
    assert (referee.phase, referee.turn, referee.count) == ("play", 1, 0)
    assert referee.scores == [2, 0]


def test_the_last_card_is_claimed_before_the_show() -> None:
    referee = in_full(("TS KD AC 2H", "QC 9D 4C JS"))
    for card in ("TS", "QC", "KD"):
        lay(referee, card, 0, 0)
    lay(referee, "AC", 2, 0)
    for card in ("9D", "2H", "4C", "JS"):
        lay(referee, card, 0, 0)
    # 25, and no card is left.
    assert (referee.what, referee.turn, referee.worth) == ("go", 1, 1)
    say(referee, 1, 0)
    assert referee.scores == [2, 1]
    assert (referee.phase, referee.turn, referee.what) == ("claim", 0, "hand")


def test_heels_are_never_claimed() -> None:
    referee = after_discards({"dealer": 1, "starter": "JC"}, muggins="full")
    assert referee.scores == [0, 2]
    assert referee.phase == "play"


def test_the_game_ends_in_the_midst_of_the_claims_of_the_play() -> None:
    # By the claim for a card: no go is claimed any more, and nothing called.
    referee = in_full((PONE, DEALER), (0, 119))
    lay(referee, "7C", 0, 0)
    lay(referee, "8D", 2)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 1, [0, 121])
    # By a call for what the card pegs.
    referee = in_full((PONE, DEALER), (119, 0))
    lay(referee, "7C", 0, 0)
    lay(referee, "8D", 0, 2)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 0, [121, 0])
    # By a go that is claimed.
    referee = in_full((PONE, DEALER), (120, 0))
    for card in ("TS", "QC", "7C"):
        lay(referee, card, 0, 0)
    lay(referee, "3H", 0, 0, 1)
    assert (referee.phase, referee.winner, referee.scores) == ("over", 0, [121, 0])


def test_full_muggins_with_five_cards_go_from_the_last_claim_to_the_show() -> None:
    given = {"variant": "five-card", "dealer": 1, "starter": STARTER, "target": 61}
    hands = [cards_of("KH 9D 8S"), cards_of("QS AH 2C")]
    referee = after_discards(given, hands, muggins="full")
    for card in ("KH", "QS", "9D", "AH"):
        lay(referee, card, 0, 0)
    assert (referee.phase, referee.turn, referee.what) == ("claim", 1, "go")
    say(referee, 1, 0)
    assert (referee.phase, referee.turn, referee.what) == ("claim", 0, "hand")
