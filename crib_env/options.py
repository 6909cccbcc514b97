"""The options of the environments, checked once, in one place for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from crib_env.checks import are_whole_numbers, is_number, named
from crib_env.episode import ENDED, EPISODE, Reward, Shaping, Start
from crib_env.observation import observation_high
from crib_env.opponents import Member, Opponent, Pool, pool_of
from crib_env.rules import Rules, RulesLike, rules_of, scheme_of

AGENT = 0
OPPONENT = 1

# The first dealer of an episode, as `Games` takes it.
FIRST_DEALERS: dict[str, Literal["alternate", "cut", "loser"] | int] = {
    "alternate": "alternate",
    "agent": AGENT,
    "opponent": OPPONENT,
    "cut": "cut",
    "loser": "loser",
}
GAME_REWARDS = tuple(reward.name.lower() for reward in Reward)
DEAL_REWARDS = ("points", "win_probability")
SHAPINGS = (None, "points", "win_probability")
ILLEGALS = ("forfeit", "raise")
OBSERVATIONS = ("vector", "dict")
STARTS = ("play", "uniform")

RewardName: TypeAlias = Literal["win", "points", "match_points", "win_probability"]
ShapingName: TypeAlias = Literal["points", "win_probability"] | None
FirstDealerName: TypeAlias = Literal["alternate", "agent", "opponent", "cut", "loser"]
Scores: TypeAlias = Literal["play", "uniform"] | Sequence[int]
MatchPoints: TypeAlias = str | tuple[int, int, int, int]


@dataclass(frozen=True)
class Options:
    """What the environments have in common; `env.CribbageEnv` says what each option means.

    Raises:
        ValueError: If an option has no such value, in one line that says what is allowed.
    """

    opponent: Opponent | Pool = "expert"
    reward: str = "win"
    rules: RulesLike = None
    first_dealer: str = "alternate"
    illegal: str = "forfeit"
    observation: str = "vector"
    match_points: MatchPoints = "acc"
    shaping: str | None = None
    shaping_gamma: float = 1.0
    one_deal: bool = False
    scores: Scores | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Options:
        """Returns itself: options never change, and copies of an environment share its policies."""
        return self

    def __post_init__(self) -> None:
        """Checks every option, and reads rules given as a mapping."""
        rewards = DEAL_REWARDS if self.one_deal else GAME_REWARDS
        for name, allowed in (
            ("reward", rewards),
            ("first_dealer", tuple(FIRST_DEALERS)),
            ("illegal", ILLEGALS),
            ("observation", OBSERVATIONS),
            ("shaping", SHAPINGS),
        ):
            value = getattr(self, name)
            # A list or an array is no value of these, and may not even compare with one.
            if not (value is None or isinstance(value, str)) or value not in allowed:
                raise ValueError(
                    f"{name}={named(value)}: allowed are {', '.join(map(repr, allowed))}"
                )
        object.__setattr__(self, "rules", rules_of(self.rules))
        object.__setattr__(self, "_members", pool_of(self.opponent))
        self._check_shaping()
        self._check_match_points()
        self._check_scores()

    @property
    def checked_rules(self) -> Rules:
        """The rules of the games."""
        assert isinstance(self.rules, Rules)
        return self.rules

    @property
    def members(self) -> tuple[Member, ...]:
        """The opponents."""
        members: tuple[Member, ...] = self.__dict__["_members"]
        return members

    def _check_shaping(self) -> None:
        """Raises ValueError unless the shaping fits the reward, and both the rules."""
        for name in ("reward", "shaping"):
            if (
                getattr(self, name) == "win_probability"
                and not self.checked_rules.has_win_probability
            ):
                raise ValueError(
                    f"{name}='win_probability': allowed with two players and six cards, whose "
                    "table there is"
                )
        if self.shaping is not None and self.reward != "win":
            raise ValueError(
                f"shaping={self.shaping!r} with reward={self.reward!r}: allowed is reward='win'"
            )
        gamma: Any = self.shaping_gamma
        if not (is_number(gamma) and 0 <= gamma <= 1):
            raise ValueError(f"shaping_gamma={named(gamma)}: allowed is 0 to 1")

    def _check_match_points(self) -> None:
        """Raises ValueError unless the scheme is one, and the reward is paid by it."""
        scheme: Any = self.match_points
        if scheme_of(scheme)[-1] > np.iinfo(np.int16).max:
            raise ValueError(f"match_points={named(scheme)}: allowed are numbers up to 32767")
        if self.reward != "match_points" and scheme != "acc":
            raise ValueError(
                f"match_points={named(scheme)} with reward={self.reward!r}: allowed is "
                "reward='match_points'"
            )

    def _check_scores(self) -> None:
        """Raises ValueError unless the scores are drawn, or one a side below the target."""
        rules = self.checked_rules
        starts = STARTS if rules.has_win_probability else ("uniform",)
        if self.scores is None:
            object.__setattr__(self, "scores", starts[0])
        if (isinstance(self.scores, str) and self.scores in starts) or not self.one_deal:
            return
        given: Any = self.scores
        sides, most = rules.sides, rules.target - 1
        if not (are_whole_numbers(given, sides) and all(0 <= score <= most for score in given)):
            raise ValueError(
                f"scores={named(given)}: allowed with these rules are "
                f"{', '.join(map(repr, starts))}, and {sides} scores from 0 to {most}, the "
                "agent's first"
            )

    def episodes(self, n: int) -> npt.NDArray[Any]:
        """Returns the records of *n* lanes' episodes, (N,) of `EPISODE`, none begun."""
        episodes = np.zeros(n, EPISODE)
        episodes["over"] = ENDED
        episodes["reward"] = Reward[self.reward.upper()]
        episodes["shaping"] = Shaping[(self.shaping or "none").upper()]
        episodes["gamma"] = self.shaping_gamma
        episodes["match_points"] = scheme_of(self.match_points)
        episodes["triple_skunk"] = self.checked_rules.triple_skunk
        if self.one_deal and isinstance(self.scores, str):
            episodes["start"] = Start[self.scores.upper()]
        elif self.one_deal and self.scores is not None:
            episodes["start"] = Start.GIVEN
            episodes["scores"][:, : len(self.scores)] = self.scores
        return episodes

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """The observation space of one lane."""
        high = observation_high(self.checked_rules)
        vector = spaces.Box(0, high, dtype=np.uint8)
        if self.observation == "vector":
            return vector
        mask = spaces.Box(0, 1, (self.checked_rules.num_actions,), np.int8)
        return spaces.Dict({"observation": vector, "action_mask": mask})

    @property
    def action_space(self) -> spaces.Discrete:
        """The action space of one lane."""
        return spaces.Discrete(self.checked_rules.num_actions)
