"""Matches: pairs that split, results that depend on nothing but the seed, and the command line."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from rich.console import Console

from agents.agent import Agent, make
from agents.checkpoint import Checkpoint, save_checkpoint
from agents.network import NetworkConfig, PolicyValueNet
from agents.neural_agent import NetworkPolicy
from crib_env import BOTS, BotPolicy, IllegalActionError, Rules, lane_seed
from crib_env.notation import Transcript, parse, replay
from crib_env.observation import layout
from crib_env.rules import PRESETS
from eval import play, provenance
from eval.match import main, play_match
from eval.match_report import match_text
from eval.match_result import MatchResult
from eval.stats import game_rate

KEYS = [
    "a",
    "b",
    "games",
    "a_win_rate",
    "ci95",
    "a_skunk_rate",
    "b_skunk_rate",
    "a_double_skunk_rate",
    "b_double_skunk_rate",
    "mean_margin",
    "margin_ci95",
    "deals_per_game",
    "seconds",
    "command",
    "commit",
]
SIX_CARD = Rules()
RATES = ["a_win_rate", *(key for key in KEYS if key.endswith("skunk_rate"))]


@pytest.fixture(autouse=True, scope="module")
def one_torch_thread() -> Iterator[None]:
    """Two threads on a busy machine are many times slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def network(seed: int, mode: str, rules: Rules = SIX_CARD) -> Agent:
    """A small network with random weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        weights = PolicyValueNet(NetworkConfig(32, 1), rules).eval()
    return Agent(f"network {seed}", NetworkPolicy(weights, rules, mode), mode=mode)


def outside(name: str, rules: Rules = SIX_CARD) -> Agent:
    """A house player that is asked for each move, as a network is."""
    return Agent(name, BotPolicy(name, rules))


def main_of(arguments: str) -> int:
    """Runs the command line of one string."""
    return main(arguments.split())


AGENTS = [*BOTS, "outside expert", "outside random", "greedy network", "sampling network"]


def agent_of(name: str, rules: Rules = SIX_CARD) -> Agent:
    if name in BOTS:
        return make(name, rules)
    kind, _, what = name.partition(" ")
    if kind == "outside":
        return outside(what, rules)
    return network(1, kind.replace("sampling", "sample"), rules)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_against_itself_splits_every_pair_exactly(name: str) -> None:
    # A network is asked for a thousand positions at a time, however few there are.
    games = 20 if "network" in name else 200
    result = play_match(agent_of(name), agent_of(name), games, seed=3)
    first, second = result.results[0::2], result.results[1::2]
    assert (first["winner"] != second["winner"]).all()
    for field in ("scores", "points", "worth"):
        assert np.array_equal(first[field], second[field][:, ::-1])
    assert result.a.win_rate.value == result.b.win_rate.value == 0.5
    assert result.mean_margin.value == 0
    assert result.a.points == result.b.points


def test_pairs_share_their_cards_and_no_others_do() -> None:
    result = play_match(make("greedy"), make("greedy"), 400, seed=3)
    first = result.results[0::2]
    assert len(np.unique(first["points"].reshape(200, -1), axis=0)) == 200


def test_first_deals_split_evenly() -> None:
    result = play_match(make("expert"), make("random"), 100)
    assert result.results["first_dealer"].tolist() == [0, 1] * 50


MATCHES = [
    ("expert", "greedy"),
    ("greedy network", "expert"),
    ("random", "sampling network"),
    ("greedy network", "sampling network"),
]


@pytest.mark.parametrize(("a", "b"), MATCHES)
def test_results_do_not_depend_on_how_many_play_at_a_time(a: str, b: str) -> None:
    one, other = (
        play_match(agent_of(a), agent_of(b), 12, seed=5, sizes=sizes) for sizes in (None, (1, 3, 2))
    )
    assert np.array_equal(one.results, other.results)
    assert one == other


@pytest.mark.parametrize("name", BOTS)
def test_a_house_player_in_the_loop_equals_itself_asked_for_each_move(name: str) -> None:
    within = play_match(make(name), make("greedy"), 300, seed=7)
    asked = play_match(outside(name), make("greedy"), 300, seed=7)
    both = play_match(outside(name), outside("greedy"), 300, seed=7)
    assert np.array_equal(within.results, asked.results)
    assert np.array_equal(within.results, both.results)


def test_more_games_begin_with_the_same_games() -> None:
    few, many = (play_match(make("expert"), make("random"), games, 9) for games in (50, 80))
    assert np.array_equal(few.results, many.results[:50])


def test_seeds_share_no_deal() -> None:
    results = [play_match(make("greedy"), make("random"), 100, seed).results for seed in (1, 2, 3)]
    rows = np.concatenate([one["points"].reshape(100, -1) for one in results])
    assert len(np.unique(rows, axis=0)) == 300


def test_rates_are_what_the_games_say() -> None:
    result = play_match(make("expert"), make("greedy"), 2000, seed=11)
    rows = result.results
    won, losing = rows["winner"] == 0, rows["scores"].min(axis=1)
    assert (rows["scores"].max(axis=1) == 121).all()
    assert result.a.wins + result.b.wins == result.games == len(rows)
    assert result.a.win_rate.value == result.a.wins / 2000 == won.mean()
    assert result.a.skunk_rate.value == (won & (losing < 91)).mean()
    assert result.b.double_skunk_rate.value == (~won & (losing < 61)).mean()
    assert result.a.as_first_dealer.win_rate.value == won[0::2].mean()
    assert result.a.as_first_pone.win_rate.value == won[1::2].mean()
    assert result.b.as_first_dealer.win_rate.value == 1 - won[1::2].mean()
    assert result.b.as_first_pone.skunk_rate.value == (~won & (losing < 91))[0::2].mean()
    margins = rows["scores"][:, 0].astype(int) - rows["scores"][:, 1]
    assert result.mean_margin.value == pytest.approx(margins.mean())
    pegged = [
        sum(points.value for sources in side.points.values() for points in sources.values())
        for side in (result.a, result.b)
    ]
    assert pegged[0] - pegged[1] == pytest.approx(result.mean_margin.value)
    assert pegged[0] == pytest.approx(rows["scores"][:, 0].mean())
    # Nothing is pegged that a role cannot peg for.
    assert not rows["points"][:, :, [0, 3], 1].any()


def test_the_interval_is_over_pairs() -> None:
    # The same margins as 1,000 games side by side would give a wider interval: luck cancels.
    result = play_match(make("expert"), make("greedy"), 1000, seed=11)
    margins = result.results["scores"][:, 0].astype(int) - result.results["scores"][:, 1]
    assert result.mean_margin.error < 0.8 * 1.96 * margins.std() / np.sqrt(1000)


def test_expert_beats_greedy_and_random() -> None:
    greedy = play_match(make("expert"), make("greedy"), 10_000, seed=1).a
    assert greedy.win_rate.value >= 0.65
    random = play_match(make("expert"), make("random"), 4000, seed=1).a
    assert random.win_rate.value >= 0.99
    assert random.skunk_rate.value >= 0.75


def test_no_winner_is_named_while_the_interval_holds_one_half() -> None:
    assert "do not tell" in match_text(play_match(make("random"), make("random"), 100))
    assert "A (expert) wins more" in match_text(play_match(make("expert"), make("random"), 100))
    assert "B (expert) wins more" in match_text(play_match(make("random"), make("expert"), 100))


def test_target_and_skunks_follow_the_rules() -> None:
    rules = Rules(target=61)
    result = play_match(make("expert", rules), make("random", rules), 200, rules=rules)
    assert result.rules == rules
    assert (result.results["scores"].max(axis=1) == 61).all()
    losing = result.results["scores"].min(axis=1)
    skunked = (result.results["winner"] == 0) & (losing < 31)
    assert result.a.skunk_rate.value == skunked.mean()


# ---- variants ----

VARIANTS = {name: rules for name, rules in PRESETS.items() if name not in ("six_card", "short")}
VARIANTS["muggins"] = Rules(muggins="full")
every_variant = pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)


@every_variant
@pytest.mark.parametrize("name", ["expert", "random", "outside random", "sampling network"])
def test_in_every_variant_an_agent_against_itself_splits_every_set_exactly(
    name: str, rules: Rules
) -> None:
    rules = replace(rules, target=31)  # short, as networks are slow
    size = rules.sides
    games = size * (4 if "network" in name else 60)
    result = play_match(agent_of(name, rules), agent_of(name, rules), games, seed=3, rules=rules)
    won = result.results["winner"].reshape(-1, size) == 0
    assert (won.sum(axis=1) == 1).all()
    assert result.a.win_rate.value == pytest.approx(result.chance)
    assert result.b.win_rate.value == pytest.approx(1 - result.chance)
    assert result.mean_margin.value == pytest.approx(0)
    # Each seat of the table does in the later games of a set what it did in the first.
    for game in range(1, size):
        first, later = result.results[0::size], result.results[game::size]
        for field in ("points", "worth"):
            assert np.array_equal(np.roll(later[field], game, axis=1), first[field])
    for role, sources in result.a.points.items():
        for source, points in sources.items():
            assert points.value == pytest.approx(result.b.points[role][source].value)


@every_variant
def test_a_plays_each_side_in_turn_and_seat_0_deals_first(rules: Rules) -> None:
    asked: list[npt.NDArray[np.int64]] = []
    seat = layout(rules)["dealer"]

    def watched(
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        # Where the first dealer, seat 0, sits as this seat counts; rows come in the games' order.
        asked.append(observations[:, seat.slice].argmax(axis=1))
        first: npt.NDArray[np.int64] = np.argmax(action_masks, axis=1)
        return first

    size = rules.sides
    result = play_match(Agent("a", watched), make("random", rules), 4 * size, rules=rules)
    first_dealers = result.results["first_dealer"]
    assert first_dealers.tolist() == [0, *range(rules.players - 1, rules.players - size, -1)] * 4
    # At its first decision A holds, in turn, the seat (0 to players - 1) that is its own.
    if rules.players < 4:
        own = (rules.players - asked[0]) % rules.players
        assert own.tolist() == list(range(size)) * 4


@every_variant
@pytest.mark.parametrize(("a", "b"), [("expert", "random"), ("greedy network", "outside expert")])
def test_results_of_variants_do_not_depend_on_how_many_play_at_a_time(
    a: str, b: str, rules: Rules
) -> None:
    rules = replace(rules, target=31)
    one, other = (
        play_match(agent_of(a, rules), agent_of(b, rules), 12, 5, rules, sizes=sizes)
        for sizes in (None, 2)
    )
    assert np.array_equal(one.results, other.results)
    assert one == other


@every_variant
def test_rates_of_variants_are_what_the_games_say(rules: Rules) -> None:
    size, games = rules.sides, 1200
    result = play_match(make("greedy", rules), make("random", rules), games, 11, rules)
    rows = result.results
    scores = rows["scores"].astype(int)
    assert scores.shape == (games, size)
    assert (scores.max(axis=1) == rules.target).all()
    assert (rows["winner"] == scores.argmax(axis=1)).all()
    won = rows["winner"] == 0
    assert result.a.win_rate.value == pytest.approx(won.mean())
    assert result.a.wins == won.sum()
    assert result.b.wins == (~won).sum()
    assert result.b.win_rate.value == pytest.approx(1 - won.mean())
    skunk, double = rules.target - 30, rules.target - 60
    beaten = scores[:, 1:].min(axis=1)
    assert result.a.skunk_rate.value == pytest.approx((won & (beaten < skunk)).mean())
    assert result.a.double_skunk_rate.value == pytest.approx((won & (beaten < double)).mean())
    assert result.b.skunk_rate.value == pytest.approx((~won & (scores[:, 0] < skunk)).mean())
    assert result.a.as_first_dealer.win_rate.value == pytest.approx(won[0::size].mean())
    later = np.arange(games) % size > 0
    assert result.a.as_first_pone.win_rate.value == pytest.approx(won[later].mean())
    assert result.b.as_first_pone.win_rate.value == pytest.approx((~won)[0::size].mean())
    margins = scores[:, 0] - scores[:, 1:].mean(axis=1)
    assert result.mean_margin.value == pytest.approx(margins.mean())
    # All that is pegged is the score, a head start of the first pone's apart.
    head_start = 1.5 if rules.is_five_card else 0
    for side, final in ((result.a, scores[:, :1]), (result.b, scores[:, 1:])):
        pegged = sum(point.value for source in side.points.values() for point in source.values())
        assert pegged + head_start == pytest.approx(final.mean())


def test_of_three_the_interval_is_over_sets_and_narrower_than_over_games() -> None:
    result = play_match(make("greedy", "three_player"), make("greedy", "three_player"), 3000, 11,
                        "three_player")  # fmt: skip
    # All sets split: nothing but what n sets have not shown is left.
    assert result.a.win_rate.error < 0.5 * game_rate(1000, 3000).error
    assert "over 1,000 sets of three games" in match_text(result)


def test_of_three_what_is_said_is_measured_by_a_third() -> None:
    three = "three_player"
    random, greedy = make("random", three), make("greedy", three)
    text = match_text(play_match(greedy, random, 300, rules=three))
    assert re.search(r"A is first in [89]\d\.\d % \[.*\] of the games, chance 33\.3 %", text)
    assert "A (greedy) wins more than a third of its games" in text
    # One against two that are better wins less than a third, but random wins more than nothing.
    text = match_text(play_match(random, greedy, 300, rules=three))
    assert "B (greedy) wins more than two thirds of its games" in text
    text = match_text(play_match(random, random, 300, rules=three))
    assert "do not tell who is stronger: the interval holds 1/3" in text


def test_of_four_the_partners_of_a_side_win_together() -> None:
    four = "four_player"
    result = play_match(make("expert", four), make("random", four), 400, rules=four)
    assert result.a.win_rate.value > 0.9
    assert "over 200 pairs" in match_text(result)
    assert match_text(result).endswith("A (expert) wins more than half of its games against B "
                                       "(random).")  # fmt: skip


@pytest.mark.parametrize("games", [0, -3, 2, 7, 100])
def test_games_of_three_come_in_sets_of_three(games: int) -> None:
    with pytest.raises(ValueError, match=f"games={games}: allowed is a multiple of 3"):
        play_match(make("random", "three_player"), make("random", "three_player"), games,
                   rules="three_player")  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "games", "rules"),
    [
        ("--rules muggins=show --games 20", 20, Rules(muggins="show")),
        ("--rules three_player", 9_999, PRESETS["three_player"]),
        ("--rules four_player --games 20", 20, PRESETS["four_player"]),
        ("--rules five_card,target=31 --games 20", 20, Rules(2, 5, 31)),
        ("--rules three_player --target 61 --games 30", 30, Rules(3, 5, 61)),
        ("--target 61", 10_000, PRESETS["short"]),
    ],
)
def test_the_command_line_plays_any_variant(
    flags: str, games: int, rules: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "match.json"
    assert main_of(f"greedy random {flags} --json {path}") == 0
    result = json_of(path)
    assert set(KEYS) <= set(result)
    assert result["games"] == games
    assert Rules(**result["rules"]) == rules
    low, high = result["ci95"]
    assert low <= result["a_win_rate"] <= high
    assert f"{games:,} games, seed 0" in capsys.readouterr().out


@pytest.mark.parametrize("games", [0, -2, 7])
def test_games_come_in_pairs(games: int) -> None:
    with pytest.raises(ValueError, match=f"games={games}: allowed is an even number"):
        play_match(make("random"), make("random"), games)


def test_one_pair_is_a_match() -> None:
    result = play_match(make("expert"), make("random"), 2)
    assert 0 <= result.a.win_rate.low < result.a.win_rate.high <= 1
    assert -121 <= result.mean_margin.low < result.mean_margin.high <= 121


def test_an_illegal_choice_is_an_error_that_names_the_agent() -> None:
    def cheat(
        observations: npt.NDArray[np.uint8],
        action_masks: npt.NDArray[np.int8],
        luck: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.int64]:
        illegal: npt.NDArray[np.int64] = np.argmin(action_masks, axis=1)
        return illegal

    with pytest.raises(IllegalActionError, match="agent cheat: illegal action"):
        play_match(Agent("cheat", cheat), make("random"), 2)


def json_of(path: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def test_json_keys_and_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.json"
    command = f"expert greedy --games 100 --seed 2 --json {path}"
    assert main_of(command) == 0
    result = json_of(path)
    assert set(KEYS) <= set(result)
    assert (result["a"], result["b"], result["games"]) == ("expert", "greedy", 100)
    assert all(isinstance(result[key], float) and 0 <= result[key] <= 1 for key in RATES)
    for key in ("mean_margin", "deals_per_game", "seconds"):
        assert isinstance(result[key], float)
    for key, value in (("ci95", "a_win_rate"), ("margin_ci95", "mean_margin")):
        low, high = result[key]
        assert low < result[value] < high
    assert result["command"] == f"python -m eval.match {command}"
    assert isinstance(result["commit"], str)
    assert result["a_wins"] + result["b_wins"] == 100
    assert result["seed"] == 2
    assert Rules(**result["rules"]) == Rules()
    printed = capsys.readouterr()
    assert printed.err == ""  # no progress bar where there is no terminal
    assert "[low, high] are 95 % intervals over 50 pairs" in printed.out
    assert [name.name for name in tmp_path.iterdir()] == ["match.json"]


def test_another_process_gives_the_same_result(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    assert main_of(f"expert random --games 60 --seed 4 --json {ours}") == 0
    command = f"-m eval.match expert random --games 60 --seed 4 --json {theirs}"
    subprocess.run([sys.executable, *command.split()], cwd=provenance.ROOT, check=True)
    results = [json_of(path) for path in (ours, theirs)]
    for result in results:
        del result["seconds"], result["command"]
    assert results[0] == results[1]


# E016: how each side chooses is an option, stated with the result, and the same by default.
def test_the_mode_of_each_side_is_an_option_and_is_stated(tmp_path: Path) -> None:
    with torch.random.fork_rng():
        weights = PolicyValueNet(NetworkConfig(16, 1), Rules())
    tensors = {f"network.{name}": tensor for name, tensor in weights.state_dict().items()}
    shape = asdict(NetworkConfig(16, 1))
    save_checkpoint(tmp_path / "x.safetensors", Checkpoint(0, {}, asdict(Rules()), shape, tensors))
    name = f"checkpoint:{tmp_path / 'x.safetensors'}"
    path = tmp_path / "match.json"
    modes = []
    for flags in ("", "--mode sample", "--mode sample --b-mode greedy"):
        assert main_of(f"{name} {name} --games 10 {flags} --json {path}") == 0
        result = json_of(path)
        modes.append((result["a_mode"], result["b_mode"]))
    assert modes == [("greedy", "greedy"), ("sample", "sample"), ("sample", "greedy")]
    assert main_of(f"{name} expert --games 10 --json {path}") == 0
    assert json_of(path)["b_mode"] == "house"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("expert greedy --games 7", "games=7"),
        ("expert greedy --games 0", "games=0"),
        ("expert greedy --games -2", "games=-2"),
        ("expert greddy", "agent 'greddy': allowed are random, greedy, expert"),
        ("expert checkpoint:nowhere", "nowhere"),
        ("expert greedy --seed -1", "seed -1"),
        ("expert greedy --target 500", "target=500"),
        ("expert greedy --rules three_playr", "'three_playr': allowed are six_card, short"),
        ("expert greedy --rules short,", "allowed after a comma are players="),
        ("expert greedy --rules three_player --games 100", "a multiple of 3"),
        ("expert greedy --rules five_card --target 3", "target=3"),
    ],
)
def test_what_is_refused_is_one_line_and_writes_nothing(
    command: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_of(f"{command} --json {tmp_path / 'match.json'}") == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith("eval.match: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_unknown_flags_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main_of("expert greedy --gmes 10")
    assert refused.value.code == 2
    assert "--games" in capsys.readouterr().err


def test_json_that_cannot_be_written_is_refused_before_the_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*arguments: Any, **options: Any) -> MatchResult:
        raise AssertionError("games were played")

    monkeypatch.setattr("eval.match.play_match", played)
    assert main_of(f"expert greedy --games 10 --json {tmp_path / 'no' / 'x.json'}") == 2
    assert "no folder" in capsys.readouterr().err
    assert main_of(f"expert greedy --games 10 --json {tmp_path}") == 2
    assert "is no file" in capsys.readouterr().err
    assert main_of(f"expert greedy --games 10 --json {tmp_path / ('x' * 250)}.json") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_json_follows_a_link_and_a_result_that_cannot_be_kept_is_still_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("{}")
    link.symlink_to(target)
    assert main_of(f"expert greedy --games 10 --json {link}") == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["games"] == 10

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eval.provenance.write_json", full)
    assert main_of(f"expert greedy --games 10 --json {link}") == 1
    said = capsys.readouterr()
    assert "No space left" in said.err
    assert "win rate" in said.out


def test_interrupted_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> MatchResult:
        raise KeyboardInterrupt

    monkeypatch.setattr("eval.match.play_match", interrupted)
    assert main_of(f"expert greedy --games 10 --json {tmp_path / 'x.json'}") == 130
    assert "nothing written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()

    def terminal(stderr: bool) -> Console:
        assert stderr
        return Console(file=shown, force_terminal=True, width=100)

    monkeypatch.setattr(play, "Console", terminal)
    assert main_of("expert greedy --games 400") == 0
    assert "expert v greedy" in shown.getvalue()
    assert "400/400" in shown.getvalue()


# ---- games written down ----


def test_every_game_of_a_match_is_written_down_and_the_match_is_the_same(tmp_path: Path) -> None:
    a, b = make("expert"), make("random")
    rules = Rules(target=31)
    told: list[tuple[int, Transcript]] = []
    plain = play_match(a, b, 12, 5, rules, sizes=2)
    recorded = play_match(
        a, b, 12, 5, rules, sizes=2, on_transcript=lambda *game: told.append(game)
    )
    assert recorded == plain
    assert np.array_equal(recorded.results, plain.results)
    assert [number for number, _ in told] == list(range(12))
    for number, game in told:
        assert game.names == (("expert", "random") if number % 2 == 0 else ("random", "expert"))
        assert game.lane is not None
        assert game.lane.seed == lane_seed(5, number // 2)
        end = replay(game).transcript.deals[-1].lines[-1]
        assert end.seat == (int(plain.results["winner"][number]) ^ number % 2)


@pytest.mark.parametrize("target", ["folder", "games.crib"])
def test_the_command_line_writes_games_down(target: str, tmp_path: Path) -> None:
    path = tmp_path / target
    assert main(["greedy", "random", "--games", "4", "--target", "21", "--record", str(path)]) == 0
    files = [path] if path.is_file() else sorted(path.iterdir())
    games = [game for file in files for game in parse(file.read_text(encoding="utf-8"))]
    assert [game.notes for game in games] == [
        (f"greedy v random, seed 0, game {number}",) for number in range(1, 5)
    ]


def test_games_that_cannot_be_written_down_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "none" / "games.crib"
    assert main(["greedy", "random", "--games", "2", "--record", str(path)]) == 2
    assert capsys.readouterr().err == f"eval.match: {path}: there is no folder {path.parent}\n"
    full = tmp_path / "full"

    def fsync(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    command = ["greedy", "random", "--games", "2", "--target", "9", "--record", str(full)]
    assert main(command) == 1
    assert capsys.readouterr().err == f"eval.match: {full}: not written: No space left on device\n"
