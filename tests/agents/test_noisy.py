"""Players that now and then play at random."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from agents import Agent, make
from agents.agent import noisy_parts, pinned
from agents.noisy import fraction, hashed, random_actions
from crib_env import Games, Rules
from crib_env.loops import OUTSIDE
from crib_env.observation import layout
from crib_env.rules import PRESETS
from eval.match import play_match
from tests.learners import midway

GAMES = midway(4000, seed=3)
SEEN = GAMES.observe(), GAMES.action_masks(), GAMES.luck()
PLAYING = SEEN[0][:, layout(Rules())["phase"].start + 1] > 0


def actions_of(name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """What an agent plays in positions from all over games."""
    return make(name).policy(*SEEN)


def test_without_noise_it_is_the_other() -> None:
    for where in ("pegging", "all"):
        assert np.array_equal(actions_of(f"noisy:0:{where}:expert"), actions_of("expert"))


def test_a_share_of_the_decisions_is_another() -> None:
    # A third of the cards laid at random, of which some are those that expert lays.
    differs = actions_of("noisy:0.33:pegging:expert") != actions_of("expert")
    certain = actions_of("noisy:1:pegging:expert") != actions_of("expert")
    assert not differs[~PLAYING].any()
    assert not certain[~PLAYING].any()
    assert 0.28 <= differs.sum() / certain.sum() <= 0.38
    anywhere = actions_of("noisy:1:all:expert") != actions_of("expert")
    assert anywhere[~PLAYING].mean() > 0.5


@pytest.mark.parametrize("name", ["noisy:1:all:expert", "noisy:0.5:pegging:random"])
def test_what_it_plays_is_legal_and_depends_on_its_own_row(name: str) -> None:
    agent = make(name)
    actions = agent.policy(*SEEN)
    assert (SEEN[1][np.arange(len(actions)), actions] == 1).all()
    observations, masks, luck = SEEN
    for part in (slice(1000, 1700), slice(0, 0)):
        asked = agent.policy(observations[part], masks[part], luck[part])
        assert np.array_equal(asked, actions[part])


def test_what_is_legal_is_chosen_alike_often_whatever_the_luck() -> None:
    masks = np.zeros((60_000, 52), np.int8)
    masks[:, [3, 17, 18, 51]] = 1
    numbers = np.arange(60_000).astype(np.uint64)
    for words in (numbers, numbers * np.uint64(1 << 40)):
        drawn = random_actions(masks, fraction(hashed(words)))
        cards, times = np.unique(drawn, return_counts=True)
        assert cards.tolist() == [3, 17, 18, 51]
        assert scipy.stats.chisquare(times).pvalue > 1e-4
        # Whether and what are drawn apart.
        own = hashed(words)
        assert abs(np.corrcoef(fraction(own), fraction(hashed(own)))[0, 1]) < 0.02


@pytest.mark.parametrize("rules", ["six_card", "five_card", "three_player", "four_player"])
@pytest.mark.parametrize("where", ["pegging", "all"])
def test_against_itself_every_set_splits(rules: str, where: str) -> None:
    agent = make(f"noisy:0.4:{where}:greedy", rules)
    result = play_match(agent, agent, 10 * 3 * 2, 3, rules)
    size = PRESETS[rules].sides
    assert ((result.results["winner"] == 0).reshape(-1, size).sum(axis=1) == 1).all()
    assert result.mean_margin.value == pytest.approx(0)


def test_with_muggins_chance_chooses_cards_in_the_play_and_no_claims() -> None:
    rules = Rules(muggins="full", target=31)
    games = Games(300, rules, seed=2)
    noisy, plain = make("noisy:1:pegging:expert", rules), make("expert", rules)
    phase = layout(rules)["phase"].start
    for _ in range(60):
        seen = games.observe(), games.action_masks(), games.luck()
        actions = noisy.policy(*seen)
        others = seen[0][:, phase + 1] == 0
        assert np.array_equal(actions[others], plain.policy(*seen)[others])
        games.apply(actions)
        games.next_game(games.over)


def test_it_is_weaker_than_who_it_plays_like() -> None:
    result = play_match(make("expert"), make("noisy:0.3:pegging:expert"), 4000, 1)
    assert result.a.win_rate.low > 0.53
    everything = play_match(make("random"), make("noisy:1:all:expert"), 4000, 1)
    assert everything.a.win_rate.low < 0.5 < everything.a.win_rate.high


def test_its_name_says_all_of_it() -> None:
    agent = make("noisy:0.3:pegging:expert")
    assert (agent.name, agent.bot, agent.shown_mode) == (
        "noisy:0.3:pegging:expert",
        OUTSIDE,
        "house",
    )
    assert noisy_parts("noisy:0.3:all:checkpoint:a:b") == (0.3, "all", "checkpoint:a:b")
    twice = make("noisy:0.1:all:noisy:0.2:pegging:greedy")
    assert isinstance(twice, Agent)
    assert pinned(twice.name) == twice.name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("noisy:", "allowed is noisy:SHARE:WHERE:AGENT"),
        ("noisy:0.3:pegging", "'noisy:0.3:pegging'"),
        ("noisy:0.3:throws:expert", "pegging or all"),
        ("noisy:1.5:all:expert", "a share from 0 to 1"),
        ("noisy:-0.1:all:expert", "a share from 0 to 1"),
        ("noisy:nan:all:expert", "a share from 0 to 1"),
        ("noisy:x:all:expert", "a share from 0 to 1"),
        ("noisy:0.3:all:exprt", "agent 'exprt': allowed are random"),
        ("noisy:0.3:all:checkpoint:/nowhere", "/nowhere"),
    ],
)
def test_what_is_no_such_name_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(name)
