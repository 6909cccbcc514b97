"""The house players: told once more in plain Python, frozen, and as strong as they should be.

What their tables are made of is tested in test_make_tables.py.
"""

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
from crib_env.bots import BOTS, Bot, bot_move, random_card
from crib_env.cards import card_set, card_text, cards_in, parse_card, parse_cards
from crib_env.game_record import Phase, Role, Source
from crib_env.kernel import COMPILED, as_records
from crib_env.loops import OUTSIDE
from crib_env.position import Position
from crib_env.rules import PRESETS
from crib_env.tables import CRIB_SCALE, CRIB_VARIANTS, CRIBS
from tests.golden_bots import choices, hashes
from tests.referee import pegging_points, score_hand
from tests.tabletop import DEALER, PONE, after_cut, dealt, random_actions

DATA = Path(__file__).parents[1] / "data"
OWN_CRIB, OTHER_CRIB = CRIBS[0]
Throws = tuple[int, ...]
# Greedy and expert, told in plain Python, are asked for a card to throw or to lay.
Plain = Callable[[np.void, list[int], list[int]], int]


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
    """Returns the points of three or four cards in the show."""
    points = of_ranks(tuple(sorted(card // 4 for card in (*kept, starter))))
    suits = {card % 4 for card in kept}
    if len(suits) == 1:
        points += len(kept) + (starter % 4 in suits)
    return points + (40 + starter % 4 in kept)


def before_the_cut(kept: tuple[int, ...]) -> int:
    """Returns the points of three or four cards among themselves."""
    points = of_ranks(tuple(sorted(card // 4 for card in kept)))
    return points + len(kept) * (len({card % 4 for card in kept}) == 1)


def best_throw(
    record: np.void, hand: list[int], thrown: list[int], value: Callable[[Throws, Throws], Any]
) -> int:
    """Returns the first card of the best throw; of equal throws, the first in card order."""
    cards = sorted(hand + thrown)
    best = None
    for throw in combinations(cards, int(record["num_discards"])):
        if not set(thrown) <= set(throw):
            continue
        kept = tuple(card for card in cards if card not in throw)
        worth = value(kept, throw)
        if best is None or worth > best[0]:
            best = worth, throw
    assert best is not None
    return next(card for card in best[1] if card not in thrown)


def greedy(record: np.void, legal: list[int], pile: list[int]) -> int:
    """Keeps most before the cut; pegs most now, of equal cards by the highest."""
    seat = int(record["turn"])
    if record["phase"] == Phase.DISCARD:
        hand, thrown = (list(cards_in(record[name][seat])) for name in ("hands", "discards"))
        return best_throw(record, hand, thrown, lambda kept, _: before_the_cut(kept))
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


def next_to_lay(record: np.void) -> int:
    """Returns the next seat to the left that can still lay, as far as all know; else one's own."""
    seat, players = int(record["turn"]), int(record["players"])
    for step in range(1, players):
        other = (seat + step) % players
        if record["held"][other] and not int(record["gone"]) >> other & 1:
            return other
    return seat


def expert(record: np.void, legal: list[int], pile: list[int], partners: int = 1) -> int:
    """Throws by expected hand and crib; pegs by points now and the next one's expected best reply.

    What a partner replies, and the crib that it deals, are one's own side's; with *partners* -1,
    its replies count as another's.
    """
    seat, sides = int(record["turn"]), int(record["sides"])
    hand, thrown = (list(cards_in(record[name][seat])) for name in ("hands", "discards"))
    seen = {*hand, *thrown}
    if record["phase"] == Phase.DISCARD:
        own = (seat - int(record["dealer"])) % sides == 0
        variant = (record["players"], record["cards_dealt"])
        tables = CRIBS[[(2, 6), (2, 5), (3, 5), (4, 5)].index(variant)]
        sign, table = (1, tables[0]) if own else (-1, tables[1])
        starters = [card for card in range(52) if card not in seen]

        def value(kept: Throws, throw: Throws) -> Fraction:
            total = sum(show_points(kept, starter) for starter in starters)
            crib = Fraction(int(table[throw[0] // 4, throw[-1] // 4]), CRIB_SCALE)
            return Fraction(total, len(starters)) + sign * crib

        return best_throw(record, hand, thrown, value)
    laid = [int(card) for card in record["plays"][: record["num_plays"]]]
    seen |= {*laid, int(record["starter"])}
    unseen = [card for card in range(52) if card not in seen]
    other = next_to_lay(record)
    kept = int(record["cards_dealt"]) - int(record["num_discards"])
    laid_by = record["play_seats"][: record["num_plays"]].tolist()
    held = 0 if other == seat else kept - laid_by.count(other)
    sign = partners if (other - seat) % sides == 0 else -1

    def worth(card: int) -> tuple[Fraction, int]:
        after = [*pile, card]
        return Fraction(pegging_points(after)) + sign * best_reply(after, unseen, held), card

    # Cards of one rank differ in nothing else.
    highest = {card // 4: card for card in sorted(legal)}
    return max(highest.values(), key=worth)


def random_positions(name: str, number: int) -> Games:
    """Returns random positions of all stages of a deal, 60 or more of a variant."""
    rng = np.random.default_rng(400)
    games = Games(200, name, seed=400)
    chosen = []
    for _ in range(60):
        games.next_game()
        chosen.append(games.copy(rng.choice(200, number // 60, replace=False)))
        games.apply(random_actions(games.action_masks(), rng))
    states = games.copy(np.zeros(sum(map(len, chosen)), np.int64))
    states.records[:] = np.concatenate([some.records for some in chosen])
    return states


@pytest.fixture(scope="module", params=CRIB_VARIANTS)
def positions(request: pytest.FixtureRequest) -> Games:
    """Three thousand random positions of six cards, six hundred of every other variant."""
    return random_positions(request.param, 3_000 if request.param == "six_card" else 600)


@pytest.mark.parametrize(("bot", "plain"), [(Bot.GREEDY, greedy), (Bot.EXPERT, expert)])
def test_a_house_player_chooses_as_told_in_plain_words(
    positions: Games, bot: Bot, plain: Plain
) -> None:
    chosen = choices(bot, positions)
    masks = positions.action_masks()
    for lane, record in enumerate(positions.records):
        legal = np.flatnonzero(masks[lane]).tolist()
        card = plain(record, legal, pile_of(record))
        assert card_text(chosen[lane]) == card_text(card), positions.text(lane)


def pile_of(record: np.void) -> list[int]:
    """Returns the cards laid in this count, in order."""
    number, size = int(record["num_plays"]), int(record["pile_size"])
    return [int(card) for card in record["plays"][number - size : number]]


@pytest.mark.skipif(not COMPILED, reason="looks for rare positions in many games")
def test_expert_wishes_its_partner_a_good_reply() -> None:
    """Where the partner lays next, since the seat between has said go or holds no card."""
    games = Games(4_000, "four_player", seed=404)
    rng = np.random.default_rng(404)
    found = differ = 0
    while found < 200:
        for lane in np.flatnonzero(games.records["phase"] == Phase.PLAY):
            record = games.records[lane]
            legal = np.flatnonzero(games.action_masks(lanes=[lane])[0]).tolist()
            if len(legal) > 1 and (next_to_lay(record) - int(record["turn"])) % 4 == 2:
                card = expert(record, legal, pile_of(record))
                assert choices(Bot.EXPERT, games.copy([lane]))[0] == card, games.text(int(lane))
                found += 1
                differ += card != expert(record, legal, pile_of(record), partners=-1)
        games.apply(random_actions(games.action_masks(), rng))
    assert differ > 10


def test_positions_of_four_have_some_where_the_partner_is_to_reply() -> None:
    # Else nothing above would hold what a partner's reply is worth.
    games = random_positions("four_player", 600)
    playing = games.records[games.records["phase"] == Phase.PLAY]
    replies = [(next_to_lay(record) - int(record["turn"])) % 4 for record in playing]
    assert replies.count(2) > 10
    assert replies.count(1) > 200


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
def test_expert_throws_fives_to_its_partners_crib_as_to_its_own() -> None:
    thrown = []
    for deals in range(4):
        games = Games(1, "four_player")
        hands: list[str | None] = [None] * 4
        hands[0] = "5H 6C 7D 8S KH"
        games.set_position(0, Position(dealer=deals, hands=hands))
        while games.turn[0]:
            games.apply(choices(Bot.RANDOM, games))
        thrown.append(chosen_by(Bot.EXPERT, games))
    assert thrown == ["5H", "KH", "5H", "KH"]


@pytest.mark.nojit
def test_random_card_is_each_card_for_an_equal_share_of_luck() -> None:
    cards = card_set(parse_cards("AC 5H KS"))
    shares = [random_card(cards, luck) for luck in (0, 2**32 // 3, 2**32 // 3 + 1, 2**32 - 1)]
    assert [card_text(card) for card in shares] == ["AC", "AC", "5H", "KS"]


@pytest.mark.skipif(not COMPILED, reason="plays many games")
@pytest.mark.parametrize("name", CRIB_VARIANTS)
@pytest.mark.parametrize("bot", [Bot.GREEDY, Bot.EXPERT])
def test_throws_at_once_are_those_chosen_one_by_one(bot: Bot, name: str) -> None:
    at_once, one_by_one = (Games(2_000, name, seed=402) for _ in range(2))
    for lane in range(2_000):
        bot_move(int(bot), as_records(at_once.records)[lane])
    for _ in range(at_once.rules.num_discards):
        one_by_one.apply(choices(bot, one_by_one))
    assert np.array_equal(at_once.records["discards"], one_by_one.records["discards"])
    assert at_once.records.tobytes() == one_by_one.records.tobytes()


def test_frozen_choices_in_100_000_positions_are_unchanged() -> None:
    expected = json.loads((DATA / "golden_bots.json").read_text(encoding="utf-8"))
    assert hashes() == expected, "print the new ones with: python -m tests.golden_bots"


def test_careless_plays_the_cards_of_expert(positions: Games) -> None:
    assert Bot["CARELESS"] == 3
    assert BOTS[3] == "careless"
    assert np.array_equal(choices(Bot.CARELESS, positions), choices(Bot.EXPERT, positions))


@pytest.mark.parametrize("name", PRESETS)
def test_without_muggins_careless_plays_as_expert_in_whole_games(name: str) -> None:
    played = []
    for bot in (Bot.EXPERT, Bot.CARELESS):
        games = Games(200 if COMPILED else 2, name, seed=403)
        games.play_bots([bot] * games.rules.players)
        played.append(games.records.tobytes())
    assert played[0] == played[1]


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
    assert np.array_equal(CRIBS, CRIBS.swapaxes(2, 3))


@pytest.mark.parametrize("variant", range(len(CRIB_VARIANTS)), ids=CRIB_VARIANTS)
def test_cribs_of_every_variant_are_whole_and_in_reason(variant: int) -> None:
    rules = PRESETS[CRIB_VARIANTS[variant]]
    cribs = CRIBS[variant] / CRIB_SCALE
    if rules.num_discards == 1:
        # One card stands on the diagonal, and nothing beside it.
        assert not cribs[:, ~np.eye(13, dtype=bool)].any()
        cribs = cribs[:, range(13), range(13)]
        assert (cribs.argmax(axis=1) == 4).all()  # the five
    assert 2.5 < cribs.min() < cribs.max() < 10
    # Others throw to a crib what helps it least.
    assert cribs[0].mean() < cribs[1].mean()


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


def share_of_wins(name: str, first: Bot, second: Bot, games: int) -> float:
    """Returns how often the side of *first* wins against all others, each side holding it in turn.

    With three players one plays against two; partners play alike.
    """
    rules = PRESETS[name]
    won = []
    for side in range(rules.sides):
        table = Games(games // rules.sides, rules, seed=77)
        seats = range(rules.players)
        table.play_bots([first if seat % rules.sides == side else second for seat in seats])
        won.append(table.winner == side)
    return float(np.concatenate(won).mean())


# Of 120,000 games: 0.659, 0.611, 0.603, 0.396 (of three), 0.645.
@pytest.mark.skipif(not COMPILED, reason="plays many games")
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("six_card", 0.64),
        ("short", 0.59),
        ("five_card", 0.58),
        ("three_player", 0.38),
        ("four_player", 0.62),
    ],
)
def test_expert_beats_greedy_in_every_variant(name: str, least: float) -> None:
    assert share_of_wins(name, Bot.EXPERT, Bot.GREEDY, 12_000) > least


@pytest.mark.skipif(not COMPILED, reason="plays many games")
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("six_card", 0.97),
        ("short", 0.90),
        ("five_card", 0.92),
        ("three_player", 0.86),
        ("four_player", 0.92),
    ],
)
def test_greedy_beats_random_in_every_variant(name: str, least: float) -> None:
    assert share_of_wins(name, Bot.GREEDY, Bot.RANDOM, 6_000) > least


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
