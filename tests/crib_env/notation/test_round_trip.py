"""Games written, parsed and replayed are the same games; spoilt ones are refused or valid."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.notation import Keyword, NotationError, parse, replay, write
from crib_env.rules import PRESETS, Rules
from tests.referee import RANKS, SUITS
from tests.written_games import (
    KINDS,
    Played,
    judged,
    mutated,
    play_random,
    prefixes,
    replays_of,
    settled,
    words_of,
)

MANY = 10_000
MANY_CLAIMED = 1_000  # of each kind of muggins beside
BATCH = 250

# What a replay of a transcript without its seed cannot know.
LUCK = ("seed", "luck")


def check_round_trip(played: Played, lane: int) -> None:
    """Asserts that a game comes back from its text: lines, records after every move, referee."""
    told = played.transcript(lane, names=[f"player {n}" for n in range(played.rules.players)])
    text = write(told)
    [parsed] = parse(text)
    assert parsed == told
    again = replay(parsed)
    assert again.transcript == told
    assert np.array_equal(settled(again), np.concatenate(played.records[lane]))
    judged(told)


@pytest.mark.parametrize("kind", KINDS)
def test_games_written_parsed_and_replayed_are_the_same_records(kind: str) -> None:
    played = play_random(KINDS[kind], 4, seed=11)
    for lane in range(4):
        check_round_trip(played, lane)


@pytest.mark.torture
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_games_written_parsed_and_replayed_are_the_same_records(kind: str) -> None:
    number = MANY if kind in PRESETS else MANY_CLAIMED
    for start in range(0, number, BATCH):
        played = play_random(KINDS[kind], BATCH, seed=1_000_000 + start)
        for lane in range(BATCH):
            check_round_trip(played, lane)


@pytest.mark.parametrize("kind", ["six_card", "three_player", "four_player full"])
def test_without_the_seed_only_luck_differs(kind: str) -> None:
    played = play_random(KINDS[kind], 3, seed=2)
    for lane in range(3):
        text = write(played.transcript(lane, with_seed=False))
        assert "seed" not in text
        again = settled(replay(parse(text)[0]))
        recorded = np.concatenate(played.records[lane])
        for name in recorded.dtype.names or ():
            assert np.array_equal(again[name], recorded[name]) == (name not in LUCK), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_may_end_after_any_of_its_lines(kind: str) -> None:
    text = write(play_random(KINDS[kind], 1, seed=5, one_deal=True).transcript(0))
    heading = text.split("\n\n")[0].count("\n") + 1
    for number, part in enumerate(prefixes(text), 1):
        [told] = parse(part)
        filled = replay(told).transcript
        if number > heading + 1:
            assert filled.deals[-1].lines
        # What is filled in is a transcript to which nothing is added any more.
        assert replay(parse(write(filled))[0]).transcript == filled
        if filled.deals:
            judged(filled)


def check_mutants(number: int, seed: int) -> tuple[int, int]:
    """Asserts that spoilt texts are refused in a line or hold games; returns how many of each."""
    rng = random.Random(seed)
    texts = [
        write(play_random(rules, 2, seed).transcript(lane))
        for rules in KINDS.values()
        for lane in range(2)
    ]
    words = words_of(texts)
    refused = valid = 0
    for _ in range(number):
        text = mutated(rng.choice(texts), rng, words)
        replays = replays_of(text)
        if isinstance(replays, NotationError):
            refused += 1
            assert "\n" not in str(replays)
            assert 1 <= replays.line <= text.count("\n") + 1
            continue
        valid += 1
        for one in replays:
            if one.transcript.deals:
                judged(one.transcript)
            assert replay(parse(write(one.transcript))[0]).transcript == one.transcript
    return refused, valid


def test_a_spoilt_text_is_refused_in_one_line_or_is_a_valid_game() -> None:
    refused, valid = check_mutants(200, seed=1)
    assert refused > 60
    assert valid > 5


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_spoilt_texts_are_refused_or_valid(seed: int) -> None:
    refused, valid = check_mutants(MANY // 4, seed=100 + seed)
    assert refused + valid == MANY // 4
    assert valid > 100


# ---- whatever stands in a text ----

CARDS = st.tuples(st.sampled_from(RANKS), st.sampled_from(SUITS)).map("".join)
WORDS = st.one_of(
    st.sampled_from([*Keyword, "deal", "dealer", "seat", "rules", "lane", "seed", "note", "cut"]),
    st.sampled_from(["players", "cards_dealt", "target", "muggins", "full", "show", "one_deal"]),
    st.sampled_from(["yes", "worth", "first", "alternate", "scores", "fifteen two", *PRESETS]),
    CARDS,
    st.integers(0, 130).map(str),
    st.integers(0, 30).map("+{}".format),
    st.text(max_size=5),
)
LINES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_is_refused_or_read(text: str) -> None:
    for one in (text, f"crib_env game 1\n{text}"):
        outcome = replays_of(one)
        assert isinstance(outcome, list) or "\n" not in str(outcome)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=500, deadline=None)
def test_any_lines_of_known_words_are_refused_or_a_game(lines: list[str]) -> None:
    outcome = replays_of("\n".join(["crib_env game 1", *lines]))
    assert isinstance(outcome, list) or "\n" not in str(outcome)


@given(st.sampled_from(list(KINDS)), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_game_comes_back(kind: str, seed: int, one_deal: bool) -> None:
    check_round_trip(play_random(KINDS[kind], 1, seed, one_deal=one_deal), 0)


@given(st.integers(4, 121), st.booleans(), st.sampled_from(["none", "show", "full"]))
@settings(max_examples=25, deadline=None)
def test_any_target_comes_back(target: int, triple_skunk: bool, muggins: str) -> None:
    rules = Rules(target=target, triple_skunk=triple_skunk, muggins=muggins)
    check_round_trip(play_random(rules, 1, target), 0)
