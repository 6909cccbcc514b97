"""Deliberate faults in the rule book: each must fail a test that bears the number of its rule.

A fault is a change of the text of a copy of crib_env. Only the named rule tests run against it, so
neither the referee nor OpenSpiel can come to their help. They run uncompiled, since compiling each
faulty copy would take a minute.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE_TESTS = [
    "test_game.py",
    "test_scoring.py",
    "test_rules.py",
    "test_cards.py",
    "test_variants.py",
    "test_muggins.py",
]


@dataclass(frozen=True)
class Fault:
    """A fault: in which file, which text becomes which, and the rule whose tests must fail."""

    rule: int
    file: str
    before: str
    after: str


NAMED = {
    "a crib of four cards of a suit is a flush": Fault(
        24, "scoring.py", "return 0 if is_crib else size", "return size"
    ),
    "dealer counts first": Fault(
        19,
        "game.py",
        "player = (int(game.dealer) + 1 + int(game.shown)) % int(game.players)",
        "player = (int(game.dealer) + int(game.shown)) % int(game.players)",
    ),
    "scores pass the target": Fault(
        27,
        "game.py",
        "    gained = min(points, int(game.target) - int(game.scores[side]))\n",
        "    gained = points\n",
    ),
    "hands are counted after the end": Fault(
        26,
        "game.py",
        "HAND if counting == A_HAND else CRIB)\n        if game.phase == OVER:\n"
        "            return\n",
        "HAND if counting == A_HAND else CRIB)\n",
    ),
    "go is paid twice": Fault(
        11, "game.py", "peg(game, last, 1, PEGGING)", "peg(game, last, 2, PEGGING)"
    ),
    "pone always leads": Fault(
        13,
        "game.py",
        "        player = last\n        for _ in range(game.players):\n"
        "            player = left_of(game, player)\n            if game.hands[player]:\n",
        "        player = game.dealer\n        for _ in range(game.players):\n"
        "            player = left_of(game, player)\n            if game.hands[player]:\n",
    ),
}

OTHERS = {
    "tens count eleven": Fault(
        1,
        "cards.py",
        "return min((int(card) >> 2) + 1, 10)",
        "return min((int(card) >> 2) + 1, 11)",
    ),
    "higher card deals": Fault(
        2,
        "dealing.py",
        "        elif rank < lowest:\n",
        "        elif rank > lowest or lowest == 13:\n",
    ),
    "equal cuts stand": Fault(
        2,
        "dealing.py",
        "            dealer = TIED\n        elif",
        "            pass\n        elif",
    ),
    "deal does not alternate": Fault(
        3,
        "game.py",
        "    game.dealer = left_of(game, game.dealer)\n    game.deal_number",
        "    game.deal_number",
    ),
    "first deal does not alternate": Fault(
        3,
        "dealing.py",
        "(int(game.first_cut) + number) % players",
        "int(game.first_cut)",
    ),
    "the winner deals the next game": Fault(
        3, "rules.py", "scores[seat % sides] < scores", "scores[seat % sides] > scores"
    ),
    "of losers alike the dealer itself deals again": Fault(
        3, "rules.py", "scores[seat % sides] < scores", "scores[seat % sides] <= scores"
    ),
    "after a game that nobody lost its dealer deals again": Fault(
        3,
        "dealing.py",
        "        if game.winner >= 0:\n            dealer = loser",
        "        if game.winner >= -1:\n            dealer = loser",
    ),
    "cards belong to seats": Fault(
        4,
        "dealing.py",
        "    player = game.dealer\n    for place in range(game.players):\n",
        "    player = 0\n    for place in range(game.players):\n",
    ),
    "dealer throws first": Fault(
        5,
        "dealing.py",
        "    game.phase = DISCARD\n    game.turn = left_of(game, game.dealer)\n",
        "    game.phase = DISCARD\n    game.turn = game.dealer\n",
    ),
    "a card thrown may be thrown again": Fault(
        6,
        "game.py",
        "    game.hands[player] ^= bit_of(card)\n    game.discards",
        "    game.discards",
    ),
    "queens are his heels": Fault(
        7, "game.py", "rank_of(game.starter) == JACK:", "rank_of(game.starter) == JACK + 1:"
    ),
    "his heels are pone's": Fault(
        7,
        "game.py",
        "peg(game, game.dealer, HIS_HEELS_POINTS, HIS_HEELS)",
        "peg(game, left_of(game, game.dealer), HIS_HEELS_POINTS, HIS_HEELS)",
    ),
    "dealer leads": Fault(
        8,
        "game.py",
        "    game.phase = PLAY\n    game.turn = left_of(game, game.dealer)\n",
        "    game.phase = PLAY\n    game.turn = game.dealer\n",
    ),
    "the count may pass 31": Fault(
        9, "game.py", "[player]) & int(CARDS_UP_TO[THIRTY_ONE - game.count])", "[player])"
    ),
    "the count ends at 30": Fault(
        9,
        "game.py",
        "    fits = CARDS_UP_TO[THIRTY_ONE - game.count]\n",
        "    fits = CARDS_UP_TO[max(THIRTY_ONE - game.count - 1, 0)]\n",
    ),
    "a go ends the count": Fault(
        10,
        "game.py",
        "    player = last\n    for _ in range(game.players):\n"
        "        player = left_of(game, player)\n        if game.hands[player] & fits:\n",
        "    player = last\n    for _ in range(1):\n"
        "        player = left_of(game, player)\n        if game.hands[player] & fits:\n",
    ),
    "a go is paid on top of 31": Fault(
        11,
        "game.py",
        "    if game.count < THIRTY_ONE:\n        if",
        "    if game.count <= THIRTY_ONE:\n        if",
    ),
    "a go is the other's": Fault(
        11, "game.py", "peg(game, last, 1, PEGGING)", "peg(game, left_of(game, last), 1, PEGGING)"
    ),
    "31 pegs nothing": Fault(
        12, "scoring.py", "count in (FIFTEEN, THIRTY_ONE)", "count == FIFTEEN"
    ),
    "who laid the last card leads": Fault(
        13,
        "game.py",
        "        player = last\n        for _ in range(game.players):\n"
        "            player = left_of(game, player)\n            if game.hands[player]:\n",
        "        player = left_of(game, last)\n        for _ in range(game.players):\n"
        "            player = left_of(game, player)\n            if game.hands[player]:\n",
    ),
    "the pile outlasts the count": Fault(
        14, "dealing.py", "    game.pile = 0\n    game.pile_size = 0\n", ""
    ),
    "15 pegs nothing in the play": Fault(
        15, "scoring.py", "count in (FIFTEEN, THIRTY_ONE)", "count == THIRTY_ONE"
    ),
    "a pair royal pegs four": Fault(16, "scoring.py", "4 * royal", "2 * royal"),
    "a double pair royal pegs six": Fault(16, "scoring.py", "6 * double_royal", "0 * double_royal"),
    "a run takes four cards": Fault(
        17, "scoring.py", "if length >= 3 and highest", "if length >= 4 and highest"
    ),
    "a run may have a gap": Fault(
        17, "scoring.py", "highest - lowest == length - 1", "highest - lowest <= length"
    ),
    "a card pegs its best part alone": Fault(
        18,
        "scoring.py",
        "points += 2 * pair + 4 * royal + 6 * double_royal",
        "points = max(points, 2 * pair + 4 * royal + 6 * double_royal)",
    ),
    "the crib is pone's": Fault(
        19,
        "game.py",
        "        player = game.dealer\n        points =",
        "        player = left_of(game, game.dealer)\n        points =",
    ),
    "a fifteen scores one": Fault(
        20, "scoring.py", "            points += 2\n", "            points += 1\n"
    ),
    "a pair scores one": Fault(
        21, "scoring.py", "points += same * (same - 1)\n", "points += same * (same - 1) // 2\n"
    ),
    "a double run counts once": Fault(
        22, "scoring.py", "points += length * ways", "points += length"
    ),
    "the starter adds nothing to a flush": Fault(
        23, "scoring.py", "return size + 1", "return size"
    ),
    "every jack is nobs": Fault(
        25,
        "scoring.py",
        "return (hand >> (4 * JACK + suit_of(starter))) & 1",
        "return 1 if hand & CARDS_OF_RANK[JACK] else 0",
    ),
    "a play cannot end the game": Fault(
        26,
        "game.py",
        "    if game.scores[side] == game.target:\n",
        "    if game.scores[side] == game.target and source != PEGGING:\n",
    ),
    "from one below the target his heels do not win": Fault(
        27,
        "game.py",
        "    gained = min(points, int(game.target) - int(game.scores[side]))\n",
        "    gained = min(points, int(game.target) - int(game.scores[side]))\n"
        "    gained -= source == HIS_HEELS\n",
    ),
    "on hole 91 one is skunked": Fault(
        28, "rules.py", "(loser_score < target - 30)", "(loser_score <= target - 30)"
    ),
    "triple skunks are always on": Fault(
        28, "rules.py", "triple = triple_skunk * (", "triple = 1 * ("
    ),
    "a skunk scores two": Fault(29, "rules.py", '"acc": (2, 3, 3, 3)', '"acc": (2, 2, 2, 2)'),
    "every game is to 121": Fault(
        30,
        "game.py",
        "    gained = min(points, int(game.target) - int(game.scores[side]))\n",
        "    gained = min(points, 121 - int(game.scores[side]))\n",
    ),
    "five cards are thrown one by one": Fault(
        31,
        "rules.py",
        "return 2 if self.players == 2 else 1",
        "return self.cards_dealt - 4",
    ),
    "nobody starts with three": Fault(32, "rules.py", "FIVE_CARD_START = 3", "FIVE_CARD_START = 0"),
    "the five-card count restarts": Fault(
        33, "game.py", "if not is_five_card(game):", "if game.players >= 2:"
    ),
    "a flush takes four cards": Fault(
        34, "scoring.py", "return 0 if is_crib else size", "return 0 if is_crib or size < 4 else 4"
    ),
    "the crib of three has three": Fault(
        35, "dealing.py", "        game.crib = draw_cards(", "        draw_cards("
    ),
    "partners score apart": Fault(
        36,
        "dealing.py",
        "return player - game.sides if player >= game.sides else player",
        "return 0",
    ),
    "play goes to the right": Fault(
        37,
        "dealing.py",
        "    left = player + 1\n    return 0 if left == game.players else left\n",
        "    return player - 1 if player else game.players - 1\n",
    ),
    "a go is the end of all": Fault(
        38,
        "game.py",
        "    player = last\n    for _ in range(game.players):\n"
        "        player = left_of(game, player)\n        if game.hands[player] & fits:\n",
        "    player = last\n    for _ in range(2):\n"
        "        player = left_of(game, player)\n        if game.hands[player] & fits:\n",
    ),
    "ties of three stand": Fault(
        39,
        "dealing.py",
        "        if rank == lowest:\n            dealer = TIED\n",
        "        if rank == lowest and players == 2:\n            dealer = TIED\n",
    ),
    "the losers share a line": Fault(
        40, "rules.py", "skunk = 1 * (loser_score <", "skunk = 1 * (np.max(loser_score) <"
    ),
    "a claim pegs more than is there": Fault(
        41, "game.py", "min(points, int(game.true_points)), source)", "points, source)"
    ),
    "a call of too much takes what is there": Fault(
        42, "game.py", "    if points <= game.missed:\n", "    if game.missed:\n"
    ),
    "partners are asked": Fault(
        42, "game.py", "if side_of(game, player) != side_of(game, owner):", "if player != owner:"
    ),
    "the excess is always pegged": Fault(43, "game.py", "and game.muggins_penalty and", "and"),
    "cards are not claimed": Fault(
        44,
        "game.py",
        "    if game.muggins == CLAIM_ALL:\n        ask_claim(game, player, A_CARD, points)\n"
        "        return\n",
        "",
    ),
    "the excess comes last": Fault(
        45,
        "game.py",
        "    if game.phase != OVER and game.muggins_penalty and points",
        "    if game.phase == OVER and game.muggins_penalty and points",
    ),
}


def rule_tests(folder: Path, rule: int | None) -> subprocess.CompletedProcess[str]:
    """Runs the named tests of one rule, or of all, against the crib_env in *folder*."""
    named = f"test_r{rule}_" if rule else " or ".join(f"test_r{digit}" for digit in range(1, 10))
    paths = [folder / "tests" / "crib_env" / name for name in RULE_TESTS]
    if rule:
        paths = [path for path in paths if f"def {named}" in path.read_text(encoding="utf-8")]
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-k", named, "-m", "nojit"),
            *map(str, paths),
        ],
        cwd=folder,
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # starts in half the time
        },
        capture_output=True,
        text=True,
        check=False,
    )


def copy_of_project(folder: Path) -> None:
    """Copies what the rule tests need."""
    shutil.copytree(
        ROOT / "crib_env", folder / "crib_env", ignore=shutil.ignore_patterns("__pycache__")
    )
    # The tests alone: neither the environment nor agents are needed.
    tests = folder / "tests"
    (tests / "crib_env").mkdir(parents=True)
    for name in ("referee.py", "tabletop.py", *(f"crib_env/{name}" for name in RULE_TESTS)):
        shutil.copy(ROOT / "tests" / name, tests / name)
    shutil.copytree(ROOT / "tests" / "cases", tests / "cases")
    shutil.copy(ROOT / "pyproject.toml", folder)


def require_failure(fault: Fault, folder: Path) -> None:
    """Requires that a test of the fault's rule fails, and that it fails for the rule alone."""
    copy_of_project(folder)
    source = folder / "crib_env" / fault.file
    text = source.read_text(encoding="utf-8")
    assert text.count(fault.before) == 1, f"the text of the fault is not in {fault.file} just once"
    source.write_text(text.replace(fault.before, fault.after), encoding="utf-8")
    done = rule_tests(folder, fault.rule)
    assert done.returncode == 1, f"no test of R{fault.rule} failed:\n{done.stdout}{done.stderr}"
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert failed, done.stdout
    assert all(f"::test_r{fault.rule}_" in line for line in failed), failed


@pytest.mark.parametrize("name", NAMED)
def test_a_named_rule_test_fails_for_the_fault(name: str, tmp_path: Path) -> None:
    require_failure(NAMED[name], tmp_path)


@pytest.mark.torture
@pytest.mark.parametrize("name", OTHERS)
def test_a_named_rule_test_fails_for_the_other_fault(name: str, tmp_path: Path) -> None:
    require_failure(OTHERS[name], tmp_path)


def test_named_rule_tests_pass_without_a_fault(tmp_path: Path) -> None:
    copy_of_project(tmp_path)
    done = rule_tests(tmp_path, None)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_has_a_fault_that_its_tests_notice() -> None:
    faults = [*NAMED.values(), *OTHERS.values()]
    assert {fault.rule for fault in faults} == set(range(1, 46))
