"""Games written down while they are played, from wherever they begin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crib_env import Games, Position, cuts_for_deal
from crib_env.game_record import CLAIM_ACTION, Phase
from crib_env.notation import Deal, Keyword, Lane, Transcript, parse, replay, write
from crib_env.notation.recording import Recorder, transcribe
from crib_env.rules import PRESETS, Rules
from tests.written_games import KINDS, judged, play_random, random_actions, settled


def test_a_game_is_told_with_its_lane() -> None:
    games = Games(1, seed=[123], first_dealer="alternate")
    games.next_game([0])
    told = transcribe(games.rules, games.records[0], [])
    assert told.lane == Lane(123, 1, "alternate", int(games.records["first_cut"][0]))
    assert transcribe(games.rules, games.records[0], [], with_seed=False).lane == Lane(
        None, 1, "alternate", int(games.records["first_cut"][0])
    )


@pytest.mark.parametrize("first_dealer", ["alternate", "cut", "loser", 0, 1])
def test_the_next_game_of_a_lane_has_the_same_cards_after_a_replay(first_dealer: Any) -> None:
    played = play_random(Rules(target=20), 1, 3, first_dealer=first_dealer)
    games = Games(1, Rules(target=20), 3, first_dealer)
    again = replay(parse(write(played.transcript(0)))[0]).games
    games.records[:] = played.records[0][-1]
    for _ in range(3):
        games.next_game([0])
        again.next_game([0])
        assert np.array_equal(again.records, games.records)


@pytest.mark.parametrize("first_dealer", ["alternate", "cut", "loser", 1])
@pytest.mark.parametrize("players", [2, 3])
def test_the_cut_for_deal_is_told_where_there_was_one(first_dealer: Any, players: int) -> None:
    rules = Rules(players=players, cards_dealt=5, target=20)
    for seed in range(12):
        games = Games(1, rules, [seed], first_dealer)
        for number in range(2):
            told = transcribe(rules, games.records[0], [])
            was_cut = first_dealer == "cut" or (first_dealer != 1 and not number)
            assert told.cuts == (cuts_for_deal(seed, number, players) if was_cut else ())
            # It says who deals, so that the transcript need not.
            if was_cut:
                assert replay(replace(told, deals=(Deal(),))).transcript.deals[0].dealer == (
                    told.deals[0].dealer
                )
            games.next_game([0])


def test_a_game_that_is_not_over_is_unfinished() -> None:
    games = Games(1, seed=4)
    recorder = Recorder(games.rules)
    recorder.begin([0], games.records)
    assert recorder.transcript(0).deals[0].lines[-1].keyword == Keyword.UNFINISHED
    games.apply([int(games.action_masks()[0].argmax())])
    assert len(recorder.transcript(0).deals[0].lines) == 3


def test_a_forfeit_ends_a_game_as_it_stands() -> None:
    games = Games(1, seed=4)
    told = transcribe(games.rules, games.records[0], [], forfeited_by=int(games.turn[0]))
    assert told.deals[0].lines[-1].keyword == Keyword.FORFEIT
    assert replay(told).transcript == told


def test_names_and_notes_are_made_fit_for_a_line() -> None:
    games = Games(1)
    told = transcribe(
        games.rules, games.records[0], [], ["a\nb # c", "x" * 500], ["first\x00", " ", "second"]
    )
    assert told.names == ("a b   c", "x" * 200)
    assert told.notes == ("first", "second")
    assert parse(write(told)) == [told]


# What a game that is told from a later deal on cannot know.
OF_EARLIER_DEALS = ("points", "worth_totals")


def told_if_it_can_be(rules: Rules, start: Any, moves: list[int]) -> Transcript | None:
    """Returns a game as a transcript; None of one whose claims in this deal are lost."""
    try:
        return transcribe(rules, start, moves)
    except ValueError:
        if rules.muggins == "full" and start["num_plays"]:
            return None
        raise


@pytest.mark.parametrize("kind", KINDS)
def test_a_game_is_told_from_wherever_it_begins_and_from_the_deal_on(kind: str) -> None:
    rules = KINDS[kind]
    rng = np.random.default_rng(0)
    games = Games(1, rules, 9)
    told_late = 0
    for step in range(1, 60):
        for _ in range(step):
            if games.over[0]:
                games.next_game()
            games.apply(random_actions(games, np.arange(1), rng))
        record = games.records[0]
        if games.over[0] or record["phase"] in (Phase.CLAIM, Phase.CALL):
            continue
        start = games.records.copy()
        after = games.copy()
        moves = []
        for _ in range(8):
            if after.over[0]:
                break
            moves.append(int(random_actions(after, np.arange(1), rng)[0]))
            after.apply(moves[-1:])
        told = told_if_it_can_be(rules, start[0], moves)
        if told is None:
            continue
        told_late += 1
        again = replay(parse(write(told))[0])
        assert again.transcript == told
        for name in after.records.dtype.names or ():
            if name not in OF_EARLIER_DEALS:
                assert np.array_equal(settled(again)[-1:][name], after.records[name]), name
        judged(told)
    assert told_late > 3


def test_a_position_in_mid_deal_is_told_from_its_deal() -> None:
    position = Position(
        dealer=1,
        scores=(100, 90),
        hands=("2H 3H 7C 8C 9C QC", "4D 5C 5H 6S TH KH"),
        discards=("2H 3H", "TH KH"),
        starter="JD",
        plays="QC 5H",
    )
    games = Games(1)
    games.set_position(0, position)
    text = write(transcribe(games.rules, games.records[0], []))
    assert "scores      100   90\n" in text
    assert "heels       1   +2  his heels, two\n" in text
    assert text.endswith("play        1  5H  15   +2  fifteen two\nunfinished  100   94\n")


@pytest.mark.parametrize("name", ["three_player", "four_player", "five_card"])
def test_a_position_of_every_variant_is_told(name: str) -> None:
    rules = PRESETS[name]
    games = Games(1, rules, 8)
    games.set_position(0, Position(dealer=1, scores=[10] * rules.sides))
    told = transcribe(rules, games.records[0], [])
    assert told.deals[0].dealer == 1
    assert told.scores == (10,) * rules.sides
    again = replay(parse(write(told))[0])
    assert np.array_equal(again.games.records, games.records)


def test_the_middle_of_a_claim_cannot_be_told() -> None:
    rules = Rules(muggins="full")
    games = Games(1, rules, 1)
    while games.records["phase"][0] != Phase.CLAIM:
        games.apply([int(games.action_masks()[0].argmax())])
    games.apply([CLAIM_ACTION + 7])
    with pytest.raises(ValueError, match="in the middle of a claim"):
        transcribe(rules, games.records[0], [])


def test_lanes_are_kept_apart() -> None:
    played = play_random(Rules(target=15), 5, 6)
    texts = [write(played.transcript(lane)) for lane in range(5)]
    assert len(set(texts)) == 5
    for lane, text in enumerate(texts):
        assert np.array_equal(replay(parse(text)[0]).games.records, played.records[lane][-1])
