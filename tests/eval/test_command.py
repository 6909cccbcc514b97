"""What the command lines have in common."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from crib_env import Rules
from eval.command import Options, Report, RulesOptions, Unfinished, Work, run
from eval.play import AgentError


def work_that(raises: BaseException | None = None) -> Work:
    """Returns work that raises, or shows a line."""

    def play() -> Report:
        if raises is not None:
            raise raises
        return Report(["3 [1, 5]"], {"value": 3})

    return Work(play, "games=5")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted, nothing written"),
        (MemoryError(), 2, "games=5: more than memory holds"),
        (Unfinished("games.crib: not written"), 1, "games.crib: not written"),
        (AgentError("agent x: died"), 1, "agent x: died"),
    ],
)
def test_work_that_does_not_end_is_said_in_one_line(
    error: BaseException,
    status: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["--json", str(tmp_path / "x.json")]
    assert run("eval.x", Options, lambda options: work_that(error), flags) == status
    printed = capsys.readouterr()
    assert (printed.err, printed.out) == (f"eval.x: {said}\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_programs_own_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run("eval.x", Options, lambda options: work_that(ZeroDivisionError()), [])


def test_a_result_is_shown_as_it_is_and_kept_with_where_it_comes_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    assert run("eval.x", Options, lambda options: work_that(), ["--json", str(path)]) == 0
    assert capsys.readouterr().out == "3 [1, 5]\n"
    result = json.loads(path.read_text())
    assert result["value"] == 3
    assert result["command"] == f"python -m eval.x --json {path}"


@dataclass(frozen=True)
class Asked(RulesOptions):
    """Flags of rules, and one more."""

    name: str = "a"
    """A name."""


@pytest.mark.parametrize(
    ("flags", "rules"),
    [
        ("", Rules()),
        ("--target 31", Rules(target=31)),
        ("--rules five_card --target 31 --name b", Rules(2, 5, 31)),
    ],
)
def test_rules_and_target_together_are_the_rules(flags: str, rules: Rules) -> None:
    seen: list[Asked] = []

    def prepare(options: Asked) -> Work:
        seen.append(options)
        return work_that()

    assert run("eval.x", Asked, prepare, flags.split()) == 0
    assert seen[0].game_rules() == rules
    assert seen[0].name == ("b" if "--name" in flags else "a")


@pytest.mark.parametrize(
    ("flags", "said"),
    [("--seed -1", "seed -1"), ("--rules no", "rules 'no'"), ("--target 500", "target=500")],
)
def test_what_no_command_allows_is_refused_before_any_work(
    flags: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(options: Asked) -> Work:
        options.game_rules()
        raise AssertionError("work began")

    assert run("eval.x", Asked, prepare, flags.split()) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("eval.x: ")
    assert said in printed
    assert printed.count("\n") == 1
