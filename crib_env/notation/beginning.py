"""The engine's side of a replay: a game that begins as it is told, and is dealt given cards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

import numpy as np

from crib_env.batch import Games
from crib_env.cards import NO_CARD, card_set, cards_text
from crib_env.dealing import lowest_cut
from crib_env.game_record import MAX_PLAYERS, TIED
from crib_env.kernel import as_records
from crib_env.loops import lay_cards_one, lay_out_one
from crib_env.notation.told_cards import ToldCards
from crib_env.notation.transcript import Lane, NotationError, Transcript
from crib_env.records import FIRST_DEALER_CODES, FirstDealer
from crib_env.redeal import UNKNOWN
from crib_env.rules import Rules


def begin_game(told: Transcript) -> Games:
    """Returns one lane in which a game begins as it is told, with cards of the lane's own.

    Raises:
        NotationError: If nobody tells who deals, or the cut says otherwise.
    """
    rules, deal = told.rules, told.deals[0]
    number = deal.number or 1
    dealer = first_dealer(told)
    lane = told.lane or Lane(first=str(dealer))
    games = Games(1, rules, [lane.seed or 0], _first(lane), told.one_deal)
    games.records["game_number"] = lane.game
    by_side = np.zeros(MAX_PLAYERS, np.int64)
    by_side[: rules.sides] = told.scores or usual_scores(rules, dealer)
    unknown = np.full(MAX_PLAYERS, UNKNOWN, np.int64)
    lay_out_one(as_records(games.records), unknown, NO_CARD, dealer, by_side)
    games.records["deal_number"] = number - 1
    games.records["first_cut"] = lane.first_cut
    return games


@lru_cache
def usual_scores(rules: Rules, dealer: int) -> tuple[int, ...]:
    """Returns the scores at which a game begins, by side, where this seat deals first."""
    return tuple(Games(1, rules, first_dealer=dealer).scores[0].tolist())


def first_dealer(told: Transcript) -> int:
    """Returns the seat that deals the first deal told.

    Raises:
        NotationError: If nobody tells it, or the cut says otherwise.
    """
    rules, deal = told.rules, told.deals[0]
    number, dealer = deal.number or 1, deal.dealer
    if told.cuts:
        cut = (_dealer_by_cut(told) + number - 1) % rules.players
        if dealer not in (None, cut):
            raise NotationError(deal.line, f"dealer {dealer}: by the cut, allowed is {cut}")
        dealer = cut
    lane = told.lane
    if dealer is None and lane is not None and number == 1 and lane.game == 0:
        is_seat = lane.first not in FIRST_DEALER_CODES
        if is_seat or lane.seed is not None:
            dealer = int(Games(1, rules, [lane.seed or 0], _first(lane)).records["dealer"][0])
    if dealer is None:
        raise NotationError(
            deal.line, "deal: who deals is not told: allowed is 'deal 1 dealer 0', or a line 'cut'"
        )
    return dealer


def _first(lane: Lane) -> FirstDealer:
    """Returns how a lane finds its first dealers, as `Games` takes it."""
    code = lane.first if lane.first in FIRST_DEALER_CODES else int(lane.first)
    return cast(FirstDealer, code)


def _dealer_by_cut(told: Transcript) -> int:
    """Returns the seat that has cut the lowest card, aces low; equal lowest cut again (R2).

    Raises:
        NotationError: If a cut was not needed, or another one is.
    """
    line = told.places.get("cut", told.line)
    dealer = TIED
    for cards in told.cuts:
        if dealer != TIED:
            raise NotationError(line, f"cut {cards_text(cards)}: the cut before stands")
        dealer = dealer_by(cards)
    if dealer == TIED:
        text = cards_text(told.cuts[-1])
        raise NotationError(line, f"cut {text}: the lowest are equal: allowed is another cut")
    return dealer


def dealer_by(cut: Sequence[int]) -> int:
    """Returns the seat that deals by the cards that the seats have cut, or TIED (R2, R39)."""
    packed = sum(card << 6 * seat for seat, card in enumerate(cut))
    return int(lowest_cut(packed, len(cut)))


def lay_cards(games: Games, cards: ToldCards) -> None:
    """Deals the cards that are told in a deal that has just been dealt. Changes *games*.

    Where they are the lane's own, they stay, and so does a starter that is not told.

    Args:
        games: One lane.
        cards: The cards, `ToldCards.complete`.
    """
    record = games.records[0]
    players = games.rules.players
    hands = np.full(MAX_PLAYERS, 0, np.int64)
    hands[:players] = [card_set(hand) for hand in cards.hands]
    from_pack = card_set(cards.from_pack)
    starter = NO_CARD if cards.starter is None else cards.starter
    if is_own(games, cards) and starter in (NO_CARD, record["starter"]):
        return
    lay_cards_one(as_records(games.records), hands, from_pack, starter)


def is_own(games: Games, cards: ToldCards) -> bool:
    """Says whether the cards told are those that the lane has dealt itself, the starter apart."""
    record = games.records[0]
    hands = [card_set(hand) for hand in cards.hands]
    dealt: list[int] = record["hands"][: games.rules.players].tolist()
    return hands == dealt and card_set(cards.from_pack) == record["crib"]
