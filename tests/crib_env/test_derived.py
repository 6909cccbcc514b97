"""The derived inputs: worked out once more from the observation alone, in plain Python."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.bots import first_throw, next_throw, throw_value
from crib_env.cards import NUM_CARDS, cards_in, cards_text, parse_card, parse_cards
from crib_env.derived import (
    LEAST_THROW,
    MOST_PEGGED,
    MOST_THROW,
    derived_inputs,
    derived_layout,
    derived_size,
)
from crib_env.game_record import NUM_CLAIMS, Phase
from crib_env.kernel import COMPILED, kernel, lowest_bit
from crib_env.observation import layout
from crib_env.policy import BotPolicy
from crib_env.rules import PRESETS, Rules
from crib_env.tables import CRIB_SCALE, CRIB_VARIANTS, CRIBS
from tests.referee import pegging_points, score_hand
from tests.tabletop import DEALER, PONE, after_cut, dealt, random_actions

RULES = Rules()
DERIVED = derived_layout(RULES)
OWN = 0  # relative seat
TABLES = dict(zip(CRIB_VARIANTS, CRIBS, strict=True))

# The throws of all hands of six that are worth least and most: hand, pair, dealer, points. Found by
# `extremes_of_throws`.
EXTREMES = [
    ("3C 5C 5D 7D TC KC", "5C 5D", DEALER, -8.09),
    ("2C 3C 5C 5D 5H 5S", "2C 3C", PONE, 29.76),
]

Rows = npt.NDArray[np.uint8]
Inputs = npt.NDArray[np.floating[Any]]


def throws(inputs: Inputs) -> Inputs:
    """Returns what each card is worth to throw, scaled."""
    return inputs[..., DERIVED["throws"].slice]


def pegs(inputs: Inputs) -> Inputs:
    """Returns what each card pegs, scaled."""
    return inputs[..., DERIVED["pegs"].slice]


def points_of_throw(cards: list[int], throw: tuple[int, ...], own: bool, name: str) -> Fraction:
    """Returns a throw's expected points, the hand counted by the referee for every starter."""
    kept = [card for card in cards if card not in throw]
    starters = [card for card in range(NUM_CARDS) if card not in cards]
    hands = sum(sum(score_hand(kept, starter, False).values()) for starter in starters)
    table = TABLES[name][0 if own else 1]
    crib = Fraction(int(table[throw[0] // 4, throw[-1] // 4]), CRIB_SCALE)
    return Fraction(hands, len(starters)) + (crib if own else -crib)


def slowly(observation: Rows, name: str = "six_card") -> npt.NDArray[np.float64]:
    """Returns the derived inputs of one observation, worked out from its named slices."""
    rules = PRESETS[name]
    parts = {field: observation[place.slice] for field, place in layout(rules).items()}
    out = np.zeros(derived_size(rules))
    if not parts["turn"][OWN]:
        return out
    hand = np.flatnonzero(parts["hand"]).tolist()
    thrown = np.flatnonzero(parts["discards"]).tolist()
    if parts["phase"][Phase.DISCARD]:
        best: dict[int, Fraction] = {}
        for throw in combinations(sorted(hand + thrown), rules.num_discards):
            if set(thrown) <= set(throw):
                own = int(parts["dealer"].argmax()) % rules.sides == 0
                points = points_of_throw(hand + thrown, throw, own, name)
                for card in set(throw) - set(thrown):
                    best[card] = max(points, best.get(card, points))
        for card, points in best.items():
            throws(out)[card] = (points - LEAST_THROW) / (MOST_THROW - LEAST_THROW)
        return out
    slots = parts["plays"].reshape(rules.players * rules.num_kept, -1)
    # The suit of a card laid pegs nothing, so the first of its rank stands for it.
    pile = [4 * int(slot[:13].argmax()) for slot in slots if slot[-1]][::-1]
    count = int(parts["count"].argmax())
    for card in hand:
        if count + min(card // 4 + 1, 10) <= 31:
            pegs(out)[card] = pegging_points([*pile, card]) / MOST_PEGGED
    return out


@pytest.fixture(scope="module")
def states() -> list[Games]:
    """Games at every step of a random deal and more."""
    return random_states("six_card", 40)


def random_states(name: str, number: int, steps: int = 16) -> list[Games]:
    """Returns games of a variant at every step of a random deal and more."""
    games = Games(number, name, seed=500)
    rng = np.random.default_rng(500)
    states = []
    for _ in range(steps):
        states.append(games.copy())
        games.apply(random_actions(games.action_masks(), rng))
    return states


def test_they_are_what_plain_python_works_out_from_the_observation(states: list[Games]) -> None:
    for games in states:
        few = games.copy(np.arange(8) if games.records["phase"][0] == Phase.DISCARD else None)
        for player in (0, 1):
            rows = few.observe(player)
            expected = np.array([slowly(row) for row in rows])
            inputs = derived_inputs(rows)
            assert inputs.dtype == np.float32
            np.testing.assert_allclose(inputs, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["five_card", "three_player", "four_player"])
def test_they_are_so_in_every_variant(name: str) -> None:
    rules = PRESETS[name]
    pegged = 0
    for games in random_states(name, 12, 22):
        few = games.copy(np.arange(5) if games.records["phase"][0] == Phase.DISCARD else None)
        for player in range(rules.players):
            rows = few.observe(player)
            inputs = derived_inputs(rows, name)
            expected = np.array([slowly(row, name) for row in rows])
            np.testing.assert_allclose(inputs, expected, rtol=0, atol=1e-6)
            assert np.array_equal(inputs, derived_inputs(rows, rules))
            pegged += int(pegs(inputs).any(axis=1).sum())
    assert pegged > 5


@pytest.mark.parametrize("name", CRIB_VARIANTS)
def test_with_muggins_claims_and_calls_have_no_card_but_a_count(name: str) -> None:
    rules = replace(PRESETS[name], muggins="full")
    games = Games(20, rules, seed=506)
    rng = np.random.default_rng(506)
    seen = set()
    for _ in range(40):
        phases = games.records["phase"]
        inputs = derived_inputs(games.observe(), rules)
        assert inputs.shape == (20, 2 * NUM_CARDS + NUM_CLAIMS)
        claiming = (phases == Phase.CLAIM) | (phases == Phase.CALL)
        assert not inputs[claiming, : 2 * NUM_CARDS].any()
        assert np.array_equal(inputs[:, 2 * NUM_CARDS :].sum(axis=1), claiming)
        assert inputs[phases == Phase.DISCARD].any(axis=1).all()
        seen |= set(phases.tolist())
        games.next_game()
        games.apply(random_actions(games.action_masks(), rng))
    assert seen >= {Phase.DISCARD, Phase.PLAY, Phase.CLAIM, Phase.CALL}


def test_only_cards_that_may_be_chosen_have_any_and_by_phase(states: list[Games]) -> None:
    for games in states:
        inputs = derived_inputs(games.observe())
        legal = games.action_masks().astype(bool)
        before = games.records["phase"] == Phase.DISCARD
        assert np.array_equal(throws(inputs) > 0, legal & before[:, None])
        assert not pegs(inputs)[~legal].any()
        assert not pegs(inputs)[before].any()


def test_a_seat_that_is_not_to_act_has_none(states: list[Games]) -> None:
    for games in states:
        assert not derived_inputs(games.observe(1 - games.turn)).any()


def test_there_are_none_once_the_game_is_over() -> None:
    games = Games(50, Rules(target=9), seed=501)
    rng = np.random.default_rng(501)
    while not games.over.all():
        lanes = np.flatnonzero(~games.over)
        games.apply(random_actions(games.action_masks(lanes=lanes), rng), lanes)
    for player in (0, 1):
        assert not derived_inputs(games.observe(player), Rules(target=9)).any()


@pytest.mark.parametrize("name", CRIB_VARIANTS)
def test_the_highest_card_by_card_is_experts_throw(name: str) -> None:
    rules = PRESETS[name]
    expert = BotPolicy("expert", rules)
    games = Games(2_000, rules, seed=502)
    for _ in range(rules.players * rules.num_discards):
        rows, masks = games.observe(), games.action_masks()
        chosen = throws(derived_inputs(rows, rules)).argmax(axis=1)
        assert np.array_equal(chosen, expert(rows, masks, games.luck()))
        games.apply(chosen)
    assert (games.records["phase"] == Phase.PLAY).any()


@pytest.mark.nojit
def test_the_second_throw_is_valued_with_the_first() -> None:
    hands = [parse_cards("5H 5S 5D JC 2D 7S"), parse_cards("AC 4C KC 6C 9C TC")]
    inputs = {}
    for thrown in ("", "2D", "JC"):
        table = dealt(hands, deals=DEALER).lay(thrown)
        inputs[thrown] = throws(derived_inputs(table.games.observe(PONE)))[0]
    low, high = parse_card("2D"), parse_card("7S")
    assert inputs[""][low] == inputs[""][high] == inputs[""].max()
    assert inputs["2D"][high] == inputs[""].max()
    assert inputs["2D"][low] == 0
    assert inputs["JC"][high] < inputs[""][high]


@pytest.mark.parametrize(("hand", "pair", "deals", "points"), EXTREMES)
def test_the_worst_and_the_best_throw_stay_within_the_scale(
    hand: str, pair: str, deals: int, points: float
) -> None:
    table = dealt([parse_cards(hand), parse_cards("9C 9D 9H QC QD QH")], deals=deals)
    if deals == PONE:
        table.lay("9C 9D")
    first, second = pair.split()
    row = throws(derived_inputs(table.lay(first).games.observe(PONE)))[0]
    scaled = (points - LEAST_THROW) / (MOST_THROW - LEAST_THROW)
    assert row[parse_card(second)] == pytest.approx(scaled, abs=0.0002)  # points to two places
    assert 0 < row[parse_card(second)] < 1


@pytest.mark.nojit
def test_a_fourth_of_a_rank_at_31_is_the_most_there_is_to_peg() -> None:
    table = after_cut(["3C 7C 7D TC", "7H 7S 2C 2D"]).lay("3C 7H 7C 7S")
    inputs = pegs(derived_inputs(table.games.observe(PONE)))[0]
    assert inputs[parse_card("7D")] == 1
    assert inputs.sum() == 1  # a ten would pass 31


def test_nothing_hidden_is_in_them(states: list[Games]) -> None:
    for games in states:
        for player in (0, 1):
            hidden = games.copy()
            hidden.redeal_hidden(player, seed=503)
            inputs = [derived_inputs(some.observe(player)) for some in (games, hidden)]
            assert inputs[0].tobytes() == inputs[1].tobytes()


def test_a_row_depends_on_no_other_row(states: list[Games]) -> None:
    rows = np.concatenate([games.observe(player) for games in states for player in (0, 1)])
    order = np.random.default_rng(504).permutation(len(rows))
    assert np.array_equal(derived_inputs(rows)[order], derived_inputs(rows[order]))


def test_rows_of_zeros_have_none(states: list[Games]) -> None:
    rows = np.repeat(states[0].observe(), 2, axis=0)
    rows[1::2] = 0
    inputs = derived_inputs(rows)
    assert inputs[::2].any(axis=1).all()
    assert not inputs[1::2].any()


def test_observations_are_left_as_they_are_and_may_be_strided_or_read_only() -> None:
    rows = Games(8, seed=505).observe()
    expected = derived_inputs(rows)
    wide = np.repeat(rows, 2, axis=1)[:, ::2]
    wide.flags.writeable = False
    assert np.array_equal(derived_inputs(wide), expected)
    assert derived_inputs(rows[:0]).shape == (0, derived_size(RULES))


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((2, 362), np.float32),
        np.zeros((2, 361), np.uint8),
        np.zeros(362, np.uint8),
    ],
    ids=["scaled", "short", "one row"],
)
def test_what_are_no_observations_is_refused_in_one_line(rows: Rows) -> None:
    with pytest.raises(ValueError, match=r"allowed is uint8 of shape \(N, 362\)$") as caught:
        derived_inputs(rows)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rules", [*PRESETS.values(), Rules(muggins="show")])
def test_slices_follow_each_other_and_say_their_scale(rules: Rules) -> None:
    end = 0
    fields = derived_layout(rules)
    for name, field in fields.items():
        assert (field.name, field.start, field.high) == (name, end, 1)
        assert field.stop - field.start == (NUM_CLAIMS if name == "counts" else NUM_CARDS)
        end = field.stop
    assert end == derived_size(rules)
    assert f"(points + {-LEAST_THROW}) / {MOST_THROW - LEAST_THROW}" in fields["throws"].meaning
    assert f"over all {NUM_CARDS - rules.cards_dealt} starters" in fields["throws"].meaning
    assert f"points / {MOST_PEGGED}" in fields["pegs"].meaning


@kernel
def extremes_of_throws(
    cards_dealt: int, size: int, cribs: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> None:
    """Writes the least and the most that a throw is worth, (2, 3): value, hand and throw.

    Over all hands but for the names of the suits: the lowest card is a club.
    """
    hand = (1 << cards_dealt) - 1
    while hand < 1 << NUM_CARDS:
        if lowest_bit(hand) % 4 == 0:
            throw = first_throw(hand, size)
            while throw:
                as_pone = throw_value(hand, throw, cribs[1], -1)
                as_dealer = throw_value(hand, throw, cribs[0], 1)
                if min(as_pone, as_dealer) < out[0, 0]:
                    out[0] = min(as_pone, as_dealer), hand, throw
                if max(as_pone, as_dealer) > out[1, 0]:
                    out[1] = max(as_pone, as_dealer), hand, throw
                throw = next_throw(hand, throw)
        # The next larger set of as many cards (Gosper's hack).
        lowest = hand & -hand
        ripple = hand + lowest
        hand = ripple | (((hand ^ ripple) >> 2) // lowest)


@pytest.mark.torture
@pytest.mark.skipif(not COMPILED, reason="goes through all hands of six")
@pytest.mark.parametrize("name", CRIB_VARIANTS)
def test_no_throw_of_any_hand_lies_outside_the_scale(name: str) -> None:
    rules = PRESETS[name]
    out = np.zeros((2, 3), np.int64)
    extremes_of_throws(rules.cards_dealt, rules.num_discards, TABLES[name], out)
    least, most = (out[:, 0] / (CRIB_SCALE * (NUM_CARDS - rules.cards_dealt))).round(2)
    assert LEAST_THROW < least < 0
    assert 10 < most < MOST_THROW
    if name == "six_card":
        for (_, hand, throw), (cards, thrown, _, _) in zip(out, EXTREMES, strict=True):
            assert cards_text(cards_in(hand)) == cards
            assert cards_text(cards_in(throw)) == thrown
        assert [least, most] == [points for _, _, _, points in EXTREMES]
