"""The rule book: a game is one record of named fields, a rule is a small function of one game.

Knows no batch, no observation and no reward. Functions that change *game* say so; none checks
whether an action is legal: whoever calls `apply` has (batch.py, env.py). The ids in brackets are
those of docs/rules.md.

Sets of cards are 52 bits of an int64 (cards.py); a seat is 0..players-1; a side is who shares a
score: seat % sides.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from crib_env.cards import (
    ALL_CARDS,
    CARDS_UP_TO,
    JACK,
    NO_CARD,
    NUM_CARDS,
    bit_of,
    pips_of,
    rank_of,
)
from crib_env.kernel import apart, bit_count, kernel, lowest_bit
from crib_env.luck import STREAM_CARDS, STREAM_CUT, STREAM_PLAYERS, mix, philox
from crib_env.rules import FIVE_CARD_START, MUGGINS_MODES, loser_deals
from crib_env.scoring import THIRTY_ONE, hand_score, pegging_score

MAX_PLAYERS = 4
MAX_PLAYS = 16
HIS_HEELS_POINTS = 2


class Phase(IntEnum):
    """What the player to act is asked for. CLAIM and CALL come with muggins only."""

    DISCARD = 0
    PLAY = 1
    OVER = 2
    CLAIM = 3
    CALL = 4


class Source(IntEnum):
    """What points were pegged for; MUGGINS is what was called, and the excess of a claim."""

    HIS_HEELS = 0
    PEGGING = 1
    HAND = 2
    CRIB = 3
    MUGGINS = 4


class Counting(IntEnum):
    """What a claim and its calls are about."""

    NOTHING = 0
    CARD = 1
    GO = 2
    HAND = 3
    CRIB = 4


class Role(IntEnum):
    """A seat's part in a deal. With three or four players every seat but the dealer is a pone."""

    DEALER = 0
    PONE = 1


# How the first dealer of a lane's next game is found, where it is not simply a seat.
ALTERNATE = -1
CUT = -2
LOSER = -3

TIED = -1  # in place of a seat: several have cut the lowest card
NO_CUT = -1  # in place of cards: luck that names none

NUM_SOURCES = len(Source)

# With muggins an action above those of cards claims or calls so many points, 0 to 31.
CLAIM_ACTION = NUM_CARDS
NUM_CLAIMS = 32

DISCARD, PLAY, OVER = int(Phase.DISCARD), int(Phase.PLAY), int(Phase.OVER)
CLAIM, CALL = int(Phase.CLAIM), int(Phase.CALL)
HIS_HEELS, PEGGING = int(Source.HIS_HEELS), int(Source.PEGGING)
HAND, CRIB, MUGGINS = int(Source.HAND), int(Source.CRIB), int(Source.MUGGINS)
NOTHING, A_CARD, A_GO = int(Counting.NOTHING), int(Counting.CARD), int(Counting.GO)
A_HAND, A_CRIB = int(Counting.HAND), int(Counting.CRIB)
CLAIM_ALL = MUGGINS_MODES.index("full")

loser_deals_of = kernel(loser_deals)

RECORD = np.dtype(
    [
        # The lane: its seed as low and high word, and which game and deal of it this is.
        ("seed", np.uint32, (2,)),
        ("game_number", np.int32),
        ("deal_number", np.int32),
        ("first_dealer", np.int8),  # a seat, ALTERNATE, CUT or LOSER
        # The rules, copied from Rules.
        ("players", np.int8),
        ("sides", np.int8),
        ("cards_dealt", np.int8),
        ("num_discards", np.int8),
        ("crib_from_pack", np.int8),
        ("muggins", np.int8),  # the place in MUGGINS_MODES
        ("muggins_penalty", np.int8),
        ("target", np.int16),
        # The game.
        ("phase", np.int8),
        ("dealer", np.int8),
        ("turn", np.int8),  # the seat to act
        ("winner", np.int8),  # the side that won, -1 before
        # What is counted and must be claimed; Counting.NOTHING and -1 at all other times.
        ("counting", np.int8),
        ("owner", np.int8),  # whose points these are
        ("scores", np.int16, (MAX_PLAYERS,)),  # by side, at most the target
        # Pegged in this game, by seat, Source and Role.
        ("points", np.int16, (MAX_PLAYERS, NUM_SOURCES, 2)),
        # Points of hands kept and cribs thrown in this game, counted or not, by seat: its hands as
        # dealer, its hands as pone, its cribs.
        ("worth_totals", np.int16, (MAX_PLAYERS, 3)),
        # The deal.
        ("luck", np.uint32, (2,)),  # the key of the players' luck in this deal
        # Shown by go: no card of so many pips or fewer, by seat.
        ("lacks", np.int8, (MAX_PLAYERS,)),
        ("true_points", np.int8),  # of what is counted
        ("claimed", np.int8),  # -1 before
        ("missed", np.int8),  # what is there still to call
        ("shown", np.int8),  # how many hands, then the crib, lie open in the show
        ("hands", np.int64, (MAX_PLAYERS,)),  # cards held now, a set by seat
        ("discards", np.int64, (MAX_PLAYERS,)),  # cards thrown, a set by seat
        ("crib", np.int64),  # cards of the crib so far, a set
        ("pile", np.int64),  # ranks laid in this count, four bits each, the last lowest
        ("held", np.int8, (MAX_PLAYERS,)),  # how many cards each seat holds, which all may know
        ("starter", np.int8),  # known to the record before it is turned
        ("worth", np.int8, (MAX_PLAYERS + 1,)),  # points in the show by seat, then the crib's
        # The play.
        ("num_plays", np.int8),
        ("plays", np.int8, (MAX_PLAYS,)),  # cards in the order laid
        ("play_seats", np.int8, (MAX_PLAYS,)),  # who laid them
        ("count", np.int8),
        ("pile_size", np.int8),
        ("gone", np.int8),  # who said go in this count, a bit by seat
        # Under ALTERNATE: the seat that dealt the lane's first game. Under LOSER: the seat that
        # dealt this game first, plus the number of players in games of odd number.
        ("first_cut", np.int8),
        # Whether the game is a single deal: over after its crib, won or not. The fields fill whole
        # words, so that records that are alike are alike byte by byte. A test looks for holes.
        ("one_deal", np.int8),
        ("called", np.int16, (MAX_PLAYERS,)),  # by seat, -1 before
    ],
    align=True,
)


class Game(Protocol):
    """The fields of `RECORD` as mypy and editors see them; a test compares the two lists."""

    seed: Any
    game_number: int
    deal_number: int
    first_dealer: int
    players: int
    sides: int
    cards_dealt: int
    num_discards: int
    crib_from_pack: int
    muggins: int
    muggins_penalty: int
    target: int
    phase: int
    dealer: int
    turn: int
    winner: int
    counting: int
    owner: int
    scores: Any
    points: Any
    worth_totals: Any
    luck: Any
    lacks: Any
    true_points: int
    claimed: int
    missed: int
    shown: int
    hands: Any
    discards: Any
    crib: int
    pile: int
    held: Any
    starter: int
    worth: Any
    num_plays: int
    plays: Any
    play_seats: Any
    count: int
    pile_size: int
    gone: int
    first_cut: int
    one_deal: int
    called: Any


@kernel
def left_of(game: Game, player: int) -> int:
    """Returns the next seat to the left (R37)."""
    left = player + 1
    return 0 if left == game.players else left


@kernel
def side_of(game: Game, player: int) -> int:
    """Returns whose score *player* pegs to: its own, or that of the partner opposite (R36)."""
    return player - game.sides if player >= game.sides else player


@kernel
def legal(game: Game, player: int) -> int:
    """Returns the cards that *player* may choose now; none if it is to choose none (R5, R9)."""
    if game.phase >= OVER or player != game.turn:
        return 0
    if game.phase == DISCARD:
        return int(game.hands[player])
    return int(game.hands[player]) & int(CARDS_UP_TO[THIRTY_ONE - game.count])


@kernel
def is_claiming(game: Game) -> bool:
    """Returns whether the player to act is to claim or call, which it may of any number."""
    return game.phase > OVER


@kernel
def is_legal(game: Game, action: int) -> bool:
    """Returns whether the player to act may choose an action, which may be any whole number."""
    if is_claiming(game):
        return CLAIM_ACTION <= action < CLAIM_ACTION + NUM_CLAIMS
    if action < 0 or action >= NUM_CARDS:
        return False
    return bool((legal(game, int(game.turn)) >> action) & 1)


@kernel
def apply(game: Game, action: int) -> None:
    """Does what the player to act chose. Changes *game*; the caller knows it to be legal."""
    if game.phase == DISCARD:
        discard(game, action)
    elif game.phase == PLAY:
        play(game, action)
    elif game.phase == CLAIM:
        claim(game, action - CLAIM_ACTION)
    else:
        call(game, action - CLAIM_ACTION)


@kernel
def start_game(game: Game) -> None:
    """Clears the board and deals the first deal of game `game_number`. Changes *game*."""
    dealer = first_dealer_of(game)  # may go by how the game before has ended
    for player in range(MAX_PLAYERS):
        game.scores[player] = 0
        for source in range(NUM_SOURCES):
            game.points[player, source, 0] = 0
            game.points[player, source, 1] = 0
        for kind in range(3):
            game.worth_totals[player, kind] = 0
    game.winner = -1
    game.deal_number = 0
    game.dealer = dealer
    if is_five_card(game):
        game.scores[side_of(game, left_of(game, game.dealer))] = FIVE_CARD_START
    deal(game)


@kernel
def first_dealer_of(game: Game) -> int:
    """Returns the seat that deals first in game `game_number` (R3). Changes *game*: it is kept.

    The record still holds the game before or, where `game_number` has stayed, this very game, which
    then begins anew with the same dealer.
    """
    if game.first_dealer >= 0:
        return int(game.first_dealer)
    players, number = int(game.players), int(game.game_number)
    odd = number & 1
    dealer = -1
    if number > 0 and game.first_dealer == ALTERNATE:
        return (int(game.first_cut) + number) % players
    if number > 0 and game.first_dealer == LOSER:
        before = int(game.first_cut) % players
        if int(game.first_cut) // players == odd:
            return before
        if game.winner >= 0:
            dealer = loser_deals_of(game.scores, players, int(game.sides), before)
    # The first game of a lane is cut for, so that many lanes do not all begin alike, and so is one
    # after a game that nobody has lost. The cut is kept: games go on alternating where the seed is
    # changed in between.
    if dealer < 0:
        dealer = cut_for_deal(game, number)
    if game.first_dealer == ALTERNATE:
        game.first_cut = dealer
    elif game.first_dealer == LOSER:
        game.first_cut = dealer + players * odd
    return dealer


@kernel
def is_five_card(game: Game) -> bool:
    """Returns whether this is the five-card game of two, where the play has one count (R32)."""
    return game.players == 2 and game.cards_dealt == 5


@kernel
def cut_for_deal(game: Game, game_number: int) -> int:
    """Returns the seat that cuts the lowest card; equal lowest ranks cut again (R2, R39)."""
    attempt = 0
    while True:
        cards = cut_cards(
            int(game.seed[0]), int(game.seed[1]), game_number, attempt, int(game.players)
        )
        attempt += 1
        if cards != NO_CUT:
            dealer = lowest_cut(cards, int(game.players))
            if dealer != TIED:
                return dealer


@kernel
def cut_cards(key0: int, key1: int, game_number: int, attempt: int, players: int) -> int:
    """Returns the cards that the seats cut at one attempt, six bits each, seat 0's lowest.

    NO_CUT if the luck of a seat names no card: then this was no attempt, and nobody has seen one.

    Args:
        key0: The low word of the lane's seed.
        key1: Its high word.
        game_number: Which game of the lane they cut for.
        attempt: How many attempts were made before.
        players: How many seats cut.
    """
    # One cut takes at most one block: four seats, a card of six bits each from a word.
    words = philox(attempt, 0, game_number, STREAM_CUT, key0, key1)
    taken = 0
    cards = 0
    for player in range(players):
        word = words[player]
        card = NUM_CARDS
        for _ in range(5):
            if card == NUM_CARDS and word & 63 < NUM_CARDS and not (taken >> (word & 63)) & 1:
                card = word & 63
            word >>= 6
        if card == NUM_CARDS:
            return NO_CUT
        taken |= bit_of(card)
        cards |= card << (6 * player)
    return cards


@kernel
def lowest_cut(cards: int, players: int) -> int:
    """Returns the seat of the lowest of the cards that `cut_cards` returns, or TIED (R2, R39)."""
    lowest = 13
    dealer = TIED
    for player in range(players):
        rank = rank_of((cards >> (6 * player)) & 63)
        if rank == lowest:
            dealer = TIED
        elif rank < lowest:
            lowest = rank
            dealer = player
    return dealer


@kernel
def deal(game: Game) -> None:
    """Deals deal `deal_number` from the lane's own cards. Changes *game*.

    The cards are a pure function of (seed, game, deal) and belong to roles, pone first: with the
    other seat dealing, each role has the same cards (R4). The crib of three has one more, which
    nobody sees before it is counted (R35).
    """
    clear_deal(game)
    pack = ALL_CARDS
    player = game.dealer
    for place in range(game.players):
        player = left_of(game, player)
        hand = draw_cards(game, pack, int(game.cards_dealt), place)
        game.hands[player] = hand
        pack ^= hand
    if game.crib_from_pack:
        game.crib = draw_cards(game, pack, int(game.crib_from_pack), MAX_PLAYERS)
        pack ^= int(game.crib)
    game.starter = lowest_bit(draw_cards(game, pack, 1, MAX_PLAYERS + 1))
    draw_luck(game)


@kernel
def draw_cards(game: Game, pack: int, size: int, place: int) -> int:
    """Returns *size* cards of *pack*, each set of them alike likely.

    Args:
        game: Whose seed, game and deal the cards are of.
        pack: The set to draw from.
        size: How many to draw.
        place: Whom they are for: each place has luck of its own.
    """
    drawn = 0
    block = 0
    stream = STREAM_CARDS + 256 * place
    while True:
        words = philox(
            block, game.deal_number, game.game_number, stream, game.seed[0], game.seed[1]
        )
        block += 1
        for half in range(2):
            # Six bits name a card of the pack or nothing: exact, where a remainder would favour
            # some cards. One already drawn changes nothing.
            bits = words[2 * half] | (words[2 * half + 1] << 32)
            for _ in range(10):
                drawn |= (1 << (bits & 63)) & pack
                bits >>= 6
                if bit_count(drawn) == size:
                    return drawn


@kernel
def draw_luck(game: Game) -> None:
    """Draws the key of the players' luck in this deal, in a stream of its own. Changes *game*."""
    words = philox(
        0, game.deal_number, game.game_number, STREAM_PLAYERS, game.seed[0], game.seed[1]
    )
    game.luck[0] = words[0]
    game.luck[1] = words[1]


@kernel
def clear_deal(game: Game) -> None:
    """Takes all cards off the table and asks the dealer's left for a discard. Changes *game*."""
    for player in range(MAX_PLAYERS):
        game.hands[player] = 0
        game.discards[player] = 0
        game.worth[player] = 0
        game.held[player] = game.cards_dealt if player < game.players else 0
        game.lacks[player] = 0
    game.worth[MAX_PLAYERS] = 0
    game.crib = 0
    game.starter = NO_CARD
    game.num_plays = 0
    for index in range(MAX_PLAYS):
        game.plays[index] = NO_CARD
        game.play_seats[index] = -1
    clear_count(game)
    clear_claim(game)
    game.shown = 0
    game.phase = DISCARD
    game.turn = left_of(game, game.dealer)


@kernel
def clear_count(game: Game) -> None:
    """Begins a new count and a new pile (R14). Changes *game*."""
    game.count = 0
    game.pile = 0
    game.pile_size = 0
    game.gone = 0


@kernel
def clear_claim(game: Game) -> None:
    """Leaves nothing to be claimed or called. Changes *game*."""
    game.counting = NOTHING
    game.owner = -1
    game.true_points = 0
    game.claimed = -1
    game.missed = 0
    for player in range(MAX_PLAYERS):
        game.called[player] = -1


@kernel
def discard(game: Game, card: int) -> None:
    """Throws a card to the crib; after the dealer's last, the starter is cut. Changes *game*.

    The crib is a set: the order in which two cards are thrown leaves the same state (R5, R6).
    """
    player = game.turn
    game.hands[player] ^= bit_of(card)
    game.discards[player] |= bit_of(card)
    game.held[player] -= 1
    if bit_count(game.discards[player]) < game.num_discards:
        return
    game.crib |= game.discards[player]
    if player != game.dealer:
        game.turn = left_of(game, player)
    else:
        turn_starter(game)


@kernel
def turn_starter(game: Game) -> None:
    """Turns the starter, pegs his heels; the dealer's left is to lead (R7, R8). Changes *game*."""
    count_worth(game)
    add_worth(game, 1)
    game.phase = PLAY
    game.turn = left_of(game, game.dealer)
    if rank_of(game.starter) == JACK:
        peg(game, game.dealer, HIS_HEELS_POINTS, HIS_HEELS)


@kernel
def kept_by(game: Game, player: int) -> int:
    """Returns the cards that *player* has not thrown, laid or not."""
    kept = int(game.hands[player])
    for index in range(game.num_plays):
        if game.play_seats[index] == player:
            kept |= bit_of(game.plays[index])
    return kept


@kernel
def count_worth(game: Game) -> None:
    """Counts all hands and the crib as they will be worth in the show. Changes *game*."""
    for player in range(game.players):
        game.worth[player] = hand_score(kept_by(game, player), game.starter, False)
    game.worth[MAX_PLAYERS] = hand_score(int(game.crib), game.starter, True)


@kernel
def add_worth(game: Game, sign: int) -> None:
    """Adds this deal's hands and crib to the game's totals, or takes them out. Changes *game*."""
    for player in range(game.players):
        role = 0 if player == game.dealer else 1
        game.worth_totals[player, role] += sign * game.worth[player]
    game.worth_totals[game.dealer, 2] += sign * game.worth[MAX_PLAYERS]


@kernel
def play(game: Game, card: int) -> None:
    """Lays a card of the player to act and passes the turn on (R8). Changes *game*."""
    player = game.turn
    game.hands[player] ^= bit_of(card)
    game.held[player] -= 1
    game.plays[game.num_plays] = card
    game.play_seats[game.num_plays] = player
    game.num_plays += 1
    game.count += pips_of(card)
    game.pile = (int(game.pile) << 4) | rank_of(card)
    game.pile_size += 1
    points = pegging_score(int(game.pile), int(game.pile_size), int(game.count))
    if game.muggins == CLAIM_ALL:
        ask_claim(game, player, A_CARD, points)
        return
    peg(game, player, points, PEGGING)
    if game.phase != OVER:
        pass_turn(game, player)


@kernel
def pass_turn(game: Game, last: int) -> None:
    """Finds who plays after *last* laid a card: go, a new count, or the show (R10, R11, R38).

    Changes *game*.
    """
    # The next to the left whose card fits; one who holds only cards that do not fit says go.
    fits = CARDS_UP_TO[THIRTY_ONE - game.count]
    player = last
    for _ in range(game.players):
        player = left_of(game, player)
        if game.hands[player] & fits:
            game.turn = player
            return
        if game.hands[player] and game.count < THIRTY_ONE:
            game.gone |= 1 << player
            game.lacks[player] = max(game.lacks[player], THIRTY_ONE - game.count)
    # Nobody can play: go or last card, the same single point, never on top of 31.
    if game.count < THIRTY_ONE:
        if game.muggins == CLAIM_ALL:
            ask_claim(game, last, A_GO, 1)
            return
        peg(game, last, 1, PEGGING)
        if game.phase == OVER:
            return
    end_count(game, last)


@kernel
def end_count(game: Game, last: int) -> None:
    """Begins the next count, or the show (R13, R33). Changes *game*."""
    clear_count(game)
    if not is_five_card(game):
        # The next to the left of the last card who still holds cards leads.
        player = last
        for _ in range(game.players):
            player = left_of(game, player)
            if game.hands[player]:
                game.turn = player
                return
    show(game)


@kernel
def show(game: Game) -> None:
    """Counts hands from the dealer's left, the dealer's last, then the crib (R19). Changes *game*.

    Goes on from what has been shown. The first to reach the target has won: nothing after it is
    counted. Otherwise the deal passes (R3), or a game of one deal is over without a winner.
    """
    while game.shown <= game.players:
        player = game.dealer
        points = int(game.worth[MAX_PLAYERS])
        counting = A_CRIB
        if game.shown < game.players:
            player = (int(game.dealer) + 1 + int(game.shown)) % int(game.players)
            points = int(game.worth[player])
            counting = A_HAND
        game.shown += 1
        if game.muggins:
            ask_claim(game, player, counting, points)
            return
        peg(game, player, points, HAND if counting == A_HAND else CRIB)
        if game.phase == OVER:
            return
    if game.one_deal:
        game.phase = OVER
        return
    game.dealer = left_of(game, game.dealer)
    game.deal_number += 1
    deal(game)


@kernel
def ask_claim(game: Game, owner: int, counting: int, points: int) -> None:
    """Asks the owner of what is counted for a claim (R41, R44). Changes *game*.

    Args:
        game: The record.
        owner: The seat that counts it.
        counting: What, of `Counting`.
        points: What it is truly worth.
    """
    clear_claim(game)
    game.counting = counting
    game.owner = owner
    game.true_points = points
    game.phase = CLAIM
    game.turn = owner


@apart
def claim(game: Game, points: int) -> None:
    """Pegs what is claimed but no more than is there; calls follow (R41, R43, R45).

    Changes *game*.
    """
    owner = int(game.owner)
    game.claimed = points
    game.missed = max(int(game.true_points) - points, 0)
    source = PEGGING
    if game.counting == A_HAND:
        source = HAND
    elif game.counting == A_CRIB:
        source = CRIB
    peg(game, owner, min(points, int(game.true_points)), source)
    if game.phase != OVER and game.muggins_penalty and points > game.true_points:
        peg(game, left_of(game, owner), points - int(game.true_points), MUGGINS)
    if game.phase != OVER:
        ask_call(game)


@apart
def call(game: Game, points: int) -> None:
    """Pegs what is called, if so much was missed; a call of more pegs nothing (R42).

    Changes *game*.
    """
    player = int(game.turn)
    game.called[player] = points
    if points <= game.missed:
        game.missed -= points
        peg(game, player, points, MUGGINS)
    if game.phase != OVER:
        ask_call(game)


@apart
def ask_call(game: Game) -> None:
    """Asks the next seat of another side for a call; after the last, play goes on (R42).

    Everyone is asked whether or not anything was missed, so that being asked tells nothing. Changes
    *game*.
    """
    owner = int(game.owner)
    player = left_of(game, int(game.turn))
    while player != owner:
        if side_of(game, player) != side_of(game, owner):
            game.phase = CALL
            game.turn = player
            return
        player = left_of(game, player)
    counting = game.counting
    clear_claim(game)
    game.phase = PLAY
    if counting == A_CARD:
        pass_turn(game, owner)
    elif counting == A_GO:
        end_count(game, owner)
    else:
        show(game)


@kernel
def peg(game: Game, player: int, points: int, source: int) -> None:
    """Pegs points for *player*'s side: the only way to score and the only end of a game (R26).

    Changes *game*. No exact finish is needed, and no score passes the target (R27).
    """
    if points == 0:
        return
    side = side_of(game, player)
    gained = min(points, int(game.target) - int(game.scores[side]))
    game.scores[side] += gained
    game.points[player, source, 0 if player == game.dealer else 1] += gained
    if game.scores[side] == game.target:
        game.phase = OVER
        game.winner = side


@kernel
def luck_of(game: Game, player: int) -> tuple[int, int]:
    """Returns two random words of 32 bits for the decision that *player* has now.

    Keyed by (seed, game, deal, role, decision): neither other players nor the cards draw from it,
    and a pair of games with the seats exchanged gives each role the same luck.
    """
    role = player - int(game.dealer)
    if role < 0:
        role += int(game.players)
    # No two decisions of a role in a deal share a number: throws come before all plays, and what
    # is claimed is told apart by what it is and by how much lies open.
    decision = bit_count(int(game.discards[player])) + int(game.num_plays)
    if is_claiming(game):
        decision = 32 * int(game.counting) + int(game.num_plays) + int(game.shown)
    number = MAX_PLAYERS * decision + role + 1
    return mix(int(game.luck[0]), number), mix(int(game.luck[1]), number)
