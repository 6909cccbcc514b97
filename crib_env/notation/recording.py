"""Games told as transcripts while they are played: a record to begin with, and the moves.

A game is a pure function of both, so no more is kept: the lines are written once it is over, by
playing it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.cards import card_set, cards_in
from crib_env.game_record import CLAIM_ACTION, MAX_PLAYERS, Phase
from crib_env.kernel import as_records
from crib_env.loops import lay_cards_one
from crib_env.match import cuts_for_deal
from crib_env.notation.beginning import dealer_by, usual_scores
from crib_env.notation.history import History
from crib_env.notation.scribe import Scribe
from crib_env.notation.transcript import Keyword, Lane, Line, Transcript, plain_text
from crib_env.records import FIRST_DEALER_CODES
from crib_env.rules import Rules

Array = npt.NDArray[Any]

# What is pegged and counted in a game, and so differs where a deal is laid out anew.
TOTALS = ("scores", "points", "worth_totals")


class Recorder:
    """Keeps the moves of the games of a batch, lane by lane.

    Args:
        rules: The rules of all games.
    """

    def __init__(self, rules: Rules) -> None:
        """Has seen no game."""
        self.rules = rules
        self._starts: dict[int, Array] = {}
        self._moves: dict[int, list[int]] = {}

    def begin(self, lanes: Iterable[int], records: Array) -> None:
        """Forgets what was played in some lanes, and begins where they stand.

        Args:
            lanes: (M,) which of them.
            records: (M,) their records.
        """
        for index, lane in enumerate(lanes):
            self._starts[int(lane)] = records[index : index + 1].copy()
            self._moves[int(lane)] = []

    def tell(self, lanes: Iterable[int], actions: Iterable[int]) -> None:
        """Keeps one move in each of some lanes, which have begun.

        Args:
            lanes: (M,) which of them.
            actions: (M,) what the seat to act chose.
        """
        for lane, action in zip(lanes, actions, strict=True):
            self._moves[int(lane)].append(int(action))

    def copy(self) -> Recorder:
        """Returns an independent copy."""
        twin = Recorder(self.rules)
        twin._starts = dict(self._starts)
        twin._moves = {lane: list(moves) for lane, moves in self._moves.items()}
        return twin

    def transcript(
        self,
        lane: int,
        names: Sequence[str] = (),
        notes: Sequence[str] = (),
        forfeited_by: int | None = None,
        with_seed: bool = True,
    ) -> Transcript:
        """Returns the game of a lane as far as it has been played (`transcribe`)."""
        start, moves = self._starts[lane], self._moves[lane]
        return transcribe(self.rules, start[0], moves, names, notes, forfeited_by, with_seed)


def transcribe(
    rules: Rules,
    start: Any,
    moves: Iterable[int],
    names: Sequence[str] = (),
    notes: Sequence[str] = (),
    forfeited_by: int | None = None,
    with_seed: bool = True,
) -> Transcript:
    """Returns a game as a transcript.

    Args:
        rules: The rules.
        start: The record from which it is told, one of `crib_env.game_record.RECORD`. Where that is
            in the middle of a deal, the deal is told from its beginning.
        moves: The actions from there on.
        names: What the seats are called; () for no names. What a name cannot hold is left out.
        notes: Lines of free text.
        forfeited_by: The seat that has lost the game by an illegal action, None for none.
        with_seed: Whether to tell the lane's seed, with which the engine deals the same cards.

    Raises:
        ValueError: If the game is told from the middle of a claim, or is over at its beginning.
        IllegalActionError: If a move is not legal.
    """
    games = Games(1, rules)
    games.records[0] = start
    first, before_start = _deal_begun(games)
    games.records[0] = first
    scribe = Scribe(rules)
    history = History()
    before = history.keep(games.records)
    scribe.begin_deal(before)
    number = int(before["deal_number"])
    for action in [*before_start, *moves]:
        if before["deal_number"] != number:
            number = int(before["deal_number"])
            scribe.begin_deal(before)
        games.apply([action])
        after = history.keep(games.records)
        scribe.tell(before, int(action), after)
        before = after
    scores = tuple(before["scores"][: rules.sides].tolist())
    if before["phase"] != Phase.OVER and before["deal_number"] != number:
        scribe.begin_deal(before)
    if forfeited_by is not None:
        scribe.write(Line(Keyword.FORFEIT, forfeited_by, scores=scores))
    elif before["phase"] != Phase.OVER:
        scribe.write(Line(Keyword.UNFINISHED, scores=scores))
    began = tuple(first["scores"][: rules.sides].tolist())
    return Transcript(
        rules=rules,
        names=tuple(map(plain_text, names)),
        notes=tuple(plain_text(note) for note in notes if plain_text(note)),
        lane=_lane(first, with_seed),
        cuts=_cuts(rules, first),
        one_deal=bool(first["one_deal"]),
        scores=() if began == usual_scores(rules, int(first["dealer"])) else began,
        deals=scribe.deals,
    )


def _lane(record: Any, with_seed: bool) -> Lane:
    """Returns the lane that a record is of."""
    code = int(record["first_dealer"])
    names = {code: name for name, code in FIRST_DEALER_CODES.items()}
    first = names.get(code, str(code))
    seed = int(record["seed"][0]) | int(record["seed"][1]) << 32
    cut = int(record["first_cut"]) if first in ("alternate", "loser") else 0
    return Lane(seed if with_seed else None, int(record["game_number"]), first, cut)


def _cuts(rules: Rules, record: Any) -> tuple[tuple[int, ...], ...]:
    """Returns the cut for deal of a game that begins, () where there was none or not of this lane.

    Where first dealers alternate or the loser deals, the first game of a lane is cut for.
    """
    first = _lane(record, True)
    cut_for = first.first == "cut" or (first.first in FIRST_DEALER_CODES and first.game == 0)
    if not cut_for or record["deal_number"]:
        return ()
    assert first.seed is not None
    cuts = cuts_for_deal(first.seed, first.game, rules.players)
    return cuts if dealer_by(cuts[-1]) == record["dealer"] else ()


def _deal_begun(games: Games) -> tuple[Any, list[int]]:
    """Returns the record of a lane as its present deal was dealt, and the moves since.

    Args:
        games: One lane; changed.

    Raises:
        ValueError: If the moves cannot be told from the record.
    """
    rules = games.rules
    start = games.records[0].copy()
    if start["phase"] == Phase.DISCARD and not start["discards"].any():
        return start, []
    seats = range(rules.players)
    laid = start["plays"][: start["num_plays"]].tolist()
    laid_by = start["play_seats"][: start["num_plays"]].tolist()
    thrown = [list(cards_in(start["discards"][seat])) for seat in seats]
    hands = np.zeros(MAX_PLAYERS, np.int64)
    from_pack = int(start["crib"])
    for seat in seats:
        own = [card for card, by in zip(laid, laid_by, strict=True) if by == seat]
        hands[seat] = int(start["hands"][seat]) | card_set([*own, *thrown[seat]])
        from_pack &= ~card_set(thrown[seat])
    lay_cards_one(as_records(games.records), hands, from_pack, int(start["starter"]))
    for name in TOTALS:
        games.records[name] = 0
    first = games.records.copy()
    order = [(int(start["dealer"]) + step) % rules.players for step in range(1, rules.players + 1)]
    moves = []
    for card in [*(card for seat in order for card in thrown[seat]), *laid]:
        while games.records["phase"][0] in (Phase.CLAIM, Phase.CALL):
            claiming = games.records["phase"][0] == Phase.CLAIM
            moves.append(CLAIM_ACTION + (int(games.records["true_points"][0]) if claiming else 0))
            games.apply(moves[-1:])
        games.apply([card])
        moves.append(card)
    # Played from nothing, the deal tells what was pegged in it.
    for name in TOTALS:
        first[name] = start[name] - games.records[name]
        games.records[name] = start[name]
    if games.records[0] != start or (first["scores"] < 0).any():
        raise ValueError("a game in the middle of a claim or after its end: told is it before both")
    return first[0], moves
