"""`Lanes`: the lanes of an environment, their games, opponents, and what is paid.

The single environments are one lane, the vector environments many. What stands here is all that
they share: how an episode begins, how opponents are asked, how an illegal action is answered, and
how all of it is saved. Axes: (N,) lanes, (M,) some of them, (N, F) observations, (N, A) masks.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from crib_env.batch import Games, IllegalActionError
from crib_env.cards import NO_CARD
from crib_env.checks import named
from crib_env.episode import ENDED, VOID, Start
from crib_env.game_record import Phase
from crib_env.kernel import as_records
from crib_env.loops import (
    ILLEGAL,
    NOBODY,
    OUTSIDE,
    begin_all,
    bot_actions,
    first_illegal,
    luck_all,
    refuse_all,
    step_all,
)
from crib_env.observation import OBSERVATION_VERSION
from crib_env.options import AGENT, FIRST_DEALERS, Options
from crib_env.policy import checked_actions
from crib_env.position import Position
from crib_env.records import check_records, seed_words

Array = npt.NDArray[Any]
_LOGGER = logging.getLogger("crib_env")
_STATE_FORMAT = 1
# The fields of an episode that are options.
_OPTION_FIELDS = ("reward", "shaping", "gamma", "match_points", "start", "scores", "triple_skunk")
_POSITION_KEYS = tuple(field.name for field in fields(Position))


class Witness(Protocol):
    """Is told of every decision that is applied, the agent's and the opponents'."""

    def __call__(
        self,
        lanes: npt.NDArray[np.int64],
        before: Array,
        actions: npt.NDArray[np.int64],
        after: Array,
    ) -> None:
        """Is told of one decision in each of some lanes.

        Args:
            lanes: (M,) which of them.
            before: (M,) their records before.
            actions: (M,) the actions; NO_CARD where a game begins, ILLEGAL where the agent has
                forfeited one.
            after: (M,) their records after.
        """
        ...


class Sight(NamedTuple):
    """What the agent sees after a step, by lane."""

    observations: npt.NDArray[np.uint8]
    """(N, F)."""
    masks: npt.NDArray[np.int8]
    """(N, A)."""
    rewards: npt.NDArray[np.float64]
    """(N,)."""
    turns: npt.NDArray[np.int64]
    """(N,), as `loops.answer` returns them."""


class Lanes:
    """The games and episodes of *n* lanes.

    Args:
        n: How many lanes.
        options: Those of the environment.
    """

    def __init__(self, n: int, options: Options) -> None:
        """Begins no game: `reset` does."""
        self.options = options
        rules = options.checked_rules
        first_dealer = FIRST_DEALERS[options.first_dealer]
        self.games = Games(n, rules, 0, first_dealer, options.one_deal)
        self.episodes = options.episodes(n)
        self.begun = np.zeros(n, np.bool_)
        self.witnesses: dict[str, Witness] = {}
        """Who is told of every decision, by the name of what it is for."""
        self._bind()

    def _bind(self) -> None:
        """Sets what follows from the records and the options."""
        self.all = np.arange(len(self.games))
        self.game_view = as_records(self.games.records)
        self.episode_view = as_records(self.episodes)
        members = self.options.members
        self._shares = np.array([member.share_up_to for member in members])
        self._bots = np.array([member.bot for member in members], np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a pickle or a copy holds: views would come apart from the records."""
        return {name: vars(self)[name] for name in ("options", "games", "episodes", "begun")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the lanes; they go on with the same cards."""
        vars(self).update(state)
        self.witnesses = {}
        self._bind()

    def __len__(self) -> int:
        """Returns the number of lanes."""
        return len(self.episodes)

    def member_name(self, lane: int) -> str:
        """Returns the name of the opponent in a lane."""
        return self.options.members[int(self.episodes["member"][lane])].name

    def blank(self) -> Sight:
        """Returns arrays to be written, of all lanes."""
        n = len(self)
        return Sight(
            np.empty((n, self.games.observation_size), np.uint8),
            np.empty((n, self.games.num_actions), np.int8),
            np.empty(n),
            np.empty(n, np.int64),
        )

    def begin(
        self,
        lanes: npt.NDArray[np.int64],
        seeds: Sequence[int | None] | None = None,
        position: Position | None = None,
    ) -> None:
        """Deals the first deal of an episode in each of *lanes*; `advance` goes on from there.

        Args:
            lanes: (M,) which of them.
            seeds: (M,) the seed of the lane to begin, or None for the next game of the present one.
            position: Where to begin.
        """
        if seeds is not None:
            for lane, seed in zip(lanes, seeds, strict=True):
                if seed is not None:
                    self.games.records["seed"][lane] = seed_words([seed])[0]
                    self.games.records["game_number"][lane] = -1
        self.begun[lanes] = True
        begin_all(self.game_view, self.episode_view, lanes, AGENT, self._shares, self._bots)
        if position is not None:
            for lane in lanes:
                self.games.set_position(int(lane), self._completed(int(lane), position))

    def _completed(self, lane: int, position: Position) -> Position:
        """Returns a position with the scores of the lane where it tells none.

        Scores drawn as in play, and those that a five-card game begins with, are the dealer's and
        pone's, as the cards are: they go with the deal.
        """
        if position.scores is not None:
            return position
        scores = tuple(self.games.scores[lane].tolist())
        dealer = int(self.games.records["dealer"][lane])
        start = self.episodes["start"][lane]
        of_roles = start == Start.PLAY or (start == Start.ZERO and self.games.rules.is_five_card)
        if of_roles and position.dealer not in (None, dealer):
            scores = scores[::-1]
        return replace(position, scores=scores)

    def reset(
        self,
        lanes: npt.NDArray[np.int64],
        seeds: Sequence[int | None],
        options: Mapping[str, Any] | None,
        sight: Sight,
    ) -> None:
        """Begins an episode in each of *lanes*, up to the agent's first decision.

        Args:
            lanes: (M,) which of them.
            seeds: See `begin`.
            options: Of `reset`: fields of a `Position`, or None.
            sight: Where to write what the agent sees.

        Raises:
            ValueError: If the options are no position in which the agent has a decision to come.
                The lanes stay as they are then, as they do if an opponent raises.
        """
        position = position_of(options)
        # All episodes: an opponent that raises voids them.
        before = self.games.records[lanes], self.episodes.copy(), self.begun[lanes]
        try:
            self.begin(lanes, seeds, position)
            self.advance(lanes, np.full(len(lanes), NO_CARD), sight)
            if (sight.turns[lanes] == NOBODY).any():
                raise ValueError("position: the episode is over before the agent has to choose")
        except BaseException:
            self.games.records[lanes], self.episodes[:], self.begun[lanes] = before
            raise

    def advance(
        self, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64], sight: Sight
    ) -> None:
        """Applies an action in each of *lanes*, and plays on until the agent is to act.

        Args:
            lanes: (M,) which of them.
            actions: (M,) NO_CARD to go on without one; all else is checked, and what is not legal
                leaves ILLEGAL in `Sight.turns` and changes nothing.
            sight: Where to write what the agent sees.

        Raises:
            IllegalActionError: If an opponent that is a policy chooses an illegal action.
            ValueError: If it chooses no whole number.
        """
        self._step(lanes, actions, sight)
        waiting = lanes[sight.turns[lanes] > AGENT]
        while len(waiting):
            self._step(waiting, self.ask(waiting), sight)
            waiting = waiting[sight.turns[waiting] > AGENT]

    def _step(
        self, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64], sight: Sight
    ) -> None:
        """Applies an action in each of *lanes*, and tells the witnesses if there are any."""
        if not self.witnesses:
            step_all(self.game_view, self.episode_view, lanes, actions, AGENT, *sight)
            return
        # House players are asked like policies then, so that a witness sees every decision.
        self.episodes["bot"][lanes] = OUTSIDE
        before = self.games.records[lanes]
        step_all(self.game_view, self.episode_view, lanes, actions, AGENT, *sight)
        applied = sight.turns[lanes] != ILLEGAL
        if applied.any():
            self._tell(lanes[applied], before[applied], actions[applied])

    def _tell(
        self, lanes: npt.NDArray[np.int64], before: Array, actions: npt.NDArray[np.int64]
    ) -> None:
        """Tells all witnesses what has happened in *lanes* (`Witness`)."""
        for witness in self.witnesses.values():
            witness(lanes, before, actions, self.games.records[lanes])

    @property
    def ended(self) -> npt.NDArray[np.bool_]:
        """Where an episode has ended and none has begun since, (N,) bool; not where it is void."""
        ended: npt.NDArray[np.bool_] = self.begun & (self.episodes["over"] == ENDED)
        return ended

    @property
    def void(self) -> npt.NDArray[np.bool_]:
        """Where no episode has begun, or an opponent has raised in it, (N,) bool."""
        void: npt.NDArray[np.bool_] = ~self.begun | (self.episodes["over"] == VOID)
        return void

    def ask(self, lanes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the actions, (M,), of the opponents to act; each is asked once for all *lanes*.

        Raises:
            IllegalActionError: If a policy chooses an illegal action; all episodes are void then,
                as they are if it raises or Ctrl-C stops it.
            ValueError: If it chooses no whole number.
        """
        # The opponents are to act: should one raise, the next step must not play its cards.
        over = self.episodes["over"].copy()
        self.episodes["over"] = VOID
        actions = np.empty(len(lanes), np.int64)
        members = self.episodes["member"][lanes]
        for number in np.unique(members):
            rows = np.flatnonzero(members == number)
            member = self.options.members[number]
            if member.policy is None:
                actions[rows] = self._house_actions(lanes[rows], member.bot)
                continue
            which = lanes[rows]
            masks = self.games.action_masks(lanes=which)
            # A copy of the masks: what the policy writes there does not make an action legal.
            chosen = member.policy(
                self.games.observe(lanes=which), masks.copy(), self.games.luck(which)
            )
            chosen = checked_actions(chosen, len(which), member.name)
            bad = first_illegal(self.game_view, which, chosen)
            if bad >= 0:
                text = self.games.illegal_text(int(which[bad]), int(chosen[bad]))
                raise IllegalActionError(f"opponent {member.name}: {text}")
            actions[rows] = chosen
        self.episodes["over"] = over
        return actions

    def _house_actions(self, lanes: npt.NDArray[np.int64], bot: int) -> npt.NDArray[np.int64]:
        """Returns what a house player chooses in *lanes*, (M,): what it plays inside the loops."""
        games = as_records(self.games.records[lanes])
        rows = np.arange(len(lanes))
        words = np.empty((len(lanes), 2), np.uint32)
        luck_all(games, rows, words)
        actions = np.empty(len(lanes), np.int64)
        bot_actions(games, bot, words, actions)
        return actions

    def refuse(
        self, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64], sight: Sight
    ) -> list[str]:
        """Answers illegal actions of the agent: raises, or forfeits the games, which stay.

        Args:
            lanes: (M,) which of them.
            actions: (M,) the actions.
            sight: Where to write what the agent sees.

        Returns:
            One line for each, that tells no more than the agent's seat knows.

        Raises:
            IllegalActionError: Under ``illegal="raise"``, of the first.
        """
        texts = [
            self.games.illegal_text(int(lane), int(action), AGENT, name_lane=False)
            for lane, action in zip(lanes, actions, strict=True)
        ]
        if texts and self.options.illegal == "raise":
            raise IllegalActionError(texts[0])
        for text in texts:
            _LOGGER.warning("forfeit by %s", text)
        refuse_all(
            self.game_view,
            self.episode_view,
            lanes,
            AGENT,
            sight.observations,
            sight.masks,
            sight.rewards,
        )
        if self.witnesses:
            self._tell(lanes, self.games.records[lanes], np.full(len(lanes), ILLEGAL))
        return texts

    def state(self, random_stream: bool) -> dict[str, Any]:
        """Returns all that the lanes are, as `LanesOwner.state_dict` describes it."""
        records = self.games.records.copy()
        if not random_stream:
            records["seed"] = 0
            records["luck"] = 0
            records["starter"][records["phase"] == Phase.DISCARD] = NO_CARD
        return {
            "format": _STATE_FORMAT,
            "observation_version": OBSERVATION_VERSION,
            "random_stream": random_stream,
            "rules": asdict(self.options.checked_rules),
            "opponents": [member.name for member in self.options.members],
            "games": records,
            "episodes": self.episodes.copy(),
            "begun": self.begun.copy(),
            "np_random": None,
        }

    def check_state(self, state: Mapping[str, Any]) -> None:
        """Refuses what is not of lanes like these, or what no lane can be.

        Raises:
            ValueError: Naming what differs.
        """
        own = self.state(random_stream=True)
        if not isinstance(state, Mapping):  # of users
            kind = type(state).__name__
            raise ValueError(f"state: a {kind}: allowed is what state_dict() returns")
        if missing := [name for name in own if name not in state]:
            raise ValueError(f"state: no {missing[0]!r}")
        for name in ("format", "observation_version", "rules", "opponents"):
            # An array would compare entry by entry.
            if isinstance(state[name], np.ndarray) or state[name] != own[name]:
                raise ValueError(f"state: {name} {named(state[name])}: allowed is {own[name]!r}")
        if not isinstance(state["random_stream"], (bool, np.bool_)):
            raise ValueError(
                f"state: random_stream {named(state['random_stream'])}: allowed is a bool"
            )
        for name in ("games", "episodes", "begun"):
            given, like = state[name], own[name]
            if not isinstance(given, np.ndarray):
                raise ValueError(f"state: {name} is no array")
            if (given.shape, given.dtype) != (like.shape, like.dtype):
                raise ValueError(
                    f"state: {name} of shape {given.shape}: allowed is {like.shape} of this version"
                )
        for key, names in (("episodes", _OPTION_FIELDS), ("games", ("first_dealer", "one_deal"))):
            for name in names:
                if not np.array_equal(state[key][name], own[key][name]):
                    raise ValueError(f"state: its environment has another option {name!r}")
        for name, low, high in (
            ("member", 0, len(self.options.members) - 1),
            ("over", 0, VOID),
            ("win_probability", 0, 1),
            ("potential", -1, 1),
        ):
            values = state["episodes"][name]
            if not ((values >= low) & (values <= high)).all():
                raise ValueError(f"state: {name!r} out of range: allowed is {low} to {high}")
        check_records(state["games"], self.games.records)
        if state["random_stream"] and (state["games"]["starter"] == NO_CARD).any():
            raise ValueError("state: 'starter': a state with its random stream has one")
        going_on = state["begun"] & (state["episodes"]["over"] == 0)
        if (going_on & (state["games"]["turn"] != AGENT)).any():
            raise ValueError(f"state: 'turn': allowed is {AGENT}, the agent's, in an episode")
        if (going_on & (state["games"]["phase"] == Phase.OVER)).any():
            raise ValueError("state: 'phase': the game of an episode is over")

    def load(self, state: Mapping[str, Any], seeds: Sequence[int]) -> None:
        """Sets the lanes to what `state` returned.

        Args:
            state: What `state` returned, checked by `check_state`.
            seeds: (N,) lane seeds, for a state without its random stream; else not looked at.
        """
        self.games.records[:] = state["games"]
        self.episodes[:] = state["episodes"]
        self.begun[:] = state["begun"]
        # A witness has house players asked from outside; without one they play in the loops.
        self.episodes["bot"] = self._bots[self.episodes["member"]]
        if not state["random_stream"]:
            self.games.reseed(seeds)


def position_of(options: Mapping[str, Any] | None) -> Position | None:
    """Returns the position that the options of `reset` name; None where they name none.

    Raises:
        ValueError: If it is no mapping, or an option is unknown.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):  # of users
        raise ValueError(
            f"options={named(options)}: allowed is a mapping of {', '.join(_POSITION_KEYS)}"
        )
    if not options:
        return None
    for name in options:
        if name not in _POSITION_KEYS:
            raise ValueError(
                f"options: unknown {named(name)}: allowed are {', '.join(_POSITION_KEYS)}"
            )
    return Position(**options)
