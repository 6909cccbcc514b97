"""What holds in every variant and muggins mode: secrecy, symmetry, determinism, zero sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.bots import BOTS, Bot
from crib_env.cards import card_set, cards_in
from crib_env.game_record import CLAIM_ACTION, NUM_CLAIMS, Phase
from crib_env.kernel import as_records
from crib_env.loops import bot_actions
from crib_env.luck import lane_seed
from crib_env.options import Options
from crib_env.policy import BotPolicy
from crib_env.records import check_records
from crib_env.rules import MUGGINS_MODES, PRESETS, Rules
from tests.tabletop import random_actions

LANES = 40

KINDS = [
    pytest.param(replace(PRESETS[name], muggins=muggins), id=f"{name}-{muggins}")
    for name, muggins in product(PRESETS, MUGGINS_MODES)
]
every_kind = pytest.mark.parametrize("rules", KINDS)


def choices(games: Games, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Returns a legal action for each lane: any card; a claim or call that is often right.

    Were those drawn evenly, nearly all would be too high.
    """
    records = games.records
    right = np.where(records["phase"] == Phase.CLAIM, records["true_points"], records["missed"])
    said = right + rng.integers(-3, 4, len(games)) * (rng.random(len(games)) < 0.5)
    claims = CLAIM_ACTION + said.clip(0, NUM_CLAIMS - 1)
    return np.where(records["counting"] > 0, claims, random_actions(games.action_masks(), rng))


def moments(rules: Rules, seed: int, step: int = 1) -> list[Games]:
    """Returns batches of games at every so many steps of their play, half begun near the end."""
    rng = np.random.default_rng(seed)
    games = Games(LANES, rules, seed=seed)
    near = games.records["scores"][::2, : rules.sides]
    near[:] = rules.target - rng.integers(1, 20, near.shape)
    taken = [games.copy()]
    for number in range(150):
        running = np.flatnonzero(~games.over)
        if not len(running):
            break
        games.apply(choices(games.copy(running), rng), running)
        if number % step == 0:
            taken.append(games.copy())
    return taken


def pips(card: int) -> int:
    """Returns what a card counts."""
    return min(card // 4 + 1, 10)


def shown(record: np.void, rules: Rules) -> tuple[list[int], bool]:
    """Returns the seats whose hands lie open, from what is counted and by whom, and the crib's."""
    counting, dealer = int(record["counting"]), int(record["dealer"])
    order = [(dealer + 1 + place) % rules.players for place in range(rules.players)]
    if counting == 3:
        return order[: order.index(int(record["owner"])) + 1], False
    return (order, True) if counting == 4 else ([], False)


def permuted(games: Games, seat: int, rng: np.random.Generator) -> Games:
    """Returns the games with all that *seat* cannot know dealt anew, public facts left alone."""
    rules, hidden = games.rules, games.copy()
    for record in hidden.records:
        others = [other for other in range(rules.players) if other != seat]
        open_hands, open_crib = shown(record, rules)
        laid = {int(card) for card in record["plays"][: record["num_plays"]]}
        seen = laid | set(cards_in(record["hands"][seat])) | set(cards_in(record["discards"][seat]))
        for other in open_hands:
            seen |= set(cards_in(record["hands"][other]))
        if open_crib:
            seen |= set(cards_in(record["crib"]))
        if record["phase"] != Phase.DISCARD:
            seen.add(int(record["starter"]))
        unseen = [card for card in range(52) if card not in seen]
        while True:
            rest = rng.permutation(unseen).tolist()
            hands = {}
            for other in others:
                size = int(record["hands"][other]).bit_count()
                hands[other] = (
                    list(cards_in(record["hands"][other]))
                    if other in open_hands
                    else [rest.pop() for _ in range(size)]
                )
            fits = all(
                pips(card) > record["lacks"][other] for other in others for card in hands[other]
            )
            asked = int(record["turn"])
            if record["phase"] == Phase.PLAY and asked != seat:
                fits = fits and any(pips(card) <= 31 - record["count"] for card in hands[asked])
            if fits:
                break
        thrown = {other: int(record["discards"][other]).bit_count() for other in others}
        from_pack = int(record["crib"])
        for other in range(rules.players):
            from_pack &= ~int(record["discards"][other])
        pool = rest
        if open_crib:
            pool = rng.permutation(
                list(cards_in(int(record["crib"]) & ~int(record["discards"][seat])))
            ).tolist()
        record["crib"] = 0
        for other in others:
            record["hands"][other] = card_set(hands[other])
            record["discards"][other] = card_set([pool.pop() for _ in range(thrown[other])])
        for player in range(rules.players):
            if int(record["discards"][player]).bit_count() == rules.num_discards:
                record["crib"] |= record["discards"][player]
        record["crib"] |= card_set([pool.pop() for _ in range(from_pack.bit_count())])
        if record["phase"] == Phase.DISCARD:
            record["starter"] = pool.pop()
        record["worth"] = rng.integers(0, 30, 5)
        record["worth_totals"] = rng.integers(0, 500, (4, 3))
        record["seed"] = rng.integers(0, 2**32, 2, dtype=np.uint32)
        record["luck"] = rng.integers(0, 2**32, 2, dtype=np.uint32)
    return hidden


def bot_choices(games: Games, bot: Bot, luck: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Returns a house player's choice from each record."""
    words = np.stack([luck & np.uint64(0xFFFFFFFF), luck >> np.uint64(32)], axis=1)
    out = np.zeros(len(games), np.int64)
    bot_actions(as_records(games.records), int(bot), words.astype(np.uint32), out)
    return out


@every_kind
def test_hidden_cards_change_nothing_that_a_seat_sees_or_a_house_player_does(rules: Rules) -> None:
    # D001, D005: the pack's card in the crib is hidden as well, until the crib is counted.
    rng = np.random.default_rng(1)
    phases: set[int] = set()
    for number, games in enumerate(moments(rules, seed=1, step=7)):
        seat = number % rules.players
        hidden = permuted(games, seat, rng)
        phases |= set(games.records["phase"].tolist())
        assert games.observe(seat).tobytes() == hidden.observe(seat).tobytes()
        assert games.action_masks(seat).tobytes() == hidden.action_masks(seat).tobytes()
        acts = np.flatnonzero((games.turn == seat) & ~games.over)
        if not len(acts):
            continue
        luck = rng.integers(0, 2**64, len(acts), dtype=np.uint64)
        mine, theirs = games.copy(acts), hidden.copy(acts)
        for name in BOTS:
            chosen = bot_choices(mine, Bot[name.upper()], luck)
            policy = BotPolicy(name, rules)
            masks = mine.action_masks()
            assert np.array_equal(chosen, bot_choices(theirs, Bot[name.upper()], luck))
            assert np.array_equal(chosen, policy(mine.observe(), masks, luck))
            assert masks[np.arange(len(acts)), chosen].all()
    expected = {Phase.DISCARD, Phase.PLAY, Phase.OVER}
    if rules.muggins != "none":
        expected |= {Phase.CLAIM, Phase.CALL}
    assert phases == expected


@every_kind
def test_a_redeal_keeps_what_the_seat_sees_and_games_go_on(rules: Rules) -> None:
    rng = np.random.default_rng(2)
    for number, games in enumerate(moments(rules, seed=2, step=11)):
        seat = number % rules.players
        new = games.copy()
        new.redeal_hidden(seat, seed=number)
        assert games.observe(seat).tobytes() == new.observe(seat).tobytes()
        check_records(new.records, new.records)
        for _ in range(30):
            running = np.flatnonzero(~new.over)
            if not len(running):
                break
            new.apply(choices(new.copy(running), rng), running)
        check_records(new.records, new.records)


@every_kind
def test_every_record_of_play_is_taken(rules: Rules) -> None:
    for games in moments(rules, seed=3):
        check_records(games.records, games.records)


SEATS_LAST = ("hands", "discards", "worth", "held", "lacks", "called")


def rotated(games: Games) -> Games:
    """Returns the games with every seat moved one to the left."""
    rules, turned = games.rules, games.copy()
    records, size = turned.records, games.rules.players
    for name in (*SEATS_LAST, "points", "worth_totals"):
        records[name][:, :size] = np.roll(games.records[name][:, :size], 1, axis=1)
    sides = rules.sides
    records["scores"][:, :sides] = np.roll(games.records["scores"][:, :sides], 1, axis=1)
    for name in ("dealer", "turn", "play_seats", "owner"):
        seats = games.records[name]
        records[name] = np.where(seats < 0, seats, (seats + 1) % size)
    winner = games.records["winner"]
    records["winner"] = np.where(winner < 0, winner, (winner + 1) % sides)
    gone = games.records["gone"].astype(np.int64)
    records["gone"] = (gone << 1 | gone >> (size - 1)) & ((1 << size) - 1)
    return turned


@every_kind
@pytest.mark.parametrize("bot", [Bot.RANDOM, Bot.EXPERT])
def test_with_the_seats_rotated_everything_rotates(rules: Rules, bot: Bot) -> None:
    # D010: also what each seat sees, which is told from its own place.
    seats = range(rules.players)
    one = Games(LANES, rules, seed=4, first_dealer=0)
    other = Games(LANES, rules, seed=4, first_dealer=1)
    steps = 0
    while not one.over.all() and steps < 400:
        steps += 1
        expected = rotated(one)
        expected.records["first_dealer"] = 1
        running = np.flatnonzero(~one.over)
        # Once a game is over, whose turn it would be means nothing.
        expected.records["turn"][one.over] = other.records["turn"][one.over]
        assert (expected.records == other.records).all()
        for seat in seats:
            left = (seat + 1) % rules.players
            assert np.array_equal(one.observe(seat), other.observe(left))
            assert np.array_equal(one.action_masks(seat), other.action_masks(left))
        actions = bot_choices(one.copy(running), bot, one.luck(running))
        assert np.array_equal(one.luck(running), other.luck(running))
        one.apply(actions, running)
        other.apply(actions, running)
    assert steps > 20


@every_kind
def test_a_lane_is_the_single_game_of_its_seed_whoever_plays_beside_it(rules: Rules) -> None:
    bots = [int(Bot.RANDOM), int(Bot.EXPERT), int(Bot.GREEDY), int(Bot.RANDOM)][: rules.players]
    many = Games(5, rules, seed=7)
    many.play_bots(bots)
    assert many.over.all()
    for lane in range(5):
        single = Games(1, rules, seed=[lane_seed(7, lane)])
        single.play_bots(bots)
        assert single.records[0] == many.records[lane]


@every_kind
def test_no_two_decisions_of_a_seat_in_a_deal_share_their_luck(rules: Rules) -> None:
    games = Games(20, rules, seed=8)
    rng = np.random.default_rng(8)
    seen: list[set[tuple[int, int, int]]] = [set() for _ in range(20)]
    for _ in range(200):
        running = np.flatnonzero(~games.over)
        if not len(running):
            break
        for lane, luck in zip(running, games.luck(running).tolist(), strict=True):
            record = games.records[lane]
            key = (int(record["deal_number"]), int(record["turn"]), int(luck))
            assert key not in seen[lane]
            seen[lane].add(key)
        games.apply(choices(games.copy(running), rng), running)
    assert all(len(one) > 20 for one in seen)


def test_the_spaces_grow_with_muggins_alone() -> None:
    for name in PRESETS:
        plain = Options(rules=name)
        assert plain.action_space.n == 52
        muggins = Options(rules=replace(PRESETS[name], muggins="show"))
        assert muggins.action_space.n == 84
