"""Matches that end once they have decided."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agents import make
from crib_env.rules import PRESETS
from eval import play, sets
from eval.engine import LocalEngine
from eval.match import main, play_match
from eval.match_sprt import SprtResult, play_test, sprt_text
from eval.sprt import Hypotheses, SequentialTest

NOISY = "noisy:0.3:pegging:expert"
NEAR = Hypotheses(0.50, 0.52)


def same(one: SprtResult, other: SprtResult) -> bool:
    """Whether two tests gave the same, how long they took apart."""
    return one.to_json() | {"seconds": 0} == other.to_json() | {"seconds": 0}


def test_the_verdict_rests_on_the_first_games_of_a_match() -> None:
    result = play_test(make("expert"), make(NOISY), NEAR, seed=3)
    assert result.verdict == "H1"
    match = play_match(make("expert"), make(NOISY), result.games, seed=3)
    assert match.a.wins == result.test.wins
    test = SequentialTest(NEAR)
    won = sets.outcomes(match.results["winner"] == 0, 2)
    assert test.take(won) == len(won) == result.test.sets
    assert test.verdict == "H1"
    assert (test.llr, test.counts.tolist()) == (result.test.llr, result.test.counts.tolist())


def test_the_verdict_depends_on_no_number_of_workers_and_on_no_size_of_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agents = make("greedy"), make("noisy:0.2:all:greedy")
    alone = play_test(*agents, NEAR, seed=1)
    with LocalEngine(2) as engine:
        assert same(play_test(*agents, NEAR, seed=1, engine=engine), alone)
    monkeypatch.setattr("eval.match_sprt.SIZES", (3,))
    monkeypatch.setattr("eval.match_sprt.THEN", 50)
    assert same(play_test(*agents, NEAR, seed=1), alone)


def test_an_agent_against_itself_is_no_better() -> None:
    said: list[str] = []
    result = play_test(make("expert"), make("expert"), NEAR, 2000, say=said.append)
    # All pairs split, so H0, which has just their rate, gains a little with each.
    assert result.verdict == "H0"
    assert result.test.counts.tolist() == [0, result.test.sets, 0]
    assert said[-1].startswith("expert v expert: LLR -")
    assert f"{result.test.sets:,} pairs, A won {result.test.sets:,} games" in said[-1]


def test_what_cannot_be_decided_in_the_games_there_are_is_said() -> None:
    result = play_test(make("expert"), make("greedy"), Hypotheses(0.65, 0.67), 400)
    assert (result.verdict, result.games) == ("no decision", 400)
    assert "no decision: 400 games do not tell H0, A wins 0.65" in sprt_text(result)


def test_three_players_are_tested_over_sets_of_three() -> None:
    three = PRESETS["three_player"]
    agents = make("expert", three), make("greedy", three)
    result = play_test(*agents, Hypotheses(1 / 3, 0.36), seed=2, rules=three)
    assert result.verdict == "H1"
    assert result.games == 3 * result.test.sets
    assert len(result.test.counts) == 4
    assert f"{result.test.sets:,} sets of three games" in sprt_text(result)


def test_the_command_line_states_the_test_and_gives_no_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "test.json"
    flags = f"expert greedy --sprt 0.5 0.52 --alpha 0.01 --beta 0.1 --seed 5 --json {path}"
    assert main(flags.split()) == 0
    result: dict[str, Any] = json.loads(path.read_text())
    assert result["verdict"] == "H1"
    assert (result["h0"], result["h1"], result["alpha"], result["beta"]) == (0.5, 0.52, 0.01, 0.1)
    assert result["lower"] < 0 < result["upper"] <= result["llr"]
    assert result["a_wins"] + result["b_wins"] == result["games"] == 2 * result["sets"]
    assert sum(result["sets_by_wins"]) == result["sets"]
    assert result["most_games"] == 1_200_000
    assert not any("ci95" in key for key in result)
    assert result["command"] == f"python -m eval.match {flags}"
    said = " ".join(capsys.readouterr().out.split())
    assert "H1: A wins 0.52 of the games rather than 0.5" in said
    assert "alpha 0.01, beta 0.1" in said
    assert "No interval" in said


def test_a_terminal_shows_how_the_test_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()

    def terminal(stderr: bool) -> Console:
        assert stderr
        return Console(file=shown, force_terminal=True, width=120)

    monkeypatch.setattr(play, "Console", terminal)
    assert main(["expert", "greedy", "--sprt", "0.65", "0.67", "--games", "1200"]) == 0
    assert "expert v greedy: LLR" in shown.getvalue()
    assert "600 pairs" in shown.getvalue()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--sprt 0.5 0.5", "sprt 0.5 0.5: allowed are two different rates"),
        ("--sprt 0.5 1.5", "sprt 0.5 1.5"),
        ("--sprt 0.5 0.52 --alpha 0", "alpha=0.0"),
        ("--sprt 0.5 0.52 --beta 0.6", "beta=0.6"),
        ("--sprt 0.5 0.52 --games 7", "games=7"),
        ("--sprt 0.5 0.52 --workers 0", "workers=0"),
        ("--sprt 0.5 0.52 --record games", "--record with --sprt"),
        ("--workers 2 --record games", "--record with --workers 2"),
    ],
)
def test_what_is_refused_is_one_line(
    flags: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["expert", "greedy", *flags.split(), "--json", str(tmp_path / "x.json")]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith("eval.match: ")
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert list(tmp_path.iterdir()) == []
