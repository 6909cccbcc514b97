"""Where scores become words: the parts of a hand or a play, and how players say them.

`explain` and `explain_play` take a score apart, `say` counts the parts aloud. Plain Python that may
be slow and names its cards: the points are those of scoring.py, and tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

from crib_env.cards import JACK, NUM_CARDS, card_text, cards_text, parse_cards
from crib_env.checks import is_whole, named
from crib_env.scoring import FIFTEEN, THIRTY_ONE


class Kind(StrEnum):
    """What a part of a score is for."""

    FIFTEEN = "fifteen"
    THIRTY_ONE = "thirty-one"
    PAIR = "pair"
    PAIR_ROYAL = "pair royal"
    DOUBLE_PAIR_ROYAL = "double pair royal"
    RUN = "run"
    FLUSH = "flush"
    NOBS = "nobs"
    HIS_HEELS = "his heels"
    GO = "go"
    LAST_CARD = "last card"


class Part(NamedTuple):
    """One part of a score."""

    kind: Kind
    cards: tuple[int, ...]
    points: int


Cards: TypeAlias = str | Iterable[int]

PAIR_KINDS = {2: Kind.PAIR, 3: Kind.PAIR_ROYAL, 4: Kind.DOUBLE_PAIR_ROYAL}
# By how many runs share their ranks; the pairs among them are counted with them.
RUN_NAMES = {1: "run", 2: "double run", 3: "triple run", 4: "double double run"}

POINT_A_CARD = (Kind.RUN, Kind.FLUSH, Kind.NOBS)
NO_ARTICLE = (Kind.PAIR_ROYAL, Kind.DOUBLE_PAIR_ROYAL, Kind.NOBS)
# What is said in one way only.
FIXED_WORDS = {
    Kind.THIRTY_ONE: "thirty-one for two",
    Kind.HIS_HEELS: "his heels, two",
    Kind.GO: "go for one",
    Kind.LAST_CARD: "last card for one",
}

UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def explain(hand: Cards, starter: str | int, is_crib: bool = False) -> list[Part]:
    """Returns the parts of a hand or crib in the show, as players count them in order (R20 to R25).

    Each fifteen, the pairs of a rank as one part, each distinct run, the flush, nobs. The points
    sum to `scoring.hand_score`.

    Args:
        hand: The four cards, as ints or as text, ``"5H 5D 6C 7S"``, without the starter; the three
            of a hand of the five-card game.
        starter: The card turned, as an int or as text.
        is_crib: Whether a flush needs the starter.

    Raises:
        ValueError: If a card is none or is there twice, or if there are not as many as told above.
    """
    held = checked_cards(hand, "hand")
    turned = checked_cards(starter if isinstance(starter, str) else [starter], "starter")
    if is_crib and len(held) != 4:
        raise ValueError(f"crib {cards_text(held)}: allowed are 4 cards, not {len(held)}")
    if len(held) not in (3, 4):
        raise ValueError(
            f"hand {cards_text(held)}: allowed are 4 cards, or 3 of the five-card game, "
            f"not {len(held)}"
        )
    if len(turned) != 1:
        raise ValueError(f"starter {cards_text(turned)}: allowed is 1 card, not {len(turned)}")
    if turned[0] in held:
        raise ValueError(f"card {card_text(turned[0])} is both the starter and in the hand")
    cards = sorted([*held, *turned])
    parts = [
        Part(Kind.FIFTEEN, chosen, 2)
        for size in range(2, len(cards) + 1)
        for chosen in combinations(cards, size)
        if pips_total(chosen) == FIFTEEN
    ]
    by_rank: dict[int, list[int]] = {}
    for card in cards:
        by_rank.setdefault(card // 4, []).append(card)
    parts += [
        Part(PAIR_KINDS[len(same)], tuple(same), len(same) * (len(same) - 1))
        for same in by_rank.values()
        if len(same) > 1
    ]
    ranks = _longest_sequence(list(by_rank))
    if len(ranks) >= 3:
        parts += [
            Part(Kind.RUN, run, len(run)) for run in product(*(by_rank[rank] for rank in ranks))
        ]
    flush = [card for card in cards if card % 4 == held[0] % 4]
    if set(held) <= set(flush) and (len(flush) > len(held) or not is_crib):
        parts.append(Part(Kind.FLUSH, tuple(flush), len(flush)))
    parts += [
        Part(Kind.NOBS, (card,), 1)
        for card in held
        if card // 4 == JACK and card % 4 == turned[0] % 4
    ]
    return parts


def explain_play(pile: Cards) -> list[Part]:
    """Returns the parts of what the last card of a pile pegs, in the order players say them.

    The point for a go or the last card is not the card's: see `Kind.GO` and `Kind.LAST_CARD`. The
    points sum to `scoring.pegging_score` (R12, R15, R16, R17).

    Args:
        pile: The cards laid since the count last began, in order, as ints or as text.

    Raises:
        ValueError: If a card is none or is there twice, there is none, or the count passes 31.
    """
    cards = checked_cards(pile, "pile")
    count = pips_total(cards)
    if not cards or count > THIRTY_ONE:
        raise ValueError(
            f"pile {cards_text(cards)}: allowed are cards that count 1 to {THIRTY_ONE}, not {count}"
        )
    parts = []
    if count == FIFTEEN:
        parts.append(Part(Kind.FIFTEEN, tuple(cards), 2))
    if count == THIRTY_ONE:
        parts.append(Part(Kind.THIRTY_ONE, tuple(cards), 2))
    same = 1
    while same < len(cards) and cards[-same - 1] // 4 == cards[-1] // 4:
        same += 1
    if same > 1:
        parts.append(Part(PAIR_KINDS[same], tuple(cards[-same:]), same * (same - 1)))
    for length in range(len(cards), 2, -1):
        ranks = sorted(card // 4 for card in cards[-length:])
        if ranks == list(range(ranks[0], ranks[0] + length)):
            parts.append(Part(Kind.RUN, tuple(cards[-length:]), length))
            break
    return parts


def say(parts: Iterable[Part]) -> str:
    """Returns a score as players count it aloud, the total growing from part to part.

    ``"fifteen two, fifteen four, and a pair is six"``; of nothing, ``"nothing"``. Runs that share
    ranks are one double or triple run, and its pairs are counted with it.
    """
    counted = _counted(list(parts))
    phrases = []
    said: set[str] = set()
    total = 0
    for name, part in counted:
        total += part.points
        if part.kind == Kind.FIFTEEN:
            phrases.append(f"fifteen {number_word(total)}")
        elif part.kind in FIXED_WORDS:
            phrases.append(FIXED_WORDS[part.kind])
        elif part.kind in POINT_A_CARD and len(counted) == 1 and part.points == len(part.cards):
            phrases.append(name)  # alone, it has its points in its name: "run of three"
        else:
            article = "" if part.kind in NO_ARTICLE else "another " if name in said else "a "
            phrases.append(f"{article}{name} is {number_word(total)}")
        said.add(name)
    if len(phrases) > 1 and counted[-1][1].kind != Kind.FIFTEEN:
        phrases[-1] = f"and {phrases[-1]}"
    return ", ".join(phrases) or "nothing"


def say_play(pile: Cards) -> str:
    """Returns what a player says who lays the last card of a pile: the count and what it pegs.

    ``"seven"``, ``"fifteen two"``, ``"twenty-four, run of three"``, ``"thirty-one for two"``.

    Raises:
        ValueError: As `explain_play`.
    """
    cards = checked_cards(pile, "pile")
    parts = explain_play(cards)
    if not parts:
        return number_word(pips_total(cards))
    if parts[0].kind in (Kind.FIFTEEN, Kind.THIRTY_ONE):
        return say(parts)
    return f"{number_word(pips_total(cards))}, {say(parts)}"


def pips_total(cards: Iterable[int]) -> int:
    """Returns what cards count together: the ace 1, pictures 10 (R1)."""
    return sum(min(card // 4 + 1, 10) for card in cards)


def number_word(number: int) -> str:
    """Returns a number from 0 to 99 in words: ``"twenty-nine"``.

    Raises:
        ValueError: If it is another number.
    """
    if not 0 <= number <= 99:
        raise ValueError(f"number {number}: words are there for 0 to 99")
    if number < len(UNITS):
        return UNITS[number]
    tens, units = divmod(number, 10)
    return TENS[tens - 2] + (f"-{UNITS[units]}" if units else "")


def checked_cards(cards: Cards, name: str) -> list[int]:
    """Returns cards given as ints or as text, in the order given.

    Args:
        cards: Ints from 0 to 51, or ``"5H TC"``.
        name: What they are, for the message.

    Raises:
        ValueError: If one is no card or is there twice.
    """
    if isinstance(cards, str):
        return parse_cards(cards)
    checked: list[int] = []
    for card in cards:
        if not is_whole(card) or not 0 <= card < NUM_CARDS:
            raise ValueError(
                f"{name}: card {named(card)}: a card is an int from 0 to 51, or text as 5H"
            )
        if card in checked:
            raise ValueError(f"{name}: card {card_text(card)} is there twice")
        checked.append(int(card))
    return checked


def _counted(parts: list[Part]) -> list[tuple[str, Part]]:
    """Returns the parts as they are said, with their names: runs that share ranks as one."""
    runs = [part for part in parts if part.kind == Kind.RUN]
    shared = {card // 4 for run in runs for card in run.cards} if len(runs) > 1 else set()
    counted = []
    for part in parts:
        if part.kind in PAIR_KINDS.values() and part.cards[0] // 4 in shared:
            continue
        if part.kind == Kind.RUN:
            if part is not runs[0]:
                continue
            cards = sorted({card for run in runs for card in run.cards})
            points = sum(run.points for run in runs) + sum(
                pair.points
                for pair in parts
                if pair.kind in PAIR_KINDS.values() and pair.cards[0] // 4 in shared
            )
            name = f"{RUN_NAMES[len(runs)]} of {number_word(len(part.cards))}"
            counted.append((name, Part(Kind.RUN, tuple(cards), points)))
        elif part.kind == Kind.FLUSH:
            counted.append((f"flush of {number_word(len(part.cards))}", part))
        elif part.kind == Kind.NOBS:
            counted.append(("one for nobs", part))
        else:
            counted.append((str(part.kind), part))
    return counted


def _longest_sequence(ranks: list[int]) -> list[int]:
    """Returns the longest sequence among different ranks in ascending order."""
    longest: list[int] = []
    current: list[int] = []
    for rank in ranks:
        current = [*current, rank] if current and current[-1] == rank - 1 else [rank]
        longest = max(longest, current, key=len)
    return longest
