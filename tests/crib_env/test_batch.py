"""`Games`: lanes, copies, masks, illegal actions, and that the same seed is the same games."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.batch import Games, IllegalActionError
from crib_env.bots import Bot
from crib_env.cards import NUM_CARDS, card_text
from crib_env.game_record import Phase
from crib_env.kernel import COMPILED
from crib_env.loops import OUTSIDE, apply_all
from crib_env.luck import lane_seed
from crib_env.rules import Rules
from tests.tabletop import random_actions, sets

ROOT = Path(__file__).parents[2]


def midway(n: int, seed: int, steps: int = 40, rules: Rules | None = None) -> Games:
    """Returns games after up to that many random actions in each lane, a few of them over."""
    games = Games(n, rules, seed=seed)
    rng = np.random.default_rng(seed)
    left = rng.integers(0, steps + 1, n)
    for _ in range(steps):
        lanes = np.flatnonzero((left > 0) & ~games.over)
        if len(lanes):
            games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        left -= 1
    return games


def play_on(games: Games, steps: int, seed: int) -> None:
    """Plays every lane on at random; a finished lane goes on with its next game."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        games.next_game()
        games.apply(random_actions(games.action_masks(), rng))


# ---- the same seed is the same games ----

HASH_OF_GAMES = """
import hashlib
from crib_env.batch import Games
games = Games(200, seed=7)
games.play_bots([0, 2])
games.next_game()
games.play_bots([1, 0])
print(hashlib.sha256(games.records.tobytes()).hexdigest())
"""


def test_same_seed_is_the_same_games_in_another_process() -> None:
    hashes = [
        subprocess.run(
            [sys.executable, "-c", HASH_OF_GAMES],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    games = Games(200, seed=7)
    games.play_bots([0, 2])
    games.next_game()
    games.play_bots([1, 0])
    assert hashes == [hashlib.sha256(games.records.tobytes()).hexdigest() + "\n"] * 2


def test_a_lane_equals_the_single_game_of_its_seed() -> None:
    batch = Games(20, seed=8)
    singles = [Games(1, seed=[lane_seed(8, lane)]) for lane in range(20)]
    rngs = [np.random.default_rng(lane) for lane in range(20)]
    for _ in range(400):
        batch.next_game()
        masks = batch.action_masks()
        actions = []
        for lane, single in enumerate(singles):
            single.next_game()
            assert single.records.tobytes() == batch.records[lane : lane + 1].tobytes()
            actions.append(int(rngs[lane].choice(np.flatnonzero(masks[lane]))))
            single.apply(actions[-1:])
        batch.apply(actions)
    assert batch.records["game_number"].min() >= 1


@pytest.mark.parametrize("bot", list(Bot))
def test_house_players_play_a_lane_as_they_play_the_single_game(bot: Bot) -> None:
    batch = Games(30, seed=9)
    batch.play_bots([bot, bot])
    for lane in (0, 7, 29):
        single = Games(1, seed=[lane_seed(9, lane)])
        single.play_bots([bot, bot])
        assert single.records.tobytes() == batch.records[lane : lane + 1].tobytes()


def test_lanes_do_not_feel_each_other() -> None:
    games, alone = midway(50, seed=10), midway(50, seed=10)
    games.play_bots([2, 2], lanes=np.arange(0, 50, 2))
    odd = np.arange(1, 50, 2)
    assert games.records[odd].tobytes() == alone.records[odd].tobytes()


def test_a_lane_may_be_named_in_any_order_or_by_a_mask() -> None:
    games = midway(6, seed=11)
    rows = games.observe()
    assert np.array_equal(games.observe(lanes=[4, 0, 4]), rows[[4, 0, 4]])
    chosen = np.array([True, False, True, False, False, True])
    assert np.array_equal(games.observe(lanes=chosen), rows[chosen])
    assert np.array_equal(games.observe(lanes=3), rows[[3]])


def test_results_may_be_written_into_given_arrays() -> None:
    games = midway(5, seed=12)
    for name in ("observe", "privileged", "action_masks"):
        read = getattr(games, name)
        fresh = read(players=1)
        out = np.full_like(fresh, 77)
        assert read(players=1, out=out) is out
        assert np.array_equal(out, fresh)


def test_a_finished_lane_stays_as_it_ended_until_told_to_go_on() -> None:
    games = Games(40, seed=13)
    games.play_bots([2, 0])
    ended = games.records.copy()
    games.play_bots([1, 1])
    assert games.records.tobytes() == ended.tobytes()
    games.next_game([3])
    assert np.flatnonzero(~games.over).tolist() == [3]
    assert games.records["game_number"].tolist() == [int(lane == 3) for lane in range(40)]
    games.next_game()
    assert games.records["game_number"].tolist() == [1] * 40
    assert not games.scores.any()
    assert not games.points.any()


# ---- copies ----

COPIES: dict[str, Callable[[Games], Games]] = {
    "copy": lambda games: games.copy(),
    "copy of lanes": lambda games: games.copy(np.arange(len(games))),
    "pickle": lambda games: pickle.loads(pickle.dumps(games)),
    "deepcopy": copy.deepcopy,
    "copy.copy": copy.copy,
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_equal_onwards(kind: str) -> None:
    # D037: observation, mask and the cards to come are the same in both.
    games = midway(30, seed=14)
    copied = COPIES[kind](games)
    assert copied.rules == games.rules
    play_on(games, 150, seed=15)
    play_on(copied, 150, seed=15)
    assert copied.records.tobytes() == games.records.tobytes()
    assert np.array_equal(copied.observe(), games.observe())
    assert np.array_equal(copied.action_masks(), games.action_masks())


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_is_independent(kind: str) -> None:
    games = midway(30, seed=16)
    before = games.records.copy()
    copied = COPIES[kind](games)
    play_on(copied, 20, seed=17)
    assert games.records.tobytes() == before.tobytes()
    still = copied.records.copy()
    play_on(games, 20, seed=18)
    assert copied.records.tobytes() == still.tobytes()


@pytest.mark.parametrize("kind", COPIES)
def test_what_a_copy_tells_follows_what_it_plays(kind: str) -> None:
    copied = COPIES[kind](Games(3, seed=19))
    copied.play_bots([2, 2])
    assert copied.over.all()
    assert copied.scores.max(axis=1).tolist() == [121] * 3


def test_a_copy_of_lanes_holds_them_in_the_order_named() -> None:
    games = midway(6, seed=20)
    copied = games.copy([5, 0, 0])
    assert copied.records.tobytes() == games.records[[5, 0, 0]].tobytes()
    assert games.copy(2).records.tobytes() == games.records[[2]].tobytes()
    with pytest.raises(ValueError, match="lanes"):
        games.copy([6])


# ---- masks and illegal actions ----


def test_a_mask_holds_exactly_what_apply_accepts() -> None:
    games = midway(150, seed=21, steps=30)
    masks = games.action_masks()
    for lane in range(150):
        before = games.records[lane].tobytes()
        for action in range(-2, NUM_CARDS + 2):
            tried = games.copy([lane])
            legal = 0 <= action < NUM_CARDS and masks[lane, action] == 1 and not games.over[lane]
            if legal:
                tried.apply([action])
                assert tried.records[0].tobytes() != before
            else:
                with pytest.raises(IllegalActionError):
                    tried.apply([action])
                assert tried.records[0].tobytes() == before


def test_a_mask_is_of_the_seat_it_is_asked_for() -> None:
    # D020: for the seat to act its legal cards, for any other all ones.
    games = midway(2_000, seed=22)
    for player in (0, 1):
        masks = games.action_masks(player)
        acts = (games.turn == player) & ~games.over
        held = games.records["hands"][acts, player]
        assert ((sets(masks[acts]) & ~held) == 0).all()
        assert masks[acts].any(axis=1).all()
        assert (masks[~acts] == 1).all()


def test_a_seat_to_act_always_has_a_legal_card() -> None:
    # D023.
    games = Games(500, seed=23)
    rng = np.random.default_rng(23)
    for _ in range(600):
        games.next_game()
        masks = games.action_masks()
        assert (masks.sum(axis=1) >= 1).all()
        assert (masks.sum(axis=1) <= 6).all()
        games.apply(random_actions(masks, rng))


def test_an_illegal_action_is_named_with_card_and_position() -> None:
    games = Games(3, seed=24)
    seat = int(games.turn[1])
    foreign = next(card for card in range(NUM_CARDS) if not games.action_masks()[1, card])
    actions = games.action_masks().argmax(axis=1)
    actions[1] = foreign
    before = games.records.tobytes()
    with pytest.raises(IllegalActionError) as refused:
        games.apply(actions)
    message = str(refused.value)
    assert games.records.tobytes() == before
    assert "\n" not in message
    hand = [card_text(int(card)) for card in np.flatnonzero(games.action_masks()[1])]
    for part in (card_text(foreign), "lane 1", f"seat {seat} to act", " ".join(hand), "0-0"):
        assert part in message


garbage = st.one_of(
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.none(),
    st.booleans(),
    st.lists(st.integers(-3, 60), max_size=4),
)


@settings(deadline=None, derandomize=True, database=None, max_examples=300)
@given(garbage, st.integers(0, 5))
def test_garbage_for_an_action_changes_nothing(action: Any, lane: int) -> None:
    # D029.
    games = midway(6, seed=25, steps=12)
    before = games.records.tobytes()
    legal = not games.over[lane] and type(action) is int and 0 <= action < NUM_CARDS
    if legal and games.action_masks()[lane, action]:
        return
    with pytest.raises((ValueError, TypeError, OverflowError)):
        games.apply([action], lanes=[lane])
    assert games.records.tobytes() == before


def test_an_action_for_one_lane_twice_is_refused() -> None:
    games = Games(2, seed=26)
    card = int(games.action_masks()[0].argmax())
    before = games.records.tobytes()
    for lanes in ([0, 0], np.array([0, 0])):
        with pytest.raises(ValueError, match="twice"):
            games.apply([card, card], lanes=lanes)
    assert games.records.tobytes() == before


@pytest.mark.parametrize("lanes", [[2], [-1], [0.5], ["0"], [[0]], [True, False, True]])
def test_lanes_that_are_none_are_refused(lanes: list[object]) -> None:
    games = Games(2, seed=27)
    with pytest.raises((ValueError, TypeError)):
        games.observe(lanes=lanes)  # type: ignore[arg-type]  # garbage is the test


@pytest.mark.parametrize(
    "players", [2, -1, [0, 2], 0.5, [0.0, 1.0], "0", True, [0, 1, 0], [[0, 1]]]
)
def test_seats_that_are_none_are_refused(players: object) -> None:
    games = Games(2, seed=28)
    with pytest.raises(ValueError, match="players"):
        games.observe(players)  # type: ignore[arg-type]  # garbage is the test


def test_seeds_and_a_kind_of_game_that_are_none_are_refused() -> None:
    games = Games(2)
    for seeds in ([1.5, 2], [True, 2], ["1", 2]):
        with pytest.raises(ValueError, match="a seed is a whole number"):
            games.reseed(seeds)  # type: ignore[arg-type]  # garbage is the test
    one_deals: list[Any] = [2, 1, "yes", None]
    for one_deal in one_deals:
        with pytest.raises(ValueError, match=r"one_deal=.*: allowed are True and False"):
            Games(2, one_deal=one_deal)


@pytest.mark.parametrize("first_dealer", [2, -1, "cutt", None, 0.5, True])
def test_a_first_dealer_that_is_none_is_refused_by_name(first_dealer: object) -> None:
    with pytest.raises(ValueError, match="first_dealer="):
        Games(1, first_dealer=first_dealer)  # type: ignore[arg-type]  # garbage is the test


@pytest.mark.parametrize("n", [0, -3])
def test_a_batch_has_a_lane(n: int) -> None:
    with pytest.raises(ValueError, match=f"n={n}"):
        Games(n)


def test_there_is_one_lane_seed_for_each_lane() -> None:
    with pytest.raises(ValueError, match="3 lane seeds for 2 lanes"):
        Games(2, seed=[1, 2, 3])


@pytest.mark.parametrize("seats", [[4, 0], [0, -2], [0], [0, 1, 2]])
def test_house_players_that_are_none_are_refused(seats: list[int]) -> None:
    games = Games(4, seed=29)
    before = games.records.tobytes()
    if len(seats) == 1:
        games.play_bots(seats)  # one number stands for every seat
        return
    with pytest.raises(ValueError, match=r"allowed|broadcast"):
        games.play_bots(seats)
    assert games.records.tobytes() == before


# ---- the length of a game ----


@pytest.mark.parametrize("target", [1, 2, 31, 61, 121])
def test_games_end_in_a_bounded_number_of_steps(target: int) -> None:
    # D049: each deal pegs its dealer one point or more, so 2 x target deals end any game.
    rules = Rules(target=target)
    games = Games(400, rules, seed=30)
    rng = np.random.default_rng(30)
    steps = 0
    while not games.over.all():
        lanes = np.flatnonzero(~games.over)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        steps += 1
        assert steps <= 12 * rules.max_deals
    assert (games.records["deal_number"] < rules.max_deals).all()
    assert (games.scores.max(axis=1) == target).all()
    assert (games.scores.min(axis=1) < target).all()
    assert (games.winner == games.scores.argmax(axis=1)).all()


def test_r11_dealer_pegs_in_every_deal_that_is_played_out() -> None:
    games = Games(3_000, seed=31)
    rng = np.random.default_rng(31)
    dealers = games.records["dealer"].astype(np.int64)
    while not (games.records["deal_number"] == 1).all():
        lanes = np.flatnonzero(games.records["deal_number"] == 0)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
    pegged = games.points[np.arange(3_000), dealers, 1, 0]
    assert pegged.min() >= 1


# ---- points, and who acts ----


def test_points_by_source_add_up_to_the_scores() -> None:
    games = midway(500, seed=32, steps=150)
    assert np.array_equal(games.points.sum(axis=(2, 3)), games.scores)


def test_a_house_player_stops_where_another_seat_acts() -> None:
    games = Games(100, seed=33)
    games.play_bots([Bot.EXPERT, OUTSIDE])
    assert (games.turn == 1).all()
    assert not games.over.any()


def test_text_says_where_a_game_stands() -> None:
    games = midway(1, seed=34, steps=9)
    text = games.text(0)
    assert "\n" not in text
    assert Phase(int(games.records["phase"][0])).name.lower() in text


@pytest.mark.parametrize("shape", [(3, 10), (2, 362), (3, 400), (362,)])
def test_an_array_to_write_into_must_fit(shape: tuple[int, ...]) -> None:
    # Compiled loops check no bounds: they would write beside it.
    games = Games(3, seed=35)
    for name in ("observe", "privileged", "action_masks"):
        with pytest.raises(ValueError, match="out "):
            getattr(games, name)(out=np.zeros(shape, np.uint8))
    with pytest.raises(ValueError, match="out "):
        games.observe(out=np.zeros((3, games.observation_size)))  # type: ignore[arg-type]  # the test


def test_first_deals_alternate_also_where_a_redeal_changed_the_seed() -> None:
    games = Games(40, seed=3)
    first = games.records["dealer"].copy()
    games.redeal_hidden(0, seed=11)
    games.next_game(np.arange(40))
    np.testing.assert_array_equal(games.records["dealer"], 1 - first)


def test_what_the_properties_return_is_a_copy() -> None:
    games = Games(3, seed=1)
    scores, turn, points = games.scores, games.turn, games.points
    before = [array.copy() for array in (scores, turn, points)]
    games.play_bots([1, 1])
    for array, old in zip((scores, turn, points), before, strict=True):
        np.testing.assert_array_equal(array, old)
    scores[:] = 7
    assert not (games.scores == 7).all()


def test_strided_and_read_only_arrays_compile_nothing_anew() -> None:
    games = Games(4, seed=1)
    masks = games.action_masks()
    pairs = np.stack([masks.argmax(axis=1), masks.argmax(axis=1)], axis=1)
    compiled = len(getattr(apply_all, "signatures", ()))
    games.apply(pairs[:, 0])
    frozen = games.action_masks().argmax(axis=1)
    frozen.flags.writeable = False
    games.apply(frozen)
    assert len(getattr(apply_all, "signatures", ())) == max(compiled, int(COMPILED))


@pytest.mark.parametrize("n", [0, -1, True, 2.0, "2"])
def test_a_number_of_lanes_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(ValueError, match="n="):
        Games(n)


def test_nothing_to_do_is_done() -> None:
    games = Games(2, seed=1)
    games.apply([], [])
    games.next_game([])
    nothing = games.copy([])
    nothing.play_bots([1, 1])
    assert len(nothing) == 0
