"""What the table looks like from one seat: what text and pictures are made of.

A view is built from the seat's observation, which holds nothing that the seat may not know, and
from what the narrator tells that seat. Only ``open_hands`` looks into the record itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.cards import NO_CARD, cards_in
from crib_env.events import Count, Story, What
from crib_env.explain import number_word
from crib_env.game_record import RECORD, Phase
from crib_env.kernel import as_records
from crib_env.loops import observe_all, recall_all
from crib_env.narrator import CLAIMING, Narrator, claim_words, counted_words
from crib_env.observation import observation_size
from crib_env.records import new_records
from crib_env.rules import Rules


@dataclass(frozen=True)
class View:
    """The table from one seat. Seats and sides are relative: 0 is the viewer's own.

    A card that the viewer does not know is NO_CARD: its back is seen.
    """

    names: tuple[str, ...]
    """What the seats are called."""
    target: int
    """The score that wins."""
    skunk_lines: tuple[int, ...]
    """Below which scores a loser is skunked, once, twice and so on; those above 0."""
    deal_number: int
    """Which deal of the game this is, from 1."""
    phase: Phase
    """What is asked for."""
    dealer: int
    """The seat that deals."""
    turn: int | None
    """The seat to act; None once the game is over, or forfeited."""
    scores: tuple[int, ...]
    """The score of each side: its front peg."""
    back_pegs: tuple[int | None, ...]
    """The score of each side before its last pegging; None where that is not known."""
    hands: tuple[tuple[int, ...], ...]
    """The cards each seat holds, in card order."""
    crib: tuple[int, ...]
    """The cards thrown so far."""
    starter: int
    """The starter, NO_CARD before it is turned."""
    plays: tuple[tuple[int, int], ...]
    """The cards laid in this deal, in order, each with the seat that laid it."""
    pile_size: int
    """How many of them, the last ones, belong to this count."""
    count: int
    """The sum of their pips."""
    who: str
    """The name of who is to act, or has won or forfeited the game; ``"the deal"`` where a single
    deal is over and nobody has won."""
    what: str
    """What goes on with the name: ``"to lay a card"``, ``"to call muggins"``, ``"wins"``."""
    result: str
    """The scores at the end, and a skunk; "" before."""
    stories: tuple[Story, ...]
    """What has happened since the narrator was last cleared, its seats relative."""
    shown: tuple[Count, ...]
    """The hands and the crib that lie open in a show that goes on, or was told since then, until
    the next starter is turned; their seats relative."""
    claim: str
    """What is claimed, while others may call what it missed: ``"agent claims 6 for its hand"``; ""
    at all other times."""

    @property
    def sides(self) -> int:
        """How many scores there are."""
        return len(self.scores)


def view_of(record: Any, player: int, narrator: Narrator, open_hands: bool = False) -> View:
    """Returns the table as a seat sees it.

    Args:
        record: One record of `crib_env.game_record.RECORD`, as the narrator was last told it.
        player: The seat that looks.
        narrator: Who followed the game, with its rules, names, pegs and stories.
        open_hands: Whether all cards lie open, for teaching and for looking on.

    Raises:
        ValueError: If there is no such seat.
    """
    rules = narrator.rules
    if not 0 <= player < rules.players:
        raise ValueError(f"player {player}: allowed is 0 to {rules.players - 1}")
    # Everything but names, numbers and stories comes from `seen`: the record as the seat knows it.
    seen = recalled(record, player, rules)
    seats = [(player + step) % rules.players for step in range(rules.players)]
    sides = [(player + step) % rules.sides for step in range(rules.sides)]
    laid = int(seen["num_plays"])
    plays = [(int(seen["plays"][index]), int(seen["play_seats"][index])) for index in range(laid)]
    held = [int(held) for held in seen["held"][: rules.players]]
    num_thrown = rules.players * rules.cards_dealt - sum(held) - laid
    hands = [tuple(cards_in(seen["hands"][0])), *((NO_CARD,) * number for number in held[1:])]
    crib = (NO_CARD,) * (rules.crib_from_pack + num_thrown)
    starter = int(seen["starter"])
    phase = Phase(int(seen["phase"]))
    if open_hands:
        hands = [tuple(cards_in(record["hands"][seat])) for seat in seats]
        thrown = [card for seat in seats for card in cards_in(record["discards"][seat])]
        crib = tuple(sorted({*thrown, *cards_in(record["crib"])}))
        starter = int(record["starter"])
    stories = tuple(
        story._replace(seat=(story.seat - player) % rules.players)
        for story in narrator.stories(None if open_hands else player)
    )
    shown = tuple(
        count._replace(
            seat=(count.seat - player) % rules.players,
            called=tuple(
                ((seat - player) % rules.players, points) for seat, points in count.called
            ),
        )
        for count in narrator.counts
    )
    if phase == Phase.OVER or phase in CLAIMING:
        # What was counted lies open, also cards never laid; what was not is never shown.
        for count in shown:
            if count.what == What.CRIB:
                crib = count.cards
            else:
                laid_by = {card for card, seat in plays if seat == count.seat}
                hands[count.seat] = tuple(card for card in count.cards if card not in laid_by)
    forfeits = [event.seat for event in narrator.events if event.what == What.FORFEIT]
    turn = None if phase == Phase.OVER or forfeits else int(seen["turn"])
    result = ""
    if phase == Phase.OVER:
        winner = int(seen["winner"])
        who, what, result = narrator.outcome(
            winner if winner < 0 else (player + winner) % rules.sides
        )
    elif turn is None:
        who, what = narrator.names[forfeits[0]], "forfeits"
    else:
        who = narrator.names[seats[turn]]
        num_left = held[turn] - rules.num_kept
        if phase == Phase.PLAY:
            what = "to lay a card"
        elif phase == Phase.CLAIM:
            what = f"to claim for {counted_words(seen)}"
        elif phase == Phase.CALL:
            what = "to call muggins"
        else:
            what = "to throw a card" if num_left == 1 else f"to throw {number_word(num_left)} cards"
    claim = ""
    if phase == Phase.CALL:
        owner = narrator.names[seats[int(seen["owner"])]]
        claim = f"{owner} {claim_words(int(seen['claimed']), seen)}"
    levels = rules.skunk_level(np.arange(rules.target))
    return View(
        names=tuple(narrator.names[seat] for seat in seats),
        target=rules.target,
        skunk_lines=tuple(int((levels > level).sum()) for level in range(int(levels[0]))),
        deal_number=int(record["deal_number"]) + 1,
        phase=phase,
        dealer=int(seen["dealer"]),
        turn=turn,
        scores=tuple(int(score) for score in seen["scores"][: rules.sides]),
        back_pegs=tuple(narrator.back[side] for side in sides),
        hands=tuple(hands),
        crib=crib,
        starter=starter,
        plays=tuple(plays),
        pile_size=int(seen["pile_size"]),
        count=int(seen["count"]),
        who=who,
        what=what,
        result=result,
        stories=stories,
        shown=shown,
        claim=claim,
    )


def recalled(record: Any, player: int, rules: Rules) -> Any:
    """Returns the record as a seat knows it, rebuilt from its observation, as seat 0 of its own."""
    observation = np.empty((1, observation_size(rules)), np.uint8)
    lane = np.zeros(1, np.int64)
    observe_all(as_records(np.array([record], RECORD)), lane, lane + player, observation)
    seen = new_records(1, rules)
    recall_all(observation, as_records(seen))
    return seen[0]
