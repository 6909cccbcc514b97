"""The hash that all luck comes from, and whether what is dealt by it is fair.

Each chi-square here is of one fixed seed, so that its result never changes; it fails where the
chance of so uneven a count, or of a more uneven one, is below LEVEL.
"""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from crib_env.batch import Games
from crib_env.cards import NUM_CARDS
from crib_env.game_record import Phase
from crib_env.luck import lane_seed, philox
from crib_env.records import lane_seeds
from tests.tabletop import random_actions

LEVEL = 1e-4
LANES = 100_000

Ints = npt.NDArray[np.int64]


# ---- the hash ----


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 " * 4, "00000000 " * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_published_words(counter: str, key: str, words: str) -> None:
    # The known-answer vectors of Random123, the authors' own library.
    given = [int(word, 16) for word in f"{counter} {key}".split()]
    assert [f"{word:08x}" for word in philox(*given)] == words.split()


@pytest.mark.nojit
def test_lane_seed_is_a_hash_and_no_sum() -> None:
    assert len({lane_seed(seed, lane) for seed in range(40) for lane in range(40)}) == 1_600


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64 - 1])
def test_lane_seeds_of_a_batch_are_those_of_its_lanes(seed: int) -> None:
    assert lane_seeds(seed, 5).tolist() == [lane_seed(seed, lane) for lane in range(5)]


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, True, float("inf")])
def test_a_seed_out_of_range_is_refused_by_name(seed: int) -> None:
    named = f"seed {seed!r}"
    with pytest.raises(ValueError, match=named):
        lane_seed(seed, 0)
    with pytest.raises(ValueError, match=named):
        Games(1, seed=seed)
    with pytest.raises(ValueError, match=named):
        Games(1, seed=[seed])


# ---- nothing else draws, nothing is drawn twice ----


def roles(games: Games) -> tuple[Ints, Ints, Ints]:
    """Returns pone's hand, the dealer's hand and the starter of each lane."""
    records, lanes = games.records, np.arange(len(games))
    dealer = records["dealer"].astype(np.int64)
    return (
        records["hands"][lanes, 1 - dealer],
        records["hands"][lanes, dealer],
        records["starter"].astype(np.int64),
    )


def deals(games: Games) -> list[tuple[int, ...]]:
    """Returns the cards of each lane's deal by role."""
    return list(zip(*(part.tolist() for part in roles(games)), strict=True))


def test_seeds_1_2_and_3_share_no_deal() -> None:
    seen: set[tuple[int, ...]] = set()
    for seed in (1, 2, 3):
        games = Games(10_000, seed=seed)
        seen.update(deals(games))
        play_one_deal(games)
        seen.update(deals(games))
    assert len(seen) == 3 * 2 * 10_000


def test_a_thousand_games_of_one_seed_are_all_different() -> None:
    # D040: the second game is not the first once more.
    games = Games(1, seed=[9])
    seen = set()
    for _ in range(1_000):
        seen.update(deals(games))
        games.next_game([0])
    assert len(seen) == 1_000


def test_lanes_of_eight_batches_differ_pairwise_and_come_again() -> None:
    # D038: runners that are given seeds of their own do not play the same games.
    first = [deals(Games(8, seed=seed)) for seed in range(8)]
    assert len({deal for batch in first for deal in batch}) == 64
    assert [deals(Games(8, seed=seed)) for seed in range(8)] == first


def test_games_touch_no_global_generator_and_none_touches_them() -> None:
    # D041.
    def cards_of_100_games() -> bytes:
        games = Games(100, seed=10)
        games.play_bots([0, 2])
        return games.records.tobytes()

    cards = cards_of_100_games()
    before = random.getstate(), np.random.get_state()  # noqa: NPY002  # the global one is meant
    cards_of_100_games()
    assert random.getstate() == before[0]
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(one, other) for one, other in zip(before[1], after, strict=True))
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    assert cards_of_100_games() == cards


# ---- chi-square ----


def chance(observed: npt.NDArray[np.integer], expected: float) -> float:
    """Returns the chance of counts as uneven as these or more, all cells alike likely."""
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, observed.size - 1))


def chance_of_members(hands: Ints, size: int) -> float:
    """Returns the chance of so uneven a number of hands for each card, hands being sets.

    Cards of a hand differ, so their counts hang together: the variance of a count is n p (1 - p)
    and two counts' covariance -n p (1 - p) / 51, which leaves the sum below a chi-square of 51.
    """
    counts = np.array([(hands >> card & 1).sum() for card in range(NUM_CARDS)])
    share = size / NUM_CARDS
    variance = len(hands) * share * (1 - share)
    statistic = ((counts - len(hands) * share) ** 2).sum() / variance * 51 / 52
    return float(stats.chi2.sf(statistic, 51))


def some_card(hands: Ints, rng: np.random.Generator) -> Ints:
    """Returns one card of each hand, all alike likely."""
    members = hands[:, None] >> np.arange(NUM_CARDS) & 1
    return random_actions(members.astype(np.int8), rng)


def chance_of_pairs(one: Ints, other: Ints, *, of_one_deal: bool) -> float:
    """Returns the chance of so uneven a number for each two cards, ordered; equal ones, if any."""
    table = np.bincount(one * NUM_CARDS + other, minlength=NUM_CARDS**2)
    if of_one_deal:
        different = ~np.eye(NUM_CARDS, dtype=bool).ravel()
        assert table[~different].sum() == 0
        table = table[different]
    return chance(table, len(one) / table.size)


def play_one_deal(games: Games) -> None:
    """Plays every lane, at random, to its second deal."""
    rng = np.random.default_rng(12)
    while True:
        lanes = np.flatnonzero((games.records["deal_number"] == 0) & ~games.over)
        if not len(lanes):
            break
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
    assert (games.records["phase"] == Phase.DISCARD).all()


@pytest.fixture(scope="module")
def dealt() -> Games:
    """A hundred thousand first deals of one seed."""
    return Games(LANES, seed=20)


@pytest.fixture(scope="module")
def dealt_again(dealt: Games) -> Games:
    """The second deals of the same games."""
    games = dealt.copy()
    play_one_deal(games)
    return games


def test_every_card_comes_to_every_place_alike_often(dealt: Games, dealt_again: Games) -> None:
    for games in (dealt, dealt_again):
        pone, dealer, starter = roles(games)
        assert chance_of_members(pone, 6) > LEVEL
        assert chance_of_members(dealer, 6) > LEVEL
        assert chance(np.bincount(starter, minlength=NUM_CARDS), LANES / NUM_CARDS) > LEVEL


def test_every_two_cards_come_to_every_two_places_alike_often(dealt: Games) -> None:
    rng = np.random.default_rng(21)
    pone, dealer, starter = roles(dealt)
    one, other = some_card(pone, rng), some_card(dealer, rng)
    assert chance_of_pairs(one, other, of_one_deal=True) > LEVEL
    assert chance_of_pairs(one, starter, of_one_deal=True) > LEVEL
    assert chance_of_pairs(other, starter, of_one_deal=True) > LEVEL
    # Two places of one hand.
    for hand, first in ((pone, one), (dealer, other)):
        second = some_card(hand ^ np.int64(1) << first, rng)
        assert chance_of_pairs(first, second, of_one_deal=True) > LEVEL


def test_neighbouring_lanes_are_independent(dealt: Games) -> None:
    rng = np.random.default_rng(22)
    pone, dealer, starter = roles(dealt)
    card = some_card(pone, rng)
    assert chance_of_pairs(card[:-1], card[1:], of_one_deal=False) > LEVEL
    assert chance_of_pairs(starter[:-1], starter[1:], of_one_deal=False) > LEVEL
    assert chance_of_pairs(some_card(dealer, rng)[:-1], card[1:], of_one_deal=False) > LEVEL


@pytest.mark.parametrize("step", [1, 2**16, 2**32])
def test_neighbouring_seeds_are_independent(step: int) -> None:
    rng = np.random.default_rng(23)
    seeds = range(50_000)
    one = roles(Games(len(seeds), seed=list(seeds)))
    other = roles(Games(len(seeds), seed=[seed + step for seed in seeds]))
    assert chance_of_pairs(one[2], other[2], of_one_deal=False) > LEVEL
    first, second = some_card(one[0], rng), some_card(other[0], rng)
    assert chance_of_pairs(first, second, of_one_deal=False) > LEVEL


def test_neighbouring_deals_are_independent(dealt: Games, dealt_again: Games) -> None:
    rng = np.random.default_rng(24)
    one, other = roles(dealt), roles(dealt_again)
    assert chance_of_pairs(one[2], other[2], of_one_deal=False) > LEVEL
    for role in (0, 1):
        first, second = some_card(one[role], rng), some_card(other[role], rng)
        assert chance_of_pairs(first, second, of_one_deal=False) > LEVEL


def test_neighbouring_games_are_independent(dealt: Games) -> None:
    rng = np.random.default_rng(25)
    games = dealt.copy()
    games.next_game(np.arange(LANES))
    one, other = roles(dealt), roles(games)
    assert chance_of_pairs(one[2], other[2], of_one_deal=False) > LEVEL
    first, second = some_card(one[0], rng), some_card(other[0], rng)
    assert chance_of_pairs(first, second, of_one_deal=False) > LEVEL


def test_cut_for_deal_is_fair_in_every_game() -> None:
    games = Games(LANES, seed=26, first_dealer="cut")
    dealers = [games.records["dealer"].copy()]
    games.next_game(np.arange(LANES))
    dealers.append(games.records["dealer"].copy())
    both = np.bincount(2 * dealers[0] + dealers[1], minlength=4)
    assert chance(both, LANES / 4) > LEVEL


def test_cut_for_deal_is_independent_of_the_cards() -> None:
    games = Games(LANES, seed=27, first_dealer="cut")
    table = np.bincount(2 * roles(games)[2] + games.records["dealer"], minlength=104)
    assert chance(table, LANES / 104) > LEVEL


# ---- the players' luck ----


def luck_at_decisions(games: Games, number: int) -> list[npt.NDArray[np.uint64]]:
    """Returns the luck of the first decisions of each lane; plays the lowest cards."""
    luck = []
    for _ in range(number):
        luck.append(games.luck())
        games.apply(games.action_masks().argmax(axis=1))
    return luck


def test_luck_of_players_is_uniform_and_independent_from_decision_to_decision() -> None:
    luck = luck_at_decisions(Games(LANES, seed=28), 12)
    for shift in (0, 26, 32, 58):
        bins = [(one >> np.uint64(shift) & np.uint64(63)).astype(np.int64) for one in luck]
        for one in bins:
            assert chance(np.bincount(one, minlength=64), LANES / 64) > LEVEL
        for one, other in pairwise(bins):
            table = np.bincount(one * 64 + other, minlength=4096)
            assert chance(table, LANES / 4096) > LEVEL


def test_both_words_of_luck_are_independent() -> None:
    for one in luck_at_decisions(Games(LANES, seed=29), 4):
        high = (one >> np.uint64(58)).astype(np.int64)
        low = (one >> np.uint64(26) & np.uint64(63)).astype(np.int64)
        assert chance(np.bincount(high * 64 + low, minlength=4096), LANES / 4096) > LEVEL


def test_luck_is_independent_of_the_cards() -> None:
    games = Games(LANES, seed=30)
    luck = (games.luck() >> np.uint64(27) & np.uint64(31)).astype(np.int64)
    starter = roles(games)[2]
    assert chance(np.bincount(starter * 32 + luck, minlength=52 * 32), LANES / 52 / 32) > LEVEL


def test_luck_of_different_decisions_is_never_the_same() -> None:
    games = Games(2_000, seed=31)
    luck = np.concatenate(luck_at_decisions(games, 12))
    assert len(np.unique(luck)) == len(luck)


def test_luck_of_a_role_is_the_same_whichever_seat_holds_it() -> None:
    one, other = (Games(50, seed=32, first_dealer=seat) for seat in (0, 1))
    for first, second in zip(luck_at_decisions(one, 4), luck_at_decisions(other, 4), strict=True):
        assert np.array_equal(first, second)


def test_random_players_choose_every_card_alike_often() -> None:
    games = Games(LANES, seed=33, first_dealer=1)
    hands = games.records["hands"][:, 0].copy()
    games.play_bots([0, -1])
    thrown = games.records["discards"][:, 0]
    # The places of the two cards among the six, lowest first: all 15 pairs alike often.
    low = thrown & -thrown
    high = thrown ^ low
    places = [np.bitwise_count(hands & (card - 1)).astype(np.int64) for card in (low, high)]
    pairs, counts = np.unique(6 * places[0] + places[1], return_counts=True)
    assert len(pairs) == 15
    assert chance(counts, LANES / 15) > LEVEL
