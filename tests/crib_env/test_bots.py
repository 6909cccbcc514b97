"""The house players: told once more in plain Python, frozen, and as strong as they should be."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from crib_env.batch import Games
from crib_env.bots import Bot, bot_move, random_card
from crib_env.cards import card_set, card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Role, Source
from crib_env.kernel import COMPILED, as_records
from crib_env.loops import OUTSIDE
from crib_env.make_tables import play_deals
from crib_env.tables import CRIB_SCALE, OTHER_CRIB, OWN_CRIB
from tests.golden_bots import choices, hashes
from tests.referee import pegging_points, score_hand
from tests.tabletop import DEALER, PONE, after_cut, dealt, random_actions

DATA = Path(__file__).parents[1] / "data"


# ---- the choices, in plain Python ----


def pips(card: int) -> int:
    """Returns what a card counts."""
    return min(card // 4 + 1, 10)


@cache
def of_ranks(ranks: tuple[int, ...]) -> int:
    """Returns fifteens, pairs and runs of ranks, by the plain rule book."""
    cards = [4 * rank + ranks[:place].count(rank) for place, rank in enumerate(ranks)]
    parts = score_hand(cards[:-1], cards[-1], False)
    return parts["fifteens"] + parts["pairs"] + parts["runs"]


def show_points(kept: tuple[int, ...], starter: int) -> int:
    """Returns the points of four cards in the show."""
    points = of_ranks(tuple(sorted(card // 4 for card in (*kept, starter))))
    suits = {card % 4 for card in kept}
    if len(suits) == 1:
        points += 5 if starter % 4 in suits else 4
    return points + (40 + starter % 4 in kept)


def before_the_cut(kept: tuple[int, ...]) -> int:
    """Returns the points of four cards among themselves."""
    points = of_ranks(tuple(sorted(card // 4 for card in kept)))
    return points + 4 * (len({card % 4 for card in kept}) == 1)


def best_pair(
    hand: list[int], thrown: list[int], value: Callable[[tuple[int, ...], tuple[int, int]], Any]
) -> int:
    """Returns the first card to throw of the best pair; of equal pairs, the first in card order."""
    cards = sorted(hand + thrown)
    best = None
    for first, second in combinations(cards, 2):
        if not set(thrown) <= {first, second}:
            continue
        kept = tuple(card for card in cards if card not in (first, second))
        worth = value(kept, (first, second))
        if best is None or worth > best[0]:
            best = worth, (first, second)
    assert best is not None
    return next(card for card in best[1] if card not in thrown)


def greedy(record: np.void, legal: list[int], pile: list[int]) -> int:
    """Keeps most before the cut; pegs most now, of equal cards by the highest."""
    seat = int(record["turn"])
    if record["phase"] == Phase.DISCARD:
        hand, thrown = (list(cards_in(record[name][seat])) for name in ("hands", "discards"))
        return best_pair(hand, thrown, lambda kept, _: before_the_cut(kept))
    return max(legal, key=lambda card: (pegging_points([*pile, card]), card))


def best_reply(pile: list[int], unseen: list[int], held: int) -> Fraction:
    """Returns the expected best reply of a hand of *held* unseen cards: P(best >= p), summed."""
    points = [
        pegging_points([*pile, card]) if sum(map(pips, pile)) + pips(card) <= 31 else 0
        for card in unseen
    ]
    hands = comb(len(unseen), held)
    return sum(
        (
            1 - Fraction(comb(sum(reply < least for reply in points), held), hands)
            for least in range(1, 16)
        ),
        Fraction(0),
    )


def expert(record: np.void, legal: list[int], pile: list[int]) -> int:
    """Throws by expected hand and crib; pegs by points now less the expected best reply."""
    seat = int(record["turn"])
    other = 1 - seat
    hand, thrown = (list(cards_in(record[name][seat])) for name in ("hands", "discards"))
    seen = {*hand, *thrown}
    if record["phase"] == Phase.DISCARD:
        sign, table = (1, OWN_CRIB) if seat == record["dealer"] else (-1, OTHER_CRIB)
        starters = [card for card in range(52) if card not in seen]

        def value(kept: tuple[int, ...], pair: tuple[int, int]) -> Fraction:
            total = sum(show_points(kept, starter) for starter in starters)
            crib = Fraction(int(table[pair[0] // 4, pair[1] // 4]), CRIB_SCALE)
            return Fraction(total, len(starters)) + sign * crib

        return best_pair(hand, thrown, value)
    laid = [int(card) for card in record["plays"][: record["num_plays"]]]
    seen |= {*laid, int(record["starter"])}
    unseen = [card for card in range(52) if card not in seen]
    held = 4 - sum(int(by) == other for by in record["play_seats"][: record["num_plays"]])
    if int(record["gone"]) >> other & 1:
        held = 0

    def worth(card: int) -> tuple[Fraction, int]:
        after = [*pile, card]
        return Fraction(pegging_points(after)) - best_reply(after, unseen, held), card

    # Cards of one rank differ in nothing else.
    highest = {card // 4: card for card in sorted(legal)}
    return max(highest.values(), key=worth)


@pytest.fixture(scope="module")
def positions() -> Games:
    """Three thousand random positions of all stages of a deal."""
    rng = np.random.default_rng(400)
    games = Games(200, seed=400)
    chosen = []
    for _ in range(60):
        games.next_game()
        chosen.append(games.copy(rng.choice(200, 50, replace=False)))
        games.apply(random_actions(games.action_masks(), rng))
    states = games.copy(np.zeros(3_000, np.int64))
    states.records[:] = np.concatenate([some.records for some in chosen])
    return states


@pytest.mark.parametrize(("bot", "plain"), [(Bot.GREEDY, greedy), (Bot.EXPERT, expert)])
def test_a_house_player_chooses_as_told_in_plain_words(
    positions: Games, bot: Bot, plain: Callable[[np.void, list[int], list[int]], int]
) -> None:
    chosen = choices(bot, positions)
    masks = positions.action_masks()
    for lane, record in enumerate(positions.records):
        legal = np.flatnonzero(masks[lane]).tolist()
        number, size = int(record["num_plays"]), int(record["pile_size"])
        pile = [int(card) for card in record["plays"][number - size : number]]
        assert card_text(chosen[lane]) == card_text(plain(record, legal, pile)), positions.text(
            lane
        )


def test_the_plain_best_reply_is_that_of_all_hands_dealt_one_by_one() -> None:
    # Holds the formula above against counting, so that it cannot share a slip with the kernel.
    rng = random.Random(401)
    for _ in range(20):
        cards = rng.sample(range(52), 16)
        pile, unseen = cards[: rng.randint(1, 3)], cards[4:]
        for held in (0, 1, 2, 3):
            best = []
            for hand in combinations(unseen, held):
                fitting = [card for card in hand if sum(map(pips, pile)) + pips(card) <= 31]
                best.append(max((pegging_points([*pile, card]) for card in fitting), default=0))
            assert best_reply(pile, unseen, held) == Fraction(sum(best), len(best))


# ---- single choices ----


def chosen_by(bot: Bot, games: Games) -> str:
    """Returns the card that a house player chooses in one lane."""
    return card_text(int(choices(bot, games)[0]))


@pytest.mark.nojit
def test_greedy_throws_the_first_of_equal_pairs() -> None:
    # 5-5-T-J keeps most whichever of the others go; of A, 2 and so on the lowest go first.
    hands = [parse_cards("5C 5D 5H 5S AC AD"), parse_cards("2C 3C 4C 6C 7C 8C")]
    assert chosen_by(Bot.GREEDY, dealt(hands, parse_card("KS")).games) == "AC"


@pytest.mark.nojit
def test_greedy_pegs_most_now_and_of_equal_cards_lays_the_highest() -> None:
    table = after_cut(["KC 2C 3C 9C", "5D 4D KD QD"]).lay("KC")
    assert chosen_by(Bot.GREEDY, table.games) == "KD"  # pair and fifteen are 2 each
    table = after_cut(["AC 2C 3C 9C", "8D 7D TD QD"])
    assert chosen_by(Bot.GREEDY, table.games) == "9C"


@pytest.mark.nojit
def test_expert_does_not_lead_a_five() -> None:
    table = after_cut(["5C 5D 4H TS", "2D 3D 7D KD"])
    assert chosen_by(Bot.EXPERT, table.games)[0] == "4"


@pytest.mark.nojit
def test_expert_fears_no_reply_of_one_who_has_said_go() -> None:
    # At 25 the other has said go: a card that could be paired is as good as another.
    table = after_cut(["KC 5C 2C 2D", "QD JD TD 9D"]).lay("KC QD 5C")
    assert (table.turn, table.gone) == (PONE, {DEALER})
    assert chosen_by(Bot.EXPERT, table.games) == "2D"


@pytest.mark.nojit
def test_expert_throws_fives_to_its_own_crib_alone() -> None:
    hand, rest = parse_cards("5D 5H 6H 7H 8D 9D"), parse_cards("AC 4C KC 6C 9C TC")
    own = dealt([hand, rest], parse_card("KS"), deals=0).lay("AC 4C").games
    other = dealt([hand, rest], parse_card("KS"), deals=1).games
    thrown = []
    for games in (own, other):
        games.play_bots([Bot.EXPERT, OUTSIDE])
        thrown.append(set(cards_in(games.records["discards"][0, 0])))
    assert thrown[0] == set(parse_cards("5D 5H"))
    assert not thrown[1] & set(parse_cards("5D 5H"))


@pytest.mark.nojit
def test_random_card_is_each_card_for_an_equal_share_of_luck() -> None:
    cards = card_set(parse_cards("AC 5H KS"))
    shares = [random_card(cards, luck) for luck in (0, 2**32 // 3, 2**32 // 3 + 1, 2**32 - 1)]
    assert [card_text(card) for card in shares] == ["AC", "AC", "5H", "KS"]


@pytest.mark.skipif(not COMPILED, reason="plays many games")
@pytest.mark.parametrize("bot", [Bot.GREEDY, Bot.EXPERT])
def test_two_throws_at_once_are_the_two_chosen_one_by_one(bot: Bot) -> None:
    at_once, one_by_one = Games(2_000, seed=402), Games(2_000, seed=402)
    for lane in range(2_000):
        bot_move(int(bot), as_records(at_once.records)[lane])
    for _ in range(2):
        one_by_one.apply(choices(bot, one_by_one))
    assert np.array_equal(at_once.records["discards"], one_by_one.records["discards"])
    assert at_once.records.tobytes() == one_by_one.records.tobytes()


def test_frozen_choices_in_100_000_positions_are_unchanged() -> None:
    expected = json.loads((DATA / "golden_bots.json").read_text(encoding="utf-8"))
    assert hashes() == expected, "print the new ones with: python -m tests.golden_bots"


# ---- the tables of cribs ----


def hessel(name: str) -> npt.NDArray[np.float64]:
    """Returns one of Hessel's tables, (13, 13) points."""
    text = (DATA / "hessel.txt").read_text(encoding="utf-8")
    rows = text.split(f"[{name}]\n")[1].splitlines()[1:14]
    return np.array([[float(number) for number in row.split()[1:]] for row in rows])


@pytest.mark.parametrize(("name", "table"), [("own", OWN_CRIB), ("other", OTHER_CRIB)])
def test_cribs_are_those_of_hessel_within_a_quarter_of_a_point(
    name: str, table: npt.NDArray[np.int64]
) -> None:
    pairs = np.triu_indices(13)
    ours, theirs = table[pairs] / CRIB_SCALE, hessel(name)[pairs]
    worst = int(np.abs(ours - theirs).argmax())
    named = "A23456789TJQK"[pairs[0][worst]] + "A23456789TJQK"[pairs[1][worst]]
    assert abs(ours - theirs)[worst] <= 0.25, f"{named}: {ours[worst]}, Hessel {theirs[worst]}"
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99


def test_a_pair_has_one_crib_in_whatever_order() -> None:
    for table in (OWN_CRIB, OTHER_CRIB):
        assert np.array_equal(table, table.T)


# ---- strength ----


def share(wins: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Returns a share and three standard errors of it."""
    mean = float(wins.mean())
    return mean, 3 * sqrt(mean * (1 - mean) / len(wins))


@pytest.fixture(scope="module")
def expert_games() -> Games:
    """A hundred thousand games of expert against itself, seat 0 dealing first."""
    games = Games(100_000, seed=410, first_dealer=0)
    games.play_bots([Bot.EXPERT, Bot.EXPERT])
    return games


def deals_of(games: Games) -> int:
    """Returns how many deals were dealt, the last of each game included."""
    return int(games.records["deal_number"].sum()) + len(games)


def test_first_dealer_of_equal_players_wins_56_of_100(expert_games: Games) -> None:
    assert 0.555 <= (expert_games.winner == 0).mean() <= 0.57


def test_a_game_of_equal_players_takes_9_deals(expert_games: Games) -> None:
    assert 8.9 <= deals_of(expert_games) / len(expert_games) <= 9.3


@pytest.mark.parametrize(("column", "low", "high"), [(0, 7.9, 8.1), (1, 8.05, 8.25), (2, 4.7, 4.9)])
def test_hands_and_cribs_of_experts_are_worth_what_is_published(
    expert_games: Games, column: int, low: float, high: float
) -> None:
    worth = int(expert_games.records["worth_totals"][:, :, column].sum())
    assert low <= worth / deals_of(expert_games) <= high


@pytest.mark.parametrize(("role", "low", "high"), [(Role.DEALER, 3.1, 3.4), (Role.PONE, 1.95, 2.2)])
def test_experts_peg_what_is_published(
    expert_games: Games, role: Role, low: float, high: float
) -> None:
    pegged = int(expert_games.points[:, :, Source.PEGGING, role].sum())
    assert low <= pegged / deals_of(expert_games) <= high


def test_a_jack_is_turned_in_one_deal_of_thirteen(expert_games: Games) -> None:
    heels = int(expert_games.points[:, :, Source.HIS_HEELS].sum())
    assert abs(heels / deals_of(expert_games) - 2 / 13) < 0.005


def test_one_game_of_eight_between_experts_is_a_skunk(expert_games: Games) -> None:
    skunks = expert_games.scores.min(axis=1) < 91
    assert 0.12 <= skunks.mean() <= 0.135


def test_expert_beats_greedy_in_65_of_100_games() -> None:
    games = Games(40_000, seed=411)
    games.play_bots([Bot.EXPERT, Bot.GREEDY])
    wins, _ = share(games.winner == 0)
    assert wins >= 0.65


def test_expert_beats_random_in_99_of_100_games_and_skunks_it_in_75() -> None:
    games = Games(40_000, seed=412)
    games.play_bots([Bot.EXPERT, Bot.RANDOM])
    won = games.winner == 0
    assert won.mean() >= 0.99
    assert (won & (games.scores[:, 1] < 91)).mean() >= 0.75


def test_seats_do_not_matter_to_equal_players() -> None:
    games = Games(40_000, seed=413)
    games.play_bots([Bot.EXPERT, Bot.EXPERT])
    wins, three_errors = share(games.winner == 0)
    assert abs(wins - 0.5) < three_errors


@pytest.mark.skipif(not COMPILED, reason="a million deals take minutes uncompiled")
def test_the_crib_tables_are_what_their_command_finds_by_self_play() -> None:
    """A million fresh deals: every pair thrown often is within five standard errors."""
    deals = 1_000_000
    totals, counts = (np.zeros((2, 13, 13), np.int64) for _ in range(2))
    play_deals(OWN_CRIB, OTHER_CRIB, deals, 99, totals, counts)
    assert counts.sum() == 2 * deals
    for role, table in enumerate((OWN_CRIB, OTHER_CRIB)):
        often = counts[role] > 2_000
        assert often.sum() > 60
        found = totals[role][often] / counts[role][often] / 40
        # A crib's standard deviation over starters and the other's throw is below 2.5 points.
        error = 2.5 / np.sqrt(counts[role][often])
        assert (abs(found - table[often] / CRIB_SCALE) < 5 * error).all()
