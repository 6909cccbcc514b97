"""Holds the plain rule book against itself in random games of every variant and muggins mode."""

import random
from itertools import combinations
from typing import Any

import pytest

from tests.referee import CLAIM, VARIANTS, Referee, skunk_level, value
from tests.referee_games import KINDS, choose, new_game, play_out, shuffled

GAMES = 12
FIELDS = ("scores", "points", "plays", "hands", "discards", "dealer", "needs_deal", "winner")


def check_invariants(referee: Referee, start: list[int]) -> None:
    """Holds a position against what is true of every position."""
    assert referee.count == sum(map(value, referee.pile)) <= 31
    laid = [card for _, card in referee.plays]
    assert laid[len(laid) - len(referee.pile) :] == referee.pile
    for seat in range(referee.players):
        played = [card for player, card in referee.plays if player == seat]
        places = [*played, *referee.hands[seat], *referee.discards[seat]]
        assert sorted(places) == sorted(referee.dealt[seat])
        assert len(places) == len(set(places)) == referee.cards_dealt
    for one, other in combinations([*referee.dealt, {referee.pack_card}, {referee.starter}], 2):
        assert not one & other
    for side, score in enumerate(referee.scores):
        mine = [
            points for (seat, _, _), points in referee.points.items() if referee.side(seat) == side
        ]
        assert start[side] + sum(mine) == score <= referee.target
    assert referee.muggins != "none" or not any(key[1] == "muggins" for key in referee.points)
    if referee.phase == "over":
        assert [score == referee.target for score in referee.scores].count(True) == 1
        assert referee.winner == referee.scores.index(referee.target)
    elif not referee.needs_deal:
        assert referee.legal()
    if referee.phase in ("play", "claim", "call"):
        assert len(referee.crib) == 4


def play_and_check(referee: Referee, rng: random.Random) -> None:
    """Plays a game out; every deal must end, and every position hold the invariants."""
    start = list(referee.scores)
    cards = referee.players * referee.cards_dealt
    # Each card may be claimed, each go, hand and crib, and each claim be called by all others.
    most = cards + (2 * cards + referee.players + 1) * referee.players
    in_this_deal = 0
    for action in play_out(referee, rng):
        in_this_deal = 0 if action is None else in_this_deal + 1
        assert in_this_deal <= most
        check_invariants(referee, start)


@pytest.mark.parametrize(("variant", "muggins", "penalty"), KINDS)
def test_random_games_hold_the_invariants(variant: str, muggins: str, penalty: bool) -> None:
    rng = random.Random(f"{variant} {muggins} {penalty}")
    sources = set()
    for _ in range(GAMES):
        dealer = rng.randrange(VARIANTS[variant][0])
        referee = new_game(variant, dealer, muggins, penalty, rng.choice([4, 31, 61, 121, 121]))
        play_and_check(referee, rng)
        sources |= {source for _, source, _ in referee.points}
        for side, score in enumerate(referee.scores):
            level = skunk_level(score, referee.target)
            assert level == 0 if side == referee.winner else level in (0, 1, 2)
    claimed = {"muggins"} if muggins != "none" else set()
    assert sources == {"heels", "pegging", "hand", "crib"} | claimed


def test_random_games_of_two_to_small_targets_hold_the_invariants() -> None:
    rng = random.Random(3)
    for _ in range(60):
        referee = new_game("six-card", rng.randrange(2), target=rng.choice([1, 2, 3]))
        play_and_check(referee, rng)


def settled(referee: Referee) -> dict[str, Any]:
    """Returns what two games must have in common when both wait for a card or are over."""
    return {field: getattr(referee, field) for field in FIELDS}


@pytest.mark.parametrize("muggins", ["show", "full"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_with_honest_claims_muggins_change_nothing(variant: str, muggins: str) -> None:
    rng = random.Random(f"{variant} {muggins}")
    for _ in range(GAMES):
        dealer = rng.randrange(VARIANTS[variant][0])
        plain, claimed = new_game(variant, dealer), new_game(variant, dealer, muggins)
        for action in play_out(plain, rng):
            if action is None:
                hands = [plain.dealt[seat] for seat in plain.leftwards(plain.dealer)]
                pack = [plain.pack_card] if plain.players == 3 else []
                claimed.deal(*hands, *pack, plain.starter)
            else:
                claimed.act(action)
                while claimed.phase in ("claim", "call"):
                    honest = claimed.worth if claimed.phase == "claim" else 0
                    claimed.act(CLAIM + honest)
            assert settled(claimed) == settled(plain)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_not_claimed_and_all_called_goes_to_the_seat_at_the_left(variant: str) -> None:
    rng = random.Random(variant)
    dealer = 0
    plain = new_game(variant, dealer, target=5000)
    silent = new_game(variant, dealer, "full", target=5000)
    for _ in range(40):
        cards = shuffled(plain, rng)
        plain.deal(*cards)
        silent.deal(*cards)
        while not plain.needs_deal:
            action = choose(plain, rng)
            plain.act(action)
            silent.act(action)
            while silent.phase in ("claim", "call"):
                silent.act(CLAIM + (silent.missed if silent.phase == "call" else 0))
        assert silent.needs_deal
    by_seat = [0] * plain.players
    for (seat, source, _), points in plain.points.items():
        by_seat[seat if source == "heels" else (seat + 1) % plain.players] += points
    called = [0] * plain.players
    for (seat, source, _), points in silent.points.items():
        assert source in ("heels", "muggins")
        called[seat] += points
    assert called == by_seat


@pytest.mark.parametrize(("variant", "muggins", "penalty"), KINDS)
def test_no_seat_is_favoured(variant: str, muggins: str, penalty: bool) -> None:
    players = VARIANTS[variant][0]
    rng = random.Random(f"seats {variant} {muggins} {penalty}")
    for _ in range(2):
        games = [new_game(variant, dealer, muggins, penalty) for dealer in range(players)]
        for action in play_out(games[0], rng):
            first = games[0]
            for shift, game in enumerate(games[1:], 1):
                if action is None:
                    hands = [first.dealt[seat] for seat in first.leftwards(first.dealer)]
                    pack = [first.pack_card] if players == 3 else []
                    game.deal(*hands, *pack, first.starter)
                else:
                    game.act(action)
                assert game.phase == first.phase
                assert (first.turn + shift) % players == game.turn
                assert {
                    ((seat + shift) % players, source, role): points
                    for (seat, source, role), points in first.points.items()
                } == game.points


def test_the_driver_deals_what_it_is_given() -> None:
    rng = random.Random(9)
    referee = new_game("three-player", 0, target=31)
    dealt = []

    def deal() -> None:
        cards = shuffled(referee, rng)
        dealt.append(cards)
        referee.deal(*cards)

    deals = [list(referee.dealt) for action in play_out(referee, rng, deal) if action is None]
    assert len(dealt) == len(deals) > 0
    assert (referee.phase, referee.starter) == ("over", dealt[-1][-1])
