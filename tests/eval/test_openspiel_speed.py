"""How fast `pyspiel` plays: what is counted. How fast it is, is no test's business."""

from collections.abc import Callable

import pytest

from eval.openspiel_speed import Speed, bot_games, random_games


@pytest.mark.parametrize("play_random", [random_games, bot_games])
def test_random_games_count_what_they_play(
    play_random: Callable[[float, int], Speed],
) -> None:
    speed = play_random(0.2, 1)
    assert speed.games > 0
    assert speed.seconds >= 0.2
    # Two hands of six and a starter for each deal, also for the one that ends the game.
    deals, rest = divmod(speed.chance_nodes, 13)
    assert rest == 0
    # Random players need about 12.5 deals of 10 decisions; the last deal may be cut short.
    assert 10 < deals / speed.games < 15
    assert 10 * (deals - speed.games) < speed.decisions <= 10 * deals
    assert 2 * deals < speed.passes < 8 * deals
