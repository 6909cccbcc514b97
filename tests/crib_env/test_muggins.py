"""Muggins in the rule book: claims and calls worked out by hand, R41 to R45."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crib_env.batch import Games, IllegalActionError
from crib_env.bots import Bot
from crib_env.cards import parse_card, parse_cards
from crib_env.derived import derived_inputs, derived_layout
from crib_env.game_record import CLAIM_ACTION, Counting, Phase, Role, Source
from crib_env.observation import layout
from crib_env.policy import BotPolicy
from crib_env.position import Position
from crib_env.rules import PRESETS, Rules
from tests.tabletop import DEALER, PONE, Table, after_cut

pytestmark = pytest.mark.nojit

SHOW, FULL = Rules(muggins="show"), Rules(muggins="full")

# With the starter 8C: 24, a pair of eights 2, and a crib of 4 (two fifteens).
STARTER = "8C"
TWENTY_FOUR, TWO, CRIB = "6C 7D 7S 8H", "KH QD 8S 2D", "KS TD 4H AS"


def say(table: Table, *numbers: int) -> Table:
    """Claims and calls these points, in turn."""
    for number in numbers:
        table.games.apply([CLAIM_ACTION + number])
    return table


def field(table: Table, name: str) -> int:
    """Returns a field of the record."""
    return int(table.games.records[name][0])


def at_the_show(scores: tuple[int, int] = (10, 20), rules: Rules = SHOW) -> Table:
    """Returns a table where pone, who has pegged nothing since, is to claim a hand of 24."""
    table = after_cut((TWENTY_FOUR, TWO), STARTER, crib=CRIB, rules=rules)
    table.lay_all()
    table.games.records["scores"][0, :2] = scores
    table.games.records["points"][:] = 0
    return table


def in_full(hands: tuple[str, str], scores: tuple[int, int] = (0, 0)) -> Table:
    """Returns a table of full muggins before the first card."""
    return after_cut(hands, "2C", crib="KS TD 4H AS", scores=scores, rules=FULL)


# ---- R41, R42, R43: a claim, a call, the excess ----


@pytest.mark.parametrize(
    ("claim", "called", "owner", "caller"),
    [
        (24, 0, 24, 0),
        (24, 1, 24, 0),  # nothing was missed
        (20, 0, 20, 0),  # no call: what is missed is lost
        (20, 4, 20, 4),
        (20, 3, 20, 3),
        (20, 5, 20, 0),  # too high a call pegs nothing
        (0, 24, 0, 24),
        (0, 31, 0, 0),
        (26, 0, 24, 2),  # the excess
        (26, 2, 24, 2),
    ],
)
def test_r41_a_claim_pegs_what_it_says_but_no_more_than_is_there(
    claim: int, called: int, owner: int, caller: int
) -> None:
    table = at_the_show()
    assert (table.phase, table.turn, field(table, "true_points")) == (Phase.CLAIM, PONE, 24)
    assert np.flatnonzero(table.games.action_masks()[0]).tolist() == list(range(52, 84))
    say(table, claim)
    assert (table.phase, table.turn) == (Phase.CALL, DEALER)
    assert table.points(PONE, Source.HAND) == owner  # before anything is called
    say(table, called)
    assert table.scores == (10 + owner, 20 + caller)
    assert (table.points(PONE, Source.HAND), table.points(DEALER, Source.MUGGINS)) == (
        owner,
        caller,
    )
    assert (table.phase, table.turn, field(table, "true_points")) == (Phase.CLAIM, DEALER, 2)


def test_r41_his_heels_are_pegged_at_once() -> None:
    table = after_cut((TWENTY_FOUR, TWO), "JC", crib=CRIB, rules=FULL)
    assert (table.points(DEALER, Source.HIS_HEELS), table.phase) == (2, Phase.PLAY)


def test_r41_a_whole_show_is_claimed() -> None:
    table = say(at_the_show((0, 0)), 20, 4, 2, 0)  # pone's hand, the dealer's
    assert field(table, "counting") == Counting.CRIB
    say(table, 7, 1)  # the crib of 4: an excess of 3
    assert table.points_as(PONE, Source.HAND, Role.PONE) == 20
    assert table.points_as(DEALER, Source.MUGGINS, Role.DEALER) == 4
    assert table.points_as(DEALER, Source.HAND, Role.DEALER) == 2
    assert table.points_as(DEALER, Source.CRIB, Role.DEALER) == 4
    assert table.points_as(PONE, Source.MUGGINS, Role.PONE) == 3
    assert table.scores == (23, 10)
    assert (table.phase, table.dealer, table.deal_number) == (Phase.DISCARD, PONE, 1)


@pytest.mark.parametrize("claim", [0, 20, 24, 26])
def test_r42_a_call_is_asked_for_whether_or_not_anything_was_missed(claim: int) -> None:
    # What the caller is offered is the same, so the offer tells nothing.
    table = say(at_the_show(), claim)
    assert (table.phase, table.turn) == (Phase.CALL, DEALER)
    assert table.games.action_masks()[0].sum() == 32


def test_r42_what_one_has_taken_the_next_cannot_take() -> None:
    # Three players: both are asked, from the owner's left; 24 claimed as 20.
    rules = replace(PRESETS["three_player"], muggins="show")
    games = Games(1, rules)
    hands = ["6C 7D 7S 8H 2H", "KH QD 8S 2D 3H", "TC 9C 4D AD KD"]
    thrown = ["2H", "3H", "KD"]
    games.set_position(
        0,
        Position(
            dealer=2,
            hands=[parse_cards(hand) for hand in hands],
            discards=[parse_cards(card) for card in thrown],
            starter=parse_card("8C"),
        ),
    )
    while games.records["phase"][0] == Phase.PLAY:
        games.apply([int(games.action_masks()[0].argmax())])
    start = games.scores[0].tolist()
    assert games.records["true_points"][0] == 24
    for action, turn in ((20, 0), (3, 1), (2, 2)):  # the last calls more than the 1 that is left
        assert games.turn[0] == turn
        games.apply([CLAIM_ACTION + action])
    gained = (games.scores[0] - start).tolist()
    assert gained == [20, 3, 0]
    assert (games.turn[0], games.records["phase"][0]) == (1, Phase.CLAIM)


def test_r42_partners_are_not_asked() -> None:
    rules = replace(PRESETS["four_player"], muggins="full")
    games = Games(1, rules, seed=5, first_dealer=3)
    asked: list[int] = []
    while games.records["phase"][0] == Phase.DISCARD:
        games.apply([int(games.action_masks()[0].argmax())])
    games.apply([int(games.action_masks()[0].argmax())])
    while games.records["phase"][0] != Phase.PLAY:
        asked.append(int(games.turn[0]))
        games.apply([CLAIM_ACTION])
    assert asked == [0, 1, 3]


def test_r43_without_the_penalty_the_excess_is_nobodys() -> None:
    table = say(at_the_show(rules=replace(SHOW, muggins_penalty=False)), 26)
    assert table.scores == (34, 20)
    assert (table.phase, table.turn, field(table, "missed")) == (Phase.CALL, DEALER, 0)
    assert say(table, 2).scores == (34, 20)


def test_r43_the_seat_at_the_owners_left_pegs_the_excess() -> None:
    games = Games(1, replace(PRESETS["three_player"], muggins="full"), seed=6, first_dealer=1)
    for _ in range(3):
        games.apply([int(games.action_masks()[0].argmax())])
    games.records["scores"] = 0
    owner = int(games.turn[0])
    games.apply([int(games.action_masks()[0].argmax())])
    games.apply([CLAIM_ACTION + 5])  # a first card pegs nothing
    expected = [0, 0, 0]
    expected[(owner + 1) % 3] = 5
    assert games.scores[0].tolist() == expected


# ---- R44: full ----


def test_r44_each_card_is_claimed_and_called_before_the_turn_passes() -> None:
    table = in_full(("5H 6H 9S KD", "TH 4C 7C QD"))
    table.lay("5H")
    assert (table.phase, table.turn, field(table, "true_points")) == (Phase.CLAIM, PONE, 0)
    say(table, 0)
    assert (table.phase, table.turn) == (Phase.CALL, DEALER)
    say(table, 0)
    assert (table.phase, table.turn) == (Phase.PLAY, DEALER)
    table.lay("TH")  # fifteen, missed: C073
    say(table, 0)
    assert (table.phase, table.turn, field(table, "missed")) == (Phase.CALL, PONE, 2)
    say(table, 2)
    assert table.scores == (2, 0)
    assert (table.phase, table.turn) == (Phase.PLAY, PONE)


def test_r44_a_call_lapses_with_the_next_card() -> None:
    # C073: what nobody has called is lost once the play goes on.
    table = say(in_full(("5H 6H 9S KD", "TH 4C 7C QD")).lay("5H"), 0, 0)
    say(table.lay("TH"), 0, 0)
    assert table.scores == (0, 0)
    assert field(table, "missed") == 0


def test_r44_the_last_card_is_a_claim_of_its_own() -> None:
    table = in_full(("KC 7D 7S 8H", "QD JD JS 2D"))
    for card in ("KC", "QD", "7D"):  # 27: neither can play but the 2
        say(table.lay(card), 0, 0)
    assert table.turn == DEALER
    say(table.lay("2D"), 0, 0)  # 29
    assert (table.phase, table.turn) == (Phase.CLAIM, DEALER)
    assert (field(table, "counting"), field(table, "true_points")) == (Counting.GO, 1)
    say(table, 1, 0)
    assert table.scores == (0, 1)
    assert (table.phase, table.turn, table.count) == (Phase.PLAY, PONE, 0)


def test_r44_thirty_one_has_no_point_on_top() -> None:
    table = in_full(("KC 7D 6S 8H", "QD 4D JS 2D"))
    for card in ("KC", "QD", "7D"):
        say(table.lay(card), 0, 0)
    table.lay("4D")
    assert (field(table, "counting"), field(table, "true_points")) == (Counting.CARD, 2)
    say(table, 2, 0)
    assert (table.phase, table.turn, table.count) == (Phase.PLAY, PONE, 0)


def test_r44_show_claims_nothing_in_the_play() -> None:
    table = after_cut(("5H 6H 9S KD", "TH 4C 7C QD"), "2C", crib=CRIB, rules=SHOW)
    table.lay("5H TH")
    assert table.scores == (0, 2)


# ---- R45: the order ----


def test_r45_the_owner_is_out_before_muggins_is_heard() -> None:
    table = say(at_the_show((101, 119)), 20)
    assert (table.phase, table.winner) == (Phase.OVER, PONE)
    assert table.scores == (121, 119)


def test_r45_a_call_may_win() -> None:
    table = say(at_the_show((50, 117)), 20, 4)
    assert (table.phase, table.winner) == (Phase.OVER, DEALER)
    assert table.scores == (70, 121)


def test_r45_the_excess_comes_before_the_calls_and_may_win() -> None:
    table = say(at_the_show((50, 119)), 26)
    assert (table.phase, table.winner) == (Phase.OVER, DEALER)
    assert table.scores == (74, 121)


def test_c068_an_exact_claim_leaves_nothing_to_take() -> None:
    table = after_cut(("KH QD 9S 2D", "7D 7S 8C 8D"), "7H", crib=CRIB, rules=SHOW)
    table.lay_all()
    table.games.records["scores"][0, :2] = (50, 50)
    assert say(table, 0, 0).turn == DEALER
    assert field(table, "true_points") == 20
    say(table, 20)
    assert field(table, "missed") == 0
    say(table, 2)
    assert table.scores == (50, 70)


# ---- what is legal, seen and refused ----


def test_cards_and_claims_are_refused_where_the_other_is_asked_for() -> None:
    table = at_the_show()
    for action in (0, 51, 84, -1):
        with pytest.raises(IllegalActionError, match="allowed: 52 to 83, 0 to 31 points"):
            table.games.apply([action])
    opening = Games(1, SHOW)
    with pytest.raises(IllegalActionError, match=r"illegal action 55 \(3 points\)"):
        opening.apply([55])
    plain = Games(1)
    with pytest.raises(IllegalActionError, match=r"illegal action 55 \(no card\)"):
        plain.apply([55])


def test_only_what_lies_open_is_shown() -> None:
    fields = layout(SHOW)
    table = at_the_show()
    view = table.games.observe(PONE)[0]
    shown = view[fields["shown_hands"].slice].reshape(2, 52)
    assert shown.sum(axis=1).tolist() == [4, 0]
    assert view[fields["shown_crib"].slice].sum() == 0
    say(table, 20)
    view = table.games.observe(DEALER)[0]
    assert view[fields["claimed"].slice].tolist() == [20]
    assert view[fields["owner"].slice].tolist() == [0, 1]
    say(table, 0)
    view = table.games.observe(PONE)[0]
    assert view[fields["shown_hands"].slice].sum() == 8
    say(table, 2, 0)
    view = table.games.observe(PONE)[0]
    assert view[fields["shown_crib"].slice].sum() == 4


@pytest.mark.parametrize("muggins", ["show", "full"])
@pytest.mark.parametrize("name", PRESETS)
def test_players_who_count_right_peg_what_they_would_without_muggins(
    name: str, muggins: str
) -> None:
    bots = [int(Bot.EXPERT)] * PRESETS[name].players
    plain, claimed = Games(50, name, seed=3), Games(50, replace(PRESETS[name], muggins=muggins), 3)
    plain.play_bots(bots)
    claimed.play_bots(bots)
    assert (plain.points == claimed.points).all()
    assert (plain.winner == claimed.winner).all()


# ---- positions ----


def test_a_position_of_full_muggins_counts_every_card_right() -> None:
    table = in_full(("5H 6H 9S KD", "TH 4C 7C QD"))
    table.lay("5H")
    with pytest.raises(ValueError, match="a claim is under way"):
        table.games.position(0)
    say(table, 0, 0)
    say(table.lay("TH"), 2, 0)
    position = table.games.position(0)
    copied = Games(1, FULL)
    copied.set_position(0, position)
    for name in ("scores", "points", "turn", "phase", "count", "plays", "hands", "crib"):
        assert (copied.records[name] == table.games.records[name]).all()


def test_a_position_that_no_right_counts_come_to_is_refused() -> None:
    table = say(in_full(("5H 6H 9S KD", "TH 4C 7C QD")).lay("5H"), 0, 0)
    say(table.lay("TH"), 0, 0)
    with pytest.raises(ValueError, match="less has been pegged than was laid"):
        table.games.position(0)


# ---- house players ----


def said_by(name: str, muggins: str = "full") -> list[tuple[Phase, int, int]]:
    """Returns (phase, right, said) of every claim and call of a house player against itself."""
    games = Games(200, Rules(muggins=muggins), seed=7)
    policy = BotPolicy(name, games.rules)
    said = []
    while not games.over.all():
        lanes = np.flatnonzero(~games.over)
        chosen = policy(
            games.observe(lanes=lanes), games.action_masks(lanes=lanes), games.luck(lanes)
        )
        for lane, action in zip(lanes, chosen.tolist(), strict=True):
            record = games.records[lane]
            if record["counting"]:
                claiming = record["phase"] == Phase.CLAIM
                right = int(record["true_points"] if claiming else record["missed"])
                said.append((Phase(int(record["phase"])), right, action - CLAIM_ACTION))
        games.apply(chosen, lanes)
    return said


@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_a_house_player_that_counts_is_always_right(name: str) -> None:
    assert all(right == said for _, right, said in said_by(name))


def test_careless_errs_in_a_fifth_of_its_counts_in_both_directions() -> None:
    said = said_by("careless")
    claims = [(right, number) for phase, right, number in said if phase == Phase.CLAIM]
    worth = [(right, number) for right, number in claims if right >= 3]
    errors = np.array([number - right for right, number in worth])
    assert len(errors) > 1_000
    assert set(errors.tolist()) == {-3, -2, -1, 0, 1, 2}
    spread = 4 * np.sqrt(0.2 * 0.8 / len(errors))
    assert abs((errors != 0).mean() - 0.2) < spread
    assert abs((errors < 0).mean() - 0.1) < spread
    calls = np.array([(right, number) for phase, right, number in said if phase == Phase.CALL])
    assert (calls[calls[:, 0] == 0, 1] == 0).all()
    missed = calls[calls[:, 0] > 0]
    overlooked = missed[:, 1] == 0
    assert (missed[~overlooked, 0] == missed[~overlooked, 1]).all()
    assert abs(overlooked.mean() - 0.2) < 4 * np.sqrt(0.2 * 0.8 / len(missed))


@pytest.mark.parametrize("muggins", ["show", "full"])
def test_whoever_counts_right_beats_careless(muggins: str) -> None:
    wins = 0
    for seat in (0, 1):
        games = Games(2_000, Rules(muggins=muggins), seed=8, first_dealer="alternate")
        bots = [int(Bot.CARELESS)] * 2
        bots[seat] = int(Bot.EXPERT)
        games.play_bots(bots)
        wins += int((games.winner == seat).sum())
    assert wins / 4_000 > 0.55


def test_derived_inputs_say_what_is_there_to_be_said() -> None:
    rules = Rules(muggins="full")
    counts = derived_layout(rules)["counts"].slice
    games = Games(50, rules, seed=9)
    rng = np.random.default_rng(9)
    asked = 0
    for _ in range(60):
        games.next_game()
        inputs = derived_inputs(games.observe(), rules)[:, counts]
        records = games.records
        claiming = records["phase"] == Phase.CLAIM
        right = np.where(claiming, records["true_points"], records["missed"])
        told = np.where(records["counting"] > 0, inputs.argmax(axis=1), right)
        assert np.array_equal(told, right)
        assert (inputs.sum(axis=1) == (records["counting"] > 0)).all()
        asked += int((records["counting"] > 0).sum())
        noise = rng.random((50, 84)) * games.action_masks()
        games.apply(np.where(records["counting"] > 0, CLAIM_ACTION + right, noise.argmax(axis=1)))
    assert asked > 500
