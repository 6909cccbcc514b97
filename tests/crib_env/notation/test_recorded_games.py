"""A batch that can be told as transcripts plays the same games."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from crib_env import Bot, Games, Position
from crib_env.game_record import CLAIM_ACTION
from crib_env.notation import Keyword, parse, replay, write
from crib_env.notation.recorded_games import RecordedGames
from crib_env.rules import Rules
from tests.written_games import KINDS, random_actions

OUTSIDE = -1


def check_told(games: RecordedGames) -> None:
    """Asserts that every lane's game is told to where it stands."""
    for lane in range(len(games)):
        told = games.transcript(lane)
        [parsed] = parse(write(told))
        again = replay(parsed)
        assert again.transcript == told
        assert np.array_equal(again.games.records, games.records[lane : lane + 1])


@pytest.mark.parametrize("kind", ["six_card", "short full", "five_card show", "four_player"])
@pytest.mark.parametrize("bots", [[Bot.RANDOM, Bot.GREEDY], [Bot.EXPERT, OUTSIDE]])
def test_house_players_choose_what_they_choose_in_the_loops(kind: str, bots: list[int]) -> None:
    rules = KINDS[kind]
    seats = np.array([bots, bots[::-1]] * 2)
    if rules.players == 4:
        seats = np.concatenate([seats, seats], axis=1)
    plain, recorded = Games(4, rules, 3), RecordedGames(4, rules, 3)
    for games in (plain, recorded):
        rng = np.random.default_rng(1)
        for _ in range(60):
            games.play_bots(seats, np.array([0, 2, 3]))
            games.play_bots(seats)
            on = np.flatnonzero(~games.over)
            if len(on):
                games.apply(random_actions(games, on, rng), on)
            games.next_game()
    assert np.array_equal(plain.records, recorded.records)
    check_told(recorded)


def test_a_game_that_is_set_elsewhere_is_told_from_there_on() -> None:
    games = RecordedGames(2, seed=1)
    games.apply(games.action_masks().argmax(axis=1))
    games.redeal_hidden(0, seed=5, lanes=[0])
    games.reseed([77], lanes=[1])
    for _ in range(6):  # until the starter is turned: before, no transcript tells it
        games.apply(games.action_masks().argmax(axis=1))
    check_told(games)
    games.set_position(0, Position(scores=(100, 90), dealer=1))
    games.play_bots([Bot.GREEDY, Bot.GREEDY])
    check_told(games)
    assert games.transcript(0).scores == (100, 90)


def test_copies_and_pickles_do_not_disturb_what_is_told() -> None:
    games = RecordedGames(2, Rules(target=15), seed=1)
    games.apply(games.action_masks().argmax(axis=1))
    assert type(games.copy()) is Games
    twin = pickle.loads(pickle.dumps(games))
    for one in (games, twin):
        one.play_bots([Bot.GREEDY, Bot.GREEDY])
        check_told(one)
    assert np.array_equal(games.records, twin.records)


def test_what_is_refused_is_not_told() -> None:
    games = RecordedGames(1, Rules(muggins="full"), seed=1)
    before = games.transcript(0)
    for action in (CLAIM_ACTION, -1, 84):
        with pytest.raises(ValueError, match="illegal action"):
            games.apply([action])
    assert games.transcript(0) == before


def test_names_and_an_end_may_be_told() -> None:
    games = RecordedGames(1, seed=1)
    told = games.transcript(0, ["a", "b"], ["a note"], forfeited_by=int(games.turn[0]))
    assert (told.names, told.notes) == (("a", "b"), ("a note",))
    assert told.deals[0].lines[-1].keyword == Keyword.FORFEIT
