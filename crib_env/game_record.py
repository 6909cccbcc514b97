"""The record of a game: its named fields, and what their codes mean.

`dealing.py` and `game.py` hold the rules that change it. Sets of cards are 52 bits of an int64
(cards.py); a seat is 0..players-1; a side is who shares a score: seat % sides.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from crib_env.cards import NUM_CARDS
from crib_env.rules import MUGGINS_MODES

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
