"""``python -m crib_env check``: a line a game, or what is wrong and where."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from crib_env.__main__ import main
from crib_env.notation import write
from crib_env.notation.checking import check
from crib_env.rules import Rules
from tests.crib_env.notation.test_replaying import FILLED, KNOWN, MUGGINS, TYPED
from tests.written_games import KINDS, play_random

TOLD = (
    "unfinished, 78 to 54, 0 is to throw; 1 deal; 0: his heels 2, pegging 4, hand 16, crib 6; "
    "1: hand 9"
)


def said(text: str) -> list[str]:
    """Returns what the games of a text are reported as."""
    return [f"{report.line}: {report.text}" for report in check(io.BytesIO(text.encode()))]


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Returns the status of a command, what it printed, and what it printed as errors."""
    status = main(["check", *map(str, arguments)])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_a_game_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.crib"
    path.write_text(TYPED, encoding="utf-8")
    assert run(capsys, path) == (0, f"{path}:1: {TOLD}\n", "")


def test_write_prints_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.crib"
    path.write_text(TYPED, encoding="utf-8")
    assert run(capsys, "--write", path) == (0, FILLED, "")
    assert run(capsys, "--write", path, path) == (0, f"{FILLED}\n{FILLED}", "")


def test_an_error_names_file_and_line_and_the_other_games_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.crib"
    wrong = TYPED.replace("board 78 54", "board 79 54")
    path.write_text(f"{TYPED}\n{wrong}\n{TYPED}", encoding="utf-8")
    size = TYPED.count("\n") + 1
    status, out, err = run(capsys, path)
    assert status == 1
    assert out == f"{path}:1: {TOLD}\n{path}:{2 * size + 1}: {TOLD}\n"
    assert err == f"{path}:{2 * size - 1}: 'board 79 54': scores: allowed here is 'board 78 54'\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "1: no game: one begins with 'crib_env game 1'"),
        (b"# nothing\n\n", "1: no game: one begins with"),
        (b"\x89PNG\r\n\x1a\n", "1: byte 0x89 stands there: allowed is text in UTF-8"),
        (b"PK\x03\x04rest", r"1: '\x03' stands there: allowed is text"),
        (b"\x00" * 1_000_000, "1: a line of more than 1,000 characters"),
        ("crib_env game 1\nnote caf\xe9\n".encode("latin-1"), "2: byte 0xe9 stands there"),
        (b"Dear diary,\n", "1: 'Dear diary,' stands there: a game begins with"),
        (b"go 0\n" * 200_000, "100001: a game of more than 100,000 lines"),
    ],
)
def test_what_is_no_transcript_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    status, out, err = run(capsys, path)
    assert (status, out) == (1, "")
    assert err.startswith(f"{path}:{reason}")
    assert err.count("\n") == 1


def test_what_cannot_be_read_gets_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, tmp_path, tmp_path / "none")
    assert (status, out) == (1, "")
    assert err == (
        f"{tmp_path}: cannot be read: Is a directory\n"
        f"{tmp_path / 'none'}: cannot be read: No such file or directory\n"
    )


def test_a_dash_reads_what_is_piped_in() -> None:
    command = [sys.executable, "-m", "crib_env", "check", "-"]
    done = subprocess.run(command, input=TYPED, capture_output=True, text=True, check=True)
    assert done.stdout == f"stdin:1: {TOLD}\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "games.crib"
    path.write_text("\n".join([FILLED] * 300), encoding="utf-8")
    command = [sys.executable, "-m", "crib_env", "check", "--write", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""


# ---- how a game went ----

TARGETS = [
    # What is told, the scores before the deal, and by what it is won.
    ("starter JD", "119 0", "0 wins 121 to 0, double skunk 1, by his heels"),
    ("play 0 5H 15", "117 70", "0 wins 121 to 70, skunk 1, by a card"),
    ("last 0", "116 100", "0 wins 121 to 100, by a go"),
    ("play 0 5C", "115 100", "0 wins 121 to 100, by the last card"),
    ("hand 1 +9", "100 112", "1 wins 121 to 106, by a hand"),
    ("hand 0 +16", "99 100", "0 wins 121 to 109, by a hand"),
    ("crib 0 +6", "93 100", "0 wins 121 to 109, by the crib"),
]


@pytest.mark.parametrize(("last", "scores", "told"), TARGETS)
def test_by_what_a_game_is_won(last: str, scores: str, told: str) -> None:
    text = KNOWN.replace("scores 50 45", f"scores {scores}")
    text = text[: text.index(f"{last}\n")] + f"{last}\n"
    assert said(text)[0].startswith(f"1: {told}; 1 deal; 0: "), said(text)


@pytest.mark.parametrize(
    ("last", "scores", "told"),
    [
        ("claim 1 5 +5", "scores 10 116", "1 wins 121 to 16, double skunk 0, by a hand"),
        ("call 0 4 +4", "scores 111 0", "0 wins 121 to 5, double skunk 1, by a call of muggins"),
        ("excess 1 +2", "scores 10 114", "1 wins 121 to 36, double skunk 0, by the excess of"),
    ],
)
def test_by_what_a_game_with_muggins_is_won(last: str, scores: str, told: str) -> None:
    text = MUGGINS.replace("deal 1", f"{scores}\ndeal 1")
    text = text[: text.index(f"{last}\n")] + f"{last}\n"
    known = text.replace(
        "throw 1", "dealt 1 2H 3H 7C 8C 9C QC\ndealt 0 4D 5C 5H 6S TH KH\nthrow 1", 1
    )
    assert said(known)[0].startswith(f"1: {told}"), said(known)


def test_every_kind_of_game_is_told_in_one_line() -> None:
    for rules in KINDS.values():
        [line] = said(
            write(play_random(rules, 1, 2).transcript(0, names=list("abcd")[: rules.players]))
        )
        assert "win" in line
        assert line.count(";") == rules.players + 1
        assert "\n" not in line


def test_partners_win_together() -> None:
    rules = Rules(players=4, cards_dealt=5)
    [line] = said(write(play_random(rules, 1, 2).transcript(0, names=["A", "B", "C", "D"])))
    assert line.startswith(("1: 0 A and 2 C win 121 to", "1: 1 B and 3 D win 121 to"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("crib_env game 1\n", "1: no deal"),
        (
            "crib_env game 1\ndeal 1 dealer 0\n",
            "1: unfinished, 0 to 0; 1 deal; 0: nothing; 1: nothing",
        ),
        (KNOWN[: KNOWN.index("play 1 9C")] + "forfeit 1\n", "1: 1 forfeits at 54 to 45; 1 deal"),
        (KNOWN[: KNOWN.index("play 1 9C")], "1: unfinished, 54 to 45, 1 is to play; 1 deal"),
        (
            TYPED.replace("scores", "one_deal yes\nscores").replace("board", "over"),
            "1: the deal is over, 78 to 54; 1 deal",
        ),
    ],
)
def test_a_game_without_a_winner_is_told(text: str, told: str) -> None:
    assert said(text)[0].startswith(told)
