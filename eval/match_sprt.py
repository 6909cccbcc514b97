"""A match that ends once it has decided: games as in `eval.match`, the test of `eval.sprt`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import chain, repeat
from typing import Any

from agents.agent import Agent
from crib_env.luck import check_seed
from crib_env.rules import Rules, RulesLike, rules_of
from eval import sets
from eval.engine import Engine, play_sets, seated
from eval.sprt import Hypotheses, SequentialTest

MOST_GAMES = 1_200_000  # of a test, unless it is told; whole sets of two and of three

NO_DECISION = "no decision"

# Sets played at a time: few at first, as a test may be over soon.
SIZES = (128, 256)
THEN = 512


@dataclass(frozen=True)
class SprtResult:
    """What a test gave. The sets are those up to its end; any played beyond count for nothing."""

    a: str
    """The first agent's name."""
    b: str
    """The second agent's name."""
    a_mode: str
    """How A chose, as in a match."""
    b_mode: str
    """How B chose."""
    test: SequentialTest = field(compare=False)
    """The test at its end."""
    most_games: int
    """The games that there might have been."""
    seed: int
    """The seed; lane_seed(seed, i) dealt all games of set i."""
    rules: Rules
    """The rules of all games."""
    seconds: float = field(compare=False)
    """How long it took."""

    @property
    def verdict(self) -> str:
        """``"H0"``, ``"H1"`` or ``"no decision"``."""
        return self.test.verdict or NO_DECISION

    @property
    def games(self) -> int:
        """The games that the verdict rests on."""
        return self.test.sets * self.rules.sides

    def to_json(self) -> dict[str, Any]:
        """Returns the figures under the keys that docs/evaluation.md lists."""
        test = self.test
        return {
            "a": self.a,
            "b": self.b,
            "a_mode": self.a_mode,
            "b_mode": self.b_mode,
            "verdict": self.verdict,
            "h0": test.hypotheses.rate0,
            "h1": test.hypotheses.rate1,
            "alpha": test.hypotheses.alpha,
            "beta": test.hypotheses.beta,
            "llr": test.llr,
            "lower": test.lower,
            "upper": test.upper,
            "sets": test.sets,
            "games": self.games,
            "most_games": self.most_games,
            "a_wins": test.wins,
            "b_wins": self.games - test.wins,
            "a_win_rate_when_stopped": test.win_rate,
            "sets_by_wins": test.counts.tolist(),
            "seed": self.seed,
            "rules": asdict(self.rules),
            "seconds": round(self.seconds, 3),
        }


def play_test(
    a: Agent,
    b: Agent,
    hypotheses: Hypotheses,
    most_games: int = MOST_GAMES,
    seed: int = 0,
    rules: RulesLike = None,
    engine: Engine | None = None,
    say: Callable[[str], None] | None = None,
) -> SprtResult:
    """Plays sets of games, as `eval.match.play_match` does, until a sequential test has decided.

    The test looks at every set, in order. So how many it needs depends on nothing but the seed, who
    plays and what is asked: not on who plays how many at a time.

    Args:
        a: The first agent.
        b: The second agent.
        hypotheses: What the test decides between.
        most_games: The most games there may be, whole sets.
        seed: Set i is dealt by lane_seed(seed, i).
        rules: The rules of all games.
        engine: Who plays the games; by default this process, with the agents as they are.
        say: Told now and then how things stand, in a line.

    Raises:
        ValueError: If *most_games* is none of whole sets, or the seed is out of range.
        EngineError: If the engine cannot play.
        AgentError: If an agent raises.
        IllegalActionError: If an agent chooses an action that the rules do not allow.
    """
    rules = rules_of(rules)
    sets.check_games(most_games, rules)
    seed, start = check_seed(seed), time.perf_counter()
    test = SequentialTest(hypotheses, rules.sides)
    most = most_games // rules.sides
    sizes = chain(SIZES, repeat(THEN))
    with closing(play_sets(seated(a, b, rules), rules, seed, most, engine, sizes)) as played:
        for records in played:
            test.take(sets.outcomes(records["winner"] == 0, rules.sides))
            if say is not None:
                say(state_text(a.name, b.name, test))
            if test.verdict:
                break
    return SprtResult(
        a=a.name,
        b=b.name,
        a_mode=a.shown_mode,
        b_mode=b.shown_mode,
        test=test,
        most_games=most_games,
        seed=seed,
        rules=rules,
        seconds=time.perf_counter() - start,
    )


def sets_text(sets: int, size: int) -> str:
    """Returns a number of sets in words."""
    return f"{sets:,} {'pairs' if size == 2 else 'sets of three games'}"


def state_text(a: str, b: str, test: SequentialTest) -> str:
    """Returns how a test stands, in a line."""
    played = sets_text(test.sets, len(test.counts) - 1)
    return (
        f"{a} v {b}: LLR {test.llr:+.2f} ({test.lower:.2f} to {test.upper:.2f}), {played}, "
        f"A won {test.wins:,} games"
    )


def sprt_text(result: SprtResult) -> str:
    """Returns what a test has found, in words.

    There is no interval: where the games themselves say when to stop, one made for a fixed number
    of them does not hold, and the rate is drawn towards the bound.
    """
    test, told = result.test, result.test.hypotheses
    lower, upper = map(float, told.bounds())
    if result.verdict == NO_DECISION:
        found = (
            f"no decision: {result.games:,} games do not tell H0, A wins {told.rate0:g} of the "
            f"games, from H1, {told.rate1:g}"
        )
    else:
        rate, other = told.rate0, told.rate1
        if result.verdict == "H1":
            rate, other = other, rate
        found = f"{result.verdict}: A wins {rate:g} of the games rather than {other:g}"
    return (
        f"{found}\n"
        f"A: {result.a} ({result.a_mode}), B: {result.b} ({result.b_mode}), seed {result.seed}\n"
        f"LLR {test.llr:+.2f}, bounds {test.lower:.2f} (H0) and {test.upper:.2f} (H1), which began "
        f"at {lower:.2f} and {upper:.2f}; alpha {told.alpha:g}, beta {told.beta:g}\n"
        f"{sets_text(test.sets, result.rules.sides)}: A won {test.wins:,} of {result.games:,} "
        f"games; {result.seconds:.1f} seconds\n"
        "No interval: these games ended when they had decided, so their win rate is no estimate. "
        "For one, play a match with another --seed."
    )
