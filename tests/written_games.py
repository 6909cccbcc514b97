"""Random games of every kind of rules, written down; and transcripts judged and spoilt."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games
from crib_env.cards import NO_CARD
from crib_env.game_record import CLAIM_ACTION, Phase
from crib_env.notation import Keyword, NotationError, Replay, Transcript, parse, replay
from crib_env.notation.recording import Recorder
from crib_env.rules import PRESETS, Rules
from tests.referee import CLAIM, Referee, starting_scores

MUGGINS = {
    "": {},
    "show": {"muggins": "show"},
    "full": {"muggins": "full"},
    "full without penalty": {"muggins": "full", "muggins_penalty": False},
}
# Every variant with every kind of muggins, by name.
KINDS: dict[str, Rules] = {
    f"{name} {kind}".strip(): replace(rules, **options)  # type: ignore[arg-type]  # a mapping of fields
    for name, rules in PRESETS.items()
    for kind, options in MUGGINS.items()
}


@dataclass
class Played:
    """Games that were played and written down."""

    rules: Rules
    recorder: Recorder
    records: list[list[npt.NDArray[Any]]]
    """By lane: the record at the beginning and after each move, each (1,)."""

    def transcript(self, lane: int, **options: Any) -> Transcript:
        return self.recorder.transcript(lane, **options)


def random_actions(
    games: Games, lanes: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Returns a legal action in each lane; claims and calls are often right or near."""
    masks = games.action_masks(lanes=lanes)
    actions = (rng.random(masks.shape) * masks).argmax(axis=1)
    records = games.records[lanes]
    claiming = records["phase"] == Phase.CLAIM
    calling = records["phase"] == Phase.CALL
    right = np.where(claiming, records["true_points"], records["missed"])
    near = right + rng.integers(-3, 4, len(lanes)) * (rng.random(len(lanes)) < 0.4)
    said: npt.NDArray[np.int64] = np.where(
        claiming | calling, CLAIM_ACTION + near.clip(0, 31), actions
    )
    return said


def play_random(rules: Rules, n: int, seed: int, **options: Any) -> Played:
    """Returns *n* random games, played to their ends."""
    games = Games(n, rules, seed, **options)
    rng = np.random.default_rng(seed)
    recorder = Recorder(rules)
    recorder.begin(range(n), games.records)
    records = [[games.records[lane : lane + 1].copy()] for lane in range(n)]
    lanes = np.arange(n)
    while len(lanes):
        actions = random_actions(games, lanes, rng)
        games.apply(actions, lanes)
        recorder.tell(lanes, actions)
        for lane in lanes:
            records[lane].append(games.records[lane : lane + 1].copy())
        lanes = lanes[~games.over[lanes]]
    return Played(rules, recorder, records)


def replays_of(text: str) -> list[Replay] | NotationError:
    """Returns the games of a text, or what it is refused with."""
    try:
        return [replay(told) for told in parse(text)]
    except NotationError as error:
        return error


def settled(played: Replay) -> npt.NDArray[Any]:
    """Returns the records of a replay after each move, with the cards told of the next deal."""
    deal_follows = np.append(played.actions[1:] == NO_CARD, False)
    moved: npt.NDArray[Any] = played.records[~deal_follows]
    return moved


def judged(told: Transcript) -> Referee:
    """Returns the plain rule book after it has played a whole transcript.

    Boards, counts, points and the end are compared on the way.
    """
    rules, first = told.rules, told.deals[0]
    assert first.dealer is not None
    usual = starting_scores(first.dealer, rules.players, rules.cards_dealt)
    referee = Referee(
        rules.target,
        first.dealer,
        list(told.scores) or usual,
        players=rules.players,
        cards_dealt=rules.cards_dealt,
        muggins=rules.muggins,
        penalty=rules.muggins_penalty,
    )
    for deal in told.deals:
        assert deal.dealer == referee.dealer
        of = {
            keyword: [line for line in deal.lines if line.keyword == keyword] for keyword in Keyword
        }
        cards: list[Any] = [line.cards for line in of[Keyword.DEALT]]
        if len(cards) < rules.players or len(of[Keyword.PACK]) < rules.crib_from_pack:
            return referee  # the text ends while cards are dealt
        cards += [line.cards[0] for line in of[Keyword.PACK]]
        used = {card for line in deal.lines for card in line.cards}
        unseen = next(card for card in range(52) if card not in used)
        cards.append(of[Keyword.STARTER][0].cards[0] if of[Keyword.STARTER] else unseen)
        referee.deal(*cards)
        scores = referee.scores.copy()
        for line in deal.lines:
            if line.keyword == Keyword.THROW and of[Keyword.STARTER]:
                for card in line.cards:
                    referee.act(card)
            elif line.keyword == Keyword.PLAY:
                assert line.seat == referee.turn
                count = referee.count + min(line.cards[0] // 4 + 1, 10)
                referee.act(line.cards[0])
                assert line.count == count
            elif line.keyword in (Keyword.CLAIM, Keyword.CALL):
                assert line.seat == referee.turn
                referee.act(CLAIM + (line.claimed or 0))
            if line.points:
                scores[(line.seat or 0) % rules.sides] += line.points
            if line.scores:
                assert list(line.scores) == scores
                if line.keyword != Keyword.UNFINISHED or not referee.needs_deal:
                    assert list(line.scores) == referee.scores
            if line.keyword == Keyword.WON:
                assert line.seat == referee.winner
    return referee


def mutated(text: str, rng: random.Random, words: list[str]) -> str:
    """Returns a text with one to three faults, such as a hand, a program or a disk makes them."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        lines = text.split("\n")
        index = rng.randrange(len(lines))
        other = rng.randrange(len(lines))
        told = lines[index].split()
        place = rng.randrange(len(told)) if told else 0
        kind = rng.randrange(9)
        if kind == 0:
            del lines[index]
        elif kind == 1:
            lines.insert(index, lines[other])
        elif kind == 2:
            lines[index], lines[other] = lines[other], lines[index]
        elif kind == 3:
            del lines[index + 1 :]
            lines[index] = lines[index][: rng.randrange(len(lines[index]) + 1)]
        elif kind == 4 and lines[index]:
            at = rng.randrange(len(lines[index]))
            letter = chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x3000)]))
            lines[index] = lines[index][:at] + letter + lines[index][at + rng.randrange(2) :]
        elif told:
            if kind <= 6:
                told[place] = rng.choice(words)
            elif kind == 7:
                del told[place]
            else:
                second = rng.randrange(len(told))
                told[place], told[second] = told[second], told[place]
            lines[index] = " ".join(told)
        text = "\n".join(lines)
    return text


def words_of(texts: list[str]) -> list[str]:
    """Returns all different words of some texts."""
    return sorted({word for text in texts for word in text.split()})


def prefixes(text: str) -> Iterator[str]:
    """Yields a text as far as each of its lines."""
    lines = text.split("\n")
    for number in range(1, len(lines)):
        yield "\n".join(lines[:number])
