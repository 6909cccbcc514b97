"""Nobody is shown what their seat cannot know, and nobody plays by it (D001, D002, D004, D011).

What a seat cannot know is found out here anew, from the log of the plays alone: the test permutes
it by itself, so that a fault in the engine's own redeal cannot hide one in its observation.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.bots import BOTS, Bot
from crib_env.cards import card_set, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase
from crib_env.kernel import as_records
from crib_env.loops import bot_actions
from crib_env.policy import BotPolicy
from tests.tabletop import DEALER, PONE, dealt, random_actions

STATES = 2_000
Seats = list[tuple[Phase, int]]
PHASES_AND_SEATS = list(product((Phase.DISCARD, Phase.PLAY, Phase.OVER), (0, 1)))


def pips(card: int) -> int:
    """Returns what a card counts."""
    return min(card // 4 + 1, 10)


def random_states(phase: Phase, number: int, seed: int) -> Games:
    """Returns that many random states of a phase, at any time of a game."""
    rng = np.random.default_rng(seed)
    lanes = number if phase == Phase.OVER else 2 * number
    games = Games(lanes, seed=seed)
    chosen: list[Games] = []
    found = 0
    while found < number:
        running = np.flatnonzero(~games.over)
        games.apply(random_actions(games.action_masks(lanes=running), rng), running)
        if phase == Phase.OVER:
            if games.over.all():
                return games
        else:
            # A few lanes of each step, so that states of all stages are among them.
            here = np.flatnonzero(games.records["phase"] == phase)
            here = rng.permutation(here)[: 1 + number // 60]
            if len(here):
                chosen.append(games.copy(here))
                found += len(here)
        if not (~games.over).any():
            games.next_game()
    states = games.copy(np.zeros(found, np.int64))
    states.records[:] = np.concatenate([some.records for some in chosen])
    return states.copy(np.arange(number))


def ruled_out(record: np.void, other: int) -> int:
    """Returns up to how many pips *other* has shown by go to hold no card, from the plays alone."""
    most = 0
    count = 0
    number = int(record["num_plays"])
    cards = [int(card) for card in record["plays"][:number]]
    seats = [int(seat) for seat in record["play_seats"][:number]]
    for index, card in enumerate(cards):
        count += pips(card)
        kept_back = seats[index + 1 :].count(other) + int(record["hands"][other]).bit_count()
        last = index + 1 == number
        # Who led next, or whether the table has been cleared, tells whether the count went on.
        if last:
            restarted = int(record["count"]) == 0
            follower = int(record["turn"])
            if record["phase"] == Phase.OVER:
                # Over by this card or by its go: nothing more has been said that all could hear.
                break
        else:
            restarted = count == 31 or count + pips(cards[index + 1]) > 31
            follower = seats[index + 1]
        if kept_back and count < 31 and (restarted or follower != other):
            silent = seats[index] == other and not restarted
            if not silent:
                most = max(most, 31 - count)
        if restarted:
            count = 0
    return most


def permuted(games: Games, seat: int, rng: np.random.Generator) -> Games:
    """Returns the games with all that *seat* cannot know dealt anew, public facts left alone."""
    hidden = games.copy()
    for record in hidden.records:
        other = 1 - seat
        number = int(record["num_plays"])
        seen = {int(card) for card in record["plays"][:number]}
        for own in ("hands", "discards"):
            seen |= set(cards_in(record[own][seat]))
        if record["phase"] != Phase.DISCARD:
            seen.add(int(record["starter"]))
        unseen = [card for card in range(52) if card not in seen]
        bound = ruled_out(record, other)
        held = int(record["hands"][other]).bit_count()
        thrown = int(record["discards"][other]).bit_count()
        fitting = [card for card in unseen if pips(card) > bound]
        hand = [int(card) for card in rng.choice(fitting, held, replace=False)]
        if record["phase"] == Phase.PLAY and record["turn"] == other:
            # That it is asked tells that a card fits; the engine itself says go.
            while all(pips(card) > 31 - record["count"] for card in hand):
                hand = [int(card) for card in rng.choice(fitting, held, replace=False)]
        rest = rng.permutation([card for card in unseen if card not in hand]).tolist()
        record["hands"][other] = card_set(hand)
        record["discards"][other] = card_set(rest[:thrown])
        record["crib"] = 0
        for player in (0, 1):
            if int(record["discards"][player]).bit_count() == 2:
                record["crib"] |= record["discards"][player]
        if record["phase"] == Phase.DISCARD:
            record["starter"] = rest[thrown]
        # What hands are worth, the cards to come and the luck of players are hidden as well.
        record["worth"] = rng.integers(0, 30, 5)
        record["worth_totals"] = rng.integers(0, 500, (4, 3))
        record["seed"] = rng.integers(0, 2**32, 2, dtype=np.uint32)
        record["luck"] = rng.integers(0, 2**32, 2, dtype=np.uint32)
    hidden.records["worth"] *= games.records["worth"] != 0
    return hidden


def choices(games: Games, bot: Bot, luck: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Returns a house player's choice from each record."""
    words = np.stack([luck & np.uint64(0xFFFFFFFF), luck >> np.uint64(32)], axis=1)
    out = np.zeros(len(games), np.int64)
    bot_actions(as_records(games.records), int(bot), words.astype(np.uint32), out)
    return out


@pytest.fixture(scope="module", params=PHASES_AND_SEATS, ids=lambda it: f"{it[0].name}-{it[1]}")
def pair(request: pytest.FixtureRequest) -> tuple[int, Games, Games]:
    """A seat, random states of one phase, and the same with what the seat cannot know permuted."""
    phase, seat = request.param
    games = random_states(phase, STATES, seed=50 + 2 * phase + seat)
    assert len(games) == STATES
    return seat, games, permuted(games, seat, np.random.default_rng(60 + seat))


def test_hidden_cards_change_no_byte_of_the_observation(pair: tuple[int, Games, Games]) -> None:
    # D001, and D011: nothing depends on what the other has thrown, no history gets longer.
    seat, games, hidden = pair
    assert games.observe(seat).tobytes() == hidden.observe(seat).tobytes()


def test_hidden_cards_change_no_byte_of_the_mask(pair: tuple[int, Games, Games]) -> None:
    seat, games, hidden = pair
    assert games.action_masks(seat).tobytes() == hidden.action_masks(seat).tobytes()


@pytest.mark.parametrize("name", BOTS)
def test_hidden_cards_change_no_choice_of_a_house_player(
    pair: tuple[int, Games, Games], name: str
) -> None:
    seat, games, hidden = pair
    acts = np.flatnonzero((games.turn == seat) & ~games.over)
    games, hidden = games.copy(acts), hidden.copy(acts)
    luck = np.random.default_rng(70).integers(0, 2**64, len(acts), dtype=np.uint64)
    bot = Bot[name.upper()]
    chosen = choices(games, bot, luck)
    assert np.array_equal(chosen, choices(hidden, bot, luck))
    policy = BotPolicy(name)
    if len(acts):
        masks = games.action_masks()
        assert np.array_equal(chosen, policy(games.observe(), masks, luck))
        assert np.array_equal(chosen, policy(hidden.observe(), masks, luck))


def test_hidden_cards_do_change_the_privileged_view(pair: tuple[int, Games, Games]) -> None:
    seat, games, hidden = pair
    changed = (games.privileged(seat) != hidden.privileged(seat)).any(axis=1)
    other = 1 - seat
    different = np.zeros(len(games), bool)
    for name in ("hands", "discards"):
        different |= games.records[name][:, other] != hidden.records[name][:, other]
    assert changed[different].all()
    assert different.mean() > 0.9


def test_the_permutation_leaves_every_public_fact(pair: tuple[int, Games, Games]) -> None:
    # The test's own: it would prove nothing if it changed what all can see.
    seat, games, hidden = pair
    for name in ("scores", "plays", "play_seats", "count", "gone", "lacks", "turn", "held"):
        assert np.array_equal(games.records[name], hidden.records[name])
    for name in ("hands", "discards"):
        assert np.array_equal(games.records[name][:, seat], hidden.records[name][:, seat])


def test_what_goes_rule_out_is_what_the_engine_remembers(pair: tuple[int, Games, Games]) -> None:
    seat, games, _ = pair
    if (games.records["phase"] == Phase.OVER).all():
        return  # nothing more is said once the game is over; both forms are as good
    other = 1 - seat
    expected = [ruled_out(record, other) for record in games.records]
    assert games.records["lacks"][:, other].tolist() == expected


# ---- public facts ----


def hidden_card(record: np.void) -> int:
    """Returns a card that lies nowhere on the table: one of the pack."""
    out = int(
        record["hands"][0] | record["hands"][1] | record["discards"][0] | record["discards"][1]
    )
    laid = [int(card) for card in record["plays"] if card >= 0]
    used = set(cards_in(out)) | set(laid) | {int(record["starter"])}
    return next(card for card in range(51, -1, -1) if card not in used)


def changed_fact(games: Games, fact: str) -> Games:
    """Returns the games with one public fact changed in each lane."""
    changed = games.copy()
    records = changed.records
    lanes = np.arange(len(games))
    if fact in ("score of seat 0", "score of seat 1"):
        records["scores"][:, int(fact[-1])] += 1
    elif fact == "dealer":
        records["dealer"] ^= 1
    elif fact == "turn":
        records["turn"] ^= 1
    elif fact == "starter":
        records["starter"] = [hidden_card(record) for record in records]
    elif fact in ("last card laid", "first card laid"):
        place = 0 if fact.startswith("first") else records["num_plays"].astype(np.int64) - 1
        records["plays"][lanes, place] = [hidden_card(record) for record in records]
    elif fact == "who laid the last card":
        records["play_seats"][lanes, records["num_plays"].astype(np.int64) - 1] ^= 1
    elif fact == "count":
        records["count"] = (records["count"] + 1) % 31
    elif fact in ("go of seat 0", "go of seat 1"):
        records["gone"] ^= 1 << int(fact[-1])
    elif fact == "cards held":
        records["held"][:, 0] += 1
    elif fact == "what a go has shown":
        records["lacks"][:, 1] = (records["lacks"][:, 1] + 1) % 31
    elif fact == "where the count began":
        records["pile_size"] = np.where(records["pile_size"] > 0, records["pile_size"] - 1, 1)
    else:
        records["phase"] = Phase.OVER
    return changed


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "fact",
    [
        "score of seat 0",
        "score of seat 1",
        "dealer",
        "turn",
        "starter",
        "last card laid",
        "first card laid",
        "who laid the last card",
        "count",
        "go of seat 0",
        "go of seat 1",
        "cards held",
        "what a go has shown",
        "where the count began",
        "phase",
    ],
)
def test_a_public_fact_changes_the_observation(fact: str, seat: int) -> None:
    # D002.
    games = random_states(Phase.PLAY, 500, seed=80)
    games = games.copy(np.flatnonzero(games.records["num_plays"] > 0))
    changed = changed_fact(games, fact)
    assert (games.observe(seat) != changed.observe(seat)).any(axis=1).all()


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("fact", ["score of seat 0", "score of seat 1", "dealer", "turn"])
def test_a_public_fact_changes_the_observation_before_the_cut(fact: str, seat: int) -> None:
    games = random_states(Phase.DISCARD, 500, seed=81)
    assert (games.observe(seat) != changed_fact(games, fact).observe(seat)).any(axis=1).all()


def test_own_hand_and_discards_change_the_observation() -> None:
    games = random_states(Phase.PLAY, 500, seed=82)
    for name in ("hands", "discards"):
        changed = games.copy()
        cards = [1 << hidden_card(record) for record in changed.records]
        changed.records[name][:, 0] |= np.array(cards, np.int64)
        assert (games.observe(0) != changed.observe(0)).any(axis=1).all()
        assert np.array_equal(games.observe(1), changed.observe(1))


# ---- the second to throw ----

HANDS = [parse_cards("AC 2C 3C 4C 5C 6C"), parse_cards("7D 8D 9D TD QD KD")]


def test_the_dealer_sees_the_same_whatever_pone_threw() -> None:
    # D004, D011: all fifteen pairs, and after the first card of each.
    after_one, after_two = set(), set()
    for first in HANDS[0]:
        for second in HANDS[0]:
            if first != second:
                table = dealt(HANDS, parse_card("KS"))
                table.games.apply([first])
                after_one.add(table.games.observe(DEALER).tobytes())
                table.games.apply([second])
                after_two.add(table.games.observe(DEALER).tobytes())
    assert len(after_one) == 1
    assert len(after_two) == 1


def test_pone_sees_the_same_whatever_the_dealer_threw() -> None:
    seen = set()
    for first in HANDS[1]:
        for second in HANDS[1]:
            if first != second:
                table = dealt(HANDS, parse_card("KS")).lay("AC 2C")
                table.games.apply([first])
                table.games.apply([second])
                seen.add(table.games.observe(PONE).tobytes())
    assert len(seen) == 1


# ---- record and observation, the same player ----


@pytest.mark.parametrize("name", BOTS)
def test_a_house_player_plays_the_same_from_record_and_observation(name: str) -> None:
    policy, bot = BotPolicy(name), Bot[name.upper()]
    games = Games(1_000, seed=90)
    rng = np.random.default_rng(90)
    compared = 0
    while compared < 20_000:
        games.next_game()
        luck = games.luck()
        masks = games.action_masks()
        chosen = policy(games.observe(), masks, luck)
        assert np.array_equal(chosen, choices(games, bot, luck))
        assert masks[np.arange(len(games)), chosen].all()
        compared += len(games)
        games.apply(random_actions(masks, rng))


@pytest.mark.parametrize("name", BOTS)
def test_a_house_player_in_the_loops_plays_as_the_policy_does(name: str) -> None:
    policy, bot = BotPolicy(name), Bot[name.upper()]
    looped, stepped = Games(100, seed=91), Games(100, seed=91)
    looped.play_bots([bot, bot])
    while not stepped.over.all():
        lanes = np.flatnonzero(~stepped.over)
        stepped.apply(
            policy(
                stepped.observe(lanes=lanes),
                stepped.action_masks(lanes=lanes),
                stepped.luck(lanes=lanes),
            ),
            lanes,
        )
    assert looped.records.tobytes() == stepped.records.tobytes()
