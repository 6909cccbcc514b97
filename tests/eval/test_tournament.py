"""Tournaments: one table however they are played, stopped and continued, and the command line."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.engine import AgentSpec, specs_of
from eval.ledger import Ledger
from eval.standings import groups, standings, tables
from eval.tournament import load_tournament, main, tournament_from

GAMES = 60
PLAYERS = '["random", "greedy", "expert"]'


def written(folder: Path, games: int = GAMES, players: str = PLAYERS, more: str = "") -> Path:
    """Returns the configuration of a small tournament, written to a folder."""
    path = folder / "config.toml"
    lines = [f"players = {players}", f"games = {games}", "rules = 'short'", more]
    path.write_text("\n".join([f"database = '{folder / 'games.sqlite'}'", *lines]))
    return path


def told(folder: Path, *flags: str, **options: Any) -> Any:
    """Plays a tournament and returns its JSON, without where it comes from."""
    config, out = written(folder, **options), folder / "out.json"
    assert main([str(config), "--json", str(out), *flags]) == 0
    return read(out)


def read(path: Path) -> Any:
    """Returns a tournament's JSON, without where it comes from."""
    result = json.loads(path.read_text())
    for name in ("command", "commit", "version", "cpu"):
        del result[name]
    return result


def test_a_tournament_with_workers_or_in_parts_is_the_same(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("whole", "workers", "parts")]
    for folder in folders:
        folder.mkdir()
    whole = told(folders[0])
    assert told(folders[1], "--workers", "2") == whole
    # First fewer games, then another player: only what is new is played.
    told(folders[2], games=20, players='["greedy", "expert"]')
    with sqlite3.connect(folders[2] / "games.sqlite") as file:
        file.execute("UPDATE games SET a_score = 99 WHERE game = 0")
    told(folders[2], games=40)
    parts = told(folders[2])
    with sqlite3.connect(folders[2] / "games.sqlite") as file:
        marked = "SELECT count(*) FROM games WHERE a_score = 99"
        assert file.execute(marked).fetchone() == (1,)
    assert parts != whole
    (folders[2] / "games.sqlite").unlink()
    told(folders[2], games=20, players='["greedy", "expert"]')
    told(folders[2], games=40)
    assert told(folders[2]) == whole
    # Games beyond those asked for are kept, and not counted.
    told(folders[2], games=80)
    assert told(folders[2]) == whole


def test_e035_wins_and_losses_are_the_games_played(tmp_path: Path) -> None:
    result = told(tmp_path)
    with Ledger(tmp_path / "games.sqlite") as ledger:
        for row in result["players"]:
            games = wins = skunks = 0
            for pairing in ledger.pairings():
                labels = [pairing.a.label, pairing.b.label]
                if row["label"] not in labels:
                    continue
                side = labels.index(row["label"])
                _, records = ledger.games(pairing)
                won = records["winner"] == side
                games, wins = games + len(records), wins + int(won.sum())
                skunks += int((won & (records["scores"][:, 1 - side] <= 61 - 31)).sum())
            assert (row["games"], row["wins"], row["losses"]) == (games, wins, games - wins)
            assert row["skunks_given"] == skunks
    assert sum(row["wins"] for row in result["players"]) == 3 * GAMES
    taken = sum(row["skunks_taken"] for row in result["players"])
    assert taken == sum(row["skunks_given"] for row in result["players"])


def test_e031_a_gauntlet_says_what_its_numbers_are_relative_to(tmp_path: Path) -> None:
    more = "format = 'gauntlet'\nheroes = ['greedy']\nanchor = 'expert'\nanchor_rating = 1500"
    result = told(tmp_path, more=more)
    assert [{one["a"], one["b"]} for one in result["pairings"]] == [
        {"random", "greedy"},
        {"greedy", "expert"},
    ]
    assert (result["anchor"], result["anchor_rating"]) == ("expert", 1500)
    by_label = {row["label"]: row for row in result["players"]}
    assert by_label["expert"]["rating"] == 1500
    [against] = [one for one in result["pairings"] if {one["a"], one["b"]} == {"greedy", "expert"}]
    expert = [against["a_wins"], against["b_wins"]][against["b"] == "expert"]
    odds = (GAMES - expert + 0.5) / (expert + 0.5)
    assert by_label["greedy"]["rating"] == pytest.approx(1500 + 400 * np.log10(odds), abs=0.01)
    with Ledger(tmp_path / "games.sqlite") as ledger:
        [group] = groups(ledger)
        text = "".join(str(one) for one in tables(standings(ledger, group, "expert", 1500)))
    assert "relative to expert = 1500" in text


def test_players_that_never_met_are_not_rated_against_each_other(tmp_path: Path) -> None:
    told(tmp_path, players='["greedy", "expert"]')
    told(tmp_path, players='["random", "careless"]')
    with Ledger(tmp_path / "games.sqlite") as ledger:
        [group] = groups(ledger)
        rated = {row.player.label: row.rating for row in standings(ledger, group).players}
    assert rated["expert"] is not None
    assert rated["random"] is None
    assert rated["careless"] is None


def test_two_that_are_not_told_apart_are_named_and_no_winner_is(tmp_path: Path) -> None:
    told(tmp_path, players='["expert", {agent = "expert", label = "twin"}, "random"]')
    with Ledger(tmp_path / "games.sqlite") as ledger:
        [group] = groups(ledger)
        words = [one for one in tables(standings(ledger, group)) if isinstance(one, str)]
    assert words[-1] == "Not told apart, as the interval holds one half: expert and twin."


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"playres": []}, "unknown key 'playres'; did you mean 'players'?"),
        ({"players": ["expert"]}, "allowed is a list of two or more"),
        ({"players": ["expert", "expert"]}, "'expert' is there twice"),
        ({"players": ["expert", 3]}, "players: 3: allowed is a name, or a table with agent"),
        ({"players": ["expert", {"agent": "greedy", "labl": "g"}]}, "did you mean 'label'?"),
        ({"players": ["expert", {"agent": "greedy", "mode": "x"}]}, "mode='x'"),
        ({"games": 7}, "games=7: allowed is an even number"),
        ({"games": "7"}, "games='7': allowed is a whole number"),
        ({"seed": -1}, "seed"),
        ({"rules": "sixcard"}, "rules 'sixcard'"),
        ({"rules": "three_player"}, "allowed are those of two sides"),
        ({"format": "swiss"}, "format='swiss': allowed are round_robin, gauntlet"),
        ({"format": "gauntlet"}, "heroes: a gauntlet needs them"),
        ({"format": "gauntlet", "heroes": ["x"]}, "heroes: 'x': allowed are random, greedy"),
        ({"format": "gauntlet", "heroes": ["random", "greedy"]}, "nobody has anybody"),
        ({"anchor": "x"}, "anchor='x': allowed are random, greedy"),
        ({"anchor_rating": "high"}, "anchor_rating='high': allowed is a number"),
        ({"database": 3}, "database=3: allowed is a text"),
    ],
)
def test_impossible_tournaments_are_refused_in_one_line(more: dict[str, Any], reason: str) -> None:
    values = {"players": ["random", "greedy"], "database": "x.sqlite", **more}
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        tournament_from(values)
    assert "\n" not in str(caught.value)


def test_the_command_line_refuses_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.toml")]) == 2
    assert main([str(written(tmp_path, players='["expert", "nobody"]'))]) == 2
    assert main([str(written(tmp_path)), "--workers", "0"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("eval.tournament: ") for line in lines] == [True] * 3
    (tmp_path / "bad.toml").write_text("players = [")
    with pytest.raises(ValueError, match="no TOML"):
        load_tournament(tmp_path / "bad.toml")


SHIPPED = sorted((Path(__file__).parents[2] / "configs" / "tournaments").iterdir())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_tournament_that_is_shipped_can_be_played_and_says_what_it_is_for(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert f"configs/tournaments/{path.name}" in path.read_text(encoding="utf-8")
    assert load_tournament(path).pairs()


def test_what_plays_is_what_the_ledger_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may write another checkpoint while a tournament begins."""
    newest = iter(range(99))
    calls: list[int] = []

    def specs(agents: Any) -> list[AgentSpec]:
        calls.append(next(newest))
        return specs_of(agents)

    monkeypatch.setattr("eval.tournament.specs_of", specs)
    told(tmp_path)
    assert calls == [0]


@pytest.mark.torture
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_tournament_killed_at_20_moments_ends_in_the_same_table(
    tmp_path: Path, workers: int
) -> None:
    (tmp_path / "whole").mkdir()
    whole = told(tmp_path / "whole", games=40_000)
    config, out = written(tmp_path, games=40_000), tmp_path / "out.json"
    command = [sys.executable, "-m", "eval.tournament", str(config), "--json", str(out)]
    command += ["--workers", str(workers)]
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    usual = time.monotonic() - start
    assert read(out) == whole
    (tmp_path / "games.sqlite").unlink()
    out.unlink()
    luck, killed = random.Random(workers), 0
    while killed < 20:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(luck.uniform(0.1, 1) * usual)
        child.send_signal(signal.SIGKILL)
        if child.wait() == -signal.SIGKILL:
            killed += 1
        else:
            usual *= 0.9  # it was done before: less is left to play, or the machine is quicker
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert read(out) == whole


@pytest.mark.torture
def test_two_tournaments_at_once_on_one_file_give_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = told(tmp_path / "whole", games=10_000)
    config = written(tmp_path, games=10_000)
    outs = [tmp_path / f"out{number}.json" for number in range(2)]
    command = [sys.executable, "-m", "eval.tournament", str(config), "--json"]
    children = [subprocess.Popen([*command, str(out)], stdout=subprocess.DEVNULL) for out in outs]
    assert [child.wait() for child in children] == [0, 0]
    assert [read(out) for out in outs] == [whole, whole]
