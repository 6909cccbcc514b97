"""The ledger keeps games whole, once, whoever writes, and gives back what was written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crib_env.rules import PRESETS, Rules
from eval.engine import AgentSpec, Block, play_block
from eval.ledger import COLUMNS, VERSION, Ledger, Pairing

SHORT = Rules(target=31)


def entered(ledger: Ledger, rules: Rules = SHORT, seed: int = 5) -> Pairing:
    """Returns a pairing of greedy and expert."""
    one = ledger.player("greedy", AgentSpec("greedy"), "house")
    other = ledger.player("expert", AgentSpec("expert"), "house")
    return ledger.pairing(one, other, rules, seed)


def played(pairing: Pairing, first: int, sets: int) -> np.ndarray:
    """Returns the records of some sets of a pairing."""
    specs = (AgentSpec(pairing.a.agent), AgentSpec(pairing.b.agent)) * (pairing.rules.players // 2)
    return play_block(Block(specs, pairing.rules, pairing.seed, first, sets))


@pytest.mark.parametrize("name", ["six_card", "five_card", "four_player"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    with Ledger(tmp_path / "games.sqlite") as ledger:
        pairing = entered(ledger, PRESETS[name], 2**64 - 1)
        assert (pairing.a.label, pairing.b.label) == ("expert", "greedy")
        records = played(pairing, 3, 4)
        ledger.add(pairing, 3, records)
    with Ledger(tmp_path / "games.sqlite", made=False) as ledger:
        assert ledger.pairings() == [pairing]
        numbers, found = ledger.games(pairing)
    assert numbers.tolist() == [3, 4, 5, 6]
    for column in ("winner", "deals", "scores"):
        assert np.array_equal(found[column], records[column]), column
    assert np.array_equal(found["first_dealer"], records["first_dealer"] % 2)
    for side in range(2):
        pegged = records["points"][:, side::2].sum(axis=1)
        assert np.array_equal(found["points"][:, side::2].sum(axis=1), pegged)


def test_a_game_is_kept_once_and_missing_says_which_are_not(tmp_path: Path) -> None:
    with Ledger(tmp_path / "games.sqlite") as ledger:
        pairing = entered(ledger)
        assert ledger.missing(pairing, 10) == [range(10)]
        ledger.add(pairing, 2, played(pairing, 2, 3))
        assert ledger.missing(pairing, 10) == [range(2), range(5, 10)]
        assert ledger.missing(pairing, 5) == [range(2)]
        ledger.add(pairing, 0, played(pairing, 0, 10))
        others = played(pairing, 0, 4)
        others["scores"] = 1
        ledger.add(pairing, 0, others)
        assert ledger.missing(pairing, 10) == []
        numbers, records = ledger.games(pairing)
        assert numbers.tolist() == list(range(10))
        assert np.array_equal(records["scores"], played(pairing, 0, 10)["scores"])


WRITE = """
import sys
from pathlib import Path
from eval.ledger import Ledger
from tests.eval.test_ledger import entered, played

for number in range(12):
    with Ledger(Path(sys.argv[1])) as ledger:
        pairing = entered(ledger)
        ledger.add(pairing, number, played(pairing, number, 2))
"""


def test_two_processes_lose_nothing_and_add_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    children = [subprocess.Popen([sys.executable, "-c", WRITE, str(path)]) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    with Ledger(path) as ledger:
        [pairing] = ledger.pairings()
        numbers, records = ledger.games(pairing)
    assert numbers.tolist() == list(range(13))
    assert np.array_equal(records["scores"], played(pairing, 0, 13)["scores"])
    assert [one.name for one in tmp_path.iterdir()] == ["games.sqlite"]


def test_games_that_cannot_be_written_whole_are_not_written(tmp_path: Path) -> None:
    with Ledger(tmp_path / "games.sqlite") as ledger:
        pairing = entered(ledger)
        stop = "CREATE TRIGGER full BEFORE INSERT ON games WHEN NEW.game = 7 "
        ledger._file.execute(stop + "BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        with pytest.raises(OSError, match="disk full"):
            ledger.add(pairing, 0, played(pairing, 0, 10))
        assert ledger.missing(pairing, 10) == [range(10)]


def test_another_under_the_same_label_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "games.sqlite") as ledger:
        entered(ledger)
        with pytest.raises(ValueError, match=r"player 'greedy': .* another of that label"):
            ledger.player("greedy", AgentSpec("random"), "house")
        file = tmp_path / "a.safetensors"
        spec = AgentSpec(f"checkpoint:{file}")
        file.write_bytes(b"one")
        ledger.player("net", spec, "greedy")
        moved = file.rename(tmp_path / "b.safetensors")
        assert ledger.player("net", AgentSpec(f"checkpoint:{moved}"), "greedy").weights
        moved.write_bytes(b"two")
        with pytest.raises(ValueError, match="give this one a label of its own"):
            ledger.player("net", AgentSpec(f"checkpoint:{moved}"), "greedy")
        with pytest.raises(ValueError, match="give this one a label of its own"):
            ledger.player("greedy", AgentSpec("greedy"), "sample")


def test_what_is_no_ledger_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    text, other, newer = (tmp_path / name for name in ("text", "other", "newer"))
    text.write_text("not a database, but long enough to be looked at as one" * 20)
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE t (x)")
    Ledger(newer).__exit__(None, None, None)
    with sqlite3.connect(newer) as file:
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
    for path, reason in ((text, "no ledger"), (other, "no ledger"), (newer, "version 2")):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=reason) as caught:
            Ledger(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert path is not text or path.read_bytes() == before
    with pytest.raises(ValueError, match="there is no such file"):
        Ledger(tmp_path / "none", made=False)
    with pytest.raises(ValueError, match="there is no folder"):
        Ledger(tmp_path / "no" / "none")


def test_users_can_query_it(tmp_path: Path) -> None:
    with Ledger(tmp_path / "games.sqlite") as ledger:
        pairing = entered(ledger)
        records = played(pairing, 0, 20)
        ledger.add(pairing, 0, records)
    with sqlite3.connect(tmp_path / "games.sqlite") as file:
        won = dict(file.execute("SELECT won, count(*) FROM results GROUP BY won"))
        names = [row[1] for row in file.execute("PRAGMA table_info(games)")]
    assert won["expert"] == (records["winner"] == 0).sum()
    assert sum(won.values()) == 40
    assert names == ["pairing", "game", *COLUMNS]
