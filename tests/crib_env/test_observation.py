"""What the observation holds, decoded here by its named slices alone, and the way back from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.game_record import Phase
from crib_env.kernel import as_records
from crib_env.loops import observe_all, recall_all
from crib_env.observation import (
    layout,
    observation_high,
    observation_size,
    privileged_layout,
    privileged_size,
)
from crib_env.records import new_records
from crib_env.rules import Rules
from tests.tabletop import random_actions, sets

RULES = Rules()
FIELDS = layout(RULES)
Rows = npt.NDArray[np.uint8]


def part(observations: Rows, name: str) -> Rows:
    """Returns one named slice of each observation."""
    return observations[:, FIELDS[name].slice]


def one_hot(observations: Rows, name: str) -> npt.NDArray[np.int64]:
    """Returns the place of the one 1 in a slice of each observation, -1 where there is none."""
    rows = part(observations, name)
    assert (rows.sum(axis=1) <= 1).all()
    return np.where(rows.any(axis=1), rows.argmax(axis=1), -1)


def steps(n: int, seed: int, number: int) -> list[Games]:
    """Returns the games of *n* lanes after each of so many random steps, from the first deal."""
    games = Games(n, seed=seed)
    rng = np.random.default_rng(seed)
    states = [games.copy()]
    for _ in range(number):
        lanes = np.flatnonzero(~games.over)
        if len(lanes):
            games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
        states.append(games.copy())
    return states


@pytest.fixture(scope="module")
def states() -> list[Games]:
    """A thousand deals and more, after every step: 100 lanes of ten deals and more each."""
    return steps(100, seed=40, number=160)


def decoded_plays(observation: Rows) -> list[tuple[int, int, bool]]:
    """Returns (card, relative seat, in the present count) of a history, first card laid first."""
    width = FIELDS["plays"].slice.stop - FIELDS["plays"].slice.start
    slots = observation[FIELDS["plays"].slice].reshape(8, width // 8)
    plays = []
    for slot in slots:
        if slot.any():
            ranks, suits, seats = slot[:13], slot[13:17], slot[17:19]
            assert ranks.sum() == suits.sum() == seats.sum() == 1
            plays.append(
                (4 * int(ranks.argmax()) + int(suits.argmax()), int(seats.argmax()), bool(slot[19]))
            )
        else:
            plays.append((-1, -1, False))
    laid = [play for play in plays if play[0] >= 0]
    assert plays[len(laid) :] == [(-1, -1, False)] * (8 - len(laid))  # no gap in the history
    return laid[::-1]


@pytest.mark.parametrize("player", [0, 1])
def test_card_channels_decode_to_the_cards_of_the_game(states: list[Games], player: int) -> None:
    # D007: cards, not places in what is left of a hand.
    for games in states:
        rows, records = games.observe(player), games.records
        assert np.array_equal(sets(part(rows, "hand")), records["hands"][:, player])
        assert np.array_equal(sets(part(rows, "discards")), records["discards"][:, player])
        turned = records["phase"] != Phase.DISCARD
        starter = np.where(turned, np.int64(1) << records["starter"].astype(np.int64), 0)
        assert np.array_equal(sets(part(rows, "starter")), starter)


@pytest.mark.parametrize("player", [0, 1])
def test_history_equals_the_log_of_the_game_entry_by_entry(
    states: list[Games], player: int
) -> None:
    # D008.
    for games in states:
        rows = games.observe(player)
        for lane, record in enumerate(games.records):
            number, pile = int(record["num_plays"]), int(record["pile_size"])
            expected = [
                (
                    int(record["plays"][index]),
                    int(record["play_seats"][index] != player),
                    index >= number - pile,
                )
                for index in range(number)
            ]
            assert decoded_plays(rows[lane]) == expected


@pytest.mark.parametrize("player", [0, 1])
def test_plain_channels_decode_to_the_fields_of_the_game(states: list[Games], player: int) -> None:
    for games in states:
        rows, records = games.observe(player), games.records
        over = records["phase"] == Phase.OVER
        count = one_hot(rows, "count")
        assert np.array_equal(count, np.where(records["count"] == 31, -1, records["count"]))
        assert over[records["count"] == 31].all()
        assert np.array_equal(one_hot(rows, "phase"), records["phase"])
        assert np.array_equal(one_hot(rows, "dealer"), records["dealer"] != player)
        turn = np.where(over, -1, records["turn"] != player)
        assert np.array_equal(one_hot(rows, "turn"), turn)
        own, other = player, 1 - player
        for name in ("held", "lacks", "scores"):
            assert np.array_equal(part(rows, name), records[name][:, [own, other]])
        gone = np.stack([records["gone"] >> own & 1, records["gone"] >> other & 1], axis=1)
        assert np.array_equal(part(rows, "gone"), gone)


def test_scores_go_to_their_target_in_a_byte(states: list[Games]) -> None:
    last = states[-1]
    assert last.over.any()
    winner_rows = last.observe(0)[last.winner == 0]
    assert (part(winner_rows, "scores")[:, 0] == 121).all()


@pytest.mark.parametrize("player", [0, 1])
def test_recall_then_observe_is_the_same_observation(states: list[Games], player: int) -> None:
    for games in states:
        rows = games.observe(player)
        recalled: npt.NDArray[Any] = as_records(new_records(len(games), RULES))
        recall_all(rows, recalled)
        again = np.empty_like(rows)
        lanes = np.arange(len(games))
        observe_all(recalled, lanes, np.zeros(len(games), np.int64), again)
        assert np.array_equal(again, rows)


@pytest.mark.parametrize("player", [0, 1])
def test_recall_knows_nothing_that_the_seat_does_not(states: list[Games], player: int) -> None:
    for games in states:
        recalled = new_records(len(games), RULES)
        recall_all(games.observe(player), as_records(recalled))
        assert not recalled["hands"][:, 1].any()
        assert not recalled["discards"][:, 1].any()
        assert np.array_equal(recalled["crib"], recalled["discards"][:, 0])
        before = recalled["phase"] == Phase.DISCARD
        assert (recalled["starter"][before] == -1).all()
        assert np.array_equal(recalled["hands"][:, 0], games.records["hands"][:, player])


def test_observation_stays_within_its_bounds(states: list[Games]) -> None:
    high = observation_high(RULES)
    for games in states:
        for player in (0, 1):
            assert (games.observe(player) <= high).all()


def test_slices_follow_each_other_without_a_gap() -> None:
    for fields, size in (
        (FIELDS, observation_size(RULES)),
        (privileged_layout(RULES), privileged_size(RULES)),
    ):
        end = 0
        for name, field in fields.items():
            assert field.name == name
            assert field.start == end
            end = field.stop
        assert end == size


def test_every_entry_is_used(states: list[Games]) -> None:
    used = np.zeros(observation_size(RULES), bool)
    # Eight cards of one count, the last of which ends the game, are seldom laid.
    used[FIELDS["plays"].slice.stop - 1] = True
    for games in states:
        for player in (0, 1):
            used |= games.observe(player).any(axis=0)
    assert np.flatnonzero(~used).tolist() == []


def test_privileged_view_is_of_another_length() -> None:
    # So that no policy can be given it by mistake.
    assert privileged_size(RULES) != observation_size(RULES)


@pytest.mark.parametrize("player", [0, 1])
def test_privileged_view_holds_what_the_seat_cannot_know(states: list[Games], player: int) -> None:
    fields = privileged_layout(RULES)
    for games in states:
        rows, records = games.privileged(player), games.records
        other = 1 - player
        assert np.array_equal(
            sets(rows[:, fields["other_hands"].slice]), records["hands"][:, other]
        )
        thrown = sets(rows[:, fields["other_discards"].slice])
        assert np.array_equal(thrown, records["discards"][:, other])
        assert np.array_equal(
            rows[:, fields["next_starter"].slice].argmax(axis=1), records["starter"]
        )
        worth = rows[:, fields["worth"].slice]
        assert np.array_equal(worth, records["worth"][:, [player, other, 4]])


def test_d010_with_the_seats_exchanged_each_sees_what_the_other_saw() -> None:
    one, other = Games(200, seed=41, first_dealer=0), Games(200, seed=41, first_dealer=1)
    rng = np.random.default_rng(41)
    for _ in range(150):
        lanes = np.flatnonzero(~one.over)
        for player in (0, 1):
            assert np.array_equal(one.observe(player), other.observe(1 - player))
            assert np.array_equal(one.privileged(player), other.privileged(1 - player))
        actions = random_actions(one.action_masks(lanes=lanes), rng)
        one.apply(actions, lanes)
        other.apply(actions, lanes)
