"""The engine's side of a replay: a game that begins as it is told, and is dealt given cards."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np

from crib_env.batch import Games
from crib_env.cards import NO_CARD, card_set, cards_text, rank_of
from crib_env.game import MAX_PLAYERS
from crib_env.kernel import as_records
from crib_env.loops import lay_cards_one, lay_out_one
from crib_env.notation.told_cards import ToldCards
from crib_env.notation.transcript import Lane, NotationError, Transcript
from crib_env.records import FirstDealer
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
    first = lane.first if lane.first in ("alternate", "cut") else int(lane.first)
    games = Games(1, rules, [lane.seed or 0], cast(FirstDealer, first), told.one_deal)
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
    if dealer is None and told.lane is not None and number == 1 and told.lane.game == 0:
        if told.lane.first not in ("alternate", "cut"):
            return int(told.lane.first)
        if told.lane.seed is not None:
            kind = cast(FirstDealer, told.lane.first)
            return int(Games(1, rules, [told.lane.seed], kind).records["dealer"][0])
    if dealer is None:
        raise NotationError(
            deal.line, "deal: who deals is not told: allowed is 'deal 1 dealer 0', or a line 'cut'"
        )
    return dealer


def _dealer_by_cut(told: Transcript) -> int:
    """Returns the seat that has cut the lowest card, aces low; equal lowest cut again (R2).

    Raises:
        NotationError: If a cut was not needed, or another one is.
    """
    line = told.places.get("cut", told.line)
    for index, cards in enumerate(told.cuts):
        ranks = [rank_of(card) for card in cards]
        tied = ranks.count(min(ranks)) > 1
        if tied == (index + 1 == len(told.cuts)):
            text = cards_text(cards)
            if tied:
                raise NotationError(line, f"cut {text}: the lowest are equal: allowed is another")
            raise NotationError(line, f"cut {text}: it stands: allowed is no other")
    return ranks.index(min(ranks))


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
