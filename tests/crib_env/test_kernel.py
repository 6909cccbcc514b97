"""The compiled kernels: never stale, the same as plain Python, and within their bounds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from crib_env.game_record import RECORD, Game
from crib_env.kernel import COMPILED

ROOT = Path(__file__).parents[2]

compiled_only = pytest.mark.skipif(not COMPILED, reason="there is no cache with JIT off")


def run(code: str, folder: Path, **environment: str) -> str:
    """Returns what *code* prints, run in a process that finds crib_env in *folder*."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the record ----


def places() -> list[tuple[str, np.dtype[Any], int]]:
    """Returns name, type and offset of each field of the record, in order."""
    assert RECORD.names is not None
    assert RECORD.fields is not None
    return [(name, *RECORD.fields[name][:2]) for name in RECORD.names]


@pytest.mark.nojit
def test_fields_of_the_record_are_those_of_the_protocol() -> None:
    assert RECORD.names == tuple(Game.__annotations__)


@pytest.mark.nojit
def test_a_record_has_no_byte_that_no_field_owns() -> None:
    # Such bytes are not copied, so that games that are alike would not be alike byte by byte.
    end = 0
    for name, dtype, offset in places():
        assert offset == end, f"{offset - end} bytes before {name} belong to nobody"
        end = offset + dtype.itemsize
    assert end == RECORD.itemsize


@pytest.mark.nojit
def test_fields_stand_where_a_processor_reads_them_at_once() -> None:
    for name, dtype, offset in places():
        assert offset % dtype.base.itemsize == 0, name
    assert RECORD.itemsize % 8 == 0


# ---- the cache ----

# Calls a kernel of another file than the ones changed below, and says whether it was compiled now.
COUNT_FIFTEENS = """
from pathlib import Path
from typing import Any
import crib_env.kernel
assert Path(crib_env.kernel.__file__).parent.parent == Path.cwd(), crib_env.kernel.__file__
from crib_env.cards import card_set, parse_cards
from crib_env.scoring import POINTS_OF_FIVE, fifteens, hand_score
print(fifteens(card_set(parse_cards("KC 5D"))))
print(hand_score(card_set(parse_cards("2C 2D 6H QS")), 48, False))
print("compiled" if sum(fifteens.stats.cache_misses.values()) else "read")
"""


@compiled_only
def test_cache_is_never_stale_and_never_needless(tmp_path: Path) -> None:
    package = tmp_path / "crib_env"
    shutil.copytree(
        ROOT / "crib_env", package, ignore=shutil.ignore_patterns("__pycache__", "*.nb*")
    )
    # A user's own __init__ would bring in all kernels at once; two are enough here.
    (package / "__init__.py").write_text("", encoding="utf-8")
    cards = package / "cards.py"
    text = cards.read_text(encoding="utf-8")

    assert run(COUNT_FIFTEENS, tmp_path).split() == ["2", "2", "compiled"]
    assert run(COUNT_FIFTEENS, tmp_path).split() == ["2", "2", "read"]

    # A function that the kernel calls, in another file: Numba's own cache does not see it.
    changed = text.replace(
        "return min((int(card) >> 2) + 1, 10)", "return min((int(card) >> 2) + 1, 9)"
    )
    assert changed != text
    cards.write_text(changed, encoding="utf-8")
    assert run(COUNT_FIFTEENS, tmp_path).split() == ["0", "2", "compiled"]

    # A table that is compiled in as a constant.
    cards.write_text(text, encoding="utf-8")
    path = package / "data" / "hands.npz"
    with np.load(path) as tables:
        more = {name: tables[name] + np.int8(1) for name in tables.files}
    np.savez_compressed(path, **more)
    assert run(COUNT_FIFTEENS, tmp_path).split() == ["2", "3", "compiled"]


@compiled_only
def test_the_notice_of_compiling_comes_once_and_not_from_a_warm_cache(tmp_path: Path) -> None:
    code = "from crib_env.cards import pips_of, rank_of; pips_of(5); rank_of(5); pips_of(6)"
    shown = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        shown.append(done.stderr.count("compiling its kernels"))
    assert shown == [1, 0]


@compiled_only
def test_other_packages_keep_their_own_cache_folder() -> None:
    assert "crib_env-kernels" not in str(numba.config.CACHE_DIR)  # type: ignore[attr-defined]  # set at run time


# ---- compiled or not, checked or not ----

PLAY_GAMES = """
import hashlib
import numpy as np
from crib_env.batch import Games
from crib_env.kernel import COMPILED
games = Games(GAMES, seed=77)
seen = hashlib.sha256()
for seats in ([0, 0], [1, 0], [2, 1], [2, 2]):
    games.play_bots([seats[0], -1])
    for player in (0, 1):
        for rows in (games.observe(player), games.action_masks(player), games.privileged(player)):
            seen.update(rows.tobytes())
    games.redeal_hidden(1, seed=5)
    games.play_bots(seats)
    seen.update(games.records.tobytes())
    games.next_game()
games.apply(games.action_masks().argmax(axis=1))
seen.update(games.luck().tobytes() + games.records.tobytes())
print(seen.hexdigest())
"""


@compiled_only
def test_games_uncompiled_equal_the_compiled_ones() -> None:
    # Thirty-two games and more, warnings being errors: an overflow would be one.
    code = PLAY_GAMES.replace("GAMES", "8")
    assert run(code, ROOT, NUMBA_DISABLE_JIT="1") == run(code, ROOT)


@compiled_only
@pytest.mark.torture
def test_games_with_bounds_checks_equal_those_without() -> None:
    code = PLAY_GAMES.replace("GAMES", "400")
    assert run(code, ROOT, NUMBA_BOUNDSCHECK="1") == run(code, ROOT)
