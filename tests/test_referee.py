"""Holds the plain rule book against checked cases and against itself in random games."""

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from tests.referee import (
    JACK,
    RANKS,
    SUITS,
    Referee,
    name,
    pegging_parts,
    pegging_points,
    rank,
    score_hand,
    skunk_level,
    suit,
    value,
)

Case = dict[str, Any]
SHOW_SOURCES = ("hand", "crib")
SKUNKS = ("plain win", "skunk", "double skunk", "triple skunk")


def card_of(text: str) -> int:
    """Returns the card with this name, such as 5H."""
    return 4 * RANKS.index(text[0]) + SUITS.index(text[1])


def cards_of(text: str | Sequence[str]) -> list[int]:
    """Returns the cards of a list of names, or of one string with blanks between the names."""
    return [card_of(word) for word in (text.split() if isinstance(text, str) else text)]


def names_of(cards: Sequence[int] | set[int]) -> set[str]:
    """Returns the names of the cards."""
    return set(map(name, cards))


# ---- a deal put together and played out ----


@dataclass
class Laid:
    """One card laid, with what followed from it before the next card.

    Attributes:
        player: Who laid it.
        card: Its name.
        count: The count with it.
        parts: What the card pegs, by name.
        award: 1 if its player pegged a go or a last card after it, else 0.
        reason: "go" or "last", or nothing.
    """

    player: int
    card: str
    count: int
    parts: dict[str, int]
    award: int
    reason: str

    @property
    def why(self) -> str:
        """What the card pegs, as the cases write it."""
        return "+".join(f"{part} {points}" for part, points in self.parts.items())


def after_discards(
    case: Case,
    hands: Sequence[Sequence[int]] | None = None,
    crib: Sequence[int] | None = None,
) -> Referee:
    """Deals so that the players of a case keep these hands, and throws the rest.

    What the case leaves open (hands, crib, starter, scores, target) is filled with the lowest
    cards that are left, a starter that is no jack, no points and 121.
    """
    dealer = case["dealer"]
    starter = card_of(case["starter"]) if "starter" in case else None
    known = {card for hand in hands or [] for card in hand} | {starter, *(crib or [])}
    spare = [card for card in range(52) if card not in known]
    if starter is None:
        starter = next(card for card in reversed(spare) if rank(card) != JACK)
    kept = hands or [spare[0:4], spare[4:8]]
    thrown = crib or spare[8:12]

    referee = Referee(case.get("target", 121), dealer, list(case.get("scores", [0, 0])))
    pone = 1 - dealer
    discards = {pone: thrown[:2], dealer: thrown[2:]}
    referee.deal([*kept[pone], *discards[pone]], [*kept[dealer], *discards[dealer]], starter)
    for card in [*discards[pone], *discards[dealer]]:
        referee.act(card)
    return referee


def pegged(referee: Referee, player: int) -> int:
    """Returns what a player has pegged in the play so far."""
    return sum(
        points
        for (seat, source, _), points in referee.points.items()
        if seat == player and source == "pegging"
    )


def play(referee: Referee, order: Sequence[int]) -> list[Laid]:
    """Lays the cards in this order and notes each of them."""
    laid = []
    for card in order:
        player, pile = referee.turn, [*referee.pile, card]
        room, before = referee.target - referee.scores[player], pegged(referee, player)
        referee.act(card)
        award = pegged(referee, player) - before - min(pegging_points(pile), room)
        assert award in (0, 1)
        reason = ("last" if len(referee.plays) == 8 else "go") if award else ""
        count = sum(map(value, pile))
        laid.append(Laid(player, name(card), count, pegging_parts(pile), award, reason))
    return laid


def shown(referee: Referee) -> list[tuple[int, int, str]]:
    """Returns (player, points, source) of the hands and cribs that pegged, in the order counted."""
    return [
        (player, points, source)
        for (player, source, _), points in referee.points.items()
        if source in SHOW_SOURCES
    ]


def how_won(laid: Laid) -> str:
    """Returns what the winning card, or the go after it, pegged."""
    return laid.reason or laid.why


def refused(referee: Referee, card: int) -> bool:
    """Says whether the referee refuses a card, names it, and stays as it was."""
    before = deepcopy(referee)
    with pytest.raises(ValueError, match=name(card)):
        referee.act(card)
    return referee == before


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
    assert gos(laid) == expected.get("gos", [])
    assert [pegged(referee, player) for player in (0, 1)] == expected["totals"]


def gos(laid: Sequence[Laid]) -> list[Case]:
    """Returns the goes after which the opponent played on, once for each count.

    Who has no card left says nothing; a go with which the count ends is told by its award.
    """
    said: list[Case] = []
    open_count = False
    for number, (one, following) in enumerate(pairwise(laid), 1):
        other = 1 - one.player
        open_count = open_count and following.count > one.count
        holds = sum(before.player == other for before in laid[:number]) < 4
        if following.player == one.player and following.count > one.count and holds:
            if not open_count:
                said.append({"after": number, "player": other, "count": one.count})
            open_count = True
    return said


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
        room = given["target"] - given["scores"][expected["heels_to"]]
        assert referee.points == {
            (expected["heels_to"], "heels", "dealer"): min(expected["points"], room)
        }
    if "scores_capped" in expected:
        assert referee.scores == expected["scores_capped"]


def check_play_phase(given: Case, expected: Case) -> None:
    referee = after_discards(given, [cards_of(hand) for hand in given["hands"]])
    laid = play(referee, cards_of(given["order"]))
    assert referee.winner == expected["winner"]
    assert referee.scores == expected["scores_capped"]
    assert len(referee.plays) == expected["cards_played"]
    assert how_won(laid[-1]) == expected["won_by"]
    assert bool(shown(referee)) == expected["show_counted"]


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
            points = min(one["points"], given["target"] - scores[one["player"]])
            scores[one["player"]] += points
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
    assert referee.dealer == 1 - given["dealer"]


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


CHECKS: dict[str, Callable[[Case, Case], None]] = {
    "score": check_score,
    "invalid": check_invalid,
    "property": check_property,
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
    "first_to_play": check_first_to_play,
    "after_game_over": check_after_game_over,
}


def is_for_the_referee(case: Case) -> bool:
    """Says whether a case is about what the referee knows: two players, six cards, one game.

    Left out are the other variants and numbers of players, the claims of muggins, and what lies
    outside a game: the cut for the deal and the points of a match. To widen the referee, take
    away the line that holds its cases back; a kind that is let in without a check fails.
    """
    given = case["input"]
    return (
        given.get("variant", "six-card") == "six-card"
        and given.get("players", 2) == 2
        and given["kind"] != "muggins"
        and given["kind"] not in ("cut_for_deal", "match_points")
    )


ALL_CASES: list[Case] = [
    json.loads(line)
    for path in sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
CASES = [case for case in ALL_CASES if is_for_the_referee(case)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: Case) -> None:
    """Each checked case comes out as it says."""
    CHECKS[case["input"]["kind"]](case["input"], case["expected"])


def test_every_check_has_a_case() -> None:
    """No check is there for nothing, and none lost its cases to the filter."""
    assert {case["input"]["kind"] for case in CASES} == set(CHECKS)


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


def test_random_games_hold_the_invariants() -> None:
    """Random games end, lose no card, play none twice, and account for every point."""
    rng = random.Random(3)
    for _ in range(300):
        referee = Referee(rng.choice([1, 2, 31, 61, 121, 121, 121]), rng.randrange(2))
        deals = 0
        while referee.phase != "over":
            if referee.needs_deal:
                deals += 1
                assert deals <= referee.target  # Each deal pegs at least its last card.
                deck = rng.sample(range(52), 13)
                referee.deal(deck[:6], deck[6:12], deck[12])
            referee.act(rng.choice(sorted(referee.legal())))
            check_invariants(referee)
        assert referee.winner is not None
        assert referee.scores[referee.winner] == referee.target
        assert referee.scores[1 - referee.winner] < referee.target
        assert skunk_level(referee.scores[1 - referee.winner], referee.target) in (0, 1, 2)


def check_invariants(referee: Referee) -> None:
    """Holds a position against what is true of every position."""
    assert referee.count == sum(map(value, referee.pile)) <= 31
    laid = [card for _, card in referee.plays]
    assert laid[len(laid) - len(referee.pile) :] == referee.pile
    for player in (0, 1):
        played = [card for seat, card in referee.plays if seat == player]
        places = [*played, *referee.hands[player], *referee.discards[player]]
        assert sorted(places) == sorted(referee.dealt[player])
        assert len(places) == len(set(places)) == 6
        mine = [points for (seat, _, _), points in referee.points.items() if seat == player]
        assert sum(mine) == referee.scores[player] <= referee.target
    if referee.phase != "over" and not referee.needs_deal:
        assert referee.legal()
    for one, other in combinations(referee.dealt, 2):
        assert not one & other
        assert referee.starter not in one | other
