"""Holds the plain rule book against checked cases, and some of our own."""

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from pathlib import Path

import pytest

from tests.referee import (
    CLAIM,
    JACK,
    RANKS,
    VARIANTS,
    Referee,
    cut_for_deal,
    pegging_parts,
    pegging_points,
    rank,
    score_hand,
    skunk_level,
    suit,
    value,
)
from tests.referee_games import new_game, play_out
from tests.referee_table import (
    Case,
    Laid,
    after_discards,
    card_of,
    cards_of,
    how_won,
    names_of,
    pegged,
    play,
    refused,
    say,
    shown,
)

SKUNKS = ("plain win", "skunk", "double skunk", "triple skunk")

# ---- one check for each kind of case ----


def check_score(given: Case, expected: Case) -> None:
    parts = score_hand(cards_of(given["hand"]), card_of(given["starter"]), given["crib"])
    assert parts == expected["parts"]
    assert sum(parts.values()) == expected["points"]


def check_invalid(given: Case, expected: Case) -> None:
    for is_crib in (False, True):
        with pytest.raises(ValueError, match=expected["error"]):
            score_hand(cards_of(given["hand"]), card_of(given["starter"]), is_crib)


def check_property(given: Case, expected: Case) -> None:
    rng = random.Random(1)
    for _ in range(given.get("samples", 10_000)):
        *hand, starter = rng.sample(range(52), 5)
        for is_crib in given.get("crib", [False, True]):
            parts = score_hand(hand, starter, is_crib)
            if given["name"] == "impossible totals":
                assert sum(parts.values()) not in expected["never"]
                assert sum(parts.values()) <= expected["max"]
            else:
                assert given["name"] == "order and suit renaming"
                suits = rng.sample(range(4), 4)
                *other, turned = [4 * rank(card) + suits[suit(card)] for card in [*hand, starter]]
                assert score_hand(rng.sample(other, 4), turned, is_crib) == parts


def check_stack(given: Case, expected: Case) -> None:
    cards = cards_of(given["cards"])
    piles = [cards[:size] for size in range(1, len(cards) + 1)]
    assert [pegging_points(pile) for pile in piles] == expected["points"]
    assert [sum(map(value, pile)) for pile in piles] == expected["counts"]
    why = ["+".join(f"{part} {n}" for part, n in pegging_parts(pile).items()) for pile in piles]
    assert why == expected["why"]


def check_deal(given: Case, expected: Case) -> None:
    referee = after_discards(given, [cards_of(hand) for hand in given["hands"]])
    laid = play(referee, cards_of(given["order"]))
    assert [
        {
            "player": one.player,
            "card": one.card,
            "count": one.count,
            "points": sum(one.parts.values()),
            "why": one.why,
        }
        for one in laid
    ] == expected["plays"]
    assert [
        {"after": number, "player": one.player, "points": one.award, "reason": one.reason}
        for number, one in enumerate(laid, 1)
        if one.award
    ] == expected["awards"]
    assert gos(laid, len(given["hands"])) == expected.get("gos", [])
    totals = [pegged(referee, player) for player in range(referee.players)]
    assert totals == expected["totals"]
    if "side_totals" in expected:
        assert [sum(totals[side::2]) for side in (0, 1)] == expected["side_totals"]
    unplayed = [names_of(hand) for hand in referee.hands]
    assert unplayed == [set(cards) for cards in expected.get("unplayed", [[]] * referee.players)]


def gos(laid: Sequence[Laid], players: int) -> list[Case]:
    """Returns the goes after which somebody else played on, once for each count and player.

    Who has no card left says nothing; a go with which the count ends is told by its award.
    """
    said: list[Case] = []
    in_this_count: set[int] = set()
    for number, (one, following) in enumerate(pairwise(laid), 1):
        if following.count < one.count:
            in_this_count = set()
            continue
        other = (one.player + 1) % players
        while other != following.player:
            holds = sum(before.player == other for before in laid[:number]) < 4
            if holds and other not in in_this_count:
                said.append({"after": number, "player": other, "count": one.count})
                in_this_count.add(other)
            other = (other + 1) % players
    return said


def check_dealing(given: Case, expected: Case) -> None:
    if "error" in expected:
        for players in given["players"]:
            for cards_dealt in (5, 6):
                with pytest.raises(ValueError, match=f"no game for {players} players"):
                    Referee(121, 0, players=players, cards_dealt=cards_dealt)
        return
    players = given["players"]
    referee = after_discards({"players": players, "dealer": 0})
    out_of_the_pack = set().union(*referee.dealt, referee.crib)
    assert {len(hand) for hand in referee.dealt} == {expected["hand"]}
    assert {len(cards) for cards in referee.discards} == {expected["discard_each"]}
    assert {len(hand) for hand in referee.hands} == {expected["kept"]}
    assert len(referee.crib) == expected["crib"]
    assert len(referee.crib.difference(*referee.dealt)) == expected["auto_crib"]
    assert 52 - len(out_of_the_pack) == expected["undealt_before_starter"]
    for one, other in expected.get("partners", []):
        assert referee.side(one) == referee.side(other)
    assert referee.sides == (len(expected["partners"]) if "partners" in expected else players)
    # The card from the pack is in no hand, so only the crib that is counted can tell of it.
    assert expected.get("auto_crib_hidden", True)
    assert all(referee.pack_card not in hand for hand in referee.dealt)


def check_dealer_rotation(given: Case, expected: Case) -> None:
    assert given["players"] == 3
    referee = new_game("three-player", given["first_dealer"], target=1000)
    dealers: list[int] = []
    for action in play_out(referee, random.Random(4)):
        if action is None:
            dealers.append(referee.dealer)
        if len(dealers) == given["deals"]:
            break
    assert dealers == expected["dealers"]


def check_cut_for_deal(given: Case, expected: Case) -> None:
    cuts = [card_of(given["cuts"][str(seat)]) for seat in range(len(given["cuts"]))]
    first = None if expected["first_dealer"] == "recut" else expected["first_dealer"]
    assert cut_for_deal(cuts) == first


def check_legal(given: Case, expected: Case) -> None:
    hand = cards_of(given["hand"])
    referee = Referee(
        target=121,
        dealer=1,
        hands=[set(hand), set(cards_of("KC KS"))],
        pile=cards_of(given.get("played", [])),
        count=given["count"],
        phase="play",
        turn=0,
        needs_deal=False,
    )
    if "legal" in expected:
        assert names_of(referee.legal()) == set(expected["legal"])
        for card in set(hand) - referee.legal():
            assert refused(referee, card)
    if "go" in expected:
        # A go is no choice of the player: it is said for those, and only those, without a card.
        assert (not referee.legal()) == expected["go"]
    if "error" in expected:
        assert refused(referee, card_of(given["try_card"])) == expected["error"]
    if "then" in expected:
        assert expected["then"] == "count resets to 0, other player leads"
        assert given["count"] == 31
        last = card_of("TC")
        referee.hands[0].add(last)
        referee.count -= value(last)
        referee.act(last)
        assert (referee.count, referee.pile, referee.turn) == (0, [], 1)


def check_starter(given: Case, expected: Case) -> None:
    referee = after_discards(given)
    assert referee.winner == expected["winner"]
    if "heels_to" in expected:
        room = given["target"] - given["scores"][referee.side(expected["heels_to"])]
        assert referee.points == {
            (expected["heels_to"], "heels", "dealer"): min(expected["points"], room)
        }
    if "scores_capped" in expected:
        assert referee.scores == expected["scores_capped"]


def check_play_phase(given: Case, expected: Case) -> None:
    # With muggins in the show alone, the play is as without, and then waits for pone's claim.
    referee = after_discards(
        given, [cards_of(hand) for hand in given["hands"]], crib=None, muggins="show"
    )
    laid = play(referee, cards_of(given["order"]))
    assert referee.winner == expected["winner"]
    assert referee.scores == expected["scores_capped"]
    assert len(referee.plays) == expected["cards_played"]
    assert not shown(referee)
    assert not expected.get("show_counted", False)
    if expected["winner"] is None:
        assert (referee.phase, referee.turn) == ("claim", referee.pone)
    else:
        assert referee.phase == "over"
        assert how_won(laid[-1]) == expected["won_by"]


def check_show_phase(given: Case, expected: Case) -> None:
    hands = [cards_of(hand) for hand in given["hands"]]
    referee = after_discards(given, hands, cards_of(given["crib"]))
    referee.show()
    assert referee.winner == expected["winner"]
    if "scores_capped" in expected:
        assert referee.scores == expected["scores_capped"]
    if "counted" in expected:
        scores, counted = list(given["scores"]), []
        for one in expected["counted"]:
            side = referee.side(one["player"])
            points = min(one["points"], given["target"] - scores[side])
            scores[side] += points
            counted.append((one["player"], points, one["what"]))
        assert shown(referee) == counted


def check_show_phase_exact(given: Case, expected: Case) -> None:
    pone_hand = cards_of(given["pone_hand"])
    taken = {*pone_hand, card_of(given["starter"])}
    dealer_hand = [card for card in range(52) if card not in taken][-4:]
    hands = [dealer_hand, pone_hand] if given["dealer"] == 0 else [pone_hand, dealer_hand]
    referee = after_discards(given, hands)
    referee.show()
    assert referee.winner == expected["winner"]


def check_full_deal(given: Case, expected: Case) -> None:
    hands = [cards_of(hand) for hand in given["hands"]]
    referee = after_discards(given, hands, cards_of(given["crib"]))
    events: list[tuple[int, int, str]] = []
    for one in play(referee, cards_of(given["order"])):
        events.append((one.player, sum(one.parts.values()), f"play {one.card}"))
        events.append((one.player, one.award, one.reason))
    events = [event for event in events if event[1]] + shown(referee)
    assert events == [tuple(event) for event in expected["events"]]
    assert referee.scores == expected["scores"]
    assert referee.winner == expected["winner"]
    assert referee.needs_deal
    assert referee.dealer == (given["dealer"] + 1) % given["players"]


def check_game(given: Case, expected: Case) -> None:
    # "every deal: dealer A B C D (discards E F), pone ... (discards ...), starter S, play ..."
    words = given["deal"].replace("(", "").replace(")", "").replace(",", "").split()
    cards = [card_of(word) for word in words if len(word) == 2 and word[0] in RANKS]
    dealer_cards, pone_cards, starter, order = cards[:6], cards[6:12], cards[12], cards[13:]
    assert len(order) == 8

    referee = Referee(given["target"], given["first_dealer"])
    after_each_deal: list[list[int]] = []
    while referee.needs_deal:
        referee.deal(pone_cards, dealer_cards, starter)
        for card in [*pone_cards[4:], *dealer_cards[4:]]:
            referee.act(card)
        laid = []
        for card in order:
            laid += play(referee, [card])
            if referee.phase == "over":
                break
        else:
            after_each_deal.append(list(referee.scores))
    assert after_each_deal == expected["after_each_deal"]
    assert referee.scores == [min(score, given["target"]) for score in expected["final"]]
    assert referee.winner == expected["winner"]
    assert expected["won_by"] == "pair on the second card of deal 9"
    assert how_won(laid[-1]) == "pair 2"
    assert len(laid) == 2
    assert len(after_each_deal) == 8


def check_skunk(given: Case, expected: Case) -> None:
    loser_score = given.get("loser_score")
    if loser_score is None:
        hands = [cards_of(hand) for hand in given["hands"]]
        referee = after_discards(given, hands, cards_of(given["crib"]))
        referee.show()
        assert referee.winner == expected["winner"]
        loser_score = referee.scores[1 - expected["winner"]]
        assert loser_score == expected["loser_final"]
    assert SKUNKS[skunk_level(loser_score, given["target"])] == expected["result"]


def check_discard(given: Case, expected: Case) -> None:
    hand = cards_of(given["hand"])
    others = [card for card in range(52) if card not in hand]

    def after(thrown: Sequence[int]) -> Referee:
        referee = Referee(target=121, dealer=1)
        referee.deal(hand, others[:6], others[6])
        for card in thrown:
            assert card in referee.legal()
            referee.act(card)
        return referee

    same_state = after(cards_of(given["a"])) == after(cards_of(given["b"]))
    assert same_state == expected["same_state"]
    states: list[Referee] = []
    for thrown in permutations(hand, 2):
        state = after(thrown)
        if state not in states:
            states.append(state)
    assert len(states) == expected["distinct_actions"]


def check_first_to_play(given: Case, expected: Case) -> None:
    opening = after_discards(given)
    assert (opening.phase, opening.turn) == ("play", expected["first_lead"])
    assert expected["after_31_or_go"] == (
        "opponent of the player who laid the last card, or the only player with cards"
    )
    rng = random.Random(2)
    leads = 0
    for _ in range(200):
        cards = rng.sample([card for card in range(52) if rank(card) != JACK], 8)
        referee = after_discards(given, [cards[:4], cards[4:]])
        while not referee.needs_deal:
            last = referee.turn
            referee.act(rng.choice(sorted(referee.legal())))
            if referee.count == 0 and not referee.needs_deal:
                leads += 1
                assert referee.turn == (1 - last if referee.hands[1 - last] else last)
    assert leads > 200


def check_after_game_over(given: Case, expected: Case) -> None:
    assert given["event"] == "step after a win"
    referee = after_discards({"dealer": 1, "scores": [119, 119], "starter": "JC"})
    assert (referee.phase, referee.winner, referee.legal()) == ("over", 1, set())
    for card in range(52):
        assert refused(referee, card) == expected["error_or_noop"]
    assert (referee.scores == [119, 121]) == expected["scores_unchanged"]


def check_muggins(given: Case, expected: Case) -> None:
    if "event" in given:
        check_muggins_in_the_play(given, expected)
        return
    counter, opponent = given["counter"], given["opponent"]
    hands = [cards_of("2C 3C 4D KS"), cards_of("2C 3C 4D KS")]
    hands[counter] = cards_of(given["hand"])
    # The opponent deals, so that this hand is counted first.
    case = {"dealer": opponent, "scores": given["scores"], "starter": given["starter"]}
    for called in range(32):
        referee = after_discards(case, hands, muggins="show")
        referee.show()
        assert (referee.turn, referee.worth) == (counter, given["true_points"])
        say(referee, given["claim"])
        assert (referee.phase, referee.turn) == ("call", opponent)
        assert pegged(referee, counter, "hand") == expected["counter_gets"]
        assert referee.missed == expected["opponent_may_take"]
        say(referee, called)
        assert referee.scores == expected["scores_if_taken"]
        assert referee.winner == expected["winner"]


def check_muggins_in_the_play(given: Case, expected: Case) -> None:
    assert given["event"] == "missed fifteen in play"
    hands = [cards_of("7D 2C 3S KH"), cards_of("8H 9C QD KD")]
    for called in range(32):
        referee = after_discards({"dealer": 1}, hands, muggins="full")
        referee.act(card_of("7D"))
        say(referee, 0, 0)
        referee.act(card_of("8H"))
        say(referee, 0, called)
        may_take = expected["opponent_may_take"]
        assert referee.scores == [called if called <= may_take else 0, 0]
        # The right lapses with the next card: nothing can be called any more.
        assert given["claim_before"] == "the opponent's next card"
        assert (referee.phase, referee.turn) == ("play", 0)
        assert refused(referee, CLAIM + may_take)


CHECKS: dict[str, Callable[[Case, Case], None]] = {
    "score": check_score,
    "invalid": check_invalid,
    "property": check_property,
    "stack": check_stack,
    "deal": check_deal,
    "dealing": check_dealing,
    "dealer_rotation": check_dealer_rotation,
    "cut_for_deal": check_cut_for_deal,
    "legal": check_legal,
    "starter": check_starter,
    "play_phase": check_play_phase,
    "show_phase": check_show_phase,
    "show_phase_exact": check_show_phase_exact,
    "full_deal": check_full_deal,
    "game": check_game,
    "skunk": check_skunk,
    "discard": check_discard,
    "first_to_play": check_first_to_play,
    "after_game_over": check_after_game_over,
    "muggins": check_muggins,
}


def kind_of(case: Case) -> str:
    """Returns the kind of a case; a deal without hands is about the dealing alone."""
    given = case["input"]
    kind: str = given["kind"]
    return "dealing" if kind == "deal" and "hands" not in given else kind


ALL_CASES: list[Case] = [
    json.loads(line)
    for path in sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
# The points of a match lie outside a game, and so outside the referee.
CASES = [case for case in ALL_CASES if kind_of(case) != "match_points"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: Case) -> None:
    """Each checked case comes out as it says."""
    CHECKS[kind_of(case)](case["input"], case["expected"])


def test_every_check_has_a_case() -> None:
    """No check is there for nothing, and every variant has cases."""
    assert set(map(kind_of, CASES)) == set(CHECKS)
    assert {case["input"].get("variant") for case in CASES} >= set(VARIANTS)


# ---- cases of our own ----


def test_deal_refuses_wrong_cards() -> None:
    """A deal is thirteen different cards, and comes only when it is due."""
    referee = Referee(target=121, dealer=0)
    for pone, dealer, starter in (
        (range(5), range(6, 12), 12),
        (range(6), range(5, 11), 12),
        (range(6), range(6, 12), 11),
        (range(6), range(6, 12), 52),
    ):
        with pytest.raises(ValueError, match="cards"):
            referee.deal(pone, dealer, starter)
        assert referee == Referee(target=121, dealer=0)
    referee.deal(range(6), range(6, 12), 12)
    with pytest.raises(ValueError, match="no deal is due"):
        referee.deal(range(6), range(6, 12), 12)


def test_triple_skunk_is_an_option() -> None:
    """Thirty or less of 121 is a triple only if asked for; a line at zero does not exist."""
    for score, level in ((91, 0), (90, 1), (61, 1), (60, 2), (31, 2), (30, 3)):
        assert skunk_level(score, 121, triple=True) == level
        assert skunk_level(score, 121) == min(level, 2)
    for target, level in ((30, 0), (31, 1), (60, 1), (61, 2), (90, 2), (91, 3)):
        assert skunk_level(0, target, triple=True) == level


def test_published_sample_deal() -> None:
    """Heels, then at the show 9 for pone, and 16 and a crib of 6 for the dealer."""
    dealer_cards, pone_cards = cards_of("4D 5C 5H 6S TH KH"), cards_of("7C 8C 9C QC 2H 3H")
    referee = Referee(target=121, dealer=0)
    referee.deal(pone_cards, dealer_cards, card_of("JD"))
    for card in [*pone_cards[4:], *dealer_cards[4:]]:
        referee.act(card)
    assert referee.points == {(0, "heels", "dealer"): 2}
    referee.show()
    assert shown(referee) == [(1, 9, "hand"), (0, 16, "hand"), (0, 6, "crib")]
    assert referee.scores == [24, 9]
